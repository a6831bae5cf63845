"""What a device can do, asked of the device and of its library, never assumed."""

from __future__ import annotations

from ...capabilities import Capabilities
from .api import ATTRIBUTES, DriverApi
from .kernels import PORTABLE_CLUSTER_BLOCKS

_GRAPH_CALLS = (
    "stream_begin_capture",
    "stream_end_capture",
    "stream_capture_info",
    "exchange_capture_mode",
    "graph_instantiate",
    "graph_launch",
    "graph_set_kernel",
    "graph_set_enabled",
)
_LAZY_CALLS = (
    "memory_granularity",
    "address_reserve",
    "address_free",
    "mem_create",
    "mem_release",
    "mem_map",
    "mem_set_access",
    "mem_unmap",
)
_HOPPER = (9, 0)
_LARGE_CLUSTER_BLOCKS = 16


def read_capabilities(
    api: DriverApi, device: int, *, priorities: tuple[int, int], is_linking: bool, cuda_architecture: str | None
) -> Capabilities:
    """Everything about one device. Raises ApiError."""
    traits = api.traits
    ask = {name: api.attribute(device, name) for name in ATTRIBUTES}
    capability = (ask["compute_capability_major"], ask["compute_capability_minor"])
    # Both vendors count compute capabilities; only NVIDIA's numbers mean these features.
    is_hopper = traits.has_launch_attributes and capability >= _HOPPER
    has_clusters = traits.has_clusters and is_hopper and bool(ask["cluster_launch"]) and api.provides("launch_extended")
    has_tensor_maps = is_hopper and bool(ask["tensor_map_access_supported"])
    attributes = traits.has_launch_attributes and api.provides("launch_extended")
    total = api.total_memory(device)
    return Capabilities(
        backend=traits.name,
        device=api.device_name(device),
        code_formats=traits.code_formats,
        source_languages=traits.source_languages,
        cuda_architecture=cuda_architecture,
        max_grid=(ask["max_grid_dim_x"], ask["max_grid_dim_y"], ask["max_grid_dim_z"]),
        max_block=(ask["max_block_dim_x"], ask["max_block_dim_y"], ask["max_block_dim_z"]),
        max_threads_per_block=ask["max_threads_per_block"],
        max_threads_per_launch=traits.max_threads_per_launch,
        max_registers_per_block=ask["max_registers_per_block"] or None,
        max_static_and_dynamic_shared_mem=max(
            ask["max_shared_memory_per_block"], ask["max_shared_memory_per_block_optin"]
        ),
        max_parameter_nbytes=api.max_parameter_nbytes(device),
        max_allocation_nbytes=total,
        warp_size=ask["warp_size"],
        multiprocessor_count=ask["multiprocessor_count"],
        max_cluster_blocks=_LARGE_CLUSTER_BLOCKS if has_clusters else PORTABLE_CLUSTER_BLOCKS,
        device_index=device,
        compute_capability=capability,
        driver_version=api.driver_version(),
        dlpack_device=(traits.dlpack_device_type, device),
        raw_addresses=True,
        untracked_pointers=True,
        asynchronous=True,
        graphs=api.provides(*_GRAPH_CALLS),
        cooperative=bool(ask["cooperative_launch"]),
        clusters=has_clusters,
        programmatic_launches=is_hopper and attributes,
        launch_priorities=priorities if attributes else None,
        memory_sync_domains=is_hopper and attributes and ask["mem_sync_domain_count"] > 1,
        tensor_maps=has_tensor_maps,
        tensor_map_encoding=has_tensor_maps and api.provides("encode_tensor_map"),
        managed_memory=bool(ask["managed_memory"]),
        pinned_memory=bool(ask["can_map_host_memory"]),
        unified_memory=bool(ask["integrated"]),
        pageable_memory_access=bool(ask["pageable_memory_access"]),
        stream_ordered_memory=bool(ask["memory_pools_supported"]) and api.provides("mem_alloc_async", "mem_free_async"),
        lazy_memory=bool(ask["virtual_memory_management_supported"]) and api.provides(*_LAZY_CALLS),
        peer_access=api.device_count() > 1 and api.provides("can_access_peer", "enable_peer_access", "copy_peer_async"),
        raw_stream_handles=True,
        linking=is_linking,
        usable_after_fork=False,
        # The primary context is the process's: who retains it anew gets the lost one.
        usable_after_loss=False,
    )
