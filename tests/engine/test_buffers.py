"""DeviceBuffer: type, shape, views and copies; In, Out and InOut on a device that cannot use host memory."""

from __future__ import annotations

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import (
    ArgumentError,
    ArgumentKindError,
    ElementTypeError,
    InvalidPointer,
)
from metrale_gpu_runtime.testing import MockGpuBackend


@pytest.fixture
def gpu():
    with MockGpuBackend() as gpu:
        yield gpu


@pytest.mark.parametrize("dtype", ["f32", "float32", "<f4", np.float32, np.dtype(np.float32), mg.f32])
def test_an_element_type_has_many_names(gpu, dtype):
    """Scalar types, NumPy dtypes and names mean the same element."""
    buffer = gpu.empty((3, 5), dtype)
    assert (buffer.element, buffer.dtype, buffer.nbytes, buffer.shape) == (mg.f32, np.dtype("<f4"), 60, (3, 5))


def test_values_come_back_as_they_went(gpu):
    """Arrays of every kind, rank and order, lists and single numbers survive the way there and back."""
    for host in (
        np.arange(24, dtype=np.int16).reshape(2, 3, 4),
        np.float64(2.5),
        np.array([True, False]),
        np.array([1 + 2j, 3 - 4j], np.complex64),
        np.arange(12, dtype=np.uint8).reshape(3, 4).T,
        np.arange(10)[::3],
        np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "u1"), ("b", "<f8")]),
        np.zeros((0, 3), np.float32),
    ):
        back = gpu.array(host).numpy()
        assert back.dtype == host.dtype
        assert back.shape == host.shape
        assert back.tobytes() == np.ascontiguousarray(host).tobytes()
    assert gpu.array([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert gpu.array([1, 2, 3], "f32").numpy().tolist() == [1.0, 2.0, 3.0]


def test_slices_are_views(gpu):
    """A slice shares the memory: what is written into it shows in the whole, at the right place."""
    whole = gpu.array(np.zeros((4, 3), np.int32))
    part = whole[1:3]
    part.copy_from(np.array([[1, 2, 3], [4, 5, 6]], np.int32))
    whole[-1].copy_from(np.array([7, 8, 9], np.int32))
    assert whole.numpy().tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert part[1][2].numpy() == 6
    assert part.address == whole.address + 12
    assert [row.numpy().tolist() for row in part] == [[1, 2, 3], [4, 5, 6]]
    assert (len(whole[2:2]), whole[2:2].address) == (0, 0)


@pytest.mark.parametrize("index", [4, -5, slice(None, None, 2), slice(3, 0, -1)])
def test_indices_out_of_range_and_steps_raise(gpu, index):
    """Indexing past the end, and steps, which would be no contiguous view, raise IndexError."""
    with pytest.raises(IndexError):
        gpu.empty((4, 3), "i32")[index]


@pytest.mark.parametrize("index", [True, 1.0, "1", (0, 1), None])
def test_an_index_is_an_integer_or_a_slice(gpu, index):
    """Anything else as an index is a TypeError."""
    with pytest.raises(TypeError):
        gpu.empty((4, 3), "i32")[index]


def test_reshaping_and_viewing(gpu):
    """reshape keeps the count, view keeps the bytes; both share the memory, and impossible ones raise."""
    buffer = gpu.array(np.arange(12, dtype=np.uint16))
    assert buffer.reshape(3, -1).shape == (3, 4)
    assert buffer.reshape((2, 6))[1].numpy().tolist() == [6, 7, 8, 9, 10, 11]
    assert buffer.view("u32").numpy().tolist() == [0x10000 * (2 * i + 1) + 2 * i for i in range(6)]
    with pytest.raises(ValueError, match="12 elements"):
        buffer.reshape(5, 2)
    with pytest.raises(ValueError, match="whole number"):
        buffer[:3].view("u32")


def test_copying_checks_size_and_type(gpu):
    """copy_from and copy_to refuse other sizes and other element types, naming both; nothing is copied."""
    buffer = gpu.array(np.arange(5, dtype=np.float32))
    with pytest.raises(InvalidPointer, match=r"20 bytes, shape .*24, shape"):
        buffer.copy_from(np.zeros(6, np.float32))
    with pytest.raises(ElementTypeError, match="f32 and an array of i32"):
        buffer.copy_from(np.zeros(5, np.int32))
    with pytest.raises(ElementTypeError):
        buffer.copy_to(np.zeros(5, np.int32))
    with pytest.raises(ElementTypeError, match="exactly"):
        gpu.empty(2, "i32").copy_from([1.5, 2.0])
    out = np.zeros(5, np.float32)
    buffer.copy_to(out)
    assert out.tolist() == [0, 1, 2, 3, 4]
    assert gpu.empty(2, "i32").copy_from([7, -8]).numpy().tolist() == [7, -8]


@pytest.mark.parametrize("dtype", ["u8", "i8", "float", "int"])
def test_a_name_of_two_sizes_is_refused(gpu, dtype):
    """ "i8" is a byte here and eight of them in NumPy, "float" a single in C and a double in NumPy: nothing is guessed."""
    buffer = gpu.empty(16, "uint8")
    for ask in (lambda: gpu.empty(2, dtype), lambda: gpu.array([1, 2], dtype), lambda: buffer.view(dtype)):
        with pytest.raises(TypeError, match=f"dtype '{dtype}' is .* in NumPy: give mg"):
            ask()
    assert gpu.empty(2, "f16").nbytes == 4  # NumPy's own f16 is a long double, which no device has


@pytest.mark.parametrize("dtype", [object, "S0", "M8[s]", None, "nonsense", ">f4"])
def test_elements_need_fixed_bytes(gpu, dtype):
    """Objects, text of any length, dates and unknown names are no element types; big-endian ones say what to do."""
    with pytest.raises((TypeError, mg.GpuError)):
        gpu.empty(2, dtype)


@pytest.mark.parametrize("shape", [-1, (2, -3), 1.5, "3", True, (2, None)])
def test_a_shape_is_whole_numbers(gpu, shape):
    """Shapes that are negative or no whole numbers raise."""
    with pytest.raises((TypeError, ValueError), match="shape is"):
        gpu.empty(shape, "f32")


def test_a_freed_buffer_is_dead_with_all_its_views(gpu):
    """free() gives the memory back at once; the buffer, its views and its pointers then say where."""
    buffer = gpu.array(np.arange(4, dtype=np.uint8))
    view, pointer = buffer[1:], buffer.ptr
    buffer.free()
    assert not buffer.is_live
    assert gpu.live_alloc_count() == 0
    for call in (buffer.numpy, view.numpy, lambda: gpu.memset(pointer, 0, 1), buffer.free):
        with pytest.raises(InvalidPointer, match="freed at"):
            call()
    assert "freed at" in repr(buffer)


def test_a_with_block_frees(gpu):
    """The end of a with block gives a buffer back, behind the work that uses it."""
    with gpu.buffer(10) as buffer:
        gpu.memset_async(buffer, 1, 10)
    assert gpu.live_alloc_count() == 1
    gpu.synchronize()
    assert gpu.live_alloc_count() == 0


def double(launch):
    values = launch.array(0, np.int32, 3)
    values *= 2


def test_lent_arrays_go_there_and_back(gpu):
    """InOut is copied both ways, In only there, Out only back; nothing stays allocated."""
    gpu.define_kernel("m", "double", double)
    kernel = gpu.kernel("m", "double")
    both, only_in = np.array([1, 2, 3], np.int32), np.array([4, 5, 6], np.int32)
    out = np.array([7, 8, 9], np.int32)
    kernel[1, 1](mg.InOut(both))
    kernel[1, 1](mg.In(only_in))
    kernel[1, 1](mg.Out(out))
    assert both.tolist() == [2, 4, 6]
    assert only_in.tolist() == [4, 5, 6]
    assert out.tolist() == [0, 0, 0], "what Out held must not reach the kernel"
    assert gpu.live_alloc_count() == 0


def test_what_cannot_be_lent(gpu):
    """Device buffers, things that are no arrays, gaps and read-only arrays are refused for lending."""
    kernel = gpu.kernel("m", "k")
    frozen = np.zeros(3, np.int32)
    frozen.flags.writeable = False
    for lent, error in (
        (mg.In(gpu.buffer(4)), ArgumentKindError),
        (mg.In(7), ArgumentKindError),
        (mg.In(np.zeros((4, 4))[:, ::2]), ArgumentError),
        (mg.InOut(frozen), ArgumentError),
    ):
        with pytest.raises(error) as info:
            kernel[1, 1](lent)
        assert (info.value.index, info.value.kernel) == (0, "k")
        assert str(info.value).startswith("k: argument 0: In")
    kernel[1, 1](mg.In(frozen))
    assert gpu.launch_count == 1
