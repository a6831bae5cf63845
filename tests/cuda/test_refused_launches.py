"""What the driver refuses at a launch: told in every mode, explained from the kernel's and the device's numbers."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator

import pytest
from kernels_for_launch import PTX

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.driver import ArgumentKind, ArgumentLayout
from metrale_gpu_runtime.geometry import Dim3, Geometry

NO_ARGUMENTS = ArgumentLayout((), (), (), (), 0)


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX})
        yield backend


@pytest.mark.parametrize(("code", "name"), [(1, "CUDA_ERROR_INVALID_VALUE"), (209, "CUDA_ERROR_NO_BINARY_FOR_GPU")])
def test_a_refused_launch_raises_in_every_mode(standin, gpu, code: int, name: str) -> None:
    """Direct, prepared, in a sequence, in a capture: the launch raises, the trace shows it rejected, the stream is fine."""
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(37, mg.f32)
    prepared = kernel[3, 32].prepare(x, mg.u32(37), 0.5)
    with gpu.sequence() as sequence:
        kernel[3, 32](x, mg.u32(37), 0.5)
    accepted = standin.launch_count()
    for launch in (lambda: kernel[3, 32](x, mg.u32(37), 0.5), prepared, sequence):
        standin.fail_call("cuLaunchKernelEx", code)
        with gpu.trace() as trace, pytest.raises(mg.DriverError) as refused:
            launch()
        error = refused.value
        assert (error.call, error.code, error.code_name) == ("cuLaunchKernelEx", code, name)
        assert "scale" in str(error)
        assert "grid (3, 1, 1), block (32, 1, 1)" in str(error)
        assert [each.outcome for each in trace.launches] == ["rejected"]
        gpu.synchronize()
    with gpu.create_stream() as stream:
        standin.fail_call("cuLaunchKernelEx", code)
        with pytest.raises(mg.DriverError), gpu.capture(stream):
            kernel[3, 32, 0, stream](x, mg.u32(37), 0.5)
        assert not gpu.stream_is_capturing(stream)
        kernel[3, 32, 0, stream](x, mg.u32(37), 0.5)
        stream.synchronize()
    assert standin.launch_count() == accepted + 1


def test_registers_and_shared_memory_explain_a_refusal(standin, gpu) -> None:
    """After "too many resources" the error has the kernel's registers and threads and the device's registers (case 25)."""
    standin.set_function("with_static", registers=96)
    kernel = gpu.kernel("m", "with_static")
    target = gpu.driver.prepare_launch(kernel.handle, NO_ARGUMENTS)
    standin.fail_call("cuLaunchKernelEx", 701)
    with pytest.raises(mg.DriverError) as refused:
        target.submit(b"", Geometry(block=Dim3(1024)), 0, 1)
    message = str(refused.value)
    assert "96 registers per thread x 1024 threads = 98304; the device has 65536 per block" in message
    standin.fail_call("cuLaunchKernelEx", 701)
    with pytest.raises(mg.DriverError) as refused:
        target.submit(b"", Geometry(block=Dim3(32), shared_mem=231_424 + 1), 0, 2)
    assert "1024 bytes of static and 231425 of dynamic shared memory; the device has 232448 per block" in str(
        refused.value
    )


def test_the_kernels_own_limit_is_refused_before_the_driver(standin, gpu) -> None:
    """A block that is legal for the device but not for this kernel: 640 and the registers are named, nothing is launched."""
    standin.set_function("nothing", max_threads_per_block=640)
    standin.set_function("nothing", registers=96)
    kernel = gpu.kernel("m", "nothing")
    with pytest.raises(mg.LimitExceeded) as refused:
        kernel[1, 1024]()
    assert "threads per block is 1024" in str(refused.value)
    assert "640" in str(refused.value)
    assert "96 registers per thread" in str(refused.value)
    assert standin.call_count("cuLaunchKernelEx") == 0


def test_a_good_launch_asks_nothing(standin, gpu) -> None:
    """A launch that is accepted makes no call beside itself and the context's."""
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(37, mg.f32)
    kernel[3, 32](x, mg.u32(37), 0.5)
    standin.clear_journal()
    kernel[3, 32](x, mg.u32(37), 0.5)
    assert standin.names() == ["cuCtxGetCurrent", "cuCtxPushCurrent", "cuLaunchKernelEx", "cuCtxPopCurrent"]


# ------------------------------------------------ dynamic shared memory (field case 23)


def raised(standin) -> list[int]:
    return [call for call in standin.names() if call == "cuFuncSetAttribute"]


def test_dynamic_shared_memory_is_opted_in_once_per_level(standin, gpu) -> None:
    """Raised when a launch needs more than the function has, once for each level, never lowered by a smaller launch."""
    kernel = gpu.kernel("m", "with_static")
    levels = []
    for nbytes in (47 << 10, 47 << 10, 48 << 10, 64 << 10, 4, 64 << 10, 60 << 10, 100_000, 64 << 10):
        standin.clear_journal()
        kernel[2, 32, nbytes]()
        levels.append((nbytes, len(raised(standin))))
    assert levels == [
        (47 << 10, 0),
        (47 << 10, 0),
        (48 << 10, 1),
        (64 << 10, 1),
        (4, 0),
        (64 << 10, 0),
        (60 << 10, 0),
        (100_000, 1),
        (64 << 10, 0),
    ]
    assert [launch.shared for launch in standin.launches()][-1] == 64 << 10


def test_the_devices_limit_is_named(standin, gpu) -> None:
    """The last byte fits; one more is refused with asked, static and usable, and the driver is not called."""
    kernel, limit = gpu.kernel("m", "with_static"), 232_448
    kernel[2, 32, limit - 1024]()
    standin.clear_journal()
    with pytest.raises(mg.LimitExceeded) as refused:
        kernel[2, 32, limit - 1023]()
    assert (refused.value.asked, refused.value.limit) == (limit + 1, limit)
    assert "231425 were asked for at launch, 1024 are the kernel's own; at most 231424" in str(refused.value)
    assert standin.names() == []


def test_the_limit_is_the_devices_own(standin) -> None:
    """An older device with 99 KiB refuses what another takes."""
    standin.set_attribute("max_shared_per_block_optin", 101_376)
    with mg.open_backend("cuda") as gpu:
        kernel = gpu.load_module("m", source={".ptx": PTX})["nothing"]
        kernel[1, 32, 101_376]()
        with pytest.raises(mg.LimitExceeded, match="allows 101376"):
            kernel[1, 32, 101_377]()


def test_threads_with_small_and_large_launches_do_not_lower_each_other(standin, gpu) -> None:
    """Two threads that alternate 4 bytes and 64 KiB: every launch is accepted."""
    kernel = gpu.kernel("m", "nothing")
    failures = []

    def run(nbytes: int) -> None:
        try:
            for turn in range(40):
                kernel[1, 32, nbytes if turn % 2 else 4]()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(nbytes,)) for nbytes in (64 << 10, 96 << 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert standin.launch_count() == 80


# ------------------------------------------------ what reaches the driver


def test_every_parameter_is_read_at_its_alignment(standin, gpu) -> None:
    """The stand-in checks each address as a strict device would; the bytes are those that were given (field case 14)."""
    module = gpu.module("m")
    mg.KernelLaunch(gpu, module["small_first"]).arg_u8(0xA7).arg_u64(0x1122334455667788).launch()
    mixed = mg.KernelLaunch(gpu, module["mixed"]).arg_u8(1).arg_f64(-2.25).arg_u16(0x3344)
    mixed.arg_u64(2**64 - 2).arg_f32(0.75).launch()
    tensor = bytes((3 * i + 5) % 251 for i in range(128))
    mg.KernelLaunch(gpu, module["tensor"]).arg_u8(9).arg_bytes(tensor).arg_u8(11).launch()
    first, second, third = (launch.parameters for launch in standin.launches())
    assert (first[0], first[8:16]) == (0xA7, struct.pack("<Q", 0x1122334455667788))
    assert (second[0], struct.unpack_from("<d", second, 8), struct.unpack_from("<H", second, 16)) == (
        1,
        (-2.25,),
        (0x3344,),
    )
    assert struct.unpack_from("<Qf", second, 24) == (2**64 - 2, 0.75)
    assert (third[0], third[64:192], third[192]) == (9, tensor, 11)
    assert standin.violations() == []


def test_all_attributes_arrive(standin, gpu) -> None:
    """Cluster, cooperative, programmatic, priority and memory sync domain reach the driver as they were given."""
    kernel = gpu.kernel("m", "nothing")
    mg.KernelLaunch(gpu, kernel).grid([6, 4, 3]).block([32, 2, 1]).shared_mem(100).cluster([3, 2, 1]).launch()
    mg.KernelLaunch(gpu, kernel).grid([7]).block([64]).cooperative().launch()
    mg.KernelLaunch(gpu, kernel).grid([5]).programmatic().priority(-3).memory_sync_domain("remote").launch()
    clustered, cooperative, other = standin.launches()
    assert (clustered.grid, clustered.block, clustered.shared, clustered.cluster) == (
        (6, 4, 3),
        (32, 2, 1),
        100,
        (3, 2, 1),
    )
    assert (cooperative.cooperative, cooperative.grid, cooperative.cluster) == (True, (7, 1, 1), None)
    assert (other.programmatic, other.priority, other.sync_domain) == (True, -3, 1)
    assert (clustered.cooperative, cooperative.programmatic, cooperative.priority) == (False, False, None)


def test_streams_of_others_and_the_legacy_stream(standin, gpu) -> None:
    """A raw handle is used as it is; None and 0 are the backend's own stream; Stream.legacy is the driver's 1."""
    from cuda.bindings import driver

    context = gpu.driver.context
    assert driver.cuCtxPushCurrent(context)[0] == 0
    code, foreign = driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
    assert code == 0
    driver.cuCtxPopCurrent()
    kernel = gpu.kernel("m", "nothing")
    for stream in (None, 0, int(foreign), mg.Stream.legacy):
        kernel[1, 32, 0, stream]()
    own = gpu.driver.native_stream(0)
    assert [launch.stream for launch in standin.launches()[:3]] == [own, own, int(foreign)]
    assert standin.launches()[3].stream not in (own, int(foreign))
    gpu.synchronize()
    assert driver.cuDevicePrimaryCtxRetain(0)[0] == 0
    gpu.close()
    assert driver.cuCtxPushCurrent(context)[0] == 0
    assert driver.cuStreamQuery(foreign)[0] == 0, "a stream of another library was destroyed"
    assert driver.cuStreamDestroy(foreign)[0] == 0
    driver.cuCtxPopCurrent()
    assert driver.cuDevicePrimaryCtxRelease(0)[0] == 0


def test_one_layout_serves_many_threads(standin, gpu) -> None:
    """Eight threads launch one target with values of their own: no launch has another's."""
    kernel = gpu.kernel("m", "small_first")
    layout = ArgumentLayout((ArgumentKind.VALUE, ArgumentKind.VALUE), (0, 8), (1, 8), (1, 8), 16)
    target = gpu.driver.prepare_launch(kernel.handle, layout)

    def run(number: int) -> None:
        for turn in range(25):
            target.submit(struct.pack("<B7xQ", number, 1000 * number + turn), Geometry(), 0, 1)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = [struct.unpack("<B7xQ", launch.parameters[:16]) for launch in standin.launches()]
    assert sorted(seen) == sorted((number, 1000 * number + turn) for number in range(8) for turn in range(25))
