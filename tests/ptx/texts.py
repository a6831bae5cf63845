"""PTX texts for the tests: short modules around a body, and the files under data/."""

from __future__ import annotations

from pathlib import Path

from metrale_gpu_runtime.ptx.parser import parse
from metrale_gpu_runtime.ptx.syntax import Function, Instruction, Operand

DATA = Path(__file__).parent / "data"
FILES = sorted(path.name for path in DATA.glob("*.ptx"))
HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"
REGISTERS = (
    ".reg .b16 h<9>; .reg .b32 r<40>; .reg .b64 d<40>; .reg .f32 f<40>; .reg .pred p<9>; .reg .b128 q<4>; "
    ".reg .v4 .f32 v;"
)


def module_text(*declarations: str) -> str:
    """A module of these declarations, the first of them in line 4."""
    return HEADER + "\n".join(declarations) + "\n"


def kernel_text(body: str, *before: str) -> str:
    """A kernel `k` with registers of each kind; the body is the last line."""
    return module_text(*before, f".entry k(.param .u64 a, .param .u32 n[3]) {{ {REGISTERS}", f"{body} }}")


def kernel(body: str, *before: str) -> Function:
    """The kernel of `kernel_text`, parsed."""
    return parse(kernel_text(body, *before)).functions["k"]


def instruction(text: str, *before: str) -> Instruction:
    """The one instruction of a body."""
    (only,) = instructions(kernel(text, *before))
    return only


def instructions(function: Function) -> list[Instruction]:
    """The instructions of a body without its labels."""
    assert function.body is not None
    return [statement for statement in function.body if isinstance(statement, Instruction)]


def operand(text: str, *before: str) -> Operand:
    """An operand, read as the second one of a `mov`."""
    return instruction(f"mov.b32 r0, {text};", *before).operands[1]
