"""The pages of docs/ as blocks of code with the output they promise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_BLOCK = re.compile(
    r"^```python(?P<marks>[^\n]*)\n(?P<code>.*?)^```\n(?:```text\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Block:
    """One ```python block. `marks` stand behind the word ("no-run", "nvrtc"); `output` is the ```text block that
    follows at once, None where there is none; `line` is where the code begins."""

    code: str
    marks: frozenset[str]
    output: str | None
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The Python blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        yield Block(match["code"], frozenset(match["marks"].split()), match["output"], line)


def matches(promised: str, printed: str) -> bool:
    """Whether a text is what was promised; `…` in the promise stands for anything within a line."""
    pattern = ".*".join(re.escape(part) for part in promised.strip().split("…"))
    return re.fullmatch(pattern, printed.strip()) is not None


def table_rows(page: Path) -> list[list[str]]:
    """The cells of every table row of a page whose first cell is one name in backticks."""
    rows = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if re.match(r"\| `\w+` \|", line):
            rows.append([cell.strip() for cell in line.strip().strip("|").split(" | ")])
    return rows
