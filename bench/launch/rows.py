"""One row of a table: Python statements as a program would write them, checked, then timed against the floor."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat

from .floor import Floor
from .shapes import BLOCK, GRID, Shape
from .stub import Stub

TIMING_NS = 4_000_000
"""About how long one timing takes. Longer ones meet the host's change of speed, shorter ones the clock's grain."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a launch must hold when it arrives: bytes at their offsets, or bytes that are somewhere in it.

    The second is for contenders that compile their own kernels and lay out their parameters as they like.
    """

    image: tuple[tuple[int, bytes], ...] = ()
    somewhere: tuple[bytes, ...] = ()
    kernel: str | None = None

    def check(self, stub: Stub, who: str, *, grid: int = GRID, block: int = BLOCK) -> None:
        seen = stub.last_launch()
        if self.kernel is not None and seen.kernel != self.kernel:
            raise RuntimeError(f"{who} launched {seen.kernel}, not {self.kernel}; nothing is timed")
        if (seen.grid, seen.block) != ((grid, 1, 1), (block, 1, 1)):
            raise RuntimeError(f"{who} launched grid {seen.grid} block {seen.block}; nothing is timed")
        for offset, data in self.image:
            if seen.parameters[offset : offset + len(data)] != data:
                raise RuntimeError(f"{who}: the argument at byte {offset} did not arrive as sent; nothing is timed")
        for data in self.somewhere:
            if data not in seen.parameters:
                raise RuntimeError(f"{who}: {data.hex()} is nowhere among the parameters; nothing is timed")


@dataclass(frozen=True)
class Row:
    """Statements that are run in turn, and the names they use. Each makes `launches` launches.

    `expected`: what the last launch of each statement must hold; nothing for a contender that does not launch over the
    stand-in. `verify`: what else has to hold before it is timed.
    """

    name: str
    statements: tuple[str, ...]
    names: Mapping[str, object]
    expected: tuple[Sent, ...]
    launches: int = 1
    verify: Callable[[Stub], object] | None = None

    @property
    def launches_of_a_pass(self) -> int:
        return self.launches * len(self.statements)

    def loop(self, statements: Sequence[str] | None = None) -> Callable[[int], None]:
        """A function that runs the statements so many times. They are compiled into its body, as `timeit` does it: a
        call of a Python function for each would cost as much as the floor."""
        body = "\n        ".join(statements if statements is not None else self.statements)
        names = ", ".join(self.names)
        source = f"def loop(_times, *, {names}):\n    for _ in _repeat(None, _times):\n        {body}\n"
        space: dict[str, object] = {"_repeat": repeat}
        exec(compile(source, f"<{self.name}>", "exec"), space)
        return partial(space["loop"], **self.names)  # type: ignore[arg-type]

    def check(self, stub: Stub) -> None:
        """Raise unless every statement makes its launches, and what it sends arrives."""
        for statement, sent in zip(self.statements, self.expected, strict=True) if self.expected else ():
            run = self.loop([statement])
            run(1)  # the first may compile or remember something, and launch to do so
            before = stub.launch_count
            run(1)
            made = stub.launch_count - before
            if made != self.launches:
                raise RuntimeError(f"{self.name}: {statement} made {made} launches, not {self.launches}")
            sent.check(stub, self.name)
        if self.verify is not None:
            self.verify(stub)


@dataclass
class Figures:
    """The timings of one row and one shape in one process: ns per launch, and those of the floor just before each."""

    name: str
    count: int
    ns: list[float] = field(default_factory=list)
    floor_ns: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        return [own / floor for own, floor in zip(self.ns, self.floor_ns, strict=True)]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)


def pin() -> int:
    """Bind this thread to one processor, the last it may use; returns its number."""
    processor = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processor})
    return processor


def times_for(run: Callable[[int], object], nanoseconds: float = TIMING_NS) -> int:
    """How often `run` has to go round for a timing of so many nanoseconds."""
    times = 1
    while True:
        took = timed(run, times)
        if took > nanoseconds / 8:
            return max(1, round(times * nanoseconds / took))
        times *= 4


def timed(run: Callable[[int], object], times: int) -> int:
    """Nanoseconds of this thread's CPU time."""
    started = time.thread_time_ns()
    run(times)
    return time.thread_time_ns() - started


def measure(
    floor: Floor, shape: Shape, rows: Sequence[Row], pairs: int, before_each: Callable[[], None] = lambda: None
) -> list[Figures]:
    """Time the rows in turn, each timing just after one of the floor. The rows have been checked."""
    loops = [row.loop() for row in rows]
    counts = [times_for(loop) for loop in loops]
    floor_times = times_for(partial(floor.run, shape))
    found = [Figures(row.name, shape.count) for row in rows]
    for _ in range(pairs):
        for row, loop, times, figures in zip(rows, loops, counts, found, strict=True):
            before_each()
            figures.floor_ns.append(floor.run(shape, floor_times) / floor_times)
            figures.ns.append(timed(loop, times) / (times * row.launches_of_a_pass))
    return found
