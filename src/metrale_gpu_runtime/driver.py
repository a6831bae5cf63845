"""The contract: the small set of calls a backend must answer, each saying what it may assume.

The engine has checked everything that can be foreseen when it calls in here: arguments against the signature,
geometry against limits, pointers against the ledger, handles against their owner, closed things. A driver checks
nothing twice; it reports only what nobody could foresee, and never pretends: what it cannot do raises NotSupported.

Calls may come from any thread; those that name a stream come one at a time per stream. A driver makes whatever
context it needs current by itself and restores what was there. Work on one stream happens in order. All stream
work may be asynchronous; where the driver finds that earlier asynchronous work failed, the call that found it
raises DriverFault.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .capabilities import Capabilities
from .code_cache import NOTHING_KEPT, CodeCache
from .errors import LimitExceeded, NotSupported
from .geometry import Geometry
from .handles import DEFAULT_STREAM, EventHandle, GraphHandle, KernelHandle, ModuleHandle, StreamHandle
from .layout import ArgumentKind, ArgumentLayout


class MemoryKind(enum.Enum):
    """Where an allocation lives."""

    DEVICE = "device"
    MANAGED = "managed"
    PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class CodeImage:
    """Code to be loaded: `format` is one of the driver's Capabilities.code_formats.

    `data` is the code (text encoded in UTF-8, without a terminating zero); `name` is for messages; `options` are
    the caller's, as far as the format knows any; `path` is the file that the code is in, where it is in one.
    """

    name: str
    format: str
    data: bytes
    options: tuple[str, ...] = ()
    path: str | None = None


@dataclass(frozen=True, slots=True)
class CompiledSource:
    """What a driver's own compiler made of source: code for `load_module`, and the symbols of C++ name expressions.

    `compiler` names it with its version, `log` holds its warnings.
    """

    image: CodeImage
    lowered_names: Mapping[str, str] = field(default_factory=dict)
    compiler: str = ""
    log: str = ""


@dataclass(frozen=True, slots=True)
class KernelBinding:
    """One parameter of a kernel whose driver binds arguments one by one, as its reflection tells it.

    `kind` is "buffer" (memory, or a value that the driver puts into memory: nobody can tell them apart), "pointer"
    (memory), "value" or "local". `index` is the place among those of its kind, as the API counts; a launch's arguments
    of a kind go to its bindings by rising index. Where no kind is "buffer", `index` counts all parameters together.
    `access` is "read", "write" or "read-write". `nbytes` and `align` are those of one element of what is behind it,
    `type_name` is its type in the kernel's own language, None for what Metal's reflection only calls a structure.
    `space` is the address space of a pointer in that language ("global", "constant"), where the API tells it.
    """

    kind: str
    index: int
    name: str
    access: str = "read-write"
    nbytes: int | None = None
    align: int | None = None
    type_name: str | None = None
    space: str | None = None


NO_INDEX: Final = -1


@dataclass(frozen=True, slots=True)
class FunctionConstant:
    """A value that a kernel is specialised by: `type_name` in the kernel's own language, `index` as the API counts, or
    NO_INDEX for one that has only a name.

    `required`: the kernel cannot be made without it.
    """

    name: str
    type_name: str
    index: int
    required: bool


@dataclass(frozen=True, slots=True)
class FunctionAttributes:
    """What the driver knows of a loaded kernel; None where it does not.

    `parameters` are (offset, nbytes) pairs where the driver has them (CUDA 12.4 on); `bindings` are the parameters of a
    driver that binds them one by one, in the kernel's order as far as that is known.
    """

    max_threads_per_block: int | None = None
    static_shared_mem: int | None = None
    local_mem: int | None = None
    registers: int | None = None
    required_block: tuple[int, int, int] | None = None
    max_block: tuple[int, int, int] | None = None
    parameters: tuple[tuple[int, int], ...] | None = None
    bindings: tuple[KernelBinding, ...] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TensorMapDescription:
    """A tiled tensor map, checked: what cuTensorMapEncodeTiled takes, under the names of its enums' last words.

    `shape` and `box` are in elements, innermost first; `strides` in bytes, one fewer than `shape` (the innermost is
    contiguous); `element_strides` in elements. `data_type` ("FLOAT16", "16U4_ALIGN8B"), `interleave` ("NONE", "16B",
    "32B"), `swizzle` ("NONE", "32B", "64B", "128B", "128B_ATOM_32B", …), `l2_promotion` ("NONE", "L2_64B", …),
    `out_of_bounds_fill` ("NONE", "NAN_REQUEST_ZERO_FMA").
    """

    address: int
    data_type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    interleave: str = "NONE"
    swizzle: str = "NONE"
    l2_promotion: str = "NONE"
    out_of_bounds_fill: str = "NONE"


@dataclass(frozen=True, slots=True)
class NativeCalls:
    """The addresses of a driver's C calls, for a launch without Python between. All return 0 for success.

    `launch` has the arguments of cuLaunchKernel, or of cuLaunchKernelEx where `is_extended`. `query` writes the
    thread's current context (`context_nbytes` bytes) to the address it is given. Where that is not `context`, `enter`
    is called with it before a launch and `leave` after it: with the address of a place for the context that was left
    where `leave_takes_place`, else with what `query` gave.
    """

    launch: int
    is_extended: bool
    query: int
    enter: int
    leave: int
    context: int
    context_nbytes: int
    leave_takes_place: bool


@dataclass(frozen=True, slots=True)
class NativeForm:
    """How a target's launches are made natively: the driver's function, and where each argument lies in the block.

    The image may be handed over as it is when the block lies at a multiple of `alignment`.
    """

    function: int
    alignment: int


@dataclass(frozen=True, slots=True)
class NativeKernelCalls:
    """The addresses of the C calls of a driver whose kernel objects hold their arguments. All return 0 for success.

    They are OpenCL's: `set_argument` is clSetKernelArg, `enqueue` clEnqueueNDRangeKernel, `flush` clFlush, made after
    the first launch since a wait and every `flush_every`th. `set_pointer` is clSetKernelArgSVMPointer where pointers
    are addresses; it is 0 where they are memory objects: `memory` then has the handle of each by its first address, as
    long as it is allocated.

    `enqueue_recorded` is clEnqueueCommandBufferKHR for what `Driver.record_launches` returned, 0 where that records
    nothing. `ask_recorded` is clGetCommandBufferInfoKHR where a command buffer must not be queued while it is pending,
    0 where it may be.
    """

    set_argument: int
    set_pointer: int
    enqueue: int
    flush: int
    flush_every: int
    memory: dict[int, int] | None = None
    enqueue_recorded: int = 0
    ask_recorded: int = 0


@dataclass(frozen=True, slots=True)
class NativeKernelForm:
    """How a target's launches are made by NativeKernelCalls.

    `function` is a number of the target's own, by which it takes the driver's answer. `indices` are the kernel's
    parameters, one for each argument of the layout; `shared_index` is the one that dynamic shared memory is, if any.
    `make_kernel` makes a kernel object for the calling thread alone: its address, and whoever keeps it.
    """

    function: int
    indices: tuple[int, ...]
    shared_index: int | None
    make_kernel: Callable[[], tuple[int, object]]


class LaunchTarget(ABC):
    """A kernel made ready to be launched with one argument layout. Safe to use from several threads at once."""

    @abstractmethod
    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        """Queue one launch. The image is read before this returns. The grid is not empty.

        `ordinal` is the engine's number of the launch: a DriverFault found later names it where it can. Raises
        DriverError when the driver refuses, DriverFault when it finds an earlier fault (this launch is then not
        queued).
        """

    def submit_using(
        self,
        image: bytes | bytearray,
        geometry: Geometry,
        stream: StreamHandle,
        ordinal: int,
        addresses: tuple[int, ...],
    ) -> None:
        """As `submit`, of a kernel that also reaches the memory at these addresses, which is no argument of it.

        Called instead of `submit` where Capabilities.explicit_residency and the launch has named such memory.
        """
        self.submit(image, geometry, stream, ordinal)

    def native_form(self) -> NativeForm | NativeKernelForm | None:
        """How its launches are made by Driver.native_calls; None where only `submit` can."""
        return None


@dataclass(frozen=True, slots=True)
class LaunchToRecord:
    """A launch as `Driver.record_launches` takes it: what `LaunchTarget.submit` would be given."""

    target: LaunchTarget
    image: bytes | bytearray
    geometry: Geometry


ANY_QUEUE: Final = 0
QUEUE_OF_FIRST_USE: Final = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class RecordedLaunches:
    """Launches that a driver has recorded, to be queued again and again by one `NativeKernelCalls.enqueue_recorded`.

    `use` is an array of three 64-bit numbers that the driver and the launch core share: the command buffer's address,
    which the driver sets to 0 when it may be queued no more; how many calls are using it now, which the core counts;
    and the queue it may be queued on, ANY_QUEUE, or QUEUE_OF_FIRST_USE, in whose place the core puts that. `keeper`
    is whoever lets go of it: while it lives and a call is counted, the command buffer exists.
    """

    use: object
    keeper: object


class Driver(ABC):
    """One open device, as the engine sees it."""

    name: str
    """The backend's name: "cpu", "mock", "cuda"."""

    capabilities: Capabilities

    code_cache: CodeCache = NOTHING_KEPT
    """Where it keeps what its own compilers made when code is loaded or prepared; the engine sets it on opening."""

    # ------------------------------------------------ memory

    @abstractmethod
    def alloc(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        """Reserve `nbytes` (at least 1), aligned to 256, and return its address, never 0.

        Contents are undefined. PINNED memory's address is a host address. Raises OutOfDeviceMemory.
        """

    @abstractmethod
    def free(self, address: int, kind: MemoryKind = MemoryKind.DEVICE) -> None:
        """Give back an allocation that no queued work uses any more. Never raises for a lost context."""

    @abstractmethod
    def memory_figures(self) -> tuple[int, int]:
        """(free, total) bytes of the device. Where it shares the host's memory, free is what could be had of both."""

    def device_free_memory(self) -> int:
        """Bytes that the driver itself reports as free, the host's left out."""
        return self.memory_figures()[0]

    def alloc_async(self, nbytes: int, stream: StreamHandle) -> int:
        """As `alloc`, from the device's pool and in the stream's order: usable by what is queued there afterwards.

        Only called where Capabilities.stream_ordered_memory. Given back with `free_async`, or `free` once idle.
        """
        raise self._lacks("stream-ordered memory")

    def free_async(self, address: int, stream: StreamHandle) -> None:
        """Give back what `alloc_async` returned when the stream has passed what is queued now."""
        raise self._lacks("stream-ordered memory")

    def reserve_addresses(self, nbytes: int) -> tuple[int, int, int]:
        """Reserve an address range without memory behind it: (base, nbytes, granule), sizes rounded up to granules.

        This and the next three are only called where Capabilities.lazy_memory. Raises OutOfDeviceMemory.
        """
        raise self._lacks("lazy memory")

    def map_memory(self, address: int, nbytes: int) -> None:
        """Put memory behind whole granules of a reserved range. On failure nothing of this call stays mapped.

        Raises OutOfDeviceMemory.
        """
        raise self._lacks("lazy memory")

    def unmap_memory(self, address: int, nbytes: int) -> None:
        """Take away what one or several `map_memory` calls put there. Nothing that is queued uses it any more."""
        raise self._lacks("lazy memory")

    def release_addresses(self, base: int, nbytes: int) -> None:
        """Give a reserved range back; nothing in it is mapped."""
        raise self._lacks("lazy memory")

    def can_access_peer(self, other: Driver) -> bool:
        """Whether kernels of this device can read the other's memory; `other` is a driver of the same class."""
        return False

    def enable_peer_access(self, other: Driver) -> None:
        """Let kernels of this device use the other's memory. Fine when it is on already."""
        raise self._lacks("peer access")

    def copy_peer(self, dst: int, src: int, nbytes: int, source: Driver, stream: StreamHandle) -> None:
        """Queue a copy from another device of the same class to this one, on a stream of this one."""
        raise self._lacks("copies between devices")

    def device_of(self, address: int) -> tuple[int, int] | None:
        """The DLPack device (type, index) whose memory an address is, managed and pinned memory by types of their own;
        None where the driver knows no memory.

        Asked of addresses that this engine did not allocate.
        """
        return None

    def encode_tensor_map(self, description: TensorMapDescription) -> bytes:
        """The 128 bytes of a tiled tensor map. The engine has checked the description.

        Only called where Capabilities.tensor_map_encoding. Raises DriverError.
        """
        raise self._lacks("tensor maps")

    def map_host(self, address: int, nbytes: int) -> int:
        """The device address of pinned host memory made by `alloc(PINNED)`."""
        raise NotSupported(
            f"{self.name}: pinned host memory has no device address",
            backend=self.name,
            feature="host_ptr_to_device",
        )

    def lend_host(self, address: int, nbytes: int, writable: bool) -> None:
        """Let kernels use this host memory in place until `return_host`; nested lending counts.

        Only called where Capabilities.host_arrays_are_device_arrays.
        """
        raise NotSupported(
            f"{self.name}: kernels cannot use host memory in place", backend=self.name, feature="host arrays"
        )

    def return_host(self, address: int, nbytes: int) -> None:
        """End one `lend_host` of this address and length."""
        raise NotSupported(
            f"{self.name}: kernels cannot use host memory in place", backend=self.name, feature="host arrays"
        )

    # ------------------------------------------------ copies and fills: queued on the stream, bounds checked

    @abstractmethod
    def copy_h2d(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        """Queue host -> device. `src` is contiguous bytes and is kept alive and unchanged by the caller until done."""

    @abstractmethod
    def copy_d2h(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        """Queue device -> host. `dst` is writable contiguous bytes, kept alive by the caller until done."""

    @abstractmethod
    def copy_d2d(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        """Queue device -> device on this device. The ranges do not overlap."""

    def copy_d2d_2d(
        self,
        dst: int,
        dst_pitch: int,
        src: int,
        src_pitch: int,
        width: int,
        height: int,
        stream: StreamHandle,
    ) -> None:
        """Queue `height` rows of `width` bytes. A device with a pitched copy of its own overrides the row loop."""
        for row in range(height):
            self.copy_d2d(dst + row * dst_pitch, src + row * src_pitch, width, stream)

    @abstractmethod
    def memset(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        """Queue filling `count` elements of `width` bytes (1, 2 or 4) with `value` (unsigned, fits the width)."""

    # ------------------------------------------------ streams and events

    @abstractmethod
    def create_stream(self, priority: int = 0) -> StreamHandle:
        """A new non-blocking stream. Handle 0 is the default stream and always there."""

    @abstractmethod
    def destroy_stream(self, stream: StreamHandle) -> None:
        """Destroy a stream that has no queued work left."""

    @abstractmethod
    def synchronize(self, stream: StreamHandle) -> None:
        """Wait until the stream's queued work is done. Raises DriverFault when it, or older work, failed.

        The wait is over in either case: nothing of what was queued before still runs when this returns or raises.
        """

    @abstractmethod
    def query_stream(self, stream: StreamHandle) -> bool:
        """True when nothing is queued or running. Raises DriverFault. Polling lets queued work make progress."""

    @abstractmethod
    def create_event(self, timing: bool = True) -> EventHandle: ...

    @abstractmethod
    def destroy_event(self, event: EventHandle) -> None: ...

    @abstractmethod
    def record_event(self, event: EventHandle, stream: StreamHandle) -> None:
        """Queue the event at the stream's end; a former recording of it is forgotten.

        On a captured stream it marks the place for waits of the same capture, and every replay records the event.
        """

    @abstractmethod
    def wait_event(self, stream: StreamHandle, event: EventHandle) -> None:
        """Make later work of the stream wait for the event's last recording (it has one).

        On a captured stream: a dependency when the event was recorded in the same capture, else a wait at every
        replay. A stream that waits for an event of a capture is drawn into it.
        """

    @abstractmethod
    def synchronize_event(self, event: EventHandle) -> None:
        """Wait for the event's last recording. Raises DriverFault."""

    @abstractmethod
    def query_event(self, event: EventHandle) -> bool:
        """True when the last recording has been reached. Raises DriverFault."""

    @abstractmethod
    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        """Milliseconds between two events, both reached and both with timing."""

    def native_calls(self) -> NativeCalls | NativeKernelCalls | None:
        """The C calls behind `LaunchTarget.submit`, None where there are none to be had.

        They are made for launches without clusters, attributes and cooperation, with the stream's `native_stream` or
        `native_queue`. What the driver answers to one is handed to `native.take_answer` when it is no success: the same
        launch is then submitted, and raises for it instead of asking the driver.
        """
        return None

    def native_queue(self, stream: StreamHandle) -> tuple[int, object]:
        """The command queue behind a stream for NativeKernelCalls, and an array of two 64-bit numbers that are counted
        up by each launch: commands queued, and launches since the queue was last waited for. The driver counts its own
        there, too, and sets the second to 0.
        """
        raise self._lacks("native launches")

    def record_launches(self, launches: Sequence[LaunchToRecord]) -> RecordedLaunches | None:
        """Record these launches, to be queued together and in this order as often as the engine likes; None where the
        driver cannot, or refuses it: they are then made one by one, and what is wrong with one is said there.

        Asked once for a sequence without slots whose launches are all made by NativeKernelCalls. Raises nothing. When
        memory that they name is given back, or a module of theirs is unloaded, it is queued no more, and must not keep
        that alive.
        """
        return None

    def native_stream(self, stream: StreamHandle) -> int:
        """The handle by which other libraries know this stream. Only called where Capabilities.raw_stream_handles.

        Handles of other libraries' streams are StreamHandles as they are; 1 is the legacy default stream.
        """
        raise self._lacks("raw stream handles")

    # ------------------------------------------------ graphs: only called where Capabilities.graphs

    def begin_capture(self, stream: StreamHandle, mode: str) -> None:
        """Let what is queued on the stream become nodes of a graph. `mode`: "global", "thread_local", "relaxed".

        Until the end every call that names the stream, or one drawn in by an event, adds nodes and runs nothing.
        Other calls of this driver (alloc, load_module, …) go on working, from any thread.
        """
        raise self._lacks("graphs")

    def captured_nodes(self, stream: StreamHandle) -> tuple[int, ...]:
        """The nodes that the stream's next operation would depend on: after a launch, that launch's node alone.

        Raises CaptureError when the capture was invalidated.
        """
        raise self._lacks("graphs")

    def end_capture(self, stream: StreamHandle) -> GraphHandle:
        """End the capture that began on this stream and make a graph that can be launched.

        Streams drawn in need not have been joined again: their work belongs to the graph. Raises CaptureError when the
        capture was invalidated; the stream works again in either case.
        """
        raise self._lacks("graphs")

    def abort_capture(self, stream: StreamHandle) -> None:
        """End a capture, valid or not, and forget it. Raises nothing for a stream that is not captured any more."""
        raise self._lacks("graphs")

    def node_count(self, graph: GraphHandle) -> int:
        """How many nodes a graph has, those of other libraries' calls included."""
        raise self._lacks("graphs")

    def update_launch(
        self, graph: GraphHandle, node: int, target: LaunchTarget, image: bytes | bytearray, geometry: Geometry
    ) -> None:
        """Give a captured launch new arguments and a new grid from the next `launch_graph` on.

        An empty grid switches the node off. Launches of the graph that are queued keep what they had.
        """
        raise self._lacks("graphs")

    def launch_graph(self, graph: GraphHandle, stream: StreamHandle, ordinal: int) -> None:
        """Queue the whole graph. Raises as LaunchTarget.submit does."""
        raise self._lacks("graphs")

    def destroy_graph(self, graph: GraphHandle) -> None:
        """Destroy a graph; launches of it that are queued still run."""
        raise self._lacks("graphs")

    # ------------------------------------------------ code

    def link(self, name: str, images: Sequence[CodeImage], options: Sequence[str] = ()) -> CodeImage:
        """Several inputs made one image that `load_module` takes. Only called where Capabilities.linking.

        Raises CompileError with the linker's log.
        """
        raise self._lacks("linking")

    def linker(self) -> str | None:
        """The linker behind `link` and what it links for, with versions: where this is equal, equal images with equal
        options give equal code. None where that cannot be told; what was linked is not kept then."""
        return None

    def compiler(self) -> str:
        """The compiler behind `compile` and what it compiles for, with versions: where this is equal, equal source with
        equal headers and options gives equal code, and the engine compiles it once. Asked only where `compile` is."""
        raise self._lacks("compiling source")

    def compile(
        self,
        source: CodeImage,
        *,
        path: str | None = None,
        names: Sequence[str] = (),
        folders: Sequence[str] = (),
        debug: bool = False,
    ) -> CompiledSource:
        """Source in one of Capabilities.source_languages, compiled for this device by the vendor's own compiler.

        Only called for languages that the engine does not compile itself, as it does CUDA C for a driver that takes
        PTX. `source.options` are the compiler's; `path` is what messages call the source, `folders` are looked through
        for headers, `names` are C++ name expressions to be instantiated; `debug` asks for debug information, from which
        the engine reads names and types of parameters. Raises CompileError with the log, BackendUnavailable without
        the compiler.
        """
        raise self._lacks(f"compiling {source.format}")

    def select_code(self, image: CodeImage) -> CodeImage:
        """The part that this device runs of an image that holds code for several; any other image as it is.

        Asked before `load_module`, which gets what this returned. Raises ModuleLoadError, naming what is there, when
        nothing in it runs here.
        """
        return image

    @abstractmethod
    def load_module(self, image: CodeImage) -> ModuleHandle:
        """Load code. Raises ModuleLoadError or one of its kinds; nothing stays loaded then."""

    @abstractmethod
    def unload_module(self, module: ModuleHandle) -> None:
        """Unload code that no queued work uses any more."""

    @abstractmethod
    def function_names(self, module: ModuleHandle) -> tuple[str, ...] | None:
        """The kernels of the module, or None where the driver cannot list them."""

    @abstractmethod
    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        """The handle of a kernel: the same for the same (module, name). Raises KernelNotFound (bare: the engine adds
        near matches) or UnsupportedInstruction."""

    def function_constants(self, module: ModuleHandle, name: str) -> tuple[FunctionConstant, ...]:
        """The values that a kernel can be specialised by. Raises KernelNotFound.

        This and the next are only called where Capabilities.function_constants.
        """
        raise self._lacks("function constants")

    def specialised_function(self, module: ModuleHandle, name: str, constants: Mapping[str, bytes]) -> KernelHandle:
        """The handle of a kernel made with these constants, by name, each encoded as its type; the same for equal ones.

        All required ones are there. Raises KernelNotFound, CompileError.
        """
        raise self._lacks("function constants")

    @abstractmethod
    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes: ...

    def max_active_blocks(self, kernel: KernelHandle, block_threads: int, shared_mem: int) -> int:
        """How many blocks of this kernel fit on one multiprocessor."""
        raise NotSupported(f"{self.name}: occupancy is not known here", backend=self.name, feature="occupancy")

    def max_cluster_blocks(self, kernel: KernelHandle, geometry: Geometry) -> int:
        """The largest cluster, in blocks, that this kernel can be launched with at this block and shared memory."""
        return self.capabilities.max_cluster_blocks

    @abstractmethod
    def global_symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        """(address, nbytes) of a module's variable. Raises KernelNotFound."""

    @abstractmethod
    def prepare_launch(self, kernel: KernelHandle, layout: ArgumentLayout) -> LaunchTarget:
        """Make a kernel ready for launches with this layout; may be slow, is kept by the engine."""

    # ------------------------------------------------ the end

    @abstractmethod
    def close(self) -> None:
        """Give everything back. Called once, after all streams were synchronised or the context was lost.
        Never raises, never hangs."""

    def _require_no_priority(self, priority: int, device: str, why: str) -> None:
        """For drivers whose streams have none: LimitExceeded for any but 0; `why` is a sentence without its end."""
        if priority:
            raise LimitExceeded(
                kernel="create_stream",
                what="priority",
                asked=priority,
                limit=0,
                device=device,
                advice=f"{why}; leave it out",
            )

    def _lacks(self, feature: str) -> NotSupported:
        return NotSupported(f"{self.name}: {feature} is not supported here", backend=self.name, feature=feature)


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """What `open_backend` passes on to a driver when it opens it."""

    check: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)

    def require_known(self, backend: str, *names: str) -> None:
        """Raise TypeError for an option of `extra` that is none of these."""
        unknown = sorted(set(self.extra) - set(names))
        if unknown:
            takes = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names) or "none"
            raise TypeError(f"{backend}: unknown options {', '.join(unknown)}; it takes {takes}")


@dataclass(frozen=True, slots=True)
class DeviceListing:
    """One device of a backend as `available_backends()` shows it."""

    backend: str
    index: int
    name: str
    details: Mapping[str, object] = field(default_factory=dict)


class DriverFactory(ABC):
    """How discovery knows a backend: it lists devices and opens one. Importing a factory imports no vendor library."""

    name: str

    @abstractmethod
    def devices(self) -> Sequence[DeviceListing]:
        """The devices here. Raises BackendUnavailable with the reason when there are none."""

    def index_of(self, words: Sequence[str]) -> int:
        """The index of the device that these words mean, which stand behind the backend's name: "1" in "cuda:1".

        Without words it is the first. Raises ValueError for words that name none of this kind of backend's devices,
        BackendUnavailable where the machine has no such device.
        """
        if not words:
            return 0
        if len(words) == 1 and words[0].isdecimal():
            return int(words[0])
        raise ValueError(
            f"{':'.join((self.name, *words))!r} is no backend; write it as {self.name!r} or '{self.name}:1'"
        )

    @abstractmethod
    def open(self, index: int, options: DriverOptions) -> Driver:
        """Open one device. Raises BackendUnavailable."""


__all__ = [
    "ANY_QUEUE",
    "DEFAULT_STREAM",
    "QUEUE_OF_FIRST_USE",
    "ArgumentKind",
    "ArgumentLayout",
    "CodeImage",
    "CompiledSource",
    "DeviceListing",
    "Driver",
    "DriverFactory",
    "DriverOptions",
    "FunctionAttributes",
    "FunctionConstant",
    "KernelBinding",
    "LaunchTarget",
    "LaunchToRecord",
    "MemoryKind",
    "NativeCalls",
    "NativeForm",
    "NativeKernelCalls",
    "NativeKernelForm",
    "RecordedLaunches",
    "TensorMapDescription",
]
