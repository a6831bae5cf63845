"""Whole numbers that WGSL works out before a shader runs: lengths of arrays, places of bindings, sizes of workgroups.

Source: "WebGPU Shading Language", sections "Const-Expressions", "Operator Precedence and Associativity", "Arithmetic
Expressions". What is no whole number, or would be refused by the compiler, is not worked out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .wgsl_tokens import NUMBER, SIGN, WORD, Token

_INTEGER: Final = re.compile(r"(0[xX][0-9a-fA-F]+|0|[1-9][0-9]*)([iu]?)$", re.ASCII)
_RANGES: Final = {"": (-(2**63), 2**63 - 1), "i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1)}
_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number of type "i32" or "u32", or of a type still open ("")."""

    value: int
    type: str = ""


class _NotWorkedOut(Exception):
    """The expression is none that is worked out here."""


Names = Callable[[str], "Whole | None"]


def worked_out(tokens: Sequence[Token], named: Names) -> Whole | None:
    """What an expression is; None for what is not worked out. `named` gives the numbers that names stand for, and None
    for a name of anything else; a function of WGSL's own is asked for as well, should the text call another by its
    name."""
    reader = _Reader(tokens, named)
    try:
        value = reader.binary(0)
    except _NotWorkedOut:
        return None
    return value if reader.at == len(tokens) else None


def literal_type(text: str) -> str:
    """The type of a number as it is spelled; of one whose type is still open, the one it takes by itself."""
    whole = _INTEGER.match(text)
    if whole is not None:
        return {"u": "u32"}.get(whole[2], "i32")
    return "f16" if text.endswith("h") else "f32"


# The binary operators that bind tighter have higher numbers; WGSL wants parentheses where C would surprise.
_LEVELS: Final[Mapping[str, int]] = {
    "|": 1,
    "^": 1,
    "&": 1,
    "<<": 2,
    ">>": 2,
    "+": 3,
    "-": 3,
    "*": 4,
    "/": 4,
    "%": 4,
}


class _Reader:
    def __init__(self, tokens: Sequence[Token], named: Names) -> None:
        self.tokens, self.named = tokens, named
        self.at = self.depth = 0

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, sign: str) -> bool:
        token = self.peek()
        if token is not None and token.kind == SIGN and token.text == sign:
            self.at += 1
            return True
        return False

    def binary(self, least: int) -> Whole:
        left = self.unary()
        while (token := self.peek()) is not None and token.kind == SIGN:
            level = _LEVELS.get(token.text)
            if level is None or level <= least:
                break
            self.at += 1
            left = _applied(token.text, left, self.binary(level))
        return left

    def unary(self) -> Whole:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _NotWorkedOut
        try:
            if self.take("-"):
                inner = self.unary()
                if inner.type == "u32":
                    raise _NotWorkedOut
                return _ranged(-inner.value, inner.type)
            if self.take("~"):
                inner = self.unary()
                return Whole(2**32 - 1 - inner.value, "u32") if inner.type == "u32" else Whole(~inner.value, inner.type)
            return self.primary()
        finally:
            self.depth -= 1

    def primary(self) -> Whole:
        token = self.peek()
        if token is None:
            raise _NotWorkedOut
        if self.take("("):
            inner = self.binary(0)
            if not self.take(")"):
                raise _NotWorkedOut
            return inner
        self.at += 1
        if token.kind == NUMBER:
            match = _INTEGER.match(token.text)
            if match is None:
                raise _NotWorkedOut
            return _ranged(int(match[1], 0), {"i": "i32", "u": "u32", "": ""}[match[2]])
        if token.kind != WORD:
            raise _NotWorkedOut
        if self.take("("):
            return self.call(token.text)
        value = self.named(token.text)
        if value is None:
            raise _NotWorkedOut
        return value

    def call(self, function: str) -> Whole:
        arguments = []
        while not self.take(")"):
            arguments.append(self.binary(0))
            if not self.take(",") and (self.peek() is None or self.tokens[self.at].text != ")"):
                raise _NotWorkedOut
        if function in ("i32", "u32") and len(arguments) == 1:
            given = arguments[0]
            # From one 32-bit type to the other the bits stay; a number whose type is open has to fit.
            value = given.value
            if given.type and given.type != function:
                value = value % 2**32 if function == "u32" else (value + 2**31) % 2**32 - 2**31
            return _ranged(value, function)
        if function in ("min", "max") and len(arguments) == 2:
            type = _common(*arguments)
            return _ranged((min if function == "min" else max)(each.value for each in arguments), type)
        raise _NotWorkedOut


def _common(first: Whole, second: Whole) -> str:
    if first.type and second.type and first.type != second.type:
        raise _NotWorkedOut
    return first.type or second.type


def _ranged(value: int, type: str) -> Whole:
    lowest, highest = _RANGES[type]
    if not lowest <= value <= highest:
        raise _NotWorkedOut
    return Whole(value, type)


def _applied(operator: str, left: Whole, right: Whole) -> Whole:
    if operator in ("<<", ">>"):
        return _shifted(operator, left, right)
    type = _common(left, right)
    a, b = _ranged(left.value, type).value, _ranged(right.value, type).value
    if operator in ("/", "%"):
        if b == 0:
            raise _NotWorkedOut
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return _ranged(quotient if operator == "/" else a - quotient * b, type)
    value = {"+": a + b, "-": a - b, "*": a * b, "|": a | b, "^": a ^ b, "&": a & b}[operator]
    return _ranged(value, type)


def _shifted(operator: str, left: Whole, right: Whole) -> Whole:
    if right.type == "i32" or not 0 <= right.value < (32 if left.type else 64):
        raise _NotWorkedOut
    value = left.value << right.value if operator == "<<" else left.value >> right.value
    return _ranged(value, left.type)
