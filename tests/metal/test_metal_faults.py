"""Work that fails, over the stand-in: who is blamed, what did not run, who is told, what goes on."""

from __future__ import annotations

import struct
import threading

import pytest
from metal_room import Room, fault_of, opened
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT
from metrale_gpu_runtime.errors import DriverFault

__all__ = ["metal_standin"]


@pytest.fixture
def room(metal_standin: MetalStandIn):
    with opened(metal_standin) as room:
        yield room


def test_a_fault_names_its_launch_and_those_behind_it(room: Room):
    """In whatever command buffers they lie: the launch at fault is named, those behind it did not run, those before it
    did."""
    x, place = room.new(1), room.new(0, 0)
    room.standin.hold()
    for _ in range(BUSY_COUNT):
        room.affine(x, 1, 10, 1)
    before = room.affine(x, 1, 10, 2)
    culprit = room.stray(place)
    behind = [room.affine(x, 1, 10, 3) for _ in range(70)]
    room.standin.release()
    fault = fault_of(lambda: room.driver.synchronize(0))
    assert fault.code_name == "MTLCommandBufferErrorPageFault"
    assert (fault.launch, fault.dropped, fault.context_lost) == (culprit, tuple(behind), False)
    assert before not in fault.dropped
    assert room.words(x, 1) == [int("1" + "1" * BUSY_COUNT + "2")]


def test_a_fault_is_told_once_and_the_stream_goes_on(room: Room):
    """The first call that finds a fault raises it, and no other; then the stream works, on a queue of its own."""
    x, place = room.new(1), room.new(0, 0)
    room.stray(place)
    fault_of(lambda: room.driver.synchronize(0))
    room.driver.synchronize(0)
    assert room.driver.query_stream(0) is True
    room.affine(x, 1, 10, 7)
    assert room.words(x, 1) == [17]


@pytest.mark.parametrize(
    "finder",
    ["launch", "copy_h2d", "copy_d2h", "copy_d2d", "memset", "query_stream", "query_event", "synchronize_event"],
)
def test_whatever_comes_next_finds_the_fault(room: Room, finder):
    """A fault is found by the next call on its stream or on an event behind it; what that should queue is not queued."""
    x, place, event = room.new(1), room.new(0, 0), room.driver.create_event()
    culprit = room.stray(place)
    room.driver.record_event(event, 0)
    room.standin.wait_idle()
    calls = {
        "launch": lambda: room.affine(x, 1, 10, 7),
        "copy_h2d": lambda: room.write(x, struct.pack("<I", 5)),
        "copy_d2h": lambda: room.driver.copy_d2h(memoryview(bytearray(4)), x, 0),
        "copy_d2d": lambda: room.driver.copy_d2d(x, place, 4, 0),
        "memset": lambda: room.driver.memset(x, 3, 4, 1, 0),
        "query_stream": lambda: room.driver.query_stream(0),
        "query_event": lambda: room.driver.query_event(event),
        "synchronize_event": lambda: room.driver.synchronize_event(event),
    }
    assert fault_of(calls[finder]).launch == culprit
    assert room.words(x, 1) == [1]


def test_the_thread_that_commits_finds_faults_and_drops_the_rest(room: Room):
    """A fault found while collected work waits is kept for the next call, and the collected work never runs."""
    x, place = room.new(1), room.new(0, 0)
    stream, found = room.driver._streams[0], threading.Event()
    fail = stream._fail

    def noted(*arguments):
        fail(*arguments)
        found.set()

    stream._fail = noted
    room.standin.hold()
    culprit = room.stray(place)
    behind = [room.affine(x, 1, 10, 1) for _ in range(BUSY_COUNT + 3)]
    committed = len(room.committed())
    room.standin.release()
    assert found.wait(20), "the thread finds it, without a call on the stream"
    fault = fault_of(lambda: room.affine(x, 1, 10, 2))
    assert (fault.launch, fault.dropped) == (culprit, tuple(behind))
    assert len(room.committed()) == committed
    assert room.words(x, 1) == [1]


def test_other_streams_are_not_touched(room: Room):
    """A fault on one stream is neither told on another one nor in the way of its work."""
    x, place, other = room.new(1), room.new(0, 0), room.driver.create_stream()
    room.standin.hold()
    room.stray(place)
    room.affine(x, 1, 10, 7, stream=other)
    room.standin.release()
    assert room.words(x, 1, stream=other) == [17]
    room.driver.synchronize(other)
    fault_of(lambda: room.driver.synchronize(0))


def test_a_stream_that_waits_for_a_failed_one_is_released_and_told(room: Room):
    """The wait of a stream for work that failed ends, and the stream tells the fault: launches that had been committed
    behind the wait as run on what was left, those that had not as not run."""
    x, place, event, other = room.new(1), room.new(0, 0), room.driver.create_event(), room.driver.create_stream()
    room.standin.hold()
    culprit = room.stray(place)
    room.driver.record_event(event, 0)
    room.driver.wait_event(other, event)
    spoilt = [room.affine(x, 1, 10, 7, stream=other) for _ in range(BUSY_COUNT)]
    dropped = [room.affine(x, 1, 10, 8, stream=other) for _ in range(3)]
    last = room.driver._streams[0]._in_flight[-1]
    room.standin.release()
    # The GPU waits for a signal that never comes, until somebody reads how the first stream's work ended.
    last.wait_natively()
    fault = fault_of(lambda: room.driver.synchronize(other))
    assert (fault.code_name, fault.launch) == ("MTLCommandBufferErrorPageFault", culprit)
    assert fault.message.endswith(f": {', '.join(map(str, spoilt))}")
    assert fault.dropped == tuple(dropped)
    assert fault_of(lambda: room.driver.synchronize(0)).launch == culprit
    room.driver.synchronize(other)
    room.affine(x, 1, 0, 5, stream=other)
    assert room.words(x, 1, stream=other) == [5]


@pytest.mark.parametrize("way", ["synchronize", "query_stream", "synchronize_event", "query_event"])
def test_whoever_waits_for_a_failed_stream_is_told_in_any_way(room: Room, way):
    """Nobody need ask the failed stream: asking the one that waits for it is enough, by its events as well."""
    x, place, event, other = room.new(1), room.new(0, 0), room.driver.create_event(), room.driver.create_stream()
    behind = room.driver.create_event()
    room.standin.hold()
    culprit = room.stray(place)
    room.driver.record_event(event, 0)
    room.driver.wait_event(other, event)
    room.affine(x, 1, 10, 7, stream=other)
    room.driver.record_event(behind, other)
    room.standin.release()

    def ask() -> None:
        if way == "synchronize":
            room.driver.synchronize(other)
        elif way == "synchronize_event":
            room.driver.synchronize_event(behind)
        else:
            world = room.standin.world
            for _ in range(1000):
                if room.driver.query_stream(other) if way == "query_stream" else room.driver.query_event(behind):
                    return
                with world.change:
                    world.change.wait(timeout=0.01)

    assert fault_of(ask).launch == culprit


def test_a_chain_of_waits_carries_the_fault(room: Room):
    """A stream that waits for one that waits for a failed one is told as well, though the one between did not fail."""
    x, place = room.new(1), room.new(0, 0)
    second, third = room.driver.create_stream(), room.driver.create_stream()
    first_event, second_event = room.driver.create_event(), room.driver.create_event()
    room.standin.hold()
    culprit = room.stray(place)
    room.driver.record_event(first_event, 0)
    room.driver.wait_event(second, first_event)
    # The event lies behind a command buffer that does not wait itself, only the one before it does.
    for _ in range(BUSY_COUNT):
        room.affine(x, 1, 10, 7, stream=second)
    room.driver.record_event(second_event, second)
    room.driver.wait_event(third, second_event)
    room.affine(x, 1, 10, 8, stream=third)
    room.standin.release()
    for stream in (third, second, 0):
        assert fault_of(lambda stream=stream: room.driver.synchronize(stream)).launch == culprit


def test_collected_work_behind_a_wait_that_failed_is_dropped(room: Room):
    """A command buffer that waits for work of another stream is not committed once that work is known to have failed."""
    x, place, event, other = room.new(1), room.new(0, 0), room.driver.create_event(), room.driver.create_stream()
    let_fail, let_go = room.hold_stream(0), room.hold_stream(other)
    for _ in range(BUSY_COUNT - 1):
        room.affine(x, 1, 10, 7, stream=other)
    culprit = room.stray(place)
    room.driver.record_event(event, 0)
    last = room.driver._streams[0]._in_flight[-1]
    room.driver.wait_event(other, event)
    dropped = [room.affine(x, 1, 10, 8, stream=other) for _ in range(3)]
    let_fail()
    last.wait_natively()
    fault = fault_of(lambda: room.driver.query_stream(other))
    assert (fault.launch, fault.dropped) == (culprit, tuple(dropped))
    assert "ran behind it" not in fault.message
    let_go()
    assert room.words(x, 1, stream=other) == [int("1" + "7" * (BUSY_COUNT - 1))]


def test_waiting_for_what_is_known_to_have_failed_tells_it(room: Room):
    """A wait for an event behind a failure that nobody was told yet makes it the waiting stream's fault, told once."""
    x, place, event, other = room.new(1), room.new(0, 0), room.driver.create_event(), room.driver.create_stream()
    culprit = room.stray(place)
    room.driver.record_event(event, 0)
    room.standin.wait_idle()
    room.driver.wait_event(other, event)
    assert fault_of(lambda: room.affine(x, 1, 10, 7, stream=other)).launch == culprit
    room.driver.synchronize(0)
    room.driver.wait_event(other, event)
    room.affine(x, 1, 10, 7, stream=other)
    assert room.words(x, 1, stream=other) == [17]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (1, "MTLCommandBufferErrorInternal"),
        (2, "MTLCommandBufferErrorTimeout"),
        (8, "MTLCommandBufferErrorOutOfMemory"),
        (9, "MTLCommandBufferErrorInvalidResource"),
        (12, "MTLCommandBufferErrorStackOverflow"),
        (99, "MTLCommandBufferError 99"),
    ],
)
def test_errors_keep_their_names(room: Room, code, name):
    """Every error of a command buffer is told by the name that Metal has for it, with Metal's words."""
    x = room.new(1)
    room.standin.fail_next("command buffer", code, encoder=0, text="scripted words")
    launch = room.affine(x, 1, 10, 7)
    fault = fault_of(lambda: room.driver.synchronize(0))
    assert (fault.code_name, fault.launch, fault.context_lost) == (name, launch, False)
    assert "scripted words" in fault.message


def test_a_removed_device_is_lost(room: Room):
    """A device that was taken away takes the context with it."""
    x = room.new(1)
    room.standin.fail_next("command buffer", 11)
    room.affine(x, 1, 10, 7)
    assert fault_of(lambda: room.driver.synchronize(0)).context_lost is True


def test_a_failure_that_names_no_encoder_blames_nobody_in_particular(room: Room):
    """Of several launches in a command buffer none is blamed when Metal does not say which; all are named as not run."""
    x = room.new(1)
    room.standin.hold()
    for _ in range(BUSY_COUNT):
        room.affine(x, 1, 10, 1)
    collected = [room.affine(x, 1, 10, 2) for _ in range(3)]
    room.standin.fail_next("command buffer", 2, nth=BUSY_COUNT + 1)
    assert room.driver.query_stream(0) is False
    room.standin.release()
    fault = fault_of(lambda: room.driver.synchronize(0))
    assert (fault.launch, fault.dropped) == (None, tuple(collected))


def test_a_copy_that_fails_is_named(room: Room):
    """When not a launch but a copy of the driver's is at fault, the message says which."""
    x, y = room.new(1, 2), room.new(3, 4)
    room.standin.fail_next("command buffer", 3, encoder=0)
    room.driver.copy_d2d(x, y, 8, 0)
    fault = fault_of(lambda: room.driver.synchronize(0))
    assert fault.launch is None
    assert "copy_d2d of 8 bytes" in fault.message


def test_two_faults_of_a_stream_are_told_one_after_the_other(room: Room):
    """A second fault, of work queued after the first one was told, is told with its own launch."""
    place = room.new(0, 0)
    culprits = []
    for _ in range(3):
        culprits.append(room.stray(place))
        assert fault_of(lambda: room.driver.synchronize(0)).launch == culprits[-1]
    assert len(set(culprits)) == 3


def test_closing_with_a_fault_that_nobody_asked_for_is_quiet(metal_standin: MetalStandIn):
    """A driver closes without a word after a fault that nobody waited for."""
    with opened(metal_standin) as room:
        place = room.new(0, 0)
        room.stray(place)
        metal_standin.wait_idle()
    assert metal_standin.live() == {}


def test_a_command_buffer_that_cannot_be_read_is_a_fault(room: Room, monkeypatch):
    """When Metal cannot even be asked how a command buffer ended, that is told as a fault of its launch."""
    from metal_standin.command_buffers import CommandBuffer

    x = room.new(1)
    launch = room.affine(x, 1, 10, 7)
    room.standin.wait_idle()

    def refuse(self):
        raise OSError("scripted")

    with monkeypatch.context() as patch:
        patch.setattr(CommandBuffer, "do_GPUEndTime", refuse)
        fault = fault_of(lambda: room.driver.synchronize(0))
    assert isinstance(fault, DriverFault)
    assert fault.launch == launch
    assert "scripted" in fault.message
    room.affine(x, 1, 10, 7)
    room.driver.synchronize(0)


def test_a_stream_that_waits_for_work_that_cannot_be_read_is_released(room: Room, monkeypatch):
    """Whoever waits for a command buffer that failed is let go even when Metal cannot say how it ended."""
    from metal_standin.command_buffers import CommandBuffer

    x, place, event, other = room.new(1), room.new(0, 0), room.driver.create_event(), room.driver.create_stream()
    room.standin.hold()
    culprit = room.stray(place)
    room.driver.record_event(event, 0)
    room.driver.wait_event(other, event)
    room.affine(x, 1, 10, 7, stream=other)
    last = room.driver._streams[0]._in_flight[-1]
    room.standin.release()
    last.wait_natively()

    def refuse(self):
        raise OSError("scripted")

    with monkeypatch.context() as patch:
        patch.setattr(CommandBuffer, "do_error", refuse)
        fault = fault_of(lambda: room.driver.query_stream(0))
    assert fault.launch == culprit
    assert "scripted" in fault.message
    # Its wait is over: it ends, instead of waiting for a signal that never comes.
    fault_of(lambda: room.driver.synchronize(other))
    assert room.words(x, 1, stream=other) == [17]
