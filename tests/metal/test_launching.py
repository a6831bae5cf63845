"""Launches over the stand-in: what is bound where, what is refused before an encoder is open, what a launch costs."""

from __future__ import annotations

import struct
import threading

import pytest
from metal_room import AFFINE, FOLLOW, LOCAL, POINTER, VALUE, Room, fault_of, layout, opened
from metal_standin.compute_encoders import ComputeEncoder
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT
from metrale_gpu_runtime.errors import (
    ArgumentCountError,
    ArgumentSizeError,
    InvalidPointer,
    LimitExceeded,
    OutOfDeviceMemory,
)
from metrale_gpu_runtime.geometry import Geometry

__all__ = ["metal_standin"]


@pytest.fixture
def room(metal_standin: MetalStandIn):
    with opened(metal_standin) as room:
        yield room


def test_arguments_go_to_the_buffer_indices_in_rising_order(room: Room):
    """The first argument is bound at the kernel's lowest buffer index, the next at the next one it has, gaps left."""
    out = room.new(7, 7, 7)
    value = struct.pack("<1024I", 5, *range(1022), 9)
    arguments = layout((POINTER, 8), (VALUE, 4096))
    room.launch("first_and_last", arguments, struct.pack("<Q", out) + value)
    assert room.words(out, 3) == [5, 9, 7]


def test_a_launch_runs_all_blocks_on_an_inner_pointer(room: Room):
    """A pointer inside of a buffer is bound with its offset, and every thread of every block runs once."""
    x = room.new(*range(10))
    room.affine(x + 8, 7, 10, 3)
    assert room.words(x, 10) == [0, 1, 23, 33, 43, 53, 63, 73, 83, 9]


@pytest.mark.parametrize(
    ("place", "says"),
    [
        (lambda x: 0, "null"),
        (lambda x: x + 40, "1 bytes past"),
        (lambda x: x - 1, "1 bytes before"),
        (lambda x: x + 2, "2 too many"),
    ],
    ids=["null", "one past the end", "one before", "misaligned"],
)
def test_an_argument_that_is_refused_leaves_everything_usable(room: Room, place, says):
    """A pointer that cannot be bound is refused by name before an encoder is open; what was queued and comes goes on."""
    x = room.new(*range(10))
    room.standin.hold()
    for plus in (1, 2, 3):
        room.affine(x, 10, 10, plus)
    before = room.standin.sent()
    with pytest.raises(InvalidPointer, match=says) as info:
        room.affine(place(x), 1, 1, 1)
    assert "affine: argument 0" in str(info.value)
    assert room.standin.sent() == before, "Metal was asked"
    room.affine(x, 10, 10, 4)
    room.standin.release()
    assert room.words(x, 10) == [number * 10_000 + 1234 for number in range(10)]


def test_a_buffer_too_small_for_what_the_kernel_declares_is_refused(room: Room):
    """A structure bound from memory that ends before it does would end the process under API validation."""
    out, small = room.new(0), room.new(1, 2, 3)
    arguments = layout((POINTER, 8), (POINTER, 8))
    with pytest.raises(ArgumentSizeError, match="4100") as info:
        room.launch("ends_of_large", arguments, struct.pack("<QQ", out, small))
    assert (info.value.index, info.value.given) == (1, 12)


def test_a_large_value_lives_in_a_buffer_until_its_launch_is_done(room: Room):
    """4096 bytes go inline, 4097 and more through a temporary buffer that no other launch gets before this one is done."""
    out = [room.new(0, 0), room.new(0, 0)]
    arguments = layout((POINTER, 8), (VALUE, 4100))
    temporaries = room.driver._temporaries
    room.standin.hold()
    before = room.standin.sent()
    for at, place in enumerate(out):
        value = struct.pack("<1025I", 10 + at, *[0] * 1023, 20 + at)
        room.launch("ends_of_large", arguments, struct.pack("<Q", place) + value)
    assert temporaries.live_count == 2
    assert (room.standin.sent() - before)[("MTLComputeCommandEncoder", "setBytes:length:atIndex:")] == 0
    room.standin.release()
    assert [room.words(place, 2) for place in out] == [[10, 20], [11, 21]]
    assert temporaries.live_count == 0


def test_no_temporary_buffer_leaves_everything_usable(room: Room):
    """When there is no memory for a large value its launch is refused with the size, and the next one runs."""
    out = room.new(0, 0)
    arguments = layout((POINTER, 8), (VALUE, 4100))
    room.standin.fail_next("buffer")
    with pytest.raises(OutOfDeviceMemory, match="4,100"):
        room.launch("ends_of_large", arguments, struct.pack("<Q", out) + bytes(4100))
    room.launch("ends_of_large", arguments, struct.pack("<Q", out) + struct.pack("<1025I", 3, *[0] * 1023, 4))
    assert room.words(out, 2) == [3, 4]
    assert room.driver._temporaries.live_count == 0


def test_a_tensor_map_arrives_unchanged(room: Room):
    """128 bytes by value are one inline argument, every byte as it was given."""
    out = room.new(*[0] * 33)
    value = bytes(range(100, 228))
    room.launch("copy_of_map", layout((POINTER, 8), (VALUE, 128)), struct.pack("<Q", out) + value, grid=2, block=16)
    assert struct.pack("<33I", *room.words(out, 33)) == value + bytes(4)


@pytest.fixture
def lengths(monkeypatch: pytest.MonkeyPatch):
    """The threadgroup memory lengths that are set, as (index, length)."""
    seen: list[tuple[int, int]] = []
    real = ComputeEncoder.do_setThreadgroupMemoryLength_atIndex_

    def noted(self, length, index):
        seen.append((index, length))
        real(self, length, index)

    monkeypatch.setattr(ComputeEncoder, "do_setThreadgroupMemoryLength_atIndex_", noted)
    return seen


@pytest.mark.parametrize(
    ("asked", "set_to"),
    [(0, None), (1, 16), (4, 16), (15, 16), (16, 16), (140, 144), (32760, 32768), (32768, 32768)],
)
def test_threadgroup_memory_is_rounded_up(room: Room, lengths, asked, set_to):
    """The length that is set is the next multiple of 16; none asked for sends no message."""
    x = room.new(1)
    image = struct.pack("<QIII", x, 1, 1, 1)
    room.launch("affine", AFFINE, image, shared_mem=asked)
    assert lengths == ([] if set_to is None else [(0, set_to)])
    assert room.words(x, 1) == [2]


def test_threadgroup_memory_is_checked_after_rounding(room: Room):
    """One byte over the device's limit is refused with what it was rounded to, the kernel's own memory counted."""
    x = room.new(*range(3))
    image = struct.pack("<QIII", x, 1, 1, 1)
    before = room.standin.sent()
    with pytest.raises(LimitExceeded) as info:
        room.launch("affine", AFFINE, image, shared_mem=32769)
    assert (info.value.asked, info.value.limit) == (32784, 32768)
    with pytest.raises(LimitExceeded) as info:
        room.launch("with_own_memory", layout((POINTER, 8)), image[:8], block=3, shared_mem=32768 - 1024 + 1)
    assert (info.value.asked, info.value.limit) == (32768 + 16, 32768)
    assert not any("setThreadgroup" in selector for _, selector in room.standin.sent() - before)
    room.launch("with_own_memory", layout((POINTER, 8)), image[:8], block=3, shared_mem=32768 - 1024)
    assert room.words(x, 3) == [1, 2, 3]


@pytest.mark.parametrize("way", ["two locals", "shared and a local"])
def test_local_arguments_are_the_next_threadgroup_indices(room: Room, lengths, way):
    """Local arguments take threadgroup indices in their order, behind `.shared_mem` where that is given."""
    x = room.new(*range(1, 6))
    kinds = [(POINTER, 8), (LOCAL, 20), (LOCAL, 36)] if way == "two locals" else [(POINTER, 8), (LOCAL, 36)]
    shared = 0 if way == "two locals" else 20
    room.launch("reversed", layout(*kinds), struct.pack("<Q", x), block=5, shared_mem=shared)
    assert lengths == [(0, 32), (1, 48)]
    assert room.words(x, 5) == [4005, 3004, 2003, 1002, 1]


@pytest.mark.parametrize("locals_", [(), (16,), (16, 0), (16, 16, 16)])
def test_threadgroup_parameters_without_memory_are_refused(room: Room, locals_):
    """A threadgroup parameter without a length, or a length without a parameter, is refused by name."""
    x = room.new(1)
    arguments = layout((POINTER, 8), *((LOCAL, nbytes) for nbytes in locals_))
    with pytest.raises(ArgumentCountError, match=r"reversed: .*threadgroup"):
        room.launch("reversed", arguments, struct.pack("<Q", x))
    room.affine(x, 1, 3, 4)
    assert room.words(x, 1) == [7]


def test_arguments_that_have_no_place_are_refused(room: Room):
    """Fewer or more arguments than the kernel has buffer parameters are refused, and more than there are indices."""
    with pytest.raises(ArgumentCountError, match=r"x \[\[buffer\(0\)\]\], by \[\[buffer\(1\)\]\]"):
        room.target("affine", layout((POINTER, 8)))
    with pytest.raises(ArgumentCountError, match="3 pointers and values"):
        room.target("affine", layout((POINTER, 8), (VALUE, 12), (VALUE, 4)))
    with pytest.raises(LimitExceeded) as info:
        room.target("affine", layout(*[(VALUE, 4)] * 32))
    assert (info.value.asked, info.value.limit) == (32, 31)


def test_only_what_is_bound_or_named_is_resident(room: Room):
    """A kernel reaches memory behind an address in memory when the launch names it, and faults when it does not."""
    target, other = room.new(0, 0, 0), room.new(0)
    place = room.new(*struct.unpack("<II", struct.pack("<Q", target + 4)))
    image = struct.pack("<QI", place, 77)
    before = room.standin.sent()
    room.launch("follow", FOLLOW, image, uses=(target + 8, target, other))
    used = (room.standin.sent() - before)[("MTLComputeCommandEncoder", "useResource:usage:")]
    assert used == 2, "one message for each buffer"
    assert room.words(target, 3) == [0, 77, 0]
    unnamed = room.launch("follow", FOLLOW, image, uses=(other,))
    fault = fault_of(lambda: room.driver.synchronize(0))
    assert (fault.code_name, fault.launch) == ("MTLCommandBufferErrorPageFault", unnamed)


def test_named_memory_that_is_none_is_refused(room: Room):
    """`.uses` of an address that lies in no live allocation is refused like an argument."""
    place = room.new(0, 0)
    with pytest.raises(InvalidPointer, match="follow: uses"):
        room.launch("follow", FOLLOW, struct.pack("<QI", place, 77), uses=(place + 8,))


def messages_of_a_launch(room: Room, x: int) -> list[tuple[str, str]]:
    room.affine(x, 1, 1, 1)
    room.driver.synchronize(0)
    room.standin.clear_calls()
    room.affine(x, 1, 1, 1)
    return [call for call in room.standin.calls() if call[0] != "MTLBuffer"]


def test_a_launch_is_these_messages(room: Room):
    """A launch sends one message for each thing that Metal has to be told, and a commit with its signal."""
    x = room.new(1)
    encoder = "MTLComputeCommandEncoder"
    assert messages_of_a_launch(room, x) == [
        ("MTLCommandQueue", "commandBufferWithDescriptor:"),
        ("MTLCommandBuffer", "computeCommandEncoder"),
        (encoder, "setLabel:"),
        (encoder, "setComputePipelineState:"),
        (encoder, "setBuffer:offset:atIndex:"),
        (encoder, "setBytes:length:atIndex:"),
        (encoder, "dispatchThreadgroups:threadsPerThreadgroup:"),
        (encoder, "endEncoding"),
        ("MTLCommandBuffer", "encodeSignalEvent:value:"),
        ("MTLCommandBuffer", "commit"),
    ]


def test_live_buffers_add_nothing_to_a_launch(room: Room):
    """With 2,000 live buffers a launch sends the messages that it sends with one."""
    x = room.new(1)
    alone = messages_of_a_launch(room, x)
    others = [room.driver.alloc(16) for _ in range(2000)]
    assert messages_of_a_launch(room, x) == alone
    for other in others:
        room.driver.free(other)


@pytest.mark.parametrize(
    "selector", ["setLabel_", "setComputePipelineState_", "setBytes_length_atIndex_", "setBuffer_offset_atIndex_"]
)
def test_an_encoder_is_ended_whatever_happens(room: Room, monkeypatch, selector):
    """When a message of a launch raises, its encoder is ended, what was queued is kept and the stream goes on."""
    x = room.new(1)
    room.standin.hold()
    for _ in range(3):
        room.affine(x, 1, 10, 1)

    def broken(self, *arguments):
        raise ValueError("scripted")

    with monkeypatch.context() as patch:
        patch.setattr(ComputeEncoder, f"do_{selector}", broken)
        with pytest.raises(ValueError, match="scripted"):
            room.affine(x, 1, 1, 5)
    room.affine(x, 1, 10, 2)
    room.standin.release()
    assert room.words(x, 1) == [11112]


def test_a_large_value_of_a_launch_that_fails_is_given_back(room: Room, monkeypatch):
    """When a launch with a temporary buffer cannot be encoded, the buffer is free for the next one."""
    out = room.new(0, 0)

    def broken(self, grid, block):
        raise ValueError("scripted")

    image = struct.pack("<Q", out) + bytes(4100)
    with monkeypatch.context() as patch:
        patch.setattr(ComputeEncoder, "do_dispatchThreadgroups_threadsPerThreadgroup_", broken)
        with pytest.raises(ValueError, match="scripted"):
            room.launch("ends_of_large", layout((POINTER, 8), (VALUE, 4100)), image)
    assert room.driver._temporaries.live_count == 0


def test_an_encoder_that_cannot_be_ended_takes_its_command_buffer_along(room: Room, monkeypatch):
    """When even endEncoding raises, what was collected in that command buffer is told as not run; the stream goes on."""
    x = room.new(1)
    room.standin.hold()
    for _ in range(BUSY_COUNT):
        room.affine(x, 1, 10, 1)
    collected = [room.affine(x, 1, 10, 2) for _ in range(3)]

    def broken(self):
        raise ValueError("scripted")

    with monkeypatch.context() as patch:
        patch.setattr(ComputeEncoder, "do_endEncoding", broken)
        with pytest.raises(ValueError, match="scripted"):
            room.affine(x, 1, 10, 3)
    assert fault_of(lambda: room.affine(x, 1, 10, 4)).dropped == (*collected, room.ordinal - 1)
    room.affine(x, 1, 10, 5)
    room.standin.release()
    assert room.words(x, 1) == [int("1" + "1" * BUSY_COUNT + "5")]
    broken_rules = room.standin.take_violations()
    assert len(broken_rules) == 1
    assert "without endEncoding" in broken_rules[0]


def test_two_threads_do_not_see_each_others_values(room: Room):
    """One target launched from two threads on two streams keeps the arguments of each launch apart."""
    streams = (0, room.driver.create_stream())
    places = [room.new(0), room.new(0)]
    target = room.target("affine", AFFINE)

    def work(at: int) -> None:
        for _ in range(200):
            image = struct.pack("<QIII", places[at], 1, 1, at + 1)
            target.submit(image, Geometry(), streams[at], 0)

    threads = [threading.Thread(target=work, args=(at,)) for at in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [room.words(places[at], 1, stream=streams[at])[0] for at in (0, 1)] == [200, 400]
