"""The conformance suite on the CPU backend, which really runs the suite's PTX."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.target import OpenTarget

TARGET = OpenTarget("cpu")


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_the_cpu(case):
    """Each law of the suite holds on the CPU backend, or it declares that it has not what the law is about."""
    if reason := case.run(TARGET):
        pytest.skip(reason)
