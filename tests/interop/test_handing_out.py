"""Buffers handed to other libraries in place: what they see, whom their streams wait for, what keeps the memory."""

from __future__ import annotations

import ctypes
import gc
import threading
import warnings

import numpy as np
import pytest
from shared_machine import ROCM, CupyArray, Machine

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.dlpack import numpy_capsule, read_dlpack
from metrale_gpu_runtime.errors import AllocationInUse, CaptureError, InvalidPointer, NotSupported
from metrale_gpu_runtime.exchange import read_foreign
from metrale_gpu_runtime.testing import MockGpuBackend
from metrale_gpu_runtime.testing.isolation import run_isolated

CONTENT = bytes(range(60, 72))


@pytest.fixture
def gpu(machine):
    with machine.open(3) as gpu:
        yield gpu
    assert not gpu.mock.violations


class Taker:
    """Another library that takes DLPack: it names its stream, holds the tensor, and calls its deleter when done."""

    def __init__(self, machine, buffer, stream=1, **options):
        self.machine, self.stream = machine, stream
        self.tensor = read_dlpack(_Options(buffer, options), stream)

    def read(self, nbytes):
        machine, out = self.machine, bytearray(nbytes)

        def copy():
            out[:] = machine.memory.view(self.tensor.address, nbytes)

        machine.act(self.stream or 1, copy)
        machine.drain(self.stream or 1)
        return bytes(out)


class _Options:
    def __init__(self, buffer, options):
        self.buffer, self.options = buffer, options

    def __dlpack__(self, **given):
        return self.buffer.__dlpack__(**{**given, **self.options})


@pytest.mark.parametrize(
    ("dtype", "typestr", "dlpack"),
    [
        ("f32", "<f4", (2, 32, 1)),
        ("f16", "<f2", (2, 16, 1)),
        ("bf16", "<V2", (4, 16, 1)),
        ("i64", "<i8", (0, 64, 1)),
        ("uint8", "|u1", (1, 8, 1)),
        ("bool", "|b1", (6, 8, 1)),
        ("complex64", "<c8", (5, 64, 1)),
    ],
)
def test_both_protocols_tell_device_shape_and_type(gpu, dtype, typestr, dlpack):
    """The CUDA array interface (version 3) and DLPack say address, shape and type of a buffer; views their own."""
    buffer = gpu.empty((5, 3), dtype)
    interface = buffer[2:].__cuda_array_interface__
    offset = 2 * 3 * buffer.itemsize
    assert interface == {
        "version": 3,
        "shape": (3, 3),
        "typestr": typestr,
        "data": (buffer.address + offset, False),
        "strides": None,
        "stream": None,
    }
    assert buffer.__dlpack_device__() == (2, 3)
    tensor = read_dlpack(buffer[2:], -1)
    assert (tensor.address, tensor.shape, tensor.dtype) == (buffer.address + offset, (3, 3), dlpack)
    assert (tensor.device_type, tensor.device_id, tensor.is_read_only) == (2, 3, False)


def test_the_old_capsule_is_made_for_who_asks_for_it(gpu):
    """Without `max_version` the capsule is DLPack's from before 1.0, with the same device."""
    buffer = gpu.empty((4, 7), "f32")
    old, new = buffer.__dlpack__(), buffer.__dlpack__(max_version=(1, 0))
    assert '"dltensor"' in repr(old)
    assert '"dltensor_versioned"' in repr(new)
    tensor = read_dlpack(type("Old", (), {"__dlpack__": lambda self: old})())
    assert (tensor.device_type, tensor.device_id, tensor.shape) == (2, 3, (4, 7))


def test_bytes_structures_and_nothing(gpu):
    """Untyped memory is bytes, a structure has its fields in the interface and none in DLPack, no element no address."""
    assert gpu.buffer(5).__cuda_array_interface__["typestr"] == "|u1"
    record = np.dtype([("a", "<i4"), ("b", "<f8")])
    buffer = gpu.empty(3, record)
    assert buffer.__cuda_array_interface__["typestr"] == "|V12"
    assert buffer.__cuda_array_interface__["descr"] == record.descr
    with pytest.raises(BufferError, match="view\\('uint8'\\)"):
        buffer.__dlpack__()
    nothing = gpu.empty((0, 4), "f32")
    assert nothing.__cuda_array_interface__["data"] == (0, False)
    tensor = read_dlpack(nothing, -1)
    assert (tensor.address, tensor.shape) == (0, (0, 4))


def test_the_interface_is_there_only_where_it_is_true():
    """Elsewhere than on CUDA a buffer has no CUDA array interface, so that nobody takes its address for CUDA's."""
    with MockGpuBackend() as mock, mg.open_backend("cpu") as cpu, Machine(ROCM, "hip").open() as hip:
        for gpu in (mock, cpu, hip):
            assert not hasattr(gpu.buffer(4), "__cuda_array_interface__")
        assert hip.buffer(4).__dlpack_device__() == (ROCM, 0)
        assert cpu.buffer(4).__dlpack_device__() == (1, 0)
        with pytest.raises(NotSupported, match=r"buffer\.numpy"):
            mock.buffer(4).__dlpack_device__()


def test_the_interface_names_the_stream_to_wait_for(machine, gpu):
    """`stream` is None with nothing queued, the one stream that has work, or with several the default one behind all."""
    buffer, host = gpu.buffer(12), np.frombuffer(CONTENT, np.uint8)
    with gpu.create_stream() as one, gpu.create_stream() as other:
        gpu.copy_h2d_async(host, buffer, one)
        assert buffer.__cuda_array_interface__["stream"] == one.native_handle
        gpu.copy_d2h_async(buffer, bytearray(12), other)
        last = buffer.__cuda_array_interface__["stream"]
        assert last == gpu.default_stream().native_handle == 0xD3
        machine.drain(last)
        assert one.query()
        assert other.query()
        gpu.synchronize()
        assert buffer.__cuda_array_interface__["stream"] is None


@pytest.mark.parametrize("stream", [None, 1, 2, 0x7700])
def test_the_takers_stream_waits_for_all_of_ours(machine, gpu, stream):
    """Work queued on several streams comes before what the taker queues on the stream it names."""
    if stream == 0x7700:
        machine.stream(stream)
    buffer = gpu.buffer(12)
    with gpu.create_stream() as one, gpu.create_stream() as other:
        gpu.copy_h2d_async(CONTENT[:6], buffer, one)
        gpu.copy_h2d_async(CONTENT[6:], buffer[6:], other)
        taker = Taker(machine, buffer, stream)
        assert taker.read(12) == CONTENT


def test_minus_one_is_no_wait_and_what_means_nothing_is_refused(machine, gpu):
    """-1 asks for no event; 0 on CUDA, 1 and 2 on ROCm, and what is no integer raise BufferError."""
    buffer = gpu.buffer(12)
    gpu.memset_async(buffer, 3)
    gpu.log.clear()
    buffer.__dlpack__(stream=-1)
    assert gpu.log.transcript() == []
    for stream in (0, -2, "1", True, 1.0):
        with pytest.raises(BufferError, match=f"stream (is )?{stream!r}"):
            buffer.__dlpack__(stream=stream)
    with Machine(ROCM, "hip").open() as hip:
        buffer = hip.buffer(12)
        for stream in (1, 2):
            with pytest.raises(BufferError, match="0 for the default stream"):
                buffer.__dlpack__(stream=stream)


def test_rocm_takers_wait_on_stream_zero():
    """On ROCm 0 and None are the default stream."""
    machine = Machine(ROCM, "hip")
    with machine.open() as hip:
        for stream in (0, None):
            buffer = hip.buffer(12)
            hip.copy_h2d_async(CONTENT, buffer)
            assert Taker(machine, buffer, stream).read(12) == CONTENT


def test_memory_lives_until_its_taker_lets_go(machine, gpu):
    """While a tensor lives its memory is neither freed nor used for scratch; then it goes back."""
    with gpu.scratch(12) as scratch:
        taker = Taker(machine, scratch)
    del scratch
    with gpu.scratch(12) as scratch:
        assert scratch.address != taker.tensor.address
    buffer = gpu.buffer(12)
    other = Taker(machine, buffer)
    with pytest.raises(AllocationInUse, match="DLPack"):
        buffer.free()
    assert other.tensor.address == buffer.address
    before = gpu.live_bytes()
    del buffer, other, taker
    gc.collect()
    assert gpu.live_bytes() == before - 24


def test_a_taker_may_let_go_in_any_thread_and_after_the_close():
    """The deleter runs wherever the last reference drops; memory and device outlive the backend until then."""
    machine = Machine()
    with machine.open() as gpu:
        takers = [Taker(machine, gpu.array(np.frombuffer(CONTENT, np.uint8))) for _ in range(20)]
        threads = [threading.Thread(target=takers.pop) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()
        assert gpu.live_alloc_count() == 10
    assert takers[3].read(12) == CONTENT
    assert not gpu.mock._closed
    takers.clear()
    gc.collect()
    assert gpu.mock._closed


def test_copies_are_the_takers_own(machine, gpu):
    """`copy=True` is new device memory, `dl_device=(1, 0)` memory of the host; both are marked as copies."""
    buffer = gpu.array(np.frombuffer(CONTENT, np.uint8))
    copied = Taker(machine, buffer, copy=True)
    assert copied.tensor.address != buffer.address
    assert copied.read(12) == CONTENT
    host = np.from_dlpack(buffer, device="cpu") if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else None
    if host is not None:
        assert host.tobytes() == CONTENT
    tensor = read_dlpack(_Options(buffer, {"dl_device": (1, 0), "stream": None}))
    assert ctypes.string_at(tensor.address, 12) == CONTENT
    assert (tensor.device_type, tensor.device_id) == (1, 0)
    with pytest.raises(BufferError, match="it would be a copy"):
        buffer.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="memory of the host has no streams"):
        buffer.__dlpack__(dl_device=(1, 0), stream=1)
    with pytest.raises(BufferError, match="on CUDA device 3, not on CUDA device 0"):
        buffer.__dlpack__(dl_device=(2, 0))


def test_dead_memory_and_captured_streams_are_not_handed_out(gpu):
    """A freed buffer raises; so does one with work in front of a capture, which no event can be recorded behind."""
    buffer = gpu.buffer(12)
    with gpu.create_stream() as stream:
        gpu.memset_async(buffer, 3, stream=stream)
        with gpu.capture(stream), pytest.raises(CaptureError, match="is being captured"):
            buffer.__dlpack__(stream=1)
        stream.synchronize()
    buffer.free()
    for export in (lambda: buffer.__cuda_array_interface__, buffer.__dlpack__):
        with pytest.raises(InvalidPointer, match="freed at"):
            export()


def test_a_buffer_comes_back_as_itself(machine, gpu):
    """A foreign array over memory of this backend is tracked as that memory, and still ordered with its library."""
    buffer, out = gpu.array(np.frombuffer(bytes(12), np.uint32)), gpu.buffer(12)
    view = CupyArray(machine, buffer.address, (3,), device=3, stream=machine.stream(0x7700))
    assert gpu.resolve_pointer(view).allocation is buffer.allocation
    view.write(CONTENT)
    gpu.copy_d2d(view, out)
    assert out.tobytes() == CONTENT


def test_bf16_is_shared_on_the_host_without_ml_dtypes():
    """On the CPU backend a buffer of bf16 is exported as bf16, in place."""
    with mg.open_backend("cpu") as gpu:
        buffer = gpu.empty(3, "bf16")
        read = read_foreign(_Options(buffer, {}))
        assert (read.element, read.address, read.is_on_host) == (mg.bf16, buffer.address, True)


def _exit_with_exports():
    import sys

    machine = Machine()
    gpu = machine.open()
    buffers = [gpu.empty(5, "f32") for _ in range(7)]
    sys.modules["__main__"].kept = (
        gpu,
        [buffer.__dlpack__() for buffer in buffers],
        [buffer.__dlpack__(max_version=(1, 0)) for buffer in buffers],
        [read_dlpack(buffer, 1) for buffer in buffers],
    )
    cycle = [buffers]
    cycle.append(cycle)
    # What a library in C does: it takes the tensor over and never gives it back.
    taken = buffers[0].__dlpack__()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(taken))
    return len(buffers)


def test_a_program_ends_quietly_with_tensors_alive():
    """Capsules and tensors that live in globals and cycles at the interpreter's exit print nothing and crash nothing."""
    assert run_isolated(_exit_with_exports).check() == 7


def test_numpys_capsule_keeps_what_it_does_not_say():
    """Device, type and emptiness are written into the capsule, all else is NumPy's."""
    array = np.arange(6, dtype=np.uint16).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        capsule = numpy_capsule(array, (1, 0), device=(2, 5), dtype=(4, 16, 1), has_data=False)
    tensor = read_dlpack(type("Made", (), {"__dlpack__": lambda self, **_: capsule})())
    assert (tensor.device_type, tensor.device_id, tensor.dtype) == (2, 5, (4, 16, 1))
    assert (tensor.address, tensor.shape) == (0, (2, 3))
