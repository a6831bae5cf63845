"""What the metadata of an AMD code object tells of a kernel's parameters: places and sizes, and which are pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .c_types import CType, find_c_type, parameter_of_pointer, parameter_of_value
from .kernel_signature import KernelSignature
from .parameter import CODE_OBJECT, Parameter

if TYPE_CHECKING:
    from ..code_objects import CodeObjectArgument, CodeObjectKernel

_BY_VALUE: Final = "by_value"


def from_code_object(kernel: CodeObjectKernel) -> KernelSignature:
    """Offsets and sizes of the arguments that a caller gives, and which are pointers; the hidden ones are left out.

    Names and types where the compiler wrote them, which clang does for OpenCL C and not for HIP.
    """
    parameters = tuple(_parameter(index, each) for index, each in enumerate(kernel.given_arguments))
    return KernelSignature(kernel.name, parameters, (CODE_OBJECT,))


def _parameter(index: int, argument: CodeObjectArgument) -> Parameter:
    if argument.type_name is not None:
        typed = _typed(index, argument, argument.type_name)
        # A type's name is worth what its size confirms: a structure may be called as one of ours is.
        if typed is not None and typed.nbytes == argument.nbytes:
            return typed
    is_value = argument.value_kind == _BY_VALUE
    return Parameter(
        index,
        argument.name,
        nbytes=argument.nbytes,
        offset=argument.offset,
        kind="value" if is_value else "pointer",
        floating=None if is_value else False,
        constant=argument.is_const,
        space=_space(argument),
        source=CODE_OBJECT,
    )


def _typed(index: int, argument: CodeObjectArgument, type_name: str) -> Parameter | None:
    if argument.value_kind == _BY_VALUE:
        known = find_c_type(type_name)
        if known is None:
            return None
        return parameter_of_value(index, known, source=CODE_OBJECT, name=argument.name, offset=argument.offset)
    if not type_name.endswith("*"):
        return None
    pointee_name = type_name[:-1].strip()
    pointee: CType | None = find_c_type(pointee_name)
    return parameter_of_pointer(
        index,
        pointee,
        pointee_name,
        source=CODE_OBJECT,
        name=argument.name,
        offset=argument.offset,
        constant=bool(argument.is_const),
        space=_space(argument),
    )


def _space(argument: CodeObjectArgument) -> str | None:
    if argument.value_kind == "dynamic_shared_pointer":
        return "shared"
    return argument.address_space if argument.address_space != "generic" else None
