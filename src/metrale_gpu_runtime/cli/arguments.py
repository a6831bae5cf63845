"""The typed arguments of `metrale-gpu launch`: in:x.npy, out:y.npy:f32:10x20, u32:1000, bytes:00ff, null, 3.5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import GpuError
from ..scalars import SCALARS, ScalarType

if TYPE_CHECKING:
    import numpy

_DTYPES = {
    "u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8",
    "f16": "<f2", "f32": "<f4", "f64": "<f8", "bool": "?", "c64": "<c8", "c128": "<c16",
}  # fmt: skip
_DIRECTIONS = ("in", "out", "inout")


class ArgumentTextError(GpuError, ValueError):
    """An argument of the command line that cannot be read; the message says which and how it is written."""


@dataclass(slots=True)
class ArrayArgument:
    """An array from or for a file. `is_written` says that its contents are an output."""

    path: Path
    array: numpy.ndarray
    is_read: bool
    is_written: bool


@dataclass(slots=True)
class ScalarArgument:
    """A number of a stated type, or with type None one that takes the parameter's."""

    type: ScalarType | None
    value: object


@dataclass(slots=True)
class BytesArgument:
    data: bytes


class NullArgument:
    """A null pointer."""


CommandArgument = ArrayArgument | ScalarArgument | BytesArgument | NullArgument


def read_argument(index: int, text: str) -> CommandArgument:
    """Read one argument. Raises ArgumentTextError, with its index and text, for what cannot be read."""
    try:
        return _read(text)
    except (ValueError, OSError, MemoryError) as error:
        raise ArgumentTextError(f"argument {index} ({text!r}): {error}") from error


def read_constants(texts: Sequence[str]) -> dict[str | int, object]:
    """Function constants as `NAME=VALUE` or `INDEX=VALUE`; a vector's components with commas between them.

    Raises ArgumentTextError for what cannot be read, and for a constant that is given twice.
    """
    read: dict[str | int, object] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        key: str | int = int(name) if name.isdecimal() else name
        try:
            if not separator or not name:
                raise ValueError("a function constant is written NAME=VALUE, for example WIDTH=64 or SCALE=1.0,0.5")
            if key in read:
                raise ValueError("it is given twice")
            parts = [_number(part.strip(), None) for part in value.split(",")]
        except ValueError as error:
            raise ArgumentTextError(f"--constant {text!r}: {error}") from error
        read[key] = parts if len(parts) > 1 else parts[0]
    return read


def _read(text: str) -> CommandArgument:
    if text == "null":
        return NullArgument()
    head, separator, rest = text.partition(":")
    if separator and head in _DIRECTIONS:
        return _read_array(head, rest)
    if separator and head == "bytes":
        return BytesArgument(bytes.fromhex(rest))
    if separator and head in SCALARS:
        return ScalarArgument(SCALARS[head], _number(rest, SCALARS[head].kind))
    if separator:
        known = ", ".join((*_DIRECTIONS, "bytes", *SCALARS))
        raise ValueError(f"{head!r} is no type of argument; there are {known}, null, and bare numbers")
    return ScalarArgument(None, _number(text, None))


def _number(text: str, kind: str | None) -> object:
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise ValueError("a bool is true or false")
        return text.lower() == "true"
    if kind in ("unsigned", "signed"):
        return int(text, 0)
    if kind == "float":
        return float.fromhex(text) if "0x" in text.lower() else float(text)
    if kind == "complex":
        return complex(text)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def _read_array(direction: str, rest: str) -> ArrayArgument:
    import numpy

    name, *details = rest.split(":")
    if not name:
        raise ValueError("the file's name is missing")
    path = Path(name)
    dtype = None
    if details:
        if details[0] not in _DTYPES:
            raise ValueError(f"{details[0]!r} is no element type; there are {', '.join(_DTYPES)}")
        dtype = numpy.dtype(_DTYPES[details[0]])
    if direction == "out":
        if dtype is None or len(details) != 2:
            raise ValueError(
                "an output is written out:FILE:TYPE:SHAPE, for example out:y.npy:f32:1000 or out:y.npy:f32:10x20"
            )
        shape = tuple(int(extent) for extent in details[1].split("x"))
        if any(extent < 0 for extent in shape):
            raise ValueError(f"shape {shape} has a negative extent")
        return ArrayArgument(path, numpy.zeros(shape, dtype), is_read=False, is_written=True)
    if len(details) > 1:
        raise ValueError(f"a file is written {direction}:FILE or {direction}:FILE:TYPE")
    if path.suffix == ".npy":
        try:
            array = numpy.load(path, allow_pickle=False)
        except EOFError:
            raise ValueError(f"{path} holds no array: it has {path.stat().st_size} bytes") from None
        if dtype is not None and array.dtype != dtype:
            raise ValueError(f"{path} holds {array.dtype}, not {dtype}")
    else:
        dtype = dtype if dtype is not None else numpy.dtype(numpy.uint8)
        # NumPy's own reading of a file drops an element that is cut off.
        nbytes = path.stat().st_size
        if nbytes % dtype.itemsize:
            raise ValueError(f"{path} has {nbytes} bytes, which are no whole number of {dtype} ({dtype.itemsize} each)")
        array = numpy.fromfile(path, dtype=dtype)
    return ArrayArgument(path, numpy.ascontiguousarray(array), is_read=True, is_written=direction == "inout")
