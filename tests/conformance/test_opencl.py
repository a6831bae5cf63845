"""The conformance suite on OpenCL's driver over PoCL, with shared virtual memory and with buffer objects."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

import pytest
from rungs import require_rung

from metrale_gpu_runtime import GpuBackend
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.case import ConformanceCase
from metrale_gpu_runtime.testing.conformance.target import OpenTarget


class OpenclTarget(OpenTarget):
    """PoCL, with memory "svm" or "buffers".

    PoCL links each kernel with the system's `ld`, and ends the process without one: that it gets in any case, alone.
    """

    def __init__(self, memory: str) -> None:
        super().__init__("opencl:pocl")
        self.memory, self._linker = memory, shutil.which("ld")

    def open_backend(self, **options: Any) -> GpuBackend:
        if shutil.which("ld") is None and self._linker is not None:
            folder = tempfile.mkdtemp(prefix="only-ld-")
            atexit.register(shutil.rmtree, folder)
            os.symlink(self._linker, os.path.join(folder, "ld"))
            os.environ["PATH"] = folder
        return super().open_backend(**options, memory=self.memory)


TARGETS: Mapping[str, OpenclTarget] = {memory: OpenclTarget(memory) for memory in ("svm", "buffers")}


@pytest.mark.parametrize("memory", TARGETS)
@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_opencl(case: ConformanceCase, memory: str) -> None:
    """Each law of the suite holds on OpenCL, or it declares that it has not what the law is about."""
    require_rung("pocl")
    if reason := case.run(TARGETS[memory]):
        pytest.skip(reason)
