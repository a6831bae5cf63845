"""What random programs are held against: the bytes after every operation in program order, and who has to wait for whom."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from standin import StandIn
from standin.records import LAUNCH_FUNCTION, LOAD_FUNCTION

PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry affine(
    .param .u64 .ptr .global .align 4 values, .param .u32 count, .param .u32 factor, .param .u32 addend)
{ ret; }
.visible .entry mix(
    .param .u64 .ptr .global .align 4 into, .param .u64 .ptr .global .align 4 from, .param .u8 odd, .param .u32 count,
    .param .u32 factor)
{ ret; }
"""


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


class PlainExecutor:
    """Runs the two kernels of PTX in the stand-in's memory. `failures` holds what could not be run at all."""

    def __init__(self, standin: StandIn) -> None:
        self._standin = standin
        self._ranges: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        self.failures: list[BaseException] = []
        self.launches = 0
        self._callbacks = (
            LOAD_FUNCTION(lambda record: 0),
            LOAD_FUNCTION(lambda record: 0),
            LAUNCH_FUNCTION(self._launch),
        )
        standin.set_executor(*self._callbacks)

    def close(self) -> None:
        self._standin.set_executor(None, None, None)

    def _launch(self, record: Any) -> int:
        try:
            execution = record.contents
            launch = execution.launch.contents
            image = ctypes.string_at(execution.parameters, launch.parameter_nbytes)
            self.launches += 1
            return self._run(launch, image)
        except BaseException as error:
            self.failures.append(error)
            return 999

    def _run(self, launch: Any, image: bytes) -> int:
        threads = launch.grid[0] * launch.block[0]
        if launch.kernel == b"affine":
            address, count, factor, addend = struct.unpack("<QIII", image)
            words = self._words(launch.context, address, min(count, threads))
            if words is None:
                return 700
            words[:] = words * np.uint32(factor) + np.uint32(addend)
            return 0
        address, source, odd, count, factor = struct.unpack("<QQB3xII", image)
        into = self._words(launch.context, address, min(count, threads))
        given = self._words(launch.context, source, min(count, threads))
        if into is None or given is None:
            return 700
        into[:] = into * np.uint32(factor) + given.copy() + np.uint32(odd)
        return 0

    def _words(self, context: int, address: int, count: int) -> np.ndarray | None:
        if address % 4 or not any(base <= address and address + 4 * count <= end for base, end in self._of(context)):
            return None
        return np.frombuffer((ctypes.c_char * (4 * count)).from_address(address), np.uint32)

    def _of(self, context: int) -> list[tuple[int, int]]:
        version = self._standin.memory_version()
        known = self._ranges.get(context)
        if known is None or known[0] != version:
            ranges: list[tuple[int, int]] = []
            for each in sorted(self._standin.ranges(context), key=lambda each: each.address):
                # The pieces of a lazy buffer continue each other.
                begin = ranges.pop()[0] if ranges and ranges[-1][1] == each.address else each.address
                ranges.append((begin, each.address + each.nbytes))
            known = self._ranges[context] = (version, ranges)
        return known[1]
