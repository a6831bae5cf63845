"""How an operation gets onto a stream: recorded by a capture or sequence, or handed to the driver and remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TYPE_CHECKING, Protocol, cast

from ..driver import Driver
from ..errors import CaptureError, DriverFault
from ..handles import StreamHandle
from ..lane import Lane
from ..memory.allocation import Allocation, Block
from ..memory.pointers import PointerValue, dead_pointer, producers_of
from ..memory.producers import Producer
from ..trace.launches import LentHostMemory, RecordedOperation
from ..trace.operations import QueuedOperation
from .driver_graphs import NodeRecorder
from .ordering import OrderingCalls

if TYPE_CHECKING:
    from ..backend import GpuBackend
    from ..checked import CheckedLaunch
    from ..stream import Stream

MOST_RETAINED = 512
"""How many host arrays a stream keeps alive before the driver is asked how far it is."""

StreamCall = Callable[[StreamHandle], None]
"""A driver call that queues work on the stream it is given."""


class Recorder(Protocol):
    """Where operations go while something is being recorded: a LaunchSequence."""

    def append(self, operation: RecordedOperation) -> None: ...

    def append_launch(self, launch: CheckedLaunch) -> None: ...


class RecordedCall:
    """A copy, fill or event call as a capture keeps it; running it queues it again."""

    __slots__ = ("_describe", "_kind", "_nbytes", "_pointers", "_run")

    def __init__(
        self,
        run: StreamCall,
        pointers: tuple[PointerValue, ...],
        describe: Callable[[], str],
        kind: str,
        nbytes: int,
    ) -> None:
        self._run, self._pointers, self._describe = run, pointers, describe
        self._kind, self._nbytes = kind, nbytes

    @property
    def kind(self) -> str:
        return self._kind

    @property
    def nbytes(self) -> int:
        return self._nbytes

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        return tuple(each.allocation for each in self._pointers if each.allocation is not None)

    @property
    def producers(self) -> tuple[Producer, ...]:
        return producers_of(self._pointers)

    def check(self) -> None:
        for pointer in self._pointers:
            pointer.check_alive()

    def run(self, stream: Stream) -> None:
        stream.gpu._queue(
            stream._lane,
            self._run,
            self._pointers,
            self._describe,
            kind=self._kind,
            nbytes=self._nbytes,
            # The host memory in the call lives in it; it must outlive a graph that is dropped right after its replay.
            retain=self._run,
        )

    def submit(self, driver: Driver, stream: StreamHandle) -> None:
        self._run(stream)

    def describe(self) -> str:
        return self._describe()


def note_uses(operation: QueuedOperation, lane: Lane, used: Sequence[tuple[int, Block]], what: str) -> None:
    """Enter an operation as what uses these blocks, each with the address that names it, and see that all are there.

    Each in this order: another thread that frees it marks it first, and then looks for uses (`MemoryCalls.free`).
    Raises InvalidPointer for one that is gone; none is in use longer than what is queued already then.
    """
    for address, block in used:
        block.uses[lane.handle] = operation
        if block.gone:
            operation.sequence = lane.issued
            raise dead_pointer(address, block, what)


class QueueingCalls(OrderingCalls):
    """The part of GpuBackend through which all copies and fills go."""

    def operation(
        self,
        stream: Stream,
        call: StreamCall,
        allocations: Sequence[Allocation],
        describe: Callable[[], str],
    ) -> None:
        """Queue an operation of one's own on a stream: `call(handle)` makes the driver call.

        While the stream is captured, or this thread records a sequence, it is recorded instead. The allocations are in
        use until the stream has passed it.
        """
        pointers = tuple(PointerValue(each.base, each, each.nbytes) for each in allocations)
        self._queue(stream._lane, call, pointers, describe, kind="operation")

    def recorder(self, stream: Stream) -> Recorder | None:
        """Where operations for this stream are recorded: its capture, the sequence this thread records, or None."""
        return self._recorder_of(stream._lane)

    # ------------------------------------------------ inside

    def _recorder_of(self, lane: Lane) -> Recorder | None:
        capture = lane.capture
        if capture is not None:
            if capture.nodes is None:
                return capture.sequence
            return NodeRecorder(cast("GpuBackend", self), capture, lane)
        if not self._recordings:
            return None
        sequences: list[Recorder] | None = getattr(self._threads, "sequences", None)
        return sequences[-1] if sequences else None

    def _refuse_while_recording(self, call: str, lane: Lane | None = None) -> None:
        """Raise CaptureError for a call that waits, made on a captured stream or by a thread that records."""
        if lane is not None and lane.capture is not None:
            raise CaptureError(
                f"{call}: stream {lane.handle} is being captured, and this call waits for the device; "
                "end the capture first (gpu.end_capture), or use the _async form, which is recorded"
            )
        if getattr(self._threads, "sequences", None):
            raise CaptureError(
                f"{call}: this thread is recording a sequence, and this call waits for the device; make it outside of "
                "the `with gpu.sequence()` block, or use the _async form, which is recorded"
            )
        for capture in list(self._captures):
            if capture.mode == "global" or (capture.mode == "thread_local" and capture.thread == get_ident()):
                who = "this thread" if capture.thread == get_ident() else "another thread"
                raise CaptureError(
                    f"{call}: {who} is capturing stream {capture.origin.handle} (mode {capture.mode!r}, since "
                    f"{capture.site}), and this call waits for the device; end the capture first (gpu.end_capture), or "
                    "use the _async form, which is recorded"
                )

    def _queue(
        self,
        lane: Lane,
        call: StreamCall,
        pointers: tuple[PointerValue, ...],
        describe: Callable[[], str],
        *,
        kind: str,
        nbytes: int = 0,
        retain: object = None,
        then: Callable[[], None] | None = None,
        is_recordable: bool = True,
    ) -> QueuedOperation | None:
        """Queue one driver call on a stream; None when it was recorded instead.

        `retain` lives, and `then` is called, when the stream has passed it.
        """
        self._check_usable()
        self._settle()
        if is_recordable:
            recorder = self._recorder_of(lane)
            if recorder is not None:
                recorder.append(RecordedCall(call, pointers, describe, kind, nbytes))
                return None
        lent = [pointer.lent for pointer in pointers if pointer.lent is not None]
        producers = producers_of(pointers)
        handover = self._hand_over(lane, producers) if producers else None
        with lane.lock:
            lane.check_open()
            for pointer in pointers:
                if pointer.allocation is not None and pointer.allocation.block.born is not None:
                    self._order_birth(pointer.allocation.block, lane)
            operation = QueuedOperation(lane.handle, lane.issued + 1, describe)
            used = [(each.address, each.allocation.block) for each in pointers if each.allocation is not None]
            note_uses(operation, lane, used, kind)
            is_lent = False
            try:
                self._lend(lent)
                is_lent = True
                call(lane.handle)
            except BaseException as error:
                # Not queued: what it was to use is in use until what was queued before it is done, no longer.
                operation.sequence = lane.issued
                if is_lent:
                    self._take_back(lent)
                if isinstance(error, DriverFault):
                    self._raise_fault(error, lane)
                raise
            lane.issued = operation.sequence
            # Only now: one that is not queued must not hide who used the memory last, should that one have failed.
            for pointer in pointers:
                if pointer.allocation is not None:
                    pointer.allocation.block.last_use = operation
            if lane.is_synchronous:
                self._progress.count += 1
            if retain is not None or then is not None:
                lane.retain(operation.sequence, retain, then)
        if handover is not None:
            handover.finish(operation.sequence, kind)
        self._poll_crowded(lane)
        if lent:
            try:
                if self._is_asynchronous:
                    self._wait_for(lane)
            finally:
                self._take_back(lent)
        for trace in self._traces:
            trace.operation(kind, lane, operation, nbytes)
        return operation

    def _poll_crowded(self, lane: Lane) -> None:
        """When nobody has waited for a long time: ask how far the stream is, so that what it keeps does not pile up."""
        if len(lane.retained) > MOST_RETAINED and len(lane.retained) % (MOST_RETAINED // 8) == 0:
            self._poll(lane)

    def _lend(self, lent: Sequence[LentHostMemory]) -> None:
        """Lend all of it, or none: what was lent is taken back when the driver refuses one."""
        for at, memory in enumerate(lent):
            try:
                self._driver.lend_host(memory.address, memory.nbytes, memory.writable)
            except BaseException:
                self._take_back(lent[:at])
                raise

    def _take_back(self, lent: Sequence[LentHostMemory]) -> None:
        for memory in lent:
            self._driver.return_host(memory.address, memory.nbytes)

    def _wait_for_other_users(self, lane: Lane, pointers: Sequence[PointerValue]) -> None:
        """Let a blocking copy see what other streams were told to do with the memory it names."""
        for pointer in pointers:
            if pointer.allocation is not None:
                self._wait_for_users(pointer.allocation.block, besides=lane)

    def _wait_for_users(self, block: Block, *, besides: Lane | None = None) -> None:
        """Wait for the streams that were told to use this memory. Raises KernelFault.

        On a device that runs work at once everything is over, but what went wrong there is only told to who waits.
        """
        for use in list(block.uses.values()):
            lane = self._lanes.get(use.stream)
            if lane is None or lane is besides:
                continue
            if lane.is_synchronous or not lane.is_done(use.sequence):
                self._wait_for(lane)
