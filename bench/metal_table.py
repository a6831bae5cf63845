"""`python -m bench metal`: when command buffers are committed, and what a launch costs on a Metal device."""

from __future__ import annotations

import argparse
import os
import platform
from typing import Any

from rich.console import Console

from .parts import Part, Table


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=21, help="interleaved rounds (default 21)")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; returns the figures. Raises BackendUnavailable where there is no Metal device."""
    import metrale_gpu_runtime as mg

    from . import launches, metal

    with mg.open_backend("metal") as gpu:
        device = gpu.capabilities.device
    figures = metal.run("metal", options.rounds)
    _, forms = launches.run("metal", options.rounds)
    return {
        "device": device,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "rounds": options.rounds,
        **figures,
        "forms": forms,
    }


def parts(figures: dict[str, Any]) -> list[Part]:
    from .metal import FEW, MANY

    columns = [
        *("kernel", "committed", "host, us a launch", "ratio", "done, us a launch", "ratio"),
        *("buffers per 1000", "first commit, ms", "GPU starts, ms", "GPU idle"),
    ]
    costs = [
        [count, form, f"{each['ns'] / 1e3:.1f}", str(each["ratio"])]
        for count, found in figures["forms"].items()
        if isinstance(found, dict)
        for form, each in found.items()
    ]
    return [
        f"{figures['device']}; Python {figures['python']}; {figures['processors']} processors",
        f"Ratios of medians, {figures['rounds']} interleaved rounds; host: work of the calling thread.",
        Table(columns, [[str(value) for value in row.values()] for row in figures["policies"]]),
        *(
            f"A launch with {MANY:,} live buffers against {FEW}, {where}: {found}"
            for where, found in figures["live_buffers"].items()
        ),
        Table(["launch", "form", "host, us", "ratio to the bare messages"], costs),
    ]
