"""Faults that only a plan can bring about: who is blamed, what is dropped, what stays usable."""

from __future__ import annotations

import numpy as np
import pytest

from metrale_gpu_runtime.driver import FunctionAttributes
from metrale_gpu_runtime.errors import (
    ContextLost,
    DriverError,
    Finding,
    KernelFault,
    LimitExceeded,
    NotSupported,
    OutOfDeviceMemory,
)
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.launch import KernelLaunch
from metrale_gpu_runtime.testing import FaultPlan, LaunchFault, MockGpuBackend, Refusal, run_isolated

CONTEXT_LOST = LaunchFault()
ISOLATED = LaunchFault(context_lost=False)
UNATTRIBUTED = LaunchFault(context_lost=False, attributed=False)


def launch(gpu, number, *, function="k", stream=None):
    KernelLaunch(gpu, gpu.kernel("m", function)).grid(number).block(32).arg_ptr(DevicePtr(0x1000)).arg_u32(
        number
    ).launch(stream)


def caught(call):
    with pytest.raises(KernelFault) as info:
        call()
    return info.value


def with_fault(nth, failure, **options):
    return MockGpuBackend(plan=FaultPlan().fail("launch", nth=nth, failure=failure), **options)


def test_debug_sync_names_the_launch_of_an_unattributed_fault():
    """A fault the driver cannot place is charged to the launch whose debug synchronisation found it."""
    with with_fault(3, UNATTRIBUTED, debug_sync=True) as gpu:
        launch(gpu, 1)
        launch(gpu, 2)
        fault = caught(lambda: launch(gpu, 3, function="culprit"))
        assert (fault.launch.kernel, fault.launch.ordinal, fault.launch.grid) == ("culprit", 3, (3, 1, 1))
        assert fault.code_name == "CUDA_ERROR_ILLEGAL_ADDRESS"
        assert "0x1000" in str(fault)
        assert __file__ in str(fault)
        launch(gpu, 4)


def test_without_debug_sync_the_suspects_are_listed():
    """An unattributed fault says so and lists exactly the launches of that stream since the last good wait."""
    with with_fault(4, UNATTRIBUTED) as gpu, gpu.create_stream() as stream, gpu.create_stream() as other:
        launch(gpu, 1, stream=stream)
        stream.synchronize()
        launch(gpu, 2, stream=stream)
        launch(gpu, 3, stream=other)
        launch(gpu, 4, stream=stream)
        fault = caught(stream.synchronize)
        assert fault.launch is None
        assert [each.ordinal for each in fault.suspects] == [2, 4]
        assert "unattributed" in str(fault)
        stream.synchronize()


def test_a_fault_found_by_an_innocent_call_is_not_its_own():
    """A pending fault found by the next launch is raised as older, and that launch was not queued."""
    failure = LaunchFault(context_lost=False, found_at_once=True)
    with with_fault(1, failure) as gpu:
        launch(gpu, 1, function="culprit")
        fault = caught(lambda: launch(gpu, 2, function="innocent"))
        assert fault.launch.kernel == "culprit"
        launch(gpu, 3)
        gpu.synchronize()
        assert [entry.grid[0] for entry in gpu.ran if entry.call == "launch"] == [1, 3]


def test_a_lost_context_keeps_its_first_cause():
    """After the context is lost every call fails at once with the first launch as cause, and closing is quiet."""
    gpu = with_fault(3, CONTEXT_LOST)
    buffer, stream = gpu.buffer(100), gpu.create_stream()
    for number in range(1, 6):
        launch(gpu, number, function="culprit" if number == 3 else "k")
    fault = caught(gpu.synchronize)
    assert (fault.launch.ordinal, fault.launch.kernel) == (3, "culprit")
    assert gpu.is_lost
    calls = len(gpu.log)
    for call in (lambda: gpu.alloc(3), stream.synchronize, buffer.numpy, lambda: launch(gpu, 9), gpu.create_event):
        with pytest.raises(ContextLost, match=r"since launch 3 \(kernel culprit\)") as info:
            call()
        assert info.value.cause.launch.ordinal == 3
    assert len(gpu.log) == calls, "the driver was asked again"
    del buffer, stream
    gpu.close()
    assert not gpu.mock.violations


@pytest.mark.parametrize(("code", "name"), [(1, "CUDA_ERROR_INVALID_VALUE"), (209, "CUDA_ERROR_NO_BINARY_FOR_GPU")])
@pytest.mark.parametrize("way", ["direct", "prepared", "sequence", "graph"])
def test_a_refused_launch_raises_itself(way, code, name):
    """A launch the driver refuses raises in every way of launching, with its facts; it is no fault later."""
    with MockGpuBackend() as gpu:
        kernel = gpu.kernel("m", "k")
        configured = KernelLaunch(gpu, kernel).grid(5).block(33).arg_u32(7)
        prepared = configured.prepare()
        with gpu.sequence() as step:
            configured.launch()
        with gpu.capture() as capture:
            configured.launch()
        calls = {"direct": configured.launch, "prepared": prepared, "sequence": step, "graph": capture.graph.launch}
        gpu.inject(FaultPlan().fail("launch", failure=Refusal(code, name)))
        with pytest.raises(DriverError) as info:
            calls[way]()
        assert (info.value.code, info.value.code_name) == (code, name)
        for words in ("k", "(5, 1, 1)", "(33, 1, 1)"):
            assert words in "\n".join([str(info.value), *getattr(info.value, "__notes__", ())])
        gpu.synchronize()
        assert gpu.launch_count == 0


def test_metal_style_failures_drop_what_follows():
    """Work behind a failed command buffer is named as not run because of it, and its results cannot be read."""
    failure = LaunchFault(context_lost=False, drops_later=True)
    with with_fault(2, failure) as gpu:
        outs = [gpu.array(np.zeros(3, dtype=np.uint32)) for _ in range(4)]
        for number, out in enumerate(outs, start=1):
            KernelLaunch(gpu, gpu.kernel("m", "k")).grid(number).arg_ptr(out.ptr).launch()
        fault = caught(gpu.synchronize)
        assert fault.launch.ordinal == 2
        assert [each.ordinal for each in fault.dropped] == [3, 4]
        assert "not run because of it" in str(fault)
        assert outs[0].numpy().tolist() == [0, 0, 0]
        for out in outs[2:]:
            with pytest.raises(KernelFault):
                out.numpy()


def test_findings_are_kept_and_completed():
    """A driver's finding is completed with kernel, launch and the allocation at its address, and kept."""
    with MockGpuBackend() as gpu:
        buffer = gpu.empty(5, np.uint32, label="weights")
        finding = Finding("out-of-bounds", "a write", access="write", address=buffer.ptr.address + 22, nbytes=4)
        gpu.inject(FaultPlan().fail("launch", failure=LaunchFault(context_lost=False, findings=(finding,))))
        launch(gpu, 1, function="culprit")
        fault = caught(gpu.synchronize)
        (found,) = fault.findings
        assert (found.kernel, found.launch) == ("culprit", 1)
        assert "weights" in found.allocation
        assert list(gpu.findings) == [found]


def test_out_of_memory_leaves_the_ledger_as_it_was():
    """An allocation the driver refuses raises with size and figures, and enters nothing."""
    with MockGpuBackend(plan=FaultPlan().fail("alloc", nth=2, forever=True)) as gpu:
        kept = gpu.alloc(300)
        before = gpu.live_bytes(), gpu.live_alloc_count()
        with pytest.raises(OutOfDeviceMemory) as info:
            gpu.array(np.zeros(1000))
        assert info.value.nbytes == 8000
        assert isinstance(info.value, MemoryError)
        assert (gpu.live_bytes(), gpu.live_alloc_count()) == before
        gpu.free(kept)


def test_dropped_memory_makes_room():
    """When memory runs out, what was dropped and waits for queued work is waited for and given back first."""
    with MockGpuBackend(total_memory=16_000) as gpu:
        for number in range(1, 6):
            buffer = gpu.buffer(6000)
            KernelLaunch(gpu, gpu.kernel("m", "k")).grid(number).arg_ptr(buffer).launch()
            del buffer
        assert gpu.launch_count == 5


def test_a_kernels_own_limit_is_explained():
    """A block legal for the device but not for the kernel is refused with the limit and the registers."""
    with MockGpuBackend() as gpu:
        gpu.define_kernel("m", "fat", attributes=FunctionAttributes(max_threads_per_block=640, registers=96))
        launch = KernelLaunch(gpu, gpu.kernel("m", "fat")).arg_u32(1)
        with pytest.raises(LimitExceeded, match="96 registers") as info:
            launch.block(1024).launch()
        assert (info.value.asked, info.value.limit) == (1024, 640)
        assert gpu.launch_count == 0
        launch.block(640).launch()


def test_static_shared_memory_counts():
    """Dynamic and static shared memory together may reach the device's limit and not one byte more."""
    with MockGpuBackend("H100") as gpu:
        gpu.define_kernel("m", "k", attributes=FunctionAttributes(static_shared_mem=1024))
        launch = KernelLaunch(gpu, gpu.kernel("m", "k")).arg_u32(1)
        launch.shared_mem(232448 - 1024).launch()
        with pytest.raises(LimitExceeded) as info:
            launch.shared_mem(232448 - 1023).launch()
        for number in ("231425", "1024", "231424"):
            assert number in str(info.value)


def test_cooperative_launches_fit_at_once_or_raise():
    """A cooperative grid of what fits on the device passes, one block more raises with that number."""
    from dataclasses import replace

    from metrale_gpu_runtime.testing import profile

    with MockGpuBackend(replace(profile("generic"), multiprocessor_count=10)) as gpu:
        gpu.define_kernel("m", "k", blocks_per_multiprocessor=2)
        launch = KernelLaunch(gpu, gpu.kernel("m", "k")).block(64).cooperative().arg_u32(1)
        launch.grid(20).launch()
        with pytest.raises(LimitExceeded, match="20"):
            launch.grid(21).launch()
        assert gpu.launch_count == 1
    with MockGpuBackend("M2") as gpu, pytest.raises(NotSupported):
        KernelLaunch(gpu, gpu.kernel("m", "k")).cooperative().arg_u32(1).launch()


def _die():
    import os
    import signal

    with with_fault(1, CONTEXT_LOST) as gpu:
        launch(gpu, 1)
        os.kill(os.getpid(), signal.SIGKILL)


def _fault():
    with with_fault(1, CONTEXT_LOST) as gpu:
        launch(gpu, 1)
        gpu.synchronize()


def _live():
    with MockGpuBackend() as gpu:
        launch(gpu, 5)
    return gpu.launch_count


@pytest.mark.parametrize("function", [_die, _fault])
def test_a_case_in_a_child_process_does_not_end_the_session(function):
    """What kills or fails a child is told by its exit, and the session goes on."""
    result = run_isolated(function)
    assert (result.exit_code, result.signal_name) == ((-9, "SIGKILL") if function is _die else (1, None))
    assert function is _die or "CUDA_ERROR_ILLEGAL_ADDRESS" in result.stderr
    with pytest.raises(AssertionError, match=r"SIGKILL|ended with 1"):
        result.check()


def test_a_child_process_gives_its_value():
    """A case that ends well gives its value back."""
    assert run_isolated(_live).check() == 1
