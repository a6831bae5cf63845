"""What `make run TEXT=… FILE=… BACKEND=…` hands to the example: the words as they were typed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TELL = "import os, sys; print(repr((sys.argv[2:], os.environ['TEXT'], os.environ['FILE'], os.environ['BACKEND'])))"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The Makefile beside an environment that is ready and whose Python only tells what it was given."""
    if shutil.which("make") is None:
        pytest.skip("make is not on PATH")
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    for stamp in (".base", ".run"):
        (tmp_path / ".venv" / stamp).touch()
    python = binaries / "python"
    python.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -c "{TELL}" "$@"\n')
    python.chmod(0o755)
    return tmp_path


def _told(project: Path, *words: str, **environment: str) -> tuple[list[str], str, str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("TEXT", "FILE", "BACKEND", "MAKEFLAGS")}
    command = ["make", "-s", "run", *words]
    done = subprocess.run(command, cwd=project, env=kept | environment, capture_output=True, text=True, check=True)
    options, text, file, backend = ast.literal_eval(done.stdout)
    return options, text, file, backend


@pytest.mark.parametrize(
    "text", ["plain", "costs $5 or ${HOME}", "`ls` $(shell ls)", 'it\'s "so" & # 😀', "two\nlines"]
)
def test_a_text_arrives_as_it_was_typed(project: Path, text: str) -> None:
    """Neither make nor the shell reads what is in TEXT, and FILE and BACKEND are what they were."""
    assert _told(project, f"TEXT={text}") == (["--text", text], text, "", "auto")


def test_an_empty_text_is_the_empty_sentence(project: Path) -> None:
    """TEXT= on the command line asks for the empty sentence; a TEXT that nobody gave asks for the reference."""
    assert _told(project, "TEXT=")[0] == ["--text", ""]
    assert _told(project)[0] == []
    assert _told(project, TEXT="")[0] == []


def test_file_and_backend_arrive_as_they_were_typed(project: Path) -> None:
    """Quotes and dollars in the name of a file or backend are part of the name; an empty FILE is none."""
    assert _told(project, "FILE=a b$x'.txt", "BACKEND=it's") == (["--file", "a b$x'.txt"], "", "a b$x'.txt", "it's")
    assert _told(project, "FILE=", "BACKEND=cpu") == ([], "", "", "cpu")
    assert _told(project, TEXT="from $HOME") == (["--text", "from $HOME"], "from $HOME", "", "auto")
