"""Errors come from the call that caused them: of the compiler with line and column, of the queue with the launch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from webgpu_room import SOURCE, gpu, opened

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.webgpu.device import WgpuError
from metrale_gpu_runtime.errors import (
    CompileError,
    ContextLost,
    DriverError,
    KernelFault,
    ModuleLoadError,
    NotSupported,
    OutOfDeviceMemory,
)

__all__ = ["gpu"]


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("@compute @workgroup_size(1)\nfn f() {\n  let x = 3u + 2.5f;\n}", 3, 11, "Add"),
        ("fn g() {}\nfn (\n", 2, 4, "identifier"),
        ("@compute @workgroup_size(1)\nfn f() {\n  missing = 3;\n}", 3, 3, "missing"),
        ("\n\n// ünïcödé\nvar<private> a: nothing;\n", 4, 17, "nothing"),
    ],
)
def test_the_compiler_names_file_line_and_column(
    gpu: GpuBackend, tmp_path: Any, text: str, line: int, column: int, said: str
) -> None:
    """A text that is refused raises from the call that loads it, with the user's file, the place and the compiler's
    words; nothing is loaded."""
    file = tmp_path / "wrong.wgsl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CompileError, match=rf"wrong\.wgsl:{line}:{column}") as caught:
        gpu.load_module("wrong", path=file)
    assert said in caught.value.log
    assert caught.value.diagnostics[0][1] == line
    assert not gpu.has_module("wrong")
    with pytest.raises(CompileError, match=rf"{line}:{column}"):
        gpu.load_module("wrong", source={".wgsl": text})


def test_options_have_no_meaning(gpu: GpuBackend) -> None:
    """WGSL has no compiler options: one that is given is refused by name."""
    with pytest.raises((NotSupported, ModuleLoadError), match="-DN=3"):
        gpu.load_module("optional", source={".wgsl": SOURCE}, options=("-DN=3",))


def test_a_constant_that_the_compiler_refuses(gpu: GpuBackend) -> None:
    """What can only be found when a pipeline is made is told where it is made, with the constants."""
    source = "override n: u32;\nvar<workgroup> t: array<u32, n>;\n"
    source += "@compute @workgroup_size(1) fn f() { t[0] = 1; }"
    gpu.load_module("sized", source={".wgsl": source})
    with pytest.raises(CompileError, match="n=0"):
        gpu.kernel("sized", "f", constants={"n": 0})[1, 1]()


def driver_of(gpu: GpuBackend) -> Any:
    return gpu._driver


def spoil(gpu: GpuBackend, launch: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Launch with the queue busy, and record behind it what wgpu will refuse when the encoder is finished."""
    driver = driver_of(gpu)
    monkeypatch.setattr(driver._pace, "unknown", 8)
    monkeypatch.setattr(driver._device, "poll", lambda: False)
    launch()
    lib = driver._device.bindings.lib
    lib.wgpuComputePassEncoderDispatchWorkgroups(driver._streams[0].compute, 70000, 1, 1)
    monkeypatch.undo()


def test_work_that_is_refused_names_its_launch_at_the_next_wait(
    gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that comes only when work is handed over is raised by the next synchronisation, with the launch that it
    belongs to; none of it ran, and the stream goes on."""
    kernel = gpu.kernel("m", "affine_32")
    x = gpu.array(np.full(32, 5, np.uint32))
    gpu.synchronize()
    spoil(gpu, lambda: kernel[1, 32](x, 32, 3, 1), monkeypatch)
    with pytest.raises(KernelFault, match=r"(?s)65535.*affine_32") as caught:
        gpu.synchronize()
    assert caught.value.launch is not None
    assert caught.value.launch.kernel == "affine_32"
    assert x.numpy().tolist() == [5] * 32
    kernel[1, 32](x, 32, 3, 1)
    assert x.numpy().tolist() == [16] * 32
    assert not gpu.is_lost


def test_several_launches_that_were_refused_together_are_all_named(
    gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where wgpu does not say which one it was, none is accused and all are listed as dropped."""
    kernel = gpu.kernel("m", "affine_32")
    x = gpu.array(np.full(32, 5, np.uint32))
    gpu.synchronize()

    def three() -> None:
        for plus in range(3):
            kernel[1, 32](x, 32, 1, plus)

    spoil(gpu, three, monkeypatch)
    with pytest.raises(KernelFault) as caught:
        gpu.synchronize()
    assert caught.value.launch is None
    assert [each.kernel for each in caught.value.dropped] == ["affine_32"] * 3


def test_an_error_on_a_thread_of_the_librarys_is_told_by_the_next_wait(gpu: GpuBackend) -> None:
    """Nobody made that call; so it is raised by whoever looks next, and once."""
    driver_of(gpu)._device.errors.append(WgpuError(-5, "Internal", "Caused by:\n  In wgpuX\n    the moon is full"))
    with pytest.raises(DriverError, match="the moon is full") as caught:
        gpu.synchronize()
    assert caught.value.code_name == "Internal"
    gpu.synchronize()


def test_the_error_of_another_threads_call_stays_its_own(gpu: GpuBackend) -> None:
    """An error belongs to the thread that made the call; a neighbour that waits meanwhile does not get it."""
    device = driver_of(gpu)._device
    made, go_on = threading.Event(), threading.Event()
    found: list[object] = []

    def work() -> None:
        device.bindings.lib.wgpuQueueWriteBuffer(
            device.queue, driver_of(gpu)._streams[0].values().native, 1, b"abcd", 4
        )
        made.set()
        go_on.wait(10)
        found.append(device.take_error())

    thread = threading.Thread(target=work)
    thread.start()
    assert made.wait(10)
    gpu.synchronize()
    go_on.set()
    thread.join(10)
    assert isinstance(found[0], WgpuError)
    assert found[0].kind == "Validation"


@pytest.mark.parametrize("first", ["launch", "copy", "synchronize", "alloc", "load"])
def test_a_lost_device_is_lost_for_good(first: str) -> None:
    """Whatever notices it first, every later call fails at once with the first cause; closing stays quiet, and a new
    device can be opened."""
    with opened() as gpu:
        kernel = gpu.kernel("m", "affine_32")
        x = gpu.array(np.ones(32, np.uint32))
        gpu.synchronize()
        device = driver_of(gpu)._device
        device.bindings.lib.wgpuDeviceDestroy(device.native)
        calls = {
            "launch": lambda: (kernel[1, 32](x, 32, 3, 1), gpu.synchronize()),
            "copy": lambda: gpu.copy_h2d(np.zeros(32, np.uint32), x),
            "synchronize": lambda: (gpu.synchronize(), gpu.alloc(4)),
            "alloc": lambda: gpu.alloc(1000),
            "load": lambda: gpu.load_module("again", source={".wgsl": SOURCE}),
        }
        with pytest.raises(KernelFault, match="lost"):
            calls[first]()
        assert gpu.is_lost
        for each in calls.values():
            with pytest.raises(ContextLost, match="lost"):
                each()
    with opened() as gpu:
        x = gpu.array(np.ones(32, np.uint32))
        gpu.kernel("m", "affine_32")[1, 32](x, 32, 3, 1)
        assert x.numpy().tolist() == [4] * 32


def test_a_buffer_over_the_limit(gpu: GpuBackend) -> None:
    """More than one buffer may hold is refused with both numbers, before wgpu is asked; the backend goes on."""
    limit = gpu.capabilities.max_allocation_nbytes
    assert limit is not None
    with pytest.raises((OutOfDeviceMemory, mg.GpuError), match=f"{limit:,}|{limit}"):
        gpu.alloc(limit + 1)
    assert gpu.live_alloc_count() == 0
