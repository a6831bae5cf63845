"""What a benchmark says, as sentences and tables: printed for a person, or written into a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box, table
from rich.console import Console
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Table:
    """Column titles and rows of text; a row that starts with an empty cell goes on with the one above."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def printed(self) -> table.Table:
        shown = table.Table(*self.columns, box=box.SIMPLE_HEAD)
        for row in self.rows:
            shown.add_row(*(Text(cell, style="bold" if "missed" in cell else "") for cell in row))
        return shown

    def markdown(self) -> str:
        lines = [list(self.columns), ["---", *("--:" for _ in self.columns[1:])], *map(list, self.rows)]
        return "\n".join("| " + " | ".join(_escaped(cell) for cell in line) + " |" for line in lines)


def _escaped(cell: str) -> str:
    # `kernel[grid](*args)` would be a link.
    return cell.replace("|", "\\|").replace("](", "&#93;(").replace("*", "\\*")


Part = str | Table


def show(console: Console, parts: Sequence[Part]) -> None:
    for part in parts:
        console.print(part.printed() if isinstance(part, Table) else Text(part))
    console.print()


def markdown(parts: Sequence[Part]) -> str:
    return "\n\n".join(part.markdown() if isinstance(part, Table) else part for part in parts)


def into_page(page: str, name: str, parts: Sequence[Part]) -> str:
    """The page with what stands between the marks of `name` replaced. Raises ValueError where it has no such marks."""
    begin, end = f"<!-- measured: {name} -->", f"<!-- end: {name} -->"
    text = f"{begin}\n\n{markdown(parts)}\n\n{end}"
    new, count = re.subn(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: text, page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has {count} places marked {begin} … {end}; it must have one")
    return new
