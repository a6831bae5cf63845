"""Each kernel of the example alone, with sizes that no tile divides; none of this needs the weights."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy_minilm import erf
from pocl import pocl_spec
from rungs import require_rung

import metrale_gpu_runtime as mg
from examples.embed.model import load_kernels


@pytest.fixture(scope="module", params=["cpu", "opencl", "webgpu"])
def gpu(request: pytest.FixtureRequest) -> Iterator[mg.GpuBackend]:
    """Each backend that runs kernels here: CUDA C with its memory check on, OpenCL C and WGSL."""
    backend, check = request.param, None
    if backend == "cpu":
        check = "memory"
    elif backend == "opencl":
        require_rung("pocl")
        backend = pocl_spec()
    else:
        require_rung("software vulkan")
    with mg.open_backend(backend, check=check) as opened:
        yield opened
        assert not opened.findings


@pytest.fixture(scope="module")
def kernels(gpu: mg.GpuBackend) -> dict[str, mg.Kernel]:
    """The example's kernels, in the device's language."""
    return load_kernels(gpu)


def in_place(gpu: mg.GpuBackend, values: mg.DeviceBuffer) -> mg.DeviceBuffer:
    """Where a result may go: over its input, or, on a device that gives no kernel memory twice, beside it."""
    return values if gpu.capabilities.aliased_writes else gpu.empty(values.shape, np.float32)


@pytest.fixture
def rng() -> np.random.Generator:
    """The same numbers in every run."""
    return np.random.default_rng(20)


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 4, 4), (37, 132, 100), (32, 64, 32), (65, 68, 36)])
def test_matmul_bias(
    gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel], rng: np.random.Generator, rows: int, columns: int, depth: int
) -> None:
    """Every output is the row times the column plus the column's bias, and nothing outside is written."""
    x, weight, bias = normal(rng, rows, depth), normal(rng, depth, columns), normal(rng, columns)
    y = gpu.array(np.full((rows + 1, columns), 7.0, np.float32))
    (
        mg.KernelLaunch(gpu, kernels["matmul_bias_f32"])
        .grid([mg.div_ceil(columns, 64), mg.div_ceil(rows, 32), 1])
        .block([64, 1, 1])
        .args(gpu.array(x), gpu.array(weight), gpu.array(bias), y)
        .arg_u32(rows)
        .arg_u32(columns)
        .arg_u32(depth)
        .launch()
    )
    result = y.numpy()
    np.testing.assert_allclose(result[:rows], x.astype(np.float64) @ weight + bias, rtol=0, atol=5e-5)
    assert (result[rows] == 7.0).all()


def reference_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray, epsilon: float) -> np.ndarray:
    x = x.astype(np.float64)
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + epsilon) * gain + bias


def test_layer_norm(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel], rng: np.random.Generator) -> None:
    """Rows far from zero are normalised without losing digits, in place, seven rows in blocks of four."""
    x, gain, bias = normal(rng, 7, 132) + 300, normal(rng, 132), normal(rng, 132)
    states = gpu.array(x)
    out = in_place(gpu, states)
    kernels["layer_norm_f32"][2, 64](states, gpu.array(gain), gpu.array(bias), out, 7, 132, 1e-3)
    np.testing.assert_allclose(out.numpy(), reference_norm(x, gain, bias, 1e-3), rtol=0, atol=1e-3)


def test_add_layer_norm(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel], rng: np.random.Generator) -> None:
    """The residual is added before normalising, and may be the output."""
    x, residual, gain, bias = normal(rng, 5, 68), normal(rng, 5, 68), normal(rng, 68), normal(rng, 68)
    states = gpu.array(residual)
    out = in_place(gpu, states)
    kernels["add_layer_norm_f32"][2, 64](gpu.array(x), states, gpu.array(gain), gpu.array(bias), out, 5, 68, 1e-5)
    np.testing.assert_allclose(out.numpy(), reference_norm(x + residual, gain, bias, 1e-5), rtol=0, atol=1e-5)


def test_attention(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel], rng: np.random.Generator) -> None:
    """Each token attends to its own sequence only, over sequences shorter and longer than a tile of keys."""
    starts, heads = np.array([0, 2, 47, 117], np.int32), 5
    qkv = normal(rng, 117, 3, heads, 32) * 2
    context = gpu.empty((117, heads, 32), np.float32)
    kernels["attention_f32"][(3, heads, 3), 32](
        gpu.array(qkv), gpu.array(starts), context, heads, math.log2(math.e) / math.sqrt(32)
    )
    expected = np.empty((117, heads, 32))
    for first, end in itertools.pairwise(starts):
        query, key, value = qkv[first:end].astype(np.float64).transpose(1, 2, 0, 3)
        weights = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(32))
        weights /= weights.sum(axis=-1, keepdims=True)
        expected[first:end] = (weights @ value).transpose(1, 0, 2)
    np.testing.assert_allclose(context.numpy(), expected, rtol=0, atol=1e-5)


def test_attention_of_large_scores(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel]) -> None:
    """Scores in the thousands neither overflow nor lose the largest one."""
    qkv = np.zeros((40, 3, 1, 32), np.float32)
    qkv[:, 0], qkv[:, 1, 0, 0] = 60.0, np.arange(40) * 20.0
    qkv[:, 2] = np.arange(40, dtype=np.float32)[:, None, None]
    context = gpu.empty((40, 1, 32), np.float32)
    kernels["attention_f32"][(2, 1, 1), 32](
        gpu.array(qkv), gpu.array(np.array([0, 40], np.int32)), context, 1, math.log2(math.e) / math.sqrt(32)
    )
    np.testing.assert_array_equal(context.numpy(), np.full((40, 1, 32), 39.0, np.float32))


def test_gelu(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel], rng: np.random.Generator) -> None:
    """Values are replaced by x * Phi(x) up to the count and no further."""
    x = normal(rng, 1000) * 3
    x[:3] = 0.0, -40.0, 40.0
    values = gpu.array(x)
    kernels["gelu_f32"].over(990, block=256)(values, 990)
    expected = 0.5 * x.astype(np.float64) * (1 + erf(x / math.sqrt(2)))
    np.testing.assert_allclose(values.numpy()[:990], expected[:990], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(values.numpy()[990:], x[990:])


def test_embedding_lookup(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel], rng: np.random.Generator) -> None:
    """A token's state is the sum of its word, its position and the first type."""
    ids, positions = np.array([3, 0, 9, 2], np.int32), np.array([0, 1, 0, 3], np.int32)
    word, position, kind = normal(rng, 10, 12), normal(rng, 4, 12), normal(rng, 2, 12)
    states = gpu.empty((4, 12), np.float32)
    kernels["embed_tokens_f32"][4, 2](
        *(gpu.array(table) for table in (ids, positions, word, position, kind)), states, 12
    )
    np.testing.assert_allclose(states.numpy(), word[ids] + position[positions] + kind[0], rtol=1e-6)


def test_pooling_and_length(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel], rng: np.random.Generator) -> None:
    """The mean is over a sequence's own tokens; its length becomes 1, and a zero vector stays zero."""
    starts = np.array([0, 1, 6, 10], np.int32)
    states = normal(rng, 10, 100)
    states[6:] = 0.0
    pooled = gpu.empty((3, 100), np.float32)
    kernels["mean_pool_f32"][(2, 3), 64](gpu.array(states), gpu.array(starts), pooled, 100)
    means = np.stack([states[0], states[1:6].mean(0), states[6]])
    np.testing.assert_allclose(pooled.numpy(), means, rtol=0, atol=1e-6)
    kernels["l2_normalise_f32"][3, 32](pooled, 100, 1e-12)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(pooled.numpy(), means / np.maximum(lengths, 1e-12), rtol=0, atol=1e-6)


def test_wrong_launches_are_refused(gpu: mg.GpuBackend, kernels: dict[str, mg.Kernel]) -> None:
    """A swapped pointer, a float for a count and a block of another size are refused before anything runs."""
    floats, ints = gpu.array(np.full(8, 3.0, np.float32)), gpu.array(np.array([0, 1], np.int32))
    other = gpu.empty(8, np.float32)
    with pytest.raises(mg.ElementTypeError, match="starts"):
        kernels["mean_pool_f32"][(1, 1), 32](floats, floats, other, 8)
    with pytest.raises(mg.ElementTypeError, match="hidden_states"):
        mg.KernelLaunch(gpu, kernels["mean_pool_f32"]).arg_ptr(ints).arg_ptr(ints).arg_ptr(floats).arg_u32(8).launch()
    with pytest.raises(mg.ArgumentKindError, match="count"):
        kernels["gelu_f32"][1, 32](floats, 8.0)
    # A block that is too large, or, where the language says so, another than the one there is.
    with pytest.raises((mg.LimitExceeded, mg.GeometryError), match="128"):
        kernels["layer_norm_f32"][1, 128](floats, floats, floats, other, 1, 8, 1e-5)
    np.testing.assert_array_equal(floats.numpy(), np.full(8, 3.0, np.float32))
