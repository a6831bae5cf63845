"""What Metal's reflection tells of a kernel's parameters, which are bound one by one: place, access, type, size.

Reflection cannot tell `constant T&`, `constant T*` and `const device T*` apart: what is only read is taken as a value
or as a buffer. What is written is a pointer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from .c_types import CType, parameter_of_pointer
from .kernel_signature import KernelSignature
from .msl_types import find_msl_type
from .parameter import MANY, METAL_REFLECTION, Parameter

if TYPE_CHECKING:
    from ..driver import KernelBinding
    from .msl import MslParameter

    _B = TypeVar("_B", KernelBinding, MslParameter)

LOCAL = "local"


def in_argument_order(bindings: Sequence[_B]) -> tuple[_B, ...]:
    """The parameters as a launch gives them: in the kernel's order, but each kind by rising index within its places."""
    by_kind = {
        kind: iter(sorted((each for each in bindings if each.kind == kind), key=lambda each: each.index))
        for kind in {each.kind for each in bindings}
    }
    return tuple(next(by_kind[each.kind]) for each in bindings)


def from_bindings(
    kernel: str, bindings: Sequence[KernelBinding], order: Iterable[tuple[str, int]] | None = None
) -> KernelSignature:
    """The signature that reflection gives; `order` are the places (kind and index) in another source's order."""
    if order is None:
        arranged = in_argument_order(bindings)
    else:
        places = {(each.kind, each.index): each for each in bindings}
        arranged = tuple(places[place] for place in order)
    parameters = tuple(_parameter(index, each) for index, each in enumerate(arranged))
    return KernelSignature(kernel, parameters, (METAL_REFLECTION,))


def _parameter(index: int, binding: KernelBinding) -> Parameter:
    name = binding.name or None
    type = find_msl_type(binding.type_name) if binding.type_name is not None else None
    spelled = binding.type_name or "void"
    if binding.kind == LOCAL:
        return local_parameter(index, type, spelled, source=METAL_REFLECTION, name=name)
    if binding.access != "read":
        return parameter_of_pointer(
            index, type, spelled, source=METAL_REFLECTION, name=name, spelling=f"device {spelled}*"
        )
    return reference_parameter(
        index,
        type,
        binding.type_name,
        source=METAL_REFLECTION,
        name=name,
        nbytes=binding.nbytes or None,
        align=binding.align or None,
        by_reference=MANY,
        spelling=f"const {spelled}*",
    )


def local_parameter(
    index: int, type: CType | None, spelled: str, *, source: str, name: str | None, word: str = "threadgroup"
) -> Parameter:
    """A parameter in local memory, `word` in its language: it takes a size, and no bytes of its own."""
    return Parameter(
        index,
        name,
        kind="pointer",
        floating=False,
        element=type.element if type is not None else None,
        element_name=spelled,
        space=LOCAL,
        c_type=f"{word} {spelled}*",
        source=source,
    )


def reference_parameter(
    index: int,
    type: CType | None,
    type_name: str | None,
    *,
    source: str,
    name: str | None,
    nbytes: int | None,
    align: int | None,
    by_reference: str,
    spelling: str,
) -> Parameter:
    """A parameter that takes a value, or memory that holds such values."""
    scalar = type.scalar if type is not None else None
    return Parameter(
        index,
        name,
        nbytes=nbytes if nbytes is not None or type is None else type.nbytes,
        align=align if align is not None or type is None else type.align,
        floating=scalar.kind == "float" if scalar is not None else None,
        signed=scalar.kind == "signed" if scalar is not None and scalar.is_integer else None,
        scalar=scalar,
        element=type.element if type is not None else None,
        element_name=type_name,
        constant=True,
        by_reference=by_reference,
        c_type=spelling,
        source=source,
    )
