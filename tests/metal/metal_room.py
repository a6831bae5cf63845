"""A Metal driver opened over the stand-in, with a few kernels, for tests of the driver's own rooms."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from metal_standin.control import MetalStandIn

from metrale_gpu_runtime.driver import CodeImage, DriverOptions, LaunchTarget
from metrale_gpu_runtime.drivers.metal.factory import MetalFactory
from metrale_gpu_runtime.errors import DriverFault
from metrale_gpu_runtime.geometry import Dim3, Geometry
from metrale_gpu_runtime.layout import ArgumentKind, ArgumentLayout

POINTER, VALUE, LOCAL = ArgumentKind.POINTER, ArgumentKind.VALUE, ArgumentKind.LOCAL

SOURCE = """
#include <metal_stdlib>
using namespace metal;

struct Affine {
    uint count;
    uint factor;
    uint plus;
};

kernel void affine(device uint* x [[buffer(0)]], constant Affine& by [[buffer(1)]],
                   uint at [[thread_position_in_grid]]) {
    if (at < by.count) {
        x[at] = x[at] * by.factor + by.plus;
    }
}

kernel void follow(device const ulong* addresses [[buffer(0)]], constant uint& value [[buffer(1)]],
                   uint at [[thread_position_in_grid]]) {
    if (at == 0) {
        device uint* target = reinterpret_cast<device uint*>(addresses[0]);
        target[0] = value;
    }
}

struct Inline {
    uint words[1024];
};

struct Large {
    uint words[1025];
};

struct Map {
    uint words[32];
};

kernel void first_and_last(device uint* out [[buffer(2)]], constant Inline& value [[buffer(7)]],
                           uint at [[thread_position_in_grid]]) {
    if (at == 0) {
        out[0] = value.words[0];
        out[1] = value.words[1023];
    }
}

kernel void ends_of_large(device uint* out [[buffer(0)]], constant Large& value [[buffer(1)]],
                          uint at [[thread_position_in_grid]]) {
    if (at == 0) {
        out[0] = value.words[0];
        out[1] = value.words[1024];
    }
}

kernel void copy_of_map(device uint* out [[buffer(0)]], constant Map& value [[buffer(1)]],
                        uint at [[thread_position_in_grid]]) {
    if (at < 32) {
        out[at] = value.words[at];
    }
}

kernel void reversed(device uint* x [[buffer(0)]], threadgroup uint* room [[threadgroup(0)]],
                     threadgroup uint* other [[threadgroup(1)]], uint at [[thread_position_in_threadgroup]],
                     uint width [[threads_per_threadgroup]]) {
    room[at] = x[at];
    other[at] = 1000 * at;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[at] = room[width - 1 - at] + other[width - 1 - at];
}

kernel void with_own_memory(device uint* x [[buffer(0)]], threadgroup uint* room [[threadgroup(0)]],
                            uint at [[thread_position_in_threadgroup]]) {
    threadgroup uint own[256];
    own[at] = x[at];
    room[at] = own[at] + 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[at] = room[at];
}
"""


def layout(*arguments: tuple[ArgumentKind, int]) -> ArgumentLayout:
    """(kind, size) of each argument, as the engine lays them out: pointers at 8, values at 4."""
    offsets, alignments, end = [], [], 0
    for kind, size in arguments:
        alignment = 8 if kind is POINTER else 4
        end = -(-end // alignment) * alignment
        offsets.append(end)
        alignments.append(alignment)
        end += 0 if kind is LOCAL else size
    kinds, sizes = zip(*arguments, strict=True)
    return ArgumentLayout(kinds, tuple(offsets), sizes, tuple(alignments), end)


AFFINE = layout((POINTER, 8), (VALUE, 12))
FOLLOW = layout((POINTER, 8), (VALUE, 4))


class Room:
    """One open driver and what tests do with it again and again. Ordinals of launches count from 1."""

    def __init__(self, standin: MetalStandIn, storage: str) -> None:
        self.standin = standin
        self.driver: Any = MetalFactory().open(0, DriverOptions(extra={"storage": storage}))
        self.module = self.driver.load_module(CodeImage("room", "msl", SOURCE.encode()))
        self.targets: dict[tuple[str, ArgumentLayout], LaunchTarget] = {}
        self.ordinal = 0
        self.gates: list[Any] = []

    def target(self, name: str, arguments: ArgumentLayout) -> LaunchTarget:
        key = (name, arguments)
        if key not in self.targets:
            self.targets[key] = self.driver.prepare_launch(self.driver.function(self.module, name), arguments)
        return self.targets[key]

    def launch(
        self,
        name: str,
        arguments: ArgumentLayout,
        image: bytes,
        *,
        grid: int = 1,
        block: int = 1,
        shared_mem: int = 0,
        stream: int = 0,
        uses: tuple[int, ...] = (),
    ) -> int:
        """The launch's ordinal."""
        self.ordinal += 1
        geometry = Geometry(Dim3(grid), Dim3(block), shared_mem)
        self.target(name, arguments).submit_using(image, geometry, stream, self.ordinal, uses)
        return self.ordinal

    def affine(self, pointer: int, count: int, factor: int, plus: int, *, stream: int = 0) -> int:
        """x = x * factor + plus, in blocks of 3 threads."""
        image = struct.pack("<QIII", pointer, count, factor, plus)
        return self.launch("affine", AFFINE, image, grid=-(-count // 3), block=3, stream=stream)

    def stray(self, place: int, *, stream: int = 0) -> int:
        """A launch that writes where no memory is: `place` is memory for the address."""
        self.write(place, struct.pack("<Q", 0x40), stream=stream)
        return self.launch("follow", FOLLOW, struct.pack("<QI", place, 1), stream=stream)

    def write(self, address: int, data: bytes, *, stream: int = 0) -> None:
        self.driver.copy_h2d(address, memoryview(data), stream)

    def words(self, address: int, count: int, *, stream: int = 0) -> list[int]:
        """What lies there when the stream has come so far."""
        data = bytearray(4 * count)
        self.driver.copy_d2h(memoryview(data), address, stream)
        self.driver.synchronize(stream)
        return list(struct.unpack(f"<{count}I", data))

    def new(self, *words: int) -> int:
        """New memory that holds these words."""
        address = self.driver.alloc(4 * len(words))
        self.write(address, struct.pack(f"<{len(words)}I", *words))
        self.driver.synchronize(0)
        return int(address)

    def committed(self, since: int = 0) -> list[tuple[str, ...]]:
        """The encoders' labels of each command buffer committed, from the number `since` on."""
        return [each.encoders for each in self.standin.committed()[since:]]

    def hold_stream(self, stream: int) -> Callable[[], None]:
        """Let a stream's later work wait until what this returns is called; other streams go on."""
        queue = self.driver._streams[stream]
        gate = self.driver._device.newSharedEvent()
        self.gates.append(gate)
        queue.begin().native.encodeWaitForEvent_value_(gate, 1)
        queue.end(1)
        return lambda: gate.setSignaledValue_(1)

    def await_committed(self, count: int) -> None:
        """Wait until so many command buffers were committed since the last reset."""
        world = self.standin.world
        with world.change:
            assert world.change.wait_for(lambda: len(world.committed) >= count, timeout=20), self.committed()


@contextmanager
def opened(standin: MetalStandIn, storage: str = "shared") -> Iterator[Room]:
    """A room; closed in the end, the GPU released first."""
    room = Room(standin, storage)
    try:
        yield room
    finally:
        standin.release()
        for gate in room.gates:
            gate.setSignaledValue_(1)
        room.gates.clear()
        room.targets.clear()
        room.driver.close()


def fault_of(call: Callable[[], object]) -> DriverFault:
    """The fault that a call raises."""
    try:
        call()
    except DriverFault as fault:
        return fault
    raise AssertionError("no fault was told")
