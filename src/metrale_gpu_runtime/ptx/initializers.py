"""Initial values of variables: bytes, and the addresses to be stored over them (PTX ISA, "Initializers")."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from .constants import constant, integer, natural, starts_constant
from .element_types import FLOAT_TYPES, TYPE_NBYTES
from .lexer import NUMBER, STRING, WORD, Tokens
from .symbols import UnresolvedSymbols
from .syntax import Immediate, Initializer, Variable

LARGEST_INITIALISED_NBYTES = 256 << 20
MOST_PARAMETRISED = 100_000
_DEEPEST_BRACES = 16


@dataclass(slots=True)
class Budget:
    """What one module may still make us allocate, so that a short text cannot ask for all memory."""

    initialised_nbytes: int = LARGEST_INITIALISED_NBYTES
    parametrised: int = MOST_PARAMETRISED


class InitializerReader:
    """Reads one initialiser into bytes and the addresses to be stored over them.

    Each dimension has its braces; what is left out at the end is zero. The bytes grow with what is written and
    are padded once at the end, so that the declared size costs nothing before it is known to be allowed.
    """

    def __init__(
        self,
        tokens: Tokens,
        variable: Variable,
        count: list[int | None],
        budget: Budget,
        unresolved: UnresolvedSymbols,
    ) -> None:
        self.unresolved = unresolved
        self.tokens, self.variable, self.count, self.budget = tokens, variable, count, budget
        self.scalar = TYPE_NBYTES[variable.type]
        self.data = bytearray()
        self.relocations: list[Initializer] = []
        self.short_row = False
        # Extents from outside in, a vector's components being the innermost dimension.
        self.extents: list[int | None] = [*count, *([variable.vector] if variable.vector > 1 else [])]

    def read(self) -> Variable:
        tokens, variable = self.tokens, self.variable
        at = tokens.at
        if self.extents:
            if tokens.texts[at] != "{":
                tokens.unexpected(f'"{{" before the values of {variable.name}')
            self._braces(0, 0)
        else:
            self._value(0)
        nbytes = variable.nbytes
        count = variable.count
        if self.count and self.count[0] is None:
            row = self._stride(0)
            rows = -(-len(self.data) // row) if row else 0
            nbytes, count = rows * row, rows * row // (self.scalar * variable.vector)
        self.budget.initialised_nbytes -= nbytes
        if self.budget.initialised_nbytes < 0:
            tokens.fail(
                f"the initialised variables of this module have more than {LARGEST_INITIALISED_NBYTES} bytes; "
                f"{variable.name} alone has {nbytes}",
                at,
            )
        return replace(
            variable,
            nbytes=nbytes,
            count=count,
            data=bytes(self.data).ljust(nbytes, b"\0"),
            relocations=tuple(self.relocations),
        )

    def _stride(self, level: int) -> int:
        """The bytes of one element of the dimension `level`."""
        stride = self.scalar
        for extent in self.extents[level + 1 :]:
            stride *= extent or 0
        return stride

    def _braces(self, level: int, offset: int) -> None:
        tokens = self.tokens
        if level >= min(len(self.extents), _DEEPEST_BRACES):
            tokens.fail(f"more braces than {self.variable.name} has dimensions")
        tokens.expect("{")
        stride, extent = self._stride(level), self.extents[level]
        innermost = level == len(self.extents) - 1
        # An open dimension that holds rows of nothing would take rows without end for free.
        end = offset + stride * extent if extent is not None else offset + LARGEST_INITIALISED_NBYTES * bool(stride)
        if tokens.accept("}"):
            return
        while True:
            if offset >= end:
                tokens.fail(f"more values than {self.variable.name} has room for")
            # The ISA has a row that is too short end in zeros; the assembler lets the next row begin there. So a
            # row is short only where nothing follows.
            if self.short_row:
                tokens.fail("a row follows one that has too few values; write out its zeros")
            if innermost:
                self._value(offset)
            else:
                self._braces(level + 1, offset)
            offset += stride
            if not tokens.accept(","):
                tokens.expect("}", ' or "," after a value')
                self.short_row = self.short_row or (level > 0 and offset < end)
                if innermost and self.variable.vector > 1 and offset < end:
                    tokens.fail(f"a vector of {self.variable.vector} has too few values", tokens.at - 1)
                return

    def _store(self, offset: int, raw: bytes) -> None:
        end = offset + len(raw)
        if end > LARGEST_INITIALISED_NBYTES:
            self.tokens.fail(f"an initialiser reaches past {LARGEST_INITIALISED_NBYTES} bytes", self.tokens.at - 1)
        if offset > len(self.data):
            self.data.extend(bytes(offset - len(self.data)))
        self.data[offset:end] = raw

    def _value(self, offset: int) -> None:
        tokens = self.tokens
        at = tokens.at
        if tokens.kinds[at] == STRING:
            tokens.unexpected("a number or a symbol; PTX has no string values")
        if tokens.kinds[at] == WORD and tokens.texts[at] != "WARP_SZ":
            self._address(offset, None)
        elif tokens.kinds[at] == NUMBER and tokens.texts[at + 1] == "(":
            mask = natural(tokens, "a mask")
            tokens.expect("(")
            self._address(offset, mask)
            tokens.expect(")", " after the masked address")
        elif starts_constant(tokens):
            self._store(offset, self._encoded(constant(tokens), at))
        else:
            tokens.unexpected(f"a value for {self.variable.name}")

    def _address(self, offset: int, mask: int | None) -> None:
        """`sym`, `sym+4`, `generic(sym)`, `generic(sym+4)+8`."""
        tokens = self.tokens
        at = symbol_at = tokens.at
        symbol = tokens.word("a symbol")
        generic = symbol == "generic" and tokens.texts[tokens.at] == "("
        addend = 0
        if generic:
            tokens.expect("(")
            symbol_at = tokens.at
            symbol = tokens.word("a symbol")
            addend = self._addend()
            tokens.expect(")", " after the symbol")
        addend += self._addend()
        if self.scalar < 4 and mask is None:
            tokens.fail(f"an address does not fit in .{self.variable.type}", at)
        if mask is not None and not _is_byte_mask(mask):
            tokens.fail(f"a mask selects one byte of an address (0xFF, 0xFF00, …), not {mask:#x}", at - 2)
        if self.variable.type in FLOAT_TYPES:
            tokens.fail(f"an address cannot be stored as .{self.variable.type}", at)
        self.unresolved.add(symbol, symbol_at)
        self._store(offset, bytes(self.scalar))
        self.relocations.append(Initializer(offset, self.scalar, symbol, addend, generic, mask))

    def _addend(self) -> int:
        tokens = self.tokens
        if tokens.texts[tokens.at] not in ("+", "-"):
            return 0
        return integer(tokens, "an offset")

    def _encoded(self, value: Immediate, at: int) -> bytes:
        tokens, kind, width = self.tokens, self.variable.type, self.scalar
        if value.float_bits is None:
            if kind not in FLOAT_TYPES:
                return (value.value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            return tokens.fail(f"an integer for .{kind}; write it with a decimal point or as a bit pattern", at)
        raw = value.value.to_bytes(value.float_bits // 8, "little")
        if kind[0] in "fb" and len(raw) == width:
            return raw
        if kind in ("f32", "b32") and value.float_bits == 64:
            return _rounded_to_f32(struct.unpack("<d", raw)[0])
        return tokens.fail(f"a floating-point value of {value.float_bits} bits for .{kind}", at)


def _is_byte_mask(mask: int) -> bool:
    return mask in {0xFF << 8 * byte for byte in range(8)}


def _rounded_to_f32(number: float) -> bytes:
    """IEEE rounding; too large becomes infinity, where struct would raise."""
    try:
        return struct.pack("<f", number)
    except OverflowError:
        return struct.pack("<f", float("inf") if number > 0 else float("-inf"))
