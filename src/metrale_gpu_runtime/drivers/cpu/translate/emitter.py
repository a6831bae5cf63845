"""LLVM text for one kernel: named values, registers with their values in the current block, and calls outwards.

Registers are allocas of their width. Inside a block the last value of each is kept here, so that LLVM gets one
instruction for one of PTX's and no load or store; what is live at the end of a block is stored. mem2reg does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ....ptx.syntax import Immediate, Instruction, Negated, Operand, Register, Sink, SpecialRegister, Symbol, Vector
from .floats import float32_bits, float64_bits
from .refusal import refuse
from .scalar import INTEGER_OF, SCALARS, WIDTHS, Scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .places import Places
    from .sites import Sites
    from .suspension import Suspension

Values = dict[str, str]

_DEFINITION = re.compile(r"^define [^@]*@(ptx_\w+)\(", re.MULTILINE)

# The condition code of add.cc and its like; no name of PTX holds a space.
CARRY = "carry flag"


class Emitter:
    """The function that is being written. `values[register]` maps an LLVM type to the value's name in this block."""

    suspension: Suspension
    sites: Sites
    # The one that is being translated.
    instruction: Instruction

    def __init__(self, registers: Mapping[str, str], places: Places, *, check: str | None) -> None:
        self.register_types = {**registers, CARRY: "i1"}
        self.places = places
        self.check = check
        # The names of the thread's numbers; loop variables where the function runs a whole block.
        self.tid = ("%tid_x", "%tid_y", "%tid_z")
        self.linear = ""
        # Whether no other thread of the block can come between two accesses to shared memory.
        self.runs_alone = True
        # Appended to accesses of which each thread's are independent of the others'.
        self.independent = ""
        # Registers that are the same for all threads: computed ahead of the loop over them (block_mode.py).
        self.uniform: frozenset[str] = frozenset()
        # Of those, registers that threads change by themselves in the step at hand.
        self.own: frozenset[str] = frozenset()
        self._other: tuple[list[str], dict[str, Values], set[str], str, tuple[str, str, str]]
        self._other = ([], {}, set(), "", ("0", "0", "0"))
        self.is_uniform_code = False
        self.lines: list[str] = []
        self.header: list[str] = []
        self.footer: list[str] = []
        self.declarations: dict[str, str] = {}
        self.values: dict[str, Values] = {}
        self.dirty: set[str] = set()
        self.slots: dict[tuple[str, bool], str] = {}
        self.label = "entry"
        # Numbers of the origins of checked addresses.
        self.range_slots: dict[str, int] = {}
        # Results of .ftz instructions: no subnormals are left in them to be flushed.
        self.flushed: set[str] = set()
        self.on_demand: Callable[[str], bool] = lambda register: False
        self._entry_values: dict[str, str] = {}
        self._count = 0

    # ------------------------------------------------------------ text

    def op(self, text: str) -> str:
        """Append an instruction with a result; its name."""
        self._count += 1
        name = f"%t{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def new_label(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def begin(self, label: str) -> None:
        """Open a basic block of LLVM."""
        self.lines.append(f"{label}:")
        self.label = label

    def at_entry(self, key: str, text: str) -> str:
        """A value computed once at the function's entry, whatever the number of its uses."""
        name = self._entry_values.get(key)
        if name is None:
            self._count += 1
            name = f"%e{self._count}"
            self.header.append(f"  {name} = {text}")
            self._entry_values[key] = name
        return name

    def at_entry_do(self, key: str, text: str) -> None:
        """An instruction without result at the function's entry, once per key."""
        if f"do {key}" not in self._entry_values:
            self._entry_values[f"do {key}"] = ""
            self.header.append(f"  {text}")

    def at_end_block(self, label: str, text: str) -> None:
        """A block behind the others that many branches share."""
        if f"block {label}" not in self._entry_values:
            self._entry_values[f"block {label}"] = ""
            self.footer += [f"{label}:", text]

    def independence(self, space: str) -> str:
        """What to append to an access in a state space: that other threads' accesses do not depend on it, if so."""
        if (
            self.is_uniform_code
            or not self.independent
            or (space in ("local", "param", "generic") and self.places.has_private_allocas)
        ):
            return ""
        return self.independent

    def declare(self, name: str, text: str) -> None:
        self.declarations.setdefault(name, f"declare {text}")

    def call(self, result: str, function: str, *arguments: tuple[str, str]) -> str:
        """Call a function of semantics.c or an intrinsic of LLVM; (type, value) pairs in, the result's name out."""
        if function not in self.declarations:
            if function.startswith("ptx_") and function not in semantic_functions():
                # Whatever combination of type and modifiers led here, nobody has written what it means.
                refuse("this combination of type and modifiers is not supported")
            self.declare(function, f"{result} @{function}({', '.join(kind for kind, _ in arguments)})")
        text = f"call {result} @{function}({', '.join(f'{kind} {value}' for kind, value in arguments)})"
        if result == "void":
            self.do(text)
            return ""
        return self.op(text)

    @contextmanager
    def uniformly(self) -> Iterator[None]:
        """Write ahead of the loop over the threads."""
        if self.is_uniform_code:
            yield
            return
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        other = self._other
        self._other = (self.lines, self.values, self.dirty, self.label, self.tid)
        self.lines, self.values, self.dirty, self.label, self.tid = other
        self.is_uniform_code = not self.is_uniform_code

    # ------------------------------------------------------------ conversion of representation

    def convert(self, value: str, source: str, target: str) -> str:
        """The same bits as another LLVM type; the low ones where the target is narrower."""
        if source == target:
            return value
        have, want = WIDTHS[source], WIDTHS[target]
        if have < want:
            refuse(f"an operand of {have} bits is read as {want}")
        if have > want:
            if source in INTEGER_OF:
                value, source = self.convert(value, source, INTEGER_OF[source]), INTEGER_OF[source]
            narrow = INTEGER_OF.get(target, target)
            value = self.op(f"trunc {source} {value} to {narrow}")
            return value if narrow == target else self.op(f"bitcast {narrow} {value} to {target}")
        if source == "ptr":
            value = self.op(f"ptrtoint ptr {value} to i64")
            return value if target == "i64" else self.op(f"bitcast i64 {value} to {target}")
        if target == "ptr":
            if source != "i64":
                value = self.op(f"bitcast {source} {value} to i64")
            return self.op(f"inttoptr i64 {value} to ptr")
        return self.op(f"bitcast {source} {value} to {target}")

    def widen(self, value: str, source: str, target: str, signed: bool) -> str:
        """Extend an integer to a wider (or equal) one."""
        if source == target:
            return value
        return self.op(f"{'sext' if signed else 'zext'} {source} {value} to {target}")

    # ------------------------------------------------------------ registers

    def allocas(self, starts_live: Iterable[str]) -> list[str]:
        """The allocas of all registers, and zeros for those that are read before they are written: LLVM's undefined
        values would be worse than anything."""
        zero = {"float": "0.0", "double": "0.0", "ptr": "null"}
        lines = [f"  {slot} = alloca {self.register_types[name]}" for (name, _), slot in self.slots.items()]
        for name in (*starts_live, CARRY):
            slot = self.slots.get((name, False))
            if slot is not None:
                own = self.register_types[name]
                lines.append(f"  store {own} {zero.get(own, '0')}, ptr {slot}")
        return lines

    def slot(self, register: str) -> str:
        """The alloca of a register."""
        # A thread's own copy of a register that is otherwise uniform must not lie where the common value does.
        key = (register, register in self.own and not self.is_uniform_code)
        name = self.slots.get(key)
        if name is None:
            name = self.slots[key] = f"%r{len(self.slots)}"
        return name

    def is_common(self, register: str) -> bool:
        """Whether a register's value is computed ahead of the loop over the threads, in which we are."""
        return register in self.uniform and not self.is_uniform_code and register not in self.own

    def register(self, name: str, llvm: str) -> str:
        """The value of a register as an LLVM type."""
        if self.is_common(name):
            with self.uniformly():
                return self.register(name, llvm)
        known = self.values.get(name)
        if known is None:
            if self.on_demand(name):
                known = self.values[name]
            else:
                own = self.register_types[name]
                known = self.values[name] = {own: self.op(f"load {own}, ptr {self.slot(name)}")}
        value = known.get(llvm)
        if value is None:
            source = next(iter(known))
            value = known[llvm] = self.convert(known[source], source, llvm)
        return value

    def set_register(self, name: str, value: str, llvm: str) -> None:
        """Give a register a value of its own width."""
        own = self.register_types[name]
        have, want = WIDTHS[llvm], WIDTHS[own]
        if have != want:
            refuse(f"a result of {have} bits goes to {name}, which has {want}")
        self.values[name] = {llvm: value}
        self.dirty.add(name)

    def flush(self, live: Iterable[str]) -> None:
        """Store what the block computed, as far as it is live behind it. The next block starts without values."""
        for name in (*live, CARRY):
            if name in self.dirty:
                own = self.register_types[name]
                self.do(f"store {own} {self.register(name, own)}, ptr {self.slot(name)}")
        self.forget()

    def forget(self) -> None:
        self.values = {}
        self.dirty = set()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Values read inside are not known outside (their block need not dominate what follows)."""
        values, dirty = {name: dict(known) for name, known in self.values.items()}, set(self.dirty)
        yield
        self.values, self.dirty = values, dirty

    # ------------------------------------------------------------ operands

    def read(self, operand: Operand, scalar: Scalar) -> str:
        """The value of a source operand as the instruction's type."""
        kind = type(operand)
        if kind is Register:
            return self.register(operand.name, scalar.llvm)  # type: ignore[union-attr]
        if kind is Immediate:
            return constant(operand, scalar)  # type: ignore[arg-type]
        if kind is SpecialRegister:
            value, llvm = self.places.special(self, operand.name)  # type: ignore[union-attr]
            if WIDTHS[llvm] < scalar.bits:
                return self.widen(value, llvm, scalar.llvm, signed=False)
            return self.convert(value, llvm, scalar.llvm)
        if kind is Vector and len(operand.elements) == 1:  # type: ignore[union-attr]
            return self.read(operand.elements[0], scalar)  # type: ignore[union-attr]
        if kind is Negated:
            value = self.read(operand.operand, scalar)  # type: ignore[union-attr]
            if scalar.kind == "p":
                return self.op(f"xor i1 {value}, true")
            if scalar.kind == "f":
                return self.op(f"fneg {scalar.llvm} {value}")
            return self.op(f"sub {scalar.llvm} 0, {value}")
        if kind is Symbol:
            if scalar.bits not in (32, 64):
                refuse(f"an address is read as {scalar.bits} bits")
            value, llvm = self.places.address_of(self, operand, scalar.bits)  # type: ignore[arg-type]
            return self.convert(value, llvm, scalar.llvm)
        return refuse(f"a {kind.__name__.lower()} stands where a value is expected")

    def write(self, operand: Operand, value: str, scalar: Scalar) -> None:
        """Give a destination a value of the instruction's type and of its own width."""
        if type(operand) is Register:
            self.set_register(operand.name, value, scalar.llvm)
        elif type(operand) is Vector and len(operand.elements) == 1:
            self.write(operand.elements[0], value, scalar)
        elif type(operand) is not Sink:
            refuse(f"a {type(operand).__name__.lower()} stands where a destination is expected")

    def write_extended(self, operand: Operand, value: str, scalar: Scalar) -> None:
        """Give a destination a value that may be narrower: it is extended by the sign of its type."""
        if type(operand) is Vector and len(operand.elements) == 1:  # Triton writes single registers in braces
            operand = operand.elements[0]
        if type(operand) is Register:
            own = self.register_types[operand.name]
            want = WIDTHS[own]
            if scalar.bits < want and scalar.kind not in "fp":
                value = self.widen(value, scalar.llvm, f"i{want}", scalar.is_signed)
                self.set_register(operand.name, value, f"i{want}")
                return
        self.write(operand, value, scalar)

    def is_pointer(self, operand: Operand) -> bool:
        """Whether an operand is a register that holds a pointer of LLVM."""
        return type(operand) is Register and self.register_types[operand.name] == "ptr"


@cache
def semantic_functions() -> frozenset[str]:
    """The functions that semantics.ll defines."""
    text = (Path(__file__).parent.parent / "native" / "semantics.ll").read_text(encoding="utf-8")
    return frozenset(_DEFINITION.findall(text))


def constant(immediate: Immediate, scalar: Scalar) -> str:
    """A literal as a constant of the instruction's type. Floats are bit patterns, so that NaNs stay as they are."""
    value, bits = immediate.value, immediate.float_bits
    if scalar.kind == "p":
        return "true" if value else "false"
    if bits is None and scalar.kind == "f" and value:
        refuse(f"an integer literal is read as {scalar.name}")
    if scalar.name == "f32":
        pattern = value if bits == 32 or bits is None else float32_bits(value)
        return f"bitcast (i32 {pattern & 0xFFFFFFFF} to float)"
    if scalar.name == "f64":
        pattern = value if bits == 64 or bits is None else float64_bits(value)
        return f"bitcast (i64 {pattern & 0xFFFFFFFFFFFFFFFF} to double)"
    if bits is not None and bits != scalar.bits:
        if bits == 64 and scalar.bits == 32:
            value = float32_bits(value)
        else:
            refuse(f"a floating-point literal of {bits} bits is read as {scalar.name}")
    return str(value & ((1 << scalar.bits) - 1))


def instruction_text(instruction: Instruction) -> str:
    """The opcode as written, with its guard."""
    guard = instruction.guard
    if guard is None:
        return instruction.text
    return f"@{'!' if guard.negated else ''}{guard.register} {instruction.text}"


def scalar_of_register(kind: str) -> Scalar:
    """The type of a declared register; refuses those that no register here can have."""
    scalar = SCALARS.get(kind)
    if scalar is None:
        refuse(f"a register of type .{kind} is not supported")
    return scalar
