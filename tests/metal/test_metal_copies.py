"""Copies and fills over the stand-in: every alignment, in the order of the stream, in shared and in private memory."""

from __future__ import annotations

import random
import struct

import pytest
from metal_room import Room, fault_of, opened
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin

from metrale_gpu_runtime.drivers.metal import copies, copy_kernels
from metrale_gpu_runtime.errors import OutOfDeviceMemory

__all__ = ["metal_standin"]

NBYTES = 4099


@pytest.fixture(params=["shared", "private"])
def room(metal_standin: MetalStandIn, request):
    with opened(metal_standin, request.param) as room:
        yield room


class Model:
    """Two allocations, and what should be in them, for copies and fills drawn at random."""

    def __init__(self, room: Room, seed: int) -> None:
        self.room, self.random = room, random.Random(seed)
        self.places = [room.driver.alloc(NBYTES), room.driver.alloc(NBYTES)]
        self.bytes = [bytearray(self.random.randbytes(NBYTES)) for _ in range(2)]
        for place, data in zip(self.places, self.bytes, strict=True):
            room.driver.copy_h2d(place, memoryview(bytes(data)), 0)
        self.read: list[tuple[bytearray, bytes]] = []

    def step(self) -> None:
        draw = self.random
        at, to = draw.sample([0, 1], 2)
        aligned = draw.random() < 0.5
        nbytes = draw.choice([1, 2, 3, 4, 8, 64, 255, 256, 257, 1000])
        nbytes = max(4, nbytes // 4 * 4) if aligned else nbytes
        first, second = (draw.randrange(NBYTES - nbytes) // (4 if aligned else 1) * (4 if aligned else 1) for _ in "12")
        driver, source, target = self.room.driver, self.bytes[at], self.bytes[to]
        match draw.choice(["h2d", "d2h", "d2d", "2d", "fill"]):
            case "h2d":
                data = draw.randbytes(nbytes)
                driver.copy_h2d(self.places[to] + second, memoryview(data), 0)
                target[second : second + nbytes] = data
            case "d2h":
                into = bytearray(nbytes)
                driver.copy_d2h(memoryview(into), self.places[at] + first, 0)
                self.read.append((into, bytes(source[first : first + nbytes])))
            case "d2d":
                driver.copy_d2d(self.places[to] + second, self.places[at] + first, nbytes, 0)
                target[second : second + nbytes] = source[first : first + nbytes]
            case "2d":
                width, height = draw.choice([4, 8, 7, 20]), draw.choice([1, 2, 4, 5, 30])
                pitches = [draw.choice([width, width + 4, width + 9]) for _ in "12"]
                first, second = first % 500, second % 500
                driver.copy_d2d_2d(
                    self.places[to] + second, pitches[1], self.places[at] + first, pitches[0], width, height, 0
                )
                for row in range(height):
                    begin, end = first + row * pitches[0], second + row * pitches[1]
                    target[end : end + width] = source[begin : begin + width]
            case "fill":
                width = draw.choice([1, 2, 4])
                count = nbytes // width
                second = second // width * width
                value = draw.choice([0, 0x7F, 0x80, 0xFF, draw.randrange(256), draw.randrange(1 << 32)]) % (
                    1 << 8 * width
                )
                driver.memset(self.places[to] + second, value, width, count, 0)
                target[second : second + width * count] = value.to_bytes(width, "little") * count

    def check(self) -> None:
        self.room.driver.synchronize(0)
        for into, right in self.read:
            assert into == right
        for place, right in zip(self.places, self.bytes, strict=True):
            data = bytearray(NBYTES)
            self.room.driver.copy_d2h(memoryview(data), place, 0)
            self.room.driver.synchronize(0)
            assert data == right


@pytest.mark.parametrize("seed", range(4))
def test_copies_and_fills_do_what_they_say(room: Room, seed):
    """Random copies and fills of every alignment, behind each other or on an idle stream, equal a model of them."""
    model = Model(room, seed)
    for number in range(60):
        model.step()
        if number % 20 == 19:
            model.check()


def test_copies_and_fills_keep_the_order_of_queued_work(room: Room):
    """Behind a GPU that stands still copies in, on and out of the device and fills wait for their turn."""
    x, y = room.new(*range(5)), room.new(*[9] * 5)
    room.standin.hold()
    room.affine(x, 5, 10, 1)
    first, last = bytearray(20), bytearray(20)
    room.driver.copy_d2h(memoryview(first), x, 0)
    room.driver.copy_d2d(y, x, 20, 0)
    room.write(x + 4, struct.pack("<I", 77))
    room.affine(x, 5, 3, 0)
    room.driver.memset(x + 8, 6, 4, 2, 0)
    room.driver.copy_d2h(memoryview(last), x, 0)
    room.driver.memset(x, 0, 4, 5, 0)
    assert first == last == bytes(20), "nothing has run"
    room.standin.release()
    room.driver.synchronize(0)
    assert struct.unpack("<5I", first) == (1, 11, 21, 31, 41)
    assert struct.unpack("<5I", last) == (3, 231, 6, 6, 123)
    assert room.words(y, 5) == [1, 11, 21, 31, 41]
    assert room.words(x, 5) == [0] * 5
    assert room.driver._temporaries.live_count == 0


def test_the_host_copies_itself_only_while_the_stream_is_idle(room: Room):
    """Shared memory of an idle stream is copied without a message to Metal; private memory never is."""
    x = room.new(1, 2, 3)
    is_shared = room.driver._memory.find(x)[0].host != 0
    room.driver.synchronize(0)
    since = len(room.committed())
    room.write(x, struct.pack("<I", 5))
    assert room.words(x, 3) == [5, 2, 3]
    assert (len(room.committed()) == since) is is_shared
    room.standin.hold()
    room.affine(x, 1, 2, 0)
    room.write(x, struct.pack("<I", 6))
    room.standin.release()
    assert room.words(x, 1) == [6]


def test_the_source_may_change_once_the_copy_is_queued(room: Room):
    """The bytes of a copy to the device are taken when it is queued, in whatever state the stream is."""
    x = room.new(0, 0)
    room.standin.hold()
    room.affine(x, 1, 1, 1)
    data = bytearray(struct.pack("<II", 11, 12))
    room.driver.copy_h2d(x, memoryview(data), 0)
    data[:] = bytes(8)
    room.standin.release()
    assert room.words(x, 2) == [11, 12]


def test_what_a_failed_stream_should_have_read_is_not_delivered(room: Room):
    """A copy to the host behind a launch that failed writes nothing to the host."""
    x = room.new(0, 0)
    into = bytearray(b"unchanged!!!")
    room.standin.hold()
    room.stray(x)
    room.driver.copy_d2h(memoryview(into)[:8], x, 0)
    room.standin.release()
    fault_of(lambda: room.driver.synchronize(0))
    assert into == b"unchanged!!!"
    assert room.driver._temporaries.live_count == 0


def test_large_ranges_are_copied_and_filled_piece_by_piece(room: Room, monkeypatch):
    """What has more elements than one dispatch takes is done in several, the last one shorter."""
    for module in (copies, copy_kernels):
        monkeypatch.setattr(module, "MOST_THREADS", 7)
    data = bytes(range(1, 31))
    x, y = room.driver.alloc(40), room.driver.alloc(50)
    room.write(x, bytes(40))
    room.write(y, bytes(50))
    room.write(y, bytes([0xEE]) * 50)
    room.write(x + 1, data)
    room.driver.copy_d2d(y + 3, x + 1, 30, 0)
    room.driver.memset(y + 40, 0xC1C2, 2, 4, 0)
    room.driver.memset(y + 35, 0x9A, 1, 4, 0)
    into = bytearray(50)
    room.driver.copy_d2h(memoryview(into), y, 0)
    room.driver.synchronize(0)
    right = bytearray(b"\xee" * 50)
    right[3:33], right[40:48], right[35:39] = data, b"\xc2\xc1" * 4, b"\x9a" * 4
    assert into == right
    room.driver.copy_d2d_2d(y, 10, x + 1, 10, 9, 3, 0)
    room.driver.copy_d2h(memoryview(into), y, 0)
    room.driver.synchronize(0)
    for row in range(3):
        right[10 * row : 10 * row + 9] = data[10 * row : 10 * row + 9]
    assert into == right


def test_no_staging_buffer_leaves_everything_usable(room: Room):
    """When there is no memory for staging the copy raises, nothing is queued, and the next one works."""
    x = room.new(0, 0)
    room.standin.hold()
    room.affine(x, 1, 1, 1)
    room.driver._temporaries.drain()
    for copy in (lambda: room.write(x, bytes(8)), lambda: room.driver.copy_d2h(memoryview(bytearray(8)), x, 0)):
        room.standin.fail_next("buffer")
        with pytest.raises(OutOfDeviceMemory):
            copy()
    room.standin.release()
    assert room.words(x, 2) == [1, 0]
    assert room.driver._temporaries.live_count == 0
