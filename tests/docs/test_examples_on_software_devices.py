"""The examples that fix no backend, and the demo, on OpenCL and WebGPU: devices that a machine without a GPU has too."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest
from pocl import pocl_spec
from rich.console import Console
from rungs import require_rung

from metrale_gpu_runtime.cli.demo import run_demo

EXAMPLES = Path(__file__).parents[2] / "examples"
# raw_kernel.py needs CUDA C, structs.py a double, which WGSL has not.
ANYWHERE = ("vector_add", "prepared_and_slots", "sequence_and_graph", "streams_and_events")
CASES = [(name, backend) for name in ANYWHERE for backend in ("opencl", "webgpu")] + [("structs", "opencl")]


def spec(backend: str) -> str:
    """The device of this backend that runs here."""
    require_rung({"opencl": "pocl", "webgpu": "software vulkan"}[backend])
    return (pocl_spec() or backend) if backend == "opencl" else backend


def printed(name: str, backend: str) -> list[str]:
    """What an example prints; of a refusal's words only those that no device adds to."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.setenv("METRALE_BACKEND", backend)
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return [line.partition(" expected, ")[0] for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(("name", "backend"), CASES)
def test_an_example_prints_what_it_prints_on_the_cpu(name: str, backend: str) -> None:
    """One word changed: the same lines."""
    lines = printed(name, spec(backend))
    assert len(lines) > 1
    assert lines == printed(name, "cpu")


@pytest.mark.parametrize("backend", ["opencl", "webgpu"])
def test_the_demo_runs(backend: str) -> None:
    """Its kernel computes, its wrong launch is refused, and it says that memory accesses are not checked here."""
    out = io.StringIO()
    run_demo(spec(backend), Console(file=out, width=400))
    assert "as it should be" in out.getvalue()
    assert "ArgumentSizeError" in out.getvalue()
    assert f"{backend} does not check memory accesses" in out.getvalue()
