"""What a code object tells of its kernels: AMD's ELF note NT_AMDGPU_METADATA, MessagePack, as values.

Source: LLVM, "User Guide for AMDGPU Backend", Code Object V3 to V5 Metadata.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ..errors import BackendUnavailable, ModuleLoadError
from .targets import Target

INSTALL_READERS: Final = 'pip install "metrale-gpu-runtime[hip]"'
_EM_AMDGPU: Final = 224
_NT_AMDGPU_METADATA: Final = 32
_HIDDEN: Final = "hidden_"
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class CodeObjectArgument:
    """One argument as the metadata has it. `value_kind`: "by_value", "global_buffer", "dynamic_shared_pointer", …

    `name`, `type_name`, `address_space`, `is_const` are None where the compiler did not write them.
    """

    offset: int
    nbytes: int
    value_kind: str
    name: str | None = None
    type_name: str | None = None
    address_space: str | None = None
    is_const: bool | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether the runtime fills it in itself, so that no caller gives it."""
        return self.value_kind.startswith(_HIDDEN)


@dataclass(frozen=True, slots=True)
class CodeObjectKernel:
    """One kernel as the metadata has it: sizes in bytes, registers of one lane; None for what is not written there."""

    name: str
    symbol: str
    arguments: tuple[CodeObjectArgument, ...]
    kernarg_nbytes: int | None = None
    static_shared_mem: int | None = None
    private_mem: int | None = None
    vector_registers: int | None = None
    scalar_registers: int | None = None
    wavefront_size: int | None = None
    max_threads_per_block: int | None = None
    required_block: tuple[int, int, int] | None = None

    @property
    def given_arguments(self) -> tuple[CodeObjectArgument, ...]:
        """Those that a caller gives: all but the hidden ones."""
        return tuple(each for each in self.arguments if not each.is_hidden)


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A code object's target (None where it does not say) and its kernels by name, in its order."""

    target: Target | None
    kernels: Mapping[str, CodeObjectKernel]


def read_code_object(data: bytes, module: str) -> CodeObject:
    """The metadata of one code object, not bundled.

    Raises ModuleLoadError for what is no code object or is damaged, BackendUnavailable without pyelftools and msgpack.
    """
    return _Reader(module).read(_note(data, module))


def _note(data: bytes, module: str) -> bytes:
    """The MessagePack of the metadata note. Notes of segments are read as the loader does, sections where none are."""
    try:
        from elftools.elf.elffile import ELFFile
        from elftools.elf.sections import NoteSection
        from elftools.elf.segments import NoteSegment
    except ImportError as error:
        raise BackendUnavailable(
            f"module {module!r}: reading a code object needs pyelftools ({error}); {INSTALL_READERS}", backend="hip"
        ) from error
    try:
        elf = ELFFile(io.BytesIO(data))
        machine, kind = elf["e_machine"], elf["e_type"]
        if elf.elfclass != 64 or not elf.little_endian or machine not in ("EM_AMDGPU", _EM_AMDGPU):
            raise _refused(module, f"it is a {elf.elfclass}-bit ELF file for {machine}, not for AMD's GPUs")
        if elf.num_segments():
            holders: Sequence[Any] = [each for each in elf.iter_segments() if isinstance(each, NoteSegment)]
        else:
            holders = [each for each in elf.iter_sections() if isinstance(each, NoteSection)]
        for holder in holders:
            for note in holder.iter_notes():
                if note["n_name"] == "AMDGPU" and note["n_type"] == _NT_AMDGPU_METADATA:
                    return bytes(note["n_descdata"])
    except ModuleLoadError:
        raise
    except Exception as error:
        # pyelftools has no common root for what it raises over a damaged file: its own errors, those of its parser,
        # and whatever a wrong number leads to.
        raise _refused(module, f"its ELF structure is damaged ({type(error).__name__}: {error})") from error
    what = "relocatable object; link it with lld -shared" if kind == "ET_REL" else "code object without metadata"
    raise _refused(module, f"it is a {what} (no note NT_AMDGPU_METADATA; versions 3 to 6 have one)")


class _Reader:
    """One reading of one note: every field is checked, because the file may say anything."""

    def __init__(self, module: str) -> None:
        self.module = module

    def refuse(self, why: str) -> ModuleLoadError:
        return _refused(self.module, f"its metadata {why}")

    def read(self, note: bytes) -> CodeObject:
        root = self.unpacked(note)
        if not isinstance(root, dict):
            raise self.refuse("is no map")
        kernels: dict[str, CodeObjectKernel] = {}
        for number, entry in enumerate(self.listed(root.get("amdhsa.kernels", []), "amdhsa.kernels")):
            kernel = self.kernel(entry, f"kernel {number}")
            kernels[kernel.name] = kernel
        target = root.get("amdhsa.target")
        return CodeObject(Target.read(target) if isinstance(target, str) else None, MappingProxyType(kernels))

    def unpacked(self, note: bytes) -> object:
        try:
            import msgpack
        except ImportError as error:
            raise BackendUnavailable(
                f"module {self.module!r}: reading a code object's metadata needs msgpack ({error}); {INSTALL_READERS}",
                backend="hip",
            ) from error
        try:
            return msgpack.unpackb(note)
        except Exception as error:
            # ExtraData, FormatError, StackError, ValueError, UnicodeDecodeError, RecursionError: msgpack has no root.
            raise self.refuse(f"is damaged ({type(error).__name__}: {error})") from error

    def kernel(self, entry: object, what: str) -> CodeObjectKernel:
        fields = self.mapping(entry, what)
        name = self.text(fields, ".name", what)
        symbol = self.text(fields, ".symbol", what)
        if name is None or symbol is None:
            raise self.refuse(f"of {what} has no .name and .symbol")
        arguments = [
            self.argument(each, f"argument {index} of {name}")
            for index, each in enumerate(self.listed(fields.get(".args", []), f"{name}'s .args"))
        ]
        block = fields.get(".reqd_workgroup_size")
        return CodeObjectKernel(
            name,
            symbol,
            tuple(sorted(arguments, key=lambda each: each.offset)),
            kernarg_nbytes=self.number(fields, ".kernarg_segment_size", name),
            static_shared_mem=self.number(fields, ".group_segment_fixed_size", name),
            private_mem=self.number(fields, ".private_segment_fixed_size", name),
            vector_registers=self.number(fields, ".vgpr_count", name),
            scalar_registers=self.number(fields, ".sgpr_count", name),
            wavefront_size=self.number(fields, ".wavefront_size", name),
            max_threads_per_block=self.number(fields, ".max_flat_workgroup_size", name),
            required_block=self.extents(block, f"{name}'s .reqd_workgroup_size") if block is not None else None,
        )

    def argument(self, entry: object, what: str) -> CodeObjectArgument:
        fields = self.mapping(entry, what)
        offset, nbytes = self.number(fields, ".offset", what), self.number(fields, ".size", what)
        kind = self.text(fields, ".value_kind", what)
        if offset is None or nbytes is None or kind is None:
            raise self.refuse(f"of {what} has no .offset, .size and .value_kind")
        const = fields.get(".is_const")
        return CodeObjectArgument(
            offset,
            nbytes,
            kind,
            name=self.text(fields, ".name", what) or None,
            type_name=self.text(fields, ".type_name", what) or None,
            address_space=self.text(fields, ".address_space", what) or None,
            is_const=const if isinstance(const, bool) else None,
        )

    def mapping(self, value: object, what: str) -> dict[object, object]:
        if not isinstance(value, dict):
            raise self.refuse(f"of {what} is no map")
        return value

    def listed(self, value: object, what: str) -> list[object]:
        if not isinstance(value, list):
            raise self.refuse(f"has no list as {what}")
        return value

    def text(self, fields: Mapping[object, object], key: str, what: str) -> str | None:
        value = fields.get(key)
        if value is not None and not isinstance(value, str):
            raise self.refuse(f"of {what} has {value!r} as {key}, which is no text")
        return value

    def number(self, fields: Mapping[object, object], key: str, what: str) -> int | None:
        value = fields.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
            raise self.refuse(f"of {what} has {value!r} as {key}; it is 0 to {_LARGEST}")
        return value

    def extents(self, value: object, what: str) -> tuple[int, int, int]:
        numbers = self.listed(value, what)
        counts = [each for each in numbers if isinstance(each, int) and not isinstance(each, bool)]
        if len(numbers) != 3 or len(counts) != 3 or not all(0 < each <= _LARGEST for each in counts):
            raise self.refuse(f"has {value!r} as {what}; it is three counts")
        x, y, z = counts
        return x, y, z


def _refused(module: str, why: str) -> ModuleLoadError:
    return ModuleLoadError(f"module {module!r}: the code object cannot be read: {why}", module=module)
