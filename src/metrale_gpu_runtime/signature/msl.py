"""What a Metal Shading Language text tells of its kernels: where each argument goes, value or pointer, type, name.

Only what can be read surely is told: a kernel between `#if` and `#endif`, one whose declaration a macro has a part in,
one that is declared twice, or that takes anything but buffers, values and threadgroup memory is known by name alone,
and a text whose brackets cannot be followed tells nothing. Reflection, where a driver has it, must agree.

Source: "Metal Shading Language Specification", "Function and Variable Declarations", "Address Spaces", "Attributes".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from .bindings import LOCAL, in_argument_order, local_parameter, reference_parameter
from .c_types import CType, parameter_of_pointer
from .kernel_signature import KernelSignature
from .msl_tokens import Token, read_tokens
from .msl_types import find_msl_type
from .parameter import MANY, MSL, ONE, Parameter

_SPACES: Final = ("device", "constant", "threadgroup")
_IGNORED: Final = frozenset(("volatile", "restrict", "__restrict", "__restrict__", "coherent"))
_TYPE_WORDS: Final = frozenset(
    ("unsigned", "signed", "char", "short", "int", "long", "float", "half", "bool", "bfloat")
)
_TAGS: Final = frozenset(("struct", "class", "union", "enum"))
_NUMBER: Final = re.compile(r"(?:0[xX][0-9a-fA-F]{1,8}|0|[1-9]\d{0,8})[uU]?$")
# Attributes of parameters that a launch fills in by itself. Source: "Attributes for Kernel Function Input Arguments".
_FILLED_IN: Final = frozenset(
    (
        "dispatch_quadgroups_per_threadgroup",
        "dispatch_simdgroups_per_threadgroup",
        "dispatch_threads_per_threadgroup",
        "grid_origin",
        "grid_size",
        "quadgroup_index_in_threadgroup",
        "quadgroups_per_threadgroup",
        "simdgroup_index_in_threadgroup",
        "simdgroups_per_threadgroup",
        "thread_execution_width",
        "thread_index_in_quadgroup",
        "thread_index_in_simdgroup",
        "thread_index_in_threadgroup",
        "thread_position_in_grid",
        "thread_position_in_threadgroup",
        "threadgroup_position_in_grid",
        "threadgroups_per_grid",
        "threads_per_grid",
        "threads_per_simdgroup",
        "threads_per_threadgroup",
    )
)
_PLACES: Final = {"buffer": "buffer", "threadgroup": LOCAL}


@dataclass(frozen=True, slots=True)
class MslParameter:
    """One parameter that a launch gives: `kind` is "buffer" or "local", `index` its place among those of its kind.

    `is_own_type`: the text itself says what its type's name means, so that it need not mean what Metal's does.
    """

    kind: str
    index: int
    name: str
    space: str
    is_reference: bool
    is_constant: bool
    type_name: str
    is_own_type: bool = False


class _Unread(Exception):
    """This kernel cannot be read surely."""


def kernels_of_msl(text: str, options: Sequence[str] = ()) -> dict[str, tuple[MslParameter, ...] | None]:
    """The kernels that a text is seen to declare, by the names that the library has them under.

    None for one whose parameters cannot be read surely. There may be more, that macros or templates make. `options` are
    the compiler's (`-DNAME=value`). Any text is taken.
    """
    words = read_tokens(text, tuple(options))
    if words is None:
        return {}
    return _Reader(words.tokens, words.macros).kernels()


def from_msl(kernel: str, parameters: Sequence[MslParameter]) -> KernelSignature:
    """The signature of a kernel that was read."""
    ordered = in_argument_order(parameters)
    return KernelSignature(kernel, tuple(_parameter(index, each) for index, each in enumerate(ordered)), (MSL,))


def _parameter(index: int, read: MslParameter) -> Parameter:
    type: CType | None = find_msl_type(read.type_name) if not read.is_own_type else None
    name = read.name or None
    mark = "&" if read.is_reference else "*"
    if read.kind == LOCAL:
        return local_parameter(index, type, read.type_name, source=MSL, name=name)
    if read.space == "constant":
        return reference_parameter(
            index,
            type,
            read.type_name,
            source=MSL,
            name=name,
            nbytes=None,
            align=None,
            by_reference=ONE if read.is_reference else MANY,
            spelling=f"constant {read.type_name}{mark}",
        )
    constant = "const " if read.is_constant else ""
    return parameter_of_pointer(
        index,
        type,
        read.type_name,
        source=MSL,
        name=name,
        constant=read.is_constant,
        spelling=f"{constant}device {read.type_name}{mark}",
    )


class _Reader:
    """Walks the declarations of a text at the level of namespaces."""

    def __init__(self, tokens: Sequence[Token], macros: frozenset[str]) -> None:
        self.tokens, self.macros = tokens, macros
        self.own_types = _names_of_own_types(tokens)
        self.found: dict[str, tuple[MslParameter, ...] | None] = {}

    def kernels(self) -> dict[str, tuple[MslParameter, ...] | None]:
        scopes: list[str | None] = []
        start = position = 0
        depth = 0
        while position < len(self.tokens):
            text = self.tokens[position].text
            if self.tokens[position].kind != "sign":
                pass
            elif text in "([":
                depth += 1
            elif text in ")]":
                depth -= 1
                if depth < 0:
                    return {}
            elif text == "{" and depth == 0:
                head = self.tokens[start:position]
                if _opens_scope(head):
                    scopes.append(_scope_name(head))
                else:
                    self.declaration(head, scopes)
                    end = self.closing(position)
                    if end is None:
                        return {}
                    position = end
                start = position + 1
            elif text == "}" and depth == 0:
                if not scopes:
                    return {}
                scopes.pop()
                start = position + 1
            elif text == ";" and depth == 0:
                self.declaration(self.tokens[start:position], scopes)
                start = position + 1
            position += 1
        return self.found if depth == 0 and not scopes else {}

    def closing(self, position: int) -> int | None:
        """Where the brace closes that opens here."""
        depth = 0
        for at in range(position, len(self.tokens)):
            if self.tokens[at].kind == "sign":
                depth += (self.tokens[at].text == "{") - (self.tokens[at].text == "}")
                if depth == 0:
                    return at
        return None

    def declaration(self, tokens: Sequence[Token], scopes: Sequence[str | None]) -> None:
        """Read one declaration, should it be a kernel's."""
        head = _Head(tokens)
        if not head.is_kernel:
            return
        prefix = "".join(f"{each}::" for each in scopes if each)
        name = head.host_name if head.host_name is not None else prefix + head.name
        if not name or head.is_template:
            return
        parameters: tuple[MslParameter, ...] | None = None
        try:
            if any(each.is_conditional or each.text in self.macros for each in tokens):
                raise _Unread
            if head.has_unknown_words or None in scopes:
                raise _Unread
            parameters = self.parameters(head)
        except _Unread:
            pass
        if name in self.found and self.found[name] != parameters:
            parameters = None
        self.found[name] = parameters

    def parameters(self, head: _Head) -> tuple[MslParameter, ...]:
        tokens = head.parameters
        if [each.text for each in tokens] in ([], ["void"]):
            return ()
        read = [_Declarator(group, self.own_types).read() for group in _split(tokens)]
        given = [each for each in read if each is not None]
        for kind in ("buffer", LOCAL):
            own = [each for each in given if each.kind == kind]
            stated = {each.index for each in own if each.index >= 0}
            # Without numbers Metal counts in order; how it counts among some that have one is left to it. An instance
            # of a template may leave the numbers to the template.
            if len(stated) != len(own) and (stated or head.is_instance):
                raise _Unread
        counts = {"buffer": 0, LOCAL: 0}
        numbered = []
        for each in given:
            numbered.append(each if each.index >= 0 else replace(each, index=counts[each.kind]))
            counts[each.kind] += 1
        return tuple(numbered)


def _opens_scope(head: Sequence[Token]) -> bool:
    words = [each.text for each in head]
    return words[:1] == ["namespace"] or words[:2] in (["inline", "namespace"], ["extern", '"C"'])


def _scope_name(head: Sequence[Token]) -> str | None:
    """What a scope adds to the names in it: nothing for `extern "C"`. None where that is not sure."""
    names = [each.text for each in head]
    if names[0] == "extern":
        return "" if len(names) == 2 else None
    if names[0] == "inline" or any(each.is_conditional for each in head):
        return None
    names = names[1:]
    return "".join(names) if names and all(name == "::" or name.isidentifier() for name in names) else None


def _names_of_own_types(tokens: Sequence[Token]) -> frozenset[str]:
    """Names that the text itself gives to types: one may be called as one of Metal's is."""
    names: set[str] = set()
    is_typedef, angles = False, 0
    for position, token in enumerate(tokens):
        following = tokens[position + 1].text if position + 1 < len(tokens) else ""
        if token.text == "typedef":
            is_typedef, angles = True, 0
        elif token.text == ";":
            is_typedef = False
        elif is_typedef:
            angles += (token.text == "<") - (token.text == ">")
            if token.kind == "word" and (following in (";", ")", "[") or (following == "," and angles == 0)):
                names.add(token.text)
        if token.text in _TAGS or token.text == "typename":
            names.add(following)
        elif token.text == "using":
            names.add(_brought_in([each.text for each in tokens[position + 1 : position + 16]]))
    return frozenset(names)


def _brought_in(words: Sequence[str]) -> str:
    """The name that `using …` makes: an alias, or one of another namespace than Metal's own; else nothing."""
    if words[1:2] == ["="]:
        return words[0]
    end = words.index(";") if ";" in words else len(words)
    if words[:1] == ["namespace"] or words[:2] in (["metal", "::"], ["simd", "::"]):
        return ""
    return words[end - 1] if end else ""


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The parameters, at the commas outside of brackets."""
    groups: list[list[Token]] = [[]]
    depth = angles = 0
    for token in tokens:
        if token.kind == "sign":
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth == 0:
                angles += (token.text == "<") - (token.text == ">")
        if token.text == "," and token.kind == "sign" and depth == 0 and angles == 0:
            groups.append([])
        else:
            groups[-1].append(token)
    if depth or angles or not all(groups):
        raise _Unread
    return groups


def _take_attributes(tokens: Sequence[Token]) -> tuple[list[Token], list[list[Token]]]:
    """The tokens outside of `[[…]]`, and those of each attribute in one."""
    rest: list[Token] = []
    attributes: list[list[Token]] = []
    position = 0
    while position < len(tokens):
        if [each.text for each in tokens[position : position + 2]] != ["[", "["]:
            rest.append(tokens[position])
            position += 1
            continue
        depth, inside = 0, []
        while position < len(tokens):
            text = tokens[position].text if tokens[position].kind == "sign" else ""
            depth += (text in ("[", "(")) - (text in ("]", ")"))
            inside.append(tokens[position])
            position += 1
            if depth == 0:
                break
        if depth or [each.text for each in inside[-2:]] != ["]", "]"]:
            raise _Unread
        attributes += _split(inside[2:-2])
    return rest, attributes


class _Head:
    """What stands before a brace or a semicolon, as far as it is a kernel's declaration."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.name = ""
        self.host_name: str | None = None
        self.parameters: Sequence[Token] = ()
        self.is_template = self.is_instance = self.has_unknown_words = False
        self.is_kernel = any(each.text == "kernel" and each.kind == "word" for each in tokens)
        if not self.is_kernel:
            return
        try:
            self._read(tokens)
        except _Unread:
            # A kernel, or something that says so, without a name that could be told: it is known to nobody.
            self.has_unknown_words = True

    def _read(self, tokens: Sequence[Token]) -> None:
        opened = _first_parenthesis(tokens)
        closed = _matching(tokens, opened)
        before, leading = _take_attributes(tokens[:opened])
        after, trailing = _take_attributes(tokens[closed + 1 :])
        words = [each.text for each in before]
        if words[:2] == ["template", "<"]:
            # Becomes a kernel where it is instantiated, under another name.
            self.is_template = True
            return
        self.is_instance = words[:1] == ["template"]
        words = words[1:] if self.is_instance else words
        if self.is_instance and "<" in words:
            words = words[: words.index("<")]
        if not words or not words[-1].isidentifier():
            raise _Unread
        self.name = words.pop()
        marks = [[each.text for each in attribute] for attribute in (*leading, *trailing)]
        self._read_host_name(marks)
        if self.is_instance and self.host_name is None:
            raise _Unread
        is_marked = ["kernel"] in marks
        if sorted(words) not in (["kernel", "void"], *([["void"]] if is_marked else [])):
            self.has_unknown_words = True
        for mark in marks:
            if mark[0] not in ("kernel", "host_name", "max_total_threads_per_threadgroup", "user_annotation"):
                self.has_unknown_words = True
        if after:
            self.has_unknown_words = True
        self.parameters = tokens[opened + 1 : closed]

    def _read_host_name(self, marks: Sequence[Sequence[str]]) -> None:
        for mark in marks:
            if mark[0] == "host_name":
                text = mark[2] if len(mark) == 4 else ""
                if not re.fullmatch(r'"[^"\\]+"', text) or self.host_name is not None:
                    raise _Unread
                self.host_name = text[1:-1]


def _first_parenthesis(tokens: Sequence[Token]) -> int:
    """Where the parameter list opens: the first parenthesis outside of attributes."""
    depth = 0
    for position, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text == "(" and depth == 0:
            return position
        depth += (token.text == "[") - (token.text == "]")
    raise _Unread


def _matching(tokens: Sequence[Token], opened: int) -> int:
    depth = 0
    for position in range(opened, len(tokens)):
        if tokens[position].kind == "sign":
            depth += (tokens[position].text == "(") - (tokens[position].text == ")")
            if depth == 0:
                return position
    raise _Unread


class _Declarator:
    """Reads one parameter. Raises _Unread for what is none of the forms that a launch can fill."""

    def __init__(self, tokens: Sequence[Token], own_types: frozenset[str]) -> None:
        self.tokens, attributes = _take_attributes(tokens)
        self.attributes = [[each.text for each in attribute] for attribute in attributes]
        self.own_types = own_types

    def read(self) -> MslParameter | None:
        """The parameter, with index -1 where none is stated; None for one that is filled in."""
        place = self._place()
        words = [each.text for each in self.tokens]
        marks = [position for position, word in enumerate(words) if word in ("*", "&")]
        spaces = [word for word in words if word in _SPACES]
        if place is None and any(attribute[0] in _FILLED_IN for attribute in self.attributes):
            if marks or spaces:
                raise _Unread
            return None
        if len(marks) != 1 or len(spaces) != 1 or "thread" in words:
            raise _Unread
        name = self._name(words[marks[0] + 1 :])
        before = [word for word in words[: marks[0]] if word not in _SPACES]
        is_constant = "const" in before
        type_name = _type_name([word for word in before if word != "const" and word not in _IGNORED])
        is_own = bool(self.own_types.intersection(re.findall(r"[A-Za-z_$][\w$]*", type_name)))
        kind = LOCAL if spaces[0] == "threadgroup" else "buffer"
        stated, index = place if place is not None else (kind, -1)
        if stated != kind:
            raise _Unread
        return MslParameter(kind, index, name, spaces[0], words[marks[0]] == "&", is_constant, type_name, is_own)

    def _place(self) -> tuple[str, int] | None:
        place = None
        for attribute in self.attributes:
            word = attribute[0]
            if word in _PLACES:
                number = attribute[2] if len(attribute) == 4 and attribute[1] == "(" else ""
                if place is not None or not _NUMBER.match(number):
                    raise _Unread
                place = (_PLACES[word], int(number.rstrip("uU"), 0))
            elif word not in _FILLED_IN and word not in ("maybe_unused", "user_annotation"):
                raise _Unread
        return place

    @staticmethod
    def _name(words: Sequence[str]) -> str:
        rest = [word for word in words if word != "const" and word not in _IGNORED]
        if len(rest) > 1 or (rest and not rest[0].isidentifier()):
            raise _Unread
        return rest[0] if rest else ""


def _type_name(words: Sequence[str]) -> str:
    """A type as it is spelled: words of C, or one name, perhaps in namespaces, perhaps with template arguments."""
    words = words[1:] if words and words[0] in _TAGS else words
    if words and all(word in _TYPE_WORDS for word in words):
        return " ".join(words)
    name = ""
    for word in words:
        # Two names side by side are no type: one of them is a macro, or something newer than this.
        name += " " + word if re.search(r"[\w$]$", name) and re.match(r"[\w$]", word) else word
    if not re.fullmatch(r"(?:::)?[A-Za-z_$][\w$]*(?:::[A-Za-z_$][\w$]*)*(?:<[\w$:<>, ]+>)?", name):
        raise _Unread
    return name
