"""The conformance suite on the HIP driver over the stand-in, whose kernels the CPU backend executes.

The suite's kernels are code objects that clang made of its .cu files (tests/hip/code_objects); what runs is the PTX that
NVRTC made of the same text.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rungs import require_rung

from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.target import KERNELS, OpenTarget

CODE_OBJECTS = Path(__file__).parents[1] / "hip" / "code_objects"
NAMES = ("suite", "doubled", "plus_hundred")


def code_object(kernels: str) -> bytes:
    return (CODE_OBJECTS / f"{kernels}.gfx1100.hsaco").read_bytes()


class HipTarget(OpenTarget):
    """The stand-in's HIP, with executed kernels."""

    def __init__(self, standin):
        super().__init__("hip")
        self.standin = standin

    def load(self, gpu, kernels, name=None):
        return gpu.load_module(name or kernels, path=CODE_OBJECTS / f"{kernels}.gfx1100.hsaco")

    def driver_calls(self, gpu):
        return self.standin.call_count()

    def after_close(self, gpu):
        super().after_close(gpu)
        assert self.standin.live() == {}


@pytest.fixture
def target():
    """A fresh stand-in with two devices that execute; nothing that correct callers never do may happen."""
    require_rung("hip stand-in")
    from standin.executor import Executor
    from standin.hip_library import load

    standin = load()
    standin.reset(devices=2)
    executor = Executor(standin)
    for name in NAMES:
        executor.register(code_object(name), (KERNELS / f"{name}.ptx").read_bytes())
    yield HipTarget(standin)
    violations, failures = standin.violations(), executor.failures
    executor.close()
    standin.reset()
    assert violations == []
    assert failures == []


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_hip(case, target):
    """Each law of the suite holds on HIP, or it declares that it has not what the law is about."""
    if reason := case.run(target):
        pytest.skip(reason)
