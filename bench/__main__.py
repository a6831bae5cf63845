"""`python -m bench`: prints the tables and writes them as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import metrale_gpu_runtime as mg

from . import cold_start, cpu_backend, launches, metal
from .cpu_backend import CHECKED, NUMPY, POCL, UNCHECKED


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", nargs="?", default="cpu", choices=("cpu", "metal"), help="which backend (default cpu)")
    parser.add_argument("--rounds", type=int, default=21, help="interleaved rounds (default 21)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    # Wide enough for the table also where the output is a file.
    console = Console(width=max(Console().width, 132))
    figures = {"cpu": _cpu, "metal": _metal}[options.what](options.rounds, console)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def _cpu(rounds: int, console: Console) -> dict[str, Any]:
    version, rows = cpu_backend.run(rounds)
    with mg.open_backend("cpu") as gpu:
        device = gpu.capabilities.device
    console.print(f"{device}; Python {platform.python_version()}; peer: {version}")
    console.print(f"ratios of medians, {rounds} interleaved rounds; below 1 is faster than the peer\n")
    table = Table(
        "job", "barrier", "ms, check=None", "vs PoCL", "vs NumPy", "checked vs PoCL", "checked vs unchecked", "spread"
    )
    for row in rows:
        unchecked = row.timings[UNCHECKED]
        table.add_row(
            row.case.title,
            "yes" if row.case.has_barrier else "no",
            f"{unchecked.median * 1e3:.2f}",
            f"{row.ratio(UNCHECKED, POCL):.2f}",
            f"{row.ratio(UNCHECKED, NUMPY):.2f}",
            f"{row.ratio(CHECKED, POCL):.2f}",
            f"{row.ratio(CHECKED, UNCHECKED):.2f}",
            f"{unchecked.spread:.0%}",
        )
    console.print(table)
    starts = cold_start.run(rounds)
    bare = starts["bare Python"].median
    start_table = Table("a fresh process", "ms", "ms over bare Python", "spread")
    for name, timing in starts.items():
        over = f"{(timing.median - bare) * 1e3:.0f}"
        start_table.add_row(name, f"{timing.median * 1e3:.0f}", over, f"{timing.spread:.0%}")
    console.print(start_table)
    return {
        "device": device,
        "peer": version,
        "rounds": rounds,
        "cold_start_ms": {name: timing.median * 1e3 for name, timing in starts.items()},
        "rows": [
            {
                "job": row.case.title,
                "barrier": row.case.has_barrier,
                "median_ms": {name: timing.median * 1e3 for name, timing in row.timings.items()},
                "vs_pocl": row.ratio(UNCHECKED, POCL),
                "vs_numpy": row.ratio(UNCHECKED, NUMPY),
                "checked_vs_pocl": row.ratio(CHECKED, POCL),
            }
            for row in rows
        ],
    }


def _metal(rounds: int, console: Console) -> dict[str, Any]:
    with mg.open_backend("metal") as gpu:
        device = gpu.capabilities.device
    console.print(f"{device}; Python {platform.python_version()}; {os.cpu_count()} processors")
    console.print(f"ratios of medians, {rounds} interleaved rounds; host: work of the calling thread\n")
    figures = metal.run("metal", rounds)
    table = Table(
        *("kernel", "committed", "host, us a launch", "ratio", "done, us a launch", "ratio"),
        *("buffers per 1000", "first commit, ms", "GPU starts, ms", "GPU idle"),
        title="When command buffers are committed",
    )
    for row in figures["policies"]:
        table.add_row(*(str(value) for value in row.values()))
    console.print(table)
    for where, found in figures["live_buffers"].items():
        console.print(f"a launch with {metal.MANY:,} live buffers against {metal.FEW}, {where}: {found}")
    _, forms = launches.run("metal", rounds)
    floor_table = Table("launch", "form", "host, us", "ratio to the bare messages", title="What a launch costs")
    for count, found in forms.items():
        if isinstance(found, dict):
            for name, each in found.items():
                floor_table.add_row(count, Text(name), f"{each['ns'] / 1e3:.1f}", str(each["ratio"]))
    console.print(floor_table)
    return {"device": device, "rounds": rounds, **figures, "forms": forms}


if __name__ == "__main__":
    main()
