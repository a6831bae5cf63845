"""One instruction over arrays: each thread loads its operands, executes it and stores what it gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ptx_machine import HEADER, run

_BITS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


def _register(bits: int) -> str:
    return {8: ".b16", 16: ".b16", 32: ".b32", 64: ".b64"}[bits]


def evaluate(
    text: str, inputs: Sequence[np.ndarray], result: str, *, block: int = 96, check: str | None = None, setup: str = ""
) -> np.ndarray:
    """The results of `text`, in which d is the destination and a, b, c, … are the operands.

    Operands come and results go as unsigned arrays (bit patterns) of the register's width; `result` is "u8", "u16",
    "u32", "u64" or "pred". Runs in several blocks, the last of them not full.
    """
    count = len(inputs[0])
    width = 32 if result == "pred" else int(result[1:])
    lines = [HEADER, ".visible .entry k(.param .u64 out, .param .u32 count"]
    lines += [f", .param .u64 in{n}" for n in range(len(inputs))]
    lines.append(") {\n .reg .pred outside, d_p; .reg .b32 i, t, n, limit, flag; .reg .b64 wide, base, place;")
    lines.append(f" .reg {_register(width)} d;" if result != "pred" else " .reg .pred d;")
    lines += [
        f" .reg {_register(_BITS[str(a.dtype)])} {chr(97 + k)};" for k, a in enumerate(inputs) if chr(97 + k) != "d"
    ]
    lines.append(
        " mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 t, %tid.x; mad.lo.s32 i, i, n, t;"
        " ld.param.u32 limit, [count]; setp.ge.u32 outside, i, limit; @outside bra $end; cvt.u64.u32 wide, i;"
    )
    for k, array in enumerate(inputs):
        bits = _BITS[str(array.dtype)]
        lines.append(
            f" ld.param.u64 base, [in{k}]; mad.lo.u64 place, wide, {bits // 8}, base;"
            f" ld.global.b{bits} {chr(97 + k)}, [place];"
        )
    lines.append(setup)
    lines.append(f" {text};")
    lines.append(f" ld.param.u64 base, [out]; mad.lo.u64 place, wide, {width // 8}, base;")
    if result == "pred":
        lines.append(" selp.u32 flag, 1, 0, d; st.global.u32 [place], flag;")
    else:
        lines.append(f" st.global.b{width} [place], d;")
    lines.append("$end: ret;\n}")
    out = np.zeros(count, {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[width])
    run("\n".join(lines), [out, count, *inputs], grid=-(-count // block), block=block, check=check)
    return out
