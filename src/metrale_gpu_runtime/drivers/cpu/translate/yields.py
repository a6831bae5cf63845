"""Where a thread that cannot go on by itself must let the others run. Both rules insert `yield` statements.

Spinning: in a loop that looks at memory others write (a volatile, relaxed or acquire load, an atomic whose result is
used) or sleeps, and that holds no other wait, the thread yields on the way back every `SPIN_TURNS` rounds. Without it a
lock whose owner runs on the same core would never be released.

Lock step: code of before Volta relies on the 32 lanes of a warp advancing together, one memory operation at a time.
Where a volatile store to shared memory may reach a volatile load of shared memory with no wait between, the threads
yield after each volatile access to shared memory; the scheduler then runs the lanes of a warp in turn.
"""

from __future__ import annotations

from dataclasses import replace

from ....ptx.control_flow import BasicBlock, basic_blocks
from ....ptx.syntax import Function, Instruction, Sink, Statement

SPIN_TURNS = 64
YIELD = "yield"

_COLLECTIVE = frozenset({"bar", "barrier", "shfl", "vote", "match", "redux", "activemask", "elect"})
_ORDERED = frozenset({"volatile", "relaxed", "acquire", "acq_rel", "mmio"})


def waits(instruction: Instruction) -> bool:
    """Whether the thread leaves the function at this instruction until others have come."""
    if instruction.opcode in ("bar", "barrier"):
        return "arrive" not in instruction.modifiers
    return instruction.opcode in _COLLECTIVE or instruction.opcode in (YIELD, "nanosleep")


def _polls(instruction: Instruction) -> bool:
    if instruction.opcode == "ld":
        return not _ORDERED.isdisjoint(instruction.modifiers)
    return instruction.opcode == "atom" and not isinstance(instruction.operands[0], Sink)


def _is_volatile_shared(statement: Statement, opcode: str) -> bool:
    if not isinstance(statement, Instruction) or statement.opcode != opcode:
        return False
    return "volatile" in statement.modifiers and (
        "shared" in statement.modifiers or "shared::cta" in statement.modifiers
    )


def with_yields(function: Function) -> Function:
    """The function with `yield` statements where it needs them; the same object where it needs none."""
    body = function.body
    assert body is not None
    insertions: dict[int, Instruction] = {}
    interesting = any(isinstance(s, Instruction) and _polls(s) for s in body)
    if interesting:
        blocks = basic_blocks(function)
        for at in _spinning_ends(body, blocks):
            insertions[at] = _yield_like(body, at, "spin")
        if _needs_lock_step(body, blocks):
            for at, statement in enumerate(body):
                if _is_volatile_shared(statement, "ld") or _is_volatile_shared(statement, "st"):
                    insertions[at + 1] = _yield_like(body, at, "lockstep")
    if not insertions:
        return function
    statements: list[Statement] = []
    for at, statement in enumerate(body):
        if at in insertions:
            statements.append(insertions[at])
        statements.append(statement)
    if len(body) in insertions:
        statements.append(insertions[len(body)])
    return replace(function, body=tuple(statements))


def _yield_like(body: tuple[Statement, ...], at: int, why: str) -> Instruction:
    position = body[min(at, len(body) - 1)].position
    return Instruction(YIELD, (why,), (), None, position)


def _spinning_ends(body: tuple[Statement, ...], blocks: tuple[BasicBlock, ...]) -> list[int]:
    """Where to yield: before the last statement of each block that closes a spinning loop."""
    found: list[int] = []
    for tail, head in back_edges(blocks):
        members = natural_loop(blocks, tail, head)
        instructions = [
            statement
            for index in members
            for statement in body[blocks[index].start : blocks[index].stop]
            if isinstance(statement, Instruction)
        ]
        if any(map(_polls, instructions)) and not any(map(waits, instructions)):
            last = body[blocks[tail].stop - 1]
            ends_in_branch = isinstance(last, Instruction) and last.opcode in ("bra", "brx")
            found.append(blocks[tail].stop - 1 if ends_in_branch else blocks[tail].stop)
    return found


def back_edges(blocks: tuple[BasicBlock, ...]) -> list[tuple[int, int]]:
    """Edges to a block that is still open in a depth-first walk from the entry: every cycle has one."""
    found: list[tuple[int, int]] = []
    state = [0] * len(blocks)
    if not blocks:
        return found
    state[0] = 1
    path = [(0, iter(blocks[0].successors))]
    while path:
        index, remaining = path[-1]
        for successor in remaining:
            if state[successor] == 1:
                found.append((index, successor))
            elif state[successor] == 0:
                state[successor] = 1
                path.append((successor, iter(blocks[successor].successors)))
                break
        else:
            state[index] = 2
            path.pop()
    return found


def natural_loop(blocks: tuple[BasicBlock, ...], tail: int, head: int) -> set[int]:
    members = {head, tail}
    pending = [tail] if tail != head else []
    while pending:
        for predecessor in blocks[pending.pop()].predecessors:
            if predecessor not in members:
                members.add(predecessor)
                pending.append(predecessor)
    return members


def _needs_lock_step(body: tuple[Statement, ...], blocks: tuple[BasicBlock, ...]) -> bool:
    """Whether a volatile shared store reaches a volatile shared load without a wait in between."""
    # Per block: whether a store may be pending at its beginning.
    pending_in = [False] * len(blocks)
    changed = True
    while changed:
        changed = False
        for block in blocks:
            pending = pending_in[block.index]
            for statement in body[block.start : block.stop]:
                if not isinstance(statement, Instruction):
                    continue
                if _is_volatile_shared(statement, "st"):
                    pending = True
                elif statement.opcode in _COLLECTIVE and waits(statement):
                    pending = False
                elif pending and _is_volatile_shared(statement, "ld"):
                    return True
            if pending:
                for successor in block.successors:
                    if not pending_in[successor]:
                        pending_in[successor] = changed = True
    return False
