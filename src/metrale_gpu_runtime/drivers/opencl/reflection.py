"""A kernel's parameters as the driver tells them, where it was built with argument info.

Source: clGetKernelArgInfo, which says nothing of sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...driver import KernelBinding
from ...errors import DriverError
from ...signature.opencl_types import find_opencl_type, is_object
from .faults import KERNEL_ARG_INFO_NOT_AVAILABLE
from .kernels import ADDRESS_QUALIFIER, NAME, TYPE_NAME, TYPE_QUALIFIER, ClKernel

GLOBAL, LOCAL, CONSTANT = 0x119B, 0x119C, 0x119D
"""CL_KERNEL_ARG_ADDRESS_… (cl.h); private is 0x119E."""

CONST = 1
"""CL_KERNEL_ARG_TYPE_CONST (cl.h)."""

_QUALIFIERS = frozenset({"const", "volatile", "restrict", "__private", "private"})


@dataclass(frozen=True, slots=True)
class ArgumentInfo:
    """One parameter as clGetKernelArgInfo tells it; `type_name` is that of what a pointer points to."""

    index: int
    name: str
    kind: str
    access: str
    type_name: str
    space: str | None = None


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """Size and alignment of a type; `name` is the built-in type that it is another word for, where it is one."""

    nbytes: int
    align: int
    name: str | None = None


def read_arguments(kernel: ClKernel) -> tuple[ArgumentInfo, ...] | None:
    """The parameters of a kernel in order, None where its program has no argument info. Raises DriverError."""
    found = []
    for index in range(kernel.argument_count):
        try:
            space = kernel.argument_number(index, ADDRESS_QUALIFIER)
            qualifiers = kernel.argument_number(index, TYPE_QUALIFIER)
            type_name, name = kernel.argument_text(index, TYPE_NAME), kernel.argument_text(index, NAME)
        except DriverError as error:
            if error.code == KERNEL_ARG_INFO_NOT_AVAILABLE:
                return None
            raise
        found.append(_read(index, name, space, type_name, qualifiers))
    return tuple(found)


def _read(index: int, name: str, space: int, type_name: str, qualifiers: int) -> ArgumentInfo:
    pointee = type_name[:-1].rstrip() if type_name.endswith("*") else type_name
    if space == LOCAL:
        return ArgumentInfo(index, name, "local", "read-write", _plain(pointee))
    # An image lies in global memory, too, and is no pointer.
    if space in (GLOBAL, CONSTANT) and type_name.endswith("*"):
        access = "read" if space == CONSTANT or qualifiers & CONST else "read-write"
        return ArgumentInfo(
            index, name, "pointer", access, _plain(pointee), "constant" if space == CONSTANT else "global"
        )
    return ArgumentInfo(index, name, "value", "read", _plain(type_name))


def _plain(type_name: str) -> str:
    """A type without its qualifiers, and under the one name that OpenCL C has for it where it is of OpenCL C."""
    plain = " ".join(word for word in type_name.split() if word not in _QUALIFIERS)
    known = find_opencl_type(plain)
    return known.name if known is not None else plain


def built_in(type_name: str) -> TypeFacts | None:
    """Size and alignment of one of OpenCL C's own types, None for other types."""
    known = find_opencl_type(type_name)
    return TypeFacts(known.nbytes, known.align, known.name) if known is not None else None


def unknown_types(arguments: Iterable[ArgumentInfo]) -> tuple[str, ...]:
    """The names of types whose size only the compiler knows: structures and other words for types."""
    names = [each.type_name for each in arguments if each.type_name != "void" and not each.type_name.endswith("*")]
    return tuple(dict.fromkeys(name for name in names if built_in(name) is None and not is_object(name)))


def kernel_bindings(arguments: Iterable[ArgumentInfo], probed: Mapping[str, TypeFacts]) -> tuple[KernelBinding, ...]:
    """The parameters with the sizes of their types; other words for built-in types replaced by those."""
    bound = []
    for each in arguments:
        facts = built_in(each.type_name) or probed.get(each.type_name)
        bound.append(
            KernelBinding(
                kind=each.kind,
                index=each.index,
                name=each.name,
                access=each.access,
                nbytes=facts.nbytes if facts is not None else None,
                align=facts.align if facts is not None else None,
                space=each.space,
                type_name=(facts.name if facts is not None else None) or each.type_name,
            )
        )
    return tuple(bound)
