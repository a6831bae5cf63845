"""A value without a type becomes the bytes its parameter wants, or is refused: the short form's rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ..errors import (
    ArgumentKindError,
    ArgumentRangeError,
    ScalarRangeError,
    ScalarRefused,
)
from ..handles import DevicePtr
from ..scalars import ScalarType, boolean, is_struct, scalar_of, shown, struct_bytes
from .checking import count_error, remedy
from .parameter import ArgumentDescription, Parameter


def place(kernel: str, parameters: Sequence[Parameter] | None, index: int) -> Parameter:
    """The parameter there; nothing is known of it where nothing is of any. Raises ArgumentCountError beyond the end."""
    if parameters is None:
        return Parameter(index)
    if index >= len(parameters):
        raise count_error(kernel, parameters, index + 1, more=True)
    return parameters[index]


def encode(
    kernel: str, parameters: Sequence[Parameter] | None, index: int, value: object
) -> tuple[bytes, ArgumentDescription]:
    """See KernelSignature.encode."""
    parameter = place(kernel, parameters, index)
    typed = scalar_of(value)
    if typed is not None:
        return typed.data, ArgumentDescription.of_scalar(typed.type, parameter.name)
    if isinstance(value, DevicePtr):
        return value.address.to_bytes(8, "little"), ArgumentDescription.of_pointer(name=parameter.name)
    if isinstance(value, (bool, int, float, complex)):
        return BarePlace(kernel, parameter).encode(value)
    if is_struct(value):
        try:
            data, align, _ = struct_bytes(value)
        except ScalarRefused as refused:
            _refuse(refused, kernel, parameter)
        return data, ArgumentDescription(
            "value", nbytes=len(data), align=align, name=parameter.name, opaque=True, structured=True
        )
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        return data, ArgumentDescription("value", nbytes=len(data), name=parameter.name, opaque=True)
    raise ArgumentKindError(
        f"{_where(kernel, parameter)} is declared `{parameter}`; a {type(value).__name__} is no argument for it: "
        f"{parameter.unfillable or remedy(parameter)}",
        kernel=kernel,
        index=parameter.index,
        name=parameter.name,
        expected=str(parameter),
        given=type(value).__name__,
    )


class BarePlace:
    """What a number without a type becomes in one place of a kernel: all but the number is decided once."""

    __slots__ = ("_description", "_kernel", "_obstacle", "_parameter", "_readings")

    def __init__(self, kernel: str, parameter: Parameter) -> None:
        self._kernel, self._parameter = kernel, parameter
        self._obstacle = _obstacle(parameter)
        self._readings = parameter.readings() or ()
        if len(self._readings) == 1:
            self._description = ArgumentDescription.of_scalar(self._readings[0], parameter.name)
        elif self._readings:
            # No scalar type is claimed: whoever prepares a launch with this value must come back here with the next.
            one = self._readings[0]
            self._description = ArgumentDescription("value", nbytes=one.nbytes, align=one.align, name=parameter.name)

    def encode(self, value: object) -> tuple[bytes, ArgumentDescription]:
        """Its bytes. Raises ArgumentKindError, ArgumentRangeError."""
        kernel, parameter, readings = self._kernel, self._parameter, self._readings
        if self._obstacle is not None:
            _refuse_kind(kernel, parameter, value, self._obstacle)
        try:
            data = readings[0].encode(value)
            if len(readings) > 1 and any(each.encode(value) != data for each in readings[1:]):
                choices = " or ".join(f"mg.{each!r}" for each in readings)
                _refuse_kind(kernel, parameter, value, f"it may be any of these types; say which: {choices}")
        except ScalarRefused as refused:
            if len(readings) > 1 and isinstance(refused, ScalarRangeError):
                _refuse_sign(kernel, parameter, value, readings)
            _refuse(refused, kernel, parameter)
        return data, self._description


def _obstacle(parameter: Parameter) -> str | None:
    """Why a number without a type is refused there, whatever it is; None where one is taken."""
    if parameter.unfillable is not None:
        return parameter.unfillable
    if parameter.space == "local":
        return "local memory takes a size: mg.KernelArg.Local(nbytes), or arg_local in the builder"
    if parameter.kind == "pointer":
        return "a pointer wants a buffer or a DevicePtr, not a number"
    readings = parameter.readings()
    is_reference = parameter.by_reference is not None
    told = f"{parameter.source} does not tell" if parameter.source else "nothing tells"
    if readings is None:
        if (parameter.kind == "value" or is_reference) and parameter.c_type is not None:
            return f"a number does not say how it fills that: {remedy(parameter)}"
        typed = "mg.u64(n), mg.f64(x), a DevicePtr" if parameter.nbytes == 8 else "mg.i32(n), mg.f32(x)"
        return f"{told} its kind; say the type: {typed}"
    if parameter.kind is None and not is_reference:
        numbers = ", ".join(f"mg.{each!r}(n)" for each in readings)
        return f"{told} a pointer from a value; say the type: {numbers} or a DevicePtr"
    if boolean in readings and len(readings) > 1:
        choices = ", ".join(f"mg.{each!r}" for each in readings)
        return f"{parameter.source} does not tell bool from char; say which: {choices}"
    return None


def _where(kernel: str, parameter: Parameter) -> str:
    return f"{kernel}: argument {parameter.index}" + (f" ({parameter.name})" if parameter.name is not None else "")


def _refuse(refused: ScalarRefused, kernel: str, parameter: Parameter) -> NoReturn:
    error = ArgumentRangeError if refused.reason == "range" else ArgumentKindError
    raise error(
        f"{_where(kernel, parameter)}: {refused.message}",
        kernel=kernel,
        index=parameter.index,
        name=parameter.name,
        expected=refused.expected,
        given=refused.given,
    ) from None


def _refuse_kind(kernel: str, parameter: Parameter, value: object, reason: str) -> NoReturn:
    raise ArgumentKindError(
        f"{_where(kernel, parameter)} is known as `{parameter}`, given {shown(value)}: {reason}",
        kernel=kernel,
        index=parameter.index,
        name=parameter.name,
        expected=str(parameter),
        given=value,
    )


def _refuse_sign(kernel: str, parameter: Parameter, value: object, readings: Sequence[ScalarType]) -> NoReturn:
    low = max(each.lowest for each in readings if each.lowest is not None)
    high = min(each.highest for each in readings if each.highest is not None)
    types = " and ".join(each.c_name for each in readings)
    choices = " or ".join(f"mg.{each!r}(…)" for each in readings)
    raise ArgumentRangeError(
        f"{_where(kernel, parameter)}: {parameter.source} does not tell its sign, so a bare integer must fit {types}, "
        f"{low} to {high}; {shown(value)} does not: say the type with {choices}",
        kernel=kernel,
        index=parameter.index,
        name=parameter.name,
        expected=(low, high),
        given=value,
    )
