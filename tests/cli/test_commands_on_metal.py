"""metrale-gpu on the Metal backend, over the stand-in: what is listed, inspected, launched and refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from metal_standin.control import environment
from rungs import require_rung

KERNELS = Path(__file__).parents[2] / "examples" / "kernels.metal"
COUNT = 1000


def run(*words: object, folder: Path | None = None, **facts: Any) -> subprocess.CompletedProcess[str]:
    """`metrale-gpu WORDS` where Metal is the stand-in, wide enough that nothing is wrapped."""
    return subprocess.run(
        [sys.executable, "-m", "metrale_gpu_runtime", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**environment(**facts), "COLUMNS": "400", "NO_COLOR": "1"},
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """a.npy and b.npy of 1000 floats."""
    np.save(tmp_path / "a.npy", np.arange(COUNT, dtype=np.float32))
    np.save(tmp_path / "b.npy", np.full(COUNT, 0.5, np.float32))
    return tmp_path


def test_devices_lists_each_metal_device_with_what_it_tells() -> None:
    """Two devices are two entries, numbered, with their memory's size and kind; no device is a reason."""
    listed = {each["backend"]: each for each in json.loads(run("devices", "--json", devices=2).stdout)}
    devices = listed["metal"]["devices"]
    assert [(each["index"], each["name"].startswith("Apple M2")) for each in devices] == [(0, True), (1, True)]
    assert devices[0]["unified_memory"] is True
    assert devices[0]["recommended_working_set"] == 1 << 34
    assert devices[0]["registry_id"] != devices[1]["registry_id"]
    none = {each["backend"]: each for each in json.loads(run("devices", "--json", devices=0).stdout)}["metal"]
    assert (none["usable"], none["devices"]) == (False, [])
    assert "sees no GPU" in none["reason"]


def test_inspect_reads_metal_source() -> None:
    """Every kernel with types and names from the text, sizes from reflection, limits from the pipeline."""
    require_rung("metal stand-in")
    shown = run("inspect", KERNELS, "--backend", "metal")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "void scale(device float* values, constant uint& count, constant float& factor)  [MSL text]" in shown.stdout
    document = json.loads(run("inspect", KERNELS, "--backend", "metal", "--json").stdout)
    kernels = {each["kernel"]: each for each in document["kernels"]}
    assert set(kernels) == {"vector_add", "scale", "add_constant", "fill_one_too_many"}
    told = [(each["name"], each["type"], each["nbytes"]) for each in kernels["vector_add"]["parameters"]]
    assert [(name, nbytes) for name, _, nbytes in told] == [("a", 8), ("b", 8), ("sum", 8), ("count", 4)]
    assert kernels["scale"]["max_threads_per_block"] == 1024


def test_inspect_passes_options_to_metals_compiler(tmp_path: Path) -> None:
    """A macro given with --option is what the source sees; an option that Metal has no word for is refused by name."""
    require_rung("metal stand-in")
    file = tmp_path / "sized.metal"
    file.write_text(
        "kernel void sized(device float4 *out) { threadgroup float room[ROOM]; room[0] = 1; out[0] = room[0]; }\n"
    )
    sized = json.loads(run("inspect", file, "--backend", "metal", "--option", "-DROOM=300", "--json").stdout)
    assert [(each["kernel"], each["static_shared_mem"]) for each in sized["kernels"]] == [("sized", 1200)]
    refused = run("inspect", file, "--backend", "metal", "--option", "-O7")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("NotSupported: module 'sized': option '-O7'")


def test_launch_runs_a_metal_kernel_on_files(folder: Path) -> None:
    """Arrays are read, bound to buffer indices, and the result is written; four blocks of 256 cover 1000 elements."""
    require_rung("metal stand-in")
    words = ("--grid", 4, "--block", 256, "in:a.npy", "in:b.npy", f"out:sum.npy:f32:{COUNT}", f"u32:{COUNT}")
    done = run("launch", KERNELS, "vector_add", *words, "--backend", "metal", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["device"] == "Apple M2 stand-in"
    assert report["elapsed_ms"] > 0
    assert report["outputs"] == [{"path": "sum.npy", "dtype": "float32", "shape": [COUNT]}]
    assert np.array_equal(np.load(folder / "sum.npy"), np.arange(COUNT, dtype=np.float32) + np.float32(0.5))


def test_the_demo_runs_metals_own_kernels() -> None:
    """The demo computes and refuses on Metal as elsewhere, and says that overruns are not caught there."""
    require_rung("metal stand-in")
    done = run("demo", "--backend", "metal")
    assert (done.returncode, done.stderr) == (0, "")
    assert "y = 2 * x + 1 on 1000 elements: [1. 3. 5. 7.] … 1999.0" in done.stdout
    assert "4 bytes expected, 8 given" in done.stdout
    assert "metal does not check memory accesses" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("in:a.npy", "null", "in:b.npy", "u32:9"), "null"),
        (("in:a.npy", "in:b.npy", "out:c.npy:f32:9", "u64:9"), "4 bytes expected, 8 given"),
        (("in:a.npy", "in:b.npy", "out:c.npy:f32:9"), "expects 4 arguments"),
        (("in:a.npy", "in:b.npy", "out:c.npy:f64:9", "u32:9"), "f64"),
        (("--block", "2048", "in:a.npy", "in:b.npy", "out:c.npy:f32:9", "u32:9"), "block.x is 2048"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_launch_is_one_message_and_no_file(folder: Path, words: tuple[str, ...], told: str) -> None:
    """What Metal would abort the process for, or compute wrongly, is refused before anything runs."""
    require_rung("metal stand-in")
    done = run("launch", KERNELS, "vector_add", *words, "--backend", "metal", folder=folder)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "c.npy").exists()


def test_what_the_compiler_refuses_has_the_files_name_and_line(tmp_path: Path) -> None:
    """A mistake in the source is named with the user's file and line, not with the compiler's name for it."""
    require_rung("metal stand-in")
    file = tmp_path / "wrong.metal"
    file.write_text("kernel void wrong(device float *x)\n{\n    x[0] = nonsense;\n}\n")
    done = run("inspect", file, "--backend", "metal")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{file}:3: error:" in done.stderr
    assert "program_source" not in done.stderr


def test_other_code_and_other_backends_are_refused_by_what_they_take() -> None:
    """PTX on metal, and Metal source on the CPU backend: each names what it was given and what would be taken."""
    ptx = run("inspect", KERNELS.with_suffix(".ptx"), "--backend", "metal")
    assert ptx.returncode == 1
    assert "is PTX; metal takes a Metal library (.metallib), Metal source (.metal)" in ptx.stderr
    msl = run("inspect", KERNELS)
    assert msl.returncode == 1
    assert "is Metal source; cpu takes PTX (.ptx), CUDA C (.cu)" in msl.stderr


CONSTANTS = """
#include <metal_stdlib>
using namespace metal;
constant uint WIDTH [[function_constant(0)]];
constant float2 PAIR [[function_constant(4)]];
kernel void plain(device float *x [[buffer(0)]]) { x[0] = 1; }
kernel void sized(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = WIDTH + PAIR.y * i; }
kernel void bulky(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    threadgroup float room[20000];
    room[i] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = room[i];
}
"""


def test_one_kernel_that_cannot_be_made_hides_none_of_the_others(tmp_path: Path) -> None:
    """Inspect says of a kernel which function constants it needs or why the device refuses it, and shows the rest."""
    require_rung("metal stand-in")
    file = tmp_path / "constants.metal"
    file.write_text(CONSTANTS)
    shown = run("inspect", file, "--backend", "metal")
    assert (shown.returncode, shown.stderr) == (0, "")
    for said in ("void plain(", "sized  is made with function constants", "WIDTH (uint, index 0)", "bulky  cannot run"):
        assert said in shown.stdout
    kernels = {
        each["kernel"]: each for each in json.loads(run("inspect", file, "-b", "metal", "--json").stdout)["kernels"]
    }
    assert {name for name, each in kernels.items() if "refused" in each} == {"sized", "bulky"}


def test_launch_takes_function_constants(folder: Path) -> None:
    """By name or index, a vector with commas; what does not fit and what cannot be read is refused by name."""
    require_rung("metal stand-in")
    file = folder / "constants.metal"
    file.write_text(CONSTANTS)
    words = ("launch", file, "sized", "-b", "metal", "--block", 3, "out:y.npy:f32:3")
    done = run(*words, "--constant", "WIDTH=64", "--constant", "4=1.5,0.25", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert np.load(folder / "y.npy").tolist() == [64, 64.25, 64.5]
    for constants, said in (
        (("WIDTH=-1", "PAIR=1,2"), "-1 does not fit u32"),
        (("WIDTH=64",), "PAIR (float2, index 4)"),
        (("WIDTH",), "--constant 'WIDTH': a function constant is written NAME=VALUE"),
        (("WIDTH=1", "WIDTH=1"), "given twice"),
        (("WIDTH=x",), "--constant 'WIDTH=x'"),
    ):
        refused = run(*words, *(word for each in constants for word in ("--constant", each)), folder=folder)
        assert refused.returncode == 1
        assert said in refused.stderr
