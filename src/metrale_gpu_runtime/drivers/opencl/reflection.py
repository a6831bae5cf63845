"""A kernel's parameters as the driver tells them, where it was built with argument info.

Source: clGetKernelArgInfo (which says nothing of sizes), the OpenCL 3.0 C specification, "Built-in Scalar Data Types",
"Built-in Vector Data Types".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...driver import KernelBinding
from ...errors import NotSupported
from .bindings import Bindings
from .faults import KERNEL_ARG_INFO_NOT_AVAILABLE, refused_by

GLOBAL, LOCAL, CONSTANT = 0x119B, 0x119C, 0x119D
"""CL_KERNEL_ARG_ADDRESS_… (cl.h); private is 0x119E."""

CONST = 1
"""CL_KERNEL_ARG_TYPE_CONST (cl.h)."""

_SCALARS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("char", "uchar"), 1),
    **dict.fromkeys(("short", "ushort", "half"), 2),
    **dict.fromkeys(("int", "uint", "float"), 4),
    **dict.fromkeys(("long", "ulong", "double"), 8),
}
_LONG_NAMES: Final[Mapping[str, str]] = {
    "signed char": "char",
    "unsigned char": "uchar",
    "signed short": "short",
    "unsigned short": "ushort",
    "signed int": "int",
    "unsigned int": "uint",
    "unsigned": "uint",
    "signed long": "long",
    "unsigned long": "ulong",
}
_BUILT_IN: Final = re.compile(r"([a-z]+?)(2|3|4|8|16)?")
_UNBINDABLE: Final = re.compile(r"(?:image\w*_t|sampler_t|queue_t|clk_event_t|reserve_id_t|ndrange_t)\b|\bpipe\b")


@dataclass(frozen=True, slots=True)
class ArgumentInfo:
    """One parameter as clGetKernelArgInfo tells it; `type_name` is that of what a pointer points to."""

    index: int
    name: str
    kind: str
    access: str
    type_name: str


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """Size and alignment of a type; `name` is the built-in type that it is another word for, where it is one."""

    nbytes: int
    align: int
    name: str | None = None


def read_arguments(bindings: Bindings, kernel: Any, *, module: str, name: str) -> tuple[ArgumentInfo, ...] | None:
    """The parameters of a cl_kernel in order, None where the program has no argument info.

    Raises NotSupported for an image, a sampler or a pipe.
    """
    cl = bindings.cl
    info = cl.kernel_arg_info
    found = []
    for index in range(int(kernel.num_args)):
        try:
            space = int(kernel.get_arg_info(index, info.ADDRESS_QUALIFIER))
            type_name = str(kernel.get_arg_info(index, info.TYPE_NAME)).strip("\0 ")
            qualifiers = int(kernel.get_arg_info(index, info.TYPE_QUALIFIER))
            parameter = str(kernel.get_arg_info(index, info.NAME)).strip("\0 ")
        except cl.Error as error:
            if int(error.code) == KERNEL_ARG_INFO_NOT_AVAILABLE:
                return None
            raise refused_by(bindings, error, f"parameter {index} of {name}") from error
        if _UNBINDABLE.search(type_name):
            raise NotSupported(
                f"module {module!r}: kernel {name} takes {type_name} {parameter}; there are arguments for memory, "
                "values and local memory only. Read the pixels from a buffer",
                backend="opencl",
                feature=type_name,
            )
        found.append(_read(index, parameter, space, type_name, qualifiers))
    return tuple(found)


def _read(index: int, name: str, space: int, type_name: str, qualifiers: int) -> ArgumentInfo:
    pointee = type_name[:-1].rstrip() if type_name.endswith("*") else type_name
    if space == LOCAL:
        return ArgumentInfo(index, name, "local", "read-write", canonical(pointee))
    if space in (GLOBAL, CONSTANT):
        access = "read" if space == CONSTANT or qualifiers & CONST else "read-write"
        return ArgumentInfo(index, name, "pointer", access, canonical(pointee))
    return ArgumentInfo(index, name, "value", "read", canonical(type_name))


def canonical(type_name: str) -> str:
    """A type under the one name that OpenCL C has for it."""
    words = [word for word in type_name.split() if word not in ("const", "volatile", "restrict", "__private")]
    plain = " ".join(words)
    return _LONG_NAMES.get(plain, plain)


def built_in(type_name: str) -> TypeFacts | None:
    """Size and alignment of a scalar or a vector, None for other types. A vector of 3 is as large as one of 4."""
    match = _BUILT_IN.fullmatch(type_name)
    if match is None or match[1] not in _SCALARS:
        return None
    lanes = int(match[2] or 1)
    nbytes = _SCALARS[match[1]] * (4 if lanes == 3 else lanes)
    return TypeFacts(nbytes, nbytes, type_name)


def unknown_types(arguments: Iterable[ArgumentInfo]) -> tuple[str, ...]:
    """The names of types whose size only the compiler knows: structures and other words for types."""
    names = [each.type_name for each in arguments if each.type_name != "void" and not each.type_name.endswith("*")]
    return tuple(dict.fromkeys(name for name in names if built_in(name) is None))


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
                type_name=(facts.name if facts is not None else None) or each.type_name,
            )
        )
    return tuple(bound)
