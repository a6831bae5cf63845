"""The words of a WGSL text: comments are gone, and the angle brackets of templates are told from comparisons.

Source: "WebGPU Shading Language", sections "Blankspace and Line Breaks", "Comments", "Tokens", "Template Lists".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import SignatureError

WORD: Final = "word"
NUMBER: Final = "number"
SIGN: Final = "sign"
TEMPLATE: Final = "template"

_LINE_BREAK: Final = "\n\v\f\r\x85\u2028\u2029"
_SPACE: Final = re.compile(r"[ \t\n\v\f\r\x85\u200e\u200f\u2028\u2029]+")
_LINE_COMMENT: Final = re.compile(f"//[^{_LINE_BREAK}]*")
_COMMENT_MARK: Final = re.compile(r"/\*|\*/")
_WORD: Final = re.compile(r"[^\W\d]\w*")
_NUMBER: Final = re.compile(
    r"""0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+[fh]?|[iu]l?|l)?
      | (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:[iu]l?|lf?|[fh])?""",
    re.VERBOSE | re.ASCII,
)
_OPERATORS: Final = ("<<=", ">>=", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--")
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or sign; kind "template" is an angle bracket around a template's arguments."""

    text: str
    kind: str
    position: int

    @property
    def end(self) -> int:
        return self.position + len(self.text)


class WgslText:
    """A text with its words. Raises SignatureError for one that has no words: a comment that is never closed, a sign
    that WGSL does not know, brackets that do not match."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.tokens: tuple[Token, ...] = tuple(_joined(self._marked(self._scanned())))
        self.closing = self._matched()

    def line(self, token: Token) -> int:
        """The line that a word stands in, counted from 1."""
        return self.text.count("\n", 0, token.position) + 1

    def error(self, message: str, at: Token | int) -> SignatureError:
        """What is wrong at a word, with its line and the line's text."""
        position = at if isinstance(at, int) else at.position
        line = self.text.count("\n", 0, position) + 1
        return SignatureError(
            f"{self.name}: line {line}: {message}", kernel=self.name, text=self.text, position=position
        )

    def spelled(self, tokens: Sequence[Token]) -> str:
        """Words as they stand in the text."""
        return self.text[tokens[0].position : tokens[-1].end] if tokens else ""

    def _scanned(self) -> list[Token]:
        """Words, numbers and single signs."""
        text, found, at = self.text, [], 0
        while at < len(text):
            if match := _SPACE.match(text, at) or _LINE_COMMENT.match(text, at):
                at = match.end()
                continue
            if text.startswith("/*", at):
                at = self._after_comment(at)
                continue
            kind = NUMBER
            # A point that follows a word or a bracket selects a member; `a.0` is nothing in WGSL.
            match = _NUMBER.match(text, at)
            if match is None:
                kind, match = WORD, _WORD.match(text, at)
            if match is not None:
                found.append(Token(match[0], kind, at))
                at = match.end()
                continue
            if text[at] not in "!%&()*+,-./:;<=>@[]^_{|}~":
                raise self.error(f"{text[at]!r} is no part of WGSL", at)
            found.append(Token(text[at], SIGN, at))
            at += 1
        return found

    def _after_comment(self, begin: int) -> int:
        """Where a block comment ends: they nest."""
        depth, at = 0, begin
        while match := _COMMENT_MARK.search(self.text, at):
            depth += 1 if match[0] == "/*" else -1
            at = match.end()
            if depth == 0:
                return at
        raise self.error("this comment is never closed", begin)

    def _marked(self, raw: Sequence[Token]) -> list[Token]:
        """The same with the angle brackets of templates marked, by the rule of "Template Lists"."""
        marks: set[int] = set()
        pending: list[tuple[int, int]] = []
        nesting = at = 0

        def follows(place: int, signs: str) -> bool:
            return place + 1 < len(raw) and raw[place + 1].text in signs and raw[place + 1].position == raw[place].end

        while at < len(raw):
            token = raw[at]
            text = token.text
            if token.kind == WORD:
                if at + 1 < len(raw) and raw[at + 1].text == "<":
                    at += 1
                    if follows(at, "<="):
                        at += 1
                    else:
                        pending.append((at, nesting))
            elif text == ">":
                if pending and pending[-1][1] == nesting:
                    marks.update((pending.pop()[0], at))
                elif follows(at, "="):
                    at += 1
            elif text in "([":
                nesting += 1
            elif text in ")]":
                while pending and pending[-1][1] >= nesting:
                    pending.pop()
                nesting = max(0, nesting - 1)
            elif text == "!" and follows(at, "="):
                at += 1
            elif text == "=":
                if follows(at, "="):
                    at += 1
                else:
                    nesting, pending = 0, []
            elif text in ";{:":
                nesting, pending = 0, []
            elif text in "&|" and follows(at, text):
                while pending and pending[-1][1] >= nesting:
                    pending.pop()
                at += 1
            at += 1
        return [Token(each.text, TEMPLATE, each.position) if place in marks else each for place, each in enumerate(raw)]

    def _matched(self) -> dict[int, int]:
        """Where each bracket closes, by the places of the words."""
        found: dict[int, int] = {}
        open_: list[tuple[int, str]] = []
        for place, token in enumerate(self.tokens):
            if token.kind == TEMPLATE:
                if token.text == "<":
                    open_.append((place, ">"))
                    continue
            elif token.kind != SIGN:
                continue
            elif token.text in _OPENING:
                open_.append((place, _OPENING[token.text]))
                continue
            elif token.text not in (")", "]", "}"):
                continue
            if not open_ or open_[-1][1] != token.text:
                raise self.error(f"{token.text!r} closes nothing", token)
            found[open_.pop()[0]] = place
        if open_:
            begin = self.tokens[open_[-1][0]]
            raise self.error(f"{begin.text!r} is never closed", begin)
        return found


def _joined(tokens: Sequence[Token]) -> list[Token]:
    """Signs that are one operator together, as one."""
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        taken = 1
        if token.kind == SIGN:
            text, end = token.text, token.end
            run = 1
            while run < 3 and at + run < len(tokens):
                following = tokens[at + run]
                if following.kind != SIGN or following.position != end:
                    break
                text, end, run = text + following.text, following.end, run + 1
            operator = next((each for each in _OPERATORS if text.startswith(each)), None)
            if operator is not None:
                token, taken = Token(operator, SIGN, token.position), len(operator)
        joined.append(token)
        at += taken
    return joined
