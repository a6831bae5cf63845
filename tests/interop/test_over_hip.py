"""The exchange over the real HIP session and its stand-in: ROCm's numbers in DLPack, streams of other libraries, peers."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.dlpack import numpy_capsule, read_dlpack
from metrale_gpu_runtime.errors import AllocationInUse, ForeignHandle

CONTENT, OTHER = bytes(range(30, 42)), bytes(range(90, 102))


class Library:
    """Another HIP library in this process, on device 0: memory, page-locked memory, and a stream."""

    def __init__(self, standin):
        from hip import hip

        self.hip, self.host = hip, []
        self.call(hip.hipInit, 0)
        self.call(hip.hipSetDevice, 0)
        self.stream = int(self.call(hip.hipStreamCreateWithFlags, 1))
        self.address = int(self.call(hip.hipMalloc, 12))

    def call(self, function, *arguments):
        code, *results = function(*arguments)
        assert code == self.hip.hipError_t.hipSuccess, (function, code)
        return results[0] if results else None

    def write(self, data, stream=None):
        host = self.call(self.hip.hipHostMalloc, len(data), 0)
        self.host.append(host)
        ctypes.memmove(int(host), data, len(data))
        on = self.stream if stream is None else stream
        self.call(self.hip.hipMemcpyHtoDAsync, self.address, host, len(data), on)

    def read(self, address, stream):
        host = self.call(self.hip.hipHostMalloc, 12, 0)
        self.host.append(host)
        self.call(self.hip.hipMemcpyDtoHAsync, host, address, 12, stream)
        self.call(self.hip.hipStreamSynchronize, stream)
        return ctypes.string_at(int(host), 12)

    def close(self):
        self.call(self.hip.hipDeviceSynchronize)
        self.call(self.hip.hipStreamDestroy, self.stream)
        self.call(self.hip.hipFree, self.address)
        for host in self.host:
            self.call(self.hip.hipHostFree, host)


class Tensor:
    """As PyTorch for ROCm shows a tensor: version 2 of the CUDA array interface, and DLPack of a ROCm device."""

    def __init__(self, library, device=0):
        self.library, self.device, self.asked = library, device, []
        self.__cuda_array_interface__ = {
            "version": 2,
            "shape": (3,),
            "typestr": "<u4",
            "data": (library.address, False),
        }

    def __dlpack_device__(self):
        return 10, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        library = self.library
        self.asked.append(stream)
        if stream != -1:
            event = library.call(library.hip.hipEventCreateWithFlags, 2)
            library.call(library.hip.hipEventRecord, event, library.stream)
            library.call(library.hip.hipStreamWaitEvent, stream, event, 0)
            library.call(library.hip.hipEventDestroy, event)
        return numpy_capsule(np.asarray(_Memory(library.address)), max_version, device=(10, self.device))


class _Memory:
    def __init__(self, address):
        self.__array_interface__ = {"version": 3, "shape": (3,), "typestr": "<u4", "data": (address, False)}


@pytest.fixture
def standin():
    require_rung("hip stand-in")
    from standin.hip_library import load

    library = load()
    library.reset(devices=2, architecture="gfx90a")
    yield library
    violations = library.violations()
    library.reset()
    assert violations == []


@pytest.fixture
def library(standin):
    library = Library(standin)
    yield library
    library.close()


@pytest.fixture
def gpu(library):
    with mg.open_backend("hip:0") as gpu:
        yield gpu


def test_a_tensor_is_waited_for_by_dlpack(gpu, library):
    """A ROCm tensor is read by DLPack, which is told our handle, or 0 for the legacy stream; other devices are refused."""
    tensor, out = Tensor(library), gpu.buffer(12)
    for stream in (gpu.default_stream(), gpu.create_stream(), gpu.resolve_stream(mg.Stream.legacy)):
        library.write(CONTENT)
        gpu.copy_d2d_async(tensor, out, stream=stream)
        gpu.copy_d2h_on_stream(out, found := bytearray(12), stream)
        assert found == CONTENT
        assert tensor.asked[-1] == stream.native_handle
        gpu.memset(out, 0)
    assert tensor.asked[-1] == 0
    with pytest.raises(ForeignHandle, match="ROCm device 1, this is ROCm device 0"):
        gpu.resolve_pointer(Tensor(library, device=1))


def test_a_buffer_is_a_rocm_tensor(gpu, library):
    """DLPack says ROCm and waits on the taker's stream, 0 and None being the default one; there is no CUDA interface."""
    buffer = gpu.buffer(12)
    assert not hasattr(buffer, "__cuda_array_interface__")
    for stream, given in ((library.stream, library.stream), (0, 0), (0, None)):
        with gpu.create_stream() as ours:
            gpu.copy_h2d_async(OTHER, buffer, ours)
            tensor = read_dlpack(_Asked(buffer, given), -1)
            assert (tensor.device_type, tensor.device_id) == (10, 0)
            assert library.read(tensor.address, stream) == OTHER
            gpu.memset(buffer, 1)


class _Asked:
    def __init__(self, buffer, stream):
        self.buffer, self.stream = buffer, stream

    def __dlpack__(self, *, stream, max_version):
        return self.buffer.__dlpack__(stream=self.stream, max_version=max_version)


def test_streams_and_peers(gpu, library):
    """A raw stream takes our work, and memory of the other device is copied and, with access, used."""
    buffer = gpu.buffer(12)
    gpu.memset_async(buffer, 3, stream=library.stream)
    assert library.read(buffer.address, library.stream) == b"\3" * 12
    with mg.open_backend("hip:1") as other:
        source = other.buffer(12)
        other.copy_h2d_async(CONTENT, source)
        gpu.copy_peer_async(source, buffer)
        with pytest.raises(AllocationInUse):
            other.free(source)
        assert buffer.tobytes() == CONTENT
        gpu.enable_peer_access(other)
        gpu.memset_async(source, 8)
        assert source.tobytes() == b"\10" * 12
