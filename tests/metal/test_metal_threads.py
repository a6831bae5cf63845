"""Eight threads on two Metal devices at once: right values, no rule broken, nothing grows, whoever closes or goes meanwhile.

METRALE_STRESS_S=60 lets each test go on for so many seconds instead of a fixed number of rounds.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from programs_on_metal import LARGE_COUNT, MSL

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT, MAX_OPERATIONS
from metrale_gpu_runtime.errors import GpuError, HandleClosed

__all__ = ["metal_standin"]

THREADS = 8
ROUNDS = 8
SECONDS = float(os.environ.get("METRALE_STRESS_S", "0"))


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


def opened(number: int, storage: str) -> GpuBackend:
    gpu = mg.open_backend(f"metal:{number}", storage=storage)
    gpu.load_module("m", source={".metal": MSL})
    return gpu


def one_turn(gpu: GpuBackend, other: GpuBackend, shared: mg.DeviceBuffer, number: int) -> None:
    """Each kind of work once, on a stream of this turn and on those that all threads use."""
    count = 31 + number % 7
    host = np.arange(count, dtype=np.uint32) + number
    affine, add_large = gpu.kernel("m", "affine"), gpu.kernel("m", "add_large")
    with gpu.create_stream() as stream:
        x, y = gpu.array(host), gpu.empty(count, "uint32")
        expected = host.copy()
        # More than one command buffer holds, with the GPU busy: the stream's own thread commits the tail.
        for step in range(MAX_OPERATIONS + 9 if number % 5 == 0 else 6):
            affine[2, 32, 0, stream](x, mg.u32(count), mg.u32(3), mg.u32(step))
            expected = expected * np.uint32(3) + np.uint32(step)
        value = (np.arange(LARGE_COUNT, dtype=np.uint32) * (number + 1)).astype(np.uint32)
        mg.KernelLaunch(gpu, add_large).grid(2).block(32).arg_ptr(x).arg_bytes(value.tobytes(), align=4).arg_u32(
            count
        ).launch(stream)
        expected = expected + value[LARGE_COUNT - 1 - np.arange(count)]
        gpu.copy_d2d_async(x, y, stream=stream)
        event = stream.record_event()
        gpu.stream_wait_event(None, event)
        gpu.memset_async(shared, number % 251, shared.nbytes, width=1)
        if number % 3 == 0:
            with gpu.capture(stream, mode="relaxed") as capture:
                affine[2, 32, 0, stream](y, mg.u32(count), mg.u32(5), mg.u32(1))
            capture.graph.launch(stream)
            expected = expected * np.uint32(5) + np.uint32(1)
        read = np.zeros(count, np.uint32)
        gpu.copy_d2h_async(y, read, stream)
        if number % 4 == 1:
            pinned = gpu.alloc_host_pinned(100 + number % 9)
            pinned.view[:4] = bytes((1, 2, 3, number % 256))
            gpu.copy_h2d_async_retained(pinned.view[:3], x, stream)
            stream.synchronize()
            assert x.numpy()[:1].tobytes()[:3] == bytes((1, 2, 3))
            gpu.free_host_pinned(pinned)
        pointer = other.alloc(64 + number % 5)
        other.memset(pointer, 3, 7)
        other.free(pointer)
        event.synchronize()
        stream.synchronize()
        assert np.array_equal(read, expected), f"turn {number}"
        assert np.array_equal(y.numpy(), expected)


def run_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Raises what the first failing one raised."""
    failures: list[BaseException] = []

    def guarded(who: int) -> None:
        try:
            work(who)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(who,), daemon=True) for who in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120 + SECONDS)
        assert not thread.is_alive(), "hangs"
    if failures:
        raise failures[0]


def run(devices: tuple[GpuBackend, GpuBackend], rounds: int, seconds: float = 0.0) -> int:
    """All threads through their turns; how many turns that were."""
    done = [0] * THREADS
    shared = [gpu.buffer(257) for gpu in devices]

    def work(who: int) -> None:
        for number in turns(rounds, seconds):
            at = (who + number) % 2
            one_turn(devices[at], devices[1 - at], shared[at], who * 1000 + number)
            done[who] += 1

    run_threads(work)
    return sum(done)


def settle(*devices: GpuBackend) -> None:
    """Wait for everything and let what was dropped be given back."""
    gc.collect()
    for gpu in devices:
        gpu.synchronize()
        assert gpu.live_alloc_count() == 0


def settled(standin: MetalStandIn) -> dict[str, list[int]]:
    """What is alive but for the temporary buffers that are kept for the next use, whose number varies."""
    found = standin.live_at_rest()
    found.pop("MTLBuffer", None)
    return found


def driver_objects() -> Counter[str]:
    """How many objects of each class of the driver's there are; of temporary buffers some are kept for the next use."""
    gc.collect()
    names = Counter(
        type(each).__name__
        for each in gc.get_objects()
        if "drivers.metal" in str(getattr(type(each), "__module__", ""))
    )
    del names["Temporary"]
    return names


def lasting_objects(*gpus: mg.GpuBackend) -> Counter[str]:
    """The driver's objects but for destroyed streams, which it keeps until their threads are seen to have ended."""
    names = driver_objects()
    names["MetalStream"] -= sum(len(gpu.driver._ending) for gpu in gpus)
    return names


def own_threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("metrale-metal-stream")]


@pytest.mark.parametrize("storage", ["shared", "private"])
def test_eight_threads_on_two_metal_devices(metal_standin: MetalStandIn, storage: str):
    """Every value is right, nothing is alive afterwards that was not before, neither in Metal nor of the driver."""
    metal_standin.reset(devices=2)
    with opened(0, storage) as zero, opened(1, storage) as one:
        run((zero, one), 4)
        settle(zero, one)
        before = settled(metal_standin), lasting_objects(zero, one)
        turns_done = run((zero, one), ROUNDS, SECONDS / 4)
        settle(zero, one)
        assert turns_done >= THREADS
        assert (settled(metal_standin), lasting_objects(zero, one)) == before
        for gpu in (zero, one):
            assert gpu.driver._temporaries.live_count == 0
    assert metal_standin.live() == {}
    assert own_threads() == []


def test_a_stream_is_destroyed_while_its_thread_works(metal_standin: MetalStandIn):
    """Collected work is done before a stream is gone, its thread ends by itself, and no queue or event is left."""
    with opened(0, "shared") as gpu:
        affine = gpu.kernel("m", "affine")
        x = gpu.array(np.zeros(33, np.uint32))
        for number in turns(12, SECONDS / 4):
            stream = gpu.create_stream()
            before = x.numpy()
            for step in range(BUSY_COUNT + 5 + number % 3):
                affine[2, 32, 0, stream](x, mg.u32(33), mg.u32(1), mg.u32(step))
            stream.close()
            total = sum(range(BUSY_COUNT + 5 + number % 3))
            assert np.array_equal(x.numpy(), before + np.uint32(total))
    assert metal_standin.live() == {}
    assert own_threads() == []


def close_under_threads(storage: str) -> None:
    gpu = opened(0, storage)
    started = threading.Barrier(THREADS + 1, timeout=60)

    def work(who: int) -> None:
        if who == THREADS:
            close()
            return
        affine = gpu.kernel("m", "affine")
        stream = gpu.create_stream() if who % 2 else gpu.default_stream()
        x = gpu.empty(40, "uint32")
        started.wait()
        with contextlib.suppress(HandleClosed):
            while True:
                affine[2, 32, 0, stream](x, mg.u32(40), mg.u32(1), mg.u32(1))
                gpu.empty(9, "uint32")
                if who == 3:
                    stream.synchronize()

    def close() -> None:
        started.wait()
        for _ in range(3):
            with contextlib.suppress(GpuError):
                gpu.synchronize()
        gpu.close()

    run_threads(work, THREADS + 1)


def test_closing_while_others_launch_on_metal(metal_standin: MetalStandIn):
    """Threads in the middle of launching are told that the backend closes; nothing of it is left, and nobody hangs."""
    for number in turns(3, SECONDS / 4):
        close_under_threads("shared" if number % 2 else "private")
        gc.collect()
        assert metal_standin.live() == {}
        assert own_threads() == []
