"""Streams and events: order within a stream, order across streams by events only, times that mean something."""

from __future__ import annotations

import asyncio

import numpy as np

from ....errors import EventError, HandleClosed, NotSupported
from ....launch import KernelLaunch
from ....scalars import u32
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(10,))
def a_stream_runs_in_order(target: ConformanceTarget) -> None:
    """Launches, copies and fills on one stream take effect in the order in which they were queued."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        values, copy = gpu.array(np.array([1, 2, 3], dtype=np.uint32)), gpu.empty(3, np.uint32)
        back = np.zeros(3, dtype=np.uint32)
        for factor, plus in ((10, 1), (3, 2), (7, 5)):
            KernelLaunch(gpu, kernel).block(3).args(values.ptr, u32(3), u32(factor), u32(plus)).launch(stream)
        gpu.copy_d2d_async(values, copy, stream=stream)
        gpu.memset_async(values, 0, 12, stream)
        gpu.copy_d2h_async(copy, back, stream)
        stream.synchronize()
        assert back.tolist() == [((v * 10 + 1) * 3 + 2) * 7 + 5 for v in (1, 2, 3)]
        assert values.numpy().tolist() == [0, 0, 0]


@case(invariants=(10,))
def an_event_orders_two_streams(target: ConformanceTarget) -> None:
    """Work behind a wait for an event sees what was queued before its recording on the other stream."""
    with target.opened() as gpu, gpu.create_stream() as one, gpu.create_stream() as other:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([4, 9], dtype=np.uint32))
        KernelLaunch(gpu, kernel).block(2).args(values.ptr, u32(2), u32(10), u32(1)).launch(one)
        other.wait_event(one.record_event())
        KernelLaunch(gpu, kernel).block(2).args(values.ptr, u32(2), u32(3), u32(2)).launch(other)
        other.synchronize()
        assert values.numpy().tolist() == [(v * 10 + 1) * 3 + 2 for v in (4, 9)]


@case(invariants=(10,))
def none_and_zero_are_the_default_stream(target: ConformanceTarget) -> None:
    """None, 0 and `gpu.default_stream()` are one stream; a bool, a float or a stranger's number is refused."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([1, 2], dtype=np.uint32))
        for stream, factor in ((None, 10), (0, 3), (gpu.default_stream(), 7)):
            KernelLaunch(gpu, kernel).block(2).args(values.ptr, u32(2), u32(factor), u32(1)).launch(stream)
        gpu.synchronize(0)
        assert values.numpy().tolist() == [((v * 10 + 1) * 3 + 1) * 7 + 1 for v in (1, 2)]
        launch = KernelLaunch(gpu, kernel).args(values.ptr, u32(2), u32(1), u32(1))
        refused(target, gpu, lambda: launch.launch(True), TypeError)
        refused(target, gpu, lambda: launch.launch(0.0), TypeError)  # type: ignore[arg-type]
        if not gpu.capabilities.raw_stream_handles:
            refused(target, gpu, lambda: launch.launch(0x7F00_1234), NotSupported)


@case(invariants=(10,))
def results_are_awaited_and_called_back(target: ConformanceTarget) -> None:
    """`stream.read`, `stream.call` and `await stream.done()` deliver when the work before them is done."""

    async def wait(stream: object) -> None:
        await stream.done()  # type: ignore[attr-defined]

    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([4, 9], dtype=np.uint32))
        KernelLaunch(gpu, kernel).block(2).args(values.ptr, u32(2), u32(10), u32(1)).launch(stream)
        result = stream.read(values)
        called = stream.call(lambda: "done")
        assert result.result(timeout=60).tolist() == [41, 91]
        assert called.result(timeout=60) == "done"
        asyncio.run(wait(stream))


@case(invariants=(7,), field=(48,), needs=("event_timing",))
def elapsed_time_means_something_or_raises(target: ConformanceTarget) -> None:
    """Elapsed time between two reached events is not negative; unrecorded, untimed and swapped ones raise by name."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.arange(5, dtype=np.uint32))
        start, end = gpu.create_event(timing=True), gpu.create_event(timing=True)
        refused(target, gpu, lambda: gpu.event_elapsed_ms(start, end), EventError, says=("start",))
        start.record()
        start.synchronize()
        refused(target, gpu, lambda: start.elapsed_ms(end), EventError, says=("end",), calls_no_driver=False)
        for _ in range(20):
            kernel.over(5, 2)(values.ptr, u32(5), u32(3), u32(1))
        end.record()
        end.synchronize()
        elapsed = start.elapsed_ms(end)
        assert 0 <= elapsed < 60_000
        assert end.elapsed_ms(end) == 0
        if elapsed > 0:
            refused(target, gpu, lambda: end.elapsed_ms(start), EventError, calls_no_driver=False)
        untimed = gpu.create_event(timing=False)
        untimed.record()
        untimed.synchronize()
        refused(
            target, gpu, lambda: start.elapsed_ms(untimed), EventError, says=("end", "timing"), calls_no_driver=False
        )


@case(invariants=(10,))
def an_event_is_reached_when_waited_for(target: ConformanceTarget) -> None:
    """Polling an event ends in True, waiting makes it True, and one that was never recorded raises."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.arange(5, dtype=np.uint32))
        event = gpu.create_event()
        for call in (event.query, event.synchronize, lambda: stream.wait_event(event)):
            refused(target, gpu, call, EventError)
        kernel[3, 2, 0, stream](values.ptr, u32(5), u32(3), u32(1))
        event.record(stream)
        for _ in range(10_000_000):
            if event.query():
                break
        assert event.query()
        kernel[3, 2, 0, stream](values.ptr, u32(5), u32(3), u32(1))
        event.record(stream)
        event.synchronize()
        assert event.query()
        assert stream.query()


@case(invariants=(6, 10))
def a_destroyed_stream_or_event_is_refused(target: ConformanceTarget) -> None:
    """Destroying waits for a stream's work; afterwards stream and event refuse every use."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "echo_32")
        out = gpu.array(np.zeros(2, dtype=np.uint32))
        stream, event = gpu.create_stream(), gpu.create_event()
        kernel[1, 1, 0, stream](out.ptr, u32(5))
        stream.close()
        event.close()
        assert int(out.numpy()[0]) == 5
        for call in (
            lambda: kernel[1, 1, 0, stream](out.ptr, u32(6)),
            lambda: gpu.synchronize(stream),
            lambda: gpu.destroy_stream(stream),
            lambda: gpu.record_event(event),
            lambda: gpu.destroy_event(event),
        ):
            refused(target, gpu, call, HandleClosed)
        assert int(out.numpy()[0]) == 5
