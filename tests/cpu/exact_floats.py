"""Floating point by exact fractions: the other opinion in tests of rounding. Values are bit patterns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Format:
    """`precision` counts the hidden bit; `emax` is the exponent of the largest number."""

    bits: int
    precision: int
    emax: int

    @property
    def fraction_bits(self) -> int:
        return self.precision - 1

    @property
    def emin(self) -> int:
        return 1 - self.emax

    @property
    def infinity(self) -> int:
        return ((1 << (self.bits - 1 - self.fraction_bits)) - 1) << self.fraction_bits

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    def is_nan(self, pattern: int) -> bool:
        return pattern & ~self.sign > self.infinity

    def is_infinite(self, pattern: int) -> bool:
        return pattern & ~self.sign == self.infinity

    def is_finite(self, pattern: int) -> bool:
        return pattern & ~self.sign < self.infinity

    def value(self, pattern: int) -> Fraction:
        """The number that a finite pattern stands for."""
        magnitude = pattern & ~self.sign
        exponent, fraction = magnitude >> self.fraction_bits, magnitude & ((1 << self.fraction_bits) - 1)
        if exponent:
            fraction |= 1 << self.fraction_bits
        scale = max(exponent, 1) + self.emin - 1 - self.fraction_bits
        number = Fraction(fraction) * Fraction(2) ** scale
        return -number if pattern & self.sign else number

    def rounded(self, number: Fraction, mode: str, *, zero_sign: int = 0) -> int:
        """The pattern of a number, by "rn" "rz" "rm" "rp" or "rna"; `zero_sign` is used for an exact zero only."""
        if number == 0:
            return self.sign if zero_sign else 0
        sign = self.sign if number < 0 else 0
        magnitude = abs(number)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        exponent = max(exponent, self.emin)
        step = Fraction(2) ** (exponent - self.fraction_bits)
        units, rest = divmod(magnitude, step)
        half = step / 2
        up = {
            "rn": rest > half or (rest == half and units % 2 == 1),
            "rna": rest >= half,
            "rz": False,
            "rm": rest > 0 and bool(sign),
            "rp": rest > 0 and not sign,
        }[mode]
        units += up
        if units >> self.precision:
            units >>= 1
            exponent += 1
        if exponent > self.emax:
            return self._overflow(sign, mode)
        biased = exponent - self.emin + 1 if units >> self.fraction_bits else 0
        return sign | biased << self.fraction_bits | int(units) & ((1 << self.fraction_bits) - 1)

    def _overflow(self, sign: int, mode: str) -> int:
        stays = mode == "rz" or (mode == "rm" and not sign) or (mode == "rp" and bool(sign))
        return sign | (self.infinity - 1 if stays else self.infinity)


F64, F32 = Format(64, 53, 1023), Format(32, 24, 127)
F16, BF16 = Format(16, 11, 15), Format(16, 8, 127)
FORMATS = {"f64": F64, "f32": F32, "f16": F16, "bf16": BF16}
MODES = ("rn", "rz", "rm", "rp")


def interesting(form: Format, count: int, seed: int) -> np.ndarray:
    """Bit patterns: the corners of a format, then random ones of all sizes, many of them close to each other."""
    top, unit = form.infinity, 1 << form.fraction_bits
    bias = form.emax << form.fraction_bits
    corners = [0, 1, 2, unit - 1, unit, unit + 1, bias - 1, bias, bias + 1, bias + unit, top - 1, top, top + 1,
               top - unit, bias + unit // 2]  # fmt: skip
    patterns = [*corners, *(corner | form.sign for corner in corners)]
    random = np.random.default_rng(seed)
    anywhere = (
        random.integers(0, 1 << form.bits, count, dtype=np.uint64, endpoint=False)
        if form.bits < 64
        else (random.integers(0, 2**64 - 1, count, dtype=np.uint64, endpoint=True))
    )
    spread = random.integers(0, 8 * unit, count, dtype=np.uint64)
    near = np.uint64(bias - 4 * unit) + spread | np.uint64(form.sign) * random.integers(0, 2, count, dtype=np.uint64)
    small = random.integers(0, 3 * unit, count // 4, dtype=np.uint64)
    every = [np.array(patterns, np.uint64), anywhere, near, small]
    return np.concatenate(every).astype({16: np.uint16, 32: np.uint32, 64: np.uint64}[form.bits])
