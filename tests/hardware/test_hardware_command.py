"""`python -m hardware`, the proof for a real device, on the CUDA driver room over the executing stand-in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rungs import require_rung
from standin import LIBRARY, build_cuda, environment

ROOT = Path(__file__).parents[2]
SITE = Path(__file__).with_name("site")


def run(tmp_path: Path, *words: str, devices: int = 1) -> tuple[int, str, dict[str, Any]]:
    require_rung("stand-in driver")
    report = tmp_path / "reports" / "device.json"
    # Newer than every NVRTC, so that source becomes PTX, which the stand-in can execute.
    variables = environment(devices, driver_version=13990) | {
        "PYTHONPATH": os.pathsep.join([str(SITE), str(SITE.parents[1])]),
        "METRALE_STANDIN_EXECUTING_LIBRARY": str(build_cuda() / LIBRARY),
    }
    done = subprocess.run(
        [sys.executable, "-m", "hardware", "--report", str(report), *words],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        timeout=300,
    )
    told = done.stdout + done.stderr
    return done.returncode, told, json.loads(report.read_text()) if report.exists() else {}


def test_the_report_has_every_section(tmp_path: Path) -> None:
    """Conformance, faults, the model and the launch costs are run, judged and written as one JSON document."""
    require_rung("weights")
    require_rung("tokenizers")
    # Laws that need processes, faults and graphs; the whole suite runs in tests/conformance.
    laws = (
        *("a_graph_replays_what_was_captured", "leaving_the_interpreter_is_silent"),
        *("closing_after_a_fault_neither_raises_nor_hangs", "nothing_but_python_is_needed"),
    )
    code, told, report = run(tmp_path, "--rounds", "2", *(word for law in laws for word in ("--case", law)))
    assert code == 0, told
    assert report["passed"] is True
    sections = {section["name"]: section for section in report["sections"]}
    assert list(sections) == ["conformance", "faults", "embed", "launches"]
    assert sections["conformance"]["facts"]["counts"] == {"passed": 4, "declared": 0, "failed": 0}
    faults = sections["faults"]["facts"]
    assert faults["trapped, debug sync on"]["blamed"] == "trapped"
    assert faults["illegal_address, debug sync off"]["suspects"] == ["illegal_address"]
    assert sections["embed"]["facts"]["largest difference"] < 1e-4
    costs = sections["launches"]["facts"]["16 arguments"]
    assert costs["bare driver call"]["ratio"] == 1
    assert {"prepared()", "prepared(last=n)", "kernel[grid, block](…)"} <= set(costs)
    assert report["device"]["capabilities"]["graphs"] is True
    assert "cuda-bindings" in report["packages"]


def test_a_failure_is_a_failure(tmp_path: Path) -> None:
    """A part that cannot run fails the report, says why, and the exit code tells."""
    code, told, report = run(tmp_path, "--only", "conformance", "--case", "no_such_law")
    assert code == 1, told
    assert report["passed"] is False
    assert "no_such_law" in report["sections"][0]["facts"]["error"]


@pytest.mark.parametrize("backend", ["cuda", "nonsense"])
def test_without_a_device_it_says_so(tmp_path: Path, backend: str) -> None:
    """No device, or no such backend: the reason and exit code 2, and no report."""
    code, told, report = run(tmp_path, "--backend", backend, devices=0)
    assert (code, report) == (2, {})
    assert backend in told
