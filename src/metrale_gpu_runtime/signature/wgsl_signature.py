"""The signature of a WGSL entry point: the i-th argument is the i-th binding of group 0, then what immediates hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from .c_types import CType, parameter_of_pointer, parameter_of_value
from .kernel_signature import KernelSignature
from .parameter import WGSL, Parameter
from .wgsl_types import WgslType

if TYPE_CHECKING:
    from .wgsl import WgslBinding, WgslEntryPoint


def from_wgsl(entry: WgslEntryPoint) -> KernelSignature:
    """What a text tells of an entry point's arguments: storage is memory, uniforms and immediates are values."""
    parameters = [_bound(index, each) for index, each in enumerate(entry.bindings)]
    parameters += [
        _value(len(parameters) + index, name, "immediate", type)
        for index, (name, type) in enumerate(_immediates(entry.immediates))
    ]
    return KernelSignature(entry.name, tuple(parameters), (WGSL,))


def _immediates(binding: WgslBinding | None) -> Iterator[tuple[str, WgslType]]:
    """What immediates hold: the members of a structure, or the one value that they are."""
    if binding is not None and binding.type.kind == "struct":
        yield from ((each.name, each.type) for each in binding.type.fields)
    elif binding is not None:
        yield binding.name, binding.type


def _bound(index: int, binding: WgslBinding) -> Parameter:
    if binding.space == "uniform":
        return _value(index, binding.name, "uniform", binding.type)
    type = binding.type
    item = type.item if type.kind == "array" and type.item is not None else type
    access = "" if binding.access == "read" else " read_write"
    return parameter_of_pointer(
        index,
        _as_c(item),
        item.spelling,
        source=WGSL,
        name=binding.name,
        constant=binding.access == "read",
        space="global",
        spelling=f"storage{access} {type.spelling}",
    )


def _value(index: int, name: str, space: str, type: WgslType) -> Parameter:
    parameter = parameter_of_value(index, _as_c(type), source=WGSL, name=name, spelling=f"{space} {type.spelling}")
    disputed = type.disputed
    if disputed is None:
        return parameter
    return replace(
        parameter,
        unfillable=f"{disputed.spelling} lies in it, which @align aligns to {disputed.align} bytes: compilers do not "
        "agree where that begins (wgpu's goes by its members alone); fill the gap with members instead",
    )


def _as_c(type: WgslType) -> CType:
    """A type as the checks know types. What is as long as its buffer has the size of one element of that."""
    assert type.least_nbytes is not None
    assert type.align is not None
    lanes = type.count if type.kind == "vector" and type.count is not None else 1
    return CType(type.spelling, type.least_nbytes, type.align, type.scalar, type.element, lanes)
