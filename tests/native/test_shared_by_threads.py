"""Threads that share what nobody should have to keep apart, and what should be: refused or done, never anything else."""

from __future__ import annotations

import gc
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from native_process import in_native_process
from test_native_hazards import IS_BUILT, _forms, _world

pytestmark = pytest.mark.skipif(not IS_BUILT, reason="the native core is not built here")


class Shared:
    """One of each: a builder, a prepared launch and a sequence with slots, and memory, which any thread replaces."""

    def __init__(self, world: Any) -> None:
        self.world, self.gpu, self.kernel, self.x = world, world.gpu, world.kernels["scale"], world.buffers[0]
        self.forms = list(_forms(world).values())
        self.renew(random.Random())

    def renew(self, _: random.Random) -> None:
        import metrale_gpu_runtime as mg

        self.builder = mg.KernelLaunch(self.gpu, self.kernel).grid(3).block(32).arg_ptr(self.x)
        self.prepared = self.kernel[3, 32].prepare(mg.slot("out"), mg.slot("count"), 0.5)
        with self.gpu.sequence() as self.sequence:
            for _ in range(3):
                self.kernel[3, 32](self.x, mg.slot("count"), 0.5)
            self.kernel[3, 32](mg.slot("out"), 3, 0.5)
        self.buffer = self.gpu.buffer(4096)

    def turns(self) -> list[Callable[[random.Random], object]]:
        import metrale_gpu_runtime as mg

        def some(each: random.Random) -> Any:
            return each.choice([self.x, self.buffer])

        def on_a_new_stream(_: random.Random) -> None:
            with self.gpu.create_stream() as stream:
                self.kernel[3, 32, 0, stream](self.buffer, 1, 0.5)

        return [
            lambda each: self.builder.arg_u32(each.randrange(9)),
            lambda each: self.builder.arg_f32(0.5),
            lambda each: self.builder.arg(some(each)),
            lambda each: self.builder.launch(),
            lambda each: self.prepared(out=some(each), count=each.randrange(100)),
            lambda each: self.prepared(),
            lambda each: self.sequence(out=some(each), count=each.randrange(100)),
            lambda each: self.sequence.close() if each.random() < 0.05 else self.sequence(),
            lambda each: self.buffer.free() if each.random() < 0.3 else self.renew(each),
            lambda each: [str(launch) for launch in list(self.gpu._default_lane.ring)[-2:]],
            lambda each: self.kernel[3, 32](some(each), each.choice([1, mg.u32(3)]), each.choice([0.5, mg.f32(1.5)])),
            lambda each: each.choice(self.forms)(each.randrange(50)),
            lambda each: self.gpu.synchronize(),
            on_a_new_stream,
        ]


def share(kind: str, turns: int, seed: int) -> list[str]:
    """What was raised that is no refusal."""
    import metrale_gpu_runtime as mg

    world = _world(kind)
    shared = Shared(world)
    wrong: list[str] = []
    stop = threading.Event()

    def work(number: int) -> None:
        each, possible = random.Random(seed * 100 + number), shared.turns()
        for _ in range(turns):
            try:
                each.choice(possible)(each)
            except (mg.GpuError, TypeError):
                pass  # refused
            except BaseException as error:
                if "described by one thread at a time" not in str(error):
                    wrong.append(repr(error))

    def collect() -> None:
        while not stop.wait(0.01):
            gc.collect()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    collector = threading.Thread(target=collect)
    for thread in (collector, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    collector.join()
    sys.setswitchinterval(interval)
    world.gpu.synchronize()
    world.close()
    return wrong


@pytest.mark.parametrize("kind", ["cuda", "mock", "cpu", "addresses", "memory-objects"])
def test_what_threads_share_is_launched_or_refused(kind: str) -> None:
    """Four threads describe, launch, set, close and free the same objects while the collector runs: all is done or refused."""
    assert in_native_process("test_shared_by_threads", "share", kind, 400, 1) == []
