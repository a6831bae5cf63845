"""`python -m bench flat`: that a launch costs the same whatever else there is, and what two threads reach."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from .contenders import Contender, run_child
from .stub import NotHere, stub_folder

FLAT = 1.15
"""How far a launch may be from flat: two medians of one process, each to within some per cent."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=31, help="pairs of timings (default 31)")
    parser.add_argument("--cores", nargs="+", choices=["native", "python"], help="launch cores (default: both)")


def run(options: argparse.Namespace, console: Console) -> dict[str, object]:
    """Print the tables; returns the figures by core."""
    try:
        stub_folder()
    except NotHere as error:
        console.print(f"[bold]the flatness benchmark cannot run[/bold]: {error}")
        return {"missing": str(error)}
    found = {}
    for core in options.cores or ["native", "python"]:
        contender = Contender("flatness", f"flatness, {core} core", environment=(("METRALE_LAUNCH_CORE", core),))
        found[core] = answer = run_child(contender, options.pairs, [8])
        if "missing" in answer:
            console.print(f"{contender.title}: not measured: {answer['missing']}\n")
            continue
        _print(console, core, answer)
    return dict(found)


def _print(console: Console, core: str, answer) -> None:  # type: ignore[no-untyped-def]
    table = Table(f"{core} core, 8 arguments: floors", "form", "few", "many", "many over few")
    for what, each in answer["grown"].items():
        for at, (form, figures) in enumerate(each["forms"].items()):
            title = f"{what}: {each['few']:,} and {each['many']:,}" if at == 0 else ""
            over = figures["many over few"]
            flat = "" if over < FLAT else " [bold]not flat[/bold]"
            table.add_row(title, form, f"{figures['few']:.2f}x", f"{figures['many']:.2f}x", f"{over:.2f}{flat}")
    console.print(table)
    kept = answer["kept"]
    console.print(
        f"{kept['launches']:,} launches keep {kept['allocated blocks']} blocks of Python's memory and "
        f"{kept['resident KiB']} KiB of the process's"
    )
    threads = answer["threads"]
    if "missing" in threads:
        console.print(f"two threads: not measured: {threads['missing']}\n")
        return
    lock = "with" if threads["interpreter lock"] else "without"
    table = Table(f"2 threads on 2 streams, {lock} the interpreter lock", "launches a second over 1 thread", "quartiles")
    for form, figures in threads.items():
        if isinstance(figures, dict):
            quartiles = f"{figures['low quartile']:.2f} to {figures['high quartile']:.2f}"
            table.add_row(form, f"{figures['throughput']:.2f}x", quartiles)
    console.print(table)
    console.print()
