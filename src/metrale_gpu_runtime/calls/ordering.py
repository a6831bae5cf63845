"""Ordering our work with that of others on the same memory: other libraries' streams, and other backends'.

All of it is events: one is recorded on the stream that comes first, and the other waits for it. Nothing here waits on
the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ..errors import CaptureError, GpuError
from ..handles import EventHandle, StreamHandle
from ..lane import Lane
from ..memory.allocation import Block
from ..memory.pointers import dead_pointer
from ..memory.producers import PeerMemory, Producer
from ..trace.operations import QueuedOperation
from .handles import HandleCalls

if TYPE_CHECKING:
    from ..backend import GpuBackend
    from ..buffers import DeviceBuffer


class OrderingCalls(HandleCalls):
    """The part of GpuBackend that makes streams wait for each other on its own account."""

    # ------------------------------------------------ marks: events of our own

    def _mark(self, handle: StreamHandle, lane: Lane | None) -> tuple[EventHandle, int]:
        """Record an event at a stream's end: the event, and the number of the stream's last operation before it."""
        self._refuse_captured(lane)
        event = self._spare_mark()
        if event is None:
            event = self._ask(None, self._driver.create_event, False)
            self._live_events.add(event)
        try:
            if lane is None:
                self._ask(None, self._driver.record_event, event, handle)
                return event, 0
            with lane.lock:
                lane.check_open()
                self._ask(lane, self._driver.record_event, event, handle)
                return event, self._count(lane)
        except BaseException:
            self._spare_marks.append(event)
            raise

    def _spare_mark(self) -> EventHandle | None:
        # Apart, so that a failure to make one has no "during handling of" whose frames hold what the caller holds.
        try:
            return self._spare_marks.pop()
        except IndexError:
            return None

    def _await_mark(self, handle: StreamHandle, lane: Lane | None, event: EventHandle) -> int:
        """Let a stream's later work wait for an event, of another backend's too; the number of the wait there."""
        self._refuse_captured(lane)
        if lane is None:
            self._ask(None, self._driver.wait_event, handle, event)
            return 0
        with lane.lock:
            lane.check_open()
            self._ask(lane, self._driver.wait_event, handle, event)
            return self._count(lane)

    def _refuse_captured(self, lane: Lane | None) -> None:
        if lane is not None and lane.capture is not None:
            raise CaptureError(
                f"work of another library or backend has to be ordered with stream {lane.handle}, which is being "
                f"captured since {lane.capture.site}; end the capture first (gpu.end_capture)"
            )

    def _count(self, lane: Lane) -> int:
        # On a foreign stream only our work on memory counts: of the rest we need not know when it is done.
        if not lane.is_foreign:
            lane.issued += 1
        return lane.issued

    def _order(self, earlier: Lane, later: Lane) -> None:
        """Let the later work of one stream of this backend wait for what is queued on another."""
        if earlier is later:
            return
        sequence, waiting = self._let_wait(earlier.handle, earlier, later.handle, later)
        if not later.is_foreign:
            later.joins.append((waiting, earlier, sequence))

    def _let_wait(
        self, earlier: StreamHandle, earlier_lane: Lane | None, later: StreamHandle, later_lane: Lane | None
    ) -> tuple[int, int]:
        """Let one stream wait for another; the number of the last operation before the mark, and of the wait."""
        event, sequence = self._mark(earlier, earlier_lane)
        try:
            return sequence, self._await_mark(later, later_lane, event)
        finally:
            # A wait holds on to the recording that it found: the event may be recorded anew.
            self._spare_marks.append(event)

    def _wait_for_foreign(self, lane: Lane, handle: int) -> None:
        """Let a stream wait for what another library has queued on one of its own."""
        known = self._lane_of_native(handle)
        if known is not None:
            self._order(known, lane)
        else:
            self._let_wait(StreamHandle(handle), None, lane.handle, lane)

    def _let_foreign_wait(self, handle: int, lane: Lane) -> None:
        """Let another library's later work on one of its streams wait for what is queued on ours."""
        known = self._lane_of_native(handle)
        if known is not None:
            self._order(lane, known)
        else:
            self._let_wait(lane.handle, lane, StreamHandle(handle), None)

    # ------------------------------------------------ our memory in others' hands

    def stream_behind(self, buffer: DeviceBuffer) -> int | None:
        """The native handle of a stream that comes behind everything queued on a buffer; None with nothing queued.

        With work on several streams they are led into the default stream by events. The engine's, for the CUDA array
        interface. Raises CaptureError when one of them is being captured.
        """
        self._check_usable()
        users = self._users_of(buffer.allocation.block)
        if not users:
            return None
        if len(users) == 1:
            return self._native_stream(users[0])
        for lane in users:
            self._order(lane, self._default_lane)
        return self._native_stream(self._default_lane)

    def let_stream_wait(self, buffer: DeviceBuffer, handle: int) -> None:
        """Let another library's stream wait for everything queued on a buffer. The engine's, for DLPack."""
        self._check_usable()
        self._check_raw_handles(f"a wait of stream {handle:#x} of another library")
        for lane in self._users_of(buffer.allocation.block):
            self._let_foreign_wait(handle, lane)

    # ------------------------------------------------ other backends

    def _users_of(self, block: Block) -> list[Lane]:
        """The streams with queued work on a block that is not known to be done, in the order of their handles."""
        numbers = {use.stream for use in self._in_flight.pending_uses(block)}
        return [lane for lane in (self._lanes.get(number) for number in sorted(numbers)) if lane is not None]

    def _wait_for_peer(self, lane: Lane, owner: OrderingCalls, block: Block) -> None:
        """Let a stream of ours wait for the work of the backend whose memory this is."""
        for theirs in owner._users_of(block):
            event, sequence = owner._mark(theirs.handle, theirs)
            try:
                waiting = self._await_mark(lane.handle, lane, event)
            finally:
                owner._spare_marks.append(event)
            if not lane.is_foreign:
                owner._in_flight.guests.note(theirs, sequence, lane, waiting, self._faults)

    def _enter_guest(self, guest: OrderingCalls, lane: Lane, blocks: Sequence[Block], what: str) -> None:
        """Enter a guest's use of our memory into our books: a stream of ours waits for theirs, and counts as user.

        So every rule about memory in use holds for theirs as well: frees wait, copies see what was written.
        """
        if self._guest_lane is None:
            with self._lock:
                if self._guest_lane is None:
                    self._guest_lane = self._open_hidden_lane()
        ours = self._guest_lane
        event, marked = guest._mark(lane.handle, lane)
        try:
            with ours.lock:
                sequence = self._await_mark(ours.handle, ours, event)
                self._in_flight.guests.note(ours, sequence, lane, marked, guest._faults)
                use = QueuedOperation(ours.handle, sequence, lambda: what)
                for block in blocks:
                    block.uses[ours.handle] = block.last_use = use
        finally:
            guest._spare_marks.append(event)

    def _open_hidden_lane(self) -> Lane:
        """A new stream that no caller knows, and that none can capture therefore."""
        return self._open_lane(self._ask(None, self._driver.create_stream, 0))

    # ------------------------------------------------ around an operation

    def _hand_over(self, lane: Lane, producers: Sequence[Producer]) -> Handover:
        """Let what comes next on a stream wait for whoever works on this memory. Call `finish` once it is queued."""
        handover = Handover(cast("GpuBackend", self), lane, producers)
        for producer in producers:
            producer.precede(handover)
        return handover


class Handover:
    """One operation of ours on memory of others: each of their streams is waited for once, and waits once."""

    __slots__ = ("_awaited", "_gpu", "_lane", "_peers", "_producers", "_waiting")

    def __init__(self, gpu: OrderingCalls, lane: Lane, producers: Sequence[Producer]) -> None:
        self._gpu, self._lane, self._producers = gpu, lane, tuple(producers)
        self._awaited: set[int] = set()
        self._waiting: dict[int, None] = {}
        self._peers: dict[OrderingCalls, list[Block]] = {}

    @property
    def has_native_streams(self) -> bool:
        """Whether other libraries may have streams on this device at all."""
        return self._gpu.capabilities.raw_stream_handles

    def native_stream(self) -> int:
        """The handle by which other libraries know the operation's stream."""
        return self._gpu._native_stream(self._lane)

    def wait_for_stream(self, handle: int) -> None:
        """Let the operation wait for a stream of another library."""
        if handle not in self._awaited:
            self._gpu._check_raw_handles(f"a wait for stream {handle:#x} of another library")
            self._awaited.add(handle)
            self._gpu._wait_for_foreign(self._lane, handle)

    def let_wait(self, handle: int) -> None:
        """Let that stream's later work wait for the operation."""
        self._waiting[handle] = None

    def wait_for_peer(self, block: Block) -> None:
        """Let the operation wait for the backend whose memory this is. Raises InvalidPointer when it is gone."""
        keeper = block.ledger.keeper() if block.ledger.keeper is not None else None
        if block.gone or keeper is None:
            raise dead_pointer(block.base, block, "memory of another backend")
        owner = cast(OrderingCalls, keeper)
        owner._check_usable()
        self._gpu._wait_for_peer(self._lane, owner, block)
        self._peers.setdefault(owner, []).append(block)

    def finish(self, sequence: int, what: str) -> None:
        """The operation is queued under this number: keep what it uses until then, and let the others wait.

        It has happened, so a driver that refuses to let somebody wait is no failure of it: this waits here instead.
        """
        gpu, lane = self._gpu, self._lane
        # A peer's memory is kept by its own books, as soon as they know of the use.
        kept = tuple(producer for producer in self._producers if not isinstance(producer, PeerMemory))
        if kept:
            with lane.lock:
                lane.check_open()
                lane.retain(sequence, kept)
        failed: GpuError | None = None
        try:
            for handle in self._waiting:
                gpu._let_foreign_wait(handle, lane)
            for owner, blocks in self._peers.items():
                owner._enter_guest(gpu, lane, blocks, f"{what} of {gpu.capabilities.device}")
        except GpuError as error:
            failed = error
        if failed is not None:
            self._wait_instead(failed, what)

    def _wait_instead(self, failed: GpuError, what: str) -> None:
        """Wait for the operation on the host. Raises the first failure when that fails too."""
        try:
            self._gpu._wait_for(self._lane)
            return
        except GpuError as second:
            failed.add_note(f"and waiting for {what} failed as well: {second}")
        # Not from within: the second would keep the frames that hold the memory as long as the first is remembered.
        raise failed
