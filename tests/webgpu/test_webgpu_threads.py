"""Eight threads on one device: no value ever crosses, whatever streams they use and whoever frees meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
from webgpu_room import gpu

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend

__all__ = ["gpu"]

THREADS = 8
TIMES = 1000


def together(work: Callable[[int], None]) -> None:
    """Run it on all threads at once, and raise what the first of them raised."""
    failed: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            start.wait(30)
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if failed:
        raise failed[0]


WRITES = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> at: u32;
@group(0) @binding(2) var<uniform> id: u32;
@compute @workgroup_size(1) fn write() { out[at] = id * 100000u + at; }
"""


@pytest.mark.parametrize("form", ["prepared", "short", "builder"])
def test_eight_threads_each_write_their_own_id(gpu: GpuBackend, form: str) -> None:
    """One kernel, eight threads, a thousand launches each, on streams of their own and on the one that all have: each
    thread's buffer holds its own values and nothing else."""
    kernel = gpu.load_module("writes", source={".wgsl": WRITES})["write"]
    outs = [gpu.empty(TIMES, mg.u32) for _ in range(THREADS)]
    prepared = [kernel[1, 1].prepare(out, mg.slot("at", mg.u32), mg.u32(number)) for number, out in enumerate(outs)]

    def work(number: int) -> None:
        stream = gpu.create_stream() if number % 2 else gpu.default_stream()
        for at in range(TIMES):
            if form == "prepared":
                prepared[number](at=at, stream=stream)
            elif form == "short":
                kernel[1, 1, 0, stream](outs[number], at, number)
            else:
                launch = mg.KernelLaunch(gpu, kernel).grid(1).block(1)
                launch.arg_ptr(outs[number]).arg_u32(at).arg_u32(number).launch(stream)
        stream.synchronize()

    together(work)
    for number, out in enumerate(outs):
        np.testing.assert_array_equal(out.numpy(), np.arange(TIMES) + number * 100000)


def test_threads_that_allocate_copy_and_free(gpu: GpuBackend) -> None:
    """Buffers come and go under the feet of others' bind groups: results are right, and nothing is left."""
    affine = gpu.kernel("m", "affine")
    before = gpu.live_alloc_count()

    def work(number: int) -> None:
        with gpu.create_stream() as stream:
            for turn in range(12):
                count = 17 + 5 * number + turn
                host = np.arange(count, dtype=np.uint32) + number
                x = gpu.array(host)
                affine[1, count, 0, stream](x, count, turn + 1, number)
                stream.synchronize()
                np.testing.assert_array_equal(x.numpy(), host * (turn + 1) + number)
                x.free()

    together(work)
    assert gpu.live_alloc_count() == before
