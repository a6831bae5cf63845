"""The HIP driver over the stand-in: which code it takes, what it knows of it, how it opens and closes."""

from __future__ import annotations

import struct
import zlib

import pytest
from amd_objects import code_object

from metrale_gpu_runtime.driver import CodeImage, DriverOptions
from metrale_gpu_runtime.drivers.hip import HipFactory
from metrale_gpu_runtime.errors import BackendUnavailable, KernelNotFound, LimitExceeded, ModuleLoadError, NotSupported


def image(name: str) -> CodeImage:
    return CodeImage("norm", "hsaco", code_object(name))


def test_code_is_loaded_and_described(driver):
    """Kernels are listed from the metadata, variables found, attributes those of the metadata and of HIP."""
    module = driver.load_module(image("kernels.gfx1100"))
    assert set(driver.function_names(module)) == {"scale", "_Z3addIdEvPT_S0_", "nothing", "tables"}
    _, nbytes = driver.global_symbol(module, "counter")
    assert nbytes == 4
    attributes = driver.function_attributes(driver.function(module, "tables"))
    assert attributes.static_shared_mem == 132
    assert attributes.extra["wavefront_size"] == 32
    assert driver.function_attributes(driver.function(module, "nothing")).max_threads_per_block == 96
    with pytest.raises(KernelNotFound):
        driver.function(module, "absent")
    driver.unload_module(module)
    assert driver._code == {}


def test_a_required_block_comes_from_the_metadata(standin, open_driver):
    """HIP does not tell the block a kernel was compiled for; the metadata does, and the launch is held against it."""
    standin.reset(devices=1, architecture="gfx906:sramecc-:xnack-")
    driver = open_driver()
    kernel = driver.function(driver.load_module(image("typed.gfx906")), "blend")
    assert driver.function_attributes(kernel).required_block == (32, 3, 2)


@pytest.mark.parametrize(
    ("device", "name", "why"),
    [
        ("gfx1100", "kernels.gfx90a", "gfx90a.*the device is gfx1100.*--offload-arch=gfx1100"),
        (
            "gfx90a:sramecc+:xnack-",
            "kernels.gfx90a-xnack",
            r"gfx90a:xnack\+.*built with xnack\+.*gfx90a:sramecc\+:xnack-",
        ),
        ("gfx942:sramecc+:xnack-", "kernels.bundle", r"holds code for .*gfx1100.*none of which runs on gfx942"),
    ],
)
def test_code_for_another_device_is_refused_before_hip_is_asked(standin, open_driver, device, name, why):
    """Code of a wrong target raises, naming both targets, and HIP gets no call."""
    standin.reset(devices=1, architecture=device)
    driver = open_driver()
    before = standin.call_count()
    with pytest.raises(ModuleLoadError, match=why):
        driver.load_module(image(name))
    assert standin.call_count() == before
    assert standin.count("module", "created") == 0


@pytest.mark.parametrize("data", [b"not code", code_object("kernels.gfx1100")[:700]], ids=["text", "cut short"])
def test_damaged_code_is_refused_before_hip_is_asked(standin, driver, data):
    """What is no code object raises and says so; HIP gets no call."""
    with pytest.raises(ModuleLoadError, match="'norm'"):
        driver.load_module(CodeImage("norm", "hsaco", data))
    assert standin.call_count("hipModuleLoadData") == 0


def test_a_bundles_entry_for_the_device_is_loaded(standin, open_driver):
    """Of a bundle the device's own code object reaches HIP."""
    standin.reset(devices=1, architecture="gfx90a:sramecc+:xnack-")
    driver = open_driver()
    chosen = driver.select_code(image("kernels.bundle"))
    assert chosen.data != code_object("kernels.bundle")
    module = driver.load_module(image("kernels.bundle"))
    assert str(driver._code[module].target) == "gfx90a:xnack-"


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
def test_a_bundle_is_known_by_its_contents(gpu, packed):
    """Bytes of a bundle are taken for what they are, and of it the device's kernels are listed."""
    data = code_object("kernels.bundle")
    if packed:
        data = struct.pack("<4sHHIIQ", b"CCOB", 2, 0, 0, len(data), 0) + zlib.compress(data)
    assert "tables" in tuple(gpu.load_module("norm", binary=data))


def test_code_for_a_newer_device_is_explained_when_hip_refuses(standin, driver):
    """A refusal by HIP itself names its code, and both targets."""
    standin.fail_call("hipModuleLoadData", 209)
    with pytest.raises(ModuleLoadError, match=r"hipErrorNoBinaryForGpu \(209\).*is for gfx1100, the device is gfx1100"):
        driver.load_module(image("kernels.gfx1100"))
    assert standin.count("module", "live") == 0


def test_a_code_object_takes_no_options(driver):
    """Options beside code that is compiled already are refused by name, never dropped."""
    with pytest.raises(ModuleLoadError, match=r"-O3.*compiled already"):
        driver.load_module(CodeImage("norm", "hsaco", code_object("kernels.gfx1100"), ("-O3",)))


def test_capabilities_are_the_devices(standin, open_driver):
    """Wavefront, limits and what AMD's GPUs have not are shown, for each device its own."""
    standin.reset(devices=2, architecture="gfx90a:sramecc+:xnack-", warp_size=64, multiprocessor_count=104)
    capabilities = open_driver(1).capabilities
    assert (capabilities.backend, capabilities.device_index, capabilities.warp_size) == ("hip", 1, 64)
    assert capabilities.max_threads_per_launch == 2**32 - 1
    assert capabilities.dlpack_device == (10, 1)
    assert capabilities.max_static_and_dynamic_shared_mem == 65536
    assert capabilities.code_formats == ("hsaco",)
    assert set(capabilities.source_languages) == {"hip-c", "cuda-c"}
    assert capabilities.cooperative
    assert capabilities.graphs
    assert capabilities.lazy_memory
    assert not capabilities.clusters
    assert not capabilities.programmatic_launches
    assert not capabilities.tensor_maps
    assert capabilities.launch_priorities is None


def test_dynamic_shared_memory_needs_no_opting_in(standin, gpu):
    """Up to the device's limit dynamic shared memory is simply launched with; over it the launch is refused."""
    kernel = gpu.load_module("norm", binary=code_object("kernels.gfx1100"))["nothing"]
    kernel[2, 32, 65536]()
    gpu.synchronize()
    assert standin.launches()[0].shared == 65536
    with pytest.raises(LimitExceeded, match="65536"):
        kernel[2, 32, 65537]()


@pytest.mark.parametrize(("grid", "refused"), [(2**24 - 1, False), (2**24, True), (2**24 + 1, True)])
def test_work_items_are_never_cut_to_32_bits(standin, gpu, grid, refused):
    """A grid of 2**24 - 1 blocks of 256 arrives as asked; one more is refused before HIP, naming count and limit."""
    kernel = gpu.load_module("norm", binary=code_object("kernels.gfx1100"))["tables"]
    buffer = gpu.empty((256,), "u32")
    before = standin.call_count("hipModuleLaunchKernel")
    if refused:
        with pytest.raises(LimitExceeded) as info:
            kernel[grid, 256](buffer)
        assert (info.value.asked, info.value.limit) == (grid * 256, 2**32 - 1)
        assert standin.call_count("hipModuleLaunchKernel") == before
    else:
        kernel[grid, 256](buffer)
        gpu.synchronize()
        assert standin.launches()[0].grid == (grid, 1, 1)


def test_the_standin_wraps_as_hip_does(standin, driver):
    """Without the refusal above it, HIP would run a few blocks and report success: the stand-in does that too."""
    from metrale_gpu_runtime.geometry import Dim3, Geometry

    api = driver._api
    kernel = driver.function(driver.load_module(image("kernels.gfx1100")), "nothing")
    api.launch(kernel, Geometry(Dim3(2**24 + 1), Dim3(96)), 0, 0)
    api.launch(kernel, Geometry(Dim3(2**27 + 3), Dim3(32)), 0, 0)
    api.stream_synchronize(0)
    wrapped = (2**24 + 1) * 96 % 2**32 // 96
    assert [each.grid[0] for each in standin.launches()] == [wrapped, 3]


def test_clusters_and_attributes_are_refused(gpu):
    """What AMD's GPUs have not raises NotSupported by name and launches nothing."""
    import metrale_gpu_runtime as mg

    kernel = gpu.load_module("norm", binary=code_object("kernels.gfx1100"))["nothing"]
    with pytest.raises(NotSupported, match="cluster"):
        mg.KernelLaunch(gpu, kernel).grid(4).block(32).cluster([2, 1, 1]).launch()


def test_opening_refuses_what_is_not_there(standin):
    """An index past the last device and an unknown option raise with what there is; no device at all says what to look at."""
    with pytest.raises(BackendUnavailable, match="no device 2; this machine has 2"):
        HipFactory().open(2, DriverOptions())
    with pytest.raises(TypeError, match="workers"):
        HipFactory().open(0, DriverOptions(extra={"workers": 3}))
    standin.reset()
    with pytest.raises(BackendUnavailable, match=r"no device.*HIP_VISIBLE_DEVICES"):
        HipFactory().open(0, DriverOptions())


def test_everything_is_given_back(standin, gpu):
    """After closing nothing that the session made is left, though nothing was given back by hand."""
    module = gpu.load_module("norm", binary=code_object("kernels.gfx1100"))
    buffer = gpu.empty((33,), "u32")
    stream = gpu.create_stream()
    module["tables"][2, 32, 0, stream](buffer)
    gpu.close()
    for kind in ("stream", "event", "module", "memory", "host_memory"):
        assert standin.count(kind, "live") == 0, kind
