"""What the session asks of a vendor's driver library: one method, one call.

Each method makes the one call that its name says, on the context that is current, and returns what the call returns;
a code other than success is raised as ApiError. Nothing is checked, remembered or retried here. Handles and addresses
are plain integers. The bindings below release the interpreter lock around the call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...driver import NativeCalls, TensorMapDescription
from ...geometry import Geometry

NOT_CAPTURING, CAPTURING, INVALIDATED = 0, 1, 2

ATTRIBUTES = (
    "max_threads_per_block",
    "max_block_dim_x",
    "max_block_dim_y",
    "max_block_dim_z",
    "max_grid_dim_x",
    "max_grid_dim_y",
    "max_grid_dim_z",
    "max_shared_memory_per_block",
    "max_shared_memory_per_block_optin",
    "max_registers_per_block",
    "warp_size",
    "multiprocessor_count",
    "compute_capability_major",
    "compute_capability_minor",
    "integrated",
    "managed_memory",
    "can_map_host_memory",
    "pageable_memory_access",
    "memory_pools_supported",
    "virtual_memory_management_supported",
    "cooperative_launch",
    "cluster_launch",
    "tensor_map_access_supported",
    "mem_sync_domain_count",
)
"""What the session asks of a device: cuda.h's words without CU_DEVICE_ATTRIBUTE_, in lower case."""


class ApiError(Exception):
    """A call that returned another code than success. `code` is the vendor's number, `code_name` its name for it."""

    def __init__(self, call: str, code: int, code_name: str, text: str) -> None:
        self.call, self.code, self.code_name, self.text = call, code, code_name, text
        super().__init__(f"{call}: {code_name} ({code}): {text}")


class MissingEntryPoint(ApiError):
    """The library on this machine has no such call; it came with a later driver."""

    def __init__(self, call: str) -> None:
        super().__init__(call, -1, "missing entry point", "the driver on this machine does not have this call")


@dataclass(frozen=True, slots=True)
class Traits:
    """What differs between the vendors beyond the names of their calls.

    `sticky_codes` are those after which the context is lost; `code_formats` and `source_languages` are those of
    Capabilities; `max_threads_per_launch` the vendor's bound on grid times block; `legacy_stream` the handle of the
    legacy default stream; `peer_already_code` means that peer access is on already. What depends on the device and the
    driver, the parameter block's limit say, is asked of the DriverApi.
    """

    name: str
    code_formats: tuple[str, ...]
    source_languages: tuple[str, ...]
    sticky_codes: frozenset[int]
    out_of_memory_codes: frozenset[int]
    not_found_code: int
    not_ready_code: int
    not_supported_codes: frozenset[int]
    deinitialized_codes: frozenset[int]
    capture_codes: frozenset[int]
    max_threads_per_launch: int | None
    dlpack_device_type: int
    legacy_stream: int = 1
    peer_already_code: int = 704
    has_clusters: bool = True
    has_launch_attributes: bool = True


class DriverApi(ABC):
    """One vendor's driver library. Attribute names are those of `ATTRIBUTES`; a room translates them."""

    traits: Traits

    # ------------------------------------------------ library and devices: no context needed

    @abstractmethod
    def initialize(self) -> None:
        """cuInit(0) / hipInit(0)."""

    @abstractmethod
    def driver_version(self) -> int:
        """cuDriverGetVersion / hipDriverGetVersion."""

    @abstractmethod
    def device_count(self) -> int: ...

    @abstractmethod
    def device_name(self, device: int) -> str: ...

    @abstractmethod
    def total_memory(self, device: int) -> int: ...

    @abstractmethod
    def attribute(self, device: int, name: str) -> int:
        """cuDeviceGetAttribute by the session's name ("max_block_dim_x"). 0 for one that the vendor has not."""

    @abstractmethod
    def architecture(self, device: int) -> str:
        """What code is compiled for: "sm_90", "gfx90a:sramecc+:xnack-"."""

    def provides(self, *calls: str) -> bool:
        """Whether the library of this machine has what these methods of this class call. Asked once, when opening.

        "launch_extended" is `launch` with clusters and attributes.
        """
        return True

    def max_parameter_nbytes(self, device: int) -> int:
        """The limit on a kernel's parameters in all."""
        return 4096

    # ------------------------------------------------ contexts

    @abstractmethod
    def retain_context(self, device: int) -> int:
        """cuDevicePrimaryCtxRetain. HIP, whose devices are their own contexts, returns device + 1."""

    @abstractmethod
    def release_context(self, device: int) -> None: ...

    @abstractmethod
    def current_context(self) -> int:
        """cuCtxGetCurrent; 0 for none. HIP: hipGetDevice, plus 1."""

    @abstractmethod
    def push_context(self, context: int) -> None:
        """cuCtxPushCurrent. HIP: hipSetDevice; what was there is given to `pop_context`."""

    @abstractmethod
    def pop_context(self, previous: int) -> None:
        """cuCtxPopCurrent. HIP: hipSetDevice back to `previous`."""

    @abstractmethod
    def stream_priority_range(self) -> tuple[int, int]:
        """(least urgent, most urgent)."""

    # ------------------------------------------------ memory

    @abstractmethod
    def memory_info(self) -> tuple[int, int]:
        """(free, total)."""

    @abstractmethod
    def mem_alloc(self, nbytes: int) -> int: ...

    @abstractmethod
    def mem_alloc_managed(self, nbytes: int) -> int: ...

    @abstractmethod
    def mem_free(self, address: int) -> None: ...

    @abstractmethod
    def mem_alloc_async(self, nbytes: int, stream: int) -> int: ...

    @abstractmethod
    def mem_free_async(self, address: int, stream: int) -> None: ...

    @abstractmethod
    def host_alloc(self, nbytes: int) -> int:
        """Page-locked, portable, mapped."""

    @abstractmethod
    def host_free(self, address: int) -> None: ...

    @abstractmethod
    def host_device_pointer(self, address: int) -> int: ...

    @abstractmethod
    def copy_h2d_async(self, dst: int, src: int, nbytes: int, stream: int) -> None: ...

    @abstractmethod
    def copy_d2h_async(self, dst: int, src: int, nbytes: int, stream: int) -> None: ...

    @abstractmethod
    def copy_d2d_async(self, dst: int, src: int, nbytes: int, stream: int) -> None: ...

    @abstractmethod
    def copy_2d_async(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: int
    ) -> None: ...

    @abstractmethod
    def copy_peer_async(
        self, dst: int, dst_context: int, src: int, src_context: int, nbytes: int, stream: int
    ) -> None: ...

    @abstractmethod
    def memset_async(self, dst: int, value: int, width: int, count: int, stream: int) -> None:
        """cuMemsetD8Async, D16, D32 by `width` 1, 2, 4."""

    @abstractmethod
    def can_access_peer(self, device: int, peer: int) -> bool: ...

    def pointer_device(self, address: int) -> tuple[int, int] | None:
        """Whose memory an address is (cuPointerGetAttribute), as DLPack has it: device, managed or page-locked memory;
        None for what the driver does not know."""
        return None

    @abstractmethod
    def enable_peer_access(self, peer_context: int) -> None:
        """From the current context. Raises ApiError when it is on already, as the vendor does."""

    # ------------------------------------------------ virtual memory

    @abstractmethod
    def memory_granularity(self, device: int) -> int: ...

    @abstractmethod
    def address_reserve(self, nbytes: int) -> int: ...

    @abstractmethod
    def address_free(self, base: int, nbytes: int) -> None: ...

    @abstractmethod
    def mem_create(self, nbytes: int, device: int) -> int: ...

    @abstractmethod
    def mem_release(self, handle: int) -> None: ...

    @abstractmethod
    def mem_map(self, address: int, nbytes: int, handle: int) -> None: ...

    @abstractmethod
    def mem_set_access(self, address: int, nbytes: int, device: int) -> None: ...

    @abstractmethod
    def mem_unmap(self, address: int, nbytes: int) -> None: ...

    # ------------------------------------------------ streams and events

    @abstractmethod
    def stream_create(self, priority: int) -> int:
        """A non-blocking stream."""

    @abstractmethod
    def stream_destroy(self, stream: int) -> None: ...

    @abstractmethod
    def stream_synchronize(self, stream: int) -> None: ...

    @abstractmethod
    def stream_query(self, stream: int) -> bool:
        """False for "not ready"."""

    @abstractmethod
    def _call(self, name: str, *arguments: object) -> Any:
        """Make the vendor's call of this name; what it gives beside its code. Raises ApiError."""

    def _is_ready(self, name: str, handle: int) -> bool:
        """The answer of a query: that it is not ready is no error."""
        try:
            self._call(name, handle)
        except ApiError as error:
            if error.code == self.traits.not_ready_code:
                return False
            raise
        return True

    @abstractmethod
    def stream_wait_event(self, stream: int, event: int, external: bool = False) -> None:
        """`external`: inside a capture a node that waits, at every replay, for an event recorded outside of it."""

    @abstractmethod
    def event_create(self, timing: bool) -> int: ...

    @abstractmethod
    def event_destroy(self, event: int) -> None: ...

    @abstractmethod
    def event_record(self, event: int, stream: int, external: bool = False) -> None:
        """`external`: inside a capture a node that records the event at every replay, not a dependency."""

    @abstractmethod
    def event_synchronize(self, event: int) -> None: ...

    @abstractmethod
    def event_query(self, event: int) -> bool: ...

    @abstractmethod
    def event_elapsed_ms(self, start: int, end: int) -> float: ...

    # ------------------------------------------------ capture and graphs

    @abstractmethod
    def stream_begin_capture(self, stream: int, mode: str) -> None:
        """`mode`: "global", "thread_local", "relaxed"."""

    @abstractmethod
    def stream_end_capture(self, stream: int) -> int:
        """The graph."""

    @abstractmethod
    def stream_capture_info(self, stream: int) -> tuple[int, tuple[int, ...]]:
        """(NOT_CAPTURING, CAPTURING or INVALIDATED; the nodes the next operation would depend on)."""

    @abstractmethod
    def exchange_capture_mode(self, mode: str) -> str:
        """cuThreadExchangeStreamCaptureMode: set this thread's mode, return what it was."""

    @abstractmethod
    def graph_instantiate(self, graph: int) -> int: ...

    @abstractmethod
    def graph_node_count(self, graph: int) -> int: ...

    @abstractmethod
    def graph_destroy(self, graph: int) -> None: ...

    @abstractmethod
    def graph_exec_destroy(self, executable: int) -> None: ...

    @abstractmethod
    def graph_launch(self, executable: int, stream: int) -> None: ...

    @abstractmethod
    def graph_set_kernel(self, executable: int, node: int, function: int, geometry: Geometry, parameters: int) -> None:
        """cuGraphExecKernelNodeSetParams; `parameters` is the address of the array of argument addresses."""

    @abstractmethod
    def graph_set_enabled(self, executable: int, node: int, enabled: bool) -> None: ...

    # ------------------------------------------------ code

    @abstractmethod
    def module_load(self, data: bytes, options: Sequence[str]) -> int:
        """cuModuleLoadDataEx. Raises ApiError whose `text` holds the JIT compiler's whole log where there is one."""

    @abstractmethod
    def module_unload(self, module: int) -> None: ...

    @abstractmethod
    def module_function(self, module: int, name: str) -> int: ...

    def load_function(self, function: int) -> None:
        """Bring a kernel's code to the device now, where the driver would do so at its first launch (cuFuncLoad)."""
        return

    @abstractmethod
    def module_function_names(self, module: int) -> tuple[str, ...] | None:
        """None where the driver cannot list them (CUDA before 12.4, HIP)."""

    @abstractmethod
    def module_global(self, module: int, name: str) -> tuple[int, int]: ...

    @abstractmethod
    def function_attribute(self, function: int, name: str) -> int:
        """cuFuncGetAttribute: "max_threads_per_block", "shared_size_bytes", "local_size_bytes", "num_regs",
        "max_dynamic_shared_size_bytes", "binary_version", "ptx_version". 0 for one the vendor has not."""

    @abstractmethod
    def set_max_dynamic_shared(self, function: int, nbytes: int) -> None: ...

    @abstractmethod
    def function_parameters(self, function: int) -> tuple[tuple[int, int], ...] | None:
        """(offset, nbytes) of each parameter; None where the driver cannot tell (CUDA before 12.4, HIP)."""

    def allow_large_clusters(self, function: int) -> None:
        """Let the function be launched with clusters over the portable 8 blocks (cuFuncSetAttribute)."""
        raise MissingEntryPoint("allow_large_clusters")

    @abstractmethod
    def max_active_blocks(self, function: int, block_threads: int, shared_mem: int) -> int: ...

    @abstractmethod
    def max_cluster_blocks(self, function: int, geometry: Geometry) -> int:
        """cuOccupancyMaxPotentialClusterSize."""

    # ------------------------------------------------ launch

    @abstractmethod
    def launch(self, function: int, geometry: Geometry, stream: int, parameters: int) -> None:
        """cuLaunchKernelEx / hipModuleLaunchKernel with all of the geometry's attributes.

        `parameters` is the address of an array of addresses, one for each argument, or 0 for none.
        """

    def native_error(self, code: int, *, leaving: bool = False) -> ApiError:
        """What `launch` (or `pop_context`) raises for a code that the driver gave to the call behind it."""
        raise MissingEntryPoint("native_error")

    def native_calls(self, context: int) -> NativeCalls | None:
        """The addresses of what `launch` and `current_context` call; None where they cannot be had."""
        return None

    def encode_tensor_map(self, description: TensorMapDescription) -> bytes:
        """cuTensorMapEncodeTiled: the map's 128 bytes."""
        raise MissingEntryPoint("encode_tensor_map")
