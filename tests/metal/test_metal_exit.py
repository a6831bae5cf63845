"""How a process ends that has Metal open, whatever is queued, failed or held.

METRALE_EXIT_RUNS=50 is the full proof: so many children for each way.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from metal_standin.control import MetalStandIn
from metal_standin.control import environment as environment_with
from metal_standin.fixtures import metal_standin
from programs_on_metal import MSL

import metrale_gpu_runtime as mg
from metrale_gpu_runtime import backend
from metrale_gpu_runtime.drivers.metal.streams import BUSY_COUNT, MAX_IN_FLIGHT, MAX_OPERATIONS
from metrale_gpu_runtime.testing import run_isolated

__all__ = ["metal_standin"]

RUNS = int(os.environ.get("METRALE_EXIT_RUNS", "0"))
WAYS = (
    "queued",
    "collected",
    "held",
    "held and collected",
    "waiting for what is held",
    "failed",
    "failed and collected",
    "capturing",
    "closed",
    "a thread launches",
    "a thread launches what is held",
    "raising",
)


class Node:
    """One of two that hold each other and everything else."""


def end_with_metal_open(way: str, storage: str) -> None:
    """In a child: everything alive in the module's globals and in a cycle, the GPU in the state that `way` names."""
    global kept
    from metal_standin.control import standin

    gpu = mg.open_backend("metal", storage=storage)
    affine = gpu.load_module("m", source={".metal": MSL})["affine"]
    x = gpu.array(np.arange(33, dtype=np.uint32))
    stream, other = gpu.create_stream(), gpu.create_stream()
    read = np.zeros(33, np.uint32)
    args = (x, mg.u32(33), mg.u32(3), mg.u32(1))
    if "held" in way:
        backend.LONGEST_EXIT_S = 0.3
        standin.hold()
    count = BUSY_COUNT + 5 if "collected" in way else 1
    if way.startswith("failed"):
        standin.fail_next("command buffer", 3)
    event = gpu.create_event()
    # A call that finds the fault already raises it; the rest is left as it is then.
    with suppress(mg.KernelFault):
        for _ in range(count):
            affine[2, 32, 0, stream](*args)
        gpu.copy_d2h_async(x, read, stream)
        event.record(stream)
    if way == "waiting for what is held":
        other.wait_event(event)
        affine[2, 32, 0, other](*args)
        event = other.record_event()
    if way == "capturing":
        gpu.begin_capture(other)
        affine[2, 32, 0, other](*args)
    one, two = Node(), Node()
    one.other, two.other = two, one
    one.kept = [gpu, affine, x, stream, other, event, read, affine[2, 32].prepare(*args), gpu.alloc(55)]
    two.kept = gpu.alloc_host_pinned(66)
    kept = [one, gpu]
    if way == "closed":
        gpu.close()
    if way.startswith("a thread"):

        def work() -> None:
            with suppress(mg.GpuError):
                for _ in range(MAX_OPERATIONS * MAX_IN_FLIGHT * 4):
                    affine[2, 32, 0, other](*args)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(0.02)
    if way == "raising":
        raise ValueError("the user's own")


@pytest.mark.parametrize("way", WAYS)
def test_a_process_with_metal_ends_quietly(metal_standin: MetalStandIn, way: str):
    """Exit code 0 and an empty stderr in every state, also when the GPU never comes to an end; a user's exception is
    told alone."""
    environment = environment_with()

    def ended(number: int) -> tuple[int, list[str]]:
        result = run_isolated(
            "test_metal_exit:end_with_metal_open",
            way,
            "private" if number % 2 else "shared",
            environment=environment,
            timeout_s=60,
        )
        return result.exit_code, result.stderr.splitlines()

    with ThreadPoolExecutor(2) as pool:
        for number, (code, lines) in enumerate(pool.map(ended, range(RUNS or 1))):
            if way == "raising":
                assert (code, lines[0], lines[-1]) == (
                    1,
                    "Traceback (most recent call last):",
                    "ValueError: the user's own",
                ), (number, lines)
                assert all(line.startswith(" ") for line in lines[1:-1]), (number, lines)
            else:
                assert (code, lines) == (0, []), number
