"""Kernels of the stand-in executed by the CPU backend: results, faults and variables as on a device."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from standin import StandIn
from standin.calls import bindings, code, launch, module, ok, opened, text
from standin.executor import COULD_NOT_RUN, Executor
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]

SUITE = Path(__file__).parents[2] / "src/metrale_gpu_runtime/testing/conformance/kernels/suite.ptx"
ASSERT_OR_NOT = """.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 words[4] = {110, 111, 33, 0};"""


@pytest.fixture
def executor(standin_cuda: StandIn) -> Iterator[Executor]:
    """The suite's kernels can run; whatever could not be run at all fails the test."""
    executor = Executor(standin_cuda)
    yield executor
    executor.close()
    assert executor.failures == []


def _ints(values: Any) -> Any:
    """Device memory holding these int32 values."""
    driver = bindings()
    host = (ctypes.c_int32 * len(values))(*values)
    address = ok(driver.cuMemAlloc(ctypes.sizeof(host)))
    ok(driver.cuMemcpyHtoD(address, ctypes.addressof(host), ctypes.sizeof(host)))
    return address


def _read(address: Any, count: int) -> list[int]:
    host = (ctypes.c_int32 * count)()
    ok(bindings().cuMemcpyDtoH(ctypes.addressof(host), address, ctypes.sizeof(host)))
    return list(host)


def _affine(loaded: Any, address: Any, count: int, *, blocks: int = 4, stream: Any = 0) -> int:
    function = ok(bindings().cuModuleGetFunction(loaded, b"affine"))
    values = ctypes.c_uint64(int(address)), ctypes.c_uint32(count), ctypes.c_uint32(3), ctypes.c_uint32(7)
    return launch(function, (blocks, 1, 1), (32, 1, 1), stream=stream, values=values)


def test_a_kernel_computes_when_somebody_waits(executor: Executor) -> None:
    """Not at the launch; then every element is right, the last one of a block that is not full too."""
    opened()
    loaded, a = module(SUITE.read_text()), _ints(range(101))
    assert _affine(loaded, a, 100) == 0
    assert executor.launches == 0
    assert _read(a, 101) == [*(3 * n + 7 for n in range(100)), 100]
    assert executor.launches == 1


def test_work_runs_in_the_order_of_streams_and_events(executor: Executor) -> None:
    """A kernel behind an event sees what the other stream's fill wrote."""
    driver = bindings()
    opened()
    loaded, a = module(SUITE.read_text()), _ints([0] * 64)
    one, two, event = ok(driver.cuStreamCreate(1)), ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(2))
    ok(driver.cuMemsetD32Async(a, 10, 64, one))
    ok(driver.cuEventRecord(event, one))
    ok(driver.cuStreamWaitEvent(two, event, 0))
    assert _affine(loaded, a, 64, stream=two) == 0
    ok(driver.cuStreamSynchronize(two))
    assert _read(a, 64) == [37] * 64


def test_a_graph_executes(executor: Executor) -> None:
    """Each replay runs its kernels again."""
    driver = bindings()
    opened()
    loaded, a, stream = module(SUITE.read_text()), _ints([1] * 64), ok(driver.cuStreamCreate(1))
    ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    _affine(loaded, a, 64, stream=stream)
    executable = ok(driver.cuGraphInstantiate(ok(driver.cuStreamEndCapture(stream)), 0))
    for _ in range(3):
        ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert _read(a, 64) == [3 * (3 * (3 * 1 + 7) + 7) + 7] * 64


def test_variables_are_the_same_memory(executor: Executor) -> None:
    """Their first values are there after loading, a copy into them is seen by kernels."""
    driver = bindings()
    opened()
    loaded, a = module(SUITE.read_text()), _ints([10, 20, 30])
    table, nbytes = ok(driver.cuModuleGetGlobal(loaded, b"table"))
    assert (_read(table, 3), nbytes) == ([301, 302, 303], 12)
    new = (ctypes.c_int32 * 3)(1, 2, 3)
    ok(driver.cuMemcpyHtoD(table, ctypes.addressof(new), 12))
    function = ok(driver.cuModuleGetFunction(loaded, b"add_table"))
    assert launch(function, (1, 1, 1), (32, 1, 1), values=(ctypes.c_uint64(int(a)),)) == 0
    assert _read(a, 3) == [2, 3, 4]


def test_an_access_outside_of_memory_is_700(executor: Executor) -> None:
    """One element too many faults the launch, the context is lost, and the finding says where."""
    driver = bindings()
    opened()
    loaded, a = module(SUITE.read_text()), _ints(range(101))
    assert _affine(loaded, a, 102) == 0
    assert code(driver.cuCtxSynchronize()) == 700
    assert code(driver.cuMemFree(a)) == 700
    (finding,) = executor.findings
    assert (finding.kind, finding.kernel, finding.address) == ("out-of-bounds", "affine", int(a) + 404)


def test_a_pointer_of_another_device_is_700_unless_they_are_peers(standin_cuda: StandIn, executor: Executor) -> None:
    """A kernel reaches its own device's memory; another's only with peer access."""
    driver = bindings()
    opened(0)
    there = ok(driver.cuDevicePrimaryCtxRetain(1))
    ok(driver.cuCtxPushCurrent(there))
    a = _ints([5] * 32)
    ok(driver.cuCtxPopCurrent())
    loaded = module(SUITE.read_text())
    ok(driver.cuCtxEnablePeerAccess(there, 0))
    assert _affine(loaded, a, 32) == 0
    ok(driver.cuCtxSynchronize())
    assert _read(a, 32) == [22] * 32
    ok(driver.cuCtxDisablePeerAccess(there))
    assert _affine(loaded, a, 32) == 0
    assert code(driver.cuCtxSynchronize()) == 700


@pytest.mark.parametrize(
    ("body", "returned", "kind"),
    [
        ("trap;", 719, "trap"),
        (".reg .u64 %a;\nld.param.u64 %a, [p];\nst.global.u32 [%a+2], 1;", 716, "misaligned"),
        (".reg .u64 %a;\nmov.u64 %a, 0;\nst.global.u32 [%a], 1;", 700, "null-pointer"),
        (
            "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; .reg .u64 %w;\n"
            "mov.u64 %w, words; cvta.global.u64 %w, %w; st.param.b64 [a], %w; st.param.b64 [b], %w; st.param.b32 [c], 3;\n"
            "st.param.b64 [d], %w; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }",
            710,
            "assert",
        ),
    ],
)
def test_faults_have_the_codes_of_a_device(executor: Executor, body: str, returned: int, kind: str) -> None:
    """A trap is 719, a misaligned access 716, a null pointer 700, a failed assertion 710."""
    driver = bindings()
    opened()
    loaded = module(text(".param .u64 p", body=f"{body}\nret;", before=ASSERT_OR_NOT))
    a, function = _ints([0] * 8), ok(driver.cuModuleGetFunction(loaded, b"k"))
    assert launch(function, (1, 1, 1), (1, 1, 1), values=(ctypes.c_uint64(int(a)),)) == 0
    assert code(driver.cuCtxSynchronize()) == returned
    assert [finding.kind for finding in executor.findings] == [kind]


def test_mapped_memory_is_memory_of_kernels(executor: Executor) -> None:
    """Virtual memory with access is used by a kernel across two mappings; without access it faults."""
    driver = bindings()
    opened()
    loaded, granule = module(SUITE.read_text()), 2 << 20
    properties, access = driver.CUmemAllocationProp(), driver.CUmemAccessDesc()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location, access.flags = properties.location, driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    base = ok(driver.cuMemAddressReserve(3 * granule, 0, 0, 0))
    for i in range(2):
        ok(driver.cuMemMap(int(base) + i * granule, granule, 0, ok(driver.cuMemCreate(granule, properties, 0)), 0))
    ok(driver.cuMemSetAccess(base, 2 * granule, [access], 1))
    at = int(base) + granule - 40
    ok(driver.cuMemsetD32(at, 2, 20))
    assert _affine(loaded, at, 20) == 0
    assert _read(at, 20) == [13] * 20
    assert _affine(loaded, int(base) + 2 * granule - 40, 20) == 0
    assert code(driver.cuCtxSynchronize()) == 700


def test_what_cannot_be_run_says_so(standin_cuda: StandIn) -> None:
    """A kernel without PTX ends with 999, and the reason is kept: nothing passes for having run."""
    executor = Executor(standin_cuda)
    driver = bindings()
    opened()
    loaded = module(text("", body="griddepcontrol.wait; tcgen05.wait::ld.sync.aligned; ret;"))
    function = ok(driver.cuModuleGetFunction(loaded, b"k"))
    assert launch(function, (1, 1, 1), (1, 1, 1), values=()) == 0
    assert code(driver.cuCtxSynchronize()) == COULD_NOT_RUN
    assert len(executor.failures) == 1
    executor.close()


def test_a_binary_runs_by_the_text_it_was_made_from(standin_cuda: StandIn) -> None:
    """Registered with its PTX a fatbin executes, chosen by the hash of its bytes."""
    executor = Executor(standin_cuda)
    driver = bindings()
    opened()
    ptx = SUITE.read_bytes()
    entry = struct.pack("<HHIQIIHHI", 1, 0x101, 64, len(ptx), 0, 64, 9, 0, 80).ljust(64, b"\0")
    fatbin = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + len(ptx)) + entry + ptx
    executor.register(fatbin, ptx)
    loaded, a = ok(driver.cuModuleLoadData(fatbin)), _ints([4] * 40)
    assert _affine(loaded, a, 40) == 0
    assert _read(a, 40) == [19] * 40
    executor.close()
    assert executor.failures == []


def test_a_thread_does_not_wait_for_the_launch_that_it_runs(
    executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the collector closes while a kernel runs ends its own work within that call: a stream's kernel, a module."""
    driver = bindings()
    opened()
    loaded, other, a, b = module(SUITE.read_text()), module(SUITE.read_text()), _ints([1] * 64), _ints([2] * 64)
    one, two = ok(driver.cuStreamCreate(1)), ok(driver.cuStreamCreate(1))
    run, left = Executor._run, [lambda: ok(driver.cuStreamSynchronize(two)), lambda: ok(driver.cuModuleUnload(other))]

    def close_and_run(self: Executor, *arguments: Any) -> int:
        while left:
            left.pop(0)()
        return run(self, *arguments)

    monkeypatch.setattr(Executor, "_run", close_and_run)
    assert _affine(loaded, a, 64, stream=one) == 0
    assert _affine(loaded, b, 64, stream=two) == 0
    ok(driver.cuStreamSynchronize(one))
    assert (_read(a, 64), _read(b, 64), executor.launches) == ([10] * 64, [13] * 64, 2)
