"""The exchange over the real CUDA session and the stand-in driver: another library is cuda-bindings, used directly."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from standin.fixtures import standin_cuda

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.dlpack import numpy_capsule, read_dlpack
from metrale_gpu_runtime.errors import AllocationInUse, ForeignHandle, InvalidPointer

__all__ = ["standin_cuda"]

CONTENT, OTHER = bytes(range(30, 42)), bytes(range(90, 102))


class Library:
    """Another CUDA library in this process: the primary context of a device, a stream and memory of its own."""

    def __init__(self, device):
        from cuda.bindings import driver

        self.driver, self.device = driver, device
        self.call(driver.cuInit, 0)
        self.context = self.call(driver.cuDevicePrimaryCtxRetain, device)
        with self:
            self.stream = int(self.call(driver.cuStreamCreate, driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
            self.address = int(self.call(driver.cuMemAlloc, 12))
        self.host = []

    def call(self, function, *arguments):
        code, *results = function(*arguments)
        assert code == self.driver.CUresult.CUDA_SUCCESS, (function, code)
        return results[0] if results else None

    def __enter__(self):
        self.call(self.driver.cuCtxPushCurrent, self.context)
        return self

    def __exit__(self, *error):
        self.call(self.driver.cuCtxPopCurrent)

    def write(self, data, stream=None):
        """Queue bytes into its memory, from page-locked memory, so that they wait in the stream."""
        with self:
            host = self.call(self.driver.cuMemHostAlloc, len(data), 0)
            self.host.append(int(host))
            ctypes.memmove(int(host), data, len(data))
            self.call(self.driver.cuMemcpyHtoDAsync, self.address, int(host), len(data), stream or self.stream)

    def read(self, address, stream=None):
        """Queue a copy out, and wait for its stream alone."""
        with self:
            host = self.call(self.driver.cuMemHostAlloc, 12, 0)
            self.host.append(int(host))
            self.call(self.driver.cuMemcpyDtoHAsync, int(host), address, 12, stream or self.stream)
            self.call(self.driver.cuStreamSynchronize, stream or self.stream)
            return ctypes.string_at(int(host), 12)

    def close(self):
        with self:
            self.call(self.driver.cuCtxSynchronize)
            self.call(self.driver.cuStreamDestroy, self.stream)
            self.call(self.driver.cuMemFree, self.address)
            for host in self.host:
                self.call(self.driver.cuMemFreeHost, host)
        self.call(self.driver.cuDevicePrimaryCtxRelease, self.device)


class InterfaceArray:
    """Its memory by the CUDA array interface, with its stream."""

    def __init__(self, library):
        self.library = library

    @property
    def __cuda_array_interface__(self):
        return {
            "version": 3,
            "shape": (3,),
            "typestr": "<u4",
            "data": (self.library.address, False),
            "strides": None,
            "stream": self.library.stream,
        }


class DlpackTensor:
    """Its memory by DLPack, which makes the taker's stream wait."""

    def __init__(self, library):
        self.library = library

    def __dlpack_device__(self):
        return 2, self.library.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        library = self.library
        if stream != -1:
            with library:
                event = library.call(library.driver.cuEventCreate, 2)
                library.call(library.driver.cuEventRecord, event, library.stream)
                library.call(library.driver.cuStreamWaitEvent, stream, event, 0)
                library.call(library.driver.cuEventDestroy, event)
        return numpy_capsule(np.asarray(_Memory(library.address)), max_version, device=(2, library.device))


class _Memory:
    def __init__(self, address):
        self.__array_interface__ = {"version": 3, "shape": (3,), "typestr": "<u4", "data": (address, False)}


@pytest.fixture
def library(standin_cuda):
    library = Library(0)
    yield library
    library.close()


@pytest.fixture
def gpu(library):
    with mg.open_backend("cuda:0") as gpu:
        yield gpu


@pytest.mark.parametrize("kind", [InterfaceArray, DlpackTensor])
def test_a_copy_waits_for_the_other_librarys_stream(gpu, library, kind):
    """Work of ours on a foreign array sees what its library queued before, on the default and on a created stream."""
    out = gpu.buffer(12)
    for stream in (gpu.default_stream(), gpu.create_stream()):
        library.write(CONTENT)
        gpu.copy_d2d_async(kind(library), out, stream=stream)
        gpu.copy_d2h_on_stream(out, found := bytearray(12), stream)
        assert found == CONTENT
        library.write(OTHER)
        gpu.memset(kind(library), 5)
        assert library.read(library.address) == b"\5" * 12


def test_the_other_library_waits_for_us(gpu, library):
    """What its library queues on the array's stream next comes after ours."""
    gpu.memset_async(InterfaceArray(library), 9, stream=gpu.create_stream())
    assert library.read(library.address) == b"\t" * 12


def test_a_buffer_is_read_by_the_other_library(gpu, library):
    """By the stream of the interface, and by DLPack on the stream it names, it sees what we queued."""
    buffer = gpu.buffer(12)
    with gpu.create_stream() as one, gpu.create_stream() as other:
        gpu.copy_h2d_async(CONTENT, buffer, one)
        interface = buffer.__cuda_array_interface__
        assert library.read(interface["data"][0], interface["stream"]) == CONTENT
        gpu.copy_h2d_async(OTHER[:5], buffer, one)
        gpu.copy_h2d_async(OTHER[5:], buffer[5:], other)
        assert buffer.__cuda_array_interface__["stream"] == gpu.default_stream().native_handle
        tensor = read_dlpack(buffer, library.stream)
        assert library.read(tensor.address) == OTHER
        assert (tensor.device_type, tensor.device_id) == (2, 0)
        del tensor


def test_its_stream_takes_our_work(gpu, library):
    """A raw handle and the legacy stream are stream arguments; frees and closing know of the work there."""
    buffer = gpu.buffer(12)
    gpu.memset_async(buffer, 3, stream=library.stream)
    with pytest.raises(AllocationInUse):
        gpu.free(buffer)
    assert library.read(buffer.address) == b"\3" * 12
    gpu.memset_async(buffer, 4, stream=mg.Stream.legacy)
    assert buffer.tobytes() == b"\4" * 12
    assert gpu.resolve_stream(gpu.default_stream().native_handle) == gpu.default_stream()
    gpu.memset_async(buffer, 6, stream=library.stream)


def test_the_driver_is_asked_whose_memory_an_address_is(gpu, library, standin_cuda):
    """An array that does not say its device is refused on another one, by what the driver says of its address."""
    with mg.open_backend("cuda:1") as other:
        with pytest.raises(ForeignHandle, match="CUDA device 0, this is CUDA device 1"):
            other.resolve_pointer(InterfaceArray(library))
        assert gpu.resolve_pointer(InterfaceArray(library)).address == library.address


def test_peers_over_the_driver(gpu, standin_cuda):
    """Peer copies and, once access is on, work on the other device's memory are ordered by events between devices."""
    with mg.open_backend("cuda:1") as other:
        source, target = other.buffer(12), gpu.buffer(12)
        with other.create_stream() as theirs, gpu.create_stream() as ours:
            other.copy_h2d_async(CONTENT, source, theirs)
            gpu.copy_peer_async(source, target, stream=ours)
            with pytest.raises(AllocationInUse):
                other.free(source)
            gpu.copy_d2h_on_stream(target, found := bytearray(12), ours)
            assert found == CONTENT
            with pytest.raises(ForeignHandle, match="enable_peer_access"):
                gpu.memset_async(source, 8, stream=ours)
            gpu.enable_peer_access(other)
            gpu.enable_peer_access(other)
            gpu.memset_async(source, 8, stream=ours)
            assert source.tobytes() == b"\10" * 12
        assert gpu.array(source).tobytes() == b"\10" * 12


def test_two_backends_on_one_device(gpu, standin_cuda):
    """Both share the primary context: the one's memory is the other's argument."""
    with mg.open_backend("cuda:0") as twin:
        buffer = gpu.buffer(12)
        gpu.copy_h2d_async(CONTENT, buffer)
        twin.copy_d2d(buffer, out := twin.buffer(12))
        assert out.tobytes() == CONTENT


def test_everything_is_given_back(gpu, library, standin_cuda):
    """Events and streams that the ordering needed are destroyed with the backend."""
    with mg.open_backend("cuda:1") as other:
        other.enable_peer_access(gpu)
        buffer = gpu.array(np.arange(3, dtype=np.uint32))
        other.memset_async(buffer, 1)
        gpu.memset_async(InterfaceArray(library), 1)
        del buffer
    gpu.close()
    assert standin_cuda.count("event") == 0
    assert standin_cuda.count("stream") == 1
    assert standin_cuda.violations() == []


@pytest.mark.parametrize("kind", [InterfaceArray, DlpackTensor])
def test_a_driver_graph_waits_at_every_replay(gpu, library, kind):
    """The driver's own graphs wait for the array's library before each replay, and capture nothing of it."""
    assert gpu.capabilities.graphs
    out, array = gpu.buffer(12), kind(library)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            gpu.copy_d2d_async(array, out, stream=stream)
        for content in (CONTENT, OTHER):
            library.write(content)
            capture.graph.launch(stream)
            gpu.copy_d2h_on_stream(out, found := bytearray(12), stream)
            assert found == content
    assert gpu.driver.node_count(capture.graph._driver_graph.handle) == 1


def test_a_driver_graph_enters_its_use_of_a_peer(gpu, standin_cuda):
    """A replay of the driver's graph counts as a use of the peer's memory, and waits for the peer's work."""
    with mg.open_backend("cuda:1") as other:
        gpu.enable_peer_access(other)
        source, out = other.buffer(12), gpu.buffer(12)
        with gpu.create_stream() as stream:
            with gpu.capture(stream) as capture:
                gpu.copy_d2d_async(source, out, stream=stream)
            for content in (CONTENT, OTHER):
                other.copy_h2d_async(content, source)
                capture.graph.launch(stream)
                with pytest.raises(AllocationInUse, match="graph"):
                    other.free(source)
                gpu.copy_d2h_on_stream(out, found := bytearray(12), stream)
                assert found == content
                other.synchronize()


class At:
    """Three numbers at some address, by the CUDA array interface, which does not say whose memory that is."""

    def __init__(self, address):
        self.__cuda_array_interface__ = {"version": 3, "shape": (3,), "typestr": "<u4", "data": (address, False)}


def test_memory_that_the_driver_does_not_know_is_refused(gpu, library):
    """Ordinary host memory and freed memory shown as a CUDA array are refused at the door, where a kernel would fault."""
    host = np.frombuffer(CONTENT, np.uint32)
    out, freed = gpu.buffer(12), gpu.alloc(12)
    gpu.free(freed)
    for address in (host.ctypes.data, freed.address):
        with pytest.raises(
            InvalidPointer, match=rf"src: At shows 12 bytes at {address:#x} .* knows no memory there"
        ) as e:
            gpu.copy_d2d(At(address), out)
        assert (e.value.address, e.value.nbytes) == (address, 12)
        with pytest.raises(InvalidPointer, match=r"lend a host array with In\(a\), Out\(a\) or InOut\(a\)"):
            gpu.resolve_pointer(At(address))


def test_memory_that_the_driver_knows_is_taken_whatever_it_is(gpu, library):
    """Page-locked and managed memory, of another device too, is the driver's; another device's own is not reached."""
    pinned = gpu.alloc_host_pinned(12)
    with mg.open_backend("cuda:1") as other:
        managed, theirs = other.alloc_managed(12), other.alloc(12)
        for address in (pinned.address, managed.address, library.address):
            assert gpu.resolve_pointer(At(address)).address == address
        with pytest.raises(ForeignHandle, match="At lies on CUDA device 1, this is CUDA device 0"):
            gpu.resolve_pointer(At(theirs.address))
        pinned.view[:] = CONTENT
        assert gpu.array(At(pinned.address)).tobytes() == CONTENT


def test_unknown_memory_is_taken_where_kernels_read_the_hosts(standin_cuda):
    """With pageable memory access an address that the driver does not know may be right, and nobody can tell."""
    host = np.frombuffer(CONTENT, np.uint32)
    standin_cuda.set(pageable_memory_access=1)
    with mg.open_backend("cuda:0") as gpu:
        assert gpu.capabilities.pageable_memory_access
        assert gpu.resolve_pointer(At(host.ctypes.data)).address == host.ctypes.data
    standin_cuda.set(pageable_memory_access=0)
    with mg.open_backend("cuda:0") as gpu:
        assert not gpu.capabilities.pageable_memory_access
