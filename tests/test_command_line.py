"""metrale-gpu: data in, text or JSON out; what is wrong is told in one message, with exit code 1 or 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import metrale_gpu_runtime as mg

PTX = str(Path(mg.__file__).parent / "cli" / "kernels" / "demo.ptx")
COUNT = 1000


def run(*arguments: str, folder: Path, backend: str = "cpu") -> subprocess.CompletedProcess[str]:
    """`python -m metrale_gpu_runtime ARGUMENTS` in a folder, wide enough that nothing is wrapped."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("METRALE_")}
    environment |= {"COLUMNS": "400", "PYTHONIOENCODING": "utf-8"} | ({"METRALE_BACKEND": backend} if backend else {})
    return subprocess.run(
        [sys.executable, "-m", "metrale_gpu_runtime", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env=environment,
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", np.arange(COUNT, dtype=np.float32))
    np.full(COUNT, 7, np.float32).tofile(tmp_path / "y.bin")
    return tmp_path


SHAPE = ("--grid", "4", "--block", "256")


def test_a_launch_reads_arrays_and_writes_what_it_changed(folder: Path) -> None:
    """An inout file is left as it was and its result is written beside it; numbers reach the kernel in their types."""
    ended = run("launch", PTX, "scale_add", *SHAPE, "in:x.npy", "inout:y.bin:f32", "u32:999", "f32:-2.5", folder=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "wrote y.out.bin" in ended.stdout
    expected = np.float32(-2.5) * np.arange(COUNT, dtype=np.float32) + 7
    expected[999] = 7
    assert (np.fromfile(folder / "y.out.bin", np.float32) == expected).all()
    assert (np.fromfile(folder / "y.bin", np.float32) == 7).all()


def test_a_launch_tells_in_json_and_makes_new_arrays(folder: Path) -> None:
    """--json is one document; out: is a new zeroed array; bare numbers take a declared type; --out is a folder."""
    ended = run(
        "launch", PTX, "scale_add", *SHAPE, "--json", "--out", "results",
        "--signature", "const float* x, float* y, unsigned int count, float factor",
        "in:x.npy", f"out:z.npy:f32:{COUNT}", str(COUNT), "3", folder=folder,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    report = json.loads(ended.stdout)
    assert (report["kernel"], report["module"], report["grid"]) == ("scale_add", "demo", "4")
    (output,) = report["outputs"]
    assert (output["dtype"], output["shape"]) == ("float32", [COUNT])
    assert (np.load(folder / output["path"]) == 3 * np.arange(COUNT)).all()
    assert Path(output["path"]).parts[0] == "results"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("launch", "none.cu", "k"), 1, "CodeNotFound: module 'none': there is no code at none.cu"),
        (
            ("launch", PTX, "scale_ad"),
            1,
            "KernelNotFound: module 'demo' has no kernel 'scale_ad'; did you mean scale_add?",
        ),
        (("launch", PTX, "scale_add", "--grid", "4,x"), 1, "GeometryError: --grid is '4,x'; write 4, 4,2 or 4,2,1"),
        (("launch", PTX, "scale_add", "null", "null", "u32:-1"), 1, "ArgumentRangeError: scale_add: argument 2: -1"),
        (("launch", PTX, "scale_add", "null", "u99:1"), 1, "ArgumentTextError: argument 1 ('u99:1'): 'u99' is no type"),
        (("launch", PTX, "scale_add", "in:none.npy"), 1, "ArgumentTextError: argument 0 ('in:none.npy')"),
        (("launch", PTX, "scale_add", "--backend", "cpu:x"), 2, "'cpu:x' is no backend"),
        (("launch", PTX, "scale_add", "--backend", "abacus"), 1, "BackendUnavailable: no backend is called 'abacus'"),
        (("inspect", "none.ptx"), 1, "CodeNotFound"),
    ],
    ids=lambda value: " ".join(value[2:]) if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_one_message(folder: Path, arguments: tuple[str, ...], code: int, told: str) -> None:
    """A mistake ends with 1, or with 2 for an option, names what it is about, and shows no traceback."""
    ended = run(*arguments, folder=folder)
    assert ended.returncode == code
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_overrun_is_told_and_nothing_is_written(folder: Path) -> None:
    """A fault of the kernel is the message, and no output file is written."""
    ended = run("launch", PTX, "fill_one_too_many", *SHAPE, "inout:y.bin:f32", "u32:1000", "f32:1", folder=folder)
    assert ended.returncode == 1
    assert "KernelFault: out-of-bounds" in ended.stderr
    assert not (folder / "y.out.bin").exists()


def test_a_warning_is_a_line_without_code(folder: Path) -> None:
    """Without METRALE_BACKEND, auto warns that no GPU was taken; the line shows no file and no source text."""
    ended = run("launch", PTX, "scale_add", "--grid", "0", "null", "null", "u32:0", "f32:1", folder=folder, backend="")
    assert ended.returncode == 0
    assert ended.stderr.startswith("GpuWarning: no GPU was taken")
    assert ended.stderr.count("\n") == 1


def test_inspect_and_devices_tell_in_json(folder: Path) -> None:
    """The kernels of a file with their parameters; each backend with its devices or the reason."""
    told = json.loads(run("inspect", PTX, "--json", folder=folder).stdout)
    assert [kernel["kernel"] for kernel in told["kernels"]] == ["scale_add", "fill_one_too_many"]
    assert [(each["offset"], each["nbytes"]) for each in told["kernels"][0]["parameters"]] == [
        (0, 8),
        (8, 8),
        (16, 4),
        (20, 4),
    ]
    states = {each["backend"]: each for each in json.loads(run("devices", "--json", folder=folder).stdout)}
    assert {"cpu", "mock", "cuda", "hip", "metal", "opencl", "webgpu"} <= set(states)
    assert states["cpu"]["devices"]
    assert states["webgpu"]["reason"]


def test_the_demo_shows_its_three_parts(folder: Path) -> None:
    """The demo runs a kernel, refuses a launch, catches an overrun, and ends well."""
    ended = run("demo", folder=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    for part in ("as it should be", "ArgumentSizeError", "KernelFault", "nothing was lost"):
        assert part in ended.stdout
