"""When a stream hands its work to the GPU: at once while the GPU has little to do, collected while it is busy."""

from __future__ import annotations

import threading

import pytest
from metal_room import Room, fault_of, opened
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from metal_standin.queues import CommandQueue

from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT, MAX_IN_FLIGHT, MAX_OPERATIONS

__all__ = ["metal_standin"]


@pytest.fixture
def room(metal_standin: MetalStandIn):
    with opened(metal_standin) as room:
        yield room


def sizes(room: Room, since: int) -> list[int]:
    return [len(labels) for labels in room.committed(since)]


def test_the_first_launches_start_at_once(room: Room):
    """While the GPU has less than BUSY_COUNT command buffers to do, each operation is committed when it is encoded."""
    x = room.new(1)
    since = len(room.committed())
    room.standin.hold()
    for at in range(BUSY_COUNT):
        room.affine(x, 1, 10, at)
        assert sizes(room, since) == [1] * (at + 1)


def test_a_busy_gpu_gets_full_command_buffers(room: Room):
    """Behind BUSY_COUNT command buffers operations are collected, MAX_OPERATIONS to one."""
    x = room.new(0)
    since = len(room.committed())
    room.standin.hold()
    for _ in range(BUSY_COUNT + 2 * MAX_OPERATIONS + 5):
        room.affine(x, 1, 1, 1)
    assert sizes(room, since) == [1] * BUSY_COUNT + [MAX_OPERATIONS] * 2
    room.standin.release()
    assert room.words(x, 1) == [BUSY_COUNT + 2 * MAX_OPERATIONS + 5]


def test_collected_work_is_committed_when_the_gpu_runs_out_of_work(room: Room):
    """What was collected starts without any further call, as soon as less than BUSY_COUNT command buffers are left."""
    x = room.new(0)
    since = len(room.committed())
    room.standin.hold()
    for _ in range(BUSY_COUNT + 3):
        room.affine(x, 1, 1, 1)
    assert sizes(room, since) == [1] * BUSY_COUNT
    room.standin.release(1)
    room.await_committed(since + BUSY_COUNT + 1)
    assert sizes(room, since) == [1] * BUSY_COUNT + [3]
    # And again: the thread is there for the next tail, too.
    for _ in range(4):
        room.affine(x, 1, 1, 1)
    room.standin.release(1)
    room.await_committed(since + BUSY_COUNT + 2)
    assert sizes(room, since)[-1] == 4
    room.standin.release()
    assert room.words(x, 1) == [BUSY_COUNT + 3 + 4]


@pytest.mark.parametrize("asking", ["query_stream", "record_event", "wait_event"])
def test_whoever_asks_has_collected_work_committed(room: Room, asking):
    """A query, a recorded event and what another stream waits for leave nothing uncommitted behind."""
    x = room.new(0)
    event, other = room.driver.create_event(), room.driver.create_stream()
    since = len(room.committed())
    room.standin.hold()
    for _ in range(BUSY_COUNT + 3):
        room.affine(x, 1, 1, 1)
    if asking == "query_stream":
        assert room.driver.query_stream(0) is False
    else:
        room.driver.record_event(event, 0)
    assert sizes(room, since) == [1] * BUSY_COUNT + [3]
    if asking == "wait_event":
        room.driver.wait_event(other, event)
        room.affine(x, 1, 10, 0, stream=other)
        room.standin.release()
        assert room.words(x, 1, stream=other) == [10 * (BUSY_COUNT + 3)]


def test_waiting_commits_and_waits_for_all(room: Room):
    """synchronize ends when the last operation has run, collected ones included."""
    x = room.new(0)
    for _ in range(3 * MAX_OPERATIONS):
        room.affine(x, 1, 1, 1)
    room.driver.synchronize(0)
    assert room.driver.query_stream(0) is True
    assert room.words(x, 1) == [3 * MAX_OPERATIONS]


def test_so_many_command_buffers_are_in_flight_and_no_more(room: Room, monkeypatch):
    """The operation behind MAX_IN_FLIGHT command buffers waits for the oldest; all of them run in order."""
    x = room.new(0)
    most: list[int] = []
    enter = CommandQueue.enter

    def noted(self, buffer):
        most.append(sum(1 for each in self.outstanding if each.is_committed and not each.is_done))
        enter(self, buffer)

    monkeypatch.setattr(CommandQueue, "enter", noted)
    room.standin.hold()
    since = len(room.committed())
    count = BUSY_COUNT + MAX_IN_FLIGHT * MAX_OPERATIONS + 7
    thread = threading.Thread(target=lambda: [room.affine(x, 1, 1, 1) for _ in range(count)])
    thread.start()
    room.await_committed(since + MAX_IN_FLIGHT)
    assert thread.is_alive()
    room.standin.release()
    thread.join()
    assert room.words(x, 1) == [count]
    assert max(most) == MAX_IN_FLIGHT


def test_without_threads_nothing_is_collected(room: Room, monkeypatch):
    """Where no thread can be started, as at the interpreter's end, every operation is committed when it is encoded."""
    start = threading.Thread.start

    def refuse(self):
        if self.name == "metrale-metal-stream":
            raise RuntimeError("can't start new thread")
        start(self)

    x = room.new(0)
    since = len(room.committed())
    room.standin.hold()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(BUSY_COUNT + 3):
            room.affine(x, 1, 1, 1)
    assert sizes(room, since) == [1] * (BUSY_COUNT + 3)
    room.standin.release()
    assert room.words(x, 1) == [BUSY_COUNT + 3]


def test_threads_end_with_their_streams(metal_standin: MetalStandIn):
    """A destroyed stream's thread ends, and after `close` none of the driver's is left, a tail or not."""

    def ours() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "metrale-metal-stream"]

    with opened(metal_standin) as room:
        x = room.new(0)
        stream = room.driver.create_stream()
        for used in (0, stream):
            metal_standin.hold()
            for _ in range(BUSY_COUNT + 2):
                room.affine(x, 1, 1, 1, stream=used)
            metal_standin.release()
            room.driver.synchronize(used)
        (of_stream, of_default) = sorted(ours(), key=lambda thread: thread.ident or 0) if len(ours()) == 2 else (1, 2)
        assert (of_stream, of_default) != (1, 2), "each stream has a thread"
        room.driver.destroy_stream(stream)
        room.driver._ending and room.driver._ending[0].join(10)
        assert len(ours()) == 1
    assert ours() == []


def test_closing_under_a_gpu_that_stands_still_neither_raises_nor_hangs(metal_standin: MetalStandIn, monkeypatch):
    """`close` comes back when the GPU never gets to the work in flight; the daemon that waits for it is left alone."""
    monkeypatch.setattr("metrale_gpu_runtime.drivers.metal.driver.LONGEST_CLOSE_S", 0.05)
    with opened(metal_standin) as room:
        x = room.new(0)
        metal_standin.hold()
        for _ in range(BUSY_COUNT + 2):
            room.affine(x, 1, 1, 1)
        room.driver.close()
        assert room.driver._temporaries.live_count == 0
        metal_standin.release()
        metal_standin.wait_idle()


def test_a_command_buffer_that_cannot_be_committed_is_told(room: Room, monkeypatch):
    """When Metal does not take a command buffer, the call raises, the launches collected before are named, and the
    stream goes on."""
    from metal_standin.command_buffers import CommandBuffer

    x = room.new(1)
    room.standin.hold()
    for _ in range(BUSY_COUNT):
        room.affine(x, 1, 10, 1)
    collected = [room.affine(x, 1, 10, 2) for _ in range(3)]

    def refuse(self):
        raise OSError("scripted")

    with monkeypatch.context() as patch:
        patch.setattr(CommandBuffer, "do_commit", refuse)
        with pytest.raises(OSError, match="scripted"):
            room.driver.query_stream(0)
    fault = fault_of(lambda: room.affine(x, 1, 1, 1))
    assert fault.dropped == tuple(collected)
    room.affine(x, 1, 10, 3)
    room.standin.release()
    assert room.words(x, 1) == [1113]
