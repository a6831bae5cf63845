"""Capturing a stream into a graph, replaying it, and recording sequences.

Where the driver has graphs of its own it captures beside the engine and replays by itself; everywhere else a graph is
the recorded sequence, issued again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from threading import get_ident
from typing import TYPE_CHECKING, cast

from ..errors import CaptureError, DriverFault, ForeignHandle, GpuError, KernelFault
from ..lane import Lane
from ..memory.allocation import Allocation
from ..memory.pointers import dead_pointer
from ..prepared import LaunchSequence, RecordedLaunch
from ..stream import Graph, Stream, StreamCapture
from ..trace.operations import QueuedGraph, describe_operations
from ..trace.site import call_site
from .driver_graphs import CapturedNodes, DriverGraph, ReplayNeeds
from .launching import RecordedRecord
from .queueing import QueueingCalls, RecordedCall, note_uses
from .streams import RecordedEvent

if TYPE_CHECKING:
    from ..backend import GpuBackend

_numbers = itertools.count(1)

MODES = ("global", "thread_local", "relaxed")


class CaptureMark:
    """What an event knows of the capture it was recorded in: `capture` is None when that has ended.

    An event may outlive its capture by far, and must not keep the memory that the capture names.
    """

    __slots__ = ("capture",)

    def __init__(self, capture: Capture) -> None:
        self.capture: Capture | None = capture


class Capture:
    """A capture under way: where it began, the streams it drew in, what it has recorded."""

    __slots__ = ("lanes", "mark", "mode", "nodes", "origin", "sequence", "site", "thread", "thread_captures")

    def __init__(
        self,
        origin: Lane,
        sequence: LaunchSequence,
        site: str,
        thread_captures: list[Capture],
        mode: str,
        nodes: CapturedNodes | None,
    ) -> None:
        self.origin, self.sequence, self.site, self.mode = origin, sequence, site, mode
        self.lanes = [origin]
        self.mark = CaptureMark(self)
        self.thread, self.thread_captures = get_ident(), thread_captures
        # None where the engine alone records.
        self.nodes = nodes

    @property
    def allocations(self) -> Iterable[Allocation]:
        return self.sequence.allocations

    def join(self, lane: Lane) -> None:
        """Draw another stream in: it waited for an event of this capture."""
        lane.capture = self
        self.lanes.append(lane)


class CaptureCalls(QueueingCalls):
    """The part of GpuBackend that records and replays."""

    def begin_capture(self, stream: Stream | int | None = None, *, mode: str = "thread_local") -> None:
        """Record what is queued on `stream` from now on, instead of running it, until `end_capture`.

        Calls that wait for the device raise CaptureError until then: on the captured stream in any thread, and besides
        in every thread (`mode` "global"), in this thread ("thread_local") or nowhere ("relaxed"). Memory dropped
        meanwhile is given back after the end. Raises CaptureError when it is captured already, or cannot be.
        """
        if mode not in MODES:
            raise ValueError(f"begin_capture: mode is {mode!r}; it is one of {', '.join(map(repr, MODES))}")
        lane = self.resolve_stream(stream)._lane
        self._check_usable()
        site = call_site(2)
        with self._lock:
            self._refuse_nested(lane)
            nodes = CapturedNodes() if self._capabilities.graphs else None
            captures = self._thread_captures()
            capture = Capture(
                lane, LaunchSequence(cast("GpuBackend", self), of_graph=True), site, captures, mode, nodes
            )
            self._in_flight.hold()
            lane.capture = capture
            self._captures.append(capture)
            captures.append(capture)
        if nodes is None:
            return
        try:
            with lane.lock:
                lane.check_open()
                self._ask(lane, self._driver.begin_capture, lane.handle, mode)
        except BaseException:
            self._forget_capture(capture)
            raise

    def end_capture(self, stream: Stream | int | None = None) -> Graph:
        """End a capture and return what it recorded.

        Raises CaptureError when the stream is not its origin, for another thread than the one that began it (unless
        its mode is "relaxed"), and when a call behind this package's back has spoilt it; in the last case the capture
        is over and the stream works again.
        """
        capture = self._capture_of(self.resolve_stream(stream)._lane, "end_capture")
        name = f"graph {next(_numbers)}"
        known = capture.nodes
        if known is None:
            self._forget_capture(capture)
            capture.sequence.compile_launches()
            return Graph(cast("GpuBackend", self), capture.sequence, name)
        lane = capture.origin
        try:
            with lane.lock:
                lane.check_open()
                known.check_whole()
                for each in capture.lanes:
                    self._ask(each, known.look, self._driver, each)
                handle = self._ask(lane, self._driver.end_capture, lane.handle)
        except BaseException as error:
            self._abort(capture, error)
            raise
        self._live_graphs.add(handle)
        self._forget_capture(capture)
        graph = DriverGraph(handle, known, _needs_of(capture.sequence), self._dropped_graphs)
        return Graph(cast("GpuBackend", self), capture.sequence, name, graph)

    def abort_capture(self, stream: Stream | int | None = None) -> None:
        """End a capture, if there is one on the stream, and forget what it recorded."""
        lane = self.resolve_stream(stream)._lane
        if lane.capture is not None:
            self._abort(lane.capture)

    def capture(self, stream: Stream | int | None = None, *, mode: str = "thread_local") -> StreamCapture:
        """begin_capture and end_capture around a `with` block; the graph is `capture.graph` afterwards."""
        return StreamCapture(self.resolve_stream(stream), mode)

    def stream_is_capturing(self, stream: Stream | int | None = None) -> bool:
        """True between begin_capture and end_capture."""
        return self.resolve_stream(stream)._lane.capture is not None

    def launch_graph(self, graph: Graph, stream: Stream | int | None = None, **values: object) -> None:
        """Run a graph on a stream, slots set by name. A fault under debug sync names the graph and the node.

        Raises ForeignHandle for a graph of another backend, HandleClosed for a destroyed one.
        """
        self._check_graph(graph)
        on = self.resolve_stream(stream)
        ours = graph._driver_graph
        # Under debug sync the operations go out one by one, so that a fault names its node; what another library has
        # added to the graph is known to the driver alone.
        by_driver = ours is not None and (ours.has_foreign or not self._debug_sync_count)
        if by_driver and self._recorder_of(on._lane) is None:
            site = call_site(2)
            if self._nvtx is None:
                self._replay(graph, on._lane, values, site)
                return
            self._nvtx.push(graph.name)
            try:
                self._replay(graph, on._lane, values, site)
            finally:
                self._nvtx.pop()
            return
        if ours is not None and ours.has_foreign:
            raise CaptureError(
                f"{graph.name} holds work that another library has added; it cannot become part of another recording"
            )
        before = on._lane.issued
        try:
            graph.sequence(stream=on, **values)
        except KernelFault as fault:
            node = self._node_of(fault, graph, before)
            fault.add_note(f"while running {node} of {graph.name}" if node else f"while running {graph.name}")
            raise

    def destroy_graph(self, graph: Graph) -> None:
        """Let go of what a graph holds; replays queued already are not touched. HandleClosed when destroyed already.

        After the context is lost it only tidies up.
        """
        self._check_own_graph(graph)
        if self._is_closed:
            self._check_usable()
        graph._gone = f"destroyed at {call_site(2)}"
        graph._sequence.close()
        graph._driver_graph = None
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
        self._count_recordings(1)

    def end_sequence(self, sequence: LaunchSequence) -> None:
        """End what `begin_sequence` began."""
        sequences: list[LaunchSequence] = self._threads.__dict__.get("sequences", [])
        if sequence not in sequences:
            raise CaptureError("this thread is not recording that sequence; leave its block in the thread that entered")
        sequences.remove(sequence)
        self._count_recordings(-1)
        self._in_flight.release()

    # ------------------------------------------------ inside

    def _count_recordings(self, change: int) -> None:
        """While any thread records, every thread's launches ask whether it is theirs."""
        with self._lock:
            self._recordings += change
            self._set_gate()

    def _replay(self, graph: Graph, lane: Lane, values: Mapping[str, object], site: str) -> None:
        """Hand the whole graph to the driver, its nodes' values first. Refused before anything is queued, or queued."""
        ours, sequence = graph._driver_graph, graph.sequence
        assert ours is not None
        self._settle()
        if self._debug_sync_count:
            self._wait_for(lane, earlier=True)
        needs = ours.needs
        _, bound = sequence.bind(values, None if self._traces else needs.slotted)
        producers = dict.fromkeys((*needs.producers, *(each for _, record in bound for each in record.producers)))
        # Before the locks: ordering takes those of other streams, and two replays could wait for each other's.
        handover = self._hand_over(lane, tuple(producers)) if producers else None
        with ours.lock, lane.lock:
            lane.check_open()
            records = dict(bound)
            blocks = needs.blocks.union(each.block for _, record in bound for each in record.allocations)
            launch = QueuedGraph(lane.handle, lane.issued + 1, next(self._ordinals), graph.name, needs.words, site)
            for block in blocks:
                if block.gone:
                    raise dead_pointer(block.base, block, graph.name)
                self._order_birth(block, lane)
            note_uses(launch, lane, [(block.base, block) for block in blocks], graph.name)
            for block in blocks:
                block.last_use = launch
            lane.ring.append(launch)
            try:
                self._ask(lane, ours.apply, self._driver, [(at, records[at]) for at in ours.nodes])
                self._driver.launch_graph(ours.handle, lane.handle, launch.ordinal)
            except BaseException as error:
                launch.sequence = lane.issued
                launch.rejected = True
                lane.ring.pop()
                if isinstance(error, DriverFault):
                    self._raise_fault(error, lane, earlier=True)
                if isinstance(error, GpuError):
                    error.add_note(f"in {launch}")
                raise
            lane.issued = launch.sequence
            if needs.host_calls:
                lane.retain(launch.sequence, needs.host_calls)
            for event in needs.events:
                event.note_replay(lane, launch.sequence)
        if handover is not None:
            handover.finish(launch.sequence, f"launch {launch.ordinal} of {graph.name}")
        for trace in self._traces:
            for at, operation in enumerate(sequence.operations):
                if isinstance(operation, RecordedLaunch):
                    trace.launch(records[at], lane, launch, "queued")
                elif isinstance(operation, RecordedRecord):
                    trace.launch(operation.record, lane, launch, "queued")
                elif isinstance(operation, RecordedCall):
                    trace.operation(operation.kind, lane, launch, operation.nbytes, operation.describe())
        if self._debug_sync_count:
            self._wait_for(lane, own=launch)

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
        if capture.mode != "relaxed" and capture.thread != get_ident():
            raise CaptureError(
                f"{call}: the capture of stream {lane.handle} was begun by another thread (at {capture.site}, mode "
                f'{capture.mode!r}); end it there, or begin it with mode="relaxed"'
            )
        return capture

    def _abort(self, capture: Capture, first: BaseException | None = None) -> None:
        """End a capture and forget what it recorded; a failure of that is a note on the first."""
        if self._is_left_to_closer:
            return
        try:
            if capture.nodes is not None and not self.is_lost:
                self._ask(None, self._driver.abort_capture, capture.origin.handle)
        except GpuError as second:
            if first is None:
                raise
            first.add_note(f"abandoning the capture failed as well: {second}")
        finally:
            self._forget_capture(capture)
            capture.sequence.close()

    def _forget_capture(self, capture: Capture) -> None:
        with self._lock:
            if capture not in self._captures:
                return
            for lane in capture.lanes:
                lane.capture = None
            capture.mark.capture = None
            self._captures.remove(capture)
            if capture in capture.thread_captures:
                capture.thread_captures.remove(capture)
        self._in_flight.release()

    def _check_graph(self, graph: Graph) -> None:
        self._check_own_graph(graph)
        self._check_usable()

    def _check_own_graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"a Graph of gpu.end_capture() is wanted, not {type(graph).__name__}")
        if graph._gpu is not self:
            raise ForeignHandle(
                f"{graph!r} was captured on another backend, the call is for {self._capabilities.device}; "
                "capture it there"
            )
        graph._check_open()

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


def _needs_of(sequence: LaunchSequence) -> ReplayNeeds:
    operations = sequence.operations
    return ReplayNeeds(
        slotted=frozenset(
            at for at, each in enumerate(operations) if isinstance(each, RecordedLaunch) and each.launch.slots
        ),
        blocks=frozenset(allocation.block for allocation in sequence.allocations),
        producers=tuple(dict.fromkeys(each for operation in operations for each in operation.producers)),
        host_calls=tuple(each for each in operations if isinstance(each, RecordedCall)),
        events=tuple(each for each in operations if isinstance(each, RecordedEvent)),
        words=describe_operations(operations),
    )
