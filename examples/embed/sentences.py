"""Where the sentences come from: the reference, words from the command line, or a file of one sentence a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import EmbedError

REFERENCE_FILE = Path(__file__).with_name("minilm_reference.json")
TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Reference:
    """Sentences with what sentence-transformers computes for them.

    `first8` is [sentences, 8], the head of each embedding; `cosine` is [sentences, sentences].
    """

    sentences: tuple[str, ...]
    token_ids: tuple[tuple[int, ...], ...]
    first8: np.ndarray
    cosine: np.ndarray

    def largest_difference(self, embeddings: np.ndarray) -> float:
        """How far unit embeddings of these sentences are from the reference, in the worst component or cosine."""
        cosine = embeddings @ embeddings.T
        return float(max(np.abs(embeddings[:, :8] - self.first8).max(), np.abs(cosine - self.cosine).max()))


def read_reference(path: Path = REFERENCE_FILE) -> Reference:
    """The reference that ships with this example."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    entries = fields["sentences"]
    return Reference(
        sentences=tuple(entry["text"] for entry in entries),
        token_ids=tuple(tuple(entry["token_ids"]) for entry in entries),
        first8=np.array([entry["embedding_first8"] for entry in entries]),
        cosine=np.array(fields["cosine"]),
    )


def split_lines(text: str) -> list[str]:
    """One sentence a line; lines of nothing but blanks are no sentences."""
    return [line for line in text.splitlines() if line.strip()]


def read_sentences(path: Path) -> Sequence[str]:
    """The sentences of a UTF-8 text file, one a line.

    Raises EmbedError when the file is missing, is no UTF-8 (naming the line) or holds no sentence.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise EmbedError(f"{path}: there is no such file; give a text file of one sentence a line") from None
    except OSError as error:
        raise EmbedError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EmbedError(
            f"{path}: line {line} is not UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start}); "
            "convert the file, for example with iconv -t UTF-8"
        ) from None
    sentences = split_lines(text)
    if not sentences:
        raise EmbedError(f"{path}: holds no sentence in {len(data)} bytes; give one sentence a line")
    return sentences
