"""Issuing a checked launch: the one place where a kernel reaches the driver, for every kind of launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, cast

from ..driver import ArgumentLayout, Driver, LaunchTarget, LaunchToRecord, RecordedLaunches
from ..errors import CaptureError, DriverError, DriverFault, GpuError, InvalidPointer
from ..handles import StreamHandle
from ..lane import Lane
from ..memory.allocation import Allocation, Block
from ..memory.pointers import PointerValue, dead_pointer
from ..memory.producers import Producer
from ..trace.launches import LaunchRecord
from ..trace.operations import QueuedLaunch
from .queueing import QueueingCalls, note_uses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..backend import GpuBackend
    from ..checked import CheckedLaunch
    from ..geometry import Extent
    from ..kernel import Kernel
    from ..stream import Stream


class RecordedRecord:
    """A launch record that was issued on a captured stream."""

    __slots__ = ("_record",)

    def __init__(self, record: LaunchRecord) -> None:
        self._record = record

    @property
    def record(self) -> LaunchRecord:
        return self._record

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        return self._record.allocations

    @property
    def producers(self) -> tuple[Producer, ...]:
        return self._record.producers

    def check(self) -> None:
        for allocation in self._record.allocations:
            if allocation.block.gone:
                raise dead_pointer(allocation.base, allocation.block, f"{self._record.kernel_name}: argument")

    def run(self, stream: Stream) -> None:
        stream.gpu.issue(self._record, stream)

    def submit(self, driver: Driver, stream: StreamHandle) -> None:
        record = self._record
        if not record.geometry.is_empty:
            record.target.submit(record.image, record.geometry, stream, 0)

    def describe(self) -> str:
        record = self._record
        return f"launch of {record.kernel_name} grid {record.geometry.grid.as_tuple()}, recorded at {record.site}"


class LaunchCalls(QueueingCalls):
    """The part of GpuBackend that launches."""

    def issue(self, record: LaunchRecord, stream: Stream) -> None:
        """Hand one checked launch to the driver, or record it where the stream or this thread is recording.

        A zero in the grid is counted and does nothing. Raises KernelFault (under debug sync for this launch, or for an
        older fault, then with `earlier`), DriverError with the launch's facts when the driver refuses it; nothing is
        queued then. Raises InvalidPointer when memory it names was freed since it was checked.
        """
        if self._trouble is not None:
            self._refuse()
        lane = stream._lane
        if lane.gone:
            stream._check_open()
        recorder = self._recorder_of(lane)
        if recorder is not None:
            if record.lent and self._is_asynchronous:
                raise CaptureError(
                    f"{record.kernel_name}: host memory is lent to one launch and cannot be part of a recording; "
                    "copy it to the device with gpu.array(…) first"
                )
            recorder.append(RecordedRecord(record))
            return
        if self._in_flight.has_work:
            self._settle()
        nvtx = self._nvtx
        if nvtx is None:
            self._issue_now(record, lane)
            return
        nvtx.push(record.kernel_name)
        try:
            self._issue_now(record, lane)
        finally:
            nvtx.pop()

    def _issue_now(self, record: LaunchRecord, lane: Lane) -> None:
        if record.geometry.is_empty:
            self._issue_empty(record, lane)
        elif self._debug_sync_count:
            self._issue_synchronously(record, lane)
        else:
            self._submit(record, lane)

    def _submit(self, record: LaunchRecord, lane: Lane) -> QueuedLaunch:
        lent = record.lent
        handover = self._hand_over(lane, record.producers) if record.producers else None
        with lane.lock:
            lane.check_open()
            blocks = [allocation.block for allocation in record.allocations]
            for block in blocks:
                if block.born is not None and not block.gone:
                    self._order_birth(block, lane)
            launch = QueuedLaunch(
                lane.handle,
                lane.issued + 1,
                next(self._ordinals),
                record.kernel_name,
                record.module_name,
                record.geometry,
                record.arguments,
                record.site,
            )
            note_uses(launch, lane, [(block.base, block) for block in blocks], f"{record.kernel_name}: argument")
            lane.ring.append(launch)
            is_lent = False
            try:
                if lent:
                    self._lend(lent)
                    is_lent = True
                record.target.submit(record.image, record.geometry, lane.handle, launch.ordinal)
            except BaseException as error:
                # Not queued (or, on a device that runs launches at once, over): what it names is in use only as long
                # as what was queued before it.
                launch.sequence = lane.issued
                if is_lent:
                    self._take_back(lent)
                self._refused(lane, launch, blocks, error, record)
                raise
            lane.issued = launch.sequence
            # Only now: one that is not queued must not hide who used the memory last, should that one have failed.
            for block in blocks:
                block.last_use = launch
            if lane.is_synchronous:
                self._progress.count += 1
        if handover is not None:
            handover.finish(launch.sequence, f"launch {launch.ordinal} of {record.kernel_name}")
            self._poll_crowded(lane)
        if record.geometry.shared_mem and record.kernel is not None:
            # The driver's limit on this kernel is raised that far now, and is never lowered.
            record.kernel.allow_shared_mem(record.geometry.shared_mem)
        if lent:
            try:
                if self._is_asynchronous:
                    self._wait_for(lane)
            finally:
                self._take_back(lent)
        self._tell_traces(record, lane, launch, "queued")
        return launch

    def _tell_traces(self, record: LaunchRecord, lane: Lane, launch: QueuedLaunch, outcome: str) -> None:
        for trace in self._traces:
            trace.launch(record, lane, launch, outcome)

    def _launch_raised(
        self, lane: Lane, launch: QueuedLaunch, blocks: Sequence[Block], error: BaseException
    ) -> NoReturn:
        """The launch core's, with the stream's lock held: what a target raised for a launch that the core made."""
        try:
            raise error
        except BaseException as raised:
            self._refused(lane, launch, blocks, raised)
            raise
        finally:
            del error

    def _refused(
        self,
        lane: Lane,
        launch: QueuedLaunch,
        blocks: Sequence[Block],
        error: BaseException,
        record: LaunchRecord | None = None,
    ) -> None:
        """Turn what the driver raised for a launch into the user's error; returns for what is no driver's error.

        `record` is None for a launch that no trace was to see.
        """
        if isinstance(error, DriverFault):
            is_own = error.launch == launch.ordinal
            if record is not None:
                self._tell_traces(record, lane, launch, "failed" if is_own else "rejected")
            if is_own:
                for block in blocks:
                    block.last_use = launch
            else:
                self._forget(launch, lane)
            self._raise_fault(error, lane, own=launch if is_own else None, earlier=not is_own)
        summary = str(launch)
        self._forget(launch, lane)
        if record is not None:
            self._tell_traces(record, lane, launch, "rejected")
        if isinstance(error, DriverError):
            raise DriverError(
                f"{error}\nrefused: {summary}", call=error.call, code=error.code, code_name=error.code_name
            ) from error
        if isinstance(error, Exception):
            error.add_note(f"in {summary}")

    def _forget(self, launch: QueuedLaunch, lane: Lane) -> None:
        """A launch that was not queued is nobody's suspect."""
        launch.rejected = True
        if lane.ring and lane.ring[-1] is launch:
            lane.ring.pop()

    def _issue_empty(self, record: LaunchRecord, lane: Lane) -> None:
        with lane.lock:
            lane.check_open()
            launch = QueuedLaunch(
                lane.handle,
                lane.issued + 1,
                next(self._ordinals),
                record.kernel_name,
                record.module_name,
                record.geometry,
                record.arguments,
                record.site,
            )
            lane.issued += 1
        self._tell_traces(record, lane, launch, "empty")

    def _issue_synchronously(self, record: LaunchRecord, lane: Lane) -> None:
        """Debug sync: what is wrong before the launch is not charged to it, what is wrong after it is."""
        self._wait_for(lane, earlier=True)
        launch = self._submit(record, lane)
        self._wait_for(lane, own=launch)

    # ------------------------------------------------ for the launch code

    def find_own(self, value: object) -> PointerValue | None:
        """The address of a live buffer or pointer of this backend; None for whatever `resolve_pointer` has to look at.

        It is what nearly every argument is, and needs no words.
        """
        return self._pointers.find_own(value) if self._trouble is None else None

    def resolve_pointer(self, value: object, what: str = "pointer") -> PointerValue:
        """The address that `value` stands for, checked; `what` begins every message.

        Takes DevicePtr, DeviceBuffer, None (null), foreign device arrays, and host arrays where the device uses host
        memory in place. Raises InvalidPointer, ForeignHandle, ArgumentKindError, ArgumentError.
        """
        if self._trouble is not None:
            self._refuse()
        pointer = self._pointers.read(value, what)
        alignment = self._capabilities.buffer_offset_alignment
        if alignment > 1 and pointer.allocation is not None:
            offset = pointer.address - pointer.allocation.base
            if offset % alignment:
                raise InvalidPointer(
                    f"{what}: {pointer.address:#x} lies {offset} bytes into {pointer.allocation.block}; "
                    f"{self._capabilities.device} binds buffers at multiples of {alignment} bytes, this is "
                    f"{offset % alignment} too many",
                    address=pointer.address,
                )
        return pointer

    def prepare_target(self, kernel: Kernel, layout: ArgumentLayout) -> LaunchTarget:
        """Have the driver make a kernel ready for launches with one argument layout."""
        return self._ask(None, self._driver.prepare_launch, kernel.handle, layout)

    def record_launches(self, launches: Sequence[CheckedLaunch]) -> RecordedLaunches | None:
        """Have the driver record launches that the core makes, to be queued as one; None where it does not. The
        engine's."""
        if not self._has_kernel_objects or self._trouble is not None:
            return None
        wanted = [LaunchToRecord(each.target, each.image, each.geometry) for each in launches]
        try:
            for each in launches:
                each.check_memory()
            return self._ask(None, self._driver.record_launches, wanted)
        except GpuError:
            return None  # freed or closed meanwhile: calling the sequence says so

    def launch_typed(
        self,
        kernel: Kernel,
        grid: Extent,
        block: Extent,
        shared_mem: int,
        stream: Stream | int | None,
        args: Sequence[object],
    ) -> None:
        """Launch with a list of KernelArg, as the seed does: checked as any other launch, under debug sync too."""
        from ..launch import launch_typed

        launch_typed(cast("GpuBackend", self), kernel, grid, block, shared_mem, stream, args)
