"""Metal source and libraries: which file is taken, what options and names mean, what is said of a kernel not found."""

from __future__ import annotations

from dataclasses import replace

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock import profile
from metrale_gpu_runtime.drivers.mock.log import LoadModule
from metrale_gpu_runtime.testing import MockGpuBackend

TEXT = "kernel void add(device float* x [[buffer(0)]], constant uint& n [[buffer(1)]]) {}\n"
TEMPLATE = "template <typename T> kernel void scale(device T* x [[buffer(0)]]) {}\n"


@pytest.fixture
def gpu():
    """A device that takes what Metal's driver takes."""
    with MockGpuBackend(replace(profile("M2"), code_formats=("metallib", "msl")), strict=True) as gpu:
        gpu.declare_kernels("m", "add")
        yield gpu


def loaded(gpu):
    call = gpu.log.of(LoadModule)[-1]
    return call.format, call.nbytes, call.options


def test_a_path_without_suffix_finds_metals_files(gpu, tmp_path):
    """A library is taken before source, source where there is no library, and other languages not at all."""
    for suffix in (".cu", ".ptx", ".hip"):
        (tmp_path / f"norm{suffix}").write_text("not for a Mac")
    with pytest.raises(mg.CodeNotFound, match=r"norm\.metallib, norm\.metal.*norm\.cu"):
        gpu.load_module("m", path=tmp_path / "norm")
    (tmp_path / "norm.metal").write_text(TEXT)
    gpu.load_module("m", path=tmp_path / "norm")
    assert loaded(gpu) == ("msl", len(TEXT), ())
    assert str(gpu.kernel("m", "add").signature) == "void add(device float* x, constant uint& n)  [MSL text]"
    (tmp_path / "norm.metallib").write_bytes(b"MTLB and more")
    gpu.load_module("other", path=tmp_path / "norm")
    assert loaded(gpu) == ("metallib", 13, ())


def test_source_is_metals(gpu):
    """Text without a suffix is Metal source, with its options; alternatives choose it by its suffix."""
    gpu.load_module("m", source=TEXT, options=("-DN=4", "-std=metal3.1"))
    assert loaded(gpu) == ("msl", len(TEXT), ("-DN=4", "-std=metal3.1"))
    gpu.load_module("again", source={".cu": "__global__ void add() {}", ".metal": TEXT})
    assert loaded(gpu) == ("msl", len(TEXT), ())


def test_options_of_the_compiler_are_macros(gpu):
    """A name that an option defines is a macro of the text: a kernel that has it is not read."""
    gpu.load_module("m", source=TEXT, options=("-Dn=count",))
    assert gpu.kernel("m", "add").signature.parameters is None


def test_what_metal_does_not_take(gpu):
    """Options for a library, C++ names for Metal source, and code for other devices are refused by name."""
    with pytest.raises(mg.ModuleLoadError, match=r"-O.*a Metal library.*compiled already"):
        gpu.load_module("m", binary=b"MTLB and more", options=("-O",))
    with pytest.raises(mg.ModuleLoadError, match=r"names=.*this is msl"):
        gpu.load_module("m", source=TEMPLATE, names=("scale<float>",))
    with pytest.raises(mg.ModuleLoadError, match=r"PTX; mock takes a Metal library \(\.metallib\), Metal source"):
        gpu.load_module("m", source=".version 8.0\n.target sm_80\n")


def test_raw_kernels_are_metal_source(gpu):
    """A raw kernel's text goes to the device as Metal source, once for equal text, options and name."""
    made = []
    declare = gpu.mock._known_functions
    gpu.mock._known_functions = lambda module: (*declare(module), "add", "a::add")
    for name in ("add", "a::add", "add"):
        kernel = gpu.raw_kernel(TEXT, name, ("-DN=1",))
        made.append(loaded(gpu))
        kernel((4,), (256,), (gpu.empty(3, mg.f32), mg.u32(3)))
    assert made == [("msl", len(TEXT), ("-DN=1",))] * 3
    assert len(gpu.log.of(LoadModule)) == 2


def test_a_template_of_metals_is_explained(gpu):
    """A name that is a template in the source is said to be one, with how Metal makes a kernel of it."""
    gpu.load_module("m", source=TEXT + TEMPLATE)
    for name in ("scale", "scale<float>"):
        with pytest.raises(mg.KernelNotFound, match=r"host_name\(\"scale_float\"\).*scale<float>"):
            gpu.kernel("m", name)
    with pytest.raises(mg.KernelNotFound, match="did you mean add") as info:
        gpu.kernel("m", "ad")
    assert "host_name" not in str(info.value)
