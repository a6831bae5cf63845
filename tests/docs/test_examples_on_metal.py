"""The small examples that run on any backend, on Metal over its stand-in: the same scripts, another word in METRALE_BACKEND."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from metal_standin import environment
from rungs import require_rung
from test_examples import FOLDER, SHOWN

README = (FOLDER / "README.md").read_text(encoding="utf-8")
ANYWHERE = re.findall(r"^\| \[(\w+\.py)\].*\| any \|$", README, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(ANYWHERE))
def test_an_example_runs_on_metal(name: str) -> None:
    """What the README says runs on any backend shows its point on Metal."""
    require_rung("metal stand-in")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / name)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**environment(), "METRALE_BACKEND": "metal", "PYTHONIOENCODING": "utf-8"},
        timeout=120,
    )
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    assert re.search(SHOWN[name], run.stdout), run.stdout


def test_there_are_examples_for_any_backend() -> None:
    """The README lists the scripts that are run here."""
    assert {"vector_add.py", "prepared_and_slots.py", "sequence_and_graph.py", "streams_and_events.py"} <= set(ANYWHERE)
