"""The live allocations of one device, and which buffer an address lies in.

A device pointer is a buffer's GPU address (MTLBuffer gpuAddress) plus an offset. Pinned memory has a host address as
well, by which it is known to the engine; both lead to the same buffer.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from ...driver import MemoryKind
from ...errors import BackendUnavailable, DriverError, OutOfDeviceMemory
from ...ranges import RangeMap
from ..host_memory import host_available_nbytes
from ..stray_addresses import stray
from .bindings import Bindings
from .temporaries import Temporaries, host_address

ALIGN = 256

GRANULE = 16
"""Buffers are made this much longer at most, so that a blit may always take whole words up to the end of one."""

_ATTEMPTS = 8


@dataclass(slots=True, eq=False)
class Allocation:
    """One buffer: `base` is its GPU address, `host` where the host sees it (0 in private storage).

    `nbytes` is what was asked for, `length` what the buffer has.
    """

    native: Any
    base: int
    nbytes: int
    length: int
    host: int
    kind: MemoryKind


class Memory:
    """Allocations by address. Safe to use from several threads.

    `bases` holds the allocations by their first address: what a launch asks first, without a lock.
    """

    def __init__(
        self, bindings: Bindings, device: Any, temporaries: Temporaries, *, name: str, is_unified: bool, storage: str
    ) -> None:
        self._bindings, self._device, self._temporaries, self._name = bindings, device, temporaries, name
        self._is_unified, self._is_private = is_unified, storage == "private"
        self._lock = threading.Lock()
        self._is_cleared = False
        self._ranges: RangeMap[Allocation] = RangeMap()
        self.bases: dict[int, Allocation] = {}

    # ------------------------------------------------ allocations

    def alloc(self, nbytes: int, kind: MemoryKind) -> int:
        """The GPU address of a new buffer, for pinned memory its host address. Raises OutOfDeviceMemory.

        GPU and host addresses are two spaces that know nothing of each other and share one book here, and above. A
        buffer whose addresses are taken in that book is kept aside until one is found whose are not.
        """
        aside = []
        for _ in range(_ATTEMPTS):
            allocation = self._make(nbytes, kind)
            if self._enter(allocation):
                return allocation.host if kind is MemoryKind.PINNED else allocation.base
            aside.append(allocation)
        raise DriverError(
            f"metal: {self._name} gave {len(aside)} buffers of {nbytes:,} bytes, each at an address that other memory "
            f"of this backend has on the other side (the last at {aside[-1].base:#x} for the GPU and "
            f"{aside[-1].host:#x} for the host)",
            call="newBufferWithLength:options:",
            code=0,
            code_name="addresses taken",
        )

    def free(self, address: int) -> None:
        """Let go of a buffer by the address that `alloc` returned. Command buffers that use it keep it themselves."""
        with self._lock:
            if self._is_cleared:
                return  # another thread closed the device meanwhile, and all went with it
            allocation = self.bases[address]
            for start in _starts(allocation):
                del self.bases[start]
                self._ranges.remove(start)

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._is_cleared = True
            self.bases.clear()
            self._ranges = RangeMap()

    # ------------------------------------------------ addresses

    def find(self, address: int, nbytes: int = 1, what: str = "") -> tuple[Allocation, int]:
        """(allocation, offset) of these bytes, all of them in it. Raises InvalidPointer; `what` begins its message."""
        with self._lock:
            allocation = self._ranges.find(address, nbytes)
            near = self._ranges.nearest(address) if allocation is None else None
        if allocation is None:
            raise stray(address, nbytes, near, what or "metal", self._name)
        offset = address - allocation.base
        if not 0 <= offset < allocation.nbytes:
            offset = address - allocation.host
        return allocation, offset

    def find_pinned(self, host: int, nbytes: int) -> tuple[Any, int] | None:
        """(MTLBuffer, offset) of these bytes of the host's where they are pinned memory of this device."""
        with self._lock:
            found = self._ranges.find(host, nbytes)
        # The same number may be an address of the GPU's.
        if found is None or found.kind is not MemoryKind.PINNED or not 0 <= host - found.host < found.nbytes:
            return None
        return found.native, host - found.host

    def device_address(self, host: int) -> int:
        """The GPU address of an address in pinned memory. Raises InvalidPointer."""
        allocation, offset = self.find(host, what="host_ptr_to_device")
        return allocation.base + offset

    # ------------------------------------------------ figures

    def figures(self) -> tuple[int, int]:
        """(free, total): what the device may use at all is its recommended working set (MTLDevice
        recommendedMaxWorkingSetSize). Where it shares the host's memory, no more is free than the host has."""
        free, total = self.device_free(), int(self._device.recommendedMaxWorkingSetSize())
        available = host_available_nbytes() if self._is_unified else None
        return (free if available is None else min(free, available)), total

    def device_free(self) -> int:
        """The recommended working set less what this process has allocated on the device."""
        total = int(self._device.recommendedMaxWorkingSetSize())
        return max(0, total - int(self._device.currentAllocatedSize()))

    # ------------------------------------------------ inside

    def _enter(self, allocation: Allocation) -> bool:
        starts = _starts(allocation)
        with self._lock:
            for at, start in enumerate(starts):
                try:
                    self._ranges.insert(start, allocation.nbytes, allocation)
                except ValueError:
                    for entered in starts[:at]:
                        self._ranges.remove(entered)
                    return False
            for start in starts:
                self.bases[start] = allocation
        return True

    def _make(self, nbytes: int, kind: MemoryKind) -> Allocation:
        is_private = self._is_private and kind is MemoryKind.DEVICE
        metal = self._bindings.metal
        options = metal.MTLResourceStorageModePrivate if is_private else metal.MTLResourceStorageModeShared
        rounded = -(-nbytes // GRANULE) * GRANULE
        with self._bindings.pool():
            native = self._device.newBufferWithLength_options_(rounded, options)
            if native is None and self._temporaries.drain():
                native = self._device.newBufferWithLength_options_(rounded, options)
            if native is None:
                raise self._out_of_memory(nbytes)
            base = self._address(native)
            host = 0 if is_private else host_address(native, rounded)
        return Allocation(native, base, nbytes, rounded, host, kind)

    def _address(self, native: Any) -> int:
        try:
            address = int(native.gpuAddress())
        except AttributeError:
            address = 0
        if address == 0:
            raise BackendUnavailable(
                f"metal: {self._name} gives buffers no GPU address (MTLBuffer gpuAddress); that takes macOS 13 or "
                "later and a GPU with Metal 3",
                backend="metal",
            )
        if address % ALIGN:
            raise DriverError(
                f"metal: {self._name} put a buffer at {address:#x}, which is no multiple of {ALIGN}",
                call="newBufferWithLength:options:",
                code=0,
                code_name="misaligned buffer",
            )
        return address

    def _out_of_memory(self, nbytes: int) -> OutOfDeviceMemory:
        free, total = self.figures()
        return OutOfDeviceMemory(
            f"metal: {nbytes:,} bytes were asked for; {self._name} has {free:,} of {total:,} bytes free, and allows "
            f"{int(self._device.maxBufferLength()):,} in one buffer",
            nbytes=nbytes,
            free=free,
            total=total,
        )


def _starts(allocation: Allocation) -> tuple[int, ...]:
    if allocation.kind is MemoryKind.PINNED and allocation.host != allocation.base:
        return allocation.base, allocation.host
    return (allocation.base,)
