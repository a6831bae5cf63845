"""f32, f64, f16 and bf16 arithmetic and conversions against exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from exact_floats import BF16, F16, F32, F64, FORMATS, MODES, Format, interesting
from ptx_evaluate import evaluate


def _zero_sign_of_sum(a_sign: int, b_sign: int, mode: str) -> int:
    """The sign of an exact zero sum (IEEE 754, 6.3)."""
    return a_sign if a_sign == b_sign else int(mode == "rm")


def _sum(form: Format, a: int, b: int, mode: str) -> int | None:
    if not form.is_finite(a) or not form.is_finite(b):
        return None
    zero = _zero_sign_of_sum(int(bool(a & form.sign)), int(bool(b & form.sign)), mode)
    return form.rounded(form.value(a) + form.value(b), mode, zero_sign=zero)


def _product(form: Format, a: int, b: int, mode: str) -> int | None:
    if not form.is_finite(a) or not form.is_finite(b):
        return None
    return form.rounded(form.value(a) * form.value(b), mode, zero_sign=int(bool((a ^ b) & form.sign)))


def _fused(form: Format, a: int, b: int, c: int, mode: str) -> int | None:
    if not all(map(form.is_finite, (a, b, c))):
        return None
    zero = _zero_sign_of_sum(int(bool((a ^ b) & form.sign)), int(bool(c & form.sign)), mode)
    return form.rounded(form.value(a) * form.value(b) + form.value(c), mode, zero_sign=zero)


def _quotient(form: Format, a: int, b: int, mode: str) -> int | None:
    if not form.is_finite(a) or not form.is_finite(b) or form.value(b) == 0:
        return None
    return form.rounded(form.value(a) / form.value(b), mode, zero_sign=int(bool((a ^ b) & form.sign)))


def _root(form: Format, a: int, mode: str) -> int | None:
    if not form.is_finite(a) or form.value(a) <= 0:
        return None
    value = form.value(a)
    # A root with 200 more bits than it needs, and a last one that says whether it is exact.
    shift = 400 + (value.denominator.bit_length() // 2) * 2
    scaled = value * Fraction(4) ** shift
    whole = scaled.numerator // scaled.denominator
    root = isqrt(whole)
    exact = root * root == scaled
    return form.rounded((Fraction(root) + (0 if exact else Fraction(1, 3))) / Fraction(2) ** shift, mode)


def _disagreements(form: Format, got: np.ndarray, want: list[int | None], operands: list[np.ndarray]) -> list[str]:
    found = []
    for n, expected in enumerate(want):
        if expected is not None and int(got[n]) != expected:
            shown = ", ".join(hex(int(column[n])) for column in operands)
            found.append(f"{shown}: {int(got[n]):#x}, not {expected:#x}")
    return found


def _operands(form: Format, count: int, seed: int = 5) -> list[np.ndarray]:
    columns = [interesting(form, 260, seed + n) for n in range(count)]
    random = np.random.default_rng(seed)
    # Corners meet corners: shuffle all but the first column.
    return [columns[0], *(random.permutation(column) for column in columns[1:])]


ARITHMETIC: list[tuple[str, int, Callable[..., int | None]]] = [
    ("add", 2, _sum),
    ("mul", 2, _product),
    ("fma", 3, _fused),
    ("div", 2, _quotient),
    ("sqrt", 1, _root),
]


# Directed fma of f64 is refused: test_directed_fma_of_f64_is_refused.
CASES = [
    pytest.param(kind, opcode, count, exact, mode, id=f"{opcode}.{mode}.{kind}")
    for kind in ("f32", "f64")
    for opcode, count, exact in ARITHMETIC
    for mode in MODES
    if (kind, opcode) != ("f64", "fma") or mode == "rn"
]


@pytest.mark.parametrize(("kind", "opcode", "count", "exact", "mode"), CASES)
def test_arithmetic_rounds_the_exact_result_once(
    kind: str, opcode: str, count: int, exact: Callable[..., int | None], mode: str
) -> None:
    """Each rounding of add, mul, fma, div and sqrt gives the number next to the exact result in its direction."""
    form = FORMATS[kind]
    operands = _operands(form, count)
    names = ", ".join("abc"[:count])
    got = evaluate(f"{opcode}.{mode}.{kind} d, {names}", operands, f"u{form.bits}")
    want = [exact(form, *(int(x) for x in row), mode) for row in zip(*operands, strict=True)]
    assert sum(value is not None for value in want) > 300
    assert _disagreements(form, got, want, operands) == []


@pytest.mark.parametrize("opcode", ["add", "sub", "mul", "fma"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_half_arithmetic_rounds_once_to_half(kind: str, opcode: str) -> None:
    """Half operations give the half nearest to the exact result, also fma and also in the range of subnormals."""
    form = FORMATS[kind]
    operands = _operands(form, 3 if opcode == "fma" else 2)
    names = ", ".join("abc"[: len(operands)])
    got = evaluate(f"{opcode}.rn.{kind} d, {names}", operands, "u16")
    if opcode == "sub":
        want = [_sum(form, int(a), int(b) ^ form.sign, "rn") for a, b in zip(*operands, strict=True)]
    else:
        exact = {"add": _sum, "mul": _product, "fma": _fused}[opcode]
        want = [exact(form, *(int(x) for x in row), "rn") for row in zip(*operands, strict=True)]  # type: ignore[operator]
    assert _disagreements(form, got, want, operands) == []


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_packed_halves_are_computed_each_by_itself(kind: str) -> None:
    """fma.rn.f16x2 is fma.rn.f16 on the low and on the high half."""
    operands = _operands(FORMATS[kind], 3)
    swapped = [column[::-1].copy() for column in operands]
    packed = [low.astype(np.uint32) | high.astype(np.uint32) << 16 for low, high in zip(operands, swapped, strict=True)]
    got = evaluate(f"fma.rn.{kind}x2 d, a, b, c", packed, "u32")
    low = evaluate(f"fma.rn.{kind} d, a, b, c", operands, "u16")
    assert (got & 0xFFFF).astype(np.uint16).tolist() == low.tolist()
    assert (got >> 16).astype(np.uint16).tolist() == low[::-1].tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("to", "of"), [("f32", "f64"), ("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64")], ids="-".join
)
def test_narrowing_conversions_round_once(to: str, of: str, mode: str) -> None:
    """cvt to a smaller float gives the nearest one in the direction asked for, infinity or the largest included."""
    target, source = FORMATS[to], FORMATS[of]
    around = interesting(target, 200, 3)
    exact = [
        source.rounded(target.value(int(p)), "rn", zero_sign=int(p) & target.sign)
        for p in around
        if target.is_finite(int(p))
    ]
    beside = [p + step for p in exact for step in (-1, 1) if 0 < p & ~source.sign < source.infinity - 1]
    ties = [p + (1 << (source.fraction_bits - target.fraction_bits - 1)) for p in exact]
    patterns = np.array(
        [*exact, *beside, *ties, *map(int, interesting(source, 200, 4))], {32: np.uint32, 64: np.uint64}[source.bits]
    )
    got = evaluate(f"cvt.{mode}.{to}.{of} d, a", [patterns], f"u{target.bits}")
    want = [
        target.rounded(source.value(int(p)), mode, zero_sign=int(bool(int(p) & source.sign)))
        if source.is_finite(int(p))
        else None
        for p in patterns
    ]
    assert _disagreements(target, got, want, [patterns]) == []


@pytest.mark.parametrize(("to", "of"), [("f64", "f32"), ("f32", "f16"), ("f32", "bf16"), ("f64", "f16")], ids="-".join)
def test_widening_conversions_are_exact(to: str, of: str) -> None:
    """cvt to a larger float keeps the value, infinities and the sign of zero; NaN stays NaN."""
    target, source = FORMATS[to], FORMATS[of]
    patterns = np.arange(1 << 16, dtype=np.uint16)[::7].copy() if source.bits == 16 else interesting(source, 300, 9)
    got = evaluate(f"cvt.{to}.{of} d, a", [patterns], f"u{target.bits}")
    for pattern, result in zip(map(int, patterns), map(int, got), strict=True):
        if source.is_nan(pattern):
            assert target.is_nan(result)
        elif source.is_infinite(pattern):
            assert result == target.infinity | (target.sign if pattern & source.sign else 0)
        else:
            assert result == target.rounded(source.value(pattern), "rn", zero_sign=pattern & source.sign), hex(pattern)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("of", ["s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("to", ["f32", "f64"])
def test_integers_convert_to_floats_in_the_direction_asked_for(to: str, of: str, mode: str) -> None:
    """cvt from integers rounds once, up to the largest unsigned number."""
    bits = int(of[1:])
    form = FORMATS[to]
    random = np.random.default_rng(2)
    numbers = [
        0,
        1,
        2**bits - 1,
        2 ** (bits - 1),
        2 ** (bits - 1) - 1,
        2 ** (bits - 1) + 1,
        2**24 + 1,
        2**24 + 3,
        2**25 + 2,
    ]
    numbers += [int(random.integers(0, 2**63)) >> int(shift) for shift in random.integers(0, 62, 300)]
    numbers += [2**54 + 1, 2**53 + 1, 2**60 + 2**7 - 1, 2**63 + 2**39, 2**63 + 2**39 + 1]
    patterns = np.array([number % 2**bits for number in numbers], {32: np.uint32, 64: np.uint64}[bits])
    got = evaluate(f"cvt.{mode}.{to}.{of} d, a", [patterns], f"u{form.bits}")
    values = [int(p) - (2**bits if of[0] == "s" and int(p) >> (bits - 1) else 0) for p in patterns]
    want: list[int | None] = [form.rounded(Fraction(value), mode) for value in values]
    assert _disagreements(form, got, want, [patterns]) == []


ROUND_TO_INTEGER: dict[str, Callable[[Fraction], int]] = {
    "rni": lambda x: round(x),
    "rzi": lambda x: int(x),
    "rmi": lambda x: x.numerator // x.denominator,
    "rpi": lambda x: -(-x.numerator // x.denominator),
}


@pytest.mark.parametrize("rounding", ROUND_TO_INTEGER)
@pytest.mark.parametrize("to", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("of", ["f16", "f32", "f64"])
def test_floats_convert_to_integers_saturating(of: str, to: str, rounding: str) -> None:
    """cvt to integers clamps; NaN is 0, or the sign bit alone where f64 or 64 bits are involved."""
    form, bits = FORMATS[of], int(to[1:])
    patterns = interesting(form, 200, 11)
    for exact in (2.5, 3.5, -2.5, -0.5, 0.5, 127.5, 255.5, -128.5, 32767.5, 1e9 + 0.5, 2147483647.5, 4294967295.5):
        patterns = np.append(patterns, patterns.dtype.type(form.rounded(Fraction(exact), "rn")))
    register = max(bits, 16)
    got = evaluate(f"cvt.{rounding}.{to}.{of} d, a", [patterns], f"u{register}")
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if to[0] == "s" else (0, 2**bits - 1)
    for pattern, result in zip(map(int, patterns), map(int, got), strict=True):
        if form.is_nan(pattern):
            want = 2 ** (bits - 1) if of == "f64" or bits == 64 else 0
        elif form.is_infinite(pattern):
            want = low if pattern & form.sign else high
        else:
            want = min(max(ROUND_TO_INTEGER[rounding](form.value(pattern)), low), high)
        if want >= 2 ** (bits - 1) and to[0] == "s":
            want -= 2**bits
        # A narrow result is extended by its own sign into the register.
        assert result == want % 2**register, hex(pattern)


@pytest.mark.parametrize("rounding", ROUND_TO_INTEGER)
@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_floats_round_to_integral_floats(kind: str, rounding: str) -> None:
    """cvt.rni and its like between equal floats give the integral number, with the sign of zero kept."""
    form = FORMATS[kind]
    patterns = interesting(form, 300, 13)
    got = evaluate(f"cvt.{rounding}.{kind}.{kind} d, a", [patterns], f"u{form.bits}")
    for pattern, result in zip(map(int, patterns), map(int, got), strict=True):
        if form.is_finite(pattern):
            whole = Fraction(ROUND_TO_INTEGER[rounding](form.value(pattern)))
            assert result == form.rounded(whole, "rn", zero_sign=pattern & form.sign), hex(pattern)


def test_tf32_rounds_ties_away_from_zero() -> None:
    """cvt.rna.tf32.f32 keeps 10 bits of the fraction."""
    patterns = interesting(F32, 400, 17)
    got = evaluate("cvt.rna.tf32.f32 d, a", [patterns], "u32")
    form = Format(19, 11, 127)
    for pattern, result in zip(map(int, patterns), map(int, got), strict=True):
        if F32.is_finite(pattern):
            want = form.rounded(F32.value(pattern), "rna", zero_sign=pattern & F32.sign) << 13
            assert result == want, hex(pattern)


def _eight_bits(value: Fraction, fraction_bits: int, emax: int, largest: Fraction) -> int:
    """The pattern of an 8-bit float that saturates; e4m3 has one binade more than IEEE would give it."""
    bounded = min(abs(value), largest)
    form = Format(8, fraction_bits + 1, emax)
    emin = form.emin
    exponent = emin
    while Fraction(2) ** (exponent + 1) <= bounded:
        exponent += 1
    step = Fraction(2) ** (exponent - fraction_bits)
    units = round(bounded / step)
    sign = 0x80 if value < 0 else 0
    if units >> (fraction_bits + 1):
        units, exponent = units >> 1, exponent + 1
    biased = exponent - emin + 1 if units >> fraction_bits else 0
    return sign | biased << fraction_bits | units & ((1 << fraction_bits) - 1)


@pytest.mark.parametrize(("kind", "fraction_bits", "emax", "largest"), [("e4m3", 3, 7, 448), ("e5m2", 2, 15, 57344)])
def test_eight_bit_floats_round_to_nearest_and_saturate(kind: str, fraction_bits: int, emax: int, largest: int) -> None:
    """cvt.rn.satfinite to e4m3x2 and e5m2x2 puts the first source above the second."""
    high = interesting(F32, 300, 19)
    low = high[::-1].copy()
    got = evaluate(f"cvt.rn.satfinite.{kind}x2.f32 d, a, b", [high, low], "u16")
    for a, b, result in zip(map(int, high), map(int, low), map(int, got), strict=True):
        for pattern, part in ((a, result >> 8), (b, result & 0xFF)):
            if F32.is_nan(pattern):
                assert part == 0x7F
            elif F32.is_finite(pattern):
                want = _eight_bits(F32.value(pattern), fraction_bits, emax, Fraction(largest))
                want |= 0x80 if pattern & F32.sign else 0
                assert part == want, hex(pattern)


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_eight_bit_floats_widen_exactly(kind: str) -> None:
    """cvt.rn.f16x2.e4m3x2 and back gives every pattern again."""
    patterns = np.arange(1 << 16, dtype=np.uint16)[::13].copy()
    wide = evaluate(f"cvt.rn.f16x2.{kind}x2 d, a", [patterns], "u32")
    back = evaluate(f"cvt.rn.satfinite.{kind}x2.f16x2 d, a", [wide], "u16")
    special = {"e4m3": lambda byte: byte & 0x7F == 0x7F, "e5m2": lambda byte: byte & 0x7F >= 0x7C}[kind]
    for before, after in zip(map(int, patterns), map(int, back), strict=True):
        for shift in (0, 8):
            byte = before >> shift & 0xFF
            if not special(byte):
                assert after >> shift & 0xFF == byte


def test_ftz_flushes_operands_and_results_with_their_sign() -> None:
    """add.ftz and fma.ftz see subnormals as zeros and give zeros for subnormals; without .ftz they live."""
    tiny, small, normal = 0x00000003, 0x807FFFFF, 0x00C00000
    a = np.array([tiny, small, normal, normal], np.uint32)
    b = np.array([0x80000001, small, 0x80800000, 0x00800000], np.uint32)
    assert evaluate("add.ftz.f32 d, a, b", [a, b], "u32").tolist() == [0, 0x80000000, 0, 0x01200000]
    assert evaluate("add.f32 d, a, b", [a, b], "u32").tolist() == [2, 0x80FFFFFE, 0x00400000, 0x01200000]
    one = np.full(4, 0x3F800000, np.uint32)
    assert evaluate("fma.rn.ftz.f32 d, a, c, b", [a, b, one], "u32").tolist() == [0, 0x80000000, 0, 0x01200000]


def test_saturation_clamps_to_one_and_turns_nan_into_zero() -> None:
    """.sat gives [+0, 1]; minus zero and NaN become +0."""
    a = np.array([0x7FC00000, 0x80000000, 0xBF800000, 0x3F000000, 0x40000000, 0x7F800000], np.uint32)
    assert evaluate("cvt.sat.f32.f32 d, a", [a], "u32").tolist() == [0, 0, 0, 0x3F000000, 0x3F800000, 0x3F800000]


def test_directed_fma_of_f64_is_refused() -> None:
    """What has no exact translation is refused, not approximated."""
    from metrale_gpu_runtime.errors import UnsupportedInstruction

    with pytest.raises(UnsupportedInstruction, match=r"fma\.rz\.f64"):
        evaluate("fma.rz.f64 d, a, b, c", [np.zeros(1, np.uint64)] * 3, "u64")


assert (FORMATS["f16"], FORMATS["bf16"], FORMATS["f64"]) == (F16, BF16, F64)
