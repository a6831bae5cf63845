"""What random programs are held against: the bytes after every operation in program order, and who has to wait for whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Clock:
    """How far one stream was told to go, and what of the others it has waited for."""

    def __init__(self, name: str) -> None:
        self.name, self.count = name, 0
        self.knows: dict[Clock, int] = {}

    def snapshot(self) -> dict[Clock, int]:
        return {**self.knows, self: self.count}

    def learn(self, snapshot: Mapping[Clock, int]) -> None:
        learn(self.knows, snapshot)

    def __repr__(self) -> str:
        return f"{self.name}@{self.count}"


def learn(known: dict[Clock, int], snapshot: Mapping[Clock, int]) -> None:
    for clock, count in snapshot.items():
        if count > known.get(clock, 0):
            known[clock] = count


@dataclass(eq=False)
class Accesses:
    """Which operation of which stream last wrote some memory, and which have read it since."""

    writers: dict[Clock, int] = field(default_factory=dict)
    readers: dict[Clock, int] = field(default_factory=dict)

    def missing(self, clock: Clock | None, host: Mapping[Clock, int], is_write: bool) -> list[Clock]:
        """The streams that `clock` (None: the host) has to wait for before it touches the memory."""
        found = []
        for group in (self.writers, self.readers) if is_write else (self.writers,):
            for other, count in group.items():
                known = host.get(other, 0) if clock is None else max(clock.knows.get(other, 0), host.get(other, 0))
                if other is not clock and known < count and other not in found:
                    found.append(other)
        return found

    def note(self, clock: Clock, is_write: bool) -> None:
        if is_write:
            self.writers, self.readers = {clock: clock.count}, {}
        else:
            self.readers[clock] = clock.count

    def all_of(self) -> dict[Clock, int]:
        both = dict(self.writers)
        learn(both, self.readers)
        return both


class Region:
    """A stretch of memory as it should be. `known` says which bytes are: what a failed call left is not."""

    def __init__(self, holder: Any, base: int, nbytes: int) -> None:
        self.holder, self.base, self.nbytes = holder, base, nbytes
        self.data = np.zeros(nbytes, np.uint8)
        self.known = np.zeros(nbytes, bool)
        self.accesses = Accesses()

    def __repr__(self) -> str:
        return f"{self.holder}+{self.base}"


@dataclass(frozen=True)
class Ref:
    """Bytes of a region, as an operation names them."""

    region: Region
    offset: int
    nbytes: int

    @property
    def data(self) -> np.ndarray:
        return self.region.data[self.offset : self.offset + self.nbytes]

    @property
    def known(self) -> np.ndarray:
        return self.region.known[self.offset : self.offset + self.nbytes]

    def first(self, nbytes: int) -> Ref:
        return Ref(self.region, self.offset, nbytes)

    def overlaps(self, other: Ref) -> bool:
        return (
            self.region.holder is other.region.holder
            and self.region.base + self.offset < other.region.base + other.offset + other.nbytes
            and other.region.base + other.offset < self.region.base + self.offset + self.nbytes
        )

    def __repr__(self) -> str:
        return f"{self.region}[{self.offset}:{self.offset + self.nbytes}]"


@dataclass(eq=False)
class Effect:
    """What one operation reads and writes, and how it changes the model."""

    reads: list[Ref]
    writes: list[Ref]
    apply: Callable[[], None]

    def touched(self) -> dict[Region, bool]:
        """Every region, and whether it is written."""
        found = {ref.region: False for ref in self.reads}
        found.update({ref.region: True for ref in self.writes})
        return found

    def spoil(self) -> None:
        """It may or may not have happened."""
        for ref in self.writes:
            ref.known[:] = False


def nothing() -> None:
    return None


def fill(target: Ref, value: int, width: int) -> Effect:
    def apply() -> None:
        target.data[:] = np.frombuffer(value.to_bytes(width, "little") * (target.nbytes // width), np.uint8)
        target.known[:] = True

    return Effect([], [target], apply)


def put(target: Ref, source: np.ndarray) -> Effect:
    """Bytes of the host; read when the operation is modelled, so a replay sees what the array holds then."""

    def apply() -> None:
        target.data[:] = source
        target.known[:] = True

    return Effect([], [target], apply)


def move(source: Ref, target: Ref) -> Effect:
    def apply() -> None:
        target.data[:] = source.data.copy()
        target.known[:] = source.known.copy()

    return Effect([source], [target], apply)


def move_rows(source: Ref, src_pitch: int, target: Ref, dst_pitch: int, width: int, height: int) -> Effect:
    def apply() -> None:
        for row in range(height):
            here, there = (
                slice(row * src_pitch, row * src_pitch + width),
                slice(row * dst_pitch, row * dst_pitch + width),
            )
            target.data[there] = source.data[here]
            target.known[there] = source.known[here]

    return Effect([source], [target], apply)


def affine(values: Ref, threads: int, factor: int, addend: int) -> Effect:
    """`values` is as long as the kernel's count says; only so many threads run."""
    part = values.first(4 * min(threads, values.nbytes // 4))

    def apply() -> None:
        words = part.data.view(np.uint32)
        words[:] = words * np.uint32(factor) + np.uint32(addend)
        part.known[:] = np.repeat(part.known.reshape(-1, 4).all(axis=1), 4)

    return Effect([part], [part], apply) if part.nbytes else Effect([], [], nothing)


def mix(into: Ref, source: Ref, threads: int, odd: int, factor: int) -> Effect:
    count = 4 * min(threads, into.nbytes // 4)
    target, part = into.first(count), source.first(count)

    def apply() -> None:
        words = target.data.view(np.uint32)
        words[:] = words * np.uint32(factor) + part.data.view(np.uint32).copy() + np.uint32(odd)
        known = (target.known & part.known).reshape(-1, 4).all(axis=1)
        target.known[:] = np.repeat(known, 4)

    return Effect([part, target], [target], apply) if count else Effect([], [], nothing)
