"""`python -m bench launch`, or opencl, webgpu, flat, start, cache, cpu: measures and prints tables; without a word all.

Each benchmark's own options follow its word; `python -m bench launch --help` lists them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from . import cold_start, cpu_table, kept_code, metal_table, opencl_table, webgpu_table
from .launch import command as launch
from .launch import flat_command as flat
from .parts import into_page, show

# What has to be met comes first; the CPU backend's kernels have nothing to do with launches and come last.
BENCHMARKS = {
    "launch": launch,
    "opencl": opencl_table,
    "webgpu": webgpu_table,
    "flat": flat,
    "start": cold_start,
    "cache": kept_code,
    "cpu": cpu_table,
}
# Only by its word: it needs a Mac.
ON_A_MAC = {"metal": metal_table}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _add_outputs(parser)
    words = parser.add_subparsers(dest="word", metavar="|".join((*BENCHMARKS, *ON_A_MAC)))
    every = BENCHMARKS | ON_A_MAC
    for word, benchmark in every.items():
        one = words.add_parser(word, help=benchmark.__doc__, description=benchmark.__doc__)
        _add_outputs(one, default=argparse.SUPPRESS)
        benchmark.add_options(one)
    options = parser.parse_args()
    # Wide enough for the tables also where the output is a file.
    console = Console(width=max(Console().width, 140))
    figures: dict[str, dict[str, Any]] = {}
    for word in BENCHMARKS if options.word is None else [options.word]:
        # Without a word each runs with its defaults.
        own = options if options.word is not None else parser.parse_args([word])
        if options.word is None:
            console.rule(word)
        figures[word] = every[word].run(own, console)
        parts = every[word].parts(figures[word])
        show(console, parts)
        if options.page is not None:
            options.page.write_text(into_page(options.page.read_text(), word, parts))
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    if getattr(options, "gate", False) and not figures["launch"]["is_met"]:
        raise SystemExit(1)


def _add_outputs(parser: argparse.ArgumentParser, **how: Any) -> None:
    parser.add_argument("--json", type=Path, help="also write the figures to this file", **how)
    parser.add_argument("--page", type=Path, help="also renew the tables of this page (docs/performance.md)", **how)


if __name__ == "__main__":
    main()
