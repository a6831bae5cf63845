"""Integer instructions against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ptx_evaluate import evaluate

_DTYPES = {16: np.uint16, 32: np.uint32, 64: np.uint64}


def _signed(value: int, bits: int) -> int:
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


def _as(kind: str, value: int) -> int:
    """A bit pattern as the number it is in a type."""
    bits = int(kind[1:])
    return _signed(value, bits) if kind[0] == "s" else value & (2**bits - 1)


def _columns(bits: int, count: int, seed: int = 3) -> list[np.ndarray]:
    top = 2**bits - 1
    corners = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 255, 256, top, top - 1, top >> 1, (top >> 1) + 1, (top >> 1) + 2]
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        values = [int(random.integers(0, 2**63)) * 2 + int(random.integers(0, 2)) for _ in range(90)]
        sizes = random.integers(0, bits, 90)
        values = [(value & top) >> int(size) for value, size in zip(values, sizes, strict=True)]
        every = [corner & top for corner in corners] * 3 + values
        order = random.permutation(len(every))
        found.append(np.array([every[n] for n in order], dtype=_DTYPES[bits]))
    # Equal operands and a zero meet in some row.
    for column in found[1:]:
        column[:5] = found[0][:5]
    found[-1][5] = 0
    return found


def _check(text: str, columns: list[np.ndarray], result: str, exact: Callable[..., int]) -> None:
    got = evaluate(text, columns, result)
    mask = 1 if result == "pred" else 2 ** int(result[1:]) - 1
    for n, row in enumerate(zip(*columns, strict=True)):
        numbers = [int(x) for x in row]
        assert int(got[n]) == exact(*numbers) & mask, (text, [hex(x) for x in numbers], hex(int(got[n])))


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


ORDINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
    # x / 0 is all ones and x % 0 is x, as NVIDIA's hardware gives.
    "div": lambda a, b: _divide(a, b) if b else -1,
    "rem": lambda a, b: a - _divide(a, b) * b if b else a,
}


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("opcode", ORDINARY)
def test_arithmetic_wraps_and_never_traps(opcode: str, kind: str) -> None:
    """Arithmetic wraps at the width of its type; division by zero and of the smallest number by -1 have results."""
    bits = int(kind[1:])
    rule = ORDINARY[opcode]
    _check(f"{opcode}.{kind} d, a, b", _columns(bits, 2), f"u{bits}", lambda a, b: rule(_as(kind, a), _as(kind, b)))


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32"])
def test_wide_products_and_sums_have_twice_the_width(kind: str) -> None:
    """mul.wide and mad.wide extend by the sign of their type."""
    bits = int(kind[1:])
    a, b = _columns(bits, 2)
    (c,) = _columns(2 * bits, 1, 8)
    wide = f"u{2 * bits}"
    _check(f"mul.wide.{kind} d, a, b", [a, b], wide, lambda x, y: _as(kind, x) * _as(kind, y))
    _check(f"mad.wide.{kind} d, a, b, c", [a, b, c], wide, lambda x, y, z: _as(kind, x) * _as(kind, y) + z)


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32", "s64", "u64"])
def test_high_products_are_the_upper_half(kind: str) -> None:
    """mul.hi and mad.hi take the upper half of the product; mad.lo the lower."""
    bits = int(kind[1:])
    columns = _columns(bits, 3)
    result = f"u{bits}"
    _check(f"mul.hi.{kind} d, a, b", columns[:2], result, lambda a, b: _as(kind, a) * _as(kind, b) >> bits)
    _check(f"mad.hi.{kind} d, a, b, c", columns, result, lambda a, b, c: (_as(kind, a) * _as(kind, b) >> bits) + c)
    _check(f"mad.lo.{kind} d, a, b, c", columns, result, lambda a, b, c: a * b + c)


@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_products_of_24_bits_use_the_low_24_bits(kind: str) -> None:
    """mul24.lo is the lower and mul24.hi the upper 32 bits of a 48-bit product."""
    small = kind[0] + "24"
    columns = _columns(32, 3)
    _check(f"mul24.lo.{kind} d, a, b", columns[:2], "u32", lambda a, b: _as(small, a) * _as(small, b))
    _check(f"mul24.hi.{kind} d, a, b", columns[:2], "u32", lambda a, b: _as(small, a) * _as(small, b) >> 16)
    _check(f"mad24.lo.{kind} d, a, b, c", columns, "u32", lambda a, b, c: _as(small, a) * _as(small, b) + c)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_shifts_by_the_width_or_more_leave_nothing_but_the_sign(bits: int) -> None:
    """Amounts are not taken modulo the width."""
    (a,) = _columns(bits, 1)
    (b,) = _columns(32, 1, 6)
    b[::3] = np.arange(len(b[::3]), dtype=np.uint32)
    _check(f"shl.b{bits} d, a, b", [a, b], f"u{bits}", lambda x, n: x << min(n, 999))
    _check(f"shr.u{bits} d, a, b", [a, b], f"u{bits}", lambda x, n: x >> min(n, 999))
    _check(f"shr.s{bits} d, a, b", [a, b], f"u{bits}", lambda x, n: _signed(x, bits) >> min(n, 999))
    for by in (0, 5, bits - 1, bits, 300):
        _check(f"shl.b{bits} d, a, {by}", [a], f"u{bits}", lambda x, by=by: x << by)
        _check(f"shr.s{bits} d, a, {by}", [a], f"u{bits}", lambda x, by=by: _signed(x, bits) >> by)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_logic_works_on_all_bits(bits: int) -> None:
    """and, or, xor, not and cnot."""
    columns = _columns(bits, 2)
    kind = f"u{bits}"
    _check(f"and.b{bits} d, a, b", columns, kind, lambda a, b: a & b)
    _check(f"or.b{bits} d, a, b", columns, kind, lambda a, b: a | b)
    _check(f"xor.b{bits} d, a, b", columns, kind, lambda a, b: a ^ b)
    _check(f"not.b{bits} d, a", columns[:1], kind, lambda a: ~a)
    _check(f"cnot.b{bits} d, a", columns[:1], kind, lambda a: int(a == 0))


@pytest.mark.parametrize("bits", [32, 64])
def test_counts_have_32_bits(bits: int) -> None:
    """popc, clz and bfind of 64 bits give 32-bit results; bfind of nothing is all ones."""
    (a,) = _columns(bits, 1)
    _check(f"popc.b{bits} d, a", [a], "u32", lambda x: x.bit_count())
    _check(f"clz.b{bits} d, a", [a], "u32", lambda x: bits - x.bit_length())
    _check(f"bfind.u{bits} d, a", [a], "u32", lambda x: x.bit_length() - 1)
    _check(f"bfind.shiftamt.u{bits} d, a", [a], "u32", lambda x: bits - x.bit_length() if x else -1)

    def of_sign(x: int) -> int:
        number = _signed(x, bits)
        return (~number if number < 0 else number).bit_length() - 1

    _check(f"bfind.s{bits} d, a", [a], "u32", of_sign)
    _check(f"brev.b{bits} d, a", [a], f"u{bits}", lambda x: int(f"{x:0{bits}b}"[::-1], 2))


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_fields_past_the_top_are_defined(bits: int) -> None:
    """bfe and bfi use the low byte of position and length, bit by bit as the ISA writes them."""
    a, b = _columns(bits, 2)
    random = np.random.default_rng(4)
    position = random.integers(0, 80, len(a)).astype(np.uint32)
    length = random.integers(0, 80, len(a)).astype(np.uint32)
    position[::9] |= 0x300
    length[::4] = 0

    def extracted(kind: str) -> Callable[[int, int, int], int]:
        def rule(x: int, p: int, n: int) -> int:
            p, n = p & 255, n & 255
            sign = 0 if kind == "u" or n == 0 else x >> min(p + n - 1, bits - 1) & 1
            found = 0
            for i in range(bits):
                bit = x >> (p + i) & 1 if i < n and p + i < bits else sign
                found |= bit << i
            return found

        return rule

    def inserted(x: int, y: int, p: int, n: int) -> int:
        p, n = p & 255, n & 255
        for i in range(n):
            if p + i < bits:
                y = y & ~(1 << (p + i)) | (x >> i & 1) << (p + i)
        return y

    _check(f"bfe.u{bits} d, a, b, c", [a, position, length], f"u{bits}", extracted("u"))
    _check(f"bfe.s{bits} d, a, b, c", [a, position, length], f"u{bits}", extracted("s"))
    # The fourth operand would be called d: give it another name by a register of its own.
    got = evaluate(
        f"bfi.b{bits} d, a, b, c, e",
        [a, b, position, np.zeros(len(a), np.uint32), length],
        f"u{bits}",
    )
    for n, row in enumerate(zip(a, b, position, length, strict=True)):
        assert int(got[n]) == inserted(*(int(x) for x in row))


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_masks_and_extensions_clamp_or_wrap(mode: str) -> None:
    """bmsk and szext as the ISA writes them."""
    a, b = _columns(32, 2)
    b[::2] &= 40

    def mask(x: int, y: int) -> int:
        start, width = (x & 31, y & 31) if mode == "wrap" else (x, y)
        if start >= 32:
            return 0
        if width >= 32 or start + width >= 32:
            return -1 << start
        return (-1 << start) & ~(-1 << (start + width))

    def extension(kind: str) -> Callable[[int, int], int]:
        def rule(x: int, y: int) -> int:
            width = y & 31 if mode == "wrap" else y
            if width >= 32:
                return x
            low = x & ((1 << width) - 1)
            return _signed(low, width) if kind == "s" and width else low

        return rule

    _check(f"bmsk.{mode}.b32 d, a, b", [a, b], "u32", mask)
    _check(f"szext.{mode}.u32 d, a, b", [a, b], "u32", extension("u"))
    _check(f"szext.{mode}.s32 d, a, b", [a, b], "u32", extension("s"))


def test_funnel_shifts_wrap_or_clamp_their_amount() -> None:
    """shf takes 32 bits out of 64: .wrap modulo 32, .clamp at most 32."""
    low, high, amount = _columns(32, 3)
    amount[::2] %= 45

    def left(clamp: bool) -> Callable[[int, int, int], int]:
        return lambda a, b, n: ((b << 32 | a) << (min(n, 32) if clamp else n & 31)) >> 32

    def right(clamp: bool) -> Callable[[int, int, int], int]:
        return lambda a, b, n: (b << 32 | a) >> (min(n, 32) if clamp else n & 31)

    columns = [low, high, amount]
    _check("shf.l.wrap.b32 d, a, b, c", columns, "u32", left(False))
    _check("shf.l.clamp.b32 d, a, b, c", columns, "u32", left(True))
    _check("shf.r.wrap.b32 d, a, b, c", columns, "u32", right(False))
    _check("shf.r.clamp.b32 d, a, b, c", columns, "u32", right(True))


def test_lop3_follows_its_truth_table() -> None:
    """Bit a<<2 | b<<1 | c of the table is the result for those three bits."""
    columns = _columns(32, 3)
    for table in (0x00, 0x01, 0x96, 0xE8, 0xCA, 0x3A, 0xFE, 0xFF):

        def rule(a: int, b: int, c: int, table: int = table) -> int:
            return sum((table >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | c >> n & 1) & 1) << n for n in range(32))

        _check(f"lop3.b32 d, a, b, c, {table:#x}", columns, "u32", rule)


def test_prmt_selects_bytes_and_replicates_signs() -> None:
    """The default mode takes a nibble per byte, whose high bit asks for the sign; six modes are named."""
    columns = _columns(32, 3)

    def default(a: int, b: int, c: int) -> int:
        data = (b << 32 | a).to_bytes(8, "little")
        found = 0
        for n in range(4):
            selector = c >> 4 * n & 15
            byte = data[selector & 7]
            if selector & 8:
                byte = 255 if byte & 128 else 0
            found |= byte << 8 * n
        return found

    _check("prmt.b32 d, a, b, c", columns, "u32", default)
    modes = {
        "f4e": [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]],
        "b4e": [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]],
        "rc8": [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]],
        "ecl": [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]],
        "ecr": [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]],
        "rc16": [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]],
    }
    for mode, table in modes.items():
        if mode == "b4e":
            table = [row[::-1] for row in ([0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0])]

        def named(a: int, b: int, c: int, table: list[list[int]] = table) -> int:
            data = (b << 32 | a).to_bytes(8, "little")
            return sum(data[place] << 8 * n for n, place in enumerate(reversed(table[c & 3])))

        _check(f"prmt.b32.{mode} d, a, b, c", columns, "u32", named)


@pytest.mark.parametrize("signs", ["s32.s32", "u32.u32", "s32.u32", "u32.s32"])
def test_small_dot_products_take_each_operands_sign(signs: str) -> None:
    """dp4a and dp2a: signedness per operand, the sum wraps."""
    columns = _columns(32, 3)
    left, right = (kind[0] for kind in signs.split("."))

    def part(value: int, kind: str, bits: int, n: int) -> int:
        return _as(f"{kind}{bits}", value >> bits * n)

    _check(
        f"dp4a.{signs} d, a, b, c", columns, "u32",
        lambda a, b, c: c + sum(part(a, left, 8, n) * part(b, right, 8, n) for n in range(4)),
    )  # fmt: skip
    for half, start in (("lo", 0), ("hi", 2)):
        _check(
            f"dp2a.{half}.{signs} d, a, b, c", columns, "u32",
            lambda a, b, c, start=start: c + sum(part(a, left, 16, n) * part(b, right, 8, n + start) for n in range(2)),
        )  # fmt: skip


def test_sums_of_absolute_differences() -> None:
    """sad adds |a - b|; vabsdiff4 works on bytes and accumulates with .add."""
    columns = _columns(32, 3)

    def pieces(a: int, b: int, bits: int) -> list[int]:
        return [abs((a >> n & 2**bits - 1) - (b >> n & 2**bits - 1)) for n in range(0, 32, bits)]

    _check("sad.u32 d, a, b, c", columns, "u32", lambda a, b, c: c + abs(a - b))
    _check("sad.s32 d, a, b, c", columns, "u32", lambda a, b, c: c + abs(_signed(a, 32) - _signed(b, 32)))
    _check("vabsdiff4.u32.u32.u32.add d, a, b, c", columns, "u32", lambda a, b, c: c + sum(pieces(a, b, 8)))
    _check(
        "vabsdiff4.u32.u32.u32 d, a, b, c", columns, "u32",
        lambda a, b, c: sum(piece << 8 * n for n, piece in enumerate(pieces(a, b, 8))),
    )  # fmt: skip
    _check("vabsdiff2.u32.u32.u32.add d, a, b, c", columns, "u32", lambda a, b, c: c + sum(pieces(a, b, 16)))


def test_carry_chains_reach_across_other_instructions() -> None:
    """add.cc … addc.cc … addc of three words is one addition of 96 bits, whatever stands between; sub and mad too."""
    a, b, c = _columns(32, 3, 21)
    setup = """
      .reg .b32 x0, x1, x2, other;
      {first}
      xor.b32 other, a, b; add.u32 other, other, 5;
      {second}
      setp.gt.u32 outside, other, 7;
      {third}
    """
    added = setup.format(first="add.cc.u32 x0, a, b;", second="addc.cc.u32 x1, b, c;", third="addc.u32 x2, c, a;")
    big = [int(x) | int(y) << 32 | int(z) << 64 for x, y, z in zip(a, b, c, strict=True)]
    turned = [int(y) | int(z) << 32 | int(x) << 64 for x, y, z in zip(a, b, c, strict=True)]
    taken = setup.format(first="sub.cc.u32 x0, a, b;", second="subc.cc.u32 x1, b, c;", third="subc.u32 x2, c, a;")
    for n in range(3):
        sums = evaluate(f"mov.u32 d, x{n}", [a, b, c], "u32", setup=added)
        differences = evaluate(f"mov.u32 d, x{n}", [a, b, c], "u32", setup=taken)
        for row in range(len(a)):
            assert int(sums[row]) == (big[row] + turned[row]) >> 32 * n & 0xFFFFFFFF
            assert int(differences[row]) == (big[row] - turned[row]) >> 32 * n & 0xFFFFFFFF
    multiplied = ".reg .b32 low; mad.lo.cc.u32 low, a, b, c;"
    high = evaluate("madc.hi.u32 d, a, b, c", [a, b, c], "u32", setup=multiplied)
    for x, y, z, got in zip(a, b, c, high, strict=True):
        want = int(x) * int(y) + (int(z) << 32 | int(z))
        assert int(got) == want >> 32 & 0xFFFFFFFF


def test_the_flag_of_a_subtraction_is_the_carry_of_a_sum() -> None:
    """a - b is a + ~b + 1: addc adds 1 where nothing was borrowed, and subc borrows where a sum had no carry."""
    a, b, c = _columns(32, 3, 21)
    b[:3] = a[:3]
    pairs = [(int(x), int(y), int(z)) for x, y, z in zip(a, b, c, strict=True)]
    rules: dict[str, tuple[str, Callable[[int, int, int], int]]] = {
        "sub.cc.u32 low, a, b;": ("addc.u32 d, c, 7", lambda x, y, z: z + 7 + (x >= y)),
        "sub.cc.u32 low, a, b; subc.cc.u32 low, b, c;": (
            "addc.u32 d, 0, 0", lambda x, y, z: int((y << 32 | x) >= (z << 32 | y)),
        ),
        "add.cc.u32 low, a, b;": ("subc.u32 d, c, 7", lambda x, y, z: z - 7 - (x + y < 2**32)),
        "mad.lo.cc.u32 low, a, b, c;": ("subc.u32 d, 0, 0", lambda x, y, z: -((x * y % 2**32) + z < 2**32)),
    }  # fmt: skip
    for first, (second, rule) in rules.items():
        got = evaluate(second, [a, b, c], "u32", setup=f".reg .b32 low; {first}")
        assert [int(each) for each in got] == [rule(*each) & 0xFFFFFFFF for each in pairs], first


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32", "s64", "u64", "b32"])
def test_comparisons_take_the_sign_of_their_type(kind: str) -> None:
    """setp of integers, with the second predicate as its negation and the combination with a third."""
    bits = int(kind[1:])
    columns = _columns(bits, 2)
    rules: dict[str, Callable[[int, int], bool]] = {
        "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    }  # fmt: skip
    if kind == "b32":
        rules = {"eq": rules["eq"], "ne": rules["ne"]}
    as_kind = kind.replace("b", "u")
    for name, rule in rules.items():
        _check(
            f"setp.{name}.{kind} d, a, b",
            columns,
            "pred",
            lambda a, b, rule=rule: int(rule(_as(as_kind, a), _as(as_kind, b))),
        )
    _check(
        f"setp.ne.{kind} outside|d, a, b", columns, "pred", lambda a, b: int(a == b)
    )  # fmt: skip
    _check(
        f"setp.eq.and.{kind} d, a, b, outside", columns, "pred", lambda a, b: 0
    )  # fmt: skip
    _check(
        f"setp.eq.xor.{kind} d, a, b, !outside", columns, "pred", lambda a, b: int(a != b)
    )  # fmt: skip


@pytest.mark.parametrize("to", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("of", ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"])
def test_integer_conversions_extend_by_the_source_and_saturate_on_request(of: str, to: str) -> None:
    """A wider register gives its low bits; a narrower result is extended by its own sign into the register."""
    source_bits, bits = int(of[1:]), int(to[1:])
    register = max(bits, 16)
    (a,) = _columns(64, 1)
    a[:8] = [127, 128, 255, 256, 2**63, 2**63 - 1, 2**32, 2**31]
    source = "a"
    setup = ""
    if source_bits < 64:
        wide = max(source_bits, 32)
        setup = f".reg .b{wide} w; cvt.u{wide}.u64 w, a;" if wide < 64 else ""
        source = "w"

    def plain(x: int) -> int:
        return _as(to, _as(of, x))

    def saturated(x: int) -> int:
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if to[0] == "s" else (0, 2**bits - 1)
        return min(max(_as(of, x), low), high)

    for name, rule in (("cvt", plain), ("cvt.sat", saturated)):
        got = evaluate(f"{name}.{to}.{of} d, {source}", [a], f"u{register}", setup=setup)
        for x, result in zip(map(int, a), map(int, got), strict=True):
            assert result == rule(x) % 2**register, (name, to, of, hex(x))


def test_saturating_sums_clamp() -> None:
    """add.sat.s32 and sub.sat.s32 clamp to the range of s32."""
    columns = _columns(32, 2)

    def clamp(x: int) -> int:
        return min(max(x, -(2**31)), 2**31 - 1)

    _check("add.sat.s32 d, a, b", columns, "u32", lambda a, b: clamp(_signed(a, 32) + _signed(b, 32)))
    _check("sub.sat.s32 d, a, b", columns, "u32", lambda a, b: clamp(_signed(a, 32) - _signed(b, 32)))
    _check("abs.s32 d, a", columns[:1], "u32", lambda a: abs(_signed(a, 32)))
    _check("neg.s32 d, a", columns[:1], "u32", lambda a: -a)
    _check("slct.u32.s32 d, a, b, b", columns, "u32", lambda a, b: a if _signed(b, 32) >= 0 else b)
    _check("set.lt.u32.s32 d, a, b", columns, "u32", lambda a, b: -int(_signed(a, 32) < _signed(b, 32)))


def test_fns_finds_the_nth_set_bit() -> None:
    """fns counts set bits from a base upward or downward."""
    random = np.random.default_rng(12)
    mask = random.integers(0, 2**32, 300, dtype=np.uint64).astype(np.uint32)
    base = random.integers(0, 34, 300).astype(np.uint32)
    offset = random.integers(-9, 10, 300).astype(np.int32).view(np.uint32)

    def rule(m: int, b: int, o: int) -> int:
        n = _signed(o, 32)
        if n == 0:
            return b if b < 32 and m >> b & 1 else -1
        places = range(b, 32) if n > 0 else range(b, -1, -1)
        found = [place for place in places if place < 32 and m >> place & 1]
        inside = b < 32
        return found[abs(n) - 1] if inside and len(found) >= abs(n) else -1

    _check("fns.b32 d, a, b, c", [mask, base, offset], "u32", rule)
