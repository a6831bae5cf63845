"""The signature of a kernel in SPIR-V: sizes, alignments, pointers and floats; signs where a translator left types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bindings import LOCAL, local_parameter
from .c_types import CType, parameter_of_pointer, parameter_of_value
from .kernel_signature import KernelSignature
from .opencl_types import find_opencl_type
from .parameter import SPIRV, Parameter

if TYPE_CHECKING:
    from ..spirv import SpirvKernel, SpirvParameter


def from_spirv(kernel: SpirvKernel) -> KernelSignature:
    """What a binary tells of a kernel's parameters."""
    return KernelSignature(kernel.name, tuple(_parameter(each) for each in kernel.parameters), (SPIRV,))


def _parameter(read: SpirvParameter) -> Parameter:
    index, name = read.index, read.name
    if read.kind == "object":
        return Parameter(
            index,
            name,
            kind="value",
            c_type=read.type_name,
            source=SPIRV,
            unfillable=f"it is {read.text}, which no argument is; keep what it holds in a buffer",
        )
    if read.kind == "value":
        return _value(read)
    pointee = read.type_name.removesuffix("*").strip() if read.type_name is not None else None
    type = find_opencl_type(pointee) if pointee is not None else _float_type(read)
    if pointee is None and type is None and read.kind == "pointer":
        return Parameter(
            index,
            name,
            8,
            8,
            kind="pointer",
            floating=False,
            constant=bool(read.constant),
            space=read.space,
            source=SPIRV,
        )
    spelled = pointee or (type.name if type is not None else "void")
    if read.kind == LOCAL:
        return local_parameter(index, type, spelled, source=SPIRV, name=name, word="local")
    constant = "const " if read.constant and read.space != "constant" else ""
    return parameter_of_pointer(
        index,
        type,
        spelled,
        source=SPIRV,
        name=name,
        constant=bool(read.constant),
        space=read.space or "global",
        spelling=f"{read.space or 'global'} {constant}{spelled}*",
    )


def _value(read: SpirvParameter) -> Parameter:
    type = find_opencl_type(read.type_name) if read.type_name is not None else None
    if type is None or type.nbytes != read.nbytes:
        type = _float_type(read)
    if type is not None:
        return parameter_of_value(read.index, type, source=SPIRV, name=read.name)
    is_integer = read.width is not None and read.lanes == 1
    return Parameter(
        read.index,
        read.name,
        nbytes=read.nbytes,
        align=read.align,
        kind="value",
        floating=False if is_integer else None,
        c_type=read.type_name,
        source=SPIRV,
    )


def _float_type(read: SpirvParameter) -> CType | None:
    """The type that is made of floats of one kind; integers have a sign, which is not told."""
    if read.element is None or read.nbytes is None or read.align is None:
        return None
    if read.scalar is not None:
        return CType(read.scalar.c_name.lstrip("_"), read.nbytes, read.align, read.scalar, read.scalar)
    word = {2: "half", 4: "float", 8: "double"}.get(read.element.nbytes)
    named = find_opencl_type(f"{word}{read.lanes}") if read.lanes > 1 else None
    return named if named is not None and named.element == read.element else None
