"""MSL text as tokens, each knowing where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<marker>^\#[ ]\d+[ ]"[^\n]*$|^[ \t]*\#[ \t]*pragma\b[^\n]*$)
  | (?P<space>(?:\s|\\\n)+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<character>'(?:\\.|[^'\\\n])*')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
  | (?P<mark>::|->\*|->|<<=|>>=|<<|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|.)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Misread(ValueError):
    """A text whose brackets do not match, or that has a form which is not read here."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message, self.at = message, at


def tokenize(text: str, *, markers: bool = False) -> list[Token]:
    """The tokens of a text, without space and comments; line markers of a preprocessed text only where asked for."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "mark"
        if kind in ("space", "comment") or (kind == "marker" and not markers):
            continue
        found.append(Token(kind, match.group(), match.start()))
    return found


def closing(tokens: Sequence[Token], at: int) -> int:
    """The index of the bracket that closes the one at `at`."""
    stack = []
    for index in range(at, len(tokens)):
        text = tokens[index].text
        if tokens[index].kind != "mark":
            continue
        if text in _PAIRS:
            stack.append(_PAIRS[text])
        elif text in (")", "]", "}"):
            if not stack or stack.pop() != text:
                raise Misread(f"unexpected '{text}'", tokens[index].start)
            if not stack:
                return index
    raise Misread(f"'{tokens[at].text}' is never closed", tokens[at].start)


def closing_angle(tokens: Sequence[Token], at: int) -> int:
    """The index of the > that closes the template's < at `at`."""
    depth, index = 0, at
    while index < len(tokens):
        text = tokens[index].text
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return index
        elif text in _PAIRS:
            index = closing(tokens, index)
        elif text in (";", "{"):
            break
        index += 1
    raise Misread("'<' is never closed", tokens[at].start)


def attributes(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The first and last index of each [[attribute list]]."""
    index = 0
    while index + 2 < len(tokens):
        here, after = tokens[index], tokens[index + 1]
        if here.text == after.text == "[" and here.end == after.start and tokens[index + 2].kind == "word":
            last = closing(tokens, index)
            yield index, last
            index = last
        index += 1


def split(tokens: Sequence[Token], separator: str = ",") -> list[list[Token]]:
    """The parts between separators that stand in no bracket; template arguments count as bracketed."""
    parts: list[list[Token]] = [[]]
    index = 0
    while index < len(tokens):
        token = tokens[index]
        end = index
        if token.text in _PAIRS:
            end = closing(tokens, index)
        elif token.text == "<" and index and tokens[index - 1].kind == "word":
            end = closing_angle(tokens, index)
        if end > index:
            parts[-1] += tokens[index : end + 1]
        elif token.text == separator:
            parts.append([])
        else:
            parts[-1].append(token)
        index = end + 1
    return [part for part in parts if part]


def blanked(text: str) -> str:
    """Spaces and line ends in place of a text, so that what follows stays where it was."""
    return re.sub(r"[^\n]", " ", text)


def edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """The text with each (start, end) replaced; the places do not overlap."""
    parts, at = [], 0
    for start, end, replacement in sorted(edits):
        parts += [text[at:start], replacement]
        at = end
    return "".join([*parts, text[at:]])
