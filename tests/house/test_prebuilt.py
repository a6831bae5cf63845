"""Committed PTX is what its CUDA C compiles to."""

from __future__ import annotations

from pathlib import Path

import pytest
from rungs import require_rung

from metrale_gpu_runtime.modules.prebuilt import build, compiler_version, is_fresh
from metrale_gpu_runtime.testing import run_isolated

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    source
    for folder in ("src", "examples", "bench")
    for source in (ROOT / folder).rglob("*.cu")
    if source.with_suffix(".ptx").exists()
)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_committed_ptx_was_built_from_its_source(source: Path) -> None:
    """The digest in the PTX's first line is that of the source and options of today; this needs no compiler."""
    assert is_fresh(source), f"run: python -m metrale_gpu_runtime.modules.prebuilt {source}"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_same_compiler_gives_the_same_ptx(source: Path) -> None:
    """An NVRTC of the version that built the PTX builds the same text again; another version still compiles it."""
    require_rung("nvrtc")
    committed = source.with_suffix(".ptx").read_text(encoding="utf-8")
    # In a process of its own: after a compilation with -G, NVRTC lowers __grid_constant__ parameters differently.
    again = run_isolated(build, source).check()
    if compiler_version(again) == compiler_version(committed):
        assert again == committed


def test_there_is_ptx_to_check() -> None:
    """The search finds the example's, the benchmark's and the demo's kernels."""
    assert {"embed", "bench", "cli"} <= {part for source in SOURCES for part in source.parts}
