"""mov, cvta, isspacep, selp and the predicate logic: values that change their place, not their bits."""

from __future__ import annotations

from .....ptx.syntax import Immediate, Instruction, Operand, Pair, Register, Symbol, Vector
from ..emitter import Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS, Scalar
from ..words import Words


@translates("mov")
def mov(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, source = instruction.operands
    if isinstance(target, Vector) and len(target.elements) > 1:
        _unpack(e, target.elements, source, scalar)
    elif isinstance(source, Vector) and len(source.elements) > 1:
        e.write(target, _pack(e, source.elements, scalar), scalar)
    elif e.is_pointer(target) and (e.is_pointer(source) or isinstance(source, Symbol)):
        assert isinstance(target, Register)
        e.set_register(target.name, e.read(source, _POINTER), "ptr")
    else:
        e.write(target, e.read(source, scalar), scalar)


# An address as LLVM sees it; no type of PTX.
_POINTER = Scalar("address", 64, "b", "ptr")


def _part_type(whole: Scalar, count: int) -> Scalar:
    part = SCALARS.get(f"b{whole.bits // count}")
    return part if part is not None else refuse(f"{whole.name} has no {count} parts")


def _unpack(e: Emitter, targets: tuple[Operand, ...], source: Operand, whole: Scalar) -> None:
    """The first element gets the low bits."""
    part = _part_type(whole, len(targets))
    bits = SCALARS[f"b{whole.bits}"]
    value = e.read(source, bits)
    parts = []
    for n in range(len(targets)):
        shifted = value if n == 0 else e.op(f"lshr {bits.llvm} {value}, {n * part.bits}")
        parts.append(e.op(f"trunc {bits.llvm} {shifted} to {part.llvm}"))
    for target, piece in zip(targets, parts, strict=True):
        e.write(target, piece, part)


def _pack(e: Emitter, sources: tuple[Operand, ...], whole: Scalar) -> str:
    part = _part_type(whole, len(sources))
    kind = f"i{whole.bits}"
    total = ""
    for n, source in enumerate(sources):
        value = e.op(f"zext {part.llvm} {e.read(source, part)} to {kind}")
        if n:
            value = e.op(f"or {kind} {total}, {e.op(f'shl {kind} {value}, {n * part.bits}')}")
        total = value
    return e.convert(total, kind, whole.llvm)


@translates("cvta")
def cvta(e: Emitter, instruction: Instruction) -> None:
    """Generic addresses are the host's, so only shared addresses differ from them."""
    words = Words(instruction)
    to_space = words.flag("to")
    space = words.choice("global", "const", "local", "param", "param::entry", "shared", "shared::cta")
    scalar = words.type()
    words.end()
    if space is None or scalar.bits != 64:
        refuse("it needs a state space and 64 bits")
    target, source = instruction.operands
    if space.startswith("shared"):
        base = e.at_entry("shared.address", f"ptrtoint ptr {e.places.shared_base(e)} to i64")
        value = e.read(source, scalar)
        e.write(target, e.op(f"{'sub' if to_space else 'add'} i64 {value}, {base}"), scalar)
        return
    if isinstance(source, Immediate):
        refuse("the address is a literal")
    if e.is_pointer(target):
        assert isinstance(target, Register)
        e.set_register(target.name, e.read(source, _POINTER), "ptr")
    else:
        e.write(target, e.read(source, scalar), scalar)


@translates("isspacep")
def isspacep(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    space = words.choice("global", "const", "local", "shared", "shared::cta", "param", "param::entry")
    words.end()
    target, source = instruction.operands
    address = e.read(source, SCALARS["b64"])
    places = e.places

    def inside(base: str, nbytes: str) -> str:
        distance = e.op(f"sub i64 {address}, {e.op(f'ptrtoint ptr {base} to i64')}")
        return e.op(f"icmp ult i64 {distance}, {nbytes}")

    shared = inside(places.shared_base(e), places.shared_nbytes(e))
    local = inside(places.local_base(e), str(places.local_nbytes)) if places.local_nbytes else "false"
    param = inside(places.parameter_block(e), str(places.parameters_nbytes))
    if space is None:
        refuse("it needs a state space")
    if space.startswith("shared"):
        result = shared
    elif space == "local":
        result = local
    elif space.startswith("param"):
        result = param
    elif space == "const":
        refuse("constant memory is not told apart from global memory")
    else:
        elsewhere = e.op(f"or i1 {e.op(f'or i1 {shared}, {local}')}, {param}")
        result = e.op(f"xor i1 {elsewhere}, true")
    e.write(target, result, SCALARS["pred"])


@translates("selp")
def selp(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, first, second, predicate = instruction.operands
    condition = e.read(predicate, SCALARS["pred"])
    a, b = e.read(first, scalar), e.read(second, scalar)
    e.write(target, e.op(f"select i1 {condition}, {scalar.llvm} {a}, {scalar.llvm} {b}"), scalar)


@translates("and", "or", "xor", kind="pred")
def predicate_logic(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    a, b = e.read(first, scalar), e.read(second, scalar)
    e.write(target, e.op(f"{instruction.opcode} i1 {a}, {b}"), scalar)


@translates("not", kind="pred")
def predicate_not(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    e.write(instruction.operands[0], e.op(f"xor i1 {e.read(instruction.operands[1], scalar)}, true"), scalar)


def destinations(operand: Operand) -> tuple[Operand, Operand | None]:
    """`d|p` as its two parts; the second is None where there is none."""
    return (operand.first, operand.second) if isinstance(operand, Pair) else (operand, None)
