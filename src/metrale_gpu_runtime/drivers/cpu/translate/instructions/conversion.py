"""cvt: between integers, floats and the small floats. To integers it always saturates."""

from __future__ import annotations

from .....ptx.syntax import Instruction
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS, Scalar
from ..words import Words
from .floating import ROUNDINGS, finished, flushed
from .half import halves, joined

_TO_INTEGRAL = {"rni": "llvm.rint", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}
_F32, _F64 = SCALARS["f32"], SCALARS["f64"]
_SINGLE = frozenset({"f16", "bf16"})
_PACKED = {"f16x2": "f16", "bf16x2": "bf16"}
_BYTES = {"e4m3x2": "e4m3", "e5m2x2": "e5m2"}


@translates("cvt")
def cvt(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    rounding = words.choice("rn", "rz", "rm", "rp", "rna")
    integral = words.choice(*_TO_INTEGRAL)
    ftz, sat, relu, satfinite = (words.flag(word) for word in ("ftz", "sat", "relu", "satfinite"))
    to, of = words.type(), words.type()
    words.end()
    if to.name in _PACKED or to.name in _BYTES:
        _to_packed(e, instruction, to, of, rounding or "rn", ftz=ftz, relu=relu, satfinite=satfinite)
        return
    a = e.read(instruction.operands[1], of)
    if of.is_integer and to.is_integer:
        value = _integer_to_integer(e, a, of, to, sat=sat)
    elif to.is_integer:
        value = _float_to_integer(e, a, of, to, integral, ftz=ftz)
    elif to.name == "tf32":
        if of.name != "f32" or rounding not in ("rna", "rn", "rz"):
            refuse("tf32 comes from f32 by .rna, .rn or .rz")
        value = e.call("float", f"ptx_tf32_{rounding}", ("float", a))
        if relu:
            value = e.call("float", "ptx_relu_f32", ("float", value))
        value = e.convert(value, "float", "i32")
    elif to.name in _SINGLE:
        value = _to_half(e, a, of, to.name, rounding or "rn", integral, ftz=ftz, sat=sat)
        value = _adjusted(e, value, to.name, relu=relu, satfinite=satfinite)
    else:
        if relu or satfinite:
            refuse("there is no .relu or .satfinite of this type")
        value = _to_float(e, a, of, to, rounding or "rn", integral, ftz=ftz, sat=sat)
    e.write_extended(instruction.operands[0], value, to)


# ------------------------------------------------------------ integers


def _integer_to_integer(e: Emitter, a: str, of: Scalar, to: Scalar, *, sat: bool) -> str:
    if sat:
        lowest = -(1 << (to.bits - 1)) if to.is_signed else 0
        highest = (1 << (to.bits - (1 if to.is_signed else 0))) - 1
        sign = "s" if of.is_signed else "u"
        own_lowest = -(1 << (of.bits - 1)) if of.is_signed else 0
        own_highest = (1 << (of.bits - (1 if of.is_signed else 0))) - 1
        if lowest > own_lowest:
            a = e.call(of.llvm, f"llvm.{sign}max.{of.llvm}", (of.llvm, a), (of.llvm, str(lowest)))
        if highest < own_highest:
            a = e.call(of.llvm, f"llvm.{sign}min.{of.llvm}", (of.llvm, a), (of.llvm, str(highest)))
    if to.bits <= of.bits:
        return e.convert(a, of.llvm, to.llvm)
    return e.widen(a, of.llvm, to.llvm, of.is_signed)


def _float_to_integer(e: Emitter, a: str, of: Scalar, to: Scalar, integral: str | None, *, ftz: bool) -> str:
    """NaN gives 0, but the sign bit alone where f64 or 64 bits are involved (PTX ISA, "cvt")."""
    if integral is None:
        refuse("it has no rounding to an integer")
    value, kind = _as_plain_float(e, a, of)
    if ftz and of.name == "f32":
        value = flushed(e, value, of)
    rounded = e.call(kind.llvm, f"{_TO_INTEGRAL[integral]}.{kind.name}", (kind.llvm, value))
    name = f"llvm.fpto{'s' if to.is_signed else 'u'}i.sat.{to.llvm}.{kind.name}"
    result = e.call(to.llvm, name, (kind.llvm, rounded))
    if of.name == "f64" or to.bits == 64:
        is_nan = e.op(f"fcmp uno {kind.llvm} {value}, 0.0")
        result = e.op(f"select i1 {is_nan}, {to.llvm} {1 << (to.bits - 1)}, {to.llvm} {result}")
    return result


# ------------------------------------------------------------ f32 and f64


def _as_plain_float(e: Emitter, a: str, of: Scalar) -> tuple[str, Scalar]:
    """A float of any kind as the f32 or f64 that equals it."""
    if of.kind == "f":
        return a, of
    if of.name in _SINGLE:
        return e.call("float", f"ptx_f32_{of.name}", ("i16", a)), _F32
    return refuse(f"conversion from {of.name} is not supported")


def _to_float(
    e: Emitter, a: str, of: Scalar, to: Scalar, rounding: str, integral: str | None, *, ftz: bool, sat: bool
) -> str:
    if rounding == "rna":
        refuse(".rna is for tf32")
    if of.is_integer:
        value = _integer_to_float(e, a, of, to, rounding)
    else:
        value, kind = _as_plain_float(e, a, of)
        if ftz and of.name == "f32":
            value = flushed(e, value, of)
        if integral is not None:
            value = e.call(kind.llvm, f"{_TO_INTEGRAL[integral]}.{kind.name}", (kind.llvm, value))
        if kind.bits < to.bits:
            value = e.op(f"fpext float {value} to double")
        elif kind.bits > to.bits:
            if rounding == "rn":
                value = e.op(f"fptrunc double {value} to float")
            else:
                value = e.call("float", "ptx_f32_f64", ("double", value), ("i32", str(ROUNDINGS[rounding])))
    return finished(e, value, to, ftz=ftz and to.name == "f32", sat=sat)


def _integer_to_float(e: Emitter, a: str, of: Scalar, to: Scalar, rounding: str) -> str:
    sign = "s" if of.is_signed else "u"
    if rounding == "rn" or of.bits < {"f32": 32, "f64": 64}[to.name]:
        return e.op(f"{sign}itofp {of.llvm} {a} to {to.llvm}")
    return e.call(to.llvm, f"ptx_{to.name}_{sign}{of.bits}", (of.llvm, a), ("i32", str(ROUNDINGS[rounding])))


# ------------------------------------------------------------ halves


def _mode(rounding: str) -> str:
    return "0" if rounding == "rn" else str(ROUNDINGS.get(rounding) or refuse(f".{rounding} is not supported here"))


def _to_half(
    e: Emitter, a: str, of: Scalar, name: str, rounding: str, integral: str | None, *, ftz: bool, sat: bool
) -> str:
    if of.is_integer:
        if of.bits == 64 and name == "bf16":
            refuse("64-bit integers to bf16 are not supported")
        value, kind = e.op(f"{'s' if of.is_signed else 'u'}itofp {of.llvm} {a} to double"), _F64
    else:
        value, kind = _as_plain_float(e, a, of)
    if ftz and of.name == "f32":
        value = flushed(e, value, of)
    if integral is not None:
        value = e.call(kind.llvm, f"{_TO_INTEGRAL[integral]}.{kind.name}", (kind.llvm, value))
    if sat:
        value = e.call(kind.llvm, f"ptx_sat_{kind.name}", (kind.llvm, value))
    return e.call("i16", f"ptx_{name}_{kind.name}", (kind.llvm, value), ("i32", _mode(rounding)))


def _adjusted(e: Emitter, value: str, name: str, *, relu: bool, satfinite: bool) -> str:
    if satfinite:
        value = e.call("i16", f"ptx_satfinite_{name}", ("i16", value))
    return e.call("i16", f"ptx_relu_{name}", ("i16", value)) if relu else value


def _to_packed(
    e: Emitter,
    instruction: Instruction,
    to: Scalar,
    of: Scalar,
    rounding: str,
    *,
    ftz: bool,
    relu: bool,
    satfinite: bool,
) -> None:
    """Two values into one register: the first source is the upper one."""
    target, *sources = instruction.operands
    if to.name in _BYTES:
        _to_bytes(e, instruction, to, of, relu=relu, satfinite=satfinite)
        return
    name = _PACKED[to.name]
    if of.name in _BYTES:
        if name != "f16" or rounding != "rn":
            refuse("of its forms only .rn.f16x2 is supported")
        packed = e.read(sources[0], of)
        small = [e.convert(packed, "i16", "i8"), e.convert(e.op(f"lshr i16 {packed}, 8"), "i16", "i8")]
        parts = [e.call("i16", f"ptx_f16_{_BYTES[of.name]}", ("i8", part)) for part in small]
    else:
        if of.name != "f32" or len(sources) != 2:
            refuse("it takes two f32")
        parts = [
            _to_half(e, e.read(source, of), of, name, rounding, None, ftz=ftz, sat=False)
            for source in reversed(sources)
        ]
    e.write(target, joined(e, [_adjusted(e, part, name, relu=relu, satfinite=satfinite) for part in parts]), to)


def _to_bytes(e: Emitter, instruction: Instruction, to: Scalar, of: Scalar, *, relu: bool, satfinite: bool) -> None:
    if not satfinite:
        refuse("it needs .satfinite")
    target, *sources = instruction.operands
    if of.name in _PACKED:
        values = [
            _as_plain_float(e, half, SCALARS[_PACKED[of.name]])[0] for half in halves(e, e.read(sources[0], of), of)
        ]
    elif of.name == "f32" and len(sources) == 2:
        values = [e.read(source, of) for source in reversed(sources)]
    else:
        refuse("it takes two f32 or a pair of halves")
    small = [e.call("i8", f"ptx_{_BYTES[to.name]}_f32", ("float", value), ("i32", str(int(relu)))) for value in values]
    low, high = (e.op(f"zext i8 {part} to i16") for part in small)
    e.write(target, e.op(f"or i16 {low}, {e.op(f'shl i16 {high}, 8')}"), to)
