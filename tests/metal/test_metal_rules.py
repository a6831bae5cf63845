"""Rules of Metal that the other files here do not name, and that every rule of the table has its lines and its tests."""

from __future__ import annotations

import ast
import ctypes
import struct
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from metal_room import AFFINE, FOLLOW, LOCAL, POINTER, VALUE, Room, fault_of, layout, opened
from metal_rules import RULES, Break
from metal_standin import ownership
from metal_standin.compute_encoders import ComputeEncoder
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from metal_standin.queues import CommandQueue

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import CodeImage, MemoryKind
from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT, MetalStream
from metrale_gpu_runtime.errors import ArgumentSizeError, DriverError, InvalidPointer
from metrale_gpu_runtime.testing.conformance import cases

__all__ = ["metal_standin"]

TESTS = Path(__file__).parents[1]
PACKAGE = Path(mg.__file__).parent

ENCODER = "MTLComputeCommandEncoder"

BYTES = """
#include <metal_stdlib>
using namespace metal;

kernel void last_byte(device uint* out [[buffer(0)]], constant uchar* bytes [[buffer(1)]],
                      constant uint& count [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    if (at == 0) {
        out[0] = bytes[count - 1];
    }
}
"""


@pytest.fixture
def room(metal_standin: MetalStandIn):
    with opened(metal_standin) as room:
        yield room


# ------------------------------------------------ the table


@cache
def named_in(path: str) -> frozenset[str]:
    """The names of a file's test functions."""
    tree = ast.parse((TESTS / path).read_text())
    return frozenset(
        each.name for each in tree.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    )


def is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    function, _, law = name.partition("[")
    return function in named_in(path) and (not law or law.rstrip("]") in {str(case) for case in cases()})


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_its_tests(rule: str) -> None:
    """The tests that miss a line are there, and each line of the table stands in the source exactly once."""
    for each in RULES[rule]:
        assert each.tests
        assert [test for test in each.tests if not is_there(test)] == []
        for file, kept_by, broken in each.edits:
            assert kept_by != broken
            assert (PACKAGE / file).read_text().count(kept_by) == 1, (file, kept_by)


def test_the_rules_are_those_that_were_asked_for() -> None:
    """No rule is listed without a line, and none twice."""
    breaks: list[Break] = [each for rule in RULES.values() for each in rule]
    assert all(RULES.values())
    assert len(set(breaks)) == len(breaks) > 90


# ------------------------------------------------ sizes


@pytest.mark.parametrize("nbytes", [4095, 4096, 4097, 5003])
def test_4096_bytes_go_inline_and_4097_through_a_buffer(room: Room, nbytes: int):
    """Up to 4096 bytes a value is set in the encoder; one byte more and it is a buffer, and both arrive."""
    module = room.driver.load_module(CodeImage("bytes", "msl", BYTES.encode()))
    kernel = room.driver.function(module, "last_byte")
    target = room.driver.prepare_launch(kernel, layout((POINTER, 8), (VALUE, nbytes), (VALUE, 4)))
    out = room.new(0)
    value = bytes(at % 250 for at in range(nbytes))
    padding = bytes(-(8 + nbytes) % 4)
    before = room.standin.sent()
    target.submit(struct.pack("<Q", out) + value + padding + struct.pack("<I", nbytes), mg.Geometry(), 0, 1)
    sent = room.standin.sent() - before
    assert sent[(ENCODER, "setBytes:length:atIndex:")] == (2 if nbytes <= 4096 else 1)
    assert sent[(ENCODER, "setBuffer:offset:atIndex:")] == (1 if nbytes <= 4096 else 2)
    assert room.words(out, 1) == [(nbytes - 1) % 250]


def test_a_local_argument_of_no_bytes_sends_no_length(room: Room):
    """Threadgroup memory of 0 bytes ends the process under API validation: nothing is said of it."""
    x = room.new(3)
    before = room.standin.sent()
    arguments = layout((POINTER, 8), (VALUE, 12), (LOCAL, 0))
    room.launch("affine", arguments, struct.pack("<QIII", x, 1, 5, 2))
    assert (room.standin.sent() - before)[(ENCODER, "setThreadgroupMemoryLength:atIndex:")] == 0
    assert room.words(x, 1) == [17]


def test_a_value_of_no_bytes_never_reaches_metal(metal_standin: MetalStandIn):
    """A value of 0 bytes is refused with the argument's number, in every form of launching, before an encoder is open."""
    with mg.open_backend("metal") as gpu:
        kernel = gpu.load_module("bytes", source=BYTES)["last_byte"]
        out = gpu.array(np.array([7], dtype=np.uint32))
        launch = mg.KernelLaunch(gpu, kernel).arg_ptr(out).arg_bytes(b"").arg_u32(1)
        before = metal_standin.sent()
        for form in (launch.launch, launch.prepare):
            with pytest.raises(ArgumentSizeError, match=r"last_byte: argument 1 .*0 bytes") as info:
                form()
            assert info.value.index == 1
        assert metal_standin.sent() == before
        mg.KernelLaunch(gpu, kernel).arg_ptr(out).arg_bytes(b"\x05").arg_u32(1).launch()
        assert out.numpy().tolist() == [5]


# ------------------------------------------------ what lives how long


@pytest.mark.parametrize("is_pinned", [False, True])
def test_memory_that_is_freed_lives_until_queued_work_is_done(room: Room, is_pinned: bool):
    """The driver lets go of a buffer at once; the command buffers that use it keep it, and let go when they are done."""
    kind = MemoryKind.PINNED if is_pinned else MemoryKind.DEVICE
    y = room.new(0, 0, 0)
    alive = room.standin.live()["MTLBuffer"]
    address = room.driver.alloc(12, kind)
    x = room.driver.map_host(address, 12) if is_pinned else address
    room.write(x, struct.pack("<III", 4, 5, 6))
    room.driver.synchronize(0)
    room.standin.hold()
    room.affine(x, 3, 10, 1)
    room.driver.copy_d2d(y, x, 12, 0)
    room.driver.free(address, kind)
    assert len(room.standin.live()["MTLBuffer"]) == len(alive) + 1
    room.standin.release()
    assert room.words(y, 3) == [41, 51, 61]
    room.driver._temporaries.drain()
    assert len(room.standin.live()["MTLBuffer"]) == len(alive)


def test_freed_memory_is_not_bound(room: Room):
    """The address of freed memory is refused, its first byte too, and leads to no buffer that is gone."""
    x, y = room.new(1, 2, 3), room.new(9)
    room.driver.free(x)
    for place in (x, x + 4):
        with pytest.raises(InvalidPointer, match="lies in no live allocation"):
            room.affine(place, 1, 10, 1)
    room.affine(y, 1, 10, 1)
    assert room.words(y, 1) == [91]


@pytest.mark.parametrize("has_failed", [False, True])
def test_queues_and_events_of_streams_that_are_gone_are_gone(room: Room, has_failed: bool):
    """A destroyed stream leaves neither its queue nor its event behind, nor the queue that a fault made it leave."""
    x, place = room.new(1), room.new(0, 0)
    room.target("affine", AFFINE), room.target("follow", FOLLOW)
    room.driver.synchronize(0)
    before = room.standin.live()
    for plus in range(5):
        stream = room.driver.create_stream()
        if has_failed:
            room.stray(place, stream=stream)
            fault_of(lambda stream=stream: room.driver.synchronize(stream))
        room.affine(x, 1, 2, plus, stream=stream)
        room.driver.synchronize(stream)
        room.driver.destroy_stream(stream)
    room.driver._temporaries.drain()
    assert room.standin.live() == before
    assert [before[name] for name in ("MTLCommandQueue", "MTLSharedEvent")] == [[1], [1]]


def test_a_refused_command_buffer_leaves_no_pool_behind(room: Room, monkeypatch: pytest.MonkeyPatch):
    """When Metal gives no command buffer the pool of the submission ends with it, and the next one goes well."""
    x = room.new(1)
    room.driver.synchronize(0)
    with monkeypatch.context() as patch:
        patch.setattr(CommandQueue, "do_commandBufferWithDescriptor_", lambda self, descriptor: None)
        with pytest.raises(DriverError, match=r"gives no command buffer \(commandBufferWithDescriptor:\)"):
            room.affine(x, 1, 10, 1)
    assert ownership._pools.stack == []
    room.affine(x, 1, 10, 2)
    assert room.words(x, 1) == [12]


# ------------------------------------------------ order


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread commits what was collected."""
    monkeypatch.setattr(MetalStream, "_watch", lambda self: None)


def test_the_host_does_not_copy_past_what_is_only_collected(room: Room, unwatched: None):
    """A launch that waits to be committed, behind a GPU that has nothing left to do, comes before a copy all the same."""
    x = room.new(1)
    room.standin.hold()
    for _ in range(BUSY_COUNT + 1):
        room.affine(x, 1, 10, 2)
    room.standin.release()
    room.standin.wait_idle()
    room.write(x, struct.pack("<I", 5))
    room.driver.synchronize(0)
    assert room.words(x, 1) == [5]


def test_a_wait_is_for_what_is_collected_too(room: Room, unwatched: None):
    """synchronize commits what was only collected, and comes back when that has run."""
    x = room.new(1)
    since = len(room.committed())
    room.standin.hold(until_awaited=True)
    for plus in range(BUSY_COUNT + 3):
        room.affine(x, 1, 10, plus)
    room.driver.synchronize(0)
    assert [len(labels) for labels in room.committed(since)] == [1] * BUSY_COUNT + [3]
    assert not room.driver._streams[0]._in_flight
    assert room.words(x, 1) == [int("1" + "".join(map(str, range(BUSY_COUNT + 3))))]


def test_the_tail_is_committed_once_the_gpu_is_about_to_run_out(room: Room):
    """Operations that are collected are somebody's business: when the GPU has less than BUSY_COUNT to do they are
    committed, without any further call on the stream."""
    x = room.new(1)
    since = len(room.committed())
    room.standin.hold()
    for _ in range(BUSY_COUNT + 1):
        room.affine(x, 1, 10, 2)
    stream = room.driver._streams[0]
    assert stream._thread is not None
    assert stream._is_watched
    room.standin.release(1)
    with room.standin.world.change:
        reached = since + BUSY_COUNT + 1
        assert room.standin.world.change.wait_for(lambda: len(room.standin.world.committed) >= reached, timeout=5)
    room.standin.release()
    assert room.words(x, 1) == [int("1" + "2" * (BUSY_COUNT + 1))]


def test_a_stream_waits_by_a_message_to_the_gpu(room: Room):
    """What follows a wait is in a command buffer that begins with it, for the value that the other stream's end has."""
    x, event, other = room.new(1), room.driver.create_event(), room.driver.create_stream()
    room.standin.hold()
    room.affine(x, 1, 10, 1)
    room.driver.record_event(event, 0)
    awaited = room.driver._streams[0]._value
    room.driver.wait_event(other, event)
    room.affine(x, 1, 10, 2, stream=other)
    ours, theirs = (each.operations for each in room.standin.committed()[-2:])
    assert ours == ("dispatch affine", f"signal {awaited}")
    assert theirs == (f"wait {awaited}", "dispatch affine", "signal 1")
    room.standin.release()
    assert room.words(x, 1, stream=other) == [112]


def test_a_copy_waits_for_what_is_yet_to_write_its_source(room: Room):
    """Bytes that were read back behind queued work and are copied on are those that the work left."""
    x, y, other = room.new(4), room.new(0), room.driver.create_stream()
    host = bytearray(4)
    room.standin.hold(until_awaited=True)
    room.affine(x, 1, 10, 1)
    room.driver.copy_d2h(memoryview(host), x, 0)
    # Something runs there, so that the host does not copy by itself.
    room.affine(y, 1, 1, 1, stream=other)
    room.driver.copy_h2d(y, memoryview(host), other)
    room.standin.release()
    assert room.words(y, 1, stream=other) == [41]


@pytest.mark.parametrize("direction", ["from", "to"])
def test_pinned_memory_is_copied_when_the_copys_turn_comes(room: Room, direction: str):
    """A copy between pinned and device memory sees what launches queued before it wrote there, and no later ones."""
    x, y = room.new(3), room.new(0)
    host = room.driver.alloc(4, MemoryKind.PINNED)
    pinned = room.driver.map_host(host, 4)
    word = ctypes.c_uint32.from_address(host)
    word.value = 2
    view = memoryview((ctypes.c_uint8 * 4).from_address(host))
    room.standin.hold()
    # So that all that follows is in one command buffer.
    for _ in range(BUSY_COUNT):
        room.affine(y, 1, 1, 1)
    if direction == "from":
        room.affine(pinned, 1, 10, 1)
        room.driver.copy_h2d(x, view, 0)
        room.affine(pinned, 1, 0, 77)
        room.standin.release()
        assert room.words(x, 1) == [21]
    else:
        room.affine(x, 1, 10, 1)
        room.driver.copy_d2h(view, x, 0)
        room.affine(pinned, 1, 10, 5)
        room.standin.release()
        room.driver.synchronize(0)
    assert word.value == (77 if direction == "from" else 315)


# ------------------------------------------------ failures


def test_the_host_signals_for_work_that_failed(room: Room):
    """The GPU gives no signal for a command buffer that failed; the host does when it reads how it ended."""
    place = room.new(0, 0)
    room.driver.synchronize(0)
    culprit = room.stray(place)
    room.standin.wait_idle()
    stream = room.driver._streams[0]
    event, awaited = stream._event, stream._value
    assert event.signaledValue() < awaited
    assert fault_of(lambda: room.driver.query_stream(0)).launch == culprit
    assert event.signaledValue() == awaited


def broken(*_: object) -> None:
    raise ValueError("scripted")


def test_a_launch_that_could_not_be_encoded_is_not_counted(room: Room, monkeypatch: pytest.MonkeyPatch):
    """An operation that raised while it was encoded is none of the stream's: it has nothing to commit."""
    x = room.new(1)
    room.driver.synchronize(0)
    since = len(room.committed())
    with monkeypatch.context() as patch:
        patch.setattr(ComputeEncoder, "do_setComputePipelineState_", broken)
        with pytest.raises(ValueError, match="scripted"):
            room.affine(x, 1, 10, 1)
    assert room.driver.query_stream(0) is True
    assert room.committed(since) == []


def test_a_launch_that_could_not_be_encoded_leaves_the_stream_idle(room: Room, monkeypatch: pytest.MonkeyPatch):
    """A command buffer whose only operation failed is let go, and the next copy finds an idle stream."""
    x = room.new(1)
    room.affine(x, 1, 1, 0)
    room.driver.synchronize(0)
    before = room.standin.live()
    with monkeypatch.context() as patch:
        patch.setattr(ComputeEncoder, "do_setComputePipelineState_", broken)
        with pytest.raises(ValueError, match="scripted"):
            room.affine(x, 1, 10, 1)
    assert room.standin.live() == before
    sent = room.standin.sent()
    room.write(x, struct.pack("<I", 6))
    assert room.standin.sent() == sent, "the host copies by itself"
    assert room.words(x, 1) == [6]
