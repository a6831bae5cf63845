"""f16 and bf16, single and packed: each operation rounds to half at once."""

from __future__ import annotations

from .....ptx.syntax import Instruction
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import Scalar
from ..words import Words

_COMPARISONS = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "equ": "ueq", "neu": "une",
    "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "num": "ord", "nan": "uno",
}  # fmt: skip


def halves(e: Emitter, value: str, scalar: Scalar) -> list[str]:
    """The one or two halves of a value, low first, as i16."""
    if scalar.bits == 16:
        return [value]
    return [e.op(f"trunc i32 {value} to i16"), e.op(f"trunc i32 {e.op(f'lshr i32 {value}, 16')} to i16")]


def joined(e: Emitter, parts: list[str]) -> str:
    """One value of one or two halves."""
    if len(parts) == 1:
        return parts[0]
    low, high = (e.op(f"zext i16 {part} to i32") for part in parts)
    return e.op(f"or i32 {low}, {e.op(f'shl i32 {high}, 16')}")


def element(scalar: Scalar) -> str:
    """ "f16" or "bf16"."""
    name = scalar.name.removesuffix("x2")
    return name if name in ("f16", "bf16") else refuse(f"arithmetic on {scalar.name} is not supported")


def as_float(e: Emitter, half: str, name: str) -> str:
    """The f32 equal to a half."""
    return e.call("float", f"ptx_f32_{name}", ("i16", half))


def compare_halves(e: Emitter, comparison: str, a: str, b: str, scalar: Scalar, *, ftz: bool) -> list[str]:
    """The i1 of each half."""
    condition = _COMPARISONS.get(comparison) or refuse(f".{comparison} does not compare halves")
    name = element(scalar)
    results = []
    for x, y in zip(halves(e, a, scalar), halves(e, b, scalar), strict=True):
        if ftz:
            x, y = (e.call("i16", f"ptx_ftz_{name}", ("i16", value)) for value in (x, y))
        results.append(e.op(f"fcmp {condition} float {as_float(e, x, name)}, {as_float(e, y, name)}"))
    return results


@translates("add", "sub", "mul", "fma", "min", "max", "neg", "abs", kind="half")
def arithmetic(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    words.flag("rn")
    ftz, sat, relu = words.flag("ftz"), words.flag("sat"), words.flag("relu")
    propagates, xorsign = words.flag("NaN"), words.flag("xorsign")
    if xorsign != words.flag("abs"):
        refuse(".xorsign and .abs come together")
    scalar = words.type()
    words.end()
    name, opcode = element(scalar), instruction.opcode
    if sat and name != "f16":
        refuse(".sat is for f16")
    function = f"ptx_{opcode}{'_nan' if propagates else ''}{'_xorsign' if xorsign else ''}_{name}"
    columns = [halves(e, e.read(operand, scalar), scalar) for operand in instruction.operands[1:]]
    results = []
    for parts in zip(*columns, strict=True):
        if ftz:
            parts = tuple(_flushed(e, part, name) for part in parts)
        value = e.call("i16", function, *(("i16", part) for part in parts))
        if ftz:
            value = _flushed(e, value, name)
        if sat:
            value = e.call("i16", f"ptx_sat_{name}", ("i16", value))
        if relu:
            value = e.call("i16", f"ptx_relu_{name}", ("i16", value))
        results.append(value)
    e.write(instruction.operands[0], joined(e, results), scalar)


def _flushed(e: Emitter, half: str, name: str) -> str:
    return e.call("i16", f"ptx_ftz_{name}", ("i16", half))
