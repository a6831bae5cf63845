"""On the CPU host memory is device memory: exchange without copies, and what keeps that safe."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.cpu.launch import CpuLaunchTarget
from metrale_gpu_runtime.errors import AllocationInUse, ArgumentError, ForeignHandle
from metrale_gpu_runtime.testing.conformance.target import KERNELS


@pytest.fixture
def gpu():
    with mg.open_backend("cpu") as gpu:
        yield gpu


@pytest.fixture
def affine(gpu):
    return gpu.load_module("suite", path=KERNELS / "suite.ptx")["affine"]


def test_a_numpy_array_is_used_in_place(gpu, affine):
    """A kernel writes into NumPy arrays and standard-library buffers where they lie; offsets are honoured."""
    host = np.array([1, 2, 3, 4, 5], dtype=np.uint32)
    affine[1, 3](host[1:4], mg.u32(3), mg.u32(10), mg.u32(7))
    assert host.tolist() == [1, 27, 37, 47, 5]
    raw = bytearray(host.tobytes())
    affine[1, 2](memoryview(raw), mg.u32(2), mg.u32(2), mg.u32(0))
    assert np.frombuffer(raw, np.uint32).tolist() == [2, 54, 37, 47, 5]


def test_arrays_with_gaps_are_refused_before_anything_runs(gpu, affine):
    """Strided, transposed and broadcast arrays are refused with the way out; nothing is written."""
    host = np.zeros((4, 4), np.uint32)
    for view in (host[:, :2], host.T[1:], host[::2], np.broadcast_to(np.uint32(1), (3,))):
        with pytest.raises(ArgumentError, match="make it contiguous or pass strides") as info:
            affine[1, 3](view, mg.u32(3), mg.u32(10), mg.u32(7))
        assert (info.value.index, info.value.kernel) == (0, "affine")
    assert not host.any()


def test_a_buffer_is_a_numpy_array_without_a_copy(gpu, affine):
    """np.from_dlpack shares the memory both ways, and kernels take the view as the buffer's own memory."""
    buffer = gpu.array(np.array([1, 2, 3], np.uint32))
    view = np.from_dlpack(buffer)
    view[1] = 20
    affine[1, 3](view, mg.u32(3), mg.u32(10), mg.u32(1))
    assert buffer.numpy().tolist() == view.tolist() == [11, 201, 31]
    assert gpu.resolve_pointer(view).allocation is buffer.allocation
    assert view.ctypes.data == buffer.address


def test_memory_is_not_freed_under_a_view(gpu):
    """While a DLPack view lives its memory cannot be freed, dropping the buffer frees nothing; then both go."""
    buffer = gpu.array(np.array([1, 2, 3], np.uint32))
    view = np.from_dlpack(buffer)
    with pytest.raises(AllocationInUse, match="DLPack"):
        buffer.free()
    del buffer
    gc.collect()
    assert gpu.live_bytes() == 12
    assert view.tolist() == [1, 2, 3]
    del view
    gc.collect()
    assert gpu.live_bytes() == 0


def test_a_view_outlives_the_backend():
    """A view may still be read and written after its backend was closed."""
    with mg.open_backend("cpu") as gpu:
        view = np.from_dlpack(gpu.array(np.arange(5000, dtype=np.uint32)))
    assert not gpu.is_open
    view += 1
    assert view.sum() == 5000 * 4999 // 2 + 5000
    del view
    gc.collect()


def test_pinned_memory_is_an_array(gpu, affine):
    """Pinned memory is a NumPy array, and on the CPU its device address is its own."""
    pinned = gpu.alloc_host_pinned(12)
    np.asarray(pinned).view(np.uint32)[:] = [1, 2, 3]
    affine[1, 3](gpu.host_ptr_to_device(pinned), mg.u32(3), mg.u32(10), mg.u32(0))
    assert np.frombuffer(pinned.view, np.uint32).tolist() == [10, 20, 30]
    gpu.free_host_pinned(pinned)


def test_a_cuda_array_is_refused(gpu, affine):
    """An array on a CUDA device is named as such and refused."""

    class CudaArray:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<u4", "data": (0x7000, False), "version": 3}  # noqa: RUF012

    with pytest.raises(ForeignHandle, match="lies on a CUDA device"):
        affine[1, 3](CudaArray(), mg.u32(3), mg.u32(10), mg.u32(7))


def test_memory_under_a_running_launch_is_not_freed(gpu, affine):
    """While another thread runs a launch, an explicit free of its memory raises, a dropped buffer waits for its end."""
    started, go_on = threading.Event(), threading.Event()
    submit = CpuLaunchTarget.submit

    def held(self, *args):
        started.set()
        go_on.wait(30)
        submit(self, *args)

    pointer, buffer = gpu.alloc(12), gpu.array(np.array([1, 2, 3], np.uint32))
    gpu.memset(pointer, 0)
    prepared = mg.KernelLaunch(gpu, affine).block(3).arg_ptr(pointer).args(mg.u32(3), mg.u32(1), mg.u32(5)).uses(buffer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CpuLaunchTarget, "submit", held)
        thread = threading.Thread(target=prepared.launch)
        thread.start()
        assert started.wait(30)
        with pytest.raises(AllocationInUse, match="launch 1 of affine"):
            gpu.free(pointer)
        go_on.set()
        thread.join()
    gpu.synchronize()
    out = np.zeros(3, np.uint32)
    gpu.copy_d2h(pointer, out)
    assert out.tolist() == [5, 5, 5]
    gpu.free(pointer)
    del prepared, buffer
    assert gpu.live_bytes() == 0
