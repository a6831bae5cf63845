"""Copies and fills: (src, dst), bounds on both sides, clear refusals, and the order with other streams' work."""

from __future__ import annotations

import array

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import ArgumentKindError, ForeignHandle, InvalidPointer
from metrale_gpu_runtime.handles import DevicePtr
from metrale_gpu_runtime.testing import MockGpuBackend


@pytest.fixture
def gpu():
    with MockGpuBackend() as gpu:
        yield gpu


def test_any_host_array_goes_up_and_comes_down(gpu):
    """bytes, bytearrays, arrays, memoryviews and NumPy arrays of any rank are taken by their bytes."""
    sources = [b"abcdef", bytearray(b"ghijkl"), array.array("H", [1, 2, 3]), np.arange(6, dtype=np.uint8).reshape(2, 3)]
    for source in sources:
        buffer, back = gpu.buffer(6), bytearray(6)
        gpu.copy_h2d(source, buffer)
        gpu.copy_d2h(buffer, back)
        assert bytes(back) == bytes(memoryview(source).cast("B"))


def test_swapped_arguments_are_explained(gpu):
    """A device buffer where a host array belongs says which order copies take."""
    buffer = gpu.buffer(4)
    for call in (lambda: gpu.copy_h2d(buffer, b"abcd"), lambda: gpu.copy_d2h(bytearray(4), buffer)):
        with pytest.raises(ArgumentKindError, match=r"Copies take \(src, dst\)|host array"):
            call()


def test_overruns_state_the_figures(gpu):
    """A copy past the end names the call's side, the bytes asked, the bytes there, and how many are too many."""
    buffer = gpu.buffer(10, label="short")
    with pytest.raises(
        InvalidPointer, match=r"copy_h2d: dst: 9 bytes .* only 7 lie there of 'short'.* 3 bytes in; .* 2 too"
    ) as info:
        gpu.copy_h2d(bytes(9), buffer.ptr + 3)
    assert info.value.nbytes == 9
    assert info.value.address == buffer.address + 3
    with pytest.raises(InvalidPointer, match="null pointer"):
        gpu.copy_h2d(b"x", DevicePtr(0))
    assert gpu.log.counts["copy_h2d"] == 0


def test_a_pointer_before_its_allocation_is_refused(gpu):
    """Arithmetic may leave the allocation; using such a pointer says how far outside it is."""
    buffer = gpu.buffer(16)
    for pointer, place in ((buffer.ptr - 5, "5 bytes before the start"), (buffer.ptr + 18, "2 bytes past the end")):
        with pytest.raises(InvalidPointer, match=place):
            gpu.memset(pointer, 0, 1)
    gpu.memset(buffer.ptr + 16, 0, 0)


def test_overlapping_ranges_are_refused(gpu):
    """Copies within one buffer go as long as the ranges do not overlap; onto itself is nothing."""
    buffer = gpu.array(np.arange(10, dtype=np.uint8))
    gpu.copy_d2d(buffer.ptr, buffer.ptr + 5, 5)
    assert buffer.numpy().tolist() == [0, 1, 2, 3, 4] * 2
    with pytest.raises(InvalidPointer, match="overlap"):
        gpu.copy_d2d(buffer.ptr, buffer.ptr + 4, 5)
    gpu.copy_d2d(buffer, buffer)
    with pytest.raises(InvalidPointer, match="overlap"):
        gpu.copy_d2d_2d_async(buffer.ptr, 4, buffer.ptr + 1, 4, 2, 2)


def test_the_length_may_be_left_out_where_both_agree(gpu):
    """Between buffers of one size no length is needed; otherwise it must be given."""
    one, other = gpu.array(np.arange(7, dtype=np.uint8)), gpu.buffer(7)
    gpu.copy_d2d(one, other)
    assert other.tobytes() == bytes(range(7))
    with pytest.raises(ValueError, match="src has 7 bytes and dst 6"):
        gpu.copy_d2d(one, other.ptr + 1)


@pytest.mark.parametrize(
    ("value", "width", "error"),
    [(256, 1, ValueError), (-1, 4, ValueError), (1 << 16, 2, ValueError), (1.0, 1, TypeError), (True, 1, TypeError)],
)
def test_a_fill_value_must_fit_its_width(gpu, value, width, error):
    """Fill values out of range or of another kind raise with the range."""
    with pytest.raises(error):
        gpu.memset(gpu.buffer(8), value, width=width)


def test_a_fill_is_a_whole_number_of_elements(gpu):
    """Widths other than 1, 2, 4 and lengths that they do not divide are refused; numpy integers are fine."""
    buffer = gpu.buffer(8)
    with pytest.raises(ValueError, match="1, 2 or 4"):
        gpu.memset(buffer, 0, width=8)
    with pytest.raises(ValueError, match="7 bytes are no whole number of elements of 2"):
        gpu.memset(buffer, 0, 7, width=2)
    gpu.memset(buffer.ptr, np.uint32(0x01020304), 4, width=4)
    assert buffer.tobytes()[:4] == b"\x04\x03\x02\x01"


def test_pitched_rows_of_one_need_no_pitch(gpu):
    """A single row may be wider than its pitch; zero rows or columns are nothing."""
    source, out = gpu.array(np.arange(9, dtype=np.uint8)), gpu.buffer(9)
    gpu.copy_d2d_2d_async(source, 0, out, 0, 9, 1)
    assert out.tobytes() == bytes(range(9))
    gpu.copy_d2d_2d_async(source, 5, out, 5, 0, 3)
    gpu.copy_d2d_2d_async(source, 5, out, 5, 5, 0)


def test_a_blocking_copy_sees_other_streams_work(gpu):
    """A blocking copy waits for what any stream was told to do with its memory; copy_d2h_on_stream only for its own."""
    buffer, back = gpu.array(np.zeros(4, np.uint8)), bytearray(4)
    with gpu.create_stream() as stream, gpu.create_stream() as other:
        gpu.memset_async(buffer, 7, 4, stream)
        gpu.copy_d2h_on_stream(buffer, back, other)
        assert bytes(back) == bytes(4)
        gpu.copy_d2h(buffer, back)
        assert bytes(back) == b"\7" * 4


def test_a_read_only_target_is_refused(gpu):
    """Copying into bytes, which cannot change, raises before anything is queued."""
    with pytest.raises(InvalidPointer, match="read-only"):
        gpu.copy_d2h(gpu.buffer(3), b"abc")
    assert gpu.log.counts["copy_d2h"] == 0


def test_strided_host_arrays_are_refused(gpu):
    """A copy takes no array with gaps or in Fortran order, from either side."""
    square = np.zeros((4, 4), np.uint8)
    for view in (square[:, :2], square.T[:, ::-1], square[::2]):
        with pytest.raises(InvalidPointer, match="contiguous"):
            gpu.copy_h2d(view, gpu.buffer(16))


def test_memory_of_another_backend_is_refused(gpu):
    """Buffers and pointers of another open backend are refused by the name of both devices."""
    with MockGpuBackend("M2") as other:
        stranger = other.buffer(4)
        for value in (stranger, stranger.ptr):
            with pytest.raises(ForeignHandle, match=r"gpu\.array\(buffer\.numpy\(\)\)"):
                gpu.memset(value, 0, 4)
        assert gpu.buffer(4).copy_from(stranger).nbytes == 4
        del stranger, value


@pytest.mark.parametrize("backend", ["mock", "cpu"])
def test_a_fill_of_wide_elements_begins_at_a_multiple_of_their_width(backend):
    """Refused with the address and the width before the driver is asked, on every backend alike."""
    with mg.open_backend(backend) as gpu:
        buffer = gpu.array(np.arange(16, dtype=np.uint8))
        for past, width in ((1, 4), (2, 4), (3, 2)):
            with pytest.raises(
                InvalidPointer, match=rf"no multiple of {width}, .*it is {past % width} past one"
            ) as refused:
                gpu.memset(buffer.ptr + past, 0, 4, width=width)
            assert refused.value.address == buffer.address + past
        gpu.memset(buffer.ptr + 2, 0x0101, 4, width=2)
        gpu.memset(buffer.ptr + 7, 9, 3)
        assert buffer.numpy().tolist() == [0, 1, 1, 1, 1, 1, 6, 9, 9, 9, *range(10, 16)]
