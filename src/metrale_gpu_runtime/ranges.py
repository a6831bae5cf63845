"""Address ranges to the objects that own them: which allocation holds this address, in O(log n)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class RangeMap(Generic[T]):
    """Disjoint address ranges, each with its object. Lookups are O(log n).

    Insertion and removal move a few machine words per entry above the place, which stays cheap at 100,000 entries.
    Not safe for use from several threads at once; the owner holds a lock.
    """

    __slots__ = ("_ends", "_objects", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._objects: list[T] = []

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[T]:
        """The objects in the order of their addresses, as they were when the iteration began."""
        return iter(tuple(self._objects))

    def items(self) -> Iterator[tuple[int, int, T]]:
        """(address, nbytes, object) in the order of addresses, as they were when the iteration began."""
        rows = [(s, e - s, o) for s, e, o in zip(self._starts, self._ends, self._objects, strict=True)]
        return iter(rows)

    def insert(self, address: int, nbytes: int, owner: T) -> None:
        """Add a range of at least one byte. Raises ValueError when it is empty or overlaps another."""
        if nbytes < 1 or address < 0:
            raise ValueError(f"a range has an address and at least 1 byte, not {address:#x} and {nbytes}")
        at = bisect_left(self._starts, address)
        end = address + nbytes
        for other in (at - 1, at):
            if 0 <= other < len(self._starts) and self._starts[other] < end and address < self._ends[other]:
                raise ValueError(
                    f"the range {address:#x}..{end:#x} overlaps {self._starts[other]:#x}..{self._ends[other]:#x}"
                )
        self._starts.insert(at, address)
        self._ends.insert(at, end)
        self._objects.insert(at, owner)

    def remove(self, address: int) -> T:
        """Take out the range that starts at this address and return its object. Raises KeyError."""
        at = bisect_left(self._starts, address)
        if at == len(self._starts) or self._starts[at] != address:
            raise KeyError(address)
        del self._starts[at], self._ends[at]
        return self._objects.pop(at)

    def find(self, address: int, nbytes: int = 1) -> T | None:
        """The object whose range holds all of these bytes, or None.

        No bytes at all (0) are held by a range that contains the address or ends at it.
        """
        at = bisect_right(self._starts, address) - 1
        if at < 0 or address + nbytes > self._ends[at]:
            return None
        return self._objects[at]

    def nearest(self, address: int) -> tuple[T, int] | None:
        """The object whose range is closest, and the distance in bytes; None when there are none.

        0 lies inside; a positive distance is that past the range's last byte (1: just behind it), a negative one that
        before its first. Of two at the same distance the one below is taken.
        """
        if not self._starts:
            return None
        above = bisect_right(self._starts, address)
        below = above - 1
        if below < 0:
            return self._objects[above], address - self._starts[above]
        past = address - self._ends[below] + 1
        if past <= 0:
            return self._objects[below], 0
        if above < len(self._starts) and self._starts[above] - address < past:
            return self._objects[above], address - self._starts[above]
        return self._objects[below], past
