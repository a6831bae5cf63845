"""The types of WGSL: sizes, alignments and places of members, by the rules for memory that host and device share.

Source: "WebGPU Shading Language", sections "Alignment and Size", "Structure Member Layout", "Array Layout Examples",
"Predeclared Types and Type-Generators"; the 64-bit types are wgpu's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..scalars import ScalarType, f16, f32, f64, i16, i32, i64, u16, u32, u64
from .c_types import CType

SCALARS: Final[dict[str, ScalarType]] = {each.name: each for each in (i32, u32, f32, f16, i64, u64, f64, i16, u16)}
_VECTOR: Final = re.compile(r"vec([234])<(\w+)>$")
_SUFFIXES: Final = {"i": "i32", "u": "u32", "f": "f32", "h": "f16"}


@dataclass(frozen=True, slots=True)
class WgslField:
    """One member of a structure; `nbytes` is what it takes up, an @size included (None: as long as the buffer is)."""

    name: str
    type: WgslType
    offset: int
    nbytes: int | None


@dataclass(frozen=True, slots=True)
class WgslType:
    """A type as far as memory goes. `kind` is "scalar", "vector", "matrix", "array", "atomic", "struct" or "opaque".

    `nbytes` and `align` are None for what has no place in memory (a texture); `nbytes` is None for what is as long as
    the buffer behind it, and `least_nbytes` then what one element of that takes. `scalar` is set where the type is
    exactly one, `element` is the scalar that vectors, matrices, atomics and arrays come down to. `count` is an array's
    length, or the components of a vector or a matrix; `stride` the distance of an array's elements; `item` their type.
    """

    spelling: str
    kind: str
    nbytes: int | None
    align: int | None
    least_nbytes: int | None = None
    scalar: ScalarType | None = None
    element: ScalarType | None = None
    count: int | None = None
    stride: int | None = None
    item: WgslType | None = None
    fields: tuple[WgslField, ...] = ()

    @property
    def is_runtime_sized(self) -> bool:
        """Whether it is as long as the buffer that is bound."""
        return self.align is not None and self.nbytes is None

    @property
    def parts(self) -> tuple[WgslType, ...]:
        """The types that lie in it."""
        inner = tuple(each.type for each in self.fields)
        return inner if self.item is None else (*inner, self.item)

    @property
    def disputed(self) -> WgslType | None:
        """A structure within this type that compilers place differently; None where all agree.

        An `@align` of a member aligns the whole structure, says the specification ("Alignment and Size"). Naga (wgpu,
        up to 29) goes by the types of the members alone where the structure lies in another type.
        """
        for part in self.parts:
            if part.kind == "struct" and part.align != max(each.type.align or 1 for each in part.fields):
                return part
            if (found := part.disputed) is not None:
                return found
        return None


def round_up(alignment: int, size: int) -> int:
    """The least multiple of an alignment that is no less than `size`."""
    return -(-size // alignment) * alignment


def scalar(name: str) -> WgslType:
    """A scalar type, bool among them: that is four bytes, which no host shares."""
    if name == "bool":
        return WgslType("bool", "scalar", 4, 4, 4)
    type = SCALARS[name]
    return WgslType(name, "scalar", type.nbytes, type.nbytes, type.nbytes, type, type)


def vector(lanes: int, item: WgslType) -> WgslType:
    """`vec3<f32>`: three components, aligned as four."""
    size = item.nbytes
    assert size is not None
    return WgslType(
        f"vec{lanes}<{item.spelling}>",
        "vector",
        size * lanes,
        size * (2 if lanes == 2 else 4),
        size * lanes,
        element=item.element,
        count=lanes,
        item=item,
    )


def matrix(columns: int, rows: int, item: WgslType) -> WgslType:
    """`mat3x4<f32>`: an array of column vectors."""
    column = vector(rows, item)
    assert column.nbytes is not None
    assert column.align is not None
    stride = round_up(column.align, column.nbytes)
    nbytes = columns * stride
    return WgslType(
        f"mat{columns}x{rows}<{item.spelling}>",
        "matrix",
        nbytes,
        column.align,
        nbytes,
        element=item.element,
        count=columns * rows,
        stride=stride,
        item=column,
    )


def atomic(item: WgslType) -> WgslType:
    """`atomic<u32>`."""
    return replace(item, spelling=f"atomic<{item.spelling}>", kind="atomic", scalar=None, item=item)


def array(item: WgslType, count: int | None) -> WgslType:
    """`array<T, count>`, or without a count one as long as its buffer."""
    assert item.nbytes is not None
    assert item.align is not None
    stride = round_up(item.align, item.nbytes)
    length = f", {count}" if count is not None else ""
    return WgslType(
        f"array<{item.spelling}{length}>",
        "array",
        count * stride if count is not None else None,
        item.align,
        (count if count is not None else 1) * stride,
        element=item.element,
        count=count,
        stride=stride,
        item=item,
    )


def structure(name: str, members: Sequence[tuple[str, WgslType, int | None, int | None]]) -> WgslType:
    """A structure of members with their names, types, @align and @size. Only the last may have no size of its own."""
    fields: list[WgslField] = []
    end, largest = 0, 1
    nbytes: int | None = 0
    for member, type, align, size in members:
        assert type.align is not None
        assert type.least_nbytes is not None
        own_align = align if align is not None else type.align
        offset = round_up(own_align, end)
        own = size if size is not None else type.nbytes
        fields.append(WgslField(member, type, offset, own))
        end = offset + (own if own is not None else type.least_nbytes)
        largest = max(largest, own_align)
        nbytes = None if own is None else nbytes
    whole = round_up(largest, end)
    return WgslType(name, "struct", whole if nbytes is not None else None, largest, whole, fields=tuple(fields))


def opaque(spelling: str) -> WgslType:
    """A texture, a sampler, a pointer: nothing that lies in a buffer."""
    return WgslType(spelling, "opaque", None, None)


def predeclared(name: str) -> tuple[str, str] | None:
    """What a short name stands for: "vec3f" is ("vec3", "f32"), "mat4x2h" is ("mat4x2", "f16")."""
    for prefix in ("vec2", "vec3", "vec4"):
        if name[:4] == prefix and name[4:] in _SUFFIXES:
            return prefix, _SUFFIXES[name[4:]]
    if len(name) == 7 and name[:6] in MATRICES and name[6] in "fh":
        return name[:6], _SUFFIXES[name[6]]
    return None


VECTORS: Final = {f"vec{lanes}": lanes for lanes in (2, 3, 4)}
MATRICES: Final = {f"mat{c}x{r}": (c, r) for c in (2, 3, 4) for r in (2, 3, 4)}


def find_wgsl_type(name: str) -> CType | None:
    """A scalar or a vector by its name, or None: "u32", "vec3<f32>", "vec2u"."""
    if name in SCALARS:
        scalar = SCALARS[name]
        return CType(name, scalar.nbytes, scalar.align, scalar, scalar)
    short = predeclared(name)
    match = _VECTOR.match(f"{short[0]}<{short[1]}>" if short is not None else name)
    if match is None or match[2] not in SCALARS:
        return None
    lanes, component = int(match[1]), SCALARS[match[2]]
    align = component.nbytes * (2 if lanes == 2 else 4)
    return CType(name, component.nbytes * lanes, align, None, component, lanes)
