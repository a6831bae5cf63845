"""Control flow that not all threads share: by block, by thread, and with checks, against NumPy."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from ptx_machine import Machine, Outcome
from rungs import require_rung

from metrale_gpu_runtime.drivers.cpu import abi
from metrale_gpu_runtime.drivers.cpu.translate import translate
from metrale_gpu_runtime.modules.nvrtc import compile_ptx
from metrale_gpu_runtime.ptx.parser import parse
from metrale_gpu_runtime.ptx.syntax import PtxModule

require_rung("nvrtc")

SOURCE = Path(__file__).parent / "kernels" / "flow.cu"
WAYS = pytest.mark.parametrize("way", ["block", "thread", "block, checked", "thread, checked"])


@cache
def _module() -> PtxModule:
    return parse(compile_ptx(SOURCE.read_text(encoding="utf-8"), name="flow.cu").ptx)


@cache
def _machine(kernel: str, way: str) -> Machine:
    check = "memory" if "checked" in way else None
    return Machine(_module(), kernel, check=check, by_block=way.startswith("block"))


def _launch(kernel: str, way: str, arguments: list[object], **geometry: object) -> Outcome:
    return _machine(kernel, way).launch(arguments, **geometry)  # type: ignore[arg-type]


def _run(kernel: str, way: str, arguments: list[object], **geometry: object) -> None:
    outcome = _launch(kernel, way, arguments, **geometry)
    assert outcome.kind is abi.FaultKind.NONE, (outcome.kind, list(outcome.fault.thread), list(outcome.fault.detail))
    assert outcome.code == abi.RunCode.DONE


def _wrap(x: int) -> int:
    return (x + 2**31) % 2**32 - 2**31


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    return a - _quotient(a, b) * b


@pytest.mark.parametrize(
    "kernel",
    ["nested_loops", "two_sides", "strided", "one_thread", "first_warp", "per_block", "votes_in_loops", "cube"],
)
def test_these_kernels_do_run_by_block(kernel: str) -> None:
    """What the tests below compare are two different translations."""
    both = [
        translate(_module(), kernel, module_name="flow", by_block=by_block, global_addresses={}).ir
        for by_block in (True, False)
    ]
    assert "@kernel_block" in both[0]
    assert "@kernel_block" not in both[1]


@WAYS
def test_loops_that_each_thread_leaves_at_its_own_time(way: str) -> None:
    """Nested data-dependent loops with continue and break, values living in, around and behind them."""
    n = 211
    random = np.random.default_rng(1)
    counts, values = random.integers(0, 9, n).astype(np.int32), random.integers(-5, 90, n).astype(np.int32)
    out = np.zeros((n, 2), np.int32)
    _run("nested_loops", way, [counts, values, out, n], grid=4, block=64)
    for i in range(n):
        total, last = 1, -1
        for a in range(int(counts[i])):
            inner = int(values[(i + a) % n])
            while inner > 3:
                total = _wrap(total * 31 + inner)
                inner = inner - 3 if inner % 2 else inner // 2
            last = inner + a
            if _remainder(total, 7) == 0:
                continue
            total = _wrap(total + a)
            if _remainder(total, 97) == 5:
                break
        assert out[i].tolist() == [total, last], i


@WAYS
def test_both_sides_of_a_branch_may_loop(way: str) -> None:
    """Threads take one of two sides, each with a loop; a variable that only one side sets keeps its value elsewhere."""
    block, rounds = 96, 5
    values = np.random.default_rng(2).integers(0, 1000, (3, block)).astype(np.int32)
    out = np.zeros((3, block, 2), np.int32)
    _run("two_sides", way, [values, out, rounds], grid=3, block=block)
    for b in range(3):
        for t in range(block):
            value, extra = int(values[b, t]), t
            if value & 1:
                for k in range(rounds):
                    value += int(values[b, (t + k) % block]) * k
            else:
                for k in range(1, rounds + 3):
                    value ^= int(values[b, (t * k) % block]) + k
                    extra = k
            assert out[b, t].tolist() == [value, extra]


@WAYS
@pytest.mark.parametrize("columns", [1, 63, 64, 65, 200])
def test_loops_with_a_stride(way: str, columns: int) -> None:
    """Rows shorter, equal and longer than the block, walked forwards, backwards and by pointer."""
    rows = np.random.default_rng(3).integers(-9, 9, (3, columns)).astype(np.float32)
    out = np.zeros_like(rows)
    _run("strided", way, [rows, out, columns], grid=3, block=64)
    totals = (rows * (np.arange(columns) + 1)).sum(axis=1) + 3 * rows.sum(axis=1)
    assert (out == rows + totals[:, None]).all()


@WAYS
def test_a_few_threads_of_a_block_may_work_alone(way: str) -> None:
    """One thread, then three, loop; then all, each as often as its value asks for."""
    n, block = 45, 128
    values = np.random.default_rng(4).integers(0, 100, n).astype(np.int32)
    out = np.zeros((2, block), np.int32)
    _run("one_thread", way, [values, out, n], grid=2, block=block)
    first = 0
    for value in values:
        first = _wrap(first * 3 + int(value))
    second = 0
    for t in range(3):
        total = t
        for k in range(t, n, 3):
            total ^= int(values[k]) << t
        second += total
    for t in range(block):
        x, steps = int(values[t % n]) & 63, 0
        while x != 1 and steps < 40 and x > 0:
            x = 3 * x + 1 if x & 1 else x // 2
            steps += 1
        assert out[:, t].tolist() == [_wrap(first + second * 7 + steps)] * 2


@WAYS
@pytest.mark.parametrize("block", [32, 96, 256])
def test_the_first_warp_may_shuffle_alone(way: str, block: int) -> None:
    """A block reduction by two rounds of shuffles."""
    values = np.random.default_rng(5).integers(-50, 50, (4, block)).astype(np.float32)
    out = np.zeros(4, np.float32)
    _run("first_warp", way, [values, out], grid=4, block=block)
    assert (out == values.sum(axis=1)).all()


@WAYS
def test_blocks_that_have_ended_read_nothing(way: str) -> None:
    """A value per block is not read by blocks all of whose threads returned: the array has no element for them."""
    n, block = 130, 64
    scales = np.array([2.0, 0.0, 5.0], np.float32)
    values = np.arange(n, dtype=np.float32)
    out = np.zeros(n, np.float32)
    _run("per_block", way, [scales, values, out, n], grid=40, block=block)
    scale = scales[np.arange(n) // block]
    assert (out == values * (scale * (scale - 1) / 2) + scale).all()


@WAYS
def test_threads_may_end_inside_a_loop_with_barriers(way: str) -> None:
    """Threads return at different rounds; the barriers of later rounds do without them."""
    values = np.random.default_rng(6).integers(0, 12, (3, 80)).astype(np.int32)
    values[1] = 4  # a block that is empty long before the loop would end
    out = np.zeros_like(values)
    _run("leaving_a_loop", way, [values, out, 9], grid=3, block=80)
    assert (out == np.where(values < 9, -values, values + 36)).all()


@WAYS
def test_warps_vote_themselves_out_of_a_loop(way: str) -> None:
    """Each warp turns as often as its lanes agree to; the last warp of the block is not full."""
    block = 64
    values = np.random.default_rng(7).integers(0, 500, (2, block)).astype(np.int32)
    values[0, 32:] = 0
    out = np.zeros((2, block, 2), np.uint32)
    _run("votes_in_loops", way, [values, out], grid=2, block=block)
    for b in range(2):
        for first in range(0, block, 32):
            lanes = values[b, first : first + 32].astype(np.int64)
            history = turns = 0
            while (lanes > 0).any():
                history = (history * 5 + int((lanes & 1).sum())) % 2**32
                following = np.roll(lanes, -1)
                lanes = np.where(lanes < 0, -(-lanes // 2), lanes // 2) - (following == 0)
                turns += 1
            assert (out[b, first : first + 32] == [history, turns]).all()


@WAYS
def test_blocks_of_three_dimensions(way: str) -> None:
    """7 x 5 x 3 threads in a grid of 2 x 3 x 2: warps follow the linear number, x fastest."""
    shape, grid = (7, 5, 3), (2, 3, 2)
    out = np.zeros((2, 3, 2, 105, 3), np.int32)
    _run("cube", way, [out], grid=grid, block=shape)
    z, y, x = np.meshgrid(range(3), range(5), range(7), indexing="ij")
    amounts = (x * 100 + y * 10 + z).ravel()
    linear = np.arange(105)
    sums = np.array([amounts[linear // 32 == warp].sum() for warp in range(4)])
    for bz in range(2):
        for by in range(3):
            for bx in range(2):
                block = out[bz, by, bx]
                assert (block[:, 0] == sums[linear // 32]).all()
                assert (block[:, 1] == np.where(linear % 32 >= 3, linear - 3, linear)).all()
                assert (block[:, 2] == bx + 10 * by + 100 * bz).all()


@WAYS
def test_a_barrier_waits_for_nobody_who_has_ended(way: str) -> None:
    """Threads that skip a barrier on their way to the end do not block it."""
    out = np.zeros(64, np.int32)
    _run("barrier_for_some", way, [out], block=64)
    assert (out == np.where(np.arange(64) < 40, (39 - np.arange(64)) * 3, -1)).all()


@WAYS
def test_a_shuffle_does_without_a_lane_that_ends_elsewhere(way: str) -> None:
    """A lane that a mask names but that ends by another way is not waited for; who asks for it keeps its own value."""
    out = np.zeros((2, 64), np.int32)
    _run("missing_lane", way, [out], grid=2, block=64)
    lane = np.arange(64)
    assert (out[0] == lane ^ 1).all()
    alone = (lane % 32 == 3) | (lane % 32 == 2)
    assert (out[1] == np.where(alone, lane, lane ^ 1)).all()
