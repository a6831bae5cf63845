"""The books under many threads: each thing is given back once, counted right, and the outcome is always the same."""

from __future__ import annotations

import gc
import os
import sys
import threading

import numpy as np
import pytest

from metrale_gpu_runtime.errors import HandleClosed, InvalidPointer
from metrale_gpu_runtime.scalars import u32
from metrale_gpu_runtime.testing import MockGpuBackend

THREADS = 8


@pytest.fixture(autouse=True)
def switching_often():
    """Lets the interpreter change threads as often as it can, so that a gap between two steps is met."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(work):
    """Run `work(number)` in every thread at once; what each returned, or the error it raised."""
    start, outcomes = threading.Barrier(THREADS), [None] * THREADS

    def run(number):
        start.wait()
        try:
            outcomes[number] = work(number)
        except Exception as error:
            outcomes[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def succeeded(outcomes, refusal):
    """How many went through; all others must have been refused in this one way."""
    refused = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert all(type(error) is refusal for error in refused), refused
    return len(outcomes) - len(refused)


@pytest.mark.parametrize("call", ["free", "free_async"])
def test_memory_freed_by_many_is_given_back_once(call):
    """Of threads that free one allocation exactly one succeeds, and the driver is told once."""
    with MockGpuBackend() as gpu:
        for _ in range(50):
            pointer = gpu.alloc(12)
            assert succeeded(together(lambda _, p=pointer: getattr(gpu, call)(p)), InvalidPointer) == 1
        assert (gpu.log.counts["free"], gpu.mock.violations, gpu.live_alloc_count()) == (50, [], 0)


def test_events_destroyed_by_many_are_destroyed_once():
    """Of threads that destroy one event exactly one succeeds, and the driver is told once."""
    with MockGpuBackend() as gpu:
        for _ in range(50):
            event = gpu.create_event()
            assert succeeded(together(lambda _, e=event: gpu.destroy_event(e)), HandleClosed) == 1
        assert (gpu.log.counts["destroy_event"], gpu.mock.violations) == (50, [])


def test_streams_destroyed_by_many_are_destroyed_once():
    """Threads that destroy one stream are refused or find it destroyed, and the driver is told once."""
    with MockGpuBackend() as gpu:
        for _ in range(50):
            stream = gpu.create_stream()
            assert succeeded(together(lambda _, s=stream: gpu.destroy_stream(s)), HandleClosed) >= 1
        assert (gpu.log.counts["destroy_stream"], gpu.mock.violations) == (50, [])


def test_a_backend_closed_by_many_is_closed_once():
    """Threads that close one backend neither raise nor give anything back twice."""
    for _ in range(20):
        gpu = MockGpuBackend()
        kept = [gpu.buffer(12), gpu.create_event(), gpu.create_stream()]
        assert together(lambda _, g=gpu: g.close()) == [None] * THREADS
        counts = gpu.log.counts
        assert (counts["free"], counts["destroy_event"], counts["destroy_stream"], gpu.mock.violations) == (1, 1, 1, [])
        del kept


def test_what_threads_drop_is_given_back():
    """Buffers, events and streams dropped in eight threads, with work queued, are all given back, each once."""

    def rounds(number):
        for step in range(40):
            stream, event, buffer = gpu.create_stream(), gpu.create_event(), gpu.array(np.zeros(3, dtype=np.uint32))
            kernel[1, 3, 0, stream](buffer, u32(100 * number + step))
            stream.record_event(event)
            if step % 3 == 0:
                gpu.synchronize()
            elif step % 3 == 1:
                event.synchronize()
            del buffer, event, stream

    with MockGpuBackend() as gpu:
        kernel = gpu.kernel("m", "k")
        assert together(rounds) == [None] * THREADS
        gpu.synchronize()
        gpu.synchronize()
        counts = gpu.log.counts
        assert (gpu.launch_count, gpu.live_alloc_count(), gpu.mock.violations) == (320, 0, [])
        assert (counts["free"], counts["destroy_stream"], counts["destroy_event"]) == (320, 320, 320)


def test_streams_may_come_and_go_while_all_are_waited_for():
    """Waiting for every stream bears others being made and destroyed meanwhile."""

    def work(number):
        for _ in range(60):
            if number % 2:
                gpu.synchronize()
            else:
                with gpu.create_stream() as stream:
                    kernel[1, 3, 0, stream](u32(number))

    with MockGpuBackend() as gpu:
        kernel = gpu.kernel("m", "k")
        assert together(work) == [None] * THREADS
        assert (gpu.launch_count, gpu.mock.violations) == (240, [])


def test_one_kernel_is_looked_up_once_and_counted_every_time():
    """Threads that ask for a kernel get one and the same, and the audit counts every question to the registry."""
    with MockGpuBackend() as gpu:
        found = together(lambda _: [gpu.kernel("m", "k") for _ in range(50)])
        assert {id(kernel) for kernels in found for kernel in kernels} == {id(gpu.kernel("m", "k"))}
        before = next(row.count for row in gpu.registry.lookups if row.function == "k")
        together(lambda _: [gpu.registry.function("m", "k") for _ in range(500)])
        assert next(row.count for row in gpu.registry.lookups if row.function == "k") - before == 500 * THREADS


def test_ordinals_of_launches_have_no_gaps():
    """Launches of eight threads on one stream are numbered 1 to n, each number once."""
    with MockGpuBackend() as gpu:
        prepared = gpu.kernel("m", "k")[1, 3].prepare(u32(3))
        together(lambda _: [prepared() for _ in range(100)])
        ordinals = sorted(entry.ordinal for entry in gpu.log if entry.call == "launch")
        assert ordinals == list(range(1, 100 * THREADS + 1))


def test_a_process_may_fork_after_use():
    """A child forked after launches has a runtime that works: it opens a backend of its own, launches and reads."""
    with MockGpuBackend() as gpu:
        gpu.kernel("m", "k")[1, 3](gpu.buffer(12), u32(3))
        child = os.fork()
        if child == 0:
            code = 3
            try:
                with MockGpuBackend() as own:
                    buffer = own.array(np.array([5, 6, 7], dtype=np.uint32))
                    own.kernel("m", "k")[1, 3](buffer, u32(3))
                    code = 0 if buffer.numpy().tolist() == [5, 6, 7] and own.launch_count == 1 else 4
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        gpu.synchronize()
        assert gpu.launch_count == 1


def test_what_is_collected_on_a_thread_of_the_package_is_closed_on_another(monkeypatch):
    """A thread that works for backends never closes one, which waits for such threads; a user's thread does."""
    closed, by = threading.Event(), []
    close = MockGpuBackend.close

    def noted(gpu):
        close(gpu)
        by.append(threading.current_thread().name)
        closed.set()

    monkeypatch.setattr(MockGpuBackend, "close", noted)
    for own, expected in (("metrale-gpu-waiter", "metrale-closing"), ("user", "user")):
        closed.clear()
        gpus = [MockGpuBackend()]
        thread = threading.Thread(target=lambda gpus=gpus: (gpus.clear(), gc.collect()), name=own)
        thread.start()
        thread.join()
        assert closed.wait(10)
        assert by.pop() == expected
