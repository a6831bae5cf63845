"""The same launches through both launch cores: what reaches the driver, what stays in the books, what is refused."""

from __future__ import annotations

import importlib.util
import math
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from core_worker import Worker
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opencl_like_worlds import REFUSED
from random_launches import program_of
from rungs import require_rung
from standin import build_cuda

IS_BUILT = importlib.util.find_spec("metrale_gpu_runtime.native._core") is not None
pytestmark = pytest.mark.skipif(not IS_BUILT, reason="the native launch core is not built here")

SCALARS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "boolean")
GOOD: dict[str, Any] = {name: 1 for name in SCALARS[:8]} | {name: 0.5 for name in SCALARS[8:12]} | {"boolean": True}


class Cores:
    """A process with each core."""

    def __init__(self) -> None:
        self.workers = [Worker("python"), Worker("native")]

    def both(self, steps: list[Any], *, with_books: bool = True, world: str = "World") -> tuple[Any, Any, int]:
        """What a program did with either core, and how many of its launches the native one made by itself."""
        for each in self.workers:
            each.ask("worlds:run_program", steps, with_books=with_books, world=world)
        (plain, none), (native, count) = [each.answer() for each in self.workers]
        assert none == 0
        return plain, native, count

    def check(self, steps: list[Any], *, with_books: bool = True, world: str = "World") -> int:
        plain, native, count = self.both(steps, with_books=with_books, world=world)
        for step, one, other in zip([*steps, "what a correct caller never does"], plain, native, strict=True):
            assert other == one, step
        return count


@pytest.fixture(scope="module")
def cores() -> Iterator[Cores]:
    require_rung("stand-in driver")
    build_cuda()
    both = Cores()
    yield both
    assert [each.close() for each in both.workers] == [0, 0]


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 32), length=st.integers(1, 14))
def test_random_launches_are_the_same_through_both_cores(cores: Cores, seed: int, length: int) -> None:
    """Every byte, shape and stream that the driver gets, every number, ring and use, every error is the same."""
    cores.check(program_of(seed, length))


@pytest.mark.parametrize("world", ["MockWorld", "AlignedWorld", "MetalLikeWorld", "CpuWorld"])
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 32), length=st.integers(1, 14))
def test_random_launches_are_the_same_over_drivers_without_native_calls(
    cores: Cores, world: str, seed: int, length: int
) -> None:
    """Where the core calls the targets' submit: the same images, shapes, numbers, books and errors through both cores."""
    cores.check(program_of(seed, length), world=world)


@pytest.mark.parametrize("world", ["OpenclWorld", "OpenclBuffersWorld"])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 32), length=st.integers(1, 14))
def test_random_launches_are_the_same_through_kernel_objects(cores: Cores, world: str, seed: int, length: int) -> None:
    """OpenCL is asked for the same launches, keeps the same books, and leaves the same memory through both cores."""
    require_rung("pocl")
    cores.check(program_of(seed, length, world=world), world=world)


OPENCL_LIKE = (
    "OpenclLikeWorld",
    "OpenclLikeBuffersWorld",
    "OpenclLikeRecordedWorld",
    "OpenclLikeRecordedBuffersWorld",
    "OpenclLikeSimultaneousWorld",
)


@pytest.mark.parametrize("world", OPENCL_LIKE)
@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 32), length=st.integers(1, 14))
def test_kernel_objects_are_given_the_same_through_both_cores(cores: Cores, world: str, seed: int, length: int) -> None:
    """A driver that writes down all arguments of each launch gets the same, in the same order, and nothing that OpenCL forbids."""
    cores.check(program_of(seed, length, world=world), world=world)


@pytest.mark.parametrize("world", OPENCL_LIKE)
def test_a_kernel_object_has_what_each_launch_says(cores: Cores, world: str) -> None:
    """Values, pointers and local memory that change, come again, or are refused half-way are set as each launch gives them."""
    whole: list[Any] = [("buffer", 0), ("buffer", 2), ("buffer", 0), ("pointer", 0, 8), ("plain", None), ("buffer", 0)]
    steps: list[Any] = []
    for _ in range(2):
        for shared in (128, 1024, 128):
            key = ("tuple", (("plain", 2), ("plain", 32), ("plain", shared)))
            for pointer in whole:
                for count, factor in ((3, 0.5), (REFUSED, 0.25), (3, 0.25), (4, 0.25)):
                    steps.append(
                        ("short", "opened", key, (pointer, ("plain", count), ("plain", factor), ("buffer", 2)))
                    )
        for at, shared in enumerate((1024, 128, 1024, 128)):
            # Refused when local memory is set already.
            key = ("tuple", (("plain", 2), ("plain", 32), ("plain", shared)))
            count = ("plain", REFUSED if at in (0, 2) else 3)
            steps.append(("short", "opened", key, (("buffer", 0), count, ("plain", 0.5), ("buffer", 2))))
        # Memory that comes again, perhaps at the same address.
        steps += [("synchronize",), ("free", 0), ("renew", 0), ("synchronize",), ("free", 2), ("renew", 2)]
    assert cores.check(steps, world=world) > 20


def test_values_of_other_types_spoil_nothing(cores: Cores) -> None:
    """A value of 16 bytes where 4 are wanted, the last of a block, is refused, and the launches after it are as those before."""
    key = ("plain", (1, 32))
    complexes: list[Any] = [
        ("typed", "c128", 1 / 3 + 1 / 7j),
        ("numpy", "complex128", 1 / 3 + 1 / 7j),
        ("typed", "f64", 1 / 3),
    ]
    steps: list[Any] = []
    for kernel, good in (
        ("scale", [("buffer", 0), ("plain", 3), ("plain", 0.5)]),
        # As many bytes as a builder has room for.
        ("full", [("buffer", 0), *[("typed", "c128", 1j)] * 14, *[("plain", each) for each in range(4)]]),
    ):
        shape = (("grid", (("plain", 1),), ()), ("block", (("plain", 32),), ()))
        record = (("short", kernel, key, (*good[:-1], ("slot", "s", "f32" if kernel == "scale" else "u32"))),)
        steps += [("prepare", "p", kernel, key, tuple(good)), ("record", "q", record)]
        for last in (good[-1], *complexes, good[-1], *complexes, good[-1], good[-1]):
            values = (*good[:-1], last)
            steps += [
                ("short", kernel, key, values),
                ("builder", kernel, (*shape, *[("arg", (each,), ()) for each in values]), ((), ())),
                ("call", "p", values, ()),
                ("call", "q", (), (("s", last, False),)),
            ]
        # What was described by then goes to Python, which finds nothing there that it has not put there.
        half = [("arg", (each,), ()) for each in (*good[:-1], complexes[0])]
        steps += [("builder", kernel, (*shape, *half, ("cluster", (("plain", 1),), ())), ())] * 2
        steps += [
            ("builder", kernel, (*shape, *[("arg", (each,), ()) for each in good], ("uses", (good[0],), ())), ((),))
        ] * 2
    for world in ("World", "MockWorld"):
        assert cores.check(steps, world=world) > 20


def _reals() -> list[Any]:
    edges = [0.0, -0.0, 1.0, 0.1, math.inf, -math.inf, math.nan, 65504.0, 65519.99, 65520.0, -65520.0, 1e39, 1e308]
    edges += [3.4028234663852886e38, 3.4028235677973366e38, 3.3895313892515355e38, 3.4e38, 5e-324, -5e-324]
    edges += [
        2.0**-24,
        2.0**-25,
        2.0**-25 * (1 + 2**-30),
        2.0**-133,
        2.0**-134,
        2.0**-149,
        2.0**-150,
        2.0**-14,
        2.0**-15,
    ]
    edges += [1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-24, 1 + 3 * 2.0**-24]
    return [("float", struct.pack("<d", each)) for each in edges] + [("float", struct.pack("<Q", 0x7FF4000000000001))]


def values_for(name: str) -> list[Any]:
    """Descriptions of values at and past the ends of a type, and of every kind of object."""
    others: list[Any] = [("plain", each) for each in (True, False, None, "1", b"1", 1j, [1], 2.5, -1, 0, 1)]
    others += [
        ("numpy", kind, 1) for kind in ("bool_", "uint8", "int8", "int16", "uint32", "int64", "uint64", "longlong")
    ]
    others += [("numpy", kind, 0.1) for kind in ("float16", "float32", "float64", "longdouble", "complex64")]
    others += [
        ("array0", "int32", 1),
        ("array0", "int32", [1, 2]),
        ("ctypes", "c_int32", 1),
        ("ctypes", "c_bool", True),
    ]
    others += [("ctypes", "c_float", 0.1), ("ctypes", "c_double", 0.1), ("ctypes", "c_void_p", 1)]
    others += [("typed", kind, 1) for kind in SCALARS[:12]] + [("typed", "boolean", True), ("typed", "c64", 1j)]
    others += [("whole", 3), ("real", 0.5), ("indexed", 3), ("raising",), ("lying", 3), ("class",), ("buffer", 0)]
    if name in ("f16", "bf16", "f32", "f64"):
        numbers = [1 << 24, (1 << 24) + 1, 1 << 53, (1 << 53) + 1, (1 << 53) + 2, -(1 << 60) - 1, 1 << 128, 1 << 1024]
        return others + _reals() + [("plain", each) for each in numbers]
    if name == "boolean":
        return others
    bits, is_signed = int(name[1:]), name[0] == "i"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    ends = [low, low - 1, low + 1, high, high - 1, high + 1, 1 << 30, 1 << 60, 1 << 64, -(1 << 63) - 1, 1 << 300]
    return others + [("plain", each) for each in ends] + _reals()[:7]


@pytest.mark.parametrize("name", SCALARS)
def test_every_value_is_read_alike_in_every_form(cores: Cores, name: str) -> None:
    """Values at and past the ends of a type, of all classes, become the same bytes or the same error in each form."""
    at = SCALARS.index(name)
    good: list[Any] = [("plain", GOOD[each]) for each in SCALARS] + [("buffer", 1)]
    key = ("plain", (2, 32))
    slotted = [*good[:at], ("slot", "s", name), *good[at + 1 :]]
    steps: list[Any] = [
        ("short", "typed", key, tuple(good)),
        ("prepare", "p", "typed", key, tuple(good)),
        ("prepare", "s", "typed", key, tuple(slotted)),
        ("record", "q", (("short", "typed", key, tuple(slotted)),)),
    ]
    methods = ["arg_bool" if each == "boolean" else f"arg_{each}" for each in SCALARS] + ["arg_ptr"]
    shape = (("grid", (("plain", 2),), ()), ("block", (("plain", 32),), ()))
    for value in values_for(name):
        given_values = (*good[:at], value, *good[at + 1 :])
        for method in (methods[at], "arg"):
            calls = [(each, (other,), ()) for each, other in zip(methods, given_values, strict=True)]
            calls[at] = (method, (value,), ())
            steps.append(("builder", "typed", (*shape, *calls), ((),)))
        steps += [
            ("short", "typed", key, given_values),
            (
                "short",
                "typed",
                key,
                given_values[:at],
                (*tuple((f"v{i}", given_values[i], False) for i in range(at, 13)), ("out", good[-1], False)),
            ),
            ("call", "p", given_values, ()),
            ("call", "p", (), ((f"v{at}", value, False),)),
            ("call", "s", (), (("s", value, False),)),
            ("call", "q", (), (("s", value, False),)),
        ]
    assert cores.check(steps, with_books=False) > len(steps) / 20


@pytest.mark.parametrize(
    "world", ["World", "MockWorld", "AlignedWorld", "CpuWorld", "OpenclWorld", "OpenclBuffersWorld", *OPENCL_LIKE]
)
def test_ordinary_launches_are_the_cores_own(cores: Cores, world: str) -> None:
    """Good launches in every form are made by the native core itself, so that the comparisons compare something."""
    if world in ("OpenclWorld", "OpenclBuffersWorld"):
        require_rung("pocl")
    good = (("buffer", 0), ("plain", 3), ("plain", 0.5))
    key = ("plain", (2, 32))
    forms: list[Any] = [
        ("short", "scale", key, good),
        (
            "builder",
            "scale",
            (("grid", (("plain", 2),), ()), ("block", (("plain", 32),), ()), *[("arg", (each,), ()) for each in good]),
            ((),),
        ),
        ("call", "p", (), ()),
        ("call", "p", good, ()),
        ("call", "p", (), (("count", ("plain", 9), False),)),
        ("call", "p", (), (("stream", ("stream", 1), False),)),
        ("call", "s", (), (("a", ("plain", 9), False),)),
        ("call", "q", (), (("a", ("plain", 9), False),)),
        ("call", "fixed", (), ()),
    ]
    before: list[Any] = [
        ("short", "scale", key, good),
        ("prepare", "p", "scale", key, good),
        ("prepare", "s", "scale", key, (good[0], ("slot", "a", "u32"), good[2])),
        ("record", "q", (("short", "scale", key, (good[0], ("slot", "a", "u32"), good[2])),)),
        ("record", "fixed", (("short", "scale", key, good),)),
    ]
    assert cores.check([*before, *forms * 3], world=world) == 3 * len(forms)


@pytest.mark.parametrize("world", OPENCL_LIKE[2:])
def test_sequences_are_recorded_where_the_comparison_says_so(cores: Cores, world: str) -> None:
    """A sequence without slots is one command of the native core's, and each launch of the plain one's; the driver sees the same."""
    key = ("plain", (2, 32))
    record = tuple(("short", "scale", key, (("buffer", at), ("plain", at), ("plain", 0.5))) for at in (0, 2, 0))
    call: Any = ("call", "q", (), ())
    on_stream: Any = ("call", "q", (), (("stream", ("stream", 1), False),))
    steps: list[Any] = [("record", "q", record), ("attribute", "is_one_command", "q"), call, call, call, on_stream]
    steps += [("refused", 1, 2, call), ("attribute", "is_one_command", "q"), call, ("drop", "q")]
    plain, native, count = cores.both(steps, world=world)
    said = [
        each[0]
        for each in native
        if isinstance(each, tuple) and each[0] in (("returned", "True"), ("returned", "False"))
    ]
    assert said == [("returned", "True"), ("returned", "False")]
    del plain[1], native[1]  # of the plain core neither is
    assert plain == native
    assert count == 3 * 4 + 1 + 3


@pytest.mark.parametrize("code", [1, 701, 719])
def test_a_backend_in_trouble_refuses_alike(cores: Cores, code: int) -> None:
    """After a launch that the driver refused or that lost the context, every form says the same."""
    key, good = ("plain", (1, 32)), (("buffer", 0), ("plain", 3), ("plain", 0.5))
    half = ("builder", "scale", (("arg", (good[0],), ()), ("arg_ptr", (("plain", None),), ())), ())
    short: Any = ("short", "scale", key, good)
    steps = [short, ("prepare", "p", "scale", key, good), ("refused", code, 1, short)]
    cores.check(
        [*steps, half, short, ("call", "p", (), ()), ("call", "p", good, ()), ("prepare", "r", "scale", key, good)]
    )


def test_a_refused_sequence_leaves_the_same_uses(cores: Cores) -> None:
    """Launches of a sequence after a refused one are never made, and no memory is in use by them."""
    key = ("plain", (1, 32))
    record = [("short", "scale", key, (("buffer", at), ("plain", at), ("plain", 0.5))) for at in (0, 2)]
    record.insert(1, ("short", "pair", key, (("plain", None), ("plain", None))))
    call: Any = ("call", "q", (), ())
    cores.check([("record", "q", tuple(record)), call, ("synchronize",), ("refused", 1, 1, call)])
