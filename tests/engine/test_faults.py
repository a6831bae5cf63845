"""Faults: the right launch, the details that only the engine knows, and what a lost context leaves."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from metrale_gpu_runtime.errors import (
    ContextLost,
    Finding,
    GpuResourceWarning,
    HandleClosed,
    InvalidPointer,
    KernelFault,
)
from metrale_gpu_runtime.lane import RING_LENGTH
from metrale_gpu_runtime.testing import FaultFound, FaultPlan, LaunchFault, MockGpuBackend

QUIET = LaunchFault(context_lost=False)
UNATTRIBUTED = LaunchFault(context_lost=False, attributed=False)


def faulty(nth, failure, **options):
    return MockGpuBackend(plan=FaultPlan().fail("launch", nth=nth, failure=failure), **options)


def test_the_message_has_launch_arguments_site_and_findings():
    """A fault's text names launch, module, geometry, arguments, the caller's line, and each finding's place."""
    with MockGpuBackend() as gpu:
        weights = gpu.array(np.zeros(5, np.float32), label="weights")
        finding = Finding(
            "out-of-bounds", "an access past the end", access="write", address=weights.address + 22, nbytes=4,
            block=(1, 0, 0), thread=(3, 0, 0), ptx_line=17, instruction="st.global.f32",
            source_file="k.cu", source_line=9,
        )  # fmt: skip
        failure = LaunchFault(context_lost=False, findings=(finding,))
        gpu.inject(FaultPlan().fail("launch", failure=failure))
        gpu.kernel("mod", "culprit")[(2, 3), 4](weights)
        with pytest.raises(KernelFault) as info:
            gpu.synchronize()
        text = str(info.value)
        for words in (
            "launch 1 of culprit (module mod), grid (2, 3, 1), block (4, 1, 1)",
            f"ptr {weights.address:#x}",
            "test_faults.py:",
            "block (1, 0, 0), thread (3, 0, 0)",
            f"write of 4 bytes at {weights.address + 22:#x}",
            "2 bytes past the end of 'weights' (20 bytes",
            "k.cu:9",
            "PTX line 17 (st.global.f32)",
        ):
            assert words in text
        (kept,) = gpu.findings
        assert (kept.kernel, kept.launch) == ("culprit", 1)
        assert kept == info.value.findings[0]


@pytest.mark.parametrize("kind", ["shared-bounds", "local-bounds", "null-pointer"])
def test_an_address_that_is_no_address_of_memory_is_explained_by_no_allocation(kind):
    """Offsets into shared and local memory, and null with an index, name no allocation that they would lie near."""
    with MockGpuBackend() as gpu:
        values = gpu.array(np.zeros(5, np.float32))
        finding = Finding(kind, "an offset", access="read", address=0x190, nbytes=4)
        gpu.inject(FaultPlan().fail("launch", failure=LaunchFault(context_lost=False, findings=(finding,))))
        gpu.kernel("mod", "culprit")[2, 4](values)
        with pytest.raises(KernelFault) as info:
            gpu.synchronize()
        assert info.value.findings[0].allocation is None
        assert "allocation" not in str(info.value)


def test_the_ring_is_bounded_and_starts_anew_after_a_good_wait():
    """An unattributed fault lists at most the ring's length of launches, the latest, none from before a good wait."""
    count = RING_LENGTH + 9
    with faulty(count, UNATTRIBUTED) as gpu:
        kernel = gpu.kernel("m", "k")
        for number in range(1, count + 1):
            kernel[number, 1]()
        with pytest.raises(KernelFault) as info:
            gpu.synchronize()
        assert [each.grid[0] for each in info.value.suspects] == list(range(10, count + 1))
        gpu.inject(FaultPlan().fail("launch", nth=2, failure=UNATTRIBUTED))
        kernel[1000, 1]()
        kernel[1001, 1]()
        with pytest.raises(KernelFault) as info:
            gpu.synchronize()
        assert [each.grid[0] for each in info.value.suspects] == [1000, 1001]


def test_the_ring_holds_no_memory():
    """Remembered launches keep no buffer alive, however many fit into the ring."""
    with MockGpuBackend() as gpu, gpu.create_stream() as stream:
        event = gpu.create_event()
        gpu.kernel("m", "k")[1, 1, 0, stream](gpu.buffer(64))
        event.record(stream)
        gpu.kernel("m", "k")[1, 1, 0, stream]()
        event.synchronize()
        assert len(stream._lane.ring) == 1
        assert gpu.live_alloc_count() == 0


def test_debug_sync_as_a_region():
    """Inside `with gpu.debug_sync()` a fault is raised at its launch; before and after it waits for the next wait."""
    with faulty(2, QUIET) as gpu:
        kernel = gpu.kernel("m", "k")
        kernel[1, 1]()
        assert not gpu.debug_sync_kernels()
        with gpu.debug_sync(), gpu.debug_sync():
            assert gpu.debug_sync_kernels()
            with pytest.raises(KernelFault) as info:
                kernel[2, 1]()
            assert (info.value.launch.ordinal, info.value.earlier) == (2, False)
        assert not gpu.debug_sync_kernels()


def test_a_fault_from_before_is_earlier():
    """Under debug sync a fault that was there before the launch is raised as earlier and the launch is not made."""
    with faulty(1, UNATTRIBUTED) as gpu:
        kernel = gpu.kernel("m", "k")
        kernel[1, 1]()
        with gpu.debug_sync(), pytest.raises(KernelFault, match="older than the launch") as info:
            kernel[2, 1]()
        assert (info.value.earlier, info.value.launch) == (True, None)
        assert [each.grid[0] for each in info.value.suspects] == [1]
        assert gpu.launch_count == 1


def test_the_environment_turns_debug_sync_on(monkeypatch):
    """METRALE_DEBUG_SYNC_KERNELS=1 is the default of debug_sync; the argument wins."""
    monkeypatch.setenv("METRALE_DEBUG_SYNC_KERNELS", "1")
    with MockGpuBackend() as gpu:
        assert gpu.debug_sync_kernels()
    with MockGpuBackend(debug_sync=False) as gpu:
        assert not gpu.debug_sync_kernels()


def test_leaving_a_with_block_raises_a_fault_nobody_waited_for():
    """A fault of work that was never waited for is raised at the end of the block; close() alone warns of it."""
    with pytest.raises(KernelFault, match="launch 1 of k"), faulty(1, QUIET) as gpu:
        gpu.kernel("m", "k")[1, 1]()
    assert not gpu.is_open
    gpu = faulty(1, QUIET)
    gpu.kernel("m", "k")[1, 1]()
    with pytest.warns(GpuResourceWarning, match="launch 1 of k"):
        gpu.close()
    gpu.close()


def test_a_second_failure_is_a_note_on_the_first():
    """When a block ends with an exception, what closing finds becomes a note on it."""

    def program():
        with faulty(1, QUIET) as gpu:
            gpu.kernel("m", "k")[1, 1]()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as info:
        program()
    assert "launch 1 of k" in "".join(info.value.__notes__)


def test_a_fault_keeps_nothing_alive_that_its_calls_had_made():
    """Memory made by a call that ended in a fault is given back at once, without the garbage collector."""
    gc.disable()
    try:
        for wait in (lambda gpu: gpu.array(np.ones(5, np.float32)), wait_for_two_streams):
            with MockGpuBackend(plan=FaultPlan().fail("synchronize", failure=FaultFound())) as gpu:
                failed = False
                try:  # pytest.raises would keep the error
                    wait(gpu)
                except KernelFault:
                    failed = True
                assert (failed, gpu.live_alloc_count()) == (True, 0)
    finally:
        gc.enable()


def wait_for_two_streams(gpu):
    with gpu.create_stream():
        buffer = gpu.buffer(20)
        gpu.memset_async(buffer, 0)
        gpu.synchronize()


def test_after_a_lost_context_only_the_cause_is_told():
    """Every call raises ContextLost with the first cause and asks the driver nothing; cleaning up is silent."""
    gpu = faulty(2, LaunchFault())
    buffers, pointer = [gpu.buffer(9)], gpu.alloc(8)
    stream, event = gpu.create_stream(), gpu.create_event()
    kernel = gpu.kernel("m", "k")
    kernel[1, 1, 0, stream](buffers[0])
    kernel[2, 1](buffers[0])
    with pytest.raises(KernelFault) as first:
        gpu.synchronize()
    calls = len(gpu.log)
    for call in (
        lambda: gpu.alloc(1),
        buffers[0].numpy,
        lambda: gpu.memset_async(buffers[0], 0),
        stream.query,
        event.record,
        gpu.create_stream,
        gpu.total_memory,
        lambda: kernel[1, 1](),
        lambda: gpu.load_module("x", binary=b"x"),
        gpu.scan_redzones,
        lambda: gpu.begin_capture(),
    ):
        with pytest.raises(
            ContextLost, match=r"since launch 2 \(kernel k\).*close this backend and open another"
        ) as info:
            call()
        assert info.value.cause is first.value
    assert len(gpu.log) == calls
    gpu.free(pointer)
    with pytest.raises(InvalidPointer):
        gpu.free(pointer)
    stream.close()
    event.close()
    buffers.clear()
    gpu.close()
    assert (gpu.is_lost, gpu.is_open) == (True, False)
    with pytest.raises(HandleClosed):
        gpu.alloc(1)


def test_memory_left_wrong_by_dropped_work_can_be_written_anew():
    """Reading what a dropped launch should have written is refused until something else writes it."""
    with faulty(1, LaunchFault(context_lost=False, drops_later=True)) as gpu:
        outs = [gpu.array(np.zeros(3, np.uint8)) for _ in range(2)]
        for out in outs:
            gpu.kernel("m", "k")[1, 1](out)
        with pytest.raises(KernelFault, match="not run because of it: launch 2"):
            gpu.synchronize()
        with pytest.raises(KernelFault, match="launch 2 of k, which uses it, did not run because of launch 1"):
            outs[1].numpy()
        outs[1].fill(4)
        assert outs[1].numpy().tolist() == [4, 4, 4]
