"""The examples that fix no backend run on CUDA by METRALE_BACKEND, with the results that they have on the CPU."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest
from rungs import require_rung
from standin_in_child import in_child

EXAMPLES = Path(__file__).parents[2] / "examples"
ANYWHERE = sorted(path.name for path in EXAMPLES.glob("*.py") if "METRALE_BACKEND" in path.read_text(encoding="utf-8"))


def run_on_cuda(name: str) -> tuple[list[str], list[str], int, list[str]]:
    """What an example prints on the CPU and on CUDA, how many launches the driver got, and what its kernels could not."""
    from standin import cuda
    from standin.executor import Executor

    # Newer than every NVRTC, so that source becomes PTX, which the stand-in can execute.
    cuda().set(driver_version=13990)
    executor = Executor(cuda())
    printed = []
    for backend in ("cpu", "cuda"):
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
            patch.setenv("METRALE_BACKEND", backend)
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        printed.append(out.getvalue().splitlines())
    return printed[0], printed[1], len(cuda().launches()), [str(each) for each in executor.failures]


def test_the_readme_says_which_run_anywhere() -> None:
    """Those that name METRALE_BACKEND are those that the table marks."""
    rows = (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines()
    marked = [row for row in rows if "| any" in row]
    assert [name for name in ANYWHERE if any(f"({name})" in row for row in marked)] == ANYWHERE
    assert len(marked) == len(ANYWHERE) == 6


@pytest.mark.parametrize("name", ANYWHERE)
def test_an_example_runs_on_cuda(name: str) -> None:
    """Its kernels reach the driver, and it prints what it prints on the CPU."""
    if name == "raw_kernel.py":
        require_rung("nvrtc")
        require_rung("debug information")
    on_cpu, on_cuda, launches, failures = in_child("test_examples_on_cuda:run_on_cuda", name)  # type: ignore[misc]
    assert failures == []
    assert launches > 0
    assert on_cuda == on_cpu
