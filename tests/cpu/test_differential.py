"""Random race-free kernels: the CPU backend and an interpreter written apart from it agree bit for bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "differential" / "fuzz.py"
SEEDS_PER_BATCH = 5


@pytest.mark.parametrize("first", [0, 100, 200, 300, 400])
def test_random_kernels_agree_with_the_reference(first: int) -> None:
    """Every array of every program, with and without checks, by block and by thread, has the reference's bits."""
    # In a child process: a wrong translation may take the interpreter down, and that is a failure like others.
    done = subprocess.run(
        [sys.executable, str(FUZZ), "--child", str(first), str(SEEDS_PER_BATCH)],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=FUZZ.parent,
    )
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if '"wrong"' in line]
    assert len(told) == SEEDS_PER_BATCH
    assert [line[:400] for line in told if '"wrong": []' not in line] == []
