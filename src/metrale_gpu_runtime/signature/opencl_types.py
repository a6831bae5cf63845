"""The types of OpenCL C by name: sizes and alignments, which are the same on every device.

Source: "The OpenCL C Specification", sections "Built-in Scalar Data Types", "Built-in Vector Data Types", "Alignment of
Types", "Other Built-in Data Types". They differ from CUDA's of the same name: a `char` is signed, a `float3` has 16
bytes and `long` has 64 bits everywhere. Sizes of `size_t` and `bool` are the device's own, so no argument has them.
"""

from __future__ import annotations

import re
from typing import Final

from ..scalars import ScalarType, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from .c_types import CType

_SCALARS: Final[dict[ScalarType, tuple[str, ...]]] = {
    i8: ("char", "signed char"),
    u8: ("uchar", "unsigned char"),
    i16: ("short", "signed short", "short int"),
    u16: ("ushort", "unsigned short", "unsigned short int"),
    i32: ("int", "signed int", "signed"),
    u32: ("uint", "unsigned int", "unsigned"),
    i64: ("long", "signed long", "long int"),
    u64: ("ulong", "unsigned long", "unsigned long int"),
    f16: ("half",),
    f32: ("float",),
    f64: ("double",),
}
_ATOMICS: Final = {"int": i32, "uint": u32, "long": i64, "ulong": u64, "float": f32, "double": f64, "half": f16}

# Types whose values nobody gives: the API has objects of its own for them, or does not say what they are.
_OBJECTS: Final = re.compile(
    r"(?:read_only|write_only|read_write)?(?:image\w*_t|sampler_t|pipe\b.*|(?:queue|event)_t)$"
)
_DEVICES_OWN: Final = ("bool", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t")


def _named_types() -> dict[str, CType]:
    types: dict[str, CType] = {}
    for scalar, names in _SCALARS.items():
        for name in names:
            # Argument info has names without blanks.
            for spelling in (name, name.replace(" ", "")):
                types[spelling] = CType(name, scalar.nbytes, scalar.align, scalar, scalar)
        for lanes in (2, 3, 4, 8, 16):
            # Three components take the room of four; a vector is aligned to its size.
            nbytes = scalar.nbytes * (4 if lanes == 3 else lanes)
            types[f"{names[0]}{lanes}"] = CType(f"{names[0]}{lanes}", nbytes, nbytes, None, scalar, lanes)
    for word, scalar in _ATOMICS.items():
        types[f"atomic_{word}"] = CType(f"atomic_{word}", scalar.nbytes, scalar.align, None, scalar)
    return types


OPENCL_TYPES: Final[dict[str, CType]] = _named_types()


def find_opencl_type(name: str) -> CType | None:
    """The type of this name, or None: "uint", "float3", "unsignedlong", "atomic_uint"."""
    return OPENCL_TYPES.get(name)


def is_object(name: str) -> bool:
    """Whether it is an image, a sampler, a pipe, a queue or an event, which have no size."""
    return _OBJECTS.match(name.replace(" ", "")) is not None


def why_unfillable(name: str) -> str | None:
    """Why no value can be given for a parameter of this type; None where one can."""
    if is_object(name):
        return f"it is {name}, an object of OpenCL's own, which no argument is; keep what it holds in a buffer"
    if name in _DEVICES_OWN:
        wanted = "uchar or uint" if name == "bool" else "ulong or long"
        return f'{name} has no size that host and device agree on (OpenCL C, "Restrictions"); declare it {wanted}'
    return None
