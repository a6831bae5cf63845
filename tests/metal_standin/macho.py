"""Reads the Objective-C protocols of a Mach-O image: selectors with their type encodings, as the compiler left them.

Only what an unlinked bundle of today has: a fat file with an x86_64 slice, 64-bit pointers, and either plain pointers or
chained fixups in its data. Layout of `protocol_t` and `method_list_t` after Apple's objc4 runtime headers.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

_FAT, _MACHO64, _X86_64 = 0xCAFEBABE, 0xFEEDFACF, 0x01000007
_SEGMENT, _CHAINED_FIXUPS = 0x19, 0x80000034
_CHAINED_64, _CHAINED_64_OFFSET = 2, 6


class NotMachO(ValueError):
    """The file is none, or has no x86_64 slice."""


@dataclass(frozen=True, slots=True)
class Method:
    """One declared message."""

    selector: str
    encoding: str
    required: bool
    of_class: bool


@dataclass(frozen=True, slots=True)
class Protocol:
    """One protocol as declared: its own methods, and the protocols that it inherits."""

    name: str
    inherits: tuple[str, ...]
    methods: tuple[Method, ...] = field(default=())


def _slice(data: bytes) -> bytes:
    magic, count = struct.unpack_from(">II", data)
    if magic != _FAT:
        raise NotMachO(f"a fat Mach-O begins with {_FAT:#x}, this file with {magic:#x}")
    for position in range(8, 8 + 20 * count, 20):
        cpu, _, offset, size, _ = struct.unpack_from(">5I", data, position)
        if cpu == _X86_64:
            return data[offset : offset + size]
    raise NotMachO("the fat Mach-O has no x86_64 slice")


class _Image:
    def __init__(self, data: bytes) -> None:
        self._data = data
        magic, _, _, _, count, *_ = struct.unpack_from("<8I", data)
        if magic != _MACHO64:
            raise NotMachO(f"a 64-bit Mach-O begins with {_MACHO64:#x}, this slice with {magic:#x}")
        self._segments: list[tuple[int, int, int, int]] = []
        self.sections: dict[str, tuple[int, int]] = {}
        self._chained = False
        position = 32
        for _ in range(count):
            command, size = struct.unpack_from("<II", data, position)
            if command == _SEGMENT:
                self._segment(position)
            elif command == _CHAINED_FIXUPS:
                self._chained = True
            position += size
        self._base = min((address for address, nbytes, _, file_nbytes in self._segments if file_nbytes), default=0)

    def _segment(self, position: int) -> None:
        address, nbytes, offset, file_nbytes, _, _, sections, _ = struct.unpack_from(
            "<QQQQIIII", self._data, position + 24
        )
        self._segments.append((address, nbytes, offset, file_nbytes))
        for index in range(sections):
            at = position + 72 + 80 * index
            name = self._data[at : at + 16].rstrip(b"\0").decode()
            self.sections[name] = struct.unpack_from("<QQ", self._data, at + 32)

    def _offset(self, address: int) -> int:
        for start, nbytes, offset, _ in self._segments:
            if start <= address < start + nbytes:
                return offset + address - start
        raise NotMachO(f"no segment holds the address {address:#x}")

    def pointer(self, address: int) -> int:
        """The pointer stored at `address`; 0 for null and for what another image will fill in."""
        (value,) = struct.unpack_from("<Q", self._data, self._offset(address))
        if not self._chained or not value:
            return int(value)
        # DYLD_CHAINED_PTR_64(_OFFSET): bit 63 set is a bind to another image, else 36 bits of target and 8 high bits.
        if value >> 63:
            return 0
        target = value & ((1 << 36) - 1)
        return int(target if target >= self._base else target + self._base)

    def u32(self, address: int) -> int:
        return int(struct.unpack_from("<I", self._data, self._offset(address))[0])

    def u64(self, address: int) -> int:
        return int(struct.unpack_from("<Q", self._data, self._offset(address))[0])

    def text(self, address: int) -> str:
        start = self._offset(address)
        return self._data[start : self._data.index(b"\0", start)].decode()


def _methods(image: _Image, lists: int, types: int) -> list[Method]:
    found: list[Method] = []
    position = 0  # in the extended types: the four lists' methods one after the other
    for index, (required, of_class) in enumerate(((True, False), (True, True), (False, False), (False, True))):
        where = image.pointer(lists + 8 * index)
        if not where:
            continue
        size, count = image.u32(where), image.u32(where + 4)
        # Bit 31 says that the entries are three relative 32-bit offsets; no protocol list has that before linking.
        if size >> 31:
            raise NotMachO("a protocol's method list is relative")
        for entry in range(where + 8, where + 8 + count * (size & 0xFFFC), size & 0xFFFC):
            plain = image.text(image.pointer(entry + 8))
            extended = image.text(image.pointer(types + 8 * position)) if types else plain
            found.append(Method(image.text(image.pointer(entry)), extended, required, of_class))
            position += 1
    return found


def protocols(data: bytes) -> list[Protocol]:
    """Every protocol in `__objc_protolist` of the fat Mach-O file `data`. Raises NotMachO."""
    image = _Image(_slice(data))
    start, nbytes = image.sections["__objc_protolist"]
    found = []
    for where in range(start, start + nbytes, 8):
        at = image.pointer(where)
        name = image.text(image.pointer(at + 8))
        inherited = image.pointer(at + 16)
        names = ()
        if inherited:
            names = tuple(
                image.text(image.pointer(image.pointer(inherited + 8 + 8 * index) + 8))
                for index in range(image.u64(inherited))
            )
        size = image.u32(at + 64)
        types = image.pointer(at + 72) if size >= 80 else 0
        found.append(Protocol(name, names, tuple(_methods(image, at + 24, types))))
    return found
