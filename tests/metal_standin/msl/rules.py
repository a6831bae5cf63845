"""Rules of the Metal Shading Language that C++ does not have, each an error in Metal's words at its place."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence

from .building import NAME
from .diagnostics import Complaint
from .reading import SPACES, Declaration
from .rewriting import BUILT_IN, VECTORS, threadgroup_variables
from .tokens import Token, tokenize

# MSL specification, 1.4.2: what of C++ is not there.
_REFUSED = {
    "double": "'double' is not supported in Metal",
    "try": "cannot use 'try' with exceptions disabled",
    "throw": "cannot use 'throw' with exceptions disabled",
    "virtual": "virtual functions are not supported in Metal",
    "typeid": "use of typeid requires -frtti",
    "dynamic_cast": "use of dynamic_cast requires -frtti",
    "new": "operator new is not supported in Metal",
    "delete": "operator delete is not supported in Metal",
    "goto": "goto is not supported in Metal",
    "thread_local": "thread_local is not supported in Metal",
    "asm": "asm is not supported in Metal",
}
_SCALARS = frozenset(
    [
        "bool",
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "half",
        "float",
        "bfloat",
        "size_t",
        "void",
        "unsigned",
        "signed",
    ]
)
_SIZED = frozenset(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64))
_TYPES = (
    _SCALARS
    | _SIZED
    | VECTORS
    | {f"packed_{name}" for name in VECTORS}
    | {f"atomic_{name}" for name in ("int", "uint", "ulong", "float", "bool")}
)
_BINDINGS = ("buffer", "threadgroup")
SLOTS = 31


class Places:
    """Line and column in the user's text of a place in the preprocessed one."""

    def __init__(self, preprocessed: str, source: str) -> None:
        self._lines = source.splitlines()
        self._starts, self._numbers = [], []
        number, file = 1, NAME
        at = 0
        for text in preprocessed.splitlines(keepends=True):
            marker = re.match(r'# (\d+) "([^"]*)"', text)
            if marker:
                number, file = int(marker[1]), marker[2]
            else:
                self._starts.append(at)
                self._numbers.append(number if file == NAME else 0)
                number += 1
            at += len(text)

    def of(self, at: int, word: str = "") -> tuple[int, int]:
        """The place of an offset; `word` finds the column where the text was changed on its line."""
        row = bisect.bisect_right(self._starts, at) - 1
        number = self._numbers[row] if row >= 0 else 1
        column = at - self._starts[row] + 1 if row >= 0 else 1
        if word and 1 <= number <= len(self._lines):
            found = [
                match.start() + 1 for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", self._lines[number - 1])
            ]
            if found:
                column = min(found, key=lambda place: abs(place - column))
        return number, column


def broken(found: Sequence[Declaration], preprocessed: str, places: Places) -> list[Complaint]:
    """Every rule that a text breaks."""
    return [
        Complaint(*places.of(token.start, token.text), text) for token, text in _broken(found, tokenize(preprocessed))
    ]


def _broken(found: Sequence[Declaration], tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for before, token in zip([Token("mark", ";", 0), *tokens], tokens, strict=False):
        if token.kind == "word" and token.text in _REFUSED and before.text not in (".", "->", "::"):
            yield token, _REFUSED[token.text]
    yield from _unqualified(tokens)
    for declaration in found:
        if declaration.kind == "kernel":
            yield from _of_a_kernel(declaration)
        elif declaration.kind == "variable" and not {"constant", "operator"} & declaration.words():
            token = next(t for t in declaration.tokens if t.text == declaration.name)
            yield token, "program scope variable must reside in constant address space"
        elif declaration.kind == "function":
            for token, _ in threadgroup_variables(declaration.tokens):
                yield token, "variables in the threadgroup address space can only be declared in a kernel function"


def _unqualified(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Pointers and references to the language's own types that name no address space."""
    for index, token in enumerate(tokens[:-1]):
        mark = tokens[index + 1]
        if token.text not in _TYPES or mark.text not in ("*", "&"):
            continue
        start = index
        while start > 0 and (tokens[start - 1].kind == "word" or tokens[start - 1].text == "::"):
            start -= 1
        words = {t.text for t in tokens[start : index + 1]}
        if not words & set(SPACES) and "operator" not in words and "sizeof" not in words:
            kind = "pointer" if mark.text == "*" else "reference"
            yield mark, f"{kind} type must have explicit address space qualifier"


def _of_a_kernel(kernel: Declaration) -> Iterator[tuple[Token, str]]:
    name = next(token for token in kernel.tokens if token.text == kernel.name)
    before = [t.text for t in kernel.tokens if t.start < name.start and t.kind == "word"]
    if "void" not in before[-2:]:
        yield name, f"kernel must have void return type: '{kernel.name}'"
    taken: dict[tuple[str, str], str] = {}
    for parameter in kernel.parameters:
        token = next((t for t in parameter.tokens if t.text == parameter.name), name)
        known = [a for a in parameter.attributes if a.name in BUILT_IN or a.name in _BINDINGS]
        for attribute in parameter.attributes:
            if attribute.name not in BUILT_IN and attribute.name not in _BINDINGS:
                yield token, f"the stand-in knows no attribute '{attribute.name}' of a kernel's parameter"
        if parameter.space is None:
            if not any(a.name in BUILT_IN for a in known):
                kind = " ".join(t.text for t in parameter.tokens if t.text != parameter.name)
                yield token, f"invalid type '{kind}' for input declaration in a kernel function"
            continue
        if parameter.space in ("", "thread"):
            if parameter.space == "" and any(t.text in _TYPES for t in parameter.tokens):
                continue  # Said of every pointer to one of these.
            kind = "pointer" if any(t.text == "*" for t in parameter.tokens) else "reference"
            yield token, f"{kind} type must have explicit address space qualifier"
            continue
        which = "threadgroup" if parameter.space == "threadgroup" else "buffer"
        for attribute in known:
            if attribute.name != which:
                yield (
                    token,
                    f"'{attribute.name}' attribute cannot be applied to a parameter in the {parameter.space} address space",
                )
                continue
            if attribute.text.isdecimal() and int(attribute.text) >= SLOTS:
                yield token, f"'{which}' attribute parameter is out of bounds: must be between 0 and {SLOTS - 1}"
            key = (which, attribute.text)
            if key in taken:
                yield (
                    token,
                    f"cannot reserve '{which}' resource location at index {attribute.text}: '{taken[key]}' has it",
                )
            taken[key] = parameter.name
