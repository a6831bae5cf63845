"""What a device cannot run is refused before its driver is asked; what the driver refuses is explained."""

from __future__ import annotations

import pytest
from artefacts import image

from metrale_gpu_runtime.driver import CodeImage
from metrale_gpu_runtime.drivers.cuda.images import check_loadable, explain_load_failure
from metrale_gpu_runtime.errors import CompileError, IncompatibleCode, ModuleLoadError

FIELD_CASE_42 = CodeImage(
    "norm", "ptx", b".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n"
)
LOG = "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'\nptxas fatal   : Ptx assembly aborted due to errors"


def check(code: CodeImage, capability: tuple[int, int], driver: int = 13000) -> None:
    check_loadable(code, compute_capability=capability, driver_version=driver, device="NVIDIA Something")


def refusal(code: CodeImage, capability: tuple[int, int], driver: int = 13000) -> IncompatibleCode:
    with pytest.raises(IncompatibleCode) as caught:
        check(code, capability, driver)
    return caught.value


def explained(code: CodeImage, number: int, name: str, log: str = "", driver: int = 13060) -> ModuleLoadError:
    return explain_load_failure(
        code,
        call="cuModuleLoadDataEx",
        code=number,
        code_name=name,
        log=log,
        compute_capability=(9, 0),
        driver_version=driver,
        device="NVIDIA Something",
    )


def test_ptx_newer_than_the_driver_names_every_version_and_a_remedy() -> None:
    """Field case 42: PTX version, target, driver version, device architecture, and what would fix it."""
    error = refusal(FIELD_CASE_42, (9, 0), 12040)
    for word in ("norm", "PTX 8.7 for sm_90a", "CUDA 12.8", "CUDA 12.4", "up to 8.4", "compute capability 9.0 (sm_90)"):
        assert word in str(error), word
    for remedy in ("Update the driver to that of CUDA 12.8", "toolkit of CUDA 12.4 or earlier", "a cubin for sm_90"):
        assert remedy in str(error), remedy
    assert (error.module, error.needs, error.device_architecture) == ("norm", "PTX 8.7 for sm_90a", "sm_90")
    assert (error.driver_version, error.ptx_version, error.log) == (12040, (8, 7), "")


def test_both_reasons_are_given_where_there_are_two() -> None:
    """Too new for the driver, and for another architecture."""
    text = str(refusal(FIELD_CASE_42, (8, 0), 12020))
    assert "PTX 8.7 takes the driver of CUDA 12.8" in text
    assert "sm_90a code runs on compute capability 9.0 only" in text
    assert "compute_80" in text


def test_ptx_that_the_driver_takes_passes() -> None:
    """On the same device and a driver that is new enough; and on a driver newer than the tables, whatever its PTX."""
    check(FIELD_CASE_42, (9, 0), 12080)
    check(CodeImage("m", "ptx", b".version 9.9\n.target sm_80\n"), (9, 0), 13060)
    assert "a later driver" in str(refusal(CodeImage("m", "ptx", b".version 9.9\n.target sm_80\n"), (9, 0), 13050))


@pytest.mark.parametrize("options", ["debug", "texmode_independent", "texmode_unified, debug", "map_f64_to_f32"])
def test_what_stands_behind_the_target_is_no_architecture(options: str) -> None:
    """`.target sm_80, debug` is code for sm_80."""
    code = CodeImage("m", "ptx", f".version 7.0\n.target sm_80, {options}\n".encode())
    check(code, (8, 6))
    assert "PTX 7.0 for sm_80" in str(refusal(code, (7, 5)))


def test_text_that_is_no_ptx_is_left_to_the_driver() -> None:
    """Its compiler says what is wrong; so do forms of code that are not CUDA's."""
    check(CodeImage("m", "ptx", b"nonsense"), (9, 0))
    check(CodeImage("m", "any", b"nonsense"), (9, 0))


@pytest.mark.parametrize(
    ("file", "fits", "misfits"),
    [
        ("one.sm_75.cubin", [(7, 5)], [(8, 0), (7, 0)]),
        ("one.sm_90.cubin", [(9, 0)], [(8, 9), (10, 0), (12, 0)]),
        ("one.sm_90a.cubin", [(9, 0)], [(8, 9), (10, 0)]),
        ("one.sm_100.cubin", [(10, 0), (10, 3)], [(9, 0), (12, 0)]),
        ("one.sm_100a.cubin", [(10, 0)], [(10, 3), (12, 0)]),
        ("one.sm_100f.cubin", [(10, 0), (10, 3)], [(12, 0)]),
        ("one.sm_90a.ptx", [(9, 0)], [(8, 9), (10, 0)]),
        ("one.sm_100f.ptx", [(10, 0), (10, 3)], [(9, 0), (12, 0)]),
        ("one.fatbin", [(8, 0), (8, 9), (9, 0), (10, 3), (12, 0)], [(7, 5)]),
        ("one.lto.fatbin", [], [(9, 0)]),
    ],
)
def test_real_images_are_held_against_devices(
    file: str, fits: list[tuple[int, int]], misfits: list[tuple[int, int]]
) -> None:
    """Each passes where it runs, and is refused elsewhere with what it is and what the device is."""
    for capability in fits:
        check(image(file), capability)
    for capability in misfits:
        error = refusal(image(file), capability)
        assert error.device_architecture == f"sm_{10 * capability[0] + capability[1]}"
        assert error.needs in str(error)


def test_a_fatbin_lists_its_images() -> None:
    """The refusal names every image, and why its PTX does not do either."""
    error = refusal(image("one.fatbin"), (7, 5))
    assert error.needs.count("sm_80") == 2
    for word in ("cubin for sm_90a", "cubin for sm_100f", "PTX 9.0 for sm_80", "compute capability 8.0 or later"):
        assert word in str(error), word
    assert "PTX 9.0 takes the driver of CUDA 13.0" in str(refusal(image("one.fatbin"), (12, 0), 12090))


def test_lto_ir_is_to_be_linked() -> None:
    """It is not loaded as it is, and the refusal says what to do."""
    assert "link=" in str(refusal(image("one.lto.fatbin"), (9, 0)))


def test_a_damaged_image_is_refused() -> None:
    """Before the driver sees it, under the module's name."""
    whole = image("one.sm_90.cubin")
    with pytest.raises(ModuleLoadError, match=r"module 'm'.*damaged") as caught:
        check(CodeImage("m", "cubin", whole.data[:1000]), (9, 0))
    assert caught.value.module == "m"


def test_the_drivers_log_is_attached_in_full() -> None:
    """Code 222: the versions again, the driver's answer, and every line of its log."""
    error = explained(FIELD_CASE_42, 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", LOG)
    assert isinstance(error, IncompatibleCode)
    assert LOG in str(error)
    assert (error.log, error.code_name, error.ptx_version) == (LOG, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", (8, 7))
    assert "PTX 8.7 for sm_90a" in str(error)


def test_ptx_that_the_drivers_compiler_refused_is_a_compile_error() -> None:
    """Code 218: the lines of the log as diagnostics, under the module's name."""
    log = "ptxas application ptx input, line 31; error   : Unknown modifier '.u99'\nptxas fatal   : aborted\0\0"
    error = explained(FIELD_CASE_42, 218, "CUDA_ERROR_INVALID_PTX", log)
    assert isinstance(error, CompileError)
    assert error.diagnostics == (("norm", 31, "error   : Unknown modifier '.u99'"),)
    assert error.log == log.rstrip("\0")


def test_no_binary_for_the_device() -> None:
    """Code 209 by the rules where they know it, else in the driver's own terms."""
    error = explained(image("one.sm_75.cubin"), 209, "CUDA_ERROR_NO_BINARY_FOR_GPU")
    assert "machine code for sm_75 runs on compute capability 7.5 or a later 7.x" in str(error)
    unknown = explained(image("one.sm_90.cubin"), 209, "CUDA_ERROR_NO_BINARY_FOR_GPU")
    assert "the driver found no code in it for this device" in str(unknown)


@pytest.mark.parametrize(
    ("number", "name", "word"),
    [
        (221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "libnvidia-ptxjitcompiler"),
        (223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "CUDA_DISABLE_PTX_JIT"),
        (200, "CUDA_ERROR_INVALID_IMAGE", "damaged"),
        (999, "CUDA_ERROR_UNKNOWN", "CUDA_ERROR_UNKNOWN (999)"),
    ],
)
def test_other_refusals_say_what_would_help(number: int, name: str, word: str) -> None:
    """The call, the code by name and number, and the next step where there is one."""
    error = explained(FIELD_CASE_42, number, name)
    assert type(error) is ModuleLoadError
    assert word in str(error)
    assert f"cuModuleLoadDataEx answered {name} ({number})" in str(error)


def test_what_an_unlinked_cubin_lacks_is_named() -> None:
    """A cubin compiled with -rdc=true that calls what it does not hold."""
    assert "It calls twice, which it does not define; link it" in str(
        explained(image("calls.cubin"), 302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND")
    )
