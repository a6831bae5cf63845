"""metrale-gpu as a person and a script see it: output, exit codes, files written, errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rungs import require_rung

import metrale_gpu_runtime

DEMO = Path(metrale_gpu_runtime.__file__).parent / "cli" / "kernels" / "demo.ptx"
X = np.arange(1000, dtype=np.float32)


def run(*arguments: object, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metrale_gpu_runtime", *map(str, arguments)]
    wide = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=wide, timeout=120)


def test_demo_shows_its_three_parts() -> None:
    """The demo runs a kernel, shows a refused launch and a caught overrun, and ends well."""
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "as it should be" in done.stdout
    assert "given f64 (8 bytes); 4 bytes expected, 8 given: use arg_f32" in done.stdout
    assert "out-of-bounds" in done.stdout
    assert "demo.cu:15" in done.stdout
    assert "nothing was lost" in done.stdout


def test_devices_names_every_backend() -> None:
    """Every backend is listed as usable with its devices, or with the reason why not; also as JSON."""
    listed = json.loads(run("devices", "--json").stdout)
    by_name = {each["backend"]: each for each in listed}
    assert set(by_name) >= {"cpu", "mock", "cuda", "hip", "metal", "opencl", "webgpu"}
    assert by_name["cpu"]["usable"]
    assert by_name["cpu"]["devices"][0]["index"] == 0
    assert not by_name["cuda"]["usable"]
    assert by_name["cuda"]["reason"]
    text = run("devices").stdout
    assert "cpu:0" in text
    assert "not usable" in text


def test_inspect_shows_signatures_and_limits() -> None:
    """The kernels of a PTX file with what PTX tells of them, as text and as JSON."""
    shown = run("inspect", DEMO)
    assert shown.returncode == 0, shown.stderr
    assert "scale_add(" in shown.stdout
    assert "[PTX]" in shown.stdout
    document = json.loads(run("inspect", DEMO, "--json").stdout)
    kernels = {each["kernel"]: each for each in document["kernels"]}
    assert list(kernels) == ["scale_add", "fill_one_too_many"]
    parameters = kernels["scale_add"]["parameters"]
    assert [(each["offset"], each["nbytes"]) for each in parameters] == [(0, 8), (8, 8), (16, 4), (20, 4)]


def test_inspect_reads_cuda_c() -> None:
    """From CUDA C the names and C types are known."""
    require_rung("nvrtc")
    require_rung("debug information")
    shown = run("inspect", DEMO.with_suffix(".cu"))
    assert "void scale_add(const float* x, float* y, unsigned int count, float factor)" in shown.stdout


CODE = Path(__file__).parents[1] / "cuda_code" / "data"


def test_inspect_reads_machine_code_without_a_device() -> None:
    """Of a cubin: kernels, architecture, where the parameters lie, block bounds, and what its debug information tells."""
    shown = run("inspect", CODE / "kernels.cubin")
    assert shown.returncode == 0, shown.stderr
    assert "cubin for sm_90" in shown.stdout
    kernels = {
        each["kernel"]: each for each in json.loads(run("inspect", CODE / "kernels.cubin", "--json").stdout)["kernels"]
    }
    assert kernels["scale"]["image"] == "cubin for sm_90"
    assert kernels["scale"]["max_block"] == [192, 1, 1]
    assert kernels["fixed"]["required_block"] == [32, 3, 1]
    places = [(each["offset"], each["nbytes"]) for each in kernels["scale"]["parameters"]]
    assert places == [(0, 8), (8, 8), (16, 4), (20, 4), (24, 24), (48, 2)]
    require_rung("debug information")
    assert (
        "void scale(float* out, const unsigned short* in, float factor" in run("inspect", CODE / "debug.cubin").stdout
    )


def test_inspect_reads_every_image_of_a_fatbin() -> None:
    """Each image has its own kernels; a compressed one is named with its architecture, not passed over."""
    document = json.loads(run("inspect", CODE / "one.plain.fatbin", "--json").stdout)
    assert [(each["kernel"], each["image"]) for each in document["kernels"]] == [
        ("mark", "cubin for sm_80"),
        ("mark", "PTX 9.0 for sm_80"),
    ]
    compressed = run("inspect", CODE / "defines.fatbin")
    assert compressed.returncode == 0
    assert "no kernels that can be read" in compressed.stdout
    assert "note: cubin for sm_90: is compressed" in compressed.stdout
    assert "note: PTX 9.0 for sm_90: is compressed" in compressed.stdout


def test_inspect_refuses_damaged_machine_code(tmp_path: Path) -> None:
    """A cubin that is cut off ends in one message."""
    (tmp_path / "cut.cubin").write_bytes((CODE / "kernels.cubin").read_bytes()[:900])
    done = run("inspect", tmp_path / "cut.cubin")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ModuleLoadError: module 'cut'")


def test_launch_runs_a_kernel_on_files(tmp_path: Path) -> None:
    """Arrays come from files, results go to new files beside them, the inputs stay as they were."""
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.ones_like(X))
    done = run(
        "launch", DEMO, "scale_add", "--grid", 4, "--block", 256, "in:x.npy", "inout:y.npy", "u32:1000", "f32:2.0",
        "--backend", "cpu", "--json", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["outputs"] == [{"path": "y.out.npy", "dtype": "float32", "shape": [1000]}]
    assert np.array_equal(np.load(tmp_path / "y.out.npy"), 2 * X + 1)
    assert np.array_equal(np.load(tmp_path / "y.npy"), np.ones_like(X))


def test_launch_takes_raw_files_and_makes_outputs(tmp_path: Path) -> None:
    """A raw file is read as its stated type; an output array is made, filled and written where --out says."""
    X.tofile(tmp_path / "x.bin")
    done = run(
        "launch", DEMO, "scale_add", "--grid", "4", "--block", "256", "in:x.bin:f32", "out:y.npy:f32:10x100",
        "u32:0x3e8", "f32:-0.5", "--backend", "cpu", "--out", "results",
        "--signature", "const float* x, float* y, unsigned int count, float factor", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "results" / "y.npy"), (-0.5 * X).reshape(10, 100))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["launch", DEMO, "scale_add", "--grid", "4", "null", "null", "u64:1000", "f32:2"],
            1,
            "4 bytes expected, 8 given",
        ),
        (["launch", DEMO, "scale_add", "null", "null", "u32:1000"], 1, "expects 4 arguments"),
        (["launch", DEMO, "scale_add", "null", "null", "u32:-1", "f32:2"], 1, "does not fit u32"),
        (["launch", DEMO, "scale_add", "null", "null", "u33:1", "f32:2"], 1, "no type of argument"),
        (["launch", DEMO, "scale_add", "in:nowhere.npy", "null", "u32:1", "f32:2"], 1, "nowhere.npy"),
        (["launch", DEMO, "scale_ad", "null", "null", "u32:1", "f32:2"], 1, "scale_add"),
        (["launch", DEMO, "scale_add", "--grid", "four", "null", "null", "u32:1", "f32:2"], 1, "--grid"),
        (["launch", DEMO, "scale_add", "--block", "2048", "null", "null", "u32:1", "f32:2"], 1, "block.x is 2048"),
        (["launch", DEMO, "scale_add", "--grid", "1", "--block", "4", "null", "null", "u32:4", "f32:2"], 1, "0x0"),
        (["inspect", "nowhere.ptx"], 1, "nowhere.ptx"),
        (["demo", "--backend", "cudda"], 1, "cudda"),
        (["inspect"], 2, "Missing argument"),
        (["launch", DEMO], 2, "Missing argument"),
    ],
)
def test_mistakes_end_in_one_message_and_an_exit_code(arguments: list[object], code: int, words: str) -> None:
    """What cannot be done ends with a message on standard error, no traceback, and a code that is not 0."""
    backend = ["--backend", "cpu"] if arguments[0] == "launch" and code == 1 else []
    done = run(*arguments, *backend)
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_damaged_files_are_refused_with_a_place(tmp_path: Path) -> None:
    """PTX that is not PTX is refused with line and column; bytes that are nothing known are refused too."""
    broken = tmp_path / "broken.ptx"
    broken.write_text(DEMO.read_text().replace("ld.param.u64", "ld,param.u64", 1))
    done = run("inspect", broken)
    assert done.returncode == 1
    assert "broken" in done.stderr
    garbage = tmp_path / "garbage.ptx"
    garbage.write_bytes(bytes(range(256)) * 10)
    assert run("inspect", garbage).returncode == 1


def test_the_version_is_printed() -> None:
    """--version prints the installed version and nothing else."""
    from importlib.metadata import version

    assert run("--version").stdout.strip() == version("metrale-gpu-runtime")
