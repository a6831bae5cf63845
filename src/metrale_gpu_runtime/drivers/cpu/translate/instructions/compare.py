"""setp, set and slct."""

from __future__ import annotations

from .....ptx.syntax import Instruction
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS, Scalar
from ..words import Words
from .floating import flushed
from .half import compare_halves
from .moves import destinations

_PRED = SCALARS["pred"]
_INTEGER = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "lo": "lt", "ls": "le", "hi": "gt",
            "hs": "ge"}  # fmt: skip
_UNSIGNED_NAMES = frozenset({"lo", "ls", "hi", "hs"})
# Without u: false where an operand is NaN.
_FLOAT = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "equ": "ueq", "neu": "une",
          "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "num": "ord", "nan": "uno"}  # fmt: skip
COMPARISONS = tuple({**_INTEGER, **_FLOAT})


def compared(e: Emitter, comparison: str, a: str, b: str, scalar: Scalar, *, ftz: bool) -> str:
    """The i1 of a comparison of two values that are no halves."""
    if scalar.kind == "f":
        condition = _FLOAT.get(comparison) or refuse(f".{comparison} does not compare floats")
        if ftz:
            a, b = flushed(e, a, scalar), flushed(e, b, scalar)
        return e.op(f"fcmp {condition} {scalar.llvm} {a}, {b}")
    condition = _INTEGER.get(comparison) or refuse(f".{comparison} does not compare integers")
    if condition not in ("eq", "ne"):
        condition = ("s" if scalar.is_signed and comparison not in _UNSIGNED_NAMES else "u") + condition
    return e.op(f"icmp {condition} {scalar.llvm} {a}, {b}")


@translates("setp")
def setp(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    comparison = words.choice(*COMPARISONS) or refuse("it has no comparison")
    combination = words.choice("and", "or", "xor")
    ftz = words.flag("ftz")
    scalar = words.type()
    words.end()
    target, first, second, *rest = instruction.operands
    a, b = e.read(first, scalar), e.read(second, scalar)
    one, other = destinations(target)
    if scalar.kind == "h":
        results = compare_halves(e, comparison, a, b, scalar, ftz=ftz)
        if len(results) == 2:
            if other is None or combination is not None:
                refuse("packed halves need two predicates and no combination")
            e.write(one, results[0], _PRED)
            e.write(other, results[1], _PRED)
            return
        result = results[0]
    else:
        result = compared(e, comparison, a, b, scalar, ftz=ftz)
    negated = e.op(f"xor i1 {result}, true") if other is not None else ""
    if combination is not None:
        with_ = e.read(rest[0], _PRED)
        result = e.op(f"{combination} i1 {result}, {with_}")
        if other is not None:
            negated = e.op(f"{combination} i1 {negated}, {with_}")
    e.write(one, result, _PRED)
    if other is not None:
        e.write(other, negated, _PRED)


@translates("set")
def set_(e: Emitter, instruction: Instruction) -> None:
    """All ones for integers, 1.0 for floats, or zero."""
    words = Words(instruction)
    comparison = words.choice(*COMPARISONS) or refuse("it has no comparison")
    combination = words.choice("and", "or", "xor")
    ftz = words.flag("ftz")
    kind, scalar = words.type(), words.type()
    words.end()
    target, first, second, *rest = instruction.operands
    a, b = e.read(first, scalar), e.read(second, scalar)
    if scalar.kind == "h":
        results = compare_halves(e, comparison, a, b, scalar, ftz=ftz)
    else:
        results = [compared(e, comparison, a, b, scalar, ftz=ftz)]
    if combination is not None:
        with_ = e.read(rest[0], _PRED)
        results = [e.op(f"{combination} i1 {result}, {with_}") for result in results]
    if kind.name in _ONE_HALF:
        one = _ONE_HALF[kind.name]
        halves = [e.op(f"select i1 {result}, i16 {one}, i16 0") for result in results]
        e.write(target, _joined(e, halves), kind)
    elif len(results) == 2:
        if kind.bits != 32 or not kind.is_integer:
            refuse(f"set of packed halves gives no {kind.name}")
        e.write(target, _joined(e, [e.op(f"sext i1 {result} to i16") for result in results]), kind)
    elif kind.kind == "f":
        e.write(target, e.op(f"select i1 {results[0]}, {kind.llvm} 1.0, {kind.llvm} 0.0"), kind)
    else:
        e.write(target, e.op(f"sext i1 {results[0]} to {kind.llvm}"), kind)


_ONE_HALF = {"f16": 0x3C00, "f16x2": 0x3C00, "bf16": 0x3F80, "bf16x2": 0x3F80}


def _joined(e: Emitter, halves: list[str]) -> str:
    if len(halves) == 1:
        return halves[0]
    low, high = (e.op(f"zext i16 {half} to i32") for half in halves)
    return e.op(f"or i32 {low}, {e.op(f'shl i32 {high}, 16')}")


@translates("slct")
def slct(e: Emitter, instruction: Instruction) -> None:
    """a if c >= 0 else b; a NaN takes b."""
    words = Words(instruction)
    ftz = words.flag("ftz")
    scalar, selector = words.type(), words.type()
    words.end()
    target, first, second, third = instruction.operands
    a, b, c = e.read(first, scalar), e.read(second, scalar), e.read(third, selector)
    condition = compared(e, "ge", c, "0.0" if selector.kind == "f" else "0", selector, ftz=ftz)
    e.write(target, e.op(f"select i1 {condition}, {scalar.llvm} {a}, {scalar.llvm} {b}"), scalar)
