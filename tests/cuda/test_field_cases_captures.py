"""What a capture survives, and what a replay uses (field cases 26, 27)."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from field_cases_places import PLACES, Place, opened

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock.log import Launch
from metrale_gpu_runtime.errors import ArgumentCountError, ArgumentError, CaptureError

SIGNATURE = "unsigned int* values, unsigned int count, unsigned int factor, unsigned int addend"
MODES = ("global", "thread_local", "relaxed")


@pytest.fixture(params=["cuda", "hip"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with opened(request.param) as place:
        yield place


# ------------------------------------------------ 26: a capture that others spoil


def giving_back(place: Place) -> list[str]:
    """The calls so far that give something back."""
    return [name for name in place.standin.names() if "Free" in name or "Destroy" in name]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_dropped_inside_is_held_back_until_the_end(place: Place, mode: str) -> None:
    """A buffer, a graph and an event dropped inside, and a collector on another thread: nothing is freed before the end."""
    gpu, kernel = place.gpu, place.kernel("affine", SIGNATURE)
    values = gpu.empty(5, mg.u32)
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as early:
            kernel[1, 32, 0, stream](gpu.empty(32, mg.u32), mg.u32(1), mg.u32(2), mg.u32(3))
        early.graph.launch(stream)
        stream.synchronize()
        kept = [early.graph, gpu.create_event(), gpu.empty(64, mg.u32)]
        kept.append(kept)
        del early
        alive = gpu.live_alloc_count()
        place.standin.clear_journal()
        with gpu.capture(stream, mode=mode) as capture:
            kernel[1, 32, 0, stream](values, mg.u32(5), mg.u32(2), mg.u32(3))
            del kept
            collector = threading.Thread(target=gc.collect)
            collector.start()
            collector.join()
            kernel[2, 32, 0, stream](values, mg.u32(5), mg.u32(2), mg.u32(3))
            assert giving_back(place) == []
        capture.graph.launch(stream)
        stream.synchronize()
        # The cycle's buffer, and the memory that only the early graph held.
        assert gpu.live_alloc_count() == alive - 2
        assert len(giving_back(place)) >= 4
        assert [grid for grid, _, _ in place.launches()] == [(1, 1, 1), (2, 1, 1)]
        assert place.standin.violations() == []
        capture.graph.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_forbidden_call_itself_raises_and_spoils_nothing(place: Place, mode: str) -> None:
    """Whatever waits raises inside a capture and says why, before the driver; the capture goes on and is whole."""
    gpu, kernel = place.gpu, place.kernel("affine", SIGNATURE)
    values = gpu.empty(5, mg.u32)
    with gpu.create_stream() as stream:
        # Reading the values has to wait for this, in every mode.
        kernel[9, 32, 0, stream](values, mg.u32(5), mg.u32(2), mg.u32(3))
        with gpu.capture(stream, mode=mode) as capture:
            kernel[1, 32, 0, stream](values, mg.u32(5), mg.u32(2), mg.u32(3))
            calls = place.standin.call_count()
            for call in (stream.synchronize, gpu.synchronize, values.numpy, stream.query):
                with pytest.raises(CaptureError) as refused:
                    call()
                assert "captur" in str(refused.value)
                assert "end the capture first (gpu.end_capture)" in str(refused.value)
            assert place.standin.call_count() == calls
            kernel[2, 32, 0, stream](values, mg.u32(5), mg.u32(2), mg.u32(3))
        capture.graph.launch(stream)
        stream.synchronize()
        capture.graph.close()
    assert [grid[0] for grid, _, _ in place.launches()] == [9, 1, 2]


def launch_and_fail(configured: object, arguments: tuple[object, ...]) -> None:
    configured(*arguments)
    raise ZeroDivisionError


def test_after_a_failed_capture_nothing_stays_latched(place: Place) -> None:
    """A capture left by an exception, or refused at its end, is over: the stream runs, waits and captures again."""
    gpu, kernel = place.gpu, place.kernel("affine", SIGNATURE)
    values = gpu.empty(5, mg.u32)
    arguments = (values, mg.u32(5), mg.u32(2), mg.u32(3))
    end = {"cuda": "cuStreamEndCapture", "hip": "hipStreamEndCapture"}[place.name]
    with gpu.create_stream() as stream:
        with pytest.raises(ZeroDivisionError), gpu.capture(stream):
            launch_and_fail(kernel[1, 32, 0, stream], arguments)
        place.standin.fail_call(end, 901)
        with pytest.raises(CaptureError), gpu.capture(stream):
            kernel[2, 32, 0, stream](*arguments)
        assert not gpu.stream_is_capturing(stream)
        kernel[3, 32, 0, stream](*arguments)
        stream.synchronize()
        gpu.synchronize()
        with gpu.capture(stream) as capture:
            kernel[4, 32, 0, stream](*arguments)
        capture.graph.launch(stream)
        stream.synchronize()
        capture.graph.close()
    assert [grid[0] for grid, _, _ in place.launches()] == [3, 4]


# ------------------------------------------------ 27: what a replay uses


def ran(place: Place) -> list[tuple[int, int, int]]:
    """(blocks, address of values, count) of each launch of `affine` that ran."""
    if place.standin is None:
        launches = [(each.grid[0], each.image) for each in place.gpu.ran if isinstance(each, Launch)]
    else:
        launches = [(each.grid[0], each.parameters) for each in place.standin.launches()]
    return [
        (grid, int.from_bytes(image[:8], "little"), int.from_bytes(image[8:12], "little")) for grid, image in launches
    ]


@pytest.mark.parametrize("name", PLACES)
def test_values_change_exactly_at_the_next_replay(name: str) -> None:
    """n = 3, then 5, another pointer, another grid: each from its replay on; a replay that is queued keeps its own."""
    with opened(name) as place:
        gpu, kernel = place.gpu, place.kernel("affine", SIGNATURE)
        x, y = gpu.empty(5, mg.u32), gpu.empty(7, mg.u32)
        with gpu.create_stream() as stream:
            with gpu.capture(stream) as capture:
                kernel[mg.slot("blocks", "grid"), 32, 0, stream](
                    mg.slot("values", "ptr"), mg.slot("n", mg.u32), mg.u32(2), mg.u32(3)
                )
            graph = capture.graph
            # Nothing of it has run before the last one is queued.
            graph.launch(stream, values=x, n=3, blocks=2)
            graph.launch(stream, n=5)
            graph.launch(stream, values=y)
            graph.launch(stream, blocks=4)
            graph.launch(stream)
            stream.synchronize()
            expected = [(2, x, 3), (2, x, 5), (2, y, 5), (4, y, 5), (4, y, 5)]
            assert ran(place) == [(blocks, at.ptr.address, n) for blocks, at, n in expected]
            for wrong in ({"n": 1.5}, {"n": mg.u64(5)}, {"n": mg.f32(5)}, {"n": 2**32}, {"n": x}, {"values": 5.0}):
                with pytest.raises(ArgumentError) as refused:
                    graph.launch(stream, **wrong)
                assert "affine" in str(refused.value)
            with pytest.raises(ArgumentCountError):
                graph.launch(stream, m=5)
            with pytest.raises(mg.GeometryError):
                graph.launch(stream, blocks=-1)
            graph.launch(stream)
            stream.synchronize()
            assert ran(place)[5:] == [(4, y.ptr.address, 5)]
            graph.close()


@pytest.mark.parametrize("name", PLACES)
def test_a_graph_holds_the_buffers_of_its_last_replay(name: str) -> None:
    """A new buffer lives while the graph may use it; the old one goes when the replay that used it is over."""
    with opened(name) as place:
        gpu, kernel = place.gpu, place.kernel("affine", SIGNATURE)
        with gpu.create_stream() as stream:
            with gpu.capture(stream) as capture:
                kernel[1, 32, 0, stream](mg.slot("values", "ptr"), mg.u32(1), mg.u32(2), mg.u32(3))
            graph, start = capture.graph, gpu.live_bytes()
            graph.launch(stream, values=gpu.buffer(300))
            gc.collect()
            assert gpu.live_bytes() - start == 300
            graph.launch(stream, values=gpu.buffer(500))
            gc.collect()
            assert gpu.live_bytes() - start == 800
            stream.synchronize()
            assert gpu.live_bytes() - start == 500
            graph.launch(stream)
            stream.synchronize()
            assert gpu.live_bytes() - start == 500
            graph.close()
            assert gpu.live_bytes() == start
