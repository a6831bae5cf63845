"""One open GPU behind a vendor's driver library: the whole contract, for CUDA and HIP alike."""

from __future__ import annotations

from ...capabilities import Capabilities
from ...driver import (
    CodeImage,
    Driver,
    FunctionAttributes,
    LaunchTarget,
    MemoryKind,
    NativeCalls,
    TensorMapDescription,
)
from ...errors import CompileError, ModuleLoadError
from ...geometry import Geometry
from ...handles import EventHandle, GraphHandle, KernelHandle, ModuleHandle, StreamHandle
from ...host_address import address_of
from ...layout import ArgumentLayout
from ..host_memory import host_available_nbytes
from .api import ApiError, DriverApi
from .calls import Calls
from .capabilities import read_capabilities
from .contexts import DeviceContext
from .faults import Faults
from .graphs import Graphs
from .launching import SessionLaunchTarget
from .memory import AddressRanges, Memory, free_bytes
from .modules import Modules
from .streams import Events, Streams


class SessionDriver(Driver):
    """One device of a library that has been initialised. Raises GpuError or DriverFault when it cannot be opened;
    nothing is held then.

    A vendor's room overrides `check_image`, `explain_refusal` or `refused_image`, and `link`, and says what CUDA C is
    compiled for.
    """

    is_linking = False

    def __init__(self, api: DriverApi, device: int) -> None:
        self.name = api.traits.name
        self.device = device
        self._api = api
        self._is_closed = False
        faults = Faults(api.traits, f"{self.name}:{device}")
        try:
            name = api.device_name(device)
            faults = Faults(api.traits, name)
            context = DeviceContext(api, device)
        except ApiError as error:
            raise faults.error(error) from error
        self._calls = Calls(api, context, faults, name)
        try:
            self._streams = Streams(self._calls, name)
            self.capabilities = self._read_capabilities()
            self._memory = Memory(self._calls)
            self._ranges = AddressRanges(self._calls, device)
            self._events = Events(self._calls)
            self._graphs = Graphs(self._calls, self._streams)
            self._modules = Modules(self._calls, name)
            self._streams.open_default()
        except BaseException as error:
            try:
                context.release()
            except ApiError as second:
                error.add_note(f"and the context could not be given back: {second}")
            raise

    def _read_capabilities(self) -> Capabilities:
        return self._calls.ask(
            read_capabilities,
            self._api,
            self.device,
            priorities=self._streams.priorities,
            is_linking=self.is_linking,
            cuda_architecture=self.compile_architecture(),
        )

    # ------------------------------------------------ for a vendor's room

    def compile_architecture(self) -> str | None:
        """What CUDA C is compiled for on this device, None where that is another compiler's affair."""
        return None

    def check_image(self, image: CodeImage) -> None:
        """Raise ModuleLoadError for code that this device cannot load, before the driver is asked."""

    def explain_refusal(self, image: CodeImage) -> str:
        """What is known of code that the driver refused: what it was made for, what the device takes."""
        return ""

    def refused_image(self, image: CodeImage, answer: ApiError, log: str) -> ModuleLoadError:
        """The error for code that the driver refused; `log` is its compiler's, "" where it wrote none."""
        message = (
            f"module {image.name!r}: {self.capabilities.device} refused this {image.format}: {answer.call}: "
            f"{answer.code_name} ({answer.code}): {answer.text}"
        )
        explanation = self.explain_refusal(image)
        if explanation:
            message = f"{message}. {explanation}"
        return CompileError(message, module=image.name, log=log) if log else ModuleLoadError(message, module=image.name)

    def architecture(self) -> str:
        """What machine code of this device is called: "sm_90", "gfx90a:sramecc+:xnack-"."""
        return self._calls.ask(self._api.architecture, self.device)

    @property
    def context(self) -> int:
        """The driver's handle of the context."""
        return self._calls.context.handle

    # ------------------------------------------------ memory

    def alloc(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        return self._memory.alloc(nbytes, kind)

    def free(self, address: int, kind: MemoryKind = MemoryKind.DEVICE) -> None:
        self._memory.free(address, kind)

    def memory_figures(self) -> tuple[int, int]:
        free, total = self._calls.ask(self._api.memory_info)
        is_integrated = self.capabilities.unified_memory
        return free_bytes(free, is_integrated, host_available_nbytes() if is_integrated else None), total

    def device_free_memory(self) -> int:
        return self._calls.ask(self._api.memory_info)[0]

    def alloc_async(self, nbytes: int, stream: StreamHandle) -> int:
        return self._memory.alloc_async(nbytes, self._streams.raw(stream))

    def free_async(self, address: int, stream: StreamHandle) -> None:
        self._memory.free_async(address, self._streams.raw(stream))

    def map_host(self, address: int, nbytes: int) -> int:
        return self._memory.host_device_pointer(address)

    def reserve_addresses(self, nbytes: int) -> tuple[int, int, int]:
        return self._ranges.reserve(nbytes)

    def map_memory(self, address: int, nbytes: int) -> None:
        self._ranges.map(address, nbytes)

    def unmap_memory(self, address: int, nbytes: int) -> None:
        self._ranges.unmap(address, nbytes)

    def release_addresses(self, base: int, nbytes: int) -> None:
        self._ranges.release(base, nbytes)

    def encode_tensor_map(self, description: TensorMapDescription) -> bytes:
        return self._calls.ask(self._api.encode_tensor_map, description)

    # ------------------------------------------------ other devices

    def can_access_peer(self, other: Driver) -> bool:
        assert isinstance(other, SessionDriver)
        if other.device == self.device:
            return True
        return self._calls.ask(self._api.can_access_peer, self.device, other.device)

    def enable_peer_access(self, other: Driver) -> None:
        assert isinstance(other, SessionDriver)
        if other.device != self.device:
            self._calls.ask(self._enable_peer_access, other.context)

    def _enable_peer_access(self, peer_context: int) -> None:
        try:
            self._api.enable_peer_access(peer_context)
        except ApiError as error:
            if error.code != self._api.traits.peer_already_code:
                raise

    def device_of(self, address: int) -> tuple[int, int] | None:
        return self._calls.ask(self._api.pointer_device, address)

    def copy_peer(self, dst: int, src: int, nbytes: int, source: Driver, stream: StreamHandle) -> None:
        assert isinstance(source, SessionDriver)
        raw = self._streams.raw(stream)
        self._calls.queue(raw, self._api.copy_peer_async, dst, self.context, src, source.context, nbytes, raw)

    # ------------------------------------------------ copies and fills

    def copy_h2d(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        raw = self._streams.raw(stream)
        self._calls.queue(raw, self._api.copy_h2d_async, dst, address_of(src), src.nbytes, raw)

    def copy_d2h(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        raw = self._streams.raw(stream)
        self._calls.queue(raw, self._api.copy_d2h_async, address_of(dst), src, dst.nbytes, raw)

    def copy_d2d(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        raw = self._streams.raw(stream)
        self._calls.queue(raw, self._api.copy_d2d_async, dst, src, nbytes, raw)

    def copy_d2d_2d(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        raw = self._streams.raw(stream)
        self._calls.queue(raw, self._api.copy_2d_async, dst, dst_pitch, src, src_pitch, width, height, raw)

    def memset(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        raw = self._streams.raw(stream)
        self._calls.queue(raw, self._api.memset_async, dst, value, width, count, raw)

    # ------------------------------------------------ streams and events

    def create_stream(self, priority: int = 0) -> StreamHandle:
        return self._streams.create(priority)

    def destroy_stream(self, stream: StreamHandle) -> None:
        self._streams.destroy(stream)

    def synchronize(self, stream: StreamHandle) -> None:
        self._streams.synchronize(stream)

    def query_stream(self, stream: StreamHandle) -> bool:
        return self._streams.query(stream)

    def native_stream(self, stream: StreamHandle) -> int:
        return self._streams.raw(stream)

    def native_calls(self) -> NativeCalls | None:
        return self._api.native_calls(self._calls.context.handle)

    def create_event(self, timing: bool = True) -> EventHandle:
        return self._events.create(timing)

    def destroy_event(self, event: EventHandle) -> None:
        self._graphs.forget(event)
        self._events.destroy(event)

    def record_event(self, event: EventHandle, stream: StreamHandle) -> None:
        self._graphs.record(event, stream)

    def wait_event(self, stream: StreamHandle, event: EventHandle) -> None:
        self._graphs.wait(stream, event)

    def synchronize_event(self, event: EventHandle) -> None:
        self._events.synchronize(event)

    def query_event(self, event: EventHandle) -> bool:
        return self._events.query(event)

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        return self._events.elapsed_ms(start, end)

    # ------------------------------------------------ graphs

    def begin_capture(self, stream: StreamHandle, mode: str) -> None:
        self._graphs.begin(stream, mode)

    def captured_nodes(self, stream: StreamHandle) -> tuple[int, ...]:
        return self._graphs.nodes(stream)

    def end_capture(self, stream: StreamHandle) -> GraphHandle:
        return self._graphs.end(stream)

    def abort_capture(self, stream: StreamHandle) -> None:
        self._graphs.abort(stream)

    def node_count(self, graph: GraphHandle) -> int:
        return self._graphs.node_count(graph)

    def update_launch(
        self, graph: GraphHandle, node: int, target: LaunchTarget, image: bytes | bytearray, geometry: Geometry
    ) -> None:
        assert isinstance(target, SessionLaunchTarget)
        kernel = target.kernel
        kernel.allow(geometry)
        # The driver has copied the arguments when its call returns; until then the block must live.
        memory, parameters = target.fill(image)
        self._graphs.update(graph, node, kernel.handle, geometry, parameters)
        del memory

    def launch_graph(self, graph: GraphHandle, stream: StreamHandle, ordinal: int) -> None:
        self._graphs.launch(graph, stream)

    def destroy_graph(self, graph: GraphHandle) -> None:
        self._graphs.destroy(graph)

    # ------------------------------------------------ code

    def load_module(self, image: CodeImage) -> ModuleHandle:
        self.check_image(image)
        return self._modules.load(image, self.refused_image)

    def unload_module(self, module: ModuleHandle) -> None:
        self._modules.unload(module)

    def function_names(self, module: ModuleHandle) -> tuple[str, ...] | None:
        return self._modules.function_names(module)

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        return self._modules.function(module, name)

    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes:
        return self._modules.kernel(kernel).attributes()

    def max_active_blocks(self, kernel: KernelHandle, block_threads: int, shared_mem: int) -> int:
        # The driver counts only up to what the function's launches are allowed.
        self._modules.kernel(kernel).allow(Geometry(shared_mem=shared_mem))
        return self._calls.ask(self._api.max_active_blocks, kernel, block_threads, shared_mem)

    def max_cluster_blocks(self, kernel: KernelHandle, geometry: Geometry) -> int:
        """Large clusters are allowed first: without that the driver counts only up to the portable size."""
        held = self._modules.kernel(kernel)
        held.allow(geometry)
        held.allow_large_clusters()
        return self._calls.ask(self._api.max_cluster_blocks, kernel, geometry)

    def global_symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        return self._modules.symbol(module, name)

    def prepare_launch(self, kernel: KernelHandle, layout: ArgumentLayout) -> LaunchTarget:
        return SessionLaunchTarget(self._calls, self._streams, self._modules.kernel(kernel), layout, self.device)

    # ------------------------------------------------ the end

    def close(self) -> None:
        """Give back what is left, in the order that drivers want, and the context last.

        A code that comes back is one of a context that is gone or of something that its owner has given back already:
        there is nobody to tell, and the rest must still be tried. Calls of other threads come to their end first;
        when one does not, all is left to the process's end. In a forked child it is all the parent's.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if not self._calls.close() or self._calls.is_forked:
            # Ending a context under a thread that is inside of it could end the process.
            return
        for give_back in (
            *self._graphs.leftovers(),
            *self._modules.leftovers(),
            *self._memory.leftovers(),
            *self._ranges.leftovers(),
            *self._events.leftovers(),
            *self._streams.leftovers(),
        ):
            self._calls.quietly(give_back)
        try:
            self._calls.context.release()
        except ApiError as error:
            # Read, and nobody's any more.
            self._calls.faults.error(error)
