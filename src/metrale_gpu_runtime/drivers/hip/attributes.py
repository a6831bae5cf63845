"""HIP's words for the attributes that the session asks for by CUDA's (cuda.h without its prefixes, in lower case)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Where there are several words the largest answer counts: the opt-in limit is 0 on devices without one.
DEVICE_ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "max_threads_per_block": ("MaxThreadsPerBlock",),
        "max_block_dim_x": ("MaxBlockDimX",),
        "max_block_dim_y": ("MaxBlockDimY",),
        "max_block_dim_z": ("MaxBlockDimZ",),
        "max_grid_dim_x": ("MaxGridDimX",),
        "max_grid_dim_y": ("MaxGridDimY",),
        "max_grid_dim_z": ("MaxGridDimZ",),
        "max_shared_memory_per_block": ("MaxSharedMemoryPerBlock",),
        "max_shared_memory_per_block_optin": ("SharedMemPerBlockOptin", "MaxSharedMemoryPerBlock"),
        "reserved_shared_memory_per_block": ("ReservedSharedMemPerBlock",),
        "max_shared_memory_per_multiprocessor": ("MaxSharedMemoryPerMultiprocessor", "SharedMemPerMultiprocessor"),
        "max_registers_per_block": ("MaxRegistersPerBlock",),
        "max_registers_per_multiprocessor": ("MaxRegistersPerMultiprocessor",),
        "max_threads_per_multiprocessor": ("MaxThreadsPerMultiProcessor",),
        "max_blocks_per_multiprocessor": ("MaxBlocksPerMultiProcessor",),
        "total_constant_memory": ("TotalConstantMemory",),
        "warp_size": ("WarpSize",),
        "multiprocessor_count": ("MultiprocessorCount",),
        "compute_capability_major": ("ComputeCapabilityMajor",),
        "compute_capability_minor": ("ComputeCapabilityMinor",),
        "clock_rate": ("ClockRate",),
        "memory_clock_rate": ("MemoryClockRate",),
        "global_memory_bus_width": ("MemoryBusWidth",),
        "l2_cache_size": ("L2CacheSize",),
        "async_engine_count": ("AsyncEngineCount",),
        "concurrent_kernels": ("ConcurrentKernels",),
        "cooperative_launch": ("CooperativeLaunch",),
        "integrated": ("Integrated",),
        "can_map_host_memory": ("CanMapHostMemory",),
        "unified_addressing": ("UnifiedAddressing",),
        "managed_memory": ("ManagedMemory",),
        "concurrent_managed_access": ("ConcurrentManagedAccess",),
        "pageable_memory_access": ("PageableMemoryAccess",),
        "stream_priorities_supported": ("StreamPrioritiesSupported",),
        "memory_pools_supported": ("MemoryPoolsSupported",),
        "virtual_memory_management_supported": ("VirtualMemoryManagementSupported",),
        "virtual_address_management_supported": ("VirtualMemoryManagementSupported",),
        "pci_bus_id": ("PciBusId",),
        "pci_device_id": ("PciDeviceId",),
        "pci_domain_id": ("PciDomainId",),
        # What AMD's hardware has not.
        "mem_sync_domain_count": (),
        "cluster_launch": (),
        "tensor_map_access_supported": (),
    }
)

FUNCTION_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: name.upper()
        for name in (
            "max_threads_per_block",
            "shared_size_bytes",
            "const_size_bytes",
            "local_size_bytes",
            "num_regs",
            "ptx_version",
            "binary_version",
            "max_dynamic_shared_size_bytes",
        )
    }
)

ENTRY_POINTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "launch_extended": ("none: no launch attributes on AMD's GPUs",),
        "encode_tensor_map": ("none: no tensor maps on AMD's GPUs",),
        "mem_alloc_async": ("hipMallocAsync",),
        "mem_free_async": ("hipFreeAsync",),
        "can_access_peer": ("hipDeviceCanAccessPeer",),
        "enable_peer_access": ("hipDeviceEnablePeerAccess",),
        "copy_peer_async": ("hipMemcpyPeerAsync",),
        "memory_granularity": ("hipMemGetAllocationGranularity",),
        "address_reserve": ("hipMemAddressReserve",),
        "address_free": ("hipMemAddressFree",),
        "mem_create": ("hipMemCreate",),
        "mem_release": ("hipMemRelease",),
        "mem_map": ("hipMemMap",),
        "mem_set_access": ("hipMemSetAccess",),
        "mem_unmap": ("hipMemUnmap",),
        "stream_begin_capture": ("hipStreamBeginCapture",),
        "stream_end_capture": ("hipStreamEndCapture",),
        "stream_capture_info": ("hipStreamGetCaptureInfo_v2",),
        "exchange_capture_mode": ("hipThreadExchangeStreamCaptureMode", "hipGetProcAddress"),
        "graph_instantiate": ("hipGraphInstantiateWithFlags",),
        "graph_launch": ("hipGraphLaunch",),
        "graph_set_kernel": ("hipGraphExecKernelNodeSetParams",),
        "graph_set_enabled": ("hipGraphNodeSetEnabled",),
    }
)
"""What the library must have for the session's calls that came with later releases or that AMD has not at all."""
