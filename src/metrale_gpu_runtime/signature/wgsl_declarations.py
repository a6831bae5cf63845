"""The declarations of a WGSL module: their names, attributes and words, not yet their meaning.

Source: "WebGPU Shading Language", sections "Directives", "Module Scope", "Attributes" and the grammar of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .wgsl_bodies import names_used
from .wgsl_tokens import SIGN, TEMPLATE, WORD, Token, WgslText

Words = tuple[Token, ...]
_DIRECTIVES: Final = ("enable", "requires", "diagnostic", "const_assert")
_CONSTANTS: Final = ("const", "override")


@dataclass(frozen=True, slots=True)
class Attribute:
    """`@name(…)`, with the words of each argument."""

    name: str
    arguments: tuple[Words, ...]
    token: Token


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a structure."""

    name: str
    type: Words
    attributes: tuple[Attribute, ...]
    token: Token

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of this name."""
        return next((each for each in self.attributes if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One name of a module. `kind` is "struct", "alias", "const", "override", "var" or "fn".

    `type` and `value` are the words of a type and of what it is set to, empty where there are none; `space` and
    `access` are a variable's ("" where none is stated). `uses` are the names that it mentions.
    """

    kind: str
    name: str
    token: Token
    attributes: tuple[Attribute, ...] = ()
    type: Words = ()
    value: Words = ()
    members: tuple[Member, ...] = ()
    space: str = ""
    access: str = ""
    uses: frozenset[str] = frozenset()

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of this name."""
        return next((each for each in self.attributes if each.name == name), None)


def read_declarations(source: WgslText) -> dict[str, Declaration]:
    """The declarations by name, in the text's order. Raises SignatureError for what is no declaration."""
    return _Walker(source).declarations()


def split(tokens: Sequence[Token], source: WgslText) -> tuple[Words, ...]:
    """Words at the commas outside of brackets; a last comma may have nothing behind it."""
    groups: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == TEMPLATE:
            depth += 1 if token.text == "<" else -1
        elif token.kind == SIGN and token.text in ("(", ")", "[", "]", "{", "}"):
            depth += 1 if token.text in "([{" else -1
        if token.kind == SIGN and token.text == "," and depth == 0:
            if not groups[-1]:
                raise source.error("something is missing in front of this comma", token)
            groups.append([])
        else:
            groups[-1].append(token)
    if not groups[-1]:
        groups.pop()
    return tuple(tuple(group) for group in groups)


def _given(attributes: Sequence[Attribute]) -> list[Words]:
    """What stands in the parentheses of attributes."""
    return [words for each in attributes for words in each.arguments]


class _Walker:
    def __init__(self, source: WgslText) -> None:
        self.source, self.tokens = source, source.tokens
        self.at = 0
        self.found: dict[str, Declaration] = {}

    def declarations(self) -> dict[str, Declaration]:
        while self.at < len(self.tokens):
            if self.is_sign(";"):
                self.at += 1
            else:
                self.declaration()
        return self.found

    # ------------------------------------------------ words

    def is_sign(self, text: str, kind: str = SIGN) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].kind == kind and self.tokens[self.at].text == text

    def take(self, text: str, kind: str = SIGN) -> bool:
        if self.is_sign(text, kind):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise self.unexpected(repr(text))

    def word(self, what: str) -> Token:
        if self.at >= len(self.tokens) or self.tokens[self.at].kind != WORD:
            raise self.unexpected(what)
        self.at += 1
        return self.tokens[self.at - 1]

    def unexpected(self, wanted: str) -> Exception:
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            return self.source.error(f"{wanted} is wanted, not {token.text!r}", token)
        return self.source.error(f"{wanted} is wanted, and the text ends", len(self.source.text.rstrip()))

    def bracketed(self) -> Words:
        """The words in the brackets that open here, without them."""
        close = self.source.closing[self.at]
        inside = self.tokens[self.at + 1 : close]
        self.at = close + 1
        return inside

    def until(self, *signs: str) -> Words:
        """The words up to one of these signs outside of brackets, which stays."""
        begin = self.at
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == SIGN and token.text in signs:
                return self.tokens[begin : self.at]
            self.at = self.source.closing.get(self.at, self.at) + 1
        raise self.unexpected(" or ".join(map(repr, signs)))

    def attributes(self) -> tuple[Attribute, ...]:
        found = []
        while self.take("@"):
            name = self.word("the name of an attribute")
            arguments = split(self.bracketed(), self.source) if self.is_sign("(") else ()
            found.append(Attribute(name.text, arguments, name))
        return tuple(found)

    # ------------------------------------------------ declarations

    def declaration(self) -> None:
        attributes = self.attributes()
        begin = self.word("a declaration")
        kind = begin.text
        if kind in _DIRECTIVES:
            self.until(";")
            self.expect(";")
        elif kind == "struct":
            self.structure(attributes)
        elif kind == "alias":
            name = self.word("a name")
            self.expect("=")
            type = self.until(";")
            self.add(Declaration(kind, name.text, name, attributes, type, uses=names_used(type)))
            self.expect(";")
        elif kind in _CONSTANTS:
            self.constant(kind, attributes)
        elif kind == "var":
            self.variable(attributes)
        elif kind == "fn":
            self.function(attributes)
        else:
            raise self.source.error(
                f"{kind!r} begins no declaration of WGSL; struct, alias, const, override, var and fn do", begin
            )

    def add(self, declared: Declaration) -> None:
        if declared.name in self.found:
            first = self.source.line(self.found[declared.name].token)
            raise self.source.error(f"{declared.name} is declared in line {first} already", declared.token)
        self.found[declared.name] = declared

    def structure(self, attributes: tuple[Attribute, ...]) -> None:
        name = self.word("the name of a structure")
        if not self.is_sign("{"):
            raise self.unexpected("'{'")
        end = self.source.closing[self.at]
        self.at += 1
        members: dict[str, Member] = {}
        while self.at < end:
            marks = self.attributes()
            member = self.word("the name of a member")
            self.expect(":")
            type = self.until(",", "}")
            if member.text in members:
                raise self.source.error(f"{name.text} has two members {member.text}", member)
            members[member.text] = Member(member.text, type, marks, member)
            if self.at < end:
                self.expect(",")
        self.at = end + 1
        used = frozenset[str]().union(*(names_used(each.type) for each in members.values()))
        used = used.union(*(names_used(words) for each in members.values() for words in _given(each.attributes)))
        self.add(Declaration("struct", name.text, name, attributes, members=tuple(members.values()), uses=used))

    def constant(self, kind: str, attributes: tuple[Attribute, ...]) -> None:
        name = self.word("a name")
        type: Words = ()
        value: Words = ()
        if self.take(":"):
            type = self.until("=", ";")
        if self.take("="):
            value = self.until(";")
        elif kind == "const":
            raise self.unexpected("'='")
        self.expect(";")
        self.add(Declaration(kind, name.text, name, attributes, type, value, uses=names_used(type) | names_used(value)))

    def variable(self, attributes: tuple[Attribute, ...]) -> None:
        space = access = ""
        if self.is_sign("<", TEMPLATE):
            arguments = split(self.bracketed(), self.source)
            words = [self.source.spelled(each) for each in arguments]
            space = words[0] if words else ""
            access = words[1] if len(words) > 1 else ""
        name = self.word("the name of a variable")
        type: Words = ()
        value: Words = ()
        if self.take(":"):
            type = self.until("=", ";")
        if self.take("="):
            value = self.until(";")
        self.expect(";")
        uses = names_used(type) | names_used(value)
        self.add(Declaration("var", name.text, name, attributes, type, value, space=space, access=access, uses=uses))

    def function(self, attributes: tuple[Attribute, ...]) -> None:
        name = self.word("the name of a function")
        if not self.is_sign("("):
            raise self.unexpected("'('")
        parameters = split(self.bracketed(), self.source)
        names: list[str] = []
        uses = frozenset[str]()
        for words in parameters:
            # Attributes stand in front, the type behind the last colon that is no part of one.
            colon = next((i for i, each in enumerate(words) if each.kind == SIGN and each.text == ":"), None)
            if not colon:
                raise self.source.error("a parameter is wanted: its name, a colon, its type", words[0])
            names.append(words[colon - 1].text)
            uses |= names_used(words[colon + 1 :])
        uses |= names_used(self.until("{"))
        body = self.bracketed()
        uses |= names_used(body, names)
        uses = uses.union(*(names_used(words) for words in _given(attributes)))
        self.add(Declaration("fn", name.text, name, attributes, uses=uses))
