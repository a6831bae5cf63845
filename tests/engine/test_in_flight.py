"""Lifetime: memory, host arrays, streams and events live as long as queued work needs them, and no longer."""

from __future__ import annotations

import gc
import threading

import pytest

from metrale_gpu_runtime.errors import AllocationInUse, GpuWarning, InvalidPointer
from metrale_gpu_runtime.testing import MockGpuBackend


@pytest.fixture
def gpu():
    with MockGpuBackend() as gpu:
        yield gpu
    assert not gpu.mock.violations


def test_memory_waits_for_every_stream_that_uses_it(gpu):
    """A dropped buffer is given back only when the last of the streams that use it has passed."""
    kernel = gpu.kernel("m", "k")
    with gpu.create_stream() as one, gpu.create_stream() as other:
        buffer = gpu.buffer(99)
        kernel[1, 1, 0, one](buffer)
        kernel[1, 1, 0, other](buffer)
        del buffer
        one.synchronize()
        assert gpu.live_bytes() == 99
        other.synchronize()
        assert gpu.live_bytes() == 0


def test_each_stream_keeps_one_mark_however_often_it_launches(gpu):
    """Many launches leave one mark per stream in an allocation, not a list."""
    kernel, buffer = gpu.kernel("m", "k"), gpu.buffer(8)
    with gpu.create_stream() as stream:
        for _ in range(50):
            kernel[1, 1](buffer)
            kernel[1, 1, 0, stream](buffer)
        assert len(buffer.allocation.block.uses) == 2


def test_an_event_tells_how_far_a_stream_is(gpu):
    """Waiting for an event frees what was used before it, and not what was used after it."""
    kernel = gpu.kernel("m", "k")
    early, late = gpu.buffer(11), gpu.buffer(22)
    kernel[1, 1](early)
    event = gpu.default_stream().record_event()
    kernel[1, 1](late)
    del early, late
    assert gpu.live_bytes() == 33
    event.synchronize()
    assert gpu.live_bytes() == 22
    gpu.synchronize()
    assert gpu.live_bytes() == 0


def test_a_waiting_stream_tells_of_the_one_it_waited_for(gpu):
    """Synchronising a stream that waited for another's event also settles what the other did before the event."""
    kernel, buffer = gpu.kernel("m", "k"), gpu.buffer(13)
    with gpu.create_stream() as one, gpu.create_stream() as other:
        kernel[1, 1, 0, one](buffer)
        other.wait_event(one.record_event())
        del buffer
        other.synchronize()
        assert gpu.live_bytes() == 0


def test_a_free_names_the_launch_that_still_uses_the_memory(gpu):
    """An explicit free raises with kernel, stream and remedy while work is queued, and works after the wait."""
    kernel, pointer = gpu.kernel("m", "slow"), gpu.alloc(17)
    with gpu.create_stream() as stream:
        kernel[3, 2, 0, stream](pointer)
        with pytest.raises(AllocationInUse, match=rf"launch 1 of slow .*stream {stream.handle}.*free_async"):
            gpu.free(pointer)
        assert gpu.live_bytes() == 17
        stream.synchronize()
        gpu.free(pointer)
        assert gpu.live_bytes() == 0


def test_a_refused_launch_leaves_no_mark(gpu):
    """Memory named only by a launch that the driver refused can be freed at once."""
    from metrale_gpu_runtime.errors import DriverError
    from metrale_gpu_runtime.testing import FaultPlan, Refusal

    pointer = gpu.alloc(21)
    gpu.inject(FaultPlan().fail("launch", failure=Refusal()))
    with pytest.raises(DriverError, match="refused: launch 1 of k"):
        gpu.kernel("m", "k")[1, 1](pointer)
    gpu.free(pointer)
    assert gpu.live_bytes() == 0


def test_free_async_kills_the_pointer_at_once_and_the_memory_later(gpu):
    """After free_async the pointer is refused; the memory goes back when the stream has passed."""
    pointer = gpu.alloc_async(19)
    gpu.memset_async(pointer, 5, 19)
    gpu.free_async(pointer)
    with pytest.raises(InvalidPointer, match="given to free_async at"):
        gpu.memset_async(pointer, 1, 1)
    with pytest.raises(InvalidPointer, match="gone already"):
        gpu.free(pointer)
    assert gpu.live_bytes() == 19
    gpu.synchronize()
    assert gpu.live_bytes() == 0


def test_a_view_or_a_pointer_keeps_the_memory(gpu):
    """A slice or a DevicePtr of a buffer holds the whole allocation."""
    buffer = gpu.buffer(64)
    part, pointer = buffer[8:16], buffer.ptr + 4
    del buffer
    assert gpu.live_bytes() == 64
    del part
    assert gpu.live_bytes() == 64
    del pointer
    assert gpu.live_bytes() == 0


def test_the_host_source_of_a_queued_copy_lives(gpu):
    """A retained upload from a temporary arrives; the engine lets go of it after the wait."""
    import weakref

    import numpy as np

    buffer, source = gpu.buffer(80), np.arange(20, dtype=np.uint32)
    gone = weakref.ref(source)
    gpu.copy_h2d_async_retained(source, buffer)
    del source
    gc.collect()
    assert gone() is not None
    gpu.synchronize()
    gc.collect()
    assert gone() is None
    assert buffer.view("u32").numpy().tolist() == list(range(20))


def test_an_async_upload_takes_its_bytes_at_once(gpu):
    """The source of copy_h2d_async may be changed right after the call."""
    source, buffer = bytearray(b"before"), gpu.buffer(6)
    gpu.copy_h2d_async(source, buffer)
    source[:] = b"after!"
    assert buffer.tobytes() == b"before"


def test_a_source_changed_under_a_retained_copy_is_told_under_debug_sync():
    """Under debug sync a source that changed before its copy was done gives one warning."""
    with MockGpuBackend(debug_sync=True) as gpu:
        source, buffer = bytearray(b"before"), gpu.buffer(6)
        gpu.copy_h2d_async_retained(source, buffer)
        source[:] = b"after!"
        with pytest.warns(GpuWarning, match="source of 6 bytes was changed"):
            gpu.synchronize()


def test_unwaited_copies_do_not_pile_up(gpu):
    """A program that never waits keeps a bounded number of host arrays alive."""
    buffer = gpu.buffer(4)
    for number in range(5000):
        gpu.copy_h2d_async(number.to_bytes(4, "little"), buffer)
    assert len(gpu.default_stream()._lane.retained) < 3000


def test_dropped_memory_does_not_pile_up_without_a_wait(gpu):
    """A program that only allocates, launches and drops is polled for progress before memory grows without bound."""
    kernel = gpu.kernel("m", "k")
    for _ in range(5000):
        kernel[1, 1](gpu.buffer(100))
    assert gpu.live_alloc_count() < 3000


def test_scratch_is_used_again_in_stream_order(gpu):
    """The same stream gets the same scratch memory again without waiting; another stream does not while it is used."""
    kernel = gpu.kernel("m", "k")
    with gpu.create_stream() as one, gpu.create_stream() as other:
        addresses = []
        for stream in (one, one, other):
            with gpu.scratch(300, stream) as scratch:
                assert scratch.nbytes == 300
                addresses.append(scratch.address)
                kernel[1, 1, 0, stream](scratch)
        assert addresses[0] == addresses[1] != addresses[2]
        assert gpu.log.counts["alloc"] == 2
        assert "test_in_flight.py" in gpu.alloc_report()


def test_buffers_may_be_dropped_from_any_thread(gpu):
    """Threads that make, launch and drop buffers at once leave the ledger empty and the mock content."""
    kernel = gpu.kernel("m", "k")
    failures = []

    def work(stream):
        try:
            for size in range(1, 60):
                kernel[1, 1, 0, stream](gpu.buffer(size))
            stream.synchronize()
        except Exception as error:
            failures.append(error)

    streams = [gpu.create_stream() for _ in range(4)]
    threads = [threading.Thread(target=work, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    gpu.synchronize()
    assert gpu.live_alloc_count() == 0
    for stream in streams:
        stream.close()


def test_a_finaliser_may_free_in_the_middle_of_a_driver_call(gpu):
    """A user's __del__ that calls gpu.free while this thread is inside the driver is done by the next call."""
    pointer = gpu.alloc(30)
    freed = []

    class Holder:
        def __del__(self):
            gpu.free(pointer)
            freed.append(gpu.log.counts["free"])

    holder = [Holder()]
    allocate = gpu.mock.alloc

    def alloc(*arguments):
        holder.clear()
        return allocate(*arguments)

    gpu.mock.alloc = alloc
    other = gpu.buffer(7)
    assert freed == [0], "it must not reach the driver from inside another call"
    assert gpu.live_bytes() == 7
    with pytest.raises(InvalidPointer, match="freed at"):
        gpu.free(pointer)
    del other


def test_a_launch_of_another_thread_in_the_middle_of_a_free_is_seen(gpu, monkeypatch):
    """Memory that another thread launches with between free's look for uses and its end is refused, and stays alive."""
    kernel, buffer = gpu.kernel("m", "k"), gpu.buffer(8)
    kernel[1, 1](buffer)
    gpu.synchronize()
    look, looks = gpu._in_flight.pending_uses, []

    def look_and_let_another_launch(block):
        found = look(block)
        if not looks:
            looks.append(block)
            thread = threading.Thread(target=lambda: kernel[1, 1](buffer))
            thread.start()
            thread.join()
        return found

    monkeypatch.setattr(gpu._in_flight, "pending_uses", look_and_let_another_launch)
    with pytest.raises(AllocationInUse, match="still used by launch"):
        buffer.free()
    kernel[1, 1](buffer)
    gpu.synchronize()
    buffer.free()
    assert gpu.live_bytes() == 0


def test_memory_that_is_about_to_be_freed_is_refused_to_a_launch_of_another_thread(gpu, monkeypatch):
    """Once free has marked a block, and looks again for uses, no other thread launches with it."""
    kernel, buffer = gpu.kernel("m", "k"), gpu.buffer(8)
    kernel[1, 1](buffer)
    gpu.synchronize()
    mark, refused = gpu._ledger.mark, []

    def mark_and_let_another_launch(block, how):
        marked = mark(block, how)

        def launch():
            try:
                kernel[1, 1](buffer)
            except InvalidPointer as error:
                refused.append(str(error))

        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
        return marked

    monkeypatch.setattr(gpu._ledger, "mark", mark_and_let_another_launch)
    buffer.free()
    assert len(refused) == 1
    assert "freed at" in refused[0]
    assert gpu.live_bytes() == 0


def test_a_copy_that_is_refused_leaves_its_other_memory_free_to_go(gpu):
    """Of a copy whose source is gone the destination is not in use."""
    target, source = gpu.buffer(8), gpu.buffer(8)
    pointer = source.ptr
    source.free()
    with pytest.raises(InvalidPointer):
        gpu.copy_d2d(target.ptr, pointer, 8)
    target.free()
    assert gpu.live_bytes() == 0


def test_a_stream_that_another_thread_destroys_in_the_middle_of_a_free_is_no_key_error(gpu, monkeypatch):
    """The use that free has found is told of, though its stream is gone by then."""
    kernel, buffer, stream = gpu.kernel("m", "k"), gpu.buffer(8), gpu.create_stream()
    kernel[1, 1, 0, stream](buffer)
    look = gpu._in_flight.pending_uses

    def look_and_let_another_destroy(block):
        found = look(block)
        thread = threading.Thread(target=stream.close)
        thread.start()
        thread.join()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(gpu._in_flight, "pending_uses", look_and_let_another_destroy)
        with pytest.raises(AllocationInUse, match="still used by launch"):
            buffer.free()
    gpu.synchronize()
    buffer.free()
    assert gpu.live_bytes() == 0
