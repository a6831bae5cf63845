"""`python -m examples.embed` as a person runs it."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import metrale_gpu_runtime as mg
from examples.embed import __main__ as command
from examples.embed import sentences
from examples.embed.weights import ModelFiles

ROOT = Path(__file__).parents[2]


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> Console:
    """The command's console, recorded, and wide enough that no line is broken."""
    console = Console(record=True, width=200, file=io.StringIO())
    monkeypatch.setattr(command, "console", console)
    return console


@pytest.fixture
def device(gpu: mg.GpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the command run on the device that the other tests have open: its kernels are compiled."""
    monkeypatch.setattr(command, "open_device", lambda backend: nullcontext(gpu))


def run_command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("TEXT", "FILE", "BACKEND")}
    return subprocess.run(
        [sys.executable, "-m", "examples.embed", *arguments],
        cwd=ROOT,
        env=clean | {"COLUMNS": "200", "BACKEND": "cpu"} | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_default_run_checks_itself(files: ModelFiles) -> None:
    """Without arguments the reference's sentences are embedded, timed and compared with the reference."""
    done = run_command()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "the embeddings agree with the reference: " in done.stdout
    assert "0.707443" in done.stdout
    assert re.search(r"matmul_bias_f32\s+│\s+24\s+│", done.stdout)
    assert re.search(r"3 sentences, 32 tokens in [\d.]+ s: [\d,]+ tokens per second", done.stdout)


@pytest.mark.usefixtures("files", "device")
def test_wrong_embeddings_fail_the_run(monkeypatch: pytest.MonkeyPatch, wide: Console) -> None:
    """The run says so, and is no success, when the embeddings are not the reference's."""
    reference = sentences.read_reference()
    reference.first8[1, 7] += 2e-4
    monkeypatch.setattr(command, "read_reference", lambda: reference)
    assert command.run(None, None, "cpu", None) is False
    assert "the embeddings DIFFER from the reference: 2.0e-04 apart at most, 1e-04 allowed" in wide.export_text()


@pytest.mark.usefixtures("files", "device")
def test_file_and_out(wide: Console, tmp_path: Path) -> None:
    """A file of sentences is embedded in its order, cut texts are named, and --out holds every vector."""
    path, out = tmp_path / "in.txt", tmp_path / "vectors.npy"
    path.write_text(f"Rain.\n\n{'word ' * 300}\nRain.\n", encoding="utf-8")
    assert command.run(None, path, "cpu", out) is True
    shown = wide.export_text()
    assert (
        "sentence 2 was truncated: the model reads 256 tokens with [CLS] and [SEP]; the last 46 were left out" in shown
    )
    assert "reference" not in shown
    vectors = np.load(out)
    assert vectors.shape == (3, 384)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert float(vectors[0] @ vectors[1]) < 0.9


@pytest.mark.usefixtures("files", "device")
def test_text_from_the_environment(monkeypatch: pytest.MonkeyPatch, wide: Console) -> None:
    """TEXT holds one sentence a line; there is no known answer for them."""
    monkeypatch.setenv("TEXT", "First one.\nA second one.")
    command.main()
    shown = wide.export_text()
    assert "2 sentences, 11 tokens" in shown
    assert "reference" not in shown


@pytest.mark.usefixtures("files", "device")
def test_empty_text_is_a_sentence(wide: Console) -> None:
    """--text "" embeds the empty sentence."""
    assert command.run([""], None, "cpu", None) is True
    assert "1 sentence, 2 tokens" in wide.export_text()


def test_unreadable_file_is_an_error(files: ModelFiles, tmp_path: Path) -> None:
    """A wrong file ends the run with status 2 and one line that names it."""
    done = run_command(FILE=str(tmp_path / "gone.txt"))
    assert done.returncode == 2
    assert done.stdout == ""
    complaint = f"{tmp_path / 'gone.txt'}: there is no such file; give a text file of one sentence a line"
    assert done.stderr == f"error: {complaint}\n"


@pytest.mark.parametrize("backend", ["abacus", "cpu:first"])
def test_unknown_backend_is_an_error(files: ModelFiles, backend: str) -> None:
    """A backend that does not exist ends the run with the runtime's own message in one line."""
    done = run_command("--backend", backend)
    assert done.returncode == 2
    assert backend in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_text_and_file_exclude_each_other(tmp_path: Path) -> None:
    """Two sources at once are refused, not merged."""
    with pytest.raises(command.EmbedError, match="not from both"):
        command.run(["a"], tmp_path, "cpu", None)
