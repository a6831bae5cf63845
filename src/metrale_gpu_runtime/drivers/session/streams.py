"""Streams and events: making, ordering, waiting, and what an event means inside a capture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...errors import LimitExceeded
from ...handles import DEFAULT_STREAM, EventHandle, StreamHandle
from .calls import Calls

LEGACY = 1
"""The StreamHandle of the legacy default stream, whatever number the vendor has for it."""


class Streams:
    """One session's streams. Handles are the driver's own, so those of other libraries need no translation.

    Handle 0 is a non-blocking stream of the session's own: it waits for nobody, and nobody for it.
    """

    def __init__(self, calls: Calls, device: str) -> None:
        self._calls, self._api, self._device = calls, calls.api, device
        self._live: dict[int, int] = {}
        self._least, self._most = calls.ask(self._api.stream_priority_range)
        self.default = 0

    @property
    def priorities(self) -> tuple[int, int]:
        """(least urgent, most urgent)."""
        return self._least, self._most

    def open_default(self) -> None:
        """Make the stream that handle 0 stands for."""
        self.default = self._calls.make(self._api.stream_destroy, 0, self._api.stream_create, 0)

    def raw(self, stream: StreamHandle) -> int:
        """The driver's handle of a stream."""
        if stream > LEGACY:
            return stream
        return self._api.traits.legacy_stream if stream == LEGACY else self.default

    def create(self, priority: int) -> StreamHandle:
        if not self._most <= priority <= self._least:
            raise LimitExceeded(
                kernel="create_stream",
                what="priority",
                asked=priority,
                limit=self._most if priority < self._most else self._least,
                device=self._device,
                advice=f"Priorities go from {self._least} (least urgent) to {self._most} (most urgent)",
            )
        with self._calls.whole():
            stream = self._calls.make(self._api.stream_destroy, 0, self._api.stream_create, priority)
            self._live[stream] = priority
        return StreamHandle(stream)

    def destroy(self, stream: StreamHandle) -> None:
        # A foreign stream stays its maker's.
        if stream in self._live:
            self._calls.give_back(self._live, stream, self._api.stream_destroy, stream)

    def synchronize(self, stream: StreamHandle) -> None:
        self._calls.ask(self._api.stream_synchronize, self.raw(stream))

    def query(self, stream: StreamHandle) -> bool:
        return self._calls.ask(self._api.stream_query, self.raw(stream))

    def leftovers(self) -> list[Callable[[], object]]:
        """What destroys every stream that is left, the default one last; off the books then."""
        left = [*self._live, *([self.default] if self.default != DEFAULT_STREAM else [])]
        self._live.clear()
        self.default = 0
        return [partial(self._api.stream_destroy, stream) for stream in left]


class Events:
    """One session's events. Handles are the driver's own."""

    def __init__(self, calls: Calls) -> None:
        self._calls, self._api = calls, calls.api
        self._live: dict[int, bool] = {}

    def create(self, timing: bool) -> EventHandle:
        with self._calls.whole():
            event = self._calls.make(self._api.event_destroy, 0, self._api.event_create, timing)
            self._live[event] = timing
        return EventHandle(event)

    def destroy(self, event: EventHandle) -> None:
        self._calls.give_back(self._live, event, self._api.event_destroy, event)

    def synchronize(self, event: EventHandle) -> None:
        self._calls.ask(self._api.event_synchronize, event)

    def query(self, event: EventHandle) -> bool:
        return self._calls.ask(self._api.event_query, event)

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        return self._calls.ask(self._api.event_elapsed_ms, start, end)

    def leftovers(self) -> list[Callable[[], object]]:
        left = list(self._live)
        self._live.clear()
        return [partial(self._api.event_destroy, event) for event in left]
