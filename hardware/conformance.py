"""The conformance suite on a device. Laws that fault get a process each: after a fault a GPU's context is gone."""

from __future__ import annotations

import time
import traceback
from collections.abc import Collection
from typing import Any

from metrale_gpu_runtime.testing import run_isolated
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.case import ConformanceCase
from metrale_gpu_runtime.testing.conformance.target import OpenTarget

PER_CASE_S = 60
WHOLE_SUITE_S = 240


def run(backend: str, only: Collection[str] = ()) -> tuple[bool, dict[str, Any]]:
    """Every law, or those named: "passed", the reason why it does not apply, or the traceback of the failure."""
    every = [case for case in cases() if not only or case.name in only]
    if unknown := set(only) - {case.name for case in every}:
        raise ValueError(f"no law is called {', '.join(sorted(unknown))}")
    together = [case.name for case in every if not _faults(case)]
    outcomes: dict[str, dict[str, Any]] = {}
    done = run_isolated(run_cases, backend, together, timeout_s=WHOLE_SUITE_S)
    if done.exit_code == 0 and isinstance(done.value, dict):
        outcomes.update(done.value)
    else:
        # One of them took the process along: each by itself tells which.
        for name in together:
            outcomes.update(_alone(backend, name))
    for case in every:
        if case.name not in outcomes:
            outcomes.update(_alone(backend, case.name))
    counts = {
        kind: sum(each["outcome"] == kind for each in outcomes.values()) for kind in ("passed", "declared", "failed")
    }
    failed = {name: each for name, each in outcomes.items() if each["outcome"] == "failed"}
    declared = {name: each["detail"] for name, each in outcomes.items() if each["outcome"] == "declared"}
    slowest = sorted(((each["seconds"], name) for name, each in outcomes.items()), reverse=True)[:5]
    return not failed, {"counts": counts, "failed": failed, "declared": declared, "slowest": slowest}


def run_cases(backend: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """The child's part: these laws, one behind the other."""
    # PoCL links each kernel with the system's linker.
    target = OpenTarget(backend, programs=("ld",) if backend.startswith("opencl") else ())
    by_name = {case.name: case for case in cases()}
    outcomes = {}
    for name in names:
        began = time.perf_counter()
        try:
            reason = by_name[name].run(target)
            outcome, detail = ("passed", "") if reason is None else ("declared", reason)
        except Exception:
            outcome, detail = "failed", traceback.format_exc()
        seconds = round(time.perf_counter() - began, 3)
        outcomes[name] = {"outcome": outcome, "detail": detail, "seconds": seconds}
    return outcomes


def _alone(backend: str, name: str) -> dict[str, dict[str, Any]]:
    done = run_isolated(run_cases, backend, [name], timeout_s=PER_CASE_S)
    if done.exit_code == 0 and isinstance(done.value, dict):
        return done.value
    detail = f"the process ended with {done.signal_name or done.exit_code}\n{done.stderr[-2000:]}"
    return {name: {"outcome": "failed", "detail": detail, "seconds": 0.0}}


def _faults(case: ConformanceCase) -> bool:
    return case.body.__module__.rpartition(".")[2] in ("faults", "guards")
