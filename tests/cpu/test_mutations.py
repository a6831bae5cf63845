"""Two hundred damaged PTX files: each is refused in words, faults, or runs; the process lives, and nothing hangs."""

from __future__ import annotations

import mutants
import pytest

from metrale_gpu_runtime.testing import run_isolated


@pytest.mark.parametrize("name", mutants.FILES)
def test_damaged_ptx_is_refused_faults_or_runs(name: str) -> None:
    """Every mutant ends as one of the three, some of them each way, in a child process that ends cleanly."""
    ends = run_isolated(mutants.run_damaged, name, timeout_s=300).check()
    assert sum(ends.values()) == mutants.COUNT
    assert ends["refused"] > 0
    assert ends.get("ran", 0) + ends.get("fault", 0) > 0


def test_there_are_two_hundred() -> None:
    """The files and the mutants of each come to two hundred."""
    assert len(mutants.FILES) * mutants.COUNT == 200
