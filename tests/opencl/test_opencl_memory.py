"""OpenCL's two kinds of memory: shared virtual memory, and buffer objects with sub-buffers."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from opencl_room import buffers, gpu, ints, kernel, open_pocl, svm

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.opencl import memory as memory_room
from metrale_gpu_runtime.drivers.opencl.buffers import MOST_PARTS, BufferMemory
from metrale_gpu_runtime.drivers.opencl.programs import ThreadKernel
from metrale_gpu_runtime.drivers.opencl.svm import SvmMemory
from metrale_gpu_runtime.errors import (
    HandleClosed,
    InvalidPointer,
    LimitExceeded,
    NotSupported,
    OutOfDeviceMemory,
)
from metrale_gpu_runtime.geometry import Dim3, Geometry
from metrale_gpu_runtime.handles import DEFAULT_STREAM
from metrale_gpu_runtime.layout import ArgumentKind, ArgumentLayout

__all__ = ["buffers", "gpu", "svm"]

ADD = "kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }"


def test_addresses_are_aligned_and_apart(gpu: GpuBackend) -> None:
    """Allocations of odd sizes lie at multiples of 256 and do not touch."""
    pointers = [gpu.alloc(nbytes) for nbytes in (1, 255, 257, 1000)]
    assert all(each.address % 256 == 0 for each in pointers)
    at = sorted(zip((each.address for each in pointers), (1, 255, 257, 1000), strict=True))
    assert all(one + nbytes <= two for (one, nbytes), (two, _) in pairwise(at))
    for each in pointers:
        gpu.free(each)


def test_sub_buffers_are_kept_within_bounds(buffers: GpuBackend) -> None:
    """More offsets than are kept as sub-buffers: each launch writes where its pointer says, also one taken up again."""
    add, step, count = kernel(buffers, ADD, "add"), buffers.capabilities.buffer_offset_alignment, MOST_PARTS + 9
    words = step // 4
    x = buffers.array(np.zeros(words * count, np.int32))
    expected = np.zeros(words * count, np.int32)
    for at in (*range(count), 1, count - 1):
        add[1, 3](x.ptr + at * step, at + 1)
        expected[at * words : at * words + 3] += at + 1
    assert x.numpy().tolist() == expected.tolist()
    room = buffers._driver._memory
    assert isinstance(room, BufferMemory)
    # One more may be alive: what the kernel is set to.
    assert all(len(each.recent) <= MOST_PARTS and len(each.parts) <= MOST_PARTS + 1 for each in room._bases.values())


def test_a_sub_buffer_lives_while_a_kernel_is_set_to_it(buffers: GpuBackend) -> None:
    """A launch with the values of the last one finds its sub-buffer, however many others were made meanwhile; freed
    memory is given back although a kernel is still set to a part of it."""
    add, step = kernel(buffers, ADD, "add"), buffers.capabilities.buffer_offset_alignment
    buffers.load_module("others", source=ADD)
    other = buffers.kernel("others", "add")
    words = step // 4
    x = buffers.array(np.zeros(words * (MOST_PARTS + 5), np.int32))
    expected = np.zeros(words * (MOST_PARTS + 5), np.int32)
    room = buffers._driver._memory
    assert isinstance(room, BufferMemory)
    add[1, 3](x.ptr + step, 1000)
    allocation = room._bases[x.ptr.address]
    handle = allocation.parts[step].handle
    for at in range(2, MOST_PARTS + 4):
        other[1, 3](x.ptr + at * step, at)
        expected[at * words : at * words + 3] += at
    assert step in allocation.parts
    add[1, 3](x.ptr + step, 1000)
    assert allocation.parts[step].handle == handle
    expected[words : words + 3] += 2000
    assert x.numpy().tolist() == expected.tolist()
    part = allocation.parts[step]
    del x
    buffers.synchronize()
    assert part.native is None


def test_addresses_of_two_devices_differ(buffers: GpuBackend) -> None:
    """The bare number of another device's buffer is refused, not taken for memory of this one's that has it too."""
    add, own = kernel(buffers, ADD, "add"), ints(buffers, 5)
    with open_pocl("buffers") as second:
        other = ints(second, 5)
        with pytest.raises(InvalidPointer, match="no live allocation"):
            add[1, 5](mg.DevicePtr(other.ptr.address), 1)
        assert other.numpy().tolist() == [-1] * 5
    assert own.numpy().tolist() == [-1] * 5


def test_freed_memory_is_not_written_by_a_kept_kernel(gpu: GpuBackend) -> None:
    """A kernel object that was set for memory that is gone writes to the new memory only, at whatever address."""
    add = kernel(gpu, ADD, "add")
    for number in range(4):
        x = gpu.array(np.full(3 + number, number, np.int32))
        add[1, 3 + number](x, 10)
        assert x.numpy().tolist() == [number + 10] * (3 + number)
        del x


def test_addresses_that_may_come_again_are_set_again(svm: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """With shared virtual memory each launch tells the driver its addresses, also the same ones: they may be those of
    other memory by now. Values that are the same are not set again."""
    set_at: list[int] = []
    set_pointer = SvmMemory.set_pointer
    values: list[int] = []
    set_value = ThreadKernel.set_value

    def pointer(room: SvmMemory, kernel: int, index: int, address: int) -> object:
        set_at.append(address)
        return set_pointer(room, kernel, index, address)

    def value(bound: ThreadKernel, index: int, data: bytes) -> None:
        values.append(index)
        set_value(bound, index, data)

    monkeypatch.setattr(SvmMemory, "set_pointer", pointer)
    monkeypatch.setattr(ThreadKernel, "set_value", value)
    add, x = kernel(svm, ADD, "add"), ints(svm, 3)
    target = svm.prepare_target(
        add, ArgumentLayout((ArgumentKind.POINTER, ArgumentKind.VALUE), (0, 8), (8, 4), (8, 4), 12)
    )
    image = x.ptr.address.to_bytes(8, "little") + (10).to_bytes(4, "little")
    for _ in range(3):
        target.submit(image, Geometry(Dim3(1), Dim3(3)), DEFAULT_STREAM, 0)
    assert set_at == [x.ptr.address] * 3
    assert values == [1]
    svm.synchronize()
    assert x.numpy().tolist() == [29, 29, 29]


def test_a_launch_on_its_way_when_its_module_goes_is_told(svm: GpuBackend) -> None:
    """A thread whose kernel's module another thread unloads meanwhile meets HandleClosed, not an error of ours."""
    loaded = svm._driver._programs.kernel(kernel(svm, ADD, "add").handle)
    svm.unload_module("m")
    for make in (loaded.of_this_thread, loaded.of_this_thread_with_memory, loaded.another):
        with pytest.raises(HandleClosed, match="add: its module was unloaded"):
            make()


def test_copies_honour_offsets_on_both_sides(gpu: GpuBackend) -> None:
    """Copies between odd offsets and lengths, in rows too, touch exactly what they name."""
    x, y = gpu.array(np.arange(100, dtype=np.uint8)), gpu.array(np.full(100, 200, np.uint8))
    gpu.copy_d2d(x.ptr + 3, y.ptr + 41, 7)
    expected = np.full(100, 200, np.uint8)
    expected[41:48] = range(3, 10)
    assert y.numpy().tolist() == expected.tolist()
    gpu.copy_d2d_2d_async(x.ptr + 1, 13, y.ptr + 50, 11, 5, 4)
    gpu.synchronize()
    for row in range(4):
        expected[50 + 11 * row : 55 + 11 * row] = range(1 + 13 * row, 6 + 13 * row)
    assert y.numpy().tolist() == expected.tolist()
    # Within one allocation, with two pitches.
    gpu.copy_d2d_2d_async(x.ptr, 8, x.ptr + 40, 6, 4, 3)
    gpu.memset(x.ptr + 90, 0xA1B2, 4, width=2)
    told = x.numpy()
    assert told[40:56].tolist() == [0, 1, 2, 3, 44, 45, 8, 9, 10, 11, 50, 51, 16, 17, 18, 19]
    assert told[88:96].tolist() == [88, 89, 0xB2, 0xA1, 0xB2, 0xA1, 94, 95]


def test_memory_reached_through_memory_is_named(svm: GpuBackend) -> None:
    """With shared virtual memory kernels follow addresses that lie in memory; `.uses` tells the driver of them."""
    source = (
        "kernel void follow(global const ulong *table, int value) { *(global int *)table[get_global_id(0)] = value; }"
    )
    follow = kernel(svm, source, "follow")
    targets = [ints(svm, 3) for _ in range(3)]
    table = svm.array(np.array([targets[2].ptr.address + 4, targets[0].ptr.address], np.uint64))
    launch = mg.KernelLaunch(svm, follow).grid([2, 1, 1]).block([1, 1, 1]).arg_ptr(table).arg_i32(77)
    launch.uses(targets[0], targets[2]).launch()
    assert [each.numpy().tolist() for each in targets] == [[77, -1, -1], [-1, -1, -1], [-1, 77, -1]]


def test_buffers_have_no_addresses_for_kernels(buffers: GpuBackend) -> None:
    """With buffer objects an address is a number of ours: capabilities say so, and no stray number is taken for one."""
    assert not buffers.capabilities.raw_addresses
    add, x = kernel(buffers, ADD, "add"), ints(buffers, 4)
    with pytest.raises(InvalidPointer, match="0x1234"):
        add[1, 4](mg.DevicePtr(0x1234), 1)
    with pytest.raises(NotSupported, match="managed"):
        buffers.alloc_managed(16)
    with pytest.raises(NotSupported, match="pinned"):
        buffers.alloc_host_pinned(16)
    assert x.numpy().tolist() == [-1] * 4


def test_managed_and_pinned_memory_are_the_hosts_as_well(svm: GpuBackend) -> None:
    """Fine-grain memory is written by kernels and read by the host at one address."""
    add = kernel(svm, ADD, "add")
    pinned = svm.alloc_host_pinned(12)
    pinned.view.cast("i")[:] = np.array([5, 6, 7], np.int32)
    device = svm.host_ptr_to_device(pinned)
    assert device.address == pinned.address
    add[1, 3](device, 100)
    svm.synchronize()
    assert pinned.view.cast("i").tolist() == [105, 106, 107]
    svm.free_host_pinned(pinned)
    managed = svm.alloc_managed(12)
    svm.memset(managed, 0, 12)
    add[1, 3](managed, 9)
    told = np.zeros(3, np.int32)
    svm.copy_d2h(managed, told)
    assert told.tolist() == [9, 9, 9]
    svm.free(managed)


def test_more_than_the_device_allows_is_refused_with_numbers(gpu: GpuBackend) -> None:
    """One allocation over the device's largest is refused naming both; nothing stays of it."""
    most = gpu.capabilities.max_allocation_nbytes
    assert most is not None
    with pytest.raises((OutOfDeviceMemory, LimitExceeded), match=f"{most:,}|{most}"):
        gpu.alloc(most + 1)
    assert gpu.live_alloc_count() == 0


def test_figures_are_the_hosts_for_a_device_of_its_memory(gpu: GpuBackend) -> None:
    """A CPU's free memory is what the host has, never more than the device says that it has at all."""
    total, free = gpu.total_memory(), gpu.free_memory()
    assert 0 < free <= total


class _Figures(BufferMemory):
    """Memory of a device that was made up, for its figures."""

    def __init__(self, **facts: object) -> None:
        device = SimpleNamespace(**{"global_mem_size": 1000, "extensions": "", "host_unified_memory": 0, **facts})
        bindings = SimpleNamespace(calls=None)
        super().__init__(bindings, None, device, "card")  # type: ignore[arg-type]


def test_figures_that_nobody_tells_are_not_made_up() -> None:
    """A card's free memory is known where AMD's extension tells it, else asking raises."""
    with pytest.raises(NotSupported, match="card does not tell how much of its 1,000 bytes"):
        _Figures().figures()
    amd = _Figures(
        extensions="cl_khr_fp64 cl_amd_device_attribute_query",
        get_info=lambda what: [3, 2][: what == memory_room.GLOBAL_FREE_MEMORY_AMD],
    )
    assert amd.figures() == (3 * 1024, 1000)
