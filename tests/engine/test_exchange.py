"""Arrays of other libraries: read where they lie, with their type, or refused with the reason."""

from __future__ import annotations

import array
import ctypes
import gc
import importlib.util
import subprocess
import sys
import weakref

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime import bf16, f16, f32, i32, u8
from metrale_gpu_runtime.errors import ArgumentError, ArgumentKindError, ForeignHandle, NotSupported, ScalarKindError
from metrale_gpu_runtime.exchange import host_view, read_foreign
from metrale_gpu_runtime.testing import MockGpuBackend
from metrale_gpu_runtime.testing.conformance.target import KERNELS


class CudaArray:
    """What torch and CuPy show of a device array: the CUDA array interface."""

    def __init__(self, address, shape, typestr="<f4", strides=None, read_only=False):
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (address, read_only),
            "strides": strides,
            "version": 3,
        }


class Dlpack:
    """Only DLPack of an array, as libraries without other interfaces show it."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldDlpack(Dlpack):
    """DLPack from before version 1, which knows no `max_version`."""

    def __dlpack__(self):
        return self.array.__dlpack__()


@pytest.mark.parametrize("wrap", [lambda a: a, Dlpack, OldDlpack, memoryview])
def test_every_source_tells_the_same(wrap):
    """Array interface, both forms of DLPack and the buffer protocol agree on address, shape, type and order."""
    host = np.arange(15, dtype=np.int32).reshape(3, 5)
    for view, contiguous in ((host, True), (host[1:], True), (host[:, 1:4], False), (host.T, False)):
        read = read_foreign(wrap(view))
        assert (read.address, read.shape, read.nbytes) == (view.ctypes.data, view.shape, view.nbytes)
        assert (read.element, read.item_nbytes, read.is_on_host) == (i32, 4, True)
        assert read.is_contiguous is contiguous


@pytest.mark.parametrize("wrap", [Dlpack, OldDlpack, memoryview])
def test_what_was_read_keeps_the_memory(wrap):
    """The description, and a view made from it, hold the array; dropping them lets go of it."""
    host = np.arange(7, dtype=np.uint8)
    gone = weakref.ref(host)
    view = host_view(read_foreign(wrap(host)))
    del host
    gc.collect()
    assert gone() is not None
    assert bytes(view) == bytes(range(7))
    del view
    gc.collect()
    assert gone() is None


def test_standard_library_arrays_have_types():
    """array.array and ctypes arrays tell their element types; plain bytes are unsigned bytes and read-only."""
    assert read_foreign(array.array("f", [1, 2])).element == f32
    assert read_foreign((ctypes.c_int32 * 3)()).element == i32
    read = read_foreign(b"abc")
    assert (read.element, read.is_writable, read.nbytes) == (u8, False, 3)
    assert read_foreign(object()) is None


def test_a_stride_of_an_axis_of_one_means_nothing():
    """Arrays whose odd strides belong to axes of one element, or that have no element, are contiguous."""
    host = np.zeros((4, 6), np.float32)
    assert read_foreign(host[:1, :]).is_contiguous
    assert read_foreign(host[:, :0]).is_contiguous
    assert not read_foreign(np.broadcast_to(np.float32(1), (3,))).is_contiguous


def test_a_foreign_device_array_is_a_pointer_on_a_gpu():
    """An object with the CUDA array interface gives address, bytes, type and writability to a GPU-like backend."""
    with MockGpuBackend() as gpu:
        pointer = gpu.resolve_pointer(CudaArray(0x7000, (3, 5)))
        assert (pointer.address, pointer.nbytes, pointer.element, pointer.writable) == (0x7000, 60, f32, True)
        assert not gpu.resolve_pointer(CudaArray(0x7000, (2,), read_only=True)).writable
        assert gpu.resolve_pointer(CudaArray(0, (0, 4))).address == 0
        with pytest.raises(ArgumentError, match="make it contiguous or pass strides"):
            gpu.resolve_pointer(CudaArray(0x7000, (3, 5), strides=(40, 4)))


def test_a_foreign_view_of_our_memory_is_tracked():
    """A foreign array over memory that this backend allocated holds and marks that allocation."""
    with MockGpuBackend() as gpu:
        buffer = gpu.empty(6, "f32")
        pointer = gpu.resolve_pointer(CudaArray(buffer.address + 8, (4,)))
        assert pointer.allocation is buffer.allocation
        del pointer


def test_device_arrays_are_refused_where_addresses_must_be_known():
    """A backend that tracks every address refuses a CUDA array, naming both sides and the way over."""
    with MockGpuBackend(strict_pointers=True) as gpu, pytest.raises(ForeignHandle, match=r"a CUDA device.*gpu\.array"):
        gpu.resolve_pointer(CudaArray(0x7000, (3,)))


def test_what_is_no_address_is_refused():
    """Integers, floats, text, bytes and host arrays are refused as addresses, each with the way to do it."""
    with MockGpuBackend() as gpu:
        for value, advice in (
            (0x1000, r"DevicePtr\(address\)"),
            (True, r"DevicePtr\(address\)"),
            (1.5, "give a DevicePtr"),
            ("x", "give a DevicePtr"),
            (b"abc", "give a DevicePtr"),
            (object(), "give a DevicePtr"),
            (np.zeros(3), r"In\(a\), Out\(a\) or InOut\(a\)"),
        ):
            with pytest.raises(ArgumentKindError, match=advice):
                gpu.resolve_pointer(value)
        assert gpu.resolve_pointer(None).address == 0


def test_device_memory_is_not_exported_as_host_memory():
    """DLPack export of memory the host cannot reach raises NotSupported and names the copy."""
    with MockGpuBackend() as gpu:
        buffer = gpu.array([1, 2, 3])
        with pytest.raises(NotSupported, match=r"buffer\.numpy\(\)"):
            np.from_dlpack(buffer)
        assert np.asarray(buffer).tolist() == [1, 2, 3]
        with pytest.raises(ValueError, match="without a copy"):
            buffer.__array__(copy=False)


def test_half_and_big_endian_arrays():
    """f16 arrays are typed; big-endian ones are refused by name rather than read wrongly."""
    from metrale_gpu_runtime.errors import ScalarRefused

    assert read_foreign(np.zeros(3, np.float16)).element == f16
    with pytest.raises(ScalarRefused, match="big-endian"):
        read_foreign(np.zeros(3, ">f4"))


def test_the_engine_needs_no_numpy():
    """Buffers go up and down with standard-library arrays, and NumPy is never imported."""
    code = (
        "import sys\n"
        "from metrale_gpu_runtime.testing import MockGpuBackend\n"
        "with MockGpuBackend() as gpu:\n"
        "    buffer = gpu.buffer(4)\n"
        "    gpu.copy_h2d(bytes([5, 6, 7, 8]), buffer)\n"
        "    typed = gpu.empty((2, 3), 'f32')\n"
        "    print(buffer.tobytes()[1:].hex(), typed[1].nbytes, 'numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["060708", "12", "False"]


def test_bf16_elements_need_no_numpy_type():
    """A bf16 buffer is made, typed and filled without ml_dtypes; as a NumPy array it says what to install."""
    with MockGpuBackend() as gpu:
        buffer = gpu.empty(3, bf16)
        assert (buffer.nbytes, buffer.element) == (6, bf16)
        buffer.fill(0x3FC0, width=2)
        assert buffer.view("u16").numpy().tolist() == [0x3FC0] * 3
        if importlib.util.find_spec("ml_dtypes") is None:
            with pytest.raises(NotSupported, match=r"ml_dtypes.*view\('u16'\)"):
                buffer.numpy()
        else:
            assert buffer.numpy().astype(np.float32).tolist() == [1.5] * 3


def test_a_numpy_scalar_is_no_array():
    """What a scalar's interface shows is a copy made for the occasion: its address would dangle."""
    with MockGpuBackend() as gpu:
        for scalar in (np.float32(1.5), np.int64(7), np.void(b"1234")):
            assert read_foreign(scalar) is None
            with pytest.raises(ArgumentKindError, match="where a device address is wanted"):
                gpu.copy_h2d(np.zeros(1), scalar)
        assert gpu.array(np.float32(1.5)).numpy() == np.float32(1.5)


def test_an_interface_that_holds_its_memory_is_held():
    """An interface made for the question may carry the only reference to the memory that it shows."""

    class Made:
        @property
        def __array_interface__(self):
            host = np.arange(5, dtype=np.int32)
            made.append(weakref.ref(host))
            return {**host.__array_interface__, "kept": host}

    made = []
    read = read_foreign(Made())
    gc.collect()
    assert made[-1]() is not None
    assert host_view(read).cast("i").tolist() == [0, 1, 2, 3, 4]
    del read
    gc.collect()
    assert made[-1]() is None


@pytest.mark.parametrize(
    ("dtype", "reason"),
    [("O", "no fixed bytes"), ("M8[s]", "mean nothing"), ("m8[ns]", "mean nothing"), (">f4", "big-endian")],
)
def test_elements_no_device_can_read_are_refused_by_argument(dtype, reason):
    """Python objects, dates and big-endian numbers: refused with the argument and the way out."""
    host = np.zeros(3, dtype)
    with mg.open_backend("cpu") as gpu:
        kernel = gpu.load_module("suite", path=KERNELS / "suite.ptx")["affine"]
        for given in (host, mg.In(host)):
            with pytest.raises(ArgumentKindError, match=rf"^affine: argument 0.*{reason}") as refused:
                kernel[1, 3](given, mg.u32(3), mg.u32(10), mg.u32(7))
            assert (refused.value.kernel, refused.value.index) == ("affine", 0)
        with pytest.raises(ScalarKindError, match=reason):
            gpu.array(host)


def test_text_has_four_bytes_a_character():
    """NumPy's typestr counts characters; the memory behind them is four times as long."""
    assert read_foreign(np.zeros(3, "U5")).nbytes == 60
    assert read_foreign(np.zeros(3, "S5")).nbytes == 15
