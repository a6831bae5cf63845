"""What metrale-gpu says when something is wrong: one message, no traceback, exit code 1, or 2 for an option."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.discovery import BackendState
from metrale_gpu_runtime.driver import DeviceListing

PTX = str(Path(mg.__file__).parent / "cli" / "kernels" / "demo.ptx")


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


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("launch", PTX, "scale_add", "--grid", "4,x"), 1, "GeometryError: --grid is '4,x'; write 4, 4,2 or 4,2,1"),
        (("launch", PTX, "scale_add", "null", "null", "u32:-1"), 1, "ArgumentRangeError: scale_add: argument 2: -1"),
        (("launch", PTX, "scale_add", "null", "u99:1"), 1, "ArgumentTextError: argument 1 ('u99:1'): 'u99' is no type"),
        (("launch", PTX, "scale_add", "in:none.npy"), 1, "ArgumentTextError: argument 0 ('in:none.npy')"),
        (("launch", PTX, "scale_add", "--backend", "cpu:x"), 2, "'cpu:x' is no backend"),
        (("launch", PTX, "scale_add", "--backend", "abacus"), 1, "BackendUnavailable: no backend is called 'abacus'"),
    ],
    ids=lambda value: " ".join(value[2:]) if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_one_message(tmp_path: Path, arguments: tuple[str, ...], code: int, told: str) -> None:
    """A mistake ends with 1, or with 2 for an option, names what it is about, and shows no traceback."""
    ended = run(*arguments, folder=tmp_path)
    assert ended.returncode == code
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_warning_is_a_line_without_code(tmp_path: Path) -> None:
    """Without METRALE_BACKEND, auto warns that no GPU was taken; the line shows no file and no source text."""
    ended = run(
        "launch", PTX, "scale_add", "--grid", "0", "null", "null", "u32:0", "f32:1", folder=tmp_path, backend=""
    )
    assert ended.returncode == 0
    assert ended.stderr.startswith("GpuWarning: no GPU was taken")
    assert ended.stderr.count("\n") == 1


def test_a_reason_is_printed_with_its_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a backend says of itself is no markup: the names of the extras stand in it as they must be typed."""
    from rich.console import Console

    from metrale_gpu_runtime.cli import devices

    reason = 'not installed; pip install "metrale-gpu-runtime[cuda13]" (or [cuda12], [bold])'
    card = DeviceListing("hip", 3, "card [red]")
    states = {"cuda": BackendState("cuda", (), reason), "hip": BackendState("hip", (card,), "")}
    monkeypatch.setattr(devices, "available_backends", lambda: states)
    printed = io.StringIO()
    devices.show_devices(False, Console(file=printed, width=400))
    assert f"not usable: {reason}" in printed.getvalue()
    assert "hip:3  card [red]" in printed.getvalue()
