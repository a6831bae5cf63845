"""The conformance suite on OpenCL's driver over PoCL, with shared virtual memory and with buffer objects."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from pocl import pocl_spec
from rungs import require_rung

from metrale_gpu_runtime import GpuBackend
from metrale_gpu_runtime.drivers.opencl.driver import OpenclDriver
from metrale_gpu_runtime.drivers.opencl.streams import QUEUED
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.case import ConformanceCase
from metrale_gpu_runtime.testing.conformance.target import OpenTarget


class OpenclTarget(OpenTarget):
    """PoCL, with memory "svm" or "buffers". It links each kernel with the system's `ld`, and ends the process without."""

    def __init__(self, memory: str) -> None:
        super().__init__(str(pocl_spec()), programs=("ld",))
        self.memory = memory

    def open_backend(self, **options: Any) -> GpuBackend:
        return super().open_backend(**options, memory=self.memory)

    def driver_calls(self, gpu: GpuBackend) -> int:
        """Commands queued: what a refusal must not add to."""
        driver = gpu._driver
        assert isinstance(driver, OpenclDriver)
        return sum(stream.counts[QUEUED] for stream in driver._streams.values())


@cache
def target(memory: str) -> OpenclTarget:
    """One for all laws: it remembers the device's capabilities."""
    return OpenclTarget(memory)


@pytest.mark.parametrize("memory", ["svm", "buffers"])
@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_opencl(case: ConformanceCase, memory: str) -> None:
    """Each law of the suite holds on OpenCL, or it declares that it has not what the law is about."""
    require_rung("pocl")
    if reason := case.run(target(memory)):
        pytest.skip(reason)
