"""What a launch costs, what is left after many, and what a time means (field cases 39, 47, 48).

METRALE_LEAK_ROUNDS says how many rounds of allocate, copy, launch, wait and drop are made.
"""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from field_cases_places import Place, opened

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.mock.profiles import profile
from metrale_gpu_runtime.errors import EventError, ForeignHandle

ROUNDS = int(os.environ.get("METRALE_LEAK_ROUNDS", "300"))
KINDS = ("stream", "event", "memory", "host_memory", "module", "graph", "exec", "physical", "reservation", "mapping")


@pytest.fixture(params=["cuda", "hip"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with opened(request.param) as place:
        yield place


# ------------------------------------------------ 39: what a launch costs

COUNTS = (0, 4, 16, 58)
ENTERING = {
    "cuda": ["cuCtxGetCurrent", "cuCtxPushCurrent", "cuLaunchKernelEx", "cuCtxPopCurrent"],
}


def many_arguments() -> str:
    """A kernel for each count; every fourth parameter is a pointer, the others are u32."""
    entries = []
    for count in COUNTS:
        types = (".u64" if index % 4 == 0 else ".u32" for index in range(count))
        entries.append(
            f".visible .entry k{count}({', '.join(f'.param {t} p{i}' for i, t in enumerate(types))}) {{ ret; }}"
        )
    return "\n".join([".version 7.8", ".target sm_80", ".address_size 64", *entries])


def values_of(gpu: GpuBackend, count: int) -> list[object]:
    buffer = gpu.empty(3, mg.u32)
    return [buffer.ptr if index % 4 == 0 else mg.u32(100 + index) for index in range(count)]


def forms(gpu: GpuBackend, count: int) -> dict[str, Callable[[], object]]:
    """Each form of launching one kernel again, made ready."""
    kernel = gpu.kernel("many", f"k{count}")
    values = values_of(gpu, count)
    prepared = kernel[3, 32].prepare(*values)
    slotted = None
    if count:
        slotted = kernel[3, 32].prepare(*values[:-1], mg.slot("last", mg.u32))
    builder = mg.KernelLaunch(gpu, kernel).grid(3).block(32).args(*values)
    with gpu.sequence() as sequence:
        kernel[3, 32](*values)
    found: dict[str, Callable[[], object]] = {
        "short form": lambda: kernel[3, 32](*values),
        "builder": builder.launch,
        "prepared": prepared,
        "prepared, all values": lambda: prepared(*values),
        "sequence": sequence,
    }
    if slotted is not None:
        numbers = iter(range(10**9))
        found["prepared, one scalar"] = lambda: slotted(last=next(numbers))
    return found


@pytest.mark.parametrize("is_traced", [False, True])
def test_every_form_makes_the_same_driver_calls(standin, is_traced: bool) -> None:
    """Whatever the form, the count of arguments and the trace, a launch is the launch call and the context's, no more."""
    with mg.open_backend("cuda") as gpu:
        gpu.load_module("many", source={".ptx": many_arguments()})
        for count in COUNTS:
            for name, launch in forms(gpu, count).items():
                launch()
                standin.clear_journal()
                if is_traced:
                    with gpu.trace():
                        launch()
                else:
                    launch()
                assert standin.names() == ENTERING["cuda"], (count, name)
            gpu.synchronize()
            assert standin.launches()[-1].grid == (3, 1, 1)


def test_every_form_is_as_many_calls_on_hip() -> None:
    """The same on HIP: prepared launches, short forms and sequences are the same few calls."""
    with opened("hip") as place:
        gpu, kernel = place.gpu, place.kernel("scale_add", "const float* x, float* y, unsigned int count, float factor")
        x, y = gpu.empty(5, mg.f32), gpu.empty(5, mg.f32)
        values = (x, y, mg.u32(5), mg.f32(0.5))
        prepared = kernel[3, 32].prepare(*values)
        seen = set()
        for launch in (
            lambda: kernel[3, 32](*values),
            prepared,
            lambda: prepared(count=4),
            lambda: prepared(*values),
            mg.KernelLaunch(gpu, kernel).grid(3).block(32).args(*values).launch,
        ):
            launch()
            place.standin.clear_journal()
            launch()
            seen.add(tuple(place.standin.names()))
        (calls,) = seen
        assert calls.count("hipModuleLaunchKernel") == 1
        assert len(calls) <= 4
        gpu.synchronize()


@pytest.mark.parametrize("form", ["short form", "builder", "prepared", "prepared, one scalar", "sequence"])
def test_launches_leave_nothing_in_memory(standin, form: str) -> None:
    """After many launches a thousand more need no more memory, though nobody waits for them."""
    standin.set(execution=1)
    with mg.open_backend("cuda") as gpu:
        gpu.load_module("many", source={".ptx": many_arguments()})
        launch = forms(gpu, 16)[form]
        # Python itself keeps up to 2000 freed tuples of each length, until the collector comes by. Without the collector
        # a cycle for each launch would show as well.
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            for _ in range(2500):
                launch()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(1000):
                launch()
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
            gc.enable()
        assert grown < 20_000, f"{grown} bytes more after 1000 launches"


# ------------------------------------------------ 47: what is left


class Stumbled(Exception):
    """What a user's own code raises in the middle."""


def one_round(gpu: GpuBackend, kernel: mg.Kernel, host: np.ndarray, number: int) -> None:
    """Allocate, copy, launch, record, wait and drop; every fifth is left in the middle."""
    count = len(host)
    values = gpu.array(host, label=f"round {number}")
    other = gpu.empty(count, mg.u32)
    with gpu.create_stream() as stream:
        kernel[3, 32, 0, stream](values, mg.u32(count), mg.u32(number), mg.u32(1))
        gpu.copy_d2d_async(values, other, stream=stream)
        event = gpu.create_event()
        event.record(stream)
        if number % 5 == 2:
            raise Stumbled
        if number % 5 == 3:
            kernel[3, 32, 0, stream](values, mg.u32(count))
        event.synchronize()
        if number % 7 == 1:
            with gpu.capture(stream) as capture:
                kernel[2, 32, 0, stream](other, mg.u32(count), mg.u32(number), mg.u32(1))
            capture.graph.launch(stream)
        stream.synchronize()


def rounds(place: Place, kernel: mg.Kernel, numbers: range) -> int:
    """How many driver calls that were."""
    host = np.arange(37, dtype=np.uint32)
    before = place.standin.call_count()
    for number in numbers:
        with suppress(Stumbled, mg.ArgumentCountError):
            one_round(place.gpu, kernel, host, number)
    place.gpu.synchronize()
    gc.collect()
    return place.standin.call_count() - before


def test_many_rounds_leave_the_books_as_they_were(place: Place) -> None:
    """The ledger is back at its start, creates and destroys match, and the last rounds make the calls of the first."""
    gpu = place.gpu
    kernel = place.kernel(
        "affine", "unsigned int* values, unsigned int count, unsigned int factor, unsigned int addend"
    )
    rounds(place, kernel, range(35))
    start, alive = (gpu.live_alloc_count(), gpu.live_bytes()), place.standin.live()
    first = rounds(place, kernel, range(70))
    rounds(place, kernel, range(max(ROUNDS - 140, 0)))
    last = rounds(place, kernel, range(70))
    assert (gpu.live_alloc_count(), gpu.live_bytes()) == start
    assert place.standin.live() == alive
    assert first == last
    for kind in KINDS:
        made, ended = place.standin.count(kind, "created"), place.standin.count(kind, "destroyed")
        assert made - ended == alive.get(kind, 0), kind
    assert place.standin.count("memory", "created") >= ROUNDS


@pytest.mark.parametrize("name", ["cuda", "hip"])
def test_a_hundred_devices_are_opened_and_closed(name: str) -> None:
    """Each opened, used and closed, by turns with the other: everything made is destroyed, and the contexts are gone."""
    from primary_contexts import active_contexts

    with opened(name) as place:
        standin = place.standin
        place.gpu.close()
        calls: dict[int, set[int]] = {}
        for number in range(100):
            before = standin.call_count()
            with mg.open_backend(f"{name}:{number % 2}") as gpu:
                x = gpu.empty(5 + number, mg.u32)
                kept = [gpu.create_stream(), gpu.create_event(), gpu.alloc_host_pinned(7), x]
                gpu.memset(x, 1)
                if number % 3 == 0:
                    del kept
            assert standin.live() == {}, number
            calls.setdefault(number % 6, set()).add(standin.call_count() - before)
        assert all(len(each) == 1 for each in calls.values()), calls
        assert all(standin.count(kind, "created") == standin.count(kind, "destroyed") for kind in KINDS)
        assert standin.count("memory", "created") == 100
        if name == "cuda":
            assert active_contexts() == 0


def test_a_report_lists_what_is_alive(place: Place) -> None:
    """Label, size, the line that made it and the last launch that used it."""
    gpu, kernel = place.gpu, place.kernel("echo_32")
    kept = gpu.empty(123, mg.u32, label="the table")
    other = gpu.alloc(77, label="unused")
    for value in range(3):
        kernel[1, 1](kept, mg.u32(value))
    report = gpu.alloc_report()
    for word in ("the table", "492", "unused", "77", "test_field_cases_counts.py:", "launch 3 of echo_32"):
        assert word in report, (word, report)
    gpu.synchronize()
    gpu.free(other)


# ------------------------------------------------ 48: event timings


def test_a_time_is_a_number_only_when_it_means_something(place: Place) -> None:
    """Unrecorded, unfinished, untimed, swapped and foreign events raise and say which and why; else it is the time."""
    gpu, kernel = place.gpu, place.kernel("echo_32")
    out = gpu.empty(1, mg.u32)
    start, end, untimed = gpu.create_event(timing=True), gpu.create_event(timing=True), gpu.create_event(timing=False)
    with pytest.raises(EventError) as refused:
        start.elapsed_ms(end)
    assert (refused.value.event, "never recorded" in str(refused.value)) == ("start", True)
    start.record()
    for value in range(3):
        kernel[1, 1](out, mg.u32(value))
    gpu.synchronize()
    with pytest.raises(EventError) as refused:
        start.elapsed_ms(end)
    assert (refused.value.event, "never recorded" in str(refused.value)) == ("end", True)
    end.record()
    with pytest.raises(EventError) as refused:
        start.elapsed_ms(end)
    assert (refused.value.event, "not reached yet" in str(refused.value)) == ("end", True)
    assert "synchronize" in str(refused.value)
    end.synchronize()
    elapsed = start.elapsed_ms(end)
    # The stand-in's clock: 1.5 us for each operation.
    assert 3 * 0.0015 <= elapsed < 1
    with pytest.raises(EventError) as refused:
        end.elapsed_ms(start)
    assert refused.value.event == "end"
    assert "other order" in str(refused.value)
    untimed.record()
    untimed.synchronize()
    with pytest.raises(EventError) as refused:
        start.elapsed_ms(untimed)
    assert (refused.value.event, "without timing" in str(refused.value)) == ("end", True)
    with mg.open_backend(f"{place.name}:1") as second:
        foreign = second.create_event(timing=True)
        foreign.record()
        foreign.synchronize()
        with pytest.raises(ForeignHandle, match="another backend"):
            start.elapsed_ms(foreign)
        foreign.close()
    captured = gpu.create_event(timing=True)
    with gpu.create_stream() as stream, gpu.capture(stream) as capture:
        captured.record(stream)
        kernel[1, 1, 0, stream](out, mg.u32(5))
    with pytest.raises(EventError) as refused:
        start.elapsed_ms(captured)
    assert (refused.value.event, "capture" in str(refused.value)) == ("end", True)
    capture.graph.close()
    for event in (start, end, untimed, captured):
        event.close()


def test_a_device_without_timing_says_so() -> None:
    """ "Not available on this backend" is an error of its own, not an event's."""
    with mg.MockGpuBackend(replace(profile("H100"), event_timing=False)) as gpu:
        start, end = gpu.create_event(), gpu.create_event()
        for event in (start, end):
            event.record()
            event.synchronize()
        with pytest.raises(mg.NotSupported) as refused:
            start.elapsed_ms(end)
        assert refused.value.feature == "event timing"
