"""How processes end, and what they need to start (field cases 29, 40).

METRALE_EXIT_RUNS=50 is the full proof of quiet exits: so many children for each backend and each way to end.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import stat
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from field_cases_places import CODE_OBJECTS, PLACES
from rungs import require_rung

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.testing import IsolatedResult, MockGpuBackend, run_isolated
from metrale_gpu_runtime.testing.conformance.target import KERNELS

RUNS = int(os.environ.get("METRALE_EXIT_RUNS", "0"))
WAYS = ("returning", "raising", "shut down first")


def environment_of(name: str, **settings: object) -> dict[str, str] | None:
    """What a child needs to have this backend; skips the test where it cannot be had."""
    if name == "mock":
        return None
    require_rung("stand-in driver" if name == "cuda" else "hip stand-in")
    if name == "cuda":
        from standin import environment
    else:
        from standin.hip_library import environment
    return environment(1, **settings)


def opened(name: str) -> mg.GpuBackend:
    """As a user opens it, in a child."""
    gpu = MockGpuBackend("H100") if name == "mock" else mg.open_backend(name)
    path = CODE_OBJECTS / "suite.gfx1100.hsaco" if name == "hip" else KERNELS / "suite.ptx"
    gpu.load_module("suite", path=path)
    return gpu


# ------------------------------------------------ 29: quiet at exit


class Node:
    """One of two that hold each other and everything else."""


def leave_everything_alive(name: str, way: str) -> None:
    """In a child: one of each kind in the module's globals and in a cycle, work that nobody waited for, a busy thread."""
    global kept
    gpu = opened(name)
    module = gpu.module("suite")
    kernel = module["echo_32"]
    x, y = gpu.empty(33, mg.u32), gpu.empty(77, mg.u32)
    stream, other = gpu.create_stream(), gpu.create_stream()
    event = gpu.create_event()
    with gpu.capture(stream) as capture:
        kernel[2, 32, 0, stream](y, mg.u32(5))
    graph = capture.graph
    prepared = kernel[2, 32].prepare(x, mg.u32(6))
    with gpu.sequence() as sequence:
        kernel[2, 32](x, mg.u32(7))
    graph.launch(stream)
    prepared()
    sequence()
    event.record(stream)
    one, two = Node(), Node()
    one.other, two.other = two, one
    one.kept = [gpu, module, kernel, x, y, stream, event, graph, capture, prepared, sequence, gpu.alloc(55)]
    if gpu.capabilities.pinned_memory:
        two.kept = gpu.alloc_host_pinned(66)
    kept = [one, gpu, graph, prepared]
    del one, two

    def work() -> None:
        # It is told when the backend closes under it; what it makes of that is the user's affair.
        with suppress(mg.GpuError):
            while True:
                kernel[2, 32, 0, other](y, mg.u32(8))
                gpu.empty(9, mg.u32)
                gc.collect(0)

    threading.Thread(target=work, daemon=True).start()
    if way == "shut down first" and name != "mock":
        if name == "cuda":
            from standin import cuda as load
        else:
            from standin.hip_library import load
        # Called before the backend's own clean-up, which was registered earlier.
        atexit.register(load().deinitialize)
    if way == "raising":
        raise ValueError("the user's own")


def ended(name: str, way: str, number: int) -> IsolatedResult:
    # By turns the library says "deinitialised" by itself as soon as Python ends.
    settings = {"deinitialize_with_interpreter": 1} if number % 2 else {}
    environment = environment_of(name, **settings)
    return run_isolated("test_field_cases_processes:leave_everything_alive", name, way, environment=environment)


@pytest.mark.parametrize("name", PLACES)
def test_a_process_ends_quietly(name: str) -> None:
    """Exit code 0 and an empty stderr with everything alive; after an uncaught exception its traceback and no more."""
    environment_of(name)
    runs = [(way, number) for number in range(RUNS) for way in WAYS] if RUNS else [(WAYS[n % 3], n) for n in range(4)]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda run: (run, ended(name, *run)), runs))
    for (way, number), result in results:
        if way != "raising":
            assert (result.exit_code, result.stderr) == (0, ""), (way, number)
            continue
        lines = result.stderr.splitlines()
        assert (result.exit_code, lines[0], lines[-1]) == (
            1,
            "Traceback (most recent call last):",
            "ValueError: the user's own",
        ), (number, result.stderr)
        frames = [line for line in lines[1:-1] if not line.startswith(" ")]
        assert frames == [], (number, result.stderr)


# ------------------------------------------------ 40: no compiler, a home that cannot be written


def everything_below(*folders: str) -> dict[str, float]:
    """Every file below, with the time of its last change."""
    found = {}
    for folder in folders:
        for path in Path(folder).rglob("*"):
            with suppress(OSError):
                found[str(path)] = path.lstat().st_mtime
    return found


def import_load_launch(name: str, watched: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """In a child without tools: (files that were written, warnings) of import, load and launch."""
    assert shutil.which("gcc") is None
    assert shutil.which("cc") is None
    before = everything_below(*watched)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with opened(name) as gpu:
            kernel = gpu.kernel("suite", "echo_32")
            out = gpu.empty(1, mg.u32)
            kernel[3, 32](out, mg.u32(5))
            kernel[3, 32].prepare(out, mg.u32(6))()
            gpu.synchronize()
            if name == "cuda":
                source = 'extern "C" __global__ void k(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }'
                for turn in range(2):
                    gpu.load_module(f"source {turn}", source={".cu": source})["k"][2, 32](
                        gpu.empty(32, mg.i32), mg.i32(5)
                    )
                gpu.synchronize()
    after = everything_below(*watched)
    written = [path for path in after if before.get(path) != after[path]]
    return written, [str(each.message) for each in told]


@pytest.mark.parametrize(
    ("name", "home"), [("cuda", "read-only"), ("cuda", "missing"), ("hip", "missing"), ("mock", "missing")]
)
def test_no_compiler_and_no_home_are_needed(name: str, home: str, tmp_path: Path) -> None:
    """With no program on PATH, no headers, and a home that cannot be written: it works, and nothing is written."""
    environment = environment_of(name) or dict(os.environ)
    if name == "cuda":
        require_rung("nvrtc")
    place, temporary, bare = tmp_path / "home", tmp_path / "temporary", tmp_path / "bin"
    for folder in (place, temporary, bare):
        folder.mkdir()
    place.chmod(stat.S_IRUSR | stat.S_IXUSR)
    # Root may write into a read-only folder: below a file nobody can.
    (bare / "file").touch()
    where = str(place if home == "read-only" else bare / "file" / "home")
    environment |= {"PATH": str(bare), "HOME": where, "XDG_CACHE_HOME": f"{where}/.cache", "TMPDIR": str(temporary)}
    environment |= {"CUDA_HOME": "", "CUDA_PATH": "", "CPATH": "", "C_INCLUDE_PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"CUDA_CACHE_PATH": f"{where}/nv"}
    package = str(Path(mg.__file__).parent)
    watched = (str(place), str(temporary), str(bare), package, os.getcwd() + "/.cache")
    result = run_isolated(
        "test_field_cases_processes:import_load_launch", name, watched, environment=environment
    ).check()
    written, told = result
    assert written == []
    assert len(told) <= 1, told
