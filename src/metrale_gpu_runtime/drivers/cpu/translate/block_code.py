"""The steps of a kernel (block_mode.py) as LLVM IR: kernel_block, which runs all threads of a block."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ....ptx.control_flow import reads, writes
from ....ptx.syntax import Instruction
from .. import abi
from .block_mode import Part, Place, Step, StepFinder
from .divergence import is_exit
from .emitter import CARRY
from .kernel import ThreadTranslator, TranslatedKernel, finished_kernel
from .places import Places, aligned
from .refusal import Refused
from .rematerialise import rematerialisable
from .scalar import WIDTHS

if TYPE_CHECKING:
    from .kernel import KernelBody

_KERNEL_BLOCK = (
    "define i32 @kernel_block(ptr noalias noundef %launch, ptr noalias noundef %block, ptr noalias noundef %frames, "
    "i32 noundef %ctaid_x, i32 noundef %ctaid_y, i32 noundef %ctaid_z)"
)
_NO_KERNEL_THREAD = "define i32 @kernel_thread(ptr, ptr, ptr, i32, i32, i32, i32, i32, i32) { unreachable }"
_GROUP = ", !llvm.access.group !9"
# A value computed anew in a vectorised loop is cheaper than a load from an array, and its stride is known.
_MOST_OPERATIONS = 14
_ALIGN = 64


class BlockTranslator(ThreadTranslator):
    """Translates a kernel that can be cut into steps; used once."""

    def __init__(self, body: KernelBody, places: Places, finder: StepFinder, *, check: str | None) -> None:
        super().__init__(body, places, check=check)
        self.divergent = finder.divergence
        self.steps = finder.steps()
        e = self.e
        e.uniform = frozenset(body.function.registers) - self.divergent.registers
        self._definitions = rematerialisable(body.function, e.uniform, _MOST_OPERATIONS)
        # What a value that is computed anew reads must be there at any time, whatever liveness says.
        self._always_live = {
            name for statement in self._definitions.values() for name in reads(statement) if name in e.uniform
        }
        places.by_block = places.local_in_frame
        self.numbers = {place: n for n, place in enumerate(self.steps)}
        self._array_ends = places.local_nbytes if places.local_in_frame else 0
        self._arrays: dict[str, int] = {}
        self._loops: list[str] = []
        self._after_kill = self._steps_after_kills()
        self._number = 0
        self._joined = ""
        self._region: frozenset[int] = frozenset()
        self._step: Step = self.steps[next(iter(self.steps))]

    # ------------------------------------------------------------ the whole

    def translate(self) -> TranslatedKernel:
        """Write the steps, then the entry before them."""
        e = self.e
        text: list[str] = []
        for place, step in self.steps.items():
            self._number, self._step = self.numbers[place], step
            text += self._one_step(step)
        frame_nbytes = aligned(self._array_ends, _ALIGN)
        allocas = [f"  {slot} = alloca {e.register_types[name]}" for name, slot in e.slots.items()]
        zero = {"float": "0.0", "double": "0.0", "ptr": "null"}
        for name in (*self.liveness.at_start(0), CARRY):
            if name in e.slots:
                own = e.register_types[name]
                allocas.append(f"  store {own} {zero.get(own, '0')}, ptr {e.slots[name]}")
        beginning = [self._everybody_lives()] if self._after_kill else []
        entry = [*allocas, *e.header, *beginning]
        function = [
            _KERNEL_BLOCK + " {", "entry:", *entry, "  br label %n0", *text, *e.footer,
            "end:", f"  ret i32 {abi.ThreadCode.EXITED:d}", "}", _NO_KERNEL_THREAD,
        ]  # fmt: skip
        metadata = ["!9 = distinct !{}", '!8 = !{!"llvm.loop.parallel_accesses", !9}', *self._loops]
        has_arrays = frame_nbytes > 0
        return finished_kernel(e, function, frame_nbytes, suspends=has_arrays, by_block=True, metadata=metadata)

    def _steps_after_kills(self) -> set[Place]:
        """The steps at which some threads may have ended before."""
        pending = [place for place, step in self.steps.items() if self._kills(step)]
        after: set[Place] = set()
        for place in pending:
            for following in self._following(self.steps[place]):
                if following not in after:
                    after.add(following)
                    pending.append(following)
        return after

    def _kills(self, step: Step) -> bool:
        for part in step.parts:
            if isinstance(part, frozenset):
                if any(is_exit(s) for index in part for s in self._statements(index)):
                    return True
                if any(not self.blocks[index].successors for index in part):
                    return True
            else:
                index, first, last = part
                if index in self.divergent.kills and last == self.blocks[index].stop:
                    return True
                if any(is_exit(statement) for statement in self.body[first:last]):
                    return True
        return False

    def _statements(self, index: int) -> Iterable[object]:
        block = self.blocks[index]
        return self.body[block.start : block.stop]

    @staticmethod
    def _following(step: Step) -> list[Place]:
        if step.end[0] == "goto":
            return [step.end[1]]  # type: ignore[list-item]
        return [step.end[2], step.end[3]] if step.end[0] == "branch" else []  # type: ignore[list-item]

    def _everybody_lives(self) -> str:
        self.e.declare("llvm.memset.p0.i64", "void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        base, count = self._array("alive", 1), self._thread_count()
        return f"  call void @llvm.memset.p0.i64(ptr {base}, i8 1, i64 {count}, i1 false)"

    # ------------------------------------------------------------ arrays with an element per thread

    def _thread_count(self) -> str:
        e = self.e
        pointer = e.at_entry(
            "threads pointer", f"getelementptr i8, ptr %launch, i64 {abi.Launch.threads_per_block.offset}"
        )
        narrow = e.at_entry("threads narrow", f"load i32, ptr {pointer}, align 4, !invariant.load !0, !range !1")
        return e.at_entry("threads", f"zext i32 {narrow} to i64")

    def _extent(self, axis: int) -> str:
        e = self.e
        offset = abi.Launch.block.offset + 4 * axis
        pointer = e.at_entry(f"extent pointer {axis}", f"getelementptr i8, ptr %launch, i64 {offset}")
        return e.at_entry(f"extent {axis}", f"load i32, ptr {pointer}, align 4, !invariant.load !0, !range !1")

    def _array(self, name: str, nbytes: int) -> str:
        """The beginning of the array of a register."""
        offset = self._arrays.get(name)
        if offset is None:
            offset = self._arrays[name] = aligned(self._array_ends, nbytes)
            self._array_ends = offset + nbytes
        e = self.e
        if offset == 0:
            return "%frames"
        distance = e.at_entry(f"distance {name}", f"mul i64 {self._thread_count()}, {offset}")
        return e.at_entry(f"array {name}", f"getelementptr i8, ptr %frames, i64 {distance}")

    def _element(self, name: str) -> tuple[str, str]:
        """A pointer to the thread's element and the type stored there."""
        e = self.e
        llvm = "i8" if name == "alive" else e.register_types[name]
        stored = "i8" if llvm == "i1" else llvm
        base = self._array(name, max(1, WIDTHS[stored] // 8))
        return e.op(f"getelementptr {stored}, ptr {base}, i64 {e.linear}"), stored

    def _load_element(self, name: str) -> None:
        e = self.e
        pointer, stored = self._element(name)
        value = e.op(f"load {stored}, ptr {pointer}{_GROUP}")
        if e.register_types[name] == "i1":
            value = e.op(f"trunc i8 {value} to i1")
        e.set_register(name, value, e.register_types[name])

    def _store_element(self, name: str) -> None:
        e = self.e
        llvm = e.register_types[name]
        value = e.register(name, llvm)
        if llvm == "i1":
            value = e.op(f"zext i1 {value} to i8")
        pointer, stored = self._element(name)
        e.do(f"store {stored} {value}, ptr {pointer}{_GROUP}")

    # ------------------------------------------------------------ a step

    def _live_at(self, place: Place) -> tuple[str, ...]:
        index, at = place
        block = self.blocks[index]
        if at == block.start:
            return self.liveness.at_start(index)
        if at >= block.stop:
            return self.liveness.at_end(index)
        return self.liveness.registers(self.liveness.before_each(index)[at - block.start])

    def _one_step(self, step: Step) -> list[str]:
        e, n = self.e, self._number
        prefix = f"n{n}"
        e.tid = (f"%{prefix}.x", f"%{prefix}.y", f"%{prefix}.z")
        e.linear = f"%{prefix}.t"
        e.independent = _GROUP
        e.lines, e.values, e.dirty, e.label = [], {}, set(), f"{prefix}.body"
        with e.uniformly():
            e.lines, e.values, e.dirty, e.label = [f"{prefix}:"], {}, set(), prefix
        touched, written = self._touched(step)
        kept = [
            name
            for name in self._live_at(step.leader)
            if name in touched and name not in e.uniform and name not in self._definitions
        ]
        for name in kept:
            self._load_element(name)
        loads = len(e.lines)
        open_ = self._parts(step)
        behind = {name for place in self._following(step) for name in self._live_at(place)}
        changed = [name for name in sorted(behind & written) if name not in e.uniform and name not in self._definitions]
        has_threads = len(e.lines) > loads or bool(changed)
        if open_:
            for name in changed:
                self._store_element(name)
            e.do(f"br label %{prefix}.xl")
        thread_lines = e.lines
        with e.uniformly():
            lines = self._finish_uniform(step, thread_lines if has_threads else None)
        e.lines = []
        return lines

    def _touched(self, step: Step) -> tuple[set[str], set[str]]:
        """The registers that the step's statements read or write, and those that they write."""
        touched: set[str] = set()
        written: set[str] = set()
        for part in step.parts:
            if isinstance(part, frozenset):
                statements = [s for index in part for s in self._statements(index)]
            else:
                statements = list(self.body[part[1] : part[2]])
            for statement in statements:
                if isinstance(statement, Instruction):
                    touched.update(reads(statement))
                    written.update(writes(statement))
        return touched | written, written

    def _finish_uniform(self, step: Step, thread_lines: list[str] | None) -> list[str]:
        """What surrounds the loop: ahead of it all that is uniform, behind it the way on."""
        e, prefix = self.e, f"n{self._number}"
        live = {name for place in self._following(step) for name in self._live_at(place)} & e.uniform
        condition = ""
        if step.end[0] == "branch":
            branch = step.end[1]
            assert isinstance(branch, Instruction) and branch.guard is not None
            condition = e.register(branch.guard.register, "i1")
        e.flush(sorted(live | self._always_live))
        if thread_lines is not None:
            self._loop(thread_lines)
        if thread_lines is not None and step.leader in self._after_kill and self._kills(step):
            self._end_when_nobody_lives()
        numbers = [self.numbers[place] for place in self._following(step)]
        if not numbers:
            e.do("br label %end")
        elif len(numbers) == 1 or numbers[0] == numbers[1]:
            e.do(f"br label %n{numbers[0]}")
        else:
            e.do(f"br i1 {condition}, label %n{numbers[0]}, label %n{numbers[1]}")
        lines, e.lines = e.lines, []
        return lines

    def _loop(self, body: list[str]) -> None:
        """The loops over z, y and x around the threads' code, into the uniform stream."""
        e, p = self.e, f"n{self._number}"
        nx, ny, nz = self._extent(0), self._extent(1), self._extent(2)
        number = 10 + len(self._loops)
        self._loops.append(f"!{number} = distinct !{{!{number}, !8}}")
        enters = [f"  br label %{p}.body"]
        if self._step.leader in self._after_kill:
            base = self._array("alive", 1)
            enters = [
                f"  %{p}.a = getelementptr i8, ptr {base}, i64 %{p}.t",
                f"  %{p}.alive = load i8, ptr %{p}.a{_GROUP}",
                f"  %{p}.lives = icmp ne i8 %{p}.alive, 0",
                f"  br i1 %{p}.lives, label %{p}.body, label %{p}.xl",
            ]
        e.lines += [
            f"  br label %{p}.zh",
            f"{p}.zh:",
            f"  %{p}.z = phi i32 [ 0, %{p} ], [ %{p}.z1, %{p}.zl ]",
            f"  %{p}.zy = mul nuw nsw i32 %{p}.z, {ny}",
            f"  br label %{p}.yh",
            f"{p}.yh:",
            f"  %{p}.y = phi i32 [ 0, %{p}.zh ], [ %{p}.y1, %{p}.yl ]",
            f"  %{p}.row = add nuw nsw i32 %{p}.zy, %{p}.y",
            f"  %{p}.first = mul nuw nsw i32 %{p}.row, {nx}",
            f"  %{p}.wide = zext i32 %{p}.first to i64",
            f"  br label %{p}.xh",
            f"{p}.xh:",
            f"  %{p}.x = phi i32 [ 0, %{p}.yh ], [ %{p}.x1, %{p}.xl ]",
            f"  %{p}.x64 = zext i32 %{p}.x to i64",
            f"  %{p}.t = add nuw nsw i64 %{p}.wide, %{p}.x64",
            *enters,
            f"{p}.body:",
            *body,
            f"{p}.xl:",
            f"  %{p}.x1 = add nuw nsw i32 %{p}.x, 1",
            f"  %{p}.xc = icmp ult i32 %{p}.x1, {nx}",
            f"  br i1 %{p}.xc, label %{p}.xh, label %{p}.yl, !llvm.loop !{number}",
            f"{p}.yl:",
            f"  %{p}.y1 = add nuw nsw i32 %{p}.y, 1",
            f"  %{p}.yc = icmp ult i32 %{p}.y1, {ny}",
            f"  br i1 %{p}.yc, label %{p}.yh, label %{p}.zl",
            f"{p}.zl:",
            f"  %{p}.z1 = add nuw nsw i32 %{p}.z, 1",
            f"  %{p}.zc = icmp ult i32 %{p}.z1, {nz}",
            f"  br i1 %{p}.zc, label %{p}.zh, label %{p}.done",
            f"{p}.done:",
        ]

    def _end_when_nobody_lives(self) -> None:
        """Leave a loop in which threads end one by one: its own condition may never end it."""
        e, p = self.e, f"n{self._number}"
        base, count = self._array("alive", 1), self._thread_count()
        e.lines += [
            f"  br label %{p}.count",
            f"{p}.count:",
            f"  %{p}.i = phi i64 [ 0, %{p}.done ], [ %{p}.i1, %{p}.count ]",
            f"  %{p}.any = phi i8 [ 0, %{p}.done ], [ %{p}.any1, %{p}.count ]",
            f"  %{p}.ip = getelementptr i8, ptr {base}, i64 %{p}.i",
            f"  %{p}.one = load i8, ptr %{p}.ip",
            f"  %{p}.any1 = or i8 %{p}.any, %{p}.one",
            f"  %{p}.i1 = add nuw nsw i64 %{p}.i, 1",
            f"  %{p}.ic = icmp ult i64 %{p}.i1, {count}",
            f"  br i1 %{p}.ic, label %{p}.count, label %{p}.counted",
            f"{p}.counted:",
            f"  %{p}.none = icmp eq i8 %{p}.any1, 0",
            f"  br i1 %{p}.none, label %end, label %{p}.on",
            f"{p}.on:",
        ]

    # ------------------------------------------------------------ the threads' code

    def _parts(self, step: Step) -> bool:
        """Write the parts of a step one behind the other; whether the last one can be left at its end."""
        e = self.e
        entered = False
        for position, part in enumerate(step.parts):
            following = step.parts[position + 1] if position + 1 < len(step.parts) else None
            if isinstance(part, frozenset):
                if not entered:
                    self._enter(part, step, position)
                self._region_code(part)
                entered = False
                e.begin(self._joined)
                e.forget()
                continue
            entered = self._uniform_part(part, following)
            if self._closed:
                return False
        return True

    _closed = False

    def _enter(self, region: frozenset[int], step: Step, position: int) -> None:
        """Fall into a region that does not begin with a branch: a loop that threads leave one by one."""
        e = self.e
        self._region, self._joined = region, e.new_label("join")
        if position == 0:
            entry = step.leader[0]
        else:
            before = step.parts[position - 1]
            assert not isinstance(before, frozenset)
            (entry,) = (s for s in self.blocks[before[0]].successors if s in region)
        e.flush(self.liveness.at_start(entry))
        e.do(f"br label %{self._label(entry)}")

    def _label(self, index: int) -> str:
        return f"n{self._number}.b{index}" if index in self._region else self._joined

    def _uniform_part(self, part: tuple[int, int, int], following: Part | None) -> bool:
        """Statements that all threads run; whether the region that follows has been entered."""
        e = self.e
        index, first, last = part
        self._closed = False
        for at in range(first, last):
            statement = self.body[at]
            if not isinstance(statement, Instruction):
                continue
            try:
                if statement.opcode in ("bra", "brx"):
                    return self._uniform_branch(index, statement, following)
                if is_exit(statement):
                    assert statement.guard is not None
                    self._kill_if(statement)
                elif statement.opcode in ("trap", "brkpt"):
                    self._end(index, statement)
                    if statement.guard is None:
                        self._closed = True
                        return False
                elif self._is_uniform(statement):
                    with e.uniformly():
                        self._instruction(statement)
                else:
                    self._instruction(statement)
            except Refused as refused:
                if refused.instruction is None:
                    refused.instruction = statement
                raise
        return False

    def _is_uniform(self, statement: Instruction) -> bool:
        results = writes(statement)
        return bool(results) and all(name in self.e.uniform for name in results)

    def _uniform_branch(self, index: int, statement: Instruction, following: Part | None) -> bool:
        e = self.e
        if index in self.divergent.kills:
            self._kill_if(statement, self._kills_when_taken(index))
            return False
        if index not in self.divergent.branches:
            return False
        assert isinstance(following, frozenset) and statement.guard is not None
        self._region, self._joined = following, e.new_label("join")
        self._branch_to_labels(index, statement)
        return True

    def _branch_to_labels(self, index: int, statement: Instruction) -> None:
        e, block = self.e, self.blocks[index]
        live = self.liveness.at_end(index)
        if statement.opcode == "brx":
            self._branch_by_table(index, statement)
            return
        if statement.guard is None or len(block.successors) == 1:
            e.flush(live)
            e.do(f"br label %{self._label(block.successors[0])}")
            return
        condition = e.register(statement.guard.register, "i1")
        e.flush(live)
        taken, other = block.successors[0], block.successors[1]
        if statement.guard.negated:
            taken, other = other, taken
        e.do(f"br i1 {condition}, label %{self._label(taken)}, label %{self._label(other)}")

    def _kills_when_taken(self, index: int) -> bool:
        """Whether the threads that take the branch end (else those that do not take it)."""
        target = self.blocks[index].successors[0]
        block = self.blocks[target]
        statements = [s for s in self.body[block.start : block.stop] if isinstance(s, Instruction)]
        return not block.successors and (not statements or (len(statements) == 1 and is_exit(statements[0])))

    def _kill_if(self, statement: Instruction, when_taken: bool = True) -> None:
        """End the threads for which a guard holds; the others go on."""
        e, guard = self.e, statement.guard
        assert guard is not None
        condition = e.register(guard.register, "i1")
        die, live = e.new_label("die"), e.new_label("live")
        dies_if_true = when_taken != guard.negated
        targets = (die, live) if dies_if_true else (live, die)
        e.do(f"br i1 {condition}, label %{targets[0]}, label %{targets[1]}")
        e.begin(die)
        self._kill()
        e.begin(live)

    def _kill(self) -> None:
        """End this thread."""
        e = self.e
        if any(place in self._after_kill for place in self._following(self._step)):
            pointer, _ = self._element("alive")
            e.do(f"store i8 0, ptr {pointer}{_GROUP}")
        e.do(f"br label %n{self._number}.xl")

    def _region_code(self, region: frozenset[int]) -> None:
        """The blocks that only some threads run: ordinary control flow within the loop's body."""
        e = self.e
        for index in sorted(region):
            block = self.blocks[index]
            e.begin(self._label(index))
            e.forget()
            closed = False
            for at in range(block.start, block.stop):
                statement = self.body[at]
                if not isinstance(statement, Instruction):
                    continue
                try:
                    if statement.opcode in ("bra", "brx"):
                        self._branch_to_labels(index, statement)
                        closed = True
                    elif is_exit(statement) and statement.guard is None:
                        self._kill()
                        closed = True
                    elif is_exit(statement):
                        self._kill_if(statement)
                    elif statement.opcode in ("trap", "brkpt"):
                        self._end(index, statement)
                        closed = statement.guard is None
                    else:
                        self._instruction(statement)
                except Refused as refused:
                    if refused.instruction is None:
                        refused.instruction = statement
                    raise
                if closed:
                    break
            if not closed:
                if block.successors:
                    e.flush(self.liveness.at_end(index))
                    e.do(f"br label %{self._label(block.successors[-1])}")
                else:
                    self._kill()
