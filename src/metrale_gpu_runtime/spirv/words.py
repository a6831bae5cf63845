"""The words of a SPIR-V binary as instructions. What is damaged is refused with the place of the word.

Source: "SPIR-V Specification", section "Physical Layout of a SPIR-V Module and Instruction".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import ModuleLoadError
from .instructions import INSTRUCTIONS

_MAGIC: Final = 0x07230203
_HEADER_WORDS: Final = 5


@dataclass(frozen=True, slots=True)
class Instruction:
    """One that is read: its operands by their kinds, strings as text; `offset` is the place of its first word."""

    name: str
    operands: tuple[int | str, ...]
    offset: int

    def number(self, place: int) -> int:
        """An operand that is an id or a number."""
        value = self.operands[place]
        assert isinstance(value, int)
        return value

    def text(self, place: int) -> str:
        """An operand that is a string."""
        value = self.operands[place]
        assert isinstance(value, str)
        return value

    def rest(self, place: int) -> tuple[int, ...]:
        """All numbers from an operand on."""
        return tuple(each for each in self.operands[place:] if isinstance(each, int))


@dataclass(frozen=True, slots=True)
class Binary:
    """The header of a binary, and its words in this machine's order. `bound` is one more than the largest id."""

    module: str
    version: tuple[int, int]
    generator: int
    bound: int
    words: Sequence[int]

    def refused(self, what: str, offset: int) -> ModuleLoadError:
        """The error about a word."""
        return ModuleLoadError(
            f"module {self.module!r}: the SPIR-V is damaged at word {offset}: {what}", module=self.module
        )

    def instructions(self) -> Iterator[Instruction]:
        """Those that say what is declared, in order; others are passed over. Raises ModuleLoadError for damage."""
        at = _HEADER_WORDS
        while at < len(self.words):
            length, number = self.words[at] >> 16, self.words[at] & 0xFFFF
            if length == 0:
                raise self.refused(f"an instruction ({number}) of no words", at)
            if at + length > len(self.words):
                raise self.refused(
                    f"instruction {number} is said to have {length} words, {len(self.words) - at} are left", at
                )
            known = INSTRUCTIONS.get(number)
            if known is not None:
                yield Instruction(known[0], self._operands(known[0], known[1], at, at + length), at)
            at += length

    def _operands(self, name: str, kinds: Sequence[str], begin: int, end: int) -> tuple[int | str, ...]:
        found: list[int | str] = []
        at = begin + 1
        for kind in kinds:
            many, optional = kind.endswith("*"), kind.endswith("?")
            kind = kind.rstrip("*?")
            if at == end and not many and not optional:
                raise self.refused(f"{name} has {end - begin} words; its {len(found) + 1}. operand is missing", begin)
            while at < end:
                if kind == "text":
                    text, at = self._text(name, at, end)
                    found.append(text)
                else:
                    found.append(self._number(name, kind, at))
                    at += 1
                if not many:
                    break
        if at < end:
            raise self.refused(f"{name} has {end - begin} words, {end - at} too many", begin)
        return tuple(found)

    def _number(self, name: str, kind: str, at: int) -> int:
        value = self.words[at]
        if kind in ("id", "result") and not 0 < value < self.bound:
            raise self.refused(f"{name} names id {value}; ids go from 1 to {self.bound - 1}", at)
        return value

    def _text(self, name: str, at: int, end: int) -> tuple[str, int]:
        """A string, which ends in the first word that has a zero byte in it."""
        data = bytearray()
        for place in range(at, end):
            word = self.words[place].to_bytes(4, "little")
            data += word
            if 0 in word:
                try:
                    return bytes(data[: data.index(0)]).decode(), place + 1
                except UnicodeDecodeError:
                    raise self.refused(f"the string of {name} is not UTF-8", at) from None
        raise self.refused(f"the string of {name} does not end", at)


def read_words(data: bytes, module: str) -> Binary:
    """The header and the words of a binary, of either byte order. Raises ModuleLoadError."""

    def refused(what: str) -> ModuleLoadError:
        return ModuleLoadError(f"module {module!r}: {what}", module=module)

    if len(data) < 4 * _HEADER_WORDS:
        raise refused(f"the SPIR-V is damaged: its {len(data)} bytes are less than a header of {4 * _HEADER_WORDS}")
    if len(data) % 4:
        raise refused(f"the SPIR-V is damaged: {len(data)} bytes are no whole number of words")
    order = next((each for each in "<>" if struct.unpack_from(f"{each}I", data)[0] == _MAGIC), None)
    if order is None:
        raise refused(f"this is no SPIR-V: it begins with {data[:4].hex(' ')}")
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    version, generator, bound, schema = words[1:_HEADER_WORDS]
    if version & 0xFF0000FF or version >> 16 != 1:
        raise refused(f"the SPIR-V is of version {version:#010x}; versions 1.x are read")
    if schema:
        raise refused(f"the SPIR-V is damaged at word 4: schema {schema}, where 0 is the only one")
    if bound < 1:
        raise refused("the SPIR-V is damaged at word 3: no ids")
    return Binary(module, (1, version >> 8 & 0xFF), generator, bound, words)
