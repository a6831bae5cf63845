"""What PyObjC hands out that is no object: structs, and memory of unstated length."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, ClassVar


class Struct:
    """One struct: fields by name and by position, equal to a tuple of the same values."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    __typestr__: ClassVar[bytes] = b""

    def __init__(self, *values: Any) -> None:
        if len(values) > len(self._fields):
            raise TypeError(f"{type(self).__name__}() takes {len(self._fields)} values, {len(values)} were given")
        for name, value in zip(self._fields, (*values, *(0,) * (len(self._fields) - len(values))), strict=True):
            setattr(self, name, value)

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, position: int) -> Any:
        return getattr(self, self._fields[position])

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self._fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct | tuple) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as PyObjC's, whose fields can be set

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self._fields)})"


def struct_type(name: str, encoding: str, fields: tuple[str, ...]) -> type[Struct]:
    return type(name, (Struct,), {"__slots__": fields, "_fields": fields, "__typestr__": encoding.encode()})


class VarList:
    """objc.varlist over bytes: its length is not known, the caller says it."""

    __slots__ = ("_address", "_owner")

    def __init__(self, address: int, owner: object) -> None:
        self._address, self._owner = address, owner

    def as_buffer(self, count: int) -> memoryview:
        """A writable view of the first `count` bytes. As in PyObjC, it keeps the varlist alive and not the buffer."""
        return memoryview((ctypes.c_char * count).from_address(self._address)).cast("B")

    def as_tuple(self, count: int) -> tuple[bytes, ...]:
        return tuple(bytes([value]) for value in self.as_buffer(count))

    def __getitem__(self, position: int) -> bytes:
        if not isinstance(position, int) or position < 0:
            raise ValueError("objc.varlist does not support negative indexes")
        return bytes(self.as_buffer(position + 1)[position : position + 1])


class _Null:
    """objc.NULL: a null pointer where None means "return it"."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "objc.NULL"


NULL = _Null()
