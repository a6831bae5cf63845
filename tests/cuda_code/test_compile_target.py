"""CUDA C for a CUDA device: PTX where its driver takes it, machine code where the compiler is newer than the driver."""

from __future__ import annotations

import pytest
from artefacts import CudaLikeDriver
from rungs import require_rung

from metrale_gpu_runtime.cuda_images import read_cubin, read_ptx_header
from metrale_gpu_runtime.drivers.mock.driver import MockDriver
from metrale_gpu_runtime.errors import CompileError, IncompatibleCode, ModuleLoadError
from metrale_gpu_runtime.modules.cache.keys import compile_key
from metrale_gpu_runtime.modules.compile_target import CompileTarget, _target
from metrale_gpu_runtime.modules.nvrtc import given_architecture
from metrale_gpu_runtime.modules.nvrtc_library import supported_architectures
from metrale_gpu_runtime.modules.registry import ModuleRegistry
from metrale_gpu_runtime.modules.sources import CodeInput

SUPPORTED = (75, 80, 86, 89, 90, 100, 120)
SOURCE = CodeInput(
    "cuda-c",
    b"""
template <class T> __global__ void fill(T* values, T value, int count) { values[threadIdx.x % count] = value; }
extern "C" __global__ void __launch_bounds__(96) add(const float* x, float* sum, int n) { if (n) *sum += *x; }
""",
)


def target(
    capability: tuple[int, int], driver: int, version: tuple[int, int] = (13, 0), given: str | None = None
) -> CompileTarget:
    return _target(CudaLikeDriver(capability, driver).capabilities, given, version, SUPPORTED, "m")


def test_ptx_for_the_device_where_its_driver_takes_it() -> None:
    """NVRTC not newer than the driver: PTX of the device's own architecture."""
    assert target((9, 0), 13000) == CompileTarget("compute_90")
    assert target((8, 6), 13020, (12, 8)) == CompileTarget("compute_86")


def test_a_cubin_where_the_compiler_is_newer_than_the_driver() -> None:
    """NVRTC 12.8 under a driver of CUDA 12.4: its PTX 8.7 would be refused."""
    assert target((9, 0), 12040, (12, 8)) == CompileTarget("sm_90", with_cubin=True)


def test_an_unknown_device_gets_the_highest_ptx_that_it_runs() -> None:
    """A compiler that came before the device: PTX of the highest it knows, and a note that says so."""
    got = target((12, 1), 13000)
    assert (got.architecture, got.with_cubin) == ("compute_120", False)
    assert "NVRTC 13.0 does not know sm_121: compiled for sm_120" in got.notes[0]
    assert target((11, 0), 13000).architecture == "compute_100"


def test_an_unknown_device_under_an_older_driver_gets_machine_code_that_runs_on_it() -> None:
    """sm_120 machine code runs on 12.1; for 11.0 there is none, and that is said."""
    assert target((12, 1), 12080).architecture == "sm_120"
    with pytest.raises(IncompatibleCode, match="nothing of that runs on Device under test \\(sm_110\\)"):
        target((11, 0), 12080)
    with pytest.raises(IncompatibleCode):
        target((7, 0), 13000)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (["-arch=sm_90a"], "sm_90a"),
        (["--gpu-architecture=compute_80"], "compute_80"),
        (["-arch", "sm_86", "-G"], "sm_86"),
        (["-arch=sm_75", "-arch=sm_80"], "sm_80"),
        (["-I/arch=sm_90"], None),
        ([], None),
    ],
)
def test_the_callers_architecture_is_read(options: list[str], given: str | None) -> None:
    """In every way that NVRTC takes it; the last one counts."""
    assert given_architecture(options) == given


def test_the_callers_architecture_wins() -> None:
    """It is left alone; a real architecture gives a cubin where PTX would be refused, a virtual one cannot."""
    assert target((9, 0), 13000, given="sm_80") == CompileTarget(None, with_cubin=False)
    assert target((9, 0), 12080, given="sm_90a") == CompileTarget(None, with_cubin=True)
    assert target((9, 0), 12080, given="compute_90") == CompileTarget(None, with_cubin=False)


def test_a_backend_without_cubins_is_compiled_for_as_before() -> None:
    """The mock and the CPU: their own architecture, PTX."""
    capabilities = MockDriver().capabilities
    assert _target(capabilities, None, (13, 0), SUPPORTED, "m") == CompileTarget(capabilities.cuda_architecture)


def test_the_memo_tells_a_compilation_with_a_cubin_from_one_without() -> None:
    """What changes the result is in the key: architecture and form."""

    def key(architecture: str, with_cubin: bool) -> str | None:
        return compile_key(
            "x", name="x.cu", options=(), names=(), architecture=architecture, debug=False, include_paths=(),
            compiler="NVRTC", with_cubin=with_cubin,
        )  # fmt: skip

    keys = {key("sm_90", True), key("sm_90", False), key("sm_80", True), key("compute_90", False)}
    assert len(keys) == 4
    assert None not in keys


# ---------------------------------------------------------------- with NVRTC


def test_nvrtc_lists_what_it_knows() -> None:
    """Ascending, by nvrtcGetSupportedArchs."""
    require_rung("nvrtc")
    known = supported_architectures()
    assert 90 in known
    assert list(known) == sorted(known)


def test_an_old_driver_is_given_machine_code_and_the_names_come_from_the_ptx() -> None:
    """The cubin of the device is loaded; kernels, C++ names, signature and block size as with PTX."""
    require_rung("nvrtc")
    driver = CudaLikeDriver((9, 0), 12040)
    registry = ModuleRegistry(driver)
    registry.load("m", SOURCE, names=("fill<double>",))
    (image,) = driver.loaded
    cubin = read_cubin(image.data, "m")
    assert (image.format, str(cubin.architecture)) == ("cubin", "sm_90")
    add, fill = registry.function("m", "add"), registry.function("m", "fill<double>")
    assert sorted(cubin.kernels) == sorted((add.name, fill.name)) == sorted(registry.function_names("m") or ())
    assert fill.name.startswith("_Z4fillIdE")
    assert (fill.signature.parameters or ())[1].nbytes == 8
    assert str(add.signature).startswith("void add(const float* x, float* sum, int n)")
    assert add.attributes.max_block == (96, 1, 1)


def test_a_new_driver_is_given_ptx_of_the_device() -> None:
    """The same source under a driver as new as the compiler."""
    require_rung("nvrtc")
    driver = CudaLikeDriver((9, 0), 14000)
    ModuleRegistry(driver).load("m", SOURCE)
    header = read_ptx_header(driver.loaded[0].data)
    assert header is not None
    assert (driver.loaded[0].format, str(header.target)) == ("ptx", "sm_90")


def test_a_device_that_nvrtc_does_not_know_is_noted() -> None:
    """A later 12.x: PTX for the highest known, and the kernel's notes say so."""
    require_rung("nvrtc")
    driver = CudaLikeDriver((12, 9), 14000)
    registry = ModuleRegistry(driver)
    registry.load("m", SOURCE)
    assert any("does not know sm_129" in note for note in registry.function("m", "add").notes)


def test_an_architecture_of_the_caller_is_held_against_the_device() -> None:
    """sm_80 PTX runs on 9.0; sm_100a code does not, and the error says who compiled it."""
    require_rung("nvrtc")
    driver = CudaLikeDriver((9, 0), 14000)
    registry = ModuleRegistry(driver)
    registry.load("fine", SOURCE, options=("-arch=sm_80",))
    assert b".target sm_80" in driver.loaded[0].data
    with pytest.raises(IncompatibleCode, match=r"sm_100a code runs on compute capability 10.0 only") as caught:
        registry.load("m", SOURCE, options=("-arch=sm_100a",))
    assert "by NVRTC" in caught.value.__notes__[0]
    assert not registry.has_module("m")


def test_what_the_compiler_refuses_names_the_line_on_the_cubin_route_too() -> None:
    """CompileError with diagnostics, whatever is compiled to."""
    require_rung("nvrtc")
    with pytest.raises(CompileError) as caught:
        ModuleRegistry(CudaLikeDriver((9, 0), 12040)).load("m", CodeInput("cuda-c", b"\n__global__ void k() { x; }\n"))
    assert caught.value.diagnostics[0][:2] == ("m.cu", 2)


def test_lto_ir_alone_is_not_loaded() -> None:
    """-dlto leaves no PTX; the refusal says what it is for."""
    require_rung("nvrtc")
    with pytest.raises(ModuleLoadError, match="gave LTO-IR and no PTX"):
        ModuleRegistry(CudaLikeDriver((9, 0), 14000)).load("m", SOURCE, options=("-dlto",))
