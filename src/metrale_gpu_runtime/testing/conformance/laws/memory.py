"""Allocations, copies, fills, the ledger: bytes arrive whole, bounds hold, nothing is left behind."""

from __future__ import annotations

import gc
from functools import partial

import numpy as np

from ....errors import ArgumentCountError, InvalidPointer, OutOfDeviceMemory
from ....handles import DevicePtr
from ....launch import KernelLaunch
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(6,))
def bytes_go_round(target: ConformanceTarget) -> None:
    """What is copied to the device, across it and back is the same bytes, and nothing beside them changes."""
    host = np.arange(1000, dtype=np.uint16).view(np.uint8)[:1999].copy()
    with target.opened() as gpu:
        first, second = gpu.alloc(2100), gpu.alloc(2100)
        gpu.memset(second, 0xEE, 2100)
        gpu.copy_h2d(host, first + 7)
        gpu.copy_d2d(first + 7, second + 33, host.nbytes)
        back = np.zeros(2100, dtype=np.uint8)
        gpu.copy_d2h(second, back)
        np.testing.assert_array_equal(back[33 : 33 + host.nbytes], host)
        assert set(back[:33]) | set(back[33 + host.nbytes :]) == {0xEE}
        gpu.free(first)
        gpu.free(second)


@case(invariants=(6,))
def fills_have_three_widths(target: ConformanceTarget) -> None:
    """A fill of 8, 16 or 32 bits writes whole elements, lowest byte first, and stops at its end."""
    with target.opened() as gpu:
        for width, value in ((1, 0xA1), (2, 0xB2B1), (4, 0xC4C3C2C1)):
            buffer = gpu.array(np.full(29, 0x11, dtype=np.uint8))
            gpu.memset(buffer.ptr + 4, value, 3 * width, width=width)
            expected = b"\x11" * 4 + value.to_bytes(width, "little") * 3
            assert buffer.numpy().tobytes() == expected.ljust(29, b"\x11")


@case(invariants=(6,))
def rows_are_copied_by_their_pitch(target: ConformanceTarget) -> None:
    """A pitched copy moves `width` bytes of each row and leaves the gaps of the target alone."""
    with target.opened() as gpu:
        source = gpu.array(np.arange(1, 31, dtype=np.uint8))
        out = gpu.array(np.zeros(25, dtype=np.uint8))
        gpu.copy_d2d_2d_async(source.ptr + 1, 9, out.ptr + 2, 7, 5, 3)
        gpu.synchronize()
        expected = np.zeros(25, dtype=np.uint8)
        for row in range(3):
            expected[2 + 7 * row : 7 + 7 * row] = np.arange(2 + 9 * row, 7 + 9 * row)
        np.testing.assert_array_equal(out.numpy(), expected)
        refused(target, gpu, lambda: gpu.copy_d2d_2d_async(source.ptr, 9, out.ptr, 4, 5, 3), ValueError)


@case(invariants=(6,), field=(6,))
def copies_past_the_end_are_refused(target: ConformanceTarget) -> None:
    """A copy or fill of one byte more than fits raises before anything moves."""
    with target.opened() as gpu:
        buffer, other = gpu.array(np.full(13, 0x33, dtype=np.uint8)), gpu.alloc(50)
        for call in (
            lambda: gpu.copy_h2d(np.zeros(14, dtype=np.uint8), buffer),
            lambda: gpu.copy_h2d(np.zeros(10, dtype=np.uint8), buffer.ptr + 4),
            lambda: gpu.copy_d2h(buffer.ptr + 1, np.zeros(13, dtype=np.uint8)),
            lambda: gpu.copy_d2d(other, buffer.ptr, 14),
            lambda: gpu.copy_d2d(buffer.ptr, other, 14),
            lambda: gpu.memset(buffer.ptr + 6, 1, 8),
            lambda: gpu.copy_d2d_2d_async(other, 5, buffer.ptr, 5, 4, 3),
        ):
            refused(target, gpu, call, InvalidPointer)
        assert buffer.numpy().tolist() == [0x33] * 13
        gpu.free(other)


@case(invariants=(6,))
def a_dead_or_inner_pointer_is_refused(target: ConformanceTarget) -> None:
    """Freeing twice, freeing inside, and using freed memory raise and say what became of it; null is nothing."""
    with target.opened() as gpu:
        pointer, kernel = gpu.alloc(300), target.kernel(gpu, "echo_32")
        refused(target, gpu, lambda: gpu.free(pointer + 16), InvalidPointer)
        gpu.free(pointer)
        for call in (
            lambda: gpu.free(pointer),
            lambda: gpu.copy_h2d(np.zeros(4, dtype=np.uint8), pointer),
            lambda: KernelLaunch(gpu, kernel).arg_ptr(pointer).arg_u32(1).launch(),
        ):
            refused(target, gpu, call, InvalidPointer, says=("freed",))
        gpu.free(DevicePtr(0))
        gpu.free(None)


@case(invariants=(6,), field=(22,))
def empty_buffers_are_buffers(target: ConformanceTarget) -> None:
    """A buffer of no bytes can be made, copied, filled, passed and dropped; the ledger counts 0 bytes."""
    with target.opened() as gpu:
        before = gpu.live_bytes()
        empty = gpu.empty((0, 5), np.float32)
        assert (empty.nbytes, empty.shape) == (0, (0, 5))
        empty.copy_from(np.zeros((0, 5), dtype=np.float32))
        assert empty.numpy().shape == (0, 5)
        gpu.memset(empty, 0)
        gpu.copy_d2d(empty, gpu.buffer(0), 0)
        assert gpu.live_bytes() == before


@case(invariants=(6,), field=(47,))
def the_ledger_returns_to_its_start(target: ConformanceTarget) -> None:
    """After many rounds of allocate, copy, launch, event, wait, error and drop the ledger is as before."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        host = np.arange(37, dtype=np.uint32)
        before = gpu.live_bytes(), gpu.live_alloc_count()
        for number in range(60):
            values = gpu.array(host)
            event = gpu.create_event()
            kernel.over(37, 8)(values.ptr, np.uint32(37), np.uint32(3), np.uint32(number))
            gpu.record_event(event)
            gpu.event_synchronize(event)
            assert int(values.numpy()[36]) == 36 * 3 + number
            refused(target, gpu, partial(kernel[1, 1], values.ptr), ArgumentCountError)
            gpu.destroy_event(event)
        del values
        gc.collect()
        gpu.synchronize()
        assert (gpu.live_bytes(), gpu.live_alloc_count()) == before


@case(field=(47,))
def the_ledger_says_who_made_what(target: ConformanceTarget) -> None:
    """The report names label, size, the line that allocated, and the last launch that used it."""
    with target.opened() as gpu:
        weights = gpu.alloc(4096 + 24, label="weights")
        target.kernel(gpu, "echo_32")[1, 1](weights, np.uint32(5))
        report = gpu.alloc_report()
        for words in ("weights", "4120", ".py:", "echo_32"):
            assert words in report, f"{words!r} is missing in:\n{report}"
        assert gpu.live_bytes() == 4120
        gpu.synchronize()
        gpu.free(weights)


@case(invariants=(8,))
def memory_that_does_not_fit_is_refused(target: ConformanceTarget) -> None:
    """An allocation nothing could hold raises OutOfDeviceMemory with its size and leaves the ledger as it was."""
    with target.opened() as gpu:
        before = gpu.live_bytes(), gpu.live_alloc_count()
        error = refused(target, gpu, partial(gpu.alloc, 1 << 60), OutOfDeviceMemory, calls_no_driver=False)
        assert error.nbytes == 1 << 60
        assert (gpu.live_bytes(), gpu.live_alloc_count()) == before
        pointer = gpu.alloc(3)
        gpu.free(pointer)
        refused(target, gpu, partial(gpu.alloc, -1), ValueError)
        for wrong in (2.0, True, "4"):
            refused(target, gpu, partial(gpu.alloc, wrong), TypeError)  # type: ignore[arg-type]


@case(invariants=(7,), needs=("managed_memory",))
def managed_memory_works_like_any(target: ConformanceTarget) -> None:
    """Managed memory is filled, passed and freed like device memory."""
    with target.opened() as gpu:
        pointer = gpu.alloc_managed(20)
        gpu.memset(pointer, 0, 20)
        target.kernel(gpu, "echo_32")[1, 1](pointer, np.uint32(77))
        back = np.zeros(5, dtype=np.uint32)
        gpu.copy_d2h(pointer, back)
        assert back.tolist() == [77, 0, 0, 0, 0]
        gpu.free(pointer)


@case(invariants=(7,), needs=("pinned_memory",))
def pinned_memory_is_copied_from_and_to(target: ConformanceTarget) -> None:
    """Page-locked host memory is zeroed, read and written as an array, and its size is checked."""
    with target.opened() as gpu:
        pinned = gpu.alloc_host_pinned(37)
        array = np.asarray(pinned)
        assert array.tolist() == [0] * 37
        array[:] = np.arange(37)
        buffer = gpu.empty(37, np.uint8)
        gpu.copy_h2d_async_retained(pinned, buffer)
        gpu.synchronize()
        array[:] = 0
        gpu.copy_d2h(buffer, pinned)
        assert array.tolist() == list(range(37))
        del array
        gpu.free_host_pinned(pinned)
        assert gpu.live_alloc_count() == 1
