"""What the launch core calls the kinds of arguments: one byte for each, so that equal lists are known at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from .arguments import Argument
from .memory.allocation import Allocation
from .memory.pointers import PointerValue
from .scalars import SCALAR_CODES
from .signature import ArgumentDescription, KernelSignature, Parameter

NO_CODE = 0
_SCALARS = {code: each for each, code in SCALAR_CODES.items()}
_INTEGERS = {1: 24, 2: 25, 4: 26, 8: 27}
"""Integers whose sign nobody knows, by their bytes: such a number fits both readings."""
_INTEGER_NBYTES = {code: nbytes for nbytes, code in _INTEGERS.items()}
POINTER = 32
"""An untyped pointer; with the code of its elements added, a pointer to those."""


def codes_of(descriptions: Sequence[ArgumentDescription]) -> bytes | None:
    """The codes of an argument list, None where one has none: structures, bytes, local memory."""
    codes = [code_of(each) for each in descriptions]
    return bytes(codes) if NO_CODE not in codes else None


def code_of(description: ArgumentDescription) -> int:
    """The code of one argument, NO_CODE where it has none."""
    if description.kind == "pointer":
        return POINTER + (SCALAR_CODES[description.element] if description.element is not None else 0)
    if description.kind != "value" or description.opaque or description.structured:
        return NO_CODE
    if description.scalar is not None:
        return SCALAR_CODES[description.scalar]
    return _INTEGERS.get(description.nbytes, NO_CODE)


def argument_of(code: int, data: bytes, allocation: Allocation | None, name: str | None = None) -> Argument:
    """The argument that the launch core read as so many bytes; `name` is the parameter's where it was read for one."""
    if code in _INTEGER_NBYTES:
        nbytes = _INTEGER_NBYTES[code]
        return Argument(ArgumentDescription("value", nbytes=nbytes, align=nbytes, name=name), data)
    if code < POINTER:
        return Argument(ArgumentDescription.of_scalar(_SCALARS[code], name), data)
    element = _SCALARS[code - POINTER] if code > POINTER else None
    address = int.from_bytes(data, "little")
    behind = allocation.base + allocation.nbytes - address if allocation is not None else 0
    pointer = PointerValue(address, allocation, behind, element)
    return Argument(ArgumentDescription.of_pointer(element, name), data, pointer=pointer)


def specs_of(signature: KernelSignature) -> bytes | None:
    """The code that a bare number takes in each place, NO_CODE where it is refused; None where nothing is known."""
    if signature.parameters is None:
        return None
    return bytes(_spec_of(each) for each in signature.parameters)


def _spec_of(parameter: Parameter) -> int:
    if parameter.kind == "pointer" and parameter.space != "local":
        return POINTER
    if parameter.kind != "value" or parameter.by_reference is not None:
        return NO_CODE
    readings = parameter.readings()
    if readings is None:
        return NO_CODE
    if len(readings) == 1:
        return SCALAR_CODES[readings[0]]
    if len(readings) == 2 and all(each.is_integer for each in readings):
        return _INTEGERS[readings[0].nbytes]
    return NO_CODE
