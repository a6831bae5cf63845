"""How a process ends that has WebGPU open, whatever is queued, collected or held."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest
from rungs import require_rung
from webgpu_room import SOURCE

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.webgpu.pace import BUSY_COUNT
from metrale_gpu_runtime.testing import run_isolated

WAYS = ("queued", "collected", "capturing", "lost", "a thread launches", "raising")


class Node:
    """One of two that hold each other and everything else."""


def end_with_webgpu_open(way: str) -> None:
    """In a child: everything alive in the module's globals and in a cycle, the device in the state that `way` names."""
    global kept
    gpu = mg.open_backend("webgpu")
    mix = gpu.load_module("m", source={".wgsl": SOURCE})["mix"]
    x = gpu.array(np.arange(64, dtype=np.uint32))
    stream, other = gpu.create_stream(), gpu.create_stream()
    read = np.zeros(64, np.uint32)
    driver = gpu._driver  # type: ignore[attr-defined]
    gpu.synchronize()
    for number in range(1 if way != "collected" else 4):
        if way == "collected":
            driver._pace.unknown = BUSY_COUNT
            driver._device.poll = lambda: False
        mix[1, 64, 0, stream](x, mg.u32(2000 + number))
    assert driver._streams[stream.handle].has_collected is (way == "collected")
    if way == "collected":
        del driver._device.poll
    event = gpu.create_event()
    gpu.copy_d2h_async(x, read, stream)
    if way != "collected":
        event.record(stream)
    if way == "capturing":
        gpu.begin_capture(other)
        mix[1, 64, 0, other](x, mg.u32(1))
    one, two = Node(), Node()
    one.other, two.other = two, one  # type: ignore[attr-defined]
    one.kept = [gpu, mix, x, stream, other, event, read, mix[1, 64].prepare(x, mg.u32(1)), gpu.alloc(55)]  # type: ignore[attr-defined]
    kept = [one, gpu]
    if way == "lost":
        device = driver._device
        device.bindings.lib.wgpuDeviceDestroy(device.native)
    if way == "a thread launches":

        def work() -> None:
            with suppress(mg.GpuError):
                for _ in range(1 << 20):
                    mix[1, 64, 0, other](x, mg.u32(1))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(0.05)
    if way == "raising":
        raise ValueError("the user's own")


@pytest.mark.parametrize("way", WAYS)
def test_a_process_with_webgpu_ends_quietly(way: str) -> None:
    """Exit code 0 and an empty stderr in every state; a user's exception is told alone."""
    require_rung("software vulkan")
    path = os.pathsep.join(path for path in sys.path if path)
    result = run_isolated(
        "test_webgpu_exit:end_with_webgpu_open", way, environment={**os.environ, "PYTHONPATH": path}, timeout_s=120
    )
    lines = result.stderr.splitlines()
    if way == "raising":
        assert (result.exit_code, lines[0], lines[-1]) == (
            1,
            "Traceback (most recent call last):",
            "ValueError: the user's own",
        )
        assert all(line.startswith(" ") for line in lines[1:-1]), lines
    else:
        assert (result.exit_code, lines) == (0, [])


def interrupted() -> None:
    """In a child: Ctrl-C while the main thread waits in wgpu is raised there, whoever runs first, and costs nothing."""
    gpu = mg.open_backend("webgpu")
    mix = gpu.load_module("m", source={".wgsl": SOURCE})["mix"]
    x, read = gpu.array(np.arange(4096, dtype=np.uint32)), np.zeros(4096, np.uint32)
    stream = gpu.create_stream()
    mix[64, 64](x, mg.u32(1))
    gpu.synchronize()
    for delay_s in (0.0005, 0.005, 0.03, 0.06, 0.12):
        timer = threading.Timer(delay_s, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))  # type: ignore[arg-type]
        try:
            timer.start()
            mix[64, 64, 0, stream](x, mg.u32(20000))
            gpu.copy_d2h_async(x, read, stream)
            stream.synchronize()
            timer.join()
            raise AssertionError("nobody was told")
        except KeyboardInterrupt:
            pass
        stream.synchronize()
    np.testing.assert_array_equal(read, x.numpy())


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no signals for threads")
def test_an_interrupt_is_never_swallowed() -> None:
    """An interrupt that reaches Python first in a callback of wgpu's is raised by the wait, and nothing waits for ever
    for what that callback was to tell."""
    require_rung("software vulkan")
    path = os.pathsep.join(path for path in sys.path if path)
    result = run_isolated("test_webgpu_exit:interrupted", environment={**os.environ, "PYTHONPATH": path}, timeout_s=120)
    assert (result.exit_code, result.stderr) == (0, "")
