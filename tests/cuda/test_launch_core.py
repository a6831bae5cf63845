"""Launches over the CUDA stand-in, whichever launch core makes them: what reaches the driver and what stays in the books.

With the native core these also see that it is the core that makes them, and that it leaves the rest to Python.
"""

from __future__ import annotations

import gc
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend

PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u32 count, .param .f32 factor) { ret; }
.visible .entry pair(.param .u64 x, .param .u64 y) { ret; }
"""
SIGNATURES = {"scale": "float* x, unsigned int count, float factor", "pair": "float* x, const float* y"}
IS_NATIVE = mg.launch_core == "native"


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX}, signatures=SIGNATURES)
        yield backend


def forms(gpu: GpuBackend, x: mg.DeviceBuffer) -> dict[str, Callable[[int], object]]:
    """Every way to launch `scale` on three blocks of 32 threads, with the count as the one value that changes."""
    kernel = gpu.kernel("m", "scale")
    prepared = kernel[3, 32].prepare(x, 7, 0.5)
    slotted = kernel[3, 32].prepare(x, mg.slot("count", mg.u32), 0.5)
    with gpu.sequence() as sequence:
        kernel[3, 32](x, mg.slot("count", mg.u32), 0.5)
    return {
        "builder": lambda count: (
            mg.KernelLaunch(gpu, kernel).grid(3).block(32).arg_ptr(x).arg_u32(count).arg_f32(0.5).launch()
        ),
        "short form": lambda count: kernel[3, 32](x, count, 0.5),
        "prepared": lambda count: prepared(x, count, 0.5),
        "prepared, by name": lambda count: prepared(count=count),
        "prepared, slot": lambda count: slotted(count=count),
        "sequence": lambda count: sequence(count=count),
    }


FORMS = ("builder", "short form", "prepared", "prepared, by name", "prepared, slot", "sequence")


def native_count(gpu: GpuBackend) -> int:
    return gpu._gate.native_count


def image(x: mg.DeviceBuffer, count: int) -> bytes:
    return struct.pack("<QIf", x.address, count, 0.5)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_launches_natively_what_it_was_given(standin, gpu, form: str) -> None:
    """From the second launch on the core makes it alone, and the driver sees the bytes, the shape and the stream."""
    x = gpu.empty(37, mg.f32)
    launch = forms(gpu, x)[form]
    launch(5)
    before = native_count(gpu)
    launch(4_000_000_001)
    assert native_count(gpu) == before + (1 if IS_NATIVE else 0)
    seen = standin.launches()[-1]
    assert seen.parameters[:16] == image(x, 4_000_000_001)
    assert (seen.grid, seen.block) == ((3, 1, 1), (32, 1, 1))


@pytest.mark.parametrize("form", FORMS)
def test_a_launch_is_one_call_and_one_question(standin, gpu, form: str) -> None:
    """In a thread that has the context already, a launch asks once for the context and launches once."""
    launch = forms(gpu, gpu.empty(37, mg.f32))[form]
    launch(5)
    context = gpu.driver._calls.context  # type: ignore[attr-defined]

    def launches() -> list[str]:
        launch(6)
        before = standin.call_count()
        launch(7)
        return standin.names()[before - standin.call_count() :]

    assert context.run(launches) == ["cuCtxGetCurrent", "cuLaunchKernelEx"]


@pytest.mark.parametrize("form", FORMS)
def test_a_value_that_does_not_fit_is_refused_and_nothing_changes(standin, gpu, form: str) -> None:
    """A refused value raises the argument's error, reaches no driver, takes no number and is not remembered."""
    x = gpu.empty(37, mg.f32)
    launch = forms(gpu, x)[form]
    launch(5)
    launched, issued = standin.launch_count(), gpu.default_stream()._lane.issued
    with pytest.raises(mg.ArgumentRangeError, match=r"argument 1\b.*4294967295"):
        launch(1 << 32)
    with pytest.raises(mg.ArgumentKindError):
        launch(2.5)  # type: ignore[arg-type]
    assert (standin.launch_count(), gpu.default_stream()._lane.issued) == (launched, issued)
    launch(6)
    assert standin.launches()[-1].parameters[:16] == image(x, 6)


@pytest.mark.parametrize("form", FORMS)
def test_what_the_driver_refuses_is_told_once(standin, gpu, form: str) -> None:
    """A refusal is the driver's one answer: the launch is not asked for again, is nobody's last use, and numbers go on."""
    x = gpu.empty(37, mg.f32)
    launch = forms(gpu, x)[form]
    launch(5)
    launch(6)
    gpu.synchronize()
    issued, asked = gpu.default_stream()._lane.issued, standin.call_count("cuLaunchKernelEx")
    standin.fail_call("cuLaunchKernelEx", 1)
    with pytest.raises(mg.DriverError, match=r"cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE.*\n?.*u32 9"):
        launch(9)
    assert standin.call_count("cuLaunchKernelEx") == asked + 1
    assert gpu.default_stream()._lane.issued == issued
    assert len(gpu.default_stream()._lane.ring) == 0
    x.free()


@pytest.mark.parametrize("form", FORMS)
def test_memory_in_use_names_the_launch(gpu, form: str) -> None:
    """What a launch names is in use until its stream was waited for, and the error says which launch on which line."""
    x = gpu.empty(37, mg.f32)
    launch = forms(gpu, x)[form]
    launch(5)
    launch(6)
    with pytest.raises(mg.AllocationInUse, match=r"launch 2 of scale.*u32 6.*test_launch_core\.py:\d+"):
        x.free()
    gpu.synchronize()
    x.free()
    with pytest.raises(mg.InvalidPointer, match="gone"):
        launch(7)


def test_switches_send_every_launch_through_python(gpu) -> None:
    """Debug sync, traces and recordings see each launch: the core makes none meanwhile, and makes them again after."""
    x = gpu.empty(37, mg.f32)
    every = forms(gpu, x)
    for launch in every.values():
        launch(5)
        launch(6)
    before = native_count(gpu)
    with gpu.debug_sync():
        for launch in every.values():
            launch(7)
    with gpu.trace() as trace:
        for launch in every.values():
            launch(8)
    with gpu.sequence() as outer:
        for launch in every.values():
            launch(9)
    assert native_count(gpu) == before
    assert len(trace.launches) == len(every)
    assert len(outer) == len(every)
    for launch in every.values():
        launch(10)
    assert native_count(gpu) == before + (len(every) if IS_NATIVE else 0)


def test_a_sequence_refused_half_way_keeps_what_is_queued(standin, gpu) -> None:
    """Launches before the refused one are queued and use their memory; those after it are not, and use none."""
    kernel = gpu.kernel("m", "scale")
    first, second, third = (gpu.empty(8, mg.f32) for _ in range(3))
    with gpu.sequence() as sequence:
        for at, x in enumerate((first, second, third)):
            kernel[1, 32](x, at, 0.5)
    sequence()
    gpu.synchronize()
    issued = gpu.default_stream()._lane.issued
    standin.fail_call("cuLaunchKernelEx", 1, nth=2)
    with pytest.raises(mg.DriverError, match="CUDA_ERROR_INVALID_VALUE"):
        sequence()
    assert gpu.default_stream()._lane.issued == issued + 1
    assert [each.ordinal for each in gpu.default_stream()._lane.ring] == [4]
    with pytest.raises(mg.AllocationInUse, match="launch 4 of scale"):
        first.free()
    gpu.synchronize()
    sequence()
    gpu.synchronize()
    for x in (first, second, third):
        x.free()


def test_the_ring_holds_the_last_launches_whatever_made_them(gpu) -> None:
    """A sequence's launches stand in the ring like any others, with their own numbers, arguments and lines."""
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(8, mg.f32)
    with gpu.sequence() as sequence:
        for at in range(40):
            kernel[1, 32](x, mg.slot("n", mg.u32) if at == 39 else at, 0.5)
    kernel[1, 32](x, 77, 0.5)
    sequence(n=1000)
    sequence(n=2000)
    kernel[1, 32](x, 78, 0.5)
    ring = list(gpu.default_stream()._lane.ring)
    assert [each.ordinal for each in ring] == list(range(82 - 63, 83))
    assert [each.sequence for each in ring] == [each.ordinal for each in ring]
    assert "u32 2000" in str(ring[-2])
    assert "u32 78" in str(ring[-1])
    assert "u32 1000" in str(next(each for each in ring if each.ordinal == 41))
    assert all("test_launch_core.py:" in each.site for each in ring)


def test_a_closed_sequence_holds_no_memory(gpu) -> None:
    """Once a sequence is closed its memory goes with its last reference, though the launches can still be named."""
    kernel = gpu.kernel("m", "pair")
    x, y = gpu.empty(8, mg.f32), gpu.empty(9, mg.f32)
    with gpu.sequence() as sequence:
        kernel[1, 32](x, mg.slot("y", "ptr"))
        kernel[1, 32](x, x)
    sequence(y=y)
    gpu.synchronize()
    count = gpu.live_alloc_count()
    del y
    gc.collect()
    gpu.synchronize()
    assert gpu.live_alloc_count() == count
    sequence.close()
    gpu.synchronize()
    assert gpu.live_alloc_count() == count - 1
    assert "launch 2 of pair" in str(x.allocation.block.last_use)


def test_slots_of_memory_count_as_uses(gpu) -> None:
    """Memory that a slot is set to is in use under the launch that names it last."""
    kernel = gpu.kernel("m", "pair")
    x, y, z = (gpu.empty(8, mg.f32) for _ in range(3))
    with gpu.sequence() as sequence:
        kernel[1, 32](x, mg.slot("y", "ptr"))
        kernel[1, 32](x, mg.slot("y", "ptr"))
        kernel[1, 32](z, x)
    for each in (y, z):
        sequence(y=each)
    with pytest.raises(mg.AllocationInUse, match="launch 2 of pair"):
        y.free()
    with pytest.raises(mg.AllocationInUse, match="launch 6 of pair"):
        z.free()
    gpu.synchronize()


def test_threads_share_a_prepared_launch_and_a_sequence(standin, gpu) -> None:
    """Calls from four threads, each on its own stream, never show another's values, and no number is lost."""
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(8, mg.f32)
    prepared = kernel[1, 32].prepare(x, 0, 0.5)
    with gpu.sequence() as sequence:
        for _ in range(3):
            kernel[1, 32](x, mg.slot("n", mg.u32), 0.5)
    sequence(n=0)
    start, failed = threading.Barrier(4), []
    calls = 200

    def work(number: int) -> None:
        try:
            with gpu.create_stream() as stream:
                start.wait()
                for call in range(calls):
                    prepared(x, number * 1000 + call, 0.5, stream=stream)
                    prepared(x, number * 1000 + call, 0.5)
                    sequence(n=number * 1000 + call, stream=stream)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    gpu.synchronize()
    by_stream: dict[int, list[int]] = {}
    for launch in standin.launches():
        by_stream.setdefault(launch.stream, []).append(struct.unpack_from("<I", launch.parameters, 8)[0])
    own = [numbers for numbers in by_stream.values() if len({number // 1000 for number in numbers}) == 1]
    assert len(own) == 4
    for numbers in own:
        assert numbers == [each for call in range(calls) for each in [numbers[0] + call] * 4]
    assert gpu._gate.__next__() == 3 + 4 * calls * 5 + 1


def test_ten_thousand_launches_keep_nothing(gpu) -> None:
    """The number of live objects after ten thousand launches of each form is what it was after a hundred."""
    every = forms(gpu, gpu.empty(8, mg.f32))
    for form in FORMS:
        for count in range(100):
            every[form](count)
        gpu.synchronize()
        gc.collect()
        before = len(gc.get_objects())
        for count in range(10_000):
            every[form](count)
        gpu.synchronize()
        gc.collect()
        assert abs(len(gc.get_objects()) - before) < 20, form


def test_types_stay_those_a_launch_was_prepared_with(gpu) -> None:
    """A typed value of another type is refused by a prepared launch and by a slot, whatever the kernel would take."""
    unsigned = gpu.load_module("u", source={".ptx": PTX})["scale"]
    x = gpu.empty(8, mg.f32)
    for typed in (mg.u32(1), mg.i32(1), mg.u32(1)):
        unsigned[1, 32](x, typed, 0.5)
        unsigned[1, 32](x, typed, 0.5)
    prepared = unsigned[1, 32].prepare(x, mg.u32(7), 0.5)
    with gpu.sequence() as sequence:
        unsigned[1, 32](x, mg.slot("n", mg.u32), 0.5)
    prepared(x, mg.u32(8), 0.5)
    for call in (lambda: prepared(x, mg.i32(-1), 0.5), lambda: prepared(p1=mg.i32(-1)), lambda: sequence(n=mg.i32(-1))):
        with pytest.raises(mg.ArgumentError):
            call()


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_of_the_callers_is_taken_natively(standin, gpu, form: str) -> None:
    """A launch on a stream that was made here goes there, and nowhere else, in every form."""
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(37, mg.f32)
    prepared, slotted = kernel[3, 32].prepare(x, 7, 0.5), kernel[3, 32].prepare(x, mg.slot("count", mg.u32), 0.5)
    with gpu.sequence() as sequence:
        kernel[3, 32](x, mg.slot("count", mg.u32), 0.5)
    with gpu.create_stream() as stream:
        launch = {
            "builder": lambda n: mg.KernelLaunch(gpu, kernel).grid(3).block(32).args(x, n, 0.5).launch(stream),
            "short form": lambda n: kernel[3, 32, 0, stream](x, n, 0.5),
            "prepared": lambda n: prepared(x, n, 0.5, stream=stream),
            "prepared, by name": lambda n: prepared(count=n, stream=stream),
            "prepared, slot": lambda n: slotted(stream=stream, count=n),
            "sequence": lambda n: sequence(count=n, stream=stream),
        }[form]
        launch(5)
        before = native_count(gpu)
        launch(6)
        assert native_count(gpu) == before + (1 if IS_NATIVE else 0)
        seen = standin.launches()[-1]
        assert (seen.stream, seen.parameters[:16]) == (stream.native_handle, image(x, 6))
        assert (stream._lane.issued, gpu.default_stream()._lane.issued) == (2, 0)


@pytest.mark.parametrize("form", FORMS)
def test_numpy_scalars_are_taken_by_their_own_type(standin, gpu, form: str) -> None:
    """NumPy's scalars of the parameter's type launch as they are; another type's launch where the value survives."""
    numpy = pytest.importorskip("numpy")
    x = gpu.empty(37, mg.f32)
    launch = forms(gpu, x)[form]
    launch(numpy.uint32(5))
    before = native_count(gpu)
    launch(numpy.uint32(4_000_000_002))
    assert native_count(gpu) == before + (1 if IS_NATIVE else 0)
    assert standin.launches()[-1].parameters[:16] == image(x, 4_000_000_002)
    if form == "short form":
        with pytest.raises(mg.ArgumentError):
            launch(numpy.int32(6))
    else:
        launch(numpy.int32(6))
        assert standin.launches()[-1].parameters[:16] == image(x, 6)
    with pytest.raises(mg.ArgumentError):
        launch(numpy.int32(-1))


def test_threads_set_the_slots_of_one_launch_on_one_stream(standin, gpu) -> None:
    """Each call with its own slot value launches that value once, however many threads set the slot on one stream."""
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(8, mg.f32)
    buffers = [gpu.empty(8, mg.f32) for _ in range(3)]
    slotted = kernel[1, 32].prepare(mg.slot("to", "ptr"), mg.slot("n", mg.u32), 0.5)
    with gpu.sequence() as sequence:
        kernel[1, 32](mg.slot("to", "ptr"), mg.slot("n", mg.u32), 0.5)
    slotted(to=x, n=0)
    sequence(to=x, n=0)
    start, failed, calls = threading.Barrier(3), [], 300

    def work(number: int) -> None:
        try:
            start.wait()
            for call in range(1, calls + 1):
                slotted(n=number * 1000 + call, to=buffers[number])
                slotted()
                sequence(n=number * 1000 + call, to=buffers[number])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    gpu.synchronize()
    address = {buffer.address: number for number, buffer in enumerate(buffers)}
    seen: dict[int, int] = {}
    for launch in standin.launches()[2:]:
        to, count = struct.unpack_from("<QI", launch.parameters)
        assert address.get(to, count // 1000) == count // 1000, "a pointer of one call beside a number of another"
        seen[count] = seen.get(count, 0) + 1
    for number in range(3):
        for call in range(1, calls + 1):
            assert seen[number * 1000 + call] >= 2
    assert sum(seen.values()) == 3 * calls * 3
