"""Streams across libraries: ours by native handle, theirs as stream arguments, the legacy default stream."""

from __future__ import annotations

import gc
import weakref

import pytest
from shared_machine import ROCM, CudaStream, Machine, OldTorchStream

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import AllocationInUse, ForeignHandle, NotSupported
from metrale_gpu_runtime.testing import MockGpuBackend


def test_our_streams_are_known_by_their_native_handle(machine, gpu):
    """A stream has `__cuda_stream__`, (0, handle), where other libraries can use it, and no such attribute elsewhere."""
    with gpu.create_stream() as stream:
        assert stream.__cuda_stream__() == (0, stream.native_handle) == (0, stream.handle)
    assert gpu.default_stream().__cuda_stream__() == (0, 0xD0)
    assert gpu.resolve_stream(mg.Stream.legacy).__cuda_stream__() == (0, 1)
    with MockGpuBackend() as mock, mg.open_backend("cpu") as cpu:
        for other in (mock, cpu):
            assert not hasattr(other.default_stream(), "__cuda_stream__")
            with pytest.raises(NotSupported, match="no streams that other libraries know"):
                _ = other.default_stream().native_handle


def test_a_native_handle_comes_back_as_the_stream_it_is(gpu):
    """A handle, or an object that shows it, resolves to our own stream where it is one of ours."""
    with gpu.create_stream() as stream:
        for given in (stream, stream.native_handle, CudaStream(stream.native_handle)):
            assert gpu.resolve_stream(given) == stream
    for given in (None, 0, 0xD0, CudaStream(0xD0)):
        assert gpu.resolve_stream(given) == gpu.default_stream()


def test_zero_of_another_library_is_the_legacy_stream(gpu):
    """Handle 0 in a stream object is the legacy default stream, never our default; a torch of before the protocol too."""
    legacy = gpu.resolve_stream(mg.Stream.legacy)
    assert (legacy.handle, repr(mg.Stream.legacy)) == (1, "Stream.legacy")
    for given in (1, CudaStream(0), CudaStream(1), OldTorchStream(0)):
        assert gpu.resolve_stream(given) == legacy
    assert legacy != gpu.default_stream()


def test_the_legacy_stream_is_refused_elsewhere_by_name():
    """Backends without native handles refuse `Stream.legacy` and foreign stream objects, naming what was given."""
    with MockGpuBackend() as gpu:
        for given, name in (
            (mg.Stream.legacy, "Stream.legacy"),
            (CudaStream(0x7700), "CudaStream"),
            (OldTorchStream(0x7700), "OldTorchStream"),
            (0x7700, "a raw handle"),
        ):
            with pytest.raises(NotSupported, match=f"takes no stream of another library.*{name}"):
                gpu.resolve_stream(given)


@pytest.mark.parametrize("wrap", [int, CudaStream, OldTorchStream])
def test_work_on_a_foreign_stream_is_tracked(machine, gpu, wrap):
    """Memory used on another library's stream is in use until it has passed; copies and frees wait for it."""
    given = wrap(machine.stream(0x7700))
    buffer = gpu.buffer(12)
    gpu.memset_async(buffer, 5, stream=given)
    with pytest.raises(AllocationInUse, match="stream 30464"):
        gpu.free(buffer)
    assert buffer.tobytes() == b"\5" * 12
    gpu.memset_async(buffer, 6, stream=given)
    event = gpu.resolve_stream(given).record_event()
    with gpu.create_stream() as stream:
        stream.wait_event(event)
        gpu.copy_d2h_on_stream(buffer, found := bytearray(12), stream)
    assert found == b"\6" * 12
    gpu.free(buffer)


def test_a_foreign_stream_is_never_destroyed(machine, gpu):
    """destroy_stream of one is refused, its Stream's end and the backend's destroy nothing, and close waits for it."""
    machine.stream(0x7700)
    stream = gpu.resolve_stream(0x7700)
    with pytest.raises(ValueError, match="not made by this backend"):
        gpu.destroy_stream(stream)
    with stream:
        gpu.memset_async(gpu.buffer(12), 3, stream=stream)
    stream.close()
    gpu.log.clear()
    gpu.close()
    assert "destroy_stream" not in gpu.log.transcript()
    assert 0x7700 in machine.queues.streams
    assert not machine.queues.streams[0x7700]


def test_a_foreign_stream_without_our_work_is_not_touched(machine, gpu):
    """Once it has passed our work a foreign stream may be destroyed: neither synchronize nor close asks for it again."""
    buffer = gpu.buffer(12)
    gpu.memset_async(buffer, 3, stream=machine.stream(0x7700))
    gpu.synchronize()
    del machine.queues.streams[0x7700]
    gpu.synchronize()
    gpu.scan_redzones()
    gpu.close()


def test_a_stream_object_is_kept_while_its_lane_is(machine, gpu):
    """The object that owns a foreign stream lives as long as work of ours may be queued there."""
    given = CudaStream(machine.stream(0x7700))
    gpu.memset_async(gpu.buffer(12), 3, stream=given)
    gone = weakref.ref(given)
    del given
    gc.collect()
    assert gone() is not None


def test_a_thousand_foreign_streams_leave_no_trace(machine, gpu):
    """Idle streams that nobody holds are forgotten, with the objects that owned them; their numbers go on."""
    alive = weakref.WeakSet()
    for number in range(1000):
        given = CudaStream(machine.stream(0x8000 + number % 300))
        alive.add(given)
        gpu.memset_async(buffer := gpu.buffer(12), number % 250, stream=given)
        assert buffer.tobytes() == bytes([number % 250]) * 12
        gpu.log.clear()
    del given
    gc.collect()
    assert len(alive) < 140
    assert len(gpu._lanes) < 140


def test_a_stream_of_another_device_is_refused(gpu):
    """A stream object that says its device is refused on another one, naming both."""
    for given in (CudaStream(0x7700, device=2), OldTorchStream(0x7700, device=2)):
        with pytest.raises(ForeignHandle, match=r"stream of device 2, the call is for device 0 \(GPU 0\)"):
            gpu.resolve_stream(given)
    assert gpu.resolve_stream(CudaStream(0, device=-1)) == gpu.resolve_stream(mg.Stream.legacy)


def test_the_per_thread_stream_is_refused(gpu):
    """Handle 2 is another stream in every thread, so nobody could wait for it: refused with the way out."""
    for given in (2, CudaStream(2)):
        with pytest.raises(NotSupported, match=r"gpu\.create_stream"):
            gpu.resolve_stream(given)


def test_rocm_streams_are_taken_as_well():
    """On HIP raw handles and stream objects work the same way."""
    machine = Machine(ROCM, "hip")
    with machine.open() as gpu:
        buffer = gpu.buffer(12)
        gpu.memset_async(buffer, 9, stream=CudaStream(machine.stream(0x7700)))
        assert buffer.tobytes() == b"\t" * 12
        assert hasattr(gpu.default_stream(), "__cuda_stream__")
