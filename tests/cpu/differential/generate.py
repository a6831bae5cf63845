"""Random programs whose outcome does not depend on the order in which threads run.

Each thread writes elements of its own; what others wrote is read only behind a barrier. Barriers stand where all
threads that live come by: under conditions that are the same for all of them, whether a translator can know that (a
parameter) or not (a value that was loaded).
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from operations import OPERATIONS
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

BLOCKS = (
    (1, 1, 1),
    (31, 1, 1),
    (32, 1, 1),
    (33, 1, 1),
    (96, 1, 1),
    (7, 5, 1),
    (4, 3, 5),
    (64, 1, 1),
    (2, 16, 2),
    (1, 1, 9),
    (128, 1, 1),
    (130, 1, 1),
)
GRIDS = ((1, 1, 1), (3, 1, 1), (2, 2, 1), (2, 1, 2), (5, 1, 1))
WAITS = ("none", "barriers", "warps")
SLOTS = 256  # elements of a shared array; more than any block has threads
SCRATCH = 4  # elements per thread
INPUTS = 64
FULL = 0xFFFFFFFF

_INTERESTING = (0, 1, 2, 3, 5, 7, 8, 15, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF,
                0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x55555555, 0x12345678)  # fmt: skip
_FLOAT_VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 1e-3, 100.0, 3.0e5, 7.0, -0.1, 65504.0, 1e-7)


@dataclass(frozen=True)
class Context:
    """Where a statement stands. `uniform`: all living threads of the block are here together. `mask`: the lanes that
    are here, where that is known. `loop`: 0 in none, 1 in one that must stay uniform, 2 in any other."""

    uniform: bool = True
    mask: Expr | None = None
    loop: int = 0
    depth: int = 0
    exchange: int = 0  # how many shared arrays are in use
    in_function: bool = False
    may_exit: bool = True


class Generator:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.r = random.Random(seed)
        r = self.r
        self.waits = r.choices(WAITS, (1, 5, 3))[0]
        self.is_tame = r.random() < 0.6
        self.block, self.grid = r.choice(BLOCKS), r.choice(GRIDS)
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.arrays: dict[str, Array] = {}
        self.parameters: dict[str, tuple[str, int]] = {}
        self.variables: dict[str, Var] = {}
        self.uniform: list[Var] = []
        self.divergent: list[Var] = []
        self.functions: dict[str, Function] = {}
        self.budget = r.randint(6, 30) if self.is_tame else r.randint(10, 45)
        self.names = 0
        self.prologue: list[Statement] = []
        self.loads_allowed = True
        self.exchange_arrays: list[Array] = []

    # ------------------------------------------------------------ the whole

    def program(self) -> Program:
        r = self.r
        self._make_parameters()
        self._make_arrays()
        for n in range(r.randint(0, 2)):
            self._make_function(n)
        for _ in range(r.randint(2, 4)):
            self._declare(r.choice(("u32", "s32", "u32", "s32", "u64", "pred", "f32")), uniform=True)
        for _ in range(r.randint(4, 9)):
            self._declare(
                r.choices(("u32", "s32", "u64", "s64", "f32", "f64", "f16", "pred"), (6, 4, 2, 2, 4, 2, 2, 3))[0],
                uniform=False,
            )
        full: Expr | None = Const("u32", FULL) if self.waits == "warps" else None
        top = Context(mask=full)
        body: list[Statement] = []
        if self.parameters["live_threads"][1] < self.threads:
            body.append(Exit(Op("pred", "is_ge", "u32", (Special("linear"), Param("u32", "live_threads")))))
        body += self.prologue
        body += self._initial_values()
        while self.budget > 0:
            body += self._block(top, r.randint(2, 6))
        if r.random() < 0.06:
            self._plant_fault(body)
        outputs = [v for v in self.variables.values() if not v.name.startswith("c_")]
        out = Array("out", "global", "u64", len(outputs) * self.threads * self._blocks(), role="out")
        self.arrays["out"] = out
        self.parameters["out"] = ("u64", 0)
        return Program(
            self.seed,
            self.grid,
            self.block,
            self.arrays,
            self.parameters,
            self.variables,
            self.functions,
            body,
            outputs,
            self.is_tame,
        )

    def _blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    def _make_parameters(self) -> None:
        r = self.r
        limit = self.threads
        if r.random() < 0.4:
            limit = r.randint(1, self.threads)
        self.parameters["live_threads"] = ("u32", limit)
        self.parameters["one"] = ("u32", 1)
        for n in range(r.randint(1, 3)):
            self.parameters[f"p{n}"] = (r.choice(("u32", "s32", "u64")), self._integer(64))
        self.parameters["pf"] = ("f32", self._float("f32"))

    def _make_arrays(self) -> None:
        r = self.r
        total = self.threads * self._blocks()
        for type_ in ("u32", "u64", "f32", "f64", "f16", "u8"):
            if type_ in ("u32", "f32") or r.random() < 0.5:
                data = tuple(self._element(type_) for _ in range(INPUTS))
                self._array(Array(f"in_{type_}", "global", type_, INPUTS, data, role="in"))
        if r.random() < 0.5:
            self._array(Array("table", "const", "u32", 16, tuple(self._integer(32) for _ in range(16))))
        if r.random() < 0.7:
            self._array(Array("scratch", "global", r.choice(("u32", "u64", "f32")), total * SCRATCH, role="out"))
        if r.random() < 0.4:
            self._array(Array("strided", "global", "u32", total * SCRATCH, role="out"))
        for operation in r.sample(("add", "min", "max", "and", "or", "xor", "inc", "dec"), r.randint(0, 3)):
            type_ = "u32" if operation in ("inc", "dec") else r.choice(("u32", "u64", "s32"))
            initial = tuple(self._integer(32) for _ in range(8))
            self._array(Array(f"atomic_{operation}", "global", type_, 8, initial, role="out"))
        if r.random() < 0.3:
            self._array(Array("flags", "global", "u32", 8, role="out"))
        if r.random() < 0.5:
            self._array(Array("local0", "local", r.choice(("u32", "u64", "f32")), 8))
            self.prologue += [
                Store("local0", Const("u32", n), self._leaf_const(self.arrays["local0"].type)) for n in range(8)
            ]
        if self.waits == "none":
            return
        for n in range(r.randint(1, 3)):
            type_ = r.choice(("u32", "u32", "f32", "u64", "f64", "u8", "u16"))
            array = Array(f"shared{n}", "shared", type_, SLOTS, dynamic=n == 2 and r.random() < 0.7)
            self._array(array)
            self.exchange_arrays.append(array)
            value = self._leaf_const(_value_type(type_))
            self.prologue.append(Store(array.name, Special("linear"), value))
        if r.random() < 0.3:
            # Exchanged by way of global memory, each block in its own part.
            array = Array("swap", "global", "u32", total, role="out")
            self._array(array)
            self.exchange_arrays.append(array)
            self.prologue.append(Store(array.name, Special("thread"), Const("u32", 77)))
        if r.random() < 0.5:
            self._array(Array("totals", "shared", r.choice(("u32", "s32", "u64")), 4))
        if self.waits == "warps":
            self._array(Array("warpwise", "shared", "u32", SLOTS))
            self.prologue.append(Store("warpwise", Special("linear"), Const("u32", 5)))

    def _array(self, array: Array) -> None:
        self.arrays[array.name] = array
        if array.space == "global":
            self.parameters[array.name] = ("u64", 0)

    def _declare(self, type_: str, *, uniform: bool, prefix: str = "") -> Var:
        self.names += 1
        var = Var(type_, f"{prefix or ('u_' if uniform else 'v_')}{self.names}")
        self.variables[var.name] = var
        (self.uniform if uniform else self.divergent).append(var)
        return var

    def _counter(self) -> Var:
        self.names += 1
        var = Var("u32", f"c_{self.names}")
        self.variables[var.name] = var
        return var

    def _initial_values(self) -> list[Statement]:
        made: list[Statement] = []
        known, self.divergent = self.divergent, []
        uniform, self.uniform = self.uniform, []
        for var in uniform:
            made.append(Assign(var, self.expression(var.type, 1, uniform=True)))
            self.uniform.append(var)
        for var in known:
            made.append(Assign(var, self.expression(var.type, 2, uniform=self.r.random() < 0.2)))
            self.divergent.append(var)
        return made

    # ------------------------------------------------------------ values

    def _integer(self, bits: int) -> int:
        r = self.r
        value = r.choice(_INTERESTING) if r.random() < 0.5 else r.getrandbits(r.choice((4, 8, 16, 32, bits)))
        return value & ((1 << bits) - 1)

    def _float(self, type_: str) -> int:
        r = self.r
        value = r.choice(_FLOAT_VALUES) if r.random() < 0.5 else r.uniform(-4, 4) * 2.0 ** r.randint(-6, 6)
        if type_ == "f16":
            value = max(-65504.0, min(65504.0, value))
        code, unsigned = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}[type_]
        return int(struct.unpack(unsigned, struct.pack(code, value))[0])

    def _element(self, type_: str) -> int:
        r = self.r
        if type_ not in ("f16", "f32", "f64"):
            return self._integer({"u8": 8}.get(type_, int(type_[1:])))
        special = r.random()
        if special < 0.1:
            return {"f16": 0x7C00, "f32": 0x7F800000, "f64": 0x7FF << 52}[type_]
        if special < 0.15:
            return {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0xFFF8 << 48}[type_]
        if special < 0.25:
            return r.getrandbits(8)  # subnormal
        return self._float(type_)

    def _leaf_const(self, type_: str) -> Const:
        if type_ == "pred":
            return Const("pred", self.r.getrandbits(1))
        if type_ in ("f16", "f32", "f64"):
            return Const(type_, self._float(type_))
        return Const(type_, self._integer(int(type_[1:])))

    def _leaf(self, type_: str, uniform: bool) -> Expr:
        r = self.r
        known = [v for v in (self.uniform if uniform else self.uniform + self.divergent * 3) if v.type == type_]
        choices: list[Callable[[], Expr]] = [lambda: self._leaf_const(type_)]
        if known:
            choices += [lambda: r.choice(known)] * 4
        if type_ == "u32":
            specials = ["ntid.x", "ctaid.x", "nctaid.y", "ctaid.z", "ctaid.y", "ntid.y"]
            if not uniform:
                specials += [
                    "tid.x",
                    "tid.y",
                    "tid.z",
                    "linear",
                    "linear",
                    "thread",
                    "laneid",
                    "warpid",
                    "lanemask_lt",
                    "lanemask_ge",
                ]
            choices += [lambda: Special(r.choice(specials))] * 2
        given = [name for name, (kind, _) in self.parameters.items() if kind == type_ and name[:1] == "p"]
        if given:
            choices.append(lambda: Param(type_, r.choice(given)))
        if self.loads_allowed and not (uniform and self.is_tame and r.random() < 0.9):
            for name in (f"in_{type_}", "in_u8", "table"):
                if name in self.arrays and type_ == _value_type(self.arrays[name].type):
                    choices.append(lambda name=name: self._read(name, uniform))  # type: ignore[misc]
            for name in ("scratch", "strided", "local0"):
                if not uniform and name in self.arrays and self.arrays[name].type == type_:
                    choices.append(lambda name=name: Load(type_, name, self._own_element(name)))  # type: ignore[misc]
        return r.choice(choices)()

    def _read(self, name: str, uniform: bool) -> Expr:
        array = self.arrays[name]
        index = Op("u32", "and", "u32", (self.expression("u32", 1, uniform), Const("u32", array.count - 1)))
        return Load(_value_type(array.type), name, index)

    def _own_element(self, name: str) -> Expr:
        """An index into an array of which a thread uses its own elements only."""
        r = self.r
        if name == "local0":
            if r.random() < 0.4:
                return Const("u32", r.randrange(8))
            return Op("u32", "and", "u32", (self.expression("u32", 1, False), Const("u32", 7)))
        which: Expr = Const("u32", r.randrange(SCRATCH))
        if r.random() < 0.3:
            which = Op("u32", "and", "u32", (self._leaf("u32", False), Const("u32", SCRATCH - 1)))
        if name == "scratch":
            return Op("u32", "mad", "u32", (Special("thread"), Const("u32", SCRATCH), which))
        return Op("u32", "mad", "u32", (which, Const("u32", self.threads * self._blocks()), Special("thread")))

    def expression(self, type_: str, depth: int, uniform: bool = False) -> Expr:
        r = self.r
        if depth <= 0 or r.random() < 0.2:
            return self._leaf(type_, uniform)
        if type_ != "pred" and r.random() < 0.12:
            source = r.choice([t for t in ("s32", "u32", "s64", "u64", "f32", "f64", "f16") if t != type_])
            return Op(type_, "cvt", source, (self.expression(source, depth - 1, uniform),))
        candidates = [
            (operation, over)
            for operation in OPERATIONS.values()
            if operation.weight
            for over in operation.types
            if (over if operation.result == "T" else operation.result) == type_
        ]
        operation, over = r.choices(
            candidates, [o.weight / (len(o.types) if o.result != "T" else 1) for o, _ in candidates]
        )[0]
        arguments: list[Expr] = []
        for kind in operation.arguments:
            if kind == "positive":
                inner = self.expression(over, depth - 1, uniform)
                arguments.append(Op(over, "positive", over, (inner,)))
            else:
                own = over if kind == "T" else kind
                small = kind == "u32" and operation.name in ("shl", "shr") and r.random() < 0.6
                arguments.append(Const("u32", r.randrange(40)) if small else self.expression(own, depth - 1, uniform))
        return Op(type_, operation.name, over, tuple(arguments), literal=r.getrandbits(8))

    def condition(self, uniform: bool) -> Expr:
        """A predicate that is often neither always true nor always false."""
        r = self.r
        kind = r.random()
        if uniform:
            if kind < (0.03 if self.is_tame else 0.3):
                # Loaded: the same for all, but no translator can know.
                loaded = Load("u32", "in_u32", Op("u32", "and", "u32", (self._leaf("u32", True), Const("u32", 63))))
                return Op("pred", "is_ne", "u32", (Op("u32", "and", "u32", (loaded, Const("u32", 3))), Const("u32", 0)))
            if kind < 0.6:
                low = Op("u32", "and", "u32", (self.expression("u32", 1, True), Const("u32", 3)))
                return Op(
                    "pred", r.choice(("is_lt", "is_ge", "is_eq", "is_ne")), "u32", (low, Const("u32", r.randint(0, 3)))
                )
            return self.expression("pred", 2, True)
        if kind < 0.3:
            bound = Const("u32", r.randint(0, self.threads))
            return Op("pred", r.choice(("is_lt", "is_ge", "is_eq", "is_gt")), "u32", (Special("linear"), bound))
        if kind < 0.6:
            masked = Op("u32", "and", "u32", (self.expression("u32", 1), Const("u32", r.choice((1, 3, 4, 7)))))
            return Op("pred", r.choice(("is_eq", "is_ne")), "u32", (masked, Const("u32", r.randint(0, 2))))
        return self.expression("pred", 2)

    def small(self, uniform: bool, most: int = 7) -> Expr:
        """A count from 0 to `most`, which is a power of two less one."""
        if self.r.random() < 0.3:
            return Const("u32", self.r.randint(0, most))
        return Op("u32", "and", "u32", (self.expression("u32", 1, uniform), Const("u32", most)))

    # ------------------------------------------------------------ statements

    def _block(self, c: Context, count: int) -> list[Statement]:
        made: list[Statement] = []
        for _ in range(count):
            if self.budget <= 0 and made:
                break
            made += self._statement(c)
        return made

    def _target(self, c: Context, types: Sequence[str] | None = None) -> Var:
        r = self.r
        pool = self.divergent
        if c.uniform and self.uniform and r.random() < 0.3 and not c.in_function:
            pool = self.uniform
        fitting = [v for v in pool if types is None or v.type in types]
        if not fitting:
            fitting = [v for v in self.divergent if types is None or v.type in types]
        if not fitting:
            assert types is not None
            return self._declare(types[0], uniform=False)
        return r.choice(fitting)

    def _divergent_target(self, types: Sequence[str]) -> Var:
        fitting = [v for v in self.divergent if v.type in types]
        return self.r.choice(fitting) if fitting else self._declare(types[0], uniform=False)

    def _statement(self, c: Context) -> list[Statement]:
        self.budget -= 1
        r = self.r
        plain: list[tuple[float, Callable[[Context], list[Statement]]]] = [
            (8, self._assign), (2, self._store), (1.2, self._load_vector), (1.5, self._atomic),
            (1.2, self._walk), (0.6, self._load_either),
        ]  # fmt: skip
        if self.functions and not c.in_function:
            plain.append((1, self._call))
        if c.loop == 2:
            plain.append((2, self._break))
        if c.loop == 1:
            plain.append((0.7, self._uniform_break))
        if c.may_exit:
            plain.append((0.6 if not c.in_function else 0.3, self._exit))
        plain.append((0.2, self._trap))
        if "flags" in self.arrays and not c.in_function:
            plain.append((0.7, self._flag))
        if c.depth < 4:
            plain += [(3, self._if), (2.5, self._loop), (0.7, self._switch)]
        if c.uniform and self.waits != "none" and not c.in_function:
            plain.append((1, lambda _: [Barrier()]))
            if c.exchange < len(self.exchange_arrays):
                plain += [(4, self._exchange)]
                if self.exchange_arrays[c.exchange].type in ("u32", "u64", "f32", "f64"):
                    plain += [(1.2, self._tree)]
                if self.waits == "warps" and not self.is_tame:
                    plain += [(0.7, self._split_exchange)]
            if "totals" in self.arrays and c.exchange < 10:
                plain.append((1, self._shared_total))
            if self.waits == "warps":
                plain.append((1, self._barrier_reduce))
        if c.mask is not None and not c.in_function:
            plain += [(3, self._shuffle), (1.2, self._vote), (0.5, self._match), (0.7, self._redux)]
            plain += [(1, self._warp_exchange)] if "warpwise" in self.arrays and c.exchange < 10 else []
            if c.depth < 4:
                plain += [(1.5, self._ballot_if), (1, self._ballot_loop)]
        return r.choices([f for _, f in plain], [w for w, _ in plain])[0](c)

    def _assign(self, c: Context) -> list[Statement]:
        target = self._target(c)
        return [Assign(target, self.expression(target.type, self.r.choice((1, 2, 2, 3)), target in self.uniform))]

    def _store(self, c: Context) -> list[Statement]:
        own = [n for n in ("scratch", "strided", "local0") if n in self.arrays]
        if not own or c.in_function:
            return self._assign(c)
        name = self.r.choice(own)
        return [Store(name, self._own_element(name), self.expression(self.arrays[name].type, 2))]

    def _load_vector(self, c: Context) -> list[Statement]:
        r = self.r
        if c.in_function:
            return self._assign(c)
        name = r.choice([n for n in ("in_u32", "in_f32", "in_u64", "in_f64") if n in self.arrays])
        type_ = self.arrays[name].type
        width = r.choice((2, 4)) if type_[1:] == "32" else 2
        targets = [v for v in self.divergent if v.type == type_]
        while len(targets) < width:
            targets.append(self._declare(type_, uniform=False))
        chosen = tuple(r.sample(targets, width))
        index = Op("u32", "and", "u32", (self.expression("u32", 1), Const("u32", INPUTS // width - 1)))
        return [LoadVector(chosen, name, index)]

    def _atomic(self, c: Context) -> list[Statement]:
        r = self.r
        if c.in_function:
            return self._assign(c)
        own = [n for n in ("scratch",) if n in self.arrays and self.arrays[n].type in ("u32", "u64")]
        # A loop that looks at what others may write is taken for one that waits.
        if own and r.random() < 0.5 and not (self.is_tame and c.depth):
            type_ = self.arrays[own[0]].type
            operation = r.choice(("add", "min", "max", "and", "or", "xor", "exch", "cas"))
            values = tuple(self.expression(type_, 1) for _ in range(2 if operation == "cas" else 1))
            return [Atomic(own[0], self._own_element(own[0]), operation, values, self._divergent_target((type_,)))]
        shared = [n for n in self.arrays if n.startswith("atomic_")]
        if not shared:
            return self._assign(c)
        name = r.choice(shared)
        operation = name.removeprefix("atomic_")
        type_ = self.arrays[name].type
        value = Const(type_, 40) if operation in ("inc", "dec") else self.expression(type_, 1)
        index = Op("u32", "and", "u32", (self.expression("u32", 1), Const("u32", 7)))
        return [Atomic(name, index, operation, (value,))]

    def _walk(self, c: Context) -> list[Statement]:
        r = self.r
        if c.in_function:
            return self._assign(c)
        name = r.choice([n for n in ("in_u32", "in_f32", "in_u64", "in_f64") if n in self.arrays])
        meets = c.uniform and self.waits != "none" and r.random() < 0.5
        same = c.uniform and (meets or r.random() < 0.5)
        start = Op("u32", "and", "u32", (self.expression("u32", 1, r.random() < 0.4), Const("u32", 31)))
        target = self._divergent_target((self.arrays[name].type,))
        return [Walk(name, target, self._counter(), start, self.small(same, 7), r.randint(0, 4), meets)]

    def _load_either(self, c: Context) -> list[Statement]:
        r = self.r
        pairs = [("in_u32", n) for n in ("scratch", "strided") if n in self.arrays and self.arrays[n].type == "u32"]
        pairs += [("in_u32", "local0")] if "local0" in self.arrays and self.arrays["local0"].type == "u32" else []
        pairs += [("in_u32", "table")] if "table" in self.arrays else []
        if not pairs or c.in_function:
            return self._assign(c)
        first, second = r.choice(pairs)
        index: Expr = Op("u32", "and", "u32", (self.expression("u32", 1), Const("u32", 7)))
        condition = self.condition(False)
        if second in ("scratch", "strided"):
            # Of the whole only the thread's own: an element below 64 is its own where its number is small.
            condition = Op(
                "pred", "p_or", "pred", (condition, Op("pred", "is_ge", "u32", (Special("thread"), Const("u32", 15))))
            )
            index = Op("u32", "mad", "u32", (Op("u32", "and", "u32", (Special("thread"), Const("u32", 15))), Const("u32", 4),
                                             Const("u32", r.randrange(4))))  # fmt: skip
            if second == "strided":
                return self._assign(c)
        return [LoadEither(self._divergent_target(("u32",)), condition, (first, second), index)]

    def _flag(self, c: Context) -> list[Statement]:
        # Everybody who comes writes the same value.
        index = self.r.randrange(8)
        return [Store("flags", Const("u32", index), Const("u32", 1000 + index))]

    def _break(self, c: Context) -> list[Statement]:
        kind = Break if self.r.random() < 0.6 else Continue
        return [kind(self.condition(False))]

    def _uniform_break(self, c: Context) -> list[Statement]:
        kind = Break if self.r.random() < 0.6 else Continue
        return [kind(self.condition(True))]

    def _exit(self, c: Context) -> list[Statement]:
        bound = Const("u32", self.r.randint(self.threads // 2, self.threads + 3))
        condition: Expr = Op("pred", "is_ge", "u32", (Special("linear"), bound))
        if self.r.random() < 0.4:
            condition = Op("pred", "p_and", "pred", (self.condition(False), self.condition(False)))
        return [Exit(condition)]

    def _trap(self, c: Context) -> list[Statement]:
        kind = self.r.random()
        if c.in_function:
            return self._assign(c)
        left: Expr = Param("u32", "one") if kind < 0.5 else Special("tid.x")
        return [Trap(Op("pred", "is_eq", "u32", (left, Const("u32", 0xFFFF))))]

    def _inside(self, c: Context, **changes: object) -> Context:
        return replace(c, depth=c.depth + 1, **changes)  # type: ignore[arg-type]

    def _if(self, c: Context) -> list[Statement]:
        r = self.r
        uniform = c.uniform and r.random() < 0.5
        inner = self._inside(c) if uniform else self._inside(c, uniform=False, mask=None, loop=2 if c.loop == 2 else 0)
        then = self._block(inner, r.randint(1, 4))
        other = self._block(inner, r.randint(1, 3)) if r.random() < 0.5 else []
        return [If(self.condition(uniform), then, other)]

    def _switch(self, c: Context) -> list[Statement]:
        r = self.r
        uniform = c.uniform and r.random() < 0.4
        inner = self._inside(c) if uniform else self._inside(c, uniform=False, mask=None, loop=2 if c.loop == 2 else 0)
        return [Switch(self.small(uniform), [self._block(inner, r.randint(1, 2)) for _ in range(r.randint(2, 5))])]

    def _loop(self, c: Context) -> list[Statement]:
        r = self.r
        uniform = c.uniform and r.random() < 0.65
        if uniform:
            keeps = r.random() < 0.7
            inner = self._inside(c, loop=1) if keeps else self._inside(c, uniform=False, mask=None, loop=2)
        else:
            inner = self._inside(c, uniform=False, mask=None, loop=2)
        most = 7 if c.depth < 2 else 3
        limit = self.small(uniform, most)
        start = step = None
        kind = r.random()
        if kind < 0.2:
            # From the thread's own number by the number of threads, as over the elements of a row.
            start, step = Special("tid.x"), Special("ntid.x")
            limit = Op("u32", "add", "u32", (Const("u32", r.randint(0, 3 * self.block[0])), self.small(uniform, 7)))
            if uniform:
                inner = self._inside(c, uniform=False, mask=None, loop=2)
        elif kind < 0.4:
            start, step = self.small(uniform, 3), Const("u32", r.choice((2, 3, 5)))
            limit = Op("u32", "add", "u32", (limit, Const("u32", r.randint(0, 6))))
        counter, limit_var = self._counter(), self._counter()
        readable = self.uniform if uniform and inner.loop == 1 else self.divergent
        readable.append(counter)
        body = self._block(inner, r.randint(1, 5))
        readable.remove(counter)
        _drop_writes(body, counter)
        return [Loop(counter, limit_var, limit, body, r.random() < 0.3, start, step)]

    # ------------------------------------------------------------ waiting for the block

    def _exchange(self, c: Context) -> list[Statement]:
        r = self.r
        array = self.exchange_arrays[c.exchange]
        type_ = _value_type(array.type)
        inner = self._inside(c, exchange=c.exchange + 1, loop=0)
        slot: Expr = Special("linear")
        if array.space == "global":
            slot = Special("thread")

        def some() -> list[Statement]:
            return self._block(inner, r.randint(1, 2)) if r.random() < 0.4 and c.depth < 4 else []

        return [
            Exchange(
                array.name, slot, self.expression(type_, 2), self._divergent_target((type_,)), self._any_slot(array),
                some(), some(), some(),
            )
        ]  # fmt: skip

    def _any_slot(self, array: Array) -> Expr:
        r = self.r
        kind = r.random()
        base: Expr = Special("linear")
        if kind < 0.4:
            base = Op("u32", "add", "u32", (base, Const("u32", r.randint(1, self.threads))))
        elif kind < 0.6:
            base = Op("u32", "sub", "u32", (Const("u32", self.threads * 8), base))
        elif kind < 0.8:
            base = self.expression("u32", 2)
        else:
            base = self.expression("u32", 1, True)
        slot = Op("u32", "rem", "u32", (base, Param("u32", "live_threads")))
        if array.space == "global":
            return Op("u32", "mad", "u32", (Special("block"), Const("u32", self.threads), slot))
        return slot

    def _split_exchange(self, c: Context) -> list[Statement]:
        array = self.exchange_arrays[c.exchange]
        type_ = _value_type(array.type)
        slot: Expr = Special("thread" if array.space == "global" else "linear")
        values = (self.expression(type_, 1), self.expression(type_, 1))
        sources = (self._any_slot(array), self._any_slot(array))
        return [
            SplitExchange(self.condition(False), array.name, slot, values, self._divergent_target((type_,)), sources)
        ]

    def _shared_total(self, c: Context) -> list[Statement]:
        r = self.r
        array = self.arrays["totals"]
        operation = r.choice(("add", "min", "max", "and", "or", "xor"))
        element = r.randrange(4)
        update = Atomic("totals", Const("u32", element), operation, (self.expression(array.type, 1),))
        combine: list[Statement] = [update]
        if r.random() < 0.5:
            combine = [If(self.condition(False), combine, [])]
        inner = self._inside(c, exchange=10, loop=0, uniform=False, mask=None)
        if r.random() < 0.3 and c.depth < 4:
            combine += self._block(inner, 2)
        return [SharedTotal("totals", element, self._integer(32), combine, self._divergent_target((array.type,)))]

    def _tree(self, c: Context) -> list[Statement]:
        array = self.exchange_arrays[c.exchange]
        if array.space != "shared":
            return self._exchange(c)
        half = 1
        while 2 * half < self.threads:
            half *= 2
        half = self.r.choice((half, half, 16, 4))
        return [
            Tree(
                array.name, self.expression(array.type, 1), self._divergent_target((array.type,)), self._counter(), half
            )
        ]

    def _plant_fault(self, body: list[Statement]) -> None:
        """One thread goes wrong at one place somewhere in the program."""
        r = self.r
        places = list(_lists(body))
        where = r.choice(places)
        kinds = ["out-of-bounds", "misaligned", "null-pointer", "trap", "trap"]
        shared = [a.name for a in self.arrays.values() if a.space == "shared"]
        kind = r.choice(
            kinds + ["shared-bounds", "shared-bounds"] * bool(shared) + ["local-bounds"] * ("local0" in self.arrays)
        )
        array = {"shared-bounds": shared[0] if shared else "", "local-bounds": "local0"}.get(kind, "in_u32")
        thread = r.randrange(self.threads * self._blocks())
        where.insert(r.randint(0, len(where)), Fault(kind, thread, array))

    def _barrier_reduce(self, c: Context) -> list[Statement]:
        operation = self.r.choice(("and", "or", "popc"))
        type_ = "u32" if operation == "popc" else "pred"
        target = self._divergent_target((type_,)) if self.is_tame else self._target(c, (type_,))
        return [BarrierReduce(target, operation, self.condition(False))]

    # ------------------------------------------------------------ waiting for the warp

    def _shuffle(self, c: Context) -> list[Statement]:
        r = self.r
        assert c.mask is not None
        mode = r.choice(("up", "down", "bfly", "idx"))
        kind = r.random()
        if kind < 0.4:
            width = r.choice((32, 32, 16, 8, 4, 2, 1))
            control = (32 - width) << 8 | (0 if mode == "up" else 31)
        else:
            control = r.choice((31, 0, r.getrandbits(5), r.getrandbits(13)))
        lane = Const("u32", r.choice((1, 2, 4, 8, 16, 31, 0))) if r.random() < 0.5 else self.expression("u32", 1)
        type_ = r.choice(("u32", "u32", "s32", "f32"))
        inside = self._divergent_target(("pred",)) if r.random() < 0.5 else None
        return [
            Shuffle(
                self._divergent_target((type_,)), inside, mode, self.expression(type_, 1), lane,
                Const("u32", control), c.mask,
            )
        ]  # fmt: skip

    def _vote(self, c: Context) -> list[Statement]:
        assert c.mask is not None
        mode = self.r.choice(("all", "any", "uni", "ballot", "ballot"))
        target = self._divergent_target(("u32",) if mode == "ballot" else ("pred",))
        return [Vote(target, mode, self.condition(False), c.mask)]

    def _match(self, c: Context) -> list[Statement]:
        r = self.r
        assert c.mask is not None
        mode = r.choice(("any", "all"))
        type_ = r.choice(("u32", "u64"))
        value = Op(type_, "and", type_, (self.expression(type_, 1), Const(type_, 3)))
        same = self._divergent_target(("pred",)) if mode == "all" and r.random() < 0.7 else None
        return [Match(self._divergent_target(("u32",)), same, mode, value, c.mask)]

    def _redux(self, c: Context) -> list[Statement]:
        r = self.r
        assert c.mask is not None
        operation, over = r.choice(
            [("add", "s32"), ("add", "u32"), ("min", "s32"), ("max", "u32"), ("min", "u32"), ("max", "s32"),
             ("and", "u32"), ("or", "u32"), ("xor", "u32")]
        )  # fmt: skip
        return [Redux(self._divergent_target((over,)), operation, over, self.expression(over, 1), c.mask)]

    def _warp_exchange(self, c: Context) -> list[Statement]:
        assert c.mask is not None
        return [
            WarpExchange(
                "warpwise", self.expression("u32", 1), self._divergent_target(("u32",)), self.r.randrange(32), c.mask
            )
        ]

    def _lanes(self) -> Var:
        return self._counter()

    def _ballot_if(self, c: Context) -> list[Statement]:
        r = self.r
        assert c.mask is not None
        lanes = self._lanes()
        outside = Op("u32", "and", "u32", (c.mask, Op("u32", "not", "u32", (lanes,))))
        then = self._block(self._inside(c, uniform=False, mask=lanes, loop=0), r.randint(1, 3))
        other = (
            self._block(self._inside(c, uniform=False, mask=outside, loop=0), r.randint(1, 2))
            if r.random() < 0.5
            else []
        )
        return [BallotIf(lanes, self.condition(False), c.mask, then, other)]

    def _ballot_loop(self, c: Context) -> list[Statement]:
        r = self.r
        assert c.mask is not None
        lanes, counter, limit_var = self._lanes(), self._counter(), self._counter()
        limit = self.small(False, 3)
        body = self._block(self._inside(c, uniform=False, mask=lanes, loop=0), r.randint(1, 3))
        return [BallotLoop(lanes, counter, limit_var, limit, c.mask, body)]

    # ------------------------------------------------------------ functions

    def _call(self, c: Context) -> list[Statement]:
        function = self.functions[self.r.choice(sorted(self.functions))]
        arguments = tuple(self.expression(p.type, 2) for p in function.parameters)
        target = self._divergent_target((function.result.type,)) if function.result is not None else None
        return [Call(target, function.name, arguments)]

    def _make_function(self, n: int) -> None:
        """Works on its parameters, locals, an array of its own and the constant table."""
        r = self.r
        saved = (self.divergent, self.uniform, self.variables, self.parameters, self.arrays, self.budget)
        table = {k: a for k, a in self.arrays.items() if a.space == "const"}
        self.divergent, self.uniform, self.variables, self.parameters, self.arrays = [], [], {}, {}, table
        self.budget = 8
        prefix = f"f{n}_"
        types = [r.choice(("u32", "s32", "u64", "f32", "f64")) for _ in range(r.randint(1, 3))]
        parameters = tuple(self._declare(t, uniform=False, prefix=prefix) for t in types)
        result = self._declare(r.choice(("u32", "s32", "u64", "f32", "f64")), uniform=False, prefix=prefix)
        own: tuple[Array, ...] = ()
        context = Context(uniform=False, in_function=True, depth=1)
        body: list[Statement] = [Assign(result, self.expression(result.type, 1))]
        if r.random() < 0.4:
            array = Array(f"{prefix}local", "local", "u32", 4)
            own = (array,)
            for k in range(4):
                body.append(Store(array.name, Const("u32", k), self.expression("u32", 1)))
            index = Op("u32", "and", "u32", (self.expression("u32", 1), Const("u32", 3)))
            keep = self._divergent_target(("u32",))
            body.append(Assign(keep, Load("u32", array.name, index)))
        body += self._block(context, r.randint(1, 3))
        if r.random() < 0.4:
            body.append(Return(self.condition_in_function()))
        body += self._block(context, r.randint(1, 2))
        body.append(Assign(result, self.expression(result.type, 2)))
        found = tuple(v for v in self.variables.values() if v not in parameters)
        function = Function(f"helper{n}", parameters, found, result, body, own)
        self.divergent, self.uniform, self.variables, self.parameters, self.arrays, self.budget = saved
        self.functions[function.name] = function

    def condition_in_function(self) -> Expr:
        return self.expression("pred", 2)


def _lists(statements: list[Statement]) -> Iterator[list[Statement]]:
    from programs import bodies

    yield statements
    for s in statements:
        for body in bodies(s):
            yield from _lists(body)


def _drop_writes(statements: list[Statement], counter: Var) -> None:
    """Statements that would change a loop's counter go, so that every loop ends."""
    from programs import bodies

    def writes(s: Statement) -> bool:
        targets = getattr(s, "targets", ())
        return counter in (getattr(s, "target", None), getattr(s, "var", None), getattr(s, "inside", None),
                           getattr(s, "same", None), *targets)  # fmt: skip

    kept = []
    for s in statements:
        for body in bodies(s):
            _drop_writes(body, counter)
        if not writes(s):
            kept.append(s)
        else:
            for body in bodies(s):
                kept += body if not isinstance(s, (Exchange, SharedTotal)) else []
    statements[:] = kept


def _value_type(element: str) -> str:
    return "u32" if element in ("u8", "u16") else element


def generate(seed: int) -> Program:
    """The program of a seed; always the same."""
    return Generator(seed).program()
