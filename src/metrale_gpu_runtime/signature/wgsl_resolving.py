"""What the names in WGSL's types and constants mean: the text's own declarations first, then the language's.

Source: "WebGPU Shading Language", sections "Type Aliases", "Predeclared Types and Type-Generators", "Structure Types".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .wgsl_declarations import Declaration, Words, split
from .wgsl_expressions import Whole, literal_type, worked_out
from .wgsl_tokens import NUMBER, SIGN, TEMPLATE, WORD, WgslText
from .wgsl_types import (
    MATRICES,
    SCALARS,
    VECTORS,
    WgslType,
    array,
    atomic,
    matrix,
    opaque,
    predeclared,
    scalar,
    structure,
    vector,
)

_DEEPEST: Final = 60
_OPAQUE: Final = ("texture_", "sampler", "ptr", "binding_array", "acceleration_structure", "ray_query")


class _Unsized(Exception):
    """The length of an array is not known before the pipeline is made."""


class Resolver:
    """Reads types and constants of one text; each is worked out once.

    `overrides` are whole numbers for overrides, where a pipeline is made: the others have their defaults then. Without
    it no override is known.
    """

    def __init__(
        self,
        source: WgslText,
        declarations: Mapping[str, Declaration],
        overrides: Mapping[str, int] | None = None,
    ) -> None:
        self.source, self.declarations, self._overrides = source, declarations, overrides
        self._types: dict[str, WgslType] = {}
        self._numbers: dict[str, Whole | None] = {}
        self._open: list[str] = []

    # ------------------------------------------------ constants

    def number(self, tokens: Words) -> int | None:
        """A whole number that is known before the pipeline is made; None where it is not."""
        found = worked_out(tokens, self._named) if tokens else None
        return found.value if found is not None else None

    def _named(self, name: str) -> Whole | None:
        if name not in self._numbers:
            # A constant that needs itself is nothing; the compiler says so.
            self._numbers[name] = None
            declared = self.declarations.get(name)
            if declared is not None and self._is_known(declared) and len(self._open) < _DEEPEST:
                self._open.append(name)
                self._numbers[name] = self._constant(declared)
                self._open.pop()
        return self._numbers[name]

    def _is_known(self, declared: Declaration) -> bool:
        return declared.kind == "const" or (declared.kind == "override" and self._overrides is not None)

    def _constant(self, declared: Declaration) -> Whole | None:
        given = (self._overrides or {}).get(declared.name) if declared.kind == "override" else None
        found = worked_out(declared.value, self._named) if given is None else Whole(given)
        if found is None or not declared.type:
            return found
        name = self.type(declared.type).spelling
        if name not in ("i32", "u32") or found.type not in ("", name):
            return None
        lowest = 0 if name == "u32" else -(2**31)
        return Whole(found.value, name) if lowest <= found.value < lowest + 2**32 else None

    def type_name_of_constant(self, declared: Declaration) -> str | None:
        """The type of an override, as stated or as its default has it; None where that is not plain."""
        if declared.type:
            return self.type(declared.type).spelling
        if not declared.value:
            raise self.source.error(f"{declared.name} has neither a type nor a value", declared.token)
        number = worked_out(declared.value, self._named)
        if number is not None:
            return number.type or "i32"
        words = [each for each in declared.value if each.text != "-" or each.kind != SIGN]
        if len(words) == 1 and words[0].kind == NUMBER:
            return literal_type(words[0].text)
        if len(words) == 1 and words[0].kind == WORD:
            if words[0].text in ("true", "false"):
                return "bool"
            other = self.declarations.get(words[0].text)
            if other is not None and other.kind in ("const", "override") and other.name not in self._open:
                self._open.append(other.name)
                try:
                    return self.type_name_of_constant(other) if len(self._open) < _DEEPEST else None
                finally:
                    self._open.pop()
        if len(words) > 2 and words[0].text in (*SCALARS, "bool") and words[1].text == "(":
            return words[0].text if words[0].text not in self.declarations and words[-1].text == ")" else None
        return None

    # ------------------------------------------------ types

    def nbytes_if_known(self, tokens: Words) -> int | None:
        """The bytes of a type; None where an override has a part in it."""
        try:
            return self._read(tokens).nbytes
        except _Unsized:
            return None

    def type(self, tokens: Words) -> WgslType:
        """The type that these words mean. Raises SignatureError for what is none."""
        try:
            return self._read(tokens)
        except _Unsized as unsized:
            raise self.source.error(
                f"the length {unsized} is not known before the shader runs: whole numbers and constants are, overrides "
                "are for workgroup memory alone",
                tokens[0],
            ) from None

    def _read(self, tokens: Words) -> WgslType:
        if not tokens or tokens[0].kind != WORD:
            where = tokens[0] if tokens else len(self.source.text)
            raise self.source.error("a type is wanted", where)
        name = tokens[0].text
        arguments: tuple[Words, ...] | None = None
        if len(tokens) > 1:
            if tokens[1].kind != TEMPLATE or tokens[-1].kind != TEMPLATE:
                raise self.source.error(f"{self.source.spelled(tokens)!r} is no type", tokens[0])
            arguments = split(tokens[2:-1], self.source)
        if len(self._open) > _DEEPEST:
            raise self.source.error(f"types lie in each other more than {_DEEPEST} deep", tokens[0])
        declared = self.declarations.get(name)
        if declared is None:
            self._open.append("")
            try:
                return self._generated(name, arguments, tokens)
            finally:
                self._open.pop()
        if declared.kind not in ("struct", "alias") or arguments is not None:
            raise self.source.error(f"{self.source.spelled(tokens)!r} is no type", tokens[0])
        if name not in self._types:
            if name in self._open:
                raise self.source.error(f"{name} contains itself", declared.token)
            self._open.append(name)
            try:
                self._types[name] = self._read(declared.type) if declared.kind == "alias" else self._struct(declared)
            finally:
                self._open.pop()
        return self._types[name]

    def _generated(self, name: str, arguments: tuple[Words, ...] | None, tokens: Words) -> WgslType:
        """A type of the language's own."""
        short = predeclared(name)
        if arguments is None:
            if name in SCALARS or name == "bool":
                return scalar(name)
            if short is not None:
                return self._vector_or_matrix(short[0], scalar(short[1]))
        if name.startswith(_OPAQUE):
            return opaque(self.source.spelled(tokens))
        counts = {"array": (1, 2), "atomic": (1,), **dict.fromkeys((*VECTORS, *MATRICES), (1,))}
        if name not in counts:
            raise self.source.error(f"{name} is no type that is known here", tokens[0])
        if arguments is None or len(arguments) not in counts[name]:
            wanted = "array<element> or array<element, count>" if name == "array" else f"{name}<component>"
            raise self.source.error(f"{self.source.spelled(tokens)!r} is no type; {wanted} is wanted", tokens[0])
        item = self._read(arguments[0])
        if name == "array":
            return self._array(item, arguments, tokens)
        if item.kind != "scalar":
            raise self.source.error(f"{name} is made of scalars, not of {item.spelling}", tokens[0])
        return atomic(item) if name == "atomic" else self._vector_or_matrix(name, item)

    def _vector_or_matrix(self, name: str, item: WgslType) -> WgslType:
        return vector(VECTORS[name], item) if name in VECTORS else matrix(*MATRICES[name], item)

    def _array(self, item: WgslType, arguments: tuple[Words, ...], tokens: Words) -> WgslType:
        if item.nbytes is None:
            raise self.source.error(f"an array has elements of a known size, {item.spelling} has none", tokens[0])
        if len(arguments) == 1:
            return array(item, None)
        count = self.number(arguments[1])
        if count is None:
            raise _Unsized(repr(self.source.spelled(arguments[1])))
        if count < 1:
            raise self.source.error(f"an array has at least 1 element, not {count}", arguments[1][0])
        return array(item, count)

    def _struct(self, declared: Declaration) -> WgslType:
        members = []
        for position, each in enumerate(declared.members):
            type = self._read(each.type)
            if type.align is None:
                raise self.source.error(f"{each.name} is {type.spelling}, which is no member", each.token)
            if type.is_runtime_sized and (position + 1 < len(declared.members) or type.kind != "array"):
                raise self.source.error(
                    f"{each.name} is {type.spelling}; only the last member may be an array without a length", each.token
                )
            sizes: dict[str, int | None] = {}
            for attribute in ("align", "size"):
                mark = each.attribute(attribute)
                sizes[attribute] = self.number(mark.arguments[0]) if mark is not None and mark.arguments else None
                if mark is not None and sizes[attribute] is None:
                    raise self.source.error(f"@{attribute} of {each.name} is no whole number", mark.token)
            align, size = sizes["align"], sizes["size"]
            if align is not None and (align < 1 or align & (align - 1)):
                raise self.source.error(f"@align of {each.name} is {align}; it is a power of two", each.token)
            if size is not None and (type.nbytes is None or size < type.nbytes):
                least = f"its type {type.spelling} has {type.nbytes}" if type.nbytes else "its type has no size"
                raise self.source.error(f"@size of {each.name} is {size}; {least}", each.token)
            members.append((each.name, type, align, size))
        if not members:
            raise self.source.error(f"{declared.name} has no members", declared.token)
        return structure(declared.name, members)
