"""Captures and graphs over the driver's own: what a capture survives, what it refuses, what a replay uses."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from kernels_for_launch import PTX

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend

MODES = ("global", "thread_local", "relaxed")


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX})
        yield backend


@pytest.mark.parametrize("mode", MODES)
def test_nothing_of_ours_ruins_a_capture(standin, gpu, mode: str) -> None:
    """Allocations, loads, drops and the collector, in this thread and another: the capture stays valid (case 26)."""
    driver = gpu.driver
    stream = driver.create_stream()
    driver.begin_capture(stream, mode)
    address = driver.alloc(100)
    driver.memset(address, 1, 1, 100, stream)

    def other() -> None:
        driver.free(driver.alloc(200))
        event = driver.create_event()
        driver.query_stream(0)
        driver.synchronize(0)
        driver.destroy_event(event)
        gc.collect()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    other()
    module = gpu.load_module("while_capturing", source={".ptx": PTX})
    assert module["nothing"].attributes.registers is not None
    assert len(driver.captured_nodes(stream)) == 1
    graph = driver.end_capture(stream)
    assert driver.node_count(graph) == 1
    driver.launch_graph(graph, stream, 1)
    driver.synchronize(stream)
    driver.destroy_graph(graph)
    driver.free(address)
    driver.destroy_stream(stream)


def test_dropped_things_wait_for_the_end(standin, gpu) -> None:
    """A buffer, an event and a graph dropped inside a capture do not end it; they are given back after it."""
    kernel = gpu.kernel("m", "scale")
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as early:
            kernel[1, 32, 0, stream](gpu.empty(32, mg.f32), mg.u32(1), 1.0)
        kept = [early.graph, gpu.create_event(), gpu.empty(64, mg.f32)]
        with gpu.capture(stream) as capture:
            kernel[1, 32, 0, stream](kept[2], mg.u32(2), 2.0)
            early = None
            kept.clear()
            gc.collect()
        capture.graph.launch(stream)
        stream.synchronize()
        capture.graph.close()
    gpu.synchronize()


def test_a_ruined_capture_says_why_and_the_stream_works(standin, gpu) -> None:
    """Another library's unsafe call invalidates a global capture: the end raises CaptureError, nothing stays latched."""
    from cuda.bindings import driver as cuda

    kernel = gpu.kernel("m", "nothing")
    with gpu.create_stream() as stream:
        gpu.driver.begin_capture(stream.handle, "global")
        assert cuda.cuCtxPushCurrent(gpu.driver.context)[0] == 0
        assert cuda.cuMemAlloc(100)[0] == 900
        cuda.cuCtxPopCurrent()
        assert [each.kind for each in standin.violations()] == ["unsafe-in-capture"]
        standin.clear_journal()
        with pytest.raises(mg.CaptureError, match="invalidated"):
            gpu.driver.captured_nodes(stream.handle)
        with pytest.raises(mg.CaptureError, match="invalidated"):
            gpu.driver.end_capture(stream.handle)
        assert not gpu.is_lost
        kernel[1, 32, 0, stream]()
        stream.synchronize()
        with gpu.capture(stream) as capture:
            kernel[1, 32, 0, stream]()
        capture.graph.launch(stream)
        stream.synchronize()
        capture.graph.close()


def test_waiting_calls_are_the_drivers_refusal_too(standin, gpu) -> None:
    """Below the engine's own check, synchronising a captured stream raises CaptureError with the reason."""
    driver = gpu.driver
    stream = driver.create_stream()
    driver.begin_capture(stream, "relaxed")
    with pytest.raises(mg.CaptureError, match="cuStreamSynchronize: this call is not allowed while"):
        driver.synchronize(stream)
    # Here it is the test that does what nobody should.
    assert [each.kind for each in standin.violations()] == ["unsafe-in-capture"]
    standin.clear_journal()
    driver.abort_capture(stream)
    driver.synchronize(stream)
    driver.destroy_stream(stream)


def test_another_thread_cannot_end_a_thread_local_capture(standin, gpu) -> None:
    """The error says which thread has to, or which mode would have allowed it; the owner can still end it."""
    driver = gpu.driver
    stream = driver.create_stream()
    driver.begin_capture(stream, "thread_local")
    refused: list[Exception] = []

    def end() -> None:
        try:
            driver.end_capture(stream)
        except mg.CaptureError as error:
            refused.append(error)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    assert "another thread" in str(refused[0])
    assert 'mode="relaxed"' in str(refused[0])
    driver.destroy_graph(driver.end_capture(stream))
    driver.destroy_stream(stream)


def test_streams_drawn_in_are_joined_at_the_end(standin, gpu) -> None:
    """A fork to two streams that nobody joins again is part of the graph, and all of it is replayed."""
    driver = gpu.driver
    one, two, three = (driver.create_stream() for _ in range(3))
    event, address = driver.create_event(), driver.alloc(300)
    driver.memset(address, 0, 1, 300, one)
    driver.synchronize(one)
    driver.begin_capture(one, "global")
    driver.memset(address, 1, 1, 100, one)
    driver.record_event(event, one)
    driver.wait_event(two, event)
    driver.wait_event(three, event)
    driver.memset(address + 100, 2, 1, 100, two)
    driver.memset(address + 200, 3, 1, 100, three)
    assert len({driver.captured_nodes(stream) for stream in (one, two, three)}) == 3
    graph = driver.end_capture(one)
    assert [driver.captured_nodes(stream) for stream in (one, two, three)] == [()] * 3
    driver.launch_graph(graph, one, 1)
    driver.synchronize(one)
    found = bytearray(300)
    driver.copy_d2h(memoryview(found), address, two)
    driver.synchronize(two)
    assert found == bytes([1]) * 100 + bytes([2]) * 100 + bytes([3]) * 100
    for give_back, handles in (
        (driver.destroy_graph, [graph]),
        (driver.destroy_event, [event]),
        (driver.destroy_stream, [one, two, three]),
        (driver.free, [address]),
    ):
        for handle in handles:
            give_back(handle)


def test_every_replay_records_the_events_of_the_capture(standin, gpu) -> None:
    """An event recorded in a capture is reached by each replay, and is untouched by the capture itself."""
    driver = gpu.driver
    stream, event, end = driver.create_stream(), driver.create_event(), driver.create_event()
    address = driver.alloc(64)
    driver.begin_capture(stream, "global")
    driver.memset(address, 1, 1, 64, stream)
    driver.record_event(event, stream)
    graph = driver.end_capture(stream)
    for _ in range(2):
        driver.launch_graph(graph, stream, 1)
        driver.record_event(end, stream)
        driver.synchronize(stream)
        assert driver.query_event(event)
        assert driver.elapsed_ms(event, end) >= 0
    for handle in (event, end):
        driver.destroy_event(handle)
    driver.destroy_graph(graph)
    driver.destroy_stream(stream)
    driver.free(address)


def test_an_event_from_outside_is_waited_for_at_every_replay(standin, gpu) -> None:
    """A wait for an event that no capture recorded becomes a node, not an error of isolation."""
    driver = gpu.driver
    stream, outside, event = driver.create_stream(), driver.create_stream(), driver.create_event()
    driver.record_event(event, outside)
    driver.begin_capture(stream, "global")
    driver.wait_event(stream, event)
    assert len(driver.captured_nodes(stream)) == 1
    graph = driver.end_capture(stream)
    driver.launch_graph(graph, stream, 1)
    driver.synchronize(stream)
    driver.destroy_graph(graph)
    driver.destroy_event(event)
    for handle in (stream, outside):
        driver.destroy_stream(handle)


# ------------------------------------------------ new values for a captured launch (field case 27)


def test_a_replay_uses_the_values_that_were_set(standin, gpu) -> None:
    """Scalars, pointers and the grid change exactly at the next replay, without another capture; others stay."""
    kernel = gpu.kernel("m", "scale")
    x, y = gpu.empty(100, mg.f32), gpu.empty(100, mg.f32)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            kernel[mg.slot("blocks", "grid"), 32, 0, stream](mg.slot("out", "ptr"), mg.slot("n", mg.u32), 1.5)
            kernel[9, 32, 0, stream](x, mg.u32(77), 2.5)
        standin.clear_journal()
        graph = capture.graph
        graph.launch(stream, blocks=2, out=x, n=3)
        graph.launch(stream, blocks=4, out=x, n=5)
        graph.launch(stream, blocks=4, out=y, n=5)
        stream.synchronize()
        assert "cuStreamBeginCapture" not in standin.names()
        launches = standin.launches()
        graph.close()
    first = [
        (each.grid[0], *(int.from_bytes(each.parameters[a:b], "little") for a, b in ((0, 8), (8, 12))))
        for each in launches[0::2]
    ]
    assert first == [(2, x.ptr.address, 3), (4, x.ptr.address, 5), (4, y.ptr.address, 5)]
    assert [(each.grid[0], each.parameters[8]) for each in launches[1::2]] == [(9, 77)] * 3


def test_an_empty_grid_switches_a_launch_off_and_on(standin, gpu) -> None:
    """A replay with no blocks leaves the launch out; the next with some has it again, with its new values."""
    kernel, x = gpu.kernel("m", "scale"), gpu.empty(100, mg.f32)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            kernel[mg.slot("blocks", "grid"), 32, 0, stream](x, mg.slot("n", mg.u32), 1.5)
        graph = capture.graph
        for blocks, n in ((2, 10), (0, 11), (0, 12), (3, 13)):
            graph.launch(stream, blocks=blocks, n=n)
        stream.synchronize()
        graph.close()
    assert [(each.grid[0], each.parameters[8]) for each in standin.launches()] == [(2, 10), (3, 13)]
