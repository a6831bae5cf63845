"""The example model on PoCL, which compiles its OpenCL C and runs it."""

from __future__ import annotations

from pocl import pocl_spec
from rungs import require_rung

require_rung("weights")
require_rung("tokenizers")
require_rung("pocl")

from hardware import embed  # noqa: E402


def test_the_model_agrees_with_its_reference_on_opencl() -> None:
    """One word changed, cpu to opencl: the sentences come out as the reference has them, first and again."""
    agrees, facts = embed.run(pocl_spec() or "opencl")
    assert agrees, facts
    assert facts["largest difference"] < 1e-5
