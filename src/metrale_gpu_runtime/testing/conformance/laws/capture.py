"""Capture works on every backend: what is recorded runs when it is replayed, and only then."""

from __future__ import annotations

import gc

import numpy as np

from ....errors import ArgumentError, CaptureError, HandleClosed
from ....launch import KernelLaunch
from ....scalars import u32
from ....slots import slot
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(7,), field=(27,))
def a_graph_replays_what_was_captured(target: ConformanceTarget) -> None:
    """A capture runs nothing; each replay runs all of it in order, on any stream."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([1, 2, 3], dtype=np.uint32))
        gpu.begin_capture(stream)
        assert gpu.stream_is_capturing(stream)
        kernel[1, 3, 0, stream](values, u32(3), u32(10), u32(1))
        gpu.memset_async(values.ptr + 8, 0, 4, stream)
        kernel[1, 3, 0, stream](values, u32(3), u32(3), u32(2))
        graph = gpu.end_capture(stream)
        assert not gpu.stream_is_capturing(stream)
        stream.synchronize()
        assert values.numpy().tolist() == [1, 2, 3]
        graph.launch(stream)
        # The two streams are not ordered with each other.
        stream.synchronize()
        gpu.launch_graph(graph)
        gpu.synchronize()
        assert values.numpy().tolist() == [((v * 10 + 1) * 3 + 2) * 30 + 5 for v in (1, 2)] + [2]


@case(invariants=(7,), field=(27,))
def a_graphs_slots_are_set_at_each_replay(target: ConformanceTarget) -> None:
    """A replay uses the values set by name, keeps them, and refuses another type; a queued replay keeps its own."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([1, 2, 3, 4, 5], dtype=np.uint32))
        gpu.begin_capture(stream)
        launch = KernelLaunch(gpu, kernel).grid(slot("blocks", "grid")).block(2)
        launch.arg_ptr(slot("where", "ptr")).arg_u32(slot("count")).args(u32(10)).arg_u32(slot("plus")).launch(stream)
        graph = gpu.end_capture(stream)
        graph.launch(stream, where=values, count=3, plus=1, blocks=3)
        graph.launch(stream, count=5, plus=2)
        graph.launch(stream, blocks=1)
        refused(target, gpu, lambda: graph.launch(stream, plus=1.5), ArgumentError)
        refused(target, gpu, lambda: graph.launch(stream, colour=1), ArgumentError)
        stream.synchronize()
        expected = [((v * 10 + 1) * 10 + 2) * 10 + 2 for v in (1, 2)] + [(3 * 10 + 1) * 10 + 2, 42, 52]
        assert values.numpy().tolist() == expected


@case(invariants=(7,), field=(26,))
def calls_that_would_wait_are_refused_in_a_capture(target: ConformanceTarget) -> None:
    """Inside a capture whatever waits for the device raises; the stream works again after the capture is dropped."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([1, 2], dtype=np.uint32))
        gpu.begin_capture(stream)
        for call in (
            stream.synchronize,
            gpu.synchronize,
            stream.query,
            values.numpy,
            lambda: gpu.copy_h2d(np.zeros(2, dtype=np.uint32), values),
            lambda: gpu.begin_capture(stream),
        ):
            refused(target, gpu, call, CaptureError)
        kernel[1, 2, 0, stream](values, u32(2), u32(10), u32(1))
        gpu.abort_capture(stream)
        kernel[1, 2, 0, stream](values, u32(2), u32(3), u32(2))
        stream.synchronize()
        assert values.numpy().tolist() == [5, 8]
        refused(target, gpu, lambda: gpu.end_capture(stream), CaptureError)


@case(invariants=(6, 7), field=(26,))
def what_is_dropped_in_a_capture_waits_for_its_end(target: ConformanceTarget) -> None:
    """Buffers, events and graphs dropped during a capture do not spoil it, and are given back afterwards."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([1, 2], dtype=np.uint32))
        held = gpu.array(np.zeros(5, dtype=np.uint32))
        with gpu.capture(stream) as old:
            kernel[1, 2, 0, stream](held, u32(2), u32(10), u32(1))
        del held
        before = gpu.live_alloc_count()
        spare, event, graph = gpu.array(np.zeros(3)), gpu.create_event(), old.graph
        del old
        gpu.begin_capture(stream)
        del spare, event, graph
        gc.collect()
        kernel[1, 2, 0, stream](values, u32(2), u32(10), u32(1))
        captured = gpu.end_capture(stream)
        captured.launch(stream)
        stream.synchronize()
        assert values.numpy().tolist() == [11, 21]
        assert gpu.live_alloc_count() == before - 1


@case(invariants=(7, 10))
def a_capture_spans_the_streams_it_draws_in(target: ConformanceTarget) -> None:
    """A stream that waits for an event of a capture belongs to it: its work is recorded and replayed in order."""
    with target.opened() as gpu, gpu.create_stream() as one, gpu.create_stream() as other:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.array([1, 2], dtype=np.uint32))
        fork, join = gpu.create_event(), gpu.create_event()
        gpu.begin_capture(one)
        kernel[1, 2, 0, one](values, u32(2), u32(10), u32(1))
        fork.record(one)
        other.wait_event(fork)
        kernel[1, 2, 0, other](values, u32(2), u32(3), u32(2))
        join.record(other)
        one.wait_event(join)
        kernel[1, 2, 0, one](values, u32(2), u32(7), u32(5))
        graph = gpu.end_capture(one)
        assert values.numpy().tolist() == [1, 2]
        graph.launch(one)
        one.synchronize()
        assert values.numpy().tolist() == [((v * 10 + 1) * 3 + 2) * 7 + 5 for v in (1, 2)]


@case(invariants=(7,))
def a_destroyed_graph_is_refused(target: ConformanceTarget) -> None:
    """A graph that was destroyed cannot be launched or destroyed again."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            gpu.memset_async(gpu.buffer(9), 0, 9, stream)
        capture.graph.close()
        refused(target, gpu, lambda: gpu.launch_graph(capture.graph), HandleClosed)
        refused(target, gpu, lambda: gpu.destroy_graph(capture.graph), HandleClosed)
