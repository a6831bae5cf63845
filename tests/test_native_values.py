"""The native core's reading of values against the plain one's: the same bytes, or left to Python."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import ScalarRefused
from metrale_gpu_runtime.scalars import SCALAR_CODES, SCALARS, Scalar

_core = pytest.importorskip("metrale_gpu_runtime.native._core")
if mg.launch_core != "native":
    pytest.skip("the plain core is in use: the extension was told no types", allow_module_level=True)

EDGES = [
    *(sign * (2.0**power + less) for power in range(-30, 20) for less in (0, 2.0**-40) for sign in (1, -1)),
    *(
        math.ldexp(mantissa, power)
        for mantissa in (1.0, 1.5, 1 + 2**-11, 1 + 3 * 2**-11, 2 - 2**-11)
        for power in range(-1080, 1024, 7)
    ),
    65504.0,
    65519.99,
    65520.0,
    3.3895313892515355e38,
    3.4028234663852886e38,
    3.4028235677973366e38,
    3.5e38,
    1e308,
    5e-324,
    2.0**-24,
    2.0**-25,
    2.0**-25 * 1.0000001,
    2.0**-133,
    2.0**-134,
    2.0**-134 * 1.0000001,
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
]


def check(scalar: mg.ScalarType, value: object) -> None:
    read = _core.encoded(SCALAR_CODES[scalar], value)
    if read is None:
        return
    assert read[0] == SCALAR_CODES[value.type if isinstance(value, Scalar) else scalar], (scalar, value)
    if isinstance(value, Scalar) and value.type != scalar:
        assert read[1] == value.data
    else:
        assert read[1] == scalar.encode(value), (scalar, value)


@given(st.sampled_from(list(SCALARS.values())), st.integers() | st.floats() | st.booleans())
def test_what_is_read_natively_is_what_python_reads(scalar: mg.ScalarType, value: object) -> None:
    """Any number that the core takes for any type becomes the very bytes that the plain encoder makes of it."""
    check(scalar, value)


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=str)
def test_edges_are_rounded_alike(scalar: mg.ScalarType) -> None:
    """Halfway cases, subnormals, overflow, infinities and the bounds of the integers are read as Python reads them."""
    for value in EDGES:
        check(scalar, value)
    for power in range(66):
        for near in (-2, -1, 0, 1, 2):
            for sign in (1, -1):
                check(scalar, sign * (1 << power) + near)
    for value in (True, False, 0, mg.u8(3), mg.f64(2.5), mg.boolean(True), mg.c64(1 + 2j)):
        check(scalar, value)


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=str)
def test_ordinary_values_are_read_natively(scalar: mg.ScalarType) -> None:
    """An ordinary value of each type is not left to Python, and one that does not fit is."""
    if scalar.kind == "complex":
        assert _core.encoded(SCALAR_CODES[scalar], scalar(1 + 2j)) is not None
        return
    good, bad = (True, 1) if scalar.kind == "bool" else (1.5, "1") if scalar.kind == "float" else (1, 1.5)
    assert _core.encoded(SCALAR_CODES[scalar], good) == (SCALAR_CODES[scalar], scalar.encode(good))
    assert _core.encoded(SCALAR_CODES[scalar], bad) is None
    with pytest.raises(ScalarRefused):
        scalar.encode(bad)


@given(st.binary(min_size=8, max_size=8))
def test_every_double_is_rounded_as_python_does(data: bytes) -> None:
    """Doubles of any bits become the half, bfloat16 and single that the plain encoder makes of them."""
    (value,) = struct.unpack("<d", data)
    for scalar in (mg.f16, mg.bf16, mg.f32, mg.f64):
        check(scalar, value)
