"""Which declaration a name in a function body means, and the unique name it leaves the parser under."""

from __future__ import annotations

from .lexer import Tokens
from .special_registers import COMPONENTS
from .syntax import Function, PtxModule, Register, RegisterDeclaration, Symbol, Variable, Vector

MOST_REGISTERS = 1_000_000  # of one declaration by count

# A vector's components may be written as a colour too (PTX ISA, "Vectors as Operands").
COMPONENT_NAMES = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}

Meaning = Register | Symbol | Vector


class Scope:
    """The declarations of one pair of braces. Tables come into being when first written to: most scopes need one."""

    __slots__ = ("labels", "names", "parent", "ranges")

    def __init__(self, parent: Scope | None) -> None:
        self.parent = parent
        self.names: dict[str, Meaning] = {}
        self.labels: dict[str, str] | None = None
        # `.reg .b32 %r<10>`: the count and type by prefix. A register of it is declared when it is first named.
        self.ranges: dict[str, tuple[int, str, int]] | None = None


class Naming:
    """The names of one function: declares into the innermost scope, resolves outwards, hands out unique names."""

    def __init__(self, tokens: Tokens, module: PtxModule, function: Function) -> None:
        self.tokens, self.module, self.function = tokens, module, function
        self.scope = Scope(None)
        self._taken: dict[str, int] = {}

    # ------------------------------------------------------------ declaring

    def _unique(self, name: str, taken: int = 0) -> str:
        taken = self._taken.get(name, taken)
        self._taken[name] = taken + 1
        return name if taken == 0 else f"{name}.{taken + 1}"

    def _is_declared_here(self, name: str) -> bool:
        scope = self.scope
        return (
            name in scope.names
            or (scope.labels is not None and name in scope.labels)
            or (scope.ranges is not None and _range_of(scope.ranges, name) is not None)
        )

    def _refuse_double(self, name: str, at: int) -> None:
        if self._is_declared_here(name):
            self.tokens.fail(f"{name} is declared twice in the same braces", at)

    def parameter(self, variable: Variable) -> None:
        """Make a parameter or result of the function known; it keeps its name."""
        if variable.name == "_":
            return
        if self._is_declared_here(variable.name):
            self.tokens.fail_at(f"there are two parameters {variable.name}", variable.position)
        self._taken[variable.name] = 1
        if variable.space == "reg":
            self._declare(self.scope, variable.name, variable.name, variable.type, variable.vector)
        else:
            self.scope.names[variable.name] = Symbol(variable.name)

    def variable(self, variable: Variable) -> str:
        """Declare a variable of the body and return its unique name."""
        if self._is_declared_here(variable.name):
            self.tokens.fail_at(f"{variable.name} is declared twice in the same braces", variable.position)
        # Both would be a Symbol of that name, so the module's keeps it.
        unique = self._unique(variable.name, int(self.in_module(variable.name)))
        self.scope.names[variable.name] = Symbol(unique)
        return unique

    def register(self, name: str, kind: str, vector: int, at: int) -> None:
        """Declare one register, or the components of a vector register."""
        self._refuse_double(name, at)
        self._declare(self.scope, name, self._unique(name), kind, vector)

    def register_range(self, prefix: str, count: int, kind: str, vector: int, at: int) -> None:
        """Declare `prefix0` … `prefix(count-1)`."""
        if count > MOST_REGISTERS:
            self.tokens.fail(f"{prefix}<{count}> asks for more than {MOST_REGISTERS} registers", at)
        if self.scope.ranges is None:
            self.scope.ranges = {}
        if prefix in self.scope.ranges:
            self.tokens.fail(f"{prefix}<…> is declared twice in the same braces", at)
        self.scope.ranges[prefix] = (count, kind, vector)

    def _declare(self, scope: Scope, name: str, unique: str, kind: str, vector: int) -> Meaning:
        registers = self.function.registers
        meaning: Meaning
        if vector == 1:
            registers[unique] = RegisterDeclaration(unique, kind)
            meaning = Register(unique)
        else:
            parts = tuple(f"{unique}.{COMPONENTS[n]}" for n in range(vector))
            for part in parts:
                registers[part] = RegisterDeclaration(part, kind)
            meaning = Vector(tuple(Register(part) for part in parts))
        scope.names[name] = meaning
        return meaning

    def label(self, name: str, at: int) -> str:
        """Declare a label (or the name of a prototype or table) and return its unique name."""
        self._refuse_double(name, at)
        scope = self.scope
        if scope.labels is None:
            scope.labels = {}
        unique = self._unique(name)
        scope.labels[name] = unique
        return unique

    # ------------------------------------------------------------ resolving

    def in_module(self, name: str) -> bool:
        """Whether the module has declared a variable or function of this name so far."""
        return name in self.module.variables or name in self.module.functions

    def find(self, name: str) -> Meaning | None:
        """What a register's or variable's name means here, or None. Labels have their own search."""
        scope: Scope | None = self.scope
        while scope is not None:
            meaning = scope.names.get(name)
            if meaning is not None:
                return meaning
            if scope.ranges is not None:
                declared = _range_of(scope.ranges, name)
                if declared is not None:
                    _, kind, vector = declared
                    return self._declare(scope, name, self._unique(name), kind, vector)
            scope = scope.parent
        return None

    def component(self, meaning: Meaning, part: str) -> Register | None:
        """The register `v.x` of a vector register; None where there is no such component."""
        if not isinstance(meaning, Vector):
            return None
        index = COMPONENT_NAMES.get(part, -1)
        if not 0 <= index < len(meaning.elements):
            return None
        register = meaning.elements[index]
        return register if isinstance(register, Register) else None


def find_label(scope: Scope | None, name: str) -> str | None:
    """The unique name of a label as seen from `scope`, once all of the function has been read."""
    while scope is not None:
        if scope.labels is not None and name in scope.labels:
            return scope.labels[name]
        scope = scope.parent
    return None


def _range_of(ranges: dict[str, tuple[int, str, int]], name: str) -> tuple[int, str, int] | None:
    """The declaration by count that has a register of this name."""
    # A prefix may itself end in digits (`%r1<10>` has %r12), so each split of the digits is tried; a count has at
    # most seven.
    for split in range(len(name) - 1, max(len(name) - 8, 0), -1):
        if not "0" <= name[split] <= "9":
            return None
        declared = ranges.get(name[:split])
        if declared is not None:
            digits = name[split:]
            if int(digits) < declared[0] and (digits[0] != "0" or digits == "0"):
                return declared
    return None
