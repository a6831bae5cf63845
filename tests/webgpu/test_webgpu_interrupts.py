"""Ctrl-C may come between any two steps of the interpreter: what was launched before runs all the same, and once."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from webgpu_room import gpu

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.drivers.webgpu import streams
from metrale_gpu_runtime.drivers.webgpu.pace import Pace

__all__ = ["gpu"]

ADD = """
@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@group(0) @binding(1) var<uniform> more: u32;
@compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3u) { sums[id.x] += more; }
"""
ROOMS = ("bindings.py", "streams.py", "values.py", "readback.py")


def interrupted(place: int, action: Callable[[], object]) -> bool:
    """Do it, and raise KeyboardInterrupt behind call number `place` of those in ROOMS; whether it came so far.

    The interpreter looks for signals behind calls, before it stores what they returned; never between a lock's being
    taken and the block that gives it back.
    """
    steps = -1
    last: dict[FrameType, str] = {}

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal steps
        code = frame.f_code
        if "webgpu" not in code.co_filename or not code.co_filename.endswith(ROOMS):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps += last.get(frame, "").startswith("CALL")
            if steps == place:
                raise KeyboardInterrupt
            last[frame] = dis.opname[code.co_code[frame.f_lasti]]
        return trace

    before = sys.gettrace()
    # Python 3.12 has steps traced only if some frame asked for it when the trace function was set.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_loses_no_launch_that_returned(gpu: GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a launch is interrupted that submits what was collected, the launches before it run once, itself at most
    once, and those behind it as ever."""
    monkeypatch.setattr(streams, "BUSY_COUNT", 0)
    monkeypatch.setattr(streams, "MAX_OPERATIONS", 3)
    monkeypatch.setattr(Pace, "is_free", lambda self: False)
    monkeypatch.setattr(Pace, "watch", lambda self, stream: None)
    add = gpu.load_module("adding", source={".wgsl": ADD})["add"][3, 64]
    place, came = 0, True
    while came:
        sums = gpu.array(np.zeros(192, np.uint32))
        gpu.synchronize()
        add(sums, 1 + place)
        add(sums, 2000)
        came = interrupted(place, lambda sums=sums: add(sums, 30000))  # type: ignore[misc]
        add(sums, 400000)
        found = sums.numpy()
        assert (found == found[0]).all(), place
        assert found[0] in (402001 + place, 432001 + place), place
        place += 1
    assert found[0] == 432000 + place
    assert place > 20


def test_an_interrupted_wait_for_a_copy_can_be_taken_up(gpu: GpuBackend) -> None:
    """Wherever a wait for a copy to the host is interrupted, the next wait brings all that was copied, and no error."""
    numbers = np.arange(700, dtype=np.uint32)
    place, came = 0, True
    while came:
        x, read = gpu.array(numbers + place), np.zeros(700, np.uint32)
        gpu.copy_d2h_async(x, read)
        came = interrupted(place, gpu.synchronize)
        gpu.synchronize()
        np.testing.assert_array_equal(read, numbers + place)
        np.testing.assert_array_equal(x.numpy(), numbers + place)
        place += 1
    assert place > 20
