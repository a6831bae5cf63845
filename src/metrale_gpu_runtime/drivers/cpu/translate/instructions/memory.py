"""ld, st and the hints about caches. The type in the instruction decides; a register may be wider than that."""

from __future__ import annotations

from .....ptx.syntax import Address, Instruction, Operand, Symbol, Vector
from ... import abi
from ..addresses import pointer, space_of_words
from ..emitter import Emitter
from ..places import INVARIANT
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS
from ..words import Words

_CACHE_HINTS = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc")


def _order(words: Words, *orders: str) -> str:
    """The LLVM ordering of an access, "" for a weak one. Volatile is relaxed, and not to be merged."""
    words.scope()
    if words.flag("weak"):
        return ""
    if words.flag("volatile"):
        return "volatile"
    words.flag("mmio")
    word = words.choice("relaxed", *orders)
    return {"relaxed": "monotonic", None: ""}.get(word, word or "")


def skip_hints(words: Words) -> None:
    """Take what only speaks of caches."""
    for word in list(words.left):
        if word in _CACHE_HINTS or word.startswith(("L1::", "L2::")) or word == "unified":
            words.left.remove(word)


def _elements(operand: Operand, count: int) -> tuple[Operand, ...]:
    if count == 1:
        return (operand,)
    if not isinstance(operand, Vector) or len(operand.elements) != count:
        refuse(f"it needs a vector of {count}")
    return operand.elements


def _text(order: str) -> tuple[str, str]:
    """What stands before the type and behind the pointer of a load or store."""
    if not order:
        return "", ""
    if order == "volatile":
        return "atomic volatile ", " monotonic"
    return "atomic ", f" {order}"


def _independence(e: Emitter, space: str, order: str) -> str:
    # LLVM vectorises a loop whose accesses are all called independent without asking whether one has an order.
    return "" if order else e.independence(space)


@translates("ld", "ldu")
def ld(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    space = space_of_words(words)
    order = _order(words, "acquire")
    skip_hints(words)
    count = words.vector()
    scalar = words.type()
    words.end()
    target, address = instruction.operands[:2]
    if not isinstance(address, Address):
        refuse("its source is no address")
    place = pointer(e, address, space, scalar.nbytes * count, abi.Access.READ)
    before, behind = _text(order)
    tail = f", {INVARIANT}" if space in ("param", "const") and _never_changes(e, address, space) else ""
    tail += _independence(e, space, order)
    values = []
    for n in range(count):
        element = e.places.offset_pointer(e, place, n * scalar.nbytes)
        text = f"load {before}{scalar.llvm}, ptr {element}{behind}, align {scalar.nbytes}{tail}"
        values.append(e.op(text))
    for element_, value in zip(_elements(target, count), values, strict=True):
        e.write_extended(element_, value, scalar)


def _never_changes(e: Emitter, address: Address, space: str) -> bool:
    if space == "const":
        return True
    base = address.base
    return isinstance(base, Symbol) and base.name in e.places.parameters


@translates("st")
def st(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    space = space_of_words(words)
    order = _order(words, "release")
    skip_hints(words)
    count = words.vector()
    scalar = words.type()
    words.end()
    address, source = instruction.operands[:2]
    if not isinstance(address, Address):
        refuse("its destination is no address")
    values = [e.read(element, scalar) for element in _elements(source, count)]
    place = pointer(e, address, space, scalar.nbytes * count, abi.Access.WRITE)
    before, behind = _text(order)
    tail = _independence(e, space, order)
    for n, value in enumerate(values):
        element = e.places.offset_pointer(e, place, n * scalar.nbytes)
        e.do(f"store {before}{scalar.llvm} {value}, ptr {element}{behind}, align {scalar.nbytes}{tail}")


@translates("prefetch", "prefetchu", "discard", "applypriority")
def hint(e: Emitter, instruction: Instruction) -> None:
    """Nothing to do: caches look after themselves here. `discard` may leave the old bytes."""


@translates("createpolicy")
def createpolicy(e: Emitter, instruction: Instruction) -> None:
    """A cache policy is an opaque value that only hints read."""
    e.write(instruction.operands[0], "0", SCALARS["b64"])
