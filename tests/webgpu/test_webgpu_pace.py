"""When collected launches reach the queue: at once, in pieces, or by the driver's own thread; always in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from webgpu_room import gpu

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.webgpu import pace as pacing

__all__ = ["gpu"]


class Counted:
    """A queue that says that it is busy for so long as `is_busy`, and counts what is submitted to it."""

    def __init__(self, gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        self.driver: Any = gpu._driver
        self.is_busy = True
        poll: Callable[[], bool | None] = self.driver._device.poll
        monkeypatch.setattr(self.driver._device, "poll", lambda: False if self.is_busy else poll())
        self.begin()

    def begin(self) -> None:
        self.driver._pace.unknown = pacing.BUSY_COUNT
        self.first = self.driver._pace.last_index

    @property
    def submissions(self) -> int:
        return int(self.driver._pace.last_index - self.first)


def test_a_queue_with_nothing_to_do_gets_each_launch_at_once(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU starts with the first launch, whatever comes behind it."""
    queue = Counted(gpu, monkeypatch)
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.zeros(32, np.uint32))
    gpu.synchronize()
    queue.begin()
    queue.driver._pace.unknown = 0
    for number in range(4):
        kernel[1, 32](x, 32, 10, number + 1)
    assert queue.submissions == pacing.BUSY_COUNT
    assert x.numpy().tolist() == [1234] * 32


def test_launches_are_collected_while_the_queue_is_busy(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many launches in one submission, and the rest of them when somebody waits; each with its own values."""
    queue = Counted(gpu, monkeypatch)
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.zeros(32, np.uint32))
    gpu.synchronize()
    queue.begin()
    expected = 0
    for number in range(2 * pacing.MAX_OPERATIONS + 5):
        kernel[1, 32](x, 32, 3, number)
        expected = (expected * 3 + number) % (1 << 32)
    assert queue.submissions == 2
    assert x.numpy().tolist() == [expected] * 32
    assert queue.submissions == 3, "the rest goes with the copy to the host"


def test_what_is_collected_waits_for_no_other_call(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the queue is empty the driver's thread hands over what was collected."""
    queue = Counted(gpu, monkeypatch)
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.zeros(32, np.uint32))
    gpu.synchronize()
    queue.begin()
    for number in range(5):
        kernel[1, 32](x, 32, 1, number)
    assert queue.submissions == 0
    queue.is_busy = False
    end = time.monotonic() + 20
    while queue.submissions == 0:
        assert time.monotonic() < end, "nobody submits"
        time.sleep(0.001)
    assert queue.submissions == 1
    assert x.numpy().tolist() == [10] * 32


def test_streams_that_wait_for_each_other_keep_their_order(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work behind an event of another stream sees what that stream had done, however both are collected."""
    queue = Counted(gpu, monkeypatch)
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.ones(32, np.uint32))
    gpu.synchronize()
    queue.begin()
    expected = 1
    with gpu.create_stream() as one, gpu.create_stream() as two:
        for number in range(20):
            stream, other = (one, two) if number % 2 else (two, one)
            for plus in range(number % 5 + 1):
                kernel[1, 32, 0, stream](x, 32, 3, plus)
                expected = (expected * 3 + plus) % (1 << 32)
            other.wait_event(stream.record_event())
        one.synchronize()
        two.synchronize()
    assert x.numpy().tolist() == [expected] * 32


def test_a_host_that_is_far_ahead_is_held_back(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many submissions on their way the next one waits for an old one, so that memory for them is bounded."""
    queue = Counted(gpu, monkeypatch)
    waited: list[int] = []
    wait = queue.driver._device.wait
    monkeypatch.setattr(queue.driver._device, "wait", lambda index: (waited.append(index), wait(index)))
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.zeros(32, np.uint32))
    gpu.synchronize()
    queue.begin()
    waited.clear()
    count = pacing.MAX_OPERATIONS * (pacing.MAX_IN_FLIGHT + 3)
    for _ in range(count):
        kernel[1, 32](x, 32, 1, 1)
    assert waited
    assert queue.driver._pace.last_index - waited[0] <= pacing.MAX_IN_FLIGHT
    assert x.numpy().tolist() == [count] * 32


def test_collected_copies_keep_what_they_need(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that a copy borrows, and the groups that name it, are given up while the copy is only recorded: it runs
    all the same, in order with the launches around it."""
    queue = Counted(gpu, monkeypatch)
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.arange(40, dtype=np.uint32))
    y = gpu.array(np.zeros(40, np.uint32))
    gpu.synchronize()
    model_x, model_y = np.arange(40, dtype=np.uint32), np.zeros(40, np.uint32)
    queue.begin()
    with gpu.create_stream() as stream:
        for number in range(1, 9):
            kernel[1, 32, 0, stream](x, 32, 3, number)
            model_x[:32] = model_x[:32] * 3 + number
            gpu.copy_d2d_async(x.ptr + number, y.ptr + 3 * number, 50 + number, stream)  # odd places: a kernel
            model_y.view(np.uint8)[3 * number :][: 50 + number] = model_x.view(np.uint8)[number:][: 50 + number]
            gpu.copy_d2d_async(y.ptr + 100, y.ptr + 5, 30, stream)  # within a buffer: through another one
            model_y.view(np.uint8)[5:35] = model_y.view(np.uint8)[100:130].copy()
            gpu.memset_async(y.ptr + 149 + number, number, 3, stream=stream)
            model_y.view(np.uint8)[149 + number :][:3] = number
        assert queue.submissions == 0
        stream.synchronize()
    np.testing.assert_array_equal(x.numpy(), model_x)
    np.testing.assert_array_equal(y.numpy(), model_y)
