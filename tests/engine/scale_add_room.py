"""The mock with one kernel of four typed parameters, for tests of what becomes of a launch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.testing import MockGpuBackend

DECLARATION = "const float* x, float* y, unsigned int count, float factor"


@pytest.fixture
def gpu() -> Iterator[MockGpuBackend]:
    with MockGpuBackend() as backend:
        backend.load_module("m", source="kernels of the mock")
        yield backend


@pytest.fixture
def kernel(gpu: MockGpuBackend) -> mg.Kernel:
    return gpu.kernel("m", "scale_add", signature=DECLARATION)
