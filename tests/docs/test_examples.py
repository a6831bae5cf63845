"""Every small example runs as a script, says nothing on standard error, and prints what it is there to show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT
from rungs import require_rung

FOLDER = ROOT / "examples"

# A line of each one's output that only the right result has.
SHOWN = {
    "catch_an_overrun.py": r"out-of-bounds: thread \(232, 0, 0\) of block \(3, 0, 0\), write\n  kernels\.cu:29\n"
    r"(?s:.*)red zone: 4 bytes after 'values', from offset 4000",
    "debug_sync.py": r"suspects: prepare, solve, report\n.*raised at the launch of solve\n"
    r".*gpu\.kernel\(\"steps\", name\)\[1, 64\]\(values\)",
    "host_arrays.py": r"lent: +\[100\. 101\. 102\.\]\nin place: \[200\. 202\. 204\.\]",
    "mock_in_a_test.py": r"(passed test_\w+\n){4}",
    "prepared_and_slots.py": r"first block and rest: 800\.0 8\.0",
    "raw_kernel.py": r"void saxpy\(const float\* x, float\* y, int n, float a\)(?s:.*)z: +\[2\.5 2\.5\]",
    "sequence_and_graph.py": r"sequence, twice: 41\.0\ngraph, twice: +42\.5",
    "streams_and_events.py": r"read: +\[6\. 6\.\]\ncalled: +a function called behind the work\nelapsed: a positive time",
    "structs.py": r"NumPy: +\[-0\.5 +1\.5 +3\.5 +5\.5 +7\.5\]\nctypes: \[10\. +10\.25 10\.5 +10\.75 11\. *\]",
    "vector_add.py": r"short form: \[0\.5 1\.5 2\.5 3\.5\] … 999\.5\nrefused:.*use arg_u32",
}
NEEDS = {"raw_kernel.py": ("nvrtc", "debug information")}


def test_every_example_is_run_and_listed() -> None:
    """The scripts of examples/ are those of this file and those of its README."""
    scripts = {path.name for path in FOLDER.glob("*.py")}
    assert scripts == set(SHOWN)
    listed = re.findall(r"^\| \[(\w+\.py)\]\(\1\) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(listed) == scripts


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    """The script ends with 0 and an empty standard error, from another folder too, and shows its point."""
    for rung in NEEDS.get(name, ()):
        require_rung(rung)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("METRALE_")}
    run = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / name)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={**environment, "PYTHONIOENCODING": "utf-8"},
        timeout=120,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    assert re.search(SHOWN[name], run.stdout), run.stdout
