"""What a run shows: how alike the sentences are, and where the time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .timing import KernelTime
from .tokenizer import TokenizedText

# So much of a matrix fits 80 columns: six sentences with all their digits, nine with three.
SHOWN_SENTENCES = 9
PRECISE_SENTENCES = 6
SHOWN_TEXT = 60


def sentence_table(texts: Sequence[TokenizedText]) -> Group:
    """The numbered sentences with their token counts; of a long list the first SHOWN_SENTENCES."""
    table = Table()
    table.add_column("#", justify="right")
    table.add_column("text")
    table.add_column("tokens", justify="right")
    for number, text in enumerate(texts[:SHOWN_SENTENCES], 1):
        shown = text.text if len(text.text) <= SHOWN_TEXT else text.text[: SHOWN_TEXT - 1] + "…"
        table.add_row(str(number), escape(shown) if shown else "[dim](empty)[/dim]", str(len(text.ids)))
    return _titled(f"sentences{_shown_of(len(texts))}", table)


def similarity_table(embeddings: np.ndarray) -> Group:
    """The cosine of every two sentences; of a long list the first SHOWN_SENTENCES."""
    shown = embeddings[:SHOWN_SENTENCES]
    table = Table()
    table.add_column("#", justify="right")
    for number in range(1, len(shown) + 1):
        table.add_column(str(number), justify="right")
    digits = 6 if len(shown) <= PRECISE_SENTENCES else 3
    for number, row in enumerate(shown @ shown.T, 1):
        table.add_row(str(number), *(f"{value:.{digits}f}" for value in row))
    return _titled(f"cosine similarity{_shown_of(len(embeddings))}", table)


def kernel_table(times: Mapping[str, KernelTime]) -> Group:
    """Launches, total time and share of each kernel, the most expensive first."""
    table = Table()
    for heading in ("kernel", "launches", "total ms", "share"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    whole = sum(entry.total_ms for entry in times.values())
    for name, entry in sorted(times.items(), key=lambda item: -item[1].total_ms):
        share = f"{entry.total_ms / whole:.1%}" if whole else "–"
        table.add_row(name, str(entry.launches), f"{entry.total_ms:.2f}", share)
    table.add_section()
    table.add_row("all", str(sum(entry.launches for entry in times.values())), f"{whole:.2f}", "")
    return _titled("time per kernel", table)


def _titled(title: str, table: Table) -> Group:
    # A table's own title would be broken to the width of the table.
    return Group(Text(title, style="italic"), table)


def _shown_of(count: int) -> str:
    return f" (the first {SHOWN_SENTENCES} of {count})" if count > SHOWN_SENTENCES else ""
