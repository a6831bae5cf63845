"""all-MiniLM-L6-v2 on a device: its weights, its kernels, and the launches that make a sentence embedding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

from .timing import KernelTimes
from .weights import HEAD_DIM, ModelFiles, ModelShape, Tensors, open_weights, read_shape

KERNEL_FOLDER = Path(__file__).with_name("kernels")
KERNEL_SUFFIXES = tuple(sorted({path.suffix for path in KERNEL_FOLDER.iterdir()}))
"""The forms in which every module is there; a device is taken only if it can load one of them."""
_LAYER_NORM = "const float *gain, const float *bias, float *output, unsigned rows, unsigned hidden, float epsilon"
KERNELS = {
    "embedding": {
        "embed_tokens_f32": "const int *token_ids, const int *positions, const float *word_table, "
        "const float *position_table, const float *type_table, float *hidden_states, unsigned hidden"
    },
    "layer_norm": {
        "layer_norm_f32": f"const float *input, {_LAYER_NORM}",
        "add_layer_norm_f32": f"const float *input, const float *residual, {_LAYER_NORM}",
    },
    "matmul": {
        "matmul_bias_f32": "const float *x, const float *weight, const float *bias, float *y, "
        "unsigned rows, unsigned columns, unsigned depth"
    },
    "attention": {
        "attention_f32": "const float *qkv, const int *starts, float *context, unsigned heads, float scale_log2"
    },
    "gelu": {"gelu_f32": "float *values, unsigned count"},
    "pooling": {
        "mean_pool_f32": "const float *hidden_states, const int *starts, float *pooled, unsigned hidden",
        "l2_normalise_f32": "float *rows, unsigned hidden, float floor",
    },
}
"""The kernels by module, with their parameters; each module is a file of that name in KERNEL_FOLDER, for every backend
its own suffix.

The parameters are said here because compiled PTX does not tell a float pointer from an int pointer, nor either from an
integer; so said, every launch is checked against them.
"""

EMPTY_TEXT = (101, 102)
"""[CLS] [SEP]"""

# The tiles and blocks that the kernels are written for.
MATMUL_ROWS, MATMUL_COLUMNS, MATMUL_BLOCK = 32, 64, 64
NORM_ROWS, NORM_BLOCK = 4, 64
ATTENTION_QUERIES = 32
NORMALISE_BLOCK = 32


@dataclass(frozen=True, slots=True)
class Dense:
    """y = x * weight + bias, the weight stored [inputs][outputs] as matmul.cu reads it."""

    weight: mg.DeviceBuffer
    bias: mg.DeviceBuffer
    inputs: int
    outputs: int


@dataclass(frozen=True, slots=True)
class Norm:
    """The gain and bias of a layer normalisation."""

    gain: mg.DeviceBuffer
    bias: mg.DeviceBuffer


@dataclass(frozen=True, slots=True)
class Layer:
    """One encoder layer: attention with its output, then the two dense steps around GELU."""

    qkv: Dense
    attention_output: Dense
    attention_norm: Norm
    inner: Dense
    output: Dense
    output_norm: Norm


class SentenceEncoder:
    """The model on one device. `times` says how long its kernels took."""

    def __init__(self, gpu: mg.GpuBackend, files: ModelFiles) -> None:
        self._gpu = gpu
        self.shape = read_shape(files.config)
        self.times = KernelTimes(gpu)
        self._kernels = load_kernels(gpu)
        with open_weights(files.weights) as tensors:
            self._word = gpu.array(tensors.get_tensor("embeddings.word_embeddings.weight"))
            self._position = gpu.array(tensors.get_tensor("embeddings.position_embeddings.weight"))
            self._type = gpu.array(tensors.get_tensor("embeddings.token_type_embeddings.weight"))
            self._embedding_norm = _norm(gpu, tensors, "embeddings.LayerNorm")
            self._layers = [_layer(gpu, tensors, f"encoder.layer.{i}") for i in range(self.shape.layers)]

    def warm_up(self) -> None:
        """Make every kernel ready, which on some devices compiles it, by embedding an empty text.

        The time of that is forgotten.
        """
        self.embed([EMPTY_TEXT])
        self.times.by_kernel.clear()

    def embed(self, batch: Sequence[Sequence[int]], on_layer: Callable[[], None] | None = None) -> np.ndarray:
        """One unit vector per token sequence, as float32 [sequences, hidden].

        The sequences lie one behind the other without padding. `on_layer` is called whenever the device has finished
        a layer. Raises ValueError for an empty batch or sequence, one longer than the position table, or an id
        that is not in the vocabulary.
        """
        _check_batch(batch, self.shape)
        gpu, shape = self._gpu, self.shape
        lengths = [len(sequence) for sequence in batch]
        tokens = sum(lengths)
        token_ids = gpu.array(np.concatenate([np.asarray(sequence, np.int32) for sequence in batch]))
        positions = gpu.array(np.concatenate([np.arange(length, dtype=np.int32) for length in lengths]))
        starts = gpu.array(np.cumsum([0, *lengths], dtype=np.int32))

        states = gpu.empty((tokens, shape.hidden), np.float32)
        qkv = gpu.empty((tokens, 3 * shape.hidden), np.float32)
        context = gpu.empty((tokens, shape.hidden), np.float32)
        projected = gpu.empty((tokens, shape.hidden), np.float32)
        attended = gpu.empty((tokens, shape.hidden), np.float32)
        inner = gpu.empty((tokens, shape.inner), np.float32)

        # Nothing is given to a kernel twice that it writes: not every device binds that.
        self._embed_tokens(token_ids, positions, projected, tokens)
        self._layer_norm(projected, self._embedding_norm, states, tokens)
        for layer in self._layers:
            self._dense(states, layer.qkv, qkv, tokens)
            self._attention(qkv, starts, context, len(lengths), max(lengths))
            self._dense(context, layer.attention_output, projected, tokens)
            self._add_layer_norm(projected, states, layer.attention_norm, attended, tokens)
            self._dense(attended, layer.inner, inner, tokens)
            self._gelu(inner, tokens * shape.inner)
            self._dense(inner, layer.output, projected, tokens)
            self._add_layer_norm(projected, attended, layer.output_norm, states, tokens)
            if on_layer is not None:
                gpu.synchronize()
                on_layer()
        pooled = gpu.empty((len(lengths), shape.hidden), np.float32)
        self._pool(states, starts, pooled, len(lengths))
        self.times.collect()
        embeddings: np.ndarray = pooled.numpy()
        return embeddings

    # The typed builder says the type of each argument at the launch; most launches here use it.

    def _embed_tokens(
        self, token_ids: mg.DeviceBuffer, positions: mg.DeviceBuffer, states: mg.DeviceBuffer, tokens: int
    ) -> None:
        with self.times.measure("embed_tokens_f32"):
            (
                mg.KernelLaunch(self._gpu, self._kernels["embed_tokens_f32"])
                .grid([tokens, 1, 1])
                .block([96, 1, 1])
                .arg_ptr(token_ids)
                .arg_ptr(positions)
                .arg_ptr(self._word)
                .arg_ptr(self._position)
                .arg_ptr(self._type)
                .arg_ptr(states)
                .arg_u32(self.shape.hidden)
                .launch()
            )

    def _layer_norm(self, values: mg.DeviceBuffer, norm: Norm, out: mg.DeviceBuffer, rows: int) -> None:
        with self.times.measure("layer_norm_f32"):
            (
                mg.KernelLaunch(self._gpu, self._kernels["layer_norm_f32"])
                .grid([mg.div_ceil(rows, NORM_ROWS), 1, 1])
                .block([NORM_BLOCK, 1, 1])
                .arg_ptr(values)
                .arg_ptr(norm.gain)
                .arg_ptr(norm.bias)
                .arg_ptr(out)
                .arg_u32(rows)
                .arg_u32(self.shape.hidden)
                .arg_f32(self.shape.epsilon)
                .launch()
            )

    def _add_layer_norm(
        self, values: mg.DeviceBuffer, residual: mg.DeviceBuffer, norm: Norm, out: mg.DeviceBuffer, rows: int
    ) -> None:
        with self.times.measure("add_layer_norm_f32"):
            (
                mg.KernelLaunch(self._gpu, self._kernels["add_layer_norm_f32"])
                .grid([mg.div_ceil(rows, NORM_ROWS), 1, 1])
                .block([NORM_BLOCK, 1, 1])
                .arg_ptr(values)
                .arg_ptr(residual)
                .arg_ptr(norm.gain)
                .arg_ptr(norm.bias)
                .arg_ptr(out)
                .arg_u32(rows)
                .arg_u32(self.shape.hidden)
                .arg_f32(self.shape.epsilon)
                .launch()
            )

    def _dense(self, x: mg.DeviceBuffer, dense: Dense, y: mg.DeviceBuffer, rows: int) -> None:
        with self.times.measure("matmul_bias_f32"):
            (
                mg.KernelLaunch(self._gpu, self._kernels["matmul_bias_f32"])
                .grid([mg.div_ceil(dense.outputs, MATMUL_COLUMNS), mg.div_ceil(rows, MATMUL_ROWS), 1])
                .block([MATMUL_BLOCK, 1, 1])
                .arg_ptr(x)
                .arg_ptr(dense.weight)
                .arg_ptr(dense.bias)
                .arg_ptr(y)
                .arg_u32(rows)
                .arg_u32(dense.outputs)
                .arg_u32(dense.inputs)
                .launch()
            )

    def _attention(
        self, qkv: mg.DeviceBuffer, starts: mg.DeviceBuffer, context: mg.DeviceBuffer, sequences: int, longest: int
    ) -> None:
        with self.times.measure("attention_f32"):
            (
                mg.KernelLaunch(self._gpu, self._kernels["attention_f32"])
                .grid([mg.div_ceil(longest, ATTENTION_QUERIES), self.shape.heads, sequences])
                .block([ATTENTION_QUERIES, 1, 1])
                .arg_ptr(qkv)
                .arg_ptr(starts)
                .arg_ptr(context)
                .arg_u32(self.shape.heads)
                .arg_f32(math.log2(math.e) / math.sqrt(HEAD_DIM))
                .launch()
            )

    # The short form takes the types from the kernel's signature.

    def _gelu(self, values: mg.DeviceBuffer, count: int) -> None:
        with self.times.measure("gelu_f32"):
            self._kernels["gelu_f32"].over(count, block=256)(values, count)

    def _pool(self, states: mg.DeviceBuffer, starts: mg.DeviceBuffer, pooled: mg.DeviceBuffer, sequences: int) -> None:
        hidden = self.shape.hidden
        with self.times.measure("mean_pool_f32"):
            self._kernels["mean_pool_f32"][(mg.div_ceil(hidden, 128), sequences), 128](states, starts, pooled, hidden)
        with self.times.measure("l2_normalise_f32"):
            self._kernels["l2_normalise_f32"][sequences, NORMALISE_BLOCK](pooled, hidden, 1e-12)


def load_kernels(gpu: mg.GpuBackend) -> dict[str, mg.Kernel]:
    """Every kernel of the model by name; the device takes the form of each module that it can load.

    Several models on one device share them.
    """
    kernels = {}
    for module, signatures in KERNELS.items():
        name = f"minilm.{module}"
        if not gpu.has_module(name):
            gpu.load_module(name, path=KERNEL_FOLDER / module, signatures=signatures)
        kernels.update({function: gpu.kernel(name, function) for function in signatures})
    return kernels


def packed_batches(lengths: Sequence[int], token_budget: int) -> Iterator[range]:
    """Runs of neighbouring sequences, each of at most `token_budget` tokens or of one sequence that is longer."""
    first = tokens = 0
    for index, length in enumerate(lengths):
        if index > first and tokens + length > token_budget:
            yield range(first, index)
            first, tokens = index, 0
        tokens += length
    if first < len(lengths):
        yield range(first, len(lengths))


def _check_batch(batch: Sequence[Sequence[int]], shape: ModelShape) -> None:
    # The kernels index their tables by these numbers: a wrong one would read somebody else's memory.
    if not batch:
        raise ValueError("a batch holds at least one sequence")
    for index, sequence in enumerate(batch):
        if not 1 <= len(sequence) <= shape.positions:
            raise ValueError(f"sequence {index} has {len(sequence)} tokens; the model takes 1 to {shape.positions}")
        outside = [token for token in sequence if not 0 <= token < shape.vocabulary]
        if outside:
            raise ValueError(
                f"sequence {index} holds the token id {outside[0]}; the vocabulary is 0 to {shape.vocabulary - 1}"
            )


def _layer(gpu: mg.GpuBackend, tensors: Tensors, name: str) -> Layer:
    attention = f"{name}.attention"
    return Layer(
        # One product instead of three: the columns of query, key and value side by side.
        qkv=_dense(gpu, tensors, *(f"{attention}.self.{part}" for part in ("query", "key", "value"))),
        attention_output=_dense(gpu, tensors, f"{attention}.output.dense"),
        attention_norm=_norm(gpu, tensors, f"{attention}.output.LayerNorm"),
        inner=_dense(gpu, tensors, f"{name}.intermediate.dense"),
        output=_dense(gpu, tensors, f"{name}.output.dense"),
        output_norm=_norm(gpu, tensors, f"{name}.output.LayerNorm"),
    )


def _dense(gpu: mg.GpuBackend, tensors: Tensors, *names: str) -> Dense:
    weight = np.concatenate([tensors.get_tensor(f"{name}.weight") for name in names])
    bias = np.concatenate([tensors.get_tensor(f"{name}.bias") for name in names])
    outputs, inputs = weight.shape
    return Dense(gpu.array(np.ascontiguousarray(weight.T)), gpu.array(bias), inputs, outputs)


def _norm(gpu: mg.GpuBackend, tensors: Tensors, name: str) -> Norm:
    return Norm(gpu.array(tensors.get_tensor(f"{name}.weight")), gpu.array(tensors.get_tensor(f"{name}.bias")))
