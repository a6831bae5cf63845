"""Captures and graphs: what the driver records of a stream, and the executable that is launched.

An engine's event is two things inside a capture. Waits of the same capture need a dependency, which only a plain
recording gives; replays must really record the event, which only an external one does (a node). So a captured
recording makes the node and marks a twin event of our own, and waits inside the capture go to the twin.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ...errors import CaptureError
from ...geometry import Geometry
from ...handles import EventHandle, GraphHandle, StreamHandle
from .api import INVALIDATED, NOT_CAPTURING, ApiError
from .calls import Calls, captures_under_way
from .streams import Streams


@dataclass(slots=True)
class _Capture:
    """A capture under way: where it began, the streams drawn in since, and the twin of each event recorded in it."""

    origin: int
    joined: dict[int, None] = field(default_factory=dict)
    twins: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Graph:
    """A graph that can be launched; `template` is what it was made of, whose nodes name those to be updated."""

    template: int
    executable: int
    disabled: set[int] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Graphs:
    """One session's captures and graphs. Safe to use from several threads."""

    def __init__(self, calls: Calls, streams: Streams) -> None:
        self._calls, self._api, self._streams = calls, calls.api, streams
        self._captures: dict[int, _Capture] = {}
        self._live: dict[int, _Graph] = {}
        # What must be destroyed besides: the graphs that executables were made of, and events of our own.
        self._templates: dict[int, int] = {}
        self._own_events: dict[int, int] = {}
        self._lock = threading.Lock()

    # ------------------------------------------------ capture

    def begin(self, stream: StreamHandle, mode: str) -> None:
        raw = self._streams.raw(stream)
        with self._calls.whole():
            self._calls.make(lambda _: self._drop(raw), 0, self._api.stream_begin_capture, raw, mode)
            self._captures[raw] = _Capture(raw)
            captures_under_way.enter()

    def nodes(self, stream: StreamHandle) -> tuple[int, ...]:
        raw = self._streams.raw(stream)
        status, nodes = self._calls.queue(raw, self._api.stream_capture_info, raw)
        if status == INVALIDATED:
            raise CaptureError(
                f"the capture on stream {stream} was invalidated by an earlier call; abort it and capture again"
            )
        return nodes

    def end(self, stream: StreamHandle) -> GraphHandle:
        """Join what was drawn in, end, instantiate. Whatever fails, no capture and no graph is left."""
        with self._calls.whole():
            return self._end(stream)

    def _end(self, stream: StreamHandle) -> GraphHandle:
        raw = self._streams.raw(stream)
        capture = self._captures.get(raw)
        if capture is None:
            raise CaptureError(f"no capture began on stream {stream}")
        try:
            self._join(capture)
            template = self._calls.make(self._api.graph_destroy, 0, self._api.stream_end_capture, raw)
        except BaseException as error:
            self._abandon(raw, error)
            raise
        if not template:
            self._close(raw)
            raise CaptureError(f"the driver gave no graph for the capture on stream {stream}: it was invalidated")
        self._templates[template] = raw
        try:
            self._close(raw)
            executable = self._calls.make(self._api.graph_exec_destroy, 0, self._api.graph_instantiate, template)
        except BaseException as error:
            self._also(error, self._destroy_template, template)
            raise
        self._live[executable] = _Graph(template, executable)
        return GraphHandle(executable)

    def abort(self, stream: StreamHandle) -> None:
        raw = self._streams.raw(stream)
        if raw not in self._captures:
            return
        try:
            self._calls.queue(raw, self._drop, raw)
        except Exception as error:
            self._abandon(raw, error)
            raise
        self._close(raw)

    def _drop(self, raw: int) -> None:
        """End a capture and throw its graph away. What an invalid or unjoined capture answers is of no interest."""
        if self._api.stream_capture_info(raw)[0] == NOT_CAPTURING:
            return
        try:
            template = self._api.stream_end_capture(raw)
        except ApiError as error:
            # Ended all the same, unless another thread has to do it.
            if error.code not in self._api.traits.capture_codes or self._is_capturing(raw):
                raise
            return
        if template:
            self._templates[template] = raw
            self._api.graph_destroy(template)
            del self._templates[template]

    def _is_capturing(self, raw: int) -> bool:
        return self._api.stream_capture_info(raw)[0] != NOT_CAPTURING

    def _join(self, capture: _Capture) -> None:
        """Let the origin wait for every stream that was drawn in: their work belongs to the graph."""
        for raw in capture.joined:
            event = self._make_event()
            # Destroyed with the others when the capture has ended.
            capture.twins[-event] = event
            self._calls.queue(raw, self._api.event_record, event, raw)
            self._calls.queue(capture.origin, self._api.stream_wait_event, capture.origin, event)

    def _abandon(self, raw: int, error: BaseException) -> None:
        """After a failed end: once more, for the stream must work again."""
        try:
            self._calls.queue(raw, self._drop, raw)
        except Exception as second:
            error.add_note(f"and the stream is still being captured: {second}")
            return
        self._also(error, self._close, raw)

    def _close(self, raw: int) -> None:
        """Forget a capture that has ended, and the twins of its events."""
        with self._lock:
            capture = self._captures.pop(raw, None)
        if capture is None:
            return
        captures_under_way.leave()
        for twin in capture.twins.values():
            self._destroy_event(twin)

    def _make_event(self) -> int:
        with self._calls.whole():
            event = self._calls.make(self._api.event_destroy, 0, self._api.event_create, False)
            self._own_events[event] = event
        return event

    def _destroy_event(self, event: int) -> None:
        self._calls.give_back(self._own_events, event, self._api.event_destroy, event)

    # ------------------------------------------------ events

    def record(self, event: EventHandle, stream: StreamHandle) -> None:
        raw = self._streams.raw(stream)
        capture = self._capture_of(raw) if self._captures else None
        if capture is None:
            self.forget(event)
            self._calls.queue(raw, self._api.event_record, event, raw)
            return
        twin = capture.twins.get(event)
        if twin is None:
            twin = capture.twins[event] = self._make_event()
        self._calls.queue(raw, self._api.event_record, event, raw, True)
        self._calls.queue(raw, self._api.event_record, twin, raw)

    def wait(self, stream: StreamHandle, event: EventHandle) -> None:
        raw = self._streams.raw(stream)
        wait = self._api.stream_wait_event
        if not self._captures:
            self._calls.queue(raw, wait, raw, event)
            return
        own = self._capture_of(raw)
        recorded = next((each for each in list(self._captures.values()) if event in each.twins), None)
        if recorded is not None:
            self._calls.queue(raw, wait, raw, recorded.twins[event])
            if own is None:
                recorded.joined[raw] = None
        else:
            self._calls.queue(raw, wait, raw, event, own is not None)

    def _capture_of(self, raw: int) -> _Capture | None:
        found = self._captures.get(raw)
        if found is not None:
            return found
        return next((each for each in list(self._captures.values()) if raw in each.joined), None)

    def forget(self, event: EventHandle) -> None:
        """Forget that an event was recorded in a capture: it is recorded anew, outside, or destroyed."""
        for capture in list(self._captures.values()):
            twin = capture.twins.pop(event, None)
            if twin is not None:
                self._destroy_event(twin)

    # ------------------------------------------------ graphs

    def node_count(self, graph: GraphHandle) -> int:
        return self._calls.ask(self._api.graph_node_count, self._live[graph].template)

    def update(self, graph: GraphHandle, node: int, function: int, geometry: Geometry, parameters: int) -> None:
        """New arguments and a new grid for one node, from the next launch on; an empty grid switches it off."""
        held = self._live[graph]
        with held.lock:
            if geometry.is_empty:
                if node not in held.disabled:
                    self._calls.ask(self._api.graph_set_enabled, held.executable, node, False)
                    held.disabled.add(node)
                return
            self._calls.ask(self._api.graph_set_kernel, held.executable, node, function, geometry, parameters)
            if node in held.disabled:
                self._calls.ask(self._api.graph_set_enabled, held.executable, node, True)
                held.disabled.discard(node)

    def launch(self, graph: GraphHandle, stream: StreamHandle) -> None:
        raw = self._streams.raw(stream)
        self._calls.queue(raw, self._api.graph_launch, self._live[graph].executable, raw)

    def destroy(self, graph: GraphHandle) -> None:
        template = self._live[graph].template
        self._calls.give_back(self._live, graph, self._api.graph_exec_destroy, graph)
        self._destroy_template(template)

    def _destroy_template(self, template: int) -> None:
        self._calls.give_back(self._templates, template, self._api.graph_destroy, template)

    def leftovers(self) -> list[Callable[[], object]]:
        """What ends captures and destroys graphs and events that are left; off the books then."""
        api = self._api
        left: list[Callable[[], object]] = []
        while self._captures:
            left.append(partial(self._drop, self._captures.popitem()[0]))
            captures_under_way.leave()
        left += [partial(api.graph_exec_destroy, each) for each in self._live]
        left += [partial(api.graph_destroy, each) for each in self._templates]
        left += [partial(api.event_destroy, each) for each in self._own_events]
        for books in (self._live, self._templates, self._own_events):
            books.clear()
        return left

    def _also(self, error: BaseException, call: Callable[[int], None], handle: int) -> None:
        try:
            call(handle)
        except Exception as second:
            error.add_note(f"and: {second}")
