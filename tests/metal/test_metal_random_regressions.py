"""What random programs and stress on Metal have found: each defect as the shortest program that showed it."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from metal_room import FOLLOW, Room, fault_of, opened
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from programs_on_metal import MSL

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT, MetalStream
from metrale_gpu_runtime.errors import CaptureError, DriverError, DriverFault

__all__ = ["metal_standin"]


@pytest.fixture(params=["shared", "private"])
def gpu(metal_standin: MetalStandIn, request: pytest.FixtureRequest) -> Iterator[GpuBackend]:
    with mg.open_backend("metal", storage=request.param) as backend:
        backend.load_module("m", source={".metal": MSL})
        yield backend
        metal_standin.release()


def test_pinned_memory_is_read_when_the_copys_turn_comes(metal_standin: MetalStandIn, gpu: GpuBackend):
    """What a kernel of the same stream writes into pinned memory is what a copy behind it takes."""
    pinned, x = gpu.alloc_host_pinned(44), gpu.buffer(41)
    place = gpu.host_ptr_to_device(pinned)
    metal_standin.hold(until_awaited=True)
    gpu.memset_async(place, 7, 44)
    gpu.copy_h2d_async_retained(pinned.view[3:44], x)
    gpu.memset_async(place, 9, 44)
    gpu.synchronize()
    assert bytes(x.numpy()) == b"\7" * 41
    assert bytes(pinned.view) == b"\11" * 44
    gpu.free_host_pinned(pinned)


def test_pinned_memory_is_written_when_the_copys_turn_comes(metal_standin: MetalStandIn, gpu: GpuBackend):
    """What a copy reads back into pinned memory is there for a kernel of the same stream behind it, and is its to change."""
    pinned, x = gpu.alloc_host_pinned(40), gpu.array(np.arange(10, dtype=np.uint32))
    affine = gpu.kernel("m", "affine")
    metal_standin.hold(until_awaited=True)
    gpu.memset_async(gpu.host_ptr_to_device(pinned), 1, 40)
    gpu.copy_d2h_async(x, pinned.view)
    affine[2, 5](gpu.host_ptr_to_device(pinned), mg.u32(10), mg.u32(3), mg.u32(5))
    gpu.synchronize()
    assert np.array_equal(np.frombuffer(pinned.view, np.uint32), np.arange(10) * 3 + 5)
    gpu.free_host_pinned(pinned)


def test_an_address_of_the_gpu_is_no_pinned_memory_of_the_hosts(room: Room):
    """The two address spaces know nothing of each other: a host address is found among those of the host only."""
    memory, address, pinned = room.driver._memory, room.new(1, 2), room.driver.alloc(50, mg.driver.MemoryKind.PINNED)
    assert memory.find_pinned(address, 4) is None
    found = memory.find_pinned(pinned + 10, 40)
    assert found is not None
    assert found[1] == 10
    assert memory.find_pinned(pinned + 10, 41) is None
    assert memory.find_pinned(memory.device_address(pinned) + 1, 4) is None


def test_a_replay_copies_on_what_it_has_read_back(metal_standin: MetalStandIn, gpu: GpuBackend):
    """In a graph the host's memory between a copy from the device and one to it holds what the first has brought."""
    x, y = gpu.array(np.arange(9, dtype=np.uint8) + 40), gpu.buffer(9)
    between = np.zeros(9, np.uint8)
    with gpu.capture() as capture:
        gpu.copy_d2h_async(x, between)
        gpu.copy_h2d_async_retained(between, y)
    metal_standin.hold(until_awaited=True)
    gpu.memset_async(x, 3, 2)
    capture.graph.launch()
    assert bytes(y.numpy()) == bytes((3, 3, *range(42, 49)))


def test_copies_wait_only_for_those_that_write_their_source(metal_standin: MetalStandIn, gpu: GpuBackend, monkeypatch):
    """A copy to the device waits for nothing while what is read back goes elsewhere."""
    x, y = gpu.buffer(9), gpu.buffer(9)
    both, waits = np.zeros(18, np.uint8), []
    await_buffer = MetalStream.await_buffer
    monkeypatch.setattr(MetalStream, "await_buffer", lambda self, *given: [waits.append(1), await_buffer(self, *given)])
    with gpu.capture() as capture:
        gpu.copy_d2h_async(x, both[:9])
        gpu.copy_h2d_async_retained(both[9:], y)
    metal_standin.hold(until_awaited=True)
    gpu.memset_async(x, 3)
    capture.graph.launch()
    assert not waits
    assert bytes(y.numpy()) == bytes(9)


def test_pinned_memory_that_a_capture_names_by_its_device_address_is_kept(gpu: GpuBackend):
    """Freeing it by its host address is refused, as it would be by the other."""
    pinned = gpu.alloc_host_pinned(40)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            gpu.memset_async(gpu.host_ptr_to_device(pinned), 5, 40, stream)
            with pytest.raises(CaptureError, match="is named by the capture under way"):
                gpu.free_host_pinned(pinned)
        capture.graph.launch(stream)
        stream.synchronize()
    assert bytes(pinned.view) == b"\5" * 40
    gpu.free_host_pinned(pinned)


def test_a_replay_waits_for_an_event_that_a_capture_under_way_records_anew(gpu: GpuBackend):
    """What is only recorded has not happened: a graph that waits for the event waits for its last real recording."""
    x, event = gpu.buffer(8), gpu.create_event()
    with gpu.create_stream() as one, gpu.create_stream() as two, gpu.create_stream() as three:
        gpu.memset_async(x, 1, 8, one)
        event.record(one)
        with gpu.capture(two) as waiting:
            two.wait_event(event)
            gpu.memset_async(x, 2, 4, two)
        gpu.begin_capture(three, mode="relaxed")
        event.record(three)
        waiting.graph.launch(two)
        two.synchronize()
        gpu.abort_capture(three)
    assert bytes(x.numpy()) == b"\2\2\2\2\1\1\1\1"


@pytest.fixture
def room(metal_standin: MetalStandIn) -> Iterator[Room]:
    with opened(metal_standin) as room:
        yield room


def test_the_backends_own_kernels_are_there_whole_or_not_at_all(room: Room):
    """When one of them cannot be made the call fails, and the next one makes all of them; nothing of the first is left."""
    x = room.new(1, 2)
    before = room.standin.live()
    room.standin.fail_next("pipeline", nth=4)
    with pytest.raises(mg.GpuError, match="scripted failure"):
        room.driver.memset(x, 0x0102, 2, 1, 0)
    room.driver.synchronize(0)
    assert room.standin.live() == before
    for width, value in ((4, 0x01020304), (2, 0x0506), (1, 0x87)):
        room.driver.memset(x, value, width, 1, 0)
        assert room.words(x, 1)[0] % (1 << 8 * width) == value


def test_a_fault_is_told_though_no_new_queue_is_to_be_had(room: Room):
    """The stream says what failed, then that it gets no queue, and works as soon as there is one again."""
    x, place = room.new(1), room.new(0, 0)
    room.standin.hold()
    culprit = room.stray(place)
    behind = room.affine(x, 1, 10, 2)
    room.standin.fail_next("queue")
    room.standin.release()
    fault = fault_of(lambda: room.driver.synchronize(0))
    assert (fault.launch, fault.dropped) == (culprit, (behind,))
    with pytest.raises(DriverError, match="no command queue"):
        room.affine(x, 1, 10, 3)
    room.affine(x, 1, 10, 4)
    assert room.words(x, 1) == [14]


def _committing(room: Room, stream: int) -> threading.Event:
    """Set as soon as the stream has found a failure, in whatever thread."""
    found, queue = threading.Event(), room.driver._streams[stream]
    fail = queue._fail

    def noted(*arguments) -> None:
        fail(*arguments)
        found.set()

    queue._fail = noted
    return found


def _run_queue(room: Room, stream: int) -> None:
    """Let what one stream has committed run to its end, while the others stay held."""
    queue, world = room.driver._streams[stream]._queue, room.standin.world
    room.standin.release(2, queue=queue)
    with world.change:
        assert world.change.wait_for(lambda: not queue._native.outstanding, timeout=20)


def test_two_failures_that_a_stream_waits_for_are_told_together(room: Room):
    """What a stream has collected behind the second is named as not run, though the first one is still to be told."""
    x, place, other_place = room.new(1), room.new(0, 0), room.new(0, 0)
    first, second, stream = (room.driver.create_stream() for _ in range(3))
    events = [room.driver.create_event() for _ in range(2)]
    culprit = room.stray(place, stream=first)
    room.driver.record_event(events[0], first)
    room.standin.wait_idle()
    found = _committing(room, stream)
    room.standin.hold()
    other_culprit = room.stray(other_place, stream=second)
    room.driver.record_event(events[1], second)
    for _ in range(BUSY_COUNT):
        room.affine(x, 1, 10, 1, stream=stream)
    room.driver.wait_event(stream, events[1])
    behind = room.affine(x, 1, 10, 2, stream=stream)
    room.driver.wait_event(stream, events[0])
    # The second failure is there before the GPU asks for what is collected.
    _run_queue(room, second)
    room.standin.release()
    assert found.wait(20)
    fault = fault_of(lambda: room.driver.query_stream(stream))
    assert (fault.launch, fault.dropped) == (culprit, (other_culprit, behind))
    assert room.words(x, 1, stream=stream) == [int("1" * (BUSY_COUNT + 1))]


def test_work_behind_a_failure_that_fails_itself_is_told_and_takes_its_queue_with_it(room: Room):
    """A stream that ran behind failed work of another one, and then failed, works again as soon as that is told."""
    x, place, other_place = room.new(1), room.new(0, 0), room.new(0, 0)
    first, stream, event = room.driver.create_stream(), room.driver.create_stream(), room.driver.create_event()
    room.write(other_place, struct.pack("<Q", 0x40), stream=stream)
    room.driver.synchronize(stream)
    room.standin.hold()
    culprit = room.stray(place, stream=first)
    room.driver.record_event(event, first)
    room.driver.wait_event(stream, event)
    ran = room.affine(x, 1, 10, 1, stream=stream)
    later = room.launch("follow", FOLLOW, struct.pack("<QI", other_place, 1), stream=stream)
    queue = room.driver._streams[stream]._queue
    _run_queue(room, first)
    fault_of(lambda: room.driver.synchronize(first))
    fault = fault_of(lambda: room.driver.query_stream(stream))
    assert (fault.launch, str(ran) in fault.message, str(later) in fault.message) == (culprit, True, True)
    room.standin.release()
    again = fault_of(lambda: room.driver.synchronize(stream))
    assert later in again.dropped
    assert room.driver._streams[stream]._queue is not queue
    room.affine(x, 1, 10, 2, stream=stream)
    assert room.words(x, 1, stream=stream) == [112]


def test_a_fault_told_by_an_event_does_not_hide_the_next_one(room: Room):
    """A stream whose fault was told by an event, and that fails again before it is called, tells that too."""
    stream = room.driver._streams[0]
    told = stream._keep(DriverFault("one", "told", launch=1))
    fault_of(told.tell)
    stream._keep(DriverFault("two", "not yet", launch=2))
    assert fault_of(lambda: room.driver.query_stream(0)).launch == 2


def test_the_fault_of_a_stream_that_is_dropped_is_told(metal_standin: MetalStandIn, gpu: GpuBackend):
    """Another stream was waited for in its stead and told that what it waited for had failed; what did not run on the
    dropped one is told when that is destroyed."""
    affine, x, y = gpu.kernel("m", "affine"), gpu.array(np.ones(5, np.uint32)), gpu.array(np.ones(5, np.uint32))
    stream, other = gpu.create_stream(), gpu.create_stream()
    gpu.synchronize()
    metal_standin.hold()
    metal_standin.fail_next("command buffer", 4)
    affine[1, 5, 0, stream](x, mg.u32(5), mg.u32(3), mg.u32(1))
    other.wait_event(stream.record_event())
    affine[1, 5, 0, other](y, mg.u32(5), mg.u32(3), mg.u32(1))
    queue = gpu.driver._streams[stream._lane.handle]._queue
    del stream
    metal_standin.release(1, queue=queue)
    with metal_standin.world.change:
        assert metal_standin.world.change.wait_for(lambda: not metal_standin.world.failures, timeout=20)
    metal_standin.release()
    with pytest.raises(mg.KernelFault, match="work that this stream waited for failed"):
        other.synchronize()
    with pytest.raises(mg.KernelFault, match="AccessRevoked") as told:
        gpu.alloc(8)
    assert [each.ordinal for each in told.value.dropped] == [1]
    gpu.synchronize()


def test_asking_a_failed_stream_waits_for_no_other_stream(room: Room):
    """What Metal dropped behind the failure had waited for another stream; that one need not be done for it to be told."""
    x, place, event = room.new(1), room.new(0, 0), room.driver.create_event()
    other = room.driver.create_stream()
    let_go = room.hold_stream(other)
    room.affine(x, 1, 10, 1, stream=other)
    room.driver.record_event(event, other)
    room.standin.hold()
    culprit = room.stray(place)
    room.driver.wait_event(0, event)
    behind = room.affine(x, 1, 10, 2)
    assert BUSY_COUNT > 1
    room.standin.release()
    faults: list[BaseException] = []
    asking = threading.Thread(target=lambda: faults.append(fault_of(lambda: _ask(room))), daemon=True)
    asking.start()
    asking.join(20)
    is_stuck = asking.is_alive()
    let_go()
    asking.join(20)
    assert not is_stuck
    assert (faults[0].launch, faults[0].dropped) == (culprit, (behind,))  # type: ignore[attr-defined]
    assert room.words(x, 1, stream=other) == [11]


def _ask(room: Room) -> None:
    while not room.driver.query_stream(0):
        pass


def test_what_another_thread_has_freed_is_not_freed_again_by_closing(metal_standin: MetalStandIn, monkeypatch):
    """A block that goes in the middle of closing is given back once."""
    gpu = mg.open_backend("metal")
    pointer, other = gpu.alloc(100), gpu.alloc(50)
    freed: list[int] = []
    free = type(gpu.driver).free

    def noted(self, address, kind) -> None:
        freed.append(address)
        free(self, address, kind)

    monkeypatch.setattr(type(gpu.driver), "free", noted)
    blocks = gpu._ledger.blocks

    def blocks_then_free():
        found = blocks()
        # As a thread does that was let go on after the closing one had read the books.
        gpu._give_back(pointer.allocation.block)
        return found

    gpu._ledger.blocks = blocks_then_free
    addresses = sorted((pointer.address, other.address))
    gpu.close()
    assert sorted(freed) == addresses


def test_what_is_freed_behind_the_closing_of_its_device_is_gone_already(room: Room):
    """A thread that is late with giving memory back is told nothing."""
    address = room.driver.alloc(10)
    room.driver._memory.clear()
    room.driver.free(address)
