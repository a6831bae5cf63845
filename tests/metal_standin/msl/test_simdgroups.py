"""What the 32 threads of a simdgroup tell each other, all of them or those that are on one way."""

from __future__ import annotations

import numpy as np
import pytest
from rungs import require_rung

from . import compile_library
from .launched import launch

require_rung("clang-19")

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
PARAMETERS = "uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]"
X = np.random.default_rng(5).integers(1, 1000, 71).astype(np.int32)
SIMDGROUPS = [X[:32], X[32:64], X[64:]]


def ran(expression: str, x: np.ndarray = X, kind: str = "int") -> np.ndarray:
    """What `expression` of v gives on 71 threads: two simdgroups and seven lanes of a third."""
    text = f"kernel void k(const device T *x, device T *out, {PARAMETERS}) {{ T v = x[i]; out[i] = {expression}; }}"
    out = np.zeros_like(x)
    assert launch(compile_library(HEAD + text, macros={"T": kind}).function("k"), x, out, block=(71,)) is None
    return out


def each(*parts: object) -> list[int]:
    return [
        int(value)
        for part, group in zip(parts, SIMDGROUPS, strict=True)
        for value in np.broadcast_to(part, group.shape)
    ]


@pytest.mark.parametrize(
    ("name", "combine"),
    [
        ("sum", np.add),
        ("max", np.maximum),
        ("min", np.minimum),
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
    ],
)
def test_reductions(name: str, combine: np.ufunc) -> None:
    """Every lane gets the reduction of its own simdgroup's lanes, the last simdgroup of its seven."""
    assert ran(f"simd_{name}(v)").tolist() == each(*(combine.reduce(group) for group in SIMDGROUPS))


def test_product_and_floats() -> None:
    """Products and floating-point reductions are of the same lanes."""
    assert ran("simd_product(lane < 3 ? v : 1)").tolist() == each(*(group[:3].prod() for group in SIMDGROUPS))
    x = X.astype(np.float32) / 4
    assert ran("simd_sum(v) + simd_max(v)", x, "float").tolist() == [
        float(x[s].sum() + x[s].max()) for s in (slice(0, 32), slice(32, 64), slice(64, 71)) for _ in x[s]
    ]


def test_prefixes() -> None:
    """Inclusive sums count the lane itself, exclusive ones stop before it."""
    inclusive = [int(v) for group in SIMDGROUPS for v in np.cumsum(group)]
    assert ran("simd_prefix_inclusive_sum(v)").tolist() == inclusive
    assert ran("simd_prefix_exclusive_sum(v)").tolist() == [a - int(b) for a, b in zip(inclusive, X, strict=True)]
    assert ran("simd_prefix_exclusive_product(lane < 3 ? v : 1)").tolist() == [
        int(np.prod(group[: min(lane, 3)])) for group in SIMDGROUPS for lane in range(len(group))
    ]


def test_shuffles() -> None:
    """Each lane reads the lane it names; at the ends up and down keep their own value, rotations go round."""
    full = X[:64].reshape(2, 32)

    def first_two(expression: str) -> list[list[int]]:
        return ran(expression)[:64].reshape(2, 32).tolist()

    lanes = np.arange(32)
    assert first_two("simd_shuffle(v, (lane * 7 + 3) % 32)") == full[:, (lanes * 7 + 3) % 32].tolist()
    assert first_two("simd_shuffle_xor(v, 5)") == full[:, lanes ^ 5].tolist()
    assert first_two("simd_shuffle_up(v, 3)") == np.where(lanes < 3, full, np.roll(full, 3, 1)).tolist()
    assert first_two("simd_shuffle_down(v, 3)") == np.where(lanes > 28, full, np.roll(full, -3, 1)).tolist()
    assert first_two("simd_shuffle_rotate_up(v, 3)") == np.roll(full, 3, 1).tolist()
    assert first_two("simd_shuffle_rotate_down(v, 3)") == np.roll(full, -3, 1).tolist()
    assert first_two("simd_broadcast(v, 9)") == np.broadcast_to(full[:, 9:10], (2, 32)).tolist()
    assert first_two("simd_broadcast_first(v)") == np.broadcast_to(full[:, :1], (2, 32)).tolist()


def test_a_lane_that_is_not_there_gives_what_nobody_wrote() -> None:
    """Reading a lane that the last simdgroup does not have gives no neighbour's value."""
    assert ran("simd_shuffle(v, 20)", X.astype(np.uint32), "uint")[64:].tolist() == [0xA7A7A7A7] * 7


def test_votes() -> None:
    """A ballot has one bit for each lane that is there and says yes; all and any are of those lanes."""
    ballots = [sum(1 << lane for lane, value in enumerate(group) if value > 500) for group in SIMDGROUPS]
    x = X.astype(np.int64)
    assert ran("(ulong)(simd_vote::vote_t)simd_ballot(v > 500)", x, "long").tolist() == each(*ballots)
    assert ran("simd_all(v > 0) + 2 * simd_any(v == X5)".replace("X5", str(X[5])))[:32].tolist() == [3] * 32
    assert ran("simd_any(v > 1000) + 2 * simd_all(v > 500)").tolist() == [0] * 71
    assert ran("popcount((uint)(ulong)(simd_vote::vote_t)simd_active_threads_mask())").tolist() == each(32, 32, 7)


def test_lanes_on_different_ways() -> None:
    """Only lanes on the same way take part, and those that parted take part together again where the ways meet."""
    text = f"""kernel void k(const device int *x, device int *out, {PARAMETERS}) {{
        int mine = 0;
        if (lane % 3 == 0)
            mine = simd_sum(x[i]);
        for (uint k = 0; k < lane % 4; k++)
            mine += 100000 * (int)simd_is_first();
        out[i] = mine + 1000000 * simd_sum(1); }}"""
    out = np.zeros(71, np.int32)
    assert launch(compile_library(HEAD + text).function("k"), X, out, block=(71,)) is None
    expected = []
    for group in SIMDGROUPS:
        thirds = int(group[::3].sum())
        for lane in range(len(group)):
            # In the loop's turn k the lanes with lane % 4 > k are there; lane 1, 2 and 3 are the first of each.
            firsts = {1: 1, 2: 1, 3: 1}.get(lane, 0)
            expected.append((thirds if lane % 3 == 0 else 0) + 100000 * firsts + 1000000 * len(group))
    assert out.tolist() == expected


def test_a_simdgroup_may_work_alone() -> None:
    """One simdgroup reduces while the others wait for it at the threadgroup's barrier."""
    text = f"""kernel void k(const device int *x, device int *out, {PARAMETERS}, uint s [[simdgroup_index_in_threadgroup]]) {{
        threadgroup int total;
        if (s == 1) {{ int sum = simd_sum(x[i]); if (lane == 0) total = sum; }}
        threadgroup_barrier(mem_flags::mem_threadgroup);
        out[i] = total; }}"""
    out = np.zeros(71, np.int32)
    assert launch(compile_library(HEAD + text).function("k"), X, out, block=(71,)) is None
    assert out.tolist() == [int(X[32:64].sum())] * 71


def test_vectors_are_exchanged_whole() -> None:
    """A vector goes over with all of its components."""
    text = f"""kernel void k(const device int *x, device int4 *out, {PARAMETERS}) {{
        out[i] = simd_shuffle_xor(int4(x[i], i, lane, 7), 1); }}"""
    out = np.zeros((64, 4), np.int32)
    assert launch(compile_library(HEAD + text).function("k"), X, out, block=(64,)) is None
    assert out.tolist() == [[int(X[i ^ 1]), i ^ 1, (i ^ 1) % 32, 7] for i in range(64)]
