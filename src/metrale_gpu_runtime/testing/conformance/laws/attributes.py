"""What a launch asks of its neighbours and of the whole device: attributes, cooperation, clusters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ....backend import GpuBackend
from ....buffers import DeviceBuffer
from ....errors import GeometryError, LimitExceeded
from ....geometry import Extent
from ....kernel import ConfiguredKernel, Kernel
from ....launch import KernelLaunch
from ....scalars import u32
from ....slots import slot
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget

Change = Callable[[KernelLaunch | ConfiguredKernel], object]


def _programmatic(launch: KernelLaunch | ConfiguredKernel) -> object:
    return launch.programmatic()


def _prioritised(priority: int, launch: KernelLaunch | ConfiguredKernel) -> object:
    return launch.priority(priority)


def _in_domain(domain: str, launch: KernelLaunch | ConfiguredKernel) -> object:
    return launch.memory_sync_domain(domain)


def _clustered(kernel: Kernel, grid: Extent, cluster: Extent) -> ConfiguredKernel:
    return kernel[grid, 2].cluster(cluster)


def _values(gpu: GpuBackend) -> DeviceBuffer:
    return gpu.array(np.arange(5, 12, dtype=np.uint32))


def _runs_with(target: ConformanceTarget, gpu: GpuBackend, change: Change, text: str) -> None:
    """The launch runs in every form, as it does without, and the trace names what was asked for."""
    kernel, values = target.kernel(gpu, "affine"), _values(gpu)
    with gpu.trace() as trace:
        builder = KernelLaunch(gpu, kernel).grid(2).block(4).arg_ptr(values).arg_u32(7).arg_u32(3).arg_u32(1)
        change(builder)
        builder.launch()
        configured = change(kernel[2, 4])
        assert isinstance(configured, ConfiguredKernel)
        configured(values, u32(7), u32(3), u32(2))
        prepared = configured.prepare(values, u32(7), u32(3), slot("addend", u32))
        prepared(addend=4)
        with gpu.sequence() as step:
            configured(values, u32(7), u32(3), u32(5))
        step()
        kernel[2, 4](values, u32(7), u32(1), u32(6))
    assert values.numpy().tolist() == [81 * i + 27 * 1 + 9 * 2 + 3 * 4 + 5 + 6 for i in range(5, 12)]
    assert [each.extras for each in trace.launches] == [text] * 4 + [""]


@case(invariants=(7,), needs=("programmatic_launches",))
def a_programmatic_launch_runs(target: ConformanceTarget) -> None:
    """A launch that may start early runs in every form, or is refused as not supported."""
    with target.opened() as gpu:
        _runs_with(target, gpu, _programmatic, "programmatic")


@case(invariants=(7,), needs=("launch_priorities",))
def a_launch_has_a_priority_of_its_own(target: ConformanceTarget) -> None:
    """A priority within the device's range is taken in every form; one outside is refused, naming both ends."""
    with target.opened() as gpu:
        least, most = gpu.capabilities.launch_priorities or (0, 0)
        for priority in {least, most}:
            _runs_with(target, gpu, partial(_prioritised, priority), f"priority {priority}")
        kernel = target.kernel(gpu, "affine")
        for asked, limit in ((least + 1, least), (most - 1, most)):
            error = refused(target, gpu, partial(_prioritised, asked, kernel[1, 1]), LimitExceeded)
            assert (error.asked, error.limit) == (asked, limit)
            assert f"{least} (least urgent)" in str(error)
            assert f"{most} (most urgent)" in str(error)


@case(invariants=(7,), needs=("memory_sync_domains",))
def a_launch_is_in_a_memory_sync_domain(target: ConformanceTarget) -> None:
    """Both domains are taken in every form; a third is refused where it is named."""
    with target.opened() as gpu:
        for domain in ("default", "remote"):
            _runs_with(target, gpu, partial(_in_domain, domain), f"memory sync domain {domain}")
        kernel = target.kernel(gpu, "affine")
        refused(target, gpu, lambda: kernel[1, 1].memory_sync_domain("other"), GeometryError)


@case(invariants=(4, 7), field=(28,), needs=("cooperative",))
def a_cooperative_grid_fits_the_device(target: ConformanceTarget) -> None:
    """A cooperative grid of as many blocks as the device holds at once runs; one more is refused, naming it."""
    with target.opened() as gpu:
        kernel, values = target.kernel(gpu, "affine"), _values(gpu)
        kernel[1, 256].cooperative()(values, u32(7), u32(3), u32(1))
        limit = gpu.max_active_blocks_per_sm(kernel, 256) * gpu.sm_count()
        kernel[limit, 256].cooperative()(values, u32(7), u32(3), u32(2))
        builder = KernelLaunch(gpu, kernel).grid(limit + 1).block(256).cooperative()
        builder.arg_ptr(values).arg_u32(7).arg_u32(3).arg_u32(1)
        for launch in (kernel[limit + 1, 256].cooperative, builder.launch):
            error = refused(target, gpu, launch, LimitExceeded, says=(str(limit),))
            assert (error.asked, error.limit) == (limit + 1, limit)
        prepared = kernel[slot("blocks", "grid"), 256].cooperative().prepare(values, u32(7), u32(3), u32(3))
        prepared(blocks=limit)
        refused(target, gpu, lambda: prepared(blocks=limit + 1), LimitExceeded)
        # The grid was not altered, and what was refused did not run.
        assert values.numpy().tolist() == [27 * i + 9 * 1 + 3 * 2 + 3 for i in range(5, 12)]


@case(invariants=(4, 7), field=(28,), needs=("clusters",))
def clusters_divide_the_grid_and_have_a_limit(target: ConformanceTarget) -> None:
    """Clusters that divide the grid run; others name the axis; more blocks than the device takes name the limit."""
    with target.opened() as gpu:
        kernel, values = target.kernel(gpu, "affine"), _values(gpu)
        kernel[4, 2].cluster(2)(values, u32(7), u32(3), u32(1))
        # Both rows of blocks write the same elements: with the same values.
        kernel[(4, 2), 2].cluster((2, 2))(values, u32(7), u32(1), u32(0))
        for grid, cluster, axis in ((5, 2, "x"), ((4, 3), (1, 2), "y")):
            error = refused(target, gpu, partial(_clustered, kernel, grid, cluster), GeometryError)
            assert error.axis == axis
        # A kernel may be able to have more than the portable number; a million blocks no kernel has.
        large = 1 << 20
        limit = refused(
            target, gpu, lambda: kernel[large, 2].cluster(large), LimitExceeded, calls_no_driver=False
        ).limit
        assert min(8, gpu.capabilities.max_cluster_blocks) <= limit < large
        assert values.numpy().tolist() == [3 * i + 1 for i in range(5, 12)]
