"""`python -m bench cpu`: the CPU backend beside PoCL and NumPy, as one table."""

from __future__ import annotations

import argparse
import platform
from typing import Any

from rich.console import Console

from .parts import Part, Table


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=21, help="interleaved rounds (default 21)")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; returns the figures. Raises SystemExit where PoCL is missing."""
    import metrale_gpu_runtime as mg

    from . import cpu_backend
    from .cpu_backend import CHECKED, NUMPY, POCL, UNCHECKED

    version, rows = cpu_backend.run(options.rounds)
    with mg.open_backend("cpu") as gpu:
        device = gpu.capabilities.device
    return {
        "device": device,
        "peer": version,
        "python": platform.python_version(),
        "rounds": options.rounds,
        "rows": [
            {
                "job": row.case.title,
                "barrier": row.case.has_barrier,
                "median_ms": {name: timing.median * 1e3 for name, timing in row.timings.items()},
                "vs_pocl": row.ratio(UNCHECKED, POCL),
                "vs_numpy": row.ratio(UNCHECKED, NUMPY),
                "checked_vs_pocl": row.ratio(CHECKED, POCL),
                "checked_vs_unchecked": row.ratio(CHECKED, UNCHECKED),
                "unchecked_ms": row.timings[UNCHECKED].median * 1e3,
                "spread": row.timings[UNCHECKED].spread,
            }
            for row in rows
        ],
    }


def parts(figures: dict[str, Any]) -> list[Part]:
    columns = [
        "job",
        "barrier",
        "ms, check=None",
        "vs PoCL",
        "vs NumPy",
        "checked vs PoCL",
        "checked vs unchecked",
        "spread",
    ]
    rows = [
        [
            each["job"],
            "yes" if each["barrier"] else "no",
            f"{each['unchecked_ms']:.2f}",
            f"{each['vs_pocl']:.2f}",
            f"{each['vs_numpy']:.2f}",
            f"{each['checked_vs_pocl']:.2f}",
            f"{each['checked_vs_unchecked']:.2f}",
            f"{each['spread']:.0%}",
        ]
        for each in figures["rows"]
    ]
    return [
        f"{figures['device']}; Python {figures['python']}; peer: {figures['peer']}",
        f"Ratios of medians, {figures['rounds']} interleaved rounds; below 1 is faster than the peer.",
        Table(columns, rows),
    ]
