"""A stand-in for a translated kernel: each thread carries out a list of steps that a test writes down.

What comes back is what the scheduler handed each thread at each step, and the order in which threads passed. So the
scheduler is tested by itself, on any sequence of waits, without PTX.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from metrale_gpu_runtime.drivers.cpu import abi
from metrale_gpu_runtime.drivers.cpu.jit import CompiledKernel, compile_kernel
from metrale_gpu_runtime.drivers.cpu.workers import Execution, Need, Workers

EXIT, BARRIER, WARP, YIELD, FAULT, SET_FLAG, WAIT_FLAG, ARRIVE, PASS, REPEAT_UNLESS_FLAG = range(10)
STEP_NBYTES = 40

# The steps of thread t of block b begin at params.steps + (b * threads_per_block + t) * params.stride. Thread.resume is
# the number of the step to come, with bit 31 set where the step before has a result to be noted.
MACHINE_IR = f"""
@KERNEL_SUSPENDS = constant i32 1
@KERNEL_USES_FRAME = constant i32 1
declare void @record_fault(ptr, ptr, i32, i32, i32, i32, i32, i32, i64, i64)
declare void @barrier_arrive(ptr, i32)

define i32 @kernel_thread(ptr %launch, ptr %block, ptr %thread, i32 %x, i32 %y, i32 %z, i32 %bx, i32 %by, i32 %bz) {{
entry:
  %params = load ptr, ptr %launch
  %all_steps = load ptr, ptr %params
  %log_p = getelementptr i8, ptr %params, i64 8
  %log_base = load ptr, ptr %log_p
  %flags_p = getelementptr i8, ptr %params, i64 16
  %flags = load ptr, ptr %flags_p
  %stride_p = getelementptr i8, ptr %params, i64 24
  %stride = load i64, ptr %stride_p
  %per_block_p = getelementptr i8, ptr %launch, i64 {abi.Launch.threads_per_block.offset}
  %per_block = load i32, ptr %per_block_p
  %block_number_p = getelementptr i8, ptr %block, i64 {abi.Block.linear.offset}
  %block_number = load i64, ptr %block_number_p
  %linear_p = getelementptr i8, ptr %thread, i64 {abi.Thread.linear.offset}
  %linear = load i32, ptr %linear_p
  %per_block64 = zext i32 %per_block to i64
  %linear64 = zext i32 %linear to i64
  %first = mul i64 %block_number, %per_block64
  %number = add i64 %first, %linear64
  %offset = mul i64 %number, %stride
  %steps = getelementptr i8, ptr %all_steps, i64 %offset
  %slots = udiv i64 %stride, {STEP_NBYTES}
  %slot_first = mul i64 %number, %slots
  %frame_p = getelementptr i8, ptr %thread, i64 {abi.Thread.frame.offset}
  %frame = load ptr, ptr %frame_p
  %resume = load i32, ptr %thread
  %began = icmp ne i32 %resume, 0
  %pc0 = and i32 %resume, 2147483647
  br i1 %began, label %continued, label %start
start:
  store i64 %number, ptr %frame
  br label %loop
continued:
  ; a frame that another thread wrote to would show as a wrong number in the log
  %kept = load i64, ptr %frame
  %kept_first = mul i64 %kept, %slots
  %has_result = icmp slt i32 %resume, 0
  br i1 %has_result, label %note, label %loop
note:
  %before = sub i32 %pc0, 1
  %before64 = zext i32 %before to i64
  %slot = add i64 %kept_first, %before64
  %entry_p = getelementptr [2 x i32], ptr %log_base, i64 %slot
  %result_p = getelementptr i8, ptr %thread, i64 {abi.Thread.result.offset}
  %result = load i32, ptr %result_p
  %predicate_p = getelementptr i8, ptr %thread, i64 {abi.Thread.result_predicate.offset}
  %predicate = load i32, ptr %predicate_p
  %entry_p1 = getelementptr i8, ptr %entry_p, i64 4
  store i32 %result, ptr %entry_p
  store i32 %predicate, ptr %entry_p1
  br label %loop
loop:
  %pc = phi i32 [ %pc0, %start ], [ %pc0, %continued ], [ %pc0, %note ],
                [ %next, %go_on ], [ %target, %repeat_unless_flag ]
  %pc64 = zext i32 %pc to i64
  %step_offset = mul i64 %pc64, {STEP_NBYTES}
  %step = getelementptr i8, ptr %steps, i64 %step_offset
  %next = add i32 %pc, 1
  %next_noted = or i32 %next, -2147483648
  %kind = load i32, ptr %step
  %f1p = getelementptr i8, ptr %step, i64 4
  %op = load i32, ptr %f1p
  %f2p = getelementptr i8, ptr %step, i64 8
  %id = load i32, ptr %f2p
  %f3p = getelementptr i8, ptr %step, i64 12
  %count = load i32, ptr %f3p
  %f4p = getelementptr i8, ptr %step, i64 16
  %a = load i32, ptr %f4p
  %f5p = getelementptr i8, ptr %step, i64 20
  %b = load i32, ptr %f5p
  %f6p = getelementptr i8, ptr %step, i64 24
  %c = load i32, ptr %f6p
  %f8p = getelementptr i8, ptr %step, i64 32
  %wide = load i64, ptr %f8p
  switch i32 %kind, label %exit [
    i32 {BARRIER}, label %barrier
    i32 {WARP}, label %warp
    i32 {YIELD}, label %yield
    i32 {FAULT}, label %fault
    i32 {SET_FLAG}, label %set_flag
    i32 {WAIT_FLAG}, label %wait_flag
    i32 {ARRIVE}, label %arrive
    i32 {PASS}, label %pass
    i32 {REPEAT_UNLESS_FLAG}, label %repeat_unless_flag
  ]
exit:
  ret i32 0
barrier:
  %t_id = getelementptr i8, ptr %thread, i64 {abi.Thread.barrier_id.offset}
  store i32 %id, ptr %t_id
  %t_count = getelementptr i8, ptr %thread, i64 {abi.Thread.barrier_count.offset}
  store i32 %count, ptr %t_count
  br label %wait_here
warp:
  %t_mask = getelementptr i8, ptr %thread, i64 {abi.Thread.mask.offset}
  store i32 %id, ptr %t_mask
  br label %wait_here
wait_here:
  %code = phi i32 [ 1, %barrier ], [ 2, %warp ]
  %t_op = getelementptr i8, ptr %thread, i64 {abi.Thread.op.offset}
  store i32 %op, ptr %t_op
  %t_site = getelementptr i8, ptr %thread, i64 {abi.Thread.site.offset}
  store i32 %count, ptr %t_site
  %t_a = getelementptr i8, ptr %thread, i64 {abi.Thread.a.offset}
  store i32 %a, ptr %t_a
  %t_b = getelementptr i8, ptr %thread, i64 {abi.Thread.b.offset}
  store i32 %b, ptr %t_b
  %t_c = getelementptr i8, ptr %thread, i64 {abi.Thread.c.offset}
  store i32 %c, ptr %t_c
  %t_wide = getelementptr i8, ptr %thread, i64 {abi.Thread.wide.offset}
  store i64 %wide, ptr %t_wide
  store i32 %next_noted, ptr %thread
  ret i32 %code
yield:
  store i32 %next, ptr %thread
  ret i32 3
fault:
  call void @record_fault(ptr %launch, ptr %block, i32 %x, i32 %y, i32 %z,
                          i32 %op, i32 %id, i32 %count, i64 %wide, i64 4)
  ret i32 4
set_flag:
  %id64 = zext i32 %id to i64
  %flag_s = getelementptr i32, ptr %flags, i64 %id64
  store atomic i32 %a, ptr %flag_s release, align 4
  br label %go_on
wait_flag:
  %id64w = zext i32 %id to i64
  %flag_w = getelementptr i32, ptr %flags, i64 %id64w
  %seen = load atomic i32, ptr %flag_w acquire, align 4
  %there = icmp eq i32 %seen, %a
  br i1 %there, label %go_on, label %spin
spin:
  store i32 %pc, ptr %thread
  ret i32 3
arrive:
  call void @barrier_arrive(ptr %block, i32 %id)
  br label %go_on
pass:
  ; flags[0] counts: the log says as the how many-th this thread passed here
  %turn = atomicrmw add ptr %flags, i32 1 seq_cst
  %slot_p = add i64 %slot_first, %pc64
  %entry_t = getelementptr [2 x i32], ptr %log_base, i64 %slot_p
  store i32 %turn, ptr %entry_t
  br label %go_on
repeat_unless_flag:
  %id64r = zext i32 %id to i64
  %flag_r = getelementptr i32, ptr %flags, i64 %id64r
  %seen_r = load atomic i32, ptr %flag_r acquire, align 4
  %there_r = icmp eq i32 %seen_r, %a
  %target = select i1 %there_r, i32 %next, i32 %b
  br label %loop
go_on:
  br label %loop
}}
"""


@dataclass(frozen=True)
class Step:
    """One thing that a thread does. `mask_or_id` is a warp operation's mask, a barrier's id or a flag's index."""

    kind: int
    op: int = 0
    mask_or_id: int = 0
    count_or_site: int = 0
    a: int = 0
    b: int = 0
    c: int = 0
    wide: int = 0

    def encoded(self) -> bytes:
        u32 = (
            x & 0xFFFFFFFF for x in (self.kind, self.op, self.mask_or_id, self.count_or_site, self.a, self.b, self.c)
        )
        return struct.pack("<7I4xQ", *u32, self.wide)


def barrier(id: int = 0, count: int = 0, op: int = abi.BarrierOp.SYNC, a: int = 0) -> Step:
    return Step(BARRIER, op, id, count, a)


def warp(op: int, mask: int = 0xFFFFFFFF, site: int = 7, a: int = 0, b: int = 0, c: int = 0, wide: int = 0) -> Step:
    return Step(WARP, op, mask, site, a, b, c, wide)


PASSED, YIELDED = Step(PASS), Step(YIELD)
Program = Callable[[int, int], Sequence[Step]]


@dataclass
class Outcome:
    """`log[block][thread][step]` is (result, predicate) of a wait, or (turn, -) of a pass."""

    log: list[list[list[tuple[int, int]]]]
    fault: abi.Fault
    stalled_contexts: int = 0
    flags: list[int] = field(default_factory=list)

    def results(self, block: int, step: int) -> list[int]:
        return [steps[step][0] for steps in self.log[block]]

    def predicates(self, block: int, step: int) -> list[int]:
        return [steps[step][1] for steps in self.log[block]]


_compiled: list[CompiledKernel] = []


def machine() -> CompiledKernel:
    if not _compiled:
        _compiled.append(compile_kernel(MACHINE_IR, 32, ("scheduler",)))
    return _compiled[0]


def run(
    program: Program,
    *,
    blocks: int = 1,
    block: tuple[int, int, int] = (64, 1, 1),
    workers: Workers | None = None,
    helpers: int = 0,
) -> Outcome:
    """Run `program(block, thread)` in each thread; a program ends by itself after its last step."""
    threads = block[0] * block[1] * block[2]
    programs = [[list(program(b, t)) for t in range(threads)] for b in range(blocks)]
    slots = 1 + max(len(steps) for in_block in programs for steps in in_block)
    text = b"".join(
        b"".join(step.encoded() for step in steps).ljust(slots * STEP_NBYTES, b"\0")
        for in_block in programs
        for steps in in_block
    )
    steps_buffer = ctypes.create_string_buffer(text, len(text))
    log = (ctypes.c_uint32 * (blocks * threads * slots * 2))(*([0xEEEEEEEE] * (blocks * threads * slots * 2)))
    flags = (ctypes.c_uint32 * 64)()
    params = ctypes.create_string_buffer(
        struct.pack("<QQQQ", *(ctypes.addressof(x) for x in (steps_buffer, log, flags)), slots * STEP_NBYTES), 32
    )
    launch = abi.Launch()
    launch.params = ctypes.addressof(params)
    launch.grid[:] = (blocks, 1, 1)
    launch.block[:] = block
    launch.threads_per_block = threads
    launch.frame_nbytes = 64
    launch.block_count = blocks
    launch.chunk = 1
    code = machine()
    execution = Execution(code, launch, Need(code, threads, 64, 0))
    pool = workers or Workers(1)
    try:
        pool.run(execution, helpers, 1 << 20)
    finally:
        if workers is None:
            pool.close()
    flat = list(log)

    def entry(b: int, t: int, s: int) -> tuple[int, int]:
        at = ((b * threads + t) * slots + s) * 2
        return flat[at], flat[at + 1]

    table = [[[entry(b, t, s) for s in range(len(programs[b][t]))] for t in range(threads)] for b in range(blocks)]
    return Outcome(table, launch.fault, execution.stalled_contexts, list(flags))
