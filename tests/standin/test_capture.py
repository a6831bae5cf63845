"""Stream capture on the stand-in CUDA driver: what becomes a node, what spoils it, and the code of each."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import pytest

from standin import StandIn
from standin.calls import bindings, code, kernel, launch, ok, opened, text
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]
NOTHING = ""


def _mode(name: str) -> Any:
    return getattr(bindings().CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{name}")


def _begin(mode: str = "GLOBAL", flags: int = 1) -> Any:
    driver = bindings()
    stream = ok(driver.cuStreamCreate(flags))
    ok(driver.cuStreamBeginCapture(stream, _mode(mode)))
    return stream


def _status(stream: Any) -> int:
    return int(ok(bindings().cuStreamIsCapturing(stream)))


def test_captured_work_does_not_run(standin_cuda: StandIn) -> None:
    """Launches, copies and fills become nodes in their order; nothing runs and nothing is recorded as launched."""
    driver = bindings()
    opened()
    function, a = kernel(NOTHING), ok(driver.cuMemAlloc(64))
    stream = _begin()
    assert launch(function, values=(), stream=stream) == 0
    ok(driver.cuMemsetD8Async(a, 7, 32, stream))
    ok(driver.cuMemcpyDtoDAsync(int(a) + 32, a, 32, stream))
    assert _status(stream) == 1
    status, _, graph, nodes = ok(driver.cuStreamGetCaptureInfo(stream))[:4]
    assert (int(status), len(nodes)) == (1, 1)
    ended = ok(driver.cuStreamEndCapture(stream))
    assert int(ended) == int(graph)
    _, total = ok(driver.cuGraphGetNodes(ended))
    found, _ = ok(driver.cuGraphGetNodes(ended, total))
    kinds = [int(ok(driver.cuGraphNodeGetType(node))) for node in found]
    assert (kinds, standin_cuda.launch_count(), standin_cuda.queued()) == ([0, 2, 1], 0, 0)
    assert _status(stream) == 0


@pytest.mark.parametrize(
    ("mode", "own", "other"),
    [("GLOBAL", 900, 900), ("THREAD_LOCAL", 900, 0), ("RELAXED", 0, 0)],
)
def test_unsafe_calls_by_mode_and_thread(standin_cuda: StandIn, mode: str, own: int, other: int) -> None:
    """A call that could wait spoils captures: global ones from any thread, thread-local ones from their own."""
    driver = bindings()
    context = opened()
    returned = []

    def elsewhere() -> None:
        ok(driver.cuCtxPushCurrent(context))
        returned.append(code(driver.cuMemAlloc(16)))

    stream = _begin(mode)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert (returned, _status(stream)) == ([other], 2 if other else 1)
    assert code(driver.cuStreamEndCapture(stream)) == (901 if other else 0)
    stream = _begin(mode)
    assert code(driver.cuMemAlloc(16)) == own
    assert code(driver.cuStreamEndCapture(stream)) == (901 if own else 0)
    # The stream works again, and nothing stays latched.
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuMemAlloc(16))


def _unsafe() -> dict[str, Callable[[Any, Any], Any]]:
    driver = bindings()
    return {
        "cuMemFree": lambda a, event: driver.cuMemFree(a),
        "cuMemHostAlloc": lambda a, event: driver.cuMemHostAlloc(10, 0),
        "cuMemcpyDtoH": lambda a, event: driver.cuMemcpyDtoH(ctypes.addressof(ctypes.c_uint64()), a, 8),
        "cuMemsetD8": lambda a, event: driver.cuMemsetD8(a, 1, 8),
        "cuModuleLoadData": lambda a, event: driver.cuModuleLoadData(text().encode() + b"\0"),
        "cuEventQuery": lambda a, event: driver.cuEventQuery(event),
        "cuEventSynchronize": lambda a, event: driver.cuEventSynchronize(event),
        "cuCtxSynchronize": lambda a, event: driver.cuCtxSynchronize(),
    }


@pytest.mark.parametrize(
    "name",
    sorted(
        [
            "cuMemFree",
            "cuMemHostAlloc",
            "cuMemcpyDtoH",
            "cuMemsetD8",
            "cuModuleLoadData",
            "cuEventQuery",
            "cuEventSynchronize",
            "cuCtxSynchronize",
        ]
    ),
)
def test_each_unsafe_call_spoils_the_capture(standin_cuda: StandIn, name: str) -> None:
    """It returns 900, is noted, and the capture ends with 901 and no graph."""
    driver = bindings()
    opened()
    a, event = ok(driver.cuMemAlloc(16)), ok(driver.cuEventCreate(0))
    stream = _begin()
    assert code(_unsafe()[name](a, event)) == 900
    assert [violation.call for violation in standin_cuda.violations("unsafe-in-capture")] == [name]
    assert code(driver.cuMemsetD8Async(a, 1, 8, stream)) == 901
    assert code(driver.cuStreamEndCapture(stream)) == 901
    assert standin_cuda.count("graph") == 0
    ok(driver.cuMemFree(a))


def test_safe_calls_are_safe(standin_cuda: StandIn) -> None:
    """Events and streams can be made and destroyed, attributes asked, memory figures too."""
    driver = bindings()
    opened()
    stream = _begin()
    event, other = ok(driver.cuEventCreate(0)), ok(driver.cuStreamCreate(1))
    ok(driver.cuMemGetInfo())
    ok(driver.cuEventDestroy(event))
    ok(driver.cuStreamDestroy(other))
    ok(driver.cuStreamEndCapture(stream))


def test_a_thread_can_make_itself_relaxed(standin_cuda: StandIn) -> None:
    """cuThreadExchangeStreamCaptureMode gives the old mode and lets this thread alone call what is unsafe."""
    driver = bindings()
    opened()
    stream = _begin("THREAD_LOCAL")
    assert int(ok(driver.cuThreadExchangeStreamCaptureMode(_mode("RELAXED")))) == 0
    a = ok(driver.cuMemAlloc(16))
    assert int(ok(driver.cuThreadExchangeStreamCaptureMode(_mode("GLOBAL")))) == 2
    ok(driver.cuStreamEndCapture(stream))
    ok(driver.cuMemFree(a))


def test_waiting_for_a_capturing_stream(standin_cuda: StandIn) -> None:
    """In every mode a wait for it, or a question, is 900 and spoils the capture."""
    driver = bindings()
    opened()
    for call in (driver.cuStreamSynchronize, driver.cuStreamQuery):
        stream = _begin("RELAXED")
        assert code(call(stream)) == 900
        assert _status(stream) == 2
        assert code(driver.cuStreamEndCapture(stream)) == 901


def test_the_legacy_stream_and_a_capture(standin_cuda: StandIn) -> None:
    """It cannot be captured (900), and while a blocking stream is, its use is 906; a non-blocking one does not mind."""
    driver = bindings()
    opened()
    a = ok(driver.cuMemAlloc(16))
    assert code(driver.cuStreamBeginCapture(0, _mode("RELAXED"))) == 900
    stream = _begin("RELAXED", flags=0)
    assert code(driver.cuMemsetD8Async(a, 1, 16, 0)) == 906
    assert code(driver.cuStreamEndCapture(stream)) == 901
    stream = _begin("RELAXED", flags=1)
    ok(driver.cuMemsetD8Async(a, 1, 16, 0))
    ok(driver.cuStreamEndCapture(stream))


def test_streams_join_a_capture_by_events(standin_cuda: StandIn) -> None:
    """Forked by an event and joined by another they become one graph with the right edges; unjoined is 904."""
    driver = bindings()
    opened()
    function, fork, join = kernel(NOTHING), ok(driver.cuEventCreate(2)), ok(driver.cuEventCreate(2))
    side = ok(driver.cuStreamCreate(1))
    for joined in (True, False):
        stream = _begin()
        launch(function, values=(), stream=stream)
        ok(driver.cuEventRecord(fork, stream))
        ok(driver.cuStreamWaitEvent(side, fork, 0))
        assert _status(side) == 1
        launch(function, values=(), stream=side)
        launch(function, values=(), stream=stream)
        ok(driver.cuEventRecord(join, side))
        if joined:
            ok(driver.cuStreamWaitEvent(stream, join, 0))
            launch(function, values=(), stream=stream)
            graph = ok(driver.cuStreamEndCapture(stream))
            _, total = ok(driver.cuGraphGetNodes(graph))
            nodes, _ = ok(driver.cuGraphGetNodes(graph, total))
            before = [sorted(_before(nodes, node)) for node in nodes]
            assert before == [[], [0], [0], [1, 2]]
        else:
            assert code(driver.cuStreamEndCapture(stream)) == 904
        assert _status(side) == 0
    assert code(driver.cuEventQuery(fork)) == 907
    ok(driver.cuEventRecord(fork, side))
    ok(driver.cuEventSynchronize(fork))


def _before(nodes: list[Any], node: Any) -> list[int]:
    driver = bindings()
    result = ok(driver.cuGraphNodeGetDependencies(node))
    count = result[-1]
    if not count:
        return []
    found = ok(driver.cuGraphNodeGetDependencies(node, count))[0]
    numbers = [int(each) for each in nodes]
    return [numbers.index(int(each)) for each in found]


def test_dependencies_may_not_cross_the_border(standin_cuda: StandIn) -> None:
    """Waiting in a capture for an event from before it is 905; merging two captures is 902."""
    driver = bindings()
    opened()
    outside, event = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(2))
    ok(driver.cuEventRecord(event, outside))
    stream = _begin("RELAXED")
    assert code(driver.cuStreamWaitEvent(stream, event, 0)) == 905
    assert code(driver.cuStreamEndCapture(stream)) == 901
    one, two = _begin("RELAXED"), _begin("RELAXED")
    ok(driver.cuEventRecord(event, one))
    assert code(driver.cuStreamWaitEvent(two, event, 0)) == 902
    assert [code(driver.cuStreamEndCapture(stream)) for stream in (one, two)] == [901, 901]


def test_who_may_end_a_capture(standin_cuda: StandIn) -> None:
    """Its own stream (903), in a strict mode its own thread (908); without one it is 401, begun twice too."""
    driver = bindings()
    context = opened()
    side, event = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(2))
    assert code(driver.cuStreamEndCapture(side)) == 401
    stream = _begin("THREAD_LOCAL")
    assert code(driver.cuStreamBeginCapture(stream, _mode("GLOBAL"))) == 401
    returned = []

    def elsewhere() -> None:
        ok(driver.cuCtxPushCurrent(context))
        returned.append(code(driver.cuStreamEndCapture(stream)))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert returned == [908]
    ok(driver.cuEventRecord(event, stream))
    ok(driver.cuStreamWaitEvent(side, event, 0))
    assert code(driver.cuStreamEndCapture(side)) == 903
    assert code(driver.cuStreamEndCapture(stream)) == 901


def test_memory_inside_of_a_capture(standin_cuda: StandIn) -> None:
    """Stream-ordered allocation and its free become nodes; the memory goes with the graph."""
    driver = bindings()
    opened()
    stream = _begin()
    a = ok(driver.cuMemAllocAsync(3000, stream))
    ok(driver.cuMemsetD8Async(a, 3, 3000, stream))
    ok(driver.cuMemFreeAsync(a, stream))
    graph = ok(driver.cuStreamEndCapture(stream))
    _, total = ok(driver.cuGraphGetNodes(graph))
    nodes, _ = ok(driver.cuGraphGetNodes(graph, total))
    assert [int(ok(driver.cuGraphNodeGetType(node))) for node in nodes] == [10, 2, 11]
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    for _ in range(2):
        ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuGraphExecDestroy(executable))
    ok(driver.cuGraphDestroy(graph))
    assert standin_cuda.live() == {"stream": 1}
