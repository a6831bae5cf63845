"""`python -m hardware` on OpenCL and WebGPU, which run on the CPU where there is no GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pocl import pocl_spec
from rungs import require_rung

ROOT = Path(__file__).parents[2]
# One that a child process shows, one that the launch costs' own process shows.
LAWS = ("nothing_but_python_is_needed", "threads_never_see_each_others_values")


@pytest.mark.parametrize("backend", ["opencl", "webgpu"])
def test_the_report_of_a_software_device(tmp_path: Path, backend: str) -> None:
    """Laws hold, faults are asked for where the device states that it tells them, and launches have their floor."""
    require_rung({"opencl": "pocl", "webgpu": "software vulkan"}[backend])
    spec, report = (pocl_spec() or backend) if backend == "opencl" else backend, tmp_path / "report.json"
    words = [
        *("--only", "conformance", "--only", "faults", "--only", "launches"),
        "--rounds",
        "3",
        "--report",
        str(report),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "hardware", "--backend", spec, *words, *(w for law in LAWS for w in ("--case", law))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    told = json.loads(report.read_text())
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{told['sections']}"
    conformance, faults, launches = (section["facts"] for section in told["sections"])
    assert conformance["counts"] == {"passed": 2, "declared": 0, "failed": 0}
    assert faults["what the device tells"]["kernel_faults"] is False
    assert faults["afterwards, another process"]["value"] == [7, 8, 9]
    assert ("an overrun beside other memory" in faults) == (backend == "webgpu")
    assert launches["4 arguments"]["bare driver call"]["ratio"] == 1
    assert {"prepared()", "kernel[grid, block](…)"} <= set(launches["4 arguments"])
    assert {"opencl": "pyopencl", "webgpu": "wgpu"}[backend] in told["packages"]
