"""What a body's instructions read and write, its basic blocks, and which registers are live where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .syntax import (
    Address,
    ArgumentList,
    Function,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Part,
    Register,
    Symbol,
    Vector,
)

# Opcodes whose first operand is no destination although it may be a register. Where the first operand is an address
# or a number (st, red, cp.async, mbarrier.init, …) nothing needs to be listed: it cannot be written.
_ONLY_SOURCES = frozenset(
    {
        "st", "stu", "red", "bra", "brx", "ret", "exit", "trap", "brkpt", "pmevent", "nanosleep", "membar", "fence",
        "prefetch", "prefetchu", "discard", "applypriority", "setmaxnreg", "griddepcontrol", "sust", "sured",
        "stmatrix", "stackrestore", "tensormap", "cp",
    }
)  # fmt: skip
# Of these, only the forms with one of the given modifiers have a destination.
_DESTINATION_ONLY_WITH = {
    "bar": frozenset({"red"}),
    "barrier": frozenset({"red"}),
    "multimem": frozenset({"ld_reduce"}),
    "tcgen05": frozenset({"ld"}),
    "wmma": frozenset({"load", "mma"}),
    "wgmma": frozenset({"mma_async"}),
}
_ENDS = frozenset({"ret", "exit", "trap"})
_SPLITS = frozenset({"ret", "exit", "trap", "bra", "brx"})


def has_destination(instruction: Instruction) -> bool:
    """Whether the first operand (the result list of a `call`) is where the instruction puts its result."""
    opcode, operands = instruction.opcode, instruction.operands
    if not operands or isinstance(operands[0], Address):
        return False
    if opcode == "call":
        return isinstance(operands[0], ArgumentList)
    if opcode in _ONLY_SOURCES:
        return False
    needed = _DESTINATION_ONLY_WITH.get(opcode)
    return needed is None or not needed.isdisjoint(instruction.modifiers)


def writes(instruction: Instruction) -> tuple[str, ...]:
    """The registers that receive a result, in the order of the operands, each once.

    A guarded instruction may leave them as they were. Results that go to memory (also to the `.param` variables
    of a `call`) are no registers, and neither is the carry flag.
    """
    if not has_destination(instruction):
        return ()
    return _distinct(_registers(instruction.operands[0]))


def reads(instruction: Instruction) -> tuple[str, ...]:
    """The registers whose value is used: the guard, then sources, address bases and subscripts, each once.

    A destination counts where the old value goes into the new one: the accumulators of `wgmma.mma_async`, and
    a register of which only a part is written (`vadd… %r1.b0`).
    """
    found: list[str] = [] if instruction.guard is None else [instruction.guard.register]
    operands = instruction.operands
    first = 1 if has_destination(instruction) else 0
    if first:
        destination = operands[0]
        if instruction.opcode == "wgmma" or isinstance(destination, Part):
            found.extend(_registers(destination))
    for operand in operands[first:]:
        if type(operand) is Register:
            found.append(operand.name)
        else:
            found.extend(_registers(operand))
    return _distinct(found)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _registers(operand: Operand) -> list[str]:
    """Every register in an operand, from left to right."""
    if isinstance(operand, Register):
        return [operand.name]
    if isinstance(operand, Address):
        found = [operand.base.name] if isinstance(operand.base, Register) else []
        for subscript in operand.subscripts:
            found.extend(_registers(subscript))
        return found
    if isinstance(operand, (Vector, ArgumentList)):
        found = []
        for element in operand.elements:
            found.extend(_registers(element))
        return found
    if isinstance(operand, Negated):
        return _registers(operand.operand)
    if isinstance(operand, Pair):
        return _registers(operand.first) + _registers(operand.second)
    if isinstance(operand, Part):
        return [operand.register.name]
    return []


# ---------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """Statements `start` … `stop - 1` of the body, entered at the first and left after the last.

    `labels` are those at its beginning (several may stand for one place). `successors` are block indexes: the
    targets of the last instruction in their order, then the block that follows if it can be fallen into. A block
    without successors ends the thread or returns.
    """

    index: int
    labels: tuple[str, ...]
    start: int
    stop: int
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]


def basic_blocks(function: Function) -> tuple[BasicBlock, ...]:
    """The basic blocks of a body in the order of the text, the entry first.

    A call does not end a block. `ret`, `exit` and `trap` end a path unless they are guarded; so does the end of
    the body. Blocks that nothing reaches are kept. Raises ValueError for a function without a body.
    """
    if function.body is None:
        raise ValueError(f"{function.name} is declared without a body; there are no blocks to find")
    body = function.body
    starts: list[int] = []
    open_block = label_run = False
    for at, statement in enumerate(body):
        is_label = isinstance(statement, Label)
        if not open_block or (is_label and not label_run):
            starts.append(at)
            open_block = True
        label_run = is_label
        if isinstance(statement, Instruction) and statement.opcode in _SPLITS:
            open_block = False
    stops = [*starts[1:], len(body)] if starts else []
    labels: list[tuple[str, ...]] = []
    block_of: dict[str, int] = {}
    for index, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        names = []
        for at in range(start, stop):
            statement = body[at]
            if not isinstance(statement, Label):
                break
            names.append(statement.name)
            block_of[statement.name] = index
        labels.append(tuple(names))
    # A table may be long and used often, so its labels are looked up once.
    tables = {
        name: tuple(dict.fromkeys(block_of[label] for label in targets))
        for name, targets in function.branch_tables.items()
    }
    successors = [_successors(body[stop - 1], index, len(starts), block_of, tables) for index, stop in enumerate(stops)]
    predecessors: list[list[int]] = [[] for _ in starts]
    for index, following in enumerate(successors):
        for target in following:
            predecessors[target].append(index)
    return tuple(
        BasicBlock(index, labels[index], start, stop, successors[index], tuple(predecessors[index]))
        for index, (start, stop) in enumerate(zip(starts, stops, strict=True))
    )


def _successors(
    last: Instruction | Label,
    index: int,
    count: int,
    block_of: dict[str, int],
    tables: dict[str, tuple[int, ...]],
) -> tuple[int, ...]:
    targets: tuple[int, ...] = ()
    falls_through = True
    if isinstance(last, Instruction):
        if last.opcode in ("bra", "brx"):
            # The last operand is the label of `bra`, the table of `brx.idx`.
            target = last.operands[-1]
            assert isinstance(target, Symbol)
            targets = (block_of[target.name],) if last.opcode == "bra" else tables[target.name]
            falls_through = last.guard is not None
        elif last.opcode in _ENDS:
            falls_through = last.guard is not None
    if falls_through and index + 1 < count and index + 1 not in targets:
        targets = (*targets, index + 1)
    return targets


def _postorder(blocks: tuple[BasicBlock, ...]) -> list[int]:
    """Block indexes, each after what can be reached from it except along a loop's way back."""
    order: list[int] = []
    seen = [False] * len(blocks)
    for root in range(len(blocks)):
        if seen[root]:
            continue
        seen[root] = True
        path = [(root, iter(blocks[root].successors))]
        while path:
            index, remaining = path[-1]
            for successor in remaining:
                if not seen[successor]:
                    seen[successor] = True
                    path.append((successor, iter(blocks[successor].successors)))
                    break
            else:
                path.pop()
                order.append(index)
    return order


# ---------------------------------------------------------------- liveness


class Liveness:
    """Which registers hold a value that may still be read, at the edges of blocks and between statements.

    A register is live before a statement if some path from there reads it before it is surely written. Sets are
    integers with bit n for `names[n]`: unions of a body with tens of thousands of registers stay cheap.
    """

    __slots__ = ("_block_of_start", "_blocks", "_body", "_number", "live_in", "live_out", "names")

    def __init__(self, function: Function, blocks: tuple[BasicBlock, ...]) -> None:
        assert function.body is not None
        self._body, self._blocks = function.body, blocks
        self.names: list[str] = []
        self._number: dict[str, int] = {}
        used, killed = self._summaries()
        self.live_in: list[int] = list(used)
        self.live_out: list[int] = [0] * len(blocks)
        self._solve(killed)

    def _mask(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            number = self._number.get(name)
            if number is None:
                number = self._number[name] = len(self.names)
                self.names.append(name)
            mask |= 1 << number
        return mask

    def _summaries(self) -> tuple[list[int], list[int]]:
        """Per block: the registers read before they are surely written, and those surely written."""
        used, killed = [], []
        for block in self._blocks:
            needed: set[str] = set()
            written: set[str] = set()
            for at in range(block.start, block.stop):
                statement = self._body[at]
                if isinstance(statement, Instruction):
                    for name in reads(statement):
                        if name not in written:
                            needed.add(name)
                    if statement.guard is None:
                        written.update(writes(statement))
            used.append(self._mask(sorted(needed)))
            killed.append(self._mask(sorted(written)))
        return used, killed

    def _solve(self, killed: list[int]) -> None:
        """Backward in rounds until nothing changes. In postorder a round settles everything but the loops, so the
        number of rounds follows the nesting of loops, not the order of the text."""
        blocks, live_in, live_out = self._blocks, self.live_in, self.live_out
        used = list(live_in)
        order = _postorder(blocks)
        stale = [True] * len(blocks)
        while any(stale):
            for index in order:
                if not stale[index]:
                    continue
                stale[index] = False
                out = 0
                for successor in blocks[index].successors:
                    out |= live_in[successor]
                live_out[index] = out
                before = used[index] | (out & ~killed[index])
                if before != live_in[index]:
                    live_in[index] = before
                    for predecessor in blocks[index].predecessors:
                        stale[predecessor] = True

    def registers(self, mask: int) -> tuple[str, ...]:
        """The names in a set, by number."""
        return tuple(self.names[number] for number, bit in enumerate(bin(mask)[:1:-1]) if bit == "1")

    def at_start(self, block: int) -> tuple[str, ...]:
        """The registers live at the beginning of a block."""
        return self.registers(self.live_in[block])

    def at_end(self, block: int) -> tuple[str, ...]:
        """The registers live behind the last statement of a block."""
        return self.registers(self.live_out[block])

    def before_each(self, block: int) -> tuple[int, ...]:
        """The set live before each statement of a block and, last, behind the final one: `stop - start + 1` sets."""
        live = self.live_out[block]
        found = [live]
        inside = self._blocks[block]
        for at in range(inside.stop - 1, inside.start - 1, -1):
            statement = self._body[at]
            if isinstance(statement, Instruction):
                if statement.guard is None:
                    live &= ~self._mask(writes(statement))
                live |= self._mask(reads(statement))
            found.append(live)
        return tuple(reversed(found))


def live_registers(function: Function, blocks: tuple[BasicBlock, ...]) -> Liveness:
    """Solve liveness for a body whose `blocks` are those of `basic_blocks(function)`."""
    return Liveness(function, blocks)
