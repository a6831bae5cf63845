"""The mock's memory: invented addresses over real bytes, so that a copy moves something and a lost one shows."""

from __future__ import annotations

import ctypes
from bisect import bisect_right, insort
from dataclasses import dataclass, field

from ...driver import MemoryKind
from ...errors import OutOfDeviceMemory

FIRST_ADDRESS = 0x1000_0000
ALIGNMENT = 256
GRANULE = 2 << 20
"""The unit in which memory is put behind reserved addresses; that of NVIDIA's devices."""


class ContractViolation(AssertionError):
    """The engine broke a promise the driver contract makes: an engine's error, never a user's."""


@dataclass(slots=True, eq=False)
class Region:
    """One live allocation. `pending` counts the queued operations that name it.

    Pinned memory is known by two addresses, a real one of the host and an invented one of the device. A reserved
    range has memory only behind its `mapped` granules. Memory of a stream's order is `ready` when the stream has come
    to its allocation, and `given_back` from the moment its free was queued.
    """

    base: int
    nbytes: int
    kind: MemoryKind
    data: memoryview
    device_base: int
    pending: int = 0
    keep: object = field(default=None, repr=False)
    ready: bool = True
    given_back: bool = False
    mapped: set[int] | None = None

    def holds(self, offset: int, nbytes: int) -> bool:
        """Whether all of these bytes are there."""
        if offset < 0 or offset + nbytes > self.nbytes:
            return False
        if self.mapped is None:
            return True
        last = offset + max(nbytes, 1) - 1
        return all(granule in self.mapped for granule in range(offset // GRANULE, last // GRANULE + 1))


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
        return [region for base, region in self._regions.items() if base == region.base and region.mapped is None]

    @property
    def reserved(self) -> list[Region]:
        """The address ranges that were not given back."""
        return [region for region in self._regions.values() if region.mapped is not None]

    def allocate(self, nbytes: int, kind: MemoryKind) -> Region:
        self._check_room(nbytes)
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

    def _check_room(self, nbytes: int) -> None:
        if nbytes > self.free:
            raise OutOfDeviceMemory(
                f"mock: {nbytes} bytes asked for, {self.free} of {self.total} free",
                nbytes=nbytes,
                free=self.free,
                total=self.total,
            )

    def reserve(self, nbytes: int) -> Region:
        """Addresses for whole granules, without memory."""
        nbytes = -(-nbytes // GRANULE) * GRANULE
        base = -(-self._next // GRANULE) * GRANULE
        self._next = base + nbytes
        region = Region(base, nbytes, MemoryKind.DEVICE, memoryview(bytearray()), base, mapped=set())
        self._regions[base] = region
        insort(self._bases, base)
        return region

    def map(self, address: int, nbytes: int) -> None:
        """Put memory behind granules that have none. Raises OutOfDeviceMemory; nothing is mapped then."""
        region, granules = self._granules(address, nbytes, "map_memory")
        assert region.mapped is not None
        if not region.mapped.isdisjoint(granules):
            raise ContractViolation(f"map_memory({address:#x}, {nbytes}) of what is mapped already")
        self._check_room(nbytes)
        # The bytes move; whoever looks at them asks for a view anew with each operation.
        end = max(len(region.data), address - region.base + nbytes)
        data = memoryview(bytearray(end))
        data[: len(region.data)] = region.data
        fill = bytes([self._fill or 0]) * nbytes
        data[address - region.base : address - region.base + nbytes] = fill
        region.data = data
        region.mapped.update(granules)
        self.free -= nbytes

    def unmap(self, address: int, nbytes: int) -> None:
        region, granules = self._granules(address, nbytes, "unmap_memory")
        assert region.mapped is not None
        if not region.mapped.issuperset(granules):
            raise ContractViolation(f"unmap_memory({address:#x}, {nbytes}) of what is not mapped")
        if region.pending:
            raise ContractViolation(f"unmap_memory({address:#x}) while {region.pending} queued operations use it")
        region.mapped.difference_update(granules)
        self.free += nbytes

    def _granules(self, address: int, nbytes: int, call: str) -> tuple[Region, range]:
        at = bisect_right(self._bases, address)
        region = self._regions[self._bases[at - 1]] if at else None
        if region is None or region.mapped is None or address + nbytes > region.base + region.nbytes:
            raise ContractViolation(f"{call}({address:#x}, {nbytes}) outside of any reserved range")
        if nbytes < 1 or (address - region.base) % GRANULE or nbytes % GRANULE:
            raise ContractViolation(f"{call}({address:#x}, {nbytes}) of no whole granules of {GRANULE} bytes")
        first = (address - region.base) // GRANULE
        return region, range(first, first + nbytes // GRANULE)

    def release_range(self, base: int, nbytes: int) -> None:
        region = self._regions.get(base)
        if region is None or region.mapped is None or region.nbytes != nbytes:
            raise ContractViolation(f"release_addresses({base:#x}, {nbytes}) of what reserve_addresses never returned")
        if region.mapped:
            raise ContractViolation(f"release_addresses({base:#x}) with {len(region.mapped)} granules mapped")
        del self._regions[base]
        self._bases.remove(base)

    def release(self, address: int, kind: MemoryKind) -> Region:
        region = self._regions.get(address)
        if region is None or region.base != address or region.kind is not kind or region.mapped is not None:
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
        return (region, offset) if region.holds(offset, 1) else None

    def view(self, address: int, nbytes: int) -> memoryview:
        """The bytes at an address, writable, without a copy. Raises IndexError when not all lie in one allocation."""
        found = self.find(address)
        if found is None:
            raise IndexError(f"address {address:#x} lies in no live allocation")
        region, offset = found
        if not region.holds(offset, nbytes):
            if region.mapped is not None and offset + nbytes <= region.nbytes:
                raise IndexError(f"{nbytes} bytes at {address:#x} run into addresses that nothing is mapped to")
            raise IndexError(
                f"{nbytes} bytes at {address:#x} run {offset + nbytes - region.nbytes} bytes past the end of an "
                f"allocation of {region.nbytes} bytes"
            )
        return region.data[offset : offset + nbytes]
