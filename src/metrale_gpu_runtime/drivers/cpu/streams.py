"""Streams and events of a device that runs work when it is queued: order is given, faults and times are kept."""

from __future__ import annotations

import itertools
import threading
import time

from ...errors import DriverFault, NotSupported
from ...handles import DEFAULT_STREAM, EventHandle, StreamHandle


class _Pending:
    """A fault that nobody has been told of yet; shared by its stream and the events recorded behind it."""

    __slots__ = ("fault", "told")

    def __init__(self, fault: DriverFault) -> None:
        self.fault = fault
        self.told = False


class _Event:
    __slots__ = ("pending", "time_ns", "timing")

    def __init__(self, timing: bool) -> None:
        self.timing = timing
        self.time_ns = 0
        self.pending: _Pending | None = None


class Streams:
    """The streams of one device. A fault is told once, by the first call on its stream or on an event behind it."""

    def __init__(self) -> None:
        self._handles = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[StreamHandle, _Pending | None] = {DEFAULT_STREAM: None}
        self._events: dict[EventHandle, _Event] = {}

    # ------------------------------------------------ streams

    def create(self) -> StreamHandle:
        handle = StreamHandle(next(self._handles))
        self._pending[handle] = None
        return handle

    def destroy(self, stream: StreamHandle) -> None:
        """Forget the stream and what was not asked of it."""
        self._pending.pop(stream, None)

    def fail(self, stream: StreamHandle, fault: DriverFault) -> None:
        """Keep a fault of work on this stream until somebody asks."""
        self._pending[stream] = _Pending(fault)

    def raise_pending(self, stream: StreamHandle) -> None:
        """Raise the stream's DriverFault, if there is one that was not told yet; the stream is good again then."""
        pending = self._pending[stream]
        if pending is not None:
            self._pending[stream] = None
            self._tell(pending)

    # ------------------------------------------------ events

    def create_event(self, timing: bool) -> EventHandle:
        handle = EventHandle(next(self._handles))
        self._events[handle] = _Event(timing)
        return handle

    def destroy_event(self, event: EventHandle) -> None:
        self._events.pop(event, None)

    def record(self, event: EventHandle, stream: StreamHandle) -> None:
        """The event happens now, behind the stream's work."""
        entry = self._events[event]
        entry.time_ns = time.perf_counter_ns()
        entry.pending = self._pending[stream]

    def wait(self, stream: StreamHandle, event: EventHandle) -> None:
        """Later work of the stream depends on what the event depends on: it does not run after a fault of that."""
        pending = self._events[event].pending
        if pending is not None and not pending.told and self._pending[stream] is None:
            self._pending[stream] = pending

    def raise_event(self, event: EventHandle) -> None:
        """Raise the DriverFault of the work before the event, if it was not told yet."""
        entry = self._events[event]
        pending, entry.pending = entry.pending, None
        if pending is not None:
            for stream, held in list(self._pending.items()):
                if held is pending:
                    self._pending[stream] = None
            self._tell(pending)

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        """Milliseconds between two events. Raises NotSupported for one that was made without timing."""
        for event in (start, end):
            if not self._events[event].timing:
                raise NotSupported(
                    f"cpu: event {event} was created without timing", backend="cpu", feature="event timing"
                )
        return (self._events[end].time_ns - self._events[start].time_ns) / 1e6

    def _tell(self, pending: _Pending) -> None:
        with self._lock:
            told, pending.told = pending.told, True
        if not told:
            raise pending.fault
