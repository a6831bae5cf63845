"""From what a caller gives to what a launch carries: one Argument per value, checked where it was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from .args import KernelArg
from .errors import (
    ArgumentError,
    ArgumentKindError,
    ArgumentRangeError,
    ArgumentSizeError,
    ForeignHandle,
    InvalidPointer,
    NotSupported,
    ScalarRefused,
)
from .handles import DevicePtr
from .lending import HostArgument
from .scalars import Scalar, ScalarType, scalar_of
from .signature import ONE, ArgumentDescription, KernelSignature, Parameter
from .slots import Slot
from .structs import is_struct, struct_bytes
from .whole_numbers import is_index

if TYPE_CHECKING:
    from .backend import GpuBackend, PointerValue
    from .lending import HostLoan

_POINTER_NBYTES = 8


@dataclass(slots=True, eq=False)
class Argument:
    """One argument of a launch: what kind it is, its bytes, and what must stay alive for it.

    `data` are the bytes that go into the image (an address for a pointer, none for local memory); a slot has zeros
    until it is set.
    """

    description: ArgumentDescription
    data: bytes
    pointer: PointerValue | None = None
    slot: Slot | None = None
    loan: HostLoan | None = None

    def __str__(self) -> str:
        if self.slot is not None:
            return repr(self.slot)
        if self.loan is not None:
            return repr(self.loan)
        return describe(self.description, self.data)


class HoldingValue:
    """Bytes passed by value that refer to memory and hold it, made for one backend: a TensorMap is one."""

    __slots__ = ("_align", "_data", "_gpu", "_pointer")

    def __init__(self, gpu: GpuBackend, data: bytes, align: int, pointer: PointerValue) -> None:
        self._gpu, self._data, self._align, self._pointer = gpu, data, align, pointer

    def as_argument(self, gpu: GpuBackend, *, kernel: str, index: int, name: str | None = None) -> Argument:
        """Itself as an argument of a launch on `gpu`. Raises ForeignHandle for another backend, InvalidPointer when
        the memory is gone."""
        if gpu is not self._gpu:
            here, there = gpu.capabilities, self._gpu.capabilities
            raise ForeignHandle(
                f"{kernel}: argument {index}: {self!r} was made on {there.device} ({there.backend}), the launch is for "
                f"{here.device} ({here.backend}); make one there"
            )
        try:
            self._pointer.check_alive()
        except InvalidPointer as error:
            raise named_pointer_error(error, kernel, f"argument {index}{f' ({name})' if name else ''}") from None
        description = ArgumentDescription("value", nbytes=len(self._data), align=self._align, name=name, opaque=True)
        return Argument(description, self._data, pointer=self._pointer)


def named_pointer_error(error: InvalidPointer, kernel: str, place: str) -> InvalidPointer:
    """The error for a launch whose memory is gone: whose launch it is, and where the memory stands in it."""
    return InvalidPointer(f"{kernel}: {place}: {error}", address=error.address, nbytes=error.nbytes)


def describe(description: ArgumentDescription, data: bytes) -> str:
    """An argument as text, from its bytes: `ptr 0x7f00`, `u32 5`, `24 bytes`."""
    if description.kind == "pointer":
        return f"ptr {int.from_bytes(data, 'little'):#x}"
    if description.kind == "local":
        return f"local {description.nbytes} bytes"
    if description.scalar is not None:
        return f"{description.scalar.name} {Scalar(description.scalar, data).value}"
    if not description.opaque:
        return f"int {int.from_bytes(data, 'little')}"
    return f"{len(data)} bytes"


def refuse(refused: ScalarRefused, kernel: str, index: int, name: str | None) -> NoReturn:
    """Raise what a scalar encoder refused as an error of this argument."""
    where = f"{kernel}: argument {index}" + (f" ({name})" if name else "")
    error = ArgumentRangeError if refused.reason == "range" else ArgumentKindError
    raise error(
        f"{where}: {refused.message}",
        kernel=kernel,
        index=index,
        name=name,
        expected=refused.expected,
        given=refused.given,
    ) from None


def scalar_argument(
    type: ScalarType, value: object, *, kernel: str, index: int, name: str | None = None, exact: bool = False
) -> Argument:
    """A value of a stated scalar type. Raises ArgumentRangeError or ArgumentKindError where it does not fit."""
    if isinstance(value, Slot):
        return slot_argument(value, type, kernel=kernel, index=index, name=name)
    try:
        data = type.encode(value, exact=exact)
    except ScalarRefused as refused:
        refuse(refused, kernel, index, name)
    return Argument(ArgumentDescription.of_scalar(type, name), data)


def slot_argument(
    slot: Slot, type: ScalarType | str | None, *, kernel: str, index: int, name: str | None = None
) -> Argument:
    """A hole whose type is that of its place; one that states another type is refused."""
    if slot.is_grid:
        raise ArgumentKindError(
            f"{kernel}: argument {index}: {slot!r} stands for a grid axis, not for an argument; "
            'give it a scalar type or "ptr"',
            kernel=kernel,
            index=index,
            name=name,
            expected="an argument",
            given="a grid axis",
        )
    wanted = type if type is not None else slot.type
    if wanted is None:
        raise ArgumentKindError(
            f"{kernel}: argument {index}: the type of {slot!r} is not known here; say it: slot({slot.name!r}, mg.u32)",
            kernel=kernel,
            index=index,
            name=name,
            expected="a type",
            given=None,
        )
    if slot.type is not None and slot.type != wanted:
        raise ArgumentKindError(
            f"{kernel}: argument {index}: {slot!r} stands where "
            f"{wanted.name if isinstance(wanted, ScalarType) else 'a pointer'} is wanted",
            kernel=kernel,
            index=index,
            name=name,
            expected=wanted,
            given=slot.type,
        )
    typed = Slot(slot.name, wanted)
    if isinstance(wanted, ScalarType):
        return Argument(ArgumentDescription.of_scalar(wanted, name), bytes(wanted.nbytes), slot=typed)
    return Argument(ArgumentDescription.of_pointer(None, name), bytes(_POINTER_NBYTES), slot=typed)


def pointer_argument(
    gpu: GpuBackend,
    value: object,
    *,
    kernel: str,
    index: int,
    name: str | None = None,
    signature: KernelSignature | None = None,
) -> Argument:
    """A device pointer, buffer, foreign device array or None (null); host arrays only where the backend takes them.

    Raises ForeignHandle, InvalidPointer, ArgumentKindError for what is no pointer at all, NotSupported for null where
    the device takes none and `signature` knows no value there, for which null is no pointer but a mistake.
    """
    own = gpu.find_own(value)
    if own is not None:
        return _address_argument(own, name)
    if isinstance(value, Slot):
        return slot_argument(value, "ptr", kernel=kernel, index=index, name=name)
    what = f"{kernel}: argument {index}" + (f" ({name})" if name else "")
    try:
        if isinstance(value, HostArgument):
            loan = value.lend(gpu, what)
            if not loan.nbytes and not _is_no_pointer(signature, index):
                _check_null(gpu, value, what)
            return Argument(ArgumentDescription.of_pointer(loan.element, name), bytes(_POINTER_NBYTES), loan=loan)
        pointer = gpu.resolve_pointer(value, what=what)
    except ArgumentError as error:
        # Which argument of which kernel it was is known only here.
        error.kernel, error.index, error.name = kernel, index, name
        raise
    if not pointer.address and not _is_no_pointer(signature, index):
        _check_null(gpu, value, what)
    return _address_argument(pointer, name)


def _address_argument(pointer: PointerValue, name: str | None) -> Argument:
    description = ArgumentDescription.of_pointer(pointer.element, name)
    return Argument(description, pointer.address.to_bytes(_POINTER_NBYTES, "little"), pointer)


def _is_no_pointer(signature: KernelSignature | None, index: int) -> bool:
    """Whether a value or local memory is declared here: the check against the signature says so of any pointer."""
    parameter = signature.parameter(index) if signature is not None else None
    return parameter is not None and (parameter.kind == "value" or parameter.space == "local")


def _check_null(gpu: GpuBackend, value: object, what: str) -> None:
    """Raise NotSupported for null, or memory of no bytes, which has no address, where a pointer cannot be null."""
    capabilities = gpu.capabilities
    if capabilities.null_pointers:
        return
    given = "a null pointer" if value is None or isinstance(value, DevicePtr) else f"{type(value).__name__} of 0 bytes"
    remedy = "give a small buffer that the kernel leaves alone"
    if capabilities.function_constants:
        remedy += ", or leave the parameter out by a function constant (gpu.kernel(…, constants={…}))"
    raise NotSupported(
        f"{what}: {given}: {capabilities.device} binds a buffer to every pointer parameter, and null is none; {remedy}",
        backend=capabilities.backend,
        feature="null pointers",
    )


def bytes_argument(
    value: object,
    *,
    kernel: str,
    index: int,
    align: int | None = None,
    nbytes: int | None = None,
    name: str | None = None,
) -> Argument:
    """Opaque bytes by value. `align` is a power of two (None: whatever the parameter declares)."""
    try:
        data = bytes(memoryview(value))  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentKindError(
            f"{kernel}: argument {index}: {type(value).__name__} has no bytes; give bytes, a bytearray or a memoryview",
            kernel=kernel,
            index=index,
            name=name,
            expected="bytes",
            given=type(value).__name__,
        ) from None
    if nbytes is not None and len(data) != nbytes:
        raise ArgumentSizeError(
            f"{kernel}: argument {index}: {nbytes} bytes are wanted, {len(data)} were given",
            kernel=kernel,
            index=index,
            name=name,
            expected=nbytes,
            given=len(data),
        )
    if align is not None and (
        isinstance(align, bool) or not isinstance(align, int) or align <= 0 or align & (align - 1)
    ):
        raise ArgumentSizeError(
            f"{kernel}: argument {index}: alignment {align!r} is no power of two",
            kernel=kernel,
            index=index,
            name=name,
            expected="a power of two",
            given=align,
        )
    return Argument(ArgumentDescription("value", nbytes=len(data), align=align, name=name, opaque=True), data)


def struct_argument(
    value: object, *, kernel: str, index: int, packed: bool = False, name: str | None = None
) -> Argument:
    """A NumPy structured scalar or a ctypes structure, in its C layout."""
    try:
        data, align, _ = struct_bytes(value, packed=packed)
    except ScalarRefused as refused:
        refuse(refused, kernel, index, name)
    description = ArgumentDescription("value", nbytes=len(data), align=align, name=name, opaque=True, structured=True)
    return Argument(description, data)


def local_argument(nbytes: int, *, kernel: str, index: int) -> Argument:
    """`nbytes` of local (threadgroup) memory at this position of the parameter list."""
    if not is_index(nbytes) or nbytes.__index__() <= 0:
        raise ArgumentSizeError(
            f"{kernel}: argument {index}: local memory of {nbytes!r} bytes; give a positive whole number",
            kernel=kernel,
            index=index,
            expected="at least 1",
            given=nbytes,
        )
    return Argument(ArgumentDescription("local", nbytes=nbytes.__index__(), align=1), b"")


def argument_from_value(
    gpu: GpuBackend, signature: KernelSignature, index: int, value: object, *, kernel: str
) -> Argument:
    """What the short form does with one value: typed ones keep their type, bare numbers take the parameter's.

    Raises the ArgumentError family; a bare number where the kind of the parameter is not known is refused.
    """
    kind = type(value)
    if kind is int or kind is float or kind is bool:
        data, description = signature.encode(index, value)
        return Argument(description, data)
    parameter = signature.parameter(index)
    name = parameter.name if parameter is not None else None
    own = gpu.find_own(value)
    if own is not None:
        return _address_argument(own, name)
    if isinstance(value, Slot):
        return slot_argument(value, _place_type(parameter, value), kernel=kernel, index=index, name=name)
    if isinstance(value, ScalarType):
        raise ArgumentKindError(
            f"{kernel}: argument {index}: {value.name} is a type, not a value; write mg.{value.name}(…)",
            kernel=kernel,
            index=index,
            name=name,
            expected="a value",
            given=value.name,
        )
    if isinstance(value, Scalar):
        return Argument(ArgumentDescription.of_scalar(value.type, name), value.data)
    if isinstance(value, (bool, int, float, complex)):
        data, description = signature.encode(index, value)
        return Argument(description, data)
    is_pointer_place = parameter is not None and parameter.kind == "pointer" and parameter.space != "local"
    if value is None or isinstance(value, DevicePtr) or is_pointer_place:
        return pointer_argument(gpu, value, kernel=kernel, index=index, name=name, signature=signature)
    scalar = scalar_of(value)
    if scalar is not None:
        return Argument(ArgumentDescription.of_scalar(scalar.type, name), scalar.data)
    if is_struct(value):
        return struct_argument(value, kernel=kernel, index=index, name=name)
    if isinstance(value, (bytes, bytearray)):
        return bytes_argument(value, kernel=kernel, index=index, name=name)
    if isinstance(value, HoldingValue):
        return value.as_argument(gpu, kernel=kernel, index=index, name=name)
    if isinstance(value, KernelArg.Local):
        return local_argument(value.nbytes, kernel=kernel, index=index)
    try:
        return pointer_argument(gpu, value, kernel=kernel, index=index, name=name, signature=signature)
    except ArgumentKindError:
        if parameter is None or parameter.kind != "value" or parameter.space == "local":
            raise
    # Where a value is declared, that it is no device address either is no help.
    if parameter.scalar is not None:
        return scalar_argument(parameter.scalar, value, kernel=kernel, index=index, name=name)
    data, description = signature.encode(index, value)
    return Argument(description, data)


def encoder_of(
    gpu: GpuBackend, argument: Argument, *, kernel: str, index: int, signature: KernelSignature
) -> Callable[[object], Argument]:
    """How a prepared launch reads a new value for this argument: of the same kind and type as the first one."""
    description = argument.description
    name = description.name
    scalar = description.scalar
    if description.kind == "pointer":
        return lambda value: pointer_argument(gpu, value, kernel=kernel, index=index, name=name)
    if scalar is not None:

        def encode_scalar(value: object) -> Argument:
            if type(value) is int or type(value) is float:
                return scalar_argument(scalar, value, kernel=kernel, index=index, name=name)
            typed = value if isinstance(value, Scalar) else scalar_of(value)
            if typed is not None and typed.type == scalar:
                return Argument(description, typed.data)
            if isinstance(value, Scalar):
                raise ArgumentKindError(
                    f"{kernel}: argument {index}: prepared with {scalar.name}, given {value.type.name}; give "
                    f"mg.{scalar.name}(…) or a number without a type, or prepare it anew",
                    kernel=kernel,
                    index=index,
                    name=name,
                    expected=scalar.name,
                    given=value.type.name,
                )
            return scalar_argument(scalar, value, kernel=kernel, index=index, name=name)

        return encode_scalar
    return lambda value: argument_from_value(gpu, signature, index, value, kernel=kernel)


def _place_type(parameter: Parameter | None, slot: Slot) -> ScalarType | str | None:
    if parameter is None:
        return None
    if parameter.by_reference is not None and (slot.type is not None or parameter.by_reference != ONE):
        # A value or memory may stand there: the slot says which.
        return slot.type
    if parameter.kind == "pointer":
        return "ptr"
    return parameter.scalar
