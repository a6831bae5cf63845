"""The conformance suite's kernels in MSL, each on values that can tell its parts apart."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from rungs import require_rung

from metrale_gpu_runtime.testing.conformance.target import KERNELS

from . import CompiledFunction, CompiledLibrary, compile_library
from .launched import launch

require_rung("clang-19")

u8, u16, u32, u64, f32 = np.uint8, np.uint16, np.uint32, np.uint64, np.float32


@pytest.fixture(scope="module")
def suite() -> CompiledLibrary:
    """suite.metal"""
    return compile_library((KERNELS / "suite.metal").read_text(encoding="utf-8"))


def test_it_has_the_kernels_of_the_cuda_suite(suite: CompiledLibrary) -> None:
    """Every kernel of suite.cu is there but the one of a double and the one whose name C++ mangles."""
    text = (KERNELS / "suite.cu").read_text(encoding="utf-8")
    names = {
        part.split("(", 1)[0].split()[-1] for part in text.replace("__launch_bounds__(64) ", "").split("__global__")[1:]
    }
    assert names - set(suite.function_names) == {"echo_f64", "mangled"}
    assert set(suite.function_names) <= names
    assert suite.function("at_most_64").max_total_threads == 64


def test_numbers_and_order(suite: CompiledLibrary) -> None:
    """affine, scale_add and sum_i32 compute what their CUDA C does and stop at the count."""
    values = np.array([3, 5, 7, 9], u32)
    assert launch(suite.function("affine"), values, u32(3), u32(10), u32(1), grid=(2,), block=(3,)) is None
    assert values.tolist() == [31, 51, 71, 9]
    x, y = np.array([1, 2, 3, 4], f32), np.array([10, 20, 30, 40], f32)
    assert launch(suite.function("scale_add"), x, y, u32(3), f32(0.5), grid=(2,), block=(3,)) is None
    assert y.tolist() == [10.5, 21, 31.5, 40]
    out = np.zeros(2, np.int32)
    assert (
        launch(suite.function("sum_i32"), np.array([-5, 7, 100], np.int32), out, u32(2), grid=(2,), block=(3,)) is None
    )
    assert out.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("echo_8", u8(254)),
        ("echo_16", u16(65533)),
        ("echo_32", u32(2**32 - 1)),
        ("echo_64", u64(2**63 + 5)),
        ("echo_f32", f32(0.1)),
    ],
)
def test_echoes(suite: CompiledLibrary, name: str, value: np.generic) -> None:
    """A value comes back bit for bit and nothing is written behind it."""
    out = np.full(value.nbytes + 3, 0x5A, u8)
    assert launch(suite.function(name), out, value, grid=(2,)) is None
    assert out.tobytes() == value.tobytes() + b"\x5a\x5a\x5a"


def test_values_beside_each_other(suite: CompiledLibrary) -> None:
    """mixed, tensor_map and gapped hand back every byte of every argument in its place."""
    out = np.zeros(31, u8)
    numbers = u8(0xA1), u64(0x1122334455667788), u16(0xB2C3), np.float64(-2.5), u32(0xD4E5F607)
    assert launch(suite.function("mixed"), out, *numbers) is None
    assert out.tobytes() == struct.pack("<BQHdI", *numbers) + bytes(8)
    tensors, out = bytes(number * 7 % 251 for number in range(128)), np.zeros(133, u8)
    assert launch(suite.function("tensor_map"), out, u8(0xC1), tensors, u8(0xC2), grid=(3,), block=(50,)) is None
    assert out.tobytes() == b"\xc1" + tensors + b"\xc2" + bytes(3)
    out = np.zeros(5, u64)
    function = suite.function("gapped")
    assert launch(function, out, struct.pack("<b7xdi4x", 11, -7.25, -300)) is None
    assert out.tobytes() == struct.pack("<qdq", 11, -7.25, -300) + bytes(16)
    assert (function.bindings[1].data_size, function.bindings[1].alignment) == (24, 8)


def test_geometry_and_threadgroup_memory(suite: CompiledLibrary) -> None:
    """whereabouts, reverse_blocks and at_most_64 tell every thread and threadgroup apart."""
    out = np.zeros((2 * 1 * 3, 4 * 3 * 2, 6), u32)
    assert launch(suite.function("whereabouts"), out, grid=(2, 1, 3), block=(4, 3, 2)) is None
    assert out[4, 17].tolist() == [0, 0, 2, 1, 1, 1]
    assert len({tuple(row) for row in out.reshape(-1, 6).tolist()}) == 144
    values = np.arange(15, dtype=u32)
    assert launch(suite.function("reverse_blocks"), values, grid=(3,), block=(5,), lengths=(32,)) is None
    assert values.reshape(3, 5).tolist() == [[4, 3, 2, 1, 0], [9, 8, 7, 6, 5], [14, 13, 12, 11, 10]]
    assert launch(suite.function("at_most_64"), values, grid=(3,), block=(5,)) is None
    assert values.tolist() == list(range(7, 22))


def test_memory_through_memory(suite: CompiledLibrary) -> None:
    """write_at, follow, is_null and add_table reach what their arguments say."""
    values = np.zeros(5, np.int32)
    assert launch(suite.function("write_at"), values, np.int64(3), np.int32(-8), block=(2,)) is None
    assert values.tolist() == [0, 0, 0, -8, 0]
    targets = [np.zeros(2, u32) for _ in range(3)]
    table = np.array([target.ctypes.data for target in targets], u64)
    assert launch(suite.function("follow"), table, u32(2), u32(40), block=(3,)) is None
    assert [target.tolist() for target in targets] == [[40, 0], [41, 0], [0, 0]]
    out = np.zeros(4, u32)
    is_null = suite.function("is_null")
    assert is_null.run({0: out.ctypes.data, 1: 0}, {}, (1,), (1,)) is None
    assert out[0] == 11
    assert launch(is_null, out, values) is None
    assert out[0] == 22
    assert launch(suite.function("add_table"), out, block=(4,)) is None
    assert out.tolist() == [302, 303, 304, 0]


def test_the_trap_is_a_fault(suite: CompiledLibrary) -> None:
    """trap_if ends in a page fault when it is told to, and writes its number otherwise."""
    out = np.zeros(2, u32)
    crash = launch(suite.function("trap_if"), out, u32(1), grid=(3,), block=(2,))
    assert crash is not None
    # Below what a Python has in low memory the addresses begin anew from above.
    assert (crash.kind, crash.address) == ("page fault", (out.ctypes.data - 4 * 2**36) % 2**64)
    assert launch(suite.function("trap_if"), out, u32(0)) is None
    assert out.tolist() == [33, 0]


def test_two_modules_of_one_kernel() -> None:
    """doubled and plus_hundred have a kernel of one name that does two things."""
    x, out = np.array([3, 4, 5], u32), np.zeros(3, u32)
    functions: list[CompiledFunction] = [
        compile_library((KERNELS / f"{name}.metal").read_text(encoding="utf-8")).function("transform")
        for name in ("doubled", "plus_hundred")
    ]
    for function, expected in zip(functions, ([6, 8, 0], [103, 104, 0]), strict=True):
        out[:] = 0
        assert launch(function, out, x, u32(2), block=(3,)) is None
        assert out.tolist() == expected
