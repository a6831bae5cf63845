"""`python -m hardware --backend cuda --report report.json`: prove this package on the device of this machine."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import metrale_gpu_runtime as mg
from bench import launches

from . import conformance, embed, faults
from .report import Report


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m hardware", description=__doc__)
    parser.add_argument("--backend", default="cuda", help="cuda, cuda:1, hip, … as open_backend takes it")
    parser.add_argument("--report", type=Path, default=Path("hardware-report.json"), help="where the JSON goes")
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds of the launch benchmark")
    parser.add_argument("--only", action="append", choices=("conformance", "faults", "embed", "launches"))
    parser.add_argument("--case", action="append", default=[], help="only this law of the conformance suite")
    options = parser.parse_args()
    report = Report(options.backend)
    # In a child, as everything that touches the device here but the model and the benchmark: those come last.
    state = mg.available_backends().get(options.backend.partition(":")[0])
    if state is None or not state.is_usable:
        print(f"{options.backend} cannot be used here: {state.reason if state else 'no such backend'}", file=sys.stderr)
        return 2
    report.device = {"listing": [asdict(each) for each in state.devices]}
    parts: dict[str, Any] = {
        "conformance": partial(conformance.run, options.backend, options.case),
        "faults": partial(faults.run, options.backend),
        "embed": partial(embed.run, options.backend),
        "launches": partial(launches.run, options.backend, options.rounds),
    }
    for name in options.only or parts:
        section = report.run(name, parts[name])
        verdict = {True: "passed", False: "FAILED", None: "measured"}[section.passed]
        print(f"{name:12} {verdict:9} {section.seconds:7.1f} s", flush=True)
        report.write(options.report)
    with mg.open_backend(options.backend) as gpu:
        report.device["capabilities"] = {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in asdict(gpu.capabilities).items()
        }
    report.write(options.report)
    print(f"{'passed' if report.passed else 'FAILED'}; the report is {options.report}")
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
