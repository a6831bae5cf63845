"""Our launch beside an API's own Python calls on the same device: pairs of timings, and what ours must stay under."""

from __future__ import annotations

import statistics
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

import metrale_gpu_runtime as mg

from .launch.ours import BUILDER, PREPARED_ALL, PREPARED_NONE, SEQUENCE, SHORT, Ours
from .launch.rows import Row
from .launch.shapes import F32, POINTERS, U32, Shape
from .parts import Part, Table

FORMS = (BUILDER, SHORT, PREPARED_ALL, PREPARED_NONE, SEQUENCE)

BARS = {BUILDER: 1.3, PREPARED_ALL: 1.0, PREPARED_NONE: 1.0}
"""How much of the peer's host time a form may take."""

Loop = Callable[[int], object]


def last(shape: Shape, wanted: object) -> int:
    """The last parameter of a kind."""
    return max(at for at, kind in enumerate(shape.kinds) if kind is wanted)


class OursOn(Ours):
    """Our forms on any backend. The kernels write their last float and their last u32 to their first pointer."""

    def __init__(self, gpu: mg.GpuBackend, name: str, source: dict[str, str]) -> None:
        self.gpu = gpu
        self.module = gpu.load_module(name, source=source)
        self.buffers = [gpu.buffer(256) for _ in range(POINTERS)]

    def check(self, shape: Shape, row: Row) -> None:
        """Raise unless what a row sends arrives. Its launches differ, so that the last one is seen."""
        letters = ("a", "b") if len(row.statements) == 2 else ("",)
        for statement, letter in zip(row.statements, letters, strict=True):
            values = self.values(shape, {"a": 0, "b": 1}.get(letter, 2 if row.launches == 1 else row.launches - 1))
            first = values[0]
            assert isinstance(first, mg.DeviceBuffer)
            first.copy_from(bytes(first.nbytes))
            row.loop([statement])(1)
            found = first.numpy().tobytes()[:8]
            if found != struct.pack("<fI", values[last(shape, F32)], values[last(shape, U32)]):
                raise RuntimeError(f"{row.name}: the last float and the last u32 did not arrive; nothing is timed")


def _timed(loop: Loop, times: int, drain: Callable[[], object]) -> int:
    started = time.thread_time_ns()
    loop(times)
    took = time.thread_time_ns() - started
    drain()
    return took


def compare(
    peer: Loop,
    drain_peer: Callable[[], object],
    rows: Sequence[tuple[str, Loop, int, Callable[[], object]]],
    *,
    pairs: int,
    launches: int,
) -> list[dict[str, Any]]:
    """The figures of each row: (name, loop, launches of a pass, what waits for them). Each timing stands behind one of
    the peer's; both are of so many launches, and only the calling thread's time counts."""
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name, _, _, _ in rows}
    peer(launches)
    drain_peer()
    for _, loop, each, drain in rows:
        loop(max(2, launches // each))
        drain()
    for number in range(pairs):
        # The order turns, so that nobody always runs behind the same neighbour.
        turn = number % len(rows)
        for name, loop, each, drain in [*rows[turn:], *rows[:turn]]:
            times = max(1, launches // each)
            theirs, mine = found[name]
            theirs.append(_timed(peer, launches, drain_peer) / launches)
            mine.append(_timed(loop, times, drain) / (times * each))
    return [_figure(name, *found[name]) for name, _, _, _ in rows]


def _figure(name: str, theirs: Sequence[float], mine: Sequence[float]) -> dict[str, Any]:
    ratios = [one / other for one, other in zip(mine, theirs, strict=True)]
    ratio = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4)
    figure: dict[str, Any] = {
        "name": name,
        "ratio": ratio,
        "quartiles": [low, high],
        "ns": statistics.median(mine),
        "peer_ns": statistics.median(theirs),
    }
    if name in BARS:
        figure |= {"bar": BARS[name], "is_met": ratio <= BARS[name]}
    return figure


def table(title: str, by_count: dict[int, list[dict[str, Any]]]) -> Part:
    """Rows of ratios, a column for each number of arguments."""
    counts = list(by_count)
    names = [each["name"] for each in by_count[counts[0]]]
    rows = []
    for at, name in enumerate(names):
        figures = [by_count[count][at] for count in counts]
        bar = f"{figures[0]['bar']:g}x" if "bar" in figures[0] else ""
        if bar:
            bar += " met" if all(each["is_met"] for each in figures) else " missed"
        rows.append([name, *(_cell(each) for each in figures), bar])
    return Table([title, *(f"{count} arguments" for count in counts), "bar"], rows)


def _cell(figure: dict[str, Any]) -> str:
    low, high = figure["quartiles"]
    return f"{figure['ratio']:.2f}x ({low:.2f}–{high:.2f})"


def is_met(by_count: dict[int, list[dict[str, Any]]]) -> bool:
    """Whether every bar is met."""
    return all(each.get("is_met", True) for figures in by_count.values() for each in figures)


def method(figures: dict[str, Any]) -> str:
    """How it was measured."""
    return (
        f"{figures['device']}; {figures['peer']}; Python {figures['python']}, {figures['core']} launch core. Medians "
        f"of {figures['pairs']} pairs, each timing behind one of the peer's, {figures['launches']} launches in each, "
        "with the quartiles; time of the calling thread. What was launched is waited for between timings."
    )
