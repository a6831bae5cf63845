"""What the device says it is and can do: asked of it, never assumed."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from kernels_for_launch import PTX

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import CodeImage
from metrale_gpu_runtime.drivers.cuda import api
from metrale_gpu_runtime.drivers.host_memory import host_available_nbytes


def test_limits_are_the_devices(standin) -> None:
    """Different numbers in every attribute arrive in the field that they belong to."""
    standin.set(
        max_threads_per_block=896,
        max_block_dim_x=701,
        max_block_dim_y=502,
        max_block_dim_z=63,
        max_grid_dim_x=1_000_003,
        max_grid_dim_y=60_001,
        max_grid_dim_z=50_002,
        max_shared_per_block=47_104,
        max_shared_per_block_optin=150_528,
        warp_size=16,
        multiprocessor_count=13,
    )
    with mg.open_backend("cuda:1") as gpu:
        found = gpu.capabilities
    assert (found.max_threads_per_block, found.warp_size, found.multiprocessor_count) == (896, 16, 13)
    assert (found.max_block, found.max_grid) == ((701, 502, 63), (1_000_003, 60_001, 50_002))
    assert found.max_static_and_dynamic_shared_mem == 150_528
    assert (found.backend, found.device, found.device_index) == ("cuda", "Stand-in GPU 1 (no hardware)", 1)
    assert (found.dlpack_device, found.driver_version, found.launch_priorities) == ((2, 1), 13000, (0, -5))
    assert (found.raw_stream_handles, found.untracked_pointers) == (True, True)
    assert (found.usable_after_fork, found.usable_after_loss) == (False, False)


@pytest.mark.parametrize(
    ("capability", "architecture", "parameters", "hopper"),
    [(61, "compute_61", 4096, False), (86, "compute_86", 32764, False), (90, "compute_90", 32764, True)],
)
def test_features_come_with_the_compute_capability(
    standin, capability: int, architecture: str, parameters: int, hopper: bool
) -> None:
    """Clusters, programmatic launches, sync domains and tensor maps from 9.0; large parameter blocks from 7.0."""
    standin.set(compute_capability=capability)
    with mg.open_backend("cuda") as gpu:
        found = gpu.capabilities
    assert found.compute_capability == divmod(capability, 10)
    assert (found.cuda_architecture, found.max_parameter_nbytes) == (architecture, parameters)
    for feature in ("clusters", "programmatic_launches", "memory_sync_domains", "tensor_maps", "tensor_map_encoding"):
        assert getattr(found, feature) == hopper, feature
    assert found.graphs


@pytest.mark.parametrize(
    ("attribute", "feature"),
    [
        ("cooperative_launch", "cooperative"),
        ("cluster_launch", "clusters"),
        ("managed_memory", "managed_memory"),
        ("memory_pools", "stream_ordered_memory"),
        ("virtual_memory", "lazy_memory"),
        ("tensor_maps", "tensor_maps"),
    ],
)
def test_a_device_without_it_says_so(standin, attribute: str, feature: str) -> None:
    """Each of these is one attribute of the device: 0 there declares the feature away and no other."""

    def flags() -> dict[str, object]:
        with mg.open_backend("cuda") as gpu:
            found = gpu.capabilities
        return {name: value for name in dir(found) if isinstance(value := getattr(found, name), bool)}

    before = flags()
    standin.set(**{attribute: 0})
    after = flags()
    gone = {name for name in before if before[name] and not after[name]}
    assert gone == {feature} | ({"tensor_map_encoding"} if feature == "tensor_maps" else set())
    assert not [name for name in before if after[name] and not before[name]]


def test_an_integrated_device_counts_the_hosts_memory(standin) -> None:
    """Free memory there is the larger of the driver's figure and the host's; the driver's own stays to be had."""
    with mg.open_backend("cuda") as gpu:
        free, total = gpu.driver.memory_figures()
        assert gpu.driver.device_free_memory() == free
        assert not gpu.capabilities.unified_memory
    standin.set(integrated=1)
    with mg.open_backend("cuda") as gpu:
        assert gpu.capabilities.unified_memory
        first = gpu.alloc(total - (1 << 20))
        host = host_available_nbytes()
        assert host is not None
        assert gpu.driver.device_free_memory() <= 1 << 20
        assert abs(gpu.driver.memory_figures()[0] - host) < host // 2
        gpu.free(first)


def test_priorities_outside_of_the_range_are_refused(standin) -> None:
    """A driver clamps them without a word; here the range is named and the driver is not called."""
    with mg.open_backend("cuda") as gpu:
        for priority in (0, -5):
            gpu.create_stream(priority).close()
        calls = standin.call_count("cuStreamCreateWithPriority")
        for priority, limit in ((-6, -5), (1, 0)):
            with pytest.raises(mg.LimitExceeded) as refused:
                gpu.driver.create_stream(priority)
            assert (refused.value.asked, refused.value.limit) == (priority, limit)
            assert "from 0 (least urgent) to -5 (most urgent)" in str(refused.value)
        assert standin.call_count("cuStreamCreateWithPriority") == calls


def test_whose_memory_an_address_is(standin) -> None:
    """Device, managed and page-locked memory is told by its DLPack device; what the driver does not know is nobody's."""
    from metrale_gpu_runtime.driver import MemoryKind

    with mg.open_backend("cuda:0") as first, mg.open_backend("cuda:1") as second:
        one, other = first.driver.alloc(100), second.driver.alloc(100)
        managed, pinned = second.driver.alloc(100, MemoryKind.MANAGED), first.driver.alloc(100, MemoryKind.PINNED)
        for driver in (first.driver, second.driver):
            assert driver.device_of(one + 60) == (2, 0)
            assert driver.device_of(other) == (2, 1)
            assert driver.device_of(managed + 60)[0] == 13
            assert driver.device_of(pinned + 60) == (3, 0)
            assert driver.device_of(id(driver)) is None
        first.driver.free(one)
        second.driver.free(other)
        second.driver.free(managed, MemoryKind.MANAGED)
        first.driver.free(pinned, MemoryKind.PINNED)


@pytest.mark.parametrize("room", [(1 << 16, 1 << 22), (24, 4096)])
def test_ptx_that_does_not_compile_has_the_whole_log(standin, monkeypatch: pytest.MonkeyPatch, room) -> None:
    """What the driver's compiler wrote is in the error to its last word, however long; nothing stays loaded."""
    monkeypatch.setattr(api, "_JIT_LOG_NBYTES", room)
    with mg.open_backend("cuda") as gpu:
        broken = PTX.replace(".visible .entry nothing() { ret; }", ".visible .entry nothing( { ret; }")
        with pytest.raises(mg.CompileError) as refused:
            gpu.driver.load_module(CodeImage("broken", "ptx", broken.encode()))
        assert refused.value.log == "ptxas application ptx input; fatal   : Parsing error near a declaration"
        assert refused.value.log in str(refused.value)
        assert "CUDA_ERROR_INVALID_PTX (218)" in str(refused.value)


def test_the_drivers_compiler_takes_options(standin) -> None:
    """Those that ptxas spells so; one that it has not is refused by name."""
    with mg.open_backend("cuda") as gpu:
        with pytest.raises(mg.ModuleLoadError, match="no option '-fast'"):
            gpu.driver.load_module(CodeImage("m", "ptx", PTX.encode(), ("-maxrregcount=32", "-fast")))
        assert standin.count("module") == 0
        module = gpu.driver.load_module(CodeImage("m", "ptx", PTX.encode(), ("-maxrregcount=32", "-O3", "-lineinfo")))
        gpu.driver.unload_module(module)


def test_options_that_nothing_takes_are_refused(standin) -> None:
    """The driver hands options to its compiler for PTX, in a fatbin too, but drops them for machine code: refused."""
    fatbin = Path(__file__).parents[1] / "cuda_code" / "data" / "one.plain.fatbin"
    with ExitStack() as opened:
        standin.set(compute_capability=90)
        hopper = opened.enter_context(mg.open_backend("cuda:0"))
        standin.set(compute_capability=80)
        ampere = opened.enter_context(mg.open_backend("cuda:1"))
        hopper.load_module("its PTX", path=fatbin, options=("-lineinfo",))
        with pytest.raises(mg.ModuleLoadError, match="no option '-G'; it takes -maxrregcount=N") as refused:
            hopper.load_module("m", path=fatbin, options=("-G",))
        assert refused.value.module == "m"
        standin.clear_journal()
        with pytest.raises(
            mg.ModuleLoadError, match="-lineinfo were given for a fatbin of which the driver takes the cubin for sm_80"
        ):
            ampere.load_module("m", path=fatbin, options=("-lineinfo",))
        assert "cuModuleLoadDataEx" not in standin.names()


def test_a_tensor_map_is_made_at_a_place_that_the_driver_takes(standin) -> None:
    """The bindings make the map wherever Python has room; where the driver refuses the place another is tried."""
    with mg.open_backend("cuda") as gpu:
        memory = gpu.empty((7, 96), mg.f32)
        expected = bytes(gpu.tensor_map(memory, box=(16, 3)).data)
        standin.fail_call("cuTensorMapEncodeTiled", 1, count=3)
        assert bytes(gpu.tensor_map(memory, box=(16, 3)).data) == expected
        standin.fail_call("cuTensorMapEncodeTiled", 1, count=0)
        with pytest.raises(mg.DriverError, match="cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE"):
            gpu.tensor_map(memory, box=(16, 3))
        standin.clear_faults()
