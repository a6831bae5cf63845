"""A kernel whose local memory is a parameter, launched with dynamic shared memory instead of an argument for it.

Metal sets threadgroup memory by index, and `.shared_mem(n)` is index 0, whichever parameter has that.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import ArgumentCountError
from .kernel_signature import KernelSignature


def without_shared_memory(signature: KernelSignature) -> KernelSignature | None:
    """The signature without its first local parameter, whose memory is the dynamic one; None where it has none."""
    parameters = signature.parameters or ()
    first = next((index for index, each in enumerate(parameters) if each.space == "local"), None)
    if first is None:
        return None
    rest = (*parameters[:first], *parameters[first + 1 :])
    return replace(signature, parameters=tuple(replace(each, index=index) for index, each in enumerate(rest)))


def refuse_both_ways(signature: KernelSignature, given: int) -> None:
    """Raise where so many arguments give every local parameter, and dynamic shared memory stands for one as well."""
    parameters = signature.parameters or ()
    if given != len(parameters):
        return
    name = next(each.label for each in parameters if each.space == "local")
    raise ArgumentCountError(
        f"{signature.kernel}: its local memory {name} is given twice, by arg_local and by .shared_mem(nbytes); leave "
        "one of them out",
        kernel=signature.kernel,
        name=name,
        expected=len(parameters) - 1,
        given=given,
    )
