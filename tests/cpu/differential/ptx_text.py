"""A program as PTX, in the manner of compilers or of people: registers used again or once, guards or branches, blocks
in any order, with detours, copies and ways that are never taken, which make loops with several entries."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from operations import BITS, OPERATIONS, ptx_conversion
from programs import (
    Array,
    Assign,
    Atomic,
    BallotIf,
    BallotLoop,
    Barrier,
    BarrierReduce,
    Break,
    Call,
    Const,
    Continue,
    Exchange,
    Exit,
    Expr,
    Fault,
    Function,
    If,
    Load,
    LoadEither,
    LoadVector,
    Loop,
    Match,
    Op,
    Param,
    Program,
    Redux,
    Return,
    SharedTotal,
    Shuffle,
    Special,
    SplitExchange,
    Statement,
    Store,
    Switch,
    Trap,
    Tree,
    Var,
    Vote,
    Walk,
    WarpExchange,
)

_HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"
_PREFIX = {1: "p", 16: "h", 32: "r", 64: "d"}
_SIMPLE = (Assign, Store, LoadVector, Atomic, Exit, Trap)


@dataclass
class _Block:
    label: str
    lines: list[str] = field(default_factory=list)
    # ("goto", label), ("if", predicate, negated, label, label), ("switch", register, labels), ("end", instruction)
    end: tuple[object, ...] = ("end", "ret")
    is_collective: bool = False

    def targets(self) -> list[str]:
        if self.end[0] == "goto":
            return [str(self.end[1])]
        if self.end[0] == "if":
            return [str(self.end[3]), str(self.end[4])]
        return list(self.end[2]) if self.end[0] == "switch" else []  # type: ignore[call-overload]


@dataclass(frozen=True)
class Style:
    """How a text is written. All chances from 0 to 1."""

    reuse: bool  # temporaries share registers
    untyped: bool  # .b32 for everything of 32 bits
    predication: float  # guards instead of branches where statements are simple
    shuffle: bool  # blocks in random order
    copies: int  # blocks that are doubled
    detours: int
    ghosts: int  # edges that are never taken
    early_parameters: bool  # all loaded in front
    guards: float  # instructions with a guard that always holds
    ordered: float  # accesses with an order, such as volatile ones
    scopes: float  # statements in braces with registers of their own
    kernel_exit: str

    @staticmethod
    def random(r: random.Random, is_tame: bool) -> Style:
        wild = r.random() < (0.3 if is_tame else 0.5)
        return Style(
            reuse=r.random() < 0.6,
            untyped=r.random() < 0.3,
            predication=r.choice((0.0, 0.3, 0.9)),
            shuffle=wild and r.random() < 0.6,
            copies=r.randint(0, 3) if wild else 0,
            detours=r.randint(0, 3) if wild else 0,
            ghosts=r.randint(0, 3) if wild and not is_tame else 0,
            early_parameters=r.random() < 0.5,
            guards=0.0 if is_tame else r.choice((0.0, 0.0, 0.1, 0.5)),
            ordered=0.0 if is_tame else r.choice((0.0, 0.0, 0.0, 0.1, 0.5)),
            scopes=r.choice((0.0, 0.2)),
            kernel_exit=r.choice(("ret", "exit")),
        )


class _Writer:
    """Writes one body: the kernel's, or that of a function."""

    def __init__(self, program: Program, style: Style, r: random.Random, function: Function | None = None) -> None:
        self.program, self.style, self.r, self.function = program, style, r, function
        self.blocks: list[_Block] = []
        self.registers: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.temps: dict[str, int] = {}
        self.labels = 0
        self.loops: list[tuple[str, str]] = []
        self.guard = ""
        self.scoped: dict[str, str] | None = None
        self.current = self._block("entry")
        self.prefix = "" if function is None else function.name + "_"
        self.switch_tables: list[str] = []

    # ------------------------------------------------------------ registers and text

    def _declare(self, name: str, type_: str) -> str:
        bits = BITS[type_]
        if type_ == "pred":
            kind = "pred"
        elif self.style.untyped or bits == 16:
            kind = f"b{bits}"
        else:
            kind = (
                self.r.choice((type_, f"b{bits}"))
                if type_[0] == "f"
                else self.r.choice((type_, f"b{bits}", f"u{bits}"))
            )
        self.registers[name] = kind
        return name

    def var(self, var: Var) -> str:
        name = f"%{var.name}"
        if name not in self.registers:
            self._declare(name, var.type)
        return name

    def temp(self, type_: str) -> str:
        bits = BITS[type_]
        if self.scoped is not None:
            name = f"%s{_PREFIX[bits]}{len(self.scoped)}"
            self.scoped[name] = "pred" if bits == 1 else f"b{bits}"
            return name
        if self.style.reuse:
            number = self.temps.get(_PREFIX[bits], 0)
            self.temps[_PREFIX[bits]] = number + 1
            name = f"%{_PREFIX[bits]}{number}"
            if name not in self.registers:
                self.registers[name] = "pred" if bits == 1 else f"b{bits}"
            return name
        number = self.counts[type_] = self.counts.get(type_, 0) + 1
        return self._declare(f"%{type_}_{number}", type_)

    def do(self, text: str) -> None:
        """Append instructions, under the guard that is in force."""
        for line in text.split(";"):
            line = line.strip()
            if not line:
                continue
            guard = self.guard
            if (
                not guard
                and line[0] != "@"
                and self.style.guards
                and self.r.random() < self.style.guards * 0.3
                and self.function is None
            ):
                guard = self._always()
            self.current.lines.append(f"{guard}{line};")

    def _always(self) -> str:
        return self.r.choice(("@%always ", "@!%never ", "@%alwaysu "))

    def _label(self) -> str:
        self.labels += 1
        return f"$L{self.prefix}{self.labels}"

    def _block(self, label: str | None = None) -> _Block:
        block = _Block(label or self._label())
        self.blocks.append(block)
        return block

    def _goto(self, block: _Block) -> None:
        self.current.end = ("goto", block.label)

    def _branch(self, predicate: str, negated: bool, yes: _Block, no: _Block) -> None:
        self.current.end = ("if", predicate, negated, yes.label, no.label)

    # ------------------------------------------------------------ expressions

    def value(self, e: Expr, *, register: bool = False) -> str:
        """An operand: a register, or a literal where one may stand."""
        if isinstance(e, Const):
            text = self._literal(e)
            if e.type == "pred" or register or e.type == "f16" or self.r.random() < 0.2:
                name = self.temp(e.type)
                if e.type == "pred":
                    self.do(f"setp.{'eq' if e.value else 'ne'}.u32 {name}, 7, 7")
                else:
                    kind = "b16" if e.type == "f16" else self.r.choice((e.type, f"b{BITS[e.type]}"))
                    self.do(f"mov.{kind} {name}, {text}")
                return name
            return text
        if isinstance(e, Var):
            return self.var(e)
        if isinstance(e, Special):
            return self._special(e.name)
        if isinstance(e, Param):
            return self._parameter(e.name, e.type)
        if isinstance(e, Load):
            name = self.temp(e.type)
            array = self._find(e.array)
            self._load(array, e.index, [name], e.type)
            return name
        return self._operation(e)

    def _literal(self, e: Const) -> str:
        if e.type == "f32":
            return f"0f{e.value:08X}"
        if e.type == "f64":
            return f"0d{e.value:016X}"
        if e.type == "f16":
            return f"0x{e.value:04X}"
        if e.type[0] == "s":
            bits = BITS[e.type]
            signed = e.value - (1 << bits) if e.value >> (bits - 1) & 1 else e.value
            return str(signed)
        return self.r.choice((str(e.value), f"0x{e.value:X}"))

    def _operation(self, e: Op) -> str:
        if e.name == "cvt":
            source = self.value(e.args[0], register=True)
            name = self.temp(e.type)
            self.do(f"{ptx_conversion(e.over, e.type)} {name}, {source}")
            return name
        operation = OPERATIONS[e.name]
        first_literal = e.name in ("positive", "popc", "clz", "brev") or e.name.startswith("f") or e.over == "f16"
        operands = [self.value(a, register=first_literal or n == 0 or a.type == "pred") for n, a in enumerate(e.args)]
        name = self.temp(e.type)
        text = operation.ptx(e.over).replace("{d}", name).replace("{literal}", str(e.literal))
        for n, operand in enumerate(operands):
            text = text.replace(f"{{{n}}}", operand)
        self.do(text)
        return name

    def _special(self, name: str) -> str:
        if name in ("linear", "block"):
            a, n = ("%tid", "%ntid") if name == "linear" else ("%ctaid", "%nctaid")
            parts = [self.temp("u32") for _ in range(6)]
            target = self.temp("u32")
            for part, source in zip(parts, (f"{a}.x", f"{a}.y", f"{a}.z", f"{n}.x", f"{n}.y"), strict=False):
                self.do(f"mov.u32 {part}, {source}")
            x, y, z, nx, ny, row = parts
            self.do(f"mad.lo.u32 {row}, {z}, {ny}, {y}")
            self.do(f"mad.lo.s32 {target}, {row}, {nx}, {x}")
            return target
        if name == "thread":
            block, linear = self._special("block"), self._special("linear")
            target = self.temp("u32")
            self.do(f"mad.lo.s32 {target}, {block}, {self.program.threads_per_block}, {linear}")
            return target
        target = self.temp("u32")
        self.do(f"mov.u32 {target}, %{name}")
        return target

    def _parameter(self, name: str, type_: str) -> str:
        if self.style.early_parameters:
            return self._declare_once(f"%q_{name}", type_)
        target = self.temp(type_)
        kind = f"b{BITS[type_]}" if self.style.untyped else type_
        self.do(f"ld.param.{kind} {target}, [{name}]")
        return target

    def _declare_once(self, name: str, type_: str) -> str:
        return name if name in self.registers else self._declare(name, type_)

    # ------------------------------------------------------------ memory

    def _find(self, name: str) -> Array:
        if self.function is not None:
            for array in self.function.arrays:
                if array.name == name:
                    return array
        return self.program.arrays[name]

    def _address(self, array: Array, index: Expr, width: int = 1) -> tuple[str, str]:
        """(state space with its dot, or "" for generic; the text between the brackets)."""
        r = self.r
        size = BITS[array.type] // 8 * width
        space = array.space
        if space == "global":
            base = self._parameter(array.name, "u64")
            if not self.style.early_parameters and r.random() < 0.7:
                self.do(f"cvta.to.global.u64 {base}, {base}")
            generic = r.random() < 0.1
        elif isinstance(index, Const) and r.random() < 0.6:
            return f".{space}", f"{array.name}+{index.value * size}" if index.value else array.name
        elif space == "shared" and r.random() < 0.75:
            base = self.temp("u32")
            self.do(f"mov.u32 {base}, {array.name}")
            return ".shared", self._narrow(base, self.value(index), size)
        else:
            base = self.temp("u64")
            self.do(f"mov.u64 {base}, {array.name}")
            generic = r.random() < 0.3 and space in ("shared", "local", "const")
            if generic:
                self.do(f"cvta.{space}.u64 {base}, {base}")
        return "" if generic else f".{space}", self._wide(base, index, size)

    def _narrow(self, base: str, index: str, size: int) -> str:
        place = self.temp("u32")
        if self.r.random() < 0.5:
            self.do(f"mad.lo.s32 {place}, {index}, {size}, {base}")
            return place
        scaled = self.temp("u32")
        self.do(f"shl.b32 {scaled}, {index}, {size.bit_length() - 1}; add.s32 {place}, {base}, {scaled}")
        if self.r.random() < 0.3:
            self.do(f"add.s32 {place}, {place}, 16")
            return f"{place}+-16"
        return place

    def _wide(self, base: str, index: Expr, size: int) -> str:
        r = self.r
        narrow = self.value(index, register=True)
        place = self.temp("u64")
        kind = r.random()
        if kind < 0.4:
            self.do(f"mad.wide.u32 {place}, {narrow}, {size}, {base}")
            return place
        offset = self.temp("u64")
        if kind < 0.7:
            self.do(f"mul.wide.u32 {offset}, {narrow}, {size}; add.s64 {place}, {base}, {offset}")
            return place
        self.do(f"cvt.u64.u32 {offset}, {narrow}; add.s64 {offset}, {offset}, 3; shl.b64 {offset}, {offset}, ")
        self.current.lines[-1] = self.current.lines[-1].rstrip(";") + f" {size.bit_length() - 1};"
        self.do(f"add.u64 {place}, {offset}, {base}")
        return f"{place}+{-3 * size}"

    def _load(self, array: Array, index: Expr, targets: list[str], type_: str) -> None:
        space, place = self._address(array, index, len(targets))
        own = array.type
        if own == "f16":
            own = "b16"
        elif BITS[own] >= 32 and self.r.random() < 0.4:
            own = f"b{BITS[own]}"
        order = self._order(space, ("volatile", "relaxed.gpu", "acquire.cta", "relaxed.sys"))
        hint = ".nc" if not order and array.role == "in" and space == ".global" and self.r.random() < 0.3 else ""
        if len(targets) == 1:
            self.do(f"ld{order}{space}{hint}.{own} {targets[0]}, [{place}]")
        else:
            self.do(f"ld{order}{space}{hint}.v{len(targets)}.{own} {{{', '.join(targets)}}}, [{place}]")

    def _order(self, space: str, words: tuple[str, ...]) -> str:
        """An order for an access, or nothing. Constant and local memory have none."""
        if space in (".const", ".local") or self.r.random() >= self.style.ordered:
            return ""
        return "." + self.r.choice(words)

    def _store(self, array: Array, index: Expr, value: Expr) -> None:
        source = self.value(value, register=array.type in ("f16", "u8", "u16"))
        space, place = self._address(array, index)
        own = "b16" if array.type == "f16" else array.type
        space = self._order(space, ("volatile", "relaxed.gpu", "release.cta", "relaxed.sys")) + space
        self.do(f"st{space}.{own} [{place}], {source}")

    # ------------------------------------------------------------ statements

    def statements(self, statements: list[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, s: Statement) -> None:
        if self.style.reuse:
            self.temps = {}
        scoped = isinstance(s, (Assign, Store)) and not self.guard and self.r.random() < self.style.scopes
        if scoped:
            self.scoped, start = {}, len(self.current.lines)
        getattr(self, "_" + type(s).__name__.lower() + "_statement")(s)
        if scoped:
            assert self.scoped is not None
            declared = " ".join(f".reg .{kind} {name};" for name, kind in self.scoped.items())
            lines = self.current.lines
            lines[start:] = ["{ " + declared, *lines[start:], "}"]
            self.scoped = None

    def _set(self, var: Var, value: Expr) -> None:
        target = self.var(var)
        if var.type == "pred":
            source = self.value(value, register=True)
            self.do(f"mov.pred {target}, {source}")
            return
        if isinstance(value, Op) and value.name not in ("positive",) and self.r.random() < 0.6:
            # The result goes to the variable without a move, as in code of compilers.
            source = self._operation(value)
            last = self.current.lines[-1]
            if self.current.lines[-1].count(source) == 1 and f" {source}," in last:
                self.current.lines[-1] = last.replace(f" {source},", f" {target},")
                return
        else:
            source = self.value(value)
        self.do(f"mov.b{BITS[var.type]} {target}, {source}")

    def _assign_statement(self, s: Assign) -> None:
        self._set(s.var, s.value)

    def _loadvector_statement(self, s: LoadVector) -> None:
        self._load(self._find(s.array), s.index, [self.var(v) for v in s.targets], s.targets[0].type)

    def _store_statement(self, s: Store) -> None:
        self._store(self._find(s.array), s.index, s.value)

    def _if_statement(self, s: If) -> None:
        predicate = self.value(s.condition, register=True)
        simple = all(isinstance(x, _SIMPLE) for x in (*s.then, *s.other))
        if simple and not self.guard and len(s.then) + len(s.other) < 5 and self.r.random() < self.style.predication:
            kept = self._declare_once(f"%g{len(self.registers)}", "pred")
            self.do(f"mov.pred {kept}, {predicate}")
            for negated, body in ((False, s.then), (True, s.other)):
                for inner in body:
                    self._guarded(("@!" if negated else "@") + kept + " ", inner)
            return
        then, join = self._block(), self._block()
        other = self._block() if s.other else join
        self._branch(predicate, False, then, other)
        self.current = then
        self.statements(s.then)
        self._goto(join)
        if s.other:
            self.current = other
            self.statements(s.other)
            self._goto(join)
        self.current = join

    def _guarded(self, guard: str, s: Statement) -> None:
        if isinstance(s, (Exit, Trap)):
            if self.style.reuse:
                self.temps = {}
            predicate = self.value(s.condition, register=True)
            both = self.temp("pred")
            if guard.startswith("@!"):
                self.do(f"not.pred {both}, {guard[2:].strip()}; and.pred {both}, {both}, {predicate}")
            else:
                self.do(f"and.pred {both}, {guard[1:].strip()}, {predicate}")
            self.current.lines.append(f"@{both} {'trap' if isinstance(s, Trap) else 'exit'};")
            return
        self.guard = guard
        self.statement(s)
        self.guard = ""

    def _switch_statement(self, s: Switch) -> None:
        join = self._block()
        cases = [self._block() for _ in s.cases]
        selector = self.value(s.selector, register=True)
        if self.function is None and not self.program.is_tame and self.r.random() < 0.4:
            bounded = self.temp("u32")
            self.do(f"min.u32 {bounded}, {selector}, {len(cases) - 1}")
            if self.r.random() < 0.5:
                # The guard of everything would change the table's meaning no more than that of any instruction.
                pass
            self.current.end = ("switch", bounded, [b.label for b in cases])
        else:
            kept = self._declare_once(f"%w{len(self.registers)}", "u32")
            self.do(f"mov.u32 {kept}, {selector}")
            for n, case in enumerate(cases[:-1]):
                predicate, following = self.temp("pred"), self._block()
                self.do(f"setp.eq.u32 {predicate}, {kept}, {n}")
                self._branch(predicate, False, case, following)
                self.current = following
            self._goto(cases[-1])
        for case, body in zip(cases, s.cases, strict=True):
            self.current = case
            self.statements(body)
            self._goto(join)
        self.current = join

    def _loop_statement(self, s: Loop) -> None:
        head, body, step, after = self._block(), self._block(), self._block(), self._block()
        counter, limit = self.var(s.counter), self.var(s.limit_var)
        self._set(s.limit_var, s.limit)
        if s.start is None:
            self.do(f"mov.u32 {counter}, 0")
        else:
            self._set(s.counter, s.start)
        self._goto(body if s.tests_last else head)

        def test() -> None:
            predicate = self.temp("pred")
            if self.r.random() < 0.5:
                self.do(f"setp.lt.u32 {predicate}, {counter}, {limit}")
                self._branch(predicate, False, body, after)
            else:
                self.do(f"setp.ge.u32 {predicate}, {counter}, {limit}")
                self._branch(predicate, self.r.random() < 0.5, after, body)
                if self.current.end[2]:
                    self.current.end = ("if", predicate, True, body.label, after.label)

        self.current = head
        test()
        self.current = body
        self.loops.append((after.label, step.label))
        self.statements(s.body)
        self.loops.pop()
        self._goto(step)
        self.current = step
        step = "1" if s.step is None else self.value(s.step)
        self.do(f"add.u32 {counter}, {counter}, {step}")
        if self.r.random() < 0.5:
            test()  # turned round: the test stands at the end as well
        else:
            self._goto(head)
        self.current = after

    def _leave(self, condition: Expr, label: str) -> None:
        predicate = self.value(condition, register=True)
        on = self._block()
        self.current.end = ("if", predicate, False, label, on.label)
        self.current = on

    def _break_statement(self, s: Break) -> None:
        self._leave(s.condition, self.loops[-1][0])

    def _continue_statement(self, s: Continue) -> None:
        self._leave(s.condition, self.loops[-1][1])

    def _exit_statement(self, s: Exit) -> None:
        predicate = self.value(s.condition, register=True)
        kind = self.r.random()
        if kind < 0.4:
            word = "exit" if self.function is not None else self.r.choice(("exit", "ret"))
            self.current.lines.append(f"@{predicate} {word};")
            return
        gone, on = self._block(), self._block()
        gone.end = ("end", "exit" if self.function is not None else self.style.kernel_exit)
        self._branch(predicate, False, gone, on)
        self.current = on

    def _return_statement(self, s: Return) -> None:
        self._leave(s.condition, "$Lreturn_" + self.prefix)

    def _trap_statement(self, s: Trap) -> None:
        predicate = self.value(s.condition, register=True)
        if self.r.random() < 0.5:
            self.current.lines.append(f"@{predicate} trap;")
            return
        bad, on = self._block(), self._block()
        bad.end = ("end", "trap")
        self._branch(predicate, False, bad, on)
        self.current = on

    # ------------------------------------------------------------ waiting

    def _collective(self) -> None:
        """A block that holds a barrier or warp operation is not copied: all must meet at the same instruction."""
        self.current.is_collective = True

    def _bar(self) -> None:
        text = self.r.choice(("bar.sync 0", "barrier.sync 0", "bar.sync 0", "barrier.sync.aligned 0", "bar.cta.sync 0"))
        guard = self._always() if self.style.guards and self.r.random() < self.style.guards * 0.3 else ""
        if self.function is not None:
            guard = ""
        self.current.lines.append(f"{guard}{text};")
        self._collective()

    def _barrier_statement(self, s: Barrier) -> None:
        self._bar()

    def _exchange_statement(self, s: Exchange) -> None:
        array = self._find(s.array)
        self._store(array, s.slot, s.value)
        self.statements(s.stored)
        self._bar()
        self.statements(s.met)
        if self.style.reuse:
            self.temps = {}
        self._load(array, s.source, [self.var(s.target)], s.target.type)
        self.statements(s.read)
        self._bar()

    def _splitexchange_statement(self, s: SplitExchange) -> None:
        array = self._find(s.array)
        predicate = self.value(s.condition, register=True)
        sides, join = (self._block(), self._block()), self._block()
        self._branch(predicate, False, *sides)
        for side, value, source in zip(sides, s.values, s.sources, strict=True):
            self.current = side
            self.temps = {} if self.style.reuse else self.temps
            self._store(array, s.slot, value)
            self.current.lines.append("barrier.sync 0;")
            self._load(array, source, [self.var(s.target)], s.target.type)
            self.current.lines.append("barrier.sync 0;")
            self._collective()
            self._goto(join)
        self.current = join

    def _sharedtotal_statement(self, s: SharedTotal) -> None:
        array = self._find(s.array)
        element = Const("u32", s.element)
        self._store(array, element, Const(array.type, s.initial))
        self._bar()
        self.statements(s.combine)
        self._bar()
        self._load(array, element, [self.var(s.target)], array.type)
        self._bar()

    def _tree_statement(self, s: Tree) -> None:
        array, zero = self._find(s.array), Const("u32", 0)
        self._store(array, Special("linear"), s.value)
        self._bar()
        half = self.var(s.counter)
        head, adds, meets, after = self._block(), self._block(), self._block(), self._block()
        self.do(f"mov.u32 {half}, {s.half}")
        self._goto(head)
        self.current = head
        if self.style.reuse:
            self.temps = {}
        linear, total = self._special("linear"), self.temp("u32")
        inside, both = self.temp("pred"), self.temp("pred")
        self.do(f"setp.lt.u32 {inside}, {linear}, {half}; add.u32 {total}, {linear}, {half}")
        # Threads past that number ended before they wrote anything.
        limit = self._parameter("live_threads", "u32")
        self.do(f"setp.lt.and.u32 {both}, {total}, {limit}, {inside}")
        self._branch(both, False, adds, meets)
        self.current = adds
        ours, theirs = self.temp(array.type), self.temp(array.type)
        self._load(array, Special("linear"), [ours], array.type)
        self._load(array, Op("u32", "add", "u32", (Special("linear"), s.counter)), [theirs], array.type)
        total_value = self.temp(array.type)
        rounding = ".rn" if array.type[0] == "f" else ""
        self.do(f"add{rounding}.{array.type} {total_value}, {ours}, {theirs}")
        space, place = self._address(array, Special("linear"))
        self.do(f"st{space}.{array.type} [{place}], {total_value}")
        self._goto(meets)
        self.current = meets
        self._bar()
        self.do(f"shr.u32 {half}, {half}, 1")
        more = self.temp("pred")
        self.do(f"setp.ne.u32 {more}, {half}, 0")
        self._branch(more, False, head, after)
        self.current = after
        self._load(array, zero, [self.var(s.target)], array.type)
        self._bar()

    def _walk_statement(self, s: Walk) -> None:
        array = self._find(s.array)
        counter, target = self.var(s.counter), self.var(s.target)
        number = len(self.registers)
        place, limit = self._declare_once(f"%walk{number}", "u64"), self._declare_once(f"%last{number}", "u32")
        count = self.value(s.count)
        self.do(f"mov.u32 {limit}, {count}; mov.u32 {counter}, 0")
        start = self.value(s.start, register=True)
        base = self._parameter(s.array, "u64")
        size = BITS[array.type] // 8
        self.do(f"mad.wide.u32 {place}, {start}, {size}, {base}")
        head, body, after = self._block(), self._block(), self._block()
        self._goto(head)
        self.current = head
        on, value = self.temp("pred"), self.temp(array.type)
        self.do(f"setp.lt.u32 {on}, {counter}, {limit}")
        self._branch(on, False, body, after)
        self.current = body
        before = self.r.random() < 0.3
        if before:
            self.do(f"add.s64 {place}, {place}, {s.step * size}")
        self.do(f"ld.global.{array.type} {value}, [{place}{f'+{-s.step * size}' if before else ''}]")
        if not before:
            self.do(f"add.s64 {place}, {place}, {s.step * size}")
        self.do(f"add{'.rn' if array.type[0] == 'f' else ''}.{array.type} {target}, {target}, {value}")
        if s.meets:
            self._bar()
        self.do(f"add.u32 {counter}, {counter}, 1")
        self._goto(head)
        self.current = after

    def _loadeither_statement(self, s: LoadEither) -> None:
        predicate = self.value(s.condition, register=True)
        index = self.value(s.index, register=True)
        bases = []
        for name in s.arrays:
            array = self._find(name)
            if array.space == "global":
                bases.append(self._parameter(name, "u64"))
            else:
                bases.append(self.temp("u64"))
                self.do(f"mov.u64 {bases[-1]}, {name}; cvta.{array.space}.u64 {bases[-1]}, {bases[-1]}")
        chosen, place = self.temp("u64"), self.temp("u64")
        self.do(f"selp.b64 {chosen}, {bases[0]}, {bases[1]}, {predicate}")
        self.do(f"mad.wide.u32 {place}, {index}, 4, {chosen}; ld.u32 {self.var(s.target)}, [{place}]")

    def _fault_statement(self, s: Fault) -> None:
        thread = self._special("thread")
        predicate, on, wrong = self.temp("pred"), self._block(), self._block()
        self.do(f"setp.eq.u32 {predicate}, {thread}, {s.thread}")
        self._branch(predicate, False, wrong, on)
        self.current = wrong
        place, value = self.temp("u64"), self.temp("u32")
        self.do(f"mov.u32 {value}, 0")
        reads = self.r.random() < 0.5
        word = f"ld{{}}.u32 {value}, [{place}]" if reads else f"st{{}}.u32 [{place}], {value}"
        if s.kind == "trap":
            self.current.lines.append("trap;")
        elif s.kind == "null-pointer":
            self.do(f"mov.u64 {place}, 16; {word.format('.global')}")
        elif s.kind in ("out-of-bounds", "misaligned"):
            base = self._parameter(s.array, "u64")
            distance = 1 << 44 if s.kind == "out-of-bounds" else 2
            self.do(f"add.u64 {place}, {base}, {distance}; {word.format('.global')}")
        else:
            self.do(f"mov.u64 {place}, {s.array}; add.u64 {place}, {place}, {1 << 20}")
            self.do(word.format("." + s.kind.split("-")[0]))
        self._goto(on)
        self.current = on

    def _barrierreduce_statement(self, s: BarrierReduce) -> None:
        predicate = self.value(s.predicate, register=True)
        target = self.var(s.target)
        kind = "popc.u32" if s.operation == "popc" else f"{s.operation}.pred"
        if self.r.random() < 0.3:
            other = self.temp("pred")
            self.do(f"not.pred {other}, {predicate}")
            predicate = "!" + other
        word = self.r.choice(("bar", "barrier"))
        self.current.lines.append(f"{word}.red.{kind} {target}, 0, {predicate};")
        self._collective()

    def _mask(self, mask: Expr) -> str:
        return self.value(mask, register=self.r.random() < 0.5)

    def _shuffle_statement(self, s: Shuffle) -> None:
        value = self.value(s.value, register=True)
        lane, control = self.value(s.lane), self.value(s.control)
        mask = self._mask(s.mask)
        target = self.var(s.target) + (f"|{self.var(s.inside)}" if s.inside is not None else "")
        self.current.lines.append(f"shfl.sync.{s.mode}.b32 {target}, {value}, {lane}, {control}, {mask};")
        self._collective()

    def _vote_statement(self, s: Vote) -> None:
        predicate, mask = self.value(s.predicate, register=True), self._mask(s.mask)
        kind = "ballot.b32" if s.mode == "ballot" else f"{s.mode}.pred"
        self.current.lines.append(f"vote.sync.{kind} {self.var(s.target)}, {predicate}, {mask};")
        self._collective()

    def _match_statement(self, s: Match) -> None:
        value, mask = self.value(s.value, register=True), self._mask(s.mask)
        target = self.var(s.target) + (f"|{self.var(s.same)}" if s.same is not None else "")
        self.current.lines.append(f"match.{s.mode}.sync.b{BITS[s.value.type]} {target}, {value}, {mask};")
        self._collective()

    def _redux_statement(self, s: Redux) -> None:
        value, mask = self.value(s.value, register=True), self._mask(s.mask)
        kind = "b32" if s.operation in ("and", "or", "xor") else s.over
        self.current.lines.append(f"redux.sync.{s.operation}.{kind} {self.var(s.target)}, {value}, {mask};")
        self._collective()

    def _warpexchange_statement(self, s: WarpExchange) -> None:
        array = self._find(s.array)
        self._store(array, Special("linear"), s.value)
        mask = self._mask(s.mask)
        self.current.lines.append(f"bar.warp.sync {mask};")
        linear = self._special("linear")
        lane, source, index, bit = (self.temp("u32") for _ in range(4))
        safe, below = self.temp("pred"), self.temp("pred")
        limit = self._parameter("live_threads", "u32")
        wide = self._mask(s.mask)
        self.do(f"and.b32 {lane}, {linear}, 31; xor.b32 {source}, {lane}, {s.offset}")
        self.do(f"sub.u32 {index}, {linear}, {lane}; add.u32 {index}, {index}, {source}")
        self.do(f"shr.u32 {bit}, {wide}, {source}; and.b32 {bit}, {bit}, 1")
        self.do(f"setp.ne.u32 {safe}, {bit}, 0; setp.lt.and.u32 {below}, {index}, {limit}, {safe}")
        self.do(f"selp.b32 {index}, {index}, {linear}, {below}")
        base, place = self.temp("u32"), self.temp("u32")
        self.do(f"mov.u32 {base}, {array.name}; mad.lo.u32 {place}, {index}, 4, {base}")
        self.do(f"ld.shared.u32 {self.var(s.target)}, [{place}]")
        self.current.lines.append(f"bar.warp.sync {self._mask(s.mask)};")
        self._collective()

    def _ballotif_statement(self, s: BallotIf) -> None:
        predicate = self.value(s.condition, register=True)
        kept = self._declare_once(f"%g{len(self.registers)}", "pred")
        self.do(f"mov.pred {kept}, {predicate}")
        self.current.lines.append(f"vote.ballot.sync.b32 {self.var(s.lanes)}, {kept}, {self._mask(s.mask)};")
        self._collective()
        then, other, join = self._block(), self._block(), self._block()
        self._branch(kept, False, then, other)
        for block, body in ((then, s.then), (other, s.other)):
            self.current = block
            self.statements(body)
            self._goto(join)
        self.current = join

    def _ballotloop_statement(self, s: BallotLoop) -> None:
        head, body, after = self._block(), self._block(), self._block()
        lanes, counter, limit = self.var(s.lanes), self.var(s.counter), self.var(s.limit_var)
        self._set(s.limit_var, s.limit)
        self._set(s.lanes, s.mask)
        self.do(f"mov.u32 {counter}, 0")
        self._goto(head)
        self.current = head
        goes_on = self._declare_once(f"%g{len(self.registers)}", "pred")
        self.do(f"setp.lt.u32 {goes_on}, {counter}, {limit}")
        self.current.lines.append(f"vote.sync.ballot.b32 {lanes}, {goes_on}, {lanes};")
        self._collective()
        self._branch(goes_on, False, body, after)
        self.current = body
        self.statements(s.body)
        self.do(f"add.u32 {counter}, {counter}, 1")
        self._goto(head)
        self.current = after

    # ------------------------------------------------------------ atomics and calls

    def _atomic_statement(self, s: Atomic) -> None:
        array = self._find(s.array)
        values = [self.value(v) for v in s.values]
        space, place = self._address(array, s.index)
        kind = array.type
        if s.operation in ("and", "or", "xor", "exch", "cas"):
            kind = f"b{BITS[kind]}"
        elif kind == "s64" and s.operation == "add":
            kind = "u64"
        operands = ", ".join(values)
        if s.target is not None:
            self.do(f"atom{space}.{s.operation}.{kind} {self.var(s.target)}, [{place}], {operands}")
        elif self.r.random() < 0.6:
            self.do(f"red{space}.{s.operation}.{kind} [{place}], {operands}")
        else:
            unused = self.temp(array.type)
            self.do(f"atom{space}.{s.operation}.{kind} {unused}, [{place}], {operands}")

    def _call_statement(self, s: Call) -> None:
        function = self.program.functions[s.function]
        arguments = [self.value(a, register=True) for a in s.arguments]
        lines = ["{"]
        names = []
        for n, (argument, parameter) in enumerate(zip(arguments, function.parameters, strict=True)):
            bits = BITS[parameter.type]
            lines.append(f".param .b{bits} arg{n}; st.param.b{bits} [arg{n}], {argument};")
            names.append(f"arg{n}")
        assert function.result is not None
        assert s.target is not None
        bits = BITS[function.result.type]
        lines.append(f".param .b{bits} back;")
        lines.append(f"call.uni (back), {function.name}, ({', '.join(names)});")
        lines.append(f"ld.param.b{bits} {self.var(s.target)}, [back];")
        lines.append("}")
        self.current.lines += lines

    # ------------------------------------------------------------ blocks: another order, copies, detours

    def distort(self) -> None:
        r, style = self.r, self.style
        for _ in range(style.copies):
            self._copy_one()
        for _ in range(style.detours):
            block = r.choice(self.blocks)
            if block.end[0] == "goto":
                middle = self._block()
                middle.end = block.end
                block.end = ("goto", middle.label)
        if self.function is None:
            for _ in range(style.ghosts):
                block = r.choice(self.blocks)
                if block.end[0] == "goto":
                    elsewhere = r.choice(self.blocks[1:] or self.blocks).label
                    if elsewhere == "entry":
                        continue
                    predicate, negated = r.choice((("%always", False), ("%never", True), ("%alwaysu", False)))
                    block.end = ("if", predicate, negated, str(block.end[1]), elsewhere)
        if style.shuffle:
            first, *rest = self.blocks
            r.shuffle(rest)
            self.blocks = [first, *rest]

    def _copy_one(self) -> None:
        """Double a block and send some of those who come to it to the copy: a loop gets a second entry."""
        r = self.r
        before: dict[str, list[_Block]] = {}
        for block in self.blocks:
            for target in block.targets():
                before.setdefault(target, []).append(block)
        shared = [b for b in self.blocks if len(before.get(b.label, [])) > 1 and not b.is_collective]
        if not shared:
            return
        block = r.choice(shared)
        copy = self._block()
        copy.lines, copy.end = list(block.lines), block.end
        for source in before[block.label]:
            if r.random() < 0.5:
                continue
            if source.end[0] == "goto":
                source.end = ("goto", copy.label)
            elif source.end[0] == "if" and r.random() < 0.7:
                _, p, negated, yes, no = source.end
                source.end = ("if", p, negated, copy.label if yes == block.label else yes,
                              copy.label if no == block.label else no)  # fmt: skip

    def text(self) -> list[str]:
        r = self.r
        lines: list[str] = []
        for n, block in enumerate(self.blocks):
            following = self.blocks[n + 1].label if n + 1 < len(self.blocks) else ""
            if n:
                lines.append(f"{block.label}:")
            lines += ["  " + line for line in block.lines]
            uni = r.choice(("", "", ".uni")) if block.end[0] == "goto" else ""
            if block.end[0] == "goto":
                if block.end[1] != following or r.random() < 0.1:
                    lines.append(f"  bra{uni} {block.end[1]};")
            elif block.end[0] == "if":
                _, predicate, negated, yes, no = block.end
                guard = "@!" if negated else "@"
                if yes == following and r.random() < 0.8:
                    guard = "@" if negated else "@!"
                    yes, no = no, yes
                lines.append(f"  {guard}{predicate} bra {yes};")
                if no != following:
                    lines.append(f"  bra {no};")
            elif block.end[0] == "switch":
                self.labels += 1
                table = f"$T{self.prefix}{self.labels}"
                lines.append(f"  {table}: .branchtargets {', '.join(block.end[2])};")  # type: ignore[arg-type]
                lines.append(f"  brx.idx {block.end[1]}, {table};")
            else:
                lines.append(f"  {block.end[1]};")
        return lines


def _variable_text(array: Array) -> str:
    bits = BITS[array.type]
    kind = f"b{bits}"
    if array.space == "const":
        return f".const .align {max(4, bits // 8)} .{kind} {array.name}[{array.count}] = {{{', '.join(map(str, array.initial))}}};"
    if array.space == "shared" and array.dynamic:
        return f".extern .shared .align 16 .b8 {array.name}[];"
    return f".{array.space} .align 16 .{kind} {array.name}[{array.count}];"


def _function_text(program: Program, function: Function, style: Style, r: random.Random) -> list[str]:
    writer = _Writer(program, style, r, function)
    for n, parameter in enumerate(function.parameters):
        writer.do(f"ld.param.b{BITS[parameter.type]} {writer.var(parameter)}, [{function.name}_{n}]")
    for local in function.locals:
        _zero(writer, local)
    writer.statements(function.body)
    end = writer._block("$Lreturn_" + writer.prefix)
    writer._goto(end)
    writer.current = end
    assert function.result is not None
    bits = BITS[function.result.type]
    writer.do(f"st.param.b{bits} [{function.name}_r], {writer.var(function.result)}")
    writer.distort()
    formal = ", ".join(f".param .b{BITS[p.type]} {function.name}_{n}" for n, p in enumerate(function.parameters))
    lines = [f".func (.param .b{bits} {function.name}_r) {function.name}({formal})", "{"]
    lines += [f"  {_variable_text(array)}" for array in function.arrays]
    lines += _registers(writer)
    return [*lines, *writer.text(), "}"]


def _zero(writer: _Writer, var: Var) -> None:
    if var.type == "pred":
        writer.do(f"setp.ne.u32 {writer.var(var)}, 0, 0")
    else:
        zero = {"f32": "0f00000000", "f64": "0d0000000000000000"}.get(var.type, "0")
        writer.do(f"mov.b{BITS[var.type]} {writer.var(var)}, {zero}")


def _registers(writer: _Writer) -> list[str]:
    by_kind: dict[str, list[str]] = {}
    for name, kind in writer.registers.items():
        by_kind.setdefault(kind, []).append(name)
    return [f"  .reg .{kind} {', '.join(names)};" for kind, names in by_kind.items()]


def write_ptx(program: Program, style_seed: int | None = None) -> str:
    """The program's text; another `style_seed` gives another way to write the same."""
    r = random.Random(program.seed if style_seed is None else style_seed)
    style = Style.random(r, program.is_tame)
    head = [_HEADER]
    for array in program.arrays.values():
        if array.space in ("const", "shared"):
            head.append(_variable_text(array))
    for function in program.functions.values():
        head += _function_text(program, function, style, r)
    writer = _Writer(program, style, r)
    for name in ("%always", "%never", "%alwaysu"):
        writer.registers[name] = "pred"
    writer.registers["%o1"] = writer.registers["%o2"] = "b32"
    writer.current.lines += [
        "mov.u32 %o1, %tid.x;", "ld.param.u32 %o2, [one];", "setp.lt.u32 %always, %o1, 4096;",
        "setp.gt.u32 %never, %o1, 4096;", "setp.eq.u32 %alwaysu, %o2, 1;",
    ]  # fmt: skip
    if style.early_parameters:
        for name, (type_, _) in program.parameters.items():
            writer.do(f"ld.param.{type_} {writer._declare_once('%q_' + name, type_)}, [{name}]")
            if name in program.arrays and r.random() < 0.7:
                writer.do(f"cvta.to.global.u64 %q_{name}, %q_{name}")
    for var in program.variables.values():
        _zero(writer, var)
    writer.statements(program.body)
    for n, var in enumerate(program.outputs):
        writer.temps = {}
        _output(writer, program, n, var)
    writer.current.end = ("end", style.kernel_exit)
    writer.distort()
    formal = ",\n".join(f"  .param .{type_} {name}" for name, (type_, _) in program.parameters.items())
    lines = [*head, f".visible .entry k(\n{formal}\n)", "{"]
    lines += [f"  {_variable_text(a)}" for a in program.arrays.values() if a.space == "local"]
    lines += _registers(writer)
    return "\n".join([*lines, *writer.text(), "}", ""])


def _output(writer: _Writer, program: Program, n: int, var: Var) -> None:
    """Store the bits of a variable, all NaNs as one pattern."""
    name, bits = writer.var(var), BITS[var.type]
    wide = writer.temp("u64")
    if var.type == "pred":
        flag = writer.temp("u32")
        writer.do(f"selp.u32 {flag}, 1, 0, {name}; cvt.u64.u32 {wide}, {flag}")
    elif var.type in ("f16", "f32", "f64"):
        nan = {16: "0x7FFF", 32: "0x7FFFFFFF", 64: "0x7FF8000000000000"}[bits]
        pattern, is_nan = writer.temp(f"u{bits}"), writer.temp("pred")
        writer.do(f"mov.b{bits} {pattern}, {name}; setp.nan.{var.type} {is_nan}, {name}, {name}")
        writer.do(f"selp.b{bits} {pattern}, {nan}, {pattern}, {is_nan}")
        writer.do(f"mov.b64 {wide}, {pattern}" if bits == 64 else f"cvt.u64.u{bits} {wide}, {pattern}")
    elif bits == 64:
        writer.do(f"mov.b64 {wide}, {name}")
    else:
        writer.do(f"cvt.u64.u32 {wide}, {name}")
    place = Op("u32", "add", "u32", (Special("thread"), Const("u32", n * program.thread_count)))
    index = writer.value(place)
    base = writer._parameter("out", "u64")
    address = writer.temp("u64")
    writer.do(f"mad.wide.u32 {address}, {index}, 8, {base}; st.global.u64 [{address}], {wide}")
