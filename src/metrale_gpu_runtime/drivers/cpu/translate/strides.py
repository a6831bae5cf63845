"""By how much a register differs between a thread and its neighbour in x: what tells whether neighbours access
neighbouring memory."""

from __future__ import annotations

from ....ptx.control_flow import writes
from ....ptx.syntax import Function, Immediate, Instruction, Negated, Operand, Register, SpecialRegister, Symbol

UNKNOWN = None
_SAME = frozenset({"mov", "cvt", "cvta", "neg"})


class Strides:
    """The strides of a kernel's registers in x; registers that are equal in all threads have 0, those of which nothing
    is known UNKNOWN. Each is found when first asked for."""

    def __init__(self, function: Function, divergent: set[str]) -> None:
        assert function.body is not None
        self.divergent = divergent
        self._definitions: dict[str, list[Instruction]] = {}
        for statement in function.body:
            if isinstance(statement, Instruction):
                for name in writes(statement):
                    self._definitions.setdefault(name, []).append(statement)
        self._known: dict[str, int | None] = {}

    def of(self, register: str) -> int | None:
        """The stride of a register."""
        if register not in self.divergent:
            return 0
        if register in self._known:
            return self._known[register]
        # Sums of a register with itself do not change its stride; what else is circular stays unknown.
        self._known[register] = UNKNOWN
        found: set[int | None] = set()
        for statement in self._definitions.get(register, []):
            if not self._only_advances(statement, register):
                found.add(self._result(statement))
        self._known[register] = found.pop() if len(found) == 1 else UNKNOWN
        return self._known[register]

    def _only_advances(self, statement: Instruction, register: str) -> bool:
        if statement.opcode not in ("add", "sub") or len(statement.operands) != 3:
            return False
        _, first, second = statement.operands
        if first == Register(register):
            return self._operand(second) == 0
        return statement.opcode == "add" and second == Register(register) and self._operand(first) == 0

    def _operand(self, operand: Operand) -> int | None:
        if isinstance(operand, Register):
            return self.of(operand.name)
        if isinstance(operand, (Immediate, Symbol)):
            return 0
        if isinstance(operand, SpecialRegister):
            return 1 if operand.name in ("%tid.x", "%laneid") else 0
        if isinstance(operand, Negated):
            return self._operand(operand.operand)
        return UNKNOWN

    def _result(self, statement: Instruction) -> int | None:
        opcode, operands = statement.opcode, statement.operands
        if statement.guard is not None or not operands:
            return UNKNOWN
        strides = [self._operand(operand) for operand in operands[1:]]
        if opcode in ("ld", "atom", "shfl", "vote", "match", "redux", "activemask", "elect", "call"):
            return UNKNOWN
        if all(stride == 0 for stride in strides):
            return 0
        if UNKNOWN in strides:
            return UNKNOWN
        known = [stride for stride in strides if stride is not None]
        if opcode in _SAME:
            return -known[0] if opcode == "neg" else known[0]
        if opcode == "add":
            return known[0] + known[1]
        if opcode == "sub":
            return known[0] - known[1]
        if opcode == "shl" and isinstance(operands[2], Immediate):
            return known[0] << min(operands[2].value, 64)
        if opcode in ("mul", "mad") and "hi" not in statement.modifiers:
            return self._product(operands, known)
        return UNKNOWN

    @staticmethod
    def _product(operands: tuple[Operand, ...], known: list[int]) -> int | None:
        for factor, stride in ((operands[2], known[0]), (operands[1], known[1])):
            if isinstance(factor, Immediate):
                rest = known[2] if len(known) > 2 else 0
                return stride * factor.value + rest
        if known[0] == known[1] == 0 and len(known) > 2:
            return known[2]
        return UNKNOWN
