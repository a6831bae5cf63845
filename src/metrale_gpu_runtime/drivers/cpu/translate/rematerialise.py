"""Registers whose value can be computed again from what does not change in a thread's life, instead of being kept."""

from __future__ import annotations

from collections.abc import Callable

from ....ptx.control_flow import reads, writes
from ....ptx.syntax import Address, Function, Immediate, Instruction, Negated, Register, SpecialRegister, Symbol
from .places import VARYING_REGISTERS

_FREE = frozenset({"mov", "cvta"})
_CHEAP = frozenset(
    {
        "add",
        "sub",
        "mul",
        "mad",
        "shl",
        "shr",
        "and",
        "or",
        "xor",
        "not",
        "neg",
        "cvt",
        "min",
        "max",
        "setp",
        "selp",
        "bfe",
    }
)
_INTEGER_TYPES = frozenset({"pred", *(f"{kind}{bits}" for kind in "usb" for bits in (8, 16, 32, 64))})
_PLAIN_WORDS = frozenset({"lo", "hi", "wide", "eq", "ne", "lt", "le", "gt", "ge", "ls", "hs"})
# Operations of a value, everything below it included: past that a load from the frame is cheaper.
MOST_OPERATIONS = 5


def rematerialisable(
    function: Function, uniform: frozenset[str] = frozenset(), most_operations: int = MOST_OPERATIONS
) -> dict[str, Instruction]:
    """Registers with their one definition: from parameters, thread and block numbers, symbols and literals.

    Registers in `uniform` are computed elsewhere: they are free to use where they never change, and are not among
    the result.
    """
    found, _ = rematerialisable_with_costs(function, uniform, most_operations)
    return found


def rematerialisable_with_costs(
    function: Function, uniform: frozenset[str], most_operations: int
) -> tuple[dict[str, Instruction], Callable[[Instruction], bool]]:
    """The same, with a judge of whether the result of any other instruction could be computed again."""
    assert function.body is not None
    definitions: dict[str, Instruction | None] = {}
    for statement in function.body:
        if isinstance(statement, Instruction):
            for name in writes(statement):
                definitions[name] = None if name in definitions or statement.guard is not None else statement
    parameters = {parameter.name for parameter in function.parameters}
    costs: dict[str, int] = {}
    # Definitions mostly precede their uses in the text; those that do not are kept in the frame.
    for instruction in function.body:
        if not isinstance(instruction, Instruction):
            continue
        names = writes(instruction)
        if len(names) != 1 or definitions[names[0]] is not instruction:
            continue
        cost = _cost(instruction, parameters, costs)
        if cost is not None and names[0] in uniform:
            costs[names[0]] = 0
        elif cost is not None and cost <= most_operations:
            costs[names[0]] = cost

    def judge(instruction: Instruction) -> bool:
        cost = _cost(instruction, parameters, costs) if instruction.guard is None else None
        return cost is not None and cost <= most_operations

    return {n: found for n in costs if n not in uniform and (found := definitions[n]) is not None}, judge


def _cost(statement: Instruction, parameters: set[str], costs: dict[str, int]) -> int | None:
    opcode, modifiers, operands = statement.opcode, statement.modifiers, statement.operands
    if not isinstance(operands[0], Register):
        return None
    if opcode == "ld":
        address = operands[1]
        from_parameter = (
            "param" in modifiers
            and isinstance(address, Address)
            and isinstance(address.base, Symbol)
            and address.base.name in parameters
        )
        return 1 if from_parameter else None
    if opcode not in _FREE and (opcode not in _CHEAP or not _all_integer(modifiers)):
        return None
    cost = 0 if opcode in _FREE else 1
    for operand in operands[1:]:
        if isinstance(operand, SpecialRegister):
            if operand.name in VARYING_REGISTERS:
                return None
            cost += 0 if operand.name.startswith(("%tid", "%ctaid", "%ntid", "%nctaid")) else 2
        elif not isinstance(operand, (Register, Immediate, Symbol, Negated)):
            return None
    for name in reads(statement):
        below = costs.get(name)
        if below is None:
            return None
        cost += below
    return cost


def _all_integer(modifiers: tuple[str, ...]) -> bool:
    return all(word in _INTEGER_TYPES or word in _PLAIN_WORDS for word in modifiers)
