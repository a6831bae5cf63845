"""What a cubin says of itself: its architecture, its kernels, their parameters and block sizes.

NVIDIA publishes no description of the format. What is read here was found in cubins that nvcc 13.0, NVRTC and
nvJitLink 13.5 made, whose sources are known, and agrees with LLVM's reading (llvm/BinaryFormat/ELF.h) and with the
names in `nvdisasm`'s output; the tests hold it against cubins and against the PTX of the same sources.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from .architectures import Architecture
from .elf import Elf

_ET_REL: Final = 1
_STT_OBJECT, _STT_FUNC, _STB_GLOBAL, _STB_WEAK = 1, 2, 1, 2
_STO_CUDA_ENTRY: Final = 0x10

# e_flags up to CUDA 12 (ABI version 7) and from CUDA 13 on (version 8).
_ABI_OLD, _ABI_NEW = 7, 8
_ACCELERATED_OLD, _ACCELERATED_NEW = 0x800, 0x8

# Records of .nv.compat and .nv.info.<kernel>: a form, a number, then 2 bytes that are the value or its size.
_FORM_LONG: Final = 4
_COMPAT_ARCHITECTURE_SPECIFIC: Final = 0x09
_MAX_THREADS, _REQUIRED_THREADS, _PARAMETER, _PARAMETERS_NBYTES, _PARAMETER_LARGE = 0x05, 0x10, 0x17, 0x19, 0x45
_THREE: Final = struct.Struct("<III")
_PARAMETER_RECORD: Final = struct.Struct("<IHHI")
_PARAMETER_NBYTES_SHIFT: Final = 18


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """One kernel of a cubin. `parameters` are (offset, nbytes); None for what the cubin does not tell."""

    name: str
    parameters: tuple[tuple[int, int], ...] | None = None
    max_block: tuple[int, int, int] | None = None
    required_block: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Cubin:
    """One cubin. `architecture` is None for a layout newer than is known here; a family suffix leaves no mark in it.

    `is_relocatable`: it was compiled with -rdc=true and not linked. `undefined` are the symbols that it lacks,
    `definitions` the symbols, variables too, that no other input of a link may define.
    """

    architecture: Architecture | None
    is_relocatable: bool
    kernels: dict[str, KernelFacts] = field(default_factory=dict)
    device_functions: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


def read_cubin(data: bytes, module: str) -> Cubin:
    """Read a cubin. Raises ModuleLoadError, in the name of `module`, for bytes that are damaged or no cubin."""
    elf = Elf(data, module)
    kernels: list[str] = []
    device_functions: list[str] = []
    undefined: list[str] = []
    definitions: list[str] = []
    variables: list[str] = []
    for symbol in elf.symbols():
        binding, kind = symbol.info >> 4, symbol.info & 0xF
        # A compiler's own (string constants) have names that C has not.
        if symbol.section and kind == _STT_OBJECT and not symbol.name.startswith((".", "$")):
            variables.append(symbol.name)
        if symbol.section and binding == _STB_GLOBAL and kind in (_STT_OBJECT, _STT_FUNC):
            definitions.append(symbol.name)
        if binding not in (_STB_GLOBAL, _STB_WEAK):
            continue
        if symbol.section == 0:
            # The linker's own, without a place too: weak objects (__UFT), and .nv.reservedSmem.offset0.
            if kind == _STT_FUNC or (binding == _STB_GLOBAL and not symbol.name.startswith(".")):
                undefined.append(symbol.name)
        elif kind != _STT_FUNC:
            continue
        elif symbol.other & _STO_CUDA_ENTRY:
            kernels.append(symbol.name)
        else:
            device_functions.append(symbol.name)
    infos = {each.name: each for each in elf.sections if each.name.startswith(".nv.info.")}
    facts = {}
    for name in kernels:
        info = infos.get(f".nv.info.{name}")
        facts[name] = _kernel_facts(name, elf.contents(info)) if info is not None else KernelFacts(name)
    return Cubin(
        architecture_of(elf),
        elf.kind == _ET_REL,
        facts,
        tuple(device_functions),
        tuple(undefined),
        tuple(definitions),
        tuple(variables),
    )


def architecture_of(elf: Elf) -> Architecture | None:
    """What a cubin was compiled for, as far as its header and its compatibility records tell."""
    if elf.abi_version <= _ABI_OLD:
        number, is_specific = elf.flags & 0xFF, bool(elf.flags & _ACCELERATED_OLD)
    elif elf.abi_version == _ABI_NEW:
        number, is_specific = elf.flags >> 8 & 0xFF, bool(elf.flags & _ACCELERATED_NEW)
        # The flag is not set for code that uses nothing of the architecture's own; this record is all the same.
        compat = elf.section(".nv.compat")
        if compat is not None:
            is_specific = is_specific or any(
                number == _COMPAT_ARCHITECTURE_SPECIFIC and value[:1] not in (b"", b"\0")
                for number, value in _records(elf.contents(compat))
            )
    else:
        return None
    return Architecture.of_number(number, "a" if is_specific else "")


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, value) of each record; one that runs over the end is the last and left out."""
    at = 0
    while at + 4 <= len(data):
        form, number, value = data[at], data[at + 1], data[at + 2 : at + 4]
        at += 4
        if form == _FORM_LONG:
            nbytes = int.from_bytes(value, "little")
            value = data[at : at + nbytes]
            if len(value) < nbytes:
                return
            at += nbytes
        yield number, value


def _kernel_facts(name: str, data: bytes) -> KernelFacts:
    parameters: dict[int, tuple[int, int]] = {}
    total: int | None = None
    blocks: dict[int, tuple[int, int, int]] = {}
    for number, value in _records(data):
        if number in (_PARAMETER, _PARAMETER_LARGE) and len(value) == _PARAMETER_RECORD.size:
            _, ordinal, offset, packed = _PARAMETER_RECORD.unpack(value)
            # The first form has 14 bits for the size; parameters of 16 KiB and more have the second one.
            parameters[ordinal] = (offset, packed >> _PARAMETER_NBYTES_SHIFT if number == _PARAMETER else packed)
        elif number == _PARAMETERS_NBYTES:
            total = int.from_bytes(value, "little")
        elif number in (_MAX_THREADS, _REQUIRED_THREADS) and len(value) >= _THREE.size:
            blocks[number] = _THREE.unpack_from(value)
    return KernelFacts(name, _in_order(parameters, total), blocks.get(_MAX_THREADS), blocks.get(_REQUIRED_THREADS))


def _in_order(parameters: dict[int, tuple[int, int]], total: int | None) -> tuple[tuple[int, int], ...] | None:
    """The parameters by ordinal; None when they do not fill the parameter block that the kernel is said to have."""
    if sorted(parameters) != list(range(len(parameters))):
        return None
    ordered = tuple(parameters[ordinal] for ordinal in range(len(parameters)))
    end = 0
    for offset, nbytes in ordered:
        if offset < end or nbytes == 0:
            return None
        end = offset + nbytes
    return ordered if end == (total or 0) else None
