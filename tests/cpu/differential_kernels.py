"""Small kernels on which the CPU backend was wrong once, each with the values that are right; found by random programs.

Every kernel has the parameters `in` and `out`, arrays of 96 and 192 words, and runs in 2 blocks of 96 threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from ptx_machine import HEADER, Machine

from metrale_gpu_runtime.drivers.cpu import abi

Words = Any

_OPEN = """
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<12>;
  .shared .align 16 .b8 shared[512];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
  mul.wide.u32 %rd5, %r4, 4; add.s64 %rd6, %rd2, %rd5;
"""
_CLOSE = """
  st.global.u32 [%rd6], %r9;
  ret;
}
"""


@dataclass(frozen=True)
class Case:
    """`body` leaves in %r9 what the thread gives; `right` says what that is, from its number in the block, the number
    of its block and the input."""

    body: str
    right: Callable[[Words, Words, Words], Words]


CASES = {
    # An ordered load in a loop whose accesses are called independent: an assertion of LLVM's vectoriser ended the process.
    "ordered load": Case("ld.volatile.global.u32 %r9, [%rd4];", lambda t, b, x: x[t]),
    "relaxed load": Case("ld.relaxed.gpu.global.u32 %r9, [%rd4];", lambda t, b, x: x[t]),
    "ordered load after a barrier": Case("bar.sync 0; ld.volatile.global.u32 %r9, [%rd4];", lambda t, b, x: x[t]),
    "ordered store": Case(
        "mov.u32 %r9, %r4; st.volatile.global.u32 [%rd6], %r9; ld.global.u32 %r5, [%rd4]; add.u32 %r9, %r9, %r5;",
        lambda t, b, x: 96 * b + t + x[t],
    ),
    # .idx was taken for a modifier that nobody knows.
    "branch by table": Case(
        """
        and.b32 %r5, %r1, 3; mov.u32 %r9, 7;
        table: .branchtargets one, two, three;
        setp.gt.u32 %p1, %r5, 2; @%p1 bra done;
        brx.idx %r5, table;
        one: add.u32 %r9, %r9, 100; bra done;
        two: add.u32 %r9, %r9, 200;
        three: add.u32 %r9, %r9, 300;
        done: bar.sync 0;
        """,
        lambda t, b, x: np.array([107, 507, 307, 7], np.uint32)[t & 3],
    ),
    # One instruction gave a result that is the same for all threads and one that is not; the first was lost.
    "a vector of which one half varies elsewhere": Case(
        """
        mov.u32 %r5, %r1; setp.lt.u32 %p1, %r1, 50; @%p1 bra skip;
        ld.global.v2.u32 {%r5, %r6}, [%rd1+8];
        skip: ld.global.nc.v2.u32 {%r5, %r7}, [%rd1+16];
        bar.sync 0;
        add.u32 %r9, %r7, %r5;
        """,
        lambda t, b, x: np.full(192, x[4] + x[5]),
    ),
}  # fmt: skip


def run_case(name: str, check: str | None, by_block: bool) -> tuple[str, list[int], list[int]]:
    """The kind of fault, what the kernel gave, and what is right."""
    case = CASES[name]
    given = np.arange(96, dtype=np.uint32) * 17 + 5
    out = np.zeros(192, np.uint32)
    machine = Machine(HEADER + _OPEN + case.body + _CLOSE, check=check, by_block=by_block)
    outcome = machine.launch([given, out], grid=2, block=96)
    assert outcome.code == abi.RunCode.DONE
    threads = np.arange(192)
    right = np.asarray(case.right(threads % 96, threads // 96, given))
    return outcome.kind.name, out.tolist(), right.astype(np.uint32).tolist()


def run_all(check: str | None, by_block: bool) -> dict[str, tuple[str, list[int], list[int]]]:
    """Every case, for a child process: what was wrong once ended the process, too."""
    return {name: run_case(name, check, by_block) for name in CASES}
