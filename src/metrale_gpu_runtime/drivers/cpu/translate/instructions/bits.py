"""Bit fields, shuffled bytes, counted bits, small dot products. Lengths and positions past the top are defined."""

from __future__ import annotations

from .....ptx.syntax import Immediate, Instruction
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS, Scalar
from ..words import Words
from .integer import absolute_difference

_B32, _U32, _S32 = SCALARS["b32"], SCALARS["u32"], SCALARS["s32"]


@translates("popc", "clz", "brev")
def count(e: Emitter, instruction: Instruction) -> None:
    """Counts have 32 bits whatever is counted."""
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, source = instruction.operands
    a, kind = e.read(source, scalar), scalar.llvm
    if instruction.opcode == "brev":
        e.write(target, e.call(kind, f"llvm.bitreverse.{kind}", (kind, a)), scalar)
        return
    if instruction.opcode == "popc":
        value = e.call(kind, f"llvm.ctpop.{kind}", (kind, a))
    else:
        value = e.call(kind, f"llvm.ctlz.{kind}", (kind, a), ("i1", "false"))
    e.write(target, e.convert(value, kind, "i32"), _U32)


@translates("bfind")
def bfind(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    shift_amount = words.flag("shiftamt")
    scalar = words.type()
    words.end()
    target, source = instruction.operands
    a, kind = e.read(source, scalar), scalar.llvm
    if scalar.is_signed:
        sign = e.op(f"ashr {kind} {a}, {scalar.bits - 1}")
        a = e.op(f"xor {kind} {a}, {sign}")
    zeros = e.convert(e.call(kind, f"llvm.ctlz.{kind}", (kind, a), ("i1", "false")), kind, "i32")
    value = zeros if shift_amount else e.op(f"sub i32 {scalar.bits - 1}, {zeros}")
    none = e.op(f"icmp eq {kind} {a}, 0")
    e.write(target, e.op(f"select i1 {none}, i32 -1, i32 {value}"), _U32)


@translates("bfe", "bfi")
def bit_field(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    if scalar.bits not in (32, 64):
        refuse("it has 32 or 64 bits")
    target, *sources = instruction.operands
    kind = scalar.llvm
    values = [(kind, e.read(source, scalar)) for source in sources[:-2]]
    values += [("i32", e.read(source, _U32)) for source in sources[-2:]]
    e.write(target, e.call(kind, f"ptx_{instruction.opcode}_{scalar.name}", *values), scalar)


@translates("bmsk", "szext")
def mask_or_extend(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    mode = words.choice("clamp", "wrap") or refuse("it needs .clamp or .wrap")
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    name = f"ptx_{instruction.opcode}_{mode}_{scalar.name}"
    e.write(target, e.call("i32", name, ("i32", e.read(first, scalar)), ("i32", e.read(second, _U32))), scalar)


@translates("fns")
def fns(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    words.type()
    words.end()
    target, *sources = instruction.operands
    e.write(target, e.call("i32", "ptx_fns", *(("i32", e.read(source, _B32)) for source in sources)), _B32)


@translates("shf")
def shf(e: Emitter, instruction: Instruction) -> None:
    """32 bits out of the 64 of b:a."""
    words = Words(instruction)
    left = words.choice("l", "r") == "l"
    mode = words.choice("clamp", "wrap") or refuse("it needs .clamp or .wrap")
    words.type()
    words.end()
    target, first, second, third = instruction.operands
    low, high, amount = (e.read(operand, _U32) for operand in (first, second, third))
    if mode == "wrap":
        name = f"llvm.fsh{'l' if left else 'r'}.i32"
        e.write(target, e.call("i32", name, ("i32", high), ("i32", low), ("i32", amount)), _B32)
        return
    amount = e.call("i32", "llvm.umin.i32", ("i32", amount), ("i32", "32"))
    wide = e.op(f"zext i32 {amount} to i64")
    upper = e.op(f"shl i64 {e.op(f'zext i32 {high} to i64')}, 32")
    joined = e.op(f"or i64 {upper}, {e.op(f'zext i32 {low} to i64')}")
    raised = e.op(f"shl i64 {joined}, {wide}") if left else joined
    shifted = e.op(f"lshr i64 {raised}, {'32' if left else wide}")
    e.write(target, e.op(f"trunc i64 {shifted} to i32"), _B32)


@translates("lop3")
def lop3(e: Emitter, instruction: Instruction) -> None:
    """Any function of three bits, by its truth table."""
    words = Words(instruction)
    words.type()
    words.end()
    target, *sources, table = instruction.operands
    if not isinstance(table, Immediate) or len(sources) != 3:
        refuse("its table must be a literal, without a predicate")
    a, b, c = (e.read(source, _B32) for source in sources)
    inverted = {value: e.op(f"xor i32 {value}, -1") for value in (a, b, c)}
    total = "0"
    for row in range(8):
        if table.value >> row & 1:
            terms = [value if row >> place & 1 else inverted[value] for value, place in ((a, 2), (b, 1), (c, 0))]
            both = e.op(f"and i32 {terms[0]}, {terms[1]}")
            term = e.op(f"and i32 {both}, {terms[2]}")
            total = e.op(f"or i32 {total}, {term}")
    e.write(target, total, _B32)


_PRMT_MODES = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")


@translates("prmt")
def prmt(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    mode = words.choice(*_PRMT_MODES)
    words.type()
    words.end()
    target, *sources = instruction.operands
    values = [("i32", e.read(source, _B32)) for source in sources]
    e.write(target, e.call("i32", f"ptx_prmt_{mode}" if mode else "ptx_prmt", *values), _B32)


# ------------------------------------------------------------ sums of products of parts


def _parts(e: Emitter, value: str, bits: int, count: int, signed: bool, first: int = 0) -> list[str]:
    """`count` parts of a 32-bit value as i32, from part `first` on."""
    found = []
    for n in range(first, first + count):
        raised = e.op(f"shl i32 {value}, {32 - bits * (n + 1)}") if bits * (n + 1) < 32 else value
        found.append(e.op(f"{'ashr' if signed else 'lshr'} i32 {raised}, {32 - bits}"))
    return found


@translates("dp4a", "dp2a")
def dot(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    half = words.choice("lo", "hi")
    left, right = words.type(), words.type()
    words.end()
    target, first, second, third = instruction.operands
    a, b, total = e.read(first, _B32), e.read(second, _B32), e.read(third, _B32)
    if instruction.opcode == "dp4a":
        pairs = zip(_parts(e, a, 8, 4, left.is_signed), _parts(e, b, 8, 4, right.is_signed), strict=True)
    else:
        start = 2 if half == "hi" else 0
        pairs = zip(_parts(e, a, 16, 2, left.is_signed), _parts(e, b, 8, 2, right.is_signed, start), strict=True)
    for x, y in pairs:
        total = e.op(f"add i32 {total}, {e.op(f'mul i32 {x}, {y}')}")
    e.write(target, total, _B32)


@translates("vabsdiff2", "vabsdiff4")
def vabsdiff(e: Emitter, instruction: Instruction) -> None:
    """Differences of parts; with .add their sum is added to the third operand."""
    words = Words(instruction)
    adds = words.flag("add")
    types: list[Scalar] = [words.type() for _ in range(3)]
    words.end()
    if any(scalar.bits != 32 for scalar in types) or types[1] != types[2]:
        refuse("mixed signs are not supported")
    target, first, second, third = instruction.operands
    bits = 16 if instruction.opcode == "vabsdiff2" else 8
    a, b = e.read(first, _B32), e.read(second, _B32)
    signed = types[1].is_signed
    whole = _S32 if signed else _U32
    differences = [
        absolute_difference(e, x, y, whole)
        for x, y in zip(_parts(e, a, bits, 32 // bits, signed), _parts(e, b, bits, 32 // bits, signed), strict=True)
    ]
    if adds:
        total = e.read(third, _B32)
        for difference in differences:
            total = e.op(f"add i32 {total}, {difference}")
    else:
        total = "0"
        for n, difference in enumerate(differences):
            low = e.op(f"and i32 {difference}, {(1 << bits) - 1}")
            total = e.op(f"or i32 {total}, {e.op(f'shl i32 {low}, {n * bits}')}")
    e.write(target, total, _B32)
