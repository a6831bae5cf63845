"""A C parameter list, or a whole prototype, as a caller declares it: text -> KernelSignature.

    const float* x, float* __restrict__ y, int n
    extern "C" __global__ void k(const __half* x, struct Particle* all, struct(24, 8) one, bool flag)

A structure by value is given by size and alignment, `struct(24, 8) one`, because its fields are not known here; its
tag may stand between: `struct Particle(24, 8) one`. Names may be left out. OpenCL's address spaces are understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from ..errors import SignatureError
from .c_types import C_TYPES, CType, find_c_type, parameter_of_pointer, parameter_of_value
from .kernel_signature import KernelSignature
from .mangled import readable_name
from .parameter import DECLARED, Parameter

_TOKEN: Final = re.compile(
    r'(?P<word>(?:::)?[A-Za-z_$][\w$]*(?:::[A-Za-z_$][\w$]*)*)|(?P<number>\d\w*)|(?P<text>"[^"]*")|(?P<sign>\.\.\.|\S)'
)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WHOLE_WORDS: Final = ("void", "bool", "float", "double", "wchar_t", "char8_t", "char16_t", "char32_t")
_BUILT_IN: Final = frozenset((*_WHOLE_WORDS, "char", "short", "int", "long", "signed", "unsigned", "_Bool", "__int128"))
_IGNORED: Final = frozenset(
    ("volatile", "restrict", "__restrict", "__restrict__", "__grid_constant__", "register", "typename")
)
_SPACES: Final = {
    **dict.fromkeys(("global", "__global"), "global"),
    **dict.fromkeys(("local", "__local"), "local"),
    **dict.fromkeys(("constant", "__constant"), "constant"),
}
_TAGS: Final = frozenset(("struct", "class", "union", "enum"))
# The words of a fundamental type, sorted, to its usual spelling; "int" is dropped where something else says the width.
_SPELLINGS: Final = {
    "unsigned": "unsigned int",
    "int unsigned": "unsigned int",
    "signed": "int",
    "int signed": "int",
    "int": "int",
    "short": "short",
    "short signed": "short",
    "short unsigned": "unsigned short",
    "long": "long",
    "long signed": "long",
    "long unsigned": "unsigned long",
    "long long": "long long",
    "long long signed": "long long",
    "long long unsigned": "unsigned long long",
    "char": "char",
    "char signed": "signed char",
    "char unsigned": "unsigned char",
    "__int128": "__int128",
    "__int128 signed": "__int128",
    "__int128 unsigned": "unsigned __int128",
    **{word: word for word in _WHOLE_WORDS},
    "_Bool": "bool",
}


def parse_declaration(text: str, kernel: str) -> KernelSignature:
    """The signature that a parameter list or a prototype declares for `kernel`.

    "" and "void" declare no parameters. Raises SignatureError, pointing at the place, for what cannot be read, for
    types whose size is not known, and for a prototype of another kernel.
    """
    return _Reader(text, kernel).signature()


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    at: int
    is_word: bool


class _Reader:
    """Reads one declaration from its tokens, left to right."""

    def __init__(self, text: str, kernel: str) -> None:
        self.text, self.kernel = text, kernel
        blanked = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        self.tokens = [_Token(match[0], match.start(), match.lastgroup == "word") for match in _TOKEN.finditer(blanked)]

    def refuse(self, message: str, at: int | None = None) -> NoReturn:
        place = at if at is not None else len(self.text)
        raise SignatureError(
            f"{self.kernel}: the declared signature cannot be read: {message}",
            kernel=self.kernel,
            text=self.text,
            position=place,
        )

    def signature(self) -> KernelSignature:
        tokens = self._parameter_tokens()
        if [each.text for each in tokens] in ([], ["void"]):
            return KernelSignature(self.kernel, (), (DECLARED,))
        parameters: list[Parameter] = []
        end: int | None = 0
        for index, group in enumerate(self._split(tokens)):
            parameter = _Declarator(self, group, index).parameter()
            if parameter.name is not None and any(each.name == parameter.name for each in parameters):
                self.refuse(f"the name {parameter.name!r} is there twice", group[-1].at)
            parameters.append(parameter)
        placed = []
        end = 0
        for parameter in parameters:
            # An OpenCL __local pointer has no bytes of its own, so nothing behind it has an offset of this kind.
            if parameter.space == "local":
                end = None
            if end is None or parameter.nbytes is None or parameter.align is None:
                placed.append(parameter)
                continue
            offset = -(-end // parameter.align) * parameter.align
            placed.append(replace(parameter, offset=offset))
            end = offset + parameter.nbytes
        return KernelSignature(self.kernel, tuple(placed), (DECLARED,))

    def _parameter_tokens(self) -> list[_Token]:
        """The tokens between the parentheses of a prototype, or all of them when there is none."""
        tokens = list(self.tokens)
        while tokens and tokens[-1].text in (";", "{"):
            tokens.pop()
        depth, opened, comma = 0, None, False
        for position, token in enumerate(tokens):
            if token.text in "([{<":
                if token.text == "(" and depth == 0:
                    opened = position
                depth += 1
            elif token.text in ")]}>":
                depth -= 1
                if depth < 0:
                    self.refuse(f"{token.text!r} closes nothing", token.at)
            elif token.text == "," and depth == 0:
                comma = True
        if depth:
            self.refuse("a bracket is not closed")
        if opened is None or comma or not tokens or tokens[-1].text != ")" or opened == 0:
            return tokens
        name = tokens[opened - 1]
        before = [each.text for each in tokens[: opened - 1]]
        if not name.is_word or name.text in _TAGS or not before or before[-1] in _TAGS:
            return tokens
        if "template" in before:
            self.refuse("a template is no kernel; declare the parameters of the instance", tokens[0].at)
        if "void" not in before:
            self.refuse("a kernel returns void", name.at)
        wanted = readable_name(self.kernel).split("<")[0].split("::")[-1]
        if name.text.split("::")[-1] != wanted:
            self.refuse(f"it declares {name.text!r}, not this kernel", name.at)
        return tokens[opened + 1 : -1]

    def _split(self, tokens: list[_Token]) -> list[list[_Token]]:
        groups: list[list[_Token]] = [[]]
        depth = 0
        for token in tokens:
            depth += (token.text in "([{<") - (token.text in ")]}>")
            if token.text == "," and depth == 0:
                if not groups[-1]:
                    self.refuse("a parameter is missing before the comma", token.at)
                groups.append([])
            else:
                groups[-1].append(token)
        if not groups[-1]:
            self.refuse("a parameter is missing after the last comma")
        return groups


class _Declarator:
    """Reads one parameter: specifiers, pointers, name, array brackets."""

    def __init__(self, reader: _Reader, tokens: list[_Token], index: int) -> None:
        self.reader, self.tokens, self.index = reader, tokens, index
        self.position = 0
        self.words: list[str] = []
        self.named: str | None = None
        self.sized: CType | None = None
        self.constants = [False]
        self.space: str | None = None
        self.align: int | None = None
        self.start = tokens[0].at

    def parameter(self) -> Parameter:
        self._specifiers()
        depth = self._pointers()
        name, is_array = self._name_and_array()
        if is_array:
            self.constants.append(False)
            depth += 1
        if self.position < len(self.tokens):
            token = self.tokens[self.position]
            if token.text == "(":
                self.reader.refuse("functions and pointers to them cannot be declared here", token.at)
            if token.text == "=":
                self.reader.refuse("a default value; give every argument in the launch", token.at)
            self.reader.refuse(f"{token.text!r} is not expected here", token.at)
        return self._pointer(depth, name) if depth else self._value(name)

    def _peek(self) -> _Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def _specifiers(self) -> None:
        while (token := self._peek()) is not None:
            word = token.text
            if not token.is_word:
                if word == "[" and not self.words and self.named is None:
                    self._skip_attribute()
                    continue
                if word == "...":
                    self.reader.refuse("a kernel takes no variable arguments", token.at)
                break
            if word == "const":
                self.constants[0] = True
            elif word in _IGNORED or word in ("private", "__private"):
                pass
            elif word in _SPACES:
                self.space = _SPACES[word]
            elif word in ("alignas", "__align__"):
                self.position += 1
                (self.align,) = self._numbers(1, "an alignment")
                continue
            elif word in _TAGS:
                self._tagged(token)
                continue
            elif word in _BUILT_IN:
                if self.named is not None or self.sized is not None:
                    break
                self.words.append(word)
            elif self.words or self.named is not None or self.sized is not None:
                break
            else:
                self.start = token.at
                self.position += 1
                self.named = word + self._bracketed()
                continue
            self.position += 1
        if not self.words and self.named is None and self.sized is None:
            token = self._peek()
            self.reader.refuse("a type is missing", token.at if token is not None else self.start)

    def _skip_attribute(self) -> None:
        depth = 0
        while (token := self._peek()) is not None:
            depth += (token.text == "[") - (token.text == "]")
            self.position += 1
            if depth == 0:
                return

    def _tagged(self, tag: _Token) -> None:
        self.position += 1
        token = self._peek()
        name = ""
        if token is not None and token.is_word:
            self.position += 1
            name = token.text + self._bracketed()
            token = self._peek()
        if token is not None and token.text == "(":
            nbytes, align = self._numbers(2, "a size and an alignment")
            if nbytes < 1 or align < 1 or align & (align - 1) or nbytes % align:
                self.reader.refuse(
                    f"a structure of {nbytes} bytes with alignment {align} cannot be: the alignment is a power of two, "
                    "the size a multiple of it and at least 1",
                    token.at,
                )
            spelling = f"{tag.text} {name}({nbytes}, {align})" if name else f"{tag.text}({nbytes}, {align})"
            self.sized = CType(spelling, nbytes, align)
        elif name:
            self.named, self.start = name, tag.at
        else:
            self.reader.refuse(f"{tag.text} needs a name, or its size and alignment: struct(24, 8)", tag.at)

    def _bracketed(self) -> str:
        """`<...>` behind a name, or nothing."""
        token = self._peek()
        if token is None or token.text != "<":
            return ""
        depth, text = 0, ""
        while (token := self._peek()) is not None:
            depth += (token.text == "<") - (token.text == ">")
            text += ", " if token.text == "," else token.text
            self.position += 1
            if depth == 0:
                break
        return text

    def _numbers(self, count: int, what: str) -> tuple[int, ...]:
        """`(a)` or `(a, b)`."""
        start = self._peek()
        expected = ["(", ")"] if count == 1 else ["(", ",", ")"]
        numbers: list[int] = []
        for sign in expected:
            token = self._peek()
            if token is None or token.text != sign:
                self.reader.refuse(f"{what} in parentheses is wanted", (token or start or self.tokens[-1]).at)
            self.position += 1
            if sign == ")":
                break
            number = self._peek()
            if number is None or not number.text.isdigit():
                self.reader.refuse(f"{what} in parentheses is wanted", (number or token).at)
            numbers.append(int(number.text))
            self.position += 1
        return tuple(numbers)

    def _pointers(self) -> int:
        depth = 0
        while (token := self._peek()) is not None:
            if token.text == "*":
                depth += 1
                self.constants.append(False)
            elif token.text == "&":
                self.reader.refuse("a kernel takes no references; declare a pointer or a value", token.at)
            elif token.text == "const" and depth:
                self.constants[-1] = True
            elif token.text not in _IGNORED:
                break
            self.position += 1
        return depth

    def _name_and_array(self) -> tuple[str | None, bool]:
        name = None
        token = self._peek()
        if token is not None and token.is_word and "::" not in token.text:
            name = token.text
            self.position += 1
        is_array = False
        while (token := self._peek()) is not None and token.text == "[":
            if is_array:
                self.reader.refuse("an array of arrays; declare a pointer to its first element", token.at)
            is_array = True
            self.position += 1
            token = self._peek()
            if token is not None and token.text != "]":
                self.position += 1
                token = self._peek()
            if token is None or token.text != "]":
                self.reader.refuse("']' is missing", token.at if token is not None else None)
            self.position += 1
        return name, is_array

    def _base(self) -> tuple[CType | None, str]:
        if self.sized is not None:
            return self.sized, self.sized.name
        if self.named is not None:
            return find_c_type(self.named), self.named
        key = " ".join(sorted(self.words))
        spelling = _SPELLINGS.get(key)
        if spelling is None and "int" in self.words:
            spelling = _SPELLINGS.get(" ".join(sorted(word for word in self.words if word != "int")))
        if spelling is None:
            if key == "double long":
                self.reader.refuse("long double has no fixed size on a device; declare double", self.start)
            self.reader.refuse(f"{' '.join(self.words)!r} is no type", self.start)
        return find_c_type(spelling), spelling

    def _pointer(self, depth: int, name: str | None) -> Parameter:
        pointee, base = self._base()
        pointee_name = base
        for is_constant in self.constants[1:depth]:
            pointee_name += "*" + (" const" if is_constant else "")
        if depth > 1 and self.constants[0]:
            pointee_name = f"const {pointee_name}"
        constant = self.constants[depth - 1]
        if depth > 1:
            pointee_name = pointee_name.removesuffix(" const")
        spelling = f"{pointee_name} const*" if depth > 1 and constant else None
        return parameter_of_pointer(
            self.index,
            pointee if depth == 1 else None,
            pointee_name,
            source=DECLARED,
            name=name,
            constant=constant,
            space=self.space,
            spelling=spelling,
        )

    def _value(self, name: str | None) -> Parameter:
        type, base = self._base()
        if base == "void":
            self.reader.refuse("void is the type of no parameter; declare a pointer or a value", self.start)
        if type is None:
            import difflib

            close = difflib.get_close_matches(base, list(C_TYPES), 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            self.reader.refuse(
                f"the size of {base!r} is not known here. {hint}For a structure by value give size and alignment: "
                f"struct {base}(nbytes, align) {name or 'name'}",
                self.start,
            )
        if self.align is not None:
            type = replace(type, align=max(type.align, self.align))
        return parameter_of_value(self.index, type, source=DECLARED, name=name, spelling=base)
