"""The types of C and CUDA by name: sizes and alignments of LP64 and of the CUDA headers, and what a parameter has.

Sizes and alignments of vector types are those of the CUDA C++ Programming Guide, "Built-in Vector Types".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ..scalars import (
    ScalarType,
    bf16,
    boolean,
    c64,
    c128,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)
from .parameter import Parameter

POINTER_NBYTES: Final = 8


@dataclass(frozen=True, slots=True)
class CType:
    """A type by value. `scalar` is what it is exactly, `element` how a buffer of it is typed, `lanes` its components.

    A type with neither is opaque: only its size and alignment count.
    """

    name: str
    nbytes: int
    align: int
    scalar: ScalarType | None = None
    element: ScalarType | None = None
    lanes: int = 1

    @property
    def whole(self) -> tuple[ScalarType, ...]:
        """The scalars that may stand for a vector: the one component, or the complex number of two."""
        if self.lanes == 1 and self.element is not None:
            return (self.element,)
        return {f32: (c64,), f64: (c128,)}.get(self.element, ()) if self.lanes == 2 and self.element else ()


_SCALARS: Final[dict[ScalarType, tuple[str, ...]]] = {
    boolean: ("bool", "_Bool"),
    i8: ("signed char", "int8_t"),
    u8: ("unsigned char", "uint8_t", "uchar", "char8_t"),
    i16: ("short", "int16_t"),
    u16: ("unsigned short", "uint16_t", "ushort", "char16_t"),
    i32: ("int", "int32_t", "wchar_t"),
    u32: ("unsigned int", "unsigned", "uint32_t", "uint", "char32_t"),
    i64: ("long", "long long", "int64_t", "ssize_t", "ptrdiff_t", "intptr_t", "intmax_t"),
    u64: (
        "unsigned long",
        "unsigned long long",
        "uint64_t",
        "ulong",
        "size_t",
        "uintptr_t",
        "uintmax_t",
        "CUdeviceptr",
        "cudaTextureObject_t",
        "cudaSurfaceObject_t",
        "CUtexObject",
        "CUsurfObject",
    ),
    f16: ("half", "__half", "nv_half", "__nv_half", "_Float16", "float16_t"),
    bf16: ("nv_bfloat16", "__nv_bfloat16", "__bf16", "bfloat16_t"),
    f32: ("float", "float32_t"),
    f64: ("double", "float64_t"),
}

_VECTORS: Final[dict[str, tuple[str, ScalarType]]] = {
    "char": ("i8", i8),
    "uchar": ("u8", u8),
    "short": ("i16", i16),
    "ushort": ("u16", u16),
    "int": ("i32", i32),
    "uint": ("u32", u32),
    "long": ("i64", i64),
    "ulong": ("u64", u64),
    "longlong": ("i64", i64),
    "ulonglong": ("u64", u64),
    "float": ("f32", f32),
    "double": ("f64", f64),
}

_OPAQUE: Final = {
    # alignas(128) since CUDA 13, 64 before.
    "CUtensorMap": (128, 128),
    "CUtensorMap_st": (128, 128),
    "dim3": (12, 4),
    "__nv_fp8_e4m3": (1, 1),
    "__nv_fp8_e5m2": (1, 1),
    "__nv_fp8_e8m0": (1, 1),
    "__nv_fp8x2_e4m3": (2, 2),
    "__nv_fp8x2_e5m2": (2, 2),
    "__nv_fp8x4_e4m3": (4, 4),
    "__nv_fp8x4_e5m2": (4, 4),
    "__int128": (16, 16),
    "unsigned __int128": (16, 16),
}

_COMPLEX_TEMPLATE: Final = re.compile(r"(?:^|::)complex<(float|double)>$")
_STANDARD_PREFIX: Final = re.compile(r"^(?:::)?(?:cuda::)?std::(?:__\w+::)?|^::")


def _named_types() -> dict[str, CType]:
    types = {
        name: CType(name, scalar.nbytes, scalar.align, scalar, scalar)
        for scalar, names in _SCALARS.items()
        for name in names
    }
    # Plain char has no sign of its own; buffers of any char type are bytes.
    types["char"] = CType("char", 1, 1, None, i8)
    for word, (_, component) in _VECTORS.items():
        for lanes in (1, 2, 3, 4):
            nbytes = component.nbytes * lanes
            align = component.nbytes if lanes == 3 else min(nbytes, 16)
            types[f"{word}{lanes}"] = CType(f"{word}{lanes}", nbytes, align, None, component, lanes)
    for word, component in (("long", i64), ("ulong", u64), ("longlong", i64), ("ulonglong", u64), ("double", f64)):
        for align in (16, 32):
            name = f"{word}4_{align}a"
            types[name] = CType(name, 32, align, None, component, 4)
    for name, component in (("half2", f16), ("__half2", f16), ("nv_bfloat162", bf16), ("__nv_bfloat162", bf16)):
        types[name] = CType(name, 4, 4, None, component, 2)
    for name, scalar in (("cuComplex", c64), ("cuFloatComplex", c64), ("cuDoubleComplex", c128)):
        types[name] = CType(name, scalar.nbytes, scalar.align, scalar, scalar, 2)
    for name, (nbytes, align) in _OPAQUE.items():
        types[name] = CType(name, nbytes, align)
    return types


C_TYPES: Final[dict[str, CType]] = _named_types()


def find_c_type(name: str) -> CType | None:
    """The type of this name, or None: "unsigned int", "float4", "std::int64_t", "thrust::complex<float>"."""
    found = C_TYPES.get(name) or C_TYPES.get(_STANDARD_PREFIX.sub("", name))
    if found is not None:
        return found
    match = _COMPLEX_TEMPLATE.search(name.replace(" ", ""))
    if match is None:
        return None
    scalar = c64 if match[1] == "float" else c128
    return CType(name, scalar.nbytes, scalar.align, scalar, scalar, 2)


def parameter_of_value(
    index: int,
    type: CType | str,
    *,
    source: str,
    name: str | None = None,
    offset: int | None = None,
    spelling: str | None = None,
) -> Parameter:
    """A parameter passed by value: a known type, or only the name of one whose size is not known."""
    if isinstance(type, str):
        return Parameter(index, name, offset=offset, kind="value", c_type=spelling or type, source=source)
    scalar = type.scalar
    is_char = type.name == "char"
    return Parameter(
        index,
        name,
        nbytes=type.nbytes,
        align=type.align,
        offset=offset,
        kind="value",
        floating=scalar.kind == "float" if scalar is not None else (False if is_char else None),
        signed=scalar.kind == "signed" if scalar is not None and scalar.is_integer else None,
        scalar=scalar,
        c_type=spelling or type.name,
        source=source,
    )


def parameter_of_pointer(
    index: int,
    pointee: CType | None,
    pointee_name: str,
    *,
    source: str,
    name: str | None = None,
    offset: int | None = None,
    constant: bool = False,
    space: str | None = None,
    spelling: str | None = None,
) -> Parameter:
    """A pointer parameter. `pointee` is None for void, structures and whatever else has no element type.

    A pointer to pointers (`pointee_name` ends in `*`) has addresses as elements.
    """
    element = pointee.element if pointee is not None else None
    if pointee_name.endswith("*"):
        element = u64
    return Parameter(
        index,
        name,
        nbytes=POINTER_NBYTES,
        align=POINTER_NBYTES,
        offset=offset,
        kind="pointer",
        floating=False,
        element=element,
        element_name=pointee_name,
        constant=constant,
        space=space,
        c_type=spelling or f"{'const ' if constant else ''}{pointee_name}*",
        source=source,
    )


def same_element(declared: ScalarType, given: ScalarType, element_name: str | None) -> bool:
    """Whether a buffer of `given` elements may stand for a pointer to `declared` ones.

    All char types are bytes; pointers in memory are 64-bit integers of either sign; a two-component vector and the
    complex number of the same component lie alike.
    """
    if declared == given:
        return True
    if {declared, given} == {i8, u8}:
        return True
    if element_name is None:
        return False
    if element_name.endswith("*"):
        return given in (u64, i64)
    named = find_c_type(element_name)
    # `vec2<f32>` is WGSL's; no other source gives a type of such a name elements.
    is_pair = element_name.startswith("vec2") if named is None else named.lanes == 2
    if not is_pair:
        return False
    return {declared, given} in ({f32, c64}, {f64, c128})
