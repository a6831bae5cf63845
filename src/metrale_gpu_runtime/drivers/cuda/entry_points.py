"""Which entry points of libcuda a method of the API needs, where a driver may lack them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ENTRY_POINTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "stream_begin_capture": ("cuStreamBeginCapture",),
        "stream_end_capture": ("cuStreamEndCapture",),
        "stream_capture_info": ("cuStreamGetCaptureInfo",),
        "exchange_capture_mode": ("cuThreadExchangeStreamCaptureMode",),
        "graph_instantiate": ("cuGraphInstantiate",),
        "graph_launch": ("cuGraphLaunch",),
        "graph_set_kernel": ("cuGraphExecKernelNodeSetParams",),
        "graph_set_enabled": ("cuGraphNodeSetEnabled",),
        "memory_granularity": ("cuMemGetAllocationGranularity",),
        "address_reserve": ("cuMemAddressReserve",),
        "address_free": ("cuMemAddressFree",),
        "mem_create": ("cuMemCreate",),
        "mem_release": ("cuMemRelease",),
        "mem_map": ("cuMemMap",),
        "mem_set_access": ("cuMemSetAccess",),
        "mem_unmap": ("cuMemUnmap",),
        "mem_alloc_async": ("cuMemAllocAsync",),
        "mem_free_async": ("cuMemFreeAsync",),
        "can_access_peer": ("cuDeviceCanAccessPeer",),
        "enable_peer_access": ("cuCtxEnablePeerAccess",),
        "copy_peer_async": ("cuMemcpyPeerAsync",),
        "encode_tensor_map": ("cuTensorMapEncodeTiled",),
        "load_function": ("cuFuncLoad",),
        "launch_extended": ("cuLaunchKernelEx",),
    }
)
