"""A kernel whose local memory is a parameter, launched with dynamic shared memory instead of an argument for it.

Metal sets threadgroup memory by index, and `.shared_mem(n)` is index 0, whichever parameter has that. On OpenCL it is
the last such parameter, as in code that was made from CUDA's, which declares its shared memory behind everything else.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import ArgumentCountError
from .kernel_signature import KernelSignature
from .parameter import Parameter


def shared_parameter(signature: KernelSignature, *, last: bool) -> Parameter | None:
    """The local parameter that dynamic shared memory stands for: the first, or the last; None where there is none."""
    local = [each for each in signature.parameters or () if each.space == "local"]
    return local[-1 if last else 0] if local else None


def without_shared_memory(signature: KernelSignature, *, last: bool = False) -> KernelSignature | None:
    """The signature without the local parameter whose memory is the dynamic one; None where it has none."""
    parameters = signature.parameters or ()
    shared = shared_parameter(signature, last=last)
    if shared is None:
        return None
    rest = (*parameters[: shared.index], *parameters[shared.index + 1 :])
    return replace(signature, parameters=tuple(replace(each, index=index) for index, each in enumerate(rest)))


def refuse_both_ways(signature: KernelSignature, given: int, *, last: bool = False) -> None:
    """Raise where so many arguments give every local parameter, and dynamic shared memory stands for one as well."""
    parameters = signature.parameters or ()
    if given != len(parameters):
        return
    shared = shared_parameter(signature, last=last)
    name = shared.label if shared is not None else ""
    raise ArgumentCountError(
        f"{signature.kernel}: its local memory {name} is given twice, by arg_local and by .shared_mem(nbytes); leave "
        "one of them out",
        kernel=signature.kernel,
        name=name,
        expected=len(parameters) - 1,
        given=given,
    )
