"""What a run shows: how alike the sentences are, and where the time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.table import Table

from .timing import KernelTime
from .tokenizer import TokenizedText

SHOWN_SENTENCES = 12
SHOWN_TEXT = 60


def sentence_table(texts: Sequence[TokenizedText]) -> Table:
    """The numbered sentences with their token counts and what the limit cut off."""
    table = Table(title="sentences", title_justify="left")
    table.add_column("#", justify="right")
    table.add_column("text")
    table.add_column("tokens", justify="right")
    for number, text in enumerate(texts[:SHOWN_SENTENCES], 1):
        shown = text.text if len(text.text) <= SHOWN_TEXT else text.text[: SHOWN_TEXT - 1] + "…"
        table.add_row(str(number), _plain(shown) if shown else "[dim](empty)[/dim]", str(len(text.ids)))
    return table


def similarity_table(embeddings: np.ndarray) -> Table:
    """The cosine of every two sentences; of a long list the first SHOWN_SENTENCES."""
    shown = embeddings[:SHOWN_SENTENCES]
    title = "cosine similarity"
    if len(shown) < len(embeddings):
        title += f" (the first {len(shown)} of {len(embeddings)} sentences)"
    table = Table(title=title, title_justify="left")
    table.add_column("#", justify="right")
    for number in range(1, len(shown) + 1):
        table.add_column(str(number), justify="right")
    for number, row in enumerate(shown @ shown.T, 1):
        table.add_row(str(number), *(f"{value:.6f}" for value in row))
    return table


def kernel_table(times: Mapping[str, KernelTime]) -> Table:
    """Launches, total time and share of each kernel, the most expensive first."""
    table = Table(title="time per kernel", title_justify="left")
    for heading in ("kernel", "launches", "total ms", "share"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    whole = sum(entry.total_ms for entry in times.values())
    for name, entry in sorted(times.items(), key=lambda item: -item[1].total_ms):
        share = f"{entry.total_ms / whole:.1%}" if whole else "–"
        table.add_row(name, str(entry.launches), f"{entry.total_ms:.2f}", share)
    table.add_section()
    table.add_row("all", str(sum(entry.launches for entry in times.values())), f"{whole:.2f}", "")
    return table


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
