"""Streams and events: making, waiting, ordering, asking, destroying."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..driver import Driver
from ..errors import CaptureError, EventError, ForeignHandle, NotSupported
from ..handles import StreamHandle
from ..lane import Lane
from ..stream import Event, Stream
from ..trace.site import call_site
from ..whole_numbers import whole
from .copies import CopyCalls

if TYPE_CHECKING:
    from ..backend import GpuBackend
    from ..buffers import DeviceBuffer
    from ..waiting import Waiter
    from .capture import Capture

T = TypeVar("T")


class StreamCalls(CopyCalls):
    """The part of GpuBackend that orders work."""

    _waiter: Waiter | None

    # ------------------------------------------------ streams

    def create_stream(self, priority: int = 0) -> Stream:
        """A new stream, not ordered with any other."""
        self._settle()
        level = whole(priority)
        if level is None:
            raise TypeError(
                f"create_stream: priority is {priority!r}; it is a whole number (0, or lower for more urgent)"
            )
        handle = self._ask(None, self._driver.create_stream, level)
        return Stream(cast("GpuBackend", self), self._open_lane(handle), is_owned=True)

    def destroy_stream(self, stream: Stream) -> None:
        """Wait for a stream's work and destroy it. Raises KernelFault when that work failed; it is destroyed then too.

        Raises HandleClosed for one destroyed already, ValueError for the default stream.
        """
        if self._is_closing:
            self._check_usable()
        lane = self.resolve_stream(stream)._lane
        if lane is self._default_lane:
            raise ValueError("the default stream cannot be destroyed; it goes with its backend")
        if lane.is_foreign:
            raise ValueError(
                f"stream {lane.handle:#x} was not made by this backend and is not its to destroy; destroy it where it "
                "was made, once its work is done"
            )
        if lane.capture is not None:
            self._refuse_while_recording("destroy_stream", lane)
        # First, so that nothing is queued behind the wait.
        lane.shut(f"at {call_site(2)}")
        try:
            if not self.is_lost:
                self._wait_for(lane)
        finally:
            self._settle()
            if lane.is_idle or self.is_lost:
                self._destroy_lane(lane)
            else:
                # The wait itself failed: what is queued still uses its memory. A later call destroys it behind that.
                self._dropped_streams.append(lane)

    def synchronize(self, stream: Stream | int | None = None) -> None:
        """Wait for one stream, or for every stream of this backend when none is given.

        Raises KernelFault when queued work failed, CaptureError inside a capture. With several streams the first
        fault is raised after all were waited for, the others are notes on it.
        """
        if stream is not None:
            lane = self.resolve_stream(stream)._lane
            self._refuse_while_recording("synchronize", lane)
            self._wait_for(lane)
            self._settle()
            return
        self._check_usable()
        lanes = self._lanes_in_order()
        for lane in lanes:
            self._refuse_while_recording("synchronize", lane)
        self._wait_for_all(lanes)
        self._settle()

    def _wait_for_all(self, lanes: list[Lane]) -> None:
        first: Exception | None = None
        for lane in lanes:
            if self.is_lost:
                break
            try:
                self._wait_for(lane)
            except Exception as error:
                if first is None:
                    first = error
                else:
                    first.add_note(f"and on stream {lane.handle}: {error}")
        if first is not None:
            try:
                raise first
            finally:
                del first  # its traceback holds this frame: neither may keep the other
        self._check_usable()

    def stream_query(self, stream: Stream | int | None = None) -> bool:
        """True when the stream has nothing queued or running. Raises KernelFault, CaptureError inside a capture."""
        lane = self.resolve_stream(stream)._lane
        self._refuse_while_recording("stream_query", lane)
        done = self._has_passed(lane)
        self._settle()
        return done

    # ------------------------------------------------ events

    def create_event(self, timing: bool | None = None) -> Event:
        """A new event. `timing` is whether elapsed time can be asked of it: by default where the device can.

        Raises NotSupported when timing is asked for and the device has none.
        """
        if timing and not self._capabilities.event_timing:
            raise NotSupported(
                f"{self._capabilities.backend}: {self._capabilities.device} does not time events; "
                "make it with timing=False",
                backend=self._capabilities.backend,
                feature="event timing",
            )
        has_timing = self._capabilities.event_timing if timing is None else bool(timing)
        self._settle()
        handle = self._ask(None, self._driver.create_event, has_timing)
        self._live_events.add(handle)
        return Event(cast("GpuBackend", self), handle, has_timing)

    def destroy_event(self, event: Event) -> None:
        """Destroy an event; work that waits for it still does. Raises HandleClosed for one destroyed already."""
        site = call_site(2)
        with self._lock:
            self._check_own_event(event)
            event._gone = f"at {site}"
            is_used = event._users > 0
        if not is_used:
            self._destroy_event_handle(event._handle)

    @contextmanager
    def _using(self, event: Event) -> Iterator[None]:
        """Keep an event from being destroyed while the driver is given it; the last user of a destroyed one sees to it.

        Raises as `_check_event`.
        """
        with self._lock:
            self._check_event(event)
            event._users += 1
            self._event_calls += 1
        try:
            yield
        finally:
            with self._lock:
                event._users -= 1
                self._event_calls -= 1
                if event._gone and not event._users:
                    self._dropped_events.append(event._handle)

    def record_event(self, event: Event, stream: Stream | int | None = None) -> None:
        """Record an event at the end of what is queued; a former recording is forgotten."""
        with self._using(event):
            lane = self.resolve_stream(stream)._lane
            recorder = self._recorder_of(lane)
            if recorder is not None:
                recorder.append(RecordedEvent(event, is_wait=False))
                event._recorder = lane.capture.mark if lane.capture is not None else None
                return
            with event._lock:
                before, event._epoch = event._epoch, None
                try:
                    operation = self._queue(
                        lane,
                        lambda handle: self._driver.record_event(event._handle, handle),
                        (),
                        lambda: f"recording of event {event._handle}",
                        kind="record_event",
                    )
                except BaseException:
                    event._epoch = before
                    raise
                assert operation is not None
                event.note_recording(lane, operation.sequence)

    def stream_wait_event(self, stream: Stream | int | None, event: Event) -> None:
        """Let later work of a stream wait for the event's last recording. Raises EventError when it has none.

        Waiting for an event that was recorded in a capture draws the stream into that capture.
        """
        with self._using(event):
            lane = self.resolve_stream(stream)._lane
            capture = event._recorder.capture if event._recorder is not None else None
            if capture is not None and lane.capture is None:
                self._draw_in(capture, event, lane)
                return
            recorder = self._recorder_of(lane)
            if recorder is not None:
                recorder.append(RecordedEvent(event, is_wait=True))
                return
            self._recording(event, "stream_wait_event: event")
            self._wait_for_recording(lane, event)

    def _wait_for_recording(self, lane: Lane, event: Event) -> None:
        """Let a stream wait for an event's last recording that was queued; one in a capture is queued by a replay."""
        capture = event._recorder.capture if event._recorder is not None else None
        if capture is not None and capture.nodes is not None:
            # The driver would take the recording in that capture for what is meant, and draw the stream in.
            raise CaptureError(
                f"stream {lane.handle} cannot wait for what {event!r} marked before it was recorded in the capture "
                f"under way on stream {capture.origin.handle} (since {capture.site}); end that capture first"
            )
        epoch, recorded = event._epoch, event._recorded
        assert recorded is not None
        other, sequence = recorded
        operation = self._queue(
            lane,
            lambda handle: self._driver.wait_event(handle, event._handle),
            (),
            lambda: f"wait for event {event._handle}",
            kind="stream_wait_event",
        )
        assert operation is not None
        if other is not lane and not lane.is_synchronous and event.is_as_of(epoch):
            lane.joins.append((operation.sequence, other, sequence))

    def event_synchronize(self, event: Event) -> None:
        """Wait for an event's last recording. Raises EventError when it has none, KernelFault."""
        with self._using(event):
            epoch = event._epoch
            lane, sequence = self._recording(event, "event_synchronize: event")
            self._refuse_while_recording("event_synchronize")
            self._ask(lane, self._driver.synchronize_event, event._handle)
            # Recorded anew meanwhile, by another thread, the driver may have spoken of that recording.
            if event.is_as_of(epoch):
                lane.reached(sequence)
        self._settle()

    def event_query(self, event: Event) -> bool:
        """True when an event's last recording was reached. Raises EventError when it has none, KernelFault."""
        with self._using(event):
            epoch = event._epoch
            lane, sequence = self._recording(event, "event_query: event")
            done = self._ask(lane, self._driver.query_event, event._handle)
            if done and event.is_as_of(epoch):
                lane.reached(sequence)
        if done:
            self._settle()
        return done

    def event_elapsed_ms(self, start: Event, end: Event) -> float:
        """Milliseconds between two events that were reached.

        Raises EventError, naming the event, when one was not recorded, not reached yet, made without timing, or lies
        behind the other; NotSupported where the device does not time events; ForeignHandle.
        """
        with self._using(start), self._using(end):
            return self._elapsed_ms(start, end)

    def _elapsed_ms(self, start: Event, end: Event) -> float:
        for event, role in ((start, "start"), (end, "end")):
            if not self._capabilities.event_timing:
                raise NotSupported(
                    f"{self._capabilities.backend}: {self._capabilities.device} does not time events",
                    backend=self._capabilities.backend,
                    feature="event timing",
                )
            if not event._has_timing:
                raise EventError(
                    f"event_elapsed_ms: {role} ({event!r}) was made without timing; create_event(timing=True)",
                    event=role,
                )
            self._recording(event, f"event_elapsed_ms: {role}")
            if not self.event_query(event):
                raise EventError(
                    f"event_elapsed_ms: {role} ({event!r}) is not reached yet; wait for it first: event.synchronize()",
                    event=role,
                )
        elapsed_ms = self._ask(None, self._driver.elapsed_ms, start._handle, end._handle)
        if elapsed_ms < 0:
            raise EventError(
                f"event_elapsed_ms: end was reached {-elapsed_ms:g} ms before start; give them in the other order",
                event="end",
            )
        return elapsed_ms

    def _draw_in(self, capture: Capture, event: Event, lane: Lane) -> None:
        """Let a stream belong to the capture in which this event was recorded."""
        if capture.nodes is not None:
            with lane.lock:
                lane.check_open()
                self._ask(lane, self._driver.wait_event, lane.handle, event._handle)
                # From here on the driver captures the stream, whatever the next call says.
                capture.join(lane)
                self._ask(lane, capture.nodes.advance, self._driver, lane)
            return
        capture.join(lane)

    # ------------------------------------------------ waiting without blocking

    def _call_after(self, stream: Stream, function: Callable[[], T]) -> Future[T]:
        lane = self.resolve_stream(stream)._lane
        self._refuse_while_recording("Stream.call", lane)
        event = self.create_event(timing=False)
        self.record_event(event, stream)
        return self._get_waiter().after(event, function)

    def _read_after(self, stream: Stream, buffer: DeviceBuffer) -> Future[Any]:
        array, view = buffer.host_array()
        self.copy_d2h_async(buffer, view, stream)
        return self._call_after(stream, lambda: array)

    def _get_waiter(self) -> Waiter:
        from ..waiting import Waiter

        with self._lock:
            if self._waiter is None:
                self._waiter = Waiter()
            return self._waiter

    # ------------------------------------------------ inside

    def _check_event(self, event: Event) -> None:
        self._check_own_event(event)
        self._check_usable()

    def _check_own_event(self, event: Event) -> None:
        if not isinstance(event, Event):
            raise TypeError(f"an Event of gpu.create_event() is wanted, not {type(event).__name__}")
        if event._gpu is not self:
            raise ForeignHandle(
                f"{event!r} is an event of another backend, the call is for {self._capabilities.device}; "
                "make one with gpu.create_event() there"
            )
        event._check_open()

    def _recording(self, event: Event, what: str) -> tuple[Lane, int]:
        """Its recording: the stream, and its number there.

        `what` begins the message of a refusal and ends in the event's role.
        """
        if event._recorder is not None:
            raise EventError(
                f"{what}: {event!r} was recorded in a capture, so nothing has reached it; "
                "record it on a stream that is not captured",
                event=what.rpartition(" ")[2],
            )
        recorded = event._recorded
        if recorded is None:
            raise EventError(
                f"{what}: {event!r} was never recorded; gpu.record_event(event, stream) first",
                event=what.rpartition(" ")[2],
            )
        return recorded


class RecordedEvent:
    """A recording of an event, or a wait for one, in a capture."""

    __slots__ = ("_event", "_is_wait")

    def __init__(self, event: Event, *, is_wait: bool) -> None:
        self._event, self._is_wait = event, is_wait

    @property
    def allocations(self) -> tuple[()]:
        return ()

    @property
    def producers(self) -> tuple[()]:
        return ()

    def check(self) -> None:
        self._event._check_open()

    def run(self, stream: Stream) -> None:
        if self._is_wait:
            # Within one graph order is that of recording; only an event from outside has to be waited for.
            if stream.gpu.recorder(stream) is not None:
                stream.wait_event(self._event)
            elif self._event.is_recorded:
                stream.gpu._wait_for_recording(stream._lane, self._event)
        else:
            stream.record_event(self._event)

    def submit(self, driver: Driver, stream: StreamHandle) -> None:
        if self._is_wait:
            driver.wait_event(stream, self._event.handle)
        else:
            driver.record_event(self._event.handle, stream)

    def note_replay(self, lane: Lane, sequence: int) -> None:
        """The driver has queued a replay that records the event."""
        if not self._is_wait:
            # It may lie anywhere in the replay: who has waited for it knows only what was queued before.
            self._event.note_recording(lane, sequence - 1)

    def describe(self) -> str:
        return f"{'wait for' if self._is_wait else 'recording of'} event {self._event.handle}"
