"""Memory in a stream's order: allocated and freed without waiting, and never used before it is there."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock import FaultPlan, OutOfMemory, Refusal
from metrale_gpu_runtime.drivers.mock.log import Alloc, AllocAsync, Free, FreeAsync, Synchronize, WaitEvent
from metrale_gpu_runtime.drivers.mock.profiles import profile

POOLED = profile("A100")


@pytest.fixture
def gpu():
    with mg.MockGpuBackend(POOLED, fill=0xC7) as gpu:
        yield gpu
    assert not gpu.mock.violations
    assert not any(gpu.mock.books.values())


def test_it_comes_from_the_pool_and_goes_back(gpu):
    """Allocation, use and free on one stream are three queued calls; nobody waits, and the books are empty at once."""
    with gpu.create_stream() as stream:
        pointer = gpu.alloc_async(1001, stream, label="step")
        assert (gpu.live_bytes(), gpu.live_alloc_count()) == (1001, 1)
        gpu.memset_async(pointer, 5, 1001, stream)
        gpu.free_async(pointer, stream)
        assert (gpu.live_bytes(), gpu.live_alloc_count()) == (0, 0)
        assert gpu.sync_count == 0
        assert [(call.nbytes, call.stream) for call in gpu.log.of(AllocAsync)] == [(1001, stream.handle)]
        assert [(call.address, call.stream) for call in gpu.log.of(FreeAsync)] == [(pointer.address, stream.handle)]
        assert not gpu.log.of(Alloc)
        assert gpu.mock.books["allocations"] == 1
        stream.synchronize()
        assert gpu.mock.books["allocations"] == 0
        with pytest.raises(mg.InvalidPointer, match=r"step.*given to free_async at"):
            gpu.memset_async(pointer, 5, 1, stream)
        with pytest.raises(mg.InvalidPointer):
            gpu.free(pointer)


def test_another_stream_waits_for_the_allocation_once(gpu):
    """The first use on another stream is ordered behind the allocation, later ones are not; its own needs nothing."""
    with gpu.create_stream() as home, gpu.create_stream() as other:
        pointer = gpu.alloc_async(64, home)
        gpu.memset_async(pointer, 1, 64, home)
        assert not gpu.log.of(WaitEvent)
        gpu.memset_async(pointer, 2, 64, other)
        gpu.kernel("m", "k")[1, 1, 0, other](pointer)
        gpu.kernel("m", "k")[1, 1](pointer)
        assert [call.stream for call in gpu.log.of(WaitEvent)] == [other.handle, 0]
        # The mock runs the other stream first: what came too early would be a violation.
        other.synchronize()
        gpu.synchronize()
        gpu.kernel("m", "k")[1, 1, 0, other](pointer)
        assert len(gpu.log.of(WaitEvent)) == 2
        gpu.synchronize()
        gpu.free(pointer)


def test_nothing_is_ordered_once_the_stream_has_passed(gpu):
    """When the allocation is known to be done every stream uses it without waiting."""
    with gpu.create_stream() as home, gpu.create_stream() as other:
        pointer = gpu.alloc_async(64, home)
        home.synchronize()
        gpu.memset_async(pointer, 2, 64, other)
        assert not gpu.log.of(WaitEvent)
        other.synchronize()
        gpu.free_async(pointer, home)


@pytest.mark.parametrize("way", ["launch", "prepared", "sequence", "copy"])
def test_every_way_of_using_it_is_ordered(gpu, way):
    """Launches, prepared ones, sequences and copies on another stream all wait for the allocation."""
    kernel = gpu.kernel("m", "k")
    with gpu.create_stream() as home, gpu.create_stream() as other:
        pointer = gpu.alloc_async(64, home)
        if way == "launch":
            kernel[1, 1, 0, other](pointer)
        elif way == "prepared":
            kernel[1, 1].prepare(pointer)(stream=other)
        elif way == "sequence":
            with gpu.sequence() as step:
                kernel[1, 1](pointer)
            step(stream=other)
        else:
            gpu.copy_d2d_async(pointer, pointer + 32, 32, other)
        other.synchronize()
        assert [call.stream for call in gpu.log.of(WaitEvent)] == [other.handle]
        gpu.synchronize()
        gpu.free(pointer)


def test_a_blocking_copy_waits_for_the_allocation(gpu):
    """A copy that is done on return sees the memory, though it runs on the default stream."""
    with gpu.create_stream() as home:
        pointer = gpu.alloc_async(64, home)
        gpu.memset_async(pointer, 7, 64, home)
        host = np.zeros(64, np.uint8)
        gpu.copy_d2h(pointer, host)
        assert host.tolist() == [7] * 64
        gpu.free_async(pointer, home)


def test_a_failed_ordering_queues_nothing(gpu):
    """When the wait for the allocation is refused, the launch is not queued and what it named is not in use by it."""
    with gpu.create_stream() as home, gpu.create_stream() as other:
        plain, pointer = gpu.alloc(64), gpu.alloc_async(64, home)
        gpu.inject(FaultPlan().fail("wait_event", failure=Refusal()).fail("wait_event", nth=2, failure=Refusal()))
        with pytest.raises(mg.DriverError, match="wait_event"):
            gpu.kernel("m", "k")[1, 1, 0, other](plain, pointer)
        with pytest.raises(mg.DriverError, match="wait_event"):
            gpu.copy_d2d_async(plain, pointer, 64, other)
        assert gpu.launch_count == 0
        gpu.free(plain)
        gpu.kernel("m", "k")[1, 1, 0, other](pointer)
        gpu.synchronize()
        gpu.free(pointer)


def test_a_free_on_a_stream_waits_for_the_others(gpu):
    """Memory that another stream uses goes back when that has passed, too; its pointer is dead at once."""
    with gpu.create_stream() as home, gpu.create_stream() as other:
        pointer = gpu.alloc_async(64, home)
        gpu.memset_async(pointer, 1, 64, other)
        gpu.free_async(pointer, home)
        assert not gpu.log.of(FreeAsync)
        with pytest.raises(mg.InvalidPointer):
            gpu.memset_async(pointer, 1, 64, home)
        home.synchronize()
        assert not gpu.log.of(Free)
        other.synchronize()
        assert [call.address for call in gpu.log.of(Free)] == [pointer.address]
        assert gpu.live_bytes() == 0


def test_an_explicit_free_wants_the_stream_to_have_come_there(gpu):
    """`free` is refused while the stream has not passed the allocation, and works when it has."""
    with gpu.create_stream() as stream:
        pointer = gpu.alloc_async(64, stream)
        with pytest.raises(mg.AllocationInUse, match=f"alloc_async of 64 bytes on stream {stream.handle}"):
            gpu.free(pointer)
        stream.synchronize()
        gpu.free(pointer)
        assert gpu.live_alloc_count() == 0


def test_red_zones_in_stream_order(gpu):
    """Guard bands are filled in the stream's order, without a wait, and damage on either side is found."""
    with mg.MockGpuBackend(POOLED, fill=0xC7, redzone=32) as guarded, guarded.create_stream() as stream:
        pointer = guarded.alloc_async(100, stream, label="step")
        assert guarded.sync_count == 0
        guarded.memset_async(pointer, 0xAA, 100, stream)
        assert guarded.scan_redzones() == ()
        guarded.mock._memory.view(pointer.address + 100, 2)[:] = b"ab"
        guarded.mock._memory.view(pointer.address - 1, 1)[:] = b"c"
        assert {(each.side, each.offset, each.count) for each in guarded.scan_redzones()} == {
            ("after", 100, 2),
            ("before", -1, 1),
        }
        guarded.free_async(pointer, stream)
        stream.synchronize()
        assert not any(guarded.mock.books[kind] for kind in ("allocations", "queued"))
    assert not guarded.mock.violations


def test_inside_a_recording_it_is_an_ordinary_allocation(gpu):
    """In a capture and in a sequence alloc_async allocates at once, outside of what is recorded."""
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            pointer = gpu.alloc_async(64, stream)
            gpu.memset_async(pointer, 3, 64, stream)
        with gpu.sequence() as step:
            other = gpu.alloc_async(65, stream)
        assert [call.nbytes for call in gpu.log.of(Alloc)] == [64, 65]
        assert not gpu.log.of(AllocAsync)
        assert (len(capture.graph), len(step)) == (1, 0)
        for _ in range(2):
            capture.graph.launch(stream)
        host = np.zeros(64, np.uint8)
        gpu.copy_d2h(pointer, host)
        assert host.tolist() == [3] * 64
        capture.graph.close()
        gpu.free(pointer)
        gpu.free(other)


def test_a_graph_on_another_stream_waits_for_the_allocation(gpu):
    """A graph that names stream-ordered memory is ordered behind its allocation at its first replay elsewhere."""
    with gpu.create_stream() as home, gpu.create_stream() as other:
        pointer = gpu.alloc_async(64, home)
        with gpu.capture(other) as capture:
            gpu.memset_async(pointer, 9, 64, other)
        assert not gpu.log.of(WaitEvent)
        capture.graph.launch(other)
        other.synchronize()
        assert [call.stream for call in gpu.log.of(WaitEvent)] == [other.handle]
        capture.graph.close()
        gpu.synchronize()
        gpu.free(pointer)


def test_when_memory_is_short_what_was_dropped_is_waited_for():
    """An allocation that finds no room waits for dropped memory and tries again; the second refusal is the error."""
    with mg.MockGpuBackend(POOLED, total_memory=16 << 20) as gpu:
        big = gpu.buffer(10 << 20)
        gpu.kernel("m", "k")[1, 1](big)
        del big
        pointer = gpu.alloc_async(10 << 20)
        assert len(gpu.log.of(Synchronize)) == 1
        with pytest.raises(mg.OutOfDeviceMemory, match="10485760") as info:
            gpu.alloc_async(10 << 20)
        assert info.value.nbytes == 10 << 20
        assert gpu.live_alloc_count() == 1
        gpu.free_async(pointer)


@pytest.mark.parametrize("call", ["alloc_async", "create_event", "record_event", "memset"])
def test_a_failed_allocation_leaves_nothing(call):
    """Whichever call of an allocation in stream order fails, the books and the driver's are as before."""
    with mg.MockGpuBackend(POOLED, redzone=16) as gpu, gpu.create_stream() as stream:
        failure = OutOfMemory() if call == "alloc_async" else Refusal()
        gpu.inject(FaultPlan().fail(call, failure=failure, forever=call == "alloc_async"))
        with pytest.raises(mg.GpuError):
            gpu.alloc_async(100, stream)
        assert gpu.live_alloc_count() == 0
        gpu.inject(FaultPlan())
        stream.synchronize()
        assert gpu.mock.books["allocations"] == 0
        pointer = gpu.alloc_async(100, stream)
        gpu.free_async(pointer, stream)
    assert not gpu.mock.violations
    assert not any(gpu.mock.books.values())


def test_no_bytes_and_what_is_left():
    """No bytes are the null pointer; what nobody frees is swept, or goes with the backend."""
    with mg.MockGpuBackend(POOLED) as gpu:
        assert gpu.alloc_async(0).is_null
        gpu.alloc_async(64, label="forgotten")
        with pytest.warns(mg.GpuResourceWarning, match="forgotten"):
            assert gpu.sweep_unreleased() == 1
        gpu.alloc_async(64)
    assert not any(gpu.mock.books.values())
    assert not gpu.mock.violations


def test_a_destroyed_stream_has_come_to_its_allocations(gpu):
    """Memory outlives the stream in whose order it was allocated, and needs no order after that stream is gone."""
    with gpu.create_stream() as home:
        pointer = gpu.alloc_async(64, home)
    gpu.memset_async(pointer, 1, 64)
    assert not gpu.log.of(WaitEvent)
    gpu.free_async(pointer)
    gpu.synchronize()


def test_where_there_is_no_pool_it_is_as_alloc():
    """A device without stream-ordered memory allocates at once, and frees behind the stream."""
    with mg.MockGpuBackend(replace(POOLED, stream_ordered_memory=False)) as gpu, gpu.create_stream() as stream:
        pointer = gpu.alloc_async(64, stream)
        gpu.memset_async(pointer, 1, 64, stream)
        gpu.free_async(pointer, stream)
        assert gpu.live_bytes() == 64
        stream.synchronize()
        assert gpu.live_bytes() == 0
        assert [call.nbytes for call in gpu.log.of(Alloc)] == [64]
        assert not gpu.log.of(AllocAsync)
        assert not gpu.log.of(FreeAsync)


def test_a_launch_of_another_thread_in_the_middle_of_free_async_is_refused(gpu, monkeypatch):
    """Another thread's launch on another stream, between free_async's look for uses and its end, does not get the memory."""
    kernel = gpu.kernel("m", "k")
    with gpu.create_stream() as home, gpu.create_stream() as other:
        pointer = gpu.alloc_async(64, home)
        kernel[1, 1, 0, other](pointer)
        other.synchronize()
        look, outcomes = gpu._in_flight.pending_uses, []

        def launch():
            try:
                kernel[1, 1, 0, other](pointer)
                outcomes.append("launched")
            except mg.InvalidPointer:
                outcomes.append("refused")

        def look_and_let_another_launch(block):
            found = look(block)
            if not outcomes:
                thread = threading.Thread(target=launch)
                thread.start()
                thread.join()
            return found

        monkeypatch.setattr(gpu._in_flight, "pending_uses", look_and_let_another_launch)
        gpu.free_async(pointer, home)
        assert outcomes == ["refused"]
        assert gpu.live_bytes() == 0
