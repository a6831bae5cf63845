"""NVTX ranges: told to a profiler that is there, and nothing at all otherwise."""

from __future__ import annotations

import sys
import types

import pytest

from metrale_gpu_runtime.errors import GpuWarning, KernelFault
from metrale_gpu_runtime.testing import FaultPlan, LaunchFault, MockGpuBackend
from metrale_gpu_runtime.testing.isolation import run_isolated


class Profiler:
    """The package nvtx, as far as it is used: it writes down what it is told."""

    def __init__(self):
        self.told, self.messages, self.domains = [], [], []

    def get_domain(self, name):
        self.domains.append(name)
        return types.SimpleNamespace(
            get_event_attributes=self.attributes, push_range=self.told.append, pop_range=lambda: self.told.append("end")
        )

    def attributes(self, message):
        self.messages.append(message)
        return f"<{message}>"


@pytest.fixture
def profiler(monkeypatch):
    profiler = Profiler()
    monkeypatch.setitem(sys.modules, "nvtx", profiler)
    monkeypatch.delenv("NVTX_INJECTION64_PATH", raising=False)
    monkeypatch.setenv("METRALE_NVTX", "1")
    return profiler


def test_ranges_and_launches_are_told(profiler):
    """A range holds the launches made in it, each under its kernel's name; names are registered once."""
    with MockGpuBackend() as gpu:
        scale, add = gpu.kernel("m", "scale"), gpu.kernel("m", "add")
        with gpu.range("layer 3"):
            scale[1, 1]()
            with gpu.range("inner"):
                add[1, 1]()
        scale[1, 1]()
    assert profiler.domains == ["metrale_gpu_runtime"]
    assert profiler.told == (["<layer 3>", "<scale>", "end", "<inner>", "<add>", "end", "end", "end", "<scale>", "end"])
    assert profiler.messages == ["layer 3", "scale", "inner", "add"]


def test_a_range_ends_when_its_block_fails(profiler):
    """Ranges are closed when a launch or the block raises."""
    plan = FaultPlan().fail("launch", failure=LaunchFault(context_lost=False))
    with MockGpuBackend(debug_sync=True, plan=plan) as gpu, pytest.raises(KernelFault), gpu.range("block"):
        gpu.kernel("m", "k")[1, 1]()
    assert profiler.told == ["<block>", "<k>", "end", "end"]


def test_nothing_is_told_without_a_profiler(profiler, monkeypatch):
    """Without a profiler and without METRALE_NVTX=1, or with METRALE_NVTX=0, the package is not even asked for."""
    for asked, injection in (("", ""), ("0", "/opt/profiler.so"), ("2", "")):
        monkeypatch.setenv("METRALE_NVTX", asked)
        monkeypatch.setenv("NVTX_INJECTION64_PATH", injection)
        with MockGpuBackend() as gpu, gpu.range("x"):
            gpu.kernel("m", "k")[1, 1]()
            assert gpu._nvtx is None
    monkeypatch.delenv("METRALE_NVTX")
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/opt/profiler.so")
    with MockGpuBackend() as gpu, gpu.range("x"):
        pass
    assert profiler.told == ["<x>", "end"]


def test_a_missing_package_is_said_when_it_was_asked_for(monkeypatch):
    """METRALE_NVTX=1 without the package gives a GpuWarning with the way to have it; a profiler alone gives none."""
    monkeypatch.setitem(sys.modules, "nvtx", None)
    monkeypatch.delenv("NVTX_INJECTION64_PATH", raising=False)
    monkeypatch.setenv("METRALE_NVTX", "1")
    with pytest.warns(GpuWarning, match=r"metrale-gpu-runtime\[nvtx\]"):
        MockGpuBackend().close()
    monkeypatch.setenv("METRALE_NVTX", "")
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/opt/profiler.so")
    MockGpuBackend().close()


def _with_the_real_package():
    import nvtx

    with MockGpuBackend() as gpu:
        assert gpu._nvtx is not None
        with gpu.range("layer 3"):
            gpu.kernel("m", "k")[1, 1]()
        return gpu.launch_count, nvtx.__name__


def test_the_real_package_takes_the_calls():
    """The package nvtx accepts every call that is made of it, in a process where it was asked for."""
    pytest.importorskip("nvtx")
    assert run_isolated(_with_the_real_package, environment={"METRALE_NVTX": "1"}).check() == (1, "nvtx")
