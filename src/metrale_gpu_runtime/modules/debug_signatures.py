"""Signatures from debug information: what the source says of each parameter, name and C type."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..cuda_images.elf import Elf
from ..ptx.syntax import PtxModule
from ..signature import (
    DEBUG_INFORMATION,
    CType,
    KernelSignature,
    Parameter,
    find_c_type,
    parameter_of_pointer,
    parameter_of_value,
)
from .debug_types import CType as DebugType
from .debug_types import DebugParameter, kernel_parameters, parameters_in_sections

_EM_AMDGPU = 224
_BASE_KINDS = frozenset({"integer", "unsigned", "float", "bool"})


def signatures_from_debug_information(module: PtxModule) -> dict[str, KernelSignature]:
    """A signature for each kernel that the module's DWARF describes, by the kernel's symbol.

    Alignments and offsets of structures are left to the PTX, because DWARF 2 has no word for `alignas`. Raises
    ImportError without pyelftools.
    """
    return {
        symbol: KernelSignature(symbol, _parameters(parameters), (DEBUG_INFORMATION,))
        for symbol, parameters in kernel_parameters(module).items()
    }


def signatures_from_cubin(data: bytes, kernels: Collection[str]) -> dict[str, KernelSignature]:
    """The same from the DWARF of a cubin; empty for one without. `kernels` are the symbols that are wanted."""
    return _signatures_from_elf(Elf(data, ""), kernels)


def signatures_from_amd_code(data: bytes, kernels: Collection[str]) -> dict[str, KernelSignature]:
    """The same from the DWARF of an AMD code object."""
    return _signatures_from_elf(Elf(data, "", "code object", _EM_AMDGPU), kernels)


def _signatures_from_elf(elf: Elf, kernels: Collection[str]) -> dict[str, KernelSignature]:
    sections = {each.name: elf.contents(each) for each in elf.sections if each.name.startswith(".debug_")}
    if not sections.get(".debug_info"):
        return {}
    return {
        symbol: KernelSignature(symbol, _parameters(parameters), (DEBUG_INFORMATION,))
        for symbol, parameters in parameters_in_sections(sections, kernels).items()
    }


def _parameters(given: Sequence[DebugParameter]) -> tuple[Parameter, ...]:
    return tuple(_parameter(index, each.name, each.type) for index, each in enumerate(given))


def _parameter(index: int, name: str | None, type: DebugType) -> Parameter:
    spelling = f"const {type.spelling}" if type.is_const and type.target is None else type.spelling
    if type.kind in {"pointer", "reference"} and type.target is not None:
        target = type.target
        return parameter_of_pointer(
            index,
            _known_type(_element(target)),
            target.spelling if target.kind == "pointer" else (_element(target).name or target.spelling),
            source=DEBUG_INFORMATION,
            name=name,
            constant=target.is_const or _element(target).is_const,
            spelling=spelling,
        )
    known = _known_type(type)
    if known is not None:
        return parameter_of_value(index, known, source=DEBUG_INFORMATION, name=name, spelling=spelling)
    if type.kind == "enum":
        # The DWARF does not say what an enumeration is stored in, only how large that is.
        return Parameter(
            index,
            name,
            nbytes=type.nbytes,
            align=type.nbytes,
            kind="value",
            floating=False,
            c_type=spelling,
            source=DEBUG_INFORMATION,
        )
    if type.kind == "unknown" or type.nbytes == 0:
        return Parameter(index, name, c_type=spelling or None, source=DEBUG_INFORMATION)
    return Parameter(index, name, nbytes=type.nbytes, kind="value", c_type=spelling, source=DEBUG_INFORMATION)


def _element(type: DebugType) -> DebugType:
    """What the elements of a pointed-to array are; any other type is its own element."""
    return type.target if type.kind == "array" and type.target is not None else type


def _known_type(type: DebugType) -> CType | None:
    """The type of C or CUDA by this name, unless the source has made something else of the name."""
    if type.kind not in _BASE_KINDS and type.kind != "struct":
        return None
    known = find_c_type(type.name)
    if known is None:
        return None
    is_incomplete = type.nbytes == 0  # only ever pointed to, so that the DWARF does not hold its size
    return known if is_incomplete or known.nbytes == type.nbytes else None
