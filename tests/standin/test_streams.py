"""Streams and events of the stand-in CUDA driver: nothing runs before somebody waits, and then in order."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from standin import StandIn
from standin.calls import bindings, code, kernel, launch, no_violations, ok, opened
from standin.fixtures import standin_cuda

__all__ = ["standin_cuda"]


def _value(address: Any) -> int:
    """One byte of device memory, as it is in the memory itself: no call of the driver, nothing runs."""
    return ctypes.c_uint8.from_address(int(address)).value


def test_work_runs_when_somebody_waits(standin_cuda: StandIn) -> None:
    """A fill is not there after the call, is there after the wait; the switch makes it run at the call."""
    driver = bindings()
    opened()
    a, stream = ok(driver.cuMemAlloc(10)), ok(driver.cuStreamCreate(1))
    ok(driver.cuMemsetD8Async(a, 41, 10, stream))
    assert (_value(a) == 41, standin_cuda.queued()) == (False, 1)
    ok(driver.cuStreamSynchronize(stream))
    assert (_value(a), standin_cuda.queued()) == (41, 0)
    standin_cuda.set(execution=1)
    ok(driver.cuMemsetD8Async(a, 42, 10, stream))
    assert _value(a) == 42


def test_a_wait_runs_only_what_it_depends_on(standin_cuda: StandIn) -> None:
    """Waiting for one stream leaves another's work queued, unless an event joins them."""
    driver = bindings()
    opened()
    a = ok(driver.cuMemAlloc(3))
    one, two, three = (ok(driver.cuStreamCreate(1)) for _ in range(3))
    event = ok(driver.cuEventCreate(0))
    ok(driver.cuMemsetD8Async(a, 1, 1, one))
    ok(driver.cuEventRecord(event, one))
    ok(driver.cuMemsetD8Async(int(a) + 1, 2, 1, two))
    ok(driver.cuStreamWaitEvent(three, event, 0))
    ok(driver.cuMemsetD8Async(int(a) + 2, 3, 1, three))
    ok(driver.cuStreamSynchronize(three))
    assert [_value(int(a) + i) == i + 1 for i in range(3)] == [True, False, True]
    assert code(driver.cuStreamQuery(one)) == 0
    assert code(driver.cuStreamQuery(two)) == 600
    assert code(driver.cuStreamQuery(two)) == 0


def test_a_wait_keeps_the_recording_it_saw(standin_cuda: StandIn) -> None:
    """An event recorded again afterwards does not make an older wait longer."""
    driver = bindings()
    opened()
    a = ok(driver.cuMemAlloc(2))
    one, two = ok(driver.cuStreamCreate(1)), ok(driver.cuStreamCreate(1))
    event = ok(driver.cuEventCreate(2))
    ok(driver.cuMemsetD8Async(a, 1, 1, one))
    ok(driver.cuEventRecord(event, one))
    ok(driver.cuStreamWaitEvent(two, event, 0))
    ok(driver.cuMemsetD8Async(int(a) + 1, 2, 1, one))
    ok(driver.cuEventRecord(event, one))
    ok(driver.cuStreamSynchronize(two))
    assert (_value(a), _value(int(a) + 1) == 2) == (1, False)


def test_the_legacy_stream_waits_and_is_waited_for(standin_cuda: StandIn) -> None:
    """Blocking streams and the legacy one run in the order of the calls; a non-blocking stream takes no part."""
    driver = bindings()
    opened()
    a = ok(driver.cuMemAlloc(4))
    blocking, free = ok(driver.cuStreamCreate(0)), ok(driver.cuStreamCreate(1))
    ok(driver.cuMemsetD8Async(a, 1, 1, blocking))
    ok(driver.cuMemsetD8Async(int(a) + 1, 2, 1, free))
    ok(driver.cuMemsetD8Async(int(a) + 2, 3, 1, 0))
    ok(driver.cuMemsetD8Async(int(a) + 3, 4, 1, blocking))
    ok(driver.cuStreamSynchronize(blocking))
    assert [_value(int(a) + i) == i + 1 for i in range(4)] == [True, False, True, True]


def test_who_reads_a_source_when(standin_cuda: StandIn) -> None:
    """Pageable memory is read at the call, page-locked memory when the copy runs; a copy to pageable memory waits."""
    driver = bindings()
    opened()
    a, stream = ok(driver.cuMemAlloc(8)), ok(driver.cuStreamCreate(1))
    pageable, locked = (ctypes.c_uint8 * 4)(1, 2, 3, 4), ok(driver.cuMemHostAlloc(4, 0))
    ctypes.memset(locked, 5, 4)
    ok(driver.cuMemcpyHtoDAsync(a, ctypes.addressof(pageable), 4, stream))
    ok(driver.cuMemcpyHtoDAsync(int(a) + 4, locked, 4, stream))
    ctypes.memset(ctypes.addressof(pageable), 0, 4)
    ctypes.memset(locked, 6, 4)
    back = (ctypes.c_uint8 * 8)()
    ok(driver.cuMemcpyDtoHAsync(ctypes.addressof(back), a, 8, stream))
    assert bytes(back) == bytes([1, 2, 3, 4, 6, 6, 6, 6])
    ok(driver.cuMemcpyDtoHAsync(locked, a, 4, stream))
    assert ctypes.string_at(locked, 4) == b"\x06" * 4
    ok(driver.cuStreamSynchronize(stream))
    assert ctypes.string_at(locked, 4) == bytes([1, 2, 3, 4])
    no_violations(standin_cuda)


def test_events_are_ready_when_their_stream_came_by(standin_cuda: StandIn) -> None:
    """Never recorded counts as ready; recorded behind work it is 600 until that ran."""
    driver = bindings()
    opened()
    stream, event, a = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(0)), ok(driver.cuMemAlloc(9))
    assert code(driver.cuEventQuery(event)) == 0
    ok(driver.cuMemsetD8Async(a, 1, 9, stream))
    ok(driver.cuEventRecord(event, stream))
    assert code(driver.cuEventQuery(event)) == 600
    ok(driver.cuEventSynchronize(event))
    assert code(driver.cuEventQuery(event)) == 0
    ok(driver.cuEventDestroy(event))
    assert code(driver.cuEventQuery(event)) == 400
    assert code(driver.cuEventDestroy(event)) == 400


def test_elapsed_time_only_where_it_means_something(standin_cuda: StandIn) -> None:
    """Unrecorded or without timing 400, unfinished 600, of two contexts 400; else a positive number, negative swapped."""
    driver = bindings()
    opened()
    stream, a = ok(driver.cuStreamCreate(1)), ok(driver.cuMemAlloc(4096))
    start, end, untimed = ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(2))
    assert code(driver.cuEventElapsedTime(start, end)) == 400
    ok(driver.cuEventRecord(start, stream))
    ok(driver.cuMemsetD8Async(a, 1, 4096, stream))
    ok(driver.cuEventRecord(end, stream))
    ok(driver.cuEventRecord(untimed, stream))
    assert code(driver.cuEventElapsedTime(start, end)) == 600
    ok(driver.cuStreamSynchronize(stream))
    elapsed = ok(driver.cuEventElapsedTime(start, end))
    assert 0 < elapsed < 1
    assert ok(driver.cuEventElapsedTime(end, start)) == -elapsed
    assert code(driver.cuEventElapsedTime(start, untimed)) == 400
    ok(driver.cuCtxPushCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    other = ok(driver.cuEventCreate(0))
    ok(driver.cuEventRecord(other, 0))
    assert code(driver.cuEventElapsedTime(start, other)) == 400


def test_streams_belong_to_a_context(standin_cuda: StandIn) -> None:
    """A launch or a recording with another context's stream is 400, a wait and a copy work and are noted."""
    driver = bindings()
    opened(0)
    stream, event = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(0))
    ok(driver.cuCtxPushCurrent(ok(driver.cuDevicePrimaryCtxRetain(1))))
    assert launch(kernel(), stream=stream) == 400
    assert code(driver.cuEventRecord(ok(driver.cuEventCreate(0)), stream)) == 400
    standin_cuda.clear_journal()
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuEventSynchronize(event))
    assert [call.owner_matches for call in standin_cuda.calls()] == [False, False]
    assert standin_cuda.violation_count("wrong-context") == 2


def test_what_a_stream_says_of_itself(standin_cuda: StandIn) -> None:
    """Flags, priority (clamped to what there is), context and number; a destroyed one says 400."""
    driver = bindings()
    context = opened()
    assert ok(driver.cuCtxGetStreamPriorityRange()) == (0, -5)
    stream = ok(driver.cuStreamCreateWithPriority(1, -9))
    other = ok(driver.cuStreamCreateWithPriority(0, -2))
    assert ok(driver.cuStreamGetFlags(stream)) == 1
    assert [ok(driver.cuStreamGetPriority(s)) for s in (stream, other, 0)] == [-5, -2, 0]
    assert int(ok(driver.cuStreamGetCtx(stream))) == int(context)
    assert ok(driver.cuStreamGetId(stream)) != ok(driver.cuStreamGetId(other))
    ok(driver.cuStreamDestroy(stream))
    assert code(driver.cuStreamDestroy(stream)) == 400
    assert code(driver.cuStreamSynchronize(stream)) == 400
    assert standin_cuda.violation_count("stale-handle") == 2


def test_a_destroyed_stream_still_does_its_work(standin_cuda: StandIn) -> None:
    """Destruction returns at once; what was queued runs, and the context's wait covers it."""
    driver = bindings()
    opened()
    a, stream = ok(driver.cuMemAlloc(10)), ok(driver.cuStreamCreate(1))
    ok(driver.cuMemsetD8Async(a, 77, 10, stream))
    ok(driver.cuStreamDestroy(stream))
    assert _value(a) != 77
    ok(driver.cuCtxSynchronize())
    assert _value(a) == 77


def test_host_functions_run_in_order_and_may_not_call_the_driver(standin_cuda: StandIn) -> None:
    """A host function runs at its place in the stream; a call of the driver from it is 800."""
    driver = bindings()
    opened()
    a, stream = ok(driver.cuMemAlloc(10)), ok(driver.cuStreamCreate(1))
    seen: list[object] = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def function(argument: int) -> None:
        seen.append((argument, _value(a), code(driver.cuStreamQuery(stream)), threading.get_ident()))

    address = ctypes.cast(function, ctypes.c_void_p).value
    ok(driver.cuMemsetD8Async(a, 1, 10, stream))
    ok(driver.cuLaunchHostFunc(stream, driver.CUhostFn(address), 4711))
    ok(driver.cuMemsetD8Async(a, 2, 10, stream))
    assert seen == []
    ok(driver.cuStreamSynchronize(stream))
    assert seen == [(4711, 1, 800, threading.get_ident())]
    assert standin_cuda.violation_count("call-in-callback") == 1


def test_with_a_driver_thread_host_functions_run_without_a_wait(standin_cuda: StandIn) -> None:
    """The switches together: one mutex around calls, callbacks on the driver's own thread, which takes our lock."""
    driver = bindings()
    standin_cuda.set(driver_thread=1, global_mutex=1)
    opened()
    stream = ok(driver.cuStreamCreate(1))
    called = threading.Event()
    seen: list[int] = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def function(argument: int | None) -> None:
        seen.append(threading.get_ident())
        called.set()

    address = ctypes.cast(function, ctypes.c_void_p).value
    ok(driver.cuLaunchHostFunc(stream, driver.CUhostFn(address), 0))
    assert called.wait(30)
    ok(driver.cuLaunchHostFunc(stream, driver.CUhostFn(address), 0))
    ok(driver.cuStreamSynchronize(stream))
    assert len(seen) == 2
    assert threading.get_ident() not in seen


def test_a_queue_is_not_endless(standin_cuda: StandIn) -> None:
    """A call that finds the stream's queue full runs the oldest operation first."""
    driver = bindings()
    standin_cuda.set(queue_depth=3)
    opened()
    a, stream = ok(driver.cuMemAlloc(5)), ok(driver.cuStreamCreate(1))
    for i in range(5):
        ok(driver.cuMemsetD8Async(int(a) + i, i + 1, 1, stream))
    assert ([_value(int(a) + i) == i + 1 for i in range(5)], standin_cuda.queued()) == (
        [True, True, False, False, False],
        3,
    )


def test_threads_share_the_driver(standin_cuda: StandIn) -> None:
    """Eight threads fill, copy, record and free on two devices; every call is in its context and nothing is left."""
    driver = bindings()
    opened(0)
    contexts = [ok(driver.cuDevicePrimaryCtxRetain(device)) for device in range(2)]
    wrong: list[object] = []

    def work(number: int) -> None:
        ok(driver.cuCtxPushCurrent(contexts[number % 2]))
        for turn in range(20):
            stream, event = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(2))
            a, back = ok(driver.cuMemAlloc(100)), (ctypes.c_uint8 * 100)()
            ok(driver.cuMemsetD8Async(a, (number + turn) % 256, 100, stream))
            ok(driver.cuEventRecord(event, stream))
            ok(driver.cuEventSynchronize(event))
            ok(driver.cuMemcpyDtoHAsync(ctypes.addressof(back), a, 100, stream))
            if set(back) != {(number + turn) % 256}:
                wrong.append((number, turn, bytes(back)))
            ok(driver.cuMemFree(a))
            ok(driver.cuEventDestroy(event))
            ok(driver.cuStreamDestroy(stream))
        ok(driver.cuCtxPopCurrent())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert standin_cuda.live() == {}
    assert standin_cuda.count("stream", "created") == standin_cuda.count("stream", "destroyed") == 160
    no_violations(standin_cuda)
