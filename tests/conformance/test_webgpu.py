"""The conformance suite on the WebGPU driver over software Vulkan, which compiles the suite's WGSL and runs it."""

from __future__ import annotations

import pytest
from rungs import require_rung

from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.case import ConformanceCase
from metrale_gpu_runtime.testing.conformance.target import OpenTarget

TARGET = OpenTarget("webgpu")


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_webgpu(case: ConformanceCase) -> None:
    """Each law of the suite holds on WebGPU, or it declares that it has not what the law is about."""
    require_rung("software vulkan")
    if reason := case.run(TARGET):
        pytest.skip(reason)
