"""The operands of instructions: registers, addresses, vectors, constants (PTX ISA, "Instruction Operands")."""

from __future__ import annotations

import re

from .constants import constant, integer, starts_constant
from .lexer import WORD, Tokens
from .scopes import COMPONENT_NAMES, Meaning, Naming
from .special_registers import COMPONENTS, SCALARS, VECTORS
from .symbols import UnresolvedSymbols
from .syntax import (
    Address,
    Immediate,
    Negated,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Vector,
)

_DEEPEST_OPERAND = 8
_SINK = Sink()
_PART = re.compile(r"[bh][0-7]{1,4}")


class OperandReader:
    """Reads operands where the tokens stand and gives each name its meaning there."""

    def __init__(self, tokens: Tokens, naming: Naming, unresolved: UnresolvedSymbols) -> None:
        self.tokens, self.naming, self.unresolved = tokens, naming, unresolved
        self.function, self.module = naming.function, naming.module

    def operand(self, depth: int) -> Operand:
        """Read one operand; `depth` counts the braces and brackets of the instruction around it."""
        tokens = self.tokens
        at = tokens.at
        text = tokens.texts[at]
        kind = tokens.kinds[at]
        operand: Operand
        if kind == WORD:
            meaning = self.naming.scope.names.get(text)
            if meaning is not None:
                tokens.at = at + 1
                operand = meaning
            else:
                operand = self.named(at)
            following = tokens.texts[tokens.at]
            if following == "," or following == ";":
                return operand
            if following == "[" and isinstance(operand, Symbol):
                operand = self._indexed(operand)
            elif following in ("+", "-") and isinstance(operand, Symbol):
                operand = Symbol(operand.name, integer(tokens, "an offset"))
        elif text == "{":
            operand = self._vector(depth)
        elif text == "[":
            operand = self._address(depth)
        elif text in ("!", "-") and tokens.kinds[at + 1] == WORD and tokens.texts[at + 1] != "WARP_SZ":
            tokens.at += 1
            operand = Negated(self.named(tokens.at))
            if not isinstance(operand.operand, (Register, Part)):
                tokens.unexpected("a register or a number after the sign", at + 1)
        elif starts_constant(tokens):
            operand = constant(tokens)
        else:
            tokens.unexpected("an operand")
        if tokens.texts[tokens.at] == "|" and depth < _DEEPEST_OPERAND:
            tokens.at += 1
            operand = Pair(operand, self.operand(_DEEPEST_OPERAND))
        return operand

    def named(self, at: int) -> Operand:
        """The operand that the word at `at` names; the word is passed."""
        tokens = self.tokens
        tokens.at = at + 1
        name = tokens.texts[at]
        if name == "_":
            return _SINK
        meaning = self.naming.find(name)
        if meaning is not None:
            return meaning
        if name in SCALARS:
            return SpecialRegister(name)
        if name == "WARP_SZ":
            tokens.at = at
            return constant(tokens)
        base, dot, part = name.partition(".")
        if base in VECTORS:
            if not dot:
                return Vector(tuple(SpecialRegister(f"{base}.{component}") for component in COMPONENTS))
            if part in COMPONENT_NAMES:
                return SpecialRegister(f"{base}.{COMPONENTS[COMPONENT_NAMES[part]]}")
            tokens.fail(f"{base} has no component .{part}; it has .x, .y, .z and .w", at)
        if dot:
            return self._part(at, base, part)
        if not self.naming.in_module(name):
            # A register's name tells that it is none of the module's; at once is the better place to say so.
            if name[0] == "%":
                tokens.fail(f"{name} is not declared", at)
            self.unresolved.add(name, at)
        return Symbol(name)

    def _part(self, at: int, base: str, part: str) -> Operand:
        tokens = self.tokens
        whole: Meaning | None = self.naming.find(base)
        if whole is None:
            tokens.fail(f"{base} is not declared", at)
        component = self.naming.component(whole, part)
        if component is not None:
            return component
        if isinstance(whole, Register) and _PART.fullmatch(part):
            return Part(whole, part)
        return tokens.fail(f"{base} has no component .{part}", at)

    def _vector(self, depth: int) -> Operand:
        tokens = self.tokens
        if depth >= _DEEPEST_OPERAND:
            tokens.fail("braces inside of braces inside of an operand")
        tokens.at += 1
        elements: list[Operand] = []
        while True:
            elements.append(self.operand(depth + 1))
            if tokens.accept("}"):
                return Vector(tuple(elements))
            tokens.expect(",", ' or "}" after an element')

    def _address(self, depth: int) -> Operand:
        """`[base]`, `[base+offset]`, `[base, sampler, {x, y}]`; the next token is the bracket."""
        tokens = self.tokens
        tokens.at += 1
        at = tokens.at
        base: Operand
        if tokens.kinds[at] == WORD and tokens.texts[at] != "WARP_SZ":
            base = self.named(at)
            offset = integer(tokens, "an offset") if tokens.texts[tokens.at] in ("+", "-") else 0
            if tokens.texts[tokens.at] == "[" and isinstance(base, Symbol):
                indexed = self._indexed(base)
                base, offset = Symbol(indexed.name), offset + indexed.offset
        elif starts_constant(tokens):
            base, offset = Immediate(integer(tokens, "an address")), 0
        else:
            tokens.unexpected("a register, a symbol or a number")
        if not isinstance(base, (Register, Symbol, Immediate)):
            tokens.unexpected("a register, a symbol or a number", at)
        subscripts: list[Operand] = []
        while tokens.accept(","):
            if depth >= _DEEPEST_OPERAND:
                tokens.fail("brackets nest too deeply")
            subscripts.append(self.operand(depth + 1))
        tokens.expect("]", " at the end of an address")
        return Address(base, offset, tuple(subscripts))

    def _indexed(self, symbol: Symbol) -> Symbol:
        """`x[3]`: the address of an element (PTX ISA, "Arrays as Operands")."""
        tokens = self.tokens
        at = tokens.at
        variable = self.function.variables.get(symbol.name)
        if variable is None:
            named = (v for v in (*self.function.parameters, *self.function.returns) if v.name == symbol.name)
            variable = next(named, None) or self.module.variables.get(symbol.name)
        if variable is None or variable.count is None:
            tokens.fail(f"{symbol.name} is not a declared array", at - 1)
        tokens.at += 1
        if tokens.kinds[tokens.at] == WORD and tokens.texts[tokens.at] != "WARP_SZ":
            tokens.fail("an array index must be constant here; compute the address in a register instead")
        index = integer(tokens, "the index of an element")
        tokens.expect("]", " after an index")
        if not 0 <= index < max(variable.count, 1):
            tokens.fail(f"{symbol.name} has {variable.count} elements; there is none at {index}", at)
        return Symbol(symbol.name, index * (variable.nbytes // max(variable.count, 1)))
