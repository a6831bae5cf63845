"""Calls of functions that the driver provides, and instructions that only speak to tools."""

from __future__ import annotations

from .....ptx.syntax import ArgumentList, Instruction, Symbol
from ... import abi
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates


@translates("pmevent")
def pmevent(e: Emitter, instruction: Instruction) -> None:
    """An event for profilers; there is none here."""


@translates("call")
def call(e: Emitter, instruction: Instruction) -> None:
    """What flatten.py left: built-in functions."""
    function, arguments = instruction.operands
    assert isinstance(function, Symbol)
    assert isinstance(arguments, ArgumentList)
    if function.name != "__assertfail":
        refuse(f"{function.name} is not supported")
    message, _, line, *_ = arguments.elements
    address = _parameter(e, message, "i64")
    number = e.op(f"zext i32 {_parameter(e, line, 'i32')} to i64")
    # Fault.address is the text of the condition, Fault.nbytes the line of the source.
    e.sites.fault(e, instruction, abi.FaultKind.ASSERT, abi.Access.NONE, address, number)
    e.begin(e.new_label("dead"))


def _parameter(e: Emitter, operand: object, llvm: str) -> str:
    if not isinstance(operand, Symbol):
        refuse("an argument is no .param variable")
    return e.op(f"load {llvm}, ptr {e.places.pointer_to(e, operand.name, 0)}, align 4")
