"""Device memory: one memory file, seen by the host at one address and by the GPU at another.

The GPU's view is closed except for what an encoder that runs made resident, so that a kernel which follows an address
that was neither bound nor named by `useResource:` crashes here as it does on a device. At rest each view is one mapping,
however many buffers live in it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable

from .ownership import lock

PAGE = 4096
_NBYTES = 1 << 38
_NONE, _READ, _WRITE = 0, 1, 2
_NO_RESERVE = 0x4000
_PUNCH = 0x01 | 0x02  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)


def _map(file: int, protection: int) -> int:
    address = _libc.mmap(None, _NBYTES, protection, mmap.MAP_SHARED | _NO_RESERVE, file, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), f"no room for {_NBYTES} bytes of the Metal stand-in's device memory")
    return int(address)


class Arena:
    """Memory in whole pages, by offset; addresses of either view are the offset plus `host` or `gpu`."""

    def __init__(self) -> None:
        self._file = os.memfd_create("metal stand-in")
        os.ftruncate(self._file, _NBYTES)
        self.host = _map(self._file, _READ | _WRITE)
        self.gpu = _map(self._file, _NONE)
        self._lock = lock
        # The first page stays free: no address of a buffer is the view's own.
        self._end = PAGE
        self._free: dict[int, list[int]] = {}
        # By offset: how many encoders that run may read it, and how many may write it.
        self._residents: dict[int, list[int]] = {}

    def take(self, nbytes: int) -> tuple[int, int]:
        """Offset and rounded size of a zeroed block."""
        rounded = -(-nbytes // PAGE) * PAGE
        with self._lock:
            freed = self._free.get(rounded)
            if freed:
                return freed.pop(), rounded
            offset = self._end
            if offset + rounded > _NBYTES:
                raise MemoryError(f"the Metal stand-in's {_NBYTES} bytes of device memory are used up")
            self._end += rounded
            return offset, rounded

    def give(self, offset: int, rounded: int) -> None:
        """Take the block back; its pages are emptied, so that the next holder reads zeros."""
        if _libc.fallocate(self._file, _PUNCH, offset, rounded):
            raise OSError(ctypes.get_errno(), "the memory of a buffer could not be given back")
        with self._lock:
            self._free.setdefault(rounded, []).append(offset)

    def _protect(self, offset: int, rounded: int, counts: list[int]) -> None:
        access = _READ | _WRITE if counts[1] else _READ if counts[0] else _NONE
        if _libc.mprotect(self.gpu + offset, rounded, access):
            raise OSError(ctypes.get_errno(), "a buffer could not be made resident")

    def open(self, blocks: Iterable[tuple[int, int, bool]]) -> None:
        """Make blocks (offset, rounded size, writable) resident: once more for each encoder that runs."""
        with self._lock:
            for offset, rounded, writable in blocks:
                counts = self._residents.setdefault(offset, [0, 0])
                counts[writable] += 1
                if counts[writable] == 1:
                    self._protect(offset, rounded, counts)

    def close(self, blocks: Iterable[tuple[int, int, bool]]) -> None:
        """Take back what `open` gave."""
        with self._lock:
            for offset, rounded, writable in blocks:
                counts = self._residents[offset]
                counts[writable] -= 1
                if counts[writable] == 0:
                    self._protect(offset, rounded, counts)
                if counts == [0, 0]:
                    del self._residents[offset]

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Between two offsets, as a blit does it."""
        ctypes.memmove(self.host + target, self.host + source, nbytes)

    def fill(self, target: int, value: int, nbytes: int) -> None:
        ctypes.memset(self.host + target, value, nbytes)

    def write(self, target: int, data: bytes) -> None:
        ctypes.memmove(self.host + target, data, len(data))


_arena: Arena | None = None


def arena() -> Arena:
    """This process's arena: one for all time, since views of it may outlive what was made in it."""
    global _arena
    with lock:
        if _arena is None:
            _arena = Arena()
        return _arena
