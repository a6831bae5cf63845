"""A kernel as one function per block: loops over the threads, one after the other, as long as barriers and the control
flow that all threads share allow. LLVM vectorises these loops across threads.

The body is cut into steps. A step ends where threads wait for each other, where all threads branch together, and where
a mask (masks.py) begins or ends; what else only some threads run stays inside of it. What is the same for all threads
is computed once ahead of the loop. Values that a thread carries from step to step lie in arrays with an element per
thread, so that neighbours are read together. Not every kernel can be cut that way (a barrier behind control flow of
no regular shape, waiting by spinning); those run thread by thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....ptx.control_flow import BasicBlock, Liveness
from ....ptx.syntax import Function, Instruction
from .divergence import divergence, is_exit
from .masks import Mask
from .yields import YIELD, waits

_LARGEST_BLOCK_COUNT = 2000
# Statements that are worth being there twice, for many threads and for few.
_LARGEST_SCALAR = 80

# (block, statement).
Place = tuple[int, int]
# A step's leader and, where few threads run the blocks of a mask one by one, the number of that mask.
StepKey = tuple[Place, int]
# Statements first … last - 1 of a block that all threads of the step run, or blocks that some of them run.
Part = tuple[int, int, int] | frozenset[int]


class NotByBlock(Exception):
    """The kernel cannot be cut into steps."""


# ------------------------------------------------------------ how a step ends


@dataclass(frozen=True)
class Return:
    """All threads that are left end."""


@dataclass(frozen=True)
class Goto:
    """All threads go on at a step; the masks in `enters` begin with them."""

    target: Target


@dataclass(frozen=True)
class Branch:
    """All threads go on at one of two steps, by a uniform predicate."""

    statement: Instruction
    taken: Target
    other: Target


@dataclass(frozen=True)
class Split:
    """The threads go into one or two masks; `sides` are (mask, whether for the taken branch, its first step)."""

    statement: Instruction
    sides: tuple[tuple[Mask, bool, Target], ...]
    join: Target


@dataclass(frozen=True)
class Stay:
    """Threads leave a loop's mask; it goes on while any is left."""

    statement: Instruction
    mask: Mask
    stays_when_taken: bool
    again: Target
    join: Target


@dataclass(frozen=True)
class Collective:
    """The threads exchange something, then go on behind the statement."""

    statement: Instruction
    target: Target


End = Return | Goto | Branch | Split | Stay | Collective


@dataclass(frozen=True)
class Target:
    """Where control goes: to a step, or first to the second side of a branch (`dispatch`), with masks to begin."""

    place: Place
    enters: tuple[Mask, ...] = ()
    dispatch: Mask | None = None


@dataclass
class Step:
    """Statements that all threads of `mask` run, in order. `scalar` are the blocks of a mask that few threads are left
    in: those run them one by one."""

    leader: Place
    mask: Mask | None
    scalar: Mask | None = None
    parts: list[Part] = field(default_factory=list)
    end: End = field(default_factory=Return)

    @property
    def key(self) -> StepKey:
        return self.leader, 0 if self.scalar is None else self.scalar.number

    def targets(self) -> list[Target]:
        """Where control may go from here, second sides not followed."""
        end = self.end
        if isinstance(end, (Goto, Collective)):
            return [end.target]
        if isinstance(end, Branch):
            return [end.taken, end.other]
        if isinstance(end, Split):
            return [*(target for _, _, target in end.sides), end.join]
        if isinstance(end, Stay):
            return [end.again, end.join]
        return []


class StepFinder:
    """Finds the steps of a kernel; raises NotByBlock."""

    def __init__(
        self, function: Function, blocks: tuple[BasicBlock, ...], liveness: Liveness, private: frozenset[str]
    ) -> None:
        assert function.body is not None
        self.function, self.body, self.blocks = function, function.body, blocks
        if len(blocks) > _LARGEST_BLOCK_COUNT or not blocks:
            raise NotByBlock
        for statement in self.body:
            if not isinstance(statement, Instruction):
                continue
            arrives = statement.opcode in ("bar", "barrier") and "arrive" in statement.modifiers
            if arrives or statement.opcode in (YIELD, "nanosleep"):
                raise NotByBlock
        self.divergence, self.analysis = divergence(function, blocks, liveness, private)
        self.reached = self.analysis.reachable
        for index in self.divergence.inside & self.reached:
            block = blocks[index]
            if any(isinstance(s, Instruction) and waits(s) for s in self.body[block.start : block.stop]):
                raise NotByBlock

    def steps(self) -> dict[StepKey, Step]:
        """All steps by their keys, the first being that of the entry."""
        found: dict[StepKey, Step] = {}
        entry = self._edge(None, 0)
        if entry.enters or entry.dispatch:
            raise NotByBlock
        pending: list[Place] = [entry.place]
        while pending:
            place = pending.pop()
            if (place, 0) in found:
                continue
            step = self._step(place)
            found[step.key] = step
            targets = step.targets()
            for target in targets:
                while target.dispatch is not None:
                    second, behind = self.dispatched(target.dispatch)
                    pending.append(second.place)
                    targets.append(second)
                    target = behind
                pending.append(target.place)
            for mask, place in self._few(step):
                scalar = self._scalar_step(mask, place)
                if scalar.key not in found:
                    found[scalar.key] = scalar
                    pending.extend(target.place for target in scalar.targets())
        return found

    # ------------------------------------------------------------ masks

    def _mask(self, index: int) -> Mask | None:
        return self.divergence.mask_of[index]

    def _edge(self, source: Mask | None, block: int) -> Target:
        """The way from the mask `source` to a block: past the ends of masks and the beginnings of others."""
        inner = self._mask(block)
        around = inner.chain() if inner is not None else []
        mask = source
        while mask is not None and mask not in around:
            if mask.other is not None:
                return Target((block, self.blocks[block].start), dispatch=mask)
            mask = mask.parent
        entering = around if mask is None else around[: around.index(mask)]
        if any(each.kind != "loop" for each in entering):
            raise NotByBlock
        return Target((block, self.blocks[block].start), tuple(reversed(entering)))

    def dispatched(self, first: Mask) -> tuple[Target, Target]:
        """Behind the first side of a branch: the way to the second one, and the way on where nobody takes that."""
        second = first.other
        assert second is not None
        return self._edge(second, second.entry), self._edge(first.parent, first.join)

    def can_run_scalar(self, mask: Mask) -> bool:
        """Whether threads may run a mask's blocks one by one: they loop, and never wait for each other."""
        statements = [s for i in mask.blocks for s in self.body[self.blocks[i].start : self.blocks[i].stop]]
        if len(statements) > _LARGEST_SCALAR or any(isinstance(s, Instruction) and waits(s) for s in statements):
            return False
        return any(index in self.analysis.worth for index in mask.blocks)

    def _few(self, step: Step) -> list[tuple[Mask, Place]]:
        end = step.end
        if isinstance(end, Stay) and self.can_run_scalar(end.mask):
            return [(end.mask, end.again.place)]
        if isinstance(end, Split):
            return [(m, (m.entry, self.blocks[m.entry].start)) for m, _, _ in end.sides if self.can_run_scalar(m)]
        return []

    def _scalar_step(self, mask: Mask, place: Place) -> Step:
        step = Step(place, mask, scalar=mask)
        step.parts.append(mask.blocks)
        step.end = Goto(self._edge(mask, mask.join))
        return step

    # ------------------------------------------------------------ one step

    def _step(self, leader: Place) -> Step:
        index, at = leader
        step = Step(leader, self._mask(index))
        taken: set[int] = set()
        while True:
            taken.add(index)
            following: int | list[int] | None
            if index in self.divergence.inside:
                following = self._region(step, [index], taken)
            else:
                following = self._uniform_block(step, index, at)
            if isinstance(following, list):
                following = self._region(step, following, taken)
            if following is None:
                return step
            start = self.blocks[following].start
            predecessors = {p for p in self.blocks[following].predecessors if p in self.reached}
            merges = (
                following not in taken
                and predecessors <= taken
                and (following, start) != leader
                and self._mask(following) is step.mask
                and not (self.divergence.loads_uniformly and self._ends_threads(step.parts[-1]))
            )
            if not merges:
                step.end = Goto(self._edge(step.mask, following))
                return step
            index, at = following, start

    def _ends_threads(self, part: Part) -> bool:
        return isinstance(part, frozenset) and any(index in self.analysis.closed for index in part)

    def _uniform_block(self, step: Step, index: int, at: int) -> int | list[int] | None:
        """Take a block's statements; the block that follows, those of a divergent branch, or None at a step's end."""
        block, first = self.blocks[index], at
        for place in range(at, block.stop):
            statement = self.body[place]
            if not isinstance(statement, Instruction):
                continue
            if waits(statement):
                if (
                    step.mask is not None
                    and statement.opcode in ("bar", "barrier")
                    and "warp" not in statement.modifiers
                ):
                    # Those outside of the mask may end, or meet these at a barrier elsewhere: only threads by
                    # themselves can find out.
                    raise NotByBlock
                step.parts.append((index, first, place))
                step.end = Collective(statement, Target((index, place + 1)))
                return None
            if statement.opcode in ("trap", "brkpt") and statement.guard is None:
                step.parts.append((index, first, place + 1))
                return None
            if is_exit(statement) and statement.guard is None:
                step.parts.append((index, first, place))
                return None
        step.parts.append((index, first, block.stop))
        if not block.successors:
            return None
        last = self.body[block.stop - 1]
        if isinstance(last, Instruction) and last.opcode == "brx":
            raise NotByBlock
        if is_exit(last) and self.divergence.loads_uniformly:
            step.end = Goto(self._edge(step.mask, block.successors[0]))
            return None
        if not isinstance(last, Instruction) or last.opcode != "bra" or last.guard is None:
            return block.successors[0]
        return self._conditional(step, index, last)

    def _conditional(self, step: Step, index: int, last: Instruction) -> int | list[int] | None:
        successors = self.blocks[index].successors
        if len(successors) == 1:
            return successors[0]
        taken, other = successors
        found = self.divergence
        if index in found.kills:
            (on,) = (s for s in successors if s not in self.analysis.exits)
            if found.loads_uniformly:
                # Whoever reads memory for all must not do so when nobody is left.
                step.end = Goto(self._edge(step.mask, on))
                return None
            return on
        if index not in found.branches:
            step.end = Branch(last, self._edge(step.mask, taken), self._edge(step.mask, other))
            return None
        for mask in found.masks:
            if mask.kind == "if" and mask.branch == index and not mask.is_second:
                sides = [mask] if mask.other is None else [mask, mask.other]
                step.end = Split(
                    last,
                    tuple((side, side.entry == taken, self._edge(side, side.entry)) for side in sides),
                    self._edge(step.mask, mask.join),
                )
                return None
            if mask.kind == "loop" and index in mask.exits:
                if step.mask is not mask:
                    raise NotByBlock
                stays_when_taken = other == mask.join
                again = taken if stays_when_taken else other
                step.end = Stay(
                    last, mask, stays_when_taken, self._edge(step.mask, again), self._edge(step.mask, mask.join)
                )
                return None
        return list(successors)

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
        going_on = leaving - self.analysis.exits
        if len(going_on) > 1:
            raise NotByBlock
        step.parts.append(frozenset(region | (leaving - going_on)))
        taken |= region
        return going_on.pop() if going_on else None
