"""The operations of expressions: how they are written in PTX and CUDA C, and what they give, by NumPy and plain
integers. Written from the PTX ISA's text, not from the translator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

DTYPES: dict[str, Any] = {
    "u8": np.uint8, "u16": np.uint16, "s32": np.int32, "u32": np.uint32, "s64": np.int64, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "pred": np.bool_,
}  # fmt: skip
UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
BITS = {name: np.dtype(dtype).itemsize * 8 for name, dtype in DTYPES.items()} | {"pred": 1}
C_TYPES = {
    "u8": "unsigned char", "u16": "unsigned short", "s32": "int", "u32": "unsigned", "s64": "long long",
    "u64": "unsigned long long", "f16": "__half", "f32": "float", "f64": "double", "pred": "bool",
}  # fmt: skip
_C_UNSIGNED = {"s32": "unsigned", "u32": "unsigned", "s64": "unsigned long long", "u64": "unsigned long long"}

Values = Any


@dataclass(frozen=True)
class Operation:
    """`arguments` names the type of each: "T" is the operation's, else a type. `result` likewise."""

    name: str
    types: tuple[str, ...]
    arguments: tuple[str, ...]
    result: str
    compute: Callable[..., Values]
    ptx: Callable[[str], str]
    cuda: Callable[[str], str]
    weight: float = 1.0


OPERATIONS: dict[str, Operation] = {}
_INTS, _INTS32, _SIGNED = ("s32", "u32", "s64", "u64"), ("s32", "u32"), ("s32", "s64")
_FLOATS = ("f32", "f64", "f16")


def _add(
    name: str,
    types: tuple[str, ...],
    arguments: str,
    result: str,
    compute: Callable[..., Values],
    ptx: str | Callable[[str], str],
    cuda: str | Callable[[str], str],
    weight: float = 1.0,
) -> None:
    as_ptx = ptx if callable(ptx) else lambda t, text=ptx: text.replace("{T}", t).replace("{B}", f"b{BITS[t]}")
    as_cuda = (
        cuda
        if callable(cuda)
        else lambda t, text=cuda: text.replace("{T}", C_TYPES[t]).replace("{U}", _C_UNSIGNED.get(t, ""))
    )
    OPERATIONS[name] = Operation(name, types, tuple(arguments.split()), result, compute, as_ptx, as_cuda, weight)


def _unsigned(a: Values) -> Values:
    return a.view(UNSIGNED[a.dtype.itemsize * 8])


# ---------------------------------------------------------------- integers


def _shift(a: Values, amount: Values, left: bool) -> Values:
    bits = a.dtype.itemsize * 8
    inside = np.minimum(amount, bits - 1).astype(a.dtype)
    if left:
        return np.where(amount >= bits, a.dtype.type(0), a << inside)
    full = a >> inside
    return full if a.dtype.kind == "i" else np.where(amount >= bits, a.dtype.type(0), full)


def _quotient(a: Values, b: Values) -> Values:
    quotient = a // b
    return quotient + ((quotient * b != a) & (a < 0)).astype(a.dtype)


def _python(function: Callable[..., int]) -> Callable[..., Values]:
    """Element by element, in integers without a width; the result keeps the low bits of the first argument's type."""

    def apply(first: Values, *rest: Values) -> Values:
        bits = first.dtype.itemsize * 8
        lists = zip(first.tolist(), *(r.tolist() for r in rest), strict=True)
        results = [function(*values) & ((1 << bits) - 1) for values in lists]
        return np.array(results, UNSIGNED[bits]).view(first.dtype)

    return apply


def _mul_hi(a: Values, b: Values) -> Values:
    return _python(lambda x, y: (x * y) >> a.dtype.itemsize * 8)(a, b)


def _mul_wide(a: Values, b: Values) -> Values:
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    return a.astype(wide) * b.astype(wide)


def _bfe(a: Values, position: Values, length: Values) -> Values:
    bits, signed = a.dtype.itemsize * 8, a.dtype.kind == "i"

    def one(x: int, p: int, n: int) -> int:
        x, p, n = x & ((1 << bits) - 1), p & 0xFF, n & 0xFF
        sign = 0 if not signed or n == 0 else x >> min(p + n - 1, bits - 1) & 1
        value = 0
        for i in range(bits):
            bit = x >> (p + i) & 1 if i < n and p + i < bits else sign
            value |= bit << i
        return value

    return _python(one)(a, position, length)


def _bfi(a: Values, b: Values, position: Values, length: Values) -> Values:
    bits = a.dtype.itemsize * 8

    def one(x: int, y: int, p: int, n: int) -> int:
        p, n = p & 0xFF, n & 0xFF
        for i in range(n):
            if p + i < bits:
                y = y & ~(1 << (p + i)) | (x >> i & 1) << (p + i)
        return y

    return _python(one)(a, b, position, length)


def _count(function: Callable[[int, int], int]) -> Callable[[Values], Values]:
    def apply(a: Values) -> Values:
        bits = a.dtype.itemsize * 8
        return np.array([function(x & ((1 << bits) - 1), bits) for x in a.tolist()], np.uint32)

    return apply


def _prmt(a: Values, b: Values, selector: Values) -> Values:
    def one(x: int, y: int, s: int) -> int:
        source = (x | y << 32).to_bytes(8, "little")
        result = 0
        for n in range(4):
            nibble = s >> 4 * n & 15
            byte = source[nibble & 7]
            if nibble & 8:
                byte = 0xFF if byte & 0x80 else 0
            result |= byte << 8 * n
        return result

    return _python(one)(a, b, selector)


def _funnel(left: bool, wrap: bool) -> Callable[..., Values]:
    def one(low: int, high: int, amount: int) -> int:
        n = amount & 31 if wrap else min(amount, 32)
        both = low | high << 32
        return (both << n) >> 32 if left else both >> n

    return lambda low, high, amount: _python(one)(low, high, amount)


def _lop3(a: Values, b: Values, c: Values, table: int) -> Values:
    result = np.zeros_like(a)
    for row in range(8):
        if table >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result


_add("add", _INTS, "T T", "T", lambda a, b: a + b, "add.{T} {d}, {0}, {1};", "({T})(({U}){0} + ({U}){1})", 4)
_add("sub", _INTS, "T T", "T", lambda a, b: a - b, "sub.{T} {d}, {0}, {1};", "({T})(({U}){0} - ({U}){1})", 3)
_add("mul", _INTS, "T T", "T", lambda a, b: a * b, "mul.lo.{T} {d}, {0}, {1};", "({T})(({U}){0} * ({U}){1})", 3)
_add("mad", _INTS, "T T T", "T", lambda a, b, c: a * b + c, "mad.lo.{T} {d}, {0}, {1}, {2};",
     "({T})(({U}){0} * ({U}){1} + ({U}){2})", 2)  # fmt: skip
_add("and", _INTS, "T T", "T", lambda a, b: a & b, "and.{B} {d}, {0}, {1};", "({0} & {1})", 2)
_add("or", _INTS, "T T", "T", lambda a, b: a | b, "or.{B} {d}, {0}, {1};", "({0} | {1})")
_add("xor", _INTS, "T T", "T", lambda a, b: a ^ b, "xor.{B} {d}, {0}, {1};", "({0} ^ {1})", 2)
_add("not", _INTS, "T", "T", lambda a: ~a, "not.{B} {d}, {0};", "(~{0})")
_add("neg", _SIGNED, "T", "T", lambda a: -a, "neg.{T} {d}, {0};", "({T})(0 - ({U}){0})")
_add("abs", _SIGNED, "T", "T", np.abs, "abs.{T} {d}, {0};", "({0} < 0 ? ({T})(0 - ({U}){0}) : {0})")
_add("min", _INTS, "T T", "T", np.minimum, "min.{T} {d}, {0}, {1};", "({0} < {1} ? {0} : {1})")
_add("max", _INTS, "T T", "T", np.maximum, "max.{T} {d}, {0}, {1};", "({0} > {1} ? {0} : {1})")
_add("shl", _INTS, "T u32", "T", lambda a, n: _shift(a, n, True), "shl.{B} {d}, {0}, {1};",
     lambda t: f"({{1}} >= {BITS[t]} ? ({C_TYPES[t]})0 : ({C_TYPES[t]})(({_C_UNSIGNED[t]}){{0}} << ({{1}} & {BITS[t] - 1})))")  # fmt: skip
_add("shr", _INTS, "T u32", "T", lambda a, n: _shift(a, n, False), "shr.{T} {d}, {0}, {1};",
     lambda t: (f"({{1}} >= {BITS[t]} ? ({C_TYPES[t]})0 : " if t[0] == "u" else "(")
     + f"({{0}} >> ({{1}} >= {BITS[t]} ? {BITS[t] - 1} : {{1}})))")  # fmt: skip
_add("div", _INTS, "T positive", "T", _quotient, "div.{T} {d}, {0}, {1};", "({0} / {1})")
_add("rem", _INTS, "T positive", "T", lambda a, b: a - _quotient(a, b) * b, "rem.{T} {d}, {0}, {1};", "({0} % {1})")
_add("mulhi", _INTS, "T T", "T", _mul_hi, "mul.hi.{T} {d}, {0}, {1};",
     lambda t: {"s32": "__mulhi({0}, {1})", "u32": "__umulhi({0}, {1})", "s64": "__mul64hi({0}, {1})",
                "u64": "__umul64hi({0}, {1})"}[t])  # fmt: skip
_add("mulwide_s", ("s32",), "T T", "s64", _mul_wide, "mul.wide.s32 {d}, {0}, {1};", "((long long){0} * (long long){1})")
_add("mulwide_u", ("u32",), "T T", "u64", _mul_wide, "mul.wide.u32 {d}, {0}, {1};",
     "((unsigned long long){0} * (unsigned long long){1})")  # fmt: skip
_add("bfe", _INTS, "T u32 u32", "T", _bfe, "bfe.{T} {d}, {0}, {1}, {2};", "", 0.5)
_add("bfi", ("u32", "u64"), "T T u32 u32", "T", _bfi, "bfi.{B} {d}, {0}, {1}, {2}, {3};", "", 0.5)
_add("popc", ("u32", "u64"), "T", "u32", _count(lambda x, bits: x.bit_count()), "popc.{B} {d}, {0};",
     lambda t: "(unsigned)__popcll({0})" if t == "u64" else "(unsigned)__popc({0})")  # fmt: skip
_add("clz", ("u32", "u64"), "T", "u32", _count(lambda x, bits: bits - x.bit_length()), "clz.{B} {d}, {0};",
     lambda t: "(unsigned)__clzll({0})" if t == "u64" else "(unsigned)__clz({0})")  # fmt: skip
_add("brev", ("u32", "u64"), "T", "T",
     lambda a: _python(lambda x: int(f"{x:0{a.dtype.itemsize * 8}b}"[::-1], 2))(a), "brev.{B} {d}, {0};",
     lambda t: "__brevll({0})" if t == "u64" else "__brev({0})", 0.5)  # fmt: skip
_add("prmt", ("u32",), "T T T", "T", _prmt, "prmt.b32 {d}, {0}, {1}, {2};", "__byte_perm({0}, {1}, {2})", 0.5)
for _left in (True, False):
    for _wrap in (True, False):
        _name = f"shf.{'l' if _left else 'r'}.{'wrap' if _wrap else 'clamp'}"
        _cuda = f"__funnelshift_{'l' if _left else 'r'}{'' if _wrap else 'c'}({{0}}, {{1}}, {{2}})"
        _add(_name, ("u32",), "T T T", "T", _funnel(_left, _wrap), _name + ".b32 {d}, {0}, {1}, {2};", _cuda, 0.3)
_add("lop3", ("u32",), "T T T", "T", _lop3, "lop3.b32 {d}, {0}, {1}, {2}, {literal};", "", 0.7)
_add("sad", _INTS32, "T T T", "T", lambda a, b, c: (np.maximum(a, b) - np.minimum(a, b)).astype(c.dtype) + c,
     "sad.{T} {d}, {0}, {1}, {2};", "({T})(({U})({0} > {1} ? ({U}){0} - ({U}){1} : ({U}){1} - ({U}){0}) + ({U}){2})",
     0.5)  # fmt: skip
_add("ext_s8", ("s32",), "T", "T", lambda a: a.astype(np.int8).astype(np.int32), "cvt.s32.s8 {d}, {0};",
     "((int)(signed char){0})", 0.5)  # fmt: skip
_add("ext_u8", ("u32",), "T", "T", lambda a: a & 0xFF, "cvt.u32.u8 {d}, {0};", "({0} & 255u)", 0.5)
_add("ext_s16", ("s32",), "T", "T", lambda a: a.astype(np.int16).astype(np.int32), "cvt.s32.s16 {d}, {0};",
     "((int)(short){0})", 0.5)  # fmt: skip
_add("ext_u16", ("u32",), "T", "T", lambda a: a & 0xFFFF, "cvt.u32.u16 {d}, {0};", "({0} & 65535u)", 0.5)
_add("slct", _INTS32, "T T s32", "T", lambda a, b, c: np.where(c >= 0, a, b), "slct.{T}.s32 {d}, {0}, {1}, {2};",
     "({2} >= 0 ? {0} : {1})", 0.5)  # fmt: skip
_add("set_lt", _INTS32, "T T", "u32", lambda a, b: np.where(a < b, np.uint32(0xFFFFFFFF), np.uint32(0)),
     "set.lt.u32.{T} {d}, {0}, {1};", "({0} < {1} ? 0xffffffffu : 0u)", 0.5)  # fmt: skip
_add("positive", _INTS, "T", "T", lambda a: (a & 0x7F) + 1, "and.{B} {d}, {0}, 127; add.{T} {d}, {d}, 1;",
     "(({0} & 127) + 1)", 0)  # fmt: skip

# ---------------------------------------------------------------- floats


def fma(a: Values, b: Values, c: Values) -> Values:
    """One rounding. f32: the product is exact in f64, the sum rounded there to odd, which rounds well once more."""
    if a.dtype == np.float64:
        return _fma64(a, b, c)
    p, q = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s = p + q
    back = s - p
    error = (p - (s - back)) + (q - back)
    odd = (s.view(np.uint64) & 1).astype(bool)
    fix = np.isfinite(s) & (error != 0) & ~odd
    away = np.nextafter(s, np.where(error > 0, np.inf, -np.inf))
    return np.where(fix, away, s).astype(a.dtype)


def _fma64(a: Values, b: Values, c: Values) -> Values:
    result = a * b + c
    for n, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        if np.isfinite(x) and np.isfinite(y) and np.isfinite(z):
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            if exact:
                try:
                    result[n] = exact.numerator / exact.denominator
                except OverflowError:
                    result[n] = np.inf if exact > 0 else -np.inf
    return result


def _extreme(largest: bool) -> Callable[[Values, Values], Values]:
    """The operand that is no NaN; -0 lies below +0."""

    def apply(a: Values, b: Values) -> Values:
        first = (a > b) if largest else (a < b)
        equal = a == b
        sign = np.signbit(b) if largest else np.signbit(a)
        pick = (first & ~equal) | (equal & sign)
        return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where(pick, a, b)))

    return apply


def _fp(name: str, half: str, single: str, double: str) -> Callable[[str], str]:
    return lambda t: {"f16": half, "f32": single, "f64": double}[t]


def _rn(text: str) -> Callable[[str], str]:
    return lambda t: text.replace("{T}", t).replace(".rn", "" if t == "f16" else ".rn")


_add("fadd", _FLOATS, "T T", "T", lambda a, b: a + b, _rn("add.rn.{T} {d}, {0}, {1};"),
     _fp("", "__hadd_rn({0}, {1})", "({0} + {1})", "({0} + {1})"), 4)  # fmt: skip
_add("fsub", _FLOATS, "T T", "T", lambda a, b: a - b, _rn("sub.rn.{T} {d}, {0}, {1};"),
     _fp("", "__hsub_rn({0}, {1})", "({0} - {1})", "({0} - {1})"), 3)  # fmt: skip
_add("fmul", _FLOATS, "T T", "T", lambda a, b: a * b, _rn("mul.rn.{T} {d}, {0}, {1};"),
     _fp("", "__hmul_rn({0}, {1})", "({0} * {1})", "({0} * {1})"), 3)  # fmt: skip
_add("fma", _FLOATS, "T T T", "T", fma, "fma.rn.{T} {d}, {0}, {1}, {2};",
     _fp("", "__hfma({0}, {1}, {2})", "__fmaf_rn({0}, {1}, {2})", "__fma_rn({0}, {1}, {2})"), 2)  # fmt: skip
_add("fdiv", ("f32", "f64"), "T T", "T", lambda a, b: a / b, "div.rn.{T} {d}, {0}, {1};", "({0} / {1})")
_add("fsqrt", ("f32", "f64"), "T", "T", np.sqrt, "sqrt.rn.{T} {d}, {0};",
     lambda t: "__fsqrt_rn({0})" if t == "f32" else "__dsqrt_rn({0})")  # fmt: skip
_add("fneg", _FLOATS, "T", "T", lambda a: -a, "neg.{T} {d}, {0};", _fp("", "__hneg({0})", "(-{0})", "(-{0})"))
_add("fabs", _FLOATS, "T", "T", np.abs, "abs.{T} {d}, {0};", _fp("", "__habs({0})", "fabsf({0})", "fabs({0})"))
_add("fmin", _FLOATS, "T T", "T", _extreme(False), "min.{T} {d}, {0}, {1};",
     _fp("", "__hmin({0}, {1})", "fminf({0}, {1})", "fmin({0}, {1})"))  # fmt: skip
_add("fmax", _FLOATS, "T T", "T", _extreme(True), "max.{T} {d}, {0}, {1};",
     _fp("", "__hmax({0}, {1})", "fmaxf({0}, {1})", "fmax({0}, {1})"))  # fmt: skip

# ---------------------------------------------------------------- comparisons, predicates, selection

_COMPARE: dict[str, tuple[Callable[[Values, Values], Values], str]] = {
    "eq": (lambda a, b: a == b, "=="), "ne": (lambda a, b: (a < b) | (a > b), "!="),
    "lt": (lambda a, b: a < b, "<"), "le": (lambda a, b: a <= b, "<="),
    "gt": (lambda a, b: a > b, ">"), "ge": (lambda a, b: a >= b, ">="),
}  # fmt: skip
for _name, (_compute, _sign) in _COMPARE.items():
    _add(f"is_{_name}", _INTS, "T T", "pred", _compute, f"setp.{_name}.{{T}} {{d}}, {{0}}, {{1}};",
         f"({{0}} {_sign} {{1}})", 2)  # fmt: skip
    _half = {"eq": "__heq", "ne": "__hne", "lt": "__hlt", "le": "__hle", "gt": "__hgt", "ge": "__hge"}[_name]
    _single = "(({0} < {1}) || ({0} > {1}))" if _name == "ne" else f"({{0}} {_sign} {{1}})"
    _add(f"fis_{_name}", _FLOATS, "T T", "pred", _compute, f"setp.{_name}.{{T}} {{d}}, {{0}}, {{1}};",
         _fp("", f"{_half}({{0}}, {{1}})", _single, _single), 1)  # fmt: skip
    _add(f"fis_{_name}u", _FLOATS, "T T", "pred",
         lambda a, b, f=_compute: f(a, b) | np.isnan(a) | np.isnan(b), f"setp.{_name}u.{{T}} {{d}}, {{0}}, {{1}};",
         _fp("", f"{_half}u({{0}}, {{1}})", f"(({{0}} != {{0}}) || ({{1}} != {{1}}) || ({{0}} {_sign} {{1}}))",
             f"(({{0}} != {{0}}) || ({{1}} != {{1}}) || ({{0}} {_sign} {{1}}))"), 0.3)  # fmt: skip
_add("fis_nan", ("f32", "f64"), "T T", "pred", lambda a, b: np.isnan(a) | np.isnan(b), "setp.nan.{T} {d}, {0}, {1};",
     "(({0} != {0}) || ({1} != {1}))", 0.5)  # fmt: skip
_add("lt_and", _INTS32, "T T pred", "pred", lambda a, b, p: (a < b) & p, "setp.lt.and.{T} {d}, {0}, {1}, {2};",
     "(({0} < {1}) && {2})")  # fmt: skip
_add("ge_or_not", _INTS32, "T T pred", "pred", lambda a, b, p: (a >= b) | ~p, "setp.ge.or.{T} {d}, {0}, {1}, !{2};",
     "(({0} >= {1}) || !{2})")  # fmt: skip
_add("p_and", ("pred",), "T T", "T", lambda a, b: a & b, "and.pred {d}, {0}, {1};", "({0} && {1})")
_add("p_or", ("pred",), "T T", "T", lambda a, b: a | b, "or.pred {d}, {0}, {1};", "({0} || {1})")
_add("p_xor", ("pred",), "T T", "T", lambda a, b: a ^ b, "xor.pred {d}, {0}, {1};", "({0} != {1})")
_add("p_not", ("pred",), "T", "T", lambda a: ~a, "not.pred {d}, {0};", "(!{0})")
_add("select", (*_INTS, *_FLOATS), "T T pred", "T", lambda a, b, p: np.where(p, a, b), "selp.{B} {d}, {0}, {1}, {2};",
     "({2} ? {0} : {1})", 2)  # fmt: skip

# ---------------------------------------------------------------- conversions


def _to_integer(values: Values, target: str) -> Values:
    """cvt.rzi: saturates; NaN gives 0 but for f64 sources and 64-bit results, which give the sign bit alone (0 at
    the other end for unsigned ones is the same pattern as saturation from above does not reach)."""
    dtype = np.dtype(DTYPES[target])
    info = np.iinfo(dtype)
    source_bits = values.dtype.itemsize * 8
    nan = info.min if dtype.kind == "i" else 1 << (info.bits - 1)
    results = []
    for x in values.astype(np.float64).tolist():
        if x != x:
            results.append(nan if source_bits == 64 or info.bits == 64 else 0)
        elif x in (float("inf"), float("-inf")):
            results.append(info.max if x > 0 else info.min)
        else:
            results.append(max(info.min, min(info.max, int(x))))
    return np.array(results, dtype)


def convert(values: Values, source: str, target: str) -> Values:
    """cvt between types: integers wrap, integers and floats round to nearest, floats to integers towards zero."""
    if target in _INTS and source in _FLOATS:
        return _to_integer(values, target)
    if target == "f16" and source in _INTS:
        # By way of f32 it would round twice: f64 holds every integer that does not become infinite.
        return values.astype(np.float64).astype(np.float16)
    if target == "f32" and source in ("s64", "u64"):
        return np.array([_nearest32(x) for x in values.tolist()], np.float32)
    return values.astype(DTYPES[target])


def _nearest32(value: int) -> np.float32:
    magnitude = abs(value)
    drop = magnitude.bit_length() - 24
    if drop > 0:
        half, rest, magnitude = 1 << (drop - 1), magnitude & ((1 << drop) - 1), magnitude >> drop
        magnitude += rest > half or (rest == half and magnitude & 1)
        magnitude <<= drop
    return np.float32(float(magnitude) * (-1 if value < 0 else 1))


def ptx_conversion(source: str, target: str) -> str:
    if target in _INTS and source in _INTS:
        return f"cvt.{target}.{source}"
    if target in _INTS:
        return f"cvt.rzi.{target}.{source}"
    if source in _INTS or BITS[source] > BITS[target]:
        return f"cvt.rn.{target}.{source}"
    return f"cvt.{target}.{source}"


def canonical_bits(values: Values) -> Values:
    """The bit pattern of floats, all NaNs as one; integers as they are; predicates as 0 and 1."""
    if values.dtype == np.bool_:
        return values.astype(np.uint32)
    if values.dtype.kind != "f":
        return _unsigned(values)
    patterns = _unsigned(np.ascontiguousarray(values)).copy()
    patterns[np.isnan(values)] = {16: 0x7FFF, 32: 0x7FFFFFFF, 64: 0x7FF8000000000000}[values.dtype.itemsize * 8]
    return patterns
