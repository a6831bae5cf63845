"""Runs a program's tree over all threads at once: arrays with an element per thread, and a mask of those that take part.

Statements run in lock step for the whole grid. That is right for programs without races: between barriers no thread
reads what another one writes, so any order gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from operations import DTYPES, OPERATIONS, UNSIGNED, convert
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

Values = Any
_STEPS = 100_000


class TooLong(Exception):
    """The program runs longer than a test should."""


class Faulted(Exception):
    """A thread has done what it may not; what comes after is open."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.kind)


@dataclass
class _Frame:
    """Variables and local arrays of the kernel or of one call, and who has left early."""

    variables: dict[str, Values]
    arrays: dict[str, Values] = field(default_factory=dict)
    returned: Values = None
    breaks: list[Values] = field(default_factory=list)
    continues: list[Values] = field(default_factory=list)


class Reference:
    """One launch. After `run`, `memory[name]` are the global arrays as bit patterns."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.threads, self.blocks = program.threads_per_block, program.block_count
        n = self.count = program.thread_count
        index = np.arange(n)
        self.linear = index % self.threads
        self.block = index // self.threads
        bx, by, _ = program.block
        gx, gy, _ = program.grid
        self.specials: dict[str, Values] = {"linear": self.linear}
        for name, linear, x, y in (("tid", self.linear, bx, by), ("ctaid", self.block, gx, gy)):
            self.specials[f"{name}.x"] = linear % x
            self.specials[f"{name}.y"] = linear // x % y
            self.specials[f"{name}.z"] = linear // (x * y)
        for axis, letter in enumerate("xyz"):
            self.specials[f"ntid.{letter}"] = np.full(n, program.block[axis])
            self.specials[f"nctaid.{letter}"] = np.full(n, program.grid[axis])
        self.specials["block"] = self.block
        self.specials["thread"] = index
        self.specials["laneid"] = self.linear % 32
        self.specials["warpid"] = self.linear // 32
        self.specials["lanemask_lt"] = (1 << (self.linear % 32)) - 1
        self.specials["lanemask_ge"] = 0xFFFFFFFF & ~((1 << (self.linear % 32)) - 1)
        self.specials = {name: values.astype(np.uint32) for name, values in self.specials.items()}
        self.lane = self.linear % 32
        self.warp = self.block * 32 + self.linear // 32
        self.live = np.ones(n, bool)
        self.memory: dict[str, Values] = {}
        for array in program.arrays.values():
            self.memory[array.name] = self._fresh(array)
        self.frames = [_Frame({v.name: np.zeros(n, DTYPES[v.type]) for v in program.variables.values()})]
        self.steps = 0

    def _fresh(self, array: Array) -> Values:
        dtype = UNSIGNED[8 * np.dtype(DTYPES[array.type]).itemsize]
        elements = np.zeros(array.count, dtype)
        elements[: len(array.initial)] = np.array(array.initial, dtype)
        copies = {"shared": self.blocks, "local": self.count}.get(array.space, 1)
        return np.tile(elements, (copies, 1))

    def run(self) -> dict[str, Values]:
        with np.errstate(all="ignore"):
            mask = self._run(self.program.body, self.live.copy())
            for n, var in enumerate(self.program.outputs):
                wide = self._output(self.frames[0].variables[var.name])
                self.memory["out"][0, n * self.count : (n + 1) * self.count][mask] = wide[mask]
        return {a.name: self.memory[a.name][0] for a in self.program.arrays.values() if a.role == "out"}

    @staticmethod
    def _output(values: Values) -> Values:
        from operations import canonical_bits

        return canonical_bits(values).astype(np.uint64)

    # ------------------------------------------------------------ expressions

    def value(self, e: Expr) -> Values:
        """An element per thread, also for threads that are not asked."""
        if isinstance(e, Const):
            bits = 8 * np.dtype(DTYPES[e.type]).itemsize
            if e.type == "pred":
                return np.full(self.count, bool(e.value))
            pattern = np.array([e.value & ((1 << bits) - 1)], UNSIGNED[bits]).view(DTYPES[e.type])
            return np.repeat(pattern, self.count)
        if isinstance(e, Var):
            return self.frames[-1].variables[e.name]
        if isinstance(e, Special):
            return self.specials[e.name]
        if isinstance(e, Param):
            bits = 8 * np.dtype(DTYPES[e.type]).itemsize
            given = self.program.parameters[e.name][1] & ((1 << bits) - 1)
            return np.repeat(np.array([given], UNSIGNED[bits]).view(DTYPES[e.type]), self.count)
        if isinstance(e, Load):
            return self._load(e.array, self.value(e.index), e.type)
        if isinstance(e, Op):
            args = [self.value(a) for a in e.args]
            if e.name == "cvt":
                return convert(args[0], e.over, e.type)
            if e.name == "lop3":
                return OPERATIONS["lop3"].compute(*args, e.literal)
            return OPERATIONS[e.name].compute(*args)
        raise TypeError(e)

    def _array(self, name: str) -> tuple[Values, Values, str]:
        """The elements, the row of each thread, the element type."""
        frame = self.frames[-1]
        if name in frame.arrays:
            return frame.arrays[name], np.arange(self.count), self._local_type(name)
        array = self.program.arrays[name]
        row = {"shared": self.block, "local": np.arange(self.count)}.get(array.space, np.zeros(self.count, int))
        return self.memory[name], row, array.type

    def _local_type(self, name: str) -> str:
        for function in self.program.functions.values():
            for array in function.arrays:
                if array.name == name:
                    return array.type
        raise KeyError(name)

    def _load(self, name: str, index: Values, type_: str) -> Values:
        elements, row, own = self._array(name)
        found = elements[row, index.astype(np.int64) % elements.shape[1]]
        if own in ("u8", "u16"):
            return found.astype(np.uint32)
        return found.view(DTYPES[own])

    def _put(self, name: str, index: Values, values: Values, mask: Values) -> None:
        elements, row, _ = self._array(name)
        where = index.astype(np.int64)
        assert ((where < elements.shape[1]) | ~mask).all(), (name, where[mask].max(), elements.shape)
        patterns = values.view(UNSIGNED[8 * values.dtype.itemsize]).astype(elements.dtype)
        elements[row[mask], where[mask]] = patterns[mask]

    def _set(self, var: Var, values: Values, mask: Values) -> None:
        variables = self.frames[-1].variables
        assert values.dtype == DTYPES[var.type], (var, values.dtype)
        variables[var.name] = np.where(mask, values, variables[var.name])

    # ------------------------------------------------------------ statements

    def _run(self, statements: Sequence[Statement], mask: Values) -> Values:
        """Who is still with us behind the last statement."""
        for statement in statements:
            if not mask.any():
                break
            self.steps += 1
            if self.steps > _STEPS:
                raise TooLong
            mask = self._step(statement, mask)
        return mask

    def _step(self, s: Statement, mask: Values) -> Values:
        method = getattr(self, "_" + type(s).__name__.lower())
        after = method(s, mask)
        return mask if after is None else after

    def _assign(self, s: Assign, mask: Values) -> None:
        self._set(s.var, self.value(s.value), mask)

    def _loadvector(self, s: LoadVector, mask: Values) -> None:
        index = self.value(s.index)
        loaded = [
            self._load(s.array, index * np.uint32(len(s.targets)) + np.uint32(n), v.type)
            for n, v in enumerate(s.targets)
        ]
        for var, values in zip(s.targets, loaded, strict=True):
            self._set(var, values, mask)

    def _store(self, s: Store, mask: Values) -> None:
        self._put(s.array, self.value(s.index), self.value(s.value), mask)

    def _if(self, s: If, mask: Values) -> Values:
        condition = self.value(s.condition)
        return self._run(s.then, mask & condition) | self._run(s.other, mask & ~condition)

    def _switch(self, s: Switch, mask: Values) -> Values:
        selector = np.minimum(self.value(s.selector), np.uint32(len(s.cases) - 1))
        after = np.zeros(self.count, bool)
        for n, case in enumerate(s.cases):
            after |= self._run(case, mask & (selector == n))
        return after

    def _loop(self, s: Loop, mask: Values) -> Values:
        frame = self.frames[-1]
        start = np.zeros(self.count, np.uint32) if s.start is None else self.value(s.start)
        step = np.uint32(1) if s.step is None else self.value(s.step)
        self._set(s.counter, start, mask)
        self._set(s.limit_var, self.value(s.limit), mask)
        left = np.zeros(self.count, bool)
        active = mask.copy()
        first = True
        while True:
            if not (s.tests_last and first):
                goes_on = self.value(s.counter) < self.value(s.limit_var)
                left |= active & ~goes_on
                active = active & goes_on
            first = False
            if not active.any():
                return left
            frame.breaks.append(np.zeros(self.count, bool))
            frame.continues.append(np.zeros(self.count, bool))
            active = self._run(s.body, active)
            left |= frame.breaks.pop()
            active |= frame.continues.pop()
            self._set(s.counter, self.value(s.counter) + step, active)

    def _break(self, s: Break, mask: Values) -> Values:
        leaving = mask & self.value(s.condition)
        self.frames[-1].breaks[-1] |= leaving
        return mask & ~leaving

    def _continue(self, s: Continue, mask: Values) -> Values:
        leaving = mask & self.value(s.condition)
        self.frames[-1].continues[-1] |= leaving
        return mask & ~leaving

    def _exit(self, s: Exit, mask: Values) -> Values:
        leaving = mask & self.value(s.condition)
        self.live &= ~leaving
        return mask & ~leaving

    def _return(self, s: Return, mask: Values) -> Values:
        leaving = mask & self.value(s.condition)
        self.frames[-1].returned |= leaving
        return mask & ~leaving

    def _trap(self, s: Trap, mask: Values) -> None:
        assert not (mask & self.value(s.condition)).any()

    def _barrier(self, s: Barrier, mask: Values) -> None:
        self._meets(mask)

    def _meets(self, mask: Values) -> None:
        """All threads of a block that live are here, or none: else the program hangs on any machine."""
        for block in range(self.blocks):
            own = self.block == block
            here, alive = mask[own].sum(), self.live[own].sum()
            assert here in (0, alive), (here, alive)

    def _exchange(self, s: Exchange, mask: Values) -> Values:
        self._put(s.array, self.value(s.slot), self.value(s.value), mask)
        mask = self._run(s.stored, mask)
        self._meets(mask)
        mask = self._run(s.met, mask)
        if mask.any():
            self._set(s.target, self._load(s.array, self.value(s.source), s.target.type), mask)
        mask = self._run(s.read, mask)
        self._meets(mask)
        return mask

    def _splitexchange(self, s: SplitExchange, mask: Values) -> None:
        self._meets(mask)
        condition = self.value(s.condition)
        sides = (condition, ~condition)
        slot = self.value(s.slot)
        for side, value in zip(sides, s.values, strict=True):
            self._put(s.array, slot, self.value(value), mask & side)
        sources = [self.value(source) for source in s.sources]
        for side, source in zip(sides, sources, strict=True):
            self._set(s.target, self._load(s.array, source, s.target.type), mask & side)

    def _sharedtotal(self, s: SharedTotal, mask: Values) -> Values:
        array = self.program.arrays[s.array]
        element = np.full(self.count, s.element, np.uint32)
        initial = np.full(self.count, s.initial & ((1 << 64) - 1), np.uint64).astype(self.memory[s.array].dtype)
        self._put(s.array, element, initial, mask)
        self._meets(mask)
        mask = self._run(s.combine, mask)
        self._meets(mask)
        if mask.any():
            self._set(s.target, self._load(s.array, element, array.type), mask)
        return mask

    def _tree(self, s: Tree, mask: Values) -> None:
        linear = self.specials["linear"]
        self._put(s.array, linear, self.value(s.value), mask)
        self._meets(mask)
        half = s.half
        type_ = self.program.arrays[s.array].type
        while half:
            adds = mask & (linear < half) & (linear + half < self.program.parameters["live_threads"][1])
            ours, theirs = self._load(s.array, linear, type_), self._load(s.array, linear + np.uint32(half), type_)
            self._put(s.array, linear, ours + theirs, adds)
            half //= 2
        self._set(s.counter, np.zeros(self.count, np.uint32), mask)
        self._set(s.target, self._load(s.array, np.zeros(self.count, np.uint32), type_), mask)

    def _walk(self, s: Walk, mask: Values) -> None:
        start, count = self.value(s.start), self.value(s.count)
        total = self.value(s.target)
        type_ = self.program.arrays[s.array].type
        for n in range(int(count[mask].max())):
            value = self._load(s.array, start + np.uint32(n * s.step), type_)
            total = np.where(n < count, total + value, total)
        self._set(s.counter, np.maximum(count, 0).astype(np.uint32), mask)
        self._set(s.target, total, mask)
        if s.meets:
            self._meets(mask)

    def _loadeither(self, s: LoadEither, mask: Values) -> None:
        first, second = (self._load(name, self.value(s.index), s.target.type) for name in s.arrays)
        self._set(s.target, np.where(self.value(s.condition), first, second), mask)

    def _fault(self, s: Fault, mask: Values) -> None:
        if mask[s.thread]:
            raise Faulted(s)

    def _barrierreduce(self, s: BarrierReduce, mask: Values) -> None:
        self._meets(mask)
        predicate = self.value(s.predicate)
        counts = np.bincount(self.block[mask & predicate], minlength=self.blocks)[self.block]
        present = np.bincount(self.block[mask], minlength=self.blocks)[self.block]
        if s.operation == "popc":
            self._set(s.target, counts.astype(np.uint32), mask)
        else:
            self._set(s.target, counts == present if s.operation == "and" else counts > 0, mask)

    # ------------------------------------------------------------ warps

    def _groups(self, mask: Values) -> list[Values]:
        """The threads of each warp that take part."""
        active = np.flatnonzero(mask)
        return [active[self.warp[active] == w] for w in np.unique(self.warp[active])]

    def _lanes(self, threads: Values) -> int:
        return int(sum(1 << int(self.lane[t]) for t in threads))

    def _check_mask(self, threads: Values, masks: Values) -> None:
        """Every lane names the same mask: those that are here and perhaps lanes that have ended or never were."""
        named = {int(masks[t]) for t in threads}
        assert len(named) == 1, named
        here, (asked,) = self._lanes(threads), named
        assert here & ~asked == 0, (hex(here), hex(asked))
        alive = self._lanes(np.flatnonzero(self.live & (self.warp == self.warp[threads[0]])))
        assert asked & alive & ~here == 0, (hex(here), hex(asked), hex(alive))

    def _shuffle(self, s: Shuffle, mask: Values) -> None:
        values, lanes, controls = self.value(s.value), self.value(s.lane), self.value(s.control)
        masks = self.value(s.mask)
        result = values.copy()
        inside = np.zeros(self.count, bool)
        for threads in self._groups(mask):
            self._check_mask(threads, masks)
            holder = {int(self.lane[t]): t for t in threads}
            for t in threads:
                lane, b, c = int(self.lane[t]), int(lanes[t]) & 31, int(controls[t])
                clamp, segment = c & 31, c >> 8 & 31
                low = lane & segment
                bound = low | (clamp & ~segment & 31)
                if s.mode == "up":
                    source, valid = lane - b, lane - b >= bound
                elif s.mode == "down":
                    source, valid = lane + b, lane + b <= bound
                elif s.mode == "bfly":
                    source, valid = lane ^ b, lane ^ b <= bound
                else:
                    source, valid = low | (b & ~segment & 31), (low | (b & ~segment & 31)) <= bound
                inside[t] = valid
                if valid and source in holder:
                    result[t] = values[holder[source]]
        self._set(s.target, result, mask)
        if s.inside is not None:
            self._set(s.inside, inside, mask)

    def _vote(self, s: Vote, mask: Values) -> None:
        predicate, masks = self.value(s.predicate), self.value(s.mask)
        result = np.zeros(self.count, np.uint32 if s.mode == "ballot" else bool)
        for threads in self._groups(mask):
            self._check_mask(threads, masks)
            votes = predicate[threads]
            result[threads] = {
                "all": votes.all(), "any": votes.any(), "uni": votes.all() or not votes.any(),
                "ballot": self._lanes(threads[votes]),
            }[s.mode]  # fmt: skip
        self._set(s.target, result, mask)

    def _match(self, s: Match, mask: Values) -> None:
        values, masks = self.value(s.value), self.value(s.mask)
        result, same = np.zeros(self.count, np.uint32), np.zeros(self.count, bool)
        for threads in self._groups(mask):
            self._check_mask(threads, masks)
            for t in threads:
                equal = threads[values[threads] == values[t]]
                if s.mode == "any":
                    result[t] = self._lanes(equal)
                else:
                    same[t] = len(equal) == len(threads)
                    result[t] = self._lanes(threads) if same[t] else 0
        self._set(s.target, result, mask)
        if s.same is not None:
            self._set(s.same, same, mask)

    def _redux(self, s: Redux, mask: Values) -> None:
        values, masks = self.value(s.value), self.value(s.mask)
        result = np.zeros(self.count, DTYPES[s.target.type])
        for threads in self._groups(mask):
            self._check_mask(threads, masks)
            reduce = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
                      "or": np.bitwise_or, "xor": np.bitwise_xor}[s.operation].reduce  # fmt: skip
            result[threads] = reduce(values[threads], dtype=values.dtype)
        self._set(s.target, result, mask)

    def _warpexchange(self, s: WarpExchange, mask: Values) -> None:
        masks = self.value(s.mask)
        self._put(s.array, self.specials["linear"], self.value(s.value), mask)
        for threads in self._groups(mask):
            self._check_mask(threads, masks)
        source = self.lane ^ s.offset
        in_mask = (masks.astype(np.int64) >> source & 1) == 1
        index = self.linear - self.lane + source
        safe = in_mask & (index < int(self.program.parameters["live_threads"][1]))
        index = np.where(safe, index, self.linear).astype(np.uint32)
        self._set(s.target, self._load(s.array, index, s.target.type), mask)

    def _ballot(self, lanes: Var, condition: Values, masks: Values, mask: Values) -> None:
        result = np.zeros(self.count, np.uint32)
        for threads in self._groups(mask):
            self._check_mask(threads, masks)
            result[threads] = self._lanes(threads[condition[threads]])
        self._set(lanes, result, mask)

    def _ballotif(self, s: BallotIf, mask: Values) -> Values:
        condition = self.value(s.condition)
        self._ballot(s.lanes, condition, self.value(s.mask), mask)
        return self._run(s.then, mask & condition) | self._run(s.other, mask & ~condition)

    def _ballotloop(self, s: BallotLoop, mask: Values) -> Values:
        self._set(s.lanes, self.value(s.mask), mask)
        self._set(s.counter, np.zeros(self.count, np.uint32), mask)
        self._set(s.limit_var, self.value(s.limit), mask)
        left, active = np.zeros(self.count, bool), mask.copy()
        while active.any():
            goes_on = self.value(s.counter) < self.value(s.limit_var)
            self._ballot(s.lanes, goes_on, self.value(s.lanes), active)
            left |= active & ~goes_on
            active = self._run(s.body, active & goes_on)
            self._set(s.counter, self.value(s.counter) + np.uint32(1), active)
        return left

    # ------------------------------------------------------------ atomics and calls

    def _atomic(self, s: Atomic, mask: Values) -> None:
        index = self.value(s.index)
        values = [self.value(v) for v in s.values]
        elements, row, own = self._array(s.array)
        typed = elements.view(DTYPES[own])
        old = np.zeros(self.count, typed.dtype)
        bits = 8 * typed.dtype.itemsize
        for t in np.flatnonzero(mask):
            place = (row[t], int(index[t]))
            was = old[t] = typed[place]
            given = values[0][t]
            if s.operation == "add":
                typed[place] = was + given
            elif s.operation in ("min", "max"):
                typed[place] = min(was, given) if s.operation == "min" else max(was, given)
            elif s.operation in ("and", "or", "xor"):
                typed[place] = {"and": was & given, "or": was | given, "xor": was ^ given}[s.operation]
            elif s.operation == "exch":
                typed[place] = given
            elif s.operation == "cas":
                typed[place] = values[1][t] if was == given else was
            elif s.operation == "inc":
                typed[place] = 0 if was >= given else (int(was) + 1) & ((1 << bits) - 1)
            elif s.operation == "dec":
                typed[place] = given if was == 0 or was > given else int(was) - 1
            else:
                raise ValueError(s.operation)
        if s.target is not None:
            self._set(s.target, old, mask)

    def _call(self, s: Call, mask: Values) -> Values:
        function = self.program.functions[s.function]
        variables = {v.name: np.zeros(self.count, DTYPES[v.type]) for v in function.locals}
        for var, argument in zip(function.parameters, s.arguments, strict=True):
            variables[var.name] = self.value(argument)
        arrays = {a.name: self._fresh(a) for a in function.arrays}
        frame = _Frame(variables, arrays, returned=np.zeros(self.count, bool))
        self.frames.append(frame)
        after = self._run(function.body, mask)
        self.frames.pop()
        after = after | frame.returned
        if s.target is not None and function.result is not None:
            self._set(s.target, frame.variables[function.result.name], after)
        return after


def expected(program: Program) -> dict[str, Values]:
    """The global arrays that a program writes, as bit patterns."""
    return Reference(program).run()
