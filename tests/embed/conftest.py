"""What the tests of the example share: the model's files, one open device, the encoder on it, and its NumPy twin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from numpy_minilm import NumpyMiniLm
from rungs import require_rung

import metrale_gpu_runtime as mg
from examples.embed.model import SentenceEncoder
from examples.embed.tokenizer import TextTokenizer
from examples.embed.weights import ModelFiles, find_model_files, open_weights, read_shape


@pytest.fixture(scope="session")
def files() -> ModelFiles:
    """The model's files; a missing rung where they are not installed."""
    require_rung("tokenizers")
    require_rung("weights")
    return find_model_files()


@pytest.fixture(scope="session")
def tokenize(files: ModelFiles) -> TextTokenizer:
    """The model's tokenizer under its own limit."""
    return TextTokenizer(files.tokenizer)


@pytest.fixture(scope="session")
def gpu() -> Iterator[mg.GpuBackend]:
    """The CPU backend with its memory check on, which must have found nothing at the end."""
    with mg.open_backend("cpu", check="memory") as backend:
        yield backend
        assert not backend.findings


@pytest.fixture(scope="session")
def encoder(gpu: mg.GpuBackend, files: ModelFiles) -> SentenceEncoder:
    """The model on the CPU backend."""
    return SentenceEncoder(gpu, files)


@pytest.fixture(scope="session")
def twin(files: ModelFiles) -> Iterator[NumpyMiniLm]:
    """The same model in NumPy."""
    with open_weights(files.weights) as tensors:
        yield NumpyMiniLm(tensors, read_shape(files.config))
