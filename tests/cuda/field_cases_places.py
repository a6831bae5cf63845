"""One open backend of each kind that is without hardware here, with the suite's kernels, for laws that hold on all."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from primary_contexts import active_contexts
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.mock.log import Launch
from metrale_gpu_runtime.testing import MockGpuBackend
from metrale_gpu_runtime.testing.conformance.target import KERNELS

PLACES = ("mock", "cuda", "hip")
CODE_OBJECTS = Path(__file__).parents[1] / "hip" / "code_objects"


class Place:
    """A backend, and how many launches its driver was asked for."""

    def __init__(self, gpu: GpuBackend, standin: object = None) -> None:
        self.gpu, self.standin = gpu, standin
        self.name = gpu.capabilities.backend

    @property
    def launch_calls(self) -> int:
        """Calls that launch something, refused ones and those of graphs included."""
        if self.standin is None:
            assert isinstance(self.gpu, MockGpuBackend)
            return len(self.gpu.log.of(Launch))
        return sum("Launch" in name for name in self.standin.names())

    def launches(self) -> list[tuple[tuple[int, int, int], tuple[int, int, int], int]]:
        """(grid, block, dynamic shared memory) of each launch that was accepted."""
        if self.standin is None:
            assert isinstance(self.gpu, MockGpuBackend)
            return [(each.grid, each.block, each.shared_mem) for each in self.gpu.log.of(Launch) if not each.failed]
        return [(each.grid, each.block, each.shared) for each in self.standin.launches()]

    def kernel(self, function: str, signature: str | None = None) -> mg.Kernel:
        """A kernel of the conformance suite; each signature is declared in a module of its own."""
        name = f"suite {signature}" if signature else "suite"
        if not self.gpu.has_module(name):
            path = KERNELS / "suite.ptx" if self.name != "hip" else CODE_OBJECTS / "suite.gfx1100.hsaco"
            self.gpu.load_module(name, path=path)
        return self.gpu.kernel(name, function, signature=signature)


@contextmanager
def opened(name: str, **options: object) -> Iterator[Place]:
    """The place of this name; afterwards its driver's books are empty and nobody did what a correct caller does not."""
    if name == "mock":
        with MockGpuBackend("H100", strict=True, **options) as gpu:
            yield Place(gpu)
        assert not gpu.mock.violations
        return
    require_rung("stand-in driver" if name == "cuda" else "hip stand-in")
    if name == "cuda":
        from standin import cuda

        standin = cuda()
    else:
        from standin.hip_library import load

        standin = load()
    standin.reset(devices=2)
    try:
        with mg.open_backend(name, **options) as gpu:
            yield Place(gpu, standin)
        if standin.live():
            gc.collect()
        standin.clear_faults()
        # After a fault HIP takes nothing back: there is no context that could go, and all with it.
        is_kept = name == "hip" and gpu.is_lost
        assert is_kept or standin.live() == {}
        assert [str(each) for each in standin.violations()] == []
        assert name == "hip" or active_contexts() == 0
    finally:
        standin.reset()
