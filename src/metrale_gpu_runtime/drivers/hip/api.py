"""HIP's calls by AMD's bindings, `hip-python`: one method, one call, every code read."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

from ...driver import NativeCalls
from ...errors import BackendUnavailable
from ...geometry import Geometry
from ..session.api import ApiError, DriverApi, MissingEntryPoint
from .attributes import DEVICE_ATTRIBUTES, ENTRY_POINTS, FUNCTION_ATTRIBUTES
from .traits import TRAITS

INSTALL_BINDINGS = 'pip install "metrale-gpu-runtime[hip]"'

# Source: hip_runtime_api.h. The bindings lack these constants.
_EVENT_RECORD_EXTERNAL, _EVENT_WAIT_EXTERNAL = 1, 1
_CAPTURE_MODES = ("global", "thread_local", "relaxed")
_UNNAMED_CODE = -1


def import_bindings() -> tuple[Any, Any]:
    """The modules `hip` and `hiprtc` of the bindings; they open AMD's libraries at the first call, not here.

    Raises BackendUnavailable when they are not installed, or are those before 10.0, whose calls take other arguments.
    """
    try:
        from hip import hip, hiprtc
    except ImportError as error:
        raise BackendUnavailable(
            f"hip: AMD's Python bindings cannot be imported ({error}); {INSTALL_BINDINGS}", backend="hip"
        ) from error
    if not hasattr(hip, "has_symbol"):
        raise BackendUnavailable(
            f"hip: the installed hip-python is older than 10.0, and its calls take other arguments; {INSTALL_BINDINGS} "
            "brings a newer one, which loads the HIP runtime that is installed",
            backend="hip",
        )
    return hip, hiprtc


class HipApi(DriverApi):
    """The HIP runtime (libamdhip64.so) of this machine.

    Device numbers are contexts here: a context is the device's number plus 1, so that 0 is none. Raises
    BackendUnavailable without the bindings, and in `initialize` without the library.
    """

    traits = TRAITS

    def __init__(self) -> None:
        self._hip, _ = import_bindings()
        self._launch = self._hip.hipModuleLaunchKernel
        # HIP goes on reading the image of a loaded module where it lies (FatBinaryInfo copies no uncompressed image).
        self._images: dict[int, bytes] = {}
        self._exchange: Any = None

    # ------------------------------------------------ making a call

    def _call(self, name: str, *arguments: object) -> tuple[Any, ...]:
        """What the call gives beside its code. Raises ApiError."""
        function = getattr(self._hip, name, None)
        if function is None:
            raise MissingEntryPoint(name)
        try:
            code, *results = function(*arguments)
        except RuntimeError as error:
            if "dlsym" in str(error):
                raise MissingEntryPoint(name) from error
            raise
        except ValueError as error:
            raise _unknown_code(name, error) from error
        if code != 0:
            raise self._error(name, code)
        return tuple(results)

    def _error(self, name: str, code: Any) -> ApiError:
        return ApiError(name, int(code), self._words("hipGetErrorName", code), self._words("hipGetErrorString", code))

    def _error_of(self, name: str, code: int) -> ApiError:
        """The error of a call that the bindings did not make."""
        try:
            return self._error(name, self._hip.hipError_t(code))
        except ValueError as error:
            return ApiError(name, code, "unknown code", str(error))

    def _words(self, name: str, code: Any) -> str:
        text = getattr(self._hip, name)(code)[1]
        return str(text.decode() if text is not None else code.name)

    # ------------------------------------------------ library and devices

    def initialize(self) -> None:
        try:
            self._call("hipInit", 0)
        except RuntimeError as error:
            raise BackendUnavailable(
                f"hip: the HIP runtime cannot be loaded ({_readable(error)}); install ROCm, or name its folder in "
                "LD_LIBRARY_PATH",
                backend="hip",
            ) from error

    def driver_version(self) -> int:
        return int(self._call("hipDriverGetVersion")[0])

    def device_count(self) -> int:
        return int(self._call("hipGetDeviceCount")[0])

    def device_name(self, device: int) -> str:
        return str(self._call("hipDeviceGetName", 256, device)[0].decode())

    def total_memory(self, device: int) -> int:
        return int(self._call("hipDeviceTotalMem", device)[0])

    def attribute(self, device: int, name: str) -> int:
        wanted = DEVICE_ATTRIBUTES.get(name)
        values = [self._attribute(device, each) for each in wanted] if wanted else [0]
        return max(values)

    def _attribute(self, device: int, name: str) -> int:
        attribute = getattr(self._hip.hipDeviceAttribute_t, f"hipDeviceAttribute{name}", None)
        return int(self._call("hipDeviceGetAttribute", attribute, device)[0]) if attribute is not None else 0

    def architecture(self, device: int) -> str:
        (properties,) = self._call("hipGetDeviceProperties", device)
        name: str = properties.gcnArchName
        return name

    def provides(self, *calls: str) -> bool:
        return all(self._has(name) for call in calls for name in ENTRY_POINTS.get(call, ()))

    def _has(self, name: str) -> bool:
        return bool(self._hip.has_symbol(name))

    # ------------------------------------------------ contexts: the device's number plus 1

    def retain_context(self, device: int) -> int:
        return device + 1

    def release_context(self, device: int) -> None:
        """Nothing: HIP's devices are there until the process ends."""

    def current_context(self) -> int:
        return int(self._call("hipGetDevice")[0]) + 1

    def push_context(self, context: int) -> None:
        self._call("hipSetDevice", context - 1)

    def pop_context(self, previous: int) -> None:
        self._call("hipSetDevice", previous - 1)

    def stream_priority_range(self) -> tuple[int, int]:
        least, most = self._call("hipDeviceGetStreamPriorityRange")
        return int(least), int(most)

    # ------------------------------------------------ memory

    def memory_info(self) -> tuple[int, int]:
        free, total = self._call("hipMemGetInfo")
        return int(free), int(total)

    def mem_alloc(self, nbytes: int) -> int:
        return _address(self._call("hipMalloc", nbytes)[0])

    def mem_alloc_managed(self, nbytes: int) -> int:
        return _address(self._call("hipMallocManaged", nbytes, self._hip.hipMemAttachGlobal)[0])

    def mem_free(self, address: int) -> None:
        self._call("hipFree", address)

    def mem_alloc_async(self, nbytes: int, stream: int) -> int:
        return _address(self._call("hipMallocAsync", nbytes, stream)[0])

    def mem_free_async(self, address: int, stream: int) -> None:
        self._call("hipFreeAsync", address, stream)

    def host_alloc(self, nbytes: int) -> int:
        flags = self._hip.hipHostMallocPortable | self._hip.hipHostMallocMapped
        return _address(self._call("hipHostMalloc", nbytes, flags)[0])

    def host_free(self, address: int) -> None:
        self._call("hipHostFree", address)

    def host_device_pointer(self, address: int) -> int:
        return _address(self._call("hipHostGetDevicePointer", address, 0)[0])

    def copy_h2d_async(self, dst: int, src: int, nbytes: int, stream: int) -> None:
        self._call("hipMemcpyHtoDAsync", dst, src, nbytes, stream)

    def copy_d2h_async(self, dst: int, src: int, nbytes: int, stream: int) -> None:
        self._call("hipMemcpyDtoHAsync", dst, src, nbytes, stream)

    def copy_d2d_async(self, dst: int, src: int, nbytes: int, stream: int) -> None:
        self._call("hipMemcpyDtoDAsync", dst, src, nbytes, stream)

    def copy_2d_async(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: int
    ) -> None:
        kind = self._hip.hipMemcpyKind.hipMemcpyDeviceToDevice
        self._call("hipMemcpy2DAsync", dst, dst_pitch, src, src_pitch, width, height, kind, stream)

    def copy_peer_async(self, dst: int, dst_context: int, src: int, src_context: int, nbytes: int, stream: int) -> None:
        self._call("hipMemcpyPeerAsync", dst, dst_context - 1, src, src_context - 1, nbytes, stream)

    def memset_async(self, dst: int, value: int, width: int, count: int, stream: int) -> None:
        if width == 4:
            # The 32-bit fill takes a C int, the others unsigned values.
            value = value - 2**32 if value >= 2**31 else value
        self._call(f"hipMemsetD{8 * width}Async", dst, value, count, stream)

    def can_access_peer(self, device: int, peer: int) -> bool:
        return bool(self._call("hipDeviceCanAccessPeer", device, peer)[0])

    def enable_peer_access(self, peer_context: int) -> None:
        self._call("hipDeviceEnablePeerAccess", peer_context - 1, 0)

    # ------------------------------------------------ virtual memory

    def _memory_properties(self, device: int) -> Any:
        properties = self._hip.hipMemAllocationProp()
        properties.type = self._hip.hipMemAllocationType.hipMemAllocationTypePinned
        properties.location.type = self._hip.hipMemLocationType.hipMemLocationTypeDevice
        properties.location.id = device
        return properties

    def memory_granularity(self, device: int) -> int:
        minimum = self._hip.hipMemAllocationGranularity_flags.hipMemAllocationGranularityMinimum
        return int(self._call("hipMemGetAllocationGranularity", self._memory_properties(device), minimum)[0])

    def address_reserve(self, nbytes: int) -> int:
        return _address(self._call("hipMemAddressReserve", nbytes, 0, None, 0)[0])

    def address_free(self, base: int, nbytes: int) -> None:
        self._call("hipMemAddressFree", base, nbytes)

    def mem_create(self, nbytes: int, device: int) -> int:
        return _address(self._call("hipMemCreate", nbytes, self._memory_properties(device), 0)[0])

    def mem_release(self, handle: int) -> None:
        self._call("hipMemRelease", handle)

    def mem_map(self, address: int, nbytes: int, handle: int) -> None:
        self._call("hipMemMap", address, nbytes, 0, handle, 0)

    def mem_set_access(self, address: int, nbytes: int, device: int) -> None:
        access = self._hip.hipMemAccessDesc()
        access.location.type = self._hip.hipMemLocationType.hipMemLocationTypeDevice
        access.location.id = device
        access.flags = self._hip.hipMemAccessFlags.hipMemAccessFlagsProtReadWrite
        self._call("hipMemSetAccess", address, nbytes, access, 1)

    def mem_unmap(self, address: int, nbytes: int) -> None:
        self._call("hipMemUnmap", address, nbytes)

    # ------------------------------------------------ streams and events

    def stream_create(self, priority: int) -> int:
        return _address(self._call("hipStreamCreateWithPriority", self._hip.hipStreamNonBlocking, priority)[0])

    def stream_destroy(self, stream: int) -> None:
        self._call("hipStreamDestroy", stream)

    def stream_synchronize(self, stream: int) -> None:
        self._call("hipStreamSynchronize", stream)

    def stream_query(self, stream: int) -> bool:
        return self._is_ready("hipStreamQuery", stream)

    def stream_wait_event(self, stream: int, event: int, external: bool = False) -> None:
        self._call("hipStreamWaitEvent", stream, event, _EVENT_WAIT_EXTERNAL if external else 0)

    def event_create(self, timing: bool) -> int:
        flags = self._hip.hipEventDefault if timing else self._hip.hipEventDisableTiming
        return _address(self._call("hipEventCreateWithFlags", flags)[0])

    def event_destroy(self, event: int) -> None:
        self._call("hipEventDestroy", event)

    def event_record(self, event: int, stream: int, external: bool = False) -> None:
        if external:
            self._call("hipEventRecordWithFlags", event, stream, _EVENT_RECORD_EXTERNAL)
        else:
            self._call("hipEventRecord", event, stream)

    def event_synchronize(self, event: int) -> None:
        self._call("hipEventSynchronize", event)

    def event_query(self, event: int) -> bool:
        return self._is_ready("hipEventQuery", event)

    def event_elapsed_ms(self, start: int, end: int) -> float:
        return float(self._call("hipEventElapsedTime", start, end)[0])

    # ------------------------------------------------ capture and graphs

    def stream_begin_capture(self, stream: int, mode: str) -> None:
        self._call("hipStreamBeginCapture", stream, self._hip.hipStreamCaptureMode(_CAPTURE_MODES.index(mode)))

    def stream_end_capture(self, stream: int) -> int:
        return _address(self._call("hipStreamEndCapture", stream)[0])

    def stream_capture_info(self, stream: int) -> tuple[int, tuple[int, ...]]:
        nodes = ctypes.c_void_p()
        status, _, _, count = self._call("hipStreamGetCaptureInfo_v2", stream, ctypes.addressof(nodes))
        if not count or not nodes.value:
            return int(status), ()
        array = (ctypes.c_void_p * count).from_address(nodes.value)
        return int(status), tuple(int(each) for each in array)

    def exchange_capture_mode(self, mode: str) -> str:
        """hipThreadExchangeStreamCaptureMode, by its address: the bindings' own form passes no mode in.

        They take the parameter, which is read and written, for an output and hand over what lay in its place.
        """
        if self._exchange is None:
            name = "hipThreadExchangeStreamCaptureMode"
            pointer = self._call("hipGetProcAddress", name.encode(), self.driver_version(), 0)[0]
            if pointer is None:
                raise MissingEntryPoint(name)
            self._exchange = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(_address(pointer))
        value = ctypes.c_int(_CAPTURE_MODES.index(mode))
        code = self._exchange(ctypes.byref(value))
        if code != 0:
            raise self._error_of("hipThreadExchangeStreamCaptureMode", code)
        return _CAPTURE_MODES[value.value]

    def graph_instantiate(self, graph: int) -> int:
        return _address(self._call("hipGraphInstantiateWithFlags", graph, 0)[0])

    def graph_node_count(self, graph: int) -> int:
        return int(self._call("hipGraphGetNodes", graph)[1])

    def graph_destroy(self, graph: int) -> None:
        self._call("hipGraphDestroy", graph)

    def graph_exec_destroy(self, executable: int) -> None:
        self._call("hipGraphExecDestroy", executable)

    def graph_launch(self, executable: int, stream: int) -> None:
        self._call("hipGraphLaunch", executable, stream)

    def graph_set_kernel(self, executable: int, node: int, function: int, geometry: Geometry, parameters: int) -> None:
        described = self._hip.hipKernelNodeParams()
        described.func = function
        for place, extents in ((described.gridDim, geometry.grid), (described.blockDim, geometry.block)):
            place.x, place.y, place.z = extents.as_tuple()
        described.sharedMemBytes = geometry.shared_mem
        described.kernelParams = parameters
        self._call("hipGraphExecKernelNodeSetParams", executable, node, described)

    def graph_set_enabled(self, executable: int, node: int, enabled: bool) -> None:
        self._call("hipGraphNodeSetEnabled", executable, node, int(enabled))

    # ------------------------------------------------ code

    def module_load(self, data: bytes, options: Sequence[str]) -> int:
        """hipModuleLoadData. The bindings' hipModuleLoadDataEx takes its list of options for one output and reads back
        what lay there; a code object knows no options either."""
        module = _address(self._call("hipModuleLoadData", data)[0])
        self._images[module] = data
        return module

    def module_unload(self, module: int) -> None:
        self._call("hipModuleUnload", module)
        self._images.pop(module, None)

    def module_function(self, module: int, name: str) -> int:
        return _address(self._call("hipModuleGetFunction", module, name.encode())[0])

    def module_function_names(self, module: int) -> tuple[str, ...] | None:
        return None

    def module_global(self, module: int, name: str) -> tuple[int, int]:
        pointer, nbytes = self._call("hipModuleGetGlobal", module, name.encode())
        return _address(pointer), int(nbytes)

    def function_attribute(self, function: int, name: str) -> int:
        attribute = FUNCTION_ATTRIBUTES.get(name)
        if attribute is None:
            return 0
        wanted = getattr(self._hip.hipFunction_attribute, f"HIP_FUNC_ATTRIBUTE_{attribute}")
        return int(self._call("hipFuncGetAttribute", wanted, function)[0])

    def set_max_dynamic_shared(self, function: int, nbytes: int) -> None:
        """Nothing: AMD's kernels take all the dynamic shared memory that the device has without being asked to."""

    def function_parameters(self, function: int) -> tuple[tuple[int, int], ...] | None:
        return None

    def max_active_blocks(self, function: int, block_threads: int, shared_mem: int) -> int:
        name = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"
        return int(self._call(name, function, block_threads, shared_mem)[0])

    def max_cluster_blocks(self, function: int, geometry: Geometry) -> int:
        raise MissingEntryPoint("hipOccupancyMaxPotentialClusterSize")

    # ------------------------------------------------ launch

    def launch(self, function: int, geometry: Geometry, stream: int, parameters: int) -> None:
        (gx, gy, gz), (bx, by, bz) = geometry.grid.as_tuple(), geometry.block.as_tuple()
        if geometry.cooperative:
            name = "hipModuleLaunchCooperativeKernel"
            self._call(name, function, gx, gy, gz, bx, by, bz, geometry.shared_mem, stream, parameters)
            return
        # The hot path: without _call's lookup and its packing of results.
        try:
            (code,) = self._launch(function, gx, gy, gz, bx, by, bz, geometry.shared_mem, stream, parameters, None)
        except ValueError as error:
            raise _unknown_code("hipModuleLaunchKernel", error) from error
        if code != 0:
            raise self._error("hipModuleLaunchKernel", code)

    def native_error(self, code: int, *, leaving: bool = False) -> ApiError:
        return self._error_of("hipSetDevice" if leaving else "hipModuleLaunchKernel", code)

    def native_calls(self, context: int) -> NativeCalls | None:
        """The bindings give no addresses: the library is asked for by the very name under which they have loaded it."""
        try:
            from rocm.bindings.util.paths import get_library_path

            library = ctypes.CDLL(os.fsdecode(get_library_path("amdhip64")))
            launch, query, enter = (
                ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
                for name in ("hipModuleLaunchKernel", "hipGetDevice", "hipSetDevice")
            )
        except (ImportError, AttributeError, OSError):
            return None
        return NativeCalls(launch, False, query, enter, enter, context - 1, 4, leave_takes_place=False)


def _address(pointer: Any) -> int:
    """The number of a pointer object of the bindings; they give None for null."""
    return int(pointer) if pointer is not None else 0


def _unknown_code(name: str, error: ValueError) -> ApiError:
    """For a code that the bindings' release does not know: their enum's refusal holds the number."""
    return ApiError(name, _UNNAMED_CODE, "unknown code", str(error))


def _readable(error: RuntimeError) -> str:
    """The loader's message without the marks of the bytes in it."""
    return str(error).replace("b'", "").replace("'", "")
