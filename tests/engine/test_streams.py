"""Streams and events: what stands for a stream, order, waiting without blocking, and what is refused."""

from __future__ import annotations

import asyncio
import gc
import threading

import numpy as np
import pytest

from metrale_gpu_runtime.errors import (
    CaptureError,
    EventError,
    ForeignHandle,
    HandleClosed,
    KernelFault,
    NotSupported,
)
from metrale_gpu_runtime.testing import FaultPlan, LaunchFault, MockGpuBackend


@pytest.fixture
def gpu():
    with MockGpuBackend() as gpu:
        yield gpu
    assert not gpu.mock.violations


def test_none_and_zero_are_the_default_stream(gpu):
    """None, 0 and the stream itself resolve to the default stream; bools, text and floats to none."""
    default = gpu.default_stream()
    for value in (None, 0, np.int64(0), default):
        assert gpu.resolve_stream(value) is default
    for value in (False, True, "0", 0.0, object()):
        with pytest.raises(TypeError, match="None for the default stream"):
            gpu.resolve_stream(value)


def test_raw_and_foreign_handles_are_for_cuda_and_hip(gpu):
    """A bare number and another library's stream are refused elsewhere, saying what to give."""

    class TorchStream:
        def __cuda_stream__(self):
            return 0, 0x5000

    with gpu.create_stream() as stream:
        for value in (0x5000, stream.handle, TorchStream()):
            with pytest.raises(NotSupported, match="Stream"):
                gpu.resolve_stream(value)


def test_streams_and_events_of_another_backend_are_refused(gpu):
    """A stream or an event of another open backend is refused by name."""
    with MockGpuBackend() as other, other.create_stream() as stream, other.create_event() as event:
        for call in (
            lambda: gpu.synchronize(stream),
            lambda: gpu.record_event(event),
            lambda: gpu.stream_wait_event(None, event),
            lambda: gpu.event_elapsed_ms(event, event),
        ):
            with pytest.raises(ForeignHandle, match="another backend"):
                call()


def test_a_destroyed_stream_or_event_says_where(gpu):
    """Handles used after their end raise HandleClosed with the line that ended them."""
    stream, event = gpu.create_stream(), gpu.create_event()
    gpu.destroy_stream(stream)
    gpu.destroy_event(event)
    for call in (
        stream.synchronize,
        stream.record_event,
        lambda: gpu.destroy_stream(stream),
        event.query,
        event.record,
    ):
        with pytest.raises(HandleClosed, match=r"test_streams\.py:\d+"):
            call()
    stream.close()
    event.close()
    with pytest.raises(ValueError, match="default stream"):
        gpu.destroy_stream(gpu.default_stream())


def test_synchronize_without_a_stream_waits_for_all(gpu):
    """gpu.synchronize() leaves nothing queued on any stream."""
    kernel = gpu.kernel("m", "k")
    with gpu.create_stream() as one, gpu.create_stream() as other:
        for stream in (None, one, other):
            kernel[1, 1, 0, stream]()
        gpu.synchronize(one)
        assert gpu.queued_count == 2
        gpu.synchronize()
        assert gpu.queued_count == 0


def test_the_first_of_several_faults_is_raised_the_others_are_noted():
    """Waiting for all streams goes on after a fault: the first is raised, with the others as notes."""
    plan = FaultPlan()
    for nth in (1, 2):
        plan.fail("launch", nth=nth, failure=LaunchFault(context_lost=False))
    with MockGpuBackend(plan=plan) as gpu, gpu.create_stream() as stream:
        gpu.kernel("m", "first")[1, 1]()
        gpu.kernel("m", "second")[1, 1, 0, stream]()
        with pytest.raises(KernelFault) as info:
            gpu.synchronize()
        assert info.value.launch.kernel == "first"
        assert "second" in "".join(info.value.__notes__)
        assert gpu.queued_count == 0
        gpu.synchronize()


def test_callbacks_run_after_the_work_on_a_thread_of_the_engine(gpu):
    """stream.call runs its function once the work is done, on another thread, and hands over result or exception."""
    done = []
    gpu.define_kernel("m", "k", lambda launch: done.append(launch.grid.x))
    gpu.kernel("m", "k")[3, 1]()
    seen = gpu.default_stream().call(lambda: (list(done), threading.current_thread().name))
    assert seen.result(10) == ([3], "metrale-gpu-waiter")
    failing = gpu.default_stream().call(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failing.result(10)


def test_the_waiting_thread_ends_when_nothing_is_waited_for(gpu):
    """No thread stays behind a callback, and the next one starts another."""
    for number in range(3):
        assert gpu.default_stream().call(lambda number=number: number).result(10) == number
    for thread in threading.enumerate():
        if thread.name == "metrale-gpu-waiter":
            thread.join(10)
            assert not thread.is_alive()


def test_a_fault_is_the_futures_exception():
    """When the work failed the function is not called and the future holds the KernelFault."""
    with MockGpuBackend(plan=FaultPlan().fail("launch", failure=LaunchFault(context_lost=False))) as gpu:
        gpu.kernel("m", "bad")[1, 1]()
        called = []
        future = gpu.default_stream().call(lambda: called.append(1))
        with pytest.raises(KernelFault, match="bad"):
            future.result(10)
        assert not called


def test_reading_without_waiting(gpu):
    """stream.read gives a future of the array as it is when the stream comes there."""
    with gpu.create_stream() as stream:
        buffer = gpu.array(np.array([[1, 2, 3], [4, 5, 6]], np.int16))
        future = stream.read(buffer)
        gpu.memset_async(buffer, 0, 12, stream)
        array = future.result(10)
        assert (array.dtype, array.tolist()) == (np.dtype(np.int16), [[1, 2, 3], [4, 5, 6]])


def test_awaiting_a_stream(gpu):
    """`await stream.done()` resumes with the work done and leaves the loop free meanwhile."""
    done = []
    gpu.define_kernel("m", "k", lambda launch: done.append(launch.grid.x))

    async def program():
        with gpu.create_stream() as stream:
            gpu.kernel("m", "k")[7, 1, 0, stream]()
            await stream.done()
            return list(done)

    assert asyncio.run(program()) == [7]


def test_elapsed_time_is_a_number_only_when_it_means_something(gpu):
    """Unrecorded, unreached, untimed and swapped events each raise an EventError that names the event at fault."""
    start, end, untimed = gpu.create_event(), gpu.create_event(), gpu.create_event(timing=False)
    with pytest.raises(EventError, match=r"start.*never recorded"):
        gpu.event_elapsed_ms(start, end)
    start.record()
    gpu.kernel("m", "k")[1, 1]()
    gpu.synchronize()
    end.record()
    with pytest.raises(EventError, match=r"end.*not reached yet") as info:
        gpu.event_elapsed_ms(start, end)
    assert info.value.event == "end"
    end.synchronize()
    assert start.elapsed_ms(end) > 0
    with pytest.raises(EventError, match=r"end was reached .* before start"):
        end.elapsed_ms(start)
    untimed.record()
    untimed.synchronize()
    with pytest.raises(EventError, match="without timing"):
        start.elapsed_ms(untimed)


def test_a_device_without_timing_says_so():
    """Where events are not timed that is its own error; plain events work."""
    with MockGpuBackend("M2") as gpu:
        if gpu.capabilities.event_timing:
            pytest.skip("the M2 profile times events")
        with pytest.raises(NotSupported, match="timing"):
            gpu.create_event(timing=True)
        event = gpu.create_event()
        event.record()
        event.synchronize()
        with pytest.raises(NotSupported):
            event.elapsed_ms(event)


def test_dropped_streams_and_events_are_destroyed_in_time(gpu):
    """Streams and events that are dropped with work queued are destroyed when that is done, once each."""
    stream = gpu.create_stream()
    gpu.kernel("m", "k")[1, 1, 0, stream]()
    gpu.default_stream().wait_event(stream.record_event())
    del stream
    gc.collect()
    gpu.live_bytes()
    assert gpu.log.counts["destroy_stream"] == 0
    gpu.synchronize()
    gpu.live_bytes()
    assert (gpu.log.counts["destroy_stream"], gpu.log.counts["destroy_event"]) == (1, 1)


def test_waiting_in_a_recording_is_refused(gpu):
    """Inside a recorded sequence calls that wait raise and say what to do; the recording goes on."""
    buffer = gpu.buffer(4)
    with gpu.sequence() as step:
        for call in (gpu.synchronize, buffer.numpy, lambda: gpu.memset(buffer, 1), lambda: gpu.array([1])):
            with pytest.raises(CaptureError, match="recording a sequence"):
                call()
        gpu.memset_async(buffer, 9)
    step()
    assert buffer.tobytes() == b"\t" * 4


@pytest.mark.parametrize("make", ["create_stream", "create_event", "graph"])
def test_a_failing_close_is_a_note_on_what_went_wrong_before(gpu, monkeypatch, make):
    """An exception in the `with` block of a stream, event or graph is raised as it is; the failed close is its note."""

    def fail(*_):
        raise OSError("second")

    def graph():
        gpu.begin_capture()
        return gpu.end_capture()

    held = graph() if make == "graph" else getattr(gpu, make)()
    monkeypatch.setattr(gpu, f"destroy_{type(held).__name__.lower()}", fail)
    with pytest.raises(KeyError, match="first") as info, held:
        raise KeyError("first")
    assert [note for note in info.value.__notes__ if "second" in note]
    with pytest.raises(OSError, match="second"), held:
        assert held.is_open
    monkeypatch.undo()
    held.close()
    assert not held.is_open
    held.close()
