"""Numbers for the places at which a thread may fault or wait, and the code that reports a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....ptx.syntax import Instruction
from .. import abi

if TYPE_CHECKING:
    from .emitter import Emitter

_RECORD_FAULT = "void @record_fault(ptr, ptr, i32, i32, i32, i32, i32, i32, i64, i64)"


def thread_arguments(e: Emitter) -> str:
    """The thread's numbers as arguments of a call."""
    return ", ".join(f"i32 {number}" for number in e.tid)


class Sites:
    """The numbered instructions of one kernel."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []

    def number(self, instruction: Instruction) -> int:
        """The number of an instruction; consecutive calls for the same one give the same."""
        if not self.instructions or self.instructions[-1] is not instruction:
            self.instructions.append(instruction)
        return len(self.instructions) - 1

    def fault(
        self,
        e: Emitter,
        instruction: Instruction,
        kind: abi.FaultKind,
        access: abi.Access = abi.Access.NONE,
        address: str = "0",
        nbytes: str = "0",
    ) -> None:
        """Report a fault of this thread and leave; closes the block of LLVM."""
        e.declare("record_fault", _RECORD_FAULT)
        e.do(
            f"call void @record_fault(ptr %launch, ptr %block, {thread_arguments(e)}, "
            f"i32 {kind:d}, i32 {access:d}, i32 {self.number(instruction)}, i64 {address}, i64 {nbytes})"
        )
        e.do(f"ret i32 {abi.ThreadCode.FAULTED:d}")
