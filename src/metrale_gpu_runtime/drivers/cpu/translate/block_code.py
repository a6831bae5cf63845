"""The steps of a kernel (steps.py) as LLVM IR: kernel_block, which runs all threads of a block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ....ptx.control_flow import reads, writes
from ....ptx.syntax import Instruction, Register
from .. import abi
from .affine import Affine, AffineFinder
from .collectives import Exchange, exchange_of
from .divergence import is_exit
from .kernel import ThreadTranslator, TranslatedKernel, finished_kernel
from .masks import Mask
from .places import Places, aligned
from .refusal import Refused
from .registry import handler_of
from .rematerialise import rematerialisable_with_costs
from .scalar import SCALARS, WIDTHS
from .steps import Branch, Collective, Goto, Part, Place, Split, Stay, Step, StepFinder, StepKey, Target

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
# A mask with so small a share of a block's threads is run thread by thread.
_FEW_SHIFT = 3
_BASE = "base of a register"


class BlockTranslator(ThreadTranslator):
    """Translates a kernel that can be cut into steps; used once."""

    def __init__(self, body: KernelBody, places: Places, finder: StepFinder, *, check: str | None) -> None:
        super().__init__(body, places, check=check)
        self.finder, self.divergent = finder, finder.divergence
        self.steps = finder.steps()
        self.exchanges = {key: self._exchange(step) for key, step in self.steps.items()}
        e = self.e
        uniform = frozenset(body.function.registers) - self.divergent.registers
        self._definitions, is_pure = rematerialisable_with_costs(body.function, uniform, _MOST_OPERATIONS)
        self._affine = self._find_affine(uniform, is_pure)
        for name in self._affine:
            own = e.register_types[name]
            e.register_types[_offset(name)] = "i64" if own == "ptr" else own
        e.uniform = uniform | {_offset(name) for name in self._affine}
        # What a value that is computed anew reads must be there at any time, whatever liveness says.
        bases = [affine.base for affine in self._affine.values()]
        self._always_live = {
            name for s in (*self._definitions.values(), *bases) for name in reads(s) if name in uniform
        } | {_offset(name) for name in self._affine}
        self.elsewhere = uniform | self._definitions.keys() | self._affine.keys()
        self.computed = frozenset(self._definitions) | frozenset(self._affine)
        places.by_block = places.local_in_frame
        self.numbers = {key: n for n, key in enumerate(self.steps)}
        self._array_ends = places.local_nbytes if places.local_in_frame else 0
        self._arrays: dict[str, int] = {}
        self._loops: list[str] = []
        self._nodes: dict[object, str] = {}
        self._node_text: list[str] = []
        self._after_kill = self._steps_after_kills()
        self._number = 0
        self._joined = ""
        self._region: frozenset[int] = frozenset()
        self._step: Step = next(iter(self.steps.values()))

    def _exchange(self, step: Step) -> Exchange | None:
        if not isinstance(step.end, Collective):
            return None
        return exchange_of(step.end.statement, self.divergent.registers)

    def _find_affine(self, uniform: frozenset[str], is_pure: object) -> dict[str, Affine]:
        analysis, inside = self.finder.analysis, self.divergent.inside

        def stays(register: str, block: int) -> bool:
            return block not in inside and not analysis.escapes(register, block)

        assert callable(is_pure)
        return AffineFinder(self.function, self.blocks, uniform, self._definitions, is_pure, stays).find()

    # ------------------------------------------------------------ the whole

    def translate(self) -> TranslatedKernel:
        """Write the steps, then the entry before them."""
        e = self.e
        text: list[str] = []
        for key, step in self.steps.items():
            self._number, self._step = self.numbers[key], step
            text += self._one_step(step)
        frame_nbytes = aligned(self._array_ends, _ALIGN)
        beginning = []
        if self._after_kill:
            everybody = f"ptr {self._byte_array('alive')}, i8 1, i64 {self._thread_count()}"
            beginning.append(f"  call void @llvm.memset.p0.i64({everybody}, i1 false)")
            e.declare("llvm.memset.p0.i64", "void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        entry = [*e.allocas(self.liveness.at_start(0)), *e.header, *beginning]
        function = [
            _KERNEL_BLOCK + " {",
            "entry:",
            *entry,
            "  br label %n0",
            *text,
            *self._node_text,
            *e.footer,
            "end:",
            f"  ret i32 {abi.ThreadCode.EXITED:d}",
            "}",
            _NO_KERNEL_THREAD,
        ]
        metadata = ["!9 = distinct !{}", '!8 = !{!"llvm.loop.parallel_accesses", !9}', *self._loops]
        return finished_kernel(e, function, frame_nbytes, suspends=frame_nbytes > 0, by_block=True, metadata=metadata)

    # ------------------------------------------------------------ ended threads

    def _steps_after_kills(self) -> set[StepKey]:
        """The steps at which some threads may have ended before."""
        pending = [step for step in self.steps.values() if self._kills(step)]
        after: set[StepKey] = set()
        for step in pending:
            for key in self._following(step):
                if key not in after:
                    after.add(key)
                    pending.append(self.steps[key])
        return after

    def _kills(self, step: Step) -> bool:
        for part in step.parts:
            if isinstance(part, frozenset):
                if any(index in self.finder.analysis.closed for index in part):
                    return True
            else:
                index, first, last = part
                if index in self.divergent.kills and last == self.blocks[index].stop:
                    return True
                if any(is_exit(statement) for statement in self.body[first:last]):
                    return True
        return False

    def _following(self, step: Step) -> list[StepKey]:
        """The steps that may come next, through second sides of branches too."""
        found: list[StepKey] = []
        pending = step.targets()
        while pending:
            target = pending.pop()
            if target.dispatch is not None:
                pending += self.finder.dispatched(target.dispatch)
                found += [key for key in self._scalar_keys(target.dispatch.other)]
            else:
                found.append((target.place, 0))
        end = step.end
        if isinstance(end, Split):
            for mask, _, _ in end.sides:
                found += self._scalar_keys(mask)
        elif isinstance(end, Stay):
            found += self._scalar_keys(end.mask)
        return found

    def _scalar_keys(self, mask: Mask | None) -> list[StepKey]:
        return [key for key in self.steps if mask is not None and key[1] == mask.number]

    # ------------------------------------------------------------ arrays with an element per thread

    def _thread_count(self) -> str:
        e = self.e
        offset = abi.Launch.threads_per_block.offset
        pointer = e.at_entry("threads pointer", f"getelementptr i8, ptr %launch, i64 {offset}")
        narrow = e.at_entry("threads narrow", f"load i32, ptr {pointer}, align 4, !invariant.load !0, !range !1")
        return e.at_entry("threads", f"zext i32 {narrow} to i64")

    def _extent(self, axis: int) -> str:
        e = self.e
        offset = abi.Launch.block.offset + 4 * axis
        pointer = e.at_entry(f"extent pointer {axis}", f"getelementptr i8, ptr %launch, i64 {offset}")
        return e.at_entry(f"extent {axis}", f"load i32, ptr {pointer}, align 4, !invariant.load !0, !range !1")

    def _array(self, name: str, nbytes: int) -> str:
        """The beginning of the array of a register or of something else by thread."""
        offset = self._arrays.get(name)
        if offset is None:
            offset = self._arrays[name] = aligned(self._array_ends, nbytes)
            self._array_ends = offset + nbytes
        e = self.e
        if offset == 0:
            return "%frames"
        distance = e.at_entry(f"distance {name}", f"mul i64 {self._thread_count()}, {offset}")
        return e.at_entry(f"array {name}", f"getelementptr i8, ptr %frames, i64 {distance}")

    def _byte_array(self, name: str) -> str:
        return self._array(name, 1)

    def _mask_array(self, mask: Mask) -> str:
        return self._array(f"mask {mask.number}", 1)

    def _active(self, step: Step) -> str:
        """A byte per thread that runs the step, or null where all do."""
        if step.mask is not None:
            return self._mask_array(step.mask)
        return self._alive(step.key)

    def _alive(self, key: StepKey) -> str:
        return self._byte_array("alive") if key in self._after_kill else "null"

    def _register_array(self, name: str) -> tuple[str, str]:
        """The array of a register and the type stored there."""
        llvm = self.e.register_types[name]
        stored = "i8" if llvm == "i1" else llvm
        return self._array(name, max(1, WIDTHS[stored] // 8)), stored

    def _store_byte(self, base: str, value: str) -> None:
        e = self.e
        pointer = e.op(f"getelementptr i8, ptr {base}, i64 {e.linear}")
        e.do(f"store i8 {value}, ptr {pointer}{_GROUP}")

    def _load_element(self, name: str) -> None:
        e = self.e
        base, stored = self._register_array(name)
        pointer = e.op(f"getelementptr {stored}, ptr {base}, i64 {e.linear}")
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
        base, stored = self._register_array(name)
        pointer = e.op(f"getelementptr {stored}, ptr {base}, i64 {e.linear}")
        e.do(f"store {stored} {value}, ptr {pointer}{_GROUP}")

    # ------------------------------------------------------------ values made again instead of kept

    def _define_on_demand(self, register: str) -> bool:
        e = self.e
        affine = self._affine.get(register)
        if affine is None or register in e.own:
            return register not in e.own and super()._define_on_demand(register)
        value, kind = self._base_value(affine), e.register_types[register]
        value = e.convert(value, e.register_types[_BASE], kind)
        offset_kind = e.register_types[_offset(register)]
        offset = e.register(_offset(register), offset_kind)
        if kind == "ptr":
            value = e.op(f"getelementptr i8, ptr {value}, i64 {offset}")
        else:
            value = e.op(f"add {kind} {value}, {offset}")
        e.values[register] = {kind: value}
        return True

    def _base_value(self, affine: Affine) -> str:
        """The beginning of an affine register."""
        e, base = self.e, affine.base
        target = base.operands[0]
        assert isinstance(target, Register)
        kind = e.register_types[_BASE] = e.register_types[target.name]
        current = getattr(e, "instruction", base)
        e.instruction = base
        handler_of(base)(e, replace(base, operands=(Register(_BASE), *base.operands[1:])))
        e.instruction = current
        value = e.register(_BASE, kind)
        del e.values[_BASE]
        e.dirty.discard(_BASE)
        return value

    def _advance(self, register: str, statement: Instruction) -> None:
        """A definition of an affine register: only the common offset changes."""
        e = self.e
        advance = self._affine[register].advances[id(statement)]
        kind = e.register_types[_offset(register)]
        scalar = SCALARS[f"b{WIDTHS[kind]}"]
        value = "0"
        if advance.source in self._affine:
            assert advance.source is not None
            value = e.register(_offset(advance.source), kind)
        if advance.amount is not None:
            amount = e.read(advance.amount, scalar)
            value = e.op(f"{'sub' if advance.subtracts else 'add'} {kind} {value}, {amount}")
        e.set_register(_offset(register), value, kind)

    # ------------------------------------------------------------ a step

    def live_at(self, place: Place) -> tuple[str, ...]:
        index, at = place
        block = self.blocks[index]
        if at == block.start:
            return self.liveness.at_start(index)
        if at >= block.stop:
            return self.liveness.at_end(index)
        return self.liveness.registers(self.liveness.before_each(index)[at - block.start])

    def behind(self, step: Step) -> set[str]:
        """The registers that are live where the step ends, but for the results of an exchange."""
        live = {name for place, _ in self._following(step) for name in self.live_at(place)}
        if isinstance(step.end, Collective):
            live -= set(writes(step.end.statement))
        return live

    def _one_step(self, step: Step) -> list[str]:
        e, prefix = self.e, f"n{self._number}"
        e.tid = (f"%{prefix}.x", f"%{prefix}.y", f"%{prefix}.z")
        e.linear = f"%{prefix}.t"
        e.independent = _GROUP
        e.lines, e.values, e.dirty, e.label = [], {}, set(), f"{prefix}.body"
        with e.uniformly():
            e.lines, e.values, e.dirty, e.label = [f"{prefix}:"], {}, set(), prefix
        touched, written = self._touched(step)
        beginning = self.live_at(step.leader)
        for name in beginning:
            if name in touched and name not in self.elsewhere:
                self._load_element(name)
        self._own_copies(step, written, beginning)
        loads = len(e.lines)
        open_ = self._parts(step)
        behind = self.behind(step)
        changed = sorted(name for name in behind & written if name not in self.elsewhere)
        if open_:
            for name in changed:
                self._store_element(name)
            self._store_masks(step)
            exchange = self.exchanges[step.key]
            if exchange is not None:
                exchange.store_operands(e, self._array)
        has_threads = len(e.lines) > loads or bool(changed)
        if open_:
            e.do(f"br label %{prefix}.xl")
        thread_lines, e.own = e.lines, frozenset()
        with e.uniformly():
            lines = self._finish(step, thread_lines if has_threads else None, behind)
        e.lines = []
        return lines

    def _own_copies(self, step: Step, written: set[str], beginning: Iterable[str]) -> None:
        """Where threads run one by one, each changes registers by itself that are otherwise common to all."""
        e = self.e
        if step.scalar is None:
            return
        own = frozenset(written & (e.uniform | self._affine.keys()))
        values = {name: e.register(name, e.register_types[name]) for name in beginning if name in own}
        e.own = own
        for name, value in values.items():
            e.set_register(name, value, e.register_types[name])

    def _touched(self, step: Step) -> tuple[set[str], set[str]]:
        """The registers that the step's statements read or write, and those that they write."""
        touched: set[str] = set()
        written: set[str] = set()
        for statement in self.statements(step):
            touched.update(reads(statement))
            written.update(writes(statement))
        end = step.end
        if isinstance(end, (Split, Stay, Collective)):
            touched.update(reads(end.statement))
        return touched | written, written

    def statements(self, step: Step) -> list[Instruction]:
        found: list[object] = []
        for part in step.parts:
            if isinstance(part, frozenset):
                for index in part:
                    found += self.body[self.blocks[index].start : self.blocks[index].stop]
            else:
                found += self.body[part[1] : part[2]]
        return [statement for statement in found if isinstance(statement, Instruction)]

    def _store_masks(self, step: Step) -> None:
        """Who goes on where, by thread."""
        e, end = self.e, step.end
        if isinstance(end, Split):
            condition = self._taken(end.statement)
            for mask, when_taken, _ in end.sides:
                value = condition if when_taken else e.op(f"xor i1 {condition}, true")
                self._store_byte(self._mask_array(mask), e.op(f"zext i1 {value} to i8"))
        elif isinstance(end, Stay):
            condition = self._taken(end.statement)
            value = condition if end.stays_when_taken else e.op(f"xor i1 {condition}, true")
            self._store_byte(self._mask_array(end.mask), e.op(f"zext i1 {value} to i8"))

    def _taken(self, branch: Instruction) -> str:
        assert branch.guard is not None
        condition = self.e.register(branch.guard.register, "i1")
        return self.e.op(f"xor i1 {condition}, true") if branch.guard.negated else condition

    # ------------------------------------------------------------ around the loop

    def _finish(self, step: Step, thread_lines: list[str] | None, behind: set[str]) -> list[str]:
        """What surrounds the loop: ahead of it all that is uniform, behind it the way on."""
        e, end = self.e, step.end
        condition = self._taken(end.statement) if isinstance(end, Branch) else ""
        exchange = self.exchanges[step.key]
        if exchange is not None:
            exchange.read_uniform(e)
        if isinstance(end, Split):
            for mask, _, _ in end.sides:
                self._fill(self._mask_array(mask), "0")
        e.flush(sorted(behind & e.uniform | self._always_live))
        if thread_lines is not None:
            self._loop(step, thread_lines)
            must_look = step.key in self._after_kill or self.divergent.loads_uniformly
            if must_look and self._kills(step) and step.targets():
                self._end_when_nobody_lives()
        if exchange is not None:
            self._perform(step, exchange)
        self._way_on(step, condition)
        lines, e.lines = e.lines, []
        return lines

    def _way_on(self, step: Step, condition: str) -> None:
        e, end = self.e, step.end
        if isinstance(end, (Goto, Collective)):
            e.do(f"br label %{self._label_of(end.target, step.key)}")
        elif isinstance(end, Branch):
            taken, other = self._label_of(end.taken, step.key), self._label_of(end.other, step.key)
            e.do(f"br i1 {condition}, label %{taken}, label %{other}")
        elif isinstance(end, Split):
            (mask, _, target), *rest = end.sides
            otherwise = Target(end.join.place, dispatch=mask) if rest else end.join
            self._into_mask(mask, target, self._label_of(otherwise, step.key), step.key)
        elif isinstance(end, Stay):
            self._into_mask(end.mask, end.again, self._label_of(end.join, step.key), step.key)
        else:
            e.do("br label %end")

    def _into_mask(self, mask: Mask, target: Target, otherwise: str, key: StepKey) -> None:
        """Go on with the threads of a mask; without any, go elsewhere; with few, one by one."""
        e = self.e
        count = e.call("i64", "ptx_count", ("ptr", self._mask_array(mask)), ("i64", self._thread_count()))
        some, label = e.new_label("some"), self._label_of(target, key)
        e.do(f"br i1 {e.op(f'icmp eq i64 {count}, 0')}, label %{otherwise}, label %{some}")
        e.begin(some)
        scalar = (target.place, mask.number)
        if scalar in self.steps:
            few = e.op(f"icmp ule i64 {e.op(f'shl i64 {count}, {_FEW_SHIFT}')}, {self._thread_count()}")
            e.do(f"br i1 {few}, label %n{self.numbers[scalar]}, label %{label}")
        else:
            e.do(f"br label %{label}")

    def _label_of(self, target: Target, key: StepKey) -> str:
        """The label of a target; what lies on the way there is written when it is first needed."""
        if target.dispatch is not None:
            return self._node(("dispatch", target.dispatch), lambda: self._dispatch(target, key))
        step = f"n{self.numbers[(target.place, 0)]}"
        if not target.enters:
            return step
        return self._node((target.place, target.enters), lambda: self._enter_masks(target, step))

    def _node(self, key: object, write: object) -> str:
        label = self._nodes.get(key)
        if label is None:
            e = self.e
            label = self._nodes[key] = e.new_label("w")
            lines, values, dirty, current = e.lines, e.values, e.dirty, e.label
            e.lines, e.values, e.dirty = [], {}, set()
            e.begin(label)
            assert callable(write)
            write()
            self._node_text += e.lines
            e.lines, e.values, e.dirty, e.label = lines, values, dirty, current
        return label

    def _dispatch(self, target: Target, key: StepKey) -> None:
        first = target.dispatch
        assert first is not None
        assert first.other is not None
        second, behind = self.finder.dispatched(first)
        self._into_mask(first.other, second, self._label_of(behind, key), key)

    def _enter_masks(self, target: Target, step: str) -> None:
        e = self.e
        for mask in target.enters:
            inner = self._mask_array(mask)
            outer = self._mask_array(mask.parent) if mask.parent is not None else self._alive((target.place, 0))
            if outer == "null":
                self._fill(inner, "1")
            else:
                e.declare("llvm.memcpy.p0.p0.i64", "void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
                e.do(
                    f"call void @llvm.memcpy.p0.p0.i64(ptr {inner}, ptr {outer}, i64 {self._thread_count()}, i1 false)"
                )
        e.do(f"br label %{step}")

    def _fill(self, array: str, byte: str) -> None:
        e = self.e
        e.declare("llvm.memset.p0.i64", "void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        e.do(f"call void @llvm.memset.p0.i64(ptr {array}, i8 {byte}, i64 {self._thread_count()}, i1 false)")

    def _perform(self, step: Step, exchange: Exchange) -> None:
        """Let the threads exchange what they stored."""
        e = self.e
        live = set(self.live_at(step.end.target.place)) if isinstance(step.end, Collective) else set()
        site = e.sites.number(exchange.statement)

        def results(name: str) -> str:
            return self._register_array(name)[0] if name in live else "null"

        # Those who ended in this very step are not among them either.
        alive = self._byte_array("alive") if self._kills(step) else self._alive(step.key)
        fault = exchange.perform(
            e,
            active=self._mask_array(step.mask) if step.mask is not None else alive,
            alive=alive,
            count=self._thread_count(),
            site=site,
            array=self._array,
            results=results,
        )
        if fault:
            on = e.new_label("on")
            bad = e.op(f"icmp ne i32 {fault}, 0")
            e.do(f"br i1 {bad}, label %faulted, label %{on}, !prof !3")
            e.at_end_block("faulted", f"  ret i32 {abi.ThreadCode.FAULTED:d}")
            e.begin(on)

    def _loop(self, step: Step, body: list[str]) -> None:
        """The loops over z, y and x around the threads' code, into the uniform stream."""
        e, p = self.e, f"n{self._number}"
        nx, ny, nz = self._extent(0), self._extent(1), self._extent(2)
        number = 10 + len(self._loops)
        self._loops.append(f"!{number} = distinct !{{!{number}, !8}}")
        active = self._active(step)
        enters = [f"  br label %{p}.body"]
        if active != "null":
            enters = [
                f"  %{p}.a = getelementptr i8, ptr {active}, i64 %{p}.t",
                f"  %{p}.active = load i8, ptr %{p}.a{_GROUP}",
                f"  %{p}.runs = icmp ne i8 %{p}.active, 0",
                f"  br i1 %{p}.runs, label %{p}.body, label %{p}.xl",
            ]
        e.lines += [
            f"  br label %{p}.zh",
            f"{p}.zh:",
            f"  %{p}.z = phi i32 [ 0, %{e.label} ], [ %{p}.z1, %{p}.zl ]",
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
        ]
        e.begin(f"{p}.done")

    def _end_when_nobody_lives(self) -> None:
        """End the block when its last thread has: a loop's own condition may never hold, and memory that is read for
        all threads need not be there."""
        e = self.e
        count = e.call("i64", "ptx_count", ("ptr", self._byte_array("alive")), ("i64", self._thread_count()))
        on = e.new_label("on")
        e.do(f"br i1 {e.op(f'icmp eq i64 {count}, 0')}, label %end, label %{on}")
        e.begin(on)

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
            closed, entered = self._uniform_part(part, following)
            if closed:
                return False
        return True

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

    def _uniform_part(self, part: tuple[int, int, int], following: Part | None) -> tuple[bool, bool]:
        """Statements that all threads run; whether they end in a fault, and whether the region that follows has been
        entered."""
        e = self.e
        index, first, last = part
        for at in range(first, last):
            statement = self.body[at]
            if not isinstance(statement, Instruction):
                continue
            try:
                if statement.opcode in ("bra", "brx"):
                    return False, self._uniform_branch(index, statement, following)
                if is_exit(statement):
                    assert statement.guard is not None
                    self._kill_if(statement)
                elif statement.opcode in ("trap", "brkpt"):
                    self._trap(statement)
                    if statement.guard is None:
                        return True, False
                elif self._is_uniform(statement):
                    with e.uniformly():
                        self._instruction(statement)
                else:
                    self._thread_instruction(statement)
            except Refused as refused:
                if refused.instruction is None:
                    refused.instruction = statement
                raise
        return False, False

    def _is_uniform(self, statement: Instruction) -> bool:
        results = writes(statement)
        return bool(results) and all(name in self.e.uniform and name not in self.e.own for name in results)

    def _thread_instruction(self, statement: Instruction) -> None:
        e = self.e
        for name in writes(statement):
            if name in self._affine and name not in e.own:
                e.values.pop(name, None)
                with e.uniformly():
                    self._advance(name, statement)
                return
        self._instruction(statement)

    def _uniform_branch(self, index: int, statement: Instruction, following: Part | None) -> bool:
        if index in self.divergent.kills:
            taken = self.blocks[index].successors[0]
            self._kill_if(statement, taken in self.finder.analysis.exits)
            return False
        if index not in self.divergent.branches or not isinstance(following, frozenset):
            return False
        self._region, self._joined = following, self.e.new_label("join")
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
        condition = self._taken(statement)
        e.flush(live)
        taken, other = block.successors
        e.do(f"br i1 {condition}, label %{self._label(taken)}, label %{self._label(other)}")

    def _block_label(self, index: int) -> str:
        return self._label(index)

    def _kill_if(self, statement: Instruction, when_taken: bool = True) -> None:
        """End the threads for which a guard holds; the others go on."""
        e = self.e
        condition = self._taken(statement)
        die, live = e.new_label("die"), e.new_label("live")
        targets = (die, live) if when_taken else (live, die)
        e.do(f"br i1 {condition}, label %{targets[0]}, label %{targets[1]}")
        e.begin(die)
        self._kill()
        e.begin(live)

    def _kill(self) -> None:
        """End this thread."""
        e = self.e
        if any(key in self._after_kill for key in self._following(self._step)):
            self._store_byte(self._byte_array("alive"), "0")
        e.do(f"br label %n{self._number}.xl")

    def _trap(self, statement: Instruction) -> None:
        e = self.e
        after = ""
        if statement.guard is not None:
            condition = self._taken(statement)
            bad, after = e.new_label("trap"), e.new_label("on")
            e.do(f"br i1 {condition}, label %{bad}, label %{after}")
            e.begin(bad)
        e.sites.fault(e, statement, abi.FaultKind.TRAP)
        if after:
            e.begin(after)

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
                    closed = self._region_statement(index, statement)
                except Refused as refused:
                    if refused.instruction is None:
                        refused.instruction = statement
                    raise
                if closed:
                    break
            if closed:
                continue
            if block.successors:
                e.flush(self.liveness.at_end(index))
                e.do(f"br label %{self._label(block.successors[-1])}")
            else:
                self._kill()

    def _region_statement(self, index: int, statement: Instruction) -> bool:
        """Write a statement of a region; whether the block ends with it."""
        if statement.opcode in ("bra", "brx"):
            self._branch_to_labels(index, statement)
            return True
        if is_exit(statement):
            if statement.guard is None:
                self._kill()
                return True
            self._kill_if(statement)
            return False
        if statement.opcode in ("trap", "brkpt"):
            self._trap(statement)
            return statement.guard is None
        self._instruction(statement)
        return False


def _offset(register: str) -> str:
    """The name of the part of an affine register that all threads share; no name of PTX holds a space."""
    return f"{register} offset"
