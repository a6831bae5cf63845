"""What must not matter to a launch: modules, kernels, allocations, streams, past launches. And two threads at once.

Each figure is taken before and after one of them has grown, in the same process, paired with the floor as all others.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import metrale_gpu_runtime as mg

from .floor import Floor
from .ours import PREPARED_NONE, SHORT, Ours, core_in_use, opened, versions, wanted_core
from .rows import Row, measure
from .shapes import BLOCK, GRID, SHAPES
from .stub import NotHere

SHAPE = SHAPES[8]
FORMS = (SHORT, PREPARED_NONE)
MODULES, KERNELS, ALLOCATIONS, STREAMS, LAUNCHES = 1_000, 1_000, 100_000, 1_000, 1_000_000
FEW_ALLOCATIONS = 10
SEQUENCES = {f"sequence of {length:,} launches": length for length in (100, 1_000, 10_000)}
"""Two threads overlap in what a sequence does with the interpreter lock released: the longer, the more of it."""
THREAD_ROUNDS, THREAD_SECONDS = 40, 0.02
SCALES = 1.7
"""What two threads on two processors must reach together, over one alone."""


def run(floor: Floor, pairs: int) -> dict[str, object]:
    """The figures. Raises NotHere where another launch core was asked for than there is."""
    asked = wanted_core()
    if asked is not None and asked != core_in_use():
        raise NotHere(f"the {asked} launch core is not in this build: the one here is {core_in_use()}")
    floor.check(SHAPE)
    grown = {}
    for what, few, many, grow in (
        ("modules", 1, MODULES, _modules),
        ("kernels of one module", 1, KERNELS, _kernels),
        ("live allocations", FEW_ALLOCATIONS, ALLOCATIONS, _allocations),
        ("streams", 1, STREAMS, _streams),
        ("past launches", 0, LAUNCHES, _launches),
    ):
        with opened() as ours:
            grown[what] = {"few": few, "many": many} | _compare(floor, ours, pairs, grow)
    with opened() as ours:
        kept = _kept(ours)
    # Both processors from here on.
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    with opened() as ours:
        threads = _threads(floor, ours)
    return {"versions": versions(), "grown": grown, "kept": kept, "threads": threads}


def _compare(floor: Floor, ours: Ours, pairs: int, grow: Callable[[Ours], Any]) -> dict[str, object]:
    rows = ours.rows(SHAPE, FORMS)
    for row in rows:
        row.check(floor.stub)
    before = measure(floor, SHAPE, rows, pairs)
    held = grow(ours)
    after = measure(floor, SHAPE, rows, pairs)
    del held
    return {
        "forms": {
            few.name: {"few": few.ratio, "many": many.ratio, "many over few": many.ratio / few.ratio}
            for few, many in zip(before, after, strict=True)
        }
    }


def _modules(ours: Ours) -> list[mg.Module]:
    ptx = ".version 7.0\n.target sm_80\n.address_size 64\n" + SHAPE.ptx_entry
    return [ours.gpu.load_module(f"module {at}", source={".ptx": ptx}) for at in range(MODULES)]


def _kernels(ours: Ours) -> list[mg.Kernel]:
    names = [f"many_{at}" for at in range(KERNELS)]
    entries = "".join(map(SHAPE.ptx_entry_named, names))
    ptx = f".version 7.0\n.target sm_80\n.address_size 64\n{entries}"
    signatures = dict.fromkeys(names, SHAPE.c_parameters)
    module = ours.gpu.load_module("many kernels", source={".ptx": ptx}, signatures=signatures)
    kernels = [module[name] for name in names]
    for kernel in kernels:
        kernel[GRID, BLOCK](*ours.values(SHAPE, 1))
    return kernels


def _allocations(ours: Ours) -> list[mg.DeviceBuffer]:
    return [ours.gpu.buffer(64) for _ in range(ALLOCATIONS - FEW_ALLOCATIONS)]


def _streams(ours: Ours) -> list[mg.Stream]:
    streams = [ours.gpu.create_stream() for _ in range(STREAMS)]
    kernel, values = ours.module[SHAPE.kernel], ours.values(SHAPE, 1)
    for stream in streams:
        # The same memory, so that each stream is one of its users.
        kernel[GRID, BLOCK, 0, stream](*values)
    return streams


def _launches(ours: Ours) -> None:
    _row(ours, PREPARED_NONE).loop()(LAUNCHES)


def _row(ours: Ours, name: str) -> Row:
    return ours.rows(SHAPE, [name])[0]


def _kept(ours: Ours) -> dict[str, object]:
    """What a million launches leave behind, in objects of Python and in memory of the process."""
    loop = _row(ours, PREPARED_NONE).loop()
    loop(1000)
    gc.collect()
    blocks, resident = sys.getallocatedblocks(), _resident_kib()
    loop(LAUNCHES)
    gc.collect()
    return {
        "launches": LAUNCHES,
        "allocated blocks": sys.getallocatedblocks() - blocks,
        "resident KiB": _resident_kib() - resident,
        "peak resident KiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def _resident_kib() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


# ------------------------------------------------ threads


def _threads(floor: Floor, ours: Ours) -> dict[str, object]:
    """Launches a second of two threads, each on a stream of its own, over those of one: wall clock, rounds in turn."""
    if len(os.sched_getaffinity(0)) < 2:
        return {"missing": "this process has one processor"}
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    found: dict[str, object] = {"interpreter lock": gil, "bar": SCALES}
    streams = [ours.gpu.create_stream(), ours.gpu.create_stream()]
    kernel = ours.module[SHAPE.kernel]
    for name in (PREPARED_NONE, SHORT, *SEQUENCES):
        loops = [_on_stream(ours, name, kernel, stream, at).loop() for at, stream in enumerate(streams)]
        found[name] = _scaling(loops)

    def floor_loop(times: int) -> None:
        floor.run(SHAPE, times)

    found["the C floor itself"] = _scaling([floor_loop, floor_loop])
    return found


def _on_stream(ours: Ours, name: str, kernel: mg.Kernel, stream: mg.Stream, variant: int) -> Row:
    values = ours.values(SHAPE, variant)
    if name == PREPARED_NONE:
        prepared = kernel[GRID, BLOCK, 0, stream].prepare(*values)
        return Row(name, ("prepared()",), {"prepared": prepared}, ())
    if name == SHORT:
        words = [f"a{at}" for at in range(SHAPE.count)]
        names = dict(zip(words, values, strict=True)) | {"kernel": kernel, "stream": stream}
        return Row(name, (f"kernel[{GRID}, {BLOCK}, 0, stream]({', '.join(words)})",), names, ())
    with ours.gpu.sequence() as sequence:
        for _ in range(SEQUENCES[name]):
            kernel[GRID, BLOCK](*values)
    return Row(name, ("sequence(stream=stream)",), {"sequence": sequence, "stream": stream}, ())


def _scaling(loops: list[Callable[[int], None]]) -> dict[str, float]:
    """The least time of one thread over the least of all together: what other processes take of the processors only
    ever adds to a time. The quartiles of the rounds' own ratios tell how much that was."""
    times = _times_for_wall(loops[0])
    alone, together = [], []
    for _ in range(THREAD_ROUNDS):
        alone.append(statistics.mean(_wall([loop], times) for loop in loops))
        together.append(_wall(loops, times))
    ratios = [len(loops) * one / both for one, both in zip(alone, together, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4)
    return {"throughput": len(loops) * min(alone) / min(together), "low quartile": low, "high quartile": high}


def _times_for_wall(loop: Callable[[int], None]) -> int:
    times = 1
    while _wall([loop], times) < THREAD_SECONDS / 4:
        times *= 4
    return max(1, round(times * THREAD_SECONDS / _wall([loop], times)))


def _wall(loops: list[Callable[[int], None]], times: int) -> float:
    """Seconds from the first loop's start to the last one's end, each in a thread of its own, which begin together."""
    gate = threading.Barrier(len(loops))
    started: list[float] = []
    ended: list[float] = []

    def work(loop: Callable[[int], None]) -> None:
        gate.wait()
        started.append(time.perf_counter())
        loop(times)
        ended.append(time.perf_counter())

    threads = [threading.Thread(target=work, args=(loop,)) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(ended) != len(loops):
        raise RuntimeError("a thread of the benchmark ended with an error")
    return max(ended) - min(started)
