"""Integer arithmetic and logic. Everything wraps; what LLVM leaves undefined has the value of NVIDIA's hardware."""

from __future__ import annotations

from .....ptx.syntax import Instruction, Operand, Register
from ..emitter import CARRY, Emitter
from ..refusal import refuse
from ..registry import translates
from ..scalar import SCALARS, Scalar
from ..words import Words


def wider(scalar: Scalar) -> Scalar:
    """The type of twice the width and the same sign."""
    return SCALARS[f"{scalar.kind}{scalar.bits * 2}"]


def extended(e: Emitter, value: str, scalar: Scalar, target: Scalar) -> str:
    return e.widen(value, scalar.llvm, target.llvm, scalar.is_signed)


# ------------------------------------------------------------ carry


# A subtraction is a + ~b + 1, and its flag that sum's carry: 1 where nothing was borrowed. PTX calls it the borrow, and
# within a chain of subtractions none can tell; NVIDIA's own 128-bit division adds the flag of one with addc.


def _read_carry(e: Emitter, llvm: str, *, borrow: bool = False) -> str:
    flag = e.register(CARRY, "i1")
    if borrow:
        flag = e.op(f"xor i1 {flag}, true")
    return e.op(f"zext i1 {flag} to {llvm}")


def _write_carry(e: Emitter, flag: str) -> None:
    e.set_register(CARRY, flag, "i1")


def add_with_carry(e: Emitter, a: str, b: str, scalar: Scalar, *, takes: bool, gives: bool) -> str:
    """a + b (+ carry); the flag of an unsigned overflow is kept if `gives`."""
    if not gives:
        total = e.op(f"add {scalar.llvm} {a}, {b}")
        return e.op(f"add {scalar.llvm} {total}, {_read_carry(e, scalar.llvm)}") if takes else total
    return _overflowing(e, "uadd", a, b, scalar, takes)


def _overflowing(e: Emitter, operation: str, a: str, b: str, scalar: Scalar, takes: bool) -> str:
    kind, borrow = scalar.llvm, operation == "usub"
    pair = f"{{ {kind}, i1 }}"
    name = f"llvm.{operation}.with.overflow.{kind}"
    first = e.call(pair, name, (kind, a), (kind, b))
    total, flag = e.op(f"extractvalue {pair} {first}, 0"), e.op(f"extractvalue {pair} {first}, 1")
    if takes:
        second = e.call(pair, name, (kind, total), (kind, _read_carry(e, kind, borrow=borrow)))
        total, also = e.op(f"extractvalue {pair} {second}, 0"), e.op(f"extractvalue {pair} {second}, 1")
        flag = e.op(f"or i1 {flag}, {also}")
    _write_carry(e, e.op(f"xor i1 {flag}, true") if borrow else flag)
    return total


# ------------------------------------------------------------ add, sub


@translates("add", "sub", kind="integer")
def add_sub(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    saturates, gives = words.flag("sat"), words.flag("cc")
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    if (
        e.is_pointer(target)
        and not gives
        and not saturates
        and _pointer_sum(e, instruction.opcode, target, first, second)
    ):
        return
    a, b = e.read(first, scalar), e.read(second, scalar)
    if saturates:
        if scalar.name != "s32":
            refuse(".sat is for s32 only")
        value = e.call("i32", f"llvm.s{instruction.opcode}.sat.i32", ("i32", a), ("i32", b))
    elif gives:
        value = _overflowing(e, "u" + instruction.opcode, a, b, scalar, takes=False)
    else:
        value = e.op(f"{instruction.opcode} {scalar.llvm} {a}, {b}")
    e.write(target, value, scalar)


def _pointer_sum(e: Emitter, opcode: str, target: Operand, first: Operand, second: Operand) -> bool:
    """Address plus offset as LLVM likes it; False where the operands are not of that kind."""
    assert isinstance(target, Register)
    base, offset = (first, second) if e.is_pointer(first) else (second, first)
    if not e.is_pointer(base) or e.is_pointer(offset) or (opcode == "sub" and base is second):
        return False
    distance = e.read(offset, SCALARS["b64"])
    if opcode == "sub":
        distance = e.op(f"sub i64 0, {distance}")
    assert isinstance(base, Register)
    value = e.op(f"getelementptr i8, ptr {e.register(base.name, 'ptr')}, i64 {distance}")
    e.set_register(target.name, value, "ptr")
    return True


@translates("addc", "subc")
def add_sub_carry(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    gives = words.flag("cc")
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    a, b = e.read(first, scalar), e.read(second, scalar)
    if instruction.opcode == "addc":
        e.write(target, add_with_carry(e, a, b, scalar, takes=True, gives=gives), scalar)
    elif gives:
        e.write(target, _overflowing(e, "usub", a, b, scalar, takes=True), scalar)
    else:
        difference = e.op(f"sub {scalar.llvm} {a}, {b}")
        borrow = _read_carry(e, scalar.llvm, borrow=True)
        e.write(target, e.op(f"sub {scalar.llvm} {difference}, {borrow}"), scalar)


# ------------------------------------------------------------ multiplication


def product(e: Emitter, a: str, b: str, scalar: Scalar, part: str) -> tuple[str, Scalar]:
    """The low, high or whole product, and its type."""
    if part == "lo":
        return e.op(f"mul {scalar.llvm} {a}, {b}"), scalar
    wide = wider(scalar)
    whole = e.op(f"mul {wide.llvm} {extended(e, a, scalar, wide)}, {extended(e, b, scalar, wide)}")
    if part == "wide":
        return whole, wide
    high = e.op(f"lshr {wide.llvm} {whole}, {scalar.bits}")
    return e.op(f"trunc {wide.llvm} {high} to {scalar.llvm}"), scalar


@translates("mul", kind="integer")
def mul(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    part = words.choice("lo", "hi", "wide")
    scalar = words.type()
    words.end()
    if part is None or (part == "wide" and scalar.bits > 32):
        refuse("it needs .lo, .hi or .wide")
    target, first, second = instruction.operands
    value, kind = product(e, e.read(first, scalar), e.read(second, scalar), scalar, part)
    e.write(target, value, kind)


@translates("mad", kind="integer")
def mad(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    part = words.choice("lo", "hi", "wide")
    saturates, gives = words.flag("sat"), words.flag("cc")
    scalar = words.type()
    words.end()
    if part is None or (part == "wide" and (scalar.bits > 32 or gives)):
        refuse("it needs .lo, .hi or .wide")
    target, first, second, third = instruction.operands
    value, kind = product(e, e.read(first, scalar), e.read(second, scalar), scalar, part)
    if e.is_pointer(target) and e.is_pointer(third) and not gives and kind.bits == 64:
        assert isinstance(target, Register)
        assert isinstance(third, Register)
        sum_ = e.op(f"getelementptr i8, ptr {e.register(third.name, 'ptr')}, i64 {value}")
        e.set_register(target.name, sum_, "ptr")
        return
    c = e.read(third, kind)
    if saturates:
        if scalar.name != "s32" or part != "hi":
            refuse(".sat is for mad.hi.s32 only")
        value = e.call("i32", "llvm.sadd.sat.i32", ("i32", value), ("i32", c))
    else:
        value = add_with_carry(e, value, c, kind, takes=False, gives=gives)
    e.write(target, value, kind)


@translates("madc")
def madc(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    part = words.choice("lo", "hi")
    gives = words.flag("cc")
    scalar = words.type()
    words.end()
    if part is None:
        refuse("it needs .lo or .hi")
    target, first, second, third = instruction.operands
    value, _ = product(e, e.read(first, scalar), e.read(second, scalar), scalar, part)
    e.write(target, add_with_carry(e, value, e.read(third, scalar), scalar, takes=True, gives=gives), scalar)


@translates("mul24", "mad24")
def mul24(e: Emitter, instruction: Instruction) -> None:
    """The 48-bit product of the low 24 bits; .lo is its lower 32 bits, .hi its upper 32."""
    words = Words(instruction)
    part = words.choice("lo", "hi")
    saturates = words.flag("sat")
    scalar = words.type()
    words.end()
    if part is None or scalar.bits != 32 or (saturates and (scalar.name != "s32" or part != "hi")):
        refuse("it needs .lo or .hi and 32 bits")
    wide = wider(scalar)
    factors = []
    for operand in instruction.operands[1:3]:
        raised = e.op(f"shl i32 {e.read(operand, scalar)}, 8")
        low = e.op(f"{'ashr' if scalar.is_signed else 'lshr'} i32 {raised}, 8")
        factors.append(extended(e, low, scalar, wide))
    whole = e.op(f"mul i64 {factors[0]}, {factors[1]}")
    value = e.op(f"trunc i64 {whole if part == 'lo' else e.op(f'lshr i64 {whole}, 16')} to i32")
    if instruction.opcode == "mad24":
        c = e.read(instruction.operands[3], scalar)
        value = (
            e.call("i32", "llvm.sadd.sat.i32", ("i32", value), ("i32", c))
            if saturates
            else e.op(f"add i32 {value}, {c}")
        )
    e.write(instruction.operands[0], value, scalar)


# ------------------------------------------------------------ division


@translates("div", "rem", kind="integer")
def div_rem(e: Emitter, instruction: Instruction) -> None:
    """x/0 is all ones and x%0 is x, as NVIDIA's hardware gives; INT_MIN / -1 wraps."""
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    a, b = e.read(first, scalar), e.read(second, scalar)
    kind = scalar.llvm
    divisor, by_minus_one = b, ""
    if scalar.is_signed:
        by_minus_one = e.op(f"icmp eq {kind} {b}, -1")
        divisor = e.op(f"select i1 {by_minus_one}, {kind} 1, {kind} {b}")
    by_zero = e.op(f"icmp eq {kind} {b}, 0")
    divisor = e.op(f"select i1 {by_zero}, {kind} 1, {kind} {divisor}")
    operation = ("s" if scalar.is_signed else "u") + instruction.opcode
    value = e.op(f"{operation} {kind} {a}, {divisor}")
    if instruction.opcode == "div":
        if scalar.is_signed:
            negated = e.op(f"sub {kind} 0, {a}")
            value = e.op(f"select i1 {by_minus_one}, {kind} {negated}, {kind} {value}")
        value = e.op(f"select i1 {by_zero}, {kind} -1, {kind} {value}")
    else:
        value = e.op(f"select i1 {by_zero}, {kind} {a}, {kind} {value}")
    e.write(target, value, scalar)


# ------------------------------------------------------------ others


@translates("neg", "abs", kind="integer")
def neg_abs(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, source = instruction.operands
    a = e.read(source, scalar)
    if instruction.opcode == "neg":
        value = e.op(f"sub {scalar.llvm} 0, {a}")
    else:
        value = e.call(scalar.llvm, f"llvm.abs.{scalar.llvm}", (scalar.llvm, a), ("i1", "false"))
    e.write(target, value, scalar)


@translates("min", "max", kind="integer")
def min_max(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    relu = words.flag("relu")
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    name = f"llvm.{'s' if scalar.is_signed else 'u'}{instruction.opcode}.{scalar.llvm}"
    value = e.call(scalar.llvm, name, (scalar.llvm, e.read(first, scalar)), (scalar.llvm, e.read(second, scalar)))
    if relu:
        if not scalar.is_signed:
            refuse(".relu is for signed types")
        value = e.call(scalar.llvm, f"llvm.smax.{scalar.llvm}", (scalar.llvm, value), (scalar.llvm, "0"))
    e.write(target, value, scalar)


@translates("sad")
def sad(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, first, second, third = instruction.operands
    a, b, c = (e.read(operand, scalar) for operand in (first, second, third))
    e.write(target, e.op(f"add {scalar.llvm} {c}, {absolute_difference(e, a, b, scalar)}"), scalar)


def absolute_difference(e: Emitter, a: str, b: str, scalar: Scalar) -> str:
    less = e.op(f"icmp {'s' if scalar.is_signed else 'u'}lt {scalar.llvm} {a}, {b}")
    forth, back = e.op(f"sub {scalar.llvm} {b}, {a}"), e.op(f"sub {scalar.llvm} {a}, {b}")
    return e.op(f"select i1 {less}, {scalar.llvm} {forth}, {scalar.llvm} {back}")


@translates("and", "or", "xor", kind="integer")
def logic(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    e.write(
        target, e.op(f"{instruction.opcode} {scalar.llvm} {e.read(first, scalar)}, {e.read(second, scalar)}"), scalar
    )


@translates("not", "cnot", kind="integer")
def complement(e: Emitter, instruction: Instruction) -> None:
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, source = instruction.operands
    a = e.read(source, scalar)
    if instruction.opcode == "not":
        value = e.op(f"xor {scalar.llvm} {a}, -1")
    else:
        value = e.op(f"zext i1 {e.op(f'icmp eq {scalar.llvm} {a}, 0')} to {scalar.llvm}")
    e.write(target, value, scalar)


@translates("shl", "shr", kind="integer")
def shift(e: Emitter, instruction: Instruction) -> None:
    """The amount is 32 bits unsigned; from the type's width on nothing (or only the sign) is left."""
    words = Words(instruction)
    scalar = words.type()
    words.end()
    target, first, second = instruction.operands
    a, amount = e.read(first, scalar), e.read(second, SCALARS["u32"])
    kind, bits = scalar.llvm, scalar.bits
    keeps_sign = instruction.opcode == "shr" and scalar.is_signed
    operation = "shl" if instruction.opcode == "shl" else "ashr" if keeps_sign else "lshr"
    if amount.isdigit():
        by = int(amount)
        if by >= bits:
            value = e.op(f"ashr {kind} {a}, {bits - 1}") if keeps_sign else e.op(f"and {kind} {a}, 0")
        else:
            value = e.op(f"{operation} {kind} {a}, {by}")
        e.write(target, value, scalar)
        return
    if keeps_sign:
        clamped = e.call("i32", "llvm.umin.i32", ("i32", amount), ("i32", str(bits - 1)))
        e.write(target, e.op(f"ashr {kind} {a}, {resized(e, clamped, bits)}"), scalar)
        return
    within = e.op(f"icmp ult i32 {amount}, {bits}")
    masked = e.op(f"and i32 {amount}, {bits - 1}")
    shifted = e.op(f"{operation} {kind} {a}, {resized(e, masked, bits)}")
    e.write(target, e.op(f"select i1 {within}, {kind} {shifted}, {kind} 0"), scalar)


def resized(e: Emitter, value: str, bits: int) -> str:
    """A 32-bit amount in the width of what is shifted; the amount is known to fit."""
    if bits == 32:
        return value
    return e.op(f"{'zext' if bits > 32 else 'trunc'} i32 {value} to i{bits}")
