"""ELF as far as cubins and objects need it: header, sections, symbols. Every read is checked against the bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from ..errors import ModuleLoadError

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_SHT_NOBITS: Final = 8
EM_CUDA: Final = 190
# A name that is longer is none: it keeps damaged tables from being searched again and again.
_LONGEST_NAME: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Section:
    """One section; `offset` and `nbytes` are its place in the file (0 bytes for one that holds none)."""

    name: str
    kind: int
    offset: int
    nbytes: int
    link: int
    info: int
    entry_nbytes: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """One symbol: `info` and `other` are the ELF bytes, `section` 0 for one that is defined elsewhere."""

    name: str
    info: int
    other: int
    section: int
    nbytes: int


class Elf:
    """A 64-bit ELF file. Raises ModuleLoadError, in the name of `module`, for damaged bytes; `title` is what they are
    called then ("cubin"). `machine` is the ELF number of the machine that it must be for, None for any."""

    def __init__(self, data: bytes, module: str, title: str = "cubin", machine: int | None = EM_CUDA) -> None:
        self.data, self.module, self.title = data, module, title
        if len(data) < _HEADER.size:
            self.refuse(f"its {len(data)} bytes are less than a header")
        fields = _HEADER.unpack_from(data)
        ident = fields[0]
        if ident[:4] != b"\x7fELF":
            self.refuse("it is no ELF file")
        if ident[4] == 1:
            self.refuse("it is for 32-bit programs, and this process has 64 bits")
        if ident[4:6] != b"\x02\x01":
            self.refuse("its header names no class or byte order that there is")
        if machine is not None and fields[2] != machine:
            self.refuse(f"it is for ELF machine {fields[2]}, not {machine}")
        self.abi_version, self.kind, self.flags = ident[8], fields[1], fields[7]
        self._table, self._entry_nbytes, self._count, self._names_index = fields[6], *fields[11:14]
        program_end = fields[5] + fields[9] * fields[10]
        if program_end > len(data):
            self.refuse(f"its program headers end at byte {program_end} of {len(data)}")
        self.sections = self._read_sections()

    def refuse(self, what: str) -> NoReturn:
        """Raise ModuleLoadError with what is wrong."""
        raise ModuleLoadError(
            f"module {self.module!r}: the {self.title} is damaged or none: {what}", module=self.module
        ) from None

    def _read_sections(self) -> tuple[Section, ...]:
        if not self._count:
            return ()
        end = self._table + self._count * _SECTION.size
        if self._entry_nbytes != _SECTION.size or end > len(self.data):
            self.refuse(
                f"its {self._count} section headers of {self._entry_nbytes} bytes at {self._table} do not lie in its "
                f"{len(self.data)} bytes"
            )
        raw = [_SECTION.unpack_from(self.data, self._table + index * _SECTION.size) for index in range(self._count)]
        for index, each in enumerate(raw):
            if each[1] != _SHT_NOBITS and each[4] + each[5] > len(self.data):
                self.refuse(f"section {index} ends at byte {each[4] + each[5]} of {len(self.data)}")
        if self._names_index >= len(raw):
            self.refuse(f"its section names are said to be in section {self._names_index} of {len(raw)}")
        names = raw[self._names_index]
        return tuple(
            Section(
                self._text(names[4], names[5], each[0]),
                kind=each[1],
                offset=each[4],
                nbytes=each[5] if each[1] != _SHT_NOBITS else 0,
                link=each[6],
                info=each[7],
                entry_nbytes=each[9],
            )
            for each in raw
        )

    def _text(self, offset: int, nbytes: int, at: int) -> str:
        """The zero-terminated name at a place of a string table."""
        start, stop = offset + at, offset + nbytes
        end = self.data.find(b"\0", start, min(stop, start + _LONGEST_NAME)) if start < stop else -1
        if end < 0:
            self.refuse(f"a name at {at} does not end inside its table of {nbytes} bytes")
        return self.data[start:end].decode(errors="replace")

    def section(self, name: str) -> Section | None:
        """The first section of a name."""
        return next((each for each in self.sections if each.name == name), None)

    def contents(self, section: Section) -> bytes:
        """A section's bytes."""
        return self.data[section.offset : section.offset + section.nbytes]

    def symbols(self) -> Iterator[Symbol]:
        """The symbols of `.symtab`, in the file's order."""
        table = self.section(".symtab")
        if table is None:
            return
        if table.link >= len(self.sections):
            self.refuse(f"its symbols' names are said to be in section {table.link} of {len(self.sections)}")
        names = self.sections[table.link]
        for at in range(table.offset, table.offset + table.nbytes - _SYMBOL.size + 1, _SYMBOL.size):
            name, info, other, section, _, nbytes = _SYMBOL.unpack_from(self.data, at)
            yield Symbol(self._text(names.offset, names.nbytes, name), info, other, section, nbytes)
