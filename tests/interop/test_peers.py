"""Two backends of one vendor: whose memory is taken where, in what order, and how long it lives."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from shared_machine import ROCM, Machine

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import (
    AllocationInUse,
    ForeignHandle,
    HandleClosed,
    InvalidPointer,
    NotSupported,
)
from metrale_gpu_runtime.testing import FaultPlan, LaunchFault, MockGpuBackend

CONTENT = bytes(range(40, 52))


@pytest.fixture
def here(machine):
    with machine.open(0) as gpu:
        gpu.define_kernel("m", "copy", copy_body)
        yield gpu
    assert not gpu.mock.violations


@pytest.fixture
def there(machine):
    with machine.open(1) as gpu:
        yield gpu
    assert not gpu.mock.violations


def copy_body(context):
    """out = in, twelve bytes."""
    context.memory(1, 12)[:] = bytes(context.memory(0, 12))


def test_a_peers_memory_is_refused_until_access_is_on(machine, here, there):
    """The refusal names the call that allows it; then buffers, pointers and addresses inside them are arguments."""
    buffer, pointer = there.buffer(12), there.alloc(12)
    for value in (buffer, pointer, pointer + 4):
        with pytest.raises(ForeignHandle, match=r"allocated on GPU 1 .* gpu\.enable_peer_access\(other\)"):
            here.resolve_pointer(value)
    assert here.can_access_peer(there)
    here.enable_peer_access(there)
    here.enable_peer_access(there)
    assert here.mock.enabled == [1]
    assert here.resolve_pointer(pointer + 4).nbytes == 8
    with pytest.raises(InvalidPointer, match="bytes past the end"):
        here.resolve_pointer(pointer + 13)
    with pytest.raises(ForeignHandle, match="allocated on GPU 0"):
        there.resolve_pointer(here.buffer(12))
    there.free(pointer)
    with pytest.raises(InvalidPointer, match="freed at"):
        here.resolve_pointer(pointer)


def test_access_that_the_devices_have_not_is_refused(machine, here, there):
    """Unlinked devices, other vendors and backends without peers raise NotSupported and name both sides."""
    machine.are_linked = False
    assert not here.can_access_peer(there)
    with pytest.raises(NotSupported, match=r"GPU 0 \(cuda\) cannot use memory of GPU 1 \(cuda\)"):
        here.enable_peer_access(there)
    with Machine(ROCM, "hip").open() as hip, MockGpuBackend() as mock, mg.open_backend("cpu") as cpu:
        for other in (hip, mock, cpu):
            assert not here.can_access_peer(other)
            assert not here.can_copy_peer(other)
            with pytest.raises(NotSupported, match=r"gpu\.copy_peer"):
                here.enable_peer_access(other)
            with pytest.raises(ForeignHandle, match="copy it over through the host"):
                here.resolve_pointer(other.buffer(12))


def test_a_launch_waits_for_the_peer_and_the_peer_for_it(machine, here, there):
    """What is queued on the peer's memory comes first, what the peer does next comes after, on streams of both."""
    here.enable_peer_access(there)
    buffer, out = there.buffer(12), here.buffer(12)
    with there.create_stream() as theirs, here.create_stream() as ours:
        there.copy_h2d_async(CONTENT, buffer, theirs)
        here.kernel("m", "copy")[1, 1, 0, ours](buffer, out)
        ours.synchronize()
        assert out.tobytes() == CONTENT
        here.memset_async(buffer, 7, stream=ours)
        assert buffer.tobytes() == b"\7" * 12


def test_memory_is_not_freed_under_a_peers_work(machine, here, there):
    """A peer's queued work counts as a use: free raises, a dropped buffer waits, synchronize waits for it."""
    here.enable_peer_access(there)
    buffer, out = there.buffer(12), here.buffer(12)
    here.kernel("m", "copy")[1, 1](buffer, out)
    with pytest.raises(AllocationInUse, match="launch 1 of copy of GPU 0"):
        there.free(buffer)
    del buffer
    gc.collect()
    assert there.live_alloc_count() == 1
    there.synchronize()
    assert there.live_alloc_count() == 0
    assert here.default_stream().query()


def test_closing_the_owner_waits_for_its_guests(machine, here):
    """A backend that is closed waits for the work that others have queued on its memory."""
    with machine.open(1) as there:
        here.enable_peer_access(there)
        buffer, out = there.array(np.frombuffer(CONTENT, np.uint8)), here.buffer(12)
        here.kernel("m", "copy")[1, 1](buffer, out)
    assert not there.mock.violations
    assert out.tobytes() == CONTENT
    with pytest.raises((HandleClosed, InvalidPointer, ForeignHandle), match=r"closed|gone"):
        here.kernel("m", "copy")[1, 1](buffer, out)


def test_managed_and_mapped_memory_needs_no_access(machine, here, there):
    """Managed and pinned memory of another device is an argument as it is, and ordered like a peer's."""
    managed, pinned = there.alloc_managed(12), there.alloc_host_pinned(12)
    mapped, out = there.host_ptr_to_device(pinned), here.buffer(12)
    there.copy_h2d_async(CONTENT, managed)
    pinned.view[:] = bytes(range(12))
    for value, content in ((managed, CONTENT), (mapped, bytes(range(12)))):
        here.kernel("m", "copy")[1, 1](value, out)
        assert out.tobytes() == content
    there.synchronize()
    there.free(managed)
    there.free_host_pinned(pinned)


def test_two_backends_on_one_device_share_their_memory(machine, here):
    """A second backend on the same device takes the first one's memory without any call, ordered both ways."""
    with machine.open(0) as twin:
        twin.define_kernel("m", "copy", copy_body)
        buffer, out = here.buffer(12), twin.buffer(12)
        here.copy_h2d_async(CONTENT, buffer)
        twin.kernel("m", "copy")[1, 1](buffer, out)
        assert out.tobytes() == CONTENT
        assert twin.can_access_peer(here)
        twin.copy_peer(buffer, out[:12])
        assert machine.peer_copies == []


def test_pooled_memory_is_the_devices_alone(machine, here, there):
    """Peer access does not cover memory in a stream's order: it stays refused, and a copy takes it."""
    here.enable_peer_access(there)
    pooled = there.alloc_async(12)
    with pytest.raises(ForeignHandle, match=r"gpu\.copy_peer"):
        here.resolve_pointer(pooled)
    there.free_async(pooled)


def test_a_peer_copy_is_ordered_on_both_sides(machine, here, there):
    """copy_peer needs no access; it waits for the source's work, and both allocations are in use until it is done."""
    source, target = there.buffer(12), here.buffer(12)
    with there.create_stream() as theirs, here.create_stream() as ours:
        there.copy_h2d_async(CONTENT, source, theirs)
        here.copy_peer_async(source, target, stream=ours)
        with pytest.raises(AllocationInUse):
            there.free(source)
        with pytest.raises(AllocationInUse):
            here.free(target)
        ours.synchronize()
        assert target.tobytes() == CONTENT
        there.memset(source, 3)
        here.copy_peer(source.ptr + 2, target.ptr + 7, 5)
        assert target.tobytes() == CONTENT[:7] + b"\3" * 5
    assert machine.peer_copies == [(1, 0, 12), (1, 0, 5)]


def test_a_buffer_copies_from_a_peer_without_the_host(machine, here, there):
    """copy_from and gpu.array take a peer's buffer by a peer copy; of another kind of backend through the host."""
    source = there.array(np.arange(3, dtype=np.float32))
    assert here.array(source).numpy().tolist() == [0, 1, 2]
    assert here.empty(3, "f32").copy_from(source).numpy().tolist() == [0, 1, 2]
    assert machine.peer_copies == [(1, 0, 12)] * 2
    with MockGpuBackend() as mock:
        assert mock.array(source).numpy().tolist() == [0, 1, 2]
    assert len(machine.peer_copies) == 2


def test_what_is_no_peers_memory_is_refused(here, there):
    """Own memory, plain addresses, other vendors' memory and ranges that are too long are refused before the driver."""
    target = here.buffer(12)
    with pytest.raises(ForeignHandle, match="by this very backend; use copy_d2d"):
        here.copy_peer(here.buffer(12), target)
    with pytest.raises(ForeignHandle, match="no memory of another backend"):
        here.copy_peer(mg.DevicePtr(0x7000), target, 12)
    with MockGpuBackend() as mock, pytest.raises(ForeignHandle, match="through the host"):
        here.copy_peer(mock.buffer(12), target)
    with pytest.raises(InvalidPointer, match="13 bytes"):
        here.copy_peer(there.buffer(12), target, 13)
    with pytest.raises(ValueError, match="src has 11 bytes and dst 12"):
        here.copy_peer(there.buffer(11), target)


def test_a_graph_uses_a_peers_memory_at_every_replay(machine, here, there):
    """Replays wait for the peer as it is then, and are in its books; the graph holds the memory."""
    here.enable_peer_access(there)
    buffer, out = there.buffer(12), here.buffer(12)
    with here.create_stream() as stream:
        with here.capture(stream) as capture:
            here.kernel("m", "copy")[1, 1, 0, stream](buffer, out)
        for content in (CONTENT, CONTENT[::-1]):
            there.copy_h2d_async(content, buffer)
            capture.graph.launch(stream)
            with pytest.raises(AllocationInUse):
                there.free(buffer)
            stream.synchronize()
            assert out.tobytes() == content
            there.synchronize()
        pointer = buffer.ptr
        del buffer
        gc.collect()
        assert there.resolve_pointer(pointer).nbytes == 12


def copies(here, there, target, stream):
    """Each way in which `here` uses a buffer of `there`, waited for by `here` alone."""

    def blocking(buffer):
        here.copy_peer(buffer, target)

    def queued(buffer):
        here.copy_peer_async(buffer, target, stream=stream)
        stream.synchronize()

    def made(buffer):
        here.array(buffer)

    def launched(buffer):
        here.kernel("m", "copy")[1, 1, 0, stream](buffer, target)
        here.synchronize()

    def asked(buffer):
        here.kernel("m", "copy")[1, 1, 0, stream](buffer, target)
        stream.record_event().synchronize()

    return blocking, queued, made, launched, asked


@pytest.mark.parametrize("way", range(5))
def test_a_guest_that_has_waited_lets_go_of_the_owners_memory(machine, here, there, way):
    """What a peer used and has waited for is given back at the owner's next call, without anybody waiting there."""
    here.enable_peer_access(there)
    target = here.buffer(12)
    with here.create_stream() as stream, there.create_stream() as busy:
        use = copies(here, there, target, stream)[way]
        for number in range(5):
            buffer = there.buffer(12)
            there.memset_async(buffer, number + 1)
            use(buffer)
            del buffer
            gc.collect()
            assert there.live_bytes() == 0
        # Nothing of the owner's own was waited for.
        there.memset_async(kept := there.buffer(12), 1, stream=busy)
        with pytest.raises(AllocationInUse):
            there.free(kept)


def test_a_guest_that_is_done_says_nothing_of_another(machine, here, there):
    """Memory that two guests use is there until both have waited, in whichever order they do."""
    with machine.open(2) as third:
        mine, theirs = here.buffer(12), third.buffer(12)
        for first, second in ((here, third), (third, here)):
            buffer = there.array(np.frombuffer(CONTENT, np.uint8))
            here.copy_peer_async(buffer, mine)
            third.copy_peer_async(buffer, theirs)
            del buffer
            gc.collect()
            first.synchronize()
            assert there.live_bytes() == 12
            second.synchronize()
            assert there.live_bytes() == 0


def test_the_owner_may_free_what_a_guest_has_waited_for(machine, here, there):
    """`free` is refused while a peer may be using the memory, and not once that peer knows that it is done."""
    pointer, target = there.alloc(12), here.buffer(12)
    here.copy_peer_async(pointer, target)
    with pytest.raises(AllocationInUse):
        there.free(pointer)
    here.synchronize()
    there.free(pointer)
    assert there.live_alloc_count() == 0


def test_a_guest_whose_context_is_lost_says_nothing_of_the_owner(machine, there):
    """A lost guest counts as done with everything, but the owner's own work that it waited for may not be."""
    lost = LaunchFault(context_lost=True)
    with machine.open(0) as here, there.create_stream() as busy:
        here.mock.plan = FaultPlan().fail("launch", failure=lost)
        buffer = there.buffer(12)
        there.memset_async(buffer, 1, stream=busy)
        here.copy_peer_async(buffer, here.buffer(12), stream=here.create_stream())
        here.kernel("m", "k")[1, 1]()
        with pytest.raises(mg.KernelFault):
            here.synchronize(0)
        assert here.is_lost
        with pytest.raises(AllocationInUse):
            there.free(buffer)
        busy.synchronize()


def test_two_backends_that_are_each_others_guests_do_not_stop_each_other(machine, here, there):
    """Both copy from each other and wait, in two threads at once: both come to their end, and all memory goes back."""
    start, failures = threading.Barrier(2), []

    def work(gpu, other):
        try:
            source = other.array(np.frombuffer(CONTENT, np.uint8))
            start.wait(20)
            for _ in range(60):
                target = gpu.buffer(12)
                gpu.copy_peer_async(source, target)
                gpu.synchronize(0)
                assert target.tobytes() == CONTENT
                gpu.live_bytes()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in ((here, there), (there, here))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    gc.collect()
    assert here.live_bytes() == there.live_bytes() == 0
