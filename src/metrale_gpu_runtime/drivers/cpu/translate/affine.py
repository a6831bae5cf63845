"""Registers that are a thread's own constant plus what is the same for all threads: counters and addresses of loops.

`i = threadIdx.x; …; i += blockDim.x` differs between threads, but only in its beginning. Kept as that beginning and
one common offset it needs no array, and LLVM sees that neighbouring threads access neighbouring memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....ptx.control_flow import BasicBlock, writes
from ....ptx.syntax import Function, Immediate, Instruction, Operand, Register

_WORDS = frozenset({"u32", "s32", "b32", "u64", "s64", "b64"})


@dataclass(frozen=True, slots=True)
class Advance:
    """How a definition changes the offset: to that of `source` (0 where it has none) plus or minus `amount`."""

    source: str | None
    amount: Operand | None = None
    subtracts: bool = False


@dataclass(slots=True)
class Affine:
    """A register's beginning, computed by `base`, and what each of its definitions (by identity) does to the offset."""

    base: Instruction
    advances: dict[int, Advance]


class AffineFinder:
    """Finds the registers of one kernel. `pure` are those that can be computed again, `is_pure` judges other
    definitions; `stays` tells whether a definition in a block is for all threads that will ever read it."""

    def __init__(
        self,
        function: Function,
        blocks: tuple[BasicBlock, ...],
        uniform: frozenset[str],
        pure: dict[str, Instruction],
        is_pure: Callable[[Instruction], bool],
        stays: Callable[[str, int], bool],
    ) -> None:
        assert function.body is not None
        self.uniform, self.pure, self.is_pure = uniform, pure, is_pure
        self.definitions: dict[str, list[Instruction]] = {}
        refused: set[str] = set()
        for block in blocks:
            for statement in function.body[block.start : block.stop]:
                if not isinstance(statement, Instruction):
                    continue
                for name in writes(statement):
                    self.definitions.setdefault(name, []).append(statement)
                    if statement.guard is not None or not stays(name, block.index):
                        refused.add(name)
        self.candidates = {
            name
            for name, found in self.definitions.items()
            if len(found) > 1 and name not in uniform and name not in pure and name not in refused
        }

    def find(self) -> dict[str, Affine]:
        """The registers with their beginnings."""
        advances: dict[str, dict[int, Advance]] = {}
        own_base: dict[str, list[Instruction]] = {}
        for name in list(self.candidates):
            known: dict[int, Advance] = {}
            bases: list[Instruction] = []
            for statement in self.definitions[name]:
                advance = self._advance(statement)
                if advance is not None:
                    known[id(statement)] = advance
                elif self.is_pure(statement):
                    known[id(statement)] = Advance(None)
                    bases.append(statement)
                else:
                    self.candidates.discard(name)
                    break
            advances[name], own_base[name] = known, bases
        return self._agree(advances, own_base)

    def _advance(self, statement: Instruction) -> Advance | None:
        """A copy of a register of this kind, or its sum with something uniform."""
        opcode, operands = statement.opcode, statement.operands
        if len(statement.modifiers) != 1 or statement.modifiers[0] not in _WORDS:
            return None
        if opcode == "mov" and self._has_base(operands[1]):
            return Advance(operands[1].name)  # type: ignore[union-attr]
        if opcode in ("add", "sub"):
            first, second = operands[1], operands[2]
            if self._has_base(first) and self._is_uniform(second):
                return Advance(first.name, second, opcode == "sub")  # type: ignore[union-attr]
            if opcode == "add" and self._has_base(second) and self._is_uniform(first):
                return Advance(second.name, first)  # type: ignore[union-attr]
        return None

    def _has_base(self, operand: Operand) -> bool:
        return isinstance(operand, Register) and (operand.name in self.pure or operand.name in self.candidates)

    def _is_uniform(self, operand: Operand) -> bool:
        return isinstance(operand, Immediate) or (isinstance(operand, Register) and operand.name in self.uniform)

    def _agree(
        self, advances: dict[str, dict[int, Advance]], own_base: dict[str, list[Instruction]]
    ) -> dict[str, Affine]:
        """Keep the registers all of whose definitions begin at the same value; what leans on others falls with them."""
        while True:
            base: dict[str, Instruction] = {}
            failed: set[str] = set()
            changed = True
            while changed:
                changed = False
                for name in self.candidates:
                    found = list(own_base[name])
                    for advance in advances[name].values():
                        source = advance.source
                        if source is None or source == name:
                            continue
                        known = self.pure.get(source) or base.get(source)
                        if known is not None:
                            found.append(known)
                    for each in found:
                        if name not in base:
                            base[name], changed = each, True
                        elif base[name] is not each:
                            failed.add(name)
            failed |= {name for name in self.candidates if name not in base}
            for name in self.candidates:
                sources = [a.source for a in advances[name].values() if a.source is not None]
                if any(s not in self.pure and s not in self.candidates for s in sources):
                    failed.add(name)
            if not failed:
                return {name: Affine(base[name], advances[name]) for name in self.candidates}
            self.candidates -= failed
