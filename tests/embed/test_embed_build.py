"""The committed PTX is that of the sources beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examples.embed import build_kernels
from examples.embed.model import KERNELS
from rungs import require_rung

from metrale_gpu_runtime.modules import prebuilt

SOURCES = build_kernels.sources()


def entries(ptx: str) -> dict[str, str]:
    """The kernels of a PTX text with their parameter lists and block limits."""
    found = re.findall(r"\.visible \.entry (\w+)\((.*?)\)([^{]*)\{", ptx, re.DOTALL)
    return {name: " ".join((parameters + directives).split()) for name, parameters, directives in found}


def test_every_module_has_source_and_ptx() -> None:
    """The folder holds exactly the modules that the model loads, each as source and as PTX."""
    expected = {f"{name}{suffix}" for name in KERNELS for suffix in (".cu", ".ptx")}
    assert {path.name for path in build_kernels.KERNEL_FOLDER.iterdir()} == expected


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_ptx_was_built_from_the_source(source: Path) -> None:
    """The digest in the PTX is that of the source and the options; else `make kernels` was forgotten."""
    ptx = source.with_suffix(".ptx").read_text(encoding="utf-8")
    assert ptx.partition("\n")[0] == prebuilt.stamp(source)
    assert set(entries(ptx)) == set(KERNELS[source.stem])


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_ptx_is_what_the_compiler_makes(source: Path) -> None:
    """The same NVRTC makes the very same text; another version makes the same kernels with the same parameters."""
    require_rung("nvrtc")
    committed = source.with_suffix(".ptx").read_text(encoding="utf-8")
    built = prebuilt.build(source)
    assert entries(built) == entries(committed)
    if prebuilt.compiler_version(built) == prebuilt.compiler_version(committed):
        assert built == committed


def test_folders_leave_no_trace() -> None:
    """Only the folder of `.file` lines is dropped."""
    ptx = '\t.file\t1 "/some/where/gelu.cu"\n\t.file\t2 "plain.cu"\n// "/a/b"\n'
    assert prebuilt.without_folders(ptx) == '\t.file\t1 "gelu.cu"\n\t.file\t2 "plain.cu"\n// "/a/b"\n'
