"""Stream, Event and Graph: the objects a user holds. What they do is asked of their backend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from .dlpack import LEGACY_STREAM
from .errors import CaptureError, HandleClosed
from .handles import EventHandle, StreamHandle
from .lane import Lane
from .native import know_stream

if TYPE_CHECKING:
    from .backend import GpuBackend
    from .buffers import DeviceBuffer
    from .calls.capture import CaptureMark
    from .calls.driver_graphs import DriverGraph
    from .memory.allocation import Allocation
    from .prepared import LaunchSequence

T = TypeVar("T")


class _Held:
    """What a user holds of a backend: open until it is destroyed, a context manager that closes it.

    A failure of closing after another one is a note on the first.
    """

    __slots__ = ("__weakref__", "_gpu")

    def __init__(self, gpu: GpuBackend) -> None:
        self._gpu = gpu

    @property
    def gpu(self) -> GpuBackend:
        """The backend it belongs to."""
        return self._gpu

    @property
    def is_open(self) -> bool:
        """False once it was destroyed."""
        return not self._end

    @property
    def _end(self) -> str:
        """Where it was destroyed; "" while it was not."""
        raise NotImplementedError

    @property
    def _title(self) -> str:
        """What a message calls it."""
        raise NotImplementedError

    def close(self) -> None:
        """Destroy it. Nothing for one destroyed already."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            self.close()
        except Exception as second:
            if error is None:
                raise
            error.add_note(f"closing {self._title} failed as well: {second}")

    def _check_open(self) -> None:
        if self._end:
            raise HandleClosed(f"{self._title} was destroyed: {self._end}")


class LegacyStream(int):
    """The handle of the legacy default stream, on which CUDA and HIP programs put work by default."""

    def __repr__(self) -> str:
        return "Stream.legacy"


@know_stream
class Stream(_Held):
    """Work queued in order. Made by `gpu.create_stream()`, or `gpu.default_stream()`.

    `Stream.legacy` stands for the legacy default stream, as a stream argument on CUDA and HIP: it waits for every
    stream that is not non-blocking (ours are), and they for it.

    A context manager that waits for its work and is destroyed at the end of the block. One that is dropped is
    destroyed when its work is done. Safe to share between threads.
    """

    __slots__ = ("_is_owned", "_lane")

    legacy: ClassVar[LegacyStream] = LegacyStream(LEGACY_STREAM)

    def __init__(self, gpu: GpuBackend, lane: Lane, *, is_owned: bool) -> None:
        super().__init__(gpu)
        self._lane, self._is_owned = lane, is_owned

    @property
    def handle(self) -> StreamHandle:
        """The driver's number; 0 is the default stream."""
        return self._lane.handle

    @property
    def native_handle(self) -> int:
        """The handle by which other libraries know it: a CUstream or hipStream_t; never 0, but on HIP for the legacy
        stream. Raises NotSupported where Capabilities.raw_stream_handles is false.
        """
        return self._gpu._native_stream(self._lane)

    @property
    def __cuda_stream__(self) -> Callable[[], tuple[int, int]]:
        """(0, native handle) when called, as libraries ask streams of each other; no attribute elsewhere.

        Source: cuda.core, "Interoperability".
        """
        if not self._gpu.capabilities.raw_stream_handles:
            raise AttributeError(f"streams of {self._gpu.capabilities.backend} are not known to other libraries")
        self._check_open()
        return lambda: (0, self.native_handle)

    @property
    def is_default(self) -> bool:
        """True for the stream that None and 0 stand for."""
        return self._lane.handle == 0

    @property
    def is_capturing(self) -> bool:
        """True between begin_capture and end_capture."""
        return self._lane.capture is not None

    @property
    def _end(self) -> str:
        return self._lane.gone

    @property
    def _title(self) -> str:
        return f"stream {self._lane.handle}"

    def synchronize(self) -> None:
        """Wait until all its work is done. Raises KernelFault when some of it failed, CaptureError in a capture."""
        self._gpu.synchronize(self)

    def query(self) -> bool:
        """True when nothing is queued or running. Raises KernelFault."""
        return self._gpu.stream_query(self)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new one when none is given) at the end of what is queued, and return it."""
        if event is None:
            event = self._gpu.create_event()
        self._gpu.record_event(event, self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let later work wait for the event's last recording."""
        self._gpu.stream_wait_event(self, event)

    def call(self, function: Callable[[], T]) -> Future[T]:
        """Call a function on the engine's own thread once what is queued now is done; a future of its result.

        A fault of the work is the future's exception, and the function is not called then. Do not wait for this
        backend's other futures inside of the function: there is one such thread.
        """
        return self._gpu._call_after(self, function)

    def read(self, buffer: DeviceBuffer) -> Future[Any]:
        """Queue a copy to the host and return a future of the array."""
        return self._gpu._read_after(self, buffer)

    def done(self) -> _Done:
        """`await stream.done()`: resumes when what is queued now is done. Raises KernelFault there."""
        return _Done(self)

    def close(self) -> None:
        """Wait for its work and destroy it. Nothing for the default stream and for one closed already."""
        if self._is_owned and not self._lane.gone:
            self._gpu.destroy_stream(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return self._lane is other._lane

    def __hash__(self) -> int:
        return hash(id(self._lane))

    def __repr__(self) -> str:
        state = f", destroyed: {self._lane.gone}" if self._lane.gone else ", capturing" if self.is_capturing else ""
        return f"<Stream {self._lane.handle} of {self._gpu.capabilities.device}{state}>"

    def __del__(self) -> None:
        # May run in any thread at any moment: only noted here, done by the backend's next call.
        if self._is_owned and not self._lane.gone:
            self._gpu._dropped_streams.append(self._lane)


class _Done:
    """An awaitable that resumes when a stream has come as far as now."""

    __slots__ = ("_future",)

    def __init__(self, stream: Stream) -> None:
        self._future: Future[None] = stream.call(_nothing)

    def __await__(self) -> Generator[Any, None, None]:
        import asyncio

        return asyncio.wrap_future(self._future).__await__()


def _nothing() -> None:
    return None


class Event(_Held):
    """A mark in a stream. Made by `gpu.create_event()`; recorded by `gpu.record_event(event, stream)`.

    A context manager that is destroyed at the end of the block; one that is dropped is destroyed as well.
    """

    __slots__ = ("_epoch", "_gone", "_handle", "_has_timing", "_lock", "_recorded", "_recorder", "_users")

    def __init__(self, gpu: GpuBackend, handle: EventHandle, has_timing: bool) -> None:
        super().__init__(gpu)
        self._handle, self._has_timing = handle, has_timing
        # (stream, number there) of its last recording; the epoch changes with each, and is None while one is made.
        self._recorded: tuple[Lane, int] | None = None
        self._epoch: object | None = object()
        self._lock = threading.Lock()
        # Threads that are giving it to the driver: until they are back it is not destroyed.
        self._users = 0
        self._recorder: CaptureMark | None = None
        self._gone = ""

    @property
    def handle(self) -> EventHandle:
        """The driver's number."""
        return self._handle

    @property
    def has_timing(self) -> bool:
        """Whether elapsed time can be asked of it."""
        return self._has_timing

    @property
    def is_recorded(self) -> bool:
        """True once a stream was told to record it, outside of a capture."""
        return self._recorded is not None

    @property
    def _end(self) -> str:
        return self._gone

    @property
    def _title(self) -> str:
        return f"event {self._handle}"

    def note_recording(self, lane: Lane, sequence: int) -> None:
        """It was recorded behind this operation of a stream; the engine's."""
        self._recorded, self._recorder = (lane, sequence), None
        self._epoch = object()

    def is_as_of(self, epoch: object | None) -> bool:
        """Whether nobody has recorded it since this epoch, or was about to; the engine's."""
        return epoch is not None and self._epoch is epoch

    def record(self, stream: Stream | int | None = None) -> None:
        """Record it at the end of what is queued on a stream; a former recording is forgotten."""
        self._gpu.record_event(self, stream)

    def synchronize(self) -> None:
        """Wait for its last recording. Raises EventError when it has none, KernelFault."""
        self._gpu.event_synchronize(self)

    def query(self) -> bool:
        """True when its last recording was reached. Raises EventError when it has none, KernelFault."""
        return self._gpu.event_query(self)

    def elapsed_ms(self, end: Event) -> float:
        """Milliseconds from this event to `end`. Raises EventError where that means nothing."""
        return self._gpu.event_elapsed_ms(self, end)

    def close(self) -> None:
        """Destroy it. Nothing for one destroyed already."""
        if not self._gone:
            self._gpu.destroy_event(self)

    def __repr__(self) -> str:
        recorded = self._recorded
        where = f"recorded on stream {recorded[0].handle}" if recorded is not None else "not recorded"
        return f"<Event {self._handle} of {self._gpu.capabilities.device}, {self._gone or where}>"

    def __del__(self) -> None:
        if not self._gone:
            self._gpu._dropped_events.append(self._handle)


class Graph(_Held):
    """What a capture recorded, to be run as often as wanted. It holds the memory it names.

    Made by `gpu.end_capture(stream)`. Values of slots are set by name at a launch and remembered.
    """

    __slots__ = ("_driver_graph", "_gone", "_sequence", "name")

    def __init__(
        self, gpu: GpuBackend, sequence: LaunchSequence, name: str, driver_graph: DriverGraph | None = None
    ) -> None:
        super().__init__(gpu)
        self._sequence, self.name = sequence, name
        self._driver_graph = driver_graph
        self._gone = ""

    @property
    def _end(self) -> str:
        return self._gone

    @property
    def _title(self) -> str:
        return self.name

    @property
    def sequence(self) -> LaunchSequence:
        """The operations it runs."""
        self._check_open()
        return self._sequence

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The names that have to be set before it can run."""
        return self.sequence.slot_names

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """The memory it names and holds."""
        return self.sequence.allocations

    def __len__(self) -> int:
        return len(self.sequence.operations)

    def launch(self, stream: Stream | int | None = None, **values: object) -> None:
        """Run it on a stream, slots set by name. Raises as the launches in it do; a fault names graph and node."""
        self._gpu.launch_graph(self, stream, **values)

    def close(self) -> None:
        """Let go of what it holds. Nothing for one destroyed already."""
        if not self._gone:
            self._gpu.destroy_graph(self)

    def __repr__(self) -> str:
        return f"<{self.name}, {self._gone or f'{len(self._sequence.operations)} operations'}>"


class StreamCapture:
    """`with gpu.capture(stream) as capture:` … `capture.graph`: begin_capture and end_capture around a block.

    An exception in the block abandons the capture.
    """

    __slots__ = ("_graph", "_mode", "_stream")

    def __init__(self, stream: Stream, mode: str = "thread_local") -> None:
        self._stream, self._mode = stream, mode
        self._graph: Graph | None = None

    @property
    def graph(self) -> Graph:
        """What was recorded. Raises CaptureError inside the block."""
        if self._graph is None:
            raise CaptureError("the capture is still under way; its graph is there after the `with` block")
        return self._graph

    def __enter__(self) -> StreamCapture:
        self._stream.gpu.begin_capture(self._stream, mode=self._mode)
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self._stream.gpu.abort_capture(self._stream)
        else:
            self._graph = self._stream.gpu.end_capture(self._stream)
