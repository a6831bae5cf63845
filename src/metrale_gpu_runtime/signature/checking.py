"""The check of an argument list against what is known of the parameters, and the layout that comes of it."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import (
    ArgumentCountError,
    ArgumentError,
    ArgumentKindError,
    ArgumentSizeError,
    ElementTypeError,
)
from ..layout import ArgumentKind, ArgumentLayout
from ..scalars import ScalarType, bf16, u16
from .c_types import POINTER_NBYTES, CType, same_element
from .named_types import find_named_type
from .parameter import MANY, OPENCL_INFO, SPIRV, ArgumentDescription, Parameter


def check(
    kernel: str, parameters: Sequence[Parameter] | None, arguments: Sequence[ArgumentDescription]
) -> ArgumentLayout:
    """See KernelSignature.check."""
    if parameters is not None:
        if len(parameters) != len(arguments):
            raise count_error(kernel, parameters, len(arguments))
        for parameter, argument in zip(parameters, arguments, strict=True):
            _Place(kernel, parameter).check(argument)
    for index, argument in enumerate(arguments):
        if argument.nbytes < 1:
            raise ArgumentSizeError(
                f"{kernel}: argument {index} has 0 bytes; no kernel parameter has (an empty C++ structure has 1)",
                kernel=kernel,
                index=index,
                expected="at least 1 byte",
                given=argument.nbytes,
            )
    return _layout(parameters, arguments)


def count_error(kernel: str, parameters: Sequence[Parameter], given: int, more: bool = False) -> ArgumentCountError:
    """The error for a list of the wrong length."""
    listed = f" ({', '.join(str(each) for each in parameters)})" if parameters else ""
    noun = "argument" if len(parameters) == 1 else "arguments"
    return ArgumentCountError(
        f"{kernel} expects {len(parameters)} {noun}{listed}, got {'at least ' if more else ''}{given}"
        f"{local_advice(parameters) if given < len(parameters) else ''}",
        kernel=kernel,
        expected=len(parameters),
        given=given,
    )


def local_advice(parameters: Sequence[Parameter]) -> str:
    """How local memory is given, for an error about missing arguments; empty for a kernel that takes none."""
    names = [each.label for each in parameters if each.space == "local"]
    if not names:
        return ""
    if len(names) == 1:
        either = ", or leave it out and use .shared_mem(nbytes)"
    elif any(each.source in _OPENCL for each in parameters):
        either = f"; .shared_mem(nbytes) stands for {names[-1]}"
    else:
        either = f"; .shared_mem(nbytes) stands for {names[0]} (on OpenCL for {names[-1]})"
    return f". Local memory ({', '.join(names)}) is given by arg_local(nbytes){either}"


# OpenCL C has no bfloat16: its bits are what a ushort holds.
_OPENCL = (OPENCL_INFO, SPIRV)


class _Place:
    """One parameter with the words for an error about it."""

    def __init__(self, kernel: str, parameter: Parameter) -> None:
        self.kernel, self.parameter = kernel, parameter

    def check(self, argument: ArgumentDescription) -> None:
        if self.parameter.unfillable is not None:
            raise self._refuse(ArgumentKindError, argument, self.parameter.unfillable)
        if argument.kind == "local":
            self._check_local(argument)
        elif argument.kind == "pointer":
            self._check_pointer(argument)
        else:
            self._check_value(argument)

    def _check_local(self, argument: ArgumentDescription) -> None:
        known = self.parameter
        if known.space == "local" or (known.kind is None and known.nbytes is None):
            return
        raise self._refuse(ArgumentKindError, argument, "it is no local memory; dynamic shared memory is shared_mem")

    def _check_pointer(self, argument: ArgumentDescription) -> None:
        known = self.parameter
        if known.space == "local":
            raise self._refuse(ArgumentKindError, argument, "it is local memory: use arg_local with its bytes")
        if known.by_reference is not None:
            self._check_element(argument)
            return
        if known.kind == "value" or known.floating is True:
            number = " (its number is ptr.address)" if known.nbytes == POINTER_NBYTES else ""
            raise self._refuse(ArgumentKindError, argument, f"it is a value, not a pointer: {remedy(known)}{number}")
        if known.nbytes not in (None, POINTER_NBYTES):
            raise self._refuse(ArgumentSizeError, argument, f"a pointer has {POINTER_NBYTES} bytes: {remedy(known)}")
        self._check_element(argument)

    def _check_element(self, argument: ArgumentDescription) -> None:
        known = self.parameter
        if known.element is None or argument.element is None or self._is_bfloat(known.element, argument.element):
            return
        if not same_element(known.element, argument.element, known.element_name):
            declared = known.element_name or known.element.name
            raise self._refuse(
                ElementTypeError,
                argument,
                f"its elements are {declared} ({known.element.name}), not {argument.element.name}: convert the array "
                f"to {known.element.name}, or pass its bare address (array.ptr) to reinterpret it",
                expected=known.element.name,
                given=argument.element.name,
            )

    def _check_value(self, argument: ArgumentDescription) -> None:
        known = self.parameter
        if known.kind == "pointer":
            way = "arg_local with its bytes" if known.space == "local" else "arg_ptr, or a buffer or DevicePtr"
            raise self._refuse(ArgumentKindError, argument, f"it is a pointer: use {way}")
        if known.nbytes is not None and not _has_size(known, known.nbytes, argument):
            multiple = ", or a whole multiple," if known.by_reference == MANY else ""
            raise self._refuse(
                ArgumentSizeError,
                argument,
                f"{_bytes(known.nbytes)}{multiple} expected, {argument.nbytes} given: {remedy(known)}",
                expected=known.nbytes,
                given=argument.nbytes,
            )
        if argument.scalar is not None:
            self._check_scalar(argument, argument.scalar)
        elif argument.align is not None and known.align is not None:
            self._check_alignment(argument, argument.align, known.align)

    def _check_scalar(self, argument: ArgumentDescription, given: ScalarType) -> None:
        readings = self.parameter.readings()
        if readings is None:
            self._check_vector(argument, given)
            return
        if given in readings or self._is_bfloat(readings[0], given):
            return
        wanted = readings[0]
        if wanted.kind == given.kind == "float":
            reason = f"{wanted.name} and {given.name} have other bits for the same number"
        elif wanted.is_integer and given.is_integer:
            reason = f"it is {'signed' if wanted.kind == 'signed' else 'unsigned'}"
        else:
            words = {"signed": "an integer", "unsigned": "an integer", "bool": "a bool", "complex": "a complex number"}
            reason = f"it is {words.get(wanted.kind, 'a float')}, not {words.get(given.kind, 'a float')}"
        raise self._refuse(
            ArgumentKindError,
            argument,
            f"{reason}: {remedy(self.parameter)}",
            expected=" or ".join(each.name for each in readings),
            given=given.name,
        )

    def _is_bfloat(self, declared: ScalarType, given: ScalarType) -> bool:
        return given == bf16 and declared == u16 and self.parameter.source in _OPENCL

    def _check_vector(self, argument: ArgumentDescription, given: ScalarType) -> None:
        # A number of a vector's size is not its components; the complex number of two components is.
        vector = _vector_of(self.parameter)
        if vector is None or given in vector.whole:
            return
        assert vector.element is not None
        ways = [f"arg_{each.name} (mg.{each!r} in the short form)" for each in vector.whole]
        raise self._refuse(
            ArgumentKindError,
            argument,
            f"it is {vector.lanes} {vector.element.name} by value, not a number: use "
            + ", or ".join([*ways, f"arg_struct or arg_bytes with {_bytes(vector.nbytes)}"]),
            expected=vector.name,
            given=given.name,
        )

    def _check_alignment(self, argument: ArgumentDescription, given: int, declared: int) -> None:
        # Bytes that ask for less than the parameter has were made for another type. A structure's alignment follows
        # from its fields: the kernel's may be over-aligned (alignas), but cannot be under-aligned by the same fields.
        if given < declared and not argument.structured:
            problem = f"alignment {declared} expected, {given} given: use align={declared}, or leave it out"
        elif given > declared and argument.structured:
            problem = f"its fields want alignment {given}, the parameter has {declared}: the fields are not the same"
        else:
            return
        raise self._refuse(ArgumentSizeError, argument, problem, expected=declared, given=given)

    def _refuse(
        self,
        error: type[ArgumentError],
        argument: ArgumentDescription,
        reason: str,
        *,
        expected: object = None,
        given: object = None,
    ) -> ArgumentError:
        known = self.parameter
        name = f" ({known.name})" if known.name is not None else ""
        source = f" by {known.source}" if known.source and known.source != "declared" else ""
        return error(
            f"{self.kernel}: argument {known.index}{name} is declared `{known}`{source}, given {argument}; {reason}",
            kernel=self.kernel,
            index=known.index,
            name=known.name,
            expected=expected if expected is not None else str(known),
            given=given if given is not None else str(argument),
        )


def _has_size(parameter: Parameter, nbytes: int, argument: ArgumentDescription) -> bool:
    if parameter.by_reference == MANY and argument.opaque:
        return argument.nbytes >= nbytes and argument.nbytes % nbytes == 0
    return argument.nbytes == nbytes


def _vector_of(parameter: Parameter) -> CType | None:
    """The vector, or whatever else is made of equal scalars, that a value of this parameter is."""
    spelling = parameter.c_type if parameter.by_reference is None else parameter.element_name
    if spelling is None or parameter.scalar is not None:
        return None
    # The words in front say where it lies, or that it is constant.
    for word in ("const ", "uniform ", "immediate "):
        spelling = spelling.removeprefix(word)
    named = find_named_type(spelling, parameter.source)
    return named if named is not None and named.scalar is None and named.element is not None else None


def remedy(parameter: Parameter) -> str:
    """What to write instead, for this parameter."""
    if parameter.kind == "pointer":
        return "use arg_ptr"
    if parameter.by_reference is not None:
        return f"{_remedy_of_value(parameter)}, or arg_ptr with memory that holds it"
    return _remedy_of_value(parameter)


def _remedy_of_value(parameter: Parameter) -> str:
    readings = parameter.readings()
    if readings is not None:
        return " or ".join(f"use arg_{each.name} (mg.{each!r} in the short form)" for each in readings).replace(
            "or use", "or"
        )
    if parameter.nbytes is None:
        return "give a value of its type"
    if parameter.kind is None and parameter.nbytes == POINTER_NBYTES and parameter.by_reference is None:
        return "use arg_ptr, or arg_u64, arg_i64 or arg_f64 for a value"
    wanted = f"use arg_struct or arg_bytes with {_bytes(parameter.nbytes)}, or the arg_ method of its type"
    return f"{wanted}; in the short form its bytes, as array.tobytes() gives them"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def _layout(parameters: Sequence[Parameter] | None, arguments: Sequence[ArgumentDescription]) -> ArgumentLayout:
    kinds, offsets, alignments = [], [], []
    end = 0
    for index, argument in enumerate(arguments):
        parameter = parameters[index] if parameters is not None else None
        kind = ArgumentKind(argument.kind)
        align = _alignment(parameter, argument)
        offset = parameter.offset if parameter is not None else None
        if kind is ArgumentKind.LOCAL:
            offset, align = end, 1
        elif offset is None:
            offset = -(-end // align) * align
        if kind is not ArgumentKind.LOCAL:
            end = offset + argument.nbytes
        kinds.append(kind)
        offsets.append(offset)
        alignments.append(align)
    sizes = tuple(argument.nbytes for argument in arguments)
    return ArgumentLayout(tuple(kinds), tuple(offsets), sizes, tuple(alignments), end)


def _alignment(parameter: Parameter | None, argument: ArgumentDescription) -> int:
    """The parameter's alignment, else the argument's own, else that of a scalar of its size and 8 for the rest."""
    if argument.kind == "pointer" and parameter is not None and parameter.by_reference is not None:
        # The parameter's size and alignment are those of what the pointer points to.
        return POINTER_NBYTES
    if parameter is not None and parameter.align is not None:
        return parameter.align
    if argument.align is not None:
        return argument.align
    return argument.nbytes if argument.nbytes in (1, 2, 4, 8) else 8
