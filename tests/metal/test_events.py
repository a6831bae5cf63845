"""Events over the stand-in: they order streams, are reached or not, and tell times."""

from __future__ import annotations

import pytest
from metal_room import Room, opened
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT
from metrale_gpu_runtime.errors import LimitExceeded, NotSupported

__all__ = ["metal_standin"]


@pytest.fixture
def room(metal_standin: MetalStandIn):
    with opened(metal_standin) as room:
        yield room


def test_an_event_orders_two_streams(room: Room):
    """Work behind a wait sees what was queued before the recording on the other stream, which was not committed yet."""
    x, event, other = room.new(1), room.driver.create_event(), room.driver.create_stream()
    room.standin.hold()
    for plus in range(BUSY_COUNT + 2):
        room.affine(x, 1, 10, plus)
    room.driver.record_event(event, 0)
    room.driver.wait_event(other, event)
    room.affine(x, 1, 3, 5, stream=other)
    assert room.driver.query_stream(other) is False
    room.standin.release()
    expected = 1
    for plus in range(BUSY_COUNT + 2):
        expected = expected * 10 + plus
    assert room.words(x, 1, stream=other) == [expected * 3 + 5]


def test_a_long_chain_of_streams_that_wait_for_each_other_ends(room: Room):
    """Two streams that wait for each other's last launch in turn, hundreds of times, run in that order."""
    x, event, streams = room.new(0), room.driver.create_event(), (0, room.driver.create_stream())
    expected = 0
    for number in range(400):
        here, there = streams[number % 2], streams[1 - number % 2]
        room.affine(x, 1, 3, number, stream=here)
        expected = (expected * 3 + number) % 2**32
        room.driver.record_event(event, here)
        room.driver.wait_event(there, event)
    assert room.words(x, 1, stream=streams[0]) == [expected]


def test_a_wait_that_nothing_follows_is_waited_for(room: Room):
    """A stream with nothing but a wait is not idle until the event is reached, and its synchronisation lasts as long."""
    x, event, other = room.new(1), room.driver.create_event(), room.driver.create_stream()
    room.standin.hold()
    room.affine(x, 1, 10, 0)
    room.driver.record_event(event, 0)
    room.driver.wait_event(other, event)
    assert room.driver.query_stream(other) is False
    room.standin.release()
    room.driver.synchronize(other)
    assert room.driver.query_event(event) is True


def test_a_wait_for_what_is_reached_or_for_oneself_sends_nothing(room: Room):
    """Waiting for an event of the same stream, or for one that was reached, costs no command buffer."""
    x, event, other = room.new(1), room.driver.create_event(), room.driver.create_stream()
    room.affine(x, 1, 10, 0)
    room.driver.record_event(event, 0)
    room.driver.wait_event(0, event)
    room.driver.synchronize_event(event)
    before = room.standin.sent()
    room.driver.wait_event(other, event)
    room.driver.record_event(event, other)
    room.driver.wait_event(0, event)
    assert room.standin.sent() == before


def test_an_event_recorded_anew_does_not_release_those_who_wait_for_the_old_recording(room: Room):
    """A wait is for the recording that was there when it was queued, wherever the event is recorded afterwards."""
    x, event = room.new(1), room.driver.create_event()
    second, third = room.driver.create_stream(), room.driver.create_stream()
    y = room.new(0)
    room.standin.hold()
    room.affine(x, 1, 10, 4)
    room.driver.record_event(event, 0)
    room.driver.wait_event(third, event)
    room.driver.copy_d2d(y, x, 4, third)
    room.driver.record_event(event, second)
    assert room.driver.query_event(event) is True, "the second stream has nothing to do"
    room.standin.release()
    assert room.words(y, 1, stream=third) == [14]


def test_events_are_reached_when_the_work_before_them_is_done(room: Room):
    """query_event is False while work before the recording has not run, and work behind it does not matter."""
    x, event = room.new(1), room.driver.create_event()
    room.driver.record_event(event, 0)
    assert room.driver.query_event(event) is True
    room.standin.hold()
    room.affine(x, 1, 10, 0)
    room.driver.record_event(event, 0)
    room.affine(x, 1, 10, 1)
    assert room.driver.query_event(event) is False
    room.standin.release(1)
    room.driver.synchronize_event(event)
    assert room.driver.query_event(event) is True
    assert room.driver.query_stream(0) is False


def test_elapsed_time_is_the_gpus(room: Room, monkeypatch):
    """Between two events lies the time between the ends of the command buffers that they mark (GPUEndTime)."""
    from metal_standin.command_buffers import CommandBuffer

    ends = iter([10.25, 10.5])
    monkeypatch.setattr(CommandBuffer, "do_GPUEndTime", lambda self: next(ends))
    x = room.new(1)
    start, end = room.driver.create_event(), room.driver.create_event()
    room.standin.hold()
    room.affine(x, 1, 10, 0)
    room.driver.record_event(start, 0)
    room.affine(x, 1, 10, 0)
    room.driver.record_event(end, 0)
    room.standin.release()
    room.driver.synchronize(0)
    assert room.driver.elapsed_ms(start, end) == 250
    assert room.driver.elapsed_ms(start, start) == 0


def test_an_event_of_an_idle_stream_is_now(room: Room):
    """Recorded on an idle stream an event is reached at that moment, on the clock of the GPU's times."""
    x = room.new(1)
    start, end, late = (room.driver.create_event() for _ in range(3))
    room.driver.record_event(start, 0)
    room.affine(x, 1, 10, 0)
    room.driver.record_event(end, 0)
    room.driver.synchronize(0)
    room.driver.record_event(late, 0)
    assert 0 < room.driver.elapsed_ms(start, end) < 60_000
    assert 0 <= room.driver.elapsed_ms(end, late) < 60_000


def test_events_without_timing_have_no_time(room: Room):
    """Elapsed time of an event that was made without timing is NotSupported."""
    timed, untimed = room.driver.create_event(), room.driver.create_event(timing=False)
    for event in (timed, untimed):
        room.driver.record_event(event, 0)
    with pytest.raises(NotSupported, match="without timing"):
        room.driver.elapsed_ms(timed, untimed)


def test_a_priority_is_refused(room: Room):
    """Command queues of Metal have no priorities, so a stream is refused one."""
    with pytest.raises(LimitExceeded, match="no priorities") as info:
        room.driver.create_stream(-2)
    assert (info.value.asked, info.value.limit) == (-2, 0)
