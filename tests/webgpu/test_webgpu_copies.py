"""Copies and fills at any byte, between any two places, on the stream's order."""

from __future__ import annotations

import random

import numpy as np
import pytest
from webgpu_room import gpu

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.webgpu.copies import Copies

__all__ = ["gpu"]

NBYTES = 523


def numbered(seed: int, nbytes: int = NBYTES) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, nbytes, np.uint8)


def test_every_phase_of_every_copy(gpu: GpuBackend) -> None:
    """Whatever begins and ends between words arrives to the byte, and no byte beside it changes."""
    rest = random.Random(9)
    model = [numbered(1), numbered(2)]
    buffers = [gpu.array(each) for each in model]
    for round in range(60):
        a, b = rest.randrange(2), rest.randrange(2)
        length = rest.randrange(1, 150)
        at, to = rest.randrange(NBYTES - length), rest.randrange(NBYTES - length)
        kind = round % 4
        if kind == 0:
            data = numbered(100 + round, length)
            gpu.copy_h2d(data, buffers[b].ptr + to)
            model[b][to : to + length] = data
        elif kind == 1:
            read = np.zeros(length, np.uint8)
            gpu.copy_d2h(buffers[a].ptr + at, read)
            np.testing.assert_array_equal(read, model[a][at : at + length])
        elif kind == 2:
            if a == b and at < to + length and to < at + length:
                continue
            gpu.copy_d2d(buffers[a].ptr + at, buffers[b].ptr + to, length)
            model[b][to : to + length] = model[a][at : at + length]
        else:
            gpu.memset(buffers[b].ptr + to, round, length)
            model[b][to : to + length] = round
    for each, expected in zip(buffers, model, strict=True):
        np.testing.assert_array_equal(each.numpy(), expected)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_fills_of_each_width(gpu: GpuBackend, width: int) -> None:
    """The pattern begins at the first byte that is filled, wherever that lies in a word."""
    kind = {1: np.uint8, 2: np.uint16, 4: np.uint32}[width]
    value = 0xA1B2C3D4 & ((1 << 8 * width) - 1)
    buffer = gpu.array(numbered(3, 64))
    expected = buffer.numpy().copy()
    expected[2 * width : 9 * width] = np.full(7, value, kind).view(np.uint8)
    gpu.memset(buffer.ptr + 2 * width, value, 7 * width, width=width)
    np.testing.assert_array_equal(buffer.numpy(), expected)


@pytest.mark.parametrize(
    ("dst_pitch", "src_pitch", "width", "height"), [(8, 12, 8, 3), (7, 5, 5, 9), (40, 24, 16, 8), (13, 13, 13, 1)]
)
@pytest.mark.parametrize("same", [False, True])
def test_rows(gpu: GpuBackend, same: bool, dst_pitch: int, src_pitch: int, width: int, height: int) -> None:
    """Rows of any pitch, from a buffer to another and within one; what lies between the rows stays."""
    begin, to = 3, 450
    source = gpu.array(numbered(4, 1000))
    target = source if same else gpu.array(numbered(5, 1000))
    expected = target.numpy().copy()
    data = source.numpy()
    for row in range(height):
        at = begin + row * src_pitch
        expected[to + row * dst_pitch :][:width] = data[at : at + width]
    gpu.copy_d2d_2d_async(source.ptr + begin, src_pitch, target.ptr + to, dst_pitch, width, height)
    gpu.synchronize()
    np.testing.assert_array_equal(target.numpy(), expected)


def test_what_no_binding_reaches_at_once_is_copied_in_parts(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy or fill longer than a binding may be is several dispatches; none overlaps, none is left out."""
    copies: Copies = gpu._driver._copies  # type: ignore[attr-defined]
    monkeypatch.setattr(copies, "_most", 64)
    a, b = gpu.array(numbered(6)), gpu.array(numbered(7))
    expected = b.numpy().copy()
    expected[3:500] = a.numpy()[1:498]
    gpu.copy_d2d(a.ptr + 1, b.ptr + 3, 497)
    gpu.memset(b.ptr + 501, 77, 21)
    expected[501:522] = 77
    np.testing.assert_array_equal(b.numpy(), expected)
    gpu.memset(b.ptr + 1, 5, 300)
    expected[1:301] = 5
    gpu.copy_d2d_2d_async(a.ptr, 30, b.ptr + 7, 31, 29, 12)
    for row in range(12):
        expected[7 + row * 31 :][:29] = a.numpy()[row * 30 :][:29]
    np.testing.assert_array_equal(b.numpy(), expected)


def test_a_stray_byte_of_a_large_buffer_is_reached(gpu: GpuBackend) -> None:
    """Bytes far behind what one binding holds are copied and filled like any other: case 35's 200 MB."""
    limit = gpu._driver._device.limits.maxStorageBufferBindingSize  # type: ignore[attr-defined]
    if limit > 1 << 28:
        pytest.skip("this device binds more than a test should allocate")
    large = gpu.buffer(int(limit) + 4096)
    at = int(limit) + 4001
    gpu.copy_h2d(numbered(8, 9), large.ptr + at)
    gpu.memset(large.ptr + at + 9, 0x5A, 3)
    read = np.zeros(12, np.uint8)
    gpu.copy_d2h(large.ptr + at, read)
    assert read.tolist() == [*numbered(8, 9).tolist(), 0x5A, 0x5A, 0x5A]


def test_asynchronous_copies_keep_the_order_of_their_stream(gpu: GpuBackend) -> None:
    """What is read behind a launch sees what that wrote, and what is written behind it is not seen by it."""
    kernel = gpu.kernel("m", "affine_32")
    x, later = gpu.array(np.arange(31, dtype=np.uint32)), np.full(31, 1000, np.uint32)
    first, second = np.zeros(31, np.uint32), np.zeros(31, np.uint32)
    with gpu.create_stream() as stream:
        kernel[1, 32, 0, stream](x, 31, 3, 1)
        gpu.copy_d2h_async(x, first, stream)
        gpu.copy_h2d_async(later, x, stream)
        kernel[1, 32, 0, stream](x, 31, 2, 5)
        gpu.copy_d2h_async(x, second, stream)
        stream.synchronize()
    np.testing.assert_array_equal(first, np.arange(31) * 3 + 1)
    assert set(second.tolist()) == {2005}


def test_a_copy_to_the_device_waits_for_what_its_source_is_to_get(gpu: GpuBackend) -> None:
    """Host memory that an earlier copy of the stream writes is taken when that has been written."""
    a, b = gpu.array(np.arange(50, dtype=np.uint32)), gpu.empty(50, mg.u32)
    host = np.zeros(50, np.uint32)
    with gpu.create_stream() as stream:
        gpu.copy_d2h_async(a, host, stream)
        gpu.copy_h2d_async_retained(host, b, stream)
        stream.synchronize()
    np.testing.assert_array_equal(b.numpy(), np.arange(50))
