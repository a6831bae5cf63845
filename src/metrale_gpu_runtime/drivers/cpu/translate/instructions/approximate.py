"""ex2, lg2, sin, cos, rsqrt and tanh: PTX gives bounds, semantics.c stays well inside of them."""

from __future__ import annotations

from .....ptx.syntax import Instruction
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..words import Words
from .floating import finished, flushed
from .half import element, halves, joined


@translates("ex2", "lg2", "sin", "cos", "tanh", "rsqrt", kind="float")
def approximation(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    words.flag("approx")
    ftz = words.flag("ftz")
    scalar = words.type()
    words.end()
    opcode, (target, source) = instruction.opcode, instruction.operands
    a = e.read(source, scalar)
    if scalar.name == "f64":
        if opcode != "rsqrt":
            refuse("it is for f32 only")
        name = "ptx_rsqrt_approx_ftz_f64" if ftz else "ptx_rsqrt_f64"
        e.write(target, e.call("double", name, ("double", a)), scalar)
        return
    if ftz:
        a = flushed(e, a, scalar)
    value = e.call("float", f"ptx_{opcode}_f32", ("float", a))
    e.write(target, finished(e, value, scalar, ftz=ftz, sat=False), scalar)


@translates("ex2", "tanh", kind="half")
def half_approximation(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    words.flag("approx")
    ftz = words.flag("ftz")
    scalar = words.type()
    words.end()
    name, (target, source) = element(scalar), instruction.operands
    results = []
    for part in halves(e, e.read(source, scalar), scalar):
        if ftz:
            part = e.call("i16", f"ptx_ftz_{name}", ("i16", part))
        value = e.call("float", f"ptx_f32_{name}", ("i16", part))
        value = e.call("float", f"ptx_{instruction.opcode}_f32", ("float", value))
        part = e.call("i16", f"ptx_{name}_f32", ("float", value), ("i32", "0"))
        results.append(e.call("i16", f"ptx_ftz_{name}", ("i16", part)) if ftz else part)
    e.write(target, joined(e, results), scalar)
