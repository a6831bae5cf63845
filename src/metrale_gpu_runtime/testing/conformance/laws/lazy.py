"""Lazy buffers: a fixed base, a mapped prefix that only grows, a budget; the same with virtual memory and without."""

from __future__ import annotations

import gc

import numpy as np

from ....errors import CaptureError, HandleClosed, InvalidPointer, MappingBudgetExceeded
from ....memory.lazy import MappingBudget
from ....scalars import u32
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(6,))
def a_lazy_buffer_grows_in_place(target: ConformanceTarget) -> None:
    """Each growth maps whole granules behind what is there; base and contents stay; kernels cross the seam."""
    with target.opened() as gpu:
        before = gpu.live_bytes()
        buffer = gpu.lazy_buffer(1, free_floor=0)
        granule = buffer.granule
        buffer.release()
        buffer = gpu.lazy_buffer(3 * granule - 5, free_floor=0, label="cache")
        assert buffer.kind == ("virtual" if gpu.capabilities.lazy_memory else "eager")
        assert (buffer.reserved_nbytes, buffer.mapped_nbytes) == (3 * granule, 0)
        base = buffer.address
        assert buffer.ensure_mapped(3) == granule
        host = np.arange(1, 65, dtype=np.uint32)
        seam = buffer.ptr + granule - 256
        gpu.copy_h2d(host, seam)
        assert buffer.ensure_mapped(granule + 1) == 2 * granule
        gpu.copy_h2d(10 * host, buffer.ptr + granule)
        target.kernel(gpu, "affine")[3, 50](seam, u32(128), u32(3), u32(1))
        found = np.zeros(128, dtype=np.uint32)
        gpu.copy_d2h(seam, found)
        assert found.tolist() == [*(3 * host + 1), *(30 * host + 1)]
        assert buffer.ensure_mapped(5) == 2 * granule
        assert buffer.ensure_mapped(100 * granule) == 3 * granule, "a want is capped at the reservation"
        assert (buffer.address, gpu.live_bytes()) == (base, before + 3 * granule)
        buffer.release()
        buffer.release()
        assert gpu.live_bytes() == before
        refused(target, gpu, lambda: buffer.ensure_mapped(1), HandleClosed)


@case(invariants=(6,))
def the_unmapped_part_is_refused(target: ConformanceTarget) -> None:
    """Pointers and copies behind the mapped bytes are refused with what is mapped, before the driver is called."""
    with target.opened() as gpu, gpu.lazy_buffer(1 << 22, free_floor=0) as buffer:
        kernel = target.kernel(gpu, "affine")
        refused(target, gpu, lambda: kernel[1, 1](buffer, u32(1), u32(1), u32(1)), InvalidPointer)
        mapped = buffer.ensure_mapped(1)
        assert mapped < buffer.reserved_nbytes
        behind = buffer.ptr + mapped
        numbers = (f"{mapped} bytes mapped", f"{buffer.reserved_nbytes} reserved")
        for use in (
            lambda: kernel[1, 1](behind, u32(1), u32(1), u32(1)),
            lambda: gpu.copy_h2d(b"abc", behind - 2),
            lambda: gpu.memset(buffer, 1, mapped + 1),
            lambda: gpu.copy_d2h(behind, bytearray(1)),
        ):
            refused(target, gpu, use, InvalidPointer, says=numbers)
        gpu.memset(buffer, 1)


@case(invariants=(6,))
def a_mapping_budget_is_shared(target: ConformanceTarget) -> None:
    """A budget bounds what its buffers map together; a refusal changes nothing; a release refunds once."""
    with target.opened() as gpu:
        budget = MappingBudget(1 << 40)
        one = gpu.lazy_buffer(1 << 23, budget=budget, free_floor=0)
        granule = one.granule
        one.ensure_mapped(1)
        assert budget.charged_nbytes == granule
        one.release()
        assert budget.charged_nbytes == 0
        budget = MappingBudget(3 * granule + 1)
        one = gpu.lazy_buffer(1 << 23, budget=budget, free_floor=0)
        other = gpu.lazy_buffer(1 << 23, budget=budget, free_floor=0)
        one.ensure_mapped(granule + 1)
        other.ensure_mapped(1)
        error = refused(target, gpu, lambda: other.ensure_mapped(granule + 1), MappingBudgetExceeded)
        assert (error.nbytes, error.budget, error.charged) == (granule, 3 * granule + 1, 3 * granule)
        assert (other.mapped_nbytes, budget.charged_nbytes) == (granule, 3 * granule)
        one.release()
        one.release()
        assert budget.charged_nbytes == granule
        assert other.ensure_mapped(granule + 1) == 2 * granule
        other.release()
        assert budget.charged_nbytes == 0


@case(invariants=(6, 7), field=(26,))
def nothing_is_mapped_during_a_capture(target: ConformanceTarget) -> None:
    """While a stream is captured no buffer grows; asking for what is mapped already is fine; the capture goes on."""
    with target.opened() as gpu, gpu.create_stream() as stream, gpu.lazy_buffer(1 << 22, free_floor=0) as buffer:
        mapped = buffer.ensure_mapped(1)
        with gpu.capture(stream) as capture:
            gpu.memset_async(buffer, 0x5A, 20, stream)
            assert buffer.ensure_mapped(mapped) == mapped
            refused(target, gpu, lambda: buffer.ensure_mapped(mapped + 1), CaptureError)
            refused(target, gpu, buffer.release, CaptureError)
        assert buffer.mapped_nbytes == mapped
        assert buffer.ensure_mapped(mapped + 1) > mapped
        capture.graph.launch(stream)
        stream.synchronize()
        found = bytearray(20)
        gpu.copy_d2h(buffer, found)
        assert found == b"\x5a" * 20
        capture.graph.close()


@case(invariants=(6,), field=(4,))
def a_dropped_lazy_buffer_outlives_its_work(target: ConformanceTarget) -> None:
    """A lazy buffer dropped while queued work uses it is there when that runs, and is given back afterwards."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        before = gpu.live_alloc_count()
        buffer = gpu.lazy_buffer(1000, free_floor=0)
        buffer.ensure_mapped(1000)
        gpu.copy_h2d(np.arange(5, dtype=np.uint32), buffer)
        target.kernel(gpu, "affine")[1, 5, 0, stream](buffer, u32(5), u32(7), u32(2))
        out = np.zeros(5, dtype=np.uint32)
        gpu.copy_d2h_async(buffer, out, stream)
        del buffer
        gc.collect()
        stream.synchronize()
        assert out.tolist() == [2, 9, 16, 23, 30]
        gpu.synchronize()
        assert gpu.live_alloc_count() == before
