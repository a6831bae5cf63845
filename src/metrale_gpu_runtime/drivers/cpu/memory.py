"""Device memory of the CPU backend: host memory with gaps, and a memory of what was freed.

New memory reads as zeros, because that is how the system hands it out; nobody may rely on it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from collections import deque
from collections.abc import Iterable

from ...errors import OutOfDeviceMemory
from .ranges import LiveRanges

ALIGN = 256
GAP_NBYTES = 256
"""At least so many bytes after an allocation belong to no other, so that an overrun is never inside of one."""

QUARANTINE_COUNT = 64
QUARANTINE_NBYTES = 64 << 20
"""Freed memory is kept from reuse until so many frees, or bytes, later: a late access is then recognised."""

# Asking the system how much is left costs more than a small allocation.
_ASK_FROM_NBYTES = 16 << 20

_calloc = ctypes.pythonapi.PyMem_RawCalloc
_calloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
_calloc.restype = ctypes.c_void_p
_free = ctypes.pythonapi.PyMem_RawFree
_free.argtypes = (ctypes.c_void_p,)
_free.restype = None


def memory_figures() -> tuple[int, int]:
    """(free, total) bytes of this machine: what can be used without swapping, and what is built in."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return min(int(line.split()[1]) * 1024, total), total
    except FileNotFoundError:
        pass  # not Linux: what is free now is all that is known
    pages = os.sysconf("SC_AVPHYS_PAGES") if "SC_AVPHYS_PAGES" in os.sysconf_names else os.sysconf("SC_PHYS_PAGES")
    return pages * os.sysconf("SC_PAGE_SIZE"), total


class DeviceMemory:
    """Allocations, by address. Safe to use from several threads at once."""

    def __init__(self, ranges: LiveRanges) -> None:
        self._ranges = ranges
        self._lock = threading.Lock()
        self._raw: dict[int, int] = {}
        self._mapped: dict[int, mmap.mmap] = {}
        self._quarantine: deque[tuple[int, int]] = deque()
        self._quarantine_nbytes = 0
        self._freed: deque[tuple[int, int]] = deque(maxlen=4 * QUARANTINE_COUNT)

    def alloc(self, nbytes: int, *, writable: bool = True, is_far: bool = False) -> int:
        """The address of `nbytes` new bytes, aligned to 256. Raises OutOfDeviceMemory.

        `is_far`: above 4 GiB, whatever this Python is. One that is linked to a fixed address, as Debian's, has its heap
        below.
        """
        raw = 0
        if nbytes < _ASK_FROM_NBYTES or nbytes <= memory_figures()[0]:
            size = nbytes + ALIGN + GAP_NBYTES
            raw = self._map(size) if is_far else _calloc(1, size) or 0
        if not raw:
            free, total = memory_figures()
            raise OutOfDeviceMemory(
                f"cpu: {nbytes:,} bytes were asked for; {free:,} of {total:,} bytes of memory are free",
                nbytes=nbytes,
                free=free,
                total=total,
            )
        address = -(-raw // ALIGN) * ALIGN
        with self._lock:
            self._raw[address] = raw
        self._ranges.add(address, nbytes, writable=writable)
        return address

    def _map(self, size: int) -> int:
        try:
            mapped = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:
            return 0
        raw = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        with self._lock:
            self._mapped[raw] = mapped
        return raw

    def _give_back(self, raws: Iterable[int]) -> None:
        for raw in raws:
            with self._lock:
                mapped = self._mapped.pop(raw, None)
            if mapped is None:
                _free(raw)
            else:
                mapped.close()

    def free(self, address: int) -> None:
        """End an allocation. Raises KeyError for an address that is none."""
        nbytes = self._ranges.remove(address)
        with self._lock:
            raw = self._raw.pop(address)
            self._freed.append((address, address + nbytes))
            self._quarantine.append((raw, nbytes))
            self._quarantine_nbytes += nbytes
            released = []
            while len(self._quarantine) > QUARANTINE_COUNT or self._quarantine_nbytes > QUARANTINE_NBYTES:
                oldest, size = self._quarantine.popleft()
                self._quarantine_nbytes -= size
                released.append(oldest)
        self._give_back(released)

    def freed_around(self, address: int) -> tuple[int, int] | None:
        """(base, end) of the allocation that held the address and was freed last, among the latest frees."""
        with self._lock:
            return next((entry for entry in reversed(self._freed) if entry[0] <= address < entry[1]), None)

    def close(self) -> None:
        """Give everything back to the system."""
        with self._lock:
            raws = [*self._raw.values(), *(raw for raw, _ in self._quarantine)]
            self._raw.clear()
            self._quarantine.clear()
            self._quarantine_nbytes = 0
        self._give_back(raws)
