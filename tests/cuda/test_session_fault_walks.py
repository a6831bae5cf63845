"""Fault walks over the stand-in: the first driver call of a scenario fails, then the second, and so on, once and for good.

After each the session is usable or says that it is lost, the thread has the context it had, and closing leaves nothing.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator

import pytest
from kernels_for_launch import PTX
from primary_contexts import active_contexts
from standin import StandIn

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import (
    ArgumentKind,
    ArgumentLayout,
    CodeImage,
    Driver,
    DriverOptions,
    MemoryKind,
    TensorMapDescription,
)
from metrale_gpu_runtime.drivers.cuda.factory import CudaFactory
from metrale_gpu_runtime.errors import BackendUnavailable, DriverFault, GpuError
from metrale_gpu_runtime.geometry import Dim3, Geometry

IMAGE = CodeImage("m", "ptx", PTX.encode())
LAYOUT = ArgumentLayout((ArgumentKind.VALUE, ArgumentKind.VALUE), (0, 8), (1, 8), (1, 8), 16)


def memory(driver: Driver) -> None:
    """Every kind of memory, copies, fills, memory in a stream's order."""
    made = [(driver.alloc(1000, kind), kind) for kind in MemoryKind]
    host, found = bytes(range(200)), bytearray(200)
    address = made[0][0]
    driver.copy_h2d(address, memoryview(host), 0)
    driver.memset(address + 200, 0x1234, 2, 50, 0)
    driver.copy_d2d(address + 400, address, 200, 0)
    driver.copy_d2d_2d(address + 700, 20, address, 10, 10, 5, 0)
    driver.copy_d2h(memoryview(found), address + 400, 0)
    ordered = driver.alloc_async(500, 0)
    driver.memset(ordered, 1, 1, 500, 0)
    driver.free_async(ordered, 0)
    driver.synchronize(0)
    assert found == host
    driver.memory_figures()
    driver.map_host(made[2][0], 1000)
    for address, kind in made:
        driver.free(address, kind)


def lazily_mapped(driver: Driver) -> None:
    """Reserve, map in two steps, use, unmap in one, give back."""
    base, nbytes, granule = driver.reserve_addresses(5_000_000)
    driver.map_memory(base, granule)
    driver.map_memory(base + granule, 2 * granule)
    driver.memset(base + granule - 8, 1, 4, 4, 0)
    driver.synchronize(0)
    driver.unmap_memory(base, 3 * granule)
    driver.release_addresses(base, nbytes)


def streams_and_events(driver: Driver) -> None:
    """Two streams ordered by an event, waited for, asked, timed."""
    one, other = driver.create_stream(), driver.create_stream(-1)
    start, end = driver.create_event(), driver.create_event()
    driver.record_event(start, one)
    driver.wait_event(other, start)
    driver.record_event(end, other)
    driver.synchronize(other)
    driver.query_stream(one)
    driver.synchronize_event(end)
    assert driver.query_event(start)
    assert driver.elapsed_ms(start, end) >= 0
    for event in (start, end):
        driver.destroy_event(event)
    for stream in (one, other):
        driver.destroy_stream(stream)


def modules_and_launches(driver: Driver) -> None:
    """Load, look up, ask, launch with much shared memory and with a cluster, unload."""
    module = driver.load_module(IMAGE)
    assert "small_first" in (driver.function_names(module) or ())
    kernel = driver.function(module, "small_first")
    # "Invalid value" is how the driver says that there are no more parameters.
    assert ((0, 1), (8, 8))[: len(parameters := driver.function_attributes(kernel).parameters or ())] == parameters
    assert driver.global_symbol(module, "table")[1] == 12
    assert driver.max_active_blocks(kernel, 64, 60_000) > 0
    shape = Geometry(Dim3(4), Dim3(32), shared_mem=70_000, cluster=Dim3(2))
    assert driver.max_cluster_blocks(kernel, shape) >= 8
    target = driver.prepare_launch(kernel, LAYOUT)
    target.submit(bytes(16), shape, 0, 1)
    target.submit(bytes(16), Geometry(Dim3(3), Dim3(32)), 0, 2)
    driver.synchronize(0)
    described = TensorMapDescription(1 << 20, "FLOAT32", (96, 7), (384,), (16, 3), (1, 1))
    assert len(driver.encode_tensor_map(described)) == 128
    driver.unload_module(module)


def captured(driver: Driver) -> None:
    """A capture over two streams with events from inside and outside, updated, switched off and on, replayed; one given up."""
    module = driver.load_module(IMAGE)
    target = driver.prepare_launch(driver.function(module, "small_first"), LAYOUT)
    one, other = driver.create_stream(), driver.create_stream()
    inside, outside = driver.create_event(), driver.create_event()
    address = driver.alloc(300)
    driver.record_event(outside, 0)
    driver.begin_capture(one, "global")
    target.submit(bytes(16), Geometry(Dim3(3), Dim3(32)), one, 0)
    (node,) = driver.captured_nodes(one)
    driver.record_event(inside, one)
    driver.wait_event(other, inside)
    driver.memset(address, 3, 1, 300, other)
    driver.wait_event(one, outside)
    driver.free(driver.alloc(50))
    graph = driver.end_capture(one)
    assert driver.node_count(graph) == 4
    for grid in (2, 0, 5):
        driver.update_launch(graph, node, target, bytes([grid]) * 16, Geometry(Dim3(grid), Dim3(32)))
        driver.launch_graph(graph, one, 1)
    driver.synchronize(one)
    assert driver.query_event(inside)
    driver.begin_capture(other, "relaxed")
    driver.memset(address, 4, 1, 300, other)
    driver.abort_capture(other)
    driver.destroy_graph(graph)
    driver.free(address)
    for event in (inside, outside):
        driver.destroy_event(event)
    for stream in (one, other):
        driver.destroy_stream(stream)
    driver.unload_module(module)


SCENARIOS = (memory, lazily_mapped, streams_and_events, modules_and_launches, captured)
INVALID_VALUE, OUT_OF_MEMORY, ILLEGAL_ADDRESS = 1, 2, 700


@pytest.fixture(autouse=True)
def _small_heap() -> Iterator[None]:
    """A walk collects garbage often; what was there before need not be looked at."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def opened() -> Driver:
    return CudaFactory().open(0, DriverOptions())


def settle(driver: Driver) -> None:
    """Wait for what a scenario that broke off has queued, as the engine does before it closes a driver."""
    for stream in (0, *driver._streams._live):  # type: ignore[attr-defined]
        driver.abort_capture(stream)
        driver.synchronize(stream)


def calls_of(standin: StandIn, scenario: Callable[[Driver], None]) -> tuple[int, int]:
    """(calls that opening makes, calls of the scenario)."""
    standin.reset(devices=2)
    driver = opened()
    opening = standin.call_count()
    scenario(driver)
    total = standin.call_count()
    driver.close()
    return opening, total - opening


def context_of_this_thread() -> int:
    from cuda.bindings import driver

    return int(driver.cuCtxGetCurrent()[1])


@pytest.mark.parametrize("code", [INVALID_VALUE, OUT_OF_MEMORY])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
def test_one_call_fails_once(standin: StandIn, scenario: Callable[[Driver], None], code: int) -> None:
    """Whichever call fails: it is told, the same driver then does everything, and nothing is left after closing."""
    _, count = calls_of(standin, scenario)
    assert count > 20
    for nth in range(1, count + 1):
        standin.reset(devices=2)
        driver = opened()
        standin.fail_call("*", code, nth=nth)
        raised = None
        try:
            scenario(driver)
        except GpuError as error:
            raised = error
        standin.clear_faults()
        if raised is None:
            failed = [call.name for call in standin.calls() if call.code == code]
            assert failed[:1] == ["cuFuncGetParamInfo"], f"{failed} (call {nth}) was not told"
        settle(driver)
        assert context_of_this_thread() in (0, driver.context)  # type: ignore[attr-defined]
        scenario(driver)
        settle(driver)
        driver.close()
        assert standin.live() == {}, f"call {nth} of {scenario.__name__} failed: {raised}"
        assert active_contexts() == 0


@pytest.mark.parametrize("code", [INVALID_VALUE, ILLEGAL_ADDRESS])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
def test_every_call_fails_from_one_on(standin: StandIn, scenario: Callable[[Driver], None], code: int) -> None:
    """From whichever call on the driver is broken: every call says so, closing neither raises nor hangs."""
    _, count = calls_of(standin, scenario)
    for nth in range(1, count + 1, 3):
        standin.reset(devices=2)
        driver = opened()
        standin.fail_call("*", code, nth=nth, count=0)
        raised: Exception | None = None
        try:
            scenario(driver)
        except (GpuError, DriverFault) as error:
            raised = error
        if code == ILLEGAL_ADDRESS:
            # A free in a lost context is no failure; everything else is.
            assert driver._calls.is_lost  # type: ignore[attr-defined]
            assert raised is None or (isinstance(raised, DriverFault) and raised.context_lost)
        else:
            assert isinstance(raised, GpuError)
        driver.close()
    standin.reset(devices=2)


def test_opening_fails_at_any_call(standin: StandIn) -> None:
    """Whichever call of opening fails: BackendUnavailable, no context is held, and the next attempt works."""
    opening, _ = calls_of(standin, memory)
    refusals = 0
    for nth in range(1, opening + 1):
        standin.reset(devices=2)
        standin.fail_call("*", OUT_OF_MEMORY, nth=nth)
        try:
            driver = opened()
        except BackendUnavailable:
            refusals += 1
        else:
            driver.close()
        standin.clear_faults()
        assert (standin.live(), active_contexts()) == ({}, 0), f"call {nth} failed"
        opened().close()
    # What the driver lacks is asked with the same words as what it refuses: such a call may only cost a feature.
    assert refusals == opening


@pytest.mark.parametrize("code", [INVALID_VALUE, OUT_OF_MEMORY])
def test_a_whole_backend_survives_one_failure(standin: StandIn, code: int) -> None:
    """The engine over it: after any one failed call the backend goes on and its close leaves nothing in the driver."""

    def work(gpu: mg.GpuBackend) -> None:
        kernel = gpu.load_module("m", source={".ptx": PTX}, replace=True)["scale"]
        x = gpu.empty(37, mg.f32)
        with gpu.create_stream() as stream:
            kernel[3, 32, 60_000, stream](x, mg.u32(37), 0.5)
            with gpu.capture(stream) as capture:
                kernel[3, 32, 0, stream](x, mg.slot("n", mg.u32), 0.5)
            for n in (3, 5):
                capture.graph.launch(stream, n=n)
            stream.synchronize()
            capture.graph.close()
        x.numpy()

    gpu = mg.open_backend("cuda")
    before = standin.call_count()
    work(gpu)
    count = standin.call_count() - before
    gpu.close()
    for nth in range(1, count + 1, 2):
        standin.reset(devices=2)
        gpu = mg.open_backend("cuda")
        standin.fail_call("*", code, nth=nth)
        with warnings.catch_warnings():
            # What the driver does not take back on nobody's request becomes a warning.
            warnings.simplefilter("ignore", mg.GpuResourceWarning)
            try:
                work(gpu)
            except GpuError as error:
                error.__traceback__ = None
            standin.clear_faults()
            gc.collect()
            gpu.synchronize()
            work(gpu)
            gpu.close()
        assert (standin.live(), active_contexts()) == ({}, 0), f"call {nth} failed"
