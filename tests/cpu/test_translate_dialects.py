"""One program as several compilers write it: all spellings give the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ptx_machine import Machine

from metrale_gpu_runtime.drivers.cpu import abi
from metrale_gpu_runtime.ptx.parser import parse

DATA = Path(__file__).parent.parent / "ptx" / "data"
SPELLINGS = ["debug", "lines", "nvrtc", "sm100", "sm80"]


@pytest.mark.parametrize("check", [None, "memory"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_reduction_by_every_compiler(spelling: str, check: str | None) -> None:
    """nvcc for sm_80 and sm_100, with lines and with -G, and NVRTC: shared arrays, a barrier in a loop, shuffles."""
    module = parse((DATA / f"reduction.{spelling}.ptx").read_bytes())
    coefficients = np.array([1.5, -2.25, 3e8], np.float32)
    constants = {name: 8192 for name, v in module.variables.items() if v.space in ("global", "const")}
    constants["coefficients"] = coefficients.ctypes.data
    machine = Machine(module, "block_sum", check=check, global_addresses=constants)
    n, threads = 2 * 192 * 3, 192
    x = np.random.default_rng(4).integers(-8, 8, n).astype(np.float32)
    x[2::3] = 0  # the third coefficient is beyond what f32 sums exactly
    out = np.zeros(1, np.float32)
    shape = np.zeros((), np.dtype([("rows", "i4"), ("columns", "i2"), ("scale", "f8")], align=True))
    shape["rows"], shape["columns"], shape["scale"] = 100, -7, 0.5
    ranges = sorted((a.ctypes.data, a.ctypes.data + a.nbytes, 1) for a in (x, out, coefficients))
    outcome = machine.launch([x, out, n, shape.tobytes()], grid=2, block=threads, shared_nbytes=16, ranges=ranges)
    assert outcome.kind is abi.FaultKind.NONE
    want = (x * 0.5 * coefficients[np.arange(n) % 3]).sum() + 2 * (100 - 7)
    assert out[0] == want


@pytest.mark.parametrize("check", [None, "memory"])
def test_a_softmax_by_triton(check: str | None) -> None:
    """Guarded loads into braces, bit registers for floats, inline ex2, two hidden parameters."""
    module = parse((DATA / "softmax.triton.ptx").read_bytes())
    machine = Machine(module, "softmax", check=check)
    rows, n = 5, 201
    x = np.random.default_rng(5).normal(0, 3, (rows, n)).astype(np.float32)
    out = np.zeros_like(x)
    threads = machine.function.bounds.reqntid
    assert threads is not None
    outcome = machine.launch([x, out, n, 0, 0], grid=rows, block=threads, shared_nbytes=64)
    assert outcome.kind is abi.FaultKind.NONE
    want = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    want /= want.sum(axis=1, keepdims=True)
    assert np.abs(out - want).max() < 1e-6
