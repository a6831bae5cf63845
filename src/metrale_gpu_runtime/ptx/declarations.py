"""Declarations of variables and parameters: types, alignment, vectors, arrays (PTX ISA, "Variables")."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .constants import integer, natural
from .element_types import OPAQUE_TYPES, TYPE_NBYTES
from .initializers import MOST_PARAMETRISED, Budget, InitializerReader
from .lexer import DOTTED, WORD, Tokens
from .symbols import UnresolvedSymbols
from .syntax import Variable

_POINTER_SPACES = frozenset({"global", "const", "shared", "local", "param"})
_DATA_SPACES = frozenset({"global", "const"})
_LARGEST_NBYTES = 1 << 62


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
        elif word in ("v2", "v4") or (word == "v8" and space != "reg"):
            head.vector = int(word[1])
        elif word == "attribute":
            head.attributes += attributes(tokens)
        elif word == "ptr" and space == "param":
            head.is_pointer, head.pointer_space = True, "generic"
        elif word in _POINTER_SPACES and head.is_pointer:
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
    return [InitializerReader(tokens, variable, count, budget, unresolved).read()]


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
