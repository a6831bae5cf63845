"""Which values and branches are the same for all threads of a block, and what lies behind the branches that are not.

A register is uniform if every thread would compute the same value for it at the same step: its definitions read only
parameters, block numbers, literals and uniform registers, and stand where all threads come by together. A branch on
another register is divergent; up to where its paths meet again lies its region, which only some threads run. Some
regions get a mask (masks.py); within them the threads of the mask come by together. A branch that only ends threads
(the `if (i >= n) return` of nearly every kernel) has no region: those are gone, the others go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ....ptx.control_flow import BasicBlock, Liveness, reads, writes
from ....ptx.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Vector,
)
from .masks import Mask, MaskFinder, innermost
from .yields import back_edges, natural_loop, waits

_UNIFORM_SPECIALS = (
    "%ctaid", "%ntid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_", "%envreg", "%gridid", "%smid", "%nsmid",
    "%nwarpid", "%dynamic_smem_size", "%total_smem_size", "%is_explicit",
)  # fmt: skip
# What neither reads memory nor depends on who executes it.
_PURE = frozenset(
    {
        "mov", "cvta", "selp", "setp", "set", "slct", "add", "sub", "mul", "mad", "mul24", "mad24", "div", "rem", "neg",
        "abs", "min", "max", "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "bfe", "bfi", "bfind", "popc",
        "clz", "brev", "prmt", "lop3", "fma", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "cvt", "copysign", "sad", "bmsk",
        "testp",
    }
)  # fmt: skip


def is_exit(statement: object) -> bool:
    """Whether a statement ends the thread without a fault."""
    return isinstance(statement, Instruction) and statement.opcode in ("ret", "exit")


def is_uniform_load(statement: Instruction) -> bool:
    """A load of memory that nobody writes while the kernel runs: the same for all if the address is."""
    if statement.opcode != "ld" or not isinstance(statement.operands[1], Address) or "v8" in statement.modifiers:
        return False
    return "const" in statement.modifiers or ("global" in statement.modifiers and "nc" in statement.modifiers)


@dataclass
class Divergence:
    """The outcome: `registers` and `branches` (blocks, by index) that are divergent; `kills` those of the branches that
    only end threads; `inside` the blocks that only some threads run without a mask; `mask_of` each block's innermost
    mask. `loads_uniformly` tells whether memory is read once for all threads, which takes one that is alive."""

    registers: set[str] = field(default_factory=set)
    branches: set[int] = field(default_factory=set)
    kills: set[int] = field(default_factory=set)
    inside: set[int] = field(default_factory=set)
    masks: list[Mask] = field(default_factory=list)
    mask_of: list[Mask | None] = field(default_factory=list)
    loads_uniformly: bool = False


class _Analysis:
    def __init__(
        self, function: Function, blocks: tuple[BasicBlock, ...], liveness: Liveness, private: frozenset[str]
    ) -> None:
        assert function.body is not None
        self.private, self.liveness = private, liveness
        self.function, self.body, self.blocks = function, function.body, blocks
        self.parameters = {parameter.name for parameter in function.parameters}
        self.exits = {block.index for block in blocks if self.only_exits(block)}
        self.reachable = _reached(blocks, 0, None) | {0}
        self.closed = {index for index in range(len(blocks)) if self._may_exit(blocks[index])}
        self.worth = self._worth_a_mask()
        self.found = Divergence(mask_of=[None] * len(blocks))
        self._live_in: dict[int, frozenset[str]] = {}

    def only_exits(self, block: BasicBlock) -> bool:
        """Whether a block does nothing but end the thread."""
        statements = [s for s in self.body[block.start : block.stop] if not isinstance(s, Label)]
        if not statements:
            return not block.successors
        return len(statements) == 1 and is_exit(statements[0]) and statements[0].guard is None

    def _may_exit(self, block: BasicBlock) -> bool:
        return not block.successors or any(is_exit(s) for s in self.body[block.start : block.stop])

    def _worth_a_mask(self) -> set[int]:
        found: set[int] = set()
        for tail, head in back_edges(self.blocks):
            found |= natural_loop(self.blocks, tail, head)
        for block in self.blocks:
            if any(isinstance(s, Instruction) and waits(s) for s in self.body[block.start : block.stop]):
                found.add(block.index)
        return found

    def solve(self) -> Divergence:
        changed = True
        while changed:
            changed = self._spread()
            if changed:
                self._find_regions()
        self.found.loads_uniformly = any(
            isinstance(s, Instruction) and is_uniform_load(s) and not self.found.registers.intersection(writes(s))
            for s in self.body
        )
        return self.found

    # ------------------------------------------------------------ values

    def _spread(self) -> bool:
        """One pass over all statements; whether anything became divergent."""
        found, changed = self.found, False
        registers = found.registers
        for block in self.blocks:
            in_region = block.index in found.inside
            for statement in self.body[block.start : block.stop]:
                if not isinstance(statement, Instruction):
                    continue
                results = writes(statement)
                if not results or registers.issuperset(results):
                    continue
                # What one instruction writes (`ld.v4`, `setp p|q`) is computed in one place.
                varies = in_region or self._varies(statement) or not registers.isdisjoint(results)
                if varies or any(self.escapes(name, block.index) for name in results):
                    registers.update(results)
                    changed = True
            last = self.body[block.stop - 1]
            if block.index not in found.branches and self._branches_on(last):
                found.branches.add(block.index)
                changed = True
        return changed

    def escapes(self, register: str, block: int) -> bool:
        """Whether a value set in a block under a mask is used outside of that mask, where threads must keep theirs."""
        mask = self.found.mask_of[block]
        while mask is not None:
            if register in self._live(mask.join):
                return True
            sides = (mask.other, *(m for m in self.found.masks if m.other is mask))
            if any(side is not None and register in self._live(side.entry) for side in sides):
                return True
            mask = mask.parent
        return False

    def _live(self, block: int) -> frozenset[str]:
        found = self._live_in.get(block)
        if found is None:
            found = self._live_in[block] = frozenset(self.liveness.at_start(block))
        return found

    def _branches_on(self, last: object) -> bool:
        if not isinstance(last, Instruction) or last.opcode not in ("bra", "brx"):
            return False
        return any(name in self.found.registers for name in reads(last))

    def _varies(self, statement: Instruction) -> bool:
        if statement.guard is not None or "cc" in statement.modifiers or statement.opcode in ("addc", "subc", "madc"):
            return True
        if statement.opcode == "ld":
            address = statement.operands[1]
            if not isinstance(address, Address):
                return True
            if is_uniform_load(statement):
                return isinstance(address.base, Register) and address.base.name in self.found.registers
            is_parameter = isinstance(address.base, Symbol) and address.base.name in self.parameters
            return not ("param" in statement.modifiers and is_parameter)
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
        return isinstance(operand, Negated) and self._operand_is_uniform(operand.operand)

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
        regions = {
            index: (frozenset(_reached(blocks, index, joins[index])), joins[index])
            for index in found.branches - found.kills
            if index in self.reachable
        }
        closed = self.closed | found.kills
        found.masks, found.inside = MaskFinder(blocks, self.reachable, self.worth, closed).find(regions)
        found.mask_of = innermost(found.masks, len(blocks))


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
    changed = True
    while changed:
        changed = False
        for index in range(count - 1, -1, -1):
            common = every if successors[index] else end
            for successor in successors[index]:
                common &= sets[successor]
            after = common | 1 << index
            if after != sets[index]:
                sets[index], changed = after, True
    found: list[int | None] = []
    for index in range(count):
        strict = sets[index] & ~(1 << index) & ~end
        # The nearest has the most postdominators of its own.
        nearest = max(_bits(strict), key=lambda candidate: sets[candidate].bit_count(), default=None)
        found.append(nearest if sets[index] != every else None)
    return found


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def divergence(
    function: Function, blocks: tuple[BasicBlock, ...], liveness: Liveness, private: frozenset[str]
) -> tuple[Divergence, _Analysis]:
    """Analyse a flattened body whose `blocks` and `liveness` are those of ptx/control_flow.py. `private` are the
    variables of which each thread has its own. The second result answers whether a register escapes its mask."""
    analysis = _Analysis(function, blocks, liveness, private)
    return analysis.solve(), analysis
