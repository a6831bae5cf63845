"""Events: reached when what they stand behind is done, with the GPU's own time between two of them."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from webgpu_room import gpu

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import EventError, NotSupported

__all__ = ["gpu"]


def test_the_time_between_two_events_is_the_kernels(gpu: GpuBackend) -> None:
    """The time is the GPU's: more than nothing, as long as the work at least, and the same when it is asked twice."""
    if not gpu.capabilities.event_timing:
        pytest.skip("this device has no timestamps")
    mix, x = gpu.kernel("m", "mix"), gpu.array(np.zeros(4096, np.uint32))
    mix[64, 64](x, 1)  # the first launch of a pipeline compiles it once more
    times = []
    for steps in (10, 30000):
        with gpu.create_event() as start, gpu.create_event() as end:
            start.record()
            mix[64, 64](x, steps)
            end.record()
            end.synchronize()
            times.append(gpu.event_elapsed_ms(start, end))
            assert gpu.event_elapsed_ms(start, end) == times[-1]
            with pytest.raises(EventError, match="other order"):
                gpu.event_elapsed_ms(end, start)
    assert times[0] > 0
    assert times[1] > 1, "over a hundred million steps take longer than a millisecond on anything but the fastest GPU"


def test_events_that_cannot_tell_a_time(gpu: GpuBackend) -> None:
    """Without timing, and never recorded: each is its own error, and names the event."""
    with gpu.create_event(timing=False) as plain, gpu.create_event() as other, gpu.create_event() as never:
        plain.record()
        other.record()
        gpu.synchronize()
        with pytest.raises((EventError, NotSupported)):
            gpu.event_elapsed_ms(plain, other)
        with pytest.raises(EventError):
            gpu.event_elapsed_ms(other, never)


def test_many_events_share_query_sets_and_give_their_places_back(gpu: GpuBackend) -> None:
    """Hundreds of events with timing, alive at once and one after the other, each with a time of its own."""
    if not gpu.capabilities.event_timing:
        pytest.skip("this device has no timestamps")
    for _ in range(2):
        events = [gpu.create_event() for _ in range(150)]
        for event in events:
            event.record()
        gpu.synchronize()
        times = [gpu.event_elapsed_ms(events[0], event) for event in events[:: len(events) // 10]]
        assert times == sorted(times)
        for event in events:
            event.close()


def test_an_event_is_reached_by_asking(gpu: GpuBackend) -> None:
    """A query never blocks, and comes to True without anybody waiting; what was read is then with the host."""
    mix, x = gpu.kernel("m", "mix"), gpu.array(np.ones(64, np.uint32))
    with gpu.create_stream() as stream:
        read = np.zeros(64, np.uint32)
        mix[1, 64, 0, stream](x, 20000)
        gpu.copy_d2h_async(x, read, stream)
        event = stream.record_event()
        while not event.query():
            pass
        np.testing.assert_array_equal(read, x.numpy())
        while not stream.query():
            pass


def test_copies_and_streams_can_be_awaited(gpu: GpuBackend) -> None:
    """Mapping is hidden behind copies that block, and behind those that are awaited."""
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.arange(32, dtype=np.uint32))

    async def work() -> np.ndarray:
        stream = gpu.create_stream()
        kernel[1, 32, 0, stream](x, 32, 5, 2)
        future = stream.read(x)
        await stream.done()
        return np.asarray(future.result() if hasattr(future, "result") else await future)

    result = asyncio.run(work())
    np.testing.assert_array_equal(result.view(np.uint32).ravel(), np.arange(32) * 5 + 2)
