"""What each form of the launch benchmark asks of the driver, of memory and of the checks: counted, never timed."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from standin import StandIn
from standin.fixtures import standin_cuda as standin_cuda

from bench.launch.ours import (
    BARS,
    BUILDER,
    PREPARED_ALL,
    PREPARED_NONE,
    SEQUENCE,
    SHORT,
    SHORT_LENGTH,
    SLOTS,
    SLOTS_LENGTH,
    Ours,
    opened,
)
from bench.launch.rows import Row
from bench.launch.shapes import SHAPES
from metrale_gpu_runtime.signature import KernelSignature

LAUNCH_CALLS = {"cuLaunchKernel", "cuLaunchKernelEx"}
LAUNCHES = dict.fromkeys((BUILDER, SHORT, PREPARED_ALL, PREPARED_NONE), 1) | {
    SEQUENCE: SHORT_LENGTH,
    SLOTS: SLOTS_LENGTH,
}
shapes = pytest.mark.parametrize("count", SHAPES)


@pytest.fixture
def ours(standin_cuda: StandIn) -> Iterator[Ours]:
    """The benchmark's backend over the journalling stand-in, its context current on this thread."""
    from cuda.bindings import driver

    (ready,) = driver.cuInit(0)
    status, context = driver.cuDevicePrimaryCtxRetain(0)
    assert (int(ready), int(status)) == (0, 0)
    driver.cuCtxPushCurrent(context)
    try:
        with opened() as ours:
            yield ours
    finally:
        driver.cuCtxPopCurrent()
        driver.cuDevicePrimaryCtxRelease(0)


def _row(ours: Ours, name: str, count: int) -> Row:
    (row,) = ours.rows(SHAPES[count], [name])
    return row


def test_every_bar_has_its_form(ours: Ours) -> None:
    """The forms that are measured are those that have bars, and each makes as many launches as its name says."""
    rows = ours.rows(SHAPES[3])
    assert [row.name for row in rows] == list(BARS)
    assert {row.name: row.launches for row in rows} == LAUNCHES


@shapes
@pytest.mark.parametrize("name", BARS)
def test_each_launch_is_one_launch_call_and_at_most_one_context_query(
    ours: Ours, standin_cuda: StandIn, name: str, count: int
) -> None:
    """No form asks the driver anything but the launch itself and which context is current."""
    row = _row(ours, name, count)
    for statement in row.statements:
        run = row.loop([statement])
        run(1)
        standin_cuda.clear_journal()
        run(1)
        calls = Counter(standin_cuda.names())
        launches = sum(calls.pop(each, 0) for each in LAUNCH_CALLS)
        assert launches == row.launches
        assert calls.pop("cuCtxGetCurrent", 0) <= launches
        assert calls == {}


@shapes
@pytest.mark.parametrize("name", [BUILDER, SHORT, PREPARED_ALL, SEQUENCE, SLOTS])
def test_the_launches_of_a_row_are_not_alike(ours: Ours, standin_cuda: StandIn, name: str, count: int) -> None:
    """Every launch of a row has parameters of its own: what is said to change does, in each argument."""
    row = _row(ours, name, count)
    standin_cuda.clear_journal()
    row.loop()(1)
    blocks = [launch.parameters for launch in standin_cuda.launches()]
    assert len(blocks) == row.launches_of_a_pass
    if name in (SEQUENCE, SLOTS):
        assert len(set(blocks[: row.launches])) == row.launches
        return
    first, second = blocks
    shape = SHAPES[count]
    for offset, kind in zip(shape.offsets, shape.kinds, strict=True):
        assert first[offset : offset + kind.nbytes] != second[offset : offset + kind.nbytes]


def test_four_slots_are_set_in_sixty_four_places(ours: Ours, standin_cuda: StandIn) -> None:
    """Setting the four slots anew changes one argument in each of 64 of the 200 launches, and no other."""
    for count, shape in SHAPES.items():
        row = _row(ours, SLOTS, count)
        standin_cuda.clear_journal()
        row.loop()(1)
        blocks = [launch.parameters for launch in standin_cuda.launches()]
        changed = []
        for first, second in zip(blocks[:SLOTS_LENGTH], blocks[SLOTS_LENGTH:], strict=True):
            changed += [
                at
                for at, (offset, kind) in enumerate(zip(shape.offsets, shape.kinds, strict=True))
                if first[offset : offset + kind.nbytes] != second[offset : offset + kind.nbytes]
            ]
        assert len(changed) == 64, count


def _kept(run: Callable[[int], None], calls: int) -> tuple[int, int]:
    """Blocks and bytes of Python's memory that so many calls leave behind."""
    gc.collect()
    traced, blocks = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
    run(calls)
    gc.collect()
    return sys.getallocatedblocks() - blocks, tracemalloc.get_traced_memory()[0] - traced


@pytest.mark.parametrize(
    ("name", "calls"), [(BUILDER, 1_000), (SHORT, 1_000), (PREPARED_ALL, 5_000), (PREPARED_NONE, 10_000)]
)
def test_ten_thousand_launches_keep_no_allocation(ours: Ours, standin_cuda: StandIn, name: str, calls: int) -> None:
    """Ten thousand launches of a prepared one keep none of Python's memory; nor do the other forms."""
    run = _row(ours, name, 8).loop()
    tracemalloc.start()
    try:
        # After these the ring of past launches holds what is traced, every memo is made, and no ordinal is one of the
        # small integers that Python keeps anyway.
        run(500)
        _kept(run, 1)
        blocks, nbytes = _kept(run, calls)
    finally:
        tracemalloc.stop()
    # What counts here keeps a few numbers and a frame; one object a launch would be a thousand blocks at the least.
    assert (blocks <= 8, nbytes < 4096) == (True, True), (blocks, nbytes)


def test_a_builder_launch_makes_no_second_signature_check(ours: Ours, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of types is held against the kernel's signature once, whatever number of builders then give it."""
    checked = []
    check = KernelSignature.check

    def counted(self: KernelSignature, *given: object) -> object:
        checked.append(self.kernel)
        return check(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(KernelSignature, "check", counted)
    run = _row(ours, BUILDER, 8).loop()
    run(1)
    assert checked == ["k8"]
    run(100)
    assert checked == ["k8"]
