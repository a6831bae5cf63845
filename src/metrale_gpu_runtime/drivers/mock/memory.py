"""The mock's memory: invented addresses over real bytes, so that a copy moves something and a lost one shows."""

from __future__ import annotations

import ctypes
from bisect import bisect_right, insort
from dataclasses import dataclass, field

from ...driver import MemoryKind
from ...errors import OutOfDeviceMemory

FIRST_ADDRESS = 0x1000_0000
ALIGNMENT = 256


class ContractViolation(AssertionError):
    """The engine broke a promise the driver contract makes: an engine's error, never a user's."""


@dataclass(slots=True, eq=False)
class Region:
    """One live allocation. `pending` counts the queued operations that name it.

    Pinned memory is known by two addresses, a real one of the host and an invented one of the device.
    """

    base: int
    nbytes: int
    kind: MemoryKind
    data: memoryview
    device_base: int
    pending: int = 0
    keep: object = field(default=None, repr=False)


class MockMemory:
    """Allocations at addresses that only go up from 0x1000_0000 in steps of 256, none ever used twice."""

    def __init__(self, total: int, reserved: int, fill: int | None) -> None:
        self.total = total
        self.free = total - reserved
        self._fill = fill
        self._next = FIRST_ADDRESS
        self._bases: list[int] = []
        self._regions: dict[int, Region] = {}

    @property
    def live(self) -> list[Region]:
        """The allocations that were not given back, each once."""
        return [region for base, region in self._regions.items() if base == region.base]

    def allocate(self, nbytes: int, kind: MemoryKind) -> Region:
        if nbytes > self.free:
            raise OutOfDeviceMemory(
                f"mock: {nbytes} bytes asked for, {self.free} of {self.total} free",
                nbytes=nbytes,
                free=self.free,
                total=self.total,
            )
        keep: object = None
        try:
            if kind is MemoryKind.PINNED:
                block = (ctypes.c_char * (nbytes + ALIGNMENT))()
                host = -(-ctypes.addressof(block) // ALIGNMENT) * ALIGNMENT
                keep = block
                data = memoryview((ctypes.c_ubyte * nbytes).from_address(host)).cast("B")
            else:
                data = memoryview(bytearray(nbytes))
        except (MemoryError, OverflowError) as error:
            raise OutOfDeviceMemory(
                f"mock: this host has no {nbytes} bytes to stand for device memory", nbytes=nbytes, total=self.total
            ) from error
        if self._fill is not None:
            data[:] = bytes([self._fill]) * nbytes
        device_base = self._next
        self._next += -(-nbytes // ALIGNMENT) * ALIGNMENT
        self.free -= nbytes
        base = host if kind is MemoryKind.PINNED else device_base
        region = Region(base, nbytes, kind, data, device_base, keep=keep)
        for address in {base, device_base}:
            self._regions[address] = region
            insort(self._bases, address)
        return region

    def release(self, address: int, kind: MemoryKind) -> Region:
        region = self._regions.get(address)
        if region is None or region.base != address or region.kind is not kind:
            raise ContractViolation(f"free({address:#x}, {kind.value}) of what alloc never returned or has freed")
        for base in {region.base, region.device_base}:
            del self._regions[base]
            self._bases.remove(base)
        self.free += region.nbytes
        return region

    def find(self, address: int) -> tuple[Region, int] | None:
        """The allocation in which the address lies and its offset there, or None."""
        at = bisect_right(self._bases, address)
        if at == 0:
            return None
        base = self._bases[at - 1]
        region = self._regions[base]
        offset = address - base
        return (region, offset) if offset < region.nbytes else None

    def view(self, address: int, nbytes: int) -> memoryview:
        """The bytes at an address, writable, without a copy. Raises IndexError when not all lie in one allocation."""
        found = self.find(address)
        if found is None:
            raise IndexError(f"address {address:#x} lies in no live allocation")
        region, offset = found
        if nbytes > region.nbytes - offset:
            raise IndexError(
                f"{nbytes} bytes at {address:#x} run {offset + nbytes - region.nbytes} bytes past the end of an "
                f"allocation of {region.nbytes} bytes"
            )
        return region.data[offset : offset + nbytes]
