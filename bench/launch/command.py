"""`python -m bench launch`: measures, prints the tables, and says which bars are met."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .contenders import Contender, Measured, measure_all
from .peers.catalogue import OPENCL, PEERS, Peer
from .shapes import SHAPES
from .stub import NotHere, stub_folder

ENVIRONMENT = Path(__file__).parents[2] / ".venv-peers"
"""Where `make bench` puts the peers: some need other versions of what this package uses."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=3, help="process runs of each contender (default 3)")
    parser.add_argument("--pairs", type=int, default=31, help="pairs of timings in each run (default 31)")
    parser.add_argument("--shapes", type=int, nargs="+", choices=list(SHAPES), default=list(SHAPES), help="argument counts")
    parser.add_argument("--cores", nargs="+", choices=["native", "python"], help="launch cores (default: both)")
    parser.add_argument("--quick", action="store_true", help="our own forms alone: no switches, no peers, no flatness")
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out")
    parser.add_argument("--only-peers", nargs="+", choices=[each.name for each in PEERS], help="these peers alone")
    parser.add_argument("--peers-python", help=f"an interpreter that has the peers (default: {ENVIRONMENT.name}'s)")
    parser.add_argument("--plot", type=Path, help="also draw the figures into this SVG file")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a bar is missed")


def run(options: argparse.Namespace, console: Console) -> dict[str, object]:
    """Print the tables; returns the figures. `is_met`: the core that a program gets here stays under every bar."""
    try:
        stub_folder()
    except NotHere as error:
        console.print(f"[bold]the launch benchmark cannot run[/bold]: {error}")
        return {"missing": str(error), "is_met": False}
    from . import ours

    cores = options.cores or ["native", "python"]
    contenders = [Contender("ours", f"ours, {core} core", environment=_core(core)) for core in cores]
    if not options.quick:
        for core in cores:
            contenders += [
                Contender(name, f"{switch.title}, {core} core", environment=_core(core))
                for name, switch in ours.SWITCHES.items()
            ]
    asked = options.only_peers or [each.name for each in PEERS]
    peers = [] if options.quick or options.no_peers else [each for each in PEERS if each.name in asked]
    contenders += [_peer(each, _peers_python(options)) for each in peers]
    found = measure_all(
        contenders, runs=options.runs, pairs=options.pairs, shapes=options.shapes, told=lambda line: _tell(console, line)
    )
    mine = found[: len(cores)]
    present = [each for each in found if each.runs]
    if not present:
        for each in found:
            console.print(f"{each.contender.title}: {each.missing}")
        return {"missing": "nothing could be measured", "is_met": False}
    _print_method(console, options, present)
    is_met = False
    for each in mine:
        met = _print_ours(console, each, ours.BARS, options.shapes)
        # The first one that is here is what a program gets: the native core where it is built.
        is_met = met if each.runs and each is next(one for one in mine if one.runs) else is_met
    if not options.quick:
        _print_switches(console, found[len(cores) : len(contenders) - len(peers)], mine, options.shapes)
    if peers:
        _print_peers(console, found[len(contenders) - len(peers) :], options.shapes)
    return {
        "is_met": is_met,
        "machine": machine(),
        "runs": options.runs,
        "pairs": options.pairs,
        "empty_call_ns": statistics.median(ns for each in present for ns in each.empty_call_ns),
        "floor_ns": {count: statistics.median(_floors(present, count)) for count in options.shapes},
        "contenders": [_figures(each) for each in found],
    }


def _core(core: str) -> tuple[tuple[str, str], ...]:
    return (("METRALE_LAUNCH_CORE", core),)


def _peers_python(options: argparse.Namespace) -> str:
    own = ENVIRONMENT / "bin" / "python"
    return str(options.peers_python or (own if own.is_file() else sys.executable))


def _peer(peer: Peer, python: str) -> Contender:
    if peer is OPENCL:
        return Contender("opencl", peer.title, python=python, install=peer.install, floor="opencl_floor")
    return Contender(f"peer-{peer.name}", peer.title, python=python, install=peer.install)


def _tell(console: Console, line: str) -> None:
    if console.is_terminal:
        console.print(f"[dim]{line}[/dim]", end="\r")


def machine() -> str:
    """The processor in words, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.split("\t: ", 1) for line in reversed(lines) if "\t: " in line)
    facts = {name.strip(): value for name, value in facts.items()}
    names = (facts.get("model name"), f"family {facts.get('cpu family')} model {facts.get('model')}")
    return f"{', '.join(each for each in names if each)}; {os.cpu_count()} processors"


def _floors(present: Sequence[Measured], count: int) -> list[float]:
    return [ns for each in present for ns in each.floor_ns(count)]


def _print_method(console: Console, options: argparse.Namespace, present: Sequence[Measured]) -> None:
    empty = [ns for each in present for ns in each.empty_call_ns]
    console.print(
        f"{machine()}\n"
        f"{options.runs} interleaved process runs of {options.pairs} pairs, thread CPU time, one pinned processor. "
        "A cell: floors, median (lowest and highest median of a run)"
    )
    floors = "; ".join(
        f"{count} arguments {statistics.median(values):.1f} ns ({min(values):.1f} to {max(values):.1f})"
        for count, values in ((count, _floors(present, count)) for count in options.shapes)
    )
    console.print(f"an empty C call: {statistics.median(empty):.2f} ns. The floor: {floors}\n")


def cell(measured: Measured, row: str, count: int) -> str:
    runs = measured.ratios_of_runs(row, count)
    return f"{shown(measured.ratio(row, count))} ({shown(min(runs))}–{shown(max(runs))})"


def shown(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 100 else f"{ratio:.1f}x" if ratio >= 10 else f"{ratio:.2f}x"


def _rows(measured: Measured) -> list[str]:
    return list(dict.fromkeys(row for row, _ in measured.cells()))


def _print_ours(console: Console, measured: Measured, bars, shapes: Sequence[int]) -> bool:  # type: ignore[no-untyped-def]
    """Prints one core's table; True when every bar is met."""
    if not measured.runs:
        console.print(f"{measured.contender.title}: not measured: {measured.missing}\n")
        return False
    table = Table(measured.contender.title, *(word for count in shapes for word in (f"{count} arguments", "bar")))
    is_met = True
    for row in _rows(measured):
        cells = []
        for count in shapes:
            bar = bars[row][count]
            met = measured.ratio(row, count) < bar
            is_met &= met
            cells += [cell(measured, row, count), f"{bar:g}x " + ("met" if met else "[bold]missed[/bold]")]
        table.add_row(row, *cells)
    console.print(table)
    other = max(measured.other_threads_ms)
    console.print(f"other threads of the process meanwhile: {other:.1f} ms in a run\n")
    return is_met


def _print_switches(console: Console, found: Sequence[Measured], mine: Sequence[Measured], shapes: Sequence[int]) -> None:
    table = Table("switched on", "form", *(f"{count} arguments" for count in shapes))
    for each in (*mine, *found):
        if not each.runs:
            table.add_row(each.contender.title, f"not measured: {each.missing}", *("" for _ in shapes))
            continue
        for at, row in enumerate(_rows(each) if each not in mine else []):
            table.add_row(
                each.contender.title if at == 0 else "", row, *(cell(each, row, count) for count in shapes)
            )
    console.print(table)


def _print_peers(console: Console, found: Sequence[Measured], shapes: Sequence[int]) -> None:
    table = Table("peer", "how", *(f"{count} arguments" for count in shapes))
    for each in found:
        if not each.runs:
            continue
        for at, row in enumerate(_rows(each)):
            title = ", ".join(f"{name} {version}" for name, version in each.versions.items() if name != "Python")
            table.add_row(title if at == 0 else "", row, *(cell(each, row, count) for count in shapes))
    console.print(table)
    for each in found:
        if not each.runs:
            console.print(f"missing: {each.contender.title}: {each.missing}\n  to have it: {each.contender.install}")
    console.print()


def _figures(measured: Measured) -> dict[str, object]:
    return {
        "name": measured.contender.name,
        "title": measured.contender.title,
        "versions": measured.versions,
        "missing": measured.missing,
        "install": measured.contender.install,
        "other_threads_ms": measured.other_threads_ms,
        "rows": [
            {
                "name": row,
                "arguments": count,
                "ratio": measured.ratio(row, count),
                "ratio_of_runs": measured.ratios_of_runs(row, count),
                "quartiles": measured.quartiles(row, count),
                "ns": measured.ns(row, count),
            }
            for row, count in measured.cells()
        ],
    }
