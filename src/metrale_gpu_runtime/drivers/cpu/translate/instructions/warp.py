"""Exchange among the lanes of a warp. The lane says what it brings and waits; the scheduler fills in the result."""

from __future__ import annotations

from .....ptx.syntax import Instruction, Operand, Sink
from ... import abi
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS, Scalar
from ..words import Words
from .barrier import fill
from .moves import destinations

_U32, _PRED = SCALARS["u32"], SCALARS["pred"]
_SHUFFLES = {"up": abi.WarpOp.SHFL_UP, "down": abi.WarpOp.SHFL_DOWN, "bfly": abi.WarpOp.SHFL_BFLY,
             "idx": abi.WarpOp.SHFL_IDX}  # fmt: skip
_VOTES = {"all": abi.WarpOp.VOTE_ALL, "any": abi.WarpOp.VOTE_ANY, "uni": abi.WarpOp.VOTE_UNI,
          "ballot": abi.WarpOp.VOTE_BALLOT}  # fmt: skip
_REDUCTIONS = {
    ("add", "u32"): abi.WarpOp.REDUX_ADD, ("add", "s32"): abi.WarpOp.REDUX_ADD,
    ("min", "u32"): abi.WarpOp.REDUX_MIN_U32, ("max", "u32"): abi.WarpOp.REDUX_MAX_U32,
    ("min", "s32"): abi.WarpOp.REDUX_MIN_S32, ("max", "s32"): abi.WarpOp.REDUX_MAX_S32,
    ("and", "b32"): abi.WarpOp.REDUX_AND, ("or", "b32"): abi.WarpOp.REDUX_OR, ("xor", "b32"): abi.WarpOp.REDUX_XOR,
}  # fmt: skip


def _mask(e: Emitter, operands: list[Operand], synchronises: bool) -> str:
    """The last operand of a .sync form; without it those lanes take part that meet here."""
    return e.read(operands.pop(), _U32) if synchronises else str(abi.MASK_CONVERGED)


def _wait(e: Emitter) -> tuple[str, str]:
    """Wait for the other lanes; the result and its predicate as i32."""
    e.suspension.wait(e, abi.ThreadCode.AT_WARP_OP)
    result = e.suspension.load_field(e, abi.Thread.result.offset)
    return result, e.suspension.load_field(e, abi.Thread.result_predicate.offset)


def _write_predicate(e: Emitter, operand: Operand | None, value: str) -> None:
    if operand is not None and not isinstance(operand, Sink):
        e.write(operand, e.op(f"icmp ne i32 {value}, 0"), _PRED)


@translates("shfl")
def shfl(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    synchronises = words.flag("sync")
    mode = words.choice(*_SHUFFLES) or refuse("it has no mode")
    scalar = words.type()
    words.end()
    if scalar.bits != 32:
        refuse("it is for b32 only")
    target, *sources = instruction.operands
    mask = _mask(e, sources, synchronises)
    a, b, c = (e.read(source, _U32) for source in sources)
    fill(e, op=_SHUFFLES[mode], mask=mask, a=a, b=b, c=c)
    result, predicate = _wait(e)
    value, inside = destinations(target)
    e.write(value, result, _U32)
    _write_predicate(e, inside, predicate)


@translates("vote")
def vote(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    synchronises = words.flag("sync")
    mode = words.choice(*_VOTES) or refuse("it has no mode")
    words.type()
    words.end()
    target, *sources = instruction.operands
    mask = _mask(e, sources, synchronises)
    value = e.op(f"zext i1 {e.read(sources[0], _PRED)} to i32")
    fill(e, op=_VOTES[mode], mask=mask, a=value)
    result, predicate = _wait(e)
    if mode == "ballot":
        e.write(target, result, _U32)
    else:
        _write_predicate(e, target, predicate)


@translates("match")
def match(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    mode = words.choice("any", "all") or refuse("it has no mode")
    synchronises = words.flag("sync")
    scalar = words.type()
    words.end()
    target, *sources = instruction.operands
    mask = _mask(e, sources, synchronises)
    value = e.widen(e.read(sources[0], scalar), scalar.llvm, "i64", signed=False)
    fill(e, op=abi.WarpOp.MATCH_ANY if mode == "any" else abi.WarpOp.MATCH_ALL, mask=mask, wide=value)
    result, predicate = _wait(e)
    lanes, all_same = destinations(target)
    e.write(lanes, result, _U32)
    _write_predicate(e, all_same, predicate)


@translates("redux")
def redux(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    words.flag("sync")
    operation = words.choice("add", "min", "max", "and", "or", "xor") or refuse("it has no operation")
    scalar: Scalar = words.type()
    words.end()
    code = _REDUCTIONS.get((operation, scalar.name))
    if code is None:
        refuse(f".{operation} of .{scalar.name} is not supported")
    target, source, mask = instruction.operands
    fill(e, op=code, mask=e.read(mask, _U32), a=e.read(source, _U32))
    e.write(target, _wait(e)[0], _U32)


@translates("activemask")
def activemask(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    words.type()
    words.end()
    fill(e, op=abi.WarpOp.ACTIVEMASK, mask=str(abi.MASK_CONVERGED))
    e.write(instruction.operands[0], _wait(e)[0], _U32)


@translates("elect")
def elect(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    words.flag("sync")
    words.end()
    target, mask = instruction.operands
    fill(e, op=abi.WarpOp.ELECT, mask=e.read(mask, _U32))
    result, predicate = _wait(e)
    leader, elected = destinations(target)
    e.write(leader, result, _U32)
    _write_predicate(e, elected, predicate)
