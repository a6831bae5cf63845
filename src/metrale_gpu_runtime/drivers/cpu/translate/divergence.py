"""Which values and branches are the same for all threads of a block, and what lies behind the branches that are not.

A register is uniform if every thread would compute the same value for it at the same step: its definitions read only
parameters, block numbers, literals and uniform registers, and stand where all threads come by together. A branch on
another register is divergent; up to where its paths meet again lies its region, which only some threads run. A branch
that only ends threads (the `if (i >= n) return` of nearly every kernel) has no region: those are gone, the others go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ....ptx.control_flow import BasicBlock, reads, writes
from ....ptx.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Operand,
    Pair,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Vector,
)

_UNIFORM_SPECIALS = ("%ctaid", "%ntid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_", "%envreg", "%gridid", "%smid",
                     "%nsmid", "%nwarpid", "%dynamic_smem_size", "%total_smem_size", "%is_explicit")  # fmt: skip
# What neither reads memory nor depends on who executes it.
_PURE = frozenset(
    {
        "mov", "cvta", "selp", "setp", "set", "slct", "add", "sub", "mul", "mad", "mul24", "mad24", "div", "rem", "neg", "abs",
        "min", "max", "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "bfe", "bfi", "bfind", "popc", "clz", "brev",
        "prmt", "lop3", "fma", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "cvt", "copysign", "sad", "bmsk", "testp",
    }
)  # fmt: skip


def is_exit(statement: object) -> bool:
    return isinstance(statement, Instruction) and statement.opcode in ("ret", "exit")


@dataclass
class Divergence:
    """The outcome: `registers` and `branches` (blocks, by index) that are divergent, `kills` those of the branches that
    only end threads, and `inside` the blocks that only some threads run."""

    registers: set[str] = field(default_factory=set)
    branches: set[int] = field(default_factory=set)
    kills: set[int] = field(default_factory=set)
    inside: set[int] = field(default_factory=set)


class _Analysis:
    def __init__(self, function: Function, blocks: tuple[BasicBlock, ...], private: frozenset[str]) -> None:
        assert function.body is not None
        self.private = private
        self.function, self.body, self.blocks = function, function.body, blocks
        self.parameters = {parameter.name for parameter in function.parameters}
        self.exits = {block.index for block in blocks if self._only_exits(block)}
        self.found = Divergence()

    def _only_exits(self, block: BasicBlock) -> bool:
        statements = [s for s in self.body[block.start : block.stop] if not isinstance(s, Label)]
        if not statements:
            return not block.successors
        return len(statements) == 1 and is_exit(statements[0]) and statements[0].guard is None

    def solve(self) -> Divergence:
        changed = True
        while changed:
            changed = self._spread()
            if changed:
                self._find_regions()
        return self.found

    # ------------------------------------------------------------ values

    def _spread(self) -> bool:
        """One pass over all statements; whether anything became divergent."""
        found, changed = self.found, False
        registers, inside = found.registers, found.inside
        for block in self.blocks:
            in_region = block.index in inside
            for statement in self.body[block.start : block.stop]:
                if not isinstance(statement, Instruction):
                    continue
                for name in writes(statement):
                    if name not in registers and (in_region or self._varies(statement)):
                        registers.add(name)
                        changed = True
            last = self.body[block.stop - 1]
            if block.index not in found.branches and self._branches_on(last):
                found.branches.add(block.index)
                changed = True
        return changed

    def _branches_on(self, last: object) -> bool:
        if not isinstance(last, Instruction) or last.opcode not in ("bra", "brx"):
            return False
        return any(name in self.found.registers for name in reads(last))

    def _varies(self, statement: Instruction) -> bool:
        if statement.guard is not None or "cc" in statement.modifiers or statement.opcode in ("addc", "subc", "madc"):
            return True
        if statement.opcode == "ld":
            address = statement.operands[1]
            return not (
                "param" in statement.modifiers
                and isinstance(address, Address)
                and isinstance(address.base, Symbol)
                and address.base.name in self.parameters
            )
        if statement.opcode not in _PURE:
            return True
        if any(not self._operand_is_uniform(operand) for operand in statement.operands):
            return True
        return any(name in self.found.registers for name in reads(statement))

    def _operand_is_uniform(self, operand: Operand) -> bool:
        if isinstance(operand, (Register, Immediate, Sink)):
            return True
        if isinstance(operand, SpecialRegister):
            return operand.name.startswith(_UNIFORM_SPECIALS)
        if isinstance(operand, Symbol):
            return operand.name not in self.private
        if isinstance(operand, Vector):
            return all(map(self._operand_is_uniform, operand.elements))
        if isinstance(operand, Pair):
            return self._operand_is_uniform(operand.first) and self._operand_is_uniform(operand.second)
        return hasattr(operand, "operand") and self._operand_is_uniform(operand.operand)

    # ------------------------------------------------------------ regions

    def _find_regions(self) -> None:
        found, blocks = self.found, self.blocks
        found.kills = {
            index
            for index in found.branches
            if len(blocks[index].successors) == 2 and sum(s in self.exits for s in blocks[index].successors) == 1
        }
        # The way out of a loop is no kill: without it the threads would never leave.
        while True:
            successors = [
                tuple(s for s in block.successors if block.index not in found.kills or s not in self.exits)
                for block in blocks
            ]
            stuck = found.kills - _reaching_an_end(successors)
            if not stuck:
                break
            found.kills -= stuck
        joins = _immediate_postdominators(successors)
        found.inside = set()
        for index in found.branches - found.kills:
            found.inside |= _reached(blocks, index, joins[index])


def _reached(blocks: tuple[BasicBlock, ...], start: int, stop: int | None) -> set[int]:
    seen: set[int] = set()
    pending = [s for s in blocks[start].successors if s != stop]
    while pending:
        index = pending.pop()
        if index not in seen:
            seen.add(index)
            pending.extend(s for s in blocks[index].successors if s != stop)
    return seen


def _reaching_an_end(successors: list[tuple[int, ...]]) -> set[int]:
    predecessors: list[list[int]] = [[] for _ in successors]
    for index, following in enumerate(successors):
        for successor in following:
            predecessors[successor].append(index)
    seen = {index for index, following in enumerate(successors) if not following}
    pending = list(seen)
    while pending:
        for predecessor in predecessors[pending.pop()]:
            if predecessor not in seen:
                seen.add(predecessor)
                pending.append(predecessor)
    return seen


def _immediate_postdominators(successors: list[tuple[int, ...]]) -> list[int | None]:
    """For each block the nearest one that all its paths to an end pass; None where only the end itself is common.

    Blocks that reach no end (endless loops) have none.
    """
    count = len(successors)
    every = (1 << (count + 1)) - 1
    end = 1 << count
    sets = [every] * count
    order = list(range(count - 1, -1, -1))
    changed = True
    while changed:
        changed = False
        for index in order:
            common = every
            for successor in successors[index]:
                common &= sets[successor]
            if not successors[index]:
                common = end
            after = common | 1 << index
            if after != sets[index]:
                sets[index], changed = after, True
    found: list[int | None] = []
    for index in range(count):
        strict = sets[index] & ~(1 << index) & ~end
        # The nearest has the most postdominators of its own.
        best, most = None, -1
        for candidate in _bits(strict):
            own = sets[candidate].bit_count()
            if own > most:
                best, most = candidate, own
        found.append(best if sets[index] != every else None)
    return found


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def divergence(function: Function, blocks: tuple[BasicBlock, ...], private: frozenset[str]) -> Divergence:
    """Analyse a flattened body whose `blocks` are those of `basic_blocks(function)`. `private` are the variables of
    which each thread has its own."""
    return _Analysis(function, blocks, private).solve()
