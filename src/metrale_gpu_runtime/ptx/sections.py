"""`.section`: the debug information that rides along as bytes, numbers and labels (PTX ISA, ".section")."""

from __future__ import annotations

from .constants import integer, starts_constant
from .lexer import DOTTED, WORD, Tokens
from .syntax import Section

_ITEM_NBYTES = {".b8": 1, ".b16": 2, ".b32": 4, ".b64": 8}
_Value = int | tuple[str, int]


def section(tokens: Tokens) -> Section:
    """Read `name { items }`; `.section` itself has been passed."""
    name = _label(tokens, "the name of a section")
    opened = tokens.at
    tokens.expect("{", " before the items of a section")
    items: list[tuple[int, _Value]] = []
    labels: dict[str, int] = {}
    differences: list[tuple[int, str, str, int]] = []
    offset, texts = 0, tokens.texts
    while texts[tokens.at] != "}":
        text = texts[tokens.at]
        nbytes = _ITEM_NBYTES.get(text)
        if nbytes is not None:
            tokens.at += 1
            while True:
                items.append((nbytes, _item(tokens, len(items), differences)))
                offset += nbytes
                if not tokens.accept(","):
                    break
        elif tokens.kinds[tokens.at] == WORD and texts[tokens.at + 1] == ":":
            at = tokens.at
            label = tokens.word("a label")
            if label in labels:
                tokens.fail(f"{label} stands twice in {name}", at)
            labels[label] = offset
            tokens.at += 1
        elif text == ";":
            tokens.at += 1
        else:
            line = tokens.position(opened).line
            tokens.unexpected(f'a label, .b8, .b16, .b32, .b64 or the "}}" for the "{{" of line {line}')
    tokens.at += 1
    for index, first, second, addend in differences:
        if first in labels and second in labels:
            items[index] = (items[index][0], labels[first] - labels[second] + addend)
    return Section(name, tuple(items), labels)


def _item(tokens: Tokens, index: int, differences: list[tuple[int, str, str, int]]) -> _Value:
    """A number, `label`, `label+4`, `.debug_str+8` or `label-label`."""
    if starts_constant(tokens):
        return integer(tokens, "a number")
    label = _label(tokens, "a number or a label")
    if tokens.texts[tokens.at] == "-" and tokens.kinds[tokens.at + 1] in (WORD, DOTTED):
        tokens.at += 1
        other = _label(tokens, "a label")
        addend = _addend(tokens)
        differences.append((index, label, other, addend))
        return f"{label}-{other}", addend
    return label, _addend(tokens)


def _label(tokens: Tokens, what: str) -> str:
    if tokens.kinds[tokens.at] not in (WORD, DOTTED):
        tokens.unexpected(what)
    return tokens.take()


def _addend(tokens: Tokens) -> int:
    return integer(tokens, "an offset") if tokens.texts[tokens.at] in ("+", "-") else 0
