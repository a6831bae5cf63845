"""Limits are the device's own, which has those of its adapter; what does not fit is refused with both numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from webgpu_room import gpu

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import LimitExceeded

__all__ = ["gpu"]

NAMES = ("maxBufferSize", "maxStorageBufferBindingSize", "maxStorageBuffersPerShaderStage", "maxComputeWorkgroupSizeX")
NAMES += ("maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupStorageSize", "maxUniformBuffersPerShaderStage")


def device_of(gpu: GpuBackend) -> Any:
    return gpu._driver._device  # type: ignore[attr-defined]


def test_the_device_has_the_limits_of_its_adapter(gpu: GpuBackend) -> None:
    """wgpu's defaults (256 MiB in a buffer, 8 storage buffers) are no limits of ours where the adapter allows more."""
    device = device_of(gpu)
    for name in NAMES:
        assert getattr(device.limits, name) == getattr(device.adapter.limits, name)
    assert gpu.capabilities.max_buffer_arguments == device.adapter.limits.maxStorageBuffersPerShaderStage
    assert gpu.capabilities.max_allocation_nbytes == device.adapter.limits.maxBufferSize
    with gpu.buffer(300 << 20) as large:
        gpu.memset(large.ptr + (300 << 20) - 4, 0xAB, 4)
        read = np.zeros(4, np.uint8)
        gpu.copy_d2h(large.ptr + (300 << 20) - 4, read)
        assert read.tolist() == [0xAB] * 4


def test_more_groups_than_an_axis_has(gpu: GpuBackend) -> None:
    """65536 groups along an axis are refused with the device's number; the same on two axes run."""
    source = "@group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;\n"
    source += "@compute @workgroup_size(1) fn count() { atomicAdd(&out[0], 1u); }"
    kernel = gpu.load_module("counts", source={".wgsl": source})["count"]
    limit = gpu.capabilities.max_grid[0]
    out = gpu.array(np.zeros(1, np.uint32))
    with pytest.raises(LimitExceeded, match=str(limit)):
        kernel[limit + 1, 1](out)
    kernel[(257, 255), 1](out)
    assert out.numpy()[0] == 257 * 255


def test_more_groups_than_a_software_device_counts(gpu: GpuBackend) -> None:
    """Software devices count groups in 32 bits: a launch of more is refused with the number, instead of running none."""
    assert gpu.capabilities.software
    source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
    source += "@compute @workgroup_size(1) fn mark() { out[0] = 5u; }"
    kernel, out = gpu.load_module("marks", source={".wgsl": source})["mark"], gpu.array(np.zeros(1, np.uint32))
    for grid in ((32768, 32768, 4), (65535, 65535, 2), (65535, 65535, 65535)):
        with pytest.raises(LimitExceeded, match="4294967295"):
            kernel[grid, 1](out)
    assert out.numpy()[0] == 0
    kernel[1, 1](out)
    assert out.numpy()[0] == 5


def test_a_binding_over_the_limit(gpu: GpuBackend) -> None:
    """Memory that cannot be bound whole is refused with need, limit and device, before anything is recorded."""
    limit = int(device_of(gpu).limits.maxStorageBufferBindingSize)
    if limit > 1 << 28:
        pytest.skip("this device binds more than a test should allocate")
    align = gpu.capabilities.buffer_offset_alignment
    with gpu.buffer(limit + align) as large:
        kernel = gpu.kernel("m", "affine_32")
        with pytest.raises(LimitExceeded, match=f"{limit + align}.*{limit}"):
            kernel[1, 32](large, 32, 1, 1)
        kernel[1, 32](large.ptr + align, 32, 1, 7)
        read = np.zeros(1, np.uint32)
        gpu.copy_d2h(large.ptr + align + 4, read)
        assert read[0] == 7


@pytest.mark.parametrize("more", [0, 1])
def test_as_many_buffers_as_the_device_has(gpu: GpuBackend, more: int) -> None:
    """The last that fits runs, each buffer at its own place; one more is refused with count and limit."""
    limit = gpu.capabilities.max_buffer_arguments
    assert limit is not None
    count = limit + more
    source = "".join(f"@group(0) @binding({at}) var<storage, read_write> b{at}: array<u32>;\n" for at in range(count))
    body = " ".join(f"b{at}[0] = {at + 100}u;" for at in range(count))
    module = gpu.load_module("many", source={".wgsl": f"{source}@compute @workgroup_size(1) fn f() {{ {body} }}"})
    buffers = [gpu.array(np.zeros(1, np.uint32)) for _ in range(count)]
    if more:
        with pytest.raises(LimitExceeded, match=rf"{count}.*{limit}"):
            module["f"][1, 1](*buffers)
        return
    module["f"][1, 1](*buffers)
    assert [int(each.numpy()[0]) for each in buffers] == list(range(100, 100 + count))


def test_more_values_than_the_device_binds(gpu: GpuBackend) -> None:
    """Uniforms have a limit of their own; the refusal says how to get by."""
    limit = int(device_of(gpu).limits.maxUniformBuffersPerShaderStage)
    if limit > 31:
        pytest.skip("this device binds more values than a sum has bits, and than a compiler reads in one sum")
    for count in (limit, limit + 1):
        source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
        source += "".join(f"@group(0) @binding({at + 1}) var<uniform> v{at}: u32;\n" for at in range(count))
        body = " + ".join(f"v{at}" for at in range(count))
        module = gpu.load_module(
            f"values{count}", source={".wgsl": f"{source}@compute @workgroup_size(1) fn f() {{ out[0] = {body}; }}"}
        )
        if count > limit:
            with pytest.raises(LimitExceeded, match=rf"{count}.*{limit}.*structure"):
                module["f"]
            continue
        out = gpu.empty(1, "uint32")
        module["f"][1, 1](out, *[1 << at for at in range(count)])
        assert out.numpy()[0] == (1 << count) - 1


def test_threads_per_block(gpu: GpuBackend) -> None:
    """More threads than a block has are refused, along an axis and in all."""
    capabilities = gpu.capabilities
    x = gpu.array(np.zeros(8, np.uint32))
    with pytest.raises(LimitExceeded, match=str(capabilities.max_block[0])):
        gpu.kernel("m", "affine")[1, capabilities.max_block[0] + 1](x, 8, 1, 1)
    with pytest.raises(LimitExceeded, match=str(capabilities.max_threads_per_block)):
        gpu.kernel("m", "affine")[1, (capabilities.max_threads_per_block, 2)](x, 8, 1, 1)
