"""Runs the contenders, each in processes of its own, run by run, and gathers what they measured."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .stub import floor_library, stub_folder

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Contender:
    """Who is measured: the child's name for it, the interpreter that has it, and what it is told by environment."""

    name: str
    title: str
    python: str = sys.executable
    environment: tuple[tuple[str, str], ...] = ()
    install: str = ""
    """The command that brings it."""
    floor: str = "floor"
    """Which C loop it is paired with."""


@dataclass
class Measured:
    """What one contender gave, over all runs. `missing` says why there is nothing."""

    contender: Contender
    versions: dict[str, str] = field(default_factory=dict)
    missing: str | None = None
    empty_call_ns: list[float] = field(default_factory=list)
    other_threads_ms: list[float] = field(default_factory=list)
    runs: list[dict[tuple[str, int], tuple[list[float], list[float]]]] = field(default_factory=list)
    """For each run, by (row, number of arguments): ns per launch, and ns of the floor just before."""

    def cells(self) -> Iterator[tuple[str, int]]:
        yield from dict.fromkeys(key for run in self.runs for key in run)

    def ratio(self, row: str, count: int) -> float:
        """The median of all pairs of all runs."""
        return statistics.median(self._ratios(row, count))

    def ratios_of_runs(self, row: str, count: int) -> list[float]:
        """Each run's own median: how far they lie apart is the spread that a reader can count on."""
        return [_median_ratio(*run[row, count]) for run in self.runs]

    def quartiles(self, row: str, count: int) -> tuple[float, float]:
        low, _, high = statistics.quantiles(self._ratios(row, count), n=4)
        return low, high

    def ns(self, row: str, count: int) -> float:
        return statistics.median(ns for run in self.runs for ns in run[row, count][0])

    def floor_ns(self, count: int) -> list[float]:
        return [ns for run in self.runs for (_, each), (_, floor) in run.items() if each == count for ns in floor]

    def _ratios(self, row: str, count: int) -> list[float]:
        return [own / floor for run in self.runs for own, floor in zip(*run[row, count], strict=True)]


def _median_ratio(ns: Sequence[float], floor_ns: Sequence[float]) -> float:
    return statistics.median(own / floor for own, floor in zip(ns, floor_ns, strict=True))


def run_child(contender: Contender, pairs: int, shapes: Sequence[int]) -> dict[str, object]:
    """What the child answered. Raises NotHere for the floor itself, RuntimeError for a child that fails."""
    environment = {**os.environ, **dict(contender.environment), "OPENBLAS_NUM_THREADS": "1"}
    paths = [str(stub_folder()), environment.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    command = [
        contender.python,
        "-m",
        "bench.launch.child",
        contender.name,
        "--floor",
        str(floor_library(contender.floor)),
    ]
    command += ["--pairs", str(pairs), "--shapes", *map(str, shapes)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["nothing on stderr"]
        raise RuntimeError(f"{contender.title} ended with {done.returncode}: {lines[-1]}\n" + "\n".join(lines[-12:]))
    return json.loads(done.stdout)


def measure_all(
    contenders: Sequence[Contender],
    *,
    runs: int,
    pairs: int,
    shapes: Sequence[int],
    told: Callable[[str], None] = lambda line: None,
) -> list[Measured]:
    """Every contender once in each run, in turn: a change of the host's speed does not meet one of them alone."""
    found = [Measured(each) for each in contenders]
    for run in range(runs):
        for each in found:
            if each.missing is not None:
                continue
            told(f"run {run + 1} of {runs}: {each.contender.title}")
            try:
                answer = run_child(each.contender, pairs, shapes)
            except RuntimeError as error:
                each.missing = str(error)
                continue
            if "missing" in answer:
                each.missing = str(answer["missing"])
                continue
            _take(each, answer)
    return found


def _take(measured: Measured, answer: dict[str, object]) -> None:
    measured.versions = answer["versions"]  # type: ignore[assignment]
    if answer["empty_call_ns"] is not None:
        measured.empty_call_ns.append(answer["empty_call_ns"])  # type: ignore[arg-type]
    measured.other_threads_ms.append(answer["other_threads_ms"])  # type: ignore[arg-type]
    measured.runs.append(
        {(row["name"], row["arguments"]): (row["ns"], row["floor_ns"]) for row in answer["rows"]}  # type: ignore[union-attr, attr-defined]
    )
