"""DevicePtr and the numbers by which drivers know kernels, streams, events and graphs."""

from __future__ import annotations

from typing import NewType, Protocol

from .native import PointerState, know_pointer
from .whole_numbers import is_index

KernelHandle = NewType("KernelHandle", int)
ModuleHandle = NewType("ModuleHandle", int)
StreamHandle = NewType("StreamHandle", int)
EventHandle = NewType("EventHandle", int)
GraphHandle = NewType("GraphHandle", int)

DEFAULT_STREAM = StreamHandle(0)


class AllocationLike(Protocol):
    """What a DevicePtr needs to know of the allocation it lies in."""

    @property
    def base(self) -> int: ...

    @property
    def nbytes(self) -> int: ...


@know_pointer
class DevicePtr(PointerState):
    """An address on a device, and the allocation it lies in (None: untracked).

    Arithmetic keeps the allocation; it is not bounds-checked here but where the pointer is used, so that a
    one-past-the-end pointer can be formed. Equal and hashed by address and allocation. Immutable.

    Raises ValueError when the address is negative or over 64 bits, TypeError when it is no integer.
    """

    __slots__ = ("__weakref__",)

    _allocation: AllocationLike | None

    def __init__(self, address: int, allocation: AllocationLike | None = None) -> None:
        if not is_index(address):
            raise TypeError(f"a device address is an integer, not {type(address).__name__}")
        address = address.__index__()
        if not 0 <= address < 1 << 64:
            raise ValueError(f"a device address is 0 to 2**64 - 1, not {address:#x}")
        self._address = address
        self._allocation = allocation

    @property
    def address(self) -> int:
        """The 64-bit address; 0 is null."""
        return self._address

    @property
    def allocation(self) -> AllocationLike | None:
        """The allocation that holds it, or None for an untracked address."""
        return self._allocation

    @property
    def is_null(self) -> bool:
        """True for address 0."""
        return self._address == 0

    def __add__(self, nbytes: int) -> DevicePtr:
        if not is_index(nbytes):
            return NotImplemented
        return DevicePtr(self._address + nbytes.__index__(), self._allocation)

    __radd__ = __add__

    def __sub__(self, other: int) -> DevicePtr:
        if not is_index(other):
            return NotImplemented
        return DevicePtr(self._address - other.__index__(), self._allocation)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DevicePtr):
            return NotImplemented
        return self._address == other._address and self._allocation is other._allocation

    def __hash__(self) -> int:
        return hash((DevicePtr, self._address))

    def __repr__(self) -> str:
        if self._allocation is None:
            return f"DevicePtr({self._address:#x})"
        offset = self._address - self._allocation.base
        return f"DevicePtr({self._address:#x}, {offset} of {self._allocation.nbytes} bytes)"
