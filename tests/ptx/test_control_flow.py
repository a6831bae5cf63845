"""Reads, writes, basic blocks and liveness of PTX bodies."""

from __future__ import annotations

import random

import pytest
from texts import DATA, FILES, instruction, instructions, kernel, kernel_text

from metrale_gpu_runtime.ptx.control_flow import basic_blocks, live_registers, reads, writes
from metrale_gpu_runtime.ptx.parser import parse
from metrale_gpu_runtime.ptx.syntax import Function, Instruction


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("add.s32 r1, r2, r3;", "r2 r3", "r1"),
        ("add.s32 r1, r1, r1;", "r1", "r1"),
        ("@p1 add.s32 r1, r2, 5;", "p1 r2", "r1"),
        ("@!p1 bra L; L:", "p1", ""),
        ("ld.global.v2.b32 {r1, r2}, [d1+8];", "d1", "r1 r2"),
        ("ld.global.v4.f32 v, [d1];", "d1", "v.x v.y v.z v.w"),
        ("ld.param.u64 d1, [a];", "", "d1"),
        ("st.global.v2.b32 [d1], {r1, r2};", "d1 r1 r2", ""),
        ("st.shared.b32 [64], r1;", "r1", ""),
        ("mov.b64 {r1, _}, d1;", "d1", "r1"),
        ("mov.b64 d1, {r1, r2};", "r1 r2", "d1"),
        ("setp.lt.and.s32 p1|p2, r1, r2, !p3;", "r1 r2 p3", "p1 p2"),
        ("shfl.sync.bfly.b32 r1|p1, r2, r3, r4, -1;", "r2 r3 r4", "r1 p1"),
        ("match.all.sync.b32 r1|p1, r2, r3;", "r2 r3", "r1 p1"),
        ("atom.global.cas.b32 r1, [d1], r2, r3;", "d1 r2 r3", "r1"),
        ("atom.global.add.f32 _, [d1], f2;", "d1 f2", ""),
        ("red.global.add.f32 [d1], f2;", "d1 f2", ""),
        ("bar.sync r1, r2;", "r1 r2", ""),
        ("bar.arrive r1, r2;", "r1 r2", ""),
        ("bar.red.popc.u32 r1, r2, !p1;", "r2 p1", "r1"),
        ("barrier.cta.red.and.aligned.pred p1, 0, p2;", "p2", "p1"),
        ("bar.warp.sync r1;", "r1", ""),
        ("nanosleep.u32 r1;", "r1", ""),
        ("prefetch.global.L2 [d1];", "d1", ""),
        ("cp.async.cg.shared.global [r1], [d1], 16, r2;", "r1 d1 r2", ""),
        ("cp.async.bulk.tensor.1d.shared::cluster.global [r1], [d1, {r2}], [r3];", "r1 d1 r2 r3", ""),
        ("mbarrier.init.shared.b64 [r1], r2;", "r1 r2", ""),
        ("mbarrier.arrive.shared.b64 d1, [r1];", "r1", "d1"),
        ("mbarrier.arrive.shared::cluster.b64 _, [r1];", "r1", ""),
        ("mbarrier.try_wait.parity.shared.b64 p1, [r1], r2;", "r1 r2", "p1"),
        ("tex.2d.v4.f32.f32 {f1,f2,f3,f4}, [d1, {f5, f6}];", "d1 f5 f6", "f1 f2 f3 f4"),
        ("sust.b.2d.b32.trap [d1, {r1, r2}], {r3};", "d1 r1 r2 r3", ""),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16 {r1, r2}, [d1], r3;", "d1 r3", "r1 r2"),
        ("wmma.store.d.sync.aligned.row.m16n16k16.f16 [d1], {r1, r2}, r3;", "d1 r1 r2 r3", ""),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {f1,f2}, d1, d2, 1;", "f1 f2 d1 d2", "f1 f2"),
        ("wgmma.wait_group.sync.aligned 0;", "", ""),
        ("stmatrix.sync.aligned.m8n8.x2.shared.b16 [r1], {r2, r3};", "r1 r2 r3", ""),
        ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r2, r3}, [r1];", "r1", "r2 r3"),
        ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 r1, r2;", "r1 r2", ""),
        ("tcgen05.ld.sync.aligned.16x64b.x2.b32 {r1, r2}, [r3];", "r3", "r1 r2"),
        ("multimem.ld_reduce.global.add.f32 f1, [d1];", "d1", "f1"),
        ("multimem.red.global.add.f32 [d1], f1;", "d1 f1", ""),
        ("vadd.u32.u32.u32 r1.b0, r2.h1, -r3, r4;", "r1 r2 r3 r4", "r1"),
        ("neg.s32 r1, -r2;", "r2", "r1"),
        ("elect.sync _|p1, -1;", "", "p1"),
        ("lop3.or.b32 r1|p1, r2, r3, r4, 0x1f, p2;", "r2 r3 r4 p2", "r1 p1"),
        ("stackrestore.u64 d1;", "d1", ""),
        ("call (r1), g, (r2, 5);", "r2", "r1"),
        ("call d1, (r2), P; P: .callprototype _ (.param .b32 _);", "d1 r2", ""),
        ("@p1 exit;", "p1", ""),
        ("trap;", "", ""),
    ],
)
def test_reads_and_writes_by_operand(text: str, read: str, written: str) -> None:
    """Guard, sources and addresses are read; the destination is the first operand of those that have one."""
    each = instructions(kernel(text, ".func (.reg .b32 o) g(.reg .b32 x, .reg .b32 y);"))[0]
    assert (" ".join(reads(each)), " ".join(writes(each))) == (read, written)


def test_blocks_follow_labels_and_branches() -> None:
    """A block begins at labels and behind what leaves; guarded exits fall through, others do not."""
    function = kernel(
        "mov.b32 r1, 0; A: B: @p1 bra D; @p2 ret; C: @!p1 exit; add.s32 r1, r1, 1; bra A;"
        " mov.b32 r9, 9; D: T: .branchtargets C, A, C; @p3 brx.idx r1, T; brx.idx r1, T; trap; E: ret; F:"
    )
    blocks = basic_blocks(function)
    assert [b.index for b in blocks] == list(range(len(blocks)))
    assert [(b.labels, b.successors) for b in blocks] == [
        ((), (1,)),
        (("A", "B"), (6, 2)),
        ((), (3,)),
        (("C",), (4,)),
        ((), (1,)),
        ((), (6,)),
        (("D",), (3, 1, 7)),
        ((), (3, 1)),
        ((), ()),
        (("E",), ()),
        (("F",), ()),
    ]
    assert [b.predecessors for b in blocks][:4] == [(), (0, 4, 6, 7), (1,), (2, 6, 7)]
    assert [b.start for b in blocks[1:]] == [b.stop for b in blocks[:-1]]
    assert function.body is not None
    assert (blocks[0].start, blocks[-1].stop) == (0, len(function.body))


def test_an_empty_body_has_no_blocks_and_a_declaration_none_to_find() -> None:
    """Nothing to run is fine, nothing to read is an error that names the function."""
    assert basic_blocks(kernel("")) == ()
    declaration = parse(kernel_text("", ".extern .func g();")).functions["g"]
    with pytest.raises(ValueError, match="g is declared without a body"):
        basic_blocks(declaration)


def test_liveness_of_a_loop() -> None:
    """What a loop carries is live around it; a guarded write does not end a value."""
    function = kernel(
        "mov.b32 r1, 0; mov.b32 r2, r5; L: add.s32 r1, r1, r2; setp.lt.s32 p1, r1, r3; @p1 mov.b32 r4, r1;"
        " @p1 bra L; st.global.b32 [d1], r4; ret;"
    )
    blocks = basic_blocks(function)
    live = live_registers(function, blocks)
    assert [set(live.at_start(b.index)) for b in blocks] == [
        {"r3", "r4", "r5", "d1"},
        {"r1", "r2", "r3", "r4", "d1"},
        {"r4", "d1"},
    ]
    assert set(live.at_end(1)) == {"r1", "r2", "r3", "r4", "d1"}
    before = [set(live.registers(mask)) for mask in live.before_each(1)]
    assert len(before) == blocks[1].stop - blocks[1].start + 1
    assert before[3] == {"p1", "r1", "r2", "r3", "r4", "d1"}
    assert before[0] == set(live.at_start(1))
    assert before[-1] == set(live.at_end(1))


def _live_by_paths(function: Function) -> list[set[str]]:
    """Live-in sets by the definition: per register, walk back from each use until it is surely written."""
    assert function.body is not None
    body = function.body
    place = {s.name: at for at, s in enumerate(body) if not isinstance(s, Instruction)}
    before: list[set[int]] = [set() for _ in range(len(body) + 1)]
    for at, s in enumerate(body):
        following = {at + 1}
        if isinstance(s, Instruction) and s.opcode == "bra":
            following = {place[s.operands[0].name]} | ({at + 1} if s.guard else set())  # type: ignore[union-attr]
        if isinstance(s, Instruction) and s.opcode == "ret" and s.guard is None:
            following = set()
        for to in following:
            before[to].add(at)
    live: list[set[str]] = [set() for _ in range(len(body) + 1)]
    for at, s in enumerate(body):
        for name in reads(s) if isinstance(s, Instruction) else ():
            waiting = [at]
            while waiting:
                here = waiting.pop()
                if name in live[here]:
                    continue
                live[here].add(name)
                for previous in before[here]:
                    earlier = body[previous]
                    kills = isinstance(earlier, Instruction) and earlier.guard is None and name in writes(earlier)
                    if not kills:
                        waiting.append(previous)
    return live


@pytest.mark.parametrize("seed", range(40))
def test_liveness_equals_a_search_over_paths(seed: int) -> None:
    """On bodies with random jumps every set is what the definition gives, before each statement."""
    draw = random.Random(seed)
    count = draw.randrange(1, 12)
    text = []
    for block in range(count):
        text.append(f"L{block}:")
        for _ in range(draw.randrange(4)):
            guard = draw.choice(["", "", "@p1 ", "@!p2 "])
            text.append(f"{guard}add.s32 r{draw.randrange(6)}, r{draw.randrange(6)}, r{draw.randrange(6)};")
        if draw.random() < 0.2:
            text.append(f"setp.eq.s32 p{draw.randrange(1, 3)}, r{draw.randrange(6)}, 0;")
        end = draw.choice(["", "@p1 bra", "@!p2 bra", "bra", "@p1 ret;", "ret;"])
        text.append(f"{end} L{draw.randrange(count)};" if end.endswith("bra") else end)
    function = kernel(" ".join(text))
    blocks = basic_blocks(function)
    live = live_registers(function, blocks)
    expected = _live_by_paths(function)
    for block in blocks:
        found = [set(live.registers(mask)) for mask in live.before_each(block.index)]
        assert found[:-1] == expected[block.start : block.stop]
        assert found[0] == set(live.at_start(block.index))


@pytest.mark.parametrize("name", FILES)
def test_compiled_kernels_read_nothing_that_they_have_not_written(name: str) -> None:
    """At the entry of a compiler's kernel no register is live, except those that are its parameters."""
    for function in parse((DATA / name).read_bytes()).functions.values():
        if function.body is None or name == "inline_assembly.ptx":
            continue
        live = live_registers(function, basic_blocks(function))
        assert live.at_start(0) == ()


def test_branches_laid_out_backwards_are_solved_in_few_rounds() -> None:
    """A chain of 3,000 blocks in reverse order of the text carries a value from its end to its beginning."""
    count = 3000
    text = [f"mov.b32 r1, 7; bra L{count - 1};"]
    text += [f"L{n}: {'ret;' if n == 0 else f'bra L{n - 1};'}" for n in range(count)]
    text[1] = "L0: st.global.b32 [d1], r1; ret;"
    function = kernel("\n".join(text))
    blocks = basic_blocks(function)
    live = live_registers(function, blocks)
    assert all(set(live.at_start(b.index)) == {"r1", "d1"} for b in blocks[1:])
    assert live.at_start(0) == ("d1",)


def test_a_single_instruction_is_its_own_block() -> None:
    """The smallest body: one block, no successors."""
    assert instruction("ret;").opcode == "ret"
    (block,) = basic_blocks(kernel("ret;"))
    assert (block.start, block.stop, block.successors, block.predecessors) == (0, 1, (), ())
