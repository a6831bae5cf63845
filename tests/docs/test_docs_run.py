"""Every Python block of docs/ runs, in order and in one namespace per page, and prints what the page says it prints."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from unittest.mock import patch

import pytest
from pages import DOCS, ROOT, blocks, matches
from rungs import require_rung
from standin import StandIn
from standin.executor import Executor
from standin.fixtures import standin_cuda as standin_cuda

PAGES = sorted(DOCS.glob("*.md"))
# hip: tests/hip/test_hip_page.py; metal: test_metal_page.py; opencl: tests/opencl/test_opencl_page.py;
# webgpu: tests/webgpu/test_webgpu_page.py
MARKS = frozenset({"no-run", "nvrtc", "cuda", "hip", "metal", "opencl", "webgpu"})


def _run(page: Path, capsys: pytest.CaptureFixture[str], *, needing: frozenset[str] = frozenset()) -> None:
    """Run the blocks of a page that need nothing, and those that need what is here: "nvrtc", "cuda"."""
    namespace: dict[str, object] = {"__name__": page.stem}
    # What a page sets in the environment is its own.
    with patch.dict(os.environ):
        for block in blocks(page):
            if block.marks - needing:
                continue
            # Blank lines before the code give tracebacks the page's line numbers.
            exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), namespace)
            printed = capsys.readouterr().out
            if block.output is not None:
                assert matches(block.output, printed), f"{page.name}:{block.line} printed:\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs no compiler runs everywhere, from the top of a clone."""
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("METRALE_BACKEND", raising=False)
    _run(page, capsys)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any("nvrtc" in block.marks for block in blocks(page))],
    ids=lambda page: page.name,
)
def test_the_cuda_of_a_page_runs(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks marked `nvrtc` run where there is a compiler, among the others of their page."""
    require_rung("nvrtc")
    require_rung("debug information")
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("METRALE_BACKEND", raising=False)
    _run(page, capsys, needing=frozenset({"nvrtc"}))


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any("cuda" in block.marks for block in blocks(page))],
    ids=lambda page: page.name,
)
def test_what_needs_a_gpu_runs_over_the_stand_in(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, standin_cuda: StandIn
) -> None:
    """The blocks marked `cuda` run on the CUDA driver room; the stand-in below it executes their kernels."""
    monkeypatch.chdir(ROOT)
    executor = Executor(standin_cuda)
    try:
        _run(page, capsys, needing=frozenset({"cuda"}))
        gc.collect()
    finally:
        executor.close()
    assert executor.failures == []
    assert executor.launches > 0


def test_marks_are_known_and_outputs_are_checked() -> None:
    """No block has a mark that nobody understands, and the pages do promise outputs."""
    found = [block for page in PAGES for block in blocks(page)]
    assert {mark for block in found for mark in block.marks} <= MARKS
    assert sum(block.output is not None for block in found) >= 10


@pytest.mark.parametrize(
    ("promised", "printed", "holds"),
    [("a … c", "a b c\n", True), ("a … c", "a b\nc", False), ("1.5", "1x5", False), ("a", "a\nb", False)],
)
def test_a_promise_of_output_can_be_broken(promised: str, printed: str, holds: bool) -> None:
    """The comparison takes an ellipsis within a line and nothing else for granted."""
    assert matches(promised, printed) is holds
