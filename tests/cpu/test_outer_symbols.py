"""Translated code calls a few functions of the C library; a kernel whose threads wait finds them like any other."""

from __future__ import annotations

import numpy as np
import pytest

import metrale_gpu_runtime as mg

# The array's zeroing is what LLVM makes a memset of, in a kernel that cannot run by block: it sleeps.
SLEEPS = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry waits(.param .u64 out) {
    .local .align 8 .b8 cells[4096];
    .reg .b64 %rd<9>;
    .reg .b32 %r<9>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, cells;
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
fill:
    cvt.u64.u32 %rd3, %r1;
    add.s64 %rd4, %rd2, %rd3;
    st.local.u32 [%rd4], %r2;
    add.s32 %r1, %r1, 4;
    setp.lt.u32 %p1, %r1, 4096;
    @%p1 bra fill;
    ld.global.u32 %r3, [%rd1];
    cvt.u64.u32 %rd5, %r3;
    add.s64 %rd6, %rd2, %rd5;
    st.local.u32 [%rd6], %r3;
    nanosleep.u32 10;
    ld.local.u32 %r4, [cells+400];
    ld.local.u32 %r5, [cells+4092];
    mov.u64 %rd7, %clock64;
    st.global.v2.u32 [%rd1], {%r4, %r5};
    st.global.u64 [%rd1+8], %rd7;
    ret;
}
"""


@pytest.mark.parametrize("check", ["memory", None])
def test_a_kernel_that_waits_may_call_the_c_library(check: str | None) -> None:
    """A clock is read and memory cleared in a kernel whose threads wait: no call goes to address 0."""
    with mg.open_backend("cpu", check=check) as gpu:
        out = gpu.array(np.array([400, 7, 0, 0], np.uint32))
        gpu.load_module("m", source=SLEEPS)["waits"][1, 1](out)
        first, last, *clock = out.numpy().tolist()
    assert (first, last) == (400, 0)
    assert clock != [0, 0]
