"""f32 and f64 arithmetic: one rounding per instruction, as written; flushing and saturation per instruction too."""

from __future__ import annotations

import re

from .....ptx.syntax import Instruction
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS, Scalar
from ..words import Words

# The rounding argument of semantics.c.
ROUNDINGS = {"rz": 1, "rm": 2, "rp": 3}
_PATTERN = re.compile(r"bitcast \(i32 (\d+) to float\)")
_PATTERN64 = re.compile(r"bitcast \(i64 (\d+) to double\)")


def flushed(e: Emitter, value: str, scalar: Scalar) -> str:
    """Subnormals of f32 as zeros of their sign (.ftz); other types have no .ftz."""
    if scalar.name != "f32":
        refuse(f".ftz is not for {scalar.name}")
    if value in e.flushed:
        return value
    literal = _PATTERN.fullmatch(value)
    if literal is not None:
        bits = int(literal[1])
        return value if bits & 0x7F800000 else f"bitcast (i32 {bits & 0x80000000} to float)"
    value = e.call("float", "ptx_ftz_f32", ("float", value))
    e.flushed.add(value)
    return value


def finished(e: Emitter, value: str, scalar: Scalar, *, ftz: bool, sat: bool) -> str:
    """A result after .ftz and .sat."""
    if sat:
        if scalar.kind != "f":
            refuse(".sat is not supported here")
        value = e.call(scalar.llvm, f"ptx_sat_{scalar.name}", (scalar.llvm, value))
    return flushed(e, value, scalar) if ftz else value


def _operands(e: Emitter, instruction: Instruction, scalar: Scalar, *, ftz: bool) -> list[str]:
    values = [e.read(operand, scalar) for operand in instruction.operands[1:]]
    return [flushed(e, value, scalar) for value in values] if ftz else values


def rounding_of(words: Words) -> str:
    return words.choice("rn", "rz", "rm", "rp") or "rn"


def _directed(e: Emitter, name: str, scalar: Scalar, values: list[str], rounding: str) -> str:
    arguments = [(scalar.llvm, value) for value in values]
    return e.call(scalar.llvm, f"ptx_{name}_{scalar.name}", *arguments, ("i32", str(ROUNDINGS[rounding])))


_NEAREST = {"add": "fadd", "sub": "fsub", "mul": "fmul"}


@translates("add", "sub", "mul", kind="float")
def add_sub_mul(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    rounding = rounding_of(words)
    ftz, sat = words.flag("ftz"), words.flag("sat")
    scalar = words.type()
    words.end()
    a, b = _operands(e, instruction, scalar, ftz=ftz)
    opcode = instruction.opcode
    if rounding == "rn":
        value = e.op(f"{_NEAREST[opcode]} {scalar.llvm} {a}, {b}")
    else:
        if opcode == "sub":
            opcode, b = "add", e.op(f"fneg {scalar.llvm} {b}")
        value = _directed(e, opcode, scalar, [a, b], rounding)
    e.write(instruction.operands[0], finished(e, value, scalar, ftz=ftz, sat=sat), scalar)


@translates("fma", "mad", kind="float")
def fma(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    rounding = rounding_of(words)
    ftz, sat = words.flag("ftz"), words.flag("sat")
    scalar = words.type()
    words.end()
    values = _operands(e, instruction, scalar, ftz=ftz)
    value = fused(e, values, scalar) if rounding == "rn" else _directed(e, "fma", scalar, values, rounding)
    e.write(instruction.operands[0], finished(e, value, scalar, ftz=ftz, sat=sat), scalar)


def fused(e: Emitter, values: list[str], scalar: Scalar) -> str:
    """a * b + c with one rounding."""
    return e.call(scalar.llvm, f"llvm.fma.{scalar.name}", *((scalar.llvm, value) for value in values))


@translates("div", kind="float")
def div(e: Emitter, instruction: Instruction) -> None:
    """.approx and .full are bounds, which the correctly rounded quotient meets."""
    words = Words(instruction)
    words.choice("approx", "full")
    rounding = rounding_of(words)
    ftz = words.flag("ftz")
    scalar = words.type()
    words.end()
    a, b = _operands(e, instruction, scalar, ftz=ftz)
    value = e.op(f"fdiv {scalar.llvm} {a}, {b}") if rounding == "rn" else _directed(e, "div", scalar, [a, b], rounding)
    e.write(instruction.operands[0], finished(e, value, scalar, ftz=ftz, sat=False), scalar)


@translates("rcp", "sqrt")
def rcp_sqrt(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    approximate = words.flag("approx")
    rounding = rounding_of(words)
    ftz = words.flag("ftz")
    scalar = words.type()
    words.end()
    if scalar.kind != "f":
        refuse(f"it is not for {scalar.name}")
    opcode = instruction.opcode
    if scalar.name == "f64" and approximate:
        if opcode != "rcp" or not ftz:
            refuse("of f64 only rcp.approx.ftz is there")
        a = e.read(instruction.operands[1], scalar)
        e.write(instruction.operands[0], e.call("double", "ptx_rcp_approx_ftz_f64", ("double", a)), scalar)
        return
    (a,) = _operands(e, instruction, scalar, ftz=ftz)
    if rounding != "rn":
        values = ["1.0", a] if opcode == "rcp" else [a]
        value = _directed(e, "div" if opcode == "rcp" else "sqrt", scalar, values, rounding)
    elif opcode == "rcp":
        value = e.op(f"fdiv {scalar.llvm} 1.0, {a}")
    else:
        value = e.call(scalar.llvm, f"llvm.sqrt.{scalar.name}", (scalar.llvm, a))
    e.write(instruction.operands[0], finished(e, value, scalar, ftz=ftz, sat=False), scalar)


@translates("neg", "abs", kind="float")
def neg_abs(e: Emitter, instruction: Instruction) -> None:
    """The sign bit alone, NaN included."""
    words = Words(instruction)
    ftz = words.flag("ftz")
    scalar = words.type()
    words.end()
    (a,) = _operands(e, instruction, scalar, ftz=ftz)
    if instruction.opcode == "neg":
        value = e.op(f"fneg {scalar.llvm} {a}")
    else:
        value = e.call(scalar.llvm, f"llvm.fabs.{scalar.name}", (scalar.llvm, a))
    if ftz:
        e.flushed.add(value)
    e.write(instruction.operands[0], value, scalar)


@translates("min", "max", kind="float")
def min_max(e: Emitter, instruction: Instruction) -> None:
    """The operand that is no NaN, and -0 below +0; with .NaN any NaN wins."""
    words = Words(instruction)
    ftz, propagates, xorsign = words.flag("ftz"), words.flag("NaN"), words.flag("xorsign")
    magnitude = words.flag("abs")
    scalar = words.type()
    words.end()
    if xorsign != magnitude:
        refuse(".xorsign and .abs come together")
    values = _operands(e, instruction, scalar, ftz=ftz)
    kind, opcode = scalar.llvm, instruction.opcode
    sign = ""
    if xorsign:
        bits = SCALARS[f"b{scalar.bits}"].llvm
        signs = [e.convert(value, kind, bits) for value in values]
        sign = e.convert(e.op(f"xor {bits} {signs[0]}, {signs[1]}"), bits, kind)
        values = [e.call(kind, f"llvm.fabs.{scalar.name}", (kind, value)) for value in values]
    result = values[0]
    for value in values[1:]:
        result = _extreme(e, opcode, result, value, scalar, propagates=propagates)
    if xorsign:
        result = e.call(kind, f"llvm.copysign.{scalar.name}", (kind, result), (kind, sign))
    if ftz:
        e.flushed.add(result)
    e.write(instruction.operands[0], result, scalar)


def _extreme(e: Emitter, opcode: str, a: str, b: str, scalar: Scalar, *, propagates: bool) -> str:
    kind = scalar.llvm
    if not propagates:
        for value, literal in ((a, b), (b, a)):
            # Against a literal that is no NaN and no zero one comparison is enough; also for max with +0.
            bits = _literal_bits(literal)
            if bits is None:
                continue
            magnitude = bits & ((1 << (scalar.bits - 1)) - 1)
            infinity = 0x7F800000 if scalar.bits == 32 else 0x7FF0000000000000
            if magnitude <= infinity and (magnitude or (opcode == "max" and bits == 0)):
                condition = e.op(f"fcmp {'olt' if opcode == 'min' else 'ogt'} {kind} {value}, {literal}")
                return e.op(f"select i1 {condition}, {kind} {value}, {kind} {literal}")
    name = f"ptx_{opcode}{'_nan' if propagates else ''}_{scalar.name}"
    return e.call(kind, name, (kind, a), (kind, b))


def _literal_bits(value: str) -> int | None:
    literal = _PATTERN.fullmatch(value) or _PATTERN64.fullmatch(value)
    return int(literal[1]) if literal is not None else None


@translates("copysign")
def copysign(e: Emitter, instruction: Instruction) -> None:
    """The magnitude of the second operand with the sign of the first."""
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    sign, magnitude = e.read(first, scalar), e.read(second, scalar)
    name = f"llvm.copysign.{scalar.name}"
    e.write(target, e.call(scalar.llvm, name, (scalar.llvm, magnitude), (scalar.llvm, sign)), scalar)


_CLASSES = {
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x108,
    "subnormal": 0x090,
}


@translates("testp")
def testp(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    which = words.choice(*_CLASSES) or refuse("it names no class")
    scalar = words.type()
    words.end()
    target, source = instruction.operands
    value = e.read(source, scalar)
    name = f"llvm.is.fpclass.{scalar.name}"
    result = e.call("i1", name, (scalar.llvm, value), ("i32", str(_CLASSES[which])))
    e.write(target, result, SCALARS["pred"])
