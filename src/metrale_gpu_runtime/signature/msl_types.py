"""The types of the Metal Shading Language by name: sizes and alignments.

They are those of the "Metal Shading Language Specification", sections "Scalar Data Types", "Vector Data Types", "Packed
Vector Types", "Matrix Data Types" and "Atomic Data Types". They differ from CUDA's of the same name: a `float3` has 16
bytes and `long` is a type of its own with 64 bits everywhere.
"""

from __future__ import annotations

import re
from typing import Final

from ..scalars import ScalarType, bf16, boolean, f16, f32, i8, i16, i32, i64, u8, u16, u32, u64
from .c_types import CType

_SCALARS: Final[dict[ScalarType, tuple[str, ...]]] = {
    boolean: ("bool",),
    i8: ("char", "signed char", "int8_t"),
    u8: ("uchar", "unsigned char", "uint8_t"),
    i16: ("short", "signed short", "short int", "int16_t"),
    u16: ("ushort", "unsigned short", "unsigned short int", "uint16_t"),
    i32: ("int", "signed", "signed int", "int32_t"),
    u32: ("uint", "unsigned", "unsigned int", "uint32_t"),
    i64: ("long", "signed long", "long int", "int64_t", "ptrdiff_t"),
    u64: ("ulong", "unsigned long", "unsigned long int", "uint64_t", "size_t"),
    f16: ("half",),
    bf16: ("bfloat",),
    f32: ("float",),
}

_PLAIN: Final = {scalar: names[0] for scalar, names in _SCALARS.items()}
_ATOMICS: Final = {"int": i32, "uint": u32, "bool": boolean, "ulong": u64, "float": f32}


def _named_types() -> dict[str, CType]:
    types = {
        name: CType(name, scalar.nbytes, scalar.align, scalar, scalar)
        for scalar, names in _SCALARS.items()
        for name in names
    }
    for component, word in _PLAIN.items():
        size = component.nbytes
        for lanes in (2, 3, 4):
            # Three components take the room of four.
            nbytes = size * (4 if lanes == 3 else lanes)
            types[f"{word}{lanes}"] = CType(f"{word}{lanes}", nbytes, nbytes, None, component, lanes)
            if component is not boolean:
                packed = f"packed_{word}{lanes}"
                types[packed] = CType(packed, size * lanes, size, None, component, lanes)
    for word, component in (("half", f16), ("float", f32)):
        for columns in (2, 3, 4):
            for rows in (2, 3, 4):
                column = types[f"{word}{rows}"]
                name = f"{word}{columns}x{rows}"
                types[name] = CType(name, columns * column.nbytes, column.align, None, component, columns * rows)
    for word, component in _ATOMICS.items():
        for name in (f"atomic_{word}", f"atomic<{word}>"):
            types[name] = CType(name, component.nbytes, component.align, None, component)
    return types


MSL_TYPES: Final[dict[str, CType]] = _named_types()

_NAMESPACE: Final = re.compile(r"^(?:::)?(?:metal|simd)::")
_VECTOR_TEMPLATE: Final = re.compile(r"^(packed_)?vec<(?:metal::)?([\w ]+),([234])>$")


def find_msl_type(name: str) -> CType | None:
    """The type of this name, or None: "uint", "float3", "packed_half4", "metal::vec<float, 4>", "atomic_uint"."""
    name = _NAMESPACE.sub("", name.strip())
    if "<" in name:
        name = re.sub(r"\s*([<>,])\s*", r"\1", name)
        match = _VECTOR_TEMPLATE.match(name)
        if match is not None:
            component = MSL_TYPES.get(match[2])
            if component is None or component.scalar is None:
                return None
            return MSL_TYPES.get(f"{match[1] or ''}{_PLAIN[component.scalar]}{match[3]}")
    return MSL_TYPES.get(name)
