"""How threads, warps and blocks take turns, and what they are handed when they meet."""

from __future__ import annotations

import random
import threading

import pytest
from cpu.scheduler_machine import (
    ARRIVE,
    FAULT,
    PASSED,
    REPEAT_UNLESS_FLAG,
    SET_FLAG,
    WAIT_FLAG,
    YIELDED,
    Outcome,
    Step,
    barrier,
    run,
    warp,
)
from cpu.warp_model import Operands, expected

from metrale_gpu_runtime.drivers.cpu import abi
from metrale_gpu_runtime.drivers.cpu.abi import BarrierOp, FaultKind, WarpOp
from metrale_gpu_runtime.drivers.cpu.workers import LARGEST_CONTEXT_COUNT, Workers

ALL = 0xFFFFFFFF


def finished(outcome: Outcome) -> Outcome:
    assert FaultKind(outcome.fault.kind) is FaultKind.NONE
    return outcome


def set_flag(index: int, value: int = 1) -> Step:
    return Step(SET_FLAG, mask_or_id=index, a=value)


def wait_flag(index: int, value: int = 1) -> Step:
    return Step(WAIT_FLAG, mask_or_id=index, a=value)


# ---------------------------------------------------------------- barriers


@pytest.mark.parametrize("block", [(1, 1, 1), (33, 1, 1), (5, 3, 7), (96, 2, 1)])
def test_every_thread_passes_a_barrier_after_all_have_reached_it(block: tuple[int, int, int]) -> None:
    """No thread is behind a barrier before each thread of its block was in front of it, in each round of a loop."""
    rounds = 4
    outcome = finished(run(lambda b, t: [PASSED, barrier()] * rounds, blocks=3, block=block))
    for b in range(3):
        for r in range(rounds - 1):
            assert max(outcome.results(b, 2 * r)) < min(outcome.results(b, 2 * r + 2))


def test_threads_that_exited_are_not_waited_for() -> None:
    """A barrier opens when all threads that have not exited wait at it, whenever the others left."""
    once = [barrier(), PASSED]
    outcome = finished(run(lambda b, t: once * (t % 3), block=(70, 1, 1)))
    staying = [steps for t, steps in enumerate(outcome.log[0]) if t % 3 == 2]
    assert max(steps[1][0] for steps in staying) < min(steps[3][0] for steps in staying)


def test_barriers_with_different_ids_are_independent() -> None:
    """Two halves of a block that meet at their own barriers do not wait for each other."""
    half = 64

    def program(b: int, t: int) -> list[Step]:
        if t < half:
            return [barrier(1, half), PASSED, barrier(1, half), PASSED, set_flag(9), barrier(), PASSED]
        return [wait_flag(9), barrier(2, half), PASSED, barrier(), PASSED]

    outcome = finished(run(program, block=(2 * half, 1, 1)))
    first, second = outcome.log[0][:half], outcome.log[0][half:]
    assert max(steps[3][0] for steps in first) < min(steps[2][0] for steps in second)


def test_a_complete_barrier_lets_nobody_else_go() -> None:
    """Threads at another barrier stay when one opens."""

    def program(b: int, t: int) -> list[Step]:
        if t < 32:
            return [barrier(1, 64), PASSED]
        return [barrier(2, 32), YIELDED, PASSED, barrier(1, 64)]

    outcome = finished(run(program, block=(64, 1, 1)))
    first, second = outcome.log[0][:32], outcome.log[0][32:]
    assert max(steps[2][0] for steps in second) < min(steps[1][0] for steps in first)


def test_a_producer_arrives_without_waiting() -> None:
    """bar.arrive counts towards the barrier and does not hold its thread."""

    def program(b: int, t: int) -> list[Step]:
        if t < 32:
            return [PASSED, Step(ARRIVE, mask_or_id=3), wait_flag(8), YIELDED, PASSED, Step(ARRIVE, mask_or_id=3)]
        return [barrier(3, 64), PASSED, set_flag(8), barrier(3, 64), PASSED]

    outcome = finished(run(program, block=(64, 1, 1)))
    producers, consumers = outcome.log[0][:32], outcome.log[0][32:]
    assert max(steps[0][0] for steps in producers) < min(steps[1][0] for steps in consumers)
    assert max(steps[4][0] for steps in producers) < min(steps[4][0] for steps in consumers)


def test_a_count_means_warps_that_are_there_as_a_whole() -> None:
    """A block of 40 threads meets at `bar.sync 1, 64`: its second warp counts 32 although it has 8 threads."""
    finished(run(lambda b, t: [barrier(1, 64), PASSED], block=(40, 1, 1)))


def test_a_part_of_a_warp_counts_its_threads() -> None:
    """Half of a warp's lanes at `barrier.sync 1, 32` wait for another half, as long as the rest of the warp lives."""

    def program(b: int, t: int) -> list[Step]:
        if t % 2:
            return [wait_flag(5)]
        return [barrier(1, 32), PASSED, set_flag(5)] if t < 32 else [YIELDED, PASSED, barrier(1, 32)]

    outcome = finished(run(program, block=(64, 1, 1)))
    first, second = outcome.log[0][:32:2], outcome.log[0][32::2]
    assert max(steps[1][0] for steps in second) < min(steps[1][0] for steps in first)


def test_a_count_of_one_warp_does_not_wait_for_the_others() -> None:
    """`bar.sync id, 32` opens for each warp by itself."""
    finished(run(lambda b, t: [barrier(1 + t // 32, 32), set_flag(t // 32), *([wait_flag(2)] if t < 64 else [])],
                 block=(96, 1, 1)))  # fmt: skip


@pytest.mark.parametrize(
    ("op", "true_threads", "result"),
    [
        (BarrierOp.RED_POPC, {3, 40, 69}, 3),
        (BarrierOp.RED_AND, {3, 40, 69}, 0),
        (BarrierOp.RED_AND, set(range(70)), 1),
        (BarrierOp.RED_OR, {69}, 1),
        (BarrierOp.RED_OR, set(), 0),
    ],
)
def test_a_reducing_barrier_combines_all_threads(op: BarrierOp, true_threads: set[int], result: int) -> None:
    """bar.red hands every thread the number of true predicates, whether all were, or whether any was."""
    program = lambda b, t: [barrier(0, 0, op, a=5 if t in true_threads else 0), barrier(), PASSED]  # noqa: E731
    outcome = finished(run(program, blocks=2, block=(70, 1, 1)))
    assert outcome.results(1, 0) == [result] * 70
    assert outcome.predicates(1, 0) == [int(result != 0)] * 70


def test_a_reducing_barrier_leaves_out_those_who_exited() -> None:
    """bar.red.and is true when all threads that are left say so."""
    outcome = finished(run(lambda b, t: [] if t < 7 else [barrier(0, 0, BarrierOp.RED_AND, a=1)], block=(40, 1, 1)))
    assert [steps[0][0] for steps in outcome.log[0][7:]] == [1] * 33


# ---------------------------------------------------------------- warp operations


def operands_for(op: WarpOp, lane: int, rng: random.Random) -> Operands:
    if WarpOp.SHFL_UP <= op <= WarpOp.SHFL_IDX:
        return Operands(a=rng.getrandbits(32), b=rng.getrandbits(5), c=rng.getrandbits(5) | rng.getrandbits(5) << 8)
    if op in (WarpOp.MATCH_ANY, WarpOp.MATCH_ALL):
        return Operands(wide=rng.choice([5, 5, 5, 1 << 40, (1 << 40) + 5]))
    if WarpOp.VOTE_ALL <= op <= WarpOp.VOTE_BALLOT:
        return Operands(a=rng.choice([0, 1, 1]))
    return Operands(a=rng.getrandbits(32))


DATA_OPS = [op for op in WarpOp if op not in (WarpOp.SYNC, WarpOp.ACTIVEMASK)]


@pytest.mark.parametrize("op", DATA_OPS, ids=lambda op: op.name)
def test_warp_operations_give_what_ptx_says(op: WarpOp) -> None:
    """With any mask, and in a block whose last warp is not whole, each lane gets what the ISA's pseudo code gives."""
    rng = random.Random(int(op))
    for threads in (32, 77, 31):
        warps = -(-threads // 32)
        masks = [rng.choice([ALL, 0x0000FFFF, rng.getrandbits(32) | 1]) for _ in range(warps)]
        given = [operands_for(op, t % 32, rng) for t in range(threads)]
        if op is WarpOp.MATCH_ALL and threads == 32:
            given = [Operands(wide=given[0].wide)] * 32
        if op in (WarpOp.VOTE_ALL, WarpOp.VOTE_UNI) and threads == 32:
            given = [Operands(a=1)] * 32
        if op is WarpOp.VOTE_UNI and threads == 31:
            given = [Operands(a=0)] * 31

        def program(b: int, t: int) -> list[Step]:
            mask, o = masks[t // 32], given[t]  # noqa: B023
            return [warp(op, mask, 7, o.a, o.b, o.c, o.wide)] if mask >> t % 32 & 1 else []

        outcome = finished(run(program, blocks=2, block=(threads, 1, 1)))
        for w in range(warps):
            taking_part = {
                lane: given[32 * w + lane] for lane in range(32) if masks[w] >> lane & 1 and 32 * w + lane < threads
            }
            for lane in taking_part:
                result, predicate = expected(op, lane, taking_part)
                got = outcome.log[1][32 * w + lane][0]
                assert got[0] == result, (op, threads, w, lane)
                if predicate is not None:
                    assert got[1] == predicate, (op, threads, w, lane)


@pytest.mark.parametrize(
    "op", [WarpOp.SHFL_UP, WarpOp.SHFL_DOWN, WarpOp.SHFL_BFLY, WarpOp.SHFL_IDX], ids=lambda op: op.name
)
@pytest.mark.parametrize("width", [32, 16, 8])
def test_shuffles_with_the_clamps_that_cuda_uses(op: WarpOp, width: int) -> None:
    """`__shfl_*_sync(mask, v, d, width)` moves values within segments; a lane out of range keeps its own."""
    delta = 3
    clamp = (32 - width) << 8 | (0 if op is WarpOp.SHFL_UP else 31)
    outcome = finished(run(lambda b, t: [warp(op, ALL, a=1000 + t, b=delta, c=clamp)], block=(32, 1, 1)))
    for lane in range(32):
        segment, within = lane // width * width, lane % width
        source = {
            WarpOp.SHFL_UP: within - delta,
            WarpOp.SHFL_DOWN: within + delta,
            WarpOp.SHFL_BFLY: within ^ delta,
            WarpOp.SHFL_IDX: delta,
        }[op]
        inside = 0 <= source < width
        assert outcome.log[0][lane][0] == (1000 + (segment + source if inside else lane), int(inside))


def test_lanes_that_do_not_exist_or_exited_are_not_waited_for() -> None:
    """A full mask in a block of 8, and after an early exit, means the lanes that are there."""
    o = finished(run(lambda b, t: [warp(WarpOp.VOTE_BALLOT, ALL, a=t & 1)], block=(8, 1, 1)))
    assert o.results(0, 0) == [0xAA] * 8
    o = finished(run(lambda b, t: [] if t >= 20 else [barrier(), warp(WarpOp.REDUX_ADD, ALL, a=t)], block=(32, 1, 1)))
    assert [steps[1][0] for steps in o.log[0][:20]] == [190] * 20


def test_a_reduction_stays_in_one_warp() -> None:
    """Five shuffles in a row run warp by warp: the second warp begins after the first has finished."""
    steps = [PASSED, *(warp(WarpOp.SHFL_BFLY, a=1, b=1 << i, c=31) for i in range(5)), PASSED]
    outcome = finished(run(lambda b, t: steps, block=(96, 1, 1)))
    starts, ends = outcome.results(0, 0), outcome.results(0, 6)
    assert max(ends[:32]) < min(starts[32:64])
    assert max(ends[32:64]) < min(starts[64:])


def test_lanes_in_two_branches_meet_among_themselves() -> None:
    """Two halves of a warp with different masks at different places do not wait for each other."""

    def program(b: int, t: int) -> list[Step]:
        if t % 2:
            return [warp(WarpOp.REDUX_ADD, 0xAAAAAAAA, 1, a=t), set_flag(4)]
        return [wait_flag(4), warp(WarpOp.REDUX_MAX_U32, 0x55555555, 2, a=t)]

    outcome = finished(run(program, block=(32, 1, 1)))
    assert [steps[0][0] for steps in outcome.log[0][1::2]] == [256] * 16
    assert [steps[1][0] for steps in outcome.log[0][0::2]] == [30] * 16


def test_warp_sync_may_be_met_at_different_places() -> None:
    """`bar.warp.sync` at two sites with one mask lets both go; a shuffle at two sites is divergence."""
    finished(run(lambda b, t: [warp(WarpOp.SYNC, ALL, site=t % 2)], block=(32, 1, 1)))
    outcome = run(lambda b, t: [warp(WarpOp.SHFL_IDX, ALL, site=t % 2)], block=(32, 1, 1))
    assert FaultKind(outcome.fault.kind) is FaultKind.DIVERGENT_WARP_OP


def test_activemask_is_the_set_of_lanes_that_meet() -> None:
    """Lanes in a branch see each other and not those elsewhere; the mask works in the operation that follows."""

    def program(b: int, t: int) -> list[Step]:
        if t % 4 == 3:
            return [warp(WarpOp.ACTIVEMASK, site=1), warp(WarpOp.REDUX_ADD, 0x88888888, 2, a=t)]
        return [warp(WarpOp.ACTIVEMASK, site=3), warp(WarpOp.VOTE_BALLOT, abi.MASK_CONVERGED, 4, a=t & 1)]

    outcome = finished(run(program, blocks=2, block=(64, 1, 1)))
    for t, steps in enumerate(outcome.log[1]):
        if t % 4 == 3:
            assert steps[0][0] == 0x88888888
            assert steps[1][0] == sum(x for x in range(64) if x % 4 == 3 and x // 32 == t // 32)
        else:
            assert steps[0][0] == 0x77777777
            assert steps[1][0] == 0x22222222


def test_random_sequences_of_masks_and_barriers_agree_with_the_model() -> None:
    """Whatever waits follow each other, each lane is handed what the model says for those who take part."""
    rng = random.Random(20)
    for _ in range(25):
        threads = rng.choice([7, 32, 50, 96])
        warps, plan = -(-threads // 32), []
        for site in range(rng.randrange(2, 7)):
            if rng.random() < 0.3:
                plan.append((None, site, []))
                continue
            op = rng.choice(DATA_OPS)
            mask = rng.choice([ALL, 0xFFFF00FF, rng.getrandbits(32)]) or 1
            plan.append((op, site, [(mask, operands_for(op, t % 32, rng)) for t in range(threads)]))

        def program(b: int, t: int) -> list[Step]:
            steps = []
            for op, site, given in plan:  # noqa: B023
                if op is None:
                    steps.append(barrier())
                elif given[t][0] >> t % 32 & 1:
                    o = given[t][1]
                    steps.append(warp(op, given[t][0], site, o.a, o.b, o.c, o.wide))
                else:
                    steps.append(PASSED if site % 2 else YIELDED)
            return steps

        outcome = finished(run(program, block=(threads, 1, 1)))
        for index, (op, _, given) in enumerate(plan):
            for w in range(warps if op is not None else 0):
                here = range(32 * w, min(threads, 32 * w + 32))
                part = {t % 32: given[t][1] for t in here if given[t][0] >> t % 32 & 1}
                for lane in part:
                    result, predicate = expected(op, lane, part)  # type: ignore[arg-type]
                    got = outcome.log[0][32 * w + lane][index]
                    assert got[0] == result
                    assert predicate is None or got[1] == predicate


# ---------------------------------------------------------------- yields and spinning


def test_yields_make_lanes_advance_together() -> None:
    """With a yield after each step, every lane has taken step n before any takes step n + 1."""
    outcome = finished(run(lambda b, t: [PASSED, YIELDED] * 5, block=(48, 1, 1)))
    for step in range(0, 8, 2):
        assert max(outcome.results(0, step)) < min(outcome.results(0, step + 2))


def test_a_lane_that_yielded_waits_for_the_next_pass() -> None:
    """While other lanes of its warp go on with warp operations, one that yielded does not run ahead of other warps."""

    def program(b: int, t: int) -> list[Step]:
        if t == 0:
            return [warp(WarpOp.VOTE_ALL, 1)] * 3
        return [YIELDED, PASSED] if t == 1 else [PASSED]

    outcome = finished(run(program, block=(64, 1, 1)))
    assert outcome.log[0][1][1][0] > max(steps[0][0] for steps in outcome.log[0][2:])


def test_a_thread_may_wait_for_a_later_thread_of_its_block() -> None:
    """A spinning thread lets the others run, in its warp and in others."""
    finished(run(lambda b, t: [wait_flag(1 + t)] if t < 20 else [set_flag(1 + (t - 20) % 20)], block=(64, 1, 1)))


@pytest.mark.parametrize("blocks", [2, 9, 60])
def test_every_block_may_wait_for_the_next_on_one_worker(blocks: int) -> None:
    """Block n spins until block n + 1 has run; one worker holds them all."""
    program = lambda b, t: [*([wait_flag(b + 2)] if b + 1 < blocks and t == 3 else []), set_flag(b + 1)]  # noqa: E731
    finished(run(program, blocks=blocks, block=(5, 1, 1)))


def test_a_block_that_spins_around_barriers_and_votes_lets_others_run() -> None:
    """A wait loop that holds a barrier and a vote is taken for spinning as well."""
    loop = [YIELDED, warp(WarpOp.VOTE_ANY, a=0), barrier(0, 0, BarrierOp.RED_OR, a=0)] * 6000
    program = lambda b, t: [*loop, wait_flag(3)] if b == 0 else [set_flag(3)]  # noqa: E731
    finished(run(program, blocks=2, block=(2, 1, 1)))


@pytest.mark.parametrize("wait", [warp(WarpOp.VOTE_ANY, a=0), barrier()], ids=["vote", "barrier"])
def test_a_wait_loop_that_never_yields_lets_other_blocks_run(wait: Step) -> None:
    """A loop around nothing but a vote, or nothing but a barrier, is left for other blocks in the end."""
    loop = [wait, Step(REPEAT_UNLESS_FLAG, mask_or_id=3, a=1, b=0)]
    finished(run(lambda b, t: loop if b == 0 else [set_flag(3)], blocks=2, block=(3, 1, 1)))


def test_blocks_wait_for_each_other_across_workers() -> None:
    """All blocks meet (each counts up, all spin until the count is full) with several workers and with one."""
    blocks = 24
    program = lambda b, t: [PASSED, wait_flag(0, blocks)]  # noqa: E731
    for count in (1, 3):
        workers = Workers(count)
        outcome = finished(run(program, blocks=blocks, block=(1, 1, 1), workers=workers, helpers=count - 1))
        workers.close()
        assert sorted(outcome.log[b][0][0][0] for b in range(blocks)) == list(range(blocks))


def test_more_waiting_blocks_than_a_worker_can_hold_end_with_an_error() -> None:
    """When all resident blocks spin and no other block is taken for long, the launch stops and says so."""
    workers = Workers(1, stall_s=0.02)
    blocks = LARGEST_CONTEXT_COUNT + 5
    program = lambda b, t: [set_flag(1)] if b == blocks - 1 else [wait_flag(1)]  # noqa: E731
    outcome = run(program, blocks=blocks, block=(1, 1, 1), workers=workers)
    workers.close()
    assert outcome.stalled_contexts == LARGEST_CONTEXT_COUNT


# ---------------------------------------------------------------- faults


def test_a_barrier_that_not_all_can_reach_is_a_deadlock() -> None:
    """Threads at different barriers for all are reported with barrier, waiting, expected and exited threads."""
    outcome = run(lambda b, t: [] if t < 5 else [barrier(2 if t < 20 else 6)], blocks=2, block=(50, 1, 1))
    fault = outcome.fault
    assert FaultKind(fault.kind) is FaultKind.DEADLOCK
    assert list(fault.detail) == [15, 45, 2, 5]
    assert list(fault.thread) == [5, 0, 0]


def test_a_count_that_is_never_reached_is_a_deadlock() -> None:
    """`bar.sync 1, 128` in a block of 64 does not hang."""
    fault = run(lambda b, t: [barrier(1, 128)], block=(4, 4, 4)).fault
    assert FaultKind(fault.kind) is FaultKind.DEADLOCK
    assert list(fault.detail) == [64, 128, 1, 0]


def test_a_lane_of_the_mask_that_waits_elsewhere_is_divergence() -> None:
    """A vote whose mask names a lane that waits at a barrier is reported with those who came."""
    outcome = run(lambda b, t: [barrier()] if t == 4 else [warp(WarpOp.VOTE_ALL, ALL, 9, a=1)], block=(8, 1, 1))
    fault = outcome.fault
    assert FaultKind(fault.kind) is FaultKind.DIVERGENT_WARP_OP
    assert list(fault.detail) == [0b11101111, ALL, WarpOp.VOTE_ALL, 0]
    assert fault.site == 9


def test_the_first_fault_is_kept_and_stops_the_launch() -> None:
    """A faulting thread's place is reported, and no further block begins."""
    fault_step = Step(FAULT, op=FaultKind.OUT_OF_BOUNDS, mask_or_id=abi.Access.WRITE, count_or_site=12, wide=0x1234)
    outcome = run(
        lambda b, t: [fault_step] if (b, t) == (2, 3 + 4 * 2) else [set_flag(b + 1)], blocks=9, block=(4, 4, 2)
    )
    fault = outcome.fault
    assert (fault.kind, fault.access, fault.site) == (FaultKind.OUT_OF_BOUNDS, abi.Access.WRITE, 12)
    assert (list(fault.block), list(fault.thread)) == ([2, 0, 0], [3, 2, 0])
    assert (fault.address, fault.nbytes) == (0x1234, 4)
    assert outcome.flags[1:4] == [1, 1, 1]
    assert outcome.flags[4:10] == [0] * 6


# ---------------------------------------------------------------- workers


def test_each_block_runs_once_with_several_workers() -> None:
    """Workers share the blocks of a launch without leaving one out or running one twice."""
    workers = Workers(4)
    outcome = finished(
        run(lambda b, t: [PASSED, barrier(), PASSED], blocks=101, block=(3, 1, 1), workers=workers, helpers=3)
    )
    workers.close()
    turns = sorted(outcome.log[b][t][s][0] for b in range(101) for t in range(3) for s in (0, 2))
    assert turns == list(range(606))


def test_launches_from_several_threads_do_not_disturb_each_other() -> None:
    """Four Python threads that launch on one pool at once each get their own results."""
    workers, failures = Workers(3), []

    def launch(number: int) -> None:
        steps = [warp(WarpOp.REDUX_ADD, ALL, a=number), barrier()] * 3
        outcome = run(lambda b, t: steps, blocks=5, block=(40, 1, 1), workers=workers, helpers=2)
        for b in range(5):
            if outcome.results(b, 2) != [32 * number] * 32 + [8 * number] * 8:
                failures.append((number, b))

    threads = [threading.Thread(target=launch, args=(n,)) for n in (3, 5, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    workers.close()
    assert not failures
