"""Variable declarations: types, alignment, arrays, initialisers (PTX ISA, "Variables")."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from .constants import constant, integer, natural, starts_constant
from .lexer import DOTTED, NUMBER, STRING, WORD, Tokens
from .symbols import UnresolvedSymbols
from .syntax import Immediate, Initializer, Variable

# Bytes of an element; a predicate has no memory form and opaque references are handles of 8 bytes.
TYPE_NBYTES = {
    "b8": 1, "u8": 1, "s8": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8,
    "b128": 16, "u128": 16, "s128": 16, "f128": 16,
    "texref": 8, "samplerref": 8, "surfref": 8,
    "e4m3": 1, "e5m2": 1, "e4m3x2": 2, "e5m2x2": 2, "e2m3x2": 2, "e3m2x2": 2, "e2m1x2": 1, "ue8m0x2": 2,
    "s16x2": 4, "u16x2": 4, "f32x2": 8,
}  # fmt: skip
REGISTER_TYPES = frozenset({"pred", *TYPE_NBYTES} - {"texref", "samplerref", "surfref"})
OPAQUE_TYPES = frozenset({"texref", "samplerref", "surfref"})
POINTER_SPACES = frozenset({"global", "const", "shared", "local", "param"})
_FLOAT_TYPES = frozenset({"f16", "bf16", "f16x2", "bf16x2", "tf32", "f32", "f64"})
_DATA_SPACES = frozenset({"global", "const"})

LARGEST_INITIALISED_NBYTES = 256 << 20
MOST_PARAMETRISED = 100_000
_LARGEST_NBYTES = 1 << 62
_DEEPEST_BRACES = 16


@dataclass(slots=True)
class Budget:
    """What one module may still make us allocate, so that a short text cannot ask for all memory."""

    initialised_nbytes: int = LARGEST_INITIALISED_NBYTES
    parametrised: int = MOST_PARAMETRISED


@dataclass(slots=True)
class _Head:
    """What stands before the names of a declaration."""

    space: str
    type: str = ""
    vector: int = 1
    align: int | None = None
    is_pointer: bool = False
    pointer_space: str | None = None
    pointer_align: int | None = None
    attributes: tuple[str, ...] = ()


def variables(
    tokens: Tokens, space: str, linkage: str | None, budget: Budget, unresolved: UnresolvedSymbols
) -> list[Variable]:
    """Read `[.align n] .type name[dims] [= initialiser], …;` after the state space, to the semicolon.

    Symbols in initialisers are noted in `unresolved`, for functions and variables may follow.
    """
    head = _head(tokens, space)
    found: list[Variable] = []
    while True:
        found.extend(_declarator(tokens, head, linkage, budget, unresolved))
        if tokens.accept(";"):
            return found
        tokens.expect(",", ' or ";" after a declaration')


def parameters(tokens: Tokens) -> tuple[Variable, ...]:
    """Read `(declaration, …)`: the parameters or results of a function or prototype. The next token is "("."""
    tokens.expect("(", " before a parameter list")
    found: list[Variable] = []
    if tokens.accept(")"):
        return ()
    while True:
        if tokens.texts[tokens.at] not in (".param", ".reg"):
            tokens.unexpected('".param" or ".reg"')
        head = _head(tokens, tokens.take()[1:])
        at = tokens.at
        name = tokens.word("the name of a parameter")
        count = _dimensions(tokens)
        found.append(_variable(tokens, at, head, name, count, None))
        if tokens.accept(")"):
            return tuple(found)
        tokens.expect(",", ' or ")" after a parameter')


def attributes(tokens: Tokens) -> tuple[str, ...]:
    """Read `(.managed, .unified(a, b))` after `.attribute`."""
    tokens.expect("(", " after .attribute")
    found: list[str] = []
    while True:
        if tokens.kinds[tokens.at] != DOTTED:
            tokens.unexpected("an attribute")
        text = tokens.take()[1:]
        if tokens.accept("("):
            numbers = [integer(tokens, "a number")]
            while tokens.accept(","):
                numbers.append(integer(tokens, "a number"))
            tokens.expect(")", " after the attribute's numbers")
            text += "(" + ", ".join(map(str, numbers)) + ")"
        found.append(text)
        if tokens.accept(")"):
            return tuple(found)
        tokens.expect(",", ' or ")" after an attribute')


def alignment(tokens: Tokens) -> int:
    """Read the number after `.align`: a power of two."""
    at = tokens.at
    align = natural(tokens, "an alignment")
    if align < 1 or align & (align - 1) or align > 1 << 30:
        tokens.fail(f"an alignment is a power of two of at most 2^30, not {align}", at)
    return align


def _head(tokens: Tokens, space: str) -> _Head:
    head = _Head(space)
    while tokens.kinds[tokens.at] == DOTTED:
        word = tokens.take()[1:]
        if word == "align":
            if head.is_pointer:
                head.pointer_align = alignment(tokens)
            else:
                head.align = alignment(tokens)
        elif word in ("v2", "v4", "v8"):
            head.vector = int(word[1])
        elif word == "attribute":
            head.attributes += attributes(tokens)
        elif word == "ptr" and space == "param":
            head.is_pointer, head.pointer_space = True, "generic"
        elif word in POINTER_SPACES and head.is_pointer:
            head.pointer_space = word
        elif word in TYPE_NBYTES or (word == "pred" and space == "reg"):
            if head.type:
                tokens.fail(f"a second type, .{word}, after .{head.type}", tokens.at - 1)
            head.type = word
        else:
            tokens.unexpected(f"a type, .align or .v2/.v4 after .{space}", tokens.at - 1)
    if not head.type:
        tokens.unexpected(f"a type after .{space}")
    return head


def _declarator(
    tokens: Tokens, head: _Head, linkage: str | None, budget: Budget, unresolved: UnresolvedSymbols
) -> list[Variable]:
    at = tokens.at
    name = tokens.word("the name of a variable")
    if tokens.accept("<"):
        many = natural(tokens, "a count of variables")
        tokens.expect(">", " after the count of variables")
        budget.parametrised -= many
        if budget.parametrised < 0:
            tokens.fail(f"more than {MOST_PARAMETRISED} variables are declared by count", at)
        first = _variable(tokens, at, head, name, None, linkage)
        return [replace(first, name=f"{name}{n}") for n in range(many)]
    count = _dimensions(tokens)
    variable = _variable(tokens, at, head, name, count, linkage)
    if not tokens.accept("="):
        if variable.nbytes == 0 and linkage not in ("extern", "common") and head.space != "param":
            tokens.fail(f"{name} has no size; only .extern arrays may leave it open", at)
        return [variable]
    if head.type in OPAQUE_TYPES:
        return [replace(variable, properties=_properties(tokens))]
    if head.space not in _DATA_SPACES:
        tokens.fail(f"only .global and .const variables have initial values, not .{head.space}", tokens.at - 1)
    return [_Initialising(tokens, head, variable, count, budget, unresolved).read()]


def _dimensions(tokens: Tokens) -> list[int | None]:
    """`[2][3]`; None for the open first one in `x[]`."""
    found: list[int | None] = []
    while tokens.accept("["):
        at = tokens.at
        if tokens.accept("]"):
            if found:
                tokens.fail("only the first dimension of an array may be left open", at)
            found.append(None)
            continue
        extent = integer(tokens, "the size of an array")
        tokens.expect("]", " after the size of an array")
        if extent < 0 or extent >= _LARGEST_NBYTES:
            tokens.fail(f"an array cannot have {extent} elements", at)
        found.append(extent)
    return found


def _variable(
    tokens: Tokens, at: int, head: _Head, name: str, count: list[int | None] | None, linkage: str | None
) -> Variable:
    element = TYPE_NBYTES.get(head.type, 0) * head.vector
    elements: int | None = None
    nbytes = element
    if count:
        elements = 1
        for extent in count:
            elements *= 0 if extent is None else extent
            nbytes = element * elements
            if nbytes >= _LARGEST_NBYTES:
                tokens.fail(f"{name} would have 2^62 bytes or more", at)
    return Variable(
        name=name,
        space=head.space,
        type=head.type,
        align=head.align or max(element, 1),
        nbytes=nbytes,
        count=elements,
        vector=head.vector,
        linkage=linkage,
        is_pointer=head.is_pointer,
        pointer_space=head.pointer_space,
        pointer_align=head.pointer_align,
        position=tokens.position(at),
        attributes=head.attributes,
    )


def _properties(tokens: Tokens) -> tuple[tuple[str, str | int], ...]:
    """`{ filter_mode = linear, width = 64 }` of a sampler, texture or surface."""
    tokens.expect("{", " before the properties of an opaque variable")
    found: list[tuple[str, str | int]] = []
    while not tokens.accept("}"):
        key = tokens.word("the name of a property")
        tokens.expect("=", " after the name of a property")
        if tokens.kinds[tokens.at] == WORD:
            found.append((key, tokens.take()))
        else:
            found.append((key, integer(tokens, "a word or a number")))
        if tokens.texts[tokens.at] != "}":
            tokens.expect(",", ' or "}" after a property')
    return tuple(found)


class _Initialising:
    """Reads one initialiser into bytes and the addresses to be stored over them.

    Each dimension has its braces; what is left out at the end is zero. The bytes grow with what is written and
    are padded once at the end, so that the declared size costs nothing before it is known to be allowed.
    """

    def __init__(
        self,
        tokens: Tokens,
        head: _Head,
        variable: Variable,
        count: list[int | None],
        budget: Budget,
        unresolved: UnresolvedSymbols,
    ) -> None:
        self.unresolved = unresolved
        self.tokens, self.variable, self.count, self.budget = tokens, variable, count, budget
        self.scalar = TYPE_NBYTES[head.type]
        self.data = bytearray()
        self.relocations: list[Initializer] = []
        self.short_row = False
        # Extents from outside in, a vector's components being the innermost dimension.
        self.extents: list[int | None] = [*count, *([head.vector] if head.vector > 1 else [])]

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
        if self.variable.type in _FLOAT_TYPES:
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
            if kind not in _FLOAT_TYPES:
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
