"""What a buffer's elements are: a size, a scalar type where there is one, and the NumPy dtype that shows them."""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from .errors import NotSupported
from .loaded_libraries import loaded_numpy
from .scalars import ScalarType, bf16, element_type_of
from .whole_numbers import is_bool

_NUMPY_CODES = {"unsigned": "u", "signed": "i", "float": "f", "complex": "c", "bool": "b"}


# What such a name says depends on who reads it, by a factor of up to eight in bytes.
_TWO_MEANINGS = {
    "u8": '8 bits here and 8 bytes in NumPy: give mg.u8 ("uint8"), or "uint64"',
    "i8": '8 bits here and 8 bytes in NumPy: give mg.i8 ("int8"), or "int64"',
    "float": '32 bits in C and 64 in NumPy: give mg.f32 ("float32") or mg.f64 ("float64")',
    "int": '32 bits in C and 64 in NumPy: give mg.i32 ("int32") or mg.i64 ("int64")',
}


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a buffer. `scalar` is None for a structure and for untyped bytes; `given` is a NumPy dtype, if
    one was given."""

    nbytes: int
    scalar: ScalarType | None = None
    given: Any = None

    @property
    def dtype(self) -> Any:
        """The NumPy dtype. Raises NotSupported for bf16 without the package ml_dtypes."""
        if self.given is not None:
            return self.given
        import numpy

        if self.scalar is None:
            return numpy.dtype(numpy.uint8) if self.nbytes == 1 else numpy.dtype((numpy.void, self.nbytes))
        if self.scalar == bf16:
            try:
                ml_dtypes = importlib.import_module("ml_dtypes")
            except ImportError:
                raise NotSupported(
                    "NumPy itself has no bfloat16; install ml_dtypes, or read the bits: buffer.view('u16').numpy()",
                    feature="bf16 in NumPy",
                ) from None
            return numpy.dtype(ml_dtypes.bfloat16)
        return numpy.dtype(f"<{_NUMPY_CODES[self.scalar.kind]}{self.scalar.nbytes}")

    @property
    def name(self) -> str:
        """What a message calls it."""
        if self.scalar is not None:
            return self.scalar.name
        return str(self.given) if self.given is not None else "bytes" if self.nbytes == 1 else f"{self.nbytes} bytes"


BYTES = Element(1)
"""Untyped memory."""


def element_of(dtype: object) -> Element:
    """Read a ScalarType, a NumPy dtype, a scalar class, or a name ("f32", "float32", "<f4").

    Raises TypeError for what has no fixed bytes (Python objects, text of any length), no meaning here, or two of them.
    """
    if isinstance(dtype, str) and dtype in _TWO_MEANINGS:
        raise TypeError(f"dtype {dtype!r} is {_TWO_MEANINGS[dtype]}")
    scalar = element_type_of(dtype)
    numpy = loaded_numpy()
    given = dtype if numpy is not None and isinstance(dtype, numpy.dtype) else None
    if scalar is not None:
        return Element(scalar.nbytes, scalar, given)
    if dtype is None:
        raise TypeError("dtype is None; give a scalar type such as mg.f32, a NumPy dtype, or its name")
    import numpy as np

    try:
        given = np.dtype(cast(Any, dtype))
    except TypeError as error:
        raise TypeError(f"{dtype!r} is no element type: {error}; give mg.f32, a NumPy dtype, or its name") from None
    if given.hasobject or given.itemsize == 0:
        raise TypeError(f"elements of dtype {given} have no fixed bytes that a kernel could read")
    if given.kind in "Mm":
        raise TypeError(f"elements of dtype {given} mean nothing to a kernel; convert them to integers: a.view('i8')")
    scalar = element_type_of(given)
    return Element(given.itemsize, scalar, given)


def read_shape(shape: object) -> tuple[int, ...]:
    """An extent or several. Raises TypeError for what is no whole number, ValueError for a negative one."""
    if isinstance(shape, (str, bytes)) or is_bool(shape):
        raise TypeError(f"shape is {shape!r}; it is a whole number or several")
    extents: Sequence[Any] = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    read = []
    for extent in extents:
        if is_bool(extent):
            raise TypeError(f"shape is {shape!r}; it is a whole number or several")
        try:
            read.append(operator.index(extent))
        except TypeError:
            raise TypeError(f"shape is {shape!r}; it is a whole number or several") from None
    if any(extent < 0 for extent in read):
        raise ValueError(f"shape is {tuple(read)}; no extent can be negative")
    return tuple(read)


def count_of(shape: tuple[int, ...]) -> int:
    return math.prod(shape)
