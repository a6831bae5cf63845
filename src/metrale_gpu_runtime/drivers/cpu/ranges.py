"""What kernels may touch: the table of live memory that a launch with check="memory" looks its addresses up in."""

from __future__ import annotations

import ctypes
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter

from . import abi

_WORDS = ctypes.sizeof(abi.Range) // 8
_WRITABLE = 1


class Snapshot:
    """The table as it was at one moment, for native code; stays as it is and where it is while it is referenced."""

    __slots__ = ("_words", "address", "count")

    def __init__(self, words: array[int]) -> None:
        self._words = words
        self.address, length = words.buffer_info()
        self.count = length // _WORDS


class LiveRanges:
    """Live memory, sorted by address and not overlapping. Safe to use from several threads at once.

    Device memory never overlaps; host memory lent to kernels may, with itself and with device memory. Ranges that
    overlap are one range in the table, writable where any of them is: an address does not tell through which array
    it was reached.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own: dict[int, tuple[int, int]] = {}
        self._lent: Counter[tuple[int, int, int]] = Counter()
        # True where a range of the table stands for several, so that it cannot simply be taken out.
        self._merged = False
        self._bases: list[int] = []
        self._words: array[int] = array("Q")
        self._snapshot: Snapshot | None = None

    def add(self, base: int, nbytes: int, *, writable: bool = True) -> None:
        """Device memory that is alive from now on."""
        with self._lock:
            flags = _WRITABLE if writable else 0
            self._own[base] = (base + nbytes, flags)
            self._insert(base, base + nbytes, flags)

    def remove(self, base: int) -> int:
        """End it; its size. Raises KeyError when it is not there."""
        with self._lock:
            end, _ = self._own.pop(base)
            self._take_out(base)
            return end - base

    def lend(self, base: int, nbytes: int, *, writable: bool) -> None:
        """Host memory that kernels may use until it is returned as often as it was lent."""
        entry = (base, base + nbytes, _WRITABLE if writable else 0)
        if nbytes == 0:
            return
        with self._lock:
            self._lent[entry] += 1
            if self._lent[entry] == 1:
                self._insert(*entry)

    def take_back(self, base: int, nbytes: int) -> None:
        """End one lending of this memory: a writable one last. Raises KeyError when it is not lent."""
        if nbytes == 0:
            return
        with self._lock:
            entry = (base, base + nbytes, 0)
            if entry not in self._lent:
                entry = (base, base + nbytes, _WRITABLE)
            if entry not in self._lent:
                raise KeyError(base)
            self._lent[entry] -= 1
            if self._lent[entry] == 0:
                del self._lent[entry]
                self._take_out(base)

    def snapshot(self) -> Snapshot:
        """The table as it is now."""
        snapshot = self._snapshot
        if snapshot is None:
            with self._lock:
                snapshot = self._snapshot = self._snapshot or Snapshot(self._words)
        return snapshot

    def nearest(self, address: int) -> tuple[int, int] | None:
        """(base, end) of the live range that holds the address or comes nearest to it."""
        with self._lock:
            at = bisect_right(self._bases, address)
            around = [self._entry(i) for i in (at - 1, at) if 0 <= i < len(self._bases)]
        if not around:
            return None
        base, end, _ = min(around, key=lambda entry: max(entry[0] - address, address - entry[1], 0))
        return base, end

    # ------------------------------------------------ under the lock

    def _entry(self, index: int) -> tuple[int, int, int]:
        base, end, flags = self._words[index * _WORDS : (index + 1) * _WORDS]
        return base, end, flags

    def _own_words(self) -> array[int]:
        # A snapshot may be in use by a running launch: change a copy then.
        if self._snapshot is not None:
            self._words = self._words[:]
            self._snapshot = None
        return self._words

    def _insert(self, base: int, end: int, flags: int) -> None:
        at = bisect_left(self._bases, base)
        overlaps = (at < len(self._bases) and self._bases[at] < end) or (at > 0 and self._entry(at - 1)[1] > base)
        if overlaps:
            self._rebuild()
            return
        words = self._own_words()
        self._bases.insert(at, base)
        words[at * _WORDS : at * _WORDS] = array("Q", (base, end, flags))

    def _take_out(self, base: int) -> None:
        if self._merged:
            self._rebuild()
            return
        at = bisect_left(self._bases, base)
        words = self._own_words()
        del self._bases[at]
        del words[at * _WORDS : (at + 1) * _WORDS]

    def _rebuild(self) -> None:
        entries = [(base, end, flags) for base, (end, flags) in self._own.items()]
        entries += self._lent
        merged: list[tuple[int, int, int]] = []
        self._merged = False
        for base, end, flags in sorted(entries):
            if merged and base < merged[-1][1]:
                first, last, before = merged[-1]
                merged[-1] = (first, max(last, end), before | flags)
                self._merged = True
            else:
                merged.append((base, end, flags))
        self._snapshot = None
        self._bases = [base for base, _, _ in merged]
        self._words = array("Q", (word for entry in merged for word in entry))
