"""The scalar types: exact bytes or a refusal (field cases 1, 15, 16 and 30, as far as values go)."""

from __future__ import annotations

import copy
import ctypes
import enum
import math
import pickle
import struct
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metrale_gpu_runtime.errors import GpuError
from metrale_gpu_runtime.rounding import (
    BFLOAT16,
    BINARY16,
    BINARY32,
    BINARY64,
    FloatFormat,
    bits_to_float,
    round_to_bits,
)
from metrale_gpu_runtime.scalars import (
    SCALARS,
    Scalar,
    ScalarKindError,
    ScalarRangeError,
    ScalarRefused,
    ScalarType,
    bf16,
    boolean,
    c64,
    c128,
    element_type_of,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    scalar_of,
    u8,
    u16,
    u32,
    u64,
)

INTEGERS = [u8, u16, u32, u64, i8, i16, i32, i64]
FLOATS = [f16, bf16, f32, f64]


# ---------------------------------------------------------------- integers (case 15)


@pytest.mark.parametrize(
    ("type", "value", "hexadecimal"),
    [
        (i8, -113, "8f"),
        (i32, 2**31 - 1, "ffffff7f"),
        (u32, 2**32 - 1, "ffffffff"),
        (i64, -(2**63), "0000000000000080"),
        (u64, 2**63, "0000000000000080"),
        (u16, 0x1234, "3412"),
        (i16, -2, "feff"),
        (u64, 2**64 - 1, "ff" * 8),
    ],
)
def test_legal_integers_arrive_bit_exact(type: ScalarType, value: int, hexadecimal: str) -> None:
    """An integer in its type's range becomes its little-endian two's complement."""
    assert type.encode(value).hex() == hexadecimal


@pytest.mark.parametrize(
    ("type", "value"),
    [(i8, -129), (u8, -1), (i32, 2**31), (u32, -1), (u64, 2**64), (i64, 2**63), (u8, 10**5000)],
    ids=["i8", "u8", "i32", "u32", "u64", "i64", "huge"],
)
def test_integers_out_of_range_are_refused_with_type_and_range(type: ScalarType, value: int) -> None:
    """An integer out of range is refused with the type's name and bounds, never wrapped."""
    with pytest.raises(ScalarRangeError) as caught:
        type.encode(value)
    assert caught.value.reason == "range"
    assert caught.value.expected == (type.lowest, type.highest)
    assert caught.value.given == value
    assert type.name in str(caught.value)
    assert str(type.highest) in str(caught.value)
    assert len(str(caught.value)) < 400
    assert isinstance(caught.value, (GpuError, ValueError, OverflowError))


@pytest.mark.parametrize("type", INTEGERS, ids=str)
@pytest.mark.parametrize("value", [True, False, 1.0, 1.5, math.nan, 1j, "1", None, b"\x01", [1], (1,), Fraction(1)])
def test_only_integers_are_integers(type: ScalarType, value: object) -> None:
    """Bools, floats (even whole ones), text, sequences and fractions are no integers."""
    with pytest.raises(ScalarKindError) as caught:
        type.encode(value)
    assert caught.value.reason == "kind"
    assert isinstance(caught.value, TypeError)


@given(st.sampled_from(INTEGERS), st.data())
def test_every_integer_of_a_type_round_trips(type: ScalarType, data: st.DataObject) -> None:
    """Encoding then decoding gives back every value of an integer type, and the bytes are Python's own."""
    value = data.draw(st.integers(type.lowest, type.highest))
    encoded = type.encode(value)
    assert encoded == value.to_bytes(type.nbytes, "little", signed=type.kind == "signed")
    assert type.decode(encoded) == value
    assert type(value) == Scalar(type, encoded)


def test_an_integer_enumeration_is_its_number() -> None:
    """Subclasses of int other than bool pass as numbers."""
    mode = enum.IntEnum("mode", {"fast": 3, "exact": 77})
    assert u8.encode(mode.exact) == b"\x4d"


# ---------------------------------------------------------------- floats (case 16)


@pytest.mark.parametrize(
    ("type", "value", "hexadecimal"),
    [
        (f16, 1.5, "003e"),
        (bf16, 1.5, "c03f"),
        (f32, 1.5, "0000c03f"),
        (f32, 2.0, "00000040"),
        (f64, -2.5, "00000000000004c0"),
        (f32, 1e-6, struct.pack("<f", 1e-6).hex()),
        (f16, 65504.0, "ff7b"),
        (f16, 65519.999, "ff7b"),
        (f16, 65520.0, "007c"),
        (f16, -1e30, "00fc"),
        (f16, 2.0**-24, "0100"),
        (f16, 2.0**-25, "0000"),
        (f16, -0.0, "0080"),
        (f16, 2049.0, "0068"),
        (f16, 2051.0, "0268"),
        (bf16, 3.3895e38, "7f7f"),
        (bf16, 3.4e38, "807f"),
        (f32, 1e39, "0000807f"),
        (f32, math.inf, "0000807f"),
        (f32, 3, "00004040"),
        (f64, 10**400, "000000000000f07f"),
        (f64, -(10**400), "000000000000f0ff"),
        (f64, 2**53 + 1, "0000000000004043"),
    ],
)
def test_floats_are_the_nearest_with_ties_to_even(type: ScalarType, value: float, hexadecimal: str) -> None:
    """A number becomes the nearest of its type, ties to even; what is too large becomes infinity."""
    assert type.encode(value).hex() == hexadecimal


def test_bf16_from_a_double_is_rounded_once() -> None:
    """A double just above the middle of two bf16 rounds up, though its float would lie on the middle and round down."""
    value = 1.0 + 2.0**-8 + 2.0**-40
    assert struct.unpack("<f", struct.pack("<f", value))[0] == 1.0 + 2.0**-8
    assert bf16.encode(value).hex() == "813f"
    assert bf16.encode(1.0 + 2.0**-8).hex() == "803f"


def test_an_integer_becomes_a_float_without_a_double_between() -> None:
    """An integer whose double lies on a tie is rounded by its own value, not by the double's."""
    value = 2**60 + 2**36 + 1
    assert struct.unpack("<f", f32.encode(value))[0] == 2.0**60 + 2.0**37
    assert struct.unpack("<f", struct.pack("<f", float(value)))[0] == 2.0**60


def _oracle(value: Fraction, to: FloatFormat) -> int:
    """The nearest magnitude by bisection over all bit patterns, which are ordered as their values are."""
    low, high = 0, to.infinity
    while high - low > 1:
        middle = (low + high) // 2
        if Fraction(bits_to_float(middle, to)) <= value:
            low = middle
        else:
            high = middle
    below = Fraction(bits_to_float(low, to))
    # Rounding treats the place after the largest finite number as if the format went on.
    last = to.infinity - 1
    step = Fraction(bits_to_float(last, to)) - Fraction(bits_to_float(last - 1, to))
    above = below + step if high == to.infinity else Fraction(bits_to_float(high, to))
    if value - below == above - value:
        return low if low % 2 == 0 else high
    return low if value - below < above - value else high


@given(
    st.sampled_from([BINARY16, BFLOAT16, BINARY32, BINARY64]),
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(-70000, 70000),
        st.floats(-1e-6, 1e-6),
        st.integers(-(2**140), 2**140),
    ),
)
def test_rounding_agrees_with_a_search_over_all_bit_patterns(to: FloatFormat, value: float | int) -> None:
    """For any finite number the bits are those of the nearest representable one, found by bisection."""
    bits = round_to_bits(value, to)
    sign = 1 << (to.nbits - 1)
    assert bits & ~sign == _oracle(abs(Fraction(value)), to)
    assert bool(bits & sign) == (math.copysign(1, value) < 0)


@given(st.integers(0, 0xFFFF), st.sampled_from([f16, bf16]))
def test_every_16_bit_float_round_trips(pattern: int, type: ScalarType) -> None:
    """Decoding any f16 or bf16 pattern and encoding it again gives the pattern; a NaN comes back quiet."""
    data = pattern.to_bytes(2, "little")
    value = type.decode(data)
    again = int.from_bytes(type.encode(value), "little")
    if isinstance(value, float) and math.isnan(value):
        quiet = 1 << (9 if type is f16 else 6)
        assert again == pattern | quiet
    else:
        assert again == pattern


@pytest.mark.parametrize("type", FLOATS, ids=str)
def test_nan_stays_nan(type: ScalarType) -> None:
    """NaN stays NaN with its sign, even where the payload lies in the bits that are cut off."""
    low_payload = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000001))[0]
    for value, is_negative in ((math.nan, False), (-math.nan, True), (low_payload, False)):
        data = type.encode(value)
        decoded = type.decode(data)
        assert isinstance(decoded, float)
        assert math.isnan(decoded)
        assert bool(data[-1] & 0x80) is is_negative
        assert type.encode(value, exact=True) == data


@pytest.mark.parametrize(
    ("type", "value"), [(f32, 0.1), (f16, 1e6), (f64, 2**53 + 1), (bf16, 257), (f16, 2.0**-25), (c64, 0.1j)]
)
def test_exact_refuses_what_would_round(type: ScalarType, value: complex) -> None:
    """`exact=True` refuses a number that its type does not hold, and says the nearest one."""
    type.encode(value)
    with pytest.raises(ScalarRangeError, match="nearest"):
        type.encode(value, exact=True)


@pytest.mark.parametrize("type", [*FLOATS, c64, c128], ids=str)
def test_exact_takes_what_survives(type: ScalarType) -> None:
    """`exact=True` takes numbers that the type holds, infinities among them."""
    for value in (0.5, -3, math.inf, -0.0):
        assert type.encode(value, exact=True) == type.encode(value)


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("value", [True, 1j, "1.5", None, [1.5], b"\0\0\0\0"])
def test_only_real_numbers_are_floats(type: ScalarType, value: object) -> None:
    """Bools, complex numbers, text and sequences are no floats."""
    with pytest.raises(ScalarKindError):
        type.encode(value)


# ---------------------------------------------------------------- bool and complex


def test_bool_is_one_byte_and_takes_only_bools() -> None:
    """True is the byte 01 and False 00; no number is a bool."""
    assert (boolean.encode(True), boolean.encode(False)) == (b"\x01", b"\x00")
    assert boolean.decode(b"\x01") is True
    for value in (1, 0, 1.0, None, np.int32(1)):
        with pytest.raises(ScalarKindError, match="bool"):
            boolean.encode(value)


def test_complex_numbers_are_two_floats() -> None:
    """A complex number is its real part, then its imaginary part; a real number has 0 behind it."""
    assert c64.encode(1.5 - 2j) == struct.pack("<ff", 1.5, -2.0)
    assert c128.encode(complex(0.1, -0.0)) == struct.pack("<dd", 0.1, -0.0)
    assert c128.encode(3) == struct.pack("<dd", 3.0, 0.0)
    assert c64.decode(struct.pack("<ff", 1.5, -2.0)) == 1.5 - 2j
    with pytest.raises(ScalarKindError):
        c64.encode(True)


# ---------------------------------------------------------------- NumPy (case 30)

NUMPY_VALUES = [
    np.int8(-113),
    np.int8(5),
    np.uint8(200),
    np.int16(-300),
    np.uint16(65535),
    np.int32(-(2**31)),
    np.int32(7),
    np.uint32(2**32 - 1),
    np.int64(5),
    np.int64(2**53 + 1),
    np.uint64(2**64 - 1),
    np.float16(1.5),
    np.float16(65504),
    np.float32(0.1),
    np.float32(3e38),
    np.float64(0.1),
    np.float64(2.0),
    np.float64(np.nan),
    np.float64(np.inf),
    np.longdouble(0.25),
    np.complex64(1.5 - 2j),
    np.complex128(0.1j),
    np.bool_(True),
]


def _survives(value: np.generic, type: ScalarType) -> bool:
    """Whether a NumPy scalar's value is one of the type's, decided with NumPy and fractions only."""
    kind = value.dtype.kind
    if type.kind == "bool" or kind == "b":
        return type.kind == "bool" and kind == "b"
    if type.is_integer:
        return kind in "iu" and type.lowest <= int(value) <= type.highest
    if type.kind == "complex":
        if kind != "c":
            return _survives(value, f32 if type is c64 else f64)
        narrowed = np.dtype("c8" if type is c64 else "c16").type(value)
        return bool(complex(narrowed) == complex(value))
    if kind == "c":
        return False
    number = int(value) if kind in "iu" else float(value)
    if isinstance(number, float) and not math.isfinite(number):
        return True
    with np.errstate(over="ignore"):
        if type is bf16:
            wide = np.array(float(number), "f4")
            back = (wide.view("u4") & 0xFFFF0000).view("f4")[()]
        else:
            back = np.array(float(number)).astype({f16: "f2", f32: "f4", f64: "f8"}[type])[()]
    return math.isfinite(back) and Fraction(float(back)) == Fraction(number)


@pytest.mark.parametrize("type", SCALARS.values(), ids=str)
@pytest.mark.parametrize("value", NUMPY_VALUES, ids=lambda value: f"{value.dtype.name}-{value}")
@pytest.mark.parametrize("wrap", [lambda value: value, np.asarray], ids=["scalar", "0-d"])
def test_numpy_scalars_pass_where_their_value_survives(type: ScalarType, value: np.generic, wrap: object) -> None:
    """A NumPy scalar or 0-d array is taken, bit-exact, where its value survives, and refused by name elsewhere."""
    given_value = wrap(value)  # type: ignore[operator]
    if _survives(value, type):
        decoded = type.decode(type.encode(given_value))
        assert decoded == value or (np.isnan(value) and np.isnan(decoded))
        return
    with pytest.raises(ScalarRefused, match=type.name):
        type.encode(given_value)


@pytest.mark.parametrize("type", SCALARS.values(), ids=str)
@pytest.mark.parametrize("shape", [(1,), (2, 3), (0,)])
def test_an_array_where_a_scalar_is_wanted_is_refused_in_those_words(type: ScalarType, shape: tuple[int, ...]) -> None:
    """Arrays with a dimension are no scalars, even those of one element."""
    with pytest.raises(ScalarKindError, match="where a scalar is wanted") as caught:
        type.encode(np.zeros(shape, "i4"))
    assert f"an array of shape {shape}" in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [np.timedelta64(5, "s"), np.datetime64("2020-01-01"), np.str_("5"), np.bytes_(b"5"), np.ma.masked, np.void(b"12")],
    ids=repr,
)
def test_numpy_values_that_are_no_numbers_are_refused(value: object) -> None:
    """Dates, text, raw bytes and masked values are no scalars, though some derive from integers or floats."""
    for type in (i64, f64, boolean):
        with pytest.raises(ScalarKindError):
            type.encode(value)
    assert scalar_of(value) is None


def test_a_numpy_nan_keeps_its_payload() -> None:
    """A scalar that already has the type passes its bits as they are."""
    pattern = np.array([0x7FA12345], "u4").view("f4")
    assert f32.encode(pattern[0]) == b"\x45\x23\xa1\x7f"


def test_a_big_endian_0d_array_is_read_by_value() -> None:
    """The byte order of a 0-d array is its own affair; its number arrives."""
    assert u32.encode(np.array(0x01020304, ">u4")) == b"\x04\x03\x02\x01"
    assert scalar_of(np.array(0x0102, ">i2")) == i16(0x0102)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(1.5), f32(1.5)),
        (np.float64(1.5), f64(1.5)),
        (np.int32(-7), i32(-7)),
        (np.uint8(7), u8(7)),
        (np.bool_(True), boolean(True)),
        (np.complex64(1j), c64(1j)),
        (np.float16(-0.0), f16(-0.0)),
        (np.array(9, "u8"), u64(9)),
        (ctypes.c_int(-3), i32(-3)),
        (ctypes.c_ubyte(250), u8(250)),
        (ctypes.c_size_t(2**63), u64(2**63)),
        (ctypes.c_float(0.1), f32(0.1)),
        (ctypes.c_double(0.1), f64(0.1)),
        (ctypes.c_bool(True), boolean(True)),
        (u64(5), u64(5)),
    ],
    ids=repr,
)
def test_typed_values_carry_their_type(value: object, expected: Scalar) -> None:
    """NumPy and ctypes scalars are typed: their own type, their own bytes."""
    assert scalar_of(value) == expected


@pytest.mark.parametrize("value", [1, 1.5, True, 1j, "x", None, [1], np.zeros(1), ctypes.c_void_p(5), int], ids=repr)
def test_bare_numbers_and_the_rest_carry_no_type(value: object) -> None:
    """Python's numbers have no width; addresses, arrays and strangers are no scalars."""
    assert scalar_of(value) is None


# ---------------------------------------------------------------- ctypes and ml_dtypes


def test_ctypes_scalars_pass_where_their_value_survives() -> None:
    """ctypes scalars are read by value and never narrowed."""
    assert u32.encode(ctypes.c_longlong(5)) == b"\x05\0\0\0"
    assert f64.encode(ctypes.c_float(0.5)) == struct.pack("<d", 0.5)
    assert i8.encode(ctypes.c_byte(-3)) == b"\xfd"
    assert u16.encode(ctypes.c_uint16.__ctype_be__(0x0102)) == b"\x02\x01"
    with pytest.raises(ScalarRangeError, match="u32"):
        u32.encode(ctypes.c_int(-1))
    with pytest.raises(ScalarRangeError, match=r"float\(value\)"):
        f32.encode(ctypes.c_double(0.1))
    with pytest.raises(ScalarKindError):
        i32.encode(ctypes.c_double(1.0))
    with pytest.raises(ScalarKindError):
        i32.encode(ctypes.c_bool(True))


@pytest.mark.parametrize(
    "value", [ctypes.c_void_p(4096), ctypes.c_char(b"a"), (ctypes.c_int * 3)(), ctypes.c_longdouble(1)]
)
def test_ctypes_values_that_are_no_scalars_are_refused(value: object) -> None:
    """Addresses, characters, arrays and long doubles are refused."""
    for type in (u64, f64):
        with pytest.raises(ScalarKindError, match="wanted"):
            type.encode(value)


def test_a_bfloat16_of_another_package_is_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    """ml_dtypes' bfloat16 is recognised by its module and name and keeps its value."""
    stranger = type("bfloat16", (), {"__float__": lambda self: 1.5, "__module__": "ml_dtypes"})
    assert scalar_of(stranger()) == bf16(1.5)
    assert f32.encode(stranger()) == struct.pack("<f", 1.5)
    with pytest.raises(ScalarKindError):
        i32.encode(stranger())


def test_small_floats_and_integers_of_another_package_are_read_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """ml_dtypes' 8-bit floats and 4-bit integers have no scalar type here; their values pass where they survive."""
    small = type("float8_e4m3fn", (), {"__float__": lambda self: 0.1015625, "__module__": "ml_dtypes"})()
    nibble = type("int4", (), {"__int__": lambda self: -7, "__module__": "ml_dtypes"})()
    strange = type("finfo", (), {"__module__": "ml_dtypes"})()
    assert f16.encode(small) == struct.pack("<e", 0.1015625)
    assert i8.encode(nibble) == b"\xf9"
    assert (scalar_of(small), scalar_of(nibble)) == (None, None)
    with pytest.raises(ScalarKindError):
        i32.encode(small)
    with pytest.raises(ScalarRangeError):
        u8.encode(nibble)
    with pytest.raises(ScalarKindError):
        f32.encode(strange)


def test_a_long_double_is_taken_only_where_it_survives() -> None:
    """The bits of a long double beyond a double are not cut off; infinities and NaN pass."""
    fine = np.longdouble(1) + np.finfo(np.longdouble).eps
    for value in (fine, np.clongdouble(fine)):
        with pytest.raises(ScalarRangeError):
            (c128 if value.dtype.kind == "c" else f64).encode(value)
    assert f64.encode(np.longdouble("inf")) == struct.pack("<d", math.inf)
    assert f32.decode(f32.encode(np.longdouble("nan"))) != 0
    assert c128.encode(np.clongdouble(1.5 - 2j)) == struct.pack("<dd", 1.5, -2.0)
    with pytest.raises(ScalarRangeError):
        f64.encode(np.finfo(np.longdouble).max)


def test_a_type_decodes_only_its_own_size() -> None:
    """Decoding bytes of another length is refused."""
    with pytest.raises(ScalarKindError, match="4 bytes, not 8"):
        u32.decode(bytes(8))


# ---------------------------------------------------------------- the rest


def test_scalars_print_as_they_are_written() -> None:
    """A Scalar's text is the call that makes it."""
    assert [repr(each) for each in (u64(5), f32(0.5), boolean(True), c64(1j), i8(-1))] == [
        "u64(5)",
        "f32(0.5)",
        "boolean(True)",
        "c64(1j)",
        "i8(-1)",
    ]


def test_sizes_and_alignments_are_those_of_c() -> None:
    """Every type is aligned to its size and has as many bytes as its name says."""
    for name, type in SCALARS.items():
        bits = 8 if name == "bool" else int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        assert (type.nbytes, type.align) == (bits // 8, bits // 8)
        assert len(type.encode(False if type is boolean else 0)) == type.nbytes


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.dtype("f4"), f32),
        (np.float64, f64),
        (np.dtype("?"), boolean),
        (np.dtype("S4"), None),
        (np.dtype([("a", "i4")]), None),
        ("<f4", f32),
        ("|u1", u8),
        ("|b1", boolean),
        ("<c8", c64),
        ("float16", f16),
        ("bfloat16", bf16),
        ("u32", u32),
        ("torch.float32", f32),
        ("torch.bfloat16", bf16),
        ("torch.int64", i64),
        ("torch.bool", boolean),
        ("torch.float8_e4m3fn", None),
        ((2, 32), f32),
        ((4, 16), bf16),
        ((0, 8), i8),
        ((1, 64), u64),
        ((5, 128), c128),
        ((6, 8), boolean),
        ((2, 32, 4), None),
        ((0, 16, 1), i16),
        (u16, u16),
        (np.dtype("g"), None),
        (None, None),
        ("nonsense", None),
    ],
    ids=str,
)
def test_element_types_of_every_library(dtype: object, expected: ScalarType | None) -> None:
    """dtypes of NumPy, torch, the array interface and DLPack name the same scalar types."""
    assert element_type_of(dtype) == expected


@pytest.mark.parametrize("dtype", [np.dtype(">f4"), ">i8", np.dtype(">u2")], ids=str)
def test_big_endian_elements_are_refused(dtype: object) -> None:
    """No device reads big-endian numbers, so a buffer of them is refused with the conversion to make."""
    with pytest.raises(ScalarKindError, match="astype"):
        element_type_of(dtype)


def test_the_scalars_need_no_numpy() -> None:
    """The values are usable, and a NumPy-less process stays so."""
    program = (
        "import sys; from metrale_gpu_runtime.scalars import u32, scalar_of, bf16\n"
        "assert u32.encode(7) == b'\\x07\\0\\0\\0' and scalar_of(1.5) is None and bf16(1.5).data == b'\\xc0\\x3f'\n"
        "assert 'numpy' not in sys.modules and 'ctypes' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


FORMATS = {"f16": BINARY16, "bf16": BFLOAT16, "f32": BINARY32, "f64": BINARY64}


def test_a_copy_of_a_type_is_the_type() -> None:
    """There is one object for each scalar type, so that types are compared and hashed as objects."""
    for each in SCALARS.values():
        assert copy.copy(each) is copy.deepcopy(each) is pickle.loads(pickle.dumps(each)) is each


@given(st.sampled_from(sorted(FORMATS)), st.integers(-(2**54), 2**54) | st.integers(-70_000, 70_000))
@example("f32", 2**24 + 1)
@example("f32", 2**53 + 1)
@example("f16", 65_519)
@example("f16", 65_520)
@example("f64", 2**53 + 1)
@example("f32", -(2**53))
def test_whole_numbers_round_once(name: str, value: int) -> None:
    """A Python integer becomes the float nearest to it, however it gets there."""
    bits = round_to_bits(value, FORMATS[name])
    assert SCALARS[name].encode(value) == bits.to_bytes(SCALARS[name].nbytes, "little")
