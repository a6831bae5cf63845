"""Device profiles of the mock: the limits of well-known devices, so that a refusal there is a refusal here.

The numbers are the vendors' published ones: CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability"; Apple's Metal Feature Set Tables; the OpenCL 3.0 minimum values with what current drivers report; the
default limits of the WebGPU specification. The engine enforces them; the mock only states them.
"""

from __future__ import annotations

from dataclasses import replace

from ...capabilities import Capabilities

_ANY = ("any",)
_UINT32_MAX = 2**32 - 1

GENERIC = Capabilities(
    backend="mock",
    device="mock device",
    code_formats=_ANY,
    max_static_and_dynamic_shared_mem=228 * 1024,
    multiprocessor_count=48,
    untracked_pointers=True,
    cooperative=True,
    clusters=True,
    programmatic_launches=True,
    launch_priorities=(0, -5),
    memory_sync_domains=True,
    local_arguments=True,
)
"""A permissive device: CUDA's launch limits, and every kind of argument there is."""

_CUDA = replace(
    GENERIC,
    # From compute capability 7.0 on with CUDA 12.1; 4096 before.
    max_parameter_nbytes=32764,
    clusters=False,
    programmatic_launches=False,
    memory_sync_domains=False,
    tensor_maps=False,
    local_arguments=False,
    stream_ordered_memory=True,
    lazy_memory=True,
)

_PROFILES = {
    "generic": GENERIC,
    "A100": replace(
        _CUDA,
        device="A100 (mock profile)",
        cuda_architecture="compute_80",
        max_static_and_dynamic_shared_mem=163 * 1024,
        multiprocessor_count=108,
    ),
    "H100": replace(
        _CUDA,
        device="H100 (mock profile)",
        cuda_architecture="compute_90",
        max_static_and_dynamic_shared_mem=227 * 1024,
        multiprocessor_count=132,
        clusters=True,
        programmatic_launches=True,
        memory_sync_domains=True,
        tensor_maps=True,
        tensor_map_encoding=True,
    ),
    "RTX 4090": replace(
        _CUDA,
        device="RTX 4090 (mock profile)",
        cuda_architecture="compute_89",
        max_static_and_dynamic_shared_mem=99 * 1024,
        multiprocessor_count=128,
    ),
    "M2": Capabilities(
        backend="mock",
        device="M2 (mock profile)",
        code_formats=_ANY,
        max_grid=(_UINT32_MAX, _UINT32_MAX, _UINT32_MAX),
        max_block=(1024, 1024, 1024),
        max_threads_per_block=1024,
        max_static_and_dynamic_shared_mem=32 * 1024,
        shared_mem_granularity=16,
        max_parameter_nbytes=None,
        max_buffer_arguments=31,
        max_inline_argument_nbytes=4096,
        buffer_offset_alignment=4,
        multiprocessor_count=10,
        local_arguments=True,
        event_timing=False,
        unsupported_scalars=frozenset({"f64", "c128"}),
        unified_memory=True,
        null_pointers=False,
        explicit_residency=True,
        function_constants=True,
        module_variables=False,
        mangled_names=False,
    ),
    "OpenCL": Capabilities(
        backend="mock",
        device="OpenCL (mock profile)",
        code_formats=_ANY,
        max_grid=(_UINT32_MAX, _UINT32_MAX, _UINT32_MAX),
        max_block=(256, 256, 256),
        max_threads_per_block=256,
        max_static_and_dynamic_shared_mem=32 * 1024,
        max_parameter_nbytes=1024,
        max_allocation_nbytes=2 * 1024**3,
        buffer_offset_alignment=128,
        warp_size=1,
        multiprocessor_count=16,
        local_arguments=True,
        shared_mem_is_last_local=True,
        tensor_maps=False,
        module_variables=False,
        mangled_names=False,
        # A kernel parameter may not be a bool (OpenCL C, "Restrictions").
        unsupported_scalars=frozenset({"bool"}),
    ),
    "WebGPU": Capabilities(
        backend="mock",
        device="WebGPU (mock profile)",
        code_formats=_ANY,
        max_grid=(65535, 65535, 65535),
        max_block=(256, 256, 64),
        max_threads_per_block=256,
        max_static_and_dynamic_shared_mem=16 * 1024,
        max_parameter_nbytes=64 * 1024,
        max_buffer_arguments=8,
        max_allocation_nbytes=256 * 1024**2,
        buffer_offset_alignment=256,
        warp_size=1,
        raw_addresses=False,
        tensor_maps=False,
        managed_memory=False,
        pinned_memory=False,
        event_timing=False,
        null_pointers=False,
        aliased_writes=False,
        bounded_accesses=True,
        function_constants=True,
        module_variables=False,
        mangled_names=False,
        # WGSL's host-shareable scalars are i32, u32, f32, and f16 where that feature was asked for.
        unsupported_scalars=frozenset({"u8", "i8", "u16", "i16", "u64", "i64", "f16", "bf16", "f64", "bool", "c128"}),
    ),
}

PROFILE_NAMES = tuple(_PROFILES)


def profile(name: str) -> Capabilities:
    """The capabilities of a named device; case and spaces do not matter. Raises ValueError naming all profiles."""
    wanted = name.replace(" ", "").casefold()
    for known, capabilities in _PROFILES.items():
        if known.replace(" ", "").casefold() == wanted:
            return capabilities
    raise ValueError(f"no mock profile {name!r}; there are {', '.join(PROFILE_NAMES)}")
