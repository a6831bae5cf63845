"""PoCL opened for tests of the OpenCL driver, with both kinds of memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pocl import pocl_spec
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.kernel import Kernel

MEMORIES = ("svm", "buffers")


def open_pocl(memory: str = "svm") -> GpuBackend:
    """A fresh backend; skips the test where there is no PoCL."""
    require_rung("pocl")
    return mg.open_backend(str(pocl_spec()), memory=memory)


@pytest.fixture(params=MEMORIES)
def gpu(request: pytest.FixtureRequest) -> Iterator[GpuBackend]:
    """PoCL with shared virtual memory, and with buffer objects."""
    with open_pocl(request.param) as opened:
        yield opened


@pytest.fixture
def svm() -> Iterator[GpuBackend]:
    """PoCL with shared virtual memory."""
    with open_pocl("svm") as opened:
        yield opened


@pytest.fixture
def buffers() -> Iterator[GpuBackend]:
    """PoCL with buffer objects."""
    with open_pocl("buffers") as opened:
        yield opened


def kernel(gpu: GpuBackend, source: str, name: str, module: str = "m", **loading: object) -> Kernel:
    """A kernel of this source."""
    gpu.load_module(module, source=source, **loading)
    return gpu.kernel(module, name)


def written(folder: Path, name: str, text: str) -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text)
    return path


def ints(gpu: GpuBackend, count: int) -> mg.DeviceBuffer:
    """So many i32, all -1."""
    return gpu.array(np.full(count, -1, np.int32))
