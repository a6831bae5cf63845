"""atom and red. A block's threads run on one core, so that shared memory mostly needs no locked instructions."""

from __future__ import annotations

from .....ptx.syntax import Address, Instruction
from ... import abi
from ..addresses import pointer, space_of_words
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import Scalar
from ..words import Words
from .memory import skip_hints

_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")
_ORDERS = {"relaxed": "monotonic", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel", None: "monotonic"}


@translates("atom", "red")
def atom(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    order = _ORDERS[words.choice("relaxed", "acquire", "release", "acq_rel")]
    words.scope()
    space = space_of_words(words)
    operation = words.choice(*_OPERATIONS) or refuse("it has no operation")
    words.flag("noftz")
    skip_hints(words)
    scalar = words.type()
    words.end()
    if scalar.bits > 64 or space not in ("global", "shared", "generic"):
        refuse(f"{scalar.bits} bits in {space} memory are not supported")
    operands = list(instruction.operands)
    target = operands.pop(0) if instruction.opcode == "atom" else None
    address = operands.pop(0)
    if not isinstance(address, Address):
        refuse("it has no address")
    values = [e.read(operand, scalar) for operand in operands[: 2 if operation == "cas" else 1]]
    place = pointer(e, address, space, scalar.nbytes, abi.Access.ATOMIC)
    if scalar.kind in "fh" and operation not in ("exch", "cas"):
        old = _float(e, operation, place, values[0], scalar, space)
    elif space == "shared" and e.runs_alone:
        old = _alone(e, operation, place, values, scalar)
    elif operation == "cas":
        failure = {"release": "monotonic", "acq_rel": "acquire"}.get(order, order)
        kind = scalar.llvm
        pair = e.op(f"cmpxchg ptr {place}, {kind} {values[0]}, {kind} {values[1]} {order} {failure}")
        old = e.op(f"extractvalue {{ {kind}, i1 }} {pair}, 0")
    else:
        name = _atomic_name(operation, scalar)
        old = e.op(f"atomicrmw {name} ptr {place}, {scalar.llvm} {values[0]} {order}")
    if target is not None:
        e.write(target, old, scalar)


def _atomic_name(operation: str, scalar: Scalar) -> str:
    if operation in ("min", "max"):
        return operation if scalar.is_signed else "u" + operation
    return {"exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}.get(operation, operation)


def _alone(e: Emitter, operation: str, place: str, values: list[str], scalar: Scalar) -> str:
    """Load, compute, store: nobody comes in between."""
    kind, value = scalar.llvm, values[0]
    old = e.op(f"load {kind}, ptr {place}, align {scalar.nbytes}")
    if operation == "cas":
        bits = e.op(f"icmp eq {kind} {old}, {value}")
        new = e.op(f"select i1 {bits}, {kind} {values[1]}, {kind} {old}")
    elif operation == "exch":
        new = value
    elif operation in ("min", "max"):
        name = f"llvm.{'s' if scalar.is_signed else 'u'}{operation}.{kind}"
        new = e.call(kind, name, (kind, old), (kind, value))
    elif operation == "inc":
        wraps = e.op(f"icmp uge {kind} {old}, {value}")
        more = e.op(f"add {kind} {old}, 1")
        new = e.op(f"select i1 {wraps}, {kind} 0, {kind} {more}")
    elif operation == "dec":
        wraps = e.op(f"or i1 {e.op(f'icmp eq {kind} {old}, 0')}, {e.op(f'icmp ugt {kind} {old}, {value}')}")
        less = e.op(f"sub {kind} {old}, 1")
        new = e.op(f"select i1 {wraps}, {kind} {value}, {kind} {less}")
    else:
        new = e.op(f"{operation} {kind} {old}, {value}")
    e.do(f"store {kind} {new}, ptr {place}, align {scalar.nbytes}")
    return old


def _float(e: Emitter, operation: str, place: str, value: str, scalar: Scalar, space: str) -> str:
    """Sums of floats. Of f32 in global memory subnormals are flushed, in shared memory not (PTX ISA, "atom")."""
    kind = scalar.llvm
    if operation != "add" and (scalar.kind != "h" or operation not in ("min", "max")):
        refuse(f".{operation} of .{scalar.name} is not supported")
    if space == "shared" and scalar.kind == "f" and e.runs_alone:
        old = e.op(f"load {kind}, ptr {place}, align {scalar.nbytes}")
        e.do(f"store {kind} {e.op(f'fadd {kind} {old}, {value}')}, ptr {place}, align {scalar.nbytes}")
        return old
    return e.call(kind, f"ptx_atom_{operation}_{scalar.name}", ("ptr", place), (kind, value))
