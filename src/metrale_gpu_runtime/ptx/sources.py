"""What says nothing about the code itself: source lines and hints."""

from __future__ import annotations

from .constants import integer, natural
from .lexer import DOTTED, NUMBER, STRING, WORD, Tokens
from .syntax import SourceLine


class Sources:
    """The `.file` table of a module and the source line in force."""

    def __init__(self, files: dict[int, str]) -> None:
        self.files = files
        self.current: SourceLine | None = None
        self._known: dict[tuple[int, int, int], SourceLine] = {}

    def loc(self, tokens: Tokens) -> None:
        """Read what follows `.loc`: file, line, column and, for inlined code, the function's name and the call."""
        number = natural(tokens, "the number of a file")
        line = natural(tokens, "a line")
        column = natural(tokens, "a column")
        while tokens.accept(","):
            if tokens.accept("function_name"):
                if tokens.kinds[tokens.at] not in (WORD, DOTTED, NUMBER):
                    tokens.unexpected("the label of a function's name")
                tokens.at += 1
                if tokens.texts[tokens.at] in ("+", "-"):
                    integer(tokens, "an offset")
            elif tokens.accept("inlined_at"):
                for what in ("the number of a file", "a line", "a column"):
                    natural(tokens, what)
            else:
                tokens.unexpected("function_name or inlined_at")
        key = (number, line, column)
        known = self._known.get(key)
        if known is None:
            # A stripped table must not lose the line, so an unknown number is shown as it stands.
            file = self.files.get(number, f"<.file {number}>")
            known = self._known[key] = SourceLine(file, line, column)
        self.current = known


def pragma(tokens: Tokens) -> None:
    """Pass the strings after `.pragma`: they are hints, and unknown ones are no error (PTX ISA, ".pragma")."""
    while True:
        if tokens.kinds[tokens.at] != STRING:
            tokens.unexpected("a string after .pragma")
        tokens.at += 1
        if not tokens.accept(","):
            break
    tokens.expect(";", " after .pragma")
