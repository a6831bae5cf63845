"""Faults of the stand-in CUDA driver on demand: at a call, in a launch, sticky ones and others."""

from __future__ import annotations

import pytest

from standin import StandIn
from standin.calls import bindings, code, kernel, launch, ok, opened
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]
NOTHING = ""


@pytest.mark.parametrize(
    ("nth", "count", "expected"),
    [(1, 1, [2, 0, 0, 0, 0]), (2, 2, [0, 2, 2, 0, 0]), (3, 0, [0, 0, 2, 2, 2])],
)
def test_the_nth_call_fails(standin_cuda: StandIn, nth: int, count: int, expected: list[int]) -> None:
    """Once, several times or for ever; a call that fails does nothing."""
    driver = bindings()
    opened()
    standin_cuda.fail_call("cuMemAlloc", 2, nth=nth, count=count)
    assert [code(driver.cuMemAlloc(30)) for _ in range(5)] == expected
    assert standin_cuda.count("memory", "created") == expected.count(0)
    assert standin_cuda.call_count("cuMemAlloc") == 5


def test_any_call_can_fail(standin_cuda: StandIn) -> None:
    """Counted over all entry points, to walk through a scenario; cleared, everything works again."""
    driver = bindings()
    opened()
    standin_cuda.fail_call("*", 999, nth=2, count=0)
    assert [code(driver.cuStreamCreate(0)), code(driver.cuEventCreate(0)), code(driver.cuMemAlloc(4))] == [0, 999, 999]
    standin_cuda.clear_faults()
    ok(driver.cuMemAlloc(4))


@pytest.mark.parametrize("fault", [700, 702, 710, 714, 715, 716, 717, 718, 719])
def test_a_sticky_fault_is_found_at_the_next_wait_and_stays(standin_cuda: StandIn, fault: int) -> None:
    """The launch that faults returns 0; the wait finds it; then every call of the context returns it, for ever."""
    driver = bindings()
    opened(0)
    function, stream, a = kernel(NOTHING), ok(driver.cuStreamCreate(1)), ok(driver.cuMemAlloc(40))
    standin_cuda.fail_launch(fault, nth=2)
    assert [launch(function, values=(), stream=stream) for _ in range(3)] == [0, 0, 0]
    assert code(driver.cuStreamSynchronize(stream)) == fault
    lost = (
        driver.cuStreamSynchronize(stream),
        driver.cuMemFree(a),
        driver.cuMemAlloc(4),
        driver.cuEventCreate(0),
        driver.cuStreamDestroy(stream),
        driver.cuCtxSynchronize(),
    )
    assert [code(call) for call in lost] == [fault] * len(lost)
    assert launch(function, values=()) == fault
    # Another device's context is not concerned, and the stack of contexts can still be changed.
    ok(driver.cuCtxPushCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    ok(driver.cuMemAlloc(4))
    ok(driver.cuCtxPopCurrent())
    ok(driver.cuDevicePrimaryCtxReset(0))
    assert code(driver.cuMemAlloc(4)) == fault


def test_another_fault_is_told_once(standin_cuda: StandIn) -> None:
    """A code that is not sticky is found by the next wait of that stream and by no other."""
    driver = bindings()
    opened()
    function, one, two = kernel(NOTHING), ok(driver.cuStreamCreate(1)), ok(driver.cuStreamCreate(1))
    standin_cuda.fail_launch(701)
    assert launch(function, values=(), stream=one) == 0
    assert launch(function, values=(), stream=two) == 0
    assert code(driver.cuStreamSynchronize(two)) == 0
    assert [code(driver.cuStreamSynchronize(one)) for _ in range(2)] == [701, 0]


def test_work_behind_a_fault_does_not_run(standin_cuda: StandIn) -> None:
    """Fills behind it change nothing; an event behind it is over and tells the fault."""
    driver = bindings()
    opened()
    stream, event, a = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(0)), ok(driver.cuMemHostAlloc(3, 0))
    standin_cuda.fail_launch(700)
    import ctypes

    ctypes.memset(a, 1, 3)
    launch(kernel(NOTHING), values=(), stream=stream)
    ok(driver.cuMemsetD8Async(a, 2, 3, stream))
    ok(driver.cuEventRecord(event, stream))
    assert code(driver.cuEventSynchronize(event)) == 700
    assert ctypes.string_at(a, 3) == b"\1\1\1"


def test_in_immediate_mode_the_next_call_finds_the_fault(standin_cuda: StandIn) -> None:
    """The launch itself still returns 0."""
    driver = bindings()
    standin_cuda.set(execution=1)
    opened()
    function = kernel(NOTHING)
    standin_cuda.fail_launch(719)
    assert launch(function, values=()) == 0
    assert code(driver.cuMemAlloc(4)) == 719


def test_a_context_can_be_lost_by_hand(standin_cuda: StandIn) -> None:
    """From one moment to the next, as by another library in the process."""
    driver = bindings()
    context = opened()
    standin_cuda.fail_context(context, 719)
    assert code(driver.cuMemGetInfo()) == 719


def test_a_scripted_sticky_code_loses_the_context(standin_cuda: StandIn) -> None:
    """A call that is told to return 700 leaves the context as a real 700 would."""
    driver = bindings()
    opened()
    standin_cuda.fail_call("cuStreamSynchronize", 700)
    assert [code(driver.cuStreamSynchronize(0)), code(driver.cuMemGetInfo())] == [700, 700]


def test_a_refused_launch_is_not_sticky(standin_cuda: StandIn) -> None:
    """Codes 1 and 209 at the call leave no trace: the next wait succeeds, and nothing was launched."""
    driver = bindings()
    opened()
    function = kernel(NOTHING)
    standin_cuda.fail_call("cuLaunchKernel", 1)
    standin_cuda.fail_call("cuLaunchKernel", 209, nth=2)
    assert [launch(function, values=()) for _ in range(3)] == [1, 209, 0]
    ok(driver.cuCtxSynchronize())
    assert standin_cuda.launch_count() == 1
    assert [call.code for call in standin_cuda.calls() if call.name == "cuLaunchKernel"] == [1, 209, 0]
