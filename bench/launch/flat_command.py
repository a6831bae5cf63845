"""`python -m bench flat`: that a launch costs the same whatever else there is, and what two threads reach."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console

from ..parts import Part, Table
from .contenders import Contender, run_child
from .stub import NotHere, stub_folder

CORES = ("native", "python")
FLAT = 1.15
"""How far a launch may be from flat: two medians of one process, each to within some per cent."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=31, help="pairs of timings (default 31)")
    parser.add_argument("--cores", nargs="+", choices=CORES, default=CORES, help="launch cores (default: both)")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; returns the figures by core."""
    try:
        stub_folder()
    except NotHere as error:
        return {"missing": str(error)}
    found = {}
    for core in options.cores:
        contender = Contender("flatness", f"flatness, {core} core", environment=(("METRALE_LAUNCH_CORE", core),))
        found[core] = run_child(contender, options.pairs, [8])
    return {"cores": found}


def parts(figures: dict[str, Any]) -> list[Part]:
    if "missing" in figures:
        return [f"The flatness benchmark did not run: {figures['missing']}"]
    found: list[Part] = []
    for core, each in figures["cores"].items():
        if "missing" in each:
            found.append(f"Flatness, {core} core: not measured: {each['missing']}")
        else:
            found += [*_grown(core, each["grown"]), *_kept(each["kept"]), *_threads(core, each["threads"])]
    return found


def _grown(core: str, grown: dict[str, Any]) -> list[Part]:
    rows = []
    for what, each in grown.items():
        for at, (form, figures) in enumerate(each["forms"].items()):
            over = figures["many over few"]
            rows.append(
                [
                    f"{what}: {each['few']:,} and {each['many']:,}" if at == 0 else "",
                    form,
                    f"{figures['few']:.2f}x",
                    f"{figures['many']:.2f}x",
                    f"{over:.2f}" + ("" if over < FLAT else ", bar missed"),
                ]
            )
    return [Table([f"{core} core, 8 arguments, in floors", "form", "few", "many", "many over few"], rows)]


def _kept(kept: dict[str, Any]) -> list[Part]:
    return [
        f"{kept['launches']:,} launches keep {kept['allocated blocks']} blocks of Python's memory, and "
        f"{kept['resident KiB']} KiB of the process's."
    ]


def _threads(core: str, threads: dict[str, Any]) -> list[Part]:
    if "missing" in threads:
        return [f"Two threads: not measured: {threads['missing']}"]
    rows = [
        [form, f"{each['throughput']:.2f}x", f"{each['low quartile']:.2f} to {each['high quartile']:.2f}"]
        for form, each in threads.items()
        if isinstance(each, dict)
    ]
    lock = "with" if threads["interpreter lock"] else "without"
    title = f"{core} core, {lock} the interpreter lock: 2 threads on 2 streams"
    return [Table([title, "launches a second, over 1 thread", "quartiles of the rounds"], rows)]
