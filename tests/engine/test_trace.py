"""Traces: everything queued, with arguments and place; as JSON; compared by alignment."""

from __future__ import annotations

import json

import numpy as np
import pytest

from metrale_gpu_runtime import KernelLaunch, Trace, difference, u32
from metrale_gpu_runtime.errors import DriverError
from metrale_gpu_runtime.testing import FaultPlan, MockGpuBackend, Refusal


@pytest.fixture
def gpu():
    with MockGpuBackend() as gpu:
        yield gpu


def run(gpu, values, count=3, extra=False):
    kernel = gpu.kernel("m", "scale")
    with gpu.trace() as trace:
        gpu.memset_async(values, 0, 8)
        if extra:
            gpu.kernel("m", "extra")[1, 1]()
        kernel[2, 64](values, u32(count))
        gpu.copy_d2d_async(values.ptr, values.ptr + 8, 4)
    return trace


def test_a_trace_has_every_operation_in_order(gpu):
    """Launches, copies and fills are listed with stream, geometry, arguments, bytes, site and range."""
    values = gpu.array(np.zeros(4, np.float32))
    with gpu.trace() as trace, gpu.range("step"), gpu.range("norm"):
        KernelLaunch(gpu, gpu.kernel("m", "scale")).grid((2, 3)).block(64).shared_mem(48).arg_ptr(values).arg_u32(
            7
        ).launch()
        gpu.copy_d2h(values, bytearray(16))
    gpu.kernel("m", "unseen")[1, 1]()
    launch, copy = trace
    assert (launch.kernel, launch.module, launch.grid, launch.block, launch.shared_mem) == (
        "scale", "m", (2, 3, 1), (64, 1, 1), 48,
    )  # fmt: skip
    assert launch.arguments == f"ptr {values.address:#x}, u32 7"
    assert launch.image == values.address.to_bytes(8, "little").hex() + "07000000"
    assert launch.site.startswith(f"{__file__}:")
    assert (launch.range, launch.outcome) == ("step/norm", "queued")
    assert (copy.kind, copy.nbytes, copy.detail) == ("copy_d2h", 16, "copy_d2h of 16 bytes")
    assert trace.launches == [launch]


def test_empty_and_rejected_launches_are_told_apart(gpu):
    """A launch with an empty grid is "empty", one that the driver refuses is "rejected"; neither is "queued"."""
    kernel = gpu.kernel("m", "k")
    gpu.inject(FaultPlan().fail("launch", nth=2, failure=Refusal()))
    with gpu.trace() as trace:
        kernel[0, 1]()
        kernel[1, 1]()
        with pytest.raises(DriverError):
            kernel[2, 1]()
    assert [each.outcome for each in trace] == ["empty", "queued", "rejected"]
    assert gpu.launch_count == 1


def test_a_trace_survives_json(gpu):
    """to_json and from_json give the same trace; other text is refused."""
    trace = run(gpu, gpu.buffer(16))
    assert Trace.from_json(trace.to_json()) == trace
    assert json.loads(trace.to_json())["backend"] == "mock"
    for text in ("{}", "[]", "nonsense", trace.to_json().replace('"format": 1', '"format": 99')):
        with pytest.raises(ValueError, match=r"trace|JSON|Expecting"):
            Trace.from_json(text)


def test_several_traces_at_once(gpu):
    """Traces nest and overlap; each has what was queued while it was on."""
    kernel = gpu.kernel("m", "k")
    with gpu.trace() as outer:
        kernel[1, 1]()
        with gpu.trace() as inner:
            kernel[2, 1]()
        kernel[3, 1]()
    assert [each.grid[0] for each in outer] == [1, 2, 3]
    assert [each.grid[0] for each in inner] == [2]


def test_the_same_program_has_no_differences(gpu):
    """Two runs of one program differ in nothing, although ordinals and lines do."""
    values = gpu.buffer(16)
    assert difference(run(gpu, values), run(gpu, values)) == []


def test_a_changed_argument_is_one_change(gpu):
    """A changed value shows as the one changed operation, with both texts."""
    values = gpu.buffer(16)
    (change,) = difference(run(gpu, values, 3), run(gpu, values, 5))
    assert set(change.changed) == {"arguments", "image"}
    assert (change.before_index, change.after_index) == (1, 1)
    assert "u32 3" in str(change)
    assert "u32 5" in str(change)


def test_an_operation_more_moves_nothing(gpu):
    """An inserted launch is one addition; what follows it stays aligned; the other way it is one removal."""
    values = gpu.buffer(16)
    less, more = run(gpu, values), run(gpu, values, extra=True)
    (added,) = difference(less, more)
    assert (added.before, added.after.kernel, added.after_index) == (None, "extra", 1)
    (removed,) = difference(more, less)
    assert (removed.before.kernel, removed.after, removed.before_index) == ("extra", None, 1)
    assert str(added).startswith("+ 1: extra")
    assert str(removed).startswith("- 1: extra")
