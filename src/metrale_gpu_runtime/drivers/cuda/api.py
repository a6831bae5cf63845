"""CUDA's driver API by NVIDIA's bindings, `cuda-bindings`: one method, one call, every code read."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

from ...driver import NativeCalls, TensorMapDescription
from ...errors import BackendUnavailable
from ...geometry import Geometry
from ..session.api import ApiError, DriverApi, MissingEntryPoint
from .entry_points import ENTRY_POINTS
from .jit import load_options, read_log
from .launch_config import LaunchConfigs, needs_extended_launch
from .traits import INVALID_VALUE, TRAITS

INSTALL_BINDINGS = 'pip install "metrale-gpu-runtime[cuda13]" (or [cuda12], by the driver\'s major version)'

_CAPTURE_MODES = ("global", "thread_local", "relaxed")
_HOST_ALLOC_FLAGS = 0x01 | 0x02  # CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_DEVICEMAP
_MOST_PLACES = 12
_JIT_LOG_NBYTES = (1 << 16, 1 << 22)

DLPACK_DEVICE, DLPACK_HOST, DLPACK_MANAGED = TRAITS.dlpack_device_type, 3, 13
"""What DLPack calls CUDA's device, page-locked and managed memory."""


def import_bindings() -> Any:
    """The module `cuda.bindings.driver`; it opens libcuda at the first call, not here.

    Raises BackendUnavailable when it is not installed.
    """
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise BackendUnavailable(
            f"cuda: NVIDIA's Python bindings cannot be imported ({error}); {INSTALL_BINDINGS}", backend="cuda"
        ) from error
    return driver


class CudaApi(DriverApi):
    """The CUDA driver (libcuda) of this machine. Raises BackendUnavailable without the bindings or the library."""

    traits = TRAITS

    def __init__(self) -> None:
        self._cuda = driver = import_bindings()
        self._configs = LaunchConfigs(driver)
        self._launch_extended = driver.cuLaunchKernelEx
        self._get_current = driver.cuCtxGetCurrent
        self._has_extended = True
        self._capture_info_with_edges = hasattr(driver, "cuStreamGetCaptureInfo_v3")
        self._modes = tuple(
            getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode.upper()}") for mode in _CAPTURE_MODES
        )

    # ------------------------------------------------ making a call

    def _call(self, name: str, *arguments: object) -> Any:
        """What the call gives beside its code: nothing, one value, or several. Raises ApiError."""
        function = getattr(self._cuda, name, None)
        if function is None:
            raise MissingEntryPoint(name)
        try:
            code, *results = function(*arguments)
        except RuntimeError as error:
            raise _missing(name, error) from error
        except ValueError as error:
            raise _unknown_code(name, error) from error
        if code != 0:
            raise self._error(name, code)
        return results[0] if len(results) == 1 else results

    def _error(self, name: str, code: Any) -> ApiError:
        words = []
        for call in ("cuGetErrorName", "cuGetErrorString"):
            found, text = getattr(self._cuda, call)(code)
            words.append(text.decode() if found == 0 and text else code.name)
        return ApiError(name, int(code), words[0], words[1])

    def provides(self, *calls: str) -> bool:
        for call in calls:
            for entry_point in ENTRY_POINTS[call]:
                if not hasattr(self._cuda, entry_point):
                    return False
                if not self._has(entry_point):
                    return False
        return True

    def _has(self, entry_point: str) -> bool:
        try:
            pointer, _ = self._call("cuGetProcAddress", entry_point.encode(), self.driver_version(), 0)
        except ApiError as error:
            if error.code == TRAITS.not_found_code:
                return False
            raise
        return bool(pointer)

    # ------------------------------------------------ library and devices

    def initialize(self) -> None:
        self._call("cuInit", 0)

    def driver_version(self) -> int:
        return int(self._call("cuDriverGetVersion"))

    def bindings_version(self) -> int:
        """The CUDA version that the bindings were made for: 13050."""
        return int(self._cuda.CUDA_VERSION)

    def device_count(self) -> int:
        return int(self._call("cuDeviceGetCount"))

    def _device(self, device: int) -> Any:
        return self._call("cuDeviceGet", device)

    def device_name(self, device: int) -> str:
        name: bytes = self._call("cuDeviceGetName", 256, self._device(device))
        return name.split(b"\0")[0].decode()

    def total_memory(self, device: int) -> int:
        return int(self._call("cuDeviceTotalMem", self._device(device)))

    def attribute(self, device: int, name: str) -> int:
        attribute = getattr(self._cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name.upper()}", None)
        if attribute is None:
            return 0
        try:
            return int(self._call("cuDeviceGetAttribute", attribute, self._device(device)))
        except ApiError as error:
            # An older driver than the bindings: it does not know the attribute, and the device has not the feature.
            if error.code == INVALID_VALUE:
                return 0
            raise

    def architecture(self, device: int) -> str:
        major, minor = (self.attribute(device, f"compute_capability_{part}") for part in ("major", "minor"))
        return f"sm_{major}{minor}"

    def max_parameter_nbytes(self, device: int) -> int:
        """4096; 32764 on compute capability 7.0 and up from CUDA 12.1 on. Source: CUDA 12.1 release notes."""
        is_volta = self.attribute(device, "compute_capability_major") >= 7
        return 32764 if is_volta and self.driver_version() >= 12010 else 4096

    # ------------------------------------------------ contexts

    def retain_context(self, device: int) -> int:
        return int(self._call("cuDevicePrimaryCtxRetain", self._device(device)))

    def release_context(self, device: int) -> None:
        self._call("cuDevicePrimaryCtxRelease", self._device(device))

    def current_context(self) -> int:
        # Part of every call: without _call's lookup.
        code, context = self._get_current()
        if code != 0:
            raise self._error("cuCtxGetCurrent", code)
        return int(context)

    def push_context(self, context: int) -> None:
        self._call("cuCtxPushCurrent", context)

    def pop_context(self, previous: int) -> None:
        self._call("cuCtxPopCurrent")

    def stream_priority_range(self) -> tuple[int, int]:
        least, most = self._call("cuCtxGetStreamPriorityRange")
        return int(least), int(most)

    # ------------------------------------------------ memory

    def memory_info(self) -> tuple[int, int]:
        free, total = self._call("cuMemGetInfo")
        return int(free), int(total)

    def mem_alloc(self, nbytes: int) -> int:
        return int(self._call("cuMemAlloc", nbytes))

    def mem_alloc_managed(self, nbytes: int) -> int:
        return int(self._call("cuMemAllocManaged", nbytes, self._cuda.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))

    def mem_free(self, address: int) -> None:
        self._call("cuMemFree", address)

    def mem_alloc_async(self, nbytes: int, stream: int) -> int:
        return int(self._call("cuMemAllocAsync", nbytes, stream))

    def mem_free_async(self, address: int, stream: int) -> None:
        self._call("cuMemFreeAsync", address, stream)

    def host_alloc(self, nbytes: int) -> int:
        return int(self._call("cuMemHostAlloc", nbytes, _HOST_ALLOC_FLAGS))

    def host_free(self, address: int) -> None:
        self._call("cuMemFreeHost", address)

    def host_device_pointer(self, address: int) -> int:
        return int(self._call("cuMemHostGetDevicePointer", address, 0))

    def copy_h2d_async(self, dst: int, src: int, nbytes: int, stream: int) -> None:
        self._call("cuMemcpyHtoDAsync", dst, src, nbytes, stream)

    def copy_d2h_async(self, dst: int, src: int, nbytes: int, stream: int) -> None:
        self._call("cuMemcpyDtoHAsync", dst, src, nbytes, stream)

    def copy_d2d_async(self, dst: int, src: int, nbytes: int, stream: int) -> None:
        self._call("cuMemcpyDtoDAsync", dst, src, nbytes, stream)

    def copy_2d_async(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: int
    ) -> None:
        copy = self._cuda.CUDA_MEMCPY2D()
        copy.srcMemoryType = copy.dstMemoryType = self._cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice, copy.srcPitch = src, src_pitch
        copy.dstDevice, copy.dstPitch = dst, dst_pitch
        copy.WidthInBytes, copy.Height = width, height
        self._call("cuMemcpy2DAsync", copy, stream)

    def copy_peer_async(self, dst: int, dst_context: int, src: int, src_context: int, nbytes: int, stream: int) -> None:
        self._call("cuMemcpyPeerAsync", dst, dst_context, src, src_context, nbytes, stream)

    def memset_async(self, dst: int, value: int, width: int, count: int, stream: int) -> None:
        self._call(f"cuMemsetD{8 * width}Async", dst, value, count, stream)

    def can_access_peer(self, device: int, peer: int) -> bool:
        return bool(self._call("cuDeviceCanAccessPeer", self._device(device), self._device(peer)))

    def pointer_device(self, address: int) -> tuple[int, int] | None:
        attributes = self._cuda.CUpointer_attribute
        try:
            kind = self._call("cuPointerGetAttribute", attributes.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)
            is_managed = self._call("cuPointerGetAttribute", attributes.CU_POINTER_ATTRIBUTE_IS_MANAGED, address)
            if kind != self._cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE and not is_managed:
                return DLPACK_HOST, 0
            device = self._call("cuPointerGetAttribute", attributes.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
            return DLPACK_MANAGED if is_managed else DLPACK_DEVICE, int(device)
        except ApiError as error:
            # So the driver says that it has never heard of the address.
            if error.code == INVALID_VALUE:
                return None
            raise

    def enable_peer_access(self, peer_context: int) -> None:
        self._call("cuCtxEnablePeerAccess", peer_context, 0)

    # ------------------------------------------------ virtual memory

    def _location(self, device: int) -> Any:
        location = self._cuda.CUmemLocation()
        location.type = self._cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        location.id = device
        return location

    def _memory_properties(self, device: int) -> Any:
        properties = self._cuda.CUmemAllocationProp()
        properties.type = self._cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location = self._location(device)
        return properties

    def memory_granularity(self, device: int) -> int:
        flag = self._cuda.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        return int(self._call("cuMemGetAllocationGranularity", self._memory_properties(device), flag))

    def address_reserve(self, nbytes: int) -> int:
        return int(self._call("cuMemAddressReserve", nbytes, 0, 0, 0))

    def address_free(self, base: int, nbytes: int) -> None:
        self._call("cuMemAddressFree", base, nbytes)

    def mem_create(self, nbytes: int, device: int) -> int:
        return int(self._call("cuMemCreate", nbytes, self._memory_properties(device), 0))

    def mem_release(self, handle: int) -> None:
        self._call("cuMemRelease", handle)

    def mem_map(self, address: int, nbytes: int, handle: int) -> None:
        self._call("cuMemMap", address, nbytes, 0, handle, 0)

    def mem_set_access(self, address: int, nbytes: int, device: int) -> None:
        access = self._cuda.CUmemAccessDesc()
        access.location = self._location(device)
        access.flags = self._cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        self._call("cuMemSetAccess", address, nbytes, [access], 1)

    def mem_unmap(self, address: int, nbytes: int) -> None:
        self._call("cuMemUnmap", address, nbytes)

    # ------------------------------------------------ streams and events

    def stream_create(self, priority: int) -> int:
        flags = self._cuda.CUstream_flags.CU_STREAM_NON_BLOCKING.value
        return int(self._call("cuStreamCreateWithPriority", flags, priority))

    def stream_destroy(self, stream: int) -> None:
        self._call("cuStreamDestroy", stream)
        self._configs.forget(stream)

    def stream_synchronize(self, stream: int) -> None:
        self._call("cuStreamSynchronize", stream)

    def stream_query(self, stream: int) -> bool:
        return self._is_ready("cuStreamQuery", stream)

    def stream_wait_event(self, stream: int, event: int, external: bool = False) -> None:
        flags = self._cuda.CUevent_wait_flags
        flag = flags.CU_EVENT_WAIT_EXTERNAL if external else flags.CU_EVENT_WAIT_DEFAULT
        self._call("cuStreamWaitEvent", stream, event, flag.value)

    def event_create(self, timing: bool) -> int:
        flags = self._cuda.CUevent_flags
        flag = flags.CU_EVENT_DEFAULT if timing else flags.CU_EVENT_DISABLE_TIMING
        return int(self._call("cuEventCreate", flag.value))

    def event_destroy(self, event: int) -> None:
        self._call("cuEventDestroy", event)

    def event_record(self, event: int, stream: int, external: bool = False) -> None:
        if external:
            flag = self._cuda.CUevent_record_flags.CU_EVENT_RECORD_EXTERNAL
            self._call("cuEventRecordWithFlags", event, stream, flag.value)
        else:
            self._call("cuEventRecord", event, stream)

    def event_synchronize(self, event: int) -> None:
        self._call("cuEventSynchronize", event)

    def event_query(self, event: int) -> bool:
        return self._is_ready("cuEventQuery", event)

    def event_elapsed_ms(self, start: int, end: int) -> float:
        return float(self._call("cuEventElapsedTime", start, end))

    # ------------------------------------------------ capture and graphs

    def stream_begin_capture(self, stream: int, mode: str) -> None:
        self._call("cuStreamBeginCapture", stream, self._modes[_CAPTURE_MODES.index(mode)])

    def stream_end_capture(self, stream: int) -> int:
        return int(self._call("cuStreamEndCapture", stream))

    def stream_capture_info(self, stream: int) -> tuple[int, tuple[int, ...]]:
        # With the edges' data, which a programmatic launch leaves: a query without room for it is refused. CUDA 12's
        # bindings have that form under a name of its own, and drivers before 12.3 have not.
        if self._capture_info_with_edges:
            try:
                status, _, _, nodes, *_ = self._call("cuStreamGetCaptureInfo_v3", stream)
                return int(status), tuple(int(node) for node in nodes or ())
            except MissingEntryPoint:
                self._capture_info_with_edges = False
        status, _, _, nodes, *_ = self._call("cuStreamGetCaptureInfo", stream)
        return int(status), tuple(int(node) for node in nodes or ())

    def exchange_capture_mode(self, mode: str) -> str:
        former = self._call("cuThreadExchangeStreamCaptureMode", self._modes[_CAPTURE_MODES.index(mode)])
        return _CAPTURE_MODES[int(former)]

    def graph_instantiate(self, graph: int) -> int:
        return int(self._call("cuGraphInstantiate", graph, 0))

    def graph_node_count(self, graph: int) -> int:
        return int(self._call("cuGraphGetNodes", graph, 0)[1])

    def graph_destroy(self, graph: int) -> None:
        self._call("cuGraphDestroy", graph)

    def graph_exec_destroy(self, executable: int) -> None:
        self._call("cuGraphExecDestroy", executable)

    def graph_launch(self, executable: int, stream: int) -> None:
        self._call("cuGraphLaunch", executable, stream)

    def graph_set_kernel(self, executable: int, node: int, function: int, geometry: Geometry, parameters: int) -> None:
        described = self._cuda.CUDA_KERNEL_NODE_PARAMS()
        described.func = function
        described.gridDimX, described.gridDimY, described.gridDimZ = geometry.grid.as_tuple()
        described.blockDimX, described.blockDimY, described.blockDimZ = geometry.block.as_tuple()
        described.sharedMemBytes = geometry.shared_mem
        described.kernelParams = parameters
        self._call("cuGraphExecKernelNodeSetParams", executable, node, described)

    def graph_set_enabled(self, executable: int, node: int, enabled: bool) -> None:
        self._call("cuGraphNodeSetEnabled", executable, node, int(enabled))

    # ------------------------------------------------ code

    def module_load(self, data: bytes, options: Sequence[str]) -> int:
        """The JIT compiler's log, where it wrote one, follows the first line of a refusal's text."""
        # Text must end in a zero; binary code has its own length and is not harmed by one more byte.
        image = data + b"\0"
        for nbytes in _JIT_LOG_NBYTES:
            names, values, info, errors = load_options(self._cuda, options, nbytes)
            try:
                return int(self._call("cuModuleLoadDataEx", image, len(names), names, values))
            except ApiError as error:
                log = "\n".join(filter(None, (read_log(errors), read_log(info))))
                is_whole = max(len(read_log(errors)), len(read_log(info))) < nbytes - 1
                if not is_whole and nbytes != _JIT_LOG_NBYTES[-1]:
                    continue
                if log:
                    raise ApiError(error.call, error.code, error.code_name, f"{error.text}\n{log}") from error
                raise
        raise AssertionError("the last room for the log ends the loop")

    def module_unload(self, module: int) -> None:
        self._call("cuModuleUnload", module)

    def module_function(self, module: int, name: str) -> int:
        return int(self._call("cuModuleGetFunction", module, name.encode()))

    def load_function(self, function: int) -> None:
        """From CUDA 12.4 on; a driver without the call, or that does not load lazily, has nothing to do."""
        if not self.provides("load_function"):
            return
        try:
            self._call("cuFuncLoad", function)
        except ApiError as error:
            if error.code not in TRAITS.not_supported_codes:
                raise

    def module_function_names(self, module: int) -> tuple[str, ...] | None:
        try:
            count = int(self._call("cuModuleGetFunctionCount", module))
            functions = self._call("cuModuleEnumerateFunctions", count, module) if count else []
            return tuple(self._call("cuFuncGetName", function).decode() for function in functions)
        except MissingEntryPoint:
            return None

    def module_global(self, module: int, name: str) -> tuple[int, int]:
        address, nbytes = self._call("cuModuleGetGlobal", module, name.encode())
        return int(address), int(nbytes)

    def function_attribute(self, function: int, name: str) -> int:
        attribute = getattr(self._cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name.upper()}", None)
        return int(self._call("cuFuncGetAttribute", attribute, function)) if attribute is not None else 0

    def set_max_dynamic_shared(self, function: int, nbytes: int) -> None:
        attribute = self._cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call("cuFuncSetAttribute", function, attribute, nbytes)

    def allow_large_clusters(self, function: int) -> None:
        attribute = self._cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        self._call("cuFuncSetAttribute", function, attribute, 1)

    def function_parameters(self, function: int) -> tuple[tuple[int, int], ...] | None:
        found: list[tuple[int, int]] = []
        try:
            while True:
                offset, nbytes = self._call("cuFuncGetParamInfo", function, len(found))
                found.append((int(offset), int(nbytes)))
        except MissingEntryPoint:
            return None
        except ApiError as error:
            # That is how the call says that there are no more.
            if error.code == INVALID_VALUE:
                return tuple(found)
            raise

    def max_active_blocks(self, function: int, block_threads: int, shared_mem: int) -> int:
        return int(self._call("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, block_threads, shared_mem))

    def max_cluster_blocks(self, function: int, geometry: Geometry) -> int:
        return int(self._call("cuOccupancyMaxPotentialClusterSize", function, self._configs.get(geometry, 0)))

    # ------------------------------------------------ launch

    def launch(self, function: int, geometry: Geometry, stream: int, parameters: int) -> None:
        if not self._has_extended:
            self._launch_plainly(function, geometry, stream, parameters)
            return
        try:
            (code,) = self._launch_extended(self._configs.get(geometry, stream), function, parameters, 0)
        except RuntimeError as error:
            missing = _missing("cuLaunchKernelEx", error)
            if needs_extended_launch(geometry):
                raise missing from error
            self._has_extended = False
            self._launch_plainly(function, geometry, stream, parameters)
            return
        except ValueError as error:
            raise _unknown_code("cuLaunchKernelEx", error) from error
        if code != 0:
            raise self._error("cuLaunchKernelEx", code)

    def native_error(self, code: int, *, leaving: bool = False) -> ApiError:
        name = "cuCtxPopCurrent" if leaving else "cuLaunchKernelEx" if self._has_extended else "cuLaunchKernel"
        try:
            return self._error(name, self._cuda.CUresult(code))
        except ValueError as error:
            return _unknown_code(name, error)

    def native_calls(self, context: int) -> NativeCalls | None:
        version = self.driver_version()
        names = ("cuLaunchKernelEx", "cuLaunchKernel", "cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent")
        extended, plain, query, enter, leave = (self._address(name, version) for name in names)
        launch = extended or plain
        if not (launch and query and enter and leave):
            return None
        return NativeCalls(launch, bool(extended), query, enter, leave, context, 8, leave_takes_place=True)

    def _address(self, name: str, version: int) -> int:
        """The address of an entry point, 0 for one that this driver has not."""
        try:
            pointer, _ = self._call("cuGetProcAddress", name.encode(), version, 0)
        except (ApiError, MissingEntryPoint):
            return 0
        return int(pointer)

    def _launch_plainly(self, function: int, geometry: Geometry, stream: int, parameters: int) -> None:
        """For drivers before 11.8, which have no cuLaunchKernelEx; nor have their devices what needs it."""
        if needs_extended_launch(geometry):
            raise MissingEntryPoint("cuLaunchKernelEx")
        shape = (*geometry.grid.as_tuple(), *geometry.block.as_tuple(), geometry.shared_mem, stream, parameters)
        if geometry.cooperative:
            self._call("cuLaunchCooperativeKernel", function, *shape)
        else:
            self._call("cuLaunchKernel", function, *shape, 0)

    def encode_tensor_map(self, description: TensorMapDescription) -> bytes:
        cuda, rank = self._cuda, len(description.shape)

        def wide(values: tuple[int, ...]) -> list[Any]:
            return [cuda.cuuint64_t(each) for each in values]

        def narrow(values: tuple[int, ...]) -> list[Any]:
            return [cuda.cuuint32_t(each) for each in values]

        arguments = (
            getattr(cuda.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{description.data_type}"),
            rank,
            description.address,
            wide(description.shape),
            wide(description.strides),
            narrow(description.box),
            narrow(description.element_strides),
            getattr(cuda.CUtensorMapInterleave, f"CU_TENSOR_MAP_INTERLEAVE_{description.interleave}"),
            getattr(cuda.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{description.swizzle}"),
            getattr(cuda.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{description.l2_promotion}"),
            getattr(cuda.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{description.out_of_bounds_fill}"),
        )
        # The driver may want the map at a multiple of 64 (cuda.h), and the bindings make it wherever Python's allocator
        # has room: held maps push the next one on to another place.
        held: list[Any] = []
        while True:
            try:
                return ctypes.string_at(self._call("cuTensorMapEncodeTiled", *arguments).getPtr(), 128)
            except ApiError as error:
                if error.code != INVALID_VALUE or len(held) == _MOST_PLACES:
                    raise
            held.append(cuda.CUtensorMap())


def _missing(name: str, error: RuntimeError) -> MissingEntryPoint:
    """The bindings' RuntimeError for a call that the library has not; any other RuntimeError is raised as it is."""
    if re.search(r"\bcu\w+\"? (is )?not found|Failed to get cu", str(error)):
        return MissingEntryPoint(name)
    raise error


def _unknown_code(name: str, error: ValueError) -> ApiError:
    """A code that a newer driver returned and the bindings have no name for; any other ValueError is raised."""
    found = re.match(r"(\d+) is not a valid CUresult", str(error))
    if found is None:
        raise error
    code = int(found[1])
    return ApiError(name, code, f"CUresult {code}", "a code that these bindings do not know; newer ones may")
