"""Testing host code without a GPU: the mock records what a program does, and Python stands for the kernel.

Run it: `python examples/mock_in_a_test.py`, or `pytest examples/mock_in_a_test.py`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.testing import FaultPlan, KernelContext, Launch

E = TypeVar("E", bound=Exception)


def normalise(gpu: mg.GpuBackend, host: np.ndarray) -> np.ndarray:
    """The code under test: divides by the largest value, on the device."""
    kernel = gpu.kernel("vectors", "scale", signature="float* values, unsigned int count, float factor")
    with gpu.array(host) as values:
        kernel.over(host.size, block=128)(values, host.size, 1.0 / float(host.max()))
        result: np.ndarray = values.numpy()
    return result


def scale(launch: KernelContext) -> None:
    """What the kernel does, as Python: read the arguments as the driver got them, write device memory."""
    count, factor = launch.value(1, "u32"), launch.value(2, "f32")
    values = launch.array(0, np.float32, count)
    for i in launch.global_ids():
        if i < count:
            values[i] *= factor


def test_the_result_is_normalised() -> None:
    with mg.MockGpuBackend() as gpu:
        gpu.define_kernel("vectors", "scale", scale)
        result = normalise(gpu, np.array([1.0, 4.0, 2.0], np.float32))
    assert result.tolist() == [0.25, 1.0, 0.5]


def test_it_makes_one_launch_of_whole_blocks() -> None:
    with mg.MockGpuBackend() as gpu:
        gpu.define_kernel("vectors", "scale", scale)
        normalise(gpu, np.ones(300, np.float32))
        (launch,) = gpu.log.of(Launch)
        assert (launch.function, launch.grid, launch.block) == ("scale", (3, 1, 1), (128, 1, 1))
        assert (gpu.log.h2d_count, gpu.log.d2h_count) == (1, 1)


def test_it_leaves_nothing_behind_when_memory_is_out() -> None:
    with mg.MockGpuBackend(plan=FaultPlan().fail("alloc", forever=True)) as gpu:
        error = caught(mg.OutOfDeviceMemory, lambda: normalise(gpu, np.ones(300, np.float32)))
        assert error.nbytes == 1200
        assert gpu.live_alloc_count() == 0


def test_what_an_m2_cannot_launch_is_refused_here_too() -> None:
    with mg.MockGpuBackend("M2") as gpu:
        kernel, values = gpu.kernel("vectors", "scale"), gpu.empty(8, mg.f32)
        error = caught(mg.LimitExceeded, lambda: kernel[1, 32, 64 * 1024](values))
        assert (error.asked, error.limit) == (65536, 32768)
        assert gpu.launch_count == 0


def caught(error: type[E], call: Callable[[], object]) -> E:
    """What `pytest.raises` does, so that this file runs without pytest."""
    try:
        call()
    except error as raised:
        return raised
    raise AssertionError(f"no {error.__name__}")


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("passed", name)
