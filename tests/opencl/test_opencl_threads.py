"""Kernel objects hold their arguments: no thread ever sees another's."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
from opencl_room import gpu, ints, kernel

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend

__all__ = ["gpu"]

THREADS, LAUNCHES = 8, 1000
PUT = "kernel void put(global int *out, int at, int value) { out[at] = value; }"

Form = Callable[[GpuBackend, mg.Kernel, mg.DeviceBuffer, mg.Stream], Callable[[int, int], object]]


def short(gpu: GpuBackend, put: mg.Kernel, out: mg.DeviceBuffer, stream: mg.Stream) -> Callable[[int, int], object]:
    return lambda at, value: put[1, 1, 0, stream](out, at, value)


def built(gpu: GpuBackend, put: mg.Kernel, out: mg.DeviceBuffer, stream: mg.Stream) -> Callable[[int, int], object]:
    def launch(at: int, value: int) -> None:
        builder = mg.KernelLaunch(gpu, put).grid([1, 1, 1]).block([1, 1, 1])
        builder.arg_ptr(out).arg_i32(at).arg_i32(value).launch(stream)

    return launch


def prepared(gpu: GpuBackend, put: mg.Kernel, out: mg.DeviceBuffer, stream: mg.Stream) -> Callable[[int, int], object]:
    builder = mg.KernelLaunch(gpu, put).grid([1, 1, 1]).block([1, 1, 1])
    ready = builder.arg_ptr(out).arg_i32(0).arg_i32(0).prepare()
    return lambda at, value: ready(out, at, value, stream=stream)


@pytest.mark.parametrize("form", [short, built, prepared])
def test_9_eight_threads_write_their_own_ids(gpu: GpuBackend, form: Form) -> None:
    """8 threads launch one kernel 1000 times each, on streams of their own, and each cell has its own thread's id."""
    put, out = kernel(gpu, PUT, "put"), ints(gpu, THREADS * LAUNCHES)
    begin, failures = threading.Barrier(THREADS), []

    def work(number: int) -> None:
        try:
            with gpu.create_stream() as stream:
                launch = form(gpu, put, out, stream)
                begin.wait()
                for at in range(LAUNCHES):
                    launch(number * LAUNCHES + at, number + 1)
                stream.synchronize()
        except BaseException as error:
            failures.append(error)
            begin.abort()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert np.array_equal(out.numpy(), np.repeat(np.arange(1, THREADS + 1, dtype=np.int32), LAUNCHES))


def test_two_layouts_of_one_kernel_alternate(gpu: GpuBackend) -> None:
    """One thread launches a kernel with its local memory as an argument and as shared memory, in turns."""
    source = """
    kernel void both(global int *out, int value, local int *scratch) {
        scratch[get_local_id(0)] = value;
        out[get_global_id(0)] = scratch[get_local_id(0)];
    }
    """
    both, out = kernel(gpu, source, "both"), ints(gpu, 3)
    for value in range(6):
        launch = mg.KernelLaunch(gpu, both).grid([1, 1, 1]).block([3, 1, 1])
        if value % 2:
            launch.shared_mem(12).arg_ptr(out).arg_i32(value).launch()
        else:
            launch.arg_ptr(out).arg_i32(value).arg_local(12).launch()
        assert out.numpy().tolist() == [value] * 3


def test_a_kernel_of_a_thread_that_ended_is_let_go(gpu: GpuBackend) -> None:
    """Threads that come and go launch the same kernel, each with an object of its own, and the last one still works."""
    put, out = kernel(gpu, PUT, "put"), ints(gpu, 20)
    for number in range(20):
        thread = threading.Thread(target=lambda at: put[1, 1](out, at, at * 3), args=(number,))
        thread.start()
        thread.join()
    assert out.numpy().tolist() == [at * 3 for at in range(20)]
