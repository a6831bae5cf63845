"""Timing that survives a noisy machine: contenders take turns, and only medians and ratios are told."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Job = Callable[[], None]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Timing:
    """One contender's rounds: seconds per call, one entry a round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """The interquartile range as a share of the median."""
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / self.median


def calls_for(job: Job, seconds: float, clock: Clock = time.perf_counter) -> int:
    """How many calls fill about `seconds`; the job has run once before."""
    job()
    started = clock()
    job()
    once = max(clock() - started, 1e-7)
    return max(1, round(seconds / once))


def interleave(
    jobs: Mapping[str, Job], *, rounds: int, seconds: float = 0.05, clock: Clock = time.perf_counter
) -> dict[str, Timing]:
    """Run every job in every round, in turn, each for about `seconds` of this clock."""
    calls = {name: calls_for(job, seconds, clock) for name, job in jobs.items()}
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for round_number in range(rounds):
        names = list(jobs)
        # The order turns from round to round, so that nobody always runs behind the same neighbour.
        for name in names[round_number % len(names) :] + names[: round_number % len(names)]:
            job, count = jobs[name], calls[name]
            started = clock()
            for _ in range(count):
                job()
            found[name].append((clock() - started) / count)
    return {name: Timing(tuple(seconds)) for name, seconds in found.items()}


def ratio(of: Timing, to: Timing) -> float:
    """The median of the rounds' own ratios: noise that hits a whole round cancels."""
    return statistics.median(mine / theirs for mine, theirs in zip(of.seconds, to.seconds, strict=True))
