"""Source through hiprtc, launched by the HIP driver, executed: results, streams, graphs with new values, two devices."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.testing.conformance.target import KERNELS

FILL = """
template <typename T> __global__ void fill(T *out, T value, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value + (T)i;
}
"""


@pytest.fixture
def suite(executing):
    gpu = mg.open_backend("hip")
    yield gpu, gpu.load_module("suite", path=KERNELS / "suite.cu")
    gpu.close()


def test_cuda_c_runs_on_hip_with_bare_values(suite):
    """A .cu file compiled by hiprtc runs over several blocks; bare numbers are encoded by the types in its source."""
    gpu, module = suite
    x, y = gpu.array(np.arange(100, dtype=np.float32)), gpu.array(np.full(100, 0.5, np.float32))
    module["scale_add"].over(100, block=32)(x, y, 97, 1.25)
    expected = np.full(100, 0.5, np.float32)
    expected[:97] += np.float32(1.25) * np.arange(97, dtype=np.float32)
    assert y.numpy().tolist() == expected.tolist()


def test_dynamic_shared_memory_and_variables_work(suite):
    """Dynamic shared memory reaches the kernel, and a module's variable has its first value and takes new ones."""
    gpu, module = suite
    values = gpu.array(np.arange(96, dtype=np.uint32))
    module["reverse_blocks"][3, 32, 128](values)
    assert values.numpy().tolist() == [32 * (i // 32) + 31 - i % 32 for i in range(96)]
    out = gpu.array(np.zeros(3, np.uint32))
    module["add_table"][1, 32](out)
    assert out.numpy().tolist() == [302, 303, 304]
    module.globals["table"].copy_from(np.array([7, 8, 9], np.uint32))
    module["add_table"][1, 32](out)
    assert out.numpy().tolist() == [8, 9, 10]


def test_templates_run_under_their_names(executing):
    """Each instance of a template runs with its own type."""
    with mg.open_backend("hip") as gpu:
        module = gpu.load_module("t", source=FILL, names=("fill<double>", "fill<unsigned short>"))
        for name, dtype in (("fill<double>", np.float64), ("fill<unsigned short>", np.uint16)):
            out = gpu.array(np.zeros(41, dtype))
            module[name].over(41, block=32)(out, dtype(300), 40)
            assert out.numpy().tolist() == [*range(300, 340), 0]


def test_a_graph_takes_new_values_by_name(executing, suite):
    """A captured graph replays on HIP with values set by name, in the driver's own graph, without a new capture."""
    gpu, module = suite
    values = gpu.array(np.ones(7, np.uint32))
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            launch = mg.KernelLaunch(gpu, module["affine"]).grid(2).block(32).arg_ptr(values).arg_u32(7)
            launch.arg_u32(mg.slot("factor")).arg_u32(mg.slot("addend")).launch(stream)
        graph = capture.graph
        graph.launch(stream, factor=3, addend=4)
        graph.launch(stream, factor=10)
        stream.synchronize()
        assert values.numpy().tolist() == [74] * 7
    assert executing.call_count("hipGraphLaunch") == 2
    assert executing.call_count("hipStreamBeginCapture") == 1
    assert executing.call_count("hipGraphExecKernelNodeSetParams") == 2


def test_a_trap_loses_the_device_and_names_the_launch(executing, suite):
    """A fault found at the next wait names HIP's code and the launch; every later call fails at once with that cause."""
    gpu, module = suite
    out = gpu.array(np.zeros(1, np.uint32))
    module["trap_if"][2, 32](out, 1)
    with pytest.raises(mg.KernelFault, match="hipErrorLaunchFailure") as fault:
        gpu.synchronize()
    assert [each.kernel for each in fault.value.suspects] == ["trap_if"]
    with pytest.raises(mg.ContextLost) as lost:
        gpu.alloc(64)
    assert "hipErrorLaunchFailure" in str(lost.value.cause)
    assert "start a new process (mg.testing.run_isolated" in str(lost.value)
    with pytest.raises(mg.BackendUnavailable, match=r"hip: device 0 cannot be opened: this process lost its context"):
        mg.open_backend("hip")


def test_threads_on_two_devices_keep_their_own(executing):
    """Threads that use two devices by turns run each launch on its own device and find their own results."""
    gpus = [mg.open_backend(f"hip:{index}") for index in range(2)]
    modules = [gpu.load_module("suite", path=KERNELS / "suite.cu") for gpu in gpus]
    failures = []

    def work(number):
        try:
            for turn in range(6):
                index = (number + turn) % 2
                gpu, kernel = gpus[index], modules[index]["affine"]
                with gpu.create_stream() as stream:
                    values = gpu.array(np.full(5, number, np.uint32))
                    kernel[2, 32, 0, stream](values, 5, 100, turn)
                    stream.synchronize()
                    assert values.numpy().tolist() == [100 * number + turn] * 5
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for gpu in gpus:
        gpu.close()
    assert failures == []
    assert {each.device for each in executing.launches()} == {0, 1}
    assert executing.live() == {}
