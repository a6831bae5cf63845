"""The mock's profiles are enforced: what the real device refuses is refused here, by name and number."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.errors import GpuError, LimitExceeded, NotSupported, OutOfDeviceMemory
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.launch import KernelLaunch
from metrale_gpu_runtime.testing import MockGpuBackend


def described(gpu):
    return KernelLaunch(gpu, gpu.kernel("m", "k"))


@pytest.mark.parametrize(
    ("profile", "largest"),
    [("A100", 166912), ("H100", 232448), ("RTX 4090", 101376), ("M2", 32768), ("OpenCL", 32768), ("WebGPU", 16384)],
)
def test_shared_memory_of_each_device(profile, largest):
    """Each device takes its largest dynamic shared memory and refuses one byte more, with its number and name."""
    with MockGpuBackend(profile) as gpu:
        described(gpu).shared_mem(largest).arg_u32(1).launch()
        with pytest.raises(LimitExceeded, match=profile) as info:
            described(gpu).shared_mem(largest + 1).arg_u32(1).launch()
        assert info.value.limit == largest
        assert gpu.launch_count == 1


@pytest.mark.parametrize(
    ("profile", "most"), [("A100", 1024), ("M2", 1024), ("OpenCL", 256), ("WebGPU", 256), ("H100", 1024)]
)
def test_threads_of_a_block_of_each_device(profile, most):
    """Each device takes its largest block and refuses a larger one."""
    with MockGpuBackend(profile) as gpu:
        described(gpu).block((most // 2, 2)).arg_u32(1).launch()
        with pytest.raises(LimitExceeded):
            described(gpu).block((most // 2 + 1, 2)).arg_u32(1).launch()
        with pytest.raises(LimitExceeded) as info:
            described(gpu).block(most + 1).arg_u32(1).launch()
        assert (info.value.axis, info.value.limit) == ("x", most)


def test_grids_of_each_kind():
    """CUDA's y and z end at 65535, WebGPU's x too, and x of CUDA at 2**31 - 1; nothing wraps."""
    for profile, grid, axis, limit in (
        ("A100", (1, 65536), "y", 65535),
        ("A100", (1, 1, 65536), "z", 65535),
        ("A100", (2**31,), "x", 2**31 - 1),
        ("A100", (2**32 + 1,), "x", 2**31 - 1),
        ("WebGPU", (65536,), "x", 65535),
        ("M2", (2**32,), "x", 2**32 - 1),
    ):
        with MockGpuBackend(profile) as gpu:
            with pytest.raises(LimitExceeded) as info:
                described(gpu).grid(grid).arg_u32(1).launch()
            assert (info.value.axis, info.value.limit) == (axis, limit)
            assert gpu.launch_count == 0
    with MockGpuBackend("A100") as gpu:
        described(gpu).grid((2**31 - 1, 65535, 65535)).arg_u32(1).launch()
        (entry,) = (entry for entry in gpu.log if entry.call == "launch")
        assert entry.grid == (2**31 - 1, 65535, 65535)


@pytest.mark.parametrize(
    ("scalar", "value", "substitute"),
    [
        ("u64", 5, "two u32"),
        ("i64", -5, "two u32"),
        ("f64", 2.5, "f32"),
        ("bool", True, "u32"),
        ("u8", 5, "u32"),
        ("f16", 1.5, "f32"),
        ("bf16", 1.5, "f32"),
        ("i16", -5, "i32"),
    ],
)
def test_webgpu_refuses_what_wgsl_has_not(scalar, value, substitute):
    """Each scalar that WGSL cannot take from the host is refused by name with what to pass instead."""
    with MockGpuBackend("WebGPU") as gpu:
        launch = getattr(described(gpu), f"arg_{scalar}")(value)
        with pytest.raises(NotSupported, match=scalar) as info:
            launch.launch()
        assert info.value.feature == scalar
        assert substitute in str(info.value)
        described(gpu).arg_u32(5).arg_i32(-5).arg_f32(1.5).launch()
        assert gpu.launch_count == 1


def test_opencl_takes_no_bool():
    """An OpenCL kernel has no bool parameter, which is said with a hint; doubles it takes."""
    with MockGpuBackend("OpenCL") as gpu:
        with pytest.raises(NotSupported, match="u32"):
            described(gpu).arg_bool(True).launch()
        described(gpu).arg_f64(2.5).launch()


@pytest.mark.parametrize(("profile", "most"), [("M2", 31), ("WebGPU", 8)])
def test_buffers_of_a_launch_are_counted(profile, most):
    """As many buffers as the device has slots pass, one more is refused with count and limit."""
    with MockGpuBackend(profile) as gpu:
        buffers = [gpu.buffer(256) for _ in range(most + 1)]
        for count, is_refused in ((most, False), (most + 1, True)):
            launch = described(gpu)
            for buffer in buffers[:count]:
                launch.arg_ptr(buffer)
            if is_refused:
                with pytest.raises(LimitExceeded) as info:
                    launch.launch()
                assert (info.value.asked, info.value.limit) == (most + 1, most)
            else:
                launch.launch()


def test_argument_bytes_are_counted():
    """The bytes of all arguments together end at the device's limit."""
    with MockGpuBackend("OpenCL") as gpu:
        described(gpu).arg_bytes(bytes(1024)).launch()
        with pytest.raises(LimitExceeded) as info:
            described(gpu).arg_bytes(bytes(1024)).arg_u8(1).launch()
        assert (info.value.asked, info.value.limit) == (1025, 1024)


@pytest.mark.parametrize("profile", ["A100", "M2", "OpenCL", "WebGPU"])
def test_unknown_addresses(profile):
    """CUDA takes an address it does not know; Metal, OpenCL and WebGPU refuse it."""
    with MockGpuBackend(profile) as gpu:
        if profile == "A100":
            described(gpu).arg_ptr(DevicePtr(0x1000)).launch()
        else:
            with pytest.raises(GpuError, match="0x1000"):
                described(gpu).arg_ptr(DevicePtr(0x1000)).launch()


@pytest.mark.parametrize(("profile", "offset"), [("WebGPU", 256), ("OpenCL", 128), ("M2", 4)])
def test_offsets_a_device_cannot_bind(profile, offset):
    """A pointer inside a buffer is taken at the device's alignment, and refused elsewhere with both numbers."""
    with MockGpuBackend(profile) as gpu:
        buffer = gpu.buffer(1024)
        described(gpu).arg_ptr(buffer.ptr + 2 * offset).launch()
        with pytest.raises(GpuError, match=str(offset)):
            described(gpu).arg_ptr(buffer.ptr + offset + 1).launch()
        assert gpu.launch_count == 1


def test_one_allocation_has_a_limit():
    """A buffer over the device's largest is refused before the driver is asked."""
    with MockGpuBackend("WebGPU") as gpu:
        with pytest.raises(OutOfDeviceMemory, match="268435456"):
            gpu.alloc(300 * 1024**2)
        assert gpu.log.counts["alloc"] == 0


@pytest.mark.parametrize(("profile", "takes"), [("generic", True), ("OpenCL", True), ("M2", True), ("A100", False)])
def test_local_arguments(profile, takes):
    """Local-memory arguments reach OpenCL and Metal; CUDA says to use shared_mem."""
    with MockGpuBackend(profile) as gpu:
        launch = described(gpu).arg_u32(5).arg_local(96).arg_u32(6)
        if takes:
            launch.launch()
            (entry,) = (entry for entry in gpu.log if entry.call == "launch")
            assert [argument.nbytes for argument in entry.arguments] == [4, 96, 4]
        else:
            with pytest.raises(NotSupported, match="shared_mem"):
                launch.launch()


def test_clusters_where_there_are_any():
    """Clusters are an H100's; they must divide the grid; an A100 has none."""
    with MockGpuBackend("H100") as gpu:
        described(gpu).grid((6, 4)).cluster((2, 4)).arg_u32(1).launch()
        (entry,) = (entry for entry in gpu.log if entry.call == "launch")
        assert entry.cluster == (2, 4, 1)
        with pytest.raises(GpuError, match=r"grid\.x"):
            described(gpu).grid((5, 4)).cluster((2, 4)).arg_u32(1).launch()
    with MockGpuBackend("A100") as gpu, pytest.raises(NotSupported):
        described(gpu).grid(6).cluster(2).arg_u32(1).launch()


def test_metal_rounds_threadgroup_memory():
    """On the M2 the limit is checked after rounding up to 16: 32760 passes, 32769 does not."""
    with MockGpuBackend("M2") as gpu:
        for nbytes in (0, 1, 15, 16, 140, 32760, 32768):
            described(gpu).shared_mem(nbytes).arg_u32(1).launch()
        with pytest.raises(LimitExceeded):
            described(gpu).shared_mem(32769).arg_u32(1).launch()
