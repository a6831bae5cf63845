"""`python -m bench cpu`: the CPU backend beside PoCL and NumPy, as one table."""

from __future__ import annotations

import argparse
import platform

from rich.console import Console
from rich.table import Table


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=21, help="interleaved rounds (default 21)")


def run(options: argparse.Namespace, console: Console) -> dict[str, object]:
    """Print the table; returns its figures. Raises SystemExit where PoCL is missing."""
    import metrale_gpu_runtime as mg

    from . import cpu_backend
    from .cpu_backend import CHECKED, NUMPY, POCL, UNCHECKED

    version, rows = cpu_backend.run(options.rounds)
    with mg.open_backend("cpu") as gpu:
        device = gpu.capabilities.device
    console.print(f"{device}; Python {platform.python_version()}; peer: {version}")
    console.print(f"ratios of medians, {options.rounds} interleaved rounds; below 1 is faster than the peer\n")
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
    return {
        "device": device,
        "peer": version,
        "rounds": options.rounds,
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
