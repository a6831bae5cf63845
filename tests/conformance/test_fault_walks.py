"""Fault walks: the first driver call of a scenario fails, then the second, and so on, once and for good.

After each the session is usable or says that it is not, and closing leaves nothing behind.
"""

from __future__ import annotations

import gc
import struct
import warnings
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest

from metrale_gpu_runtime.errors import ContextLost, GpuError, GpuResourceWarning, KernelFault
from metrale_gpu_runtime.memory.lazy import MappingBudget
from metrale_gpu_runtime.scalars import u8, u32
from metrale_gpu_runtime.testing import CLEAN_UP_CALLS, FaultFound, FaultPlan, MockGpuBackend
from metrale_gpu_runtime.testing.conformance.bodies import SUITE, TABLE


@pytest.fixture(autouse=True)
def _small_heap():
    """A walk collects garbage hundreds of times; what was there before it need not be looked at."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def opened(scenario):
    # A device with every ability that the scenarios use.
    gpu = MockGpuBackend("H100" if scenario in OF_LARGE_DEVICES else "generic", fill=0xC7)
    for module in ("suite", "own"):
        for function, body in SUITE.items():
            gpu.define_kernel(module, function, body)
        gpu.define_global(module, "table", struct.pack("<3I", *TABLE))
    return gpu


def one_launch(gpu):
    kernel = gpu.kernel("suite", "affine")
    values = gpu.array(np.array([1, 2, 3], dtype=np.uint32))
    kernel[1, 3](values, u32(3), u32(10), u32(1))
    assert values.numpy().tolist() == [11, 21, 31]


def streams_and_events(gpu):
    kernel = gpu.kernel("suite", "affine")
    values = gpu.array(np.array([1, 2, 3], dtype=np.uint32))
    with gpu.create_stream() as one, gpu.create_stream() as other:
        kernel[1, 3, 0, one](values, u32(3), u32(10), u32(1))
        event = one.record_event()
        other.wait_event(event)
        gpu.memset_async(values, 0, 4, other)
        other.synchronize()
        event.close()
    assert values.numpy().tolist() == [0, 21, 31]


def many_allocations(gpu):
    with ExitStack() as stack:
        for size in range(1, 6):
            pointer = gpu.alloc(100 * size, label=f"number {size}")
            stack.callback(gpu.free, pointer)
            gpu.memset(pointer, size, 100)


def capture_and_replay(gpu):
    kernel = gpu.kernel("suite", "affine")
    values = gpu.array(np.array([1, 2, 3], dtype=np.uint32))
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            kernel[1, 3, 0, stream](values, u32(3), u32(10), u32(1))
            gpu.memset_async(values, 0, 4, stream)
        for _ in range(2):
            capture.graph.launch(stream)
        stream.synchronize()
        capture.graph.close()
    assert values.numpy().tolist() == [0, 211, 311]


def prepared_and_sequenced(gpu):
    kernel = gpu.kernel("suite", "affine")
    values = gpu.array(np.array([1, 2, 3], dtype=np.uint32))
    prepared = kernel[1, 3].prepare(values, u32(3), u32(10), u32(1))
    with gpu.sequence() as step:
        prepared()
        kernel[1, 3](values, u32(3), u32(2), u32(0))
    prepared()
    step()
    assert values.numpy().tolist() == [222, 422, 622]


def module_and_globals(gpu):
    module = gpu.load_module("own", binary=b"any")
    table = module.globals["table"]
    gpu.copy_h2d(np.array([7, 8, 9], dtype=np.uint32), table)
    out = gpu.array(np.zeros(3, dtype=np.uint32))
    module["add_table"][1, 3](out)
    assert out.numpy().tolist() == [8, 9, 10]
    del table
    gpu.unload_module("own")


def in_stream_order(gpu):
    kernel = gpu.kernel("suite", "affine")
    with gpu.create_stream() as home, gpu.create_stream() as other, ExitStack() as stack:
        for size in (12, 3000):
            pointer = gpu.alloc_async(size, home)
            stack.callback(gpu.free_async, pointer, home)
        gpu.memset_async(pointer, 5, 12, home, width=4)
        other.wait_event(home.record_event())
        kernel[1, 3, 0, other](pointer, u32(3), u32(10), u32(1))
        found = np.zeros(3, dtype=np.uint32)
        gpu.copy_d2h(pointer, found)
        assert found.tolist() == [51, 51, 51]


def lazily_mapped(gpu):
    budget = MappingBudget(8 << 20)
    with refunded(budget), gpu.lazy_buffer(20 << 20, budget=budget, free_floor=1 << 20) as buffer:
        buffer.ensure_mapped(1)
        gpu.memset(buffer, 3)
        buffer.ensure_mapped(3 << 20)
        gpu.memset_async(buffer.ptr + (3 << 20), 4, 100)
        with gpu.lazy_buffer(1 << 20, budget=budget, free_floor=0) as other:
            other.ensure_mapped(1)
            gpu.copy_d2d(buffer.ptr, other.ptr, 1000)


@contextmanager
def refunded(budget):
    """Whatever failed, the budget has back what was charged to it once the buffers are gone."""
    try:
        yield
    finally:
        gc.collect()
    assert budget.charged_nbytes == 0


def tensor_maps(gpu):
    made = gpu.tensor_map(gpu.empty((5, 32), np.float32), box=(8, 2))
    out = gpu.array(np.zeros(130, dtype=np.uint8))
    gpu.kernel("suite", "tensor_map")[2, 64](out, u8(1), made, u8(2))
    assert out.numpy().tobytes() == b"\x01" + made.data + b"\x02"


OF_LARGE_DEVICES = (in_stream_order, lazily_mapped, tensor_maps)

SCENARIOS = [
    *OF_LARGE_DEVICES,
    one_launch,
    streams_and_events,
    many_allocations,
    capture_and_replay,
    prepared_and_sequenced,
    module_and_globals,
]

WAYS = {
    "once": lambda nth: FaultPlan().fail(nth=nth),
    "for good": lambda nth: FaultPlan().fail(nth=nth, forever=True, spared=CLEAN_UP_CALLS),
    "lost": lambda nth: FaultPlan().fail(nth=nth, failure=FaultFound("MOCK_ERROR_LOST", context_lost=True)),
}


def attempt(gpu, scenario, plan):
    """Run the scenario under the plan; the error it ended with, None when it went through."""
    gpu.inject(plan)
    try:
        scenario(gpu)
    except GpuError as error:
        return error.with_traceback(None)
    finally:
        gpu.inject(FaultPlan())
    return None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_whichever_call_fails_the_books_are_right(scenario, way):
    """Whichever driver call of a scenario fails, the session is usable or lost afterwards and the books are empty."""
    for nth in range(1, 200):
        gpu = opened(scenario)
        plan = WAYS[way](nth)
        with warnings.catch_warnings():
            # What a finaliser could not give back is one category of warning, and may be told here.
            warnings.simplefilter("ignore", GpuResourceWarning)
            attempt(gpu, scenario, plan)
            gc.collect()
        if not plan.fired:
            gpu.close()
            break
        call = plan.fired[0][0]
        if way == "lost":
            # Giving memory back never tells of a lost context; then the next call does.
            with pytest.raises(KernelFault) as info:
                gpu.synchronize()
            assert gpu.is_lost
            assert isinstance(info.value, ContextLost) or call in CLEAN_UP_CALLS
            with pytest.raises(ContextLost):
                gpu.alloc(3)
        else:
            assert not gpu.is_lost
            one_launch(gpu)
            gc.collect()
            gpu.synchronize()
            assert gpu.live_alloc_count() == 0, f"after {call} (call {nth}) failed:\n{gpu.alloc_report()}"
        gpu.close()
        assert not gpu.mock.violations, f"after {call} (call {nth}) failed: {gpu.mock.violations}"
        if not gpu.is_lost and call not in CLEAN_UP_CALLS:
            left = {kind: count for kind, count in gpu.mock.books.items() if count}
            assert not left, f"after {call} (call {nth}) failed: {left} not given back"
    else:
        raise AssertionError("the walk did not come to its end")
    assert nth > 5, "the scenario makes too few driver calls to be worth a walk"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_closing_under_a_fault_that_stays_neither_raises_nor_hangs(scenario):
    """With every call failing from some point on, clean-up too, closing ends and the backend is closed."""
    for nth in range(1, 200, 3):
        gpu = opened(scenario)
        plan = FaultPlan().fail(nth=nth, forever=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GpuResourceWarning)
            gpu.inject(plan)
            try:
                scenario(gpu)
            except GpuError as error:
                error.with_traceback(None)
            fired = bool(plan.fired)
            gc.collect()
            # Work that failed and that nobody waited for may be told here, once; the backend is closed all the same.
            with suppress(KernelFault):
                gpu.close()
            gpu.close()
            gc.collect()
        assert not gpu.is_open
        assert not gpu.mock.violations
        if not fired:
            break
