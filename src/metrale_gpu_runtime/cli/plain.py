"""Printing text that comes from outside as it is: brackets in names and messages are no markup of rich's."""

from __future__ import annotations

from rich.console import Console
from rich.style import Style


def print_plain(console: Console, text: object, style: str | Style | None = None) -> None:
    """Print one text with its brackets, numbers and long lines as they are."""
    console.print(str(text), style=style, markup=False, highlight=False, soft_wrap=True)
