"""Mock, CUDA and HIP say the same: one error, one parameter, one limit for each refusal (field case 38)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from field_cases_places import PLACES, Place, opened

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import (
    AllocationInUse,
    ArgumentCountError,
    ArgumentKindError,
    ArgumentRangeError,
    ArgumentSizeError,
    CaptureError,
    ElementTypeError,
    EventError,
    ForeignHandle,
    InvalidPointer,
)

AFFINE = "unsigned int* values, unsigned int count, unsigned int factor, unsigned int addend"
ECHO = "float* out, float x"


@dataclass(frozen=True)
class Refusal:
    """What is asked, the error that it is, and the facts that are the same everywhere."""

    name: str
    ask: Callable[[Place], object]
    error: type[Exception]
    facts: tuple[tuple[str, object], ...] = ()

    def __str__(self) -> str:
        return self.name


def affine(place: Place) -> mg.Kernel:
    return place.kernel("affine", AFFINE)


def values(place: Place, dtype: object = mg.u32) -> mg.DeviceBuffer:
    return place.gpu.empty(5, dtype)


def with_count(place: Place, count: object) -> object:
    return affine(place)[1, 32](values(place), count, mg.u32(2), mg.u32(3))


def shaped(place: Place, grid: object, block: object = 1, shared_mem: int = 0) -> object:
    return affine(place)[grid, block, shared_mem](values(place), mg.u32(5), mg.u32(2), mg.u32(3))


def in_a_capture(place: Place, call: Callable[[mg.Stream], object]) -> object:
    with place.gpu.create_stream() as stream, place.gpu.capture(stream):
        return call(stream)


def free_in_use(place: Place) -> None:
    buffer = values(place)
    affine(place)[1, 32](buffer, mg.u32(5), mg.u32(2), mg.u32(3))
    try:
        place.gpu.free(buffer)
    finally:
        place.gpu.synchronize()


def freed_twice(place: Place) -> None:
    pointer = place.gpu.alloc(77)
    place.gpu.free(pointer)
    place.gpu.free(pointer)


def set_a_slot(place: Place, **wrong: object) -> None:
    with place.gpu.create_stream() as stream:
        with place.gpu.capture(stream) as capture:
            affine(place)[mg.slot("blocks", "grid"), 32, 0, stream](
                values(place), mg.slot("n", mg.u32), mg.u32(2), mg.u32(3)
            )
        capture.graph.launch(stream, **{"blocks": 2, "n": 5, **wrong})


def strided(place: Place) -> object:
    return place.gpu.array(np.arange(20, dtype=np.uint32).reshape(4, 5)[:, ::2].T)[::2]


def unrecorded(place: Place) -> object:
    return place.gpu.create_event().query()


def elsewhere(place: Place) -> None:
    with mg.MockGpuBackend() as other:
        with_count_of = affine(place)[1, 32]
        with_count_of(other.empty(5, mg.u32), mg.u32(5), mg.u32(2), mg.u32(3))


COUNT = (("kernel", "affine"), ("index", 1), ("name", "count"))
REFUSALS = (
    Refusal("1 f64 for a float", lambda p: p.kernel("echo_f32", ECHO)[1, 1](values(p, mg.f32), mg.f64(2.0)), ArgumentSizeError, (("index", 1), ("name", "x"), ("expected", 4), ("given", 8))),
    Refusal("1 u64 for an unsigned", lambda p: with_count(p, mg.u64(5)), ArgumentSizeError, (*COUNT, ("expected", 4), ("given", 8))),
    Refusal("3 too few", lambda p: affine(p)[1, 1](values(p), mg.u32(5), mg.u32(6)), ArgumentCountError, (("expected", 4), ("given", 3))),
    Refusal("3 too many", lambda p: affine(p)[1, 1](values(p), *[mg.u32(5)] * 4), ArgumentCountError, (("expected", 4), ("given", 5))),
    Refusal("3 unknown name", lambda p: affine(p)[1, 1](values(p), colour=mg.u32(5)), ArgumentCountError),
    Refusal("4 freed in use", free_in_use, AllocationInUse),
    Refusal("4 freed twice", freed_twice, InvalidPointer),
    Refusal("5 i64 elements", lambda p: affine(p)[1, 1](values(p, mg.i64), mg.u32(5), mg.u32(2), mg.u32(3)), ElementTypeError, (("index", 0), ("name", "values"))),
    Refusal("10 grid.x 2**31", lambda p: shaped(p, 2**31), mg.LimitExceeded, (("axis", "x"), ("asked", 2**31))),
    Refusal("10 grid.x 2**32 + 1", lambda p: shaped(p, 2**32 + 1), mg.LimitExceeded, (("axis", "x"), ("asked", 2**32 + 1))),
    Refusal("15 2**32 for a u32", lambda p: with_count(p, 2**32), ArgumentRangeError, (*COUNT, ("expected", (0, 2**32 - 1)))),
    Refusal("15 -1 for a u32", lambda p: with_count(p, -1), ArgumentRangeError, (*COUNT, ("expected", (0, 2**32 - 1)))),
    Refusal("15 1.0 for a u32", lambda p: with_count(p, 1.0), ArgumentKindError, COUNT),
    Refusal("15 True for a u32", lambda p: with_count(p, True), ArgumentKindError, COUNT),
    Refusal("5 a pointer for a value", lambda p: with_count(p, values(p)), ArgumentKindError, COUNT),
    Refusal("5 a value for a pointer", lambda p: affine(p)[1, 1](mg.u64(4096), *[mg.u32(5)] * 3), ArgumentKindError, (("index", 0), ("name", "values"))),
    Refusal("30 an array for a value", lambda p: with_count(p, np.arange(3)), ArgumentKindError, COUNT),
    Refusal("30 a host array for a pointer", lambda p: affine(p)[1, 1](np.arange(5, dtype=np.uint32), *[mg.u32(5)] * 3), ArgumentKindError, (("index", 0),)),
    Refusal("21 an empty block", lambda p: shaped(p, 1, (1, 0, 1)), mg.GeometryError, (("kernel", "affine"), ("axis", "y"), ("asked", 0))),
    Refusal("21 a negative grid", lambda p: shaped(p, (1, 1, -2)), mg.GeometryError, (("kernel", "affine"), ("axis", "z"), ("asked", -2))),
    Refusal("21 a negative block", lambda p: shaped(p, 1, -1), mg.GeometryError, (("kernel", "affine"), ("axis", "x"), ("asked", -1))),
    Refusal("24 block 1025", lambda p: shaped(p, 1, 1025), mg.LimitExceeded, (("axis", "x"), ("asked", 1025), ("limit", 1024))),
    Refusal("24 block 32x33", lambda p: shaped(p, 1, (32, 33)), mg.LimitExceeded, (("axis", None), ("asked", 1056), ("limit", 1024))),
    Refusal("23 all of the shared memory and more", lambda p: shaped(p, 1, 32, p.gpu.capabilities.max_static_and_dynamic_shared_mem + 1), mg.LimitExceeded, (("what", "shared memory per block in bytes"),)),
    Refusal("25 block 65 of a kernel for 64", lambda p: p.kernel("at_most_64")[3, 65](values(p)), mg.LimitExceeded, (("asked", 65), ("limit", 64))),
    Refusal("26 a wait in a capture", lambda p: in_a_capture(p, lambda stream: stream.synchronize()), CaptureError),
    Refusal("26 a read in a capture", lambda p: in_a_capture(p, lambda stream: values(p).numpy()), CaptureError),
    Refusal("26 a capture in a capture", lambda p: in_a_capture(p, p.gpu.begin_capture), CaptureError),
    Refusal("27 another type for a slot", lambda p: set_a_slot(p, n=mg.u64(5)), ArgumentKindError, COUNT),
    Refusal("27 no such slot", lambda p: set_a_slot(p, m=5), ArgumentCountError),
    Refusal("27 a slot out of range", lambda p: set_a_slot(p, n=-5), ArgumentRangeError, COUNT),
    Refusal("27 a negative grid slot", lambda p: set_a_slot(p, blocks=-1), mg.GeometryError),
    Refusal("34 local memory", lambda p: mg.KernelLaunch(p.gpu, affine(p)).arg_local(64).args(*[mg.u32(5)] * 3).launch(), ArgumentKindError, (("index", 0), ("name", "values"))),
    Refusal("43 no such kernel", lambda p: p.kernel("afine"), mg.KernelNotFound, (("function", "afine"), ("close", ("affine",)))),
    Refusal("48 an event that was never recorded", unrecorded, EventError),
    Refusal("20 memory of another backend", elsewhere, ForeignHandle),
)  # fmt: skip


def outcome(place: Place, refusal: Refusal) -> tuple[str, ...]:
    """The error's name and facts, seen on one backend, with no launch made for it."""
    before = place.launches()
    with pytest.raises(refusal.error) as refused:
        refusal.ask(place)
    place.gpu.synchronize()
    error = refused.value
    # Whoever reads it is told which kernel, module or event it is about.
    assert any(
        word in str(error) for word in ("affine", "echo_f32", "at_most_64", "stream ", "free: ", "event", "slot")
    )
    for fact, expected in refusal.facts:
        assert getattr(error, fact) == expected, (place.name, fact, str(error))
    if not isinstance(error, AllocationInUse):
        assert place.launches() == before
    return (type(error).__name__, *(str(getattr(error, fact)) for fact, _ in refusal.facts))


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_refusal_is_the_same_everywhere(refusal: Refusal) -> None:
    """The same exception type with the same parameter, asked and allowed, and nothing is launched."""
    seen = {}
    for name in PLACES:
        with opened(name) as place:
            seen[name] = outcome(place, refusal)
    assert len(set(seen.values())) == 1, seen


ACCEPTED = {
    "1 f32 for a float": lambda p: p.kernel("echo_f32", ECHO)[1, 1](values(p, mg.f32), mg.f32(2.0)),
    "1 a bare float": lambda p: p.kernel("echo_f32", ECHO)[1, 1](values(p, mg.f32), 2.0),
    "5 an untyped pointer": lambda p: affine(p)[1, 1](values(p, mg.i64).ptr, *[mg.u32(5)] * 3),
    "10 grid.x 2**24 - 1": lambda p: shaped(p, 2**24 - 1, 256),
    "15 the largest u32": lambda p: with_count(p, 2**32 - 1),
    "22 an empty buffer": lambda p: affine(p)[1, 1](p.gpu.empty(0, mg.u32), *[mg.u32(5)] * 3),
    "22 null": lambda p: affine(p)[1, 1](None, *[mg.u32(5)] * 3),
    "24 grid.y 65535": lambda p: shaped(p, (1, 65535)),
    "24 grid.x 65536": lambda p: shaped(p, 65536),
    "24 block 1024": lambda p: shaped(p, 1, 1024),
    "25 block 64 of a kernel for 64": lambda p: p.kernel("at_most_64")[3, 64](values(p)),
    "30 a NumPy scalar": lambda p: with_count(p, np.uint32(5)),
    "30 a NumPy grid": lambda p: shaped(p, np.int64(3), np.uint8(2)),
}


@pytest.mark.parametrize("accepted", ACCEPTED)
def test_what_is_accepted_is_accepted_everywhere(accepted: str) -> None:
    """Each is launched with the same geometry on all."""
    seen = {}
    for name in PLACES:
        with opened(name) as place:
            ACCEPTED[accepted](place)
            place.gpu.synchronize()
            seen[name] = place.launches()
            assert len(seen[name]) == 1
    assert seen["mock"] == seen["cuda"] == seen["hip"]
