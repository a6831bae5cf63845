"""Graphs that the driver itself captures and replays: what the engine records beside them, and how slots reach them.

On such a device a captured operation goes two ways at once: to the driver, where it becomes a node, and into a
LaunchSequence, which knows what the node stands for: its slots, its memory, the words for an error.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..driver import Driver
from ..errors import CaptureError, DriverFault, GpuError
from ..geometry import Geometry
from ..handles import GraphHandle
from ..lane import Lane
from ..prepared import RecordedLaunch
from ..residency import own_target

if TYPE_CHECKING:
    from ..backend import GpuBackend
    from ..checked import CheckedLaunch
    from ..memory.allocation import Block
    from ..memory.producers import Producer
    from ..trace.launches import LaunchRecord, RecordedOperation
    from .capture import Capture
    from .streams import RecordedEvent


@dataclass(slots=True)
class CapturedNodes:
    """What a capture under way knows of the driver's nodes.

    `launches` are the nodes of those recorded launches that have slots, by their place in the sequence; `frontier` is
    where each stream stood after our last operation there: when it stands elsewhere before the next one, somebody else
    has added nodes.
    """

    launches: dict[int, int] = field(default_factory=dict)
    frontier: dict[int, tuple[int, ...]] = field(default_factory=dict)
    has_foreign: bool = False
    # What could not be recorded although the driver may have made a node of it: the capture can only be given up.
    spoilt: str = ""

    def look(self, driver: Driver, lane: Lane) -> None:
        """Notice nodes that were not added through this backend."""
        nodes = driver.captured_nodes(lane.handle)
        if nodes != self.frontier.get(lane.handle, ()):
            self.has_foreign = True

    def note_failure(self, driver: Driver, lane: Lane, what: str) -> None:
        """After a call that failed: whether the driver has added something that nothing here knows of."""
        try:
            moved = driver.captured_nodes(lane.handle) != self.frontier.get(lane.handle, ())
        except (GpuError, DriverFault):
            moved = True
        if moved and not self.spoilt:
            self.spoilt = what

    def check_whole(self) -> None:
        """Raise CaptureError when the driver's graph may hold what the sequence does not, whose memory nobody holds."""
        if self.spoilt:
            raise CaptureError(f"the capture was spoilt when the driver failed in the {self.spoilt}; capture again")

    def advance(self, driver: Driver, lane: Lane) -> tuple[int, ...]:
        """Remember where the stream stands now."""
        nodes = self.frontier[lane.handle] = driver.captured_nodes(lane.handle)
        return nodes


class NodeRecorder:
    """Records what is queued on one captured stream, in the driver's graph and in the capture's sequence."""

    __slots__ = ("_capture", "_gpu", "_lane")

    def __init__(self, gpu: GpuBackend, capture: Capture, lane: Lane) -> None:
        self._gpu, self._capture, self._lane = gpu, capture, lane

    def append_launch(self, launch: CheckedLaunch) -> None:
        operation = RecordedLaunch(launch)
        self.append(operation, has_slots=bool(launch.slots) and not operation.captured_geometry.is_empty)

    def append(self, operation: RecordedOperation | RecordedLaunch, *, has_slots: bool = False) -> None:
        gpu, capture, lane = self._gpu, self._capture, self._lane
        known = capture.nodes
        assert known is not None
        driver = gpu.driver
        operation.check()
        with lane.lock:
            lane.check_open()
            try:
                gpu._ask(lane, known.look, driver, lane)
                gpu._ask(lane, operation.submit, driver, lane.handle)
                nodes = gpu._ask(lane, known.advance, driver, lane)
            except GpuError as error:
                known.note_failure(driver, lane, operation.describe())
                error.add_note(f"while capturing the {operation.describe()}")
                raise
            if has_slots:
                if len(nodes) != 1:
                    raise CaptureError(
                        f"the driver made {len(nodes)} nodes of the {operation.describe()}; its slots cannot be set"
                    )
                known.launches[len(capture.sequence)] = nodes[0]
            capture.sequence.append(operation)


@dataclass(frozen=True, slots=True)
class ReplayNeeds:
    """What every replay of a graph must see to beside the driver's call: decided once, when its capture ends.

    The places of the launches with slots (also of those that are no node, because their grid is empty: their values are
    checked all the same), the memory that its operations name and whose it is, the calls whose host memory must outlive
    a replay, the events that a replay records, and the words for an error.
    """

    slotted: frozenset[int]
    blocks: frozenset[Block]
    producers: tuple[Producer, ...]
    host_calls: tuple[object, ...]
    events: tuple[RecordedEvent, ...]
    words: tuple[str, ...]


class DriverGraph:
    """The driver's side of a Graph: its handle, and the values that its nodes hold at present.

    One that is dropped is destroyed by the backend's next call.
    """

    __slots__ = ("__weakref__", "_applied", "_dropped", "handle", "has_foreign", "lock", "needs", "nodes")

    def __init__(
        self, handle: GraphHandle, captured: CapturedNodes, needs: ReplayNeeds, dropped: list[GraphHandle]
    ) -> None:
        self.handle, self.needs = handle, needs
        self.nodes, self.has_foreign = captured.launches, captured.has_foreign
        self.lock = threading.Lock()
        self._applied: dict[int, tuple[bytes, Geometry]] = {}
        self._dropped = dropped

    def apply(self, driver: Driver, bound: Sequence[tuple[int, LaunchRecord]]) -> None:
        """Give the nodes whose values have changed their new ones."""
        for index, record in bound:
            wanted = (record.image, record.geometry)
            if self._applied.get(index) != wanted:
                # Forgotten first: should the driver refuse half-way, the next replay sets it again.
                self._applied.pop(index, None)
                target = own_target(record.target)
                driver.update_launch(self.handle, self.nodes[index], target, record.image, record.geometry)
                self._applied[index] = wanted

    def __del__(self) -> None:
        # May run in any thread at any moment: only noted here.
        if self.handle:
            self._dropped.append(self.handle)
