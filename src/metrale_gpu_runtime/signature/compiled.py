"""What compiled code tells of its parameters: PTX (sizes, some kinds, few types); cubins, drivers (sizes, offsets)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ..scalars import ScalarType, bf16, f16, f32, f64
from .kernel_signature import KernelSignature
from .parameter import CUBIN, DRIVER, PTX, Parameter

if TYPE_CHECKING:
    from ..ptx.syntax import Function, Variable

_FLOATS: Final[dict[str, ScalarType]] = {"f16": f16, "bf16": bf16, "f32": f32, "f64": f64}
_NUMBERED: Final = re.compile(r"_param_\d+$|^param_?\d+$")


def from_ptx(function: Function) -> KernelSignature:
    """Sizes, alignments and offsets of a kernel's parameters, and the kinds that PTX can tell.

    `.f32` is a float, `.u32` and `.s32` an integer of unknown sign (nvcc writes `.u32` for int as well), `.ptr` a
    pointer; `.u64` may be an integer or a pointer, `.b32` anything of its size, `.u8` a bool or a char of either sign,
    an array of bytes a structure. The names nvcc numbers are no names.
    """
    offsets = function.parameter_offsets()
    parameters = tuple(
        _parameter(index, variable, offset)
        for index, (variable, offset) in enumerate(zip(function.parameters, offsets, strict=True))
    )
    return KernelSignature(function.name, parameters, (PTX,))


def from_driver(kernel: str, places: Iterable[tuple[int, int]]) -> KernelSignature:
    """Offsets and sizes as a driver lists them: (offset, nbytes) of each parameter, in order."""
    parameters = tuple(
        Parameter(index, nbytes=nbytes, offset=offset, source=DRIVER) for index, (offset, nbytes) in enumerate(places)
    )
    return KernelSignature(kernel, parameters, (DRIVER,))


def from_cubin(kernel: str, places: Iterable[tuple[int, int]]) -> KernelSignature:
    """Offsets and sizes as a cubin lists them: (offset, nbytes) of each parameter, in order."""
    parameters = tuple(
        Parameter(index, nbytes=nbytes, offset=offset, source=CUBIN) for index, (offset, nbytes) in enumerate(places)
    )
    return KernelSignature(kernel, parameters, (CUBIN,))


def _parameter(index: int, variable: Variable, offset: int) -> Parameter:
    kind, floating, signed = _kind(variable)
    scalar = _FLOATS.get(variable.type) if variable.count is None and variable.vector == 1 else None
    return Parameter(
        index,
        None if _NUMBERED.search(variable.name) else variable.name,
        nbytes=variable.nbytes,
        align=variable.align,
        offset=offset,
        kind=kind,
        floating=floating,
        signed=signed,
        scalar=scalar,
        c_type=f"struct({variable.nbytes}, {variable.align})" if variable.count is not None else None,
        space=variable.pointer_space if variable.pointer_space != "generic" else None,
        source=PTX,
    )


def _kind(variable: Variable) -> tuple[str | None, bool | None, bool | None]:
    """(kind, floating, signed) of a parameter's PTX type."""
    if variable.is_pointer:
        return "pointer", False, None
    if variable.count is not None or variable.vector != 1:
        return "value", None, None
    if variable.type in _FLOATS:
        return "value", True, None
    if variable.type[:1] in "us" and variable.type[1:].isdigit():
        return ("value", False, None) if variable.nbytes < 8 else (None, False, None)
    return ("value" if variable.nbytes < 8 else None), None, None
