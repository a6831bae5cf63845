"""Where a thread asks whether the launch was stopped, so that a kernel that never ends can be ended.

With checked accesses every loop asks on its way back: a runaway loop then gives way to Ctrl-C and to a time limit.
Loops that wait ask too, since a kernel that runs by block does not return to the scheduler at its barriers. Without
checks nothing is asked: the question is a load and a branch, and it keeps LLVM from vectorising the loop.
"""

from __future__ import annotations

from dataclasses import replace

from ....ptx.control_flow import basic_blocks
from ....ptx.syntax import Function, Instruction, Statement
from .yields import back_edges

POLL = "poll"


def with_polls(function: Function) -> Function:
    """The function with a `poll` statement in each of its loops; the same object where none is."""
    body = function.body
    assert body is not None
    blocks = basic_blocks(function)
    places: dict[int, Instruction] = {}
    for tail, _ in back_edges(blocks):
        last = body[blocks[tail].stop - 1]
        ends_in_branch = isinstance(last, Instruction) and last.opcode in ("bra", "brx")
        source = last.source if isinstance(last, Instruction) else None
        at = blocks[tail].stop - 1 if ends_in_branch else blocks[tail].stop
        places[at] = Instruction(POLL, (), (), None, last.position, source)
    if not places:
        return function
    polled: list[Statement] = []
    for at, statement in enumerate(body):
        if at in places:
            polled.append(places[at])
        polled.append(statement)
    if len(body) in places:
        polled.append(places[len(body)])
    return replace(function, body=tuple(polled))
