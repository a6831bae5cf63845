"""Making, growing and releasing lazy buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..driver import MemoryKind
from ..errors import CaptureError, FreeMemoryFloor, GpuError, OutOfDeviceMemory
from ..memory.allocation import Allocation
from ..memory.lazy import EAGER_GRANULE, LazyBuffer, LazyMapping, MappingBudget, read_floor
from ..trace.site import call_site
from .memory import MemoryCalls, read_nbytes

if TYPE_CHECKING:
    from ..backend import GpuBackend


class LazyCalls(MemoryCalls):
    """The part of GpuBackend that reserves addresses and maps memory to them."""

    def lazy_buffer(
        self,
        reserve_nbytes: int,
        *,
        budget: MappingBudget | None = None,
        label: str = "",
        free_floor: int | None = None,
    ) -> LazyBuffer:
        """A buffer at a fixed address that can grow to `reserve_nbytes`; nothing is mapped at first.

        `budget` is charged for every mapped byte and can be shared between buffers. It does not grow where the device
        would be left with fewer than `free_floor` bytes: by default METRALE_LAZY_MAP_FREE_FLOOR_MB megabytes (4096).
        Where the device has no virtual memory (`Capabilities.lazy_memory`) all of it is allocated here and now; a
        `free_floor` that is given is kept then, the default is not. The buffer's `kind` says which it is.

        Raises OutOfDeviceMemory, FreeMemoryFloor, ValueError and TypeError for what is no size.
        """
        self._check_usable()
        nbytes = read_nbytes(reserve_nbytes, "lazy_buffer")
        if nbytes == 0:
            raise ValueError("lazy_buffer: reserve_nbytes is 0; reserve at least 1 byte")
        if budget is not None and not isinstance(budget, MappingBudget):
            raise TypeError(f"lazy_buffer: budget is a {type(budget).__name__}; give a MappingBudget(nbytes)")
        floor = read_floor(free_floor)
        site = call_site(2)
        self._settle()
        if self._capabilities.lazy_memory:
            allocation, mapping = self._reserve_lazily(nbytes, budget, label, site)
        else:
            floor = floor if free_floor is not None else 0
            allocation, mapping = self._allocate_eagerly(nbytes, budget, label, site, floor)
        allocation.block.mapping = mapping
        return LazyBuffer(cast("GpuBackend", self), allocation, mapping, floor)

    # ------------------------------------------------ for the buffer

    def _map_lazily(self, buffer: LazyBuffer, wanted: int) -> int:
        wanted = read_nbytes(wanted, "ensure_mapped")
        mapping, block = buffer.mapping, buffer.allocation.block
        with mapping.lock:
            buffer._check_live("ensure_mapped")
            self._check_usable()
            target = mapping.target(wanted)
            missing = target - mapping.mapped_nbytes
            if missing <= 0:
                return mapping.mapped_nbytes
            self._refuse_mapping_in_capture(buffer)
            if mapping.budget is not None:
                mapping.budget.charge(missing, f"ensure_mapped of {block.name}")
            try:
                if mapping.is_virtual:
                    self._map_granules(buffer, missing)
            except BaseException:
                if mapping.budget is not None:
                    mapping.budget.refund(missing)
                raise
            mapping.mapped_nbytes = block.nbytes = target
            return target

    def _release_lazily(self, buffer: LazyBuffer) -> None:
        block = buffer.allocation.block
        if block.gone or self._is_closed:
            return
        how = f"released at {call_site(3)}"
        if self._threads.__dict__.get("is_asking"):
            # A finaliser of the caller's in the middle of a driver call of this very thread; the next call does it.
            self._retire(block, "release", how)
            return
        self._check_freeable(block, block.base, "release")
        try:
            if not self.is_lost:
                for lane in self._in_flight.lanes_of(self._in_flight.pending_uses(block)):
                    self._refuse_while_recording("release", lane)
                self._wait_for_users(block)
        except CaptureError:
            raise
        except GpuError:
            self._let_go(buffer, how)
            raise
        self._let_go(buffer, how)

    # ------------------------------------------------ inside

    def _let_go(self, buffer: LazyBuffer, how: str) -> None:
        block = buffer.allocation.block
        with buffer.mapping.lock:
            if not self._ledger.retire(block, how):
                return
            if self._in_flight.pending_uses(block):
                # What could not be waited for, or was queued meanwhile, may still run.
                self._in_flight.defer(block)
            else:
                self._free_block(block, how)

    def _reserve_lazily(
        self, nbytes: int, budget: MappingBudget | None, label: str, site: str
    ) -> tuple[Allocation, LazyMapping]:
        base, reserved, granule = self._ask(None, self._driver.reserve_addresses, nbytes)
        mapping = LazyMapping(
            base=base, reserved_nbytes=reserved, granule=granule, is_virtual=True, driver_base=base, budget=budget
        )
        allocation = self._ledger.enter(
            base=base,
            nbytes=0,
            driver_base=base,
            driver_nbytes=reserved,
            kind=MemoryKind.DEVICE,
            label=label,
            site=site,
            index=self._ledger.next_index(),
            owned=True,
            reserved_nbytes=reserved,
        )
        return allocation, mapping

    def _allocate_eagerly(
        self, nbytes: int, budget: MappingBudget | None, label: str, site: str, floor: int
    ) -> tuple[Allocation, LazyMapping]:
        reserved = -(-nbytes // EAGER_GRANULE) * EAGER_GRANULE
        if floor:
            self._keep_floor(f"lazy_buffer of {reserved} bytes", reserved, floor)
        allocation = self._allocate(reserved, label=label, owned=True, site=site)
        block = allocation.block
        block.reserved_nbytes, block.nbytes = reserved, 0
        mapping = LazyMapping(
            base=block.base,
            reserved_nbytes=reserved,
            granule=EAGER_GRANULE,
            is_virtual=False,
            driver_base=block.driver_base,
            budget=budget,
        )
        return allocation, mapping

    def _map_granules(self, buffer: LazyBuffer, missing: int) -> None:
        mapping = buffer.mapping
        name = buffer.allocation.block.name
        self._keep_floor(f"ensure_mapped of {name}", missing, buffer.free_floor)
        address = mapping.base + mapping.mapped_nbytes
        try:
            self._ask(None, self._driver.map_memory, address, missing)
            return
        except OutOfDeviceMemory as error:
            if not self._make_room():
                raise self._out_of_memory(missing, error) from error
        try:
            self._ask(None, self._driver.map_memory, address, missing)
        except OutOfDeviceMemory as error:
            raise self._out_of_memory(missing, error) from error

    def _keep_floor(self, what: str, nbytes: int, floor: int) -> None:
        """Raise FreeMemoryFloor when `nbytes` more would leave fewer than `floor`, and nothing dropped helps."""
        if not floor:
            return
        self._settle()
        free, total = self._ask(None, self._driver.memory_figures)
        if free - nbytes < floor and self._make_room():
            free, total = self._ask(None, self._driver.memory_figures)
        if free - nbytes < floor:
            raise FreeMemoryFloor(
                f"{what}: {nbytes} more bytes would leave {self._capabilities.device} with {free - nbytes} of {total}; "
                f"{floor} are to stay free (free_floor). Free memory first, or lower the floor",
                nbytes=nbytes,
                floor=floor,
                free=free,
                total=total,
            )

    def _refuse_mapping_in_capture(self, buffer: LazyBuffer) -> None:
        """Mapping is no part of a graph, and some drivers lose a capture by it."""
        for capture in list(self._captures):
            raise CaptureError(
                f"ensure_mapped: {buffer.allocation.block} cannot grow while stream {capture.origin.handle} is being "
                f"captured (since {capture.site}); map what the capture needs before it begins"
            )
