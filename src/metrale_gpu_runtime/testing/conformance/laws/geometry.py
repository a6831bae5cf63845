"""Grid, block and shared memory against the limits of device and kernel; what an empty launch means."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from ....backend import GpuBackend
from ....buffers import DeviceBuffer
from ....errors import ArgumentCountError, GeometryError, LimitExceeded
from ....geometry import Dim3, Extent
from ....kernel import Kernel
from ....launch import KernelLaunch
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


def _all_places(grid: tuple[int, int, int], block: tuple[int, int, int]) -> list[list[int]]:
    """What `whereabouts` writes: block and thread of every thread, x fastest."""

    def walk(extent: tuple[int, int, int]) -> list[tuple[int, ...]]:
        return [place[::-1] for place in itertools.product(*(range(size) for size in reversed(extent)))]

    return [[*b, *t] for b in walk(grid) for t in walk(block)]


def _where(gpu: GpuBackend, kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int]) -> list[list[int]]:
    count = int(np.prod(grid) * np.prod(block))
    out = gpu.array(np.full((count + 1, 6), 77, dtype=np.uint32))
    kernel[grid, block](out.ptr)
    rows: list[list[int]] = out.numpy().tolist()
    assert rows[-1] == [77] * 6, "a thread too many ran"
    return rows[:-1]


def _launch(kernel: Kernel, grid: Extent, block: Extent, out: DeviceBuffer) -> None:
    kernel[grid, block](out.ptr)


def _build(gpu: GpuBackend, kernel: Kernel, grid: Extent, block: Extent, out: DeviceBuffer) -> None:
    KernelLaunch(gpu, kernel).arg_ptr(out.ptr).grid(grid).block(block).launch()


@case(invariants=(4,))
def every_thread_of_every_block_runs_once(target: ConformanceTarget) -> None:
    """All threads of all blocks of a three-dimensional launch run, each knowing its own place."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "whereabouts")
        for grid, block in (((3, 2, 2), (5, 3, 2)), ((7, 1, 1), (33, 1, 1)), ((1, 1, 3), (1, 2, 3))):
            assert _where(gpu, kernel, grid, block) == _all_places(grid, block), f"grid {grid}, block {block}"


@case(invariants=(4,))
def geometry_defaults_to_one(target: ConformanceTarget) -> None:
    """A launch without grid and block is one block of one thread with no shared memory."""
    with target.opened() as gpu:
        out = gpu.array(np.full((2, 6), 77, dtype=np.uint32))
        KernelLaunch(gpu, target.kernel(gpu, "whereabouts")).arg_ptr(out.ptr).launch()
        assert out.numpy().tolist() == [[0] * 6, [77] * 6]


@case(invariants=(4,), field=(30,))
def extents_take_any_integer(target: ConformanceTarget) -> None:
    """A grid and block may be NumPy integers, tuples of one to three, or Dim3; a float or bool is refused."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "whereabouts")
        for grid, block in ((np.int64(3), (np.uint8(2),)), (Dim3(3), [2, 1]), ((3, 1, 1), np.array([2, 1, 1]))):
            out = gpu.array(np.full((7, 6), 77, dtype=np.uint32))
            kernel[grid, block if not isinstance(block, np.ndarray) else tuple(block)](out.ptr)
            assert out.numpy()[:-1].tolist() == _all_places((3, 1, 1), (2, 1, 1))
        for wrong in (3.0, True, "3", (1, 2, 3, 4), ()):
            refused(target, gpu, partial(kernel.__getitem__, (wrong, 2)), GeometryError)
            refused(target, gpu, partial(kernel.__getitem__, (2, wrong)), GeometryError)


@case(invariants=(4,), field=(21,))
def an_empty_grid_is_a_checked_no_op(target: ConformanceTarget) -> None:
    """A zero in the grid launches nothing but is checked like any launch, prepared and recorded ones too."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        host = np.array([3, 5], dtype=np.uint32)
        values = gpu.array(host)
        arguments = (values.ptr, np.uint32(2), np.uint32(10), np.uint32(7))
        # The kernel is made ready at its first launch, be it empty.
        kernel[0, 2](*arguments)
        for grid in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
            with target.no_launch(gpu):
                kernel[grid, 2](*arguments)
                refused(target, gpu, partial(kernel[grid, 2], *arguments[:2]), ArgumentCountError)
                kernel[grid, 2].prepare(*arguments)()
                with gpu.sequence() as step:
                    kernel[grid, 2](*arguments)
                step()
        gpu.synchronize()
        np.testing.assert_array_equal(values.numpy(), host)


@case(invariants=(4,), field=(21,))
def an_empty_block_and_negative_extents_raise(target: ConformanceTarget) -> None:
    """A block with a zero, and any negative extent, raise and name the axis, the empty grid notwithstanding."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "whereabouts")
        out = gpu.empty((7, 6), np.uint32)
        for grid, block, axis in (
            ((1, 1, 1), (0, 1, 1), "x"),
            ((1, 1, 1), (1, 0, 1), "y"),
            ((0, 1, 1), (1, 1, 0), "z"),
            ((1, -1, 1), (1, 1, 1), "y"),
            ((1, 1, 1), (1, 1, -2), "z"),
        ):
            error = refused(target, gpu, partial(_launch, kernel, grid, block, out), GeometryError)
            assert error.axis == axis
            refused(target, gpu, partial(_build, gpu, kernel, grid, block, out), GeometryError)


@case(invariants=(4,), field=(10, 24, 38))
def a_grid_over_the_limit_is_refused(target: ConformanceTarget) -> None:
    """A grid extent over the device's limit, past 32 bits too, names axis, value, limit and device; nothing wraps."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "whereabouts")
        out = gpu.empty((7, 6), np.uint32)
        device = gpu.capabilities.device
        for axis, name in enumerate("xyz"):
            limit = gpu.capabilities.max_grid[axis]
            for asked in (limit + 1, 2**32, 2**32 + 1, 2**40 + 3):
                if asked <= limit:
                    continue
                grid = [1, 1, 1]
                grid[axis] = asked
                error = refused(target, gpu, partial(_launch, kernel, grid, 2, out), LimitExceeded)
                assert (error.axis, error.asked, error.limit, error.device) == (name, asked, limit, device)
                assert str(limit) in str(error)
        total = gpu.capabilities.max_threads_per_launch
        if total is not None:
            refused(target, gpu, lambda: kernel[total // 64 + 1, 64](out.ptr), LimitExceeded)


@case(invariants=(4,), field=(24, 38))
def a_block_over_the_limit_is_refused(target: ConformanceTarget) -> None:
    """A block over the device's limit along an axis or in all is refused with the numbers."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "whereabouts")
        out = gpu.empty((7, 6), np.uint32)
        limits = gpu.capabilities.max_block
        for axis, name in enumerate("xyz"):
            block = [1, 1, 1]
            block[axis] = limits[axis] + 1
            error = refused(target, gpu, partial(_launch, kernel, 1, block, out), LimitExceeded)
            assert (error.axis, error.asked, error.limit) == (name, limits[axis] + 1, limits[axis])
        most = gpu.capabilities.max_threads_per_block
        if most < limits[0] * limits[1]:
            rows = most // limits[0] + 1
            error = refused(target, gpu, lambda: kernel[1, (limits[0], rows)](out.ptr), LimitExceeded)
            assert (error.asked, error.limit) == (limits[0] * rows, most)


@case(invariants=(4,), field=(25,))
def a_block_over_the_kernels_own_limit_is_refused(target: ConformanceTarget) -> None:
    """A kernel compiled for at most 64 threads runs with 64 and refuses 65, naming 64."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "at_most_64")
        out = gpu.array(np.zeros(193, dtype=np.uint32))
        kernel[3, 64](out.ptr)
        assert out.numpy().tolist() == [*range(7, 199), 0]
        if kernel.attributes.required_block is not None:
            # Its language has no words for a limit, only for the one block that it takes.
            refused(target, gpu, lambda: kernel[3, 65](out.ptr), GeometryError, says=("65", "(64, 1, 1)"))
            return
        error = refused(target, gpu, lambda: kernel[3, 65](out.ptr), LimitExceeded)
        assert (error.asked, error.limit) == (65, 64)


@case(invariants=(4,))
def dynamic_shared_memory_reaches_the_block(target: ConformanceTarget) -> None:
    """Each block has the shared memory it was launched with, its own; more than the device has is refused."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "reverse_blocks")
        host = np.arange(3 * 37, dtype=np.uint32)
        values = gpu.array(host)
        kernel[3, 37, 37 * 4](values.ptr)
        np.testing.assert_array_equal(values.numpy(), host.reshape(3, 37)[:, ::-1].reshape(-1))
        limit = gpu.capabilities.max_static_and_dynamic_shared_mem
        error = refused(target, gpu, lambda: kernel[3, 37, limit + 1](values.ptr), LimitExceeded)
        assert error.limit == limit
        for wrong in (-1, 1.5, True):
            refused(target, gpu, partial(kernel.__getitem__, (3, 37, wrong)), GeometryError)


@case(invariants=(4,), field=(31,))
def over_rounds_the_grid_up(target: ConformanceTarget) -> None:
    """`kernel.over(total, block)` covers every element though the block does not divide the total."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "affine")
        values = gpu.array(np.arange(1001, dtype=np.uint32))
        launch = kernel.over(1000, 128)
        assert launch.grid == Dim3(8)
        launch(values.ptr, np.uint32(1000), np.uint32(3), np.uint32(1))
        assert values.numpy().tolist() == [3 * i + 1 for i in range(1000)] + [1000]
