"""What the PTX reader makes of real files, and of each form that the ISA allows."""

from __future__ import annotations

import re
import struct

import pytest
from texts import DATA, FILES, HEADER, instruction, instructions, kernel, kernel_text, module_text, operand

from metrale_gpu_runtime.errors import GpuError, ModuleLoadError, PtxSyntaxError
from metrale_gpu_runtime.ptx.parser import parse
from metrale_gpu_runtime.ptx.syntax import (
    Address,
    ArgumentList,
    CallPrototype,
    Guard,
    Immediate,
    Initializer,
    Instruction,
    Label,
    LaunchBounds,
    Negated,
    Pair,
    Part,
    Position,
    PtxModule,
    Register,
    Sink,
    SourceLine,
    SpecialRegister,
    Symbol,
    Vector,
)


def read(name: str) -> PtxModule:
    return parse((DATA / name).read_bytes(), name=name)


def r(name: str) -> Register:
    return Register(name)


# ---------------------------------------------------------------- real files


@pytest.mark.parametrize("name", [n for n in FILES if n.startswith("reduction")])
def test_each_instruction_line_of_a_compiler_is_one_instruction_at_its_line(name: str) -> None:
    """Opcodes with modifiers and their lines agree with a plain search through the lines."""
    expected = []
    for number, line in enumerate((DATA / name).read_text().splitlines(), 1):
        # Inline assembly has several on its one line; nvcc spreads a call over several lines.
        for part in line.split("//")[0].split(";")[:-1]:
            found = re.match(r"[{\s]*(?:@!?[%\w]+\s+)?([a-z]\w*(?:[.:]+\w+)*)\s*(?=[^\s:(\w=]|\w|$)", part)
            if found and not found[1].startswith(("prototype", "call")):
                expected.append((number, found[1]))
    seen = [
        (each.position.line, each.text)
        for function in read(name).functions.values()
        if function.body is not None
        for each in instructions(function)
        if each.opcode != "call"
    ]
    assert seen == expected
    assert len(seen) > 150


def test_a_kernel_of_nvcc_has_its_parameters_bounds_and_variables() -> None:
    """Sizes, alignments and offsets of parameters, launch bounds, shared and constant data come from the text."""
    module = read("reduction.sm80.ptx")
    assert (module.version, module.target, module.target_options, module.address_size) == ((9, 0), "sm_80", (), 64)
    assert [k.name for k in module.kernels()] == ["block_sum", "indirect", "dispatch"]
    block_sum = module.functions["block_sum"]
    assert [(p.type, p.nbytes, p.align, p.count) for p in block_sum.parameters] == [
        ("u64", 8, 8, None),
        ("u64", 8, 8, None),
        ("u32", 4, 4, None),
        ("b8", 16, 8, 16),
    ]
    assert block_sum.parameter_offsets() == (0, 8, 16, 24)
    assert block_sum.bounds == LaunchBounds(maxntid=(192, 1, 1), minnctapersm=3)
    assert block_sum.linkage == "visible"
    (partial,) = block_sum.variables.values()
    assert (partial.space, partial.nbytes, partial.align, partial.data) == ("shared", 24, 4, None)
    dynamic = module.variables["dynamic"]
    assert (dynamic.space, dynamic.linkage, dynamic.nbytes, dynamic.count) == ("shared", "extern", 0, 0)
    coefficients = module.variables["coefficients"]
    assert coefficients.space == "const"
    assert coefficients.data == struct.pack("<3f", 1.5, -2.25, 3e8)
    assert module.variables["counter"].data == (7).to_bytes(4, "little")
    assert module.functions["indirect"].parameter_offsets() == (0, 8, 16, 17)


def test_initialised_pointers_are_relocations() -> None:
    """Tables of strings and functions keep zero bytes and say which address goes where."""
    module = read("reduction.sm80.ptx")
    assert module.variables["words"].relocations == (
        Initializer(0, 8, "$str", 0, True),
        Initializer(8, 8, "$str$1", 0, True),
    )
    assert module.variables["operations"].relocations == (
        Initializer(0, 8, "_Z7tripledi", 0, False),
        Initializer(8, 8, "_Z7doubledi", 0, False),
    )
    assert module.variables["operations"].data == bytes(16)
    assert module.variables["$str$1"].data == b"south\0"


def test_a_definition_wins_over_the_forward_declaration() -> None:
    """nvcc declares device functions first and defines them later; the body is kept, each name once."""
    module = read("reduction.sm80.ptx")
    doubled = module.functions["_Z7doubledi"]
    assert doubled.body is not None
    assert [i.text for i in instructions(doubled)] == ["ld.param.u32", "shl.b32", "st.param.b32", "ret"]
    assert instructions(doubled)[2].operands == (Address(Symbol("func_retval0"), 0), r("%r2"))


def test_the_blackwell_dialect_marks_pointers_without_a_space() -> None:
    """nvcc for sm_100 writes `.ptr .align 1`; the space is generic then."""
    out = read("reduction.sm100.ptx").functions["block_sum"].parameters[1]
    assert (out.is_pointer, out.pointer_space, out.pointer_align, out.align) == (True, "generic", 1, 8)


def test_triton_marks_its_pointers_and_fixes_the_block() -> None:
    """`.ptr .global`, `.reqntid`, guarded loads with spaces inside their braces, debug sections."""
    module = read("softmax.triton.ptx")
    softmax = module.functions["softmax"]
    assert [(p.pointer_space, p.pointer_align) for p in softmax.parameters] == [
        ("global", 1),
        ("global", 1),
        (None, None),
        ("global", 1),
        ("global", 1),
    ]
    assert softmax.bounds.reqntid == (128, 1, 1)
    loads = [i for i in instructions(softmax) if i.text == "ld.global.b32"]
    assert [i.guard for i in loads] == [Guard("%p1", False), Guard("%p2", False)]
    assert loads[0].operands == (Vector((r("%r1"),)), Address(r("%rd1"), 0))
    assert loads[0].source == SourceLine("softmax.py", 13, 13)
    assert set(module.sections) >= {".debug_abbrev", ".debug_info"}


def test_source_lines_come_from_files_that_are_declared_last() -> None:
    """nvcc writes the file table after the code; inlined code shows the line of the inlined function."""
    module = read("reduction.lines.ptx")
    assert module.files[1] == "reduction.cu"
    lines = {i.text: i.source for i in instructions(module.functions["block_sum"])}
    assert lines["shfl.sync.down.b32"] == SourceLine(module.files[2], 440, 9)
    assert module.files[2].endswith("sm_30_intrinsics.hpp")
    assert lines["mul.f32"] == SourceLine("reduction.cu", 18, 73)
    assert lines["bar.sync"] == SourceLine("reduction.cu", 32, 5)


def test_debug_code_has_calls_in_scopes_and_sections_with_labels() -> None:
    """Without optimisation each call has its own braces with variables of the same names; each name is unique."""
    module = read("reduction.debug.ptx")
    assert module.target_options == ("debug",)
    block_sum = module.functions["block_sum"]
    names = [v.name for v in block_sum.variables.values() if v.space == "param"]
    assert len(names) == len(set(names))
    assert {"param0", "param0.2", "retval0", "retval0.2"} <= set(names)
    calls = [i for i in instructions(block_sum) if i.opcode == "call"]
    assert {i.modifiers for i in calls} == {("uni",)}
    assert ArgumentList((Symbol("retval0.2"),)) in [i.operands[0] for i in calls]
    info = module.sections[".debug_info"]
    assert info.items[0] == (4, info.items[0][1])
    assert sum(nbytes for nbytes, _ in info.items) > 400
    targets = [value[0] for _, value in info.items if isinstance(value, tuple)]
    assert ".debug_abbrev" in targets


def test_a_hand_written_kernel_reads_as_the_assembler_reads_it() -> None:
    """Scopes, mixed statements, literals, tables and every bracket of inline assembly, in one file."""
    module = read("inline_assembly.ptx")
    copy = module.functions["copy"]
    assert copy.bounds == LaunchBounds(reqntid=(96, 2, 1), minnctapersm=2, reqnctapercluster=(2, 1, 1))
    assert [(p.nbytes, p.align) for p in copy.parameters] == [(128, 64), (8, 8), (4, 4)]
    assert copy.parameter_offsets() == (0, 128, 136)
    by_text: dict[str, list[Instruction]] = {}
    for each in instructions(copy):
        by_text.setdefault(each.text, []).append(each)
    waits = by_text["mbarrier.try_wait.parity.shared::cta.b64"]
    assert [w.operands for w in waits] == [
        (r("P1"), Address(r("%r2"), 0), r("%r1")),
        (r("P1.2"), Address(r("%r2"), 8), Immediate(1)),
    ]
    assert [b.operands[0] for b in by_text["bra"]] == [
        Symbol("DONE"),
        Symbol("LAB_WAIT"),
        Symbol("DONE.2"),
        Symbol("LAB_WAIT.2"),
    ]
    assert waits[0].source == SourceLine("detail/copy.h", 12, 3)
    (tensor,) = [i for i in instructions(copy) if i.opcode == "cp"]
    assert tensor.modifiers[-1] == "mbarrier::complete_tx::bytes"
    assert tensor.operands == (
        Address(r("%r2")),
        Address(r("%rd1"), 0, (Vector((r("%r1"), r("%r3"))),)),
        Address(r("%r2"), 64),
    )
    assert by_text["setp.lt.and.s32"][0].operands == (
        Pair(r("%p1"), r("%p2")),
        r("%r1"),
        r("%r3"),
        Negated(r("%p0")),
    )
    quad = tuple(r(f"quad.{c}") for c in "xyzw")
    assert by_text["ld.global.v4.f32"][0].operands == (Vector(quad), Address(r("%rd2"), -16))
    assert by_text["st.global.v4.f32"][0].operands[1] == Vector(quad)
    assert by_text["fma.rn.f32"][0].operands[2:] == (
        Immediate(0x3F800000, 32),
        Immediate(int.from_bytes(struct.pack("<d", 1.5), "little"), 64),
    )
    assert by_text["mov.b32"][0].operands == (r("%r1.2"), Immediate(31))
    assert copy.registers["%r1"].type == copy.registers["%r1.2"].type == "b32"
    assert by_text["brx.idx"][0].operands == (r("%r6"), Symbol("L_table"))
    assert copy.branch_tables == {"L_table": ("L_0", "L_1")}
    assert by_text["call"][0].operands == (ArgumentList((r("%r6"),)), Symbol("twice"), ArgumentList((r("%r5"),)))
    assert by_text["atom.global.add.u32"][0].operands[:2] == (Sink(), Address(Symbol("table"), 8))
    assert by_text["ld.global.u32"][0].operands[1] == Symbol("table", 4 * 3 * 0 + 16)
    assert by_text["nanosleep.u32"][0].operands == (Immediate(20),)
    table = module.variables["table"]
    assert (table.count, table.nbytes) == (6, 24)
    assert table.data == struct.pack("<6i", 1, 2, -3, 4, 8, 0)
    assert module.variables["pairs"].data == struct.pack("<4f", 1.5, -0.25, 3.0, 1e-3)
    assert [(i.offset, i.nbytes, i.mask) for i in module.variables["spread"].relocations] == [
        (0, 1, 0xFF),
        (1, 1, 0xFF00),
        (2, 1, 0xFF0000),
    ]
    assert module.variables["base"].relocations[1] == Initializer(8, 8, "table", 4, False)
    twice = module.functions["twice"]
    assert (twice.returns[0].space, twice.parameters[0].name) == ("reg", "value")
    assert set(twice.registers) == {"result", "value"}
    section = module.sections[".debug_str"]
    assert section.labels == {"$L__info_string0": 0, "$L__end": 5}
    assert section.items[5:] == ((4, 5), (8, ("$L__info_string0", 2)))
    assert module.files == {1: "kernel.cu", 2: "detail/copy.h"}


def test_a_text_may_be_bytes_and_end_in_zero() -> None:
    """NVRTC hands out bytes with a final zero, comments may be in any encoding."""
    raw = (DATA / "reduction.nvrtc.ptx").read_bytes()
    plain = parse(raw)
    assert len(plain.kernels()) == 3
    assert parse(raw + b"\0") == plain
    assert parse(b"// \xff\xe9 caf\xe9\n" + raw).functions.keys() == plain.functions.keys()


def test_every_opcode_seen_in_public_kernels_is_read() -> None:
    """All 924 spellings of the study keep their mnemonic and the order of their modifiers, under a guard."""
    opcodes = (DATA / "opcodes.txt").read_text().split()
    assert len(opcodes) == 924
    special = {"bra": "L", "call": "(a), k, (a)", "ret": "", "exit": "", "trap": ""}
    usual = "{r0, _}|p1, [d1+-4, {r1, f2}], !p3, -1, 0f3F800000, v"
    body = "\n".join(f"@!p2 {opcode} {special.get(opcode.split('.')[0], usual)};" for opcode in opcodes)
    seen = instructions(kernel(f"L: {body}"))
    assert [each.text for each in seen] == opcodes
    assert [(each.opcode, *each.modifiers) for each in seen] == [tuple(opcode.split(".")) for opcode in opcodes]
    assert {each.guard for each in seen} == {Guard("p2", True)}


# ---------------------------------------------------------------- operands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r7", r("r7")),
        ("%laneid", SpecialRegister("%laneid")),
        ("%ctaid.z", SpecialRegister("%ctaid.z")),
        ("%tid.g", SpecialRegister("%tid.y")),
        ("%tid", Vector(tuple(SpecialRegister(f"%tid.{c}") for c in "xyzw"))),
        ("WARP_SZ", Immediate(32)),
        ("-5", Immediate(-5)),
        ("- 5", Immediate(-5)),
        ("0xffffffffffffffff", Immediate(2**64 - 1)),
        ("-9223372036854775808", Immediate(-(2**63))),
        ("0b1011", Immediate(11)),
        ("0B11U", Immediate(3)),
        ("017", Immediate(15)),
        ("0XfFU", Immediate(255)),
        ("08.5", Immediate(0x4021000000000000, 64)),
        (".5", Immediate(0x3FE0000000000000, 64)),
        ("1.", Immediate(0x3FF0000000000000, 64)),
        ("1e3", Immediate(0x408F400000000000, 64)),
        ("2.5e-1", Immediate(0x3FD0000000000000, 64)),
        ("-1.5", Immediate(0xBFF8000000000000, 64)),
        ("0f7F800001", Immediate(0x7F800001, 32)),
        ("0FFFC00000", Immediate(0xFFC00000, 32)),
        ("0dBff0000000000000", Immediate(0xBFF0000000000000, 64)),
        ("-0f3F800000", Immediate(0xBF800000, 32)),
        ("!p4", Negated(r("p4"))),
        ("-r4", Negated(r("r4"))),
        ("r1|p2", Pair(r("r1"), r("p2"))),
        ("_ | p2", Pair(Sink(), r("p2"))),
        ("{r1,_,5}", Vector((r("r1"), Sink(), Immediate(5)))),
        ("v.y", r("v.y")),
        ("v.b", r("v.z")),
        ("v", Vector(tuple(r(f"v.{c}") for c in "xyzw"))),
        ("r3.b2", Part(r("r3"), "b2")),
        ("-r3.h10", Negated(Part(r("r3"), "h10"))),
        ("[d1]", Address(r("d1"))),
        ("[ d1 + 12 ]", Address(r("d1"), 12)),
        ("[d1+-4]", Address(r("d1"), -4)),
        ("[d1-4]", Address(r("d1"), -4)),
        ("[d1+4*(2+1)]", Address(r("d1"), 12)),
        ("[a+8]", Address(Symbol("a"), 8)),
        ("[n[2]]", Address(Symbol("n"), 8)),
        ("n[1]", Symbol("n", 4)),
        ("[64]", Address(Immediate(64))),
        ("[0x10+4]", Address(Immediate(20))),
        ("a+4", Symbol("a", 4)),
        ("a-4", Symbol("a", -4)),
        ("[d1, {f1, f2}]", Address(r("d1"), 0, (Vector((r("f1"), r("f2"))),))),
        ("[d1, d2, {f1}]", Address(r("d1"), 0, (r("d2"), Vector((r("f1"),))))),
    ],
)
def test_operands(text: str, expected: object) -> None:
    """Each form of operand reads as the value that the ISA gives it."""
    assert operand(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3+4*2", 11),
        ("(3+4)*2", 14),
        ("7/2", 3),
        ("-7/2", -3),
        ("-7 % 4", -3),
        ("-7>>1", -4),
        ("1<<63>>1", -(2**62)),
        ("0x8000000000000000>>1", 2**62),
        ("~0U>>60", 15),
        ("!5", 0),
        ("!!5", 1),
        ("-1U", 2**64 - 1),
        ("5-7>3", 0),
        ("(.u64)-1 > 5", 1),
        ("-1 > 5U", 1),
        ("-1 > 5", 0),
        ("(.s64)0xFFFFFFFFFFFFFFFF", -1),
        ("1 && 0 || 1", 1),
        ("6|1^3&2", 7),
        ("1==1?5:6", 5),
        ("0?1:0?2:3", 3),
        ("WARP_SZ*2-1", 63),
        ("0x7FFFFFFFFFFFFFFF+1", -(2**63)),
    ],
)
def test_constant_expressions_have_the_assemblers_values(text: str, value: int) -> None:
    """Operators bind as in C, on 64 bits, unsigned where one side is."""
    assert operand(text) == Immediate(value)


def test_modifiers_keep_their_order_and_may_stand_apart() -> None:
    """A dotted word with digits or `::` is one modifier; blanks before a dot do not matter."""
    assert instruction("tex.2d .v4.f32 .f32 r0, [d1, {f1,f2}];").modifiers == ("2d", "v4", "f32", "f32")
    written = instruction("ld.global.L1::evict_last.L2::128B.v2.b32 {r0,r1}, [d1];")
    assert written.modifiers == ("global", "L1::evict_last", "L2::128B", "v2", "b32")


def test_a_call_has_lists_a_function_and_a_prototype() -> None:
    """Results, function, arguments and prototype come in the order written, each list as one operand."""
    before = (".func (.param .b32 x) g(.param .b32 y, .param .b8 z[5]);",)
    call = instruction("{ .param .b32 s; .param .b8 t[5]; .param .b32 u; call.uni (s), g, (u, t); }", *before)
    assert call.operands == (
        ArgumentList((Symbol("s"),)),
        Symbol("g"),
        ArgumentList((Symbol("u"), Symbol("t"))),
    )
    assert instruction("call g;", *before).operands == (Symbol("g"),)
    body = (
        "{ P: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[24], .param .b64 _); call (r0), d1, (a), P; }"
        "{ P: .callprototype _ .noreturn; call d1, P; T: .calltargets g, h; call d2, (), T; }"
    )
    function = kernel(body, *before, ".func h();")
    first, second, third = instructions(function)
    assert first.operands == (ArgumentList((r("r0"),)), r("d1"), ArgumentList((Symbol("a"),)), Symbol("P"))
    assert second.operands == (r("d1"), Symbol("P.2"))
    assert third.operands == (r("d2"), ArgumentList(()), Symbol("T"))
    assert [(p.nbytes, p.align) for p in function.prototypes["P"].parameters] == [(24, 8), (8, 8)]
    assert function.prototypes["P"].returns[0].type == "b32"
    assert function.prototypes["P.2"] == CallPrototype("P.2", (), (), True)
    assert function.call_tables == {"T": ("g", "h")}


# ---------------------------------------------------------------- scopes


def test_an_inner_register_shadows_the_outer_one_only_inside_its_braces() -> None:
    """The same name means what the nearest braces say, and comes out under a name of its own."""
    function = kernel(
        "mov.b32 r1, 1; { .reg .b64 r1; mov.b64 r1, 2;"
        " { .reg .f32 r<3>; mov.f32 r1, r2; } mov.b64 r1, 4; } mov.b32 r1, 5;"
    )
    assert [i.operands[0] for i in instructions(function)] == [
        r("r1"),
        r("r1.2"),
        r("r1.3"),
        r("r1.2"),
        r("r1"),
    ]
    assert [function.registers[n].type for n in ("r1", "r1.2", "r1.3", "r2")] == ["b32", "b64", "f32", "f32"]


def test_registers_are_those_that_the_body_names() -> None:
    """A count declares names, not registers yet; a prefix that ends in digits is not mistaken."""
    function = kernel(".reg .b32 %t1<20>; .reg .b64 %t<10>; mov.b32 %t119, 0; mov.b64 %t9, 0;")
    named = {n: d.type for n, d in function.registers.items() if n.startswith("%")}
    assert named == {"%t119": "b32", "%t9": "b64"}


def test_labels_are_found_in_the_braces_around_the_branch() -> None:
    """A branch goes to the label of the nearest braces, before or after it; siblings have their own."""
    function = kernel("L: { bra L; L: { bra L; } } { L: bra M; } bra L; M:")
    branches = [i.operands[0] for i in instructions(function)]
    assert branches == [Symbol("L.2"), Symbol("L.2"), Symbol("M"), Symbol("L")]
    assert function.body is not None
    labels = [s.name for s in function.body if isinstance(s, Label)]
    assert labels == ["L", "L.2", "L.3", "M"]


def test_a_local_variable_never_takes_the_name_of_the_modules() -> None:
    """A Symbol means one thing in a function: the module's variable keeps its name, the local one is renamed."""
    function = kernel("{ .shared .align 8 .b8 g[24]; mov.b64 d1, g; } mov.b64 d1, g;", ".global .b32 g = 3;")
    assert [i.operands[1] for i in instructions(function)] == [Symbol("g.2"), Symbol("g")]
    assert list(function.variables) == ["g.2"]
    assert function.variables["g.2"].name == "g.2"


def test_a_function_may_be_used_before_it_is_declared() -> None:
    """Symbols of the module are looked up when all of it has been read."""
    text = module_text(".entry k() { call later, (); }", ".func later() { ret; } .global .u64 p = x; .global .u32 x;")
    assert parse(text).functions["later"].body is not None


# ---------------------------------------------------------------- declarations


def test_parameters_pointers_and_arrays() -> None:
    """Alignment, vectors, `.ptr` with and without a space, counts and unnamed ones."""
    text = (
        ".entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q, .param .align 64 .b8 m[128],"
        " .param .v2 .f32 w, .param .b8 c, .param .f64 e[3]) { ret; }"
    )
    p, q, m, w, c, e = parse(module_text(text)).functions["k"].parameters
    assert (p.pointer_space, p.pointer_align, p.align, p.is_pointer) == ("global", 16, 8, True)
    assert (q.pointer_space, q.pointer_align) == ("generic", None)
    assert (m.align, m.nbytes, m.count, m.is_pointer) == (64, 128, 128, False)
    assert (w.vector, w.nbytes, w.align, w.count) == (2, 8, 8, None)
    assert (c.nbytes, c.align) == (1, 1)
    assert (e.nbytes, e.count, e.align) == (24, 3, 8)
    assert parse(module_text(text)).functions["k"].parameter_offsets() == (0, 8, 64, 192, 200, 208)


def test_linkage_spaces_and_several_names_in_one_declaration() -> None:
    """One declaration may name several variables, each with its own shape; counts make numbered ones."""
    module = parse(
        module_text(
            ".visible .global .u32 a, b[3], c = 5;",
            ".const .b16 s<3>;",
            ".extern .global .b64 far[];",
            ".common .global .align 16 .b64 env;",
            ".global .attribute(.managed, .unified(19, 95)) .f32 m;",
            ".global .samplerref lin =",
            "{ filter_mode = linear, addr_mode_0 = clamp_to_edge, force_unnormalized_coords = 1 };",
        )
    )
    v = module.variables
    assert [(v[n].nbytes, v[n].count, v[n].linkage) for n in "abc"] == [
        (4, None, "visible"),
        (12, 3, "visible"),
        (4, None, "visible"),
    ]
    assert v["c"].data == b"\5\0\0\0"
    assert [v[f"s{n}"].nbytes for n in range(3)] == [2, 2, 2]
    assert "s3" not in v
    assert (v["far"].nbytes, v["far"].linkage, v["env"].align) == (0, "extern", 16)
    assert v["m"].attributes == ("managed", "unified(19, 95)")
    assert v["lin"].properties == (
        ("filter_mode", "linear"),
        ("addr_mode_0", "clamp_to_edge"),
        ("force_unnormalized_coords", 1),
    )


@pytest.mark.parametrize(
    ("declaration", "data"),
    [
        (".b8 x[3] = {256, -1, -200}", b"\x00\xff\x38"),
        (".u16 x = 70000", b"\x70\x11"),
        (".f32 x = 0.1", struct.pack("<f", 0.1)),
        (".f32 x = 1e39", struct.pack("<f", float("inf"))),
        (".f32 x = 0d3FF0000000000000", b"\x00\x00\x80\x3f"),
        (".b32 x = 1.0", b"\x00\x00\x80\x3f"),
        (".f64 x = -1.5", struct.pack("<d", -1.5)),
        (".f32 x = 1.0+2.0", struct.pack("<f", 3.0)),
        (".b64 x = 1.5", struct.pack("<d", 1.5)),
        (".u64 x = -1U", b"\xff" * 8),
        (".b8 x[2][3] = {{1, 2, 3}, {4}}", bytes([1, 2, 3, 4, 0, 0])),
        (".b8 x[2][3] = {}", bytes(6)),
        (".b8 x[][2] = {{1, 2}, {3, 4}, {5}}", bytes([1, 2, 3, 4, 5, 0])),
        (".b8 x[] = {1, 2, 3}", bytes([1, 2, 3])),
        (".v2 .b16 x[2] = {{1, 2}, {3, 4}}", struct.pack("<4H", 1, 2, 3, 4)),
        (".v2 .f32 x = {1.0, 0f40000000}", struct.pack("<2f", 1, 2)),
    ],
)
def test_initial_values_are_the_bytes_that_the_assembler_stores(declaration: str, data: bytes) -> None:
    """Values are cut or rounded to their type as ptxas does it, rows are filled up with zeros."""
    variable = parse(module_text(f".global {declaration};")).variables["x"]
    assert variable.data == data
    assert variable.nbytes == len(data)


def test_an_external_declaration_beside_the_definition_is_no_second_one() -> None:
    """`.extern` may stand before or after; the definition is kept with its place and value."""
    for order in (0, 1):
        both = [".extern .global .u32 g;", ".global .u32 g = 9;"]
        module = parse(
            module_text(*(both[::-1] if order else both), ".extern .shared .b8 s[]; .extern .shared .b8 s[];")
        )
        assert module.variables["g"].data == b"\x09\0\0\0"
        assert module.variables["g"].linkage is None


def test_bounds_that_newer_versions_brought() -> None:
    """Clusters, register and occupancy limits are kept as numbers."""
    head = (
        ".entry k() .maxntid 8, 4 .maxnreg 40 .maxclusterrank 6 .explicitcluster .blocksareclusters"
        ' .maxnctapersm 3 .pragma "x"; { ret; }'
    )
    assert parse(module_text(head)).functions["k"].bounds == LaunchBounds(
        maxntid=(8, 4, 1), maxnreg=40, maxclusterrank=6, explicit_cluster=True, blocks_are_clusters=True, maxnctapersm=3
    )


def test_functions_of_each_kind() -> None:
    """Entries without a list, register parameters, `.noreturn`, and an alias that is its target."""
    module = parse(
        module_text(
            ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 b);",
            ".visible .func stop(.param .b32 code) .noreturn;",
            ".func real() { ret; } .visible .func other(); .alias other, real;",
            ".entry bare { exit; }",
        )
    )
    f = module.functions
    assert (f["vprintf"].linkage, f["vprintf"].body, f["vprintf"].is_kernel) == ("extern", None, False)
    assert f["stop"].noreturn
    assert f["real"].body is not None
    assert f["other"].body == f["real"].body
    assert (f["other"].name, f["other"].linkage, module.aliases) == ("other", "visible", {"other": "real"})
    assert f["bare"].is_kernel
    assert f["bare"].parameters == ()


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, 'expected ".version" at the beginning, found the end of the text'),
        (".version 8\n", 1, 10, "expected a version such as 8.7, found 8"),
        (".version 8.7\n.address_size 64", 2, 1, 'expected ".target" after .version, found .address_size'),
        (HEADER + ".entry k() { ret;", 4, 18, 'expected "}" for the "{" of line 4, found the end of the text'),
        (HEADER + ".entry k() {\n ret; .entry j() { ret; }", 5, 7, '.entry inside the body of k: a "}" is missing'),
        (HEADER + ".global .u32 x", 4, 15, 'expected "," or ";" after a declaration, found the end of the text'),
        (HEADER + "/* open", 4, 1, "this comment is never closed"),
        (HEADER + '.pragma "open\n;', 4, 9, "this string is not closed on its line"),
        (HEADER + "#define X 1", 4, 1, "preprocessor lines must be expanded before the text is loaded"),
        (HEADER + ".global .u32 x = 019;", 4, 18, "019 begins with 0, so it is octal"),
        (HEADER + ".global .u32 x = 12ab;", 4, 18, "12ab is no number"),
        (HEADER + ".global .u32 x\\;", 4, 15, "'\\\\' cannot stand here"),
        (HEADER + ".version 8.7", 4, 1, "a second .version"),
        (HEADER + ".global .u32 x; .global .u32 x;", 4, 30, "x is defined a second time; first in line 4"),
        (HEADER + ".func f() { ret; }\n.func f() { ret; }", 5, 7, "f is defined a second time; first in line 4"),
        (HEADER + ".func f(); .entry f() { ret; }", 4, 19, "f is declared as both .entry and .func"),
        (HEADER + ".global .align 3 .b8 x;", 4, 16, "an alignment is a power of two"),
        (HEADER + ".global .u32 .u64 x;", 4, 14, "a second type, .u64, after .u32"),
        (HEADER + ".global x;", 4, 9, "expected a type after .global, found x"),
        (HEADER + ".shared .u32 x = 1;", 4, 16, "only .global and .const variables have initial values, not .shared"),
        (HEADER + ".global .u32 x[2] = {1, 2, 3};", 4, 28, "more values than x has room for"),
        (HEADER + ".global .b8 x[2][3] = {{1}, {2}};", 4, 29, "a row follows one that has too few values"),
        (HEADER + ".global .f32 x = 1;", 4, 18, "an integer for .f32"),
        (HEADER + ".global .u32 x = 1.5;", 4, 18, "a floating-point value of 64 bits for .u32"),
        (HEADER + ".global .f64 x = 0f3F800000;", 4, 18, "a floating-point value of 32 bits for .f64"),
        (HEADER + ".global .u64 x = nobody;", 4, 18, "nobody is not declared"),
        (HEADER + ".global .u16 y; .global .u16 x = y;", 4, 34, "an address does not fit in .u16"),
        (HEADER + ".global .b8 x[];", 4, 13, "x has no size"),
        (HEADER + ".entry k(.param .u32 p, .param .u32 p) { ret; }", 4, 37, "there are two parameters p"),
        (HEADER + ".entry k(.reg .u32 p) { ret; }", 4, 8, "the parameters of the kernel k must be .param, not .reg"),
        (HEADER + ".entry k() .maxntid 1,2,3,4 { ret; }", 4, 12, ".maxntid takes up to three extents, not 4"),
        (HEADER + ".entry k() .maxntid 0 { ret; }", 4, 21, ".maxntid cannot be 0"),
        (HEADER + ".func f(.reg .v8 .b32 p) { ret; }", 4, 14, "expected a type, .align or .v2/.v4 after .reg"),
        (HEADER + ".alias f, g;", 4, 8, "g, which f stands for, has no body here"),
        (HEADER + '.weak .file 1 "x"', 4, 7, "expected .entry, .func or a state space"),
        (HEADER + ".nothing", 4, 1, ".nothing is no directive of a module"),
    ],
)
def test_refusals_of_a_module_name_the_place(text: str, line: int, column: int, message: str) -> None:
    """Line and column point at the token that is wrong, and the message says what was expected."""
    with pytest.raises(PtxSyntaxError) as caught:
        parse(text, name="broken.ptx")
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column, caught.value.module) == (line, column, "broken.ptx")


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("add.s32 r1, r2 r3;", 16, 'expected "," or ";" after an operand of add, found r3'),
        ("add.s32 r1, r2, ;", 17, "expected an operand, found ;"),
        ("add.s32 r1, r2, %r77;", 17, "%r77 is not declared"),
        ("add.s32 r1, r2, r40;", 17, "r40 is not declared"),
        ("mov.b64 d1, nothing;", 13, "nothing is not declared"),
        ("ld.global.b32 r1, [nothing+4];", 20, "nothing is not declared"),
        ("bra NOWHERE;", 5, "there is no label NOWHERE in these braces or around them"),
        ("{ L: } bra L;", 12, "there is no label L in these braces or around them"),
        ("bra r1;", 5, "there is no label r1"),
        ("bra;", 4, "expected a label, found ;"),
        ("L: brx.idx r1;", 14, 'expected "," and the name of .branchtargets, found ;'),
        ("brx.idx r1, T; T:", 13, "there is no .branchtargets T"),
        ("L: bra L; L: ret;", 11, "L is declared twice in the same braces"),
        (".reg .b32 x; .reg .b64 x;", 24, "x is declared twice in the same braces"),
        (".reg .b32 r5;", 11, "r5 is declared twice in the same braces"),
        (".shared .b32 x; .local .b32 x;", 29, "x is declared twice in the same braces"),
        ("@r1 mov.b32 r1, r2;", 2, "r1 guards an instruction but is declared .b32, not .pred"),
        ("@p1 { ret; }", 5, "expected an instruction after its guard, found {"),
        ("@p1 @p2 ret;", 5, "expected an instruction after its guard, found @"),
        ("mov.b32 r1, %tid.q;", 13, "%tid has no component .q; it has .x, .y, .z and .w"),
        ("mov.b32 r1, v.q;", 13, "v has no component .q"),
        ("mov.b32 r1, 5/0;", 14, "division by zero"),
        ("mov.b32 r1, 1<<64;", 14, "a shift by 64"),
        ("mov.b32 r1, 18446744073709551616;", 13, "18446744073709551616 does not fit in 64 bits"),
        ("ld.b32 r1, [v];", 13, "expected a register, a symbol or a number, found v"),
        ("ld.b32 r1, [1.5];", 13, "expected an address, found 1.5"),
        ("mov.b32 r1, n[3];", 14, "n has 3 elements; there is none at 3"),
        ("mov.b32 r1, n[r2];", 15, "an array index must be constant here"),
        ("call (r1);", 10, 'expected "," and the function that is called, found ;'),
        (".reg .b32 %x<4294967295>;", 11, "%x<4294967295> asks for more than 1000000 registers"),
        (".reg .v8 .b32 x;", 6, "expected the type of a register, found .v8"),
        (".nothing 4;", 1, ".nothing is no directive of a body"),
        ("5;", 1, "expected an instruction, a label, a directive or a brace, found 5"),
        ("%x r1;", 1, "expected an instruction, found %x"),
        ("T: .branchtargets A; brx.idx r1, T;", 19, "there is no label A"),
    ],
)
def test_refusals_of_a_body_name_the_place(body: str, column: int, message: str) -> None:
    """Undeclared names and malformed statements are refused at their position in the body."""
    text = kernel_text(body)
    with pytest.raises(PtxSyntaxError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (5, column)
    assert caught.value.excerpt == text.splitlines()[4]


def test_an_error_shows_the_line_with_a_caret() -> None:
    """The shown excerpt is cut around the column on long lines, and the caret stands under it."""
    blanks = " " * 500
    with pytest.raises(PtxSyntaxError) as caught:
        parse(kernel_text(f"{blanks}\tmov.b32 r1, %gone;{blanks}"), name="long.ptx")
    head, excerpt, caret = str(caught.value).split("\n")
    assert head == "long.ptx:5:514: %gone is not declared"
    assert len(excerpt) < 170
    assert excerpt[caret.index("^") :].startswith("%gone;")
    assert isinstance(caught.value, (ModuleLoadError, ValueError))
    assert isinstance(caught.value, GpuError)


def test_positions_count_lines_and_columns_from_one() -> None:
    """Instructions and labels know where they stand, tabs and several statements on a line included."""
    function = kernel("\n\tmov.b32 r1, 2; @p1 add.s32\n r1, r1, r1;\nL: ret;")
    assert function.body is not None
    assert [s.position for s in function.body] == [
        Position(6, 2),
        Position(6, 21),
        Position(8, 1),
        Position(8, 4),
    ]
