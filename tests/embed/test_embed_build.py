"""The committed PTX is what the model loads. That it is fresh, the tests of the house see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rungs import require_rung

from examples.embed import build_kernels
from examples.embed.model import KERNELS
from metrale_gpu_runtime.modules import prebuilt

SOURCES = build_kernels.sources()


def entries(ptx: str) -> dict[str, str]:
    """The kernels of a PTX text with their parameter lists and block limits."""
    found = re.findall(r"\.visible \.entry (\w+)\((.*?)\)([^{]*)\{", ptx, re.DOTALL)
    return {name: " ".join((parameters + directives).split()) for name, parameters, directives in found}


def test_every_module_has_source_and_ptx() -> None:
    """The folder holds exactly the modules that the model loads, each as CUDA C and PTX, MSL, OpenCL C and WGSL."""
    expected = {f"{name}{suffix}" for name in KERNELS for suffix in (".cu", ".ptx", ".metal", ".cl", ".wgsl")}
    assert {path.name for path in build_kernels.KERNEL_FOLDER.iterdir()} == expected


def test_a_module_that_lacks_a_language_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has CUDA C and nothing in another language is found, file by file, and nothing else."""
    assert build_kernels.lacking() == []
    for name in ("matmul.cu", "matmul.metal", "matmul.cl", "matmul.wgsl", "gelu.cu", "gelu.cl"):
        (tmp_path / name).touch()
    monkeypatch.setattr(build_kernels, "KERNEL_FOLDER", tmp_path)
    assert build_kernels.lacking() == ["gelu.metal", "gelu.wgsl"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_ptx_holds_the_kernels(source: Path) -> None:
    """The committed PTX has exactly the kernels that the model asks this module for."""
    assert set(entries(source.with_suffix(".ptx").read_text(encoding="utf-8"))) == set(KERNELS[source.stem])


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_any_compiler_gives_the_same_parameters(source: Path) -> None:
    """Whatever NVRTC is here, it makes kernels that are launched as those of the committed PTX are."""
    require_rung("nvrtc")
    assert entries(prebuilt.build(source)) == entries(source.with_suffix(".ptx").read_text(encoding="utf-8"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_declared_parameters_are_those_of_the_source(source: Path) -> None:
    """What the model declares of a kernel, name by name and type by type, is what its CUDA C says."""
    text = source.read_text(encoding="utf-8").replace("__restrict__", "").replace("unsigned int", "unsigned")
    written = re.findall(r"__global__ void (?:__launch_bounds__\(.*?\)\s*)?(\w+)\((.*?)\)\s*\{", text, re.DOTALL)
    assert {name: "".join(parameters.split()).split(",") for name, parameters in written} == {
        name: parameters.replace(" ", "").split(",") for name, parameters in KERNELS[source.stem].items()
    }


def test_folders_leave_no_trace() -> None:
    """Only the folder of `.file` lines is dropped."""
    ptx = '\t.file\t1 "/some/where/gelu.cu"\n\t.file\t2 "plain.cu"\n// "/a/b"\n'
    assert prebuilt.without_folders(ptx) == '\t.file\t1 "gelu.cu"\n\t.file\t2 "plain.cu"\n// "/a/b"\n'
