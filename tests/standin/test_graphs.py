"""Graphs of the stand-in CUDA driver: an executable copy keeps its parameters, a queued replay keeps its own."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from standin import StandIn
from standin.calls import bindings, code, kernel, launch, no_violations, ok, opened
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]


def _captured(standin_cuda: StandIn) -> tuple[Any, Any, Any, Any, list[Any]]:
    """A stream, a function, a graph of launch(n=5), fill, launch(n=6), its executable copy and its nodes."""
    driver = bindings()
    opened()
    function, a, stream = kernel(), ok(driver.cuMemAlloc(64)), ok(driver.cuStreamCreate(1))
    ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    launch(function, (3, 1, 1), (32, 1, 1), stream=stream, values=(ctypes.c_uint64(int(a)), ctypes.c_uint32(5)))
    ok(driver.cuMemsetD8Async(a, 9, 64, stream))
    launch(function, (4, 1, 1), (64, 1, 1), stream=stream, values=(ctypes.c_uint64(int(a)), ctypes.c_uint32(6)))
    graph = ok(driver.cuStreamEndCapture(stream))
    executable = ok(driver.cuGraphInstantiate(graph, 0))
    _, count = ok(driver.cuGraphGetNodes(graph))
    nodes, _ = ok(driver.cuGraphGetNodes(graph, count))
    return stream, function, graph, executable, nodes


def _numbers(standin_cuda: StandIn) -> list[int]:
    return [struct.unpack("<QI", record.parameters)[1] for record in standin_cuda.launches()]


def _parameters(function: Any, n: int, grid: int = 7) -> tuple[Any, Any]:
    """CUDA_KERNEL_NODE_PARAMS of launch(n), and what must stay alive for it."""
    driver = bindings()
    values = ctypes.c_uint64(0), ctypes.c_uint32(n)
    pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(value) for value in values))
    parameters = driver.CUDA_KERNEL_NODE_PARAMS()
    parameters.func = function
    parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ = grid, 1, 1
    parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ = 32, 1, 1
    parameters.kernelParams = ctypes.addressof(pointers)
    return parameters, (values, pointers)


def test_a_replay_does_what_was_captured(standin_cuda: StandIn) -> None:
    """Every launch of the executable copy launches its kernels and fills again, in order, when somebody waits."""
    driver = bindings()
    stream, _, _, executable, _ = _captured(standin_cuda)
    for _ in range(2):
        ok(driver.cuGraphLaunch(executable, stream))
    assert standin_cuda.queued() == 2
    ok(driver.cuStreamSynchronize(stream))
    assert _numbers(standin_cuda) == [5, 6, 5, 6]
    assert {record.executable_graph for record in standin_cuda.launches()} == {int(executable)}
    assert [record.grid[0] for record in standin_cuda.launches()] == [3, 4, 3, 4]
    no_violations(standin_cuda)


def test_parameters_are_set_in_the_executable_copy(standin_cuda: StandIn) -> None:
    """Set between two replays, the first keeps the old values though it has not run; the graph itself stays as it was."""
    driver = bindings()
    stream, function, graph, executable, nodes = _captured(standin_cuda)
    ok(driver.cuGraphLaunch(executable, stream))
    parameters, kept = _parameters(function, 77)
    ok(driver.cuGraphExecKernelNodeSetParams(executable, nodes[2], parameters))
    kept[0][1].value = 0
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert _numbers(standin_cuda) == [5, 6, 5, 77]
    assert standin_cuda.launches()[-1].grid == (7, 1, 1)
    ok(driver.cuGraphLaunch(ok(driver.cuGraphInstantiate(graph, 0)), stream))
    assert _numbers(standin_cuda)[-1] == 6
    assert code(driver.cuGraphExecKernelNodeSetParams(executable, nodes[1], parameters)) == 1


def test_a_node_tells_its_launch(standin_cuda: StandIn) -> None:
    """cuGraphKernelNodeGetParams gives function, geometry and values."""
    driver = bindings()
    _, function, _, _, nodes = _captured(standin_cuda)
    parameters = ok(driver.cuGraphKernelNodeGetParams(nodes[2]))
    assert int(parameters.func) == int(function)
    assert (parameters.gridDimX, parameters.blockDimX, parameters.sharedMemBytes) == (4, 64, 0)
    pointers = (ctypes.c_void_p * 2).from_address(int(parameters.kernelParams))
    assert ctypes.c_uint32.from_address(pointers[1]).value == 6
    assert code(driver.cuGraphKernelNodeGetParams(nodes[1])) == 1


def test_nodes_can_be_switched_off(standin_cuda: StandIn) -> None:
    """A disabled kernel is left out of later replays, until it is enabled again."""
    driver = bindings()
    stream, _, _, executable, nodes = _captured(standin_cuda)
    ok(driver.cuGraphNodeSetEnabled(executable, nodes[0], 0))
    assert ok(driver.cuGraphNodeGetEnabled(executable, nodes[0])) == 0
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuGraphNodeSetEnabled(executable, nodes[0], 1))
    ok(driver.cuGraphLaunch(executable, stream))
    assert _numbers(standin_cuda) == [6, 5, 6]


def test_graphs_and_copies_end_separately(standin_cuda: StandIn) -> None:
    """The copy works without its graph; both are refused once destroyed, and nodes with their graph."""
    driver = bindings()
    stream, function, graph, executable, nodes = _captured(standin_cuda)
    ok(driver.cuGraphDestroy(graph))
    assert code(driver.cuGraphDestroy(graph)) == 1
    ok(driver.cuGraphLaunch(executable, stream))
    parameters, _ = _parameters(function, 1)
    assert code(driver.cuGraphExecKernelNodeSetParams(executable, nodes[0], parameters)) == 1
    ok(driver.cuGraphExecDestroy(executable))
    assert code(driver.cuGraphExecDestroy(executable)) == 1
    assert code(driver.cuGraphLaunch(executable, stream)) == 1
    ok(driver.cuStreamSynchronize(stream))
    assert _numbers(standin_cuda) == [5, 6]


def test_a_replay_on_freed_memory_is_noted(standin_cuda: StandIn) -> None:
    """A graph does not keep memory alive: launching it after the free is a use after free."""
    driver = bindings()
    stream, _, _, executable, _ = _captured(standin_cuda)
    address = struct.unpack("<QI", b"".join([bytes(12)]))[0]
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    address = struct.unpack("<QI", standin_cuda.launches()[0].parameters)[0]
    ok(driver.cuMemFree(address))
    ok(driver.cuGraphLaunch(executable, stream))
    assert standin_cuda.violation_count("use-after-free") == 3


def test_a_fault_in_a_replay(standin_cuda: StandIn) -> None:
    """The nth launch counts over replays; the wait finds it, what is behind it in the graph does not run."""
    driver = bindings()
    stream, _, _, executable, _ = _captured(standin_cuda)
    standin_cuda.fail_launch(719, nth=3)
    for _ in range(2):
        ok(driver.cuGraphLaunch(executable, stream))
    assert code(driver.cuStreamSynchronize(stream)) == 719


def test_an_external_event_is_recorded_at_every_replay(standin_cuda: StandIn) -> None:
    """Recorded with the flag inside of a capture it is a node, and its time moves on with each replay."""
    driver = bindings()
    opened()
    stream, before, event = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0))
    ok(driver.cuEventRecord(before, stream))
    ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    ok(driver.cuEventRecordWithFlags(event, stream, 1))
    executable = ok(driver.cuGraphInstantiate(ok(driver.cuStreamEndCapture(stream)), 0))
    assert code(driver.cuEventElapsedTime(before, event)) == 400
    times = []
    for _ in range(2):
        ok(driver.cuGraphLaunch(executable, stream))
        ok(driver.cuStreamSynchronize(stream))
        times.append(ok(driver.cuEventElapsedTime(before, event)))
    assert 0 < times[0] < times[1]
    assert code(driver.cuEventRecordWithFlags(event, stream, 1)) == 1


def test_a_graph_launched_into_a_capture_is_its_child(standin_cuda: StandIn) -> None:
    """The outer graph has one node, and its replay launches the inner kernels."""
    driver = bindings()
    stream, _, _, executable, _ = _captured(standin_cuda)
    ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    ok(driver.cuGraphLaunch(executable, stream))
    outer = ok(driver.cuStreamEndCapture(stream))
    _, count = ok(driver.cuGraphGetNodes(outer))
    nodes, _ = ok(driver.cuGraphGetNodes(outer, count))
    assert [int(ok(driver.cuGraphNodeGetType(node))) for node in nodes] == [4]
    ok(driver.cuGraphLaunch(ok(driver.cuGraphInstantiate(outer, 0)), stream))
    assert _numbers(standin_cuda) == [5, 6]


def test_a_graph_made_by_hand(standin_cuda: StandIn) -> None:
    """Kernel nodes with explicit dependencies run in that order, whatever the order they were added in."""
    driver = bindings()
    opened()
    function, graph = kernel(), ok(driver.cuGraphCreate(0))
    first, kept_first = _parameters(function, 1)
    second, kept_second = _parameters(function, 2)
    a = ok(driver.cuGraphAddKernelNode(graph, None, 0, first))
    ok(driver.cuGraphAddKernelNode(graph, [a], 1, second))
    ok(driver.cuGraphAddEmptyNode(graph, None, 0))
    ok(driver.cuGraphLaunch(ok(driver.cuGraphInstantiate(graph, 0)), 0))
    assert _numbers(standin_cuda) == [1, 2]
    assert kept_first is not kept_second
