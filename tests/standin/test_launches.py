"""Launches on the stand-in CUDA driver: what is read from the argument array, and what is refused at the call."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import pytest

from standin import StandIn
from standin.calls import bindings, code, kernel, launch, launch_with, no_violations, ok, opened
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]

NOTHING = ""


def _attribute(name: str, set_value: Callable[[Any], None]) -> Any:
    driver = bindings()
    attribute = driver.CUlaunchAttribute()
    attribute.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
    value = driver.CUlaunchAttributeValue()
    set_value(value)
    attribute.value = value
    return attribute


def _cluster(x: int, y: int = 1, z: int = 1) -> Any:
    def set_value(value: Any) -> None:
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = x, y, z

    return _attribute("CLUSTER_DIMENSION", set_value)


def _cooperative() -> Any:
    return _attribute("COOPERATIVE", lambda value: setattr(value, "cooperative", 1))


def test_parameters_are_read_by_their_declared_sizes(standin_cuda: StandIn) -> None:
    """Each pointer of the array is read for as many bytes as the kernel declares, into the block at its offset."""
    opened()
    function = kernel(".param .u8 a, .param .f64 b, .param .u16 c, .param .align 64 .b8 map[128], .param .u32 d")
    mapped = (ctypes.c_uint8 * 192)(*range(1, 193))
    at = -ctypes.addressof(mapped) % 64
    values = [
        ctypes.c_uint64(0x1122334455667788),
        ctypes.c_double(-2.5),
        ctypes.c_uint16(0xBEEF),
        (ctypes.c_uint8 * 128).from_buffer(mapped, at),
        ctypes.c_uint32(77),
    ]
    assert launch(function, (3, 5, 7), (11, 2, 1), shared=333, values=values) == 0
    (record,) = standin_cuda.launches()
    expected = (
        struct.pack("<B7xdH", 0x88, -2.5, 0xBEEF).ljust(64, b"\0")
        + bytes(range(at + 1, at + 129))
        + struct.pack("<I", 77)
    )
    assert record.parameters == expected
    assert (record.kernel, record.grid, record.block, record.shared) == ("k", (3, 5, 7), (11, 2, 1), 333)
    assert (record.device, record.cluster, record.cooperative, record.priority) == (0, None, False, None)


@pytest.mark.parametrize(("kind", "nbytes"), [("u16", 2), ("u32", 4), ("f64", 8)])
def test_a_misaligned_argument_is_refused_and_noted(standin_cuda: StandIn, kind: str, nbytes: int) -> None:
    """The pointer of each argument is aligned for its parameter."""
    opened()
    function = kernel(f".param .{kind} a")
    room = (ctypes.c_uint64 * 4)()
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(room) + nbytes // 2)
    call = bindings().cuLaunchKernel
    assert code(call(function, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(pointers), 0)) == 1
    assert standin_cuda.violation_count("misaligned-parameter") == 1
    pointers[0] = ctypes.addressof(room) + nbytes
    assert code(call(function, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(pointers), 0)) == 0


def test_a_null_entry_is_refused(standin_cuda: StandIn) -> None:
    """No array, or a null in it, is 1; it is not sticky."""
    opened()
    driver, function = bindings(), kernel()
    one = ctypes.c_uint64(5)
    pointers = (ctypes.c_void_p * 2)(ctypes.addressof(one), None)
    assert code(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(pointers), 0)) == 1
    assert code(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)) == 1
    ok(driver.cuCtxSynchronize())
    assert standin_cuda.launches() == []


def test_the_packed_form(standin_cuda: StandIn) -> None:
    """A block with its size is taken whole, without the padding at its end; too short a one, or both forms, is 1."""
    driver = bindings()
    opened()
    function = kernel(".param .u64 p, .param .u16 n")
    block = ctypes.create_string_buffer(struct.pack("<QH", 0x55AA, 9))

    def call(nbytes: int, parameters: int = 0) -> int:
        size = ctypes.c_size_t(nbytes)
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(block), 2, ctypes.addressof(size), 0)
        return code(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, parameters, ctypes.addressof(extra)))

    assert (call(10), call(9)) == (0, 1)
    assert standin_cuda.launches()[0].parameters == struct.pack("<QH", 0x55AA, 9)
    pointers = (ctypes.c_void_p * 2)(ctypes.addressof(block), ctypes.addressof(block))
    assert call(10, ctypes.addressof(pointers)) == 1


@pytest.mark.parametrize(
    ("grid", "block", "returned"),
    [
        ((1, 65535, 65535), (1, 1, 1), 0),
        ((2**31 - 1, 1, 1), (1, 1, 1), 0),
        ((2**31, 1, 1), (1, 1, 1), 1),
        ((1, 65536, 1), (1, 1, 1), 1),
        ((1, 1, 65536), (1, 1, 1), 1),
        ((0, 1, 1), (1, 1, 1), 1),
        ((1, 1, 0), (1, 1, 1), 1),
        ((1, 1, 1), (1024, 1, 1), 0),
        ((1, 1, 1), (1, 1, 64), 0),
        ((1, 1, 1), (1025, 1, 1), 1),
        ((1, 1, 1), (32, 33, 1), 1),
        ((1, 1, 1), (1, 1, 65), 1),
        ((1, 1, 1), (1, 0, 1), 1),
    ],
)
def test_geometry_is_held_against_the_device(
    standin_cuda: StandIn, grid: tuple[int, int, int], block: tuple[int, int, int], returned: int
) -> None:
    """Zeros and what is over a limit are 1 at the call; the next wait succeeds."""
    opened()
    assert launch(kernel(NOTHING), grid, block, values=()) == returned
    ok(bindings().cuCtxSynchronize())
    assert standin_cuda.launch_count() == (returned == 0)


def test_bounds_of_a_kernel(standin_cuda: StandIn) -> None:
    """.maxntid bounds the block's volume, .reqntid says it; registers times threads over the device's are 701."""
    opened()
    bounded, required = kernel(NOTHING, ".maxntid 64, 2, 1"), kernel(NOTHING, ".reqntid 48, 3, 1")
    assert [launch(bounded, block=block, values=()) for block in ((128, 1, 1), (129, 1, 1))] == [0, 1]
    assert [launch(required, block=block, values=()) for block in ((48, 3, 1), (3, 48, 1), (48, 1, 1))] == [0, 1, 1]
    standin_cuda.set_function("hungry", registers=96)
    hungry = kernel(NOTHING, name="hungry")
    driver = bindings()
    limit = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    assert ok(driver.cuFuncGetAttribute(limit, hungry)) == 640
    assert [launch(hungry, block=(n, 1, 1), values=()) for n in (640, 641, 1024)] == [0, 701, 701]


def test_dynamic_shared_memory_is_opted_in(standin_cuda: StandIn) -> None:
    """Over the function's attribute is 1; the attribute goes up to what the device allows beside the static part."""
    driver = bindings()
    opened()
    function = kernel(NOTHING, body=".shared .b8 tile[1024];\nret;")
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert ok(driver.cuFuncGetAttribute(attribute, function)) == 49152 - 1024
    assert [launch(function, shared=n, values=()) for n in (48128, 48129)] == [0, 1]
    assert code(driver.cuFuncSetAttribute(function, attribute, 232448 - 1023)) == 1
    ok(driver.cuFuncSetAttribute(function, attribute, 232448 - 1024))
    assert launch(function, shared=232448 - 1024, values=()) == 0
    ok(driver.cuFuncSetAttribute(function, attribute, 0))
    assert launch(function, shared=4, values=()) == 1


def test_clusters(standin_cuda: StandIn) -> None:
    """A cluster that does not divide the grid, or is over the limit, is 912; older devices have none."""
    driver = bindings()
    opened()
    function = kernel(NOTHING)
    assert launch_with(function, [_cluster(2)], (6, 1, 1)) == 0
    assert standin_cuda.launches()[-1].cluster == (2, 1, 1)
    assert launch_with(function, [_cluster(4)], (6, 1, 1)) == 912
    assert launch_with(function, [_cluster(4, 4)], (8, 8, 1)) == 912
    ok(
        driver.cuFuncSetAttribute(
            function, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1
        )
    )
    assert launch_with(function, [_cluster(4, 4)], (8, 8, 1)) == 0
    required = kernel(NOTHING, ".reqnctapercluster 3, 1, 1")
    assert [launch(required, (n, 1, 1), values=()) for n in (9, 10)] == [0, 912]
    standin_cuda.set(cluster_launch=0)
    assert launch_with(function, [_cluster(2)]) == 801


def test_a_cooperative_grid_is_resident_at_once(standin_cuda: StandIn) -> None:
    """With 2 blocks on each of 10 multiprocessors 20 blocks pass and 21 are 720."""
    driver = bindings()
    standin_cuda.set(occupancy=2)
    opened()
    function = kernel(NOTHING)
    assert ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 32, 0)) == 2
    assert [launch_with(function, [_cooperative()], (n, 1, 1)) for n in (20, 21)] == [0, 720]
    assert standin_cuda.launches()[-1].cooperative
    standin_cuda.set(cooperative_launch=0)
    assert launch_with(function, [_cooperative()], (2, 1, 1)) == 801


@pytest.mark.parametrize(
    ("threads", "shared", "registers", "blocks"),
    [(1024, 0, 32, 2), (256, 0, 32, 8), (32, 0, 32, 32), (256, 100000, 32, 2), (256, 0, 128, 2), (1024, 0, 65, 0)],
)
def test_occupancy_is_computed(standin_cuda: StandIn, threads: int, shared: int, registers: int, blocks: int) -> None:
    """From threads, registers and shared memory of a multiprocessor, whichever runs out first."""
    opened()
    standin_cuda.set_function("k", registers=registers)
    assert ok(bindings().cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel(NOTHING), threads, shared)) == blocks


def test_attributes_are_recorded(standin_cuda: StandIn) -> None:
    """Priority, memory sync domain and programmatic serialization arrive; unknown attributes are refused."""
    driver = bindings()
    opened()
    function = kernel(NOTHING)
    remote = driver.CUlaunchMemSyncDomain.CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE
    attributes = [
        _attribute("PRIORITY", lambda value: setattr(value, "priority", -3)),
        _attribute("MEM_SYNC_DOMAIN", lambda value: setattr(value, "memSyncDomain", remote)),
        _attribute(
            "PROGRAMMATIC_STREAM_SERIALIZATION",
            lambda value: setattr(value, "programmaticStreamSerializationAllowed", 1),
        ),
    ]
    assert launch_with(function, attributes) == 0
    record = standin_cuda.launches()[-1]
    assert (record.priority, record.sync_domain, record.programmatic) == (-3, 1, True)
    assert launch_with(function, [_attribute("SYNCHRONIZATION_POLICY", lambda value: None)]) == 1
    assert launch_with(function, [_attribute("LAUNCH_COMPLETION_EVENT", lambda value: None)]) == 801


def test_memory_of_queued_launches(standin_cuda: StandIn) -> None:
    """Freeing what a queued launch points to, or launching on what was freed, is noted; the launch still runs."""
    driver = bindings()
    opened()
    function, a = kernel(), ok(driver.cuMemAlloc(5000))
    values = (ctypes.c_uint64(int(a) + 4), ctypes.c_uint32(1))
    assert launch(function, values=values) == 0
    ok(driver.cuMemFree(a))
    assert standin_cuda.violation_count("free-in-use") == 1
    ok(driver.cuCtxSynchronize())
    assert launch(function, values=values) == 0
    (violation,) = standin_cuda.violations("use-after-free")
    assert f"{int(a) + 4:#x}" in violation.detail
    b = ok(driver.cuMemAlloc(5000))
    standin_cuda.clear_journal()
    assert launch(function, values=(ctypes.c_uint64(int(b)), ctypes.c_uint32(1))) == 0
    ok(driver.cuCtxSynchronize())
    ok(driver.cuMemFree(b))
    no_violations(standin_cuda)


def test_functions_of_another_context(standin_cuda: StandIn) -> None:
    """A function runs in its own context only; what is no function is 400."""
    driver = bindings()
    opened(0)
    function = kernel(NOTHING)
    ok(driver.cuCtxPushCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    assert launch(function, values=()) == 400
    assert launch(0x123456, values=()) == 400


def _encode(
    address: int = 4096,
    *,
    dtype: str = "FLOAT32",
    shape: tuple[int, ...] = (96, 40),
    box: tuple[int, ...] = (32, 8),
    stride: int = 384,
    swizzle: str = "128B",
) -> Any:
    driver = bindings()
    kinds, rank = driver.CUtensorMapDataType, len(shape)
    return driver.cuTensorMapEncodeTiled(
        getattr(kinds, f"CU_TENSOR_MAP_DATA_TYPE_{dtype}"),
        rank,
        address,
        [driver.cuuint64_t(n) for n in shape],
        [driver.cuuint64_t(stride)] * (rank - 1),
        [driver.cuuint32_t(n) for n in box],
        [driver.cuuint32_t(1)] * rank,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzle}"),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )


def test_tensor_maps(standin_cuda: StandIn) -> None:
    """What the driver documents is refused with 1: alignment, box, strides, swizzle; different maps differ."""
    opened()
    good = _encode()
    assert code(good) == 0
    refused = [
        _encode(4104),
        _encode(box=(257, 8)),
        _encode(box=(0, 8)),
        _encode(stride=380),
        _encode(stride=368),
        _encode(box=(64, 8)),
        _encode(shape=(0, 40)),
        _encode(box=(3, 8)),
    ]
    assert [code(result) for result in refused] == [1] * len(refused)
    words = [
        [int(word) for word in result[1].opaque]
        for result in (good, _encode(8192), _encode(box=(16, 8)), _encode(dtype="UINT32"))
    ]
    assert len({tuple(each) for each in words}) == 4
    standin_cuda.set(tensor_maps=0)
    assert code(_encode()) == 801
