"""The signature of an OpenCL kernel: what `clGetKernelArgInfo` tells, and sizes where whoever asked found them out.

Source: "The OpenCL Specification", section "Kernel Object Queries"; "The OpenCL C Specification", "Restrictions".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .bindings import LOCAL, local_parameter
from .c_types import CType, parameter_of_pointer, parameter_of_value
from .kernel_signature import KernelSignature
from .opencl_types import find_opencl_type, why_unfillable
from .parameter import OPENCL_INFO, Parameter

if TYPE_CHECKING:
    from ..driver import KernelBinding


def from_argument_info(kernel: str, bindings: Sequence[KernelBinding]) -> KernelSignature:
    """The signature that argument info gives, by rising index: pointers, values and local memory are told apart."""
    ordered = sorted(bindings, key=lambda each: each.index)
    parameters = tuple(_parameter(index, each) for index, each in enumerate(ordered))
    return KernelSignature(kernel, parameters, (OPENCL_INFO,))


def _parameter(index: int, binding: KernelBinding) -> Parameter:
    name, type = binding.name or None, _type(binding)
    spelled = binding.type_name or "void"
    if binding.kind == LOCAL:
        return local_parameter(index, type, spelled, source=OPENCL_INFO, name=name, word="local")
    if binding.kind == "pointer":
        space = binding.space or "global"
        # All of constant memory is constant, whether it says so or not.
        constant = binding.access == "read" or space == "constant"
        mark = "const " if constant and space != "constant" else ""
        return parameter_of_pointer(
            index,
            type,
            spelled,
            source=OPENCL_INFO,
            name=name,
            constant=constant,
            space=space,
            spelling=f"{space} {mark}{spelled}*",
        )
    unfillable = why_unfillable(binding.type_name) if binding.type_name is not None else None
    if unfillable is not None:
        return Parameter(index, name, kind="value", c_type=spelled, source=OPENCL_INFO, unfillable=unfillable)
    if type is None and binding.type_name is None:
        return Parameter(index, name, kind="value", source=OPENCL_INFO)
    return parameter_of_value(
        index, type if type is not None else spelled, source=OPENCL_INFO, name=name, spelling=spelled
    )


def _type(binding: KernelBinding) -> CType | None:
    """The language's type of that name; else one of which only size and alignment are known, where they are."""
    named = find_opencl_type(binding.type_name) if binding.type_name is not None else None
    nbytes = binding.nbytes
    if named is not None and nbytes in (None, named.nbytes):
        return named
    if nbytes is None:
        return None
    return CType(binding.type_name or f"{nbytes} bytes", nbytes, binding.align or 1)
