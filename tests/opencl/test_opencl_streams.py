"""Streams as in-order queues, events as markers, and what a failed command becomes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from opencl_room import gpu, ints, svm

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.opencl.streams import FLUSH_EVERY, QUEUED, Stream
from metrale_gpu_runtime.errors import DriverError, DriverFault, EventError, LimitExceeded, NotSupported

__all__ = ["gpu", "svm"]

SLOW = """
kernel void slow(global int *x, int rounds) {
    int at = get_global_id(0), value = x[at];
    for (int round = 0; round < rounds; ++round) value = value * 3 + round;
    x[at] = value;
}
kernel void plus(global int *x, int n) { x[get_global_id(0)] += n; }
"""


def test_a_stream_waits_for_another_by_an_event(gpu: GpuBackend) -> None:
    """Work behind a wait sees what was written before the event, on another queue."""
    gpu.load_module("m", source=SLOW)
    slow, plus, x = gpu.kernel("m", "slow"), gpu.kernel("m", "plus"), gpu.array(np.arange(4, dtype=np.int32))
    with gpu.create_stream() as first, gpu.create_stream() as second:
        slow[1, 4, 0, first](x, 2_000_000)
        second.wait_event(first.record_event())
        plus[1, 4, 0, second](x, 1)
        second.synchronize()
        assert first.query()
    told = x.numpy()
    assert len(set(told.tolist())) == 4
    fresh = gpu.array(np.arange(4, dtype=np.int32))
    slow[1, 4](fresh, 2_000_000)
    assert (told - fresh.numpy()).tolist() == [1] * 4


def test_48_a_time_is_that_of_the_device(svm: GpuBackend) -> None:
    """The time between two events holds the work between them; swapped, unrecorded or untimed it is refused."""
    svm.load_module("m", source=SLOW)
    slow, x = svm.kernel("m", "slow"), ints(svm, 4)
    slow[1, 4](x, 1)
    svm.synchronize()
    with svm.create_stream() as stream:
        start = stream.record_event()
        slow[1, 4, 0, stream](x, 20_000_000)
        end = stream.record_event()
        end.synchronize()
        took = start.elapsed_ms(end)
        assert took > 1.0
        with pytest.raises(EventError, match="in the other order"):
            svm.event_elapsed_ms(end, start)
        with pytest.raises(EventError, match="record"):
            start.elapsed_ms(svm.create_event())
        untimed = svm.create_event(timing=False)
        stream.record_event(untimed)
        stream.synchronize()
        with pytest.raises(EventError, match="timing"):
            start.elapsed_ms(untimed)


def test_queues_have_no_priorities(svm: GpuBackend) -> None:
    """A priority is refused: there are none."""
    with pytest.raises((LimitExceeded, NotSupported), match="priorit"):
        svm.create_stream(priority=-1)


class FakeError(Exception):
    """pyopencl's Error."""

    def __init__(self, code: int, routine: str) -> None:
        super().__init__(routine)
        self.code, self.routine = code, routine


class FakeQueue:
    """A queue whose markers end as they are told."""

    int_ptr = 64

    def __init__(self) -> None:
        self.outcome, self.is_finished, self.broken = 0, False, 0

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        if self.broken:
            raise FakeError(self.broken, "clFinish")
        self.is_finished = True

    def mark(self) -> Any:
        if self.broken:
            raise FakeError(self.broken, "clEnqueueMarkerWithWaitList")
        return SimpleNamespace(command_execution_status=self.outcome, wait=self.wait)

    def wait(self) -> None:
        if self.outcome < 0:
            raise FakeError(-14, "clWaitForEvents")


def fake_stream() -> tuple[Stream, FakeQueue, list[int]]:
    """A stream over a queue that fails on demand, and each flush of it."""
    queue, flushed = FakeQueue(), []
    names = {-5: "OUT_OF_RESOURCES", -14: "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -36: "INVALID_COMMAND_QUEUE"}
    cl = SimpleNamespace(
        Error=FakeError,
        CommandQueue=lambda *_: queue,
        command_queue_properties=SimpleNamespace(PROFILING_ENABLE=2),
        _cl=SimpleNamespace(_enqueue_marker_with_wait_list=lambda queue, _: queue.mark()),
    )
    calls = SimpleNamespace(flush=lambda pointer: flushed.append(pointer))
    bindings: Any = SimpleNamespace(cl=cl, calls=calls, code_name=lambda code: f"CL_{names[code]}")
    return Stream(bindings, None, None, "card"), queue, flushed


def test_a_failed_command_is_a_fault_of_the_wait() -> None:
    """A marker that ends in an error is a fault with its own status, told when nothing of the queue runs any more."""
    stream, queue, _ = fake_stream()
    queue.outcome = -5
    with pytest.raises(DriverFault, match=r"CL_OUT_OF_RESOURCES.*card") as met:
        stream.synchronize()
    assert queue.is_finished
    assert not met.value.context_lost
    queue.outcome = 0
    stream.synchronize()


def test_a_failed_command_is_a_fault_of_the_question() -> None:
    """So it is when the stream is asked, once; then it is usable again."""
    stream, queue, _ = fake_stream()
    queue.outcome = -5
    stream.queued()
    with pytest.raises(DriverFault, match="CL_OUT_OF_RESOURCES"):
        stream.query()
    queue.outcome = 0
    assert stream.query()


def test_a_queue_that_is_gone_is_a_lost_context() -> None:
    """Where not even a marker can be queued because the queue is gone, the context is lost."""
    stream, queue, _ = fake_stream()
    queue.broken = -36
    with pytest.raises(DriverFault, match="CL_INVALID_COMMAND_QUEUE") as met:
        stream.synchronize()
    assert met.value.context_lost
    with pytest.raises(DriverError):
        stream.record()
    assert stream.close() is not None


def test_a_question_needs_no_new_marker_each_time() -> None:
    """While a marker is not reached, asking again asks that one; what is queued later takes a new one."""
    stream, queue, _ = fake_stream()
    stream.queued()
    queue.outcome = 3
    assert not stream.query()
    made = stream._marker
    assert made is not None
    assert not stream.query()
    assert stream._marker is made
    made[0].command_execution_status = 0
    assert stream.query()
    queue.outcome = 0
    stream.counts[QUEUED] += 1
    assert stream.query()
    assert stream._marker is not made


def test_launches_are_sent_at_once_and_then_together() -> None:
    """The first command after a wait is sent at once, later ones in company."""
    stream, _, flushed = fake_stream()
    for count in range(1, 2 * FLUSH_EVERY + 1):
        stream.queued()
        assert len(flushed) == (count + FLUSH_EVERY - 1) // FLUSH_EVERY
    stream.synchronize()
    stream.queued()
    assert len(flushed) == 3
