"""The conformance suite on OpenCL's driver over PoCL, with shared virtual memory and with buffer objects.

With buffer objects sequences are recorded in command buffers by default; the laws about sequences hold in those of
shared virtual memory as well.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import pytest
from pocl import pocl_spec
from rungs import require_rung

from metrale_gpu_runtime import GpuBackend
from metrale_gpu_runtime.drivers.opencl.driver import OpenclDriver
from metrale_gpu_runtime.drivers.opencl.streams import QUEUED
from metrale_gpu_runtime.errors import BackendUnavailable
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.case import ConformanceCase
from metrale_gpu_runtime.testing.conformance.target import OpenTarget


class OpenclTarget(OpenTarget):
    """PoCL, with memory "svm" or "buffers". It links each kernel with the system's `ld`, and ends the process without."""

    def __init__(self, memory: str, command_buffers: bool | None = None) -> None:
        super().__init__(str(pocl_spec()), programs=("ld",))
        self.memory, self.command_buffers = memory, command_buffers

    def open_backend(self, **options: Any) -> GpuBackend:
        return super().open_backend(**options, memory=self.memory, command_buffers=self.command_buffers)

    def driver_calls(self, gpu: GpuBackend) -> int:
        """Commands queued: what a refusal must not add to."""
        driver = gpu._driver
        assert isinstance(driver, OpenclDriver)
        return sum(stream.counts[QUEUED] for stream in driver._streams.values())


@cache
def target(memory: str, command_buffers: bool | None = None) -> OpenclTarget:
    """One for all laws: it remembers the device's capabilities."""
    return OpenclTarget(memory, command_buffers)


def cases_with_sequences() -> list[ConformanceCase]:
    """Those whose text records a sequence."""
    return [each for each in cases() if "gpu.sequence()" in inspect.getsource(each.body)]


@pytest.mark.parametrize("memory", ["svm", "buffers"])
@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_opencl(case: ConformanceCase, memory: str) -> None:
    """Each law of the suite holds on OpenCL, or it declares that it has not what the law is about."""
    require_rung("pocl")
    if reason := case.run(target(memory)):
        pytest.skip(reason)


@pytest.mark.parametrize("case", cases_with_sequences(), ids=str)
def test_the_law_holds_in_command_buffers_of_shared_memory(case: ConformanceCase) -> None:
    """Each law that records a sequence holds where the driver records it over shared virtual memory."""
    require_rung("pocl")
    try:
        reason = case.run(target("svm", True))
    except BackendUnavailable as error:
        if "records no sequences" not in str(error):
            raise
        reason = str(error)
    if reason:
        pytest.skip(reason)


def test_there_are_laws_about_sequences() -> None:
    """The laws that are run again with command buffers are found, among them the one about what a sequence holds."""
    names = {each.name for each in cases_with_sequences()}
    assert len(names) >= 8
    assert "prepared_launches_and_sequences_hold_their_memory" in names
