"""PTX text -> tokens. One regular expression; a token knows its offset, lines are counted only when asked for."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from ..errors import PtxSyntaxError
from .syntax import Position

WORD, DOTTED, NUMBER, STRING, PUNCTUATION, END, PREPROCESSOR, BAD = range(1, 9)

# A word carries the dotted words that follow it at once (`ld.global.L2::128B.f32`, `%tid.x`): most of a PTX text
# is opcodes and registers, and one token for each halves the work. A dotted word that begins anything else stands
# alone (`.reg`, `.b32`), so `.reg.b32` and `.reg .b32` read the same. Possessive quantifiers keep every
# alternative linear in the length of the text.
_TOKEN = re.compile(
    r"""
    (?:[ \t\r\n\f\v]++ | //[^\n]*+ | /\*.*?\*/ | @@DWARF[^\n]*+ | ^[ \t]*+\#(?:line)?[ \t]++[0-9][^\n]*+ )*+
    (?:
      ((?: [A-Za-z_][A-Za-z0-9_$]*+ | [$%][A-Za-z0-9_$]++ ) (?: \.[A-Za-z0-9_$]++ (?: ::[A-Za-z0-9_$]++ )*+ )*+)
    | (\.(?![0-9]+(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_$])) [A-Za-z0-9_$]++ (?: :: [A-Za-z0-9_$]++ )*+)
    | ( (?: 0[xX][0-9a-fA-F]++U?
          | 0[fF][0-9a-fA-F]{8}
          | 0[dD][0-9a-fA-F]{16}
          | 0[bB][01]++U?
          | [0-9]++(?:\.[0-9]*+)?+[eE][+-]?[0-9]++
          | [0-9]++\.[0-9]*+
          | \.[0-9]++(?:[eE][+-]?[0-9]++)?+
          | [0-9]++U?
        ) (?![A-Za-z0-9_$]) )
    | ("[^"\n]*+")
    | (<<|>>|<=|>=|==|!=|&&|\|\||/(?!\*)|[,;:{}()\[\]<>@!|+\-*%&^~?=])
    | (\Z)
    | (\#[^\n]*+)
    | ([0-9A-Za-z_$]++(?:\.[0-9A-Za-z_$]++)*+|/\*|.)
    )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_LONGEST_MESSAGE = 1200


class Tokens:
    """The tokens of one text with a place to read at; what was expected and where goes into `PtxSyntaxError`."""

    __slots__ = ("_newlines", "at", "kinds", "module", "source", "starts", "texts")

    def __init__(self, source: str, module: str) -> None:
        self.source, self.module = source, module
        self._newlines: list[int] | None = None
        kinds: list[int] = []
        texts: list[str] = []
        starts: list[int] = []
        for match in _TOKEN.finditer(source):
            kind = match.lastindex or BAD
            kinds.append(kind)
            texts.append(match[kind])
            starts.append(match.start(kind))
            if kind >= END:
                break
        self.kinds, self.texts, self.starts, self.at = kinds, texts, starts, 0
        if kinds[-1] != END:
            self._refuse_last()

    def _refuse_last(self) -> NoReturn:
        last, text = len(self.kinds) - 1, self.texts[-1]
        if self.kinds[last] == PREPROCESSOR:
            self.fail("preprocessor lines must be expanded before the text is loaded", last)
        if text == "/*":
            self.fail("this comment is never closed", last)
        if text == '"':
            self.fail("this string is not closed on its line", last)
        if text[0].isdigit():
            self.fail(f"{_shortened(text)} is no number", last)
        self.fail(f"{text!r} cannot stand here", last)

    # ------------------------------------------------------------ reading

    def take(self) -> str:
        """The text of the next token, which is passed."""
        text = self.texts[self.at]
        if self.kinds[self.at] != END:
            self.at += 1
        return text

    def accept(self, text: str) -> bool:
        """Pass the next token if it is `text`."""
        if self.texts[self.at] == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str, why: str = "") -> None:
        """Pass `text` or raise, saying that it was expected and `why`."""
        if self.texts[self.at] != text:
            self.unexpected(f'"{text}"{why}')
        self.at += 1

    def word(self, what: str) -> str:
        """A plain identifier; `what` names it in the error. A word with dotted parts is none."""
        text = self.texts[self.at]
        if self.kinds[self.at] != WORD or "." in text or ":" in text:
            self.unexpected(what)
        self.at += 1
        return text

    # ------------------------------------------------------------ places and errors

    def position(self, index: int | None = None) -> Position:
        """The line and column of a token (the next one by default)."""
        return self._position(self.starts[self.at if index is None else index])

    def _position(self, offset: int) -> Position:
        newlines = self._newlines
        if newlines is None:
            newlines = [-1, *(match.start() for match in re.finditer("\n", self.source))]
            self._newlines = newlines
        line = bisect_right(newlines, offset - 1)
        return Position(line, offset - newlines[line - 1])

    def unexpected(self, expected: str, index: int | None = None) -> NoReturn:
        """Raise: `expected` should stand where this token stands."""
        at = self.at if index is None else index
        found = "the end of the text" if self.kinds[at] == END else _shortened(self.texts[at])
        self.fail(f"expected {expected}, found {found}", at)

    def fail(self, message: str, index: int | None = None) -> NoReturn:
        """Raise `PtxSyntaxError` at a token (the next one by default)."""
        self.fail_at(message, self.position(index))

    def fail_at(self, message: str, place: Position) -> NoReturn:
        """Raise `PtxSyntaxError` at a place that was noted while reading."""
        if len(message) > _LONGEST_MESSAGE:  # a name may be as long as the text
            message = f"{message[: _LONGEST_MESSAGE // 2]} … {message[-_LONGEST_MESSAGE // 2 :]}"
        assert self._newlines is not None
        begin = self._newlines[place.line - 1] + 1
        end = self._newlines[place.line] if place.line < len(self._newlines) else len(self.source)
        excerpt = self.source[begin:end].rstrip()
        raise PtxSyntaxError(message, module=self.module, line=place.line, column=place.column, excerpt=excerpt)


def _shortened(text: str) -> str:
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text)} characters)"
