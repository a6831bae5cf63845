"""Threads against each other: dropping, destroying and closing while others are in the middle of using.

Whoever comes too late gets HandleClosed (or InvalidPointer) and never reaches the driver with something that is gone.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from kernels_for_launch import PTX
from standin import environment

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.driver import DriverOptions
from metrale_gpu_runtime.drivers.cuda import CudaFactory
from metrale_gpu_runtime.errors import CaptureError, GpuError, HandleClosed, InvalidPointer

THREADS = 4


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    """Threads take turns after a few instructions, so that a few rounds meet what otherwise takes thousands."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def opened() -> GpuBackend:
    gpu = mg.open_backend("cuda")
    gpu.load_module("m", source={".ptx": PTX})
    return gpu


def against(act: Callable[[], object], work: Callable[[], object], turns: int = 6) -> list[BaseException]:
    """Threads that work until they are refused, and one action in the middle; what ended them."""
    ended: list[BaseException] = []
    under_way = threading.Semaphore(0)
    stop = threading.Event()

    def worker() -> None:
        try:
            while not stop.is_set():
                work()
                under_way.release()
        except BaseException as error:
            ended.append(error)
            under_way.release(turns)

    threads = [threading.Thread(target=worker) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for _ in range(turns):
        under_way.acquire()
    try:
        act()
    except BaseException:
        stop.set()
        raise
    finally:
        for thread in threads:
            thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return ended


def test_what_threads_drop_lives_until_its_launch_is_done(standin) -> None:
    """Threads launch on buffers and drop them without ever waiting: nothing is freed under a queued launch."""
    with opened() as gpu:
        kernel = gpu.kernel("m", "scale")

        def work() -> None:
            stream = gpu.create_stream()
            for _ in range(90):
                kernel[2, 32, 0, stream](gpu.empty(40, "float32"), mg.u32(40), 1.5)

        failures: list[BaseException] = []

        def worker() -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=worker) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gpu.synchronize()
        gc.collect()
        assert failures == []
        assert gpu.live_alloc_count() == 0
        assert standin.violations() == []


@pytest.mark.parametrize("waits", [True, False])
def test_closing_lets_calls_under_way_end_and_refuses_the_next(standin, waits: bool) -> None:
    """Closed under threads that launch, copy and make streams: they get HandleClosed, and the driver nothing dead."""
    for _ in range(4):
        gpu = opened()
        kernel = gpu.kernel("m", "scale")
        x, stream = gpu.array(np.ones(40, np.float32)), gpu.create_stream()

        def work(gpu=gpu, kernel=kernel, x=x, stream=stream) -> None:
            kernel[2, 32, 0, stream](x, mg.u32(40), 1.5)
            gpu.empty(9, "float32")
            event = gpu.create_event()
            event.record(stream)
            if waits:
                stream.synchronize()
                x.numpy()

        ended = against(gpu.close, work)
        assert len(ended) == THREADS
        # Or the buffer's, "released when its backend was closed".
        assert all(isinstance(error, (HandleClosed, InvalidPointer)) and "closed" in str(error) for error in ended)
        assert standin.violations() == []
        assert standin.live() == {}


def test_a_stream_is_destroyed_under_its_users(standin) -> None:
    """Who queues on it afterwards is refused by us, never by the driver."""
    with opened() as gpu:
        kernel, x = gpu.kernel("m", "scale"), gpu.array(np.ones(40, np.float32))
        for _ in range(6):
            stream = gpu.create_stream()

            def work(stream=stream) -> None:
                kernel[2, 32, 0, stream](x, mg.u32(40), 1.5)
                stream.query()

            ended = against(lambda stream=stream: gpu.destroy_stream(stream), work)
            assert {type(error) for error in ended} <= {HandleClosed}
            assert len(ended) == THREADS
        assert standin.violations() == []


def test_an_event_is_destroyed_under_its_users(standin) -> None:
    """The driver keeps it until the last call that was given it is back."""
    with opened() as gpu:
        streams = [gpu.create_stream() for _ in range(2)]
        for _ in range(6):
            event = gpu.create_event()

            def work(event=event) -> None:
                for stream in streams:
                    event.record(stream)
                    event.query()
                    gpu.stream_wait_event(None, event)
                event.synchronize()

            ended = against(lambda event=event: gpu.destroy_event(event), work)
            assert {type(error) for error in ended} <= {HandleClosed}
            assert len(ended) == THREADS
        gpu.synchronize()
        assert standin.violations() == []
        assert standin.count("event") <= gpu_marks(gpu)


def gpu_marks(gpu: GpuBackend) -> int:
    """Events that the engine keeps for itself."""
    return len(gpu._live_events)


def test_captures_and_modules_go_under_their_users(standin) -> None:
    """Unloading and closing while others capture and replay ends in our refusals alone."""
    for _ in range(3):
        gpu = opened()
        kernel, x = gpu.kernel("m", "scale"), gpu.array(np.ones(40, np.float32))

        def work(gpu=gpu, kernel=kernel, x=x) -> None:
            with gpu.create_stream() as stream:
                with gpu.capture(stream, mode="relaxed") as capture:
                    kernel[2, 32, 0, stream](x, mg.u32(40), 1.5)
                capture.graph.launch(stream)
                stream.synchronize()

        ended = against(gpu.close, work)
        assert all(isinstance(error, (HandleClosed, CaptureError, InvalidPointer)) for error in ended), ended
        assert all(isinstance(error, GpuError) for error in ended)
        assert standin.violations() == []


def test_what_a_closing_refuses_to_destroy_it_destroys_itself(standin) -> None:
    """A graph whose destroying comes between the end's first step and its last stays on the books that the end gives back."""
    driver = CudaFactory().open(0, DriverOptions())
    stream = driver.create_stream()
    driver.begin_capture(stream, "relaxed")
    graph = driver.end_capture(stream)
    driver._calls.close()
    with pytest.raises(HandleClosed):
        driver.destroy_graph(graph)
    driver.close()
    assert standin.live() == {}


EXITING = """
import sys, threading, time
sys.path[:0] = {path!r}
import metrale_gpu_runtime as mg
from kernels_for_launch import PTX
gpu = mg.open_backend("cuda")
gpu.load_module("m", source={{".ptx": PTX}})
kernel, turns = gpu.kernel("m", "scale"), []

def work():
    stream = gpu.create_stream()
    while True:
        x = gpu.empty(40, "float32")
        kernel[2, 32, 0, stream](x, mg.u32(40), 1.5)
        turns.append(1)
        if len(turns) % 3 == 0:
            stream.synchronize()
            x.numpy()
            stream.record_event().query()

for _ in range(6):
    threading.Thread(target=work, daemon=True).start()
while len(turns) < 60:
    time.sleep(0)
"""


@pytest.mark.parametrize("run", range(3))
def test_daemon_threads_may_be_launching_when_the_program_ends(standin, run: int) -> None:
    """The process ends at once, with exit code 0 and an empty stderr (field case 29)."""
    tests = Path(__file__).parents[1]
    code = EXITING.format(path=[str(tests), str(tests / "cuda")])
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(1), capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
