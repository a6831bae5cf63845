"""From text to token ids, with the model's own limit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TOKEN_LIMIT = 256
"""The longest sequence the model was trained for, [CLS] and [SEP] included (its sentence_bert_config.json)."""


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """One sentence as the model reads it: [CLS], its word pieces, [SEP].

    `dropped_count` is how many word pieces at its end did not fit the limit.
    """

    text: str
    ids: tuple[int, ...]
    dropped_count: int


class TextTokenizer:
    """The WordPiece tokenizer of a tokenizer.json."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(path))
        # The file asks for 128 tokens, cut or padded to exactly that many. The model's limit is 256, and the kernels
        # take sequences as long as they are.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=TOKEN_LIMIT)

    def __call__(self, text: str) -> TokenizedText:
        """The tokens of one text; an empty text is [CLS] [SEP]. What is over the limit is counted, not hidden."""
        encoding = self._tokenizer.encode(text)
        dropped = sum(part.special_tokens_mask.count(0) for part in encoding.overflowing)
        return TokenizedText(text, tuple(encoding.ids), dropped)
