"""Which adapters there are, how one is chosen, and what a process without any is told (case 46)."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from rungs import require_rung
from webgpu_room import SOURCE, opened

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.webgpu import WebgpuFactory, adapters
from metrale_gpu_runtime.drivers.webgpu.bindings import load_bindings
from metrale_gpu_runtime.errors import BackendUnavailable, NotSupported
from metrale_gpu_runtime.testing import run_isolated

require_rung("software vulkan")


def headless(**changes: str) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment.pop("XDG_RUNTIME_DIR", None)
    return {**environment, **changes}


def test_software_adapters_are_listed_as_such() -> None:
    """A device that the CPU plays is there, says so, and is no other backend's."""
    listed = WebgpuFactory().devices()
    software = [each for each in listed if each.details["software"]]
    assert software
    assert all("software" in each.name for each in software)
    assert [each.index for each in listed] == list(range(len(listed)))
    assert all(each.details["software"] for each in listed[len(listed) - len(software) :]), "real GPUs come first"


OPENS = """
import numpy as np
import metrale_gpu_runtime as mg
with mg.open_backend("webgpu") as gpu:
    source = '@group(0) @binding(0) var<storage, read_write> x: array<u32>;' \\
             '@compute @workgroup_size(4) fn f(@builtin(local_invocation_index) i: u32) { x[i] = i + 7u; }'
    x = gpu.empty(4, mg.u32)
    gpu.load_module("m", source={".wgsl": source})["f"][1, 4](x)
    print(x.numpy().tolist())
"""


def test_nothing_needs_a_display() -> None:
    """Without a display, a session or a place for sockets, kernels run, and nothing is written to stderr."""
    child = subprocess.run([sys.executable, "-c", OPENS], env=headless(), capture_output=True, text=True, timeout=120)
    assert (child.stdout, child.stderr) == ("[7, 8, 9, 10]\n", "")


NONE = """
import metrale_gpu_runtime as mg
try:
    mg.open_backend("webgpu")
except mg.BackendUnavailable as error:
    print(error)
"""


@pytest.mark.parametrize("variable", ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"])
def test_a_hidden_driver_is_told(variable: str) -> None:
    """With no Vulkan driver to be found, the variable that hides it and what to do are named, when listing and when
    opening."""
    environment = headless(**{variable: "/nonexistent/driver.json"})
    child = subprocess.run([sys.executable, "-c", NONE], env=environment, capture_output=True, text=True, timeout=120)
    assert "webgpu:" in child.stdout
    assert variable in child.stdout
    assert "/nonexistent/driver.json" in child.stdout
    assert "unset" in child.stdout


def test_a_device_is_chosen_by_number_and_by_name() -> None:
    """The number is that of the list; a part of a name that fits one adapter is as good; else the list is told."""
    factory = WebgpuFactory()
    name = factory.devices()[0].name.lower().split()[0]
    assert factory.index_of([]) == 0
    assert factory.index_of(["3"]) == 3
    assert factory.index_of([name]) == 0
    with pytest.raises(ValueError, match="webgpu:"):
        factory.index_of(["0", "1"])
    with pytest.raises(ValueError, match="webgpu:"):
        factory.index_of([""])
    with pytest.raises(BackendUnavailable, match=f"(?i)has 'no such name' in its name; there is webgpu:0 {name}"):
        factory.index_of(["no such name"])
    with pytest.raises(BackendUnavailable, match="no adapter 99"):
        mg.open_backend("webgpu:99")
    with pytest.raises(TypeError, match="storage"):
        mg.open_backend("webgpu", storage="shared")


def described(**changes: Any) -> adapters.Adapter:
    bindings = load_bindings()
    limits = bindings.ffi.new("WGPULimits *")
    facts = dict.fromkeys(("device", "vendor", "driver"), "x")
    facts |= {"native": None, "graphics": "Vulkan", "kind": "Unknown", "vendor_id": 1, "device_id": 2}
    return adapters.Adapter(**{**facts, "limits": limits, "reason": None, **changes})  # type: ignore[arg-type]


def test_the_best_adapter_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Discrete before integrated before unknown before software; what cannot be used comes last and has no number."""
    there = [
        described(kind="CPU"),
        described(kind="DiscreteGPU", reason="it has no storage buffers"),
        described(kind="IntegratedGPU"),
        described(kind="Unknown"),
        described(kind="DiscreteGPU"),
    ]
    monkeypatch.setattr(adapters, "_enumerate", lambda _: range(len(there)))
    monkeypatch.setattr(adapters, "_described", lambda _, number: there[number])
    kinds = [each.kind for each in adapters.find_adapters(load_bindings())]
    assert kinds == ["DiscreteGPU", "IntegratedGPU", "Unknown", "CPU", "DiscreteGPU"]
    assert [each.kind for each in adapters.usable_adapters(load_bindings())] == kinds[:-1]


def test_no_usable_adapter_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every adapter is of no use the doctor's reason is the error."""
    monkeypatch.setattr(adapters, "_enumerate", lambda _: ())
    monkeypatch.setattr("metrale_gpu_runtime.drivers.webgpu.diagnosis.why_unusable", lambda: "no moon; wait for one")
    with pytest.raises(BackendUnavailable, match="webgpu: no moon; wait for one"):
        mg.open_backend("webgpu")


def fork_with_a_device_open() -> None:
    """In a child: a fork of it may neither use the open device nor open one; it is told, and ends."""
    with opened() as gpu:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                mg.open_backend("webgpu")
            except BackendUnavailable as error:
                code = 0 if "fork" in str(error) else 2
            os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        x = gpu.array(np.ones(32, np.uint32))
        gpu.kernel("m", "affine_32")[1, 32](x, 32, 2, 3)
        assert x.numpy().tolist() == [5] * 32


def fork_after_listing() -> None:
    """In a child: listing leaves nothing behind that a fork could break."""
    assert mg.available_backends()["webgpu"].is_usable
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with opened() as gpu:
                x = gpu.array(np.ones(32, np.uint32))
                gpu.kernel("m", "affine_32")[1, 32](x, 32, 2, 3)
                code = 0 if x.numpy().tolist() == [5] * 32 else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("way", ["fork_with_a_device_open", "fork_after_listing"])
def test_forks(way: str) -> None:
    """A fork with a device open is refused one by name; a program that has only listed may fork and open there."""
    path = os.pathsep.join(path for path in sys.path if path)
    result = run_isolated(f"test_webgpu_opening:{way}", environment={**os.environ, "PYTHONPATH": path}, timeout_s=120)
    assert (result.exit_code, result.stderr) == (0, "")


def test_what_webgpu_has_not() -> None:
    """Managed and pinned memory, priorities: refused by name; a software device's memory is the host's."""
    with opened() as gpu:
        capabilities = gpu.capabilities
        denied = ("raw_addresses", "null_pointers", "local_arguments", "aliased_writes", "graphs", "usable_after_fork")
        assert not any(getattr(capabilities, name) for name in denied)
        for call in (gpu.alloc_managed, gpu.alloc_host_pinned):
            with pytest.raises(NotSupported):
                call(64)
        assert 0 < gpu.free_memory() <= gpu.total_memory()
        assert SOURCE
        with pytest.raises(mg.GpuError, match="no priorities"):
            gpu.create_stream(priority=-1)


def test_a_gpu_tells_no_figures_of_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """WebGPU has no call for how much memory there is: that is said, and nothing is made up."""
    with opened() as gpu:
        device = gpu._driver._device  # type: ignore[attr-defined]
        monkeypatch.setattr(device, "adapter", described(kind="DiscreteGPU"))
        with pytest.raises(NotSupported, match="memory"):
            gpu.free_memory()
