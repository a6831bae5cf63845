"""What a Metal device can do, as it tells it itself; the rest from the Metal Feature Set Tables."""

from __future__ import annotations

from typing import Any

from ...capabilities import Capabilities
from ...driver import CodeImage
from .bindings import Bindings
from .compiling import compile_source
from .pipelines import make_pipeline

_UINT32_MAX = 2**32 - 1

MAX_BUFFERS = 31
"""Entries of the buffer argument table per kernel (Metal Feature Set Tables, "Maximum number of entries …")."""

MAX_INLINE_NBYTES = 4096
"""What `setBytes:length:atIndex:` takes at most (MTLComputeCommandEncoder)."""

THREADGROUP_GRANULE = 16
"""`setThreadgroupMemoryLength:atIndex:` takes multiples of this (MTLComputeCommandEncoder)."""

KDL_METAL = 8
"""DLPack's number for Metal (dlpack.h, DLDeviceType)."""


def read_capabilities(bindings: Bindings, device: Any, index: int) -> Capabilities:
    """The capabilities of an MTLDevice that is opened as number `index`.

    Metal tells neither how many cores a GPU has nor a version of its driver: both are None.
    """
    block = device.maxThreadsPerThreadgroup()
    return Capabilities(
        backend="metal",
        device=str(device.name()),
        code_formats=("metallib", "msl"),
        # Positions in the grid are 32-bit numbers in Metal (MSL specification, thread_position_in_grid).
        max_grid=(_UINT32_MAX, _UINT32_MAX, _UINT32_MAX),
        max_block=(block.width, block.height, block.depth),
        # Metal has no figure of its own for the product; a kernel's is in its FunctionAttributes.
        max_threads_per_block=block.width,
        max_static_and_dynamic_shared_mem=device.maxThreadgroupMemoryLength(),
        shared_mem_granularity=THREADGROUP_GRANULE,
        max_parameter_nbytes=None,
        max_buffer_arguments=MAX_BUFFERS,
        max_inline_argument_nbytes=MAX_INLINE_NBYTES,
        max_allocation_nbytes=device.maxBufferLength(),
        warp_size=_execution_width(bindings, device),
        multiprocessor_count=None,
        max_cluster_blocks=1,
        device_index=index,
        driver_version=None,
        dlpack_device=(KDL_METAL, index),
        local_arguments=True,
        unsupported_scalars=frozenset({"f64", "c128"}),
        unified_memory=bool(device.hasUnifiedMemory()),
        null_pointers=False,
        explicit_residency=True,
        function_constants=True,
        module_variables=False,
        mangled_names=False,
        # Frameworks of Apple's do not survive a fork without exec (fork(2), CAVEATS).
        usable_after_fork=False,
    )


def _execution_width(bindings: Bindings, device: Any) -> int:
    """Threads of a SIMD-group. Apple's own GPUs have 32; of others only a compiled kernel tells."""
    if device.supportsFamily_(bindings.metal.MTLGPUFamilyApple1):
        return 32
    with bindings.pool():
        library = compile_source(bindings, device, CodeImage("empty", "msl", b"kernel void empty() {}"))
        function = library.newFunctionWithName_("empty")
        return make_pipeline(bindings, device, function, module="empty", name="empty").thread_execution_width
