"""Memory of the stand-in CUDA driver: bounds, limits, figures, pools, virtual addresses, what a pointer is."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from standin import StandIn
from standin.calls import bindings, code, no_violations, ok, opened
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]
MIB = 1 << 20


def _host(nbytes: int, first: int = 3) -> Any:
    return (ctypes.c_uint8 * nbytes)(*((first + 7 * i) % 251 for i in range(nbytes)))


def test_what_was_copied_comes_back(standin_cuda: StandIn) -> None:
    """Host to device, device to device, device to host; each copy moves its own bytes and no others."""
    driver = bindings()
    opened()
    source, back = _host(777), (ctypes.c_uint8 * 777)()
    a, b = ok(driver.cuMemAlloc(777)), ok(driver.cuMemAlloc(900))
    assert int(a) % 256 == 0
    ok(driver.cuMemsetD8(b, 9, 900))
    ok(driver.cuMemcpyHtoD(a, ctypes.addressof(source), 777))
    ok(driver.cuMemcpyDtoD(int(b) + 100, a, 777))
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), int(b) + 100, 777))
    assert bytes(back) == bytes(source)
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), b, 101))
    assert bytes(back[:100]) == b"\x09" * 100
    assert back[100] == source[0]
    no_violations(standin_cuda)


@pytest.mark.parametrize("excess", [1, 256, 1 << 40])
def test_a_copy_beyond_an_allocation_is_refused(standin_cuda: StandIn, excess: int) -> None:
    """Out of range is 1 at the call, on either side, for fills too; nothing is written."""
    driver = bindings()
    opened()
    a, b = ok(driver.cuMemAlloc(1000)), ok(driver.cuMemAlloc(3000))
    assert code(driver.cuMemcpyDtoD(a, b, 1000 + excess)) == 1
    assert code(driver.cuMemcpyDtoD(b, a, 1000 + excess)) == 1
    assert code(driver.cuMemsetD8(a, 0, 1000 + excess)) == 1
    assert code(driver.cuMemsetD8(int(a) + excess, 0, 1000)) == 1


def test_fills_of_all_widths(standin_cuda: StandIn) -> None:
    """8, 16 and 32 bits, in rows too; a misaligned one is refused."""
    driver = bindings()
    opened()
    a, back = ok(driver.cuMemAlloc(64)), (ctypes.c_uint8 * 64)()
    ok(driver.cuMemsetD8(a, 0x11, 64))
    ok(driver.cuMemsetD16(int(a) + 2, 0x2233, 3))
    ok(driver.cuMemsetD32(int(a) + 12, 0x44556677, 2))
    ok(driver.cuMemsetD2D8(int(a) + 32, 10, 0x99, 3, 3))
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), a, 64))
    expected = bytearray(b"\x11" * 64)
    expected[2:8] = b"\x33\x22" * 3
    expected[12:20] = b"\x77\x66\x55\x44" * 2
    for row in range(3):
        expected[32 + 10 * row : 35 + 10 * row] = b"\x99" * 3
    assert bytes(back) == bytes(expected)
    assert code(driver.cuMemsetD32(int(a) + 2, 0, 1)) == 1


def test_rows_are_copied_with_their_pitches(standin_cuda: StandIn) -> None:
    """A pitched copy takes rows of the width from one pitch to another, from host memory too."""
    driver = bindings()
    opened()
    source, a = _host(60), ok(driver.cuMemAlloc(100))
    ok(driver.cuMemsetD8(a, 0, 100))
    copy = driver.CUDA_MEMCPY2D()
    copy.srcMemoryType, copy.dstMemoryType = (
        driver.CUmemorytype.CU_MEMORYTYPE_HOST,
        driver.CUmemorytype.CU_MEMORYTYPE_DEVICE,
    )
    copy.srcHost, copy.srcPitch, copy.dstDevice, copy.dstPitch = ctypes.addressof(source), 20, a, 33
    copy.WidthInBytes, copy.Height = 13, 3
    ok(driver.cuMemcpy2D(copy))
    back = (ctypes.c_uint8 * 100)()
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), a, 100))
    for row in range(3):
        assert bytes(back[33 * row : 33 * row + 13]) == bytes(source[20 * row : 20 * row + 13])
        assert set(back[33 * row + 13 : 33 * (row + 1)]) == {0}
    copy.Height = 4
    assert code(driver.cuMemcpy2D(copy)) == 1


def test_what_is_no_allocation_is_not_freed(standin_cuda: StandIn) -> None:
    """Unknown, inside of one, twice: 1; null is fine."""
    driver = bindings()
    opened()
    a = ok(driver.cuMemAlloc(512))
    assert code(driver.cuMemFree(int(a) + 256)) == 1
    assert code(driver.cuMemFree(0x1000)) == 1
    ok(driver.cuMemFree(0))
    ok(driver.cuMemFree(a))
    assert code(driver.cuMemFree(a)) == 1
    assert standin_cuda.violation_count("double-free") == 1
    assert standin_cuda.violation_count("free-of-unknown") == 2


def test_figures_are_honest_and_the_limit_holds(standin_cuda: StandIn) -> None:
    """What is free falls and rises with allocations of this device alone; beyond the limit is 2; zero bytes is 1."""
    driver = bindings()
    standin_cuda.set(memory_nbytes=10 * MIB)
    opened()
    a = ok(driver.cuMemAlloc(3 * MIB))
    assert ok(driver.cuMemGetInfo()) == (7 * MIB, 10 * MIB)
    assert code(driver.cuMemAlloc(7 * MIB + 1)) == 2
    assert code(driver.cuMemAlloc(0)) == 1
    ok(driver.cuMemFree(a))
    assert ok(driver.cuMemGetInfo()) == (10 * MIB, 10 * MIB)
    ok(driver.cuDevicePrimaryCtxRetain(1))
    assert ok(driver.cuDeviceTotalMem(1)) == 10 * MIB


def test_page_locked_memory(standin_cuda: StandIn) -> None:
    """Allocated or registered host memory has a device address; twice is 712, not registered 713; freed once."""
    driver = bindings()
    opened()
    standin_cuda.set(host_memory_nbytes=MIB)
    pointer = ok(driver.cuMemHostAlloc(4096, 3))
    assert int(ok(driver.cuMemHostGetDevicePointer(pointer, 0))) == pointer
    assert ok(driver.cuMemHostGetFlags(pointer)) == 3
    assert code(driver.cuMemHostAlloc(MIB, 0)) == 2
    own = _host(4096)
    assert code(driver.cuMemHostGetDevicePointer(ctypes.addressof(own), 0)) == 1
    ok(driver.cuMemHostRegister(ctypes.addressof(own), 4096, 0))
    assert code(driver.cuMemHostRegister(ctypes.addressof(own) + 100, 10, 0)) == 712
    ok(driver.cuMemHostUnregister(ctypes.addressof(own)))
    assert code(driver.cuMemHostUnregister(ctypes.addressof(own))) == 713
    assert code(driver.cuMemFree(pointer)) == 1
    ok(driver.cuMemFreeHost(pointer))
    assert code(driver.cuMemFreeHost(pointer)) == 1


def test_what_a_pointer_is(standin_cuda: StandIn) -> None:
    """Kind, device, context, range and whether it is managed can be asked; of unknown memory that is 1."""
    driver = bindings()
    opened(0)
    context = ok(driver.cuDevicePrimaryCtxRetain(1))
    ok(driver.cuCtxPushCurrent(context))
    a, managed = ok(driver.cuMemAlloc(5000)), ok(driver.cuMemAllocManaged(64, 1))
    asked = driver.CUpointer_attribute
    inside = int(a) + 77
    assert ok(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside)) == 1
    assert int(ok(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_CONTEXT, inside))) == int(context)
    assert int(ok(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside))) == 2
    assert int(ok(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside))) == int(a)
    assert ok(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside)) == 5000
    assert not ok(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_IS_MANAGED, inside))
    assert ok(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_IS_MANAGED, managed))
    assert code(driver.cuPointerGetAttribute(asked.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1000)) == 1
    base, nbytes = ok(driver.cuMemGetAddressRange(inside))
    assert (int(base), nbytes) == (int(a), 5000)


def test_stream_ordered_memory(standin_cuda: StandIn) -> None:
    """A queued free waits its turn; a second one is refused at once; the pool counts what it gave."""
    driver = bindings()
    opened()
    stream = ok(driver.cuStreamCreate(1))
    a = ok(driver.cuMemAllocAsync(3000, stream))
    pool = ok(driver.cuDeviceGetDefaultMemPool(0))
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    assert int(ok(driver.cuMemPoolGetAttribute(pool, used))) == 3000
    ok(driver.cuMemFreeAsync(a, stream))
    assert code(driver.cuMemFreeAsync(a, stream)) == 1
    assert standin_cuda.count("memory") == 1
    ok(driver.cuStreamSynchronize(stream))
    assert standin_cuda.count("memory") == 0
    assert int(ok(driver.cuMemPoolGetAttribute(pool, used))) == 0
    b = ok(driver.cuMemAllocAsync(10, stream))
    ok(driver.cuMemFree(b))
    standin_cuda.set(memory_pools=0)
    assert code(driver.cuMemAllocAsync(10, stream)) == 801


def _reserve(standin_cuda: StandIn) -> tuple[Any, Any, Any]:
    driver = bindings()
    opened()
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 0
    access = driver.CUmemAccessDesc()
    access.location, access.flags = properties.location, driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    option = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    assert ok(driver.cuMemGetAllocationGranularity(properties, option)) == 2 * MIB
    return ok(driver.cuMemAddressReserve(8 * MIB, 0, 0, 0)), properties, access


def test_virtual_memory(standin_cuda: StandIn) -> None:
    """Reserved addresses are usable only where memory is mapped and access granted; pieces beside each other are one."""
    driver = bindings()
    base, properties, access = _reserve(standin_cuda)
    first, second = (ok(driver.cuMemCreate(2 * MIB, properties, 0)) for _ in range(2))
    assert code(driver.cuMemsetD8(base, 1, 10)) == 1
    ok(driver.cuMemMap(base, 2 * MIB, 0, first, 0))
    assert code(driver.cuMemMap(base, 2 * MIB, 0, second, 0)) == 1
    assert code(driver.cuMemsetD8(base, 1, 10)) == 1
    ok(driver.cuMemMap(int(base) + 2 * MIB, 2 * MIB, 0, second, 0))
    ok(driver.cuMemSetAccess(base, 4 * MIB, [access], 1))
    ok(driver.cuMemsetD8(int(base) + MIB, 5, 2 * MIB))
    assert code(driver.cuMemsetD8(int(base) + 3 * MIB, 5, 2 * MIB)) == 1
    byte = ctypes.c_uint8()
    ok(driver.cuMemcpyDtoH(ctypes.addressof(byte), int(base) + 3 * MIB - 1, 1))
    assert byte.value == 5
    assert code(driver.cuMemAddressFree(base, 8 * MIB)) == 1
    free, total = ok(driver.cuMemGetInfo())
    assert total - free == 4 * MIB
    ok(driver.cuMemUnmap(base, 4 * MIB))
    ok(driver.cuMemRelease(first))
    assert code(driver.cuMemRelease(first)) == 1
    ok(driver.cuMemRelease(second))
    ok(driver.cuMemAddressFree(base, 8 * MIB))
    assert ok(driver.cuMemGetInfo()) == (total, total)
    assert standin_cuda.live() == {}


def test_virtual_memory_sizes_are_whole_granules(standin_cuda: StandIn) -> None:
    """Sizes and addresses that are no multiples of 2 MiB are 1, more than there is 2, a part of a mapping 1."""
    driver = bindings()
    base, properties, access = _reserve(standin_cuda)
    standin_cuda.set(memory_nbytes=8 * MIB)
    assert code(driver.cuMemAddressReserve(3 * MIB, 0, 0, 0)) == 1
    assert code(driver.cuMemCreate(MIB, properties, 0)) == 1
    assert code(driver.cuMemCreate(10 * MIB, properties, 0)) == 2
    memory = ok(driver.cuMemCreate(4 * MIB, properties, 0))
    assert code(driver.cuMemMap(base, 2 * MIB, 0, memory, 0)) == 1
    assert code(driver.cuMemMap(int(base) + 6 * MIB, 4 * MIB, 0, memory, 0)) == 1
    ok(driver.cuMemMap(base, 4 * MIB, 0, memory, 0))
    assert code(driver.cuMemUnmap(base, 2 * MIB)) == 1
    assert code(driver.cuMemSetAccess(base, 2 * MIB, [access], 1)) == 1


def test_copies_between_devices(standin_cuda: StandIn) -> None:
    """A peer copy takes the contexts that own the memory; named wrongly it is refused."""
    driver = bindings()
    here = opened(0)
    a = ok(driver.cuMemAlloc(600))
    there = ok(driver.cuDevicePrimaryCtxRetain(1))
    ok(driver.cuCtxPushCurrent(there))
    b = ok(driver.cuMemAlloc(600))
    ok(driver.cuCtxPopCurrent())
    source, back = _host(600), (ctypes.c_uint8 * 600)()
    ok(driver.cuMemcpyHtoD(a, ctypes.addressof(source), 600))
    stream = ok(driver.cuStreamCreate(1))
    ok(driver.cuMemcpyPeerAsync(b, there, a, here, 600, stream))
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuMemcpyDtoH(ctypes.addressof(back), b, 600))
    assert bytes(back) == bytes(source)
    assert code(driver.cuMemcpyPeerAsync(b, here, a, there, 600, stream)) == 1
