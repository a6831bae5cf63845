"""What many rounds leave behind, and what a launch costs when much is alive.

METRALE_METAL_ROUNDS says how many rounds of allocate, launch and free are made; a tenth of the backend's promise is the
default.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from programs_on_metal import LARGE_COUNT, MSL

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend

__all__ = ["metal_standin"]

PROMISED = 100_000
ROUNDS = int(os.environ.get("METRALE_METAL_ROUNDS", str(PROMISED // 10)))
WARM = 600
"""More than the launches and allocations that the engine keeps for its reports."""

PACKAGE = os.path.dirname(mg.__file__)


@contextmanager
def opened(storage: str = "shared") -> Iterator[GpuBackend]:
    with mg.open_backend("metal", storage=storage) as gpu:
        gpu.load_module("m", source={".metal": MSL})
        yield gpu


def blocks_of_python(standin: MetalStandIn) -> int:
    """Memory blocks of the interpreter, the stand-in's own record left out."""
    standin.clear_calls()
    for record in vars(standin.world).values():
        if isinstance(record, deque):
            record.clear()
    gc.collect()
    return sys.getallocatedblocks()


class Rounds:
    """One round after the other on one backend. Every 50th has a value that goes through a temporary buffer."""

    def __init__(self, gpu: GpuBackend) -> None:
        self.gpu, self.count = gpu, 0
        self.affine, self.add_large = gpu.kernel("m", "affine"), gpu.kernel("m", "add_large")

    def memory(self) -> None:
        """Allocate and free, a plain address and a buffer in turn."""
        self.count += 1
        nbytes = 4 * (1 + self.count % 37)
        if self.count % 2:
            self.gpu.free(self.gpu.alloc(nbytes))
        else:
            self.gpu.free(self.gpu.empty(nbytes // 4, mg.u32))

    def launch(self) -> None:
        """Allocate, launch and drop with the work still queued; wait every 100th time."""
        self.count += 1
        x = self.gpu.empty(2, mg.u32)
        self.affine[2, 1](x, mg.u32(2), mg.u32(3), mg.u32(self.count))
        if self.count % 50 == 0:
            value = np.full(LARGE_COUNT, self.count, np.uint32).tobytes()
            mg.KernelLaunch(self.gpu, self.add_large).arg_ptr(x).arg_bytes(value).arg_u32(2).launch()
        if self.count % 100 == 0:
            self.gpu.synchronize()

    def end(self) -> None:
        self.gpu.synchronize()
        # How many temporary buffers are kept depends on how far the GPU was each time.
        self.gpu._driver._temporaries.drain()


@pytest.mark.parametrize("storage", ["shared", "private"])
def test_rounds_of_memory_and_launches_end_as_they_began(metal_standin: MetalStandIn, storage: str):
    """Rounds of allocate and free, and of launch, leave retain counts, ledger and Python's memory as they were."""
    with opened(storage) as gpu:
        rounds = Rounds(gpu)
        for turn in (rounds.memory, rounds.launch):

            def many(count: int, turn: Callable[[], None] = turn) -> tuple[dict[str, list[int]], int, int]:
                for _ in range(count):
                    turn()
                rounds.end()
                return metal_standin.live_at_rest(), gpu.live_bytes(), gpu._driver._temporaries.live_count

            before = many(WARM)
            blocks = blocks_of_python(metal_standin)
            count = ROUNDS if storage == "shared" else ROUNDS // 10
            assert many(count) == before
            # Some come and go with the state of caches; one that stays for each tenth round is seen.
            assert blocks_of_python(metal_standin) - blocks < 1000 + count // 10, turn.__name__
    assert metal_standin.live() == {}


# ------------------------------------------------ many live buffers

FEW, MANY = 10, PROMISED


@contextmanager
def counted(calls: Counter[str]) -> Iterator[None]:
    """Counts the calls that the package makes on this thread, of Python's functions and of C's."""
    package = PACKAGE + os.sep

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(package):
            name = (
                frame.f_code.co_qualname
                if event == "call"
                else f"{argument.__qualname__} in {frame.f_code.co_qualname}"
            )
            calls[name] += 1

    gc.collect()
    gc.disable()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        gc.enable()


def forms(gpu: GpuBackend, x: mg.DeviceBuffer, table: mg.DeviceBuffer) -> dict[str, Callable[[], object]]:
    """Ways to launch, one for each way in which an address is found."""
    affine, through = gpu.kernel("m", "affine"), gpu.kernel("m", "through")
    values = (mg.u32(1), mg.u32(1), mg.u32(1))
    untracked = mg.DevicePtr(x.ptr.address + 4)
    prepared, other = affine[1, 1].prepare(x, *values), affine[1, 1].prepare(x, *values)
    return {
        "a buffer": lambda: affine[1, 1](x, *values),
        "an inner pointer": lambda: affine[1, 1](x.ptr + 8, *values),
        "an untracked inner address": lambda: affine[1, 1](untracked, *values),
        "prepared": prepared,
        "prepared, with other memory": lambda: other(untracked, *values),
        "with .uses": mg.KernelLaunch(gpu, through).arg_ptr(table).args(*values).uses(x.ptr + 4).launch,
    }


def cost(
    standin: MetalStandIn, gpu: GpuBackend, launch: Callable[[], object]
) -> tuple[list[tuple[str, str]], Counter[str]]:
    """(messages, calls) of one launch on an idle stream, those before it waited for."""
    # From the second one on the launch core makes it, which then has the shape as well.
    launch()
    launch()
    gpu.synchronize()
    standin.hold()
    standin.clear_calls()
    calls: Counter[str] = Counter()
    with counted(calls):
        launch()
    messages = standin.calls()
    standin.release()
    gpu.synchronize()
    return messages, calls


def test_a_launch_costs_the_same_with_many_live_buffers(metal_standin: MetalStandIn):
    """With 100,000 live buffers a launch sends the messages, and makes the calls, that it sends and makes with 10."""
    with opened() as gpu:
        x = gpu.array(np.arange(7, dtype=np.uint32))
        table = gpu.array(np.array([x.ptr.address], dtype=np.uint64))
        ways = forms(gpu, x, table)
        others = [gpu.alloc(4) for _ in range(FEW)]
        few = {name: cost(metal_standin, gpu, launch) for name, launch in ways.items()}
        others += [gpu.alloc(4) for _ in range(MANY - FEW)]
        assert len(metal_standin.live()["MTLBuffer"]) > MANY
        many = {name: cost(metal_standin, gpu, launch) for name, launch in ways.items()}
        for name, (messages, calls) in few.items():
            assert ("MTLComputeCommandEncoder", "dispatchThreadgroups:threadsPerThreadgroup:") in messages
            assert sum(calls.values()) > 10
            assert many[name] == (messages, calls), name
        used = [selector for _, selector in many["with .uses"][0]].count("useResource:usage:")
        assert used == 1
        assert threading.active_count() < 10
