"""Structures by value: a NumPy structured scalar or a ctypes structure as the bytes of its C layout."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from .errors import ScalarKindError
from .loaded_libraries import loaded_ctypes, loaded_numpy


class StructValue(NamedTuple):
    """The bytes of a structure, the alignment C gives it, and its fields as text."""

    data: bytes
    align: int
    description: str


def is_struct(value: object) -> bool:
    """True for what `struct_bytes` reads: a NumPy structured scalar or 0-d array, a ctypes structure or union."""
    numpy = loaded_numpy()
    if numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray)):
        return value.ndim == 0 and value.dtype.names is not None
    ctypes = loaded_ctypes()
    return ctypes is not None and isinstance(value, (ctypes.Structure, ctypes.Union))


def struct_bytes(value: object, *, packed: bool = False) -> StructValue:
    """The bytes of a structure as a C compiler lays it out.

    A NumPy dtype whose fields do not lie where C puts them is refused, unless `packed=True` says that the kernel's
    structure is packed too (its alignment is then 1). Raises ScalarKindError for that, for fields no device can read
    (text, objects, dates, big-endian numbers) and for what is no structure.
    """
    if not is_struct(value):
        shape = getattr(value, "shape", None)
        what = f"an array of shape {tuple(shape)}" if isinstance(shape, tuple) and shape else type(value).__name__
        raise ScalarKindError(
            f"{what} where a structure is wanted; give a NumPy structured scalar or a ctypes.Structure",
            expected="a structure",
            given=value,
        )
    numpy = loaded_numpy()
    if numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray)):
        return _numpy_struct(value, packed)
    return _ctypes_struct(value)


def _ctypes_struct(value: Any) -> StructValue:
    import ctypes

    kind = type(value)
    if issubclass(kind, (ctypes.BigEndianStructure, ctypes.BigEndianUnion)) and sys.byteorder == "little":
        raise ScalarKindError(f"{kind.__name__} is big-endian; devices are little-endian", given=value)
    _refuse_host_pointers(kind, kind.__name__, ctypes)
    data = bytes(value)
    align = ctypes.alignment(value)
    return StructValue(data, align, f"{kind.__name__}, {len(data)} bytes, align {align}")


def _refuse_host_pointers(kind: Any, path: str, ctypes: Any) -> None:
    """A host pointer inside a structure means nothing on a device; c_void_p is left, it may hold a device address."""
    if issubclass(kind, ctypes.Array):
        _refuse_host_pointers(kind._type_, f"{path}[]", ctypes)
    elif issubclass(kind, (ctypes.Structure, ctypes.Union)):
        for name, field, *_ in getattr(kind, "_fields_", ()):
            _refuse_host_pointers(field, f"{path}.{name}", ctypes)
    elif issubclass(kind, (ctypes._Pointer, ctypes.py_object, ctypes.c_char_p, ctypes.c_wchar_p)) or issubclass(
        kind, ctypes._CFuncPtr
    ):
        raise ScalarKindError(
            f"{path} is a {kind.__name__}, a pointer into host memory; declare it c_void_p and store a device address"
        )


def _numpy_struct(value: Any, packed: bool) -> StructValue:
    dtype = value.dtype
    c_nbytes, c_align, is_c = _c_layout(dtype, "")
    fields = ", ".join(f"{name} {dtype.fields[name][0]} at {dtype.fields[name][1]}" for name in dtype.names)
    text = f"struct of {dtype.itemsize} bytes ({fields})"
    if is_c and not packed:
        return StructValue(value.tobytes(), c_align, text)
    if packed:
        return StructValue(value.tobytes(), 1, text)
    raise ScalarKindError(
        f"a NumPy structure of {dtype.itemsize} bytes whose fields do not lie where C puts them: C lays the same "
        f"fields out in {c_nbytes} bytes, align {c_align}; build the dtype with align=True, or, if the kernel's "
        "structure is packed as well, give it with .arg_struct(value, packed=True); value.tobytes() gives it as it "
        "lies, as for vectors of 16 bytes, which C aligns to their size and NumPy does not",
        expected=c_nbytes,
        given=dtype.itemsize,
    )


def _c_layout(dtype: Any, path: str) -> tuple[int, int, bool]:
    """(bytes, alignment, whether the dtype agrees) of the C structure with these fields in this order."""
    if dtype.names is None:
        base = dtype.base
        if base.names is not None:
            nbytes, align, agrees = _c_layout(base, path)
            count = dtype.itemsize // base.itemsize if base.itemsize else 0
            return nbytes * count, align, agrees
        if base.kind not in "?biufcSV" or base.hasobject:
            raise ScalarKindError(f"field {path} is a NumPy {base.name}, which no device can read")
        if base.byteorder == ">" or (base.byteorder == "=" and sys.byteorder == "big"):
            raise ScalarKindError(f"field {path} is big-endian ({base.str}); devices are little-endian")
        if base.kind in "fc" and base.itemsize > (8 if base.kind == "f" else 16):
            raise ScalarKindError(f"field {path} is a NumPy {base.name}, which no device has")
        return dtype.itemsize, base.alignment, True
    end, widest, agrees = 0, 1, True
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        nbytes, align, field_agrees = _c_layout(field, f"{path}.{name}" if path else name)
        start = -(-end // align) * align
        agrees = agrees and field_agrees and start == offset
        end, widest = start + nbytes, max(widest, align)
    end = -(-end // widest) * widest
    return end, widest, agrees and end == dtype.itemsize
