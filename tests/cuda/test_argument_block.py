"""Where a launch's arguments lie in memory, as absolute addresses (field case 14)."""

from __future__ import annotations

import ctypes
import itertools
import struct
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrale_gpu_runtime.drivers.session.launching import ArgumentBlock
from metrale_gpu_runtime.layout import ArgumentKind, ArgumentLayout


def layout_of(*arguments: tuple[int, int], holes: int = 0) -> ArgumentLayout:
    """(size, alignment) pairs as C lays them out."""
    offsets, end = [], holes
    for size, alignment in arguments:
        offsets.append(-(-end // alignment) * alignment)
        end = offsets[-1] + size
    sizes, alignments = zip(*arguments, strict=True) if arguments else ((), ())
    return ArgumentLayout((ArgumentKind.VALUE,) * len(arguments), tuple(offsets), sizes, alignments, end)


def image_of(layout: ArgumentLayout) -> tuple[bytes, list[bytes]]:
    """An image with different bytes in every argument, and those bytes."""
    image, values = bytearray(b"\xee" * layout.nbytes), []
    for index, (at, size) in enumerate(zip(layout.offsets, layout.sizes, strict=True)):
        value = bytes((37 * index + 11 * i + 1) % 251 for i in range(size))
        image[at : at + size] = value
        values.append(value)
    return bytes(image), values


def addresses(parameters: int, count: int) -> tuple[int, ...]:
    return struct.unpack(f"={count}Q", ctypes.string_at(parameters, 8 * count))


@pytest.mark.parametrize(
    "arguments",
    [
        ((1, 1), (8, 8)),
        ((4, 4), (8, 8), (2, 2), (8, 8)),
        ((1, 1), (128, 128), (1, 1)),
        ((1, 1), (128, 64), (1, 1)),
        ((8, 8), (128, 64), (4, 4), (128, 64), (16, 16)),
        ((3, 1), (32, 32), (13, 1), (8, 8)),
    ],
    ids=str,
)
def test_every_argument_lies_at_its_alignment(arguments: tuple[tuple[int, int], ...]) -> None:
    """Addresses are multiples of the alignments, those of 128-byte values of 128, and the bytes are unchanged."""
    layout = layout_of(*arguments)
    block, (image, values) = ArgumentBlock(layout), image_of(layout)
    for _ in range(7):
        memory, parameters = block.fill(image)
        assert parameters % 8 == 0
        for address, value, (size, alignment) in zip(
            addresses(parameters, len(arguments)), values, arguments, strict=True
        ):
            assert address % (128 if size == 128 else alignment) == 0
            assert ctypes.string_at(address, size) == value
            assert ctypes.addressof(memory) <= address < address + size <= ctypes.addressof(memory) + len(memory)


@given(st.lists(st.tuples(st.integers(1, 200), st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128])), max_size=20))
def test_arguments_never_overlap(arguments: list[tuple[int, int]]) -> None:
    """Whatever the sizes and alignments, every argument's bytes arrive and none lies over another or the addresses."""
    layout = layout_of(*arguments)
    image, values = image_of(layout)
    memory, parameters = ArgumentBlock(layout).fill(image)
    if not arguments:
        assert parameters == 0
        return
    found = addresses(parameters, len(arguments))
    assert [ctypes.string_at(at, size) for at, (size, _) in zip(found, arguments, strict=True)] == values
    spans = sorted((at, at + size) for at, (size, _) in zip(found, arguments, strict=True))
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert spans[-1][1] <= parameters
    assert parameters + 8 * len(arguments) <= ctypes.addressof(memory) + len(memory)


def test_a_bytearray_is_an_image_too() -> None:
    """A prepared launch's own bytearray arrives as bytes do, and later changes to it do not."""
    layout = layout_of((4, 4), (8, 8))
    image, values = image_of(layout)
    changing = bytearray(image)
    _memory, parameters = ArgumentBlock(layout).fill(changing)
    changing[:] = bytes(len(changing))
    found = addresses(parameters, 2)
    assert [ctypes.string_at(found[0], 4), ctypes.string_at(found[1], 8)] == values


def test_threads_fill_blocks_of_their_own() -> None:
    """Two launches of one layout have different memory: neither can see the other's values."""
    block = ArgumentBlock(layout_of((8, 8)))
    barrier, seen = threading.Barrier(4), []

    def fill(number: int) -> None:
        barrier.wait()
        memory, parameters = block.fill(struct.pack("=Q", number))
        barrier.wait()
        (address,) = addresses(parameters, 1)
        seen.append((number, address, ctypes.c_uint64.from_address(address).value, memory))

    threads = [threading.Thread(target=fill, args=(1000 + i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((number, value) for number, _, value, _ in seen) == [(1000 + i, 1000 + i) for i in range(4)]
    assert len({address for _, address, _, _ in seen}) == 4


@pytest.mark.parametrize("alignment", [8, 64, 128])
def test_a_block_that_was_given_back_is_filled_again(alignment: int) -> None:
    """The next launch has the same memory with its own values at the same addresses; one under way keeps its own."""
    layout = layout_of((alignment, alignment), (4, 4))
    block = ArgumentBlock(layout)
    first, second, third = (bytes([at]) * (alignment + 4) for at in (1, 2, 3))
    memory, parameters = block.fill(first)
    other, others = block.fill(second)
    assert other is not memory
    block.give_back(memory, parameters)
    again, same = block.fill(third)
    assert (again, same) == (memory, parameters)
    for at, number in ((same, 3), (others, 2)):
        one, two = addresses(at, 2)
        assert one % alignment == 0
        assert ctypes.string_at(one, alignment) == bytes([number]) * alignment
        assert ctypes.string_at(two, 4) == bytes([number]) * 4
