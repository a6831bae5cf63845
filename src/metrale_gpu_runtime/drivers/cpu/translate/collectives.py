"""What the threads of a block exchange between two steps: barriers, shuffles, votes. The operands lie in arrays when
the loop over the threads is over; functions of semantics.c then do it for all threads at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....ptx.syntax import Immediate, Instruction, Operand, Pair, Register
from .. import abi
from .scalar import SCALARS
from .steps import NotByBlock
from .words import Words

if TYPE_CHECKING:
    from .emitter import Emitter

_U32, _PRED = SCALARS["u32"], SCALARS["pred"]
_GROUP = ", !llvm.access.group !9"
_SHUFFLES = ("up", "down", "bfly", "idx")
_VOTES = {
    "all": abi.WarpOp.VOTE_ALL,
    "any": abi.WarpOp.VOTE_ANY,
    "uni": abi.WarpOp.VOTE_UNI,
    "ballot": abi.WarpOp.VOTE_BALLOT,
}
_REDUCTIONS = {"and": abi.BarrierOp.RED_AND, "or": abi.BarrierOp.RED_OR, "popc": abi.BarrierOp.RED_POPC}

# name, bytes of an element -> the beginning of an array.
Array = Callable[[str, int], str]


class Exchange:
    """One exchange. `store_operands` is written into the loop over the threads, the rest behind it."""

    def __init__(self, statement: Instruction, divergent: set[str]) -> None:
        self.statement, self.divergent = statement, divergent
        self.value: Operand | None = None
        self.value_kind = "i64"
        self.mask: Operand | None = None
        self.op = 0

    def _is_uniform(self, operand: Operand) -> bool:
        return isinstance(operand, Immediate) or (isinstance(operand, Register) and operand.name not in self.divergent)

    def _take_mask(self, operands: list[Operand], synchronises: bool) -> None:
        """Masks that differ between threads make several groups of one warp: those kernels run thread by thread."""
        if not synchronises:
            return
        self.mask = operands.pop()
        if not self._is_uniform(self.mask):
            raise NotByBlock

    def read_uniform(self, e: Emitter) -> None:
        """Read what is the same for all threads, before registers are forgotten."""
        self.mask_value = "0" if self.mask is None else e.read(self.mask, _U32)

    def store_operands(self, e: Emitter, array: Array) -> None:
        """Store each thread's value."""
        if self.value is not None:
            self._store(e, array, "exchanged", self._wide(e), "i64")

    def _wide(self, e: Emitter) -> str:
        raise NotImplementedError

    @staticmethod
    def _store(e: Emitter, array: Array, name: str, value: str, kind: str) -> None:
        base = array(name, 8 if kind == "i64" else 4)
        e.do(f"store {kind} {value}, ptr {e.op(f'getelementptr {kind}, ptr {base}, i64 {e.linear}')}{_GROUP}")

    def perform(
        self,
        e: Emitter,
        *,
        active: str,
        alive: str,
        count: str,
        site: int,
        array: Array,
        results: Callable[[str], str],
    ) -> str:
        """Call what does it; the i32 that is not 0 after a fault, "" where there can be none."""
        raise NotImplementedError

    def _destinations(self, target: Operand, results: Callable[[str], str]) -> tuple[str, str]:
        """The arrays of the value's and the predicate's register."""
        value, predicate = (target.first, target.second) if isinstance(target, Pair) else (target, None)
        first = results(value.name) if isinstance(value, Register) else "null"
        second = results(predicate.name) if isinstance(predicate, Register) else "null"
        return first, second


class Barrier(Exchange):
    """bar.sync of all threads, and bar.warp.sync of those that run together anyway."""

    def __init__(self, statement: Instruction, divergent: set[str]) -> None:
        super().__init__(statement, divergent)
        self.is_warp = "warp" in statement.modifiers
        operands = list(statement.operands)
        if self.is_warp:
            self._take_mask(operands, True)
        elif len(operands) > 1 or any(not self._is_uniform(operand) for operand in operands):
            raise NotByBlock

    def store_operands(self, e: Emitter, array: Array) -> None:
        pass

    def perform(
        self,
        e: Emitter,
        *,
        active: str,
        alive: str,
        count: str,
        site: int,
        array: Array,
        results: Callable[[str], str],
    ) -> str:
        if not self.is_warp or active in ("null", alive):
            return ""
        return _warp(e, active, alive, count, abi.WarpOp.SYNC, self.mask_value, site, "null", "null", "null")


class BarrierReduction(Exchange):
    """bar.red of all threads."""

    def __init__(self, statement: Instruction, divergent: set[str]) -> None:
        super().__init__(statement, divergent)
        self.op = next(code for word, code in _REDUCTIONS.items() if word in statement.modifiers)
        _, identifier, *count, self.value = statement.operands
        if count or not self._is_uniform(identifier):
            raise NotByBlock

    def _wide(self, e: Emitter) -> str:
        assert self.value is not None
        return e.op(f"zext i1 {e.read(self.value, _PRED)} to i64")

    def perform(
        self,
        e: Emitter,
        *,
        active: str,
        alive: str,
        count: str,
        site: int,
        array: Array,
        results: Callable[[str], str],
    ) -> str:
        target = self.statement.operands[0]
        place = results(target.name) if isinstance(target, Register) else "null"
        total = e.call(
            "i32", "ptx_block_reduction", ("ptr", active), ("i64", count), ("i32", str(int(self.op))),
            ("ptr", array("exchanged", 8)),
        )  # fmt: skip
        if place != "null":
            is_predicate = "pred" in self.statement.modifiers
            name = "ptx_fill_u8" if is_predicate else "ptx_fill_u32"
            e.call("void", name, ("ptr", active), ("i64", count), ("i32", total), ("ptr", place))
        return ""


class Shuffle(Exchange):
    """shfl."""

    def __init__(self, statement: Instruction, divergent: set[str]) -> None:
        super().__init__(statement, divergent)
        words = Words(statement)
        synchronises = words.flag("sync")
        mode = words.choice(*_SHUFFLES)
        if mode is None:
            raise NotByBlock
        self.mode = mode
        _, *sources = statement.operands
        self._take_mask(sources, synchronises)
        self.value, *self.others = sources

    def read_uniform(self, e: Emitter) -> None:
        super().read_uniform(e)
        self.uniform_values = [e.read(o, _U32) if self._is_uniform(o) else "" for o in self.others]

    def store_operands(self, e: Emitter, array: Array) -> None:
        assert self.value is not None
        self._store(e, array, "shuffled", e.read(self.value, _U32), "i32")
        for name, operand in zip("bc", self.others, strict=True):
            if not self._is_uniform(operand):
                self._store(e, array, f"shuffle {name}", e.read(operand, _U32), "i32")

    def perform(
        self,
        e: Emitter,
        *,
        active: str,
        alive: str,
        count: str,
        site: int,
        array: Array,
        results: Callable[[str], str],
    ) -> str:
        value, predicate = self._destinations(self.statement.operands[0], results)
        if value == predicate == "null":
            return ""
        if value == "null":
            value = array("unwanted", 4)
        operands: list[tuple[str, str]] = []
        for name, uniform in zip("bc", self.uniform_values, strict=True):
            if uniform:
                place = e.at_entry(f"shuffle {name}", "alloca i32")
                e.do(f"store i32 {uniform}, ptr {place}")
                operands += [("ptr", place), ("i64", "0")]
            else:
                operands += [("ptr", array(f"shuffle {name}", 4)), ("i64", "1")]
        e.call(
            "void", f"ptx_block_shfl_{self.mode}", ("ptr", active), ("i64", count), ("ptr", array("shuffled", 4)),
            *operands, ("ptr", value), ("ptr", predicate),
        )  # fmt: skip
        return ""


class WarpOperation(Exchange):
    """vote, match, redux, activemask, elect."""

    def __init__(self, statement: Instruction, divergent: set[str]) -> None:
        super().__init__(statement, divergent)
        words = set(statement.modifiers)
        opcode, sources = statement.opcode, list(statement.operands[1:])
        self._take_mask(sources, "sync" in words)
        self.value = sources[0] if sources else None
        if opcode == "vote":
            self.op = next(code for word, code in _VOTES.items() if word in words)
        elif opcode == "match":
            self.op = abi.WarpOp.MATCH_ANY if "any" in words else abi.WarpOp.MATCH_ALL
        elif opcode == "redux":
            self.op = self._reduction(words)
        else:
            self.op = abi.WarpOp.ACTIVEMASK if opcode == "activemask" else abi.WarpOp.ELECT

    @staticmethod
    def _reduction(words: set[str]) -> int:
        kind = "S32" if "s32" in words else "U32"
        for operation in ("min", "max"):
            if operation in words:
                return abi.WarpOp[f"REDUX_{operation.upper()}_{kind}"]
        for operation in ("add", "and", "or", "xor"):
            if operation in words:
                return abi.WarpOp[f"REDUX_{operation.upper()}"]
        raise NotByBlock

    def _wide(self, e: Emitter) -> str:
        assert self.value is not None
        if self.statement.opcode == "vote":
            return e.op(f"zext i1 {e.read(self.value, _PRED)} to i64")
        scalar = SCALARS["b64"] if "b64" in self.statement.modifiers else _U32
        return e.widen(e.read(self.value, scalar), scalar.llvm, "i64", signed=False)

    def perform(
        self,
        e: Emitter,
        *,
        active: str,
        alive: str,
        count: str,
        site: int,
        array: Array,
        results: Callable[[str], str],
    ) -> str:
        value, predicate = self._destinations(self.statement.operands[0], results)
        if self.statement.opcode == "vote" and "ballot" not in self.statement.modifiers:
            value, predicate = "null", value
        if value == predicate == "null":
            return ""
        values = array("exchanged", 8) if self.value is not None else "null"
        return _warp(e, active, alive, count, self.op, self.mask_value, site, values, value, predicate)


def _warp(
    e: Emitter,
    active: str,
    alive: str,
    count: str,
    op: int,
    mask: str,
    site: int,
    values: str,
    value: str,
    predicate: str,
) -> str:
    return e.call(
        "i32", "ptx_block_warp", ("ptr", "%launch"), ("ptr", "%block"), ("ptr", active), ("ptr", alive),
        ("i64", count), ("i32", str(int(op))), ("i32", mask), ("i32", str(site)), ("ptr", values), ("ptr", value),
        ("ptr", predicate),
    )  # fmt: skip


def exchange_of(statement: Instruction, divergent: set[str]) -> Exchange:
    """The exchange that a waiting instruction asks for; raises NotByBlock for those that take single threads."""
    if statement.opcode in ("bar", "barrier"):
        if "cluster" in statement.modifiers:
            raise NotByBlock
        return (BarrierReduction if "red" in statement.modifiers else Barrier)(statement, divergent)
    if statement.opcode == "shfl":
        return Shuffle(statement, divergent)
    return WarpOperation(statement, divergent)
