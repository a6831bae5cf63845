"""Capturing a stream into a graph, replaying it, and recording sequences.

Everything goes by recording and replaying; a driver with graphs of its own may run a recorded sequence faster.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from ..errors import CaptureError, ForeignHandle, KernelFault
from ..lane import Lane
from ..memory.allocation import Allocation
from ..prepared import LaunchSequence
from ..stream import Graph, Stream, StreamCapture
from ..trace.site import call_site
from .queueing import QueueingCalls

if TYPE_CHECKING:
    from ..backend import GpuBackend

_numbers = itertools.count(1)


class Capture:
    """A capture under way: where it began, the streams it drew in, what it has recorded."""

    __slots__ = ("lanes", "origin", "sequence", "site", "thread_captures")

    def __init__(self, origin: Lane, sequence: LaunchSequence, site: str, thread_captures: list[Capture]) -> None:
        self.origin, self.sequence, self.site = origin, sequence, site
        self.lanes = [origin]
        self.thread_captures = thread_captures

    @property
    def allocations(self) -> Iterable[Allocation]:
        return self.sequence.allocations

    def join(self, lane: Lane) -> None:
        """Draw another stream in: it waited for an event of this capture."""
        lane.capture = self
        self.lanes.append(lane)


class CaptureCalls(QueueingCalls):
    """The part of GpuBackend that records and replays."""

    def begin_capture(self, stream: Stream | int | None = None) -> None:
        """Record what is queued on `stream` from now on, instead of running it, until `end_capture`.

        Calls that wait for the device raise CaptureError in this thread until then, and on the captured stream in any
        thread. Memory dropped meanwhile is given back after the end. Raises CaptureError when it is captured already.
        """
        lane = self.resolve_stream(stream)._lane
        self._check_usable()
        self._refuse_nested(lane)
        captures = self._thread_captures()
        capture = Capture(lane, LaunchSequence(cast("GpuBackend", self)), call_site(2), captures)
        self._in_flight.hold()
        lane.capture = capture
        self._captures.append(capture)
        captures.append(capture)

    def end_capture(self, stream: Stream | int | None = None) -> Graph:
        """End a capture and return what it recorded. Raises CaptureError when the stream is not its origin."""
        capture = self._capture_of(self.resolve_stream(stream)._lane, "end_capture")
        self._close_capture(capture)
        return Graph(cast("GpuBackend", self), capture.sequence, f"graph {next(_numbers)}")

    def abort_capture(self, stream: Stream | int | None = None) -> None:
        """End a capture, if there is one on the stream, and forget what it recorded."""
        lane = self.resolve_stream(stream)._lane
        if lane.capture is not None:
            capture = lane.capture
            self._close_capture(capture)
            capture.sequence.close()

    def capture(self, stream: Stream | int | None = None) -> StreamCapture:
        """begin_capture and end_capture around a `with` block; the graph is `capture.graph` afterwards."""
        return StreamCapture(self.resolve_stream(stream))

    def stream_is_capturing(self, stream: Stream | int | None = None) -> bool:
        """True between begin_capture and end_capture."""
        return self.resolve_stream(stream)._lane.capture is not None

    def launch_graph(self, graph: Graph, stream: Stream | int | None = None, **values: object) -> None:
        """Run a graph on a stream, slots set by name. A fault under debug sync names the graph and the node.

        Raises ForeignHandle for a graph of another backend, HandleClosed for a destroyed one.
        """
        self._check_graph(graph)
        on = self.resolve_stream(stream)
        before = on._lane.issued
        try:
            graph.sequence(stream=on, **values)
        except KernelFault as fault:
            node = self._node_of(fault, graph, before)
            fault.add_note(f"while running {node} of {graph.name}" if node else f"while running {graph.name}")
            raise

    def destroy_graph(self, graph: Graph) -> None:
        """Let go of what a graph holds; replays queued already are not touched. HandleClosed when destroyed already."""
        self._check_graph(graph)
        graph._gone = f"destroyed at {call_site(2)}"
        graph._sequence.close()
        self._settle()

    # ------------------------------------------------ sequences

    def sequence(self) -> LaunchSequence:
        """`with gpu.sequence() as step:` records the launches, copies and fills that this thread makes inside."""
        self._check_usable()
        return LaunchSequence(cast("GpuBackend", self))

    def begin_sequence(self, sequence: LaunchSequence) -> None:
        """Record what this thread queues from now on. The engine's; use `with gpu.sequence()`."""
        sequences = self._threads.__dict__.setdefault("sequences", [])
        if self._thread_captures():
            raise CaptureError("this thread is capturing a stream; end the capture before recording a sequence")
        if sequences:
            raise CaptureError("this thread is recording a sequence already; call the inner one after its own block")
        self._in_flight.hold()
        sequences.append(sequence)

    def end_sequence(self, sequence: LaunchSequence) -> None:
        """End what `begin_sequence` began."""
        sequences: list[LaunchSequence] = self._threads.__dict__.get("sequences", [])
        if sequence not in sequences:
            raise CaptureError("this thread is not recording that sequence; leave its block in the thread that entered")
        sequences.remove(sequence)
        self._in_flight.release()

    # ------------------------------------------------ inside

    def _thread_captures(self) -> list[Capture]:
        captures: list[Capture] = self._threads.__dict__.setdefault("captures", [])
        return captures

    def _refuse_nested(self, lane: Lane) -> None:
        if lane.capture is not None:
            raise CaptureError(
                f"stream {lane.handle} is being captured already, since {lane.capture.site}; end that capture first"
            )
        if getattr(self._threads, "sequences", None):
            raise CaptureError("this thread is recording a sequence; capture a stream outside of its block")

    def _capture_of(self, lane: Lane, call: str) -> Capture:
        capture = lane.capture
        if capture is None:
            raise CaptureError(f"{call}: stream {lane.handle} is not being captured; gpu.begin_capture(stream) first")
        if capture.origin is not lane:
            raise CaptureError(
                f"{call}: the capture began on stream {capture.origin.handle}; stream {lane.handle} was only drawn "
                "in by an event. End it there"
            )
        return capture

    def _close_capture(self, capture: Capture) -> None:
        for lane in capture.lanes:
            lane.capture = None
        self._captures.remove(capture)
        if capture in capture.thread_captures:
            capture.thread_captures.remove(capture)
        self._in_flight.release()

    def _check_graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"a Graph of gpu.end_capture() is wanted, not {type(graph).__name__}")
        if graph._gpu is not self:
            raise ForeignHandle(
                f"{graph!r} was captured on another backend, the call is for {self._capabilities.device}; "
                "capture it there"
            )
        graph._check_open()
        self._check_usable()

    def _node_of(self, fault: KernelFault, graph: Graph, before: int) -> str:
        """Which operation of a replay the fault's launch was: each takes one number on the stream. "" when unsure."""
        launch = self._faults.launch(fault.launch.ordinal) if fault.launch is not None else None
        if launch is None or fault.earlier:
            return ""
        index = launch.sequence - before - 1
        operations = graph.sequence.operations
        if not 0 <= index < len(operations) or launch.kernel_name not in operations[index].describe():
            return ""
        return f"node {index} ({operations[index].describe()})"
