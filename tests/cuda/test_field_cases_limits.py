"""What device and kernel allow: grids, blocks, shared memory, registers, residency (field cases 10, 23, 24, 25, 28)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from field_cases_places import PLACES, Place, opened
from kernels_for_launch import PTX

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with opened(request.param) as place:
        yield place


@pytest.fixture
def gpu(standin) -> Iterator[GpuBackend]:
    with mg.open_backend("cuda") as backend:
        backend.load_module("m", source={".ptx": PTX})
        yield backend


# ------------------------------------------------ 10: grids that wrap


def test_a_grid_past_32_bits_never_wraps(standin, gpu) -> None:
    """grid.x of 2**31 - 1 arrives as asked; 2**31, 2**32 and 2**32 + 1 are refused, naming axis, value and limit."""
    kernel = gpu.kernel("m", "nothing")
    kernel[2**31 - 1, 32]()
    prepared = kernel[7, 32].prepare()
    with gpu.create_stream() as stream:
        with gpu.capture(stream) as capture:
            kernel[mg.slot("blocks", "grid"), 32, 0, stream]()
        for blocks in (2**31, 2**32, 2**32 + 1):
            for form in (
                lambda blocks=blocks: kernel[blocks, 32](),
                lambda blocks=blocks: mg.KernelLaunch(gpu, kernel).grid([blocks, 1, 1]).block(32).launch(),
                lambda blocks=blocks: kernel[blocks, 32].prepare(),
                lambda blocks=blocks: prepared(grid=blocks),
                lambda blocks=blocks: kernel.over(32 * blocks, 32)(),
                lambda blocks=blocks: capture.graph.launch(stream, blocks=blocks),
            ):
                with pytest.raises(mg.LimitExceeded) as refused:
                    form()
                error = refused.value
                assert (error.axis, error.asked, error.limit) == ("x", blocks, 2**31 - 1)
                assert str(error).startswith(
                    f"nothing: grid.x is {blocks}; Stand-in GPU 0 (no hardware) allows {2**31 - 1}. The grid counts blocks"
                )
        stream.synchronize()
        capture.graph.close()
    gpu.synchronize()
    assert [launch.grid for launch in standin.launches()] == [(2**31 - 1, 1, 1)]


# ------------------------------------------------ 23: more than 48 KiB of dynamic shared memory


def test_two_threads_raise_the_limit_once(standin, gpu) -> None:
    """Two threads that alternate 4 bytes and 64 KiB: all are accepted, the limit was raised once and never lowered."""
    kernel = gpu.kernel("m", "with_static")
    failures: list[BaseException] = []
    barrier = threading.Barrier(2)

    def run(first: int) -> None:
        try:
            barrier.wait()
            for turn in range(30):
                kernel[2, 32, (4, 64 << 10)[(first + turn) % 2]]()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(first,)) for first in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    gpu.synchronize()
    assert sorted(launch.shared for launch in standin.launches()) == [4] * 30 + [64 << 10] * 30
    assert standin.call_count("cuFuncSetAttribute") == 1


# ------------------------------------------------ 24: grid y or z over 65535, and blocks


@pytest.mark.parametrize("axis", ["y", "z"])
def test_grid_y_and_z_end_at_65535(place: Place, axis: str) -> None:
    """65535 is launched as asked, 65536 refused with axis, value, limit and device; along x 65536 is fine."""
    kernel = place.kernel("whereabouts")
    out = place.gpu.empty((3, 6), mg.u32)
    at = "xyz".index(axis)
    grid = [1, 1, 1]
    grid[at] = 65535
    kernel[grid, 1](out)
    kernel[65536, 1](out)
    limit = place.gpu.capabilities.max_grid[at]
    assert place.name == "hip" or limit == 65535
    before = place.launch_calls
    grid[at] = limit + 1
    with pytest.raises(mg.LimitExceeded) as refused:
        kernel[grid, 1](out)
    error = refused.value
    assert (error.kernel, error.axis, error.asked, error.limit) == ("whereabouts", axis, limit + 1, limit)
    assert error.device == place.gpu.capabilities.device
    for word in (f"grid.{axis} is {limit + 1}", f"{error.device} allows {limit}", "blocks"):
        assert word in str(error), str(error)
    assert place.launch_calls == before
    expected = [1, 1, 1]
    expected[at] = 65535
    assert [each[0] for each in place.launches()] == [tuple(expected), (65536, 1, 1)]
    place.gpu.synchronize()


@pytest.mark.parametrize(
    ("block", "axis", "asked", "limit"),
    [
        ((1025, 1, 1), "x", 1025, 1024),
        ((32, 33, 1), None, 1056, 1024),
        ((1, 1, 65), "z", 65, 64),
    ],
)
def test_blocks_end_at_1024_threads(place: Place, block, axis, asked: int, limit: int) -> None:
    """1024x1x1 is launched; 1025, 32x33 and z = 65 are refused with axis or total, value, limit and device."""
    kernel = place.kernel("whereabouts")
    out = place.gpu.empty((3, 6), mg.u32)
    kernel[1, (1024, 1, 1)](out)
    if axis is not None and place.gpu.capabilities.max_block["xyz".index(axis)] >= asked:
        # AMD's devices allow 1024 along each axis.
        assert place.name == "hip"
        kernel[1, block](out)
        place.gpu.synchronize()
        return
    with pytest.raises(mg.LimitExceeded) as refused:
        kernel[1, block](out)
    error = refused.value
    assert (error.axis, error.asked, error.limit) == (axis, asked, limit)
    what = "threads per block" if axis is None else f"block.{axis}"
    assert f"whereabouts: {what} is {asked}; {place.gpu.capabilities.device} allows {limit}" in str(error)
    assert place.launch_calls == 1
    place.gpu.synchronize()


@pytest.mark.parametrize("name", ["cuda", "hip"])
def test_an_unforeseen_refusal_prints_the_whole_launch(name: str) -> None:
    """A code that nobody foresaw still comes with kernel, grid, block and shared bytes, in every form of launch."""
    with opened(name) as place:
        gpu, kernel = place.gpu, place.kernel("echo_32")
        out = gpu.empty(1, mg.u32)
        call = {"cuda": "cuLaunchKernelEx", "hip": "hipModuleLaunchKernel"}[name]
        prepared = kernel[(3, 5, 7), (32, 2, 1), 1234].prepare(out, mg.u32(5))
        for form in (lambda: kernel[(3, 5, 7), (32, 2, 1), 1234](out, mg.u32(5)), prepared):
            place.standin.fail_call(call, 304)
            with pytest.raises(mg.DriverError) as refused:
                form()
            assert (refused.value.call, refused.value.code) == (call, 304)
            for word in ("echo_32", "(3, 5, 7)", "(32, 2, 1)", "1234 bytes of shared memory", "304"):
                assert word in str(refused.value), str(refused.value)
        assert place.launches() == []


# ------------------------------------------------ 25: a block that this kernel does not take


def test_registers_are_named_when_a_kernel_takes_fewer_threads(standin, gpu) -> None:
    """Block 1024 of a kernel with 640 threads and 96 registers: 640, 96 and the device's registers are in the refusal."""
    standin.set_function("nothing", max_threads_per_block=640, registers=96)
    standin.set_attribute("max_registers_per_block", 65_537)
    with mg.open_backend("cuda") as gpu:
        kernel = gpu.load_module("m", source={".ptx": PTX})["nothing"]
        kernel[1, 640]()
        with pytest.raises(mg.LimitExceeded) as refused:
            kernel[1, 1024]()
        assert (refused.value.asked, refused.value.limit) == (1024, 640)
        for word in (
            "1024",
            "640",
            "96 registers per thread",
            "65537 that the device has per block",
            "Make the block smaller",
        ):
            assert word in str(refused.value), str(refused.value)
        gpu.synchronize()
        assert [launch.block for launch in standin.launches()] == [(640, 1, 1)]


# ------------------------------------------------ 28: cooperative and cluster launches


@pytest.mark.parametrize("name", ["cuda", "hip"])
def test_a_cooperative_grid_ends_where_the_device_is_full(name: str) -> None:
    """2 blocks on each of 10 multiprocessors: 20 pass unaltered, 21 raise naming 20, and nothing is launched then."""
    with opened(name) as place:
        place.standin.set(occupancy=2)
        gpu, kernel = place.gpu, place.kernel("echo_32")
        out = gpu.empty(1, mg.u32)
        assert gpu.sm_count() == 10
        kernel[20, 64].cooperative()(out, mg.u32(5))
        assert [grid for grid, _, _ in place.launches()] == [(20, 1, 1)]
        assert place.standin.launches()[0].cooperative
        before = place.launch_calls
        for form in (
            lambda: kernel[21, 64].cooperative()(out, mg.u32(5)),
            lambda: kernel[(3, 7), 64].cooperative()(out, mg.u32(5)),
            lambda: mg.KernelLaunch(gpu, kernel).grid(21).block(64).cooperative().args(out, mg.u32(5)).launch(),
            lambda: kernel[21, 64].cooperative().prepare(out, mg.u32(5)),
            lambda: kernel[20, 64].cooperative().prepare(out, mg.u32(5))(grid=21),
        ):
            with pytest.raises(mg.LimitExceeded) as refused:
                form()
            assert (refused.value.asked, refused.value.limit) == (21, 20)
            for word in ("echo_32", "21", "20", "2 ", "10 "):
                assert word in str(refused.value), str(refused.value)
        assert place.launch_calls == before
        # Without cooperation any number of blocks is fine.
        kernel[21, 64](out, mg.u32(5))
        gpu.synchronize()


def test_a_cluster_has_to_divide_the_grid(standin, gpu) -> None:
    """A cluster of 4 on 10 blocks is refused with both numbers; on 12 it is launched as asked."""
    kernel = gpu.kernel("m", "nothing")
    kernel[12, 32].cluster(4)()
    for grid, cluster, axis, size, blocks in (((10, 1), (4, 1), "x", 4, 10), ((6, 9), (2, 2), "y", 2, 9)):
        with pytest.raises(mg.GeometryError) as refused:
            kernel[grid, 32].cluster(cluster)()
        assert refused.value.axis == axis
        assert f"cluster.{axis} is {size}; it must be at least 1 and divide grid.{axis}, which is {blocks}" in str(
            refused.value
        )
    gpu.synchronize()
    assert [(launch.grid, launch.cluster) for launch in standin.launches()] == [((12, 1, 1), (4, 1, 1))]


def test_a_device_without_them_says_not_supported(standin) -> None:
    """Cooperative and cluster launches on a device that has neither raise NotSupported by name; nothing is launched."""
    standin.set(cooperative_launch=0, cluster_launch=0)
    with mg.open_backend("cuda") as gpu:
        kernel = gpu.load_module("m", source={".ptx": PTX})["nothing"]
        for feature, form in (
            ("cooperative", lambda: kernel[4, 32].cooperative()()),
            ("clusters", lambda: kernel[4, 32].cluster(2)()),
        ):
            with pytest.raises(mg.NotSupported) as refused:
                form()
            assert (refused.value.backend, refused.value.feature) == ("cuda", feature)
            assert gpu.capabilities.device in str(refused.value)
        assert standin.launch_count() == 0


def test_amd_has_no_clusters() -> None:
    """A cluster on HIP raises NotSupported and launches nothing."""
    with opened("hip") as place:
        kernel, out = place.kernel("echo_32"), place.gpu.empty(1, mg.u32)
        with pytest.raises(mg.NotSupported) as refused:
            kernel[4, 32].cluster(2)(out, mg.u32(5))
        assert refused.value.feature == "clusters"
        assert place.launch_calls == 0
