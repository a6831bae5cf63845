"""alloc_async and free_async: memory in a stream's order, from a pool or not."""

from __future__ import annotations

from functools import partial

import numpy as np

from ....errors import InvalidPointer
from ....scalars import u32
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(6,))
def memory_in_a_streams_order(target: ConformanceTarget) -> None:
    """Memory is allocated, written, read and given back in one stream's order, round after round, on its own bytes."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        before = gpu.live_alloc_count()
        results = [np.zeros(7, dtype=np.uint32) for _ in range(20)]
        for number, result in enumerate(results):
            pointer = gpu.alloc_async(28, stream, label="step")
            gpu.memset_async(pointer, number, 28, stream, width=4)
            kernel[2, 4, 0, stream](pointer, u32(7), u32(3), u32(number))
            gpu.copy_d2h_async(pointer, result, stream)
            gpu.free_async(pointer, stream)
            refused(target, gpu, partial(gpu.memset_async, pointer, 0, 4, stream), InvalidPointer)
        stream.synchronize()
        assert [result.tolist() for result in results] == [[4 * number] * 7 for number in range(20)]
        assert gpu.live_alloc_count() == before


@case(invariants=(6,))
def other_streams_wait_for_an_allocation(target: ConformanceTarget) -> None:
    """Memory of one stream's order can be used on another at once, and goes back when both have passed."""
    with target.opened() as gpu, gpu.create_stream() as home, gpu.create_stream() as other:
        kernel = target.kernel(gpu, "affine")
        before = gpu.live_alloc_count()
        pointer = gpu.alloc_async(28, home)
        gpu.memset_async(pointer, 6, 28, other, width=4)
        kernel[2, 4, 0, other](pointer, u32(7), u32(3), u32(1))
        other.synchronize()
        gpu.free_async(pointer, home)
        pointer = gpu.alloc_async(28, home)
        gpu.memset_async(pointer, 5, 28, home, width=4)
        done = home.record_event()
        other.wait_event(done)
        kernel[2, 4, 0, other](pointer, u32(7), u32(3), u32(1))
        found = np.zeros(7, dtype=np.uint32)
        gpu.copy_d2h(pointer, found)
        assert found.tolist() == [16] * 7
        gpu.free_async(pointer, other)
        gpu.synchronize()
        assert gpu.live_alloc_count() == before


@case(invariants=(6, 7), field=(26,))
def an_allocation_inside_a_capture_is_outside_of_it(target: ConformanceTarget) -> None:
    """What alloc_async gives inside a capture is there at every replay, until it is freed."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            pointer = gpu.alloc_async(28, stream)
            gpu.memset_async(pointer, 9, 28, stream, width=4)
            target.kernel(gpu, "affine")[2, 4, 0, stream](pointer, u32(7), u32(3), u32(1))
        for _ in range(3):
            capture.graph.launch(stream)
        found = np.zeros(7, dtype=np.uint32)
        gpu.copy_d2h(pointer, found)
        assert found.tolist() == [28] * 7
        capture.graph.close()
        stream.synchronize()
        gpu.free(pointer)
