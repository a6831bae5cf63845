"""Kernels of cubins and fatbins: names, signatures and block sizes without PTX, held against what the driver says."""

from __future__ import annotations

import pytest
from artefacts import CudaLikeDriver, data
from rungs import require_rung

from metrale_gpu_runtime.driver import FunctionAttributes
from metrale_gpu_runtime.errors import KernelNotFound, SignatureError
from metrale_gpu_runtime.modules.registry import LoadedFunction, ModuleRegistry
from metrale_gpu_runtime.modules.sources import CodeInput


def registry_of(file: str, **declared: str) -> tuple[CudaLikeDriver, ModuleRegistry]:
    driver = CudaLikeDriver()
    registry = ModuleRegistry(driver)
    registry.load("m", CodeInput(file.rsplit(".", 1)[1], data(file)), signatures=declared)
    return driver, registry


def sizes(found: LoadedFunction) -> list[tuple[int | None, int | None]]:
    return [(each.offset, each.nbytes) for each in found.signature.parameters or ()]


def test_a_cubin_tells_sizes_offsets_and_blocks() -> None:
    """No PTX: from the cubin's own records."""
    _, registry = registry_of("kernels.cubin")
    scale = registry.function("m", "scale")
    assert scale.signature.sources == ("cubin",)
    assert sizes(scale) == [(0, 8), (8, 8), (16, 4), (20, 4), (24, 24), (48, 2)]
    assert scale.attributes.max_block == (192, 1, 1)
    assert registry.function("m", "fixed").attributes.required_block == (32, 3, 1)
    assert registry.function("m", "bare").signature.parameters == ()


def test_mangled_names_in_a_cubin_are_read() -> None:
    """A C++ name finds its symbol, and the symbol tells the types."""
    _, registry = registry_of("kernels.cubin")
    fill = registry.function("m", "fill<double>")
    assert fill.name == "_Z4fillIdEvPT_S0_x"
    assert str(fill.signature) == "void fill<double>(double*, double, long long)  [mangled name]"
    assert fill.signature.sources == ("mangled name", "cubin")
    assert sizes(fill) == [(0, 8), (8, 8), (16, 8)]


def test_near_matches_need_no_driver_that_lists_kernels() -> None:
    """A wrong name in a cubin: what there is and what comes near."""
    driver, registry = registry_of("kernels.cubin")
    driver.strict = True  # it refuses names that nobody defined, and lists none for a cubin
    with pytest.raises(KernelNotFound) as caught:
        registry.function("m", "scalee")
    assert caught.value.close == ("scale",)
    assert set(caught.value.available) == {"scale", "fixed", "large", "bare", "_Z4fillIdEvPT_S0_x"}


def test_debug_information_of_a_cubin_gives_names_and_types() -> None:
    """Compiled with -G: the C declaration, from DWARF."""
    require_rung("debug information")
    _, registry = registry_of("debug.cubin")
    shown = str(registry.function("m", "scale").signature)
    assert shown == (
        "void scale(float* out, const unsigned short* in, float factor, int count, Settings settings)  [debug information]"
    )


@pytest.mark.parametrize(("file", "source"), [("one.plain.fatbin", "cubin"), ("one.fatbin", "cubin")])
def test_a_fatbin_tells_what_its_image_for_this_device_tells(file: str, source: str) -> None:
    """The image that the driver takes, read where it is not compressed."""
    driver = CudaLikeDriver((8, 6), 13000)
    registry = ModuleRegistry(driver)
    registry.load("m", CodeInput("fatbin", data(file)))
    mark = registry.function("m", "mark")
    assert mark.signature.sources == (source,)
    assert sizes(mark) == [(0, 8), (8, 4)]


def test_a_compressed_image_is_noted() -> None:
    """A device for which only compressed PTX is there: nothing is known, and the note says why."""
    driver = CudaLikeDriver((12, 0), 13000)
    registry = ModuleRegistry(driver)
    registry.load("m", CodeInput("fatbin", data("one.fatbin")))
    mark = registry.function("m", "mark")
    assert mark.signature.parameters is None
    assert any("PTX 9.0 for sm_80 is compressed" in note for note in mark.notes)


def test_uncompressed_ptx_in_a_fatbin_is_read() -> None:
    """A device that takes the PTX: kinds too, which no cubin tells."""
    driver = CudaLikeDriver((12, 0), 13000)
    registry = ModuleRegistry(driver)
    registry.load("m", CodeInput("fatbin", data("one.plain.fatbin")))
    parameters = registry.function("m", "mark").signature.parameters or ()
    assert [(each.nbytes, each.floating) for each in parameters] == [(8, False), (4, True)]


def test_a_declaration_fills_in_what_a_cubin_does_not_tell() -> None:
    """Names and types from the caller, offsets from the code."""
    _, registry = registry_of(
        "kernels.cubin",
        scale="float* out, const float* in, float factor, int count, struct(24, 8) settings, unsigned short offset",
    )
    signature = registry.function("m", "scale").signature
    assert signature.sources == ("declared", "cubin")
    assert signature.index_of("offset") == 5


@pytest.mark.parametrize(
    ("declaration", "index", "words"),
    [
        (
            "float* out, const float* in, double factor, int count, struct(24, 8) s, unsigned short o",
            2,
            "8 by declared",
        ),
        ("float* out, const float* in, float factor, long count, struct(24, 8) s, unsigned short o", 3, "4 by cubin"),
        ("float* out", None, "1 parameters"),
    ],
)
def test_a_declaration_that_the_code_contradicts_is_refused_at_look_up(
    declaration: str, index: int | None, words: str
) -> None:
    """Kernel, index, what is declared and what the code says."""
    _, registry = registry_of("kernels.cubin", scale=declaration)
    with pytest.raises(SignatureError, match="scale") as caught:
        registry.function("m", "scale")
    assert caught.value.index == index
    assert words in str(caught.value)


def test_the_drivers_sizes_are_the_cross_check() -> None:
    """A fatbin of which nothing can be read: the driver's offsets and sizes (CUDA 12.4 on) hold a declaration to account."""
    driver = CudaLikeDriver((12, 0), 13000)
    driver.define_kernel("m", "mark", attributes=FunctionAttributes(parameters=((0, 8), (8, 4))))
    registry = ModuleRegistry(driver)
    registry.load("m", CodeInput("fatbin", data("one.fatbin")), signatures={"mark": "int* out, float factor"})
    assert registry.function("m", "mark").signature.sources == ("declared", "driver")
    with pytest.raises(SignatureError) as caught:
        registry.function("m", "mark", "int* out, double factor")
    assert caught.value.index == 1
    assert caught.value.kernel == "mark"
    assert "size in bytes is 8 by declared" in str(caught.value)
    assert "4 by driver" in str(caught.value)


def test_code_that_the_driver_contradicts_is_set_aside_with_a_note() -> None:
    """The driver is what will read the arguments: its sizes count, and the note tells both."""
    driver, registry = registry_of("kernels.cubin")
    driver.define_kernel("m", "large", attributes=FunctionAttributes(parameters=((0, 20000),)))
    large = registry.function("m", "large")
    assert sizes(large) == [(0, 20000)]
    assert any("its cubin was set aside" in note for note in large.notes)
