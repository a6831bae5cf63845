"""One argument on its way from Python to Objective-C: taken as PyObjC takes it, or refused and entered."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .encodings import Type, members
from .interface import conforms
from .journal import journal
from .ownership import Native
from .proxies import ObjCObject
from .values import NULL, Struct

Check = Callable[[Any], Any]

_WHOLE = {
    "c": ("char", -(2**7), 2**7 - 1),
    "z": ("char", -(2**7), 2**7 - 1),
    "C": ("unsigned char", 0, 2**8 - 1),
    "s": ("short", -(2**15), 2**15 - 1),
    "S": ("unsigned short", 0, 2**16 - 1),
    "i": ("int", -(2**31), 2**31 - 1),
    "I": ("unsigned int", 0, 2**32 - 1),
    "l": ("long", -(2**63), 2**63 - 1),
    "L": ("unsigned long", 0, 2**64 - 1),
    "q": ("long long", -(2**63), 2**63 - 1),
    "Q": ("unsigned long long", 0, 2**64 - 1),
}
_TEXT_CLASSES = ("NSString",)


def _refused(where: str, text: str, kind: type[Exception] = ValueError) -> Exception:
    journal.note(f"{where}: {text}")
    return kind(text)


def _whole(code: str, where: str) -> Check:
    name, low, high = _WHOLE[code]

    def check(value: Any) -> int:
        if type(value) is not int:
            if isinstance(value, str | bytes | bytearray | float) or not hasattr(value, "__index__"):
                # PyObjC would cut a float; nobody means that.
                raise _refused(where, f"depythonifying '{name}', got '{type(value).__name__}'")
            value = operator.index(value)
        if not low <= value <= high:
            raise _refused(where, f"depythonifying '{name}', got 'int' of wrong magnitude (max {high}, value {value})")
        return int(value)

    return check


def _truth(where: str) -> Check:
    def check(value: Any) -> bool:
        if not isinstance(value, bool | int):
            raise _refused(where, f"a BOOL is wanted, '{type(value).__name__}' was given")
        return bool(value)

    return check


def _real(where: str) -> Check:
    def check(value: Any) -> float:
        if not isinstance(value, int | float):
            raise _refused(where, f"depythonifying 'double', got '{type(value).__name__}'")
        return float(value)

    return check


def _object(kind: Type, where: str) -> Check:
    wanted = kind.of.strip("<>")

    def check(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, ObjCObject):
            native: Native = value._native
            if wanted and wanted not in _TEXT_CLASSES and not conforms(native.protocol, wanted):
                raise journal.abort(f"{where}: a {wanted} is wanted, a {native.protocol} was given")
            return native
        if isinstance(value, str):
            fits = wanted in ("", "NSString", "NSObject")
        elif isinstance(value, Mapping):
            fits = wanted in ("", "NSDictionary", "NSObject")
        elif isinstance(value, bytes | bytearray | memoryview):
            fits = wanted in ("", "NSData", "OS_dispatch_data")
        elif isinstance(value, Sequence):
            fits = wanted in ("", "NSArray", "NSObject")
        else:
            fits = wanted in ("", "NSObject", "NSNumber")
        if not fits:
            raise journal.abort(f"{where}: a {wanted} is wanted, the Python value {value!r:.60} was given")
        return value

    return check


def _struct(code: str, where: str) -> Check:
    inner = [check_for(kind, {}, where) for kind in members(code)]

    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, tuple | list | Struct):
            raise _refused(where, "depythonifying struct, got no sequence")
        if len(value) != len(inner):
            raise _refused(where, f"depythonifying struct of {len(inner)} members, got tuple of {len(value)}")
        return tuple(one(member) for one, member in zip(inner, value, strict=True))

    return check


def _block(entry: dict[str, Any], where: str) -> Check:
    def check(value: Any) -> Any:
        if value is None:
            return None
        if not callable(value):
            raise _refused(where, f"a block is made of a callable, '{type(value).__name__}' is none", TypeError)
        if "callable" not in entry:
            raise _refused(where, "no metadata says what this block takes", TypeError)
        return value

    return check


def _selector(where: str) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, bytes | str):
            raise _refused(where, f"depythonifying 'SEL', got '{type(value).__name__}'")
        return value.decode() if isinstance(value, bytes) else value

    return check


def _plain_void(where: str) -> Check:
    def check(value: Any) -> int | None:
        # Without a modifier that says what it points to, void* is a number.
        if value is None or value is NULL:
            return None
        if not isinstance(value, int):
            raise _refused(where, f"depythonifying 'unsigned long', got '{type(value).__name__}'")
        return int(value)

    return check


def as_bytes(value: Any, where: str) -> memoryview:
    """A caller's buffer as bytes. Raises TypeError for what is none, and for memory that is not contiguous."""
    try:
        return memoryview(value).cast("B")
    except TypeError:
        raise _refused(where, f"a bytes-like object is required, not '{type(value).__name__}'", TypeError) from None


def _void_array(where: str) -> Check:
    def check(value: Any) -> memoryview | None:
        if value is None or value is NULL:
            return None
        return as_bytes(value, where)

    return check


def _array(code: str, where: str) -> Check:
    inner = check_for(Type(code), {}, where)

    def check(value: Any) -> list[Any] | None:
        if value is None or value is NULL:
            return None
        if not isinstance(value, Sequence):
            raise _refused(where, f"a sequence is wanted, '{type(value).__name__}' was given", TypeError)
        return [inner(one) for one in value]

    return check


def _out(where: str) -> Check:
    def check(value: Any) -> bool:
        if value is None:
            return True
        if value is NULL:
            return False
        raise _refused(where, "must be None or objc.NULL")

    return check


def _plain_pointer(where: str) -> Check:
    def check(value: Any) -> bool:
        # A pointer that no modifier explains takes a null pointer only, and nothing comes back through it.
        if value is None or value is NULL:
            return False
        raise _refused(where, f"depythonifying 'pointer', got '{type(value).__name__}'")

    return check


def check_for(kind: Type, entry: dict[str, Any], where: str) -> Check:
    """The check of one argument of this type, with what PyObjC's metadata adds to it."""
    if kind.is_block:
        return _block(entry, where)
    if kind.is_object:
        return _object(kind, where)
    if kind.is_pointer:
        inner, modifier = kind.code[1:], entry.get("type_modifier", "")
        counted = any(word in entry for word in ("c_array_length_in_arg", "c_array_of_variable_length"))
        if modifier == "o":
            return _out(where)
        if modifier == "n" and counted:
            return _void_array(where) if inner == "v" else _array(inner, where)
        return _plain_void(where) if inner == "v" else _plain_pointer(where)
    if kind.code in _WHOLE:
        return _whole(kind.code, where)
    if kind.code in "ZB":
        return _truth(where)
    if kind.code in "fd":
        return _real(where)
    if kind.code == ":":
        return _selector(where)
    if kind.code == "#":
        return _plain_pointer(where)
    if kind.code.startswith("{"):
        return _struct(kind.code, where)
    raise LookupError(f"{where}: the stand-in has no check for the type {kind.code}")


def read_pointer(value: memoryview | int | None, nbytes: int) -> bytes | None:
    """`nbytes` at a const void* argument, however it was given; None for null."""
    if value is None:
        return None
    if isinstance(value, int):
        return ctypes.string_at(value, nbytes)
    return bytes(value[:nbytes])
