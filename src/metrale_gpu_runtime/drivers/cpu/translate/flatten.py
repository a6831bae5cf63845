"""A kernel's body without calls: device functions are copied in, each copy with names of its own.

Parameters are passed by sharing the caller's `.param` variables: a callee cannot write its inputs, and results are
written to where the caller reads them. Static shared variables of a function exist once, whatever the number of copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ....ptx.syntax import (
    Address,
    ArgumentList,
    Function,
    Guard,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Part,
    PtxModule,
    Register,
    RegisterDeclaration,
    Statement,
    Symbol,
    Variable,
    Vector,
)
from .refusal import refuse

LARGEST_BODY = 400_000

# Functions the toolkit leaves to the driver, translated as instructions of their own (instructions/system.py).
BUILT_IN = frozenset({"__assertfail", "vprintf"})

# A wait is a point at which the function is left, so a guard on it must be a branch around it.
_WAITS = frozenset({"bar", "barrier", "shfl", "vote", "match", "redux", "activemask", "elect", "nanosleep"})


@dataclass(slots=True)
class _Names:
    """What the names of one function mean in the flattened body. The kernel's own stay as they are."""

    suffix: str
    function: Function
    parameters: dict[str, str] = field(default_factory=dict)
    returns_to: str | None = None

    def register(self, name: str) -> str:
        return name + self.suffix

    def symbol(self, name: str) -> str:
        actual = self.parameters.get(name)
        if actual is not None:
            return actual
        variable = self.function.variables.get(name)
        if variable is None:
            return name
        if variable.space == "shared":
            return f"{self.function.name}::{name}" if self.suffix else name
        return name + self.suffix

    def operand(self, operand: Operand) -> Operand:
        if not self.suffix:
            return operand
        if isinstance(operand, Register):
            return Register(operand.name + self.suffix)
        if isinstance(operand, Symbol):
            return Symbol(self.symbol(operand.name), operand.offset)
        if isinstance(operand, Address):
            base = self.operand(operand.base)
            assert isinstance(base, (Register, Symbol, Immediate))
            return Address(base, operand.offset, tuple(self.operand(s) for s in operand.subscripts))
        if isinstance(operand, Vector):
            return Vector(tuple(self.operand(element) for element in operand.elements))
        if isinstance(operand, ArgumentList):
            return ArgumentList(tuple(self.operand(element) for element in operand.elements))
        if isinstance(operand, Negated):
            return Negated(self.operand(operand.operand))
        if isinstance(operand, Pair):
            return Pair(self.operand(operand.first), self.operand(operand.second))
        if isinstance(operand, Part):
            return Part(Register(operand.register.name + self.suffix), operand.selector)
        return operand


class _Flattener:
    def __init__(self, module: PtxModule, kernel: Function) -> None:
        self.module, self.kernel = module, kernel
        self.registers: dict[str, RegisterDeclaration] = {}
        self.variables: dict[str, Variable] = {}
        self.branch_tables: dict[str, tuple[str, ...]] = {}
        self.body: list[Statement] = []
        self.copies = 0

    def copy(self, names: _Names, callers: tuple[str, ...]) -> None:
        """Append the body of a function."""
        function, suffix = names.function, names.suffix
        for name, declaration in function.registers.items():
            self.registers[name + suffix] = declaration
        for name, variable in function.variables.items():
            unique = names.symbol(name)
            self.variables[unique] = variable if unique == name else replace(variable, name=unique)
        for name, targets in function.branch_tables.items():
            self.branch_tables[name + suffix] = tuple(target + suffix for target in targets)
        assert function.body is not None
        for statement in function.body:
            if isinstance(statement, Label):
                self.body.append(Label(statement.name + suffix, statement.position) if suffix else statement)
                continue
            opcode, guard = statement.opcode, statement.guard
            if suffix and guard is not None:
                guard = Guard(guard.register + suffix, guard.negated)
            if opcode == "call":
                self._around(guard, statement, lambda s=statement: self._call(s, names, callers))
            elif opcode == "ret" and names.returns_to is not None:
                self.body.append(_branch(names.returns_to, guard, statement))
            elif opcode in _WAITS and guard is not None:
                plain = replace(statement, operands=tuple(map(names.operand, statement.operands)), guard=None)
                self._around(guard, statement, lambda p=plain: self.body.append(p))
            elif suffix:
                operands = statement.operands
                if opcode in ("bra", "brx"):
                    target = operands[-1]
                    assert isinstance(target, Symbol)
                    operands = (*map(names.operand, operands[:-1]), Symbol(target.name + suffix))
                else:
                    operands = tuple(map(names.operand, operands))
                self.body.append(
                    Instruction(opcode, statement.modifiers, operands, guard, statement.position, statement.source)
                )
            else:
                self.body.append(statement)
        if len(self.body) > LARGEST_BODY:
            refuse(f"with the functions it calls it has more than {LARGEST_BODY} statements")

    def _around(self, guard: Guard | None, statement: Instruction, append: object) -> None:
        assert callable(append)
        if guard is None:
            append()
            return
        self.copies += 1
        label = f"$after${self.copies}"
        self.body.append(_branch(label, Guard(guard.register, not guard.negated), statement))
        append()
        self.body.append(Label(label, statement.position))

    def _call(self, call: Instruction, names: _Names, callers: tuple[str, ...]) -> None:
        operands = [names.operand(operand) for operand in call.operands]
        returns = operands.pop(0).elements if isinstance(operands[0], ArgumentList) else ()  # type: ignore[union-attr]
        target = operands.pop(0)
        arguments = operands.pop(0).elements if operands and isinstance(operands[0], ArgumentList) else ()  # type: ignore[union-attr]
        callee = self.module.functions.get(target.name) if isinstance(target, Symbol) else None
        if callee is None:
            refuse("calls through a function pointer are not supported", call)
        if callee.body is None:
            if callee.name not in BUILT_IN:
                refuse(f"it calls {callee.name}, which is declared .extern and defined nowhere", call)
            self.body.append(replace(call, operands=(Symbol(callee.name), ArgumentList(tuple(arguments))), guard=None))
            return
        if callee.name in callers:
            refuse(f"{callee.name} calls itself; recursion is not supported", call)
        if len(returns) != len(callee.returns) or len(arguments) != len(callee.parameters):
            refuse(
                f"{callee.name} takes {len(callee.parameters)} and returns {len(callee.returns)} values, "
                f"the call has {len(arguments)} and {len(returns)}",
                call,
            )
        self.copies += 1
        suffix = f"@{self.copies}"
        inner = _Names(suffix, callee, returns_to=f"$returned{suffix}")
        for formal, actual in zip(callee.parameters, arguments, strict=True):
            self._pass(call, formal, actual, inner)
        results = [self._result(formal, actual, inner) for formal, actual in zip(callee.returns, returns, strict=True)]
        self.copy(inner, (*callers, callee.name))
        self.body.append(Label(f"$returned{suffix}", call.position))
        for result in results:
            if result is not None:
                self.body.append(replace(call, opcode=result[0], modifiers=result[1], operands=result[2], guard=None))

    def _pass(self, call: Instruction, formal: Variable, actual: Operand, inner: _Names) -> None:
        if formal.space == "reg":
            target = Register(inner.register(formal.name))
            self.body.append(
                replace(call, opcode="mov", modifiers=(formal.type,), operands=(target, actual), guard=None)
            )
        elif isinstance(actual, Symbol) and actual.offset == 0:
            inner.parameters[formal.name] = actual.name
        else:
            variable = self._variable(formal, inner)
            target_address = Address(Symbol(variable))
            self.body.append(
                replace(
                    call, opcode="st", modifiers=("param", formal.type), operands=(target_address, actual), guard=None
                )
            )

    def _result(
        self, formal: Variable, actual: Operand, inner: _Names
    ) -> tuple[str, tuple[str, ...], tuple[Operand, ...]] | None:
        """Where a result goes; what must be done after the call to bring it there."""
        if formal.space == "reg":
            return "mov", (formal.type,), (actual, Register(inner.register(formal.name)))
        if isinstance(actual, Symbol) and actual.offset == 0:
            inner.parameters[formal.name] = actual.name
            return None
        variable = self._variable(formal, inner)
        return "ld", ("param", formal.type), (actual, Address(Symbol(variable)))

    def _variable(self, formal: Variable, inner: _Names) -> str:
        name = f"{formal.name}{inner.suffix}"
        self.variables[name] = replace(formal, name=name)
        inner.parameters[formal.name] = name
        return name


def _branch(label: str, guard: Guard | None, instead_of: Instruction) -> Instruction:
    return Instruction("bra", (), (Symbol(label),), guard, instead_of.position, instead_of.source)


def flatten(module: PtxModule, kernel: Function) -> Function:
    """The kernel with every call replaced by the called body; raises `Refused` for what cannot be."""
    flattener = _Flattener(module, kernel)
    flattener.copy(_Names("", kernel), (kernel.name,))
    return replace(
        kernel,
        registers=flattener.registers,
        variables=flattener.variables,
        branch_tables=flattener.branch_tables,
        body=tuple(flattener.body),
    )


def symbols_used(function: Function) -> Mapping[str, None]:
    """The names of variables that a body uses, in the order of their first use."""
    used: dict[str, None] = {}

    def visit(operand: Operand) -> None:
        if isinstance(operand, Symbol):
            used[operand.name] = None
        elif isinstance(operand, Address):
            if isinstance(operand.base, Symbol):
                used[operand.base.name] = None
        elif isinstance(operand, (Vector, ArgumentList)):
            for element in operand.elements:
                visit(element)

    assert function.body is not None
    for statement in function.body:
        if isinstance(statement, Instruction) and statement.opcode not in ("bra", "brx"):
            for operand in statement.operands:
                visit(operand)
    return used
