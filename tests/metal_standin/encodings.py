"""Objective-C type encodings, taken apart."""

from __future__ import annotations

from dataclasses import dataclass

_QUALIFIERS = "rnNoORV"
_CLOSING = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Type:
    """One type: its code without qualifiers, its qualifiers, and the class or <protocol> that an object is said to be."""

    code: str
    qualifiers: str = ""
    of: str = ""

    @property
    def is_object(self) -> bool:
        return self.code == "@"

    @property
    def is_block(self) -> bool:
        return self.code == "@?"

    @property
    def is_pointer(self) -> bool:
        return self.code.startswith("^")


def one_type(text: str, position: int = 0) -> tuple[Type, int]:
    """The type that begins at `position`, and where the next thing begins."""
    start = position
    while text[position] in _QUALIFIERS:
        position += 1
    qualifiers, start = text[start:position], position
    letter = text[position]
    position += 1
    of = ""
    if letter == "^":
        inner, position = one_type(text, position)
        return Type("^" + inner.code, qualifiers), position
    if letter == "@":
        if position < len(text) and text[position] == "?":
            return Type("@?", qualifiers), position + 1
        if position < len(text) and text[position] == '"':
            end = text.index('"', position + 1)
            of, position = text[position + 1 : end], end + 1
        return Type("@", qualifiers, of), position
    if letter in _CLOSING:
        depth = 1
        while depth:
            depth += (text[position] == letter) - (text[position] == _CLOSING[letter])
            position += 1
        return Type(text[start:position], qualifiers), position
    return Type(letter, qualifiers), position


def method_types(encoding: str) -> tuple[Type, tuple[Type, ...]]:
    """Result and arguments of a method, without the receiver and the selector: `v24@0:8@"<MTLBuffer>"16`."""
    found: list[Type] = []
    position = 0
    while position < len(encoding):
        kind, position = one_type(encoding, position)
        if kind.is_block and position < len(encoding) and encoding[position] == "<":  # a block's own types
            position = encoding.index(">", position) + 1
        while position < len(encoding) and encoding[position].isdigit():
            position += 1
        found.append(kind)
    return found[0], tuple(found[3:])


def declared_types(text: str) -> tuple[Type, tuple[Type, ...]]:
    """The same of the short form in declared.py: `<MTLBuffer> r^v Q Q`."""
    found = []
    for word in text.split():
        if word == "id":
            found.append(Type("@"))
        elif word.startswith("<") or (word[0].isupper() and len(word) > 1):
            found.append(Type("@", of=word))
        else:
            found.append(one_type(word)[0])
    return found[0], tuple(found[1:])


def members(struct: str) -> tuple[Type, ...]:
    """The types in `{MTLSize=QQQ}`."""
    body = struct[struct.index("=") + 1 : -1]
    found = []
    position = 0
    while position < len(body):
        kind, position = one_type(body, position)
        found.append(kind)
    return tuple(found)


_NBYTES = {
    **dict.fromkeys("cCzBZt", 1),
    **dict.fromkeys("sST", 2),
    **dict.fromkeys("iI", 4),
    **dict.fromkeys("lLqQ", 8),
}


def are_compatible(one: Type, other: Type) -> bool:
    """Whether PyObjC takes the second in the place of the first: of one size, and both numbers, objects or the like."""
    if one.code in _NBYTES and other.code in _NBYTES:
        return _NBYTES[one.code] == _NBYTES[other.code]
    if one.code.startswith("{") and other.code.startswith("{"):
        pairs = members(one.code), members(other.code)
        return len(pairs[0]) == len(pairs[1]) and all(are_compatible(a, b) for a, b in zip(*pairs, strict=True))
    return one.code == other.code
