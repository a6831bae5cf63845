"""What many rounds leave behind: nothing of wgpu's, nothing in the books, and the last round is as the first."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from webgpu_room import SOURCE, alive, gpu, opened

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.webgpu.bind_groups import MOST_KEPT

__all__ = ["gpu"]


def one_round(gpu: GpuBackend, number: int) -> None:
    count = 1 + number % 37
    kernel = gpu.kernel("m", "affine")
    host = np.arange(count, dtype=np.uint32)
    x = gpu.array(host)
    with gpu.create_event() as event:
        kernel[1, 64](x, count, 3, number)
        event.record()
        event.synchronize()
    np.testing.assert_array_equal(x.numpy(), host * 3 + number)
    x.free()


def test_rounds_leave_nothing_in_wgpu(gpu: GpuBackend) -> None:
    """Allocate, copy, launch, event, wait, free: wgpu keeps as many objects after hundreds of rounds as after some."""
    for number in range(40):
        one_round(gpu, number)
    before = alive()
    for number in range(40, 440):
        one_round(gpu, number)
    gpu.synchronize()
    assert alive() == before
    assert gpu.live_alloc_count() == 0


def test_launches_leave_nothing_in_python(gpu: GpuBackend) -> None:
    """Thousands of launches with new values keep no memory of the interpreter's."""
    kernel, x = gpu.kernel("m", "affine_32"), gpu.array(np.zeros(32, np.uint32))
    prepared = kernel[1, 32].prepare(x, 32, 1, mg.slot("plus", mg.u32))

    def launch(count: int) -> int:
        for number in range(count):
            prepared(plus=number)
        gpu.synchronize()
        gc.collect()
        return sys.getallocatedblocks()

    # The values of so many launches fill their buffer, which is then begun anew: what is remembered is bounded.
    launch(2000)
    before = launch(2000)
    assert launch(20000) - before < 5000


def test_bind_groups_are_bounded_and_go_with_their_memory(gpu: GpuBackend) -> None:
    """A kernel keeps so many of them at most; those of freed memory are given up at once, whoever else they name."""
    twice = gpu.kernel("m", "twice")
    constant = gpu.array(np.arange(8, dtype=np.float32))
    before = alive()["bindGroups"]
    many = [gpu.empty(8, mg.f32) for _ in range(MOST_KEPT + 40)]
    for each in many:
        twice[1, 64](constant, each)
    gpu.synchronize()
    assert alive()["bindGroups"] - before == MOST_KEPT
    assert all(each.numpy().tolist() == [0, 2, 4, 6, 8, 10, 12, 14] for each in many)
    for each in many:
        each.free()
    gpu.synchronize()
    assert alive()["bindGroups"] == before
    table = gpu._driver._memory.bases[constant.address]  # type: ignore[attr-defined]
    assert not table.users


@pytest.mark.parametrize("ending", ["closed", "raised", "lost"])
def test_a_device_gives_everything_back(ending: str) -> None:
    """Whatever was open when it ended, wgpu keeps nothing of a device that is closed."""
    with opened():
        pass
    before = alive()
    for _ in range(3):
        try:
            with opened() as gpu:
                x, stream = gpu.array(np.ones(500, np.uint32)), gpu.create_stream()
                gpu.kernel("m", "affine")[2, 250, 0, stream](x, 500, 2, 1)
                gpu.kernel("m", "turned")[1, 16, 64, stream](x)
                event = stream.record_event()
                read = np.zeros(500, np.uint32)
                gpu.copy_d2h_async(x, read, stream)
                gpu.memset(x.ptr + 1, 7, 9)
                module = gpu.load_module("again", source={".wgsl": SOURCE})
                if ending == "raised":
                    raise KeyError("the user's own")
                if ending == "lost":
                    device = gpu._driver._device  # type: ignore[attr-defined]
                    device.bindings.lib.wgpuDeviceDestroy(device.native)
                del module, event
        except KeyError:
            pass
        gc.collect()
    after = alive()
    if ending == "lost":
        # wgpu-native keeps the command buffers that were finished, with an error, and not submitted.
        after.pop("commandBuffers")
        before.pop("commandBuffers")
    assert after == before
