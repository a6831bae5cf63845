"""Scalars that a device takes no arguments of, and what to pass instead: each kernel language has its own gaps.

Sources: "WebGPU Shading Language", "Host-shareable Types"; "The OpenCL C Specification", "Restrictions" and the
optional types half and double; "Metal Shading Language Specification", "Scalar Data Types".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .errors import ArgumentError, NotSupported

if TYPE_CHECKING:
    from .capabilities import Capabilities
    from .signature import ArgumentDescription

_HALVES: Final = "pass its two halves, low half first: two u32, or the 8 bytes of a vec2<u32> (arg_bytes)"
_WGSL: Final[Mapping[str, str]] = {
    "u64": _HALVES,
    "i64": _HALVES,
    "f64": f"pass an f32; to keep its bits, {_HALVES.removeprefix('pass ')}",
    "c128": "pass two f32, or the 8 bytes of a vec2<f32> (arg_c64)",
    "bool": "pass a u32 that is 0 or 1",
    "u8": "pass a u32",
    "i8": "pass an i32",
    "u16": "pass a u32",
    "i16": "pass an i32",
    "f16": "pass an f32, or its bits as a u32 (unpack2x16float); f16 itself needs the feature shader-f16",
    "bf16": "pass an f32, or its bits as the high half of a u32 (bitcast<f32>)",
}
_OPENCL: Final[Mapping[str, str]] = {
    "bool": "declare it uint and pass a u32 that is 0 or 1; no parameter of an OpenCL kernel is a bool",
    "f16": "declare it float and pass an f32, or ushort and pass its bits as a u16; half by value needs cl_khr_fp16",
    "f64": "declare it float and pass an f32, or ulong and pass its bits as a u64; double needs cl_khr_fp64",
    "c128": "declare it float2 and pass a c64; double2 needs cl_khr_fp64",
}
_OTHERS: Final[Mapping[str, str]] = {
    "f64": "pass an f32, or the two halves of its bits as u32, low half first",
    "c128": "pass a c64",
    "bool": "pass a u32 that is 0 or 1",
    "f16": "pass an f32, or its bits as a u16",
    "bf16": "pass an f32, or its bits as a u16",
    "u64": "pass two u32, low half first",
    "i64": "pass two u32, low half first",
}


def _language(capabilities: Capabilities) -> Mapping[str, str]:
    if "wgsl" in capabilities.code_formats:
        return _WGSL
    if "opencl-c" in capabilities.code_formats:
        return _OPENCL
    # A mock takes any code; what it plays shows in what it has not.
    lacking = capabilities.unsupported_scalars
    if {"bool", "u64", "u8"} <= lacking:
        return _WGSL
    return _OPENCL if "bool" in lacking else _OTHERS


def substitute_for(scalar: str, capabilities: Capabilities) -> str | None:
    """What to pass instead of a scalar of this type; None where the device takes it."""
    if scalar not in capabilities.unsupported_scalars:
        return None
    return _language(capabilities).get(scalar, "pass it through a buffer")


def refuse_unsupported(descriptions: Sequence[ArgumentDescription], *, kernel: str, capabilities: Capabilities) -> None:
    """Raise NotSupported for an argument of a type that the device takes none of."""
    for index, each in enumerate(descriptions):
        instead = substitute_for(each.scalar.name, capabilities) if each.scalar is not None else None
        if each.scalar is not None and instead is not None:
            name = f" ({each.name})" if each.name is not None else ""
            raise NotSupported(
                f"{kernel}: argument {index}{name}: {capabilities.device} takes no {each.scalar.name} arguments; "
                f"{instead}",
                backend=capabilities.backend,
                feature=each.scalar.name,
            )


def with_substitute(
    error: ArgumentError, descriptions: Sequence[ArgumentDescription], capabilities: Capabilities
) -> ArgumentError:
    """The error of a check, saying as well what to pass where no parameter could have the argument's type."""
    index = error.index
    if not capabilities.unsupported_scalars or index is None or not 0 <= index < len(descriptions):
        return error
    scalar = descriptions[index].scalar
    instead = substitute_for(scalar.name, capabilities) if scalar is not None else None
    if scalar is None or instead is None:
        return error
    return type(error)(
        f"{error}. {capabilities.device} takes no {scalar.name} arguments at all; {instead}",
        kernel=error.kernel,
        index=error.index,
        name=error.name,
        expected=error.expected,
        given=error.given,
    )
