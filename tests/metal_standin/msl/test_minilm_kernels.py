"""MiniLM's kernels in MSL, one by one, against NumPy with sizes that no tile divides; none of this needs the weights."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from rungs import require_rung

from examples.embed.model import KERNEL_FOLDER, KERNELS

from . import CompiledFunction, compile_library
from .launched import launch

require_rung("clang-19")

u32, f32 = np.uint32, np.float32
GUARD = f32(7.25)


def kernel(name: str) -> CompiledFunction:
    module = next(module for module, functions in KERNELS.items() if name in functions)
    return compile_library((KERNEL_FOLDER / f"{module}.metal").read_text(encoding="utf-8")).function(name)


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy that starts at a multiple of 256, as a buffer of Metal does."""
    room = np.empty(values.nbytes + 256, np.uint8)
    start = -room.ctypes.data % 256
    copy = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers in every run."""
    return np.random.default_rng(20)


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return aligned(rng.standard_normal(shape, dtype=np.float32))


@pytest.mark.parametrize("module", KERNELS)
def test_every_module_has_its_kernels_and_parameters(module: str) -> None:
    """Each module's MSL has exactly the kernels that the model asks for, their buffers in the declared order."""
    library = compile_library((KERNEL_FOLDER / f"{module}.metal").read_text(encoding="utf-8"))
    assert set(library.function_names) == set(KERNELS[module])
    for name, declared in KERNELS[module].items():
        bindings = sorted(library.function(name).bindings, key=lambda binding: binding.index)
        assert [binding.index for binding in bindings] == list(range(len(bindings)))
        codes = {"float": 3, "int": 29, "unsigned": 33}
        words = [parameter.replace("*", "* ").split() for parameter in declared.split(",")]
        assert [(b.name, b.data_type, b.access) for b in bindings] == [
            (
                word[-1],
                codes[next(w for w in word if w.strip("*") in codes)],
                "read" if "const" in word or "*" not in "".join(word) else "readwrite",
            )
            for word in words
        ]


@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 4, 4), (37, 132, 100), (32, 64, 32), (65, 68, 36)])
def test_matmul_bias(rng: np.random.Generator, rows: int, columns: int, depth: int) -> None:
    """Every output is the row times the column plus the column's bias, and nothing outside is written."""
    x, weight, bias = normal(rng, rows, depth), normal(rng, depth, columns), normal(rng, columns)
    y = aligned(np.full((rows + 1, columns), GUARD))
    sizes = u32(rows), u32(columns), u32(depth)
    grid = -(-columns // 64), -(-rows // 32), 1
    assert launch(kernel("matmul_bias_f32"), x, weight, bias, y, *sizes, grid=grid, block=(64,)) is None
    np.testing.assert_allclose(y[:rows], x.astype(np.float64) @ weight + bias, rtol=0, atol=5e-5)
    assert (y[rows] == GUARD).all()


def reference_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray, epsilon: float) -> np.ndarray:
    x = x.astype(np.float64)
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon) * gain + bias


def test_layer_norm(rng: np.random.Generator) -> None:
    """Rows far from zero are normalised without losing digits, in place, seven rows in blocks of four."""
    x, gain, bias = normal(rng, 7, 132) + 300, normal(rng, 132), normal(rng, 132)
    states = aligned(np.vstack([x, np.full((1, 132), GUARD)]))
    numbers = u32(7), u32(132), f32(1e-3)
    assert launch(kernel("layer_norm_f32"), states, gain, bias, states, *numbers, grid=(2,), block=(64,)) is None
    np.testing.assert_allclose(states[:7], reference_norm(x, gain, bias, 1e-3), rtol=0, atol=1e-3)
    assert (states[7] == GUARD).all()


def test_add_layer_norm(rng: np.random.Generator) -> None:
    """The residual is added before normalising, and may be the output."""
    x, residual, gain, bias = normal(rng, 5, 68), normal(rng, 5, 68), normal(rng, 68), normal(rng, 68)
    states = aligned(residual)
    numbers = u32(5), u32(68), f32(1e-5)
    function = kernel("add_layer_norm_f32")
    assert launch(function, x, states, gain, bias, states, *numbers, grid=(2,), block=(64,)) is None
    np.testing.assert_allclose(states, reference_norm(x + residual, gain, bias, 1e-5), rtol=0, atol=1e-5)


def test_attention(rng: np.random.Generator) -> None:
    """Each token attends to its own sequence only, over sequences shorter and longer than a tile of keys."""
    starts, heads = np.array([0, 2, 47, 117], np.int32), 5
    qkv = aligned(normal(rng, 117, 3, heads, 32) * 2)
    context = aligned(np.full((118, heads, 32), GUARD))
    scale = f32(math.log2(math.e) / math.sqrt(32))
    function = kernel("attention_f32")
    assert launch(function, qkv, starts, context, u32(heads), scale, grid=(3, heads, 3), block=(32,)) is None
    expected = np.empty((117, heads, 32))
    for first, end in itertools.pairwise(starts):
        query, key, value = qkv[first:end].astype(np.float64).transpose(1, 2, 0, 3)
        weights = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(32))
        weights /= weights.sum(axis=-1, keepdims=True)
        expected[first:end] = (weights @ value).transpose(1, 0, 2)
    np.testing.assert_allclose(context[:117], expected, rtol=0, atol=1e-5)
    assert (context[117] == GUARD).all()


def test_attention_of_large_scores() -> None:
    """Scores in the thousands neither overflow nor lose the largest one."""
    qkv = aligned(np.zeros((40, 3, 1, 32), np.float32))
    qkv[:, 0], qkv[:, 1, 0, 0] = 60.0, np.arange(40) * 20.0
    qkv[:, 2] = np.arange(40, dtype=np.float32)[:, None, None]
    context = aligned(np.zeros((40, 1, 32), np.float32))
    scale = f32(math.log2(math.e) / math.sqrt(32))
    starts = np.array([0, 40], np.int32)
    assert launch(kernel("attention_f32"), qkv, starts, context, u32(1), scale, grid=(2, 1, 1), block=(32,)) is None
    np.testing.assert_array_equal(context, np.full((40, 1, 32), 39.0, np.float32))


def test_gelu_over_its_whole_range() -> None:
    """Values are replaced by x * Phi(x) up to the count and no further; Metal's missing erf is right to 1e-6 on all of it."""
    x = np.concatenate([np.linspace(-7, 7, 5003), [0.0, -0.0, -40.0, 40.0, 1e-30, -1e-7]]).astype(np.float32)
    values = aligned(np.append(x, GUARD))
    count = len(x)
    assert launch(kernel("gelu_f32"), values, u32(count), grid=(-(-count // 256),), block=(256,)) is None
    expected = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in map(float, x)]
    np.testing.assert_allclose(values[:-1], expected, rtol=0, atol=1e-6)
    assert values[-1] == GUARD


def test_embedding_lookup(rng: np.random.Generator) -> None:
    """A token's state is the sum of its word, its position and the first type."""
    ids, positions = np.array([3, 0, 9, 2], np.int32), np.array([0, 1, 0, 3], np.int32)
    word, position, kind = normal(rng, 10, 12), normal(rng, 4, 12), normal(rng, 2, 12)
    states = aligned(np.full((5, 12), GUARD))
    function = kernel("embed_tokens_f32")
    assert launch(function, ids, positions, word, position, kind, states, u32(12), grid=(4,), block=(2,)) is None
    np.testing.assert_allclose(states[:4], word[ids] + position[positions] + kind[0], rtol=1e-6)
    assert (states[4] == GUARD).all()


def test_pooling_and_length(rng: np.random.Generator) -> None:
    """The mean is over a sequence's own tokens; its length becomes 1, and a zero vector stays zero."""
    starts = np.array([0, 1, 6, 10], np.int32)
    states = normal(rng, 10, 100)
    states[6:] = 0.0
    pooled = aligned(np.full((4, 100), GUARD))
    assert launch(kernel("mean_pool_f32"), states, starts, pooled, u32(100), grid=(2, 3), block=(64,)) is None
    means = np.stack([states[0], states[1:6].mean(0), states[6]])
    np.testing.assert_allclose(pooled[:3], means, rtol=0, atol=1e-6)
    assert launch(kernel("l2_normalise_f32"), pooled, u32(100), f32(1e-12), grid=(3,), block=(32,)) is None
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(pooled[:3], means / np.maximum(lengths, 1e-12), rtol=0, atol=1e-6)
    assert (pooled[3] == GUARD).all()


@pytest.mark.parametrize("barrier", [0, 1])
def test_the_matmul_needs_each_of_its_barriers(rng: np.random.Generator, barrier: int) -> None:
    """Without either barrier the product is wrong: threads here see threadgroup memory only as they really would."""
    text = (KERNEL_FOLDER / "matmul.metal").read_text(encoding="utf-8")
    parts = text.split("threadgroup_barrier(mem_flags::mem_threadgroup);")
    assert len(parts) == 3
    parts[barrier : barrier + 2] = [parts[barrier] + parts[barrier + 1]]
    function = compile_library("threadgroup_barrier(mem_flags::mem_threadgroup);".join(parts)).function(
        "matmul_bias_f32"
    )
    x, weight, bias = normal(rng, 37, 100), normal(rng, 100, 132), normal(rng, 132)
    y = aligned(np.zeros((37, 132), np.float32))
    sizes = u32(37), u32(132), u32(100)
    assert launch(function, x, weight, bias, y, *sizes, grid=(3, 2), block=(64,)) is None
    assert not np.allclose(y, x.astype(np.float64) @ weight + bias, rtol=0, atol=1e-2)
