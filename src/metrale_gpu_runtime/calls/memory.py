"""Allocating and freeing: alloc, alloc_managed, alloc_async, pinned host memory, free, the device's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..driver import MemoryKind
from ..errors import (
    AllocationInUse,
    CaptureError,
    GpuError,
    InvalidPointer,
    NotSupported,
    OutOfDeviceMemory,
)
from ..handles import DevicePtr
from ..memory.allocation import Allocation, Birth, Block
from ..memory.pinned import PinnedMemory
from ..memory.redzones import RedzoneSize
from ..trace.operations import QueuedOperation
from ..trace.site import call_site
from ..whole_numbers import whole
from .queueing import QueueingCalls

if TYPE_CHECKING:
    from ..lane import Lane
    from ..stream import Stream


class MemoryCalls(QueueingCalls):
    """The part of GpuBackend that allocates."""

    _redzone: RedzoneSize

    def alloc(self, nbytes: int, *, label: str = "") -> DevicePtr:
        """Reserve `nbytes` of device memory, aligned to 256; only `free` gives it back.

        Contents are undefined. 0 bytes are the null pointer. Raises OutOfDeviceMemory, and ValueError or TypeError for
        what is no size.
        """
        return _pointer(self._allocate(nbytes, label=label, owned=False))

    def alloc_managed(self, nbytes: int, *, label: str = "") -> DevicePtr:
        """As `alloc`, in memory that host and device share. Raises NotSupported where there is none."""
        if not self._capabilities.managed_memory:
            raise self._not_supported("managed memory", "use alloc and copies")
        return _pointer(self._allocate(nbytes, label=label, owned=False, kind=MemoryKind.MANAGED))

    def alloc_async(self, nbytes: int, stream: Stream | int | None = None, *, label: str = "") -> DevicePtr:
        """As `alloc`, for use on `stream`; give it back in that stream's order with `free_async`.

        Where `Capabilities.stream_ordered_memory` it comes from the device's pool, in the stream's order: another
        stream's first use of it waits for the allocation by itself (not for what was written since: order that with
        an event), and `free` wants the stream to have come to it. While the stream is captured, or this thread records
        a sequence, it is an ordinary allocation, made at once and outside of the recording.
        """
        lane = self.resolve_stream(stream)._lane
        in_order = self._capabilities.stream_ordered_memory and self._recorder_of(lane) is None
        return _pointer(self._allocate(nbytes, label=label, owned=False, lane=lane if in_order else None))

    def free(self, pointer: object) -> None:
        """Give back what `alloc` returned, or a buffer before its last reference drops. Null is nothing.

        Raises InvalidPointer for an address that is not the first of a live allocation (freed already, inside one,
        unknown), AllocationInUse when queued work still uses it (known from what this program has waited for),
        CaptureError when a capture under way names it. What the driver itself does not take back becomes a
        GpuResourceWarning. After the context is lost it only tidies up.
        """
        block = self._block_to_free(pointer, "free")
        if block is None:
            return
        how = f"freed at {call_site(2)}"
        if self._threads.__dict__.get("is_asking"):
            # A finaliser of the caller's, run by the collector in the middle of a driver call of this very thread: the
            # driver may hold a lock. The next call does it.
            self._retire(block, "free", how)
            return
        if not self.is_lost:
            self._settle()
            pending = self._in_flight.pending_uses(block)
            if any(lane.has_failed_wait for lane in self._in_flight.lanes_of(pending)):
                # The wait for that stream has failed already, and said so; a clean-up need not fail as well.
                self._retire(block, "free", how)
                return
            if not pending:
                # Another thread may be queueing work that uses it: that notes its use and then looks whether the block
                # is marked, so that one of the two sees the other.
                if not self._ledger.mark(block, how):
                    raise self._gone_already(block, block.base, "free")
                pending = self._in_flight.pending_uses(block)
                if pending:
                    self._ledger.unmark(block)
            if pending:
                raise AllocationInUse(
                    f"free: {block} is still used by {pending[-1]}; synchronize that stream first, or give the memory "
                    "back in stream order with free_async"
                )
        if not self._free_block(block, how):
            raise self._gone_already(block, block.base, "free")

    def free_async(self, pointer: object, stream: Stream | int | None = None) -> None:
        """Give memory back when `stream` and every other stream that uses it have passed what is queued now.

        Its pointers are dead at once. Memory of `alloc_async` that no other stream uses goes back to the device's pool
        in the stream's order, without anybody waiting. Raises as `free` does, but for memory in use.
        """
        lane = self.resolve_stream(stream)._lane
        block = self._block_to_free(pointer, "free_async")
        if block is None:
            return
        if block.is_pooled and self._free_in_order(block, lane, call_site(2)):
            self._settle()
            return
        with lane.lock:
            lane.check_open()
            if not lane.is_idle:
                block.uses[lane.handle] = QueuedOperation(lane.handle, lane.issued, lambda: "free_async")
        self._retire(block, "free_async", f"given to free_async at {call_site(2)}")
        self._settle()

    # ------------------------------------------------ pinned host memory

    def alloc_host_pinned(self, nbytes: int, *, label: str = "") -> PinnedMemory:
        """Page-locked host memory, zeroed: `.view` are its bytes, `np.asarray(pinned)` an array of u8.

        Raises NotSupported where there is none, OutOfDeviceMemory.
        """
        if not self._capabilities.pinned_memory:
            raise self._not_supported("pinned host memory", "use ordinary host memory")
        allocation = self._allocate(nbytes, label=label, owned=False, kind=MemoryKind.PINNED)
        pinned = PinnedMemory(allocation)
        pinned.view[:] = bytes(pinned.nbytes)
        return pinned

    def free_host_pinned(self, pinned: PinnedMemory) -> None:
        """Give it back. Raises as `free` does; views of it must not be used afterwards."""
        if not isinstance(pinned, PinnedMemory):
            raise InvalidPointer(
                f"free_host_pinned takes what alloc_host_pinned returned, not {type(pinned).__name__}", address=0
            )
        if pinned.allocation.block.base == 0:
            self._check_freeable(pinned.allocation.block, 0, "free_host_pinned")
            self._free_block(pinned.allocation.block, f"freed at {call_site(2)}")
            return
        self.free(DevicePtr(pinned.address, pinned.allocation))

    def host_ptr_to_device(self, pinned: PinnedMemory) -> DevicePtr:
        """The address by which kernels reach pinned memory. Raises NotSupported where they cannot."""
        self._check_usable()
        block = pinned.allocation.block
        if block.gone:
            raise self._gone_already(block, block.base, "host_ptr_to_device")
        if pinned.nbytes == 0:
            return DevicePtr(0)
        if pinned.device_allocation is None:
            address = self._ask(None, self._driver.map_host, pinned.address, pinned.nbytes)
            pinned.device_allocation = pinned.allocation
            if address != pinned.address:
                pinned.device_allocation = self._ledger.enter(
                    base=address,
                    nbytes=pinned.nbytes,
                    driver_base=0,
                    driver_nbytes=0,
                    kind=MemoryKind.PINNED,
                    label=f"{block.label or 'pinned memory'} on the device",
                    site=block.site,
                    index=block.index,
                    owned=False,
                    is_counted=False,
                )
                # One memory, two addresses: what uses it by either is in the same book.
                pinned.device_allocation.block.uses = block.uses
                block.twin = pinned.device_allocation.block
        return DevicePtr(pinned.device_allocation.base, pinned.device_allocation)

    # ------------------------------------------------ figures

    def total_memory(self) -> int:
        """Bytes of memory the device has."""
        return self._ask(None, self._driver.memory_figures)[1]

    def free_memory(self) -> int:
        """Bytes that can still be allocated; on a device that shares the host's memory, with what the host has free."""
        self._settle()
        return self._ask(None, self._driver.memory_figures)[0]

    def device_free_memory(self) -> int:
        """Bytes the driver itself reports as free: the same, but where the device shares the host's memory."""
        return self._ask(None, self._driver.device_free_memory)

    # ------------------------------------------------ inside

    def _allocate(
        self,
        nbytes: int,
        *,
        label: str,
        owned: bool,
        kind: MemoryKind = MemoryKind.DEVICE,
        site: str | None = None,
        lane: Lane | None = None,
    ) -> Allocation:
        """An allocation on the books, guarded where that is asked for; in a stream's order where one is given."""
        self._check_usable()
        nbytes = read_nbytes(nbytes, "alloc")
        site = site if site is not None else call_site(2)
        self._settle()
        index = self._ledger.next_index()
        if nbytes == 0:
            return self._ledger.enter(
                base=0,
                nbytes=0,
                driver_base=0,
                driver_nbytes=0,
                kind=kind,
                label=label,
                site=site,
                index=index,
                owned=owned,
                is_counted=owned,
            )
        limit = self._capabilities.max_allocation_nbytes
        if limit is not None and nbytes > limit:
            raise OutOfDeviceMemory(
                f"{nbytes} bytes were asked for; {self._capabilities.device} allows {limit} in one allocation",
                nbytes=nbytes,
            )
        zone = self._redzone
        is_guarded = zone.nbytes > 0 and kind is not MemoryKind.PINNED
        front, back = (zone.front, zone.back(nbytes)) if is_guarded else (0, 0)
        driver_nbytes = front + nbytes + back
        filling = lane or (self._filling_lane() if is_guarded else self._default_lane)
        driver_base = self._reserve(driver_nbytes, kind, lane)
        born: Birth | None = None
        try:
            if is_guarded:
                self._fill_bands(driver_base, front, nbytes, back, zone.fill, filling, waits=lane is None)
            if lane is not None:
                born = self._mark_birth(lane)
        except GpuError:
            self._take_nothing(driver_base, driver_nbytes, kind, lane, filling)
            raise
        allocation = self._ledger.enter(
            base=driver_base + front,
            nbytes=nbytes,
            driver_base=driver_base,
            driver_nbytes=driver_nbytes,
            kind=kind,
            label=label,
            site=site,
            index=index,
            owned=owned,
        )
        block = allocation.block
        if is_guarded:
            block.fill = zone.fill
        if born is not None:
            block.born, block.is_pooled = born, True
            block.uses[born.lane.handle] = QueuedOperation(
                born.lane.handle, born.sequence, lambda: f"alloc_async of {nbytes} bytes"
            )
        return allocation

    def _ask_memory(self, nbytes: int, kind: MemoryKind, lane: Lane | None) -> int:
        if lane is None:
            return self._ask(None, self._driver.alloc, nbytes, kind)
        with lane.lock:
            lane.check_open()
            address = self._ask(lane, self._driver.alloc_async, nbytes, lane.handle)
            lane.issued += 1
            return address

    def _mark_birth(self, lane: Lane) -> Birth:
        """Record where in the stream's order an allocation was made. One mark a stream: a later one is as good."""
        with lane.lock:
            lane.check_open()
            if lane.birth_mark is None:
                lane.birth_mark = self._ask(lane, self._driver.create_event, False)
                self._live_events.add(lane.birth_mark)
            self._ask(lane, self._driver.record_event, lane.birth_mark, lane.handle)
            lane.issued += 1
            return Birth(lane, lane.issued)

    def _take_nothing(
        self, driver_base: int, driver_nbytes: int, kind: MemoryKind, lane: Lane | None, filling: Lane
    ) -> None:
        """Give back what an allocation that failed half-way has had from the driver, behind the fills of its bands."""
        with filling.lock:
            filling.check_open()
            if lane is not None:
                self._driver_give_back(self._driver.free_async, driver_base, lane.handle)
            filling.issued += 1
            sequence = filling.issued
        if lane is not None:
            return
        allocation = self._ledger.enter(
            base=driver_base,
            nbytes=driver_nbytes,
            driver_base=driver_base,
            driver_nbytes=driver_nbytes,
            kind=kind,
            label="",
            site="",
            index=self._ledger.next_index(),
            owned=False,
            is_counted=False,
        )
        block = allocation.block
        block.uses[filling.handle] = QueuedOperation(filling.handle, sequence, lambda: "fill of guard bands")
        self._retire(block, "alloc", "given back: its guard bands could not be filled")

    def _free_in_order(self, block: Block, lane: Lane, site: str) -> bool:
        """Give a block of the pool back in the stream's order; False where another stream still uses it."""
        is_asking = self._threads.__dict__.get("is_asking")
        if is_asking or self._is_closed or self.is_lost or self._recorder_of(lane) is not None:
            return False
        with lane.lock:
            lane.check_open()
            how = f"given to free_async at {site}"
            if not self._ledger.mark(block, how):
                raise self._gone_already(block, block.base, "free_async")
            if any(use.stream != lane.handle for use in self._in_flight.pending_uses(block)):
                self._ledger.unmark(block)
                return False
            self._ledger.remove(block, how)
            self._clean_up(self._driver_give_back, self._driver.free_async, block.driver_base, lane.handle)
            lane.issued += 1
        return True

    def _reserve(self, nbytes: int, kind: MemoryKind, lane: Lane | None = None) -> int:
        """The driver's allocation; when memory is short, what waits to be given back is waited for first."""
        for crowded in self._in_flight.lanes_to_poll():
            self._poll(crowded)
        self._settle()
        try:
            return self._ask_memory(nbytes, kind, lane)
        except OutOfDeviceMemory as error:
            if not self._make_room():
                raise self._out_of_memory(nbytes, error) from error
        try:
            return self._ask_memory(nbytes, kind, lane)
        except OutOfDeviceMemory as error:
            raise self._out_of_memory(nbytes, error) from error

    def _make_room(self) -> bool:
        """Wait for what holds dropped memory back, and give up spare scratch. True when something was given back."""
        spare = self._scratch.drop_spare()
        for lane in self._in_flight.lanes_waited_for():
            if lane.capture is None:
                self._wait_for(lane)
        return self._in_flight.settle() > 0 or spare

    def _out_of_memory(self, nbytes: int, error: OutOfDeviceMemory) -> OutOfDeviceMemory:
        free, total = error.free, error.total
        figures = f"; {free} of {total} bytes are free" if free is not None and total is not None else ""
        return OutOfDeviceMemory(
            f"{self._capabilities.device}: {nbytes} bytes were asked for{figures}. This backend holds "
            f"{self._ledger.nbytes} bytes in {self._ledger.count} allocations; gpu.alloc_report() lists them",
            nbytes=nbytes,
            free=free,
            total=total,
        )

    def _filling_lane(self) -> Lane:
        """The stream on which the guard bands of memory that is made in no stream's order are filled."""
        # On a captured stream the fill would become part of the graph.
        if self._default_lane.capture is None:
            return self._default_lane
        if self._band_lane is None:
            with self._lock:
                if self._band_lane is None:
                    self._band_lane = self._open_hidden_lane()
        return self._band_lane

    def _fill_bands(
        self, driver_base: int, front: int, nbytes: int, back: int, fill: int, lane: Lane, *, waits: bool
    ) -> None:
        with lane.lock:
            lane.check_open()
            for address, count in ((driver_base, front), (driver_base + front + nbytes, back)):
                if count:
                    self._ask(lane, self._driver.memset, address, fill, 1, count, lane.handle)
            lane.issued += 1
        # Whoever uses memory made in a stream's order comes behind it there. Else a kernel on another stream may write
        # here before a queued fill would.
        if waits:
            self._wait_for(lane)

    def _block_to_free(self, pointer: object, call: str) -> Block | None:
        """The block whose first address this is; None for null."""
        if self._is_closing:
            self._check_usable()
        if isinstance(pointer, DevicePtr):
            allocation = pointer.allocation
            if isinstance(allocation, Allocation):
                if allocation.block.ledger is not self._ledger:
                    raise self._pointers.foreign(allocation.block.ledger, call)
                if pointer.is_null and not allocation.block.owned:
                    return None
                self._check_freeable(allocation.block, pointer.address, call)
                return allocation.block
            if pointer.is_null:
                return None
            found = self._ledger.find(pointer.address)
            if found is None:
                raise self._unknown(pointer.address, call)
            self._check_freeable(found, pointer.address, call)
            return found
        if pointer is None:
            return None
        owner = getattr(pointer, "allocation", None)
        if isinstance(owner, Allocation):
            if owner.block.ledger is not self._ledger:
                raise self._pointers.foreign(owner.block.ledger, call)
            self._check_freeable(owner.block, getattr(pointer, "address", -1), call)
            return owner.block
        raise InvalidPointer(
            f"{call} takes a DevicePtr or a DeviceBuffer, not {type(pointer).__name__}; "
            "wrap an address: DevicePtr(address)",
            address=0,
        )

    def _check_freeable(self, block: Block, address: int, call: str) -> None:
        if block.gone:
            raise self._gone_already(block, address, call)
        if block.driver_base == 0 and block.nbytes:
            raise InvalidPointer(
                f"{call}: {block} belongs to somebody else and goes with its owner",
                address=address,
                nbytes=block.nbytes,
            )
        if address != block.base:
            raise InvalidPointer(
                f"{call}: {address:#x} lies {address - block.base} bytes into {block}; free its first address, "
                f"{block.base:#x}",
                address=address,
                nbytes=block.nbytes,
            )
        if self._in_flight.is_waiting(block):
            raise InvalidPointer(f"{call}: {block} is being given back already", address=address, nbytes=block.nbytes)
        if any(window.buffer.allocation.block is block for window in list(self._windows)):
            raise AllocationInUse(
                f"{call}: {block} is looked at in place by another library (DLPack); let go of its arrays first"
            )
        for capture in list(self._captures):
            # Pinned memory may be named by its address on the device as well.
            if any(allocation.block in (block, block.twin) for allocation in capture.allocations):
                raise CaptureError(
                    f"{call}: {block} is named by the capture under way on stream {capture.origin.handle}; "
                    "end the capture first (gpu.end_capture), and keep the memory as long as its graph"
                )

    def _retire(self, block: Block, call: str, how: str) -> None:
        """Let a block's pointers be dead; its memory is given back when nothing uses it."""
        if not self._ledger.retire(block, how):
            raise self._gone_already(block, block.base, call)
        self._in_flight.defer(block)

    def _free_block(self, block: Block, how: str) -> bool:
        """Give a block back now; False when another thread was quicker."""
        if not self._ledger.remove(block, how):
            return False
        if block.twin is not None:
            self._ledger.remove(block.twin, how)
        if block.driver_base and not self._is_closed:
            self._clean_up(self._free_memory, block)
        return True

    def _gone_already(self, block: Block, address: int, call: str) -> InvalidPointer:
        return InvalidPointer(f"{call}: {block} is gone already: {block.gone}", address=address, nbytes=block.nbytes)

    def _unknown(self, address: int, call: str) -> InvalidPointer:
        place = self._ledger.describe(address)
        return InvalidPointer(
            f"{call}: {address:#x} is not the address of a live allocation{f' ({place})' if place else ''}",
            address=address,
        )

    def _not_supported(self, feature: str, advice: str) -> NotSupported:
        name = self._capabilities.backend
        return NotSupported(f"{name}: {feature} is not supported; {advice}", backend=name, feature=feature)


def _pointer(allocation: Allocation) -> DevicePtr:
    return DevicePtr(allocation.base, allocation if allocation.nbytes else None)


def read_nbytes(nbytes: object, call: str) -> int:
    """A size in bytes. Raises TypeError unless it is a whole number, ValueError when it is negative."""
    number = whole(nbytes)
    if number is None:
        raise TypeError(f"{call}: nbytes is {nbytes!r} ({type(nbytes).__name__}); it is a whole number of bytes")
    if number < 0:
        raise ValueError(f"{call}: nbytes is {number}; it cannot be negative")
    if number >= 1 << 63:
        raise OutOfDeviceMemory(f"{call}: {number} bytes are more than any device can address", nbytes=number)
    return number
