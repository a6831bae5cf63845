"""The words of a Metal Shading Language text: comments and directives are gone, each word says if it is conditional.

Source: "Metal Shading Language Specification", which builds on C++14 and C++17.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<word>[A-Za-z_$][\w$]*)
      | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
      | (?P<text>"(?:[^"\\\n]|\\.)*(?:"|$))
      | (?P<character>'(?:[^'\\\n]|\\.)*(?:'|$))
      | (?P<sign>::|[^\s])""",
    re.VERBOSE,
)
# Each alternative runs to the end of the line or the text where it is not closed, so that none is tried twice.
_NOISE: Final = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\[^\n])*(?:"|$)|'(?:[^'\\\n]|\\[^'\n]*)'""", re.DOTALL | re.MULTILINE
)
_RAW_STRING: Final = re.compile(r'(?<!\w)(?:u8|[uUL])?R"')
_DIRECTIVE: Final = re.compile(r"[ \t]*#[ \t]*(\w*)(.*)")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number, string or sign. `is_conditional`: it stands between `#if` and `#endif`."""

    text: str
    kind: str
    is_conditional: bool


@dataclass(frozen=True, slots=True)
class MslText:
    """A text as words, and the names that the preprocessor replaces."""

    tokens: tuple[Token, ...]
    macros: frozenset[str]


def read_tokens(text: str, options: tuple[str, ...] = ()) -> MslText | None:
    """The words of a text; None for one whose brackets cannot be followed without preprocessing it.

    `options` are the compiler's: `-DNAME` defines a macro too.
    """
    if _RAW_STRING.search(text) or "??" in text:
        return None
    text = re.sub(r"\\[ \t]*\r?\n", "", text).replace("\r", "\n")
    text = _NOISE.sub(_blank, text)
    macros = {option[2:].split("=")[0].split("(")[0].strip() for option in options if option.startswith("-D")}
    tokens: list[Token] = []
    conditions = _Conditions()
    for line in text.split("\n"):
        directive = _DIRECTIVE.match(line) if "#" in line else None
        if directive is not None:
            if not _take(directive[1], directive[2], macros, conditions):
                return None
            continue
        for match in _TOKEN.finditer(line):
            token = Token(match[0], match.lastgroup or "", conditions.depth > 0)
            if token.kind == "sign" and not conditions.see(token.text):
                return None
            tokens.append(token)
    return MslText(tuple(tokens), frozenset(macros)) if conditions.depth == 0 else None


def _blank(match: re.Match[str]) -> str:
    return match[0] if match[0][0] in "\"'" else " " + "\n" * match[0].count("\n")


def _take(name: str, rest: str, macros: set[str], conditions: _Conditions) -> bool:
    """Note one directive; False where what it does to the text cannot be told."""
    if name in ("define", "undef"):
        # What is undefined later was defined before, here or by whoever compiles.
        word = _WORD.search(rest)
        if word is not None:
            macros.add(word[0])
        return True
    if name in ("if", "ifdef", "ifndef"):
        conditions.begin()
        return True
    if name in ("elif", "elifdef", "elifndef", "else"):
        return conditions.end(another=True)
    if name == "endif":
        return conditions.end(another=False)
    # Other texts are read for what they define by the compiler alone; what comes of that is compared with reflection.
    return name in ("include", "import", "pragma", "line", "error", "warning", "")


class _Conditions:
    """The `#if` that are open, each with the brackets that its branch has opened."""

    def __init__(self) -> None:
        self._open: list[list[str]] = []

    @property
    def depth(self) -> int:
        return len(self._open)

    def begin(self) -> None:
        self._open.append([])

    def see(self, sign: str) -> bool:
        """Note a sign; False for a bracket that closes what stands outside of its branch."""
        if not self._open:
            return True
        brackets = self._open[-1]
        if sign in _OPENING:
            brackets.append(_OPENING[sign])
        elif sign in (")", "]", "}") and not (brackets and brackets.pop() == sign):
            return False
        return True

    def end(self, *, another: bool) -> bool:
        """End a branch; False where it leaves brackets open, or there is none."""
        if not self._open or self._open.pop():
            return False
        if another:
            self.begin()
        return True
