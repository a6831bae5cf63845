"""Eight threads on two devices at once: every call in the right context, everything made is destroyed, nothing grows.

METRALE_STRESS_S=60 lets it go on for so many seconds instead of a fixed number of rounds.
"""

from __future__ import annotations

import gc
import os
import threading
import time
import tracemalloc
from collections.abc import Iterator

import numpy as np
from kernels_for_launch import PTX

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend

THREADS = 8
ROUNDS = 24
SECONDS = float(os.environ.get("METRALE_STRESS_S", "0"))
KINDS = ("stream", "event", "memory", "host_memory", "module", "graph", "exec")


def turns(rounds: int, seconds: float) -> Iterator[int]:
    """So many turns, or as many as fit into that many seconds."""
    if not seconds:
        yield from range(rounds)
        return
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        yield number
        number += 1


def one_turn(gpu: GpuBackend, other: GpuBackend, number: int) -> None:
    """Allocate, copy, launch, capture, record, wait and free, on one device with a look at the other."""
    count = 31 + number % 7
    host = np.arange(count, dtype=np.float32)
    with gpu.create_stream() as stream:
        x = gpu.array(host)
        y = gpu.empty(count, "float32")
        kernel = gpu.kernel("m", "scale")
        kernel[3, 32, 0, stream](x, mg.u32(count), 1.5)
        gpu.copy_d2d_async(x, y, stream=stream)
        event = stream.record_event()
        gpu.stream_wait_event(None, event)
        gpu.memset_async(x, number % 256, 4)
        if number % 3 == 0:
            with gpu.capture(stream, mode="relaxed") as capture:
                kernel[2, 32, 0, stream](y, mg.u32(count), 2.5)
            capture.graph.launch(stream)
        if number % 4 == 1:
            pinned = gpu.alloc_host_pinned(100 + number)
            gpu.copy_h2d_async_retained(pinned.view[:4], x)
            gpu.default_stream().synchronize()
            gpu.free_host_pinned(pinned)
        pointer = other.alloc(64 + number % 5)
        other.memset(pointer, 3, 8)
        other.free(pointer)
        event.synchronize()
        stream.synchronize()
        assert np.array_equal(y.numpy(), host)


def run(devices: tuple[GpuBackend, GpuBackend], rounds: int, seconds: float = 0.0) -> int:
    """All threads through their turns; how many turns that were. Raises what the first failing one raised."""
    failures: list[BaseException] = []
    done = [0] * THREADS

    def work(who: int) -> None:
        try:
            for number in turns(rounds, seconds):
                at = (who + number) % 2
                one_turn(devices[at], devices[1 - at], who * 1000 + number)
                done[who] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return sum(done)


def settle(*devices: GpuBackend) -> None:
    """Wait for everything and let what was dropped be given back."""
    gc.collect()
    for gpu in devices:
        gpu.synchronize()
        assert gpu.live_alloc_count() == 0


def test_eight_threads_on_two_devices(standin):
    """No call in a foreign context, no violation, creates and destroys match, and a second half needs no more memory."""
    with mg.open_backend("cuda:0") as zero, mg.open_backend("cuda:1") as one:
        for gpu in (zero, one):
            gpu.load_module("m", source={".ptx": PTX})
        run((zero, one), 4)
        gc.collect()
        tracemalloc.start()
        try:
            run((zero, one), ROUNDS // 2, SECONDS / 2)
            settle(zero, one)
            before, alive = tracemalloc.get_traced_memory()[0], standin.live()
            turns_done = run((zero, one), ROUNDS, SECONDS / 2)
            settle(zero, one)
            after = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert turns_done >= THREADS
        assert standin.live() == alive
        assert after - before < 300_000, f"{after - before} bytes more after {turns_done} turns"
        foreign = [call for call in standin.calls() if call.owner_matches is False]
        assert not foreign, foreign[:3]
    assert {kind: standin.count(kind) for kind in KINDS} == dict.fromkeys(KINDS, 0)
    assert all(standin.count(kind, "created") == standin.count(kind, "destroyed") for kind in KINDS)
    assert not standin.violations()
