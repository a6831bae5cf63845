"""What a new user of the Metal backend ran into: each as the shortest program that showed it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from metal_room import POINTER, Room, layout, opened
from metal_standin.control import MetalStandIn, environment
from metal_standin.fixtures import metal_standin

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.metal.temporaries import KEPT_NBYTES, LARGE_GRANULE, Temporaries
from metrale_gpu_runtime.errors import ArgumentSizeError, InvalidPointer, LimitExceeded
from metrale_gpu_runtime.testing import run_isolated

__all__ = ["metal_standin"]

CHAIN = """
#include <metal_stdlib>
using namespace metal;
struct Node { device uint* words; uint count; device const Node* next; };
kernel void total(constant Node& head [[buffer(0)]], device uint* sum [[buffer(3)]]) {
    uint all = 0;
    for (uint i = 0; i < head.count; i++) all += head.words[i];
    for (device const Node* at = head.next; at; at = at->next)
        for (uint i = 0; i < at->count; i++) all += at->words[i];
    sum[0] = all;
}
"""


@pytest.fixture
def gpu(metal_standin: MetalStandIn) -> Iterator[GpuBackend]:
    with mg.open_backend("metal") as backend:
        yield backend


@pytest.fixture
def room(metal_standin: MetalStandIn) -> Iterator[Room]:
    with opened(metal_standin) as room:
        yield room


def node(words: mg.DeviceBuffer, next: int) -> bytes:
    return struct.pack("<QI4xQ", words.address, words.shape[0], next)


def test_the_short_form_names_memory_that_a_kernel_reaches_through_other_memory(gpu: GpuBackend):
    """`.uses` makes memory reachable in the short form as in the builder, launched at once, prepared or recorded."""
    words = [gpu.array(np.arange(3, dtype=np.uint32) + start) for start in (1, 20, 300)]
    last = gpu.array(np.frombuffer(node(words[2], 0), np.uint8))
    middle = gpu.array(np.frombuffer(node(words[1], last.address), np.uint8))
    total, sums = gpu.load_module("chain", source=CHAIN)["total"], gpu.array(np.zeros(3, np.uint32))
    reaching = total[1, 1].uses(*words).uses(middle, last)
    reaching(node(words[0], middle.address), sums)
    reaching.prepare(node(words[0], middle.address), sums[1:])()
    with gpu.sequence() as step:
        reaching(node(words[0], middle.address), sums[2:])
    step()
    assert sums.numpy().tolist() == [6 + 63 + 903] * 3


def test_a_configured_kernel_keeps_what_it_uses_alive_and_refuses_what_is_none(gpu: GpuBackend):
    """A prepared short form holds the memory it names; memory that is gone is refused when it is named."""
    words = gpu.array(np.array([5, 70], np.uint32))
    total, sums = gpu.load_module("chain", source=CHAIN)["total"], gpu.array(np.zeros(1, np.uint32))
    prepared = total[1, 1].uses(words).prepare(node(words, 0), sums)
    del words
    prepared()
    assert sums.numpy().tolist() == [75]
    pointer = gpu.alloc(8)
    gpu.free(pointer)
    with pytest.raises(InvalidPointer, match=r"\.uses\(\).*gone"):
        total[1, 1].uses(pointer)


@pytest.mark.parametrize(("nbytes", "offset"), [(4099, 0), (4100 + 256 - 1, 256)], ids=["whole", "within"])
def test_the_last_bytes_of_a_structure_are_the_callers_own(room: Room, nbytes: int, offset: int):
    """A structure that ends a byte past the caller's memory is refused, though Metal's buffer was made some longer."""
    out, memory = room.new(0, 0), room.driver.alloc(nbytes)
    image = struct.pack("<QQ", out, memory + offset)
    with pytest.raises(ArgumentSizeError) as info:
        room.launch("ends_of_large", layout((POINTER, 8), (POINTER, 8)), image)
    assert (info.value.expected, info.value.given) == (4100, 4099)


def test_a_large_staging_buffer_is_hardly_larger_than_what_goes_through_it(room: Room):
    """Staging of more than is kept is not rounded up to a power of two: the device may have no such buffer."""
    made = []

    class Device:
        def newBufferWithLength_options_(self, length: int, options: int) -> object:
            made.append(length)
            return room.driver._device.newBufferWithLength_options_(16384, options)

        def name(self) -> str:
            return "a device"

    temporaries = Temporaries(room.driver._bindings, Device())
    for nbytes in (5 << 30, KEPT_NBYTES + 1, KEPT_NBYTES, 4097):
        size = made_for(temporaries, nbytes, made)
        assert nbytes <= size < nbytes + LARGE_GRANULE


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_more_threads_along_an_axis_than_positions_have_numbers_are_refused(gpu: GpuBackend, axis: int):
    """2^32 threads along an axis are counted, one block more would begin again at 0: it is refused, of a grid slot as well."""
    total, sums = gpu.load_module("chain", source=CHAIN)["total"], gpu.array(np.zeros(1, np.uint32))
    grid, block, name = [1, 1, 1], [1, 1, 1], "xyz"[axis]
    grid[axis], block[axis] = 2**29 + 1, 8
    with pytest.raises(LimitExceeded, match=rf"threads along {name} .* is {2**32 + 8}; .* allows {2**32}"):
        total[tuple(grid), tuple(block)](node(sums, 0), sums)
    prepared = total[tuple(mg.slot("n", "grid") if at == axis else 1 for at in range(3)), tuple(block)].prepare(
        node(sums, 0), sums
    )
    with pytest.raises(LimitExceeded, match=f"threads along {name}"):
        prepared(n=2**29 + 1)
    prepared(n=1)
    gpu.synchronize()


def open_in_a_child_forked_off_with_metal_open() -> tuple[int, str]:
    """What a forked child says to opening Metal, and how it ended."""
    gpu = mg.open_backend("metal")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            mg.open_backend("metal")
        except mg.BackendUnavailable as error:
            said = str(error)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    _, status = os.waitpid(child, 0)
    said = os.read(reading, 1000).decode()
    gpu.close()
    return status, said


def test_a_child_forked_off_with_metal_open_is_refused_another_one():
    """Metal does not work there, and opening it would wait for ever or end the process: it is refused, with the way out."""
    status, said = run_isolated(open_in_a_child_forked_off_with_metal_open, environment=environment()).check()
    assert status == 0
    assert "forked off" in said
    assert "spawn" in said


def made_for(temporaries: Temporaries, nbytes: int, made: list[int]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metrale_gpu_runtime.drivers.metal.temporaries.host_address", lambda native, nbytes: 0)
        temporaries.take(nbytes)
    return made[-1]
