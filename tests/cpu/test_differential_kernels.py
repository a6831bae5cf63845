"""What random programs found stays right: small kernels, by block and by thread, checked and not."""

from __future__ import annotations

import differential_kernels
import pytest

from metrale_gpu_runtime.testing import run_isolated


@pytest.mark.parametrize("by_block", [True, False])
@pytest.mark.parametrize("check", [None, "memory"])
def test_kernels_that_were_wrong_once_are_right(check: str | None, by_block: bool) -> None:
    """Each gives the value that PTX says, without a fault, in a process that lives on."""
    found = run_isolated(differential_kernels.run_all, check, by_block).check()
    assert set(found) == set(differential_kernels.CASES)
    wrong = {
        name: (kind, got[:8], right[:8]) for name, (kind, got, right) in found.items() if kind != "NONE" or got != right
    }
    assert wrong == {}
