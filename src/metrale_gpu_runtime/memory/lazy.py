"""Lazy buffers: a fixed address whose first bytes have memory behind them, as many as were asked for so far.

For what must not move while it grows, such as a cache whose address is in graphs and tables: address space is reserved
for all of it, memory is mapped when it is wanted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..driver import Driver, MemoryKind
from ..errors import GpuError, HandleClosed, MappingBudgetExceeded
from ..handles import DevicePtr
from ..whole_numbers import whole
from .allocation import Allocation
from .ledger import Ledger
from .pointers import PointerValue, check_inside, dead_pointer, foreign_memory

if TYPE_CHECKING:
    from ..backend import GpuBackend

EAGER_GRANULE = 2 << 20
"""The unit in which an eager buffer counts; that of NVIDIA's virtual memory."""

FLOOR_VARIABLE = "METRALE_LAZY_MAP_FREE_FLOOR_MB"
DEFAULT_FLOOR_MB = 4096

GiveBack = Callable[..., None]
"""Makes one driver call that gives something back; a lost context is no failure of it."""


class MappingBudget:
    """How many bytes the lazy buffers that share it may have mapped, all together. Safe to use from several threads.

    Every mapped byte is charged to it, and refunded when its buffer is released. Raises ValueError or TypeError for
    what is no number of bytes.
    """

    def __init__(self, nbytes: int) -> None:
        number = whole(nbytes)
        if number is None:
            raise TypeError(f"MappingBudget: nbytes is {nbytes!r}; it is a whole number of bytes")
        self._nbytes = number
        if self._nbytes < 0:
            raise ValueError(f"MappingBudget: nbytes is {self._nbytes}; it cannot be negative")
        self._charged = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """All of it."""
        return self._nbytes

    @property
    def charged_nbytes(self) -> int:
        """What is mapped now."""
        return self._charged

    @property
    def free_nbytes(self) -> int:
        """What may still be mapped."""
        return self._nbytes - self._charged

    def charge(self, nbytes: int, what: str = "a lazy buffer") -> None:
        """Take `nbytes` of it. Raises MappingBudgetExceeded, and takes nothing, when it has not that many left."""
        with self._lock:
            if self._charged + nbytes > self._nbytes:
                raise MappingBudgetExceeded(
                    f"{what}: {nbytes} more bytes are wanted, {self.free_nbytes} of a budget of {self._nbytes} are "
                    "left; release another buffer that shares it, or give it more",
                    nbytes=nbytes,
                    budget=self._nbytes,
                    charged=self._charged,
                )
            self._charged += nbytes

    def refund(self, nbytes: int) -> None:
        """Give `nbytes` back to it; it never has more than all."""
        with self._lock:
            self._charged = max(0, self._charged - nbytes)

    def __repr__(self) -> str:
        return f"<MappingBudget {self._charged} of {self._nbytes} bytes charged>"


class LazyMapping:
    """What is behind a lazy buffer's addresses, and how it goes back. The engine's.

    `is_virtual`: addresses were reserved and are mapped granule by granule; else all of it is one allocation, of which
    `mapped_nbytes` are accounted for. `lock` is held while it grows.
    """

    __slots__ = ("_is_refunded", "base", "budget", "driver_base", "granule", "is_virtual", "lock", "mapped_nbytes",
                 "reserved_nbytes")  # fmt: skip

    def __init__(
        self,
        *,
        base: int,
        reserved_nbytes: int,
        granule: int,
        is_virtual: bool,
        driver_base: int,
        budget: MappingBudget | None,
    ) -> None:
        self.base, self.reserved_nbytes, self.granule = base, reserved_nbytes, granule
        self.is_virtual, self.driver_base, self.budget = is_virtual, driver_base, budget
        self.mapped_nbytes = 0
        self.lock = threading.RLock()
        self._is_refunded = False

    def target(self, nbytes: int) -> int:
        """How much is mapped when `nbytes` are wanted: whole granules, and never more than is reserved."""
        return min(-(-nbytes // self.granule) * self.granule, self.reserved_nbytes)

    def give_back(self, driver: Driver, ask: GiveBack) -> None:
        """Return memory and addresses to the driver, and what was charged to the budget in any case.

        Addresses with memory that the driver does not take back are left to the closing of the device.
        """
        try:
            if not self.is_virtual:
                ask(driver.free, self.driver_base, MemoryKind.DEVICE)
                return
            if self.mapped_nbytes:
                ask(driver.unmap_memory, self.base, self.mapped_nbytes)
            ask(driver.release_addresses, self.base, self.reserved_nbytes)
        finally:
            self.refund()

    def refund(self) -> None:
        """Give the budget back what was charged to it; once."""
        if not self._is_refunded:
            self._is_refunded = True
            if self.budget is not None:
                self.budget.refund(self.mapped_nbytes)


class LazyBuffer:
    """Device memory at a fixed address that grows from its start. Made by `gpu.lazy_buffer(…)`; a context manager.

    Its first `mapped_nbytes` can be used, by `ptr`, by `ptr + n` or as itself; a pointer behind them is refused in
    launches and copies. They only grow, until `release`, and never move. `kind` is "virtual" (addresses are reserved,
    memory is mapped when wanted) or "eager" (the device has no virtual memory: all of it was allocated at once, and
    what is mapped is only accounted for). `free_floor` is how many bytes the device keeps free when it grows; it can be
    set. Released when the last reference to it and its pointers drops.
    """

    __slots__ = ("__weakref__", "_allocation", "_gpu", "_mapping", "free_floor")

    def __init__(self, gpu: GpuBackend, allocation: Allocation, mapping: LazyMapping, free_floor: int) -> None:
        self._gpu, self._allocation, self._mapping = gpu, allocation, mapping
        self.free_floor = free_floor

    @property
    def gpu(self) -> GpuBackend:
        return self._gpu

    @property
    def kind(self) -> str:
        """ "virtual" or "eager"."""
        return "virtual" if self._mapping.is_virtual else "eager"

    @property
    def granule(self) -> int:
        """Bytes by which it grows."""
        return self._mapping.granule

    @property
    def reserved_nbytes(self) -> int:
        """How far it can grow: what was asked for, in whole granules."""
        return self._mapping.reserved_nbytes

    @property
    def mapped_nbytes(self) -> int:
        """How many bytes from its start have memory; 0 once it is released."""
        return self._mapping.mapped_nbytes if self.is_live else 0

    @property
    def nbytes(self) -> int:
        """The same as `mapped_nbytes`."""
        return self.mapped_nbytes

    @property
    def budget(self) -> MappingBudget | None:
        """What its memory is charged to."""
        return self._mapping.budget

    @property
    def label(self) -> str:
        return self._allocation.label

    @property
    def is_live(self) -> bool:
        """False once it was released."""
        return self._allocation.is_live

    @property
    def allocation(self) -> Allocation:
        """The memory it holds."""
        return self._allocation

    @property
    def address(self) -> int:
        """The device address of its first byte: the same all its life."""
        return self._allocation.base

    @property
    def ptr(self) -> DevicePtr:
        """A pointer to its first byte, which holds it as well. Raises HandleClosed once it is released."""
        self._check_live("ptr")
        return DevicePtr(self._allocation.base, self._allocation)

    def ensure_mapped(self, nbytes: int) -> int:
        """See to it that the first `nbytes` have memory; how many have it then, in whole granules.

        More than is reserved is capped at the reservation: look at what it returns. Nothing when they have it already.
        Raises MappingBudgetExceeded, FreeMemoryFloor or OutOfDeviceMemory, CaptureError while any stream of this
        backend is captured, HandleClosed once released; nothing has changed then.
        """
        return self._gpu._map_lazily(self, nbytes)

    def release(self) -> None:
        """Give everything back, after the work that uses it is done, and refund the budget. Nothing when released.

        Raises KernelFault when that work failed (it is released all the same), CaptureError inside a capture.
        """
        self._gpu._release_lazily(self)

    def __enter__(self) -> LazyBuffer:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            self.release()
        except GpuError as second:
            if error is None:
                raise
            error.add_note(f"and: {second}")

    def __repr__(self) -> str:
        name = f" {self.label!r}" if self.label else ""
        state = "" if self.is_live else f", {self._allocation.block.gone}"
        return (
            f"<LazyBuffer{name} {self.kind}, {self.mapped_nbytes} bytes mapped of {self.reserved_nbytes} reserved at "
            f"{self.address:#x}{state}>"
        )

    def _check_live(self, what: str) -> None:
        if not self.is_live:
            raise HandleClosed(f"{what}: {self._allocation.block} is gone: {self._allocation.block.gone}")

    # ------------------------------------------------ for the engine

    @property
    def mapping(self) -> LazyMapping:
        return self._mapping

    def pointer_value(self, ledger: Ledger, what: str) -> PointerValue:
        """Its mapped part as a checked address. Raises InvalidPointer once released or while nothing is mapped."""
        block = self._allocation.block
        if block.ledger is not ledger:
            raise foreign_memory(block.ledger, ledger, what)
        if block.gone:
            raise dead_pointer(block.base, block, what)
        check_inside(block.base, block, what)
        return PointerValue(block.base, self._allocation, block.nbytes)


def read_floor(nbytes: int | None) -> int:
    """The floor from the argument, else METRALE_LAZY_MAP_FREE_FLOOR_MB in units of 2**20 bytes, else 4096 of them.

    Raises TypeError or ValueError for what is no number of bytes.
    """
    if nbytes is None:
        text = os.environ.get(FLOOR_VARIABLE, "").strip()
        try:
            megabytes = int(text) if text else DEFAULT_FLOOR_MB
        except ValueError:
            megabytes = -1
        if megabytes < 0:
            raise ValueError(f"{FLOOR_VARIABLE}={text!r} in the environment; it is a number of megabytes, 0 for none")
        return megabytes << 20
    floor = whole(nbytes)
    if floor is None:
        raise TypeError(f"lazy_buffer: free_floor is {nbytes!r}; it is a whole number of bytes, 0 for none")
    if floor < 0:
        raise ValueError(f"lazy_buffer: free_floor is {floor}; it cannot be negative, 0 is none")
    return floor
