"""How a launch relates to its neighbours and to the device: attributes carried or refused, limits computed and named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import FunctionAttributes
from metrale_gpu_runtime.drivers.mock import FaultPlan, Refusal
from metrale_gpu_runtime.drivers.mock.log import AskClusterLimit, AskOccupancy, Launch
from metrale_gpu_runtime.drivers.mock.profiles import profile
from metrale_gpu_runtime.geometry import LaunchAttributes


@pytest.fixture
def gpu():
    with mg.MockGpuBackend("H100") as gpu:
        yield gpu
    assert not gpu.mock.violations


def build(gpu, kernel="k"):
    return mg.KernelLaunch(gpu, gpu.kernel("m", kernel))


ALL = LaunchAttributes(programmatic=True, priority=-3, memory_sync_domain="remote")


def with_all(launch):
    return launch.programmatic().priority(-3).memory_sync_domain("remote")


def test_attributes_reach_the_driver(gpu):
    """Builder, short form, prepared launch and sequence hand all three attributes to the driver; plain ones none."""
    kernel = gpu.kernel("m", "k")
    with_all(build(gpu)).grid(3).arg_u32(5).launch()
    with_all(kernel[3, 32])(mg.u32(5))
    prepared = with_all(kernel[3, 32]).prepare(mg.slot("n", mg.u32))
    prepared(n=5)
    prepared(n=6, grid=4)
    with gpu.sequence() as step:
        with_all(kernel[3, 32])(mg.u32(7))
    step()
    assert [call.attributes for call in gpu.log.of(Launch)] == [ALL] * 5
    kernel[3, 32](mg.u32(5))
    build(gpu).arg_u32(5).launch()
    assert [call.attributes for call in gpu.log.of(Launch)[5:]] == [None, None]


def test_each_attribute_is_its_own(gpu):
    """Setting one attribute leaves the others as they were; taking the last one back makes the launch plain again."""
    kernel = gpu.kernel("m", "k")
    for configured, expected in (
        (kernel[1, 1].programmatic(), LaunchAttributes(programmatic=True)),
        (kernel[1, 1].priority(np.int8(-5)), LaunchAttributes(priority=-5)),
        (kernel[1, 1].priority(0), LaunchAttributes(priority=0)),
        (kernel[1, 1].memory_sync_domain("default"), LaunchAttributes(memory_sync_domain="default")),
        (with_all(kernel[1, 1]).programmatic(False), replace(ALL, programmatic=False)),
        (with_all(kernel[1, 1]).priority(None), replace(ALL, priority=None)),
        (with_all(kernel[1, 1]).programmatic(False).priority(None).memory_sync_domain(None), None),
    ):
        assert configured.geometry.attributes == expected
    builder = with_all(build(gpu)).arg_u32(5)
    builder.launch()
    builder.programmatic(False).priority(None).memory_sync_domain(None).launch()
    assert [call.attributes for call in gpu.log.of(Launch)] == [ALL, None]


def test_the_short_form_takes_clusters_and_cooperation(gpu):
    """`.cluster` and `.cooperative` of a configured kernel are the builder's; the one they were asked of stays plain."""
    gpu.define_kernel("m", "k", blocks_per_multiprocessor=2)
    plain = gpu.kernel("m", "k")[(6, 4), 32]
    plain.cluster((2, 4)).cooperative()(mg.u32(5))
    plain(mg.u32(6))
    first, second = gpu.log.of(Launch)
    assert (first.cluster, first.cooperative, first.grid) == ((2, 4, 1), True, (6, 4, 1))
    assert (second.cluster, second.cooperative) == (None, False)


def test_a_device_without_an_attribute_says_so():
    """What the device lacks is refused by feature and device name, in the short form where it is asked for."""
    none = replace(
        profile("H100"),
        device="an old device",
        programmatic_launches=False,
        launch_priorities=None,
        memory_sync_domains=False,
    )
    with mg.MockGpuBackend(none) as gpu:
        kernel = gpu.kernel("m", "k")
        for change, feature in (
            (lambda launch: launch.programmatic(), "programmatic launches"),
            (lambda launch: launch.priority(0), "launch priorities"),
            (lambda launch: launch.memory_sync_domain("default"), "memory sync domains"),
        ):
            with pytest.raises(mg.NotSupported, match="an old device") as info:
                change(build(gpu)).arg_u32(5).launch()
            assert info.value.feature == feature
            with pytest.raises(mg.NotSupported) as info:
                change(kernel[1, 1])
            assert info.value.feature == feature
        assert gpu.launch_count == 0
        build(gpu).programmatic(False).priority(None).memory_sync_domain(None).arg_u32(5).launch()
        assert gpu.launch_count == 1


def test_priorities_out_of_range_name_the_range(gpu):
    """A priority that a driver would clamp is refused with the range; its ends pass."""
    kernel = gpu.kernel("m", "k")
    for asked, limit in ((1, 0), (100, 0), (-6, -5)):
        with pytest.raises(mg.LimitExceeded, match=r"from 0 \(least urgent\) to -5 \(most urgent\)") as info:
            kernel[1, 1].priority(asked)
        assert (info.value.asked, info.value.limit) == (asked, limit)
    for asked in (0, -5):
        kernel[1, 1].priority(asked)(mg.u32(1))
    assert [call.attributes.priority for call in gpu.log.of(Launch)] == [0, -5]


def test_values_that_mean_nothing(gpu):
    """A priority that is no whole number and a domain that does not exist are refused where they are given."""
    for wrong in (1.5, True, "high"):
        with pytest.raises(mg.GeometryError, match="priority"):
            build(gpu).priority(wrong)
    for wrong in ("system", 1, True, ["default"]):
        with pytest.raises(mg.GeometryError, match="'default' and 'remote'"):
            build(gpu).memory_sync_domain(wrong)


def test_traces_and_errors_show_them(gpu):
    """A trace and a refused launch name clusters, cooperation and attributes; two traces differ by them."""
    kernel = gpu.kernel("m", "k")

    def program(priority):
        with gpu.trace() as trace:
            kernel[4, 32].cluster(2).programmatic().priority(priority)(mg.u32(5))
        return trace

    before, after = program(-3), program(-2)
    assert before.launches[0].extras == "cluster (2, 1, 1), programmatic, priority -3"
    assert "priority -3, stream 0" in str(before.launches[0])
    assert mg.Trace.from_json(before.to_json()).launches == before.launches
    (change,) = mg.difference(before, after)
    assert change.changed == ("extras",)
    gpu.inject(FaultPlan().fail("launch", failure=Refusal()))
    with pytest.raises(mg.DriverError, match="cooperative, priority -3, memory sync domain remote"):
        kernel[4, 32].cooperative().priority(-3).memory_sync_domain("remote")(mg.u32(5))
    with gpu.trace() as trace:
        kernel[4, 32](mg.u32(5))
    assert trace.launches[0].extras == ""


# ---------------------------------------------------------------- cooperative: field case 28

TEN = replace(profile("H100"), multiprocessor_count=10)


@pytest.fixture
def ten():
    with mg.MockGpuBackend(TEN) as gpu:
        gpu.define_kernel("m", "k", blocks_per_multiprocessor=2)
        yield gpu


def test_a_cooperative_grid_fits_the_device(ten):
    """With 2 blocks on each of 10 multiprocessors a cooperative grid of 20 passes, 21 is refused naming 20."""
    build(ten).grid(20).block(64).cooperative().arg_u32(5).launch()
    build(ten).grid((5, 2, 2)).block(64).cooperative().arg_u32(5).launch()
    for grid in (21, (7, 3), (1, 1, 21)):
        with pytest.raises(mg.LimitExceeded, match="20") as info:
            build(ten).grid(grid).block(64).cooperative().arg_u32(5).launch()
        assert (info.value.asked, info.value.limit) == (21, 20)
        assert "2 blocks of 64 threads fit on each of its 10 multiprocessors" in str(info.value)
    # Nothing but the launches that were asked for, as they were asked for.
    assert [call.grid for call in ten.log.of(Launch)] == [(20, 1, 1), (5, 2, 2)]
    build(ten).grid(21).block(64).arg_u32(5).launch()


def test_the_limit_is_asked_for_once(ten):
    """The driver is asked once per kernel, block and shared memory, however many grids there are."""
    kernel = ten.kernel("m", "k")
    for grid in range(1, 21):
        kernel[grid, 64].cooperative()(mg.u32(grid))
    assert len(ten.log.of(AskOccupancy)) == 1
    kernel[20, (32, 2)].cooperative()(mg.u32(1))
    assert len(ten.log.of(AskOccupancy)) == 1
    kernel[20, 64, 1000].cooperative()(mg.u32(1))
    kernel[20, 96].cooperative()(mg.u32(1))
    assert [(each.block_threads, each.shared_mem) for each in ten.log.of(AskOccupancy)] == [
        (64, 0),
        (64, 1000),
        (96, 0),
    ]
    kernel[21, 64](mg.u32(1))
    assert len(ten.log.of(AskOccupancy)) == 3


def test_a_slot_in_a_cooperative_grid_is_checked_at_the_call(ten):
    """A grid slot and a replaced grid of a prepared cooperative launch are held to the same limit, in sequences too."""
    kernel = ten.kernel("m", "k")
    prepared = kernel[mg.slot("blocks", "grid"), 64].cooperative().prepare(mg.u32(5))
    prepared(blocks=20)
    with pytest.raises(mg.LimitExceeded) as info:
        prepared(blocks=21)
    assert info.value.limit == 20
    fixed = kernel[7, 64].cooperative().prepare(mg.u32(5))
    fixed(grid=20)
    with pytest.raises(mg.LimitExceeded):
        fixed(grid=21)
    with ten.sequence() as step:
        kernel[mg.slot("blocks", "grid"), 64].cooperative()(mg.u32(5))
    step(blocks=19)
    with pytest.raises(mg.LimitExceeded):
        step(blocks=21)
    assert [call.grid[0] for call in ten.log.of(Launch)] == [20, 20, 19]


def test_a_device_that_cannot_cooperate():
    """Where cooperative launches are not supported they are refused, whatever their size."""
    with mg.MockGpuBackend("M2") as gpu, pytest.raises(mg.NotSupported, match="M2"):
        build(gpu).cooperative().arg_u32(1).launch()


# ---------------------------------------------------------------- clusters


def test_a_cluster_has_at_most_eight_blocks_everywhere(gpu):
    """Eight blocks pass in every shape; nine are refused with the number unless the driver takes more."""
    for cluster in (8, (2, 4), (2, 2, 2)):
        build(gpu).grid((8, 8, 8)).cluster(cluster).arg_u32(1).launch()
    assert not gpu.log.of(AskClusterLimit)
    with pytest.raises(mg.LimitExceeded) as info:
        build(gpu).grid((9, 8, 8)).cluster(9).arg_u32(1).launch()
    assert (info.value.what, info.value.asked, info.value.limit) == ("blocks of a cluster", 9, 8)


def test_larger_clusters_where_the_driver_says_so(gpu):
    """A kernel that may have 16 blocks in a cluster takes 16 and no 17; the driver is asked once a shape."""
    gpu.define_kernel("m", "large", max_cluster_blocks=16)
    for grid in (16, 32, 48):
        build(gpu, "large").grid(grid).block(128).cluster(16).arg_u32(1).launch()
    assert [(each.block_threads, each.shared_mem) for each in gpu.log.of(AskClusterLimit)] == [(128, 0)]
    with pytest.raises(mg.LimitExceeded, match="every device of this kind takes 8") as info:
        build(gpu, "large").grid((17, 17)).cluster(17).arg_u32(1).launch()
    assert (info.value.asked, info.value.limit) == (17, 16)


def test_a_device_that_may_have_larger_clusters_is_still_asked():
    """Over eight blocks the driver decides, whatever the device's largest is: the kernel in its shape may have fewer."""
    with mg.MockGpuBackend(replace(profile("H100"), max_cluster_blocks=16)) as gpu:
        gpu.define_kernel("m", "k", max_cluster_blocks=11)
        build(gpu).grid(11).cluster(11).arg_u32(1).launch()
        with pytest.raises(mg.LimitExceeded) as info:
            build(gpu).grid(12).cluster(12).arg_u32(1).launch()
        assert info.value.limit == 11
    with mg.MockGpuBackend(replace(profile("H100"), max_cluster_blocks=4)) as gpu, pytest.raises(mg.LimitExceeded):
        build(gpu).grid(5).cluster(5).arg_u32(1).launch()


def test_a_cluster_divides_the_grid(gpu):
    """A cluster that leaves blocks over names the axis; an empty grid is divided by any; an empty cluster by none."""
    for grid, cluster, axis in (((6, 5, 4), (2, 2, 1), "y"), ((6, 4, 3), (3, 1, 2), "z"), (7, 2, "x")):
        with pytest.raises(mg.GeometryError, match=rf"grid\.{axis}") as info:
            build(gpu).grid(grid).cluster(cluster).arg_u32(1).launch()
        assert info.value.axis == axis
    build(gpu).grid(0).cluster(2).arg_u32(1).launch()
    with pytest.raises(mg.GeometryError):
        build(gpu).grid(4).cluster((1, 0)).arg_u32(1).launch()
    prepared = gpu.kernel("m", "k")[mg.slot("blocks", "grid"), 32].cluster(3).prepare(mg.u32(1))
    prepared(blocks=9)
    with pytest.raises(mg.GeometryError, match=r"grid\.x"):
        prepared(blocks=10)


# ---------------------------------------------------------------- shared memory: field case 23


def test_dynamic_shared_memory_ends_where_static_begins():
    """With 1024 static bytes of 232448, 231424 can be asked for; one more names asked, static and usable bytes."""
    with mg.MockGpuBackend("H100") as gpu:
        gpu.define_kernel("m", "k", attributes=FunctionAttributes(static_shared_mem=1024))
        assert gpu.capabilities.max_static_and_dynamic_shared_mem == 232448
        for nbytes in (47 << 10, 48 << 10, 64 << 10, 4, 64 << 10, 232448 - 1024):
            build(gpu).shared_mem(nbytes).arg_u32(1).launch()
        with pytest.raises(mg.LimitExceeded) as info:
            build(gpu).shared_mem(232448 - 1023).arg_u32(1).launch()
        for number in ("231425", "1024", "231424", "232448"):
            assert number in str(info.value)
        assert [call.shared_mem for call in gpu.log.of(Launch)] == [48128, 49152, 65536, 4, 65536, 231424]


def test_threads_of_a_launch_have_a_limit():
    """Where a device counts a launch's threads, grid times block over that count is refused, and nothing wraps."""
    hip = replace(profile("A100"), device="a HIP device", max_threads_per_launch=2**32 - 1)
    with mg.MockGpuBackend(hip) as gpu:
        build(gpu).grid(2**24 - 1).block(256).arg_u32(1).launch()
        for grid in (2**24, 2**24 + 1):
            with pytest.raises(mg.LimitExceeded, match="threads in the launch") as info:
                build(gpu).grid(grid).block(256).arg_u32(1).launch()
            assert (info.value.asked, info.value.limit) == (grid * 256, 2**32 - 1)
        assert [call.grid for call in gpu.log.of(Launch)] == [(2**24 - 1, 1, 1)]


def test_the_parameter_block_has_a_limit():
    """As many bytes of arguments as the device takes pass, one more is refused with both numbers."""
    with mg.MockGpuBackend("H100") as gpu:
        build(gpu).arg_bytes(bytes(32764)).launch()
        with pytest.raises(mg.LimitExceeded) as info:
            build(gpu).arg_bytes(bytes(32764)).arg_u8(1).launch()
        assert (info.value.asked, info.value.limit) == (32765, 32764)
