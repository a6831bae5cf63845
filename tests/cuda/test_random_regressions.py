"""What random programs have found: each defect as the shortest program that showed it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from programs_on_cuda import PTX, PlainExecutor

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import EventError, HandleClosed, InvalidPointer
from metrale_gpu_runtime.memory.in_flight import POLL_COUNT


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    executor = PlainExecutor(standin)
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX})
        yield backend
    executor.close()
    assert executor.failures == []


@pytest.mark.parametrize("kind", ["alloc", "pinned", "alloc_async"])
def test_an_allocation_after_many_drops_is_of_its_own_kind(standin, gpu, kind: str) -> None:
    """That streams are asked how far they are first does not make it memory of the stream that was asked last."""
    with gpu.create_stream() as busy, gpu.create_stream() as stream:
        for _ in range(POLL_COUNT + 1):
            gpu.memset_async(gpu.buffer(20), 3, stream=busy)
        standin.clear_journal()
        if kind == "alloc":
            gpu.free(gpu.alloc(100))
            assert standin.call_count("cuMemAlloc") == 1
        elif kind == "pinned":
            gpu.free_host_pinned(gpu.alloc_host_pinned(100))
            assert standin.call_count("cuMemHostAlloc") == 1
        else:
            pointer = gpu.alloc_async(100, stream)
            gpu.memset_async(pointer, 7, 100, stream)
            busy.synchronize()
            gpu.free_async(pointer, stream)
        assert standin.call_count("cuMemAllocAsync") == (kind == "alloc_async")
        stream.synchronize()
        busy.synchronize()


def test_marks_of_streams_are_destroyed_once(standin) -> None:
    """Closing a backend whose streams have marks of the engine's own gives a warning to nobody."""
    with mg.open_backend("cuda") as gpu:
        stream = gpu.create_stream()
        gpu.free_async(gpu.alloc_async(50, stream), stream)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gpu.close()
    assert standin.count("event", "created") == standin.count("event", "destroyed") > 0


def test_pinned_memory_has_an_address_while_a_capture_names_it(gpu) -> None:
    """Asking where pinned memory lies on the device frees nothing, so a capture does not forbid it."""
    pinned = gpu.alloc_host_pinned(40)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            gpu.memset_async(gpu.host_ptr_to_device(pinned), 5, 40, stream)
            gpu.memset_async(gpu.host_ptr_to_device(pinned) + 3, 6, 10, stream)
        capture.graph.launch(stream)
        stream.synchronize()
        assert bytes(pinned.view) == b"\5" * 3 + b"\6" * 10 + b"\5" * 27
        capture.graph.close()
    gpu.free_host_pinned(pinned)


def affine(gpu: GpuBackend, x: object, count: int, factor: int, addend: int, blocks: int = 3) -> mg.KernelLaunch:
    launch = mg.KernelLaunch(gpu, gpu.kernel("m", "affine")).grid(blocks).block(32)
    return launch.arg_ptr(x).arg_u32(count).arg_u32(factor).arg_u32(addend)


def test_an_event_of_an_ended_capture_draws_nobody_in(gpu) -> None:
    """After the end it marks nothing until the graph runs: waiting for it is refused, and no stream is captured by it."""
    with gpu.create_stream() as stream, gpu.create_stream() as other:
        for is_kept in (True, False):
            event = gpu.create_event()
            gpu.begin_capture(stream)
            event.record(stream)
            if is_kept:
                graph = gpu.end_capture(stream)
            else:
                gpu.abort_capture(stream)
            with pytest.raises(EventError, match="capture"):
                other.wait_event(event)
            assert not other.is_capturing
            assert len(graph) == 1
        graph.close()


def test_an_event_keeps_no_memory_of_its_capture(gpu) -> None:
    """An event that was recorded in a capture outlives the graph, and the graph's memory does not."""
    with gpu.create_stream() as stream:
        event = gpu.create_event()
        with gpu.capture(stream) as capture:
            gpu.memset_async(gpu.buffer(70), 3, stream=stream)
            event.record(stream)
        assert gpu.live_alloc_count() == 1
        del capture
        assert gpu.live_alloc_count() == 0
        event.close()


def test_an_event_inside_a_replay_does_not_end_it(standin, gpu) -> None:
    """Who has waited for an event in the middle of a graph has not waited for what comes behind it there."""
    with gpu.create_stream() as stream:
        x = gpu.buffer(200)
        event = gpu.create_event()
        with gpu.capture(stream) as capture:
            event.record(stream)
            affine(gpu, x, 50, 3, 1).launch(stream)
        capture.graph.launch(stream)
        event.synchronize()
        with pytest.raises(mg.AllocationInUse):
            x.free()
        stream.synchronize()
        x.free()
        capture.graph.close()


@pytest.mark.parametrize("is_debugging", [False, True])
def test_a_closed_event_is_refused_before_anything_of_a_replay_runs(standin, gpu, is_debugging: bool) -> None:
    """A graph that records or awaits an event which is gone issues nothing, neither as a whole nor one by one."""
    with gpu.create_stream() as stream:
        x = gpu.array(np.arange(50, dtype=np.uint32))
        inside, outside = gpu.create_event(), stream.record_event()
        with gpu.capture(stream) as capture:
            affine(gpu, x, 50, 3, 1).launch(stream)
            stream.wait_event(outside)
            inside.record(stream)
        outside.close()
        standin.clear_journal()
        if is_debugging:
            with gpu.debug_sync(), pytest.raises(HandleClosed):
                capture.graph.launch(stream)
        else:
            with pytest.raises(HandleClosed):
                capture.graph.launch(stream)
        assert standin.launch_count() == 0
        assert np.array_equal(x.numpy(), np.arange(50))
        capture.graph.close()
        inside.close()


def test_freed_memory_is_refused_where_it_is_recorded(standin, gpu) -> None:
    """A launch prepared before its memory was freed, another device's too, becomes no part of a capture."""
    with mg.open_backend("cuda:1") as other, gpu.create_stream() as stream:
        gpu.enable_peer_access(other)
        for owner in (gpu, other):
            x = owner.buffer(200)
            prepared = affine(gpu, x, 50, 3, 1).prepare(stream)
            again = affine(gpu, x, 50, 5, 1)
            again.launch(stream)
            stream.synchronize()
            owner.synchronize()
            x.free()
            with gpu.capture(stream) as capture:
                for call in (prepared, lambda again=again: again.launch(stream)):
                    with pytest.raises(InvalidPointer):
                        call()
            assert len(capture.graph) == 0
            capture.graph.close()


def test_a_sequence_with_freed_memory_issues_nothing(gpu) -> None:
    """What is in front of the copy or fill that can run no more has not run either."""
    x, y = gpu.array(np.arange(50, dtype=np.uint32)), gpu.buffer(30)
    with gpu.sequence() as step:
        affine(gpu, x, 50, 3, 1).launch()
        gpu.memset_async(y, 3)
    y.free()
    with pytest.raises(InvalidPointer):
        step()
    assert np.array_equal(x.numpy(), np.arange(50))


def test_guard_bands_are_no_part_of_a_capture(standin) -> None:
    """Memory allocated while the default stream is captured has its red zones at once, and the graph does not know them."""
    with mg.open_backend("cuda", redzone=64) as gpu:
        gpu.begin_capture(mode="relaxed")
        x = gpu.buffer(50)
        gpu.memset_async(x, 3)
        graph = gpu.end_capture()
        assert len(graph) == gpu.driver.node_count(graph._driver_graph.handle) == 1
        assert gpu.scan_redzones() == ()
        graph.close()


def test_a_graph_waits_for_the_recording_of_its_launch(gpu) -> None:
    """An event that a graph waits for may be recorded anew behind the replay, on the same stream; the graph does not wait for that."""
    with gpu.create_stream() as stream, gpu.create_stream() as other:
        x = gpu.array(np.arange(50, dtype=np.uint32))
        affine(gpu, x, 50, 3, 1).launch(other)
        event = other.record_event()
        with gpu.capture(stream) as capture:
            stream.wait_event(event)
            affine(gpu, x, 50, 5, 2).launch(stream)
        capture.graph.launch(stream)
        event.record(stream)
        assert np.array_equal(x.numpy(), (np.arange(50) * 3 + 1) * 5 + 2)
        capture.graph.close()


def test_who_waits_for_an_event_of_a_replay_comes_behind_it(gpu) -> None:
    """The event of a graph is recorded when the replay is queued, though that runs later."""
    with gpu.create_stream() as stream, gpu.create_stream() as other:
        x = gpu.array(np.arange(50, dtype=np.uint32))
        event = gpu.create_event(timing=False)
        with gpu.capture(stream) as capture:
            affine(gpu, x, 50, 3, 1).launch(stream)
            event.record(stream)
        capture.graph.launch(stream)
        other.wait_event(event)
        affine(gpu, x, 50, 5, 2).launch(other)
        other.synchronize()
        assert np.array_equal(x.numpy(), (np.arange(50) * 3 + 1) * 5 + 2)
        capture.graph.close()


def test_memory_whose_bands_could_not_be_waited_for_goes_back_behind_the_fills(standin) -> None:
    """An allocation that fails after its red zones were queued is given back when those fills are done, not under them."""
    with mg.open_backend("cuda", redzone=64) as gpu:
        standin.fail_call("cuStreamSynchronize", 1)
        with pytest.raises(mg.DriverError):
            gpu.buffer(50)
        assert gpu.live_alloc_count() == 0
        assert standin.count("memory") == 1
        gpu.synchronize()
        assert standin.count("memory") == 0
        assert standin.violations() == []


@pytest.mark.parametrize("call", ["cuEventRecord", "cuStreamWaitEvent"])
def test_a_peer_that_cannot_be_made_to_wait_is_waited_for(standin, gpu, call: str) -> None:
    """Work on another device's memory that is queued already stays out of sight of nobody: its memory is not freed under it."""
    with mg.open_backend("cuda:1") as other, gpu.create_stream() as stream:
        gpu.enable_peer_access(other)
        x = other.array(np.arange(50, dtype=np.uint32))
        affine(gpu, x, 50, 3, 1).launch(stream)
        other.synchronize()
        standin.fail_call(call, 2)
        affine(gpu, x, 50, 5, 2).launch(stream)
        standin.clear_faults()
        assert np.array_equal(x.numpy(), (np.arange(50) * 3 + 1) * 5 + 2)
        other.synchronize()
        x.free()


@pytest.mark.parametrize("call", ["cuCtxPopCurrent", "cuStreamGetCaptureInfo"])
def test_a_capture_that_holds_what_nobody_knows_of_is_given_up(standin, gpu, call: str) -> None:
    """A captured call that fails after the driver has made its node spoils the capture, and the stream works again."""
    with gpu.create_stream() as stream:
        x = gpu.array(np.arange(50, dtype=np.uint32))
        gpu.begin_capture(stream)
        standin.fail_call(call, 1, nth=2)
        with pytest.raises(mg.DriverError):
            gpu.memset_async(x, 3, 8, stream)
        with pytest.raises(mg.CaptureError, match="memset_async"):
            gpu.end_capture(stream)
        assert not stream.is_capturing
        affine(gpu, x, 50, 3, 1).launch(stream)
        assert np.array_equal(x.numpy(), np.arange(50) * 3 + 1)
        gpu.begin_capture(stream)
        standin.fail_call("cuMemsetD8Async", 1)
        with pytest.raises(mg.DriverError):
            gpu.memset_async(x, 3, 8, stream)
        assert len(gpu.end_capture(stream)) == 0, "a refused call alone costs nothing"


@pytest.mark.parametrize("call", ["cuMemcpyDtoDAsync", "cuEventCreate"])
def test_a_lost_device_keeps_no_memory_of_another(standin, gpu, call: str) -> None:
    """The fault that took a context is remembered, the frames in which it was found are not, nor what they held."""
    with mg.open_backend("cuda:1") as other:
        other.enable_peer_access(gpu)
        x, y = gpu.buffer(40), gpu.buffer(50)
        gpu.memset(x, 3)
        standin.fail_call(call, 719)
        with pytest.raises(mg.KernelFault) as fault:
            other.copy_d2d_async(x, y, 30)
        standin.fail_context(other.driver.context, 719)
        assert other.is_lost
        fault.value.__traceback__ = None
        del x, y, fault
        gpu.synchronize()
        assert gpu.live_alloc_count() == 0
        # What was queued in the lost context named the memory; it runs no more.
        standin.clear_journal()


def test_an_allocation_that_is_undone_goes_back_in_its_streams_order(standin, gpu) -> None:
    """Memory of a stream's pool whose call failed after the allocation was queued is not freed under it."""
    with gpu.create_stream() as stream:
        gpu.memset_async(gpu.buffer(50), 3, stream=stream)
        standin.fail_call("cuCtxPopCurrent", 1, nth=1)
        with pytest.raises(mg.DriverError):
            gpu.alloc_async(60, stream)
        stream.synchronize()
        assert standin.call_count("cuMemFreeAsync") == 1
        assert standin.violations() == []


def test_what_is_undone_during_a_capture_does_not_spoil_it(standin, gpu) -> None:
    """A call that fails behind its success is undone in the relaxed mode too, so that captures of any mode go on."""
    with gpu.create_stream() as stream:
        gpu.begin_capture(stream, mode="global")
        standin.fail_call("cuCtxPopCurrent", 1)
        with pytest.raises(mg.DriverError):
            gpu.buffer(50)
        assert standin.violations() == []
        assert standin.count("memory") == 0
        gpu.end_capture(stream).close()


def test_guests_say_nothing_of_guard_bands(standin) -> None:
    """That another device is through with our memory does not mean that bands filled meanwhile, which nobody waited for, are."""
    with mg.open_backend("cuda:0", redzone=64) as gpu, mg.open_backend("cuda:1") as other:
        x, y = gpu.buffer(30), other.buffer(30)
        gpu.memset(x, 3)
        gpu.begin_capture(mode="relaxed")
        standin.fail_call("cuStreamSynchronize", 1)
        with pytest.raises(mg.DriverError):
            gpu.buffer(50)
        other.copy_peer_async(x, y)
        other.synchronize()
        gpu.abort_capture()
        gpu.live_alloc_count()
        assert standin.violations() == []
        gpu.synchronize()


def test_a_stream_that_could_not_be_waited_for_is_not_forgotten(standin, gpu) -> None:
    """Closing a stream whose wait fails leaves its work in the books: the memory stays in use until that is done."""
    x, y = gpu.array(np.arange(50, dtype=np.uint32)), gpu.buffer(40)
    stream = gpu.create_stream()
    affine(gpu, x, 50, 3, 1).launch(stream)
    gpu.memset_async(y, 3, stream=stream)
    standin.fail_call("cuStreamSynchronize", 1)
    with pytest.raises(mg.DriverError):
        stream.close()
    assert not stream.is_open
    del y
    assert gpu.live_alloc_count() == 2
    assert standin.violations() == []
    assert np.array_equal(x.numpy(), np.arange(50) * 3 + 1)
    gpu.synchronize()
    assert gpu.live_alloc_count() == 1
    assert standin.count("stream") == 1, "only the backend's own is left"


def test_a_module_whose_retiring_failed_is_replaced_all_the_same(standin, gpu) -> None:
    """When the wait for the earlier code's work fails, the new module has its place and the earlier one's kernels refuse."""
    earlier = gpu.module("m")
    kernel, x = earlier["affine"], gpu.array(np.arange(50, dtype=np.uint32))
    standin.fail_call("cuStreamSynchronize", 400)
    with pytest.raises(mg.DriverError):
        gpu.load_module("m", source={".ptx": PTX}, replace=True)
    assert gpu.module("m") is not earlier
    with pytest.raises(HandleClosed):
        kernel[2, 32](x, mg.u32(50), mg.u32(3), mg.u32(1))
    gpu.module("m")["affine"][2, 32](x, mg.u32(50), mg.u32(3), mg.u32(1))
    assert np.array_equal(x.numpy(), np.arange(50) * 3 + 1)


def test_a_replay_one_by_one_is_drawn_into_no_capture(gpu) -> None:
    """Under debug sync a graph that awaits an event which is being captured meanwhile is refused, not captured with it."""
    with gpu.create_stream() as stream, gpu.create_stream() as other:
        event = other.record_event()
        with gpu.capture(stream) as capture:
            stream.wait_event(event)
        gpu.begin_capture(other, mode="relaxed")
        event.record(other)
        with gpu.debug_sync(), pytest.raises(mg.CaptureError, match="end that capture"):
            capture.graph.launch(stream)
        stream.synchronize()
        gpu.abort_capture(other)
        capture.graph.close()
