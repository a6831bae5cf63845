"""Memory that stands behind two arguments of one launch, which some devices refuse where one of them is written.

Source: "WebGPU", sections "Usage Scope Validation" and "Resource usage compatibility": within one dispatch a buffer is
either read by as many bindings as one likes, or written by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import NotSupported

if TYPE_CHECKING:
    from .arguments import Argument
    from .capabilities import Capabilities
    from .signature import KernelSignature, Parameter


def separates_writes(signature: KernelSignature, capabilities: Capabilities) -> bool:
    """Whether launches of a kernel have to be looked at: the device wants it, and of two pointers one is written."""
    if capabilities.aliased_writes:
        return False
    pointers = [each for each in signature.parameters or () if each.kind == "pointer"]
    return len(pointers) > 1 and any(map(_is_written, pointers))


def refuse_aliased(signature: KernelSignature, arguments: Sequence[Argument], capabilities: Capabilities) -> None:
    """Raise NotSupported, naming both, where one allocation is behind two arguments of which the kernel writes one."""
    parameters = signature.parameters or ()
    if len(parameters) != len(arguments):
        return  # there is something else wrong, which is told elsewhere
    first: dict[int, int] = {}
    written: dict[int, int] = {}
    for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        pointer = argument.pointer
        if pointer is None or pointer.allocation is None or parameter.kind != "pointer":
            continue
        block = id(pointer.allocation.block)
        is_written = _is_written(parameter)
        other = first.get(block) if is_written else written.get(block)
        if other is not None:
            names = [f"argument {each}{_named(parameters[each])}" for each in (other, index)]
            writes = " and ".join(
                name for name, each in zip(names, (other, index), strict=True) if _is_written(parameters[each])
            )
            raise NotSupported(
                f"{signature.kernel}: {names[0]} and {names[1]} lie both in {pointer.allocation.block}, and the kernel "
                f"writes {writes}; {capabilities.device} takes memory that a launch writes for one argument alone: "
                "give one of them a buffer of its own, or let the kernel read and write through one parameter",
                backend=capabilities.backend,
                feature="aliased writes",
            )
        first.setdefault(block, index)
        if is_written:
            written.setdefault(block, index)


def _is_written(parameter: Parameter) -> bool:
    return parameter.kind == "pointer" and parameter.constant is False


def _named(parameter: Parameter) -> str:
    return f" ({parameter.name})" if parameter.name is not None else ""
