"""One kernel -> LLVM IR: its basic blocks, guards, ends, and the function's frame around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....ptx.control_flow import basic_blocks, live_registers, writes
from ....ptx.syntax import Function, Instruction, PtxModule, Register, SourceLine, SpecialRegister, Symbol
from .. import abi
from . import instructions as _instructions  # noqa: F401  (registers the handlers)
from .emitter import Emitter, instruction_text, scalar_of_register
from .flatten import flatten, symbols_used
from .places import Places
from .pointers import pointer_registers
from .polls import with_polls
from .refusal import Refused, refuse
from .registry import handler_of
from .rematerialise import rematerialisable
from .sites import Sites
from .suspension import Suspension
from .yields import back_edges, waits, with_yields

_ENDS = frozenset({"ret", "exit", "trap", "brkpt"})
_KERNEL_THREAD = (
    "define i32 @kernel_thread(ptr noalias noundef %launch, ptr noalias noundef %block, ptr noalias noundef %thread, "
    "i32 noundef %tid_x, i32 noundef %tid_y, i32 noundef %tid_z, "
    "i32 noundef %ctaid_x, i32 noundef %ctaid_y, i32 noundef %ctaid_z)"
)


@dataclass(frozen=True, slots=True)
class Site:
    """A place at which a thread may fault or wait: the index in `Fault.site` and `Thread.site`."""

    line: int
    instruction: str
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class TranslatedKernel:
    """LLVM IR of one kernel, to be linked with scheduler.ll and semantics.ll.

    `frame_nbytes` is what each thread needs (a multiple of 64), `static_shared_nbytes` where dynamic shared memory
    begins. `sites` are what faults refer to. `may_run_on` says that it has loops, which ask whether to stop: such a
    launch may last for ever, and can be ended.
    """

    ir: str
    sites: tuple[Site, ...]
    frame_nbytes: int
    static_shared_nbytes: int
    suspends: bool
    may_run_on: bool = False


class KernelBody:
    """A kernel without calls, analysed: what both ways of running it are translated from."""

    def __init__(self, module: PtxModule, kernel: Function, *, polls: bool = False) -> None:
        self.module = module
        function = with_yields(flatten(module, kernel))
        if polls:
            function = with_polls(function)
        self.function = function
        assert function.body is not None
        self.statements = function.body
        self.blocks = basic_blocks(function)
        self.liveness = live_registers(function, self.blocks)
        self.may_run_on = polls and bool(back_edges(self.blocks))
        self.suspends = any(isinstance(s, Instruction) and waits(s) for s in self.statements)
        self.pointers = pointer_registers(function)
        self.register_types: dict[str, str] = {}
        for name, declaration in function.registers.items():
            llvm = scalar_of_register(declaration.type).llvm
            self.register_types[name] = "ptr" if name in self.pointers else llvm

    def places(self, global_addresses: Mapping[str, int] | None, *, suspends: bool) -> Places:
        """The layout of the kernel's variables."""
        return Places(
            self.module,
            self.function,
            symbols_used(self.function),
            global_addresses,
            self.pointers,
            suspends=suspends,
            reserves_shared=_uses_special(self.function, "%reserved_smem_offset_1"),
        )


class ThreadTranslator:
    """Translates a kernel to a function that runs one thread until it ends or must wait; used once."""

    def __init__(self, body: KernelBody, places: Places, *, check: str | None) -> None:
        self.function, self.body, self.blocks = body.function, body.statements, body.blocks
        self.liveness, self.suspends = body.liveness, body.suspends
        self.e = e = Emitter(body.register_types, places, check=check)
        e.suspension = self.suspension = Suspension(places.local_nbytes if places.local_in_frame else 0)
        e.sites = self.sites = Sites()
        # Threads that never wait may be vectorised by the scheduler's loop: their shared memory needs atomics.
        e.runs_alone = self.suspends
        self._definitions = rematerialisable(body.function) if self.suspends else {}
        e.on_demand = self._define_on_demand

    # ------------------------------------------------------------ the whole

    def translate(self) -> TranslatedKernel:
        """Write every block that can be reached, then the entry around them."""
        e = self.e
        for index in self._reachable():
            self._block(index)
        entry = self._entry()
        function = [_KERNEL_THREAD + " {", "entry:", *entry, *e.lines, *e.footer, "}"]
        frame_nbytes = self.suspension.frame_nbytes
        return finished_kernel(e, function, frame_nbytes, suspends=self.suspends, by_block=False)

    def _entry(self) -> list[str]:
        e, suspension = self.e, self.suspension
        allocas = e.allocas(self.liveness.at_start(0) if self.blocks else ())
        first = "b0" if self.blocks else "end"
        text = [*allocas, *e.header]
        if suspension.resume_labels:
            cases = " ".join(f"i32 {n}, label %{label}" for n, label in enumerate(suspension.resume_labels, 1))
            text.append("  %resume = load i32, ptr %thread, align 4")
            text.append(f"  switch i32 %resume, label %{first} [ {cases} ]")
        else:
            text.append(f"  br label %{first}")
        if not self.blocks:
            text += ["end:", f"  ret i32 {abi.ThreadCode.EXITED:d}"]
        return text

    def _reachable(self) -> list[int]:
        if not self.blocks:
            return []
        seen = {0}
        pending = [0]
        while pending:
            for successor in self.blocks[pending.pop()].successors:
                if successor not in seen:
                    seen.add(successor)
                    pending.append(successor)
        return sorted(seen)

    # ------------------------------------------------------------ blocks

    def _block(self, index: int) -> None:
        e, block = self.e, self.blocks[index]
        e.begin(f"b{index}")
        e.forget()
        live = None
        for at in range(block.start, block.stop):
            statement = self.body[at]
            if not isinstance(statement, Instruction):
                continue
            try:
                if statement.opcode in ("bra", "brx"):
                    self._branch(index, statement)
                    return
                if statement.opcode in _ENDS:
                    if self._end(index, statement):
                        return
                    continue
                if waits(statement):
                    if live is None:
                        live = self.liveness.before_each(index)
                    kept = self.liveness.registers(live[at - block.start + 1])
                    results = writes(statement)
                    self.suspension.preserved = [
                        name for name in kept if name not in results and name not in self._definitions
                    ]
                self._instruction(statement)
            except Refused as refused:
                if refused.instruction is None:
                    refused.instruction = statement
                raise
        self._leave(index)

    def _leave(self, index: int) -> None:
        """Fall into the next block, or end with the body."""
        e, block = self.e, self.blocks[index]
        e.flush(self.liveness.at_end(index))
        if block.successors:
            e.do(f"br label %b{block.successors[-1]}")
        else:
            e.do(f"ret i32 {abi.ThreadCode.EXITED:d}")

    def _instruction(self, statement: Instruction) -> None:
        if not self._definitions.keys().isdisjoint(writes(statement)):
            return
        handler = handler_of(statement)
        self.e.instruction = statement
        if statement.guard is None:
            handler(self.e, statement)
        else:
            self._guarded(statement, handler)

    def _guarded(self, statement: Instruction, handler: object) -> None:
        assert callable(handler)
        e, guard = self.e, statement.guard
        assert guard is not None
        condition = e.register(guard.register, "i1")
        results = {name: e.register_types[name] for name in writes(statement)}
        before = {name: e.register(name, llvm) for name, llvm in results.items()}
        outside = e.label
        then, after = e.new_label("then"), e.new_label("after")
        targets = (after, then) if guard.negated else (then, after)
        e.do(f"br i1 {condition}, label %{targets[0]}, label %{targets[1]}")
        e.begin(then)
        with e.aside():
            handler(e, statement)
            inside = {name: e.register(name, llvm) for name, llvm in results.items()}
            end = e.label
            e.do(f"br label %{after}")
        e.begin(after)
        for name, llvm in results.items():
            value = e.op(f"phi {llvm} [ {inside[name]}, %{end} ], [ {before[name]}, %{outside} ]")
            e.set_register(name, value, llvm)

    def _branch(self, index: int, statement: Instruction) -> None:
        e, block = self.e, self.blocks[index]
        live = self.liveness.at_end(index)
        for word in statement.modifiers:
            if word not in ("uni", "idx"):
                refuse(f".{word} is not supported here")
        if statement.opcode == "brx":
            self._branch_by_table(index, statement)
            return
        if statement.guard is None or len(block.successors) == 1:
            e.flush(live)
            e.do(f"br label %b{block.successors[0]}")
            return
        condition = e.register(statement.guard.register, "i1")
        e.flush(live)
        taken, other = block.successors[0], block.successors[1]
        if statement.guard.negated:
            taken, other = other, taken
        e.do(f"br i1 {condition}, label %b{taken}, label %b{other}")

    def _branch_by_table(self, index: int, statement: Instruction) -> None:
        e = self.e
        if statement.guard is not None:
            refuse("a guarded brx.idx is not supported")
        selector, table = statement.operands
        assert isinstance(table, Symbol)
        assert isinstance(selector, Register)
        value = e.register(selector.name, "i32")
        e.flush(self.liveness.at_end(index))
        label_blocks = {label: block.index for block in self.blocks for label in block.labels}
        targets = [label_blocks[label] for label in self.function.branch_tables[table.name]]
        labels = [self._block_label(target) for target in targets]
        cases = " ".join(f"i32 {n}, label %{label}" for n, label in enumerate(labels))
        # An index past the table is undefined; it takes the last entry.
        e.do(f"switch i32 {value}, label %{labels[-1]} [ {cases} ]")

    def _block_label(self, index: int) -> str:
        return f"b{index}"

    def _end(self, index: int, statement: Instruction) -> bool:
        """`ret`, `exit`, `trap`; whether the block ends here."""
        e, guard = self.e, statement.guard
        ends_block = guard is None
        after = ""
        if guard is not None:
            condition = e.register(guard.register, "i1")
            leave, after = e.new_label("end"), e.new_label("on")
            targets = (after, leave) if guard.negated else (leave, after)
            e.do(f"br i1 {condition}, label %{targets[0]}, label %{targets[1]}")
            e.begin(leave)
        if statement.opcode in ("trap", "brkpt"):
            e.sites.fault(e, statement, abi.FaultKind.TRAP)
        else:
            e.do(f"ret i32 {abi.ThreadCode.EXITED:d}")
        if not ends_block:
            e.begin(after)
        return ends_block

    # ------------------------------------------------------------ values made again instead of kept

    def _define_on_demand(self, register: str) -> bool:
        definition = self._definitions.get(register)
        if definition is None:
            return False
        current = getattr(self.e, "instruction", definition)
        self.e.instruction = definition
        try:
            handler_of(definition)(self.e, definition)
        except Refused as refused:
            refused.instruction = refused.instruction or definition
            raise
        self.e.dirty.discard(register)
        self.e.instruction = current
        return True


def finished_kernel(
    e: Emitter, functions: list[str], frame_nbytes: int, *, suspends: bool, by_block: bool, metadata: Sequence[str] = ()
) -> TranslatedKernel:
    """The module around the kernel's functions."""
    lines = [
        *e.declarations.values(),
        f"@KERNEL_SUSPENDS = constant i32 {int(suspends)}",
        f"@KERNEL_USES_FRAME = constant i32 {int(frame_nbytes > 0)}",
        *(["@KERNEL_BY_BLOCK = constant i32 1"] if by_block else []),
        *functions,
        "!0 = !{}",
        "!1 = !{i32 1, i32 1025}",
        '!2 = !{!"branch_weights", i32 100000, i32 1}',
        '!3 = !{!"branch_weights", i32 1, i32 100000}',
        *metadata,
        "",
    ]
    sites = tuple(Site(i.position.line, instruction_text(i), i.source) for i in e.sites.instructions)
    return TranslatedKernel("\n".join(lines), sites, frame_nbytes, e.places.static_shared_nbytes, suspends)


def _uses_special(function: Function, name: str) -> bool:
    assert function.body is not None
    return any(
        isinstance(operand, SpecialRegister) and operand.name == name
        for statement in function.body
        if isinstance(statement, Instruction)
        for operand in statement.operands
    )
