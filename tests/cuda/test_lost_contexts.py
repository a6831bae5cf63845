"""Codes that cost the context are told from others, named once, and nothing hangs or raises afterwards (field case 19)."""

from __future__ import annotations

import warnings

import pytest
from kernels_for_launch import PTX
from primary_contexts import active_contexts

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import MemoryKind
from metrale_gpu_runtime.errors import DriverFault

STICKY = (700, 702, 710, 714, 715, 716, 717, 718, 719)


def opened() -> mg.GpuBackend:
    gpu = mg.open_backend("cuda")
    gpu.load_module("m", source={".ptx": PTX})
    return gpu


def test_the_third_launch_takes_the_context(standin) -> None:
    """The first error is the cause; every later call fails at once and names launch 3; the device says it is lost."""
    gpu = opened()
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(37, mg.f32)
    stream, event = gpu.create_stream(), gpu.create_event()
    standin.fail_launch(700, nth=3)
    with gpu.debug_sync():
        for number in (1, 2):
            kernel[3, 32](x, mg.u32(number), 0.5)
        with pytest.raises(mg.KernelFault) as fault:
            kernel[3, 32](x, mg.u32(3), 0.5)
    assert fault.value.launch is not None
    assert fault.value.launch.ordinal == 3
    assert fault.value.code_name == "CUDA_ERROR_ILLEGAL_ADDRESS"
    assert gpu.is_lost
    standin.clear_journal()
    for call in (
        lambda: kernel[3, 32](x, mg.u32(4), 0.5),
        lambda: gpu.alloc(10),
        lambda: x.numpy(),
        stream.synchronize,
        lambda: event.record(stream),
        gpu.synchronize,
        lambda: gpu.load_module("n", source={".ptx": PTX}),
    ):
        with pytest.raises(mg.ContextLost) as lost:
            call()
        assert "launch 3" in str(lost.value)
        assert "scale" in str(lost.value)
        assert lost.value.cause is fault.value
    assert standin.names() == [], "a call after the loss reached the driver"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gpu.close()
    assert active_contexts() == 0


def test_only_a_new_process_helps_and_both_errors_say_so(standin) -> None:
    """A lost context names a remedy that works: no backend opened anew in this process, but a new process."""
    with opened() as gpu:
        standin.fail_context(gpu.driver.context, 719)
        with pytest.raises(mg.KernelFault):
            gpu.synchronize()
        with pytest.raises(mg.ContextLost, match=r"start a new process \(mg\.testing\.run_isolated") as lost:
            gpu.alloc(10)
        assert "open another" not in str(lost.value)
        assert not gpu.capabilities.usable_after_loss
        with pytest.raises(mg.BackendUnavailable, match=r"this process lost its context on it earlier") as refused:
            mg.open_backend("cuda")
    for told in ("cuda: device 0", "CUDA_ERROR_LAUNCH_FAILED", "start a new process (mg.testing.run_isolated"):
        assert told in str(refused.value)


@pytest.mark.parametrize("code", STICKY)
def test_sticky_codes_cost_the_context(standin, code: int) -> None:
    """Every code of which the driver says that nothing works any more is a fault with the context lost, from any call."""
    gpu = opened()
    driver = gpu.driver
    address, stream = driver.alloc(64), driver.create_stream()
    standin.fail_context(driver.context, code)
    for call in (
        lambda: driver.alloc(8),
        lambda: driver.memset(address, 1, 1, 64, stream),
        lambda: driver.synchronize(stream),
        lambda: driver.query_stream(0),
        lambda: driver.create_event(),
        driver.memory_figures,
    ):
        with pytest.raises(DriverFault) as fault:
            call()
        assert fault.value.context_lost
        assert fault.value.code_name.startswith("CUDA_ERROR_")
    driver.free(address)
    with pytest.raises(mg.KernelFault):
        gpu.synchronize()
    gpu.close()
    assert active_contexts() == 0


def test_a_launch_tells_of_the_loss(standin) -> None:
    """A launch into a lost context raises the fault as earlier than itself, and is not queued."""
    gpu = opened()
    kernel = gpu.kernel("m", "nothing")
    kernel[1, 32]()
    gpu.synchronize()
    standin.fail_context(gpu.driver.context, 719)
    with pytest.raises(mg.KernelFault) as fault:
        kernel[1, 32]()
    assert fault.value.earlier
    assert gpu.is_lost
    gpu.close()


@pytest.mark.parametrize("code", [1, 209, 400, 701])
def test_other_codes_do_not(standin, code: int) -> None:
    """A refusal that is not sticky is the call's alone: the next one works."""
    with opened() as gpu:
        standin.fail_call("cuMemsetD8Async", code)
        address = gpu.driver.alloc(64)
        with pytest.raises(mg.DriverError) as refused:
            gpu.driver.memset(address, 1, 1, 64, 0)
        assert (refused.value.call, refused.value.code) == ("cuMemsetD8Async", code)
        assert not gpu.is_lost
        gpu.driver.memset(address, 1, 1, 64, 0)
        gpu.driver.synchronize(0)
        gpu.driver.free(address)


def test_out_of_memory_has_the_figures(standin) -> None:
    """What was asked for, what is free, what there is: as attributes and in the message, for every kind of memory."""
    with opened() as gpu:
        first = gpu.alloc(5 << 30)
        free, total = gpu.driver.memory_figures()
        with pytest.raises(mg.OutOfDeviceMemory) as refused:
            gpu.alloc(7 << 30)
        assert (refused.value.nbytes, refused.value.free, refused.value.total) == (7 << 30, free, total)
        assert f"{7 << 30} bytes were asked for; {free} of {total} bytes are free" in str(refused.value)
        with pytest.raises(mg.OutOfDeviceMemory) as refused:
            gpu.driver.alloc(6 << 30)
        assert f"cuMemAlloc: {6 << 30:,} bytes were asked for; {free:,} of {total:,} are free" in str(refused.value)
        gpu.free(first)
        for kind, call in ((MemoryKind.MANAGED, "cuMemAllocManaged"), (MemoryKind.PINNED, "cuMemHostAlloc")):
            standin.fail_call(call, 2)
            with pytest.raises(mg.OutOfDeviceMemory):
                gpu.driver.alloc(77, kind)


@pytest.mark.parametrize("code", [4, 201, 709])
def test_a_context_that_others_ended_is_tidied_up_quietly(standin, code: int) -> None:
    """Codes that say "shut down" or "no such context" tell of the loss when asked, and are no failure of tidying up."""
    driver = opened().driver
    address, stream, event = driver.alloc(100), driver.create_stream(), driver.create_event()
    standin.fail_call("*", code, count=0)
    for call, handle in ((driver.destroy_event, event), (driver.destroy_stream, stream)):
        with pytest.raises(DriverFault) as fault:
            call(handle)
        assert fault.value.context_lost
    driver.free(address)
    driver.close()
    # Nobody has really ended it here; that was only said.
    standin.reset(devices=2)
