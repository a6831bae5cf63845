"""What the caller wrote reaches the kernel bit for bit, in order, each in its own place."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import partial

import numpy as np

from ....args import Bytes
from ....backend import GpuBackend
from ....buffers import DeviceBuffer
from ....errors import ArgumentKindError, ArgumentRangeError, SignatureError
from ....kernel import Kernel
from ....launch import KernelLaunch
from ....scalars import SCALARS, u8, u32
from ..case import case
from ..known import knows, takes
from ..refused import refused
from ..target import ConformanceTarget

# method, kernel, value, the bytes that must arrive
_SCALARS = (
    ("u8", "echo_8", 254, "fe"),
    ("i8", "echo_8", -113, "8f"),
    ("u16", "echo_16", 65533, "fdff"),
    ("i16", "echo_16", -32768, "0080"),
    ("u32", "echo_32", 2**32 - 1, "ffffffff"),
    ("i32", "echo_32", 2**31 - 1, "ffffff7f"),
    ("i32", "echo_32", -(2**31), "00000080"),
    ("u64", "echo_64", 2**63, "0000000000000080"),
    ("u64", "echo_64", 2**64 - 1, "ffffffffffffffff"),
    ("i64", "echo_64", -(2**63), "0000000000000080"),
    ("i64", "echo_64", -2, "feffffffffffffff"),
    ("f32", "echo_f32", 2.0, "00000040"),
    ("f32", "echo_f32", -0.0, "00000080"),
    ("f32", "echo_f32", 1e39, "0000807f"),
    ("f32", "echo_f32", 0.1, "cdcccc3d"),
    ("f64", "echo_f64", 0.1, "9a9999999999b93f"),
    ("f64", "echo_f64", float("-inf"), "000000000000f0ff"),
)
_HALVES = (
    ("f16", 1.5, "003e"),
    ("f16", 65520.0, "007c"),
    ("f16", 2049.0, "0068"),
    ("bf16", 1.5, "c03f"),
    ("bf16", 1.00390625, "803f"),
    ("bf16", 3.5e38, "807f"),
)


def echo(gpu: GpuBackend, kernel: Kernel, add: str, value: object, nbytes: int) -> bytes:
    """Launch an echo kernel with one argument of a stated type; the bytes it wrote."""
    out = gpu.array(np.full(nbytes + 3, 0x5A, dtype=np.uint8))
    launch = KernelLaunch(gpu, kernel).arg_ptr(out.ptr)
    getattr(launch, f"arg_{add}")(value).launch()
    written = out.tobytes()
    assert written[nbytes:] == b"\x5a\x5a\x5a", f"{kernel.function} wrote past its {nbytes} bytes"
    return written[:nbytes]


def _echoing(target: ConformanceTarget, gpu: GpuBackend, function: str, scalar: str) -> Kernel:
    """An echo kernel that may be given this type. Where its exact type is known and another, that type is declared, or,
    where the code itself says the other type, the kernel for anything of that size is taken."""
    kernel = target.kernel(gpu, function)
    if takes(kernel, 1, SCALARS[scalar]):
        return kernel
    try:
        return target.kernel(gpu, function, signature=f"void* out, {SCALARS[scalar].c_name} value")
    except SignatureError:
        return target.kernel_of(gpu, "bound", function.replace("echo", "any"))


@case(invariants=(1, 2), field=(15,))
def scalars_arrive_bit_for_bit(target: ConformanceTarget) -> None:
    """Every integer in range and every float, rounded as IEEE does, arrives with exactly its type's bytes."""
    with target.opened() as gpu:
        for add, function, value, expected in _SCALARS:
            if add in gpu.capabilities.unsupported_scalars:
                continue
            arrived = echo(gpu, _echoing(target, gpu, function, add), add, value, len(expected) // 2)
            assert arrived.hex() == expected, f"arg_{add}({value!r}) arrived as {arrived.hex()}, not {expected}"


@case(invariants=(2,), field=(16,))
def halves_arrive_by_their_bits(target: ConformanceTarget) -> None:
    """A half and a bfloat16 are rounded to nearest even and passed as their two bytes, not as numbers."""
    with target.opened() as gpu:
        lacking, words = gpu.capabilities.unsupported_scalars, target.kernel(gpu, "echo_32")
        for add, value, expected in _HALVES:
            launch = KernelLaunch(gpu, words)
            getattr(launch, f"arg_{add}")(value)
            assert launch.kernel_args[0] == Bytes(bytes.fromhex(expected)), f"{add}({value!r})"
            if add in lacking:
                continue
            if "u16" in lacking:
                # A device may take halves and no integers of that size.
                arrived = echo(gpu, target.kernel_of(gpu, "half", "any_16"), add, value, 2)
            elif takes(target.kernel(gpu, "echo_16"), 1, SCALARS[add]) or gpu.capabilities.local_arguments:
                arrived = echo(gpu, _echoing(target, gpu, "echo_16", add), add, value, 2)
            else:
                # Its own type is known to be an integer: it takes the bits.
                bits = int.from_bytes(bytes.fromhex(expected), "little")
                arrived = echo(gpu, target.kernel(gpu, "echo_16"), "u16", bits, 2)
            assert arrived.hex() == expected, f"{add}({value!r})"


@case(invariants=(2,), field=(16,), where=("scalar bool",))
def a_bool_is_one_byte(target: ConformanceTarget) -> None:
    """A bool argument is one byte, 0 or 1."""
    with target.opened() as gpu:
        kernel = _echoing(target, gpu, "echo_8", "bool")
        assert echo(gpu, kernel, "bool", True, 1) == b"\x01"
        assert echo(gpu, kernel, "bool", np.bool_(False), 1) == b"\x00"


def _wide(gpu: GpuBackend, kernel: Kernel, index: int, number: float) -> tuple[str, float | int, bytes]:
    """A number of 8 bytes where the parameter may have them, as a double or as its bits; else of 4."""
    bits = struct.pack("<d", number)
    for add, value, data in (
        ("f64", number, bits),
        ("u64", int.from_bytes(bits, "little"), bits),
        ("f32", number, struct.pack("<f", number)),
    ):
        if add not in gpu.capabilities.unsupported_scalars and takes(kernel, index, SCALARS[add]):
            return add, value, data
    return "f64", number, bits


@case(invariants=(1,), field=(14,))
def arguments_of_mixed_widths_keep_their_places(target: ConformanceTarget) -> None:
    """Arguments of 8, 1, 8, 2, 8 and 4 bytes in a row each arrive whole: offsets follow C's alignment."""
    with target.opened() as gpu:
        if {"u8", "u16", "u64"} & gpu.capabilities.unsupported_scalars:
            _words_and_vectors_keep_their_places(target, gpu)
            return
        out, kernel = gpu.array(np.zeros(31, dtype=np.uint8)), target.kernel(gpu, "mixed")
        add, value, data = _wide(gpu, kernel, 4, -2.5)
        launch = KernelLaunch(gpu, kernel).arg_ptr(out.ptr).arg_u8(0xA1).arg_u64(0x1122334455667788).arg_u16(0xB2C3)
        getattr(launch, f"arg_{add}")(value).arg_u32(0xD4E5F607)
        assert launch.starts == [0, 1, 2, 3, 4, 5]
        assert launch.storage[1:4] == [0xA1, 0x1122334455667788, 0xB2C3]
        launch.launch()
        expected = struct.pack("<BQH", 0xA1, 0x1122334455667788, 0xB2C3) + data + struct.pack("<I", 0xD4E5F607)
        assert out.numpy().tobytes() == expected + bytes(31 - len(expected))


def _words_and_vectors_keep_their_places(target: ConformanceTarget, gpu: GpuBackend) -> None:
    """The same where scalars are words: arguments of 4, 8, 4, 16 and 4 bytes, each at its vector's alignment."""
    out, kernel = gpu.array(np.zeros(11, dtype=np.uint32)), target.kernel(gpu, "mixed")
    pair, quad = struct.pack("<2I", 0x11223344, 0x55667788), struct.pack("<4I", 0xB1, 0xB2B2, 0xB3B3B3, 0xB4B4B4B4)
    launch = KernelLaunch(gpu, kernel).arg_ptr(out.ptr).arg_u32(0xA1A2A3A4).arg_bytes(pair, align=8).arg_f32(-2.5)
    launch.arg_bytes(quad, align=16).arg_u32(0xD4E5F607).launch()
    expected = struct.pack("<I", 0xA1A2A3A4) + pair + struct.pack("<f", -2.5) + quad + struct.pack("<I", 0xD4E5F607)
    assert out.tobytes() == expected + bytes(8)


@case(invariants=(1,), field=(14,), needs=("tensor_maps",))
def a_tensor_map_is_one_argument(target: ConformanceTarget) -> None:
    """128 bytes by value are one argument over 16 slots; they and their neighbours arrive unchanged."""
    with target.opened() as gpu:
        beside = u32 if "u8" in gpu.capabilities.unsupported_scalars else u8
        tensors = bytes(number * 7 % 251 for number in range(128))
        out = gpu.array(np.zeros(128 + 2 * beside.nbytes + 3, dtype=np.uint8))
        launch = (
            KernelLaunch(gpu, target.kernel(gpu, "tensor_map"))
            .grid(3)
            .block(50)
            .arg_ptr(out.ptr)
            .arg(beside(0xC1))
            .arg_tensormap(tensors)
            .arg(beside(0xC2))
        )
        assert launch.starts == [0, 1, 2, 18]
        assert len(launch.storage) == 19
        assert len(launch.kernel_args) == 4
        launch.launch()
        before, after = (number.to_bytes(beside.nbytes, "little") for number in (0xC1, 0xC2))
        assert out.tobytes() == before + tensors + after + bytes(3)


@case(invariants=(1,), field=(13,))
def structures_keep_every_field(target: ConformanceTarget) -> None:
    """A structure given as bytes, as a NumPy scalar or as a ctypes structure arrives with its gaps and all fields."""

    class Gapped(ctypes.Structure):
        _fields_ = (("a", ctypes.c_char), ("b", ctypes.c_double), ("c", ctypes.c_int))

    dtype = np.dtype([("a", np.int8), ("b", np.float64), ("c", np.int32)], align=True)
    data = struct.pack("<b7xdi4x", 11, -7.25, -300)
    ways: tuple[Callable[[KernelLaunch], KernelLaunch], ...] = (
        lambda launch: launch.arg_bytes(data),
        lambda launch: launch.arg_bytes(data, align=8),
        lambda launch: launch.arg_struct(np.array((11, -7.25, -300), dtype=dtype)[()]),
        lambda launch: launch.arg_struct(Gapped(b"\x0b", -7.25, -300)),
    )
    with target.opened() as gpu:
        for add in ways:
            out = gpu.array(np.zeros(5, dtype=np.uint64))
            add(KernelLaunch(gpu, target.kernel(gpu, "gapped")).arg_ptr(out.ptr)).launch()
            assert out.numpy().tobytes() == struct.pack("<qdq", 11, -7.25, -300) + bytes(16)


@case(invariants=(2, 3), field=(1, 30))
def typed_values_keep_their_type_in_the_short_form(target: ConformanceTarget) -> None:
    """NumPy and ctypes scalars and 0-d arrays go over with their own width; a bare float takes the parameter's."""
    ways: tuple[tuple[str, object, str], ...] = (
        ("echo_f32", 2.0, "00000040"),
        ("echo_f32", np.float32(2.5), "00002040"),
        ("echo_f32", np.array(2.5, dtype=np.float32), "00002040"),
        ("echo_32", np.int32(-5), "fbffffff"),
        ("echo_32", np.uint32(4_000_000_000), "00286bee"),
        ("echo_32", ctypes.c_int32(-6), "faffffff"),
    )
    with target.opened() as gpu:
        if knows(target.kernel(gpu, "echo_32"), 1, "floating"):
            ways = (*ways, ("echo_32", 7, "07000000"))
        for function, value, expected in ways:
            out = gpu.array(np.zeros(3, dtype=np.uint32))
            signed = isinstance(value, (np.int32, ctypes.c_int32))
            kernel = _echoing(target, gpu, function, "i32") if signed else target.kernel(gpu, function)
            kernel[1, 1](out.ptr, value)
            assert out.numpy()[:1].tobytes().hex() == expected, f"{function}({value!r})"


@case(invariants=(3,), field=(22,), needs=("null_pointers",))
def null_is_a_pointer(target: ConformanceTarget) -> None:
    """A null pointer and an empty buffer reach the kernel as null; a buffer does not."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "is_null")
        out = gpu.array(np.zeros(3, dtype=np.uint32))
        for pointer, expected in ((None, 11), (gpu.buffer(0), 11), (out, 22)):
            KernelLaunch(gpu, kernel).arg_ptr(out.ptr).arg_ptr(pointer).launch()
            assert int(out.numpy()[0]) == expected, f"{pointer!r}"


@case(invariants=(3,), field=(17,))
def views_start_where_they_start(target: ConformanceTarget) -> None:
    """A contiguous slice is passed as the address of its own first element, and copies honour offsets."""
    with target.opened() as gpu:
        step = max(gpu.capabilities.buffer_offset_alignment // 4, 1)
        host = np.arange(3 * step + 5, dtype=np.uint32)
        values: DeviceBuffer = gpu.array(host)
        part = values[step : step + 3]
        target.kernel(gpu, "affine")[1, 4](part, np.uint32(3), np.uint32(10), np.uint32(1))
        expected = host.copy()
        expected[step : step + 3] = expected[step : step + 3] * 10 + 1
        np.testing.assert_array_equal(values.numpy(), expected)
        np.testing.assert_array_equal(part.numpy(), expected[step : step + 3])
        part.copy_from(np.array([7, 8, 9], dtype=np.uint32))
        expected[step : step + 3] = [7, 8, 9]
        np.testing.assert_array_equal(values.numpy(), expected)


# What a typed slot takes of NumPy's scalars: any whose value survives, but never a bool for a number or the reverse,
# a float for an integer, a complex for a real number.
_TAKES = {"unsigned": "iu", "signed": "iu", "float": "iuf", "complex": "iufc", "bool": "b"}
_DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "b1"]
_NUMPY = {"bf16": None, "bool": "b1", "c64": "c8", "c128": "c16", **{f"f{8 * n}": f"f{n}" for n in (2, 4, 8)}}


@case(invariants=(2,), field=(30,))
def numpy_scalars_fit_by_value(target: ConformanceTarget) -> None:
    """Each NumPy scalar and 0-d array is taken by the slots of its kind, bit for bit, and refused by the others."""
    with target.opened() as gpu:
        kernel, out = target.kernel(gpu, "echo_32"), gpu.buffer(4)
        for name, scalar in SCALARS.items():
            own = _NUMPY.get(name, f"{name[0]}{int(name[1:]) // 8}" if scalar.is_integer else None)
            for code in _DTYPES:
                dtype = np.dtype(code)
                for value in (dtype.type(1), np.array(1, dtype=dtype)):
                    launch = KernelLaunch(gpu, kernel).arg_ptr(out)
                    add = partial(getattr(launch, f"arg_{name}"), value)
                    if dtype.kind not in _TAKES[scalar.kind]:
                        refused(target, gpu, add, ArgumentKindError, index=1)
                        continue
                    add()
                    expected = np.dtype(own).type(1).tobytes() if own is not None else b"\x80\x3f"
                    assert launch.kernel_args[1] == Bytes(expected), f"{value!r} as {name}"


@case(invariants=(2,), field=(30,))
def numpy_values_that_do_not_survive_are_refused(target: ConformanceTarget) -> None:
    """A NumPy value that its slot cannot hold exactly is refused; the same as a Python number rounds as IEEE does."""
    with target.opened() as gpu:
        kernel, out = target.kernel(gpu, "echo_32"), gpu.buffer(4)
        for name, value in (
            ("u8", np.int64(256)),
            ("i8", np.uint8(200)),
            ("i32", np.uint32(2**31)),
            ("u64", np.int8(-1)),
            ("f16", np.float32(0.1)),
            ("f32", np.float64(0.1)),
            ("f32", np.int64(2**24 + 1)),
            ("bf16", np.float32(1.0000001)),
        ):
            launch = KernelLaunch(gpu, kernel).arg_ptr(out)
            refused(
                target, gpu, partial(getattr(launch, f"arg_{name}"), value), ArgumentRangeError, index=1, says=(name,)
            )
        rounded = KernelLaunch(gpu, kernel).arg_f32(0.1).arg_f16(0.1).kernel_args
        assert rounded == (Bytes(bytes.fromhex("cdcccc3d")), Bytes(bytes.fromhex("662e")))
