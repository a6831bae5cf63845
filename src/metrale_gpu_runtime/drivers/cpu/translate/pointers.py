"""Which 64-bit registers hold addresses, so that LLVM sees pointers with offsets instead of integers.

Only how well LLVM can optimise hangs on the answer: a register that is missed works as an integer.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....ptx.control_flow import writes
from ....ptx.syntax import Address, Function, Instruction, Register, Symbol

_WIDE = frozenset({"u64", "s64", "b64"})


def pointer_registers(function: Function) -> dict[str, str]:
    """The registers all of whose definitions are addresses (of symbols, by `cvta`, or an address plus an offset), with
    the register that each one's addresses begin at: what is known of one's memory mostly holds for the others."""
    definitions: dict[str, list[Instruction]] = {}
    sources: set[str] = set()
    assert function.body is not None
    for statement in function.body:
        if not isinstance(statement, Instruction):
            continue
        for name in writes(statement):
            definitions.setdefault(name, []).append(statement)
        if statement.opcode == "cvta":
            sources.update(o.name for o in statement.operands[1:] if isinstance(o, Register))
    marked = {p.name for p in function.parameters if p.is_pointer}
    seeds: set[str] = set()
    candidates: dict[str, list[tuple[str, ...]]] = {}
    for name, instructions in definitions.items():
        forms = [_form(i, function, sources, marked) for i in instructions]
        if all(form is not None for form in forms):
            bases = [form for form in forms if form]
            if bases:
                candidates[name] = bases
            if len(bases) < len(forms):
                seeds.add(name)
    return _settle(seeds, candidates)


def _form(instruction: Instruction, function: Function, sources: set[str], marked: set[str]) -> tuple[str, ...] | None:
    """() for an address, the registers of which exactly one must be an address, or None."""
    opcode, modifiers, operands = instruction.opcode, instruction.modifiers, instruction.operands
    if not isinstance(operands[0], Register) or function.registers[operands[0].name].type not in _WIDE:
        return None
    if opcode == "cvta":
        return None if "shared" in modifiers and "to" in modifiers else ()
    if opcode == "ld" and "param" in modifiers and isinstance(operands[1], Address):
        base = operands[1].base
        known = isinstance(base, Symbol) and operands[1].offset == 0 and base.name in marked
        return () if known or operands[0].name in sources else None
    if opcode == "mov":
        if isinstance(operands[1], Symbol):
            variable = function.variables.get(operands[1].name)
            return None if variable is None or variable.space == "shared" else ()
        return (operands[1].name,) if isinstance(operands[1], Register) else None
    if opcode == "add" and _WIDE.intersection(modifiers):
        bases = tuple(o.name for o in operands[1:] if isinstance(o, Register))
        return bases or None
    if opcode == "sub" and _WIDE.intersection(modifiers):
        return (operands[1].name,) if isinstance(operands[1], Register) else None
    if opcode == "mad" and isinstance(operands[3], Register):
        return (operands[3].name,)
    if opcode == "selp" and isinstance(operands[1], Register) and isinstance(operands[2], Register):
        return (operands[1].name,) if operands[1] == operands[2] else None
    return None


def _settle(seeds: set[str], candidates: Mapping[str, list[tuple[str, ...]]]) -> dict[str, str]:
    """Grow from the seeds as far as some definition reaches one, then drop what does not hold everywhere."""
    begins = {name: name for name in seeds}
    reached = set(seeds)
    grew = True
    while grew:
        grew = False
        for name, bases in candidates.items():
            if name not in reached and any(reached.intersection(base) for base in bases):
                begins[name] = next(begins[each] for base in bases for each in base if each in reached)
                reached.add(name)
                grew = True
    dropped = True
    while dropped:
        dropped = False
        for name in list(reached):
            bases = candidates.get(name, [])
            if not all(sum(base in reached for base in form) == 1 for form in bases):
                reached.discard(name)
                dropped = True
    return {name: begins[name] for name in reached}
