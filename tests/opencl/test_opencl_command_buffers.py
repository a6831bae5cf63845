"""Sequences in command buffers: one command a call, the same results, and launches one by one wherever that is not to be."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from opencl_room import MEMORIES, ints, kernel
from pocl import pocl_spec
from recording_driver import (
    CAPABILITIES,
    EXTENSION,
    PRINTF,
    REQUIRED,
    SUPPORTED,
    Watched,
    opened,
    require_command_buffers,
    watched,
)
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.opencl import command_buffers
from metrale_gpu_runtime.drivers.opencl.command_buffer_extension import is_known
from metrale_gpu_runtime.drivers.opencl.kernels import ClKernel
from metrale_gpu_runtime.drivers.opencl.programs import ThreadKernel
from metrale_gpu_runtime.drivers.opencl.recordings import Recordings
from metrale_gpu_runtime.errors import BackendUnavailable, DriverError, HandleClosed, InvalidPointer

pytestmark = pytest.mark.skipif(mg.launch_core != "native", reason="the plain launch core makes each launch by itself")

__all__ = ["watched"]

FOLD = "kernel void fold(global int *x, int n) { int at = get_global_id(0); x[at] = x[at] * 3 + n + at; }"
ENQUEUED, RECORDED = "clEnqueueCommandBufferKHR", "clCommandNDRangeKernelKHR"
COUNT = 39


@pytest.fixture(params=MEMORIES)
def memory(request: pytest.FixtureRequest) -> str:
    """Shared virtual memory, and buffer objects."""
    return str(request.param)


@pytest.fixture
def gpu(memory: str) -> Iterator[GpuBackend]:
    """PoCL that records its sequences."""
    with opened(memory) as found:
        yield found


def sequence(gpu: GpuBackend, x: mg.DeviceBuffer, launches: int, *, module: str = "m") -> mg.LaunchSequence:
    """So many launches of `fold`, each with its own number, three blocks of 13."""
    step = kernel(gpu, FOLD, "fold", module) if not gpu.has_module(module) else gpu.kernel(module, "fold")
    with gpu.sequence() as made:
        for number in range(launches):
            step[3, 13](x, number)
    return made


def after(calls: int, launches: int, start: int = 0) -> list[int]:
    """What `fold` leaves behind."""
    at = np.arange(COUNT, dtype=np.int32)
    x = np.full(COUNT, start, np.int32)
    with np.errstate(over="ignore"):
        for _ in range(calls):
            for number in range(launches):
                x = x * np.int32(3) + np.int32(number) + at
    return [int(each) for each in x]


def zeros(gpu: GpuBackend) -> mg.DeviceBuffer:
    return gpu.array(np.zeros(COUNT, np.int32))


# ---------------------------------------------------------------- one command


@pytest.mark.parametrize("launches", [1, 7, 100])
def test_a_call_is_one_command(watched: Watched, memory: str, launches: int) -> None:
    """However many launches a sequence has, a call makes one enqueue call, and sets no argument."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, launches)
        assert step.is_one_command
        before = watched.calls.copy()
        for _ in range(3):
            step()
        made = watched.calls - before
        made.pop("flush", None)
        assert made == {ENQUEUED: 3}
        assert x.numpy().tolist() == after(3, launches)
        assert gpu._gate.native_count == 3 * launches


@pytest.mark.parametrize("launches", [1, 7, 100])
def test_without_them_each_launch_is_a_command(watched: Watched, memory: str, launches: int) -> None:
    """With command_buffers=False nothing is recorded, and a call makes an enqueue call for each launch."""
    with opened(memory, command_buffers=False) as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, launches)
        assert not step.is_one_command
        before = watched.calls["enqueue"]
        step()
        assert watched.calls["enqueue"] - before == launches
        assert not any(watched.calls[name] for name in EXTENSION)
        assert x.numpy().tolist() == after(1, launches)


def test_calls_that_are_pending_keep_their_order(gpu: GpuBackend) -> None:
    """Fifty calls that nobody waits for, with launches, fills and copies between them, are done one after the other."""
    x, kept = zeros(gpu), zeros(gpu)
    step = sequence(gpu, x, 13)
    single = gpu.kernel("m", "fold")
    for _ in range(50):
        step()
    single[3, 13](x, 77)
    gpu.copy_d2d(x, kept, x.nbytes)
    gpu.memset_async(x, 0, x.nbytes)
    step()
    fifty = np.array(after(50, 13), np.int32)
    with np.errstate(over="ignore"):
        assert np.array_equal(kept.numpy(), fifty * np.int32(3) + 77 + np.arange(COUNT, dtype=np.int32))
    assert x.numpy().tolist() == after(1, 13)


def test_two_streams_take_turns(gpu: GpuBackend) -> None:
    """One sequence on two streams that wait for each other by events, while its runs are pending, comes out right."""
    x = zeros(gpu)
    step = sequence(gpu, x, 7)
    with gpu.create_stream() as first, gpu.create_stream() as second:
        for number in range(20):
            here, there = (first, second) if number % 2 else (second, first)
            step(stream=here)
            there.wait_event(here.record_event())
        first.synchronize()
        second.synchronize()
    assert step.is_one_command
    assert x.numpy().tolist() == after(20, 7)


def test_eight_threads_call_one_sequence_and_their_own(gpu: GpuBackend) -> None:
    """Eight threads, each on a stream of its own, call a shared sequence and one of their own; no launch is lost, none is
    made twice."""
    source = """
    kernel void add(global int *sum, int n) { atomic_add(sum, n); }
    kernel void put(global int *out, int at, int value) { out[at] = out[at] * 2 + value; }
    """
    gpu.load_module("m", source=source)
    add, put = gpu.kernel("m", "add"), gpu.kernel("m", "put")
    total, out = gpu.array(np.zeros(1, np.int32)), gpu.array(np.zeros(8, np.int32))
    with gpu.sequence() as shared:
        for number in range(5):
            add[1, 3](total, number + 1)
    begin, failures = threading.Barrier(8), []

    def work(number: int) -> None:
        try:
            with gpu.create_stream() as stream:
                with gpu.sequence() as own:
                    for value in (number + 1, 3):
                        put[1, 1](out, number, value)
                begin.wait()
                for at in range(60):
                    shared(stream=stream)
                    if at % 20 == 0:
                        own(stream=stream)
                stream.synchronize()
        except BaseException as error:
            failures.append(error)
            begin.abort()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert total.numpy()[0] == 8 * 60 * 3 * 15
    # Twice what was there, the number, and so on: ((0 * 2 + n) * 2 + 3) thrice.
    expected = []
    for number in range(8):
        value = 0
        for _ in range(3):
            value = (value * 2 + number + 1) * 2 + 3
        expected.append(value)
    assert out.numpy().tolist() == expected


def test_shared_mem_is_recorded_with_each_launch(gpu: GpuBackend) -> None:
    """Launches with different amounts of shared memory are one command, and each has its own."""
    source = """
    kernel void turn(global int *out, int from, local int *scratch) {
        int at = get_local_id(0), last = get_local_size(0) - 1;
        scratch[at] = from + at;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[at] = out[at] * 100 + scratch[last - at];
    }
    """
    turn, out = kernel(gpu, source, "turn"), gpu.array(np.zeros(7, np.int32))
    with gpu.sequence() as step:
        turn[1, 7, 28](out, 10)
        turn[1, 3, 12](out, 20)
    assert step.is_one_command
    step()
    assert out.numpy().tolist() == [1622, 1521, 1420, 13, 12, 11, 10]


def test_pointers_inside_an_allocation_and_null_are_recorded(memory: str) -> None:
    """A pointer into an allocation and a null pointer are arguments of recorded launches."""
    source = """
    kernel void mark(global int *out, global int *other, int n) { out[get_global_id(0)] = other ? -1 : n; }
    """
    with opened(memory) as gpu:
        mark, out = kernel(gpu, source, "mark"), ints(gpu, 512)
        inside = out.ptr + 256 * 4
        with gpu.sequence() as step:
            mark[1, 3](inside, mg.DevicePtr(0), 41)
            mark[1, 2](out, inside, 42)
        assert step.is_one_command
        out.copy_from(np.zeros(512, np.int32))
        step()
        told = out.numpy()
        assert told[:3].tolist() == [-1, -1, 0]
        assert told[255:260].tolist() == [0, 41, 41, 41, 0]


def test_slots_copies_and_local_arguments_are_not_recorded(gpu: GpuBackend) -> None:
    """A sequence with a slot, with a copy or with .arg_local is made launch by launch, as before."""
    source = "kernel void both(global int *out, local int *scratch) { scratch[0] = 5; out[0] = scratch[0]; }"
    x, step = zeros(gpu), kernel(gpu, FOLD, "fold")
    with gpu.sequence() as with_slot:
        step[3, 13](x, mg.slot("n"))
    with gpu.sequence() as with_copy:
        step[3, 13](x, 1)
        gpu.memset_async(x, 0, x.nbytes)
    both = kernel(gpu, source, "both", "local")
    with gpu.sequence() as with_local:
        mg.KernelLaunch(gpu, both).grid(1).block(1).arg_ptr(x).arg_local(4).launch()
    assert [each.is_one_command for each in (with_slot, with_copy, with_local)] == [False] * 3
    with_slot(n=0)
    assert x.numpy().tolist() == after(1, 1)
    with_copy()
    assert not x.numpy().any()
    with_local()
    assert x.numpy()[0] == 5


def test_bytes_used_memory_and_empty_grids_are_not_recorded(memory: str) -> None:
    """A sequence with a value given as bytes, with .uses or with an empty grid is made launch by launch, and comes out
    right."""
    source = """
    typedef struct { int low; float high; } Pair;
    kernel void pair(global int *out, Pair by, int3 at) { out[at.y] = by.low + (int)by.high; }
    kernel void put(global int *out, int n) { out[get_global_id(0)] = out[get_global_id(0)] * 10 + n; }
    """
    pair = np.array((7, 30.0), np.dtype([("low", np.int32), ("high", np.float32)]))
    with opened(memory) as gpu:
        gpu.load_module("m", source=source)
        put, out = gpu.kernel("m", "put"), gpu.array(np.zeros(5, np.int32))
        with gpu.sequence() as with_bytes:
            mg.KernelLaunch(gpu, gpu.kernel("m", "pair")).grid(1).block(1).arg_ptr(out).arg_bytes(
                pair.tobytes(), align=4
            ).arg_bytes(np.array([0, 3, 0, 0], np.int32).tobytes(), align=16).launch()
        with gpu.sequence() as with_empty:
            put[1, 2](out, 4)
            put[0, 2](out, 5)
            put[1, 3](out, 6)
        made = [with_bytes, with_empty]
        if memory == "svm":
            with gpu.sequence() as with_used:
                put[1, 5].uses(out)(out, 8)
            made.append(with_used)
        assert not any(each.is_one_command for each in made)
        for each in made:
            each()
        expected = [46, 46, 6, 37, 0]
        if memory == "svm":
            expected = [each * 10 + 8 for each in expected]
        assert out.numpy().tolist() == expected


def test_it_is_sent_when_one_of_its_launches_would_be(watched: Watched) -> None:
    """Ten launches a call: the first call after a wait is sent at once, and then the one that holds the 33rd launch."""
    with opened("buffers") as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 10)
        gpu.synchronize()
        flushes = []
        for _ in range(7):
            before = watched.calls["flush"]
            step()
            flushes.append(watched.calls["flush"] - before)
        assert flushes == [1, 0, 0, 1, 0, 0, 1]
        assert x.numpy().tolist() == after(7, 10)


# ---------------------------------------------------------------- what is refused, as before


def test_freed_memory_is_refused_and_given_back(watched: Watched, memory: str) -> None:
    """A sequence whose memory was freed raises before the driver is called, and keeps no memory object alive."""
    with opened(memory) as gpu:
        step_kernel, pointer = kernel(gpu, FOLD, "fold"), gpu.alloc(COUNT * 4)
        with gpu.sequence() as step:
            step_kernel[3, 13](pointer, 1)
        step()
        gpu.synchronize()
        gpu.free(pointer)
        before = watched.calls[ENQUEUED]
        with pytest.raises(InvalidPointer, match="freed"):
            step()
        assert watched.calls[ENQUEUED] == before == 1
        if memory == "buffers":
            assert watched.alive == 0


def test_memory_that_is_freed_before_the_end_of_the_recording_is_not_recorded(watched: Watched, memory: str) -> None:
    """Where a sequence's memory is gone already when its block ends, the driver is told of no launch of it."""
    with opened(memory) as gpu:
        fold, pointer = kernel(gpu, FOLD, "fold"), gpu.alloc(COUNT * 4)
        with gpu.sequence() as step:
            fold[3, 13](pointer, 1)
            gpu.free(pointer)
        assert watched.calls[RECORDED] == 0
        with pytest.raises(InvalidPointer, match="freed"):
            step()


def test_what_is_closed_is_refused_and_given_back(watched: Watched, memory: str) -> None:
    """A closed sequence, one of an unloaded module and one of a closed backend raise, and no command buffer is left."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        first, second, third = (sequence(gpu, x, 3, module=name) for name in ("a", "b", "c"))
        for each in (first, second, third):
            each()
        assert watched.alive == 3
        first.close()
        assert watched.alive == 2
        with pytest.raises(HandleClosed):
            first()
        gpu.unload_module("b")
        assert watched.alive == 1
        with pytest.raises(mg.GpuError, match="unloaded"):
            second()
        assert not second.is_one_command
    assert watched.alive == 0
    with pytest.raises(HandleClosed):
        third()


def test_a_fault_of_a_launch_is_still_named(watched: Watched, memory: str) -> None:
    """Where the driver refuses the command buffer and then a launch, the error is the launch's, and those before it are
    made."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 5)
        watched.refuse(ENQUEUED, -36)
        watched.refuse("enqueue", -5, first=4)
        with pytest.raises(DriverError, match=r"clEnqueueNDRangeKernel.*CL_OUT_OF_RESOURCES.*kernel fold"):
            step()
        watched.instead.clear()
        assert x.numpy().tolist() == after(1, 3)
        assert gpu._gate.native_count == 3


def test_debug_sync_names_the_launch(watched: Watched) -> None:
    """Under debug sync each launch is made by itself."""
    with opened("buffers") as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 4)
        with gpu.debug_sync():
            step()
        assert watched.calls[ENQUEUED] == 0
        step()
        assert watched.calls[ENQUEUED] == 1
        assert x.numpy().tolist() == after(2, 4)


# ---------------------------------------------------------------- the driver refuses


@pytest.mark.parametrize(
    ("call", "first"), [("clCreateCommandBufferKHR", 1), (RECORDED, 3), ("clFinalizeCommandBufferKHR", 1)]
)
def test_what_is_refused_when_recording_is_made_one_by_one(
    watched: Watched, memory: str, call: str, first: int
) -> None:
    """A driver that refuses to record gets each launch, is not asked again for that sequence, and nothing stays behind."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        watched.refuse(call, -6, first=first)
        step = sequence(gpu, x, 5)
        assert not step.is_one_command
        made = watched.calls.copy()
        step()
        step()
        assert x.numpy().tolist() == after(2, 5)
        assert all(watched.calls[name] == made[name] for name in EXTENSION)
        assert watched.calls["clReleaseCommandBufferKHR"] == (call != "clCreateCommandBufferKHR")
        watched.instead.clear()
        assert sequence(gpu, x, 5).is_one_command


@pytest.mark.parametrize("call", ["clCreateCommandBufferKHR", RECORDED, ENQUEUED])
def test_codes_of_the_extension_are_refusals_too(watched: Watched, memory: str, call: str) -> None:
    """CL_INVALID_COMMAND_BUFFER_KHR, which pyopencl knows no name of, is a refusal as any other."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        watched.refuse(call, -1138)
        step = sequence(gpu, x, 4)
        step()
        assert not step.is_one_command
        assert watched.alive == (1 if call == "clCreateCommandBufferKHR" else 0)
        assert x.numpy().tolist() == after(1, 4)


def test_a_code_without_a_name_is_told_by_its_number(watched: Watched, memory: str) -> None:
    """A vendor's own code is told as the number it is, and NVIDIA's of an illegal access is a fault that takes the device
    along."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 4)
        for call in (ENQUEUED, "enqueue"):
            watched.refuse(call, -7654)
        with pytest.raises(DriverError, match=r"clEnqueueNDRangeKernel failed with -7654: kernel fold") as told:
            step()
        assert (told.value.code, told.value.code_name) == (-7654, "-7654")
        watched.refuse("enqueue", -9999)
        with pytest.raises(mg.KernelFault, match="-9999: clEnqueueNDRangeKernel on "):
            step()
        with pytest.raises(mg.ContextLost):
            step()


def test_what_is_refused_when_queueing_is_made_one_by_one(watched: Watched, memory: str) -> None:
    """A command buffer that the driver does not take is given back, and its launches are made: then and from then on."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 6)
        step()
        watched.refuse(ENQUEUED, -59)
        step()
        assert not step.is_one_command
        assert watched.alive == 0
        watched.instead.clear()
        step()
        assert watched.calls[ENQUEUED] == 2
        assert x.numpy().tolist() == after(3, 6)
        assert gpu._gate.native_count == 3 * 6
        # A copy of it is another sequence, which the driver is asked to record.
        twin = step.copy()
        assert twin.is_one_command
        twin()
        assert x.numpy().tolist() == after(4, 6)


def test_a_sequence_that_is_too_long_is_not_recorded(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each recorded launch has a kernel object: from some length on there are too many."""
    monkeypatch.setattr(command_buffers, "MOST_LAUNCHES", 4)
    with opened("buffers") as gpu:
        x = zeros(gpu)
        assert sequence(gpu, x, 4).is_one_command
        longer = sequence(gpu, x, 5)
        assert not longer.is_one_command
        longer()
        assert x.numpy().tolist() == after(1, 5)


# ---------------------------------------------------------------- while it is pending


def test_it_is_made_for_simultaneous_use_where_the_device_can(watched: Watched) -> None:
    """PoCL allows a command buffer to be pending more than once: it is made so, and its state is never asked for."""
    with opened("buffers") as gpu:
        properties: list[list[int]] = []

        def create(real: Any, count: int, queues: int, given: int | None, code: int) -> Any:
            assert given is not None
            properties.append(list(ctypes.cast(given, ctypes.POINTER(ctypes.c_uint64))[:3]))
            return real(count, queues, given, code)

        watched.instead["clCreateCommandBufferKHR"] = create
        step = sequence(gpu, zeros(gpu), 3)
        for _ in range(9):
            step()
        assert properties == [[0x1293, 1, 0]]
        assert watched.calls["clGetCommandBufferInfoKHR"] == 0
        assert watched.calls[ENQUEUED] == 9


def test_without_simultaneous_use_a_pending_one_is_made_one_by_one(watched: Watched, memory: str) -> None:
    """A device without that capability is asked for the state first: while it is pending each launch is made."""
    watched.say(CAPABILITIES, PRINTF)
    with opened(memory) as gpu:
        given: list[int | None] = []
        states = iter([1, 2, 2, 1])

        def create(real: Any, *arguments: Any) -> Any:
            given.append(arguments[2])
            return real(*arguments)

        def ask(real: Any, buffer: int, what: int, nbytes: int, answer: int, needed: int | None) -> int:
            assert (what, nbytes) == (0x1297, 4)
            ctypes.cast(answer, ctypes.POINTER(ctypes.c_uint32))[0] = next(states)
            gpu_is_idle.append(real(buffer, what, nbytes, ctypes.byref(ctypes.c_uint32()), needed))
            return 0

        gpu_is_idle: list[int] = []
        watched.instead |= {"clCreateCommandBufferKHR": create, "clGetCommandBufferInfoKHR": ask}
        x = zeros(gpu)
        step = sequence(gpu, x, 5)
        enqueued = []
        for number in range(4):
            before = watched.calls.copy()
            step()
            enqueued.append((watched.calls[ENQUEUED] - before[ENQUEUED], watched.calls["enqueue"] - before["enqueue"]))
            if number == 2:
                gpu.synchronize()
        assert enqueued == [(1, 0), (0, 5), (0, 5), (1, 0)]
        assert given == [None]
        assert gpu_is_idle == [0] * 4
        assert step.is_one_command
        assert x.numpy().tolist() == after(4, 5)


def test_a_state_that_cannot_be_told_ends_it(watched: Watched) -> None:
    """Where the question for the state is refused the launches are made one by one from then on."""
    watched.say(CAPABILITIES, 0)
    with opened("buffers") as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 2)
        watched.refuse("clGetCommandBufferInfoKHR")
        step()
        assert not step.is_one_command
        assert (watched.alive, watched.calls[ENQUEUED]) == (0, 0)
        assert x.numpy().tolist() == after(1, 2)


@pytest.mark.parametrize("version", [(0, 9, 8), (1, 0, 0)])
def test_since_0_9_8_it_belongs_to_the_stream_of_its_first_call(
    watched: Watched, memory: str, version: tuple[int, int, int]
) -> None:
    """From that version on a run waits for the one before it, which only one queue promises: others get each launch."""
    watched.say_version(*version)
    watched.say(SUPPORTED, 3)
    with opened(memory) as gpu, gpu.create_stream() as stream:
        x = zeros(gpu)
        step = sequence(gpu, x, 5)
        enqueued = []
        for on in (stream, None, stream, None):
            before = watched.calls.copy()
            step(stream=on)
            gpu.synchronize()
            stream.synchronize()
            enqueued.append((watched.calls[ENQUEUED] - before[ENQUEUED], watched.calls["enqueue"] - before["enqueue"]))
        assert enqueued == [(1, 0), (0, 5), (1, 0), (0, 5)]
        created = [arguments for name, arguments in watched.log if name == "clCreateCommandBufferKHR"]
        assert [arguments[2] for arguments in created] == [None]
        assert x.numpy().tolist() == after(4, 5)


# ---------------------------------------------------------------- which devices


def test_the_versions_whose_calls_are_known() -> None:
    """0.9.0 to 0.9.8 and 1.0.0 are known, and no version behind them."""
    known = [(0, 9, patch) for patch in range(9)] + [(1, 0, 0)]
    assert all(is_known(version) for version in known)
    assert not any(is_known(version) for version in [(0, 8, 9), (0, 9, 9), (0, 10, 0), (1, 0, 1), (1, 1, 0), (2, 0, 0)])


def test_an_unknown_version_is_made_one_by_one(watched: Watched, memory: str) -> None:
    """A device with a version that is not known here gets each launch, and is refused where command buffers are wanted."""
    watched.say_version(0, 9, 9)
    with opened(memory, command_buffers=None) as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 5)
        assert not step.is_one_command
        step()
        assert x.numpy().tolist() == after(1, 5)
    with pytest.raises(BackendUnavailable, match=r"version 0\.9\.9; known here are 0\.9\.0 to 0\.9\.8 and 1\.0\.0"):
        opened(memory).__enter__()


@pytest.mark.parametrize(
    ("version", "what", "value", "word"),
    [
        ((0, 9, 0), REQUIRED, 1, "need queues with properties 0x1; queues here have 0x2"),
        ((0, 9, 6), SUPPORTED, 1, "take queues with properties 0x1; queues here have 0x2"),
    ],
)
def test_a_device_that_wants_other_queues_records_nothing(
    watched: Watched, version: tuple[int, int, int], what: int, value: int, word: str
) -> None:
    """Queues here are in order and keep times; a device that needs or takes others only is told of with the numbers."""
    watched.say_version(*version)
    watched.say(what, value)
    with pytest.raises(BackendUnavailable, match=word):
        opened("buffers").__enter__()
    with opened("buffers", command_buffers=None) as gpu:
        assert not sequence(gpu, zeros(gpu), 2).is_one_command


def test_a_device_without_the_extension_is_refused_by_name(watched: Watched) -> None:
    """command_buffers=True is refused where there are none, False and None are not; anything else is no answer."""
    watched.told[0x1060] = b""
    with pytest.raises(BackendUnavailable, match=r"tells no version of cl_khr_command_buffer.*command_buffers=True"):
        opened("svm").__enter__()
    with opened("svm", command_buffers=False), opened("svm", command_buffers=None):
        pass
    with pytest.raises(ValueError, match="command_buffers='yes'; it is True, False or None"):
        mg.open_backend(str(pocl_spec()), command_buffers="yes")
    with pytest.raises(TypeError, match="it takes memory and command_buffers"):
        mg.open_backend(str(pocl_spec()), buffers=True)


def test_without_being_asked_pocl_records_only_buffer_objects(memory: str) -> None:
    """By default sequences are recorded where that was measured to be no slower on PoCL: with buffer objects."""
    with opened(memory, command_buffers=None) as gpu:
        assert sequence(gpu, zeros(gpu), 3).is_one_command == (memory == "buffers")


def test_devices_tell_their_version() -> None:
    """What lists devices tells the extension's version of each, or that there is none."""
    require_rung("pocl")
    told = [each.details["command_buffers"] for each in mg.available_backends()["opencl"].devices]
    with opened("buffers", command_buffers=None) as gpu:
        has_any = sequence(gpu, zeros(gpu), 1).is_one_command
    assert has_any == any(str(each)[:1].isdigit() and "not used" not in str(each) for each in told)


# ---------------------------------------------------------------- what lives how long


def kernel_objects() -> int:
    gc.collect()
    return sum(issubclass(type(each), ClKernel) for each in gc.get_objects())


def test_nothing_is_left_of_sequences_that_are_gone(watched: Watched, memory: str) -> None:
    """Recording, calling and dropping sequences leaves no command buffer and no kernel object behind."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        sequence(gpu, x, 1)()
        gpu.synchronize()
        gc.collect()
        before, alive = kernel_objects(), watched.alive
        for number in range(12):
            step = sequence(gpu, x, 4)
            step()
            twin = step.copy()
            step.close()
            twin()
            if number % 3:
                gpu.synchronize()
        # The twin's, with a kernel object for each launch.
        assert (watched.alive, kernel_objects()) == (alive + 1, before + 4)
        del step, twin
        gpu.synchronize()
        assert kernel_objects() == before
        assert watched.alive == alive
        assert watched.calls[ENQUEUED] == 25


def test_recordings_that_are_gone_are_forgotten() -> None:
    """What names a kernel is told when that goes, once each; what is gone before takes no room for ever."""

    class Sequence:
        def let_go(self) -> None:
            told.append(self)

    told: list[object] = []
    recordings, kept = Recordings(), []
    for number in range(1000):
        each = Sequence()
        recordings.add(each)
        if number % 100 == 7:
            kept.append(each)
    del each
    assert len(recordings._known) < 50
    recordings.let_go()
    recordings.let_go()
    assert told == kept


def test_let_go_of_while_a_call_uses_it_it_lives_until_the_call_has_ended(watched: Watched, memory: str) -> None:
    """Closing a sequence in the midst of its own call gives the command buffer back after the driver has returned."""
    with opened(memory) as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 3)
        released: list[int] = []

        def enqueue(real: Any, *arguments: Any) -> Any:
            for each in gpu._driver._programs._kernels.values():
                each.recordings.let_go()
            released.append(watched.calls["clReleaseCommandBufferKHR"])
            code = real(*arguments)
            released.append(watched.calls["clReleaseCommandBufferKHR"])
            return code

        watched.instead[ENQUEUED] = enqueue
        step()
        assert released == [0, 0]
        assert watched.calls["clReleaseCommandBufferKHR"] == 1
        assert not step.is_one_command
        step()
        assert x.numpy().tolist() == after(2, 3)


def test_closed_by_another_thread_in_the_midst_of_a_call(watched: Watched) -> None:
    """A sequence that another thread closes while the driver takes it ends that call well, and is gone."""
    with opened("buffers") as gpu:
        x = zeros(gpu)
        step = sequence(gpu, x, 3)

        def enqueue(real: Any, *arguments: Any) -> Any:
            closer = threading.Thread(target=step.close)
            closer.start()
            closer.join()
            assert watched.alive == 1
            return real(*arguments)

        watched.instead[ENQUEUED] = enqueue
        step()
        assert x.numpy().tolist() == after(1, 3)
        assert watched.alive == 0
        with pytest.raises(HandleClosed):
            step()


def test_closed_in_its_own_block_it_never_runs(watched: Watched, memory: str) -> None:
    """A sequence that is closed inside its block refuses what is launched after that, is not recorded, and does not run."""
    with opened(memory) as gpu:
        x, fold = zeros(gpu), kernel(gpu, FOLD, "fold")
        with gpu.sequence() as step:
            fold[3, 13](x, 5)
            step.close()
            with pytest.raises(HandleClosed):
                fold[3, 13](x, 6)
        with pytest.raises(HandleClosed):
            step()
        assert not x.numpy().any()
        assert watched.calls[RECORDED] == 0


def test_closed_by_another_thread_while_the_driver_records(watched: Watched, memory: str) -> None:
    """A sequence that another thread closes while the driver records it is closed: nothing is raised from its block,
    nothing is left, and it does not run."""
    with opened(memory) as gpu:
        x, fold = zeros(gpu), kernel(gpu, FOLD, "fold")

        def record(real: Any, *arguments: Any) -> Any:
            closer = threading.Thread(target=step.close)
            closer.start()
            closer.join()
            return real(*arguments)

        watched.instead[RECORDED] = record
        with gpu.sequence() as step:
            fold[3, 13](x, 5)
        assert not step.is_one_command
        assert watched.alive == 0
        with pytest.raises(HandleClosed):
            step()
        assert not x.numpy().any()


@pytest.mark.parametrize("kind", [command_buffers.CommandBuffer, ThreadKernel, ClKernel])
def test_what_ctrl_c_kept_from_being_made_goes_without_a_word(kind: type[Any]) -> None:
    """An object whose __init__ never ran, as when Ctrl-C comes at its first line, is dropped without an error."""
    made = kind.__new__(kind)
    gc.collect()
    made.__del__()


_FORKS = f"""
import gc, os, sys
import numpy as np
import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.opencl.command_buffers import CommandBuffer
gpu = mg.open_backend(sys.argv[1], memory=sys.argv[2], command_buffers=True)
step_kernel, x = gpu.load_module("m", source={FOLD!r})["fold"], gpu.array(np.zeros(39, np.int32))
with gpu.sequence() as step:
    step_kernel[3, 13](x, 2)
step()
child = os.fork()
if child == 0:
    (recorded,) = (each for each in gc.get_objects() if type(each) is CommandBuffer)
    recorded._release = lambda pointer: os._exit(9)
    del recorded
    code = 8
    try:
        step()
    except mg.GpuError:
        code = 7
    del step
    gc.collect()
    os._exit(6 if any(type(each) is CommandBuffer for each in gc.get_objects()) else code)
_, status = os.waitpid(child, 0)
assert step.is_one_command
step()
assert x.numpy()[1] == (0 * 3 + 3) * 3 + 3
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_that_was_forked_off_leaves_it_to_its_parent(memory: str) -> None:
    """A forked child is refused the sequence, and drops it without asking its parent's driver; the parent's goes on."""
    require_command_buffers()
    program = [sys.executable, "-c", _FORKS, str(pocl_spec()), memory]
    ended = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout.split()) == (0, ["7"]), ended.stderr


_LEAVES = f"""
import sys, threading
import numpy as np
import metrale_gpu_runtime as mg
gpu = mg.open_backend(sys.argv[1], memory=sys.argv[2], command_buffers=True)
step_kernel, x = gpu.load_module("m", source={FOLD!r})["fold"], gpu.array(np.zeros(39, np.int32))
with gpu.sequence() as step:
    for number in range(10):
        step_kernel[3, 13](x, number)
cycle = [gpu, step]
cycle.append(cycle)
threading.Thread(target=lambda: [step() for _ in range(50)]).start()
step()
"""


def test_a_process_that_ends_with_one_open_ends_quietly(memory: str) -> None:
    """A process that leaves a recorded sequence open and pending, in a cycle, ends with status 0 and without a word."""
    require_command_buffers()
    program = [sys.executable, "-W", "error", "-c", _LEAVES, str(pocl_spec()), memory]
    ended = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
