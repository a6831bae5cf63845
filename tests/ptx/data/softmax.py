"""Source of softmax.triton.ptx: Triton 3.8's compiler for sm_80, which needs no GPU."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(x, out, n, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, WIDTH)
    value = tl.load(x + row * n + column, mask=column < n, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * n + column, value / tl.sum(value, 0), mask=column < n)


if __name__ == "__main__":
    types = {"x": "*fp32", "out": "*fp32", "n": "i32", "WIDTH": "constexpr"}
    source = ASTSource(softmax, types, constexprs={"WIDTH": 256})
    print(triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["ptx"], end="")
