"""Guard bands and traces: what a launch did beside its buffers, and what was asked of the device."""

from __future__ import annotations

from functools import partial

import numpy as np

from ....backend import GpuBackend
from ....errors import ArgumentCountError, LimitExceeded
from ....kernel import Kernel
from ....scalars import u32
from ....trace.recording import Trace
from ..case import case
from ..known import index_of_write_at
from ..refused import refused
from ..target import ConformanceTarget


def _write(gpu: GpuBackend, kernel: Kernel, index: int, value: int) -> None:
    buffer = gpu.empty(5, np.int32, label="five numbers")
    buffer.copy_from(np.arange(5, dtype=np.int32))
    kernel[1, 1](buffer, index_of_write_at(gpu.capabilities)(index), np.int32(value))
    damages = gpu.scan_redzones()
    if 0 <= index < 5:
        assert damages == ()
        return
    (damage,) = damages
    assert "five numbers" in damage.label
    assert (damage.nbytes, damage.offset, damage.count) == (20, 4 * index, 4)
    assert damage.side == ("before" if index < 0 else "after")
    assert "write_at" in damage.last_use
    assert gpu.scan_redzones() == (), "an old damage is told again"
    assert buffer.numpy().tolist() == [0, 1, 2, 3, 4]


@case(invariants=(6,), field=(6,))
def guard_bands_tell_who_wrote_past_the_end(target: ConformanceTarget) -> None:
    """With guard bands on, a write before or past a buffer is told with label, side, offset and launch, once."""
    with target.opened(check=None, redzone=64) as gpu:
        kernel = target.kernel(gpu, "write_at")
        # Where an access stays within its binding, that begins at the buffer and takes in the band behind it.
        for index in (5, 7, 4, 0) if gpu.capabilities.bounded_accesses else (5, -1, 7, 4, 0):
            _write(gpu, kernel, index, -5)


@case(invariants=(6,), field=(6, 22))
def guard_bands_raise_no_false_alarm(target: ConformanceTarget) -> None:
    """A buffer full of NaN, of zeros, of the bands' own byte, or of nothing alarms nobody, and keeps its alignment."""
    with target.opened(check=None, redzone=33) as gpu:
        buffers = [
            gpu.array(np.full(7, np.nan, dtype=np.float32)),
            gpu.array(np.full(7, -0.0, dtype=np.float64)),
            gpu.array(np.full(29, 0xEE, dtype=np.uint8)),
            gpu.empty(0, np.float32),
        ]
        assert all(buffer.address % 256 == 0 for buffer in buffers)
        before = gpu.live_bytes()
        target.kernel(gpu, "scale_add").over(7, 3)(buffers[0], gpu.array(np.zeros(7, dtype=np.float32)), u32(7), 2.0)
        assert gpu.scan_redzones() == ()
        assert before == 28 + 56 + 29
        assert np.isnan(buffers[0].numpy()).all()


@case(field=(6,))
def without_guard_bands_there_is_nothing_to_scan(target: ConformanceTarget) -> None:
    """With the bands off a scan finds nothing and allocations are no larger than asked."""
    with target.opened() as gpu:
        buffer = gpu.array(np.zeros(5, dtype=np.int32))
        assert gpu.scan_redzones() == ()
        assert gpu.live_bytes() == buffer.nbytes == 20


@case(invariants=(4, 8), field=(8, 21))
def a_trace_tells_what_became_of_each_launch(target: ConformanceTarget) -> None:
    """A trace has every launch with its bytes and outcome: queued or empty; a refused one never got that far."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([1, 2], dtype=np.uint32))
        arguments = (values, u32(2), u32(10), u32(0xA1B2C3))
        with gpu.trace() as trace:
            kernel[1, 2](*arguments)
            kernel[0, 2](*arguments)
            refused(target, gpu, partial(kernel[1, 2], *arguments[:3]), ArgumentCountError)
            refused(target, gpu, partial(kernel.__getitem__, (1, 2**20)), LimitExceeded)
            gpu.memset_async(values, 0, 8)
        kernel[1, 2](*arguments)
        gpu.synchronize()
        first, empty = trace.launches
        assert (first.outcome, empty.outcome) == ("queued", "empty")
        assert (first.kernel, first.grid, first.block) == ("affine", (1, 1, 1), (2, 1, 1))
        expected = values.ptr.address.to_bytes(8, "little") + bytes.fromhex("020000000a000000c3b2a100")
        assert bytes.fromhex(first.image) == expected
        assert [each.kind for each in trace] == ["launch", "launch", "memset_async"]
        assert trace.operations[2].nbytes == 8
        assert Trace.from_json(trace.to_json()).operations == trace.operations
