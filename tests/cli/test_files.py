"""metrale-gpu launch and files that cannot be read or written: one message that says which, nothing half done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import metrale_gpu_runtime
from metrale_gpu_runtime.cli.arguments import ArgumentTextError, ArrayArgument, read_argument

DEMO = Path(metrale_gpu_runtime.__file__).parent / "cli" / "kernels" / "demo.ptx"


def launch(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metrale_gpu_runtime", "launch", str(DEMO), "scale_add", "-b", "cpu"]
    command += ["--grid", "4", "--block", "256", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """x.npy and y.npy of 1000 floats."""
    np.save(tmp_path / "x.npy", np.arange(1000, dtype=np.float32))
    np.save(tmp_path / "y.npy", np.ones(1000, np.float32))
    return tmp_path


def test_a_raw_file_that_ends_in_the_middle_of_an_element_is_refused(tmp_path: Path) -> None:
    """5 bytes are no floats: the last one is not dropped in silence."""
    odd = tmp_path / "odd.bin"
    odd.write_bytes(b"12345")
    with pytest.raises(ArgumentTextError, match=r"argument 2 .*5 bytes, which are no whole number of float32"):
        read_argument(2, f"in:{odd}:f32")
    read = read_argument(2, f"in:{odd}")
    assert isinstance(read, ArrayArgument)
    assert read.array.tobytes() == b"12345"


def test_an_empty_npy_file_and_a_shape_beyond_all_memory_are_refused(tmp_path: Path) -> None:
    """What NumPy raises for them is no ValueError; the message still names the argument."""
    (tmp_path / "empty.npy").touch()
    with pytest.raises(ArgumentTextError, match=r"argument 0 .*holds no array: it has 0 bytes"):
        read_argument(0, f"in:{tmp_path / 'empty.npy'}")
    with pytest.raises(ArgumentTextError, match=r"argument 3 .*allocate"):
        read_argument(3, f"out:y.npy:f32:{10**18}")


def test_an_output_that_cannot_be_written_is_one_message(folder: Path) -> None:
    """A file where the folder of the outputs should be: an error with the path and the reason, no traceback."""
    done = launch(folder, "in:x.npy", "inout:y.npy", "u32:1000", "f32:2", "--out", "x.npy")
    assert done.returncode == 1
    assert done.stderr.startswith("ArgumentTextError: ")
    assert "y.npy: the output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_outputs_of_one_name_are_refused_before_anything_runs(folder: Path) -> None:
    """--out would put both into one file, and one result would be lost."""
    (folder / "other").mkdir()
    np.save(folder / "other" / "y.npy", np.ones(1000, np.float32))
    words = ("inout:y.npy", "inout:other/y.npy", "u32:1000", "f32:2")
    refused = launch(folder, *words, "--out", "results")
    assert refused.returncode == 1
    assert "arguments 0 and 1 would both be written to results/y.npy" in refused.stderr
    assert not (folder / "results").exists()
    assert launch(folder, *words).returncode == 0
    assert (folder / "other" / "y.out.npy").exists()


def test_a_name_beyond_the_terminals_encoding_ends_no_launch(folder: Path) -> None:
    """On an ASCII terminal the name of an output is escaped; the launch has gone well."""
    (folder / "y.npy").rename(folder / "ü.npy")
    done = launch(folder, "in:x.npy", "inout:ü.npy", "u32:1000", "f32:2", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"wrote \xfc.out.npy" in done.stdout
    assert np.array_equal(np.load(folder / "ü.out.npy"), 2 * np.arange(1000, dtype=np.float32) + 1)
