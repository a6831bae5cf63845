"""all-MiniLM-L6-v2 in NumPy and double precision, one sentence at a time: what the kernels are measured against."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from examples.embed.weights import ModelShape, Tensors

erf = np.vectorize(math.erf, otypes=[np.float64])


class NumpyMiniLm:
    """The model as its paper writes it, with no thought of speed."""

    def __init__(self, tensors: Tensors, shape: ModelShape) -> None:
        self._tensors, self._shape = tensors, shape
        self._read: dict[str, np.ndarray] = {}

    def embed(self, ids: Sequence[int]) -> np.ndarray:
        """The unit vector of one token sequence."""
        embeddings = "embeddings.{}_embeddings.weight"
        x = (
            self._tensor(embeddings.format("word"))[list(ids)]
            + self._tensor(embeddings.format("position"))[: len(ids)]
            + self._tensor(embeddings.format("token_type"))[0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        for index in range(self._shape.layers):
            layer = f"encoder.layer.{index}"
            attended = self._dense(self._attention(x, f"{layer}.attention.self"), f"{layer}.attention.output.dense")
            x = self._norm(x + attended, f"{layer}.attention.output.LayerNorm")
            inner = self._dense(x, f"{layer}.intermediate.dense")
            inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
            x = self._norm(x + self._dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _attention(self, x: np.ndarray, name: str) -> np.ndarray:
        query, key, value = (
            self._dense(x, f"{name}.{part}").reshape(len(x), self._shape.heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).transpose(1, 0, 2).reshape(x.shape)

    def _dense(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self._tensor(f"{name}.weight").T + self._tensor(f"{name}.bias")

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._shape.epsilon)
        return scaled * self._tensor(f"{name}.weight") + self._tensor(f"{name}.bias")

    def _tensor(self, name: str) -> np.ndarray:
        if name not in self._read:
            self._read[name] = self._tensors.get_tensor(name).astype(np.float64)
        return self._read[name]
