"""Real links by nvJitLink for sm_90, and modules made of several inputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from artefacts import DATA, CudaLikeDriver, data, image
from rungs import require_rung

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.cuda_images import read_cubin
from metrale_gpu_runtime.discovery import open_backend
from metrale_gpu_runtime.driver import CodeImage
from metrale_gpu_runtime.drivers.cuda.linking import link
from metrale_gpu_runtime.errors import CodeNotFound, CompileError, IncompatibleCode, ModuleLoadError, NotSupported

CALLS = (DATA / "calls.cu").read_text()
DEFINES = (DATA / "defines.cu").read_text()


@pytest.fixture(autouse=True)
def _linker() -> None:
    require_rung("nvjitlink")


@pytest.fixture
def driver() -> CudaLikeDriver:
    return CudaLikeDriver()


@pytest.fixture
def gpu(driver: CudaLikeDriver) -> Iterator[GpuBackend]:
    with GpuBackend(driver) as backend:
        yield backend


@pytest.mark.parametrize("file", [f"defines.{form}" for form in ("ptx", "cubin", "fatbin", "o", "a", "ltoir")])
def test_every_form_of_input_links(file: str) -> None:
    """PTX that calls a function, and the function in each form: a cubin for sm_90 that lacks nothing."""
    linked = link("m", [image("calls.ptx"), image(file)], architecture="sm_90")
    cubin = read_cubin(linked.data, "m")
    assert (linked.name, linked.format, str(cubin.architecture)) == ("m", "cubin", "sm_90")
    assert list(cubin.kernels) == ["apply"]
    assert cubin.kernels["apply"].parameters == ((0, 8), (8, 4))
    assert (cubin.undefined, cubin.is_relocatable) == ((), False)


def test_what_nobody_defines_is_named() -> None:
    """The symbol, the input that uses it, and the linker's whole log."""
    with pytest.raises(CompileError, match=r"nothing defines twice \(used in calls.ptx\)") as caught:
        link("m", [image("calls.ptx")], architecture="sm_90")
    assert "Undefined reference to 'twice' in 'calls.ptx'" in caught.value.log
    assert caught.value.diagnostics == (("calls.ptx", 0, "undefined reference to twice"),)
    assert caught.value.module == "m"


USES = 'extern "C" __device__ int twice(int);\nextern __device__ int offset;\n__global__ void uses(int* x) { *x = twice(*x) + offset; }\n'
IDLE = "__device__ int idle_variable;\n"


def test_the_user_of_an_undefined_symbol_is_found_in_the_symbol_tables(gpu: GpuBackend) -> None:
    """nvJitLink blames whichever input came last; functions and variables are charged to the input that lacks them."""
    with pytest.raises(CompileError) as caught:
        gpu.load_module("m", link=[("cu", IDLE), ("cu", USES), ("cu", IDLE.replace("idle", "other"))])
    assert "twice (used in input 1 (cuda-c))" in str(caught.value)
    assert "offset (used in input 1 (cuda-c))" in str(caught.value)
    assert "input 2" not in str(caught.value)
    assert {where for where, _, _ in caught.value.diagnostics} == {"input 1 (cuda-c)"}


@pytest.mark.parametrize("user", ["calls.ptx", "calls.cubin"])
def test_the_user_is_found_before_and_behind_others(user: str) -> None:
    """In PTX and in cubins, wherever the input stands."""
    idle = CodeImage("idle", "ptx", b".version 8.0\n.target sm_90\n.address_size 64\n.visible .func idle() { ret; }\n")
    for inputs in ([image(user), idle], [idle, image(user)]):
        with pytest.raises(CompileError, match=rf"nothing defines twice \(used in {user}\)"):
            link("m", inputs, architecture="sm_90")


def test_a_file_is_not_named_where_nothing_tells_it(gpu: GpuBackend) -> None:
    """LTO-IR shows no symbols: the missing one is named, and no input with it."""
    with pytest.raises(CompileError, match="nothing defines twice; add the input") as caught:
        gpu.load_module("m", link=[("cu", USES), ("cu", IDLE + "__device__ int offset;\n")], link_options=("-lto",))
    assert ("", 0, "undefined reference to twice") in caught.value.diagnostics


@pytest.mark.parametrize("driver_version", [12040, 13000])
def test_link_time_optimisation_of_cuda_c(driver_version: int) -> None:
    """-lto compiles CUDA C to LTO-IR, also for a driver older than the compiler; the types are known as without it."""
    driver = CudaLikeDriver((9, 0), driver_version)
    with GpuBackend(driver) as gpu:
        module = gpu.load_module("m", link=[DATA / "calls.cu", DATA / "defines.cu"], link_options=("-lto",))
        assert [each.format for each in driver.loaded] == ["cubin"]
        # Made one by the optimiser: the function that was called is gone.
        assert read_cubin(driver.loaded[0].data, "m").device_functions == ()
        plain = gpu.load_module("plain", link=[DATA / "calls.cu", DATA / "defines.cu"])
        assert read_cubin(driver.loaded[1].data, "plain").device_functions == ("twice",)
        assert str(module["apply"].signature) == str(plain["apply"].signature)


def test_link_time_optimisation_of_nothing_that_can_be_is_explained(gpu: GpuBackend) -> None:
    """Cubins are compiled already: the refusal says what -lto takes."""
    with pytest.raises(CompileError, match="-lto optimises LTO-IR, and no input is any"):
        gpu.load_module("m", link=[DATA / "calls.cubin", DATA / "defines.cubin"], link_options=("-lto",))


def test_options_of_a_compiler_that_does_not_run_are_refused(gpu: GpuBackend) -> None:
    """Without source among the inputs nothing takes options=."""
    with pytest.raises(ModuleLoadError, match=r"options -G are the compiler's.*link_options="):
        gpu.load_module("m", link=[DATA / "calls.ptx", DATA / "defines.ptx"], options=("-G",))


@pytest.mark.parametrize("second", ["defines.ptx", "defines.cubin"])
def test_what_two_define_is_named(second: str) -> None:
    """nvJitLink would take the first and report success."""
    again = CodeImage(f"again.{second}", image(second).format, data(second))
    with pytest.raises(CompileError, match=f"multiple definition of twice in again.{second}, first in defines.ptx"):
        link("m", [image("calls.ptx"), image("defines.ptx"), again], architecture="sm_90")


def test_ptx_that_does_not_compile_names_its_line() -> None:
    """The lines of nvJitLink's own PTX compiler."""
    broken = CodeImage("broken.ptx", "ptx", data("defines.ptx").replace(b"st.param", b"st.parm"))
    with pytest.raises(CompileError) as caught:
        link("m", [image("calls.ptx"), broken], architecture="sm_90")
    line = data("defines.ptx")[: data("defines.ptx").index(b"st.param")].count(b"\n") + 1
    assert caught.value.diagnostics[0][1] == line


@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("one.sm_75.cubin", "a cubin for sm_75"),
        ("one.sm_100f.ptx", "PTX for sm_100f"),
        ("one.sm_100a.cubin", "a cubin for sm_100a"),
    ],
)
def test_an_input_for_another_architecture_is_refused(file: str, word: str) -> None:
    """Before the linker, which only says "bad input"."""
    with pytest.raises(IncompatibleCode, match=f"{file} is {word}.*cannot be linked for sm_90"):
        link("m", [image(file)], architecture="sm_90")


@pytest.mark.parametrize("file", ["defines.o", "defines.a", "defines.cubin", "defines.fatbin"])
def test_a_damaged_input_is_refused(file: str) -> None:
    """Before the linker, which would end the process over some of them."""
    whole = image(file)
    with pytest.raises(ModuleLoadError, match="damaged"):
        link("m", [image("calls.ptx"), CodeImage(file, whole.format, whole.data[:-200])], architecture="sm_90")


@pytest.mark.parametrize("options", [("-foo",), ("-arch=sm_999",)])
def test_options_that_the_linker_does_not_know_are_named(options: tuple[str, ...]) -> None:
    """With its version."""
    with pytest.raises(CompileError, match=f"does not take the options.*{options[0]}"):
        link("m", [image("calls.ptx"), image("defines.ptx")], architecture="sm_90", options=options)


def test_an_architecture_among_the_options_wins() -> None:
    """PTX for 9.0 linked for a later device."""
    inputs = [image("calls.ptx"), image("defines.ptx")]
    linked = link("m", inputs, architecture="sm_90", options=("-arch=sm_100",))
    assert str(read_cubin(linked.data, "m").architecture) == "sm_100"


# ---------------------------------------------------------------- load_module(link=…)


@pytest.mark.parametrize(
    "inputs",
    [
        (DATA / "calls.ptx", DATA / "defines.a"),
        (str(DATA / "calls.ptx"), (".cubin", data("defines.cubin"))),
        (("ptx", data("calls.ptx").decode()), ("object", data("defines.o"))),
        (data("calls.ptx").decode(), data("defines.ptx").decode()),
    ],
)
def test_a_module_of_several_inputs_is_loaded(
    gpu: GpuBackend, driver: CudaLikeDriver, inputs: tuple[object, ...]
) -> None:
    """Paths, pairs and texts: linked to a cubin, with names and kinds from the parts' PTX."""
    module = gpu.load_module("m", link=list(inputs))  # type: ignore[arg-type]
    assert driver.loaded[-1].format == "cubin"
    kernel = module["apply"]
    assert kernel.signature.sources == ("PTX", "cubin")
    parameters = kernel.signature.parameters or ()
    assert [(each.nbytes, each.floating) for each in parameters] == [(8, False), (4, False)]
    assert list(module) == ["apply"]


def test_a_kernel_of_an_input_without_ptx_is_found_too(gpu: GpuBackend) -> None:
    """Its name and sizes come from the linked cubin."""
    module = gpu.load_module("m", link=[DATA / "calls.cubin", DATA / "defines.ptx"])
    assert module["apply"].signature.sources == ("cubin",)


def test_sources_are_compiled_to_be_linked(gpu: GpuBackend, tmp_path: Path) -> None:
    """CUDA C as a file and as text: names and types from the source, a launch is checked against them."""
    require_rung("nvrtc")
    require_rung("debug information")
    (tmp_path / "calls.cu").write_text(CALLS)
    module = gpu.load_module("m", link=[tmp_path / "calls.cu", DEFINES + "\n"])
    assert str(module["apply"].signature).startswith("void apply(float* values, int count)")


def test_an_older_driver_gets_a_link_as_well() -> None:
    """Parts become machine code where the compiler is newer than the driver."""
    require_rung("nvrtc")
    driver = CudaLikeDriver(driver_version=12040)
    with GpuBackend(driver) as gpu:
        assert list(gpu.load_module("m", link=[DATA / "calls.cu", DATA / "defines.cu"])) == ["apply"]
    assert driver.loaded[0].format == "cubin"


def test_a_template_is_instantiated_in_the_source_that_has_it(gpu: GpuBackend) -> None:
    """names= reach the input in which the template stands, and no other."""
    require_rung("nvrtc")
    template = (
        'extern "C" __device__ float twice(float);\ntemplate <class T> __global__ void each(T* x) { *x = twice(*x); }\n'
    )
    module = gpu.load_module("m", link=[template, DEFINES + "\n"], names=("each<float>",))
    assert module["each<float>"].function.startswith("_Z4eachIf")


def test_a_link_that_fails_leaves_nothing(gpu: GpuBackend, driver: CudaLikeDriver) -> None:
    """The linker's refusal reaches the caller, and the name is free."""
    with pytest.raises(CompileError, match="nothing defines twice"):
        gpu.load_module("m", link=[DATA / "calls.ptx"])
    assert not gpu.has_module("m")
    assert driver.loaded == []
    gpu.load_module("m", link=[DATA / "calls.ptx", DATA / "defines.ptx"])


@pytest.mark.parametrize(
    ("inputs", "error", "words"),
    [
        ([], ModuleLoadError, "nothing to link"),
        ("calls.ptx", TypeError, "list of inputs"),
        ([7], TypeError, "input 0 is int"),
        ([DATA / "nowhere.ptx"], CodeNotFound, "nowhere.ptx"),
        ([("spv", b"\x03\x02\x23\x07")], ModuleLoadError, "what is linked is"),
        ([("nonsense", b"x")], ModuleLoadError, "'nonsense' is no form of code"),
        ([("ptx", b"")], ModuleLoadError, "is empty"),
        ([("ptx", data("defines.ptx") + b"\0//")], ModuleLoadError, r"input 0 is PTX with a zero byte in line \d+"),
        ([("cubin", data("defines.ptx"))], ModuleLoadError, "should be a cubin but is PTX"),
        ([("object", data("defines.cubin"))], ModuleLoadError, "should be an object with device code but is a cubin"),
    ],
)
def test_what_is_no_input_is_refused(gpu: GpuBackend, inputs: object, error: type[Exception], words: str) -> None:
    """By its place in the list, with what is taken."""
    with pytest.raises(error, match=words):
        gpu.load_module("m", link=inputs)  # type: ignore[arg-type]


def test_link_stands_alone(gpu: GpuBackend) -> None:
    """Not beside path=, source= or binary=; its options not without it."""
    with pytest.raises(TypeError, match="exactly one of"):
        gpu.load_module("m", source="x", link=[DATA / "calls.ptx"])
    with pytest.raises(TypeError, match="link_options= goes with link="):
        gpu.load_module("m", DATA / "calls.ptx", link_options=("-lto",))


@pytest.mark.parametrize("backend", ["cpu", "mock"])
def test_backends_without_a_linker_say_so(backend: str) -> None:
    """NotSupported names the feature and the backend."""
    with open_backend(backend) as gpu, pytest.raises(NotSupported, match="does not link") as caught:
        gpu.load_module("m", link=[DATA / "calls.ptx", DATA / "defines.ptx"])
    assert (caught.value.backend, caught.value.feature) == (backend, "linking")
