"""Literals and constant expressions: integers of 64 bits with C's operators, floating point as written or as bits."""

from __future__ import annotations

import re
import struct

from .lexer import NUMBER, PUNCTUATION, Tokens
from .syntax import Immediate

WARP_SIZE = 32

_MASK = (1 << 64) - 1
_DEEPEST = 32  # a level may take a dozen Python frames
_LONGEST_LITERAL = 800  # more digits than any 64-bit integer or double has

# An integer with its signedness (PTX ISA, "Integer Constant Expression Evaluation"), a double, or a bit pattern.
_Value = tuple[int, bool] | float | Immediate

_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_AFTER_A_PLAIN_LITERAL = frozenset({",", ";", "}", "]", ")"})
_PATTERN = re.compile(r"0[fFdD]")


def starts_constant(tokens: Tokens) -> bool:
    """Whether the next token can begin a constant expression."""
    text = tokens.texts[tokens.at]
    if tokens.kinds[tokens.at] == PUNCTUATION:
        return text in ("-", "+", "~", "!", "(")
    return tokens.kinds[tokens.at] == NUMBER or text == "WARP_SZ"


def constant(tokens: Tokens) -> Immediate:
    """Read a constant expression. Integers come signed unless they were written unsigned or need 64 bits."""
    if tokens.kinds[tokens.at] == NUMBER and tokens.texts[tokens.at + 1] in _AFTER_A_PLAIN_LITERAL:
        value = _literal(tokens)
    elif (
        tokens.texts[tokens.at] == "-"
        and tokens.kinds[tokens.at + 1] == NUMBER
        and tokens.texts[tokens.at + 2] in _AFTER_A_PLAIN_LITERAL
    ):
        tokens.at += 1
        value = _literal(tokens)
        if isinstance(value, tuple) and value[0] == 1 << 63:
            # By the rules of expressions 2^63 is unsigned, and so is its negative; who writes it means the least.
            return Immediate(-value[0])
        value = _signed(tokens, "-", value)
    else:
        value = _conditional(tokens, 0)
    if isinstance(value, tuple):
        return Immediate(value[0])
    if isinstance(value, float):
        return Immediate(int.from_bytes(struct.pack("<d", value), "little"), 64)
    return value


def integer(tokens: Tokens, what: str) -> int:
    """Read a constant expression that must be an integer; `what` names it in the error."""
    at = tokens.at
    if not starts_constant(tokens):
        tokens.unexpected(what)
    value = constant(tokens)
    if value.float_bits is not None:
        tokens.unexpected(what, at)
    return value.value


def natural(tokens: Tokens, what: str) -> int:
    """Read one non-negative integer literal (a count, a dimension, a line); no expression."""
    if tokens.kinds[tokens.at] != NUMBER:
        tokens.unexpected(what)
    at = tokens.at
    value = _literal(tokens)
    if not isinstance(value, tuple):
        tokens.unexpected(what, at)
    return value[0]


def _literal(tokens: Tokens) -> _Value:
    text = tokens.texts[tokens.at]
    tokens.at += 1
    if len(text) > _LONGEST_LITERAL:
        tokens.fail(f"a literal of {len(text)} characters; no number needs more than {_LONGEST_LITERAL}", tokens.at - 1)
    if _PATTERN.match(text):
        return Immediate(int(text[2:], 16), 32 if text[1] in "fF" else 64)
    unsigned = text[-1] == "U"
    digits = text[:-1] if unsigned else text
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
    elif digits[:2] in ("0b", "0B"):
        value = int(digits, 2)
    elif not digits.isdigit():
        return float(digits)
    elif digits[0] == "0" and len(digits) > 1:
        if "8" in digits or "9" in digits:
            tokens.fail(f"{text} begins with 0, so it is octal, and 8 and 9 are no octal digits", tokens.at - 1)
        value = int(digits, 8)
    else:
        value = int(digits)
    if value > _MASK:
        tokens.fail(f"{text[:24]} does not fit in 64 bits", tokens.at - 1)
    return value, unsigned or value >> 63 == 1


def _wrapped(value: int, unsigned: bool) -> tuple[int, bool]:
    value &= _MASK
    return (value, True) if unsigned or value < 1 << 63 else (value - (1 << 64), False)


def _conditional(tokens: Tokens, depth: int) -> _Value:
    if depth > _DEEPEST:
        tokens.fail(f"an expression nests deeper than {_DEEPEST}")
    condition = _binary(tokens, 1, depth)
    if not tokens.accept("?"):
        return condition
    true = _truth(tokens, condition)
    first = _conditional(tokens, depth + 1)
    tokens.expect(":", " of a conditional expression")
    second = _conditional(tokens, depth + 1)
    return first if true else second


def _binary(tokens: Tokens, lowest: int, depth: int) -> _Value:
    left = _unary(tokens, depth)
    while True:
        operator = tokens.texts[tokens.at]
        precedence = _PRECEDENCE.get(operator, 0)
        if precedence < lowest:
            return left
        at = tokens.at
        tokens.at += 1
        left = _apply(tokens, at, operator, left, _binary(tokens, precedence + 1, depth))


def _unary(tokens: Tokens, depth: int) -> _Value:
    signs: list[str] = []
    while tokens.texts[tokens.at] in ("-", "+", "~", "!"):
        signs.append(tokens.take())
    value = _primary(tokens, depth)
    for sign in reversed(signs):
        value = _signed(tokens, sign, value)
    return value


def _signed(tokens: Tokens, sign: str, value: _Value) -> _Value:
    if isinstance(value, tuple):
        number, unsigned = value
        if sign == "-":
            return _wrapped(-number, unsigned)
        if sign == "~":
            return _wrapped(~number, unsigned)
        return value if sign == "+" else (int(number == 0), False)
    if sign == "+":
        return value
    if sign == "-":
        if isinstance(value, float):
            return -value
        bits = value.float_bits or 64
        return Immediate(value.value ^ 1 << (bits - 1), bits)
    return tokens.fail(f"{sign} needs an integer", tokens.at - 1)


def _primary(tokens: Tokens, depth: int) -> _Value:
    text = tokens.texts[tokens.at]
    if tokens.kinds[tokens.at] == NUMBER:
        return _literal(tokens)
    if text == "WARP_SZ":
        tokens.at += 1
        return WARP_SIZE, False
    if text != "(":
        tokens.unexpected("a number")
    tokens.at += 1
    if tokens.texts[tokens.at] in (".s64", ".u64"):
        unsigned = tokens.take() == ".u64"
        tokens.expect(")", " after the type of a cast")
        if depth > _DEEPEST:
            tokens.fail(f"an expression nests deeper than {_DEEPEST}")
        value = _unary(tokens, depth + 1)
        if not isinstance(value, tuple):
            tokens.fail("a cast needs an integer", tokens.at - 1)
        number = value[0] & _MASK
        return (number, True) if unsigned else (number - (number >> 63 << 64), False)
    value = _conditional(tokens, depth + 1)
    tokens.expect(")", " at the end of an expression")
    return value


def _truth(tokens: Tokens, value: _Value) -> bool:
    if isinstance(value, tuple):
        return value[0] != 0
    return tokens.fail("a condition needs an integer", tokens.at - 1)


def _apply(tokens: Tokens, at: int, operator: str, left: _Value, right: _Value) -> _Value:
    if isinstance(left, Immediate) or isinstance(right, Immediate):
        tokens.fail("a floating-point bit pattern cannot be part of an expression", at)
    if operator in ("&&", "||"):
        true, also = _truth(tokens, left), _truth(tokens, right)
        return int((true and also) if operator == "&&" else (true or also)), False
    if isinstance(left, float) or isinstance(right, float):
        a = left if isinstance(left, float) else float(left[0])
        b = right if isinstance(right, float) else float(right[0])
        if operator in _COMPARISONS:
            return int(_compared(operator, a, b)), False
        if operator == "/" and b == 0:
            tokens.fail("division by zero", at)
        if operator not in ("+", "-", "*", "/"):
            tokens.fail(f"{operator} needs integers", at)
        return a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a / b
    unsigned = left[1] or right[1]
    a, b = (left[0] & _MASK, right[0] & _MASK) if unsigned else (left[0], right[0])
    if operator in _COMPARISONS:
        return int(_compared(operator, a, b)), False
    if operator in ("<<", ">>"):
        # The assembler shifts as its host does, which says nothing of what was meant.
        if not 0 <= right[0] < 64:
            tokens.fail(f"a shift by {right[0]}; 64-bit constants shift by 0 to 63", at)
        return _wrapped(left[0] << right[0] if operator == "<<" else left[0] >> right[0], left[1])
    if operator in ("/", "%"):
        if b == 0:
            tokens.fail("division by zero", at)
        quotient = abs(a) // abs(b)
        if (a < 0) != (b < 0):
            quotient = -quotient
        return _wrapped(quotient if operator == "/" else a - quotient * b, unsigned)
    results = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    return _wrapped(results[operator], unsigned)


def _compared(operator: str, a: float, b: float) -> bool:
    if operator == "==":
        return a == b
    if operator == "!=":
        return a != b
    if operator == "<":
        return a < b
    if operator == ">":
        return a > b
    return a <= b if operator == "<=" else a >= b
