"""What a WebGPU device can do, from its limits and features.

Source: GPUSupportedLimits (WebGPU), WGPULimits (webgpu.h).
"""

from __future__ import annotations

from ...capabilities import Capabilities
from .device import Device

_WORDS_ONLY = frozenset({"u64", "i64", "f64", "c64", "c128", "bool", "u8", "i8", "u16", "i16", "bf16"})
"""What no variable that a host fills can be. Complex numbers are two floats: vec2<f32>, given as a structure."""


SOFTWARE_MOST_BLOCKS = 2**32 - 1
"""Mesa's lavapipe counts a launch's blocks in 32 bits: of 32768 * 32768 * 4 it ran none and said nothing."""


def read_capabilities(device: Device, index: int) -> Capabilities:
    """The capabilities of a device that is opened as number `index`.

    WebGPU tells neither a number of multiprocessors nor a version of the driver: both are None.
    """
    limits = device.limits
    groups = int(limits.maxComputeWorkgroupsPerDimension)
    no_scalars = _WORDS_ONLY if "shader-f16" in device.features else _WORDS_ONLY | {"f16"}
    return Capabilities(
        backend="webgpu",
        device=device.name,
        code_formats=("wgsl",),
        max_grid=(groups, groups, groups),
        max_block=(
            int(limits.maxComputeWorkgroupSizeX),
            int(limits.maxComputeWorkgroupSizeY),
            int(limits.maxComputeWorkgroupSizeZ),
        ),
        max_threads_per_block=int(limits.maxComputeInvocationsPerWorkgroup),
        max_threads_per_launch=SOFTWARE_MOST_BLOCKS if device.adapter.is_software else None,
        max_static_and_dynamic_shared_mem=int(limits.maxComputeWorkgroupStorageSize),
        max_parameter_nbytes=None,
        max_arguments=int(limits.maxBindingsPerBindGroup),
        max_buffer_arguments=int(limits.maxStorageBuffersPerShaderStage),
        max_allocation_nbytes=int(limits.maxBufferSize),
        buffer_offset_alignment=int(limits.minStorageBufferOffsetAlignment),
        warp_size=1,
        multiprocessor_count=None,
        max_cluster_blocks=1,
        device_index=index,
        driver_version=None,
        dlpack_device=None,
        software=device.adapter.is_software,
        raw_addresses=False,
        local_arguments=False,
        aliased_writes=False,
        # Accesses are clamped to what is bound (WGSL, "Out-of-bounds access"), and there are no traps.
        kernel_faults=False,
        bounded_accesses=True,
        tensor_maps=False,
        managed_memory=False,
        pinned_memory=False,
        event_timing="timestamp-query-inside-encoders" in device.features,
        unsupported_scalars=no_scalars,
        unified_memory=device.adapter.is_software or device.adapter.kind == "IntegratedGPU",
        null_pointers=False,
        function_constants=True,
        module_variables=False,
        mangled_names=False,
        usable_after_fork=False,
    )
