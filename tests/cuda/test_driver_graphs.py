"""Graphs that the driver replays: one call a replay, slots set in the executable, nothing lost beside them."""

from __future__ import annotations

import gc
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from kernels_for_launch import PTX

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import ArgumentError, CaptureError, InvalidPointer, KernelFault


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX})
        yield backend


@pytest.fixture
def cuda(standin):
    """NVIDIA's bindings with the device's context current, as another library has it."""
    from cuda.bindings import driver

    assert driver.cuInit(0)[0] == 0
    code, context = driver.cuDevicePrimaryCtxRetain(0)
    assert code == 0
    assert driver.cuCtxPushCurrent(context)[0] == 0
    yield driver
    driver.cuCtxPopCurrent()
    driver.cuDevicePrimaryCtxRelease(0)


def scale(gpu: GpuBackend, grid: object, *values: object) -> mg.KernelLaunch:
    """A launch of scale(float* x, u32 n, float factor)."""
    launch = mg.KernelLaunch(gpu, gpu.kernel("m", "scale")).grid(grid).block(32)
    return launch.arg_ptr(values[0]).arg_u32(values[1]).arg_f32(values[2])


def test_a_replay_is_one_driver_call(standin, gpu):
    """However many operations a graph has, a replay is one launch of it, and none of its parts is launched again."""
    with gpu.create_stream() as stream:
        x = gpu.empty(50, mg.f32)
        with gpu.capture(stream) as capture:
            for n in range(7):
                scale(gpu, 3, x, 40 + n, 1.5).launch(stream)
            gpu.memset_async(x, 0, 8, stream)
        standin.clear_journal()
        capture.graph.launch(stream)
        names = standin.names()
        assert names.count("cuGraphLaunch") == 1
        assert not [name for name in names if "LaunchKernel" in name or "SetParams" in name or "Memset" in name]
        stream.synchronize()
        assert [struct.unpack("<QIf", launch.parameters)[1] for launch in standin.launches()] == list(range(40, 47))


def test_slots_reach_the_nodes_of_the_executable(standin, gpu):
    """Only what has changed is set; a grid of 0 switches the node off and back on; a queued replay keeps its values."""
    with gpu.create_stream() as stream:
        x, y = gpu.empty(50, mg.f32), gpu.empty(50, mg.f32)
        with gpu.capture(stream) as capture:
            scale(gpu, mg.slot("blocks", "grid"), mg.slot("where", "ptr"), mg.slot("n"), 1.5).launch(stream)
            scale(gpu, 2, x, 7, 2.5).launch(stream)
            scale(gpu, 5, x, mg.slot("n"), 3.5).launch(stream)
        graph = capture.graph
        standin.clear_journal()
        seen = 0

        def updates() -> int:
            nonlocal seen
            before, seen = seen, standin.call_count("cuGraphExecKernelNodeSetParams")
            return seen - before

        graph.launch(stream, blocks=3, where=x, n=41)
        assert updates() == 2
        graph.launch(stream)
        assert updates() == 0
        graph.launch(stream, where=y)
        assert updates() == 1
        graph.launch(stream, blocks=0)
        graph.launch(stream, blocks=4)
        assert updates() == 1
        stream.synchronize()
        ran = [(launch.grid[0], *struct.unpack("<QIf", launch.parameters)) for launch in standin.launches()]
        first, fixed, last = (3, x.address, 41, 1.5), (2, x.address, 7, 2.5), (5, x.address, 41, 3.5)
        on_y = (3, y.address, 41, 1.5)
        assert ran == [
            *(first, fixed, last),
            *(first, fixed, last),
            *(on_y, fixed, last),
            *(fixed, last),
            *((4, y.address, 41, 1.5), fixed, last),
        ]


def test_a_refused_value_changes_no_node(standin, gpu):
    """A value that does not fit, or a slot without one, is refused before the driver is called; the former ones hold."""
    with gpu.create_stream() as stream:
        x = gpu.empty(50, mg.f32)
        with gpu.capture(stream) as capture:
            scale(gpu, 3, x, mg.slot("n"), mg.slot("factor")).launch(stream)
        graph = capture.graph
        with pytest.raises(ArgumentError):
            graph.launch(stream, n=3)
        graph.launch(stream, n=3, factor=1.5)
        stream.synchronize()
        standin.clear_journal()
        with pytest.raises(ArgumentError):
            graph.launch(stream, n=4, factor="much")
        with pytest.raises(ArgumentError):
            graph.launch(stream, n=-1)
        assert [name for name in standin.names() if "Graph" in name] == []
        graph.launch(stream)
        stream.synchronize()
        assert [struct.unpack("<QIf", each.parameters)[1:] for each in standin.launches()] == [(3, 1.5)]


def test_slots_of_an_empty_launch_are_checked_at_the_replay(standin, gpu):
    """A launch of no blocks is no node; its slots' values are read and refused as any other's (field case 21)."""
    with gpu.create_stream() as stream:
        x = gpu.empty(50, mg.f32)
        with gpu.capture(stream) as capture:
            scale(gpu, 0, mg.slot("where", "ptr"), mg.slot("n"), 1.5).launch(stream)
            scale(gpu, 3, x, 50, 1.5).launch(stream)
        graph = capture.graph
        graph.launch(stream, where=x, n=3)
        standin.clear_journal()
        with pytest.raises(ArgumentError):
            graph.launch(stream, n=-1)
        dead = gpu.empty(9, mg.f32)
        graph.launch(stream, where=dead)
        stream.synchronize()
        dead.free()
        with pytest.raises(InvalidPointer):
            graph.launch(stream)
        assert standin.call_count("cuGraphLaunch") == 1


def test_a_graph_holds_its_memory_until_the_last_replay_is_done(standin, gpu):
    """Buffers that only a graph names live as long as it, and beyond it until its queued replays have run."""
    with gpu.create_stream() as stream:
        x, y = gpu.empty(50, mg.f32), gpu.empty(60, mg.f32)
        with gpu.capture(stream) as capture:
            scale(gpu, 3, x, 50, 1.5).launch(stream)
            scale(gpu, 3, mg.slot("where", "ptr"), 50, 1.5).launch(stream)
        graph = capture.graph
        graph.launch(stream, where=y)
        stream.synchronize()
        del x, y
        gc.collect()
        assert gpu.live_alloc_count() == 2
        z = gpu.empty(70, mg.f32)
        graph.launch(stream, where=z)
        assert gpu.live_alloc_count() == 2, "the buffer of the former value is used by nobody"
        del z, graph, capture
        gc.collect()
        gpu.empty(1, mg.f32)
        assert standin.count("exec") == 0
        assert gpu.live_alloc_count() == 2, "the queued replay still uses both"
        stream.synchronize()
        assert gpu.live_alloc_count() == 0
        assert not standin.violations()


def test_freed_memory_is_refused_at_the_replay(standin, gpu):
    """A replay that names freed memory is refused with where it was freed, and nothing is queued."""
    with gpu.create_stream() as stream:
        x = gpu.empty(50, mg.f32)
        with gpu.capture(stream) as capture:
            scale(gpu, 3, x, 50, 1.5).launch(stream)
        x.free()
        standin.clear_journal()
        with pytest.raises(InvalidPointer, match=r"test_driver_graphs\.py"):
            capture.graph.launch(stream)
        assert standin.call_count("cuGraphLaunch") == 0


def test_foreign_work_in_a_capture_is_replayed_with_it(standin, cuda, gpu):
    """What another library puts on a captured stream belongs to the graph, under debug sync as well."""
    with gpu.create_stream() as stream:
        x = gpu.empty(50, mg.f32)
        raw = gpu.driver.native_stream(stream.handle)
        with gpu.capture(stream) as capture:
            scale(gpu, 3, x, 50, 1.5).launch(stream)
            assert cuda.cuMemsetD8Async(x.address, 7, 4, raw)[0] == 0
            scale(gpu, 3, x, 51, 1.5).launch(stream)
        x.copy_from(np.zeros(50, np.float32))
        with gpu.debug_sync():
            capture.graph.launch(stream)
        assert x.numpy().view(np.uint8)[:5].tolist() == [7, 7, 7, 7, 0]
        with gpu.capture(stream) as plain:
            scale(gpu, 3, x, 52, 1.5).launch(stream)
        standin.clear_journal()
        with gpu.debug_sync():
            plain.graph.launch(stream)
        assert standin.call_count("cuGraphLaunch") == 0, "our own operations are issued one by one, to name the node"


def test_a_capture_that_somebody_spoilt_is_over_and_the_stream_works(standin, cuda, gpu):
    """An unsafe call of another library ends in a CaptureError that says why; afterwards the stream runs again."""
    with gpu.create_stream() as stream:
        x = gpu.empty(50, mg.f32)
        gpu.begin_capture(stream, mode="global")
        scale(gpu, 3, x, 50, 1.5).launch(stream)
        assert cuda.cuStreamSynchronize(gpu.driver.native_stream(stream.handle))[0] != 0
        assert [violation.kind for violation in standin.violations()] == ["unsafe-in-capture"]
        standin.clear_journal()
        with pytest.raises(CaptureError):
            gpu.end_capture(stream)
        assert not stream.is_capturing
        scale(gpu, 3, x, 51, 1.5).launch(stream)
        stream.synchronize()
        assert [struct.unpack("<QIf", each.parameters)[1] for each in standin.launches()] == [51]
        with gpu.capture(stream) as again:
            scale(gpu, 3, x, 52, 1.5).launch(stream)
        again.graph.launch(stream)
        stream.synchronize()


def test_an_event_of_a_graph_is_recorded_by_each_replay(standin, gpu):
    """An event recorded in a capture marks the replay: other streams wait for it, and it can be asked."""
    with gpu.create_stream() as stream, gpu.create_stream() as other:
        x = gpu.empty(50, mg.f32)
        event = gpu.create_event(timing=False)
        with gpu.capture(stream) as capture:
            scale(gpu, 3, x, 50, 1.5).launch(stream)
            event.record(stream)
        assert not event.is_recorded
        capture.graph.launch(stream)
        other.wait_event(event)
        scale(gpu, 3, x, 51, 1.5).launch(other)
        other.synchronize()
        assert event.query()
        assert [struct.unpack("<QIf", each.parameters)[1] for each in standin.launches()] == [50, 51]


def test_a_fault_of_a_replay_names_the_graph(standin, gpu):
    """Without debug sync a faulting replay is among the suspects, with its operations; the context is lost then."""
    with gpu.create_stream() as stream:
        x = gpu.empty(50, mg.f32)
        with gpu.capture(stream) as capture:
            scale(gpu, 3, x, 50, 1.5).launch(stream)
            gpu.memset_async(x, 0, 8, stream)
        standin.fail_launch(700)
        capture.graph.launch(stream)
        with pytest.raises(KernelFault) as info:
            stream.synchronize()
        (suspect,) = info.value.suspects
        assert suspect.kernel == capture.graph.name
        assert "launch of scale" in str(suspect)
        assert "memset_async" in str(suspect)
        assert gpu.is_lost


def test_graphs_are_destroyed_with_their_last_reference_or_the_backend(standin):
    """Dropped, destroyed or left over: every graph and executable made is destroyed, none twice."""
    with mg.open_backend("cuda") as gpu, gpu.create_stream() as stream:
        gpu.load_module("m", source={".ptx": PTX})
        x = gpu.empty(50, mg.f32)
        graphs = []
        for n in range(5):
            with gpu.capture(stream) as capture:
                scale(gpu, 3, x, 50 + n, 1.5).launch(stream)
            graphs.append(capture.graph)
            capture.graph.launch(stream)
        del capture
        graphs[0].close()
        del graphs[1]
        gpu.begin_capture(stream)
        del graphs[1]
        gc.collect()
        scale(gpu, 3, x, 60, 1.5).launch(stream)
        gpu.abort_capture(stream)
        stream.synchronize()
        assert standin.count("exec") <= 2
    assert (standin.count("exec"), standin.count("graph")) == (0, 0)
    assert standin.count("exec", "created") == standin.count("exec", "destroyed") == 5
    assert not standin.violations()
