"""A kernel as one function per block: loops over the threads, one after the other, as long as barriers and the control
flow that all threads share allow. LLVM vectorises these loops across threads.

The body is cut into steps. A step ends at a barrier and where all threads branch together; what only some threads run
stays inside of it. What is the same for all threads is computed once ahead of the loop. Values that a thread carries
from step to step lie in arrays with an element per thread, so that neighbours are read together. Not every kernel can
be cut that way (a barrier behind a divergent branch, warp operations, waiting by spinning); those run thread by thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....ptx.control_flow import BasicBlock
from ....ptx.syntax import Function, Instruction
from .divergence import Divergence, divergence, is_exit
from .yields import waits

_LARGEST_BLOCK_COUNT = 4000

# (block, statement): where a step begins.
Place = tuple[int, int]
Part = tuple[int, int, int] | frozenset[int]


def barrier_is_plain(instruction: Instruction) -> bool:
    """A barrier of all threads that gives no result."""
    words = set(instruction.modifiers)
    if instruction.opcode not in ("bar", "barrier") or words & {"warp", "arrive", "red", "cluster"}:
        return False
    return len(instruction.operands) < 2


@dataclass
class Step:
    """Statements from `leader` (block, statement) on, in order. `end` tells how it goes on:

    ("goto", place), ("branch", statement, taken, other), or ("return",).
    """

    leader: Place
    # (block, first, last): statements of uniform blocks; or a set of blocks that only some threads run.
    parts: list[Part] = field(default_factory=list)
    end: tuple[object, ...] = ("return",)


class NotByBlock(Exception):
    """The kernel cannot be cut into steps."""


class StepFinder:
    """Finds the steps of a kernel."""

    def __init__(self, function: Function, blocks: tuple[BasicBlock, ...], private: frozenset[str]) -> None:
        assert function.body is not None
        self.function, self.body, self.blocks = function, function.body, blocks
        if len(blocks) > _LARGEST_BLOCK_COUNT or not blocks:
            raise NotByBlock
        for statement in self.body:
            if isinstance(statement, Instruction) and waits(statement) and not barrier_is_plain(statement):
                raise NotByBlock
        self.divergence: Divergence = divergence(function, blocks, private)
        inside = self.divergence.inside
        for index in inside:
            block = blocks[index]
            if any(isinstance(s, Instruction) and waits(s) for s in self.body[block.start : block.stop]):
                raise NotByBlock
        self.reached = self._reachable()

    def _reachable(self) -> set[int]:
        seen, pending = {0}, [0]
        while pending:
            for successor in self.blocks[pending.pop()].successors:
                if successor not in seen:
                    seen.add(successor)
                    pending.append(successor)
        return seen

    def steps(self) -> dict[Place, Step]:
        """All steps by their leaders, the first being that of the entry."""
        found: dict[Place, Step] = {}
        pending: list[Place] = [(0, self.blocks[0].start)]
        while pending:
            place = pending.pop()
            if place in found:
                continue
            step = found[place] = self._step(place)
            if step.end[0] == "goto":
                pending.append(step.end[1])  # type: ignore[arg-type]
            elif step.end[0] == "branch":
                pending += [step.end[2], step.end[3]]  # type: ignore[list-item]
        return found

    def _step(self, leader: Place) -> Step:
        step = Step(leader)
        taken: set[int] = set()
        index, at = leader
        while True:
            taken.add(index)
            if index in self.divergence.inside:
                following: int | list[int] | None = self._region(step, [index], taken)
            else:
                following = self._uniform_block(step, index, at)
                if following is None:
                    return step
            if isinstance(following, list):
                following = self._region(step, following, taken)
                if following is None:
                    return step
            assert isinstance(following, int)
            start = self.blocks[following].start
            predecessors = {p for p in self.blocks[following].predecessors if p in self.reached}
            if following in taken or not predecessors <= taken or (following, start) == leader:
                step.end = ("goto", (following, start))
                return step
            index, at = following, start

    def _uniform_block(self, step: Step, index: int, at: int) -> int | list[int] | None:
        """Take a block's statements; the block that follows, those of a divergent branch, or None at a step's end."""
        block = self.blocks[index]
        first = at
        for place in range(at, block.stop):
            statement = self.body[place]
            if not isinstance(statement, Instruction):
                continue
            if waits(statement):
                step.parts.append((index, first, place))
                step.end = ("goto", (index, place + 1))
                return None
            if statement.opcode in ("trap", "brkpt") and statement.guard is None:
                step.parts.append((index, first, place + 1))
                return None
            if is_exit(statement) and statement.guard is None:
                step.parts.append((index, first, place))
                return None
        step.parts.append((index, first, block.stop))
        successors = block.successors
        if not successors:
            return None
        last = self.body[block.stop - 1]
        if not isinstance(last, Instruction) or last.opcode != "bra" or last.guard is None or len(successors) == 1:
            if isinstance(last, Instruction) and last.opcode == "brx":
                raise NotByBlock
            return successors[0]
        if index in self.divergence.kills:
            (other,) = (s for s in successors if not self._is_exit_block(s))
            return other
        if index in self.divergence.branches:
            return list(successors)
        starts = [(s, self.blocks[s].start) for s in successors]
        if last.guard.negated:
            starts.reverse()
        step.end = ("branch", last, starts[0], starts[1])
        return None

    def _is_exit_block(self, index: int) -> bool:
        block = self.blocks[index]
        statements = [s for s in self.body[block.start : block.stop] if isinstance(s, Instruction)]
        return not block.successors and (not statements or (len(statements) == 1 and is_exit(statements[0])))

    def _region(self, step: Step, entries: list[int], taken: set[int]) -> int | None:
        """Take the blocks that only some threads run, from `entries` to the one block where all are together again."""
        inside = self.divergence.inside
        region: set[int] = set()
        leaving: set[int] = set()
        pending = list(entries)
        while pending:
            index = pending.pop()
            if index not in inside:
                leaving.add(index)
            elif index not in region:
                region.add(index)
                pending.extend(self.blocks[index].successors)
        going_on = {index for index in leaving if not self._is_exit_block(index)}
        if len(going_on) > 1:
            raise NotByBlock
        step.parts.append(frozenset(region | (leaving - going_on)))
        taken |= region
        return going_on.pop() if going_on else None
