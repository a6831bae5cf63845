"""A preprocessed MSL text as declarations: its kernels with their parameters, its function constants, the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .tokens import Misread, Token, attributes, closing, closing_angle, split

SPACES = ("device", "constant", "threadgroup", "thread")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a list: its name and the tokens in its parentheses."""

    name: str
    arguments: tuple[Token, ...]
    at: int

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.arguments)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel."""

    name: str
    tokens: tuple[Token, ...]
    attributes: tuple[Attribute, ...]

    @property
    def space(self) -> str | None:
        """The address space that the parameter points or refers to; None for one that does neither."""
        marks = [index for index, token in enumerate(self.tokens) if token.text in ("*", "&")]
        if not marks:
            return None
        return next((token.text for token in reversed(self.tokens[: marks[-1]]) if token.text in SPACES), "")


@dataclass(slots=True)
class Declaration:
    """One declaration of the outermost level."""

    tokens: list[Token]
    attributes: list[Attribute] = field(default_factory=list)
    scope: str = ""
    name: str = ""
    kind: str = "other"  # kernel, function, instantiation, function constant, variable, other
    parameters: list[Parameter] = field(default_factory=list)
    template: tuple[int, int] | None = None  # Of its < and >.
    body: tuple[int, int] | None = None  # Of its { and }.
    arguments: str = ""  # Of an instantiation.

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of that name."""
        return next((attribute for attribute in self.attributes if attribute.name == name), None)

    def words(self) -> set[str]:
        """Every identifier in it."""
        return {token.text for token in self.tokens if token.kind == "word"}


def without_attributes(tokens: Sequence[Token]) -> tuple[list[Token], list[Attribute]]:
    """The tokens outside of attribute lists, and the attributes."""
    kept, found, at = [], [], 0
    for first, last in attributes(tokens):
        kept += tokens[at:first]
        at = last + 1
        for part in split(tokens[first + 2 : last - 1]):
            names = [token.text for token in part if token.kind == "word"]
            opening = next((index for index, token in enumerate(part) if token.text == "("), len(part))
            name = "".join(token.text for token in part[:opening])
            inside = tuple(part[opening + 1 : -1])
            found.append(Attribute(name or names[0], inside, part[0].start))
    return [*kept, *tokens[at:]], found


def declarations(tokens: Sequence[Token], scope: str = "") -> list[Declaration]:
    """The declarations of a text, those inside of namespaces with their scope."""
    found: list[Declaration] = []
    start = index = 0
    while index < len(tokens):
        text = tokens[index].text
        if text == ";":
            found.append(_declaration(list(tokens[start : index + 1]), scope))
            start = index + 1
        elif text == "{":
            last = closing(tokens, index)
            head = [token.text for token in tokens[start:index]]
            if head[:1] == ["namespace"] or head[:2] == ["inline", "namespace"]:
                name = head[-1] if head[-1] != "namespace" else ""
                found += declarations(tokens[index + 1 : last], f"{scope}{name}::" if name else scope)
                start = last + 1
            elif _is_function(tokens[start:index]):
                found.append(_declaration(list(tokens[start : last + 1]), scope, body=index - start))
                start = last + 1
            index = last
        elif text in ("(", "["):
            index = closing(tokens, index)
        elif text in (")", "]", "}"):
            raise Misread(f"unexpected '{text}'", tokens[index].start)
        index += 1
    if start < len(tokens):
        raise Misread("a declaration does not end", tokens[start].start)
    return found


def _is_function(head: Sequence[Token]) -> bool:
    plain = without_attributes(head)[0]
    if any(token.text == "=" for part in split(plain, ";") for token in _outside_of_brackets(part)):
        return False
    words = [token.text for token in _after_template(plain)]
    return not words[:1] or (words[0] not in ("struct", "class", "enum", "union", "typedef", "using") and ")" in words)


def _outside_of_brackets(tokens: Sequence[Token]) -> list[Token]:
    kept, index = [], 0
    while index < len(tokens):
        if tokens[index].text in ("(", "[", "{"):
            index = closing(tokens, index)
        elif tokens[index].text == "<" and index and tokens[index - 1].kind == "word":
            index = closing_angle(tokens, index)
        else:
            kept.append(tokens[index])
        index += 1
    return kept


def _after_template(tokens: Sequence[Token]) -> Sequence[Token]:
    while len(tokens) > 1 and tokens[0].text == "template" and tokens[1].text == "<":
        tokens = tokens[closing_angle(tokens, 1) + 1 :]
    return tokens


def _declaration(tokens: list[Token], scope: str, body: int | None = None) -> Declaration:
    made = Declaration(tokens, scope=scope)
    head_end = body if body is not None else len(tokens)
    head, made.attributes = without_attributes(tokens[:head_end])
    outermost = _outside_of_brackets(head)
    is_kernel = any(token.text == "kernel" for token in outermost) or made.attribute("kernel") is not None
    if body is not None:
        made.body = (tokens[body].start, tokens[-1].end)
    if head and head[0].text == "template" and len(head) > 1:
        if head[1].text != "<":
            if is_kernel or made.attribute("host_name") is not None:
                made.kind = "instantiation"
                _read_instantiation(made, head)
            return made
        made.template = (head[1].start, head[closing_angle(head, 1)].end)
    if body is not None:
        made.kind = "kernel" if is_kernel else "function"
        rest = _after_template(head)
        opening = next((index for index, token in enumerate(rest) if token.text == "("), None)
        if not opening:
            raise Misread("a function without a parameter list", tokens[0].start)
        made.name = rest[opening - 1].text
        if is_kernel:
            _read_kernel(made)
        return made
    if made.attribute("function_constant") is not None:
        made.kind = "function constant"
        made.name = next(token.text for token in reversed(head) if token.kind == "word")
        return made
    first = _after_template(head)[0].text if _after_template(head) else ""
    if first not in (
        "using",
        "typedef",
        "struct",
        "class",
        "enum",
        "union",
        "namespace",
        "static_assert",
        "extern",
        ";",
        "",
    ):
        words = [token for token in outermost if token.kind == "word"]
        assigned = next((index for index, token in enumerate(outermost) if token.text == "="), None)
        if assigned is not None or not any(token.text == "(" for token in head):
            made.kind = "variable"
            before = [token for token in (outermost[:assigned] if assigned else outermost) if token.kind == "word"]
            made.name = before[-1].text if before else (words[-1].text if words else "")
    elif first in ("struct", "class", "enum", "union", "using"):
        named = [token.text for token in _after_template(head)[1:2] if token.kind == "word"]
        made.name = named[0] if named else ""
    return made


def _read_kernel(kernel: Declaration) -> None:
    """The parameters; the attributes of the function alone stay its own."""
    tokens = kernel.tokens
    skipped = [(first, last) for first, last in attributes(tokens)]
    index = 0
    if kernel.template is not None:
        index = next(i for i, token in enumerate(tokens) if token.end == kernel.template[1]) + 1
    while tokens[index].text != "(":
        inside = next((last for first, last in skipped if first == index), None)
        index = index + 1 if inside is None else inside + 1
    last = closing(tokens, index)
    outside, kernel.attributes = without_attributes([*tokens[:index], *tokens[last + 1 :]])
    del outside
    for part in split(tokens[index + 1 : last]):
        plain, found = without_attributes(part)
        assigned = next((i for i, token in enumerate(plain) if token.text == "="), len(plain))
        plain = plain[:assigned]
        if [token.text for token in plain] == ["void"]:
            continue
        bracket = next((i for i, token in enumerate(plain) if token.text == "["), len(plain))
        grouped = next((i for i, token in enumerate(plain) if token.text == "("), None)
        names = plain[:bracket] if grouped is None else plain[grouped : closing(plain, grouped)]
        name = next((token.text for token in reversed(names) if token.kind == "word"), "")
        kernel.parameters.append(Parameter(name, tuple(plain), tuple(found)))


def _read_instantiation(made: Declaration, head: list[Token]) -> None:
    """`template [[host_name("n")]] kernel void f<A>(…)`, or `… decltype(f<A>) f<A>`: the name and its arguments."""
    rest = [token for token in head[1:] if token.text not in ("kernel", ";")]
    if rest and rest[0].text == "decltype":
        rest = rest[closing(rest, 1) + 1 :]
    for index, token in enumerate(rest):
        if token.text == "<" and index:
            last = closing_angle(rest, index)
            if last + 1 == len(rest) or rest[last + 1].text == "(":
                made.name = rest[index - 1].text
                made.arguments = " ".join(token.text for token in rest[index + 1 : last])
                return
    raise Misread("an instantiation of a kernel states its template arguments: name<…>", made.tokens[0].start)
