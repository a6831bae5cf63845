"""Captures and graphs: what is recorded, held, refused, and named when a replay fails."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock.log import Launch
from metrale_gpu_runtime.errors import CaptureError, ForeignHandle, HandleClosed, InvalidPointer, KernelFault
from metrale_gpu_runtime.testing import FaultPlan, LaunchFault, MockGpuBackend


@pytest.fixture
def gpu():
    with MockGpuBackend() as gpu:
        yield gpu
    assert not gpu.mock.violations


def test_nothing_reaches_the_driver_before_the_replay(gpu):
    """Launches, fills, copies and events on a captured stream are recorded; each replay queues all, in order."""
    buffer, other = gpu.buffer(4), gpu.buffer(4)
    kernel, event = gpu.kernel("m", "k"), gpu.create_event()
    kernel[1, 1](buffer)
    gpu.synchronize()
    with gpu.create_stream() as stream:
        gpu.log.clear()
        with gpu.capture(stream) as capture:
            gpu.memset_async(buffer, 3, 4, stream)
            gpu.copy_d2d_async(buffer, other, stream=stream)
            kernel[2, 1, 0, stream](other)
            gpu.record_event(event, stream)
            gpu.copy_h2d_async(b"abcd", buffer, stream)
        assert gpu.log.transcript() == []
        assert len(capture.graph) == 5
        for _ in range(2):
            capture.graph.launch(stream)
        assert gpu.log.transcript() == ["memset", "copy_d2d", "launch", "record_event", "copy_h2d"] * 2
        stream.synchronize()
        assert (buffer.tobytes(), other.tobytes()) == (b"abcd", b"\3" * 4)
        event.synchronize()


@pytest.mark.skipif(mg.launch_core != "native", reason="the plain core makes every call in Python")
def test_a_graph_of_launches_alone_is_replayed_by_the_launch_core(gpu, monkeypatch):
    """Where the driver has no graphs, a graph of launches is one native call, as a sequence is, with its slots set."""
    first, second = gpu.buffer(4), gpu.buffer(8)
    kernel = gpu.kernel("m", "k", signature="const unsigned char* p, int n")
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            kernel[2, 3, 0, stream](first, mg.slot("n"))
            kernel[5, 1, 0, stream](second, 7)
        monkeypatch.setattr(mg.LaunchSequence, "_call_plainly", None)
        gpu.log.clear()
        capture.graph.launch(stream, n=11)
        assert [(each.grid[0], each.image[8:12]) for each in gpu.log.of(Launch)] == [
            (2, (11).to_bytes(4, "little")),
            (5, (7).to_bytes(4, "little")),
        ]


def test_a_graph_runs_on_any_stream(gpu):
    """A graph captured on one stream is queued on the stream of its launch."""
    buffer = gpu.buffer(4)
    with gpu.create_stream() as one, gpu.create_stream() as other:
        with gpu.capture(one) as capture:
            gpu.memset_async(buffer, 3, 4, one)
        gpu.log.clear()
        capture.graph.launch(other)
        assert [call.stream for call in gpu.log] == [other.handle]


def test_capturing_one_stream_leaves_other_threads_alone(gpu):
    """While one thread captures, another may launch and wait on its own stream."""
    results = []
    with gpu.create_stream() as one, gpu.create_stream() as other:

        def work():
            gpu.kernel("m", "k")[1, 1, 0, other]()
            other.synchronize()
            results.append(gpu.launch_count)

        with gpu.capture(one):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            with pytest.raises(CaptureError, match="this thread is capturing stream"):
                other.synchronize()
    assert results == [1]


@pytest.mark.parametrize(
    ("mode", "here", "there"), [("global", True, True), ("thread_local", True, False), ("relaxed", False, False)]
)
def test_a_capture_forbids_waiting_calls_by_its_mode(gpu, mode, here, there):
    """A global capture refuses calls that wait in every thread, a thread-local one in its own, a relaxed one nowhere."""
    refused = {}
    with gpu.create_stream() as one, gpu.create_stream() as other:

        def wait(who):
            try:
                other.synchronize()
                refused[who] = False
            except CaptureError:
                refused[who] = True

        with gpu.capture(one, mode=mode):
            thread = threading.Thread(target=wait, args=("there",))
            thread.start()
            thread.join()
            wait("here")
            with pytest.raises(CaptureError, match="is being captured"):
                one.synchronize()
        wait("afterwards")
    assert refused == {"here": here, "there": there, "afterwards": False}


def test_a_capture_is_ended_by_the_thread_that_began_it(gpu):
    """Another thread is refused and told where it began, unless the capture is relaxed; an unknown mode is refused."""
    errors, graphs = [], []
    with gpu.create_stream() as stream:

        def end():
            try:
                graphs.append(gpu.end_capture(stream))
            except CaptureError as error:
                errors.append(str(error))

        for mode in ("thread_local", "relaxed"):
            gpu.begin_capture(stream, mode=mode)
            gpu.kernel("m", "k")[1, 1, 0, stream]()
            thread = threading.Thread(target=end)
            thread.start()
            thread.join()
            gpu.abort_capture(stream)
        with pytest.raises(ValueError, match="'global', 'thread_local', 'relaxed'"):
            gpu.begin_capture(stream, mode="strict")
        assert not stream.is_capturing
    assert len(graphs) == 1
    assert len(errors) == 1
    assert "begun by another thread" in errors[0]
    assert "test_capture.py" in errors[0]


def test_nested_and_mismatched_captures_are_refused(gpu):
    """Capturing twice, ending what never began, and ending on a stream that was drawn in raise and say why."""
    with gpu.create_stream() as one, gpu.create_stream() as other:
        with pytest.raises(CaptureError, match="not being captured"):
            gpu.end_capture(one)
        gpu.begin_capture(one)
        with pytest.raises(CaptureError, match=r"captured already, since .*test_capture\.py"):
            gpu.begin_capture(one)
        fork = one.record_event()
        other.wait_event(fork)
        assert other.is_capturing
        with pytest.raises(CaptureError, match=f"began on stream {one.handle}"):
            gpu.end_capture(other)
        gpu.kernel("m", "k")[1, 1, 0, other]()
        graph = gpu.end_capture(one)
        assert not other.is_capturing
        assert gpu.launch_count == 0
        graph.launch(one)
        assert gpu.launch_count == 1
        gpu.abort_capture(one)


def test_an_abandoned_capture_leaves_the_stream_usable(gpu):
    """An exception inside the block forgets the recording; the stream works again and memory is released."""
    with gpu.create_stream() as stream:
        capture = gpu.capture(stream)

        def program():
            with capture:
                gpu.memset_async(gpu.buffer(8), 1, 8, stream)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            program()
        with pytest.raises(CaptureError, match="under way"):
            _ = capture.graph
        gpu.kernel("m", "k")[1, 1, 0, stream]()
        stream.synchronize()
        assert gpu.live_alloc_count() == 0


def test_frees_wait_for_the_end_of_a_capture(gpu):
    """Buffers dropped during a capture reach the driver after its end, also those dropped by another thread."""
    spare, other = gpu.buffer(5), gpu.buffer(6)
    with gpu.create_stream() as stream:
        gpu.begin_capture(stream)
        del spare
        holder = [other]
        del other
        thread = threading.Thread(target=holder.clear)
        thread.start()
        thread.join()
        gc.collect()
        gpu.live_bytes()
        assert gpu.log.counts["free"] == 0
        graph = gpu.end_capture(stream)
        assert gpu.log.counts["free"] == 2
        graph.close()


def test_memory_named_by_a_capture_cannot_be_freed_in_it(gpu):
    """An explicit free of memory that the capture has named raises; afterwards a replay of freed memory is refused."""
    pointer = gpu.alloc(12)
    with gpu.create_stream() as stream:
        gpu.begin_capture(stream)
        gpu.memset_async(pointer, 1, 12, stream)
        with pytest.raises(CaptureError, match="named by the capture"):
            gpu.free(pointer)
        graph = gpu.end_capture(stream)
        gpu.free(pointer)
        with pytest.raises(InvalidPointer, match="freed at"):
            graph.launch(stream)


def test_a_graph_holds_its_memory_and_lets_go(gpu):
    """A graph keeps what it names alive; its end, once replays are done, gives it back."""
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            gpu.memset_async(gpu.buffer(20), 1, 20, stream)
        graph = capture.graph
        graph.launch(stream)
        assert [each.nbytes for each in graph.allocations] == [20]
        graph.close()
        assert gpu.live_bytes() == 20
        stream.synchronize()
        assert gpu.live_bytes() == 0
        with pytest.raises(HandleClosed, match="destroyed at"):
            graph.launch(stream)


def test_a_graph_of_another_backend_is_refused(gpu):
    """A graph runs only where it was captured."""
    with MockGpuBackend() as other:
        with other.capture() as capture:
            other.memset_async(other.buffer(3), 1, 3)
        with pytest.raises(ForeignHandle, match="captured on another backend"):
            gpu.launch_graph(capture.graph)


def test_a_faulting_replay_names_graph_and_node():
    """Under debug sync a fault inside a replay names the launch, and the graph's node it was."""
    with MockGpuBackend(debug_sync=True) as gpu:
        buffer = gpu.array(np.zeros(3, np.uint8))
        with gpu.capture() as capture:
            gpu.memset_async(buffer, 1)
            for number in range(1, 4):
                gpu.kernel("m", "k")[number, 1](buffer)
        gpu.inject(FaultPlan().fail("launch", nth=2, failure=LaunchFault(context_lost=False, attributed=False)))
        with pytest.raises(KernelFault) as info:
            capture.graph.launch()
        assert info.value.launch.grid == (2, 1, 1)
        assert "node 2 (launch of k grid (2, 1, 1)" in "".join(info.value.__notes__)
        assert capture.graph.name in "".join(info.value.__notes__)


def test_a_faulting_replay_names_its_node_without_any_memory():
    """The node is named as well where the launch names no memory by which it could be remembered."""
    with MockGpuBackend(debug_sync=True) as gpu:
        kernel = gpu.kernel("m", "k")
        with gpu.capture() as capture:
            for number in range(1, 4):
                kernel[number, 1](mg.u32(number))
        gpu.inject(FaultPlan().fail("launch", nth=2, failure=LaunchFault(context_lost=False, attributed=False)))
        with pytest.raises(KernelFault) as info:
            capture.graph.launch()
        assert "node 1 (launch of k grid (2, 1, 1)" in "".join(info.value.__notes__)


def test_slots_are_named_as_a_graph_is_called():
    """A graph's slot without a value, or one it has not, is told in the graph's words; a sequence's in its own."""
    with mg.MockGpuBackend() as gpu, gpu.create_stream() as stream:
        buffer = gpu.buffer(12)
        kernel = gpu.kernel("m", "k", signature="unsigned char* x, unsigned int n")
        with gpu.capture(stream) as capture:
            kernel[mg.slot("blocks", "grid"), 32, 0, stream](buffer, mg.slot("count"))
        with gpu.sequence() as sequence:
            kernel[3, 32](buffer, mg.slot("count"))
        graph = capture.graph
        with pytest.raises(
            mg.ArgumentCountError, match=r"slot 'count' of the graph has no value; .*graph\.launch\(count=value\)"
        ):
            graph.launch(stream, blocks=2)
        with pytest.raises(mg.ArgumentCountError, match=r"^the graph has no slot 'size'; there are "):
            graph.launch(stream, size=2)
        with pytest.raises(
            mg.ArgumentCountError, match=r"slot 'count' of the sequence has no value; .*: sequence\(count=value\)"
        ):
            sequence()


def test_a_grid_of_slots_is_shown_by_their_names():
    """A recorded and a prepared launch tell which slot stands in the grid, not the 0 that holds its place."""
    with mg.MockGpuBackend() as gpu:
        kernel = gpu.kernel("m", "k", signature="unsigned int n")
        prepared = kernel[(5, mg.slot("rows", "grid")), 32].prepare(mg.u32(3))
        assert "grid (5, slot rows, 1) block (32, 1, 1)" in repr(prepared)
        with gpu.sequence() as sequence:
            kernel[mg.slot("blocks", "grid"), 32](mg.u32(3))
        assert "k grid (slot blocks, 1, 1), recorded at" in sequence.operations[0].describe()


def test_a_sequence_that_is_closed_in_its_own_block_records_and_runs_nothing(gpu):
    """Closed inside its block, a sequence refuses the launches after that, and a call of it refuses as well."""
    kernel = gpu.kernel("m", "k", signature="unsigned int n")
    with gpu.sequence() as sequence:
        kernel[1, 32](mg.u32(3))
        sequence.close()
        with pytest.raises(HandleClosed, match="this sequence is closed"):
            kernel[1, 32](mg.u32(5))
    with pytest.raises(HandleClosed, match="this sequence is closed"):
        sequence()
    assert len(sequence) == 0
    kernel[1, 32](mg.u32(7))
    assert gpu.log.transcript().count("launch") == 1
