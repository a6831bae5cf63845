"""Which AMD devices there are, asked in a child process, and every reason why there are none."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from rungs import require_rung

from metrale_gpu_runtime.drivers import listing
from metrale_gpu_runtime.drivers.hip import HipFactory
from metrale_gpu_runtime.errors import BackendUnavailable


@pytest.fixture
def standin_environment(monkeypatch):
    """Children find the stand-in; what a test passes are its settings."""
    require_rung("hip stand-in")
    from standin.hip_library import environment

    def use(devices, **settings):
        for name, value in environment(devices, **settings).items():
            monkeypatch.setenv(name, value)

    return use


def test_devices_are_listed_by_a_child(standin_environment):
    """Each device has its number, its name and what tells devices apart; this process has not asked HIP."""
    standin_environment(3, architecture="gfx942:sramecc+:xnack-", attribute_warp_size=64)
    first, second, third = HipFactory().devices()
    assert [each.index for each in (first, second, third)] == [0, 1, 2]
    assert "gfx942" in third.name
    assert "2" in third.name
    assert third.details["architecture"] == "gfx942:sramecc+:xnack-"
    assert third.details["memory"] == 8 << 30
    assert third.details["warp_size"] == 64


def test_no_device_is_a_reason(standin_environment):
    """A runtime without devices says what to look at."""
    standin_environment(0)
    with pytest.raises(BackendUnavailable, match=r"no device.*ROCR_VISIBLE_DEVICES.*/dev/kfd"):
        HipFactory().devices()


def test_a_runtime_that_fails_is_a_reason(standin_environment):
    """A code from starting HIP is named with HIP's word for it."""
    standin_environment(1, faults="hipInit:1:0:999")
    with pytest.raises(BackendUnavailable, match=r"hipErrorUnknown \(999\)"):
        HipFactory().devices()


def test_no_library_is_a_reason(monkeypatch):
    """Without libamdhip64.so the reason names it and what installs it."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    if "amdhip64" in subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("this machine has ROCm")
    with pytest.raises(BackendUnavailable, match=r"libamdhip64\.so.*install ROCm"):
        HipFactory().devices()


def test_no_bindings_are_a_reason(monkeypatch):
    """Without the bindings the reason is the command that installs them; nothing is started."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("a child was started"))
    with pytest.raises(BackendUnavailable, match=r'pip install "metrale-gpu-runtime\[hip\]"'):
        HipFactory().devices()


def test_a_child_that_dies_is_a_reason(monkeypatch):
    """What a child that was ended said last is the reason, with how it ended."""
    monkeypatch.setattr(sys, "executable", os.path.join(os.path.dirname(sys.executable), "python-that-fails"))
    monkeypatch.setattr(
        listing.subprocess,
        "run",
        lambda *a, **k: subprocess.CompletedProcess(a, -11, "", "line one\nsegmentation fault\n"),
    )
    with pytest.raises(BackendUnavailable, match=r"status -11 and said: segmentation fault"):
        HipFactory().devices()


def test_importing_the_factory_imports_no_bindings():
    """The factory's module, and the whole package, import neither the bindings nor a reader of code."""
    code = (
        "import sys, metrale_gpu_runtime, metrale_gpu_runtime.drivers.hip;"
        "sys.exit(any(m in sys.modules for m in ('hip', 'rocm', 'elftools', 'msgpack')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
