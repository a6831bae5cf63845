"""The scalar types and their exact encoding: a value becomes exactly its type's bytes, or is refused.

NumPy, ctypes and ml_dtypes values are recognised by the modules that are loaded; none of them is imported here.
"""

from __future__ import annotations

import cmath
import math
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from .errors import ScalarKindError, ScalarRangeError, ScalarRefused
from .loaded_libraries import loaded_ctypes, loaded_numpy
from .native import know_scalars, know_typed
from .rounding import BFLOAT16, BINARY16, BINARY32, BINARY64, FloatFormat, bits_to_float, round_to_bits
from .structs import StructValue, is_struct, struct_bytes

if TYPE_CHECKING:
    from fractions import Fraction

    Number: TypeAlias = int | float | complex | Fraction

_EXACT: Final = 1 << 53
"""Up to here every whole number is a double, so that what struct makes of it is rounded once."""


@dataclass(frozen=True, slots=True, eq=False)
class ScalarType:
    """A type a kernel parameter or a buffer's element can have. Calling it makes a typed value: `u64(5)`.

    `kind` is "unsigned", "signed", "float", "bool" or "complex"; `nbytes` and `align` are those of C and CUDA;
    `lowest` and `highest` bound an integer type (None for the others); `constructor` is its name in this package.
    There is one object for each: a copy is the type itself.
    """

    name: str
    nbytes: int
    align: int
    kind: str
    c_name: str
    lowest: int | None = None
    highest: int | None = None
    constructor: str = ""
    _format: FloatFormat | None = field(default=None, repr=False, compare=False)
    _struct: struct.Struct | None = field(default=None, repr=False, compare=False)

    @property
    def is_integer(self) -> bool:
        """True for the signed and unsigned integers; bool is none."""
        return self.lowest is not None

    def __call__(self, value: object, *, exact: bool = False) -> Scalar:
        """A value of this type. Raises ScalarRefused as `encode` does."""
        return Scalar(self, self.encode(value, exact=exact))

    def encode(self, value: object, *, exact: bool = False) -> bytes:
        """The little-endian bytes of `value` in this type.

        Integers take whole numbers in range, floats take integers and floats and round to nearest even (a finite
        number too large becomes infinity), bool takes bools. A NumPy or ctypes scalar, which already has a type, is
        taken only where its value survives; `exact=True` asks the same of Python numbers. Raises ScalarRangeError or
        ScalarKindError.
        """
        if type(value) is int and self.lowest is not None:
            if self.lowest <= value <= self.highest:  # type: ignore[operator]
                return value.to_bytes(self.nbytes, "little", signed=self.lowest < 0)
            raise self._out_of_range(value)
        # struct rounds as IEEE does, but raises where infinity is wanted and leaves the bits of a NaN to the C library.
        if self._struct is not None and not exact:
            kind = type(value)
            if (kind is float and value == value) or (kind is int and -_EXACT <= value <= _EXACT):  # type: ignore[operator]
                try:
                    return self._struct.pack(float(value))  # type: ignore[arg-type]
                except OverflowError:
                    pass
        return self._encode_any(value, exact)

    def decode(self, data: bytes | bytearray | memoryview) -> int | float | complex | bool:
        """The Python value of this type's bytes."""
        if len(data) != self.nbytes:
            raise ScalarKindError(f"{self.name} has {self.nbytes} bytes, not {len(data)}", given=len(data))
        if self.lowest is not None:
            return int.from_bytes(data, "little", signed=self.lowest < 0)
        if self.kind == "bool":
            return bool(data[0])
        part = self._part
        if self.kind == "complex":
            half = self.nbytes // 2
            real = bits_to_float(int.from_bytes(data[:half], "little"), part)
            return complex(real, bits_to_float(int.from_bytes(data[half:], "little"), part))
        return bits_to_float(int.from_bytes(data, "little"), part)

    def __repr__(self) -> str:
        return self.constructor or self.name

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        # This module's name for it: what is copied or unpickled is the same object again.
        return self.constructor

    @property
    def _part(self) -> FloatFormat:
        assert self._format is not None
        return self._format

    def _encode_any(self, value: object, exact: bool) -> bytes:
        if _NUMPY_CLASSES.get(type(value)) is self:
            return value.tobytes()  # type: ignore[attr-defined, no-any-return]
        given = _read(value, self)
        if given.type == self and given.data is not None:
            return given.data
        if self.kind == "bool":
            if given.kind != "bool":
                raise self._wrong_kind(given, "a bool is wanted; use bool(value)")
            return b"\x01" if given.value else b"\x00"
        if given.kind == "bool":
            raise self._wrong_kind(given, f"a bool is no {self.name}; use int(value)")
        if self.lowest is not None:
            return self._encode_integer(given)
        if self.kind == "complex":
            return self._encode_complex(given, exact)
        if given.kind == "complex":
            raise self._wrong_kind(given, f"a complex number is no {self.name}; use value.real")
        return self._encode_float(given, exact)

    def _encode_integer(self, given: _Given) -> bytes:
        if given.kind != "integer":
            raise self._wrong_kind(given, f"{self.name} takes whole numbers; use int(value) to cut it")
        number = given.value
        assert isinstance(number, int)
        assert self.lowest is not None
        assert self.highest is not None
        if not self.lowest <= number <= self.highest:
            raise self._out_of_range(number)
        return number.to_bytes(self.nbytes, "little", signed=self.lowest < 0)

    def _encode_float(self, given: _Given, exact: bool) -> bytes:
        number = given.value
        assert not isinstance(number, complex)
        bits = round_to_bits(number, self._part)
        if (exact or given.is_typed) and not _same_real(number, bits_to_float(bits, self._part)):
            raise self._would_round(given, bits_to_float(bits, self._part))
        return bits.to_bytes(self.nbytes, "little")

    def _encode_complex(self, given: _Given, exact: bool) -> bytes:
        number = given.value
        parts = (number.real, number.imag) if isinstance(number, complex) else (number, 0)
        bits = [round_to_bits(part, self._part) for part in parts]
        if exact or given.is_typed:
            rounded = [bits_to_float(each, self._part) for each in bits]
            if not all(_same_real(part, each) for part, each in zip(parts, rounded, strict=True)):
                raise self._would_round(given, complex(*rounded))
        return b"".join(each.to_bytes(self.nbytes // 2, "little") for each in bits)

    def _out_of_range(self, value: int) -> ScalarRangeError:
        return ScalarRangeError(
            f"{shown(value)} does not fit {self.name}, which holds {self.lowest} to {self.highest}",
            expected=(self.lowest, self.highest),
            given=value,
        )

    def _would_round(self, given: _Given, nearest: float | complex) -> ScalarRangeError:
        remedy = "use float(value) to let it round" if given.is_typed else "leave out exact=True to let it round"
        if self.kind == "complex":
            remedy = remedy.replace("float(", "complex(")
        return ScalarRangeError(
            f"{given.description} is not exactly a number of {self.name} (the nearest is {nearest!r}); {remedy}",
            expected=nearest,
            given=given.original,
        )

    def _wrong_kind(self, given: _Given, remedy: str) -> ScalarKindError:
        return ScalarKindError(
            f"{given.description} where {self.name} ({self.c_name}) is wanted: {remedy}",
            expected=self.name,
            given=given.original,
        )


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that carries its type, for the short form: `u64(5)`. `data` are its little-endian bytes."""

    type: ScalarType
    data: bytes

    @property
    def value(self) -> int | float | complex | bool:
        """The Python number; that of an f16, bf16 or f32 is exact."""
        return self.type.decode(self.data)

    def __repr__(self) -> str:
        return f"{self.type!r}({self.value!r})"


def _integer(name: str, c_name: str) -> ScalarType:
    bits = int(name[1:])
    if name[0] == "u":
        return ScalarType(name, bits // 8, bits // 8, "unsigned", c_name, 0, (1 << bits) - 1, name)
    low = -(1 << (bits - 1))
    return ScalarType(name, bits // 8, bits // 8, "signed", c_name, low, -low - 1, name)


u8: Final = _integer("u8", "unsigned char")
u16: Final = _integer("u16", "unsigned short")
u32: Final = _integer("u32", "unsigned int")
u64: Final = _integer("u64", "unsigned long long")
i8: Final = _integer("i8", "signed char")
i16: Final = _integer("i16", "short")
i32: Final = _integer("i32", "int")
i64: Final = _integer("i64", "long long")


def _float(name: str, c_name: str, format: FloatFormat, code: str | None) -> ScalarType:
    packed = struct.Struct(f"<{code}") if code is not None else None
    nbytes = format.nbits // 8
    return ScalarType(name, nbytes, nbytes, "float", c_name, constructor=name, _format=format, _struct=packed)


f16: Final = _float("f16", "__half", BINARY16, "e")
bf16: Final = _float("bf16", "__nv_bfloat16", BFLOAT16, None)
f32: Final = _float("f32", "float", BINARY32, "f")
f64: Final = _float("f64", "double", BINARY64, "d")
boolean: Final = ScalarType("bool", 1, 1, "bool", "bool", constructor="boolean")
# cuComplex and cuda::std::complex are aligned to their whole size, unlike C's own complex types.
c64: Final = ScalarType("c64", 8, 8, "complex", "cuFloatComplex", constructor="c64", _format=BINARY32)
c128: Final = ScalarType("c128", 16, 16, "complex", "cuDoubleComplex", constructor="c128", _format=BINARY64)

_ALL: Final = (u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, boolean, c64, c128)
SCALARS: Final[Mapping[str, ScalarType]] = MappingProxyType({each.name: each for each in _ALL})

# The launch core's code of a type is its place here, from 1.
know_scalars(Scalar, _ALL)
SCALAR_CODES: Final[Mapping[ScalarType, int]] = MappingProxyType({each: at for at, each in enumerate(_ALL, 1)})


def scalar_of(value: object) -> Scalar | None:
    """The typed scalar that a NumPy, ml_dtypes or ctypes scalar (or 0-d array) already is.

    None for bare Python numbers, which have no width, for addresses (`c_void_p`) and for everything else.
    """
    if isinstance(value, Scalar):
        return value
    known = _NUMPY_CLASSES.get(type(value))
    if known is not None:
        return Scalar(known, value.tobytes())  # type: ignore[attr-defined]
    if type(value) in (bool, int, float, complex):
        return None
    try:
        given = _read(value, None)
    except ScalarRefused:
        return None
    if given.type is None:
        return None
    return Scalar(given.type, given.data if given.data is not None else given.type.encode(given.value))


def shown(value: object) -> str:
    """A value as text for a message, of bearable length: Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


# ---------------------------------------------------------------- reading what a caller hands in


class _Given(NamedTuple):
    """A number with what is known of where it came from.

    `kind` is "integer", "float", "bool" or "complex"; `type` and `data` the scalar type it already has and its bytes
    in it; `is_typed` says that a narrowing would lose what its owner fixed.
    """

    original: object
    kind: str
    value: Number
    type: ScalarType | None = None
    data: bytes | None = None
    is_typed: bool = False

    @property
    def description(self) -> str:
        """The value with its type, for messages."""
        original = self.original
        if isinstance(original, Scalar):
            return repr(original)
        if self.is_typed:
            kind = type(original)
            name = getattr(getattr(original, "dtype", None), "name", kind.__name__)
            # A long double's exact fraction may have thousands of digits; its own text has not.
            value = self.value if isinstance(self.value, (int, float, complex)) else original
            return f"{kind.__module__.partition('.')[0]}.{name} {value!r}"
        return f"the {self.kind} {shown(self.value)}"


def _read(value: object, wanted: ScalarType | None) -> _Given:
    """Take apart a scalar from any of the libraries we know. Raises ScalarKindError for what is no scalar."""
    if isinstance(value, Scalar):
        return _typed_given(value, value.value, value.type, value.data)
    numpy = loaded_numpy()
    if numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray)):
        return _read_numpy(value, wanted)
    if isinstance(value, bool):
        return _Given(value, "bool", value)
    if isinstance(value, int):
        return _Given(value, "integer", int(value))
    if isinstance(value, float):
        return _Given(value, "float", float(value))
    if isinstance(value, complex):
        return _Given(value, "complex", complex(value))
    ctypes = loaded_ctypes()
    if ctypes is not None and isinstance(value, (ctypes._SimpleCData, ctypes.Array)):
        return _read_ctypes(value, ctypes, wanted)
    if type(value).__module__.partition(".")[0] == "ml_dtypes":
        return _read_ml_dtypes(value)
    raise _no_scalar(value, wanted)


def _typed_given(original: object, value: Number, type: ScalarType, data: bytes | None) -> _Given:
    kind = "integer" if type.is_integer else type.kind
    return _Given(original, kind, value, type, data, is_typed=True)


def _no_scalar(value: object, wanted: ScalarType | None) -> ScalarKindError:
    name = wanted.name if wanted is not None else "scalar"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        what = f"an array of shape {tuple(shape)} where a scalar is wanted"
        remedy = "take one element of it (value.item() where it has just one)"
    elif isinstance(value, (list, tuple, bytes, bytearray, memoryview)):
        what = f"a {type(value).__name__} of length {len(value)} where a scalar is wanted"
        remedy = "give one number"
    else:
        what = f"a {type(value).__module__}.{type(value).__qualname__} where a scalar is wanted"
        what = what.replace("builtins.", "")
        remedy = "give a Python number or a NumPy or ctypes scalar"
    return ScalarKindError(f"{what} ({name}): {remedy}", expected=name, given=value)


_NUMPY_KINDS: Final = {"i": "integer", "u": "integer", "f": "float", "c": "complex", "b": "bool"}


def _read_numpy(value: Any, wanted: ScalarType | None) -> _Given:
    dtype = value.dtype
    if value.ndim != 0:
        raise _no_scalar(value, wanted)
    if type(value).__module__.startswith("numpy.ma"):
        raise ScalarKindError(f"a masked value ({value!r}) where a scalar is wanted", given=value)
    if dtype.name == "bfloat16":
        return _typed_given(value, float(value), bf16, value.tobytes())
    kind = _NUMPY_KINDS.get(dtype.kind)
    if kind is None:
        advice = "; arg_struct takes structured values" if dtype.names is not None else ""
        raise ScalarKindError(
            f"a NumPy {dtype.name} where a scalar is wanted ({wanted.name if wanted else 'scalar'}){advice}",
            expected=wanted.name if wanted is not None else None,
            given=value,
        )
    number: Any = value.item()
    if not isinstance(number, (bool, int, float, complex)) or type(number).__module__ == "numpy":
        number = _exact_number(number, kind)
    type_ = _NUMPY_SCALARS.get((dtype.kind, dtype.itemsize))
    if type_ is None:
        return _Given(value, kind, number, is_typed=True)
    if not dtype.isnative or sys.byteorder != "little":
        return _typed_given(value, number, type_, None)
    if type(value) is dtype.type:
        _NUMPY_CLASSES[dtype.type] = type_
        know_typed(value, SCALAR_CODES[type_], value.tobytes())
    return _typed_given(value, number, type_, value.tobytes())


def _exact_number(number: Any, kind: str) -> Number:
    """A long double (or a pair) without loss: a fraction where it is finite."""
    if kind == "complex":
        narrow = complex(number)
        survives = narrow.real == number.real and narrow.imag == number.imag
        if not survives and not cmath.isnan(narrow):
            raise ScalarRangeError(f"numpy.clongdouble {number!r} does not fit a pair of doubles", given=number)
        return narrow
    as_double = float(number)
    if math.isnan(as_double) or number == as_double:
        return as_double
    from fractions import Fraction

    try:
        return Fraction(*number.as_integer_ratio())
    except (OverflowError, ValueError):
        return as_double


def _read_ctypes(value: Any, ctypes: Any, wanted: ScalarType | None) -> _Given:
    if isinstance(value, ctypes.Array):
        element = value._type_.__name__
        raise ScalarKindError(
            f"a ctypes array of {value._length_} {element} where a scalar is wanted; take one element of it",
            given=value,
        )
    nbytes = ctypes.sizeof(value)
    kind = _CTYPES_KINDS.get(value._type_)
    name = type(value).__name__
    if kind is None:
        advice = {"P": "; an address is given with arg_ptr", "g": "; use c_double"}.get(value._type_, "")
        raise ScalarKindError(
            f"a ctypes {name} where a scalar is wanted ({wanted.name if wanted else 'scalar'}){advice}", given=value
        )
    number = value.value
    # The bytes themselves only for floats, for the payload of a NaN: a ctypes bool may hold any byte, while a kernel's
    # is 0 or 1. A type of the other byte order is read by its number.
    is_little = getattr(type(value), "__ctype_le__", None) is type(value)
    data = bytes(value) if kind == "f" and is_little else None
    return _typed_given(value, number, _NUMPY_SCALARS[kind, nbytes], data)


def _read_ml_dtypes(value: Any) -> _Given:
    name = type(value).__name__
    if name == "bfloat16":
        return _typed_given(value, float(value), bf16, None)
    if name.startswith("float"):
        return _Given(value, "float", float(value), is_typed=True)
    if name.startswith(("int", "uint")):
        return _Given(value, "integer", int(value), is_typed=True)
    raise _no_scalar(value, None)


_NUMPY_SCALARS: Final[Mapping[tuple[str, int], ScalarType]] = {
    ("u", 1): u8,
    ("u", 2): u16,
    ("u", 4): u32,
    ("u", 8): u64,
    ("i", 1): i8,
    ("i", 2): i16,
    ("i", 4): i32,
    ("i", 8): i64,
    ("f", 2): f16,
    ("f", 4): f32,
    ("f", 8): f64,
    ("b", 1): boolean,
    ("c", 8): c64,
    ("c", 16): c128,
}

# NumPy's scalar classes whose values are, as they lie in memory, those of a scalar type; filled as they are met.
_NUMPY_CLASSES: Final[dict[type, ScalarType]] = {}

_CTYPES_KINDS: Final = {
    **dict.fromkeys("bhilq", "i"),
    **dict.fromkeys("BHILQ", "u"),
    **dict.fromkeys("fd", "f"),
    "?": "b",
}


def _same_real(before: Number, after: float) -> bool:
    if isinstance(before, float) and math.isnan(before):
        return math.isnan(after)
    if isinstance(after, float) and math.isinf(after):
        return isinstance(before, float) and before == after
    return before == after


# ---------------------------------------------------------------- element types of buffers


_DLPACK_CODES: Final = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_NAMED_ELEMENTS: Final[Mapping[str, ScalarType]] = {
    **SCALARS,
    "half": f16,
    "float": f32,
    "double": f64,
    "bfloat16": bf16,
    **{f"uint{8 * size}": each for (code, size), each in _NUMPY_SCALARS.items() if code == "u"},
    **{f"int{8 * size}": each for (code, size), each in _NUMPY_SCALARS.items() if code == "i"},
    "float16": f16,
    "float32": f32,
    "float64": f64,
    "complex64": c64,
    "complex128": c128,
}


def element_type_of(dtype: object) -> ScalarType | None:
    """The scalar type that a dtype of any library stands for; None where there is none (a structure, text, fp8).

    Takes a ScalarType, a NumPy dtype or scalar class, its string ("<f4", "float32"), an array interface's typestr, a
    DLPack (code, bits) or (code, bits, lanes), a torch dtype. Raises ScalarKindError for big-endian elements.
    """
    if isinstance(dtype, ScalarType):
        return dtype
    if isinstance(dtype, str):
        return _element_named(dtype)
    if isinstance(dtype, tuple) and len(dtype) in (2, 3) and all(isinstance(part, int) for part in dtype):
        code, bits = dtype[0], dtype[1]
        if len(dtype) == 3 and dtype[2] != 1:
            return None
        if (code, bits) == (4, 16):
            return bf16
        return _NUMPY_SCALARS.get((_DLPACK_CODES.get(code, "?"), bits // 8)) if bits % 8 == 0 else None
    typestr = getattr(dtype, "str", None)
    name = getattr(dtype, "name", None)
    if isinstance(typestr, str) and isinstance(name, str):
        return bf16 if name == "bfloat16" else _element_named(typestr)
    if isinstance(dtype, type):
        numpy = loaded_numpy()
        if numpy is not None and issubclass(dtype, numpy.generic):
            return element_type_of(numpy.dtype(dtype))
        return bf16 if dtype.__module__.startswith("ml_dtypes") and dtype.__name__ == "bfloat16" else None
    text = str(dtype)
    return _element_named(text.removeprefix("torch.")) if text.startswith("torch.") else None


def _element_named(text: str) -> ScalarType | None:
    text = text.removeprefix("torch.")
    named = _NAMED_ELEMENTS.get(text)
    if named is not None:
        return named
    order = text[:1]
    code = text[1:] if order in "<>=|" else text
    if len(code) < 2 or not code[1:].isdigit():
        return None
    element = _NUMPY_SCALARS.get((code[0], int(code[1:])))
    if element is not None and element.nbytes > 1 and (order == ">" or (order != "<" and sys.byteorder == "big")):
        raise ScalarKindError(
            f"elements of type {text!r} are big-endian, devices are little-endian; convert them first "
            f"(array.astype({'<' + code!r}))",
            expected="<" + code,
            given=text,
        )
    return element


__all__ = [
    "SCALARS",
    "Scalar",
    "ScalarKindError",
    "ScalarRangeError",
    "ScalarRefused",
    "ScalarType",
    "StructValue",
    "bf16",
    "boolean",
    "c64",
    "c128",
    "element_type_of",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "is_struct",
    "scalar_of",
    "struct_bytes",
    "u8",
    "u16",
    "u32",
    "u64",
]
