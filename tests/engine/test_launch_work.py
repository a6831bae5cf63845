"""What a launch in Python does not do again: shapes, descriptions, records and words are made once, and still checked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest
from scale_add_room import gpu, kernel

import metrale_gpu_runtime as mg
from metrale_gpu_runtime import checked
from metrale_gpu_runtime.drivers.mock.log import Launch
from metrale_gpu_runtime.errors import ArgumentKindError, GeometryError, HandleClosed, InvalidPointer
from metrale_gpu_runtime.testing import MockGpuBackend

__all__ = ["gpu", "kernel"]


def checked_launch(kernel: mg.Kernel, *values: object) -> checked.CheckedLaunch:
    # The tuple is a new one each time, as that of a program that works its grid out is.
    configured = kernel[tuple([3, 33])]
    return kernel.checked_launch(configured.geometry, configured._grid_slots, values, {}, "here")


def calls_of(work: Callable[[], object]) -> int:
    """How many Python functions it calls."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_launches_share_shape_and_descriptions(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """Two launches of one shape with other values of the same types have the very same shape and descriptions."""
    x, y = gpu.empty(70, mg.f32), gpu.empty(71, mg.f32)
    one, other = checked_launch(kernel, x, y, 70, 1.5), checked_launch(kernel, y, x.ptr, np.uint32(3), mg.f32(2))
    third = checked_launch(kernel, y, x, mg.u32(9), 4)
    assert one.geometry is other.geometry is third.geometry
    assert one.image != third.image
    for index in range(4):
        assert one.descriptions[index] is third.descriptions[index]
    assert other.descriptions[0] is one.descriptions[0]
    # A bare pointer says nothing of its elements.
    assert [each.element for each in other.descriptions[:2]] == [mg.f32, None]
    assert other.descriptions[2] is one.descriptions[2]


def test_the_builder_shares_them_too(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """The builder and `kernel[…]` make launches of the same shape object where that is spelled in full."""
    x = gpu.empty(70, mg.f32)

    def built() -> checked.CheckedLaunch:
        return mg.KernelLaunch(gpu, kernel).grid(3).block((33, 1)).arg_ptr(x).arg_ptr(x).arg_u32(1).arg_f32(2).check()

    one, other = built(), built()
    assert one is not other
    assert one.geometry is other.geometry
    assert one.geometry is checked_launch(kernel, x, x, 1, 2.0).geometry
    assert all(a is b for a, b in zip(one.descriptions, other.descriptions, strict=True))


@pytest.mark.parametrize("grid", [True, 1.0, np.bool_(True), [True], (True,), (1, 1.0)], ids=repr)
def test_what_equals_a_known_shape_is_still_checked(kernel: mg.Kernel, grid: object) -> None:
    """`kernel[1, 33]` is known, and what compares equal to 1 without being a count is refused as ever."""
    for known in ((1, 33), ((1,), 33), ((1, 1), 33)):
        assert kernel[known].grid == mg.Dim3(1)
        assert kernel[known].grid == mg.Dim3(1)
    with pytest.raises(GeometryError, match="grid"):
        kernel[grid, 33]
    with pytest.raises(GeometryError, match="block"):
        kernel[1, grid]
    with pytest.raises(GeometryError, match="shared_mem"):
        kernel[1, 33, grid]


def test_a_list_in_a_known_key_is_read_each_time(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """A key may hold a list that changes: the shape is that of the moment it is given."""
    extents = [2]
    key = (extents, 33)
    assert kernel[key].grid == mg.Dim3(2)
    extents[0] = 5
    assert kernel[key].grid == mg.Dim3(5)
    assert kernel[key].grid == mg.Dim3(5)


def test_a_shape_does_not_remember_its_stream(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """The same shape on two streams and on none goes to the stream that is given with it."""
    x, stream = gpu.empty(70, mg.f32), gpu.create_stream()
    for given in (None, stream, None):
        key = (3, 33, 0, given)
        for _ in range(2):
            kernel[key](x, x, 70, 1.5)
    used = [each.stream for each in gpu.log.of(Launch)]
    assert used == [used[0]] * 2 + [stream.handle] * 2 + [used[0]] * 2
    assert used[0] != stream.handle


def test_one_record_does_for_calls_that_change_nothing(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """Calls from one line share their record; another line has its own; freed memory is found at the next call."""
    x, y = gpu.empty(70, mg.f32), gpu.empty(70, mg.f32)
    launch = checked_launch(kernel, x, y, 70, 1.5)
    record = launch.bind()
    assert launch.bind() is record
    other = launch.bind(site="there")
    assert (other.site, other.image) == ("there", record.image)
    y.free()
    for site in ("here", "there"):
        with pytest.raises(InvalidPointer, match=r"scale_add: argument 1 \(y\).*freed"):
            launch.bind(site=site)


def test_a_record_is_of_no_use_once_its_module_is_gone(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """A launch that was recorded before its module was unloaded is refused, however often it was made."""
    x = gpu.empty(70, mg.f32)
    launch = checked_launch(kernel, x, x, 70, 1.5)
    assert launch.bind() is launch.bind()
    gpu.unload_module("m")
    with pytest.raises(HandleClosed, match="unloaded"):
        launch.bind()


def test_a_prepared_launch_takes_what_fits_and_no_other(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """Values of the prepared types need no further check, and those of others have theirs."""
    x, y = gpu.empty(70, mg.f32), gpu.empty(70, mg.f32)
    prepared = kernel[3, 33].prepare(x, y, 70, 1.5)
    with gpu.debug_sync():  # in Python on either core
        prepared(y, x, 71, 2)
        prepared(y.ptr, x, mg.u32(72), 2.5)
        for values in ((gpu.empty(70, mg.i32), y, 1, 1.0), (x, y, mg.i32(1), 1.0), (x, y, 1.0, 1.0), (x, 5, 1, 1.0)):
            with pytest.raises((ArgumentKindError, mg.ElementTypeError)):
                prepared(*values)
    assert gpu.launch_count == 2


def test_a_trace_finds_words_when_it_is_read(
    gpu: MockGpuBackend, kernel: mg.Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No argument is put into words while the program runs; read later, they say what was launched, in order."""
    described = []
    plain = checked.describe
    monkeypatch.setattr(checked, "describe", lambda *given: described.append(given) or plain(*given))
    x = gpu.empty(70, mg.f32)
    address = x.address
    with gpu.trace() as trace:
        kernel[3, 33](x, x, 70, 1.5)
        gpu.memset_async(x, 0, 8)
        kernel[4, 33](x, x, 71, 0.25)
        assert described == []
        assert len(trace) == 3
        assert len(described) == 8
        kernel[5, 33](x, x, 72, 2.0)
    gpu.synchronize()
    x.free()
    shown = [each.arguments for each in trace]
    assert len(described) == 12
    assert shown == [
        f"x=ptr {address:#x}, y=ptr {address:#x}, count=u32 70, factor=f32 1.5",
        "",
        f"x=ptr {address:#x}, y=ptr {address:#x}, count=u32 71, factor=f32 0.25",
        f"x=ptr {address:#x}, y=ptr {address:#x}, count=u32 72, factor=f32 2.0",
    ]
    assert [each.grid and each.grid[0] for each in trace] == [3, None, 4, 5]


def test_a_trace_keeps_no_memory(gpu: MockGpuBackend, kernel: mg.Kernel) -> None:
    """Launches that nobody has read yet hold nothing: what they named goes when its owner drops it."""
    with gpu.trace() as trace:
        kernel[3, 33](gpu.empty(70, mg.f32), gpu.empty(70, mg.f32), 70, 1.5)
    gpu.synchronize()
    assert gpu.live_alloc_count() == 0
    assert len(trace) == 1


def test_an_argument_more_is_few_calls_more(gpu: MockGpuBackend) -> None:
    """Twelve more arguments cost at most nine Python calls each: nothing is worked out anew for each of them."""
    x = gpu.empty(70, mg.f32)

    def work_of(pairs: int) -> int:
        declared = ", ".join(f"float* p{at}, unsigned int n{at}" for at in range(pairs))
        kernel = gpu.kernel("m", f"k{pairs}", signature=declared)
        values = [value for at in range(pairs) for value in (x, at)]
        checked_launch(kernel, *values).bind()
        return calls_of(lambda: checked_launch(kernel, *values).bind())

    assert work_of(8) - work_of(2) <= 12 * 9


class bool_:
    """A truth value as NumPy 2.0 to 2.2 have it: it passes for an index."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __index__(self) -> int:
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        return self.value == other

    __hash__ = None  # type: ignore[assignment]


def test_a_truth_value_of_numpy_is_no_number_anywhere(gpu: mg.GpuBackend, kernel: mg.Kernel) -> None:
    """Whatever takes a count, an address or a size refuses NumPy's bool as it does Python's, in every version of NumPy."""
    x = gpu.empty(8, mg.f32)
    for true in (bool_(True), np.True_, True):
        for take in (
            lambda true=true: kernel[true, 32],
            lambda true=true: kernel[1, 32, true],
            lambda true=true: kernel.over(true),
            lambda true=true: gpu.buffer(true),
            lambda true=true: gpu.empty(true, mg.f32),
            lambda true=true: gpu.empty((2, true), mg.f32),
            lambda true=true: gpu.memset(x, true, 8),
            lambda true=true: gpu.memset(x, 1, true),
            lambda true=true: gpu.memset(x, 1, 8, width=true),
            lambda true=true: gpu.memset_async(x, 1, 8, stream=true),
            lambda true=true: x[true],
            lambda true=true: mg.DevicePtr(true),
            lambda true=true: x.ptr + true,
            lambda true=true: mg.threads(100, true),
            lambda true=true: mg.div_ceil(true, 2),
            lambda true=true: mg.open_backend("mock", redzone=true),
        ):
            with pytest.raises((TypeError, ValueError, mg.GpuError)):
                take()
