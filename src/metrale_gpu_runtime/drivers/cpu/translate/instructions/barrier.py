"""bar, barrier, membar and fence."""

from __future__ import annotations

from .....ptx.syntax import Instruction, Operand
from ... import abi
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS
from ..words import Words
from ..yields import SPIN_TURNS

_RED = {"and": abi.BarrierOp.RED_AND, "or": abi.BarrierOp.RED_OR, "popc": abi.BarrierOp.RED_POPC}


@translates("bar", "barrier")
def bar(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    if words.flag("cluster"):
        refuse("clusters are not supported")
    if words.flag("warp"):
        words.flag("sync")
        words.end()
        _fill(e, op=abi.WarpOp.SYNC, mask=e.read(instruction.operands[0], SCALARS["u32"]))
        e.suspension.wait(e, abi.ThreadCode.AT_WARP_OP)
        return
    words.flag("cta")
    words.flag("aligned")
    kind = words.choice("sync", "arrive", "red") or refuse("it is neither .sync, .arrive nor .red")
    operands = list(instruction.operands)
    if kind == "red":
        _reduce(e, instruction, words, operands)
        return
    words.end()
    identifier = e.read(operands[0], SCALARS["u32"]) if operands else "0"
    count = e.read(operands[1], SCALARS["u32"]) if len(operands) > 1 else "0"
    if kind == "arrive":
        e.call("void", "barrier_arrive", ("ptr", "%block"), ("i32", identifier))
        return
    _fill(e, op=abi.BarrierOp.SYNC, barrier_id=identifier, barrier_count=count)
    e.suspension.wait(e, abi.ThreadCode.AT_BARRIER)


def _reduce(e: Emitter, instruction: Instruction, words: Words, operands: list[Operand]) -> None:
    operation = words.choice(*_RED) or refuse("it has no .and, .or or .popc")
    scalar = words.type()
    words.end()
    target, identifier, *count, predicate = operands
    value = e.op(f"zext i1 {e.read(predicate, SCALARS['pred'])} to i32")
    threads = e.read(count[0], SCALARS["u32"]) if count else "0"
    _fill(e, op=_RED[operation], barrier_id=e.read(identifier, SCALARS["u32"]), barrier_count=threads, a=value)
    e.suspension.wait(e, abi.ThreadCode.AT_BARRIER)
    result = e.suspension.load_field(e, abi.Thread.result.offset)
    if scalar.kind == "p":
        result = e.op(f"icmp ne i32 {result}, 0")
    e.write(target, result, scalar)


def _fill(e: Emitter, **fields: object) -> None:
    fill(e, **fields)


def fill(e: Emitter, **fields: object) -> None:
    """Write what the thread waits for into Thread; the site is that of the current instruction."""
    fields["site"] = e.sites.number(e.instruction)
    for name, value in fields.items():
        text = str(int(value)) if isinstance(value, int) else str(value)
        e.suspension.store_field(e, getattr(abi.Thread, name).offset, text, "i64" if name == "wide" else "i32")


@translates("membar")
def membar(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    if words.choice("cta", "gl", "sys", "gpu") is None:
        refuse("of its forms .cta, .gl and .sys are supported")
    words.end()
    e.do("fence seq_cst")


@translates("fence")
def fence(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    order = words.choice("sc", "acq_rel", "acquire", "release")
    words.scope()
    words.end()
    e.do(f"fence {'seq_cst' if order in ('sc', None) else order}")


@translates("yield")
def yield_(e: Emitter, instruction: Instruction) -> None:
    """A statement of ours (yields.py): let the other threads go on."""
    if "spin" not in instruction.modifiers:
        e.suspension.wait(e, abi.ThreadCode.YIELDED)
        return
    counter = e.at_entry("spins", "alloca i32")
    e.at_entry_do("spins", f"store i32 0, ptr {counter}")
    turns = e.op(f"add i32 {e.op(f'load i32, ptr {counter}')}, 1")
    e.do(f"store i32 {turns}, ptr {counter}")
    due = e.op(f"icmp uge i32 {turns}, {SPIN_TURNS}")
    e.suspension.wait_sometimes(e, due, abi.ThreadCode.YIELDED)


@translates("poll")
def poll(e: Emitter, instruction: Instruction) -> None:
    """A statement of ours (polls.py): leave when the launch was stopped."""
    stop = e.op(f"getelementptr i8, ptr %launch, i64 {abi.Launch.stop.offset}")
    stopped = e.op(f"icmp ne i32 {e.op(f'load atomic i32, ptr {stop} monotonic, align 4')}, 0")
    on = e.new_label("on")
    e.do(f"br i1 {stopped}, label %faulted, label %{on}, !prof !3")
    e.at_end_block("faulted", f"  ret i32 {abi.ThreadCode.FAULTED:d}")
    e.begin(on)


@translates("nanosleep")
def nanosleep(e: Emitter, instruction: Instruction) -> None:
    """No time passes by itself here: whoever sleeps waits for others, so they get their turn."""
    words = Words(instruction)
    words.type()
    words.end()
    e.suspension.wait(e, abi.ThreadCode.YIELDED)
