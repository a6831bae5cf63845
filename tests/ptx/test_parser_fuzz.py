"""Whatever the text: it is read, or refused by PtxSyntaxError with a place inside of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import DATA, FILES, HEADER, kernel_text

from metrale_gpu_runtime.errors import PtxSyntaxError
from metrale_gpu_runtime.ptx.control_flow import basic_blocks, live_registers
from metrale_gpu_runtime.ptx.parser import parse


def read_or_refuse(text: str | bytes) -> bool:
    """Whether the text is read; a refusal must name a place in it and be short."""
    refusal = None
    try:
        module = parse(text, name="fuzz")
    except PtxSyntaxError as raised:
        refusal = raised
    if refusal is not None:
        plain = text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")
        lines = plain.split("\n")
        assert 1 <= refusal.line <= len(lines)
        assert 1 <= refusal.column <= len(lines[refusal.line - 1]) + 1
        assert len(str(refusal)) < 2000
        str(refusal).encode()  # no lone surrogate may reach a terminal
        return False
    for function in module.functions.values():
        if function.body is not None:
            live_registers(function, basic_blocks(function))
    return True


def mutated(raw: bytes, draw: random.Random) -> bytes:
    """One or a few bytes flipped, or a part cut out, doubled or moved, or the end cut off."""
    data = bytearray(raw)
    kind = draw.randrange(5)
    at = draw.randrange(len(data))
    length = draw.choice([1, 2, 7, 40, 300])
    if kind == 0:
        for _ in range(draw.randrange(1, 6)):
            data[draw.randrange(len(data))] = draw.choice(b'{}[]();:,.@!%|+-<>"/*_$ \n0123456789abfxUrP\0\xff')
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        del data[at : at + length]
    elif kind == 3:
        data[at:at] = data[at : at + length]
    else:
        part = data[at : at + length]
        del data[at : at + length]
        to = draw.randrange(len(data))
        data[to:to] = part
    return bytes(data)


@pytest.mark.parametrize("name", FILES)
def test_two_hundred_mutations_of_each_file_are_read_or_refused(name: str) -> None:
    """Flipped characters and cut files never crash; most are noticed, those in comments and names are not."""
    raw = (DATA / name).read_bytes()
    assert read_or_refuse(raw)
    draw = random.Random(name)
    results = [read_or_refuse(mutated(raw, draw)) for _ in range(200)]
    assert 20 < results.count(False) < 200


def test_a_file_cut_anywhere_is_read_or_refused() -> None:
    """Every prefix of the file; only behind whole declarations that use nothing later is it PTX."""
    text = (DATA / "inline_assembly.ptx").read_text()
    whole = [end for end in range(len(text) + 1) if read_or_refuse(text[:end])]
    assert whole[-1] == len(text)
    assert len(whole) < len(text) // 4


_WORDS = """
    .version .target .reg .b32 .pred .entry .func .global .shared .param .align .section .file .loc .pragma .alias
    .visible .extern .callprototype .branchtargets .noreturn .maxntid .ptr .v4 .attribute ( ) { } [ ] , ; : @ ! | + -
    * < > = ? ~ _ r1 d1 p1 f1 v v.x r1.b0 %tid.x %laneid k a L L: bra brx.idx call mov.b32 add.s32 ld.global.f32 ret
    0 1 -1 4 0x1FU 1.5 0f3F800000 019 99999999999999999999 "s" // /* */ generic WARP_SZ $x %r<4> %r3
"""
_PIECES = st.sampled_from([*_WORDS.split(), "\n"])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(_PIECES, max_size=40), st.booleans())
def test_any_sequence_of_tokens_is_read_or_refused(pieces: list[str], inside: bool) -> None:
    """Tokens in any order, in a body and at module level."""
    text = " ".join(pieces)
    read_or_refuse(kernel_text(text) if inside else HEADER + text)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    """Arbitrary characters and bytes, also behind a good header."""
    read_or_refuse(text)
    read_or_refuse(HEADER + text if isinstance(text, str) else HEADER.encode() + text)


MANY = 30_000
HOSTILE = {
    "braces": kernel_text("{" * MANY),
    "closed braces": kernel_text("{" * MANY + "}" * MANY),
    "parentheses": kernel_text("mov.b32 r1, " + "(" * MANY + "1" + ")" * MANY + ";"),
    "casts": kernel_text("mov.b32 r1, " + "(.s64)" * MANY + "1;"),
    "conditions": kernel_text("mov.b32 r1, " + "1?" * MANY + "1;"),
    "brackets": kernel_text("mov.b32 r1, " + "[r1, " * MANY),
    "vectors": kernel_text("mov.b32 r1, " + "{" * MANY),
    "bars": kernel_text("mov.b32 r1, " + "r1|" * MANY + "r1;"),
    "row braces": HEADER + ".global .b8 x" + "[1]" * MANY + " = " + "{" * MANY + "1" + "}" * MANY + ";",
    "an array": HEADER + ".global .b8 x[999999999999] = {1};",
    "an array of arrays": HEADER + ".global .b8 x[18446744073709551615][18446744073709551615];",
    "dimensions": HEADER + ".global .b8 x" + "[3]" * MANY + ";",
    "empty rows": HEADER + ".global .b8 x[][0] = {" + "{}," * MANY + "{}};",
    "many arrays": HEADER + "".join(f".global .b8 x{n}[200000000] = {{1}};" for n in range(50)),
    "registers": kernel_text(".reg .b32 %x<4294967295>;"),
    "variables": HEADER + ".global .b32 x<4294967295>;",
    "digits": kernel_text("mov.b32 r1, " + "9" * MANY + ";"),
    "decimals": kernel_text("mov.b32 r1, 1." + "9" * MANY + ";"),
    "a name": kernel_text("mov.b32 r1, %" + "x" * MANY + ";"),
    "a component": kernel_text("mov.b32 r1, r1." + "x" * MANY + ";"),
    "a comment": kernel_text("/* " * MANY),
    "a string": kernel_text('.pragma "' + "x" * MANY),
    "an alias of itself": HEADER + ".func f(); .func g(); .alias f, g; .alias g, f;",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_refused_without_exhausting_anything(name: str) -> None:
    """Depth, sizes and counts that would take all memory or the whole stack are refused by name."""
    assert not read_or_refuse(HOSTILE[name])


LONG = {
    "statements": kernel_text("add.s32 r1, r2, r3;" * MANY),
    "modifiers": kernel_text("mov" + ".b32" * MANY + " r1, r2;"),
    "spaced modifiers": kernel_text("mov" + " .b32" * MANY + " r1, r2;"),
    "signs": kernel_text("mov.b32 r1, " + "- " * MANY + "1;"),
    "a sum": kernel_text("mov.b32 r1, " + "1+" * MANY + "1;"),
    "elements": kernel_text("mov.b32 r1, {" + "r1," * MANY + "r2};"),
    "scopes": kernel_text("{ .reg .b32 r1; L: mov.b32 r1, r2; bra L; }" * (MANY // 4)),
    "deep scopes": kernel_text("{" * 120 + "mov.b32 r1, %laneid; bra L;" * (MANY // 10) + "}" * 120 + " L:"),
    "labels": kernel_text("".join(f"L{n}: bra L{MANY - 1 - n};" for n in range(MANY))),
    "values": HEADER + ".global .b8 x[] = {" + "1," * MANY + "1};",
    "lines": HEADER + "\n" * MANY + ".global .b32 x;",
    "counted registers": kernel_text("".join(f".reg .b32 q{n}x<1000000>;" for n in range(MANY // 10))),
}


@pytest.mark.parametrize("name", LONG)
def test_long_texts_are_read_in_time_that_grows_with_their_length(name: str) -> None:
    """Thirty thousand of anything is read; what is quadratic would take minutes and show as a hang."""
    assert read_or_refuse(LONG[name])


def test_a_counted_declaration_makes_no_registers() -> None:
    """The most registers that one declaration may ask for cost nothing until they are named."""
    function = parse(kernel_text(".reg .b32 %x<1000000>; mov.b32 %x999999, 0;")).functions["k"]
    assert "%x999999" in function.registers
    assert len(function.registers) < 100
