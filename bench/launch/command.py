"""`python -m bench launch`: what a launch costs on the host: our forms by core and by what is on, and the peers."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from ..parts import Part
from . import report
from .contenders import Contender, Measured, measure_all
from .peers.catalogue import OPENCL, PEERS, WGPU, Peer
from .plot import draw
from .shapes import SHAPES
from .stub import NotHere, stub_folder

PEERS_PYTHON = Path(__file__).parents[2] / ".venv" / "peers" / "bin" / "python"
"""Where `make bench` puts the peers: some need other versions of what this package's own tests use."""
CORES = ("native", "python")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=3, help="process runs of each contender (default 3)")
    parser.add_argument("--pairs", type=int, default=31, help="pairs of timings in each run (default 31)")
    parser.add_argument("--shapes", type=int, nargs="+", choices=list(SHAPES), default=list(SHAPES), help="arguments")
    parser.add_argument("--cores", nargs="+", choices=CORES, default=CORES, help="launch cores (default: both)")
    parser.add_argument("--quick", action="store_true", help="our own forms alone: no switches, no peers")
    parser.add_argument("--peers", nargs="*", choices=[each.name for each in PEERS], help="these alone; or none")
    parser.add_argument(
        "--peers-python", help="an interpreter that has the peers (default: .venv/peers', else this one)"
    )
    parser.add_argument("--plot", type=Path, help="also draw the figures into this SVG file")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a bar is missed")


def run(options: argparse.Namespace, console: Console) -> report.Figures:
    """Measure; returns the figures. `is_met`: the native core is here and stays under every bar."""
    try:
        stub_folder()
    except NotHere as error:
        return {"missing": str(error), "is_met": False}
    from . import ours

    groups: dict[str, list[Contender]] = {
        "ours": [Contender("ours", f"Ours, {core} core", environment=_core(core)) for core in options.cores]
    }
    # The same interpreter as ours: it is the interpreter that is measured.
    groups["bare"] = [Contender("bare", "CPython's own part")]
    if not options.quick:
        groups["switch"] = [
            Contender(name, f"{switch.title}, {core} core", environment=_core(core))
            for core in options.cores
            for name, switch in ours.SWITCHES.items()
        ]
        python = str(options.peers_python or (PEERS_PYTHON if PEERS_PYTHON.is_file() else sys.executable))
        asked = [each.name for each in PEERS] if options.peers is None else options.peers
        for peer in PEERS:
            if peer.name in asked:
                group = {OPENCL: "opencl", WGPU: "unit"}.get(peer, "peer")
                groups.setdefault(group, []).append(_contender(peer, python))
    found = measure_all(
        [each for group in groups.values() for each in group],
        runs=options.runs,
        pairs=options.pairs,
        shapes=options.shapes,
        told=lambda line: console.print(f"{line:<80}", end="\r") if console.is_terminal else None,
    )
    left = iter(found)
    measured = [(group, next(left)) for group, members in groups.items() for _ in members]
    mine = [each for group, each in measured if group == "ours" and each.runs]
    if not mine:
        return {"missing": "; ".join(f"{each.contender.title}: {each.missing}" for each in found), "is_met": False}
    over_stub = [each for group, each in measured if group != "opencl" and each.runs]
    # The bars are the native core's: the plain one does the same work where there is none.
    contenders = [
        _figures(group, each, ours.BARS if group == "ours" and each.contender.environment == _core("native") else {})
        for group, each in measured
    ]
    figures = {
        "is_met": _is_met([row for each in contenders for row in each["rows"] if "bar" in row]),
        "machine": machine(),
        "python": platform.python_version(),
        "runs": options.runs,
        "pairs": options.pairs,
        "arguments": options.shapes,
        "empty_call_ns": statistics.median(ns for each in over_stub for ns in each.empty_call_ns),
        "floor_ns": {count: report.median(_floors(over_stub, count)) for count in options.shapes},
        "contenders": contenders,
    }
    if options.plot is not None:
        options.plot.write_text(draw(figures))
    return figures


def parts(figures: report.Figures) -> list[Part]:
    return report.parts(figures)


def _is_met(rows: Sequence[report.Figures]) -> bool:
    return bool(rows) and all(row["is_met"] for row in rows)


def _core(core: str) -> tuple[tuple[str, str], ...]:
    return (("METRALE_LAUNCH_CORE", core),)


def _contender(peer: Peer, python: str) -> Contender:
    if peer is OPENCL:
        return Contender("opencl", peer.title, python=python, install=peer.install, floor="opencl_floor")
    return Contender(f"peer-{peer.name}", peer.title, python=python, install=peer.install)


def machine() -> str:
    """The processor in words, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        facts.setdefault(name.strip(), value.strip())
    model = f"family {facts.get('cpu family')}, model {facts.get('model')}"
    return f"{facts.get('model name', platform.machine())} ({model}), {os.cpu_count()} processors"


def _floors(present: Sequence[Measured], count: int) -> list[float]:
    return [ns for each in present for ns in each.floor_ns(count)]


def _figures(group: str, measured: Measured, bars) -> report.Figures:  # type: ignore[no-untyped-def]
    rows = []
    for row, count in measured.cells():
        ratio = measured.ratio(row, count)
        figure: report.Figures = {
            "name": row,
            "arguments": count,
            "ratio": ratio,
            "ratio_of_runs": measured.ratios_of_runs(row, count),
            "quartiles": measured.quartiles(row, count),
            "ns": measured.ns(row, count),
        }
        if row in bars:
            figure |= {"bar": bars[row][count], "is_met": ratio < bars[row][count]}
        rows.append(figure)
    return {
        "name": measured.contender.name,
        "group": group,
        "title": measured.contender.title,
        "versions": measured.versions,
        "missing": measured.missing,
        "install": measured.contender.install,
        "other_threads_ms": measured.other_threads_ms,
        "rows": rows,
    }
