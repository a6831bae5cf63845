"""Numbers to the bits of a binary floating-point format: one rounding, to nearest even, from the exact value.

Everything goes through integers, never through a wider format, so nothing is rounded twice: bf16 from a double by
way of a float would be. Formats and rules are IEEE 754's; bf16 is the upper half of a binary32.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary interchange format: bits in all, bits of the significand with the hidden one, bits of the exponent."""

    nbits: int
    precision: int
    exponent_bits: int

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def infinity(self) -> int:
        """The bits of positive infinity."""
        return ((1 << self.exponent_bits) - 1) << (self.precision - 1)


BINARY16 = FloatFormat(16, 11, 5)
BFLOAT16 = FloatFormat(16, 8, 8)
BINARY32 = FloatFormat(32, 24, 8)
BINARY64 = FloatFormat(64, 53, 11)


def round_to_bits(value: float | int | Fraction, to: FloatFormat) -> int:
    """The bits of `value` in a format: nearest, ties to even; what is too large becomes infinity, NaN stays NaN.

    A NaN keeps its sign and the upper bits of its payload and is quiet. A Fraction's denominator is a power of two.
    """
    if isinstance(value, float):
        if math.isnan(value):
            return _nan_bits(value, to)
        sign = math.copysign(1.0, value) < 0
        if math.isinf(value):
            return _with_sign(to.infinity, sign, to)
        numerator, denominator = value.as_integer_ratio()
    else:
        numerator, denominator = value.numerator, value.denominator
        sign = numerator < 0
    return _with_sign(_round_magnitude(abs(numerator), 1 - denominator.bit_length(), to), sign, to)


def bits_to_float(bits: int, of: FloatFormat) -> float:
    """The value that the bits of a format stand for; exact, since every format here fits a double."""
    if of is BINARY64:
        return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
    fraction_bits = of.precision - 1
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = (bits >> fraction_bits) & ((1 << of.exponent_bits) - 1)
    negative = bits >> (of.nbits - 1)
    if exponent == (1 << of.exponent_bits) - 1:
        wide = (negative << 63) | (0x7FF << 52) | (fraction << (52 - fraction_bits))
        return float(struct.unpack("<d", wide.to_bytes(8, "little"))[0])
    significand = fraction | (1 << fraction_bits) if exponent else fraction
    magnitude = math.ldexp(significand, max(exponent, 1) - of.bias - fraction_bits)
    return -magnitude if negative else magnitude


def _with_sign(magnitude: int, negative: bool, to: FloatFormat) -> int:
    return magnitude | (1 << (to.nbits - 1)) if negative else magnitude


def _nan_bits(value: float, to: FloatFormat) -> int:
    wide = int.from_bytes(struct.pack("<d", value), "little")
    fraction_bits = to.precision - 1
    payload = (wide & ((1 << 52) - 1)) >> (52 - fraction_bits)
    if to is not BINARY64:
        # A signalling NaN whose payload lies in the bits cut off would otherwise come out as infinity.
        payload |= 1 << (fraction_bits - 1)
    return _with_sign(to.infinity | payload, bool(wide >> 63), to)


def _round_magnitude(significand: int, exponent: int, to: FloatFormat) -> int:
    """The bits of significand * 2**exponent, both sides exact, without the sign."""
    if significand == 0:
        return 0
    lowest_exponent = 1 - to.bias
    leading = max(exponent + significand.bit_length() - 1, lowest_exponent)
    dropped = leading - (to.precision - 1) - exponent
    if dropped > 0:
        kept = significand >> dropped
        rest = significand & ((1 << dropped) - 1)
        half = 1 << (dropped - 1)
        if rest > half or (rest == half and kept & 1):
            kept += 1
    else:
        kept = significand << -dropped
    # A subnormal has no hidden bit; a rounding that carries out of the significand raises the exponent by itself,
    # because the fields lie side by side.
    bits = ((leading - lowest_exponent) << (to.precision - 1)) + kept
    return min(bits, to.infinity)
