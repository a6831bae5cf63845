"""Itanium-mangled names: `_Z3addPfPKfi` says add(float*, const float*, int), and so does this.

The grammar is that of the Itanium C++ ABI, chapter 5.1; read are the parts that occur in names of functions:
nested and local names, templates with types and literals, substitutions, packs, operators, lambdas. Expressions
(`decltype`, dependent arithmetic) are not; a name that has them is not taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from .c_types import find_c_type, parameter_of_pointer, parameter_of_value
from .parameter import MANGLED_NAME, Parameter

if TYPE_CHECKING:
    from .kernel_signature import KernelSignature

_BUILT_IN: Final = {
    "v": "void",
    "w": "wchar_t",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "n": "__int128",
    "o": "unsigned __int128",
    "f": "float",
    "d": "double",
    "e": "long double",
    "g": "__float128",
    "z": "...",
}
_BUILT_IN_D: Final = {
    "Dh": "_Float16",
    "Di": "char32_t",
    "Ds": "char16_t",
    "Du": "char8_t",
    "Dn": "std::nullptr_t",
    "Da": "auto",
}
_STANDARD: Final = {
    "St": "std",
    "Sa": "std::allocator",
    "Sb": "std::basic_string",
    "Ss": "std::string",
    "Si": "std::istream",
    "So": "std::ostream",
    "Sd": "std::iostream",
}
_OPERATORS: Final = {
    "nw": "new", "na": "new[]", "dl": "delete", "da": "delete[]", "ps": "+", "ng": "-", "ad": "&", "de": "*",
    "co": "~", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=",
    "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=", "ls": "<<",
    "rs": ">>", "lS": "<<=", "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
    "ss": "<=>", "nt": "!", "aa": "&&", "oo": "||", "pp": "++", "mm": "--", "cm": ",", "pm": "->*", "pt": "->",
    "cl": "()", "ix": "[]",
}  # fmt: skip
_SUFFIXES: Final = {"j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}


class _CannotRead(Exception):
    """The name has a part that is not read here, or is no mangled name at all."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A type or an entity by its spelled-out name."""

    text: str


@dataclass(frozen=True, slots=True)
class _Template:
    """A template with its arguments."""

    base: _Node
    arguments: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Nested:
    """`scope::member`."""

    scope: _Node
    member: _Node


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A pointer ("*") or a reference ("&", "&&")."""

    sign: str
    target: _Node


@dataclass(frozen=True, slots=True)
class _Qualified:
    """A type with const; volatile and restrict leave no trace in a parameter."""

    type: _Node


@dataclass(frozen=True, slots=True)
class _Argument:
    """`T_`, `T0_`: the n-th argument of the function's template."""

    number: int


@dataclass(frozen=True, slots=True)
class _Pack:
    """An argument pack: any number of arguments in the place of one."""

    elements: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Expansion:
    """A pattern repeated for every element of the pack in it."""

    pattern: _Node


@dataclass(frozen=True, slots=True)
class _Function:
    """A function type: result and parameters."""

    result: _Node
    parameters: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Array:
    """An array type and its extent as text."""

    element: _Node
    extent: str


_Node = _Name | _Template | _Nested | _Pointer | _Qualified | _Argument | _Pack | _Expansion | _Function | _Array


class _Demangler:
    """Recursive descent over one name. Raises _CannotRead."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.substitutions: list[_Node] = []
        self.template_arguments: tuple[_Node, ...] = ()
        self.depth = 0

    # ------------------------------------------------ reading characters

    def starts(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.at)

    def take(self, prefix: str) -> bool:
        if self.starts(prefix):
            self.at += len(prefix)
            return True
        return False

    def expect(self, prefix: str) -> None:
        if not self.take(prefix):
            raise _CannotRead

    def number(self) -> int:
        match = re.compile(r"\d+").match(self.text, self.at)
        if match is None or len(match[0]) > 9:
            raise _CannotRead
        self.at = match.end()
        return int(match[0])

    def sequence_number(self) -> int:
        """`_` is 0, `0_` is 1, `A_` is 11: base 36, one more than written."""
        match = re.compile(r"([0-9A-Z]{0,6})_").match(self.text, self.at)
        if match is None:
            raise _CannotRead
        self.at = match.end()
        return int(match[1], 36) + 1 if match[1] else 0

    def remember(self, node: _Node) -> _Node:
        self.substitutions.append(node)
        return node

    # ------------------------------------------------ names

    def encoding(self) -> tuple[_Node, tuple[_Node, ...]]:
        """The function's name and its parameter types."""
        name = self.name()
        if self.at == len(self.text) or self.starts(".") or self.starts("E"):
            raise _CannotRead
        if _returns_are_mangled(name):
            self.type()
        types: list[_Node] = []
        while self.at < len(self.text) and not self.starts("E") and not self.starts("."):
            types.append(self.type())
        if types == [_Name("void")]:
            types = []
        return name, tuple(types)

    def name(self) -> _Node:
        if self.starts("N"):
            return self.nested_name()
        if self.starts("Z"):
            return self.local_name()
        if self.starts("S") and not self.starts("St"):
            node = self.substitution()
            if not self.starts("I"):
                raise _CannotRead
            return self._with_arguments(node)
        node = self._unscoped()
        if self.starts("I"):
            self.remember(node)
            return self._with_arguments(node)
        return node

    def _unscoped(self) -> _Node:
        if self.take("St"):
            return _Nested(_Name("std"), self.unqualified_name())
        return self.unqualified_name()

    def _with_arguments(self, base: _Node) -> _Node:
        arguments = self.template_argument_list()
        self.template_arguments = arguments
        return _Template(base, arguments)

    def nested_name(self) -> _Node:
        self.expect("N")
        while self.at < len(self.text) and self.text[self.at] in "rVK":
            self.at += 1
        if self.starts("R") or self.starts("O"):
            self.at += 1
        node: _Node | None = None
        while not self.take("E"):
            if self.starts("S") and not self.starts("St"):
                if node is not None:
                    raise _CannotRead
                node = self.substitution()
                continue
            if self.starts("T"):
                if node is not None:
                    raise _CannotRead
                node = self.remember(self.template_parameter())
                continue
            if self.starts("I"):
                if node is None:
                    raise _CannotRead
                node = self._with_arguments(node)
            elif self.take("St"):
                node = _Name("std")
                continue
            else:
                self.take("L")
                member = self.unqualified_name(node)
                node = member if node is None else _Nested(node, member)
            if not self.starts("E"):
                self.remember(node)
        if node is None:
            raise _CannotRead
        return node

    def local_name(self) -> _Node:
        self.expect("Z")
        outer, _ = self._inner_encoding()
        self.expect("E")
        if self.take("s"):
            self._discriminator()
            return _Nested(outer, _Name("string literal"))
        if self.take("d"):
            if not self.starts("_"):
                self.number()
            self.expect("_")
        member = self.name()
        self._discriminator()
        return _Nested(outer, member)

    def _inner_encoding(self) -> tuple[_Node, tuple[_Node, ...]]:
        name = self.name()
        if self.starts("E"):
            return name, ()
        if _returns_are_mangled(name):
            self.type()
        types = []
        while not self.starts("E"):
            types.append(self.type())
        return name, tuple(types)

    def _discriminator(self) -> None:
        match = re.compile(r"_\d|__\d+_").match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def unqualified_name(self, scope: _Node | None = None) -> _Node:
        node = self._bare_name(scope)
        while self.take("B"):
            self.source_name()
        return node

    def _bare_name(self, scope: _Node | None) -> _Node:
        self.take("L")
        if self.at < len(self.text) and self.text[self.at].isdigit():
            return _Name(self.source_name())
        if self.take("Ul"):
            types = []
            while not self.take("E"):
                types.append(self.type())
            listed = "" if types == [_Name("void")] else ", ".join(_spell_checked(each) for each in types)
            return _Name(f"{{lambda({listed}){self._closure_number()}}}")
        if self.take("Ut"):
            return _Name(f"{{unnamed type{self._closure_number()}}}")
        two = self.text[self.at : self.at + 2]
        if two in ("C1", "C2", "C3", "D0", "D1", "D2") and scope is not None:
            self.at += 2
            return _Name(("~" if two[0] == "D" else "") + _last(scope))
        if two == "cv":
            self.at += 2
            return _Name(f"operator {_spell_checked(self.type())}")
        if two in _OPERATORS:
            self.at += 2
            sign = _OPERATORS[two]
            return _Name(f"operator{' ' if sign[0].isalpha() else ''}{sign}")
        raise _CannotRead

    def _closure_number(self) -> str:
        match = re.compile(r"(\d*)_").match(self.text, self.at)
        if match is None:
            raise _CannotRead
        self.at = match.end()
        return f"#{int(match[1]) + 2 if match[1] else 1}"

    def source_name(self) -> str:
        length = self.number()
        name = self.text[self.at : self.at + length]
        if length == 0 or len(name) < length or not re.fullmatch(r"[\w$.]+", name):
            raise _CannotRead
        self.at += length
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N_") else name

    # ------------------------------------------------ substitutions, template arguments

    def substitution(self) -> _Node:
        two = self.text[self.at : self.at + 2]
        if two in _STANDARD:
            self.at += 2
            return _Name(_STANDARD[two])
        self.expect("S")
        number = self.sequence_number()
        if number >= len(self.substitutions):
            raise _CannotRead
        return self.substitutions[number]

    def template_parameter(self) -> _Node:
        self.expect("T")
        return _Argument(self.sequence_number())

    def template_argument_list(self) -> tuple[_Node, ...]:
        self.expect("I")
        # Arguments inside may name templates of their own; T_ outside means the list that is read last at this level.
        arguments: list[_Node] = []
        while not self.take("E"):
            arguments.append(self.template_argument())
        return tuple(arguments)

    def template_argument(self) -> _Node:
        if self.take("J"):
            elements = []
            while not self.take("E"):
                elements.append(self.template_argument())
            return _Pack(tuple(elements))
        if self.starts("L"):
            return self.literal()
        return self.type()

    def literal(self) -> _Node:
        self.expect("L")
        if self.take("_Z"):
            name, _ = self._inner_encoding()
            self.expect("E")
            return _Name(f"&{_spell_checked(name)}")
        code = self.text[self.at : self.at + 1]
        type = self.type()
        end = self.text.find("E", self.at)
        digits = self.text[self.at : end]
        if end < 0 or not re.fullmatch(r"n?[0-9a-f]*", digits):
            raise _CannotRead
        self.at = end + 1
        if code == "b":
            return _Name({"0": "false", "1": "true"}.get(digits, digits))
        number = "-" + digits[1:] if digits.startswith("n") else digits
        if code in _SUFFIXES or code == "i":
            return _Name(number + _SUFFIXES.get(code, ""))
        return _Name(f"({_spell_checked(type)}){number}")

    # ------------------------------------------------ types

    def type(self) -> _Node:
        self.depth += 1
        # A deeply nested name is an attack or a fault; Python's own limit would end in a RecursionError.
        if self.depth > 200:
            raise _CannotRead
        try:
            return self._type()
        finally:
            self.depth -= 1

    def _type(self) -> _Node:
        character = self.text[self.at : self.at + 1]
        if character in _BUILT_IN:
            self.at += 1
            return _Name(_BUILT_IN[character])
        if character in ("r", "V", "K"):
            is_constant = False
            while self.at < len(self.text) and self.text[self.at] in "rVK":
                is_constant = is_constant or self.text[self.at] == "K"
                self.at += 1
            inner = self.type()
            return self.remember(_Qualified(inner) if is_constant else inner)
        if character in ("P", "R", "O"):
            self.at += 1
            return self.remember(_Pointer({"P": "*", "R": "&", "O": "&&"}[character], self.type()))
        if character == "U":
            # A vendor qualifier such as an address space; the type behind it is what counts.
            self.at += 1
            self.source_name()
            return self.remember(self.type())
        if character == "u":
            self.at += 1
            return self.remember(_Name(self.source_name()))
        if character == "F":
            return self.remember(self._function_type())
        if character == "A":
            return self.remember(self._array_type())
        if character == "M":
            self.at += 1
            owner, member = self.type(), self.type()
            return self.remember(_Name(f"{_spell_checked(member)} {_spell_checked(owner)}::*"))
        if character == "D":
            return self._d_type()
        if character == "T":
            node = self.remember(self.template_parameter())
            return self._template_type(node)
        if character == "S" and not self.starts("St"):
            return self._template_type(self.substitution())
        if character == "C":
            raise _CannotRead
        return self._class_type()

    def _template_type(self, node: _Node) -> _Node:
        if not self.starts("I"):
            return node
        return self.remember(_Template(node, self.template_argument_list()))

    def _class_type(self) -> _Node:
        kept = self.template_arguments
        node = self.name()
        # The arguments of a type's own template are not those of the function.
        self.template_arguments = kept
        return self.remember(node)

    def _d_type(self) -> _Node:
        two = self.text[self.at : self.at + 2]
        if two in _BUILT_IN_D:
            self.at += 2
            return _Name(_BUILT_IN_D[two])
        if self.take("DF16b"):
            return _Name("bfloat16_t")
        match = re.compile(r"DF(\d+)_").match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            return _Name(f"_Float{match[1]}")
        if self.take("Dp"):
            return self.remember(_Expansion(self.type()))
        raise _CannotRead

    def _function_type(self) -> _Node:
        self.expect("F")
        self.take("Y")
        result = self.type()
        parameters = []
        while not self.take("E"):
            parameters.append(self.type())
        if parameters == [_Name("void")]:
            parameters = []
        return _Function(result, tuple(parameters))

    def _array_type(self) -> _Node:
        self.expect("A")
        extent = str(self.number()) if not self.starts("_") else ""
        self.expect("_")
        return _Array(self.type(), extent)


def _returns_are_mangled(name: _Node) -> bool:
    """A template function's encoding begins with its return type, except for constructors and conversions."""
    last = name.member if isinstance(name, _Nested) else name
    if not isinstance(last, _Template):
        return False
    base = last.base.member if isinstance(last.base, _Nested) else last.base
    scope = last.base.scope if isinstance(last.base, _Nested) else None
    text = base.text if isinstance(base, _Name) else ""
    is_constructor = scope is not None and text.lstrip("~") == _last(scope)
    is_conversion = text.startswith("operator ") and not text.startswith(("operator new", "operator delete"))
    return not is_constructor and not is_conversion


def _last(node: _Node) -> str:
    while True:
        if isinstance(node, _Nested):
            node = node.member
        elif isinstance(node, _Template):
            node = node.base
        else:
            return node.text if isinstance(node, _Name) else ""


# ---------------------------------------------------------------- template arguments put in, and spelling


def _resolve(node: _Node, arguments: Sequence[_Node]) -> list[_Node]:
    """The node with T_ replaced; a list, because a pack stands for any number of nodes."""
    if isinstance(node, _Argument):
        if node.number >= len(arguments):
            raise _CannotRead
        argument = arguments[node.number]
        return [argument] if not isinstance(argument, _Pack) else list(argument.elements)
    if isinstance(node, _Name):
        return [node]
    if isinstance(node, _Pack):
        return [each for element in node.elements for each in _resolve(element, arguments)]
    if isinstance(node, _Expansion):
        return _expand(node.pattern, arguments)
    if isinstance(node, _Pointer):
        return [_Pointer(node.sign, _one(node.target, arguments))]
    if isinstance(node, _Qualified):
        inner = _one(node.type, arguments)
        return [inner if isinstance(inner, _Qualified) else _Qualified(inner)]
    if isinstance(node, _Array):
        return [_Array(_one(node.element, arguments), node.extent)]
    if isinstance(node, _Nested):
        return [_Nested(_one(node.scope, arguments), _one(node.member, arguments))]
    if isinstance(node, _Template):
        inside = [each for argument in node.arguments for each in _resolve(argument, arguments)]
        return [_Template(_one(node.base, arguments), tuple(inside))]
    parameters = [each for parameter in node.parameters for each in _resolve(parameter, arguments)]
    return [_Function(_one(node.result, arguments), tuple(parameters))]


def _one(node: _Node, arguments: Sequence[_Node]) -> _Node:
    resolved = _resolve(node, arguments)
    if len(resolved) != 1:
        raise _CannotRead
    return resolved[0]


def _expand(pattern: _Node, arguments: Sequence[_Node]) -> list[_Node]:
    lengths = {
        len(argument.elements)
        for number, argument in enumerate(arguments)
        if isinstance(argument, _Pack) and _mentions(pattern, number)
    }
    if len(lengths) != 1:
        raise _CannotRead
    expanded: list[_Node] = []
    for position in range(lengths.pop()):
        chosen = [
            argument.elements[position] if isinstance(argument, _Pack) and _mentions(pattern, number) else argument
            for number, argument in enumerate(arguments)
        ]
        expanded.append(_one(pattern, chosen))
    return expanded


def _mentions(node: _Node, number: int) -> bool:
    if isinstance(node, _Argument):
        return node.number == number
    return any(_mentions(child, number) for child in _children(node))


_MOST_NODES: Final = 20_000


def _spell_checked(node: _Node) -> str:
    _refuse_bombs((node,), ())
    text = spell(node)
    if len(text) > _MOST_NODES:
        raise _CannotRead
    return text


def _refuse_bombs(nodes: Sequence[_Node], arguments: Sequence[_Node]) -> None:
    """Raise _CannotRead where substitutions that double each other would make a name of exponential length."""
    weights: dict[int, int] = {}
    given = sum(_weight(each, weights, 0) for each in arguments)
    if sum(_weight(each, weights, given) for each in nodes) > _MOST_NODES:
        raise _CannotRead


def _weight(node: _Node, weights: dict[int, int], argument: int) -> int:
    known = weights.get(id(node))
    if known is None:
        known = 1 + (argument if isinstance(node, _Argument) else 0)
        known += sum(_weight(child, weights, argument) for child in _children(node))
        weights[id(node)] = known
    return known


def _children(node: _Node) -> tuple[_Node, ...]:
    if isinstance(node, _Pointer):
        return (node.target,)
    if isinstance(node, _Qualified):
        return (node.type,)
    if isinstance(node, _Array):
        return (node.element,)
    if isinstance(node, _Nested):
        return (node.scope, node.member)
    if isinstance(node, _Template):
        return (node.base, *node.arguments)
    if isinstance(node, _Pack):
        return node.elements
    if isinstance(node, _Expansion):
        return (node.pattern,)
    if isinstance(node, _Function):
        return (node.result, *node.parameters)
    return ()


def spell(node: _Node) -> str:
    """The node in C++."""
    if isinstance(node, _Name):
        return node.text
    if isinstance(node, _Nested):
        return f"{spell(node.scope)}::{spell(node.member)}"
    if isinstance(node, _Template):
        return f"{spell(node.base)}<{', '.join(spell(each) for each in node.arguments)}>"
    if isinstance(node, _Qualified):
        return f"{spell(node.type)} const" if isinstance(node.type, _Pointer) else f"const {spell(node.type)}"
    if isinstance(node, _Pointer):
        if isinstance(node.target, _Function):
            listed = ", ".join(spell(each) for each in node.target.parameters)
            return f"{spell(node.target.result)} ({node.sign})({listed})"
        if isinstance(node.target, _Array):
            return f"{spell(node.target.element)} ({node.sign})[{node.target.extent}]"
        return f"{spell(node.target)}{node.sign}"
    if isinstance(node, _Array):
        return f"{spell(node.element)}[{node.extent}]"
    if isinstance(node, _Function):
        return f"{spell(node.result)}({', '.join(spell(each) for each in node.parameters)})"
    if isinstance(node, _Pack):
        return ", ".join(spell(each) for each in node.elements)
    if isinstance(node, _Expansion):
        return f"{spell(node.pattern)}..."
    return f"T{node.number - 1 if node.number else ''}_"


# ---------------------------------------------------------------- what the runtime asks


@lru_cache(maxsize=1024)
def _demangle(name: str) -> tuple[str, tuple[_Node, ...]] | None:
    """(readable name, parameter types), or None where the name cannot be taken apart."""
    if not name.startswith("_Z"):
        return None
    reader = _Demangler(name[2:])
    try:
        entity, types = reader.encoding()
        if reader.at != len(reader.text) and not reader.starts("."):
            return None
        arguments = reader.template_arguments
        _refuse_bombs((entity, *types), arguments)
        resolved = [each for type in types for each in _resolve(type, arguments)]
        return spell(_one(entity, ())), tuple(resolved)
    except (_CannotRead, RecursionError):
        return None


def readable_name(mangled: str) -> str:
    """The function's name in C++, with template arguments; a name that is not mangled comes back as it is."""
    demangled = _demangle(mangled)
    return demangled[0] if demangled is not None else mangled


def from_mangled(name: str) -> KernelSignature | None:
    """The parameters that a mangled name spells; None for an unmangled one or one that cannot be taken apart.

    A class passed by value is known by its name only, unless it is one of CUDA's.
    """
    from .kernel_signature import KernelSignature

    demangled = _demangle(name)
    if demangled is None:
        return None
    parameters = tuple(_parameter(index, type) for index, type in enumerate(demangled[1]))
    return KernelSignature(name, parameters, (MANGLED_NAME,))


def _parameter(index: int, type: _Node) -> Parameter:
    if isinstance(type, _Qualified):
        type = type.type
    if isinstance(type, _Pointer):
        target = type.target
        constant = isinstance(target, _Qualified)
        if isinstance(target, _Qualified):
            target = target.type
        name = spell(target)
        pointee = None if isinstance(target, (_Pointer, _Function)) else find_c_type(name)
        if isinstance(target, _Array):
            pointee = find_c_type(spell(target.element))
        return parameter_of_pointer(index, pointee, name, source=MANGLED_NAME, constant=constant, spelling=spell(type))
    name = spell(type)
    return parameter_of_value(index, find_c_type(name) or name, source=MANGLED_NAME, spelling=name)
