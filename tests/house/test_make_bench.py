"""What `make bench` and `make bench launch` run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The Makefile beside environments that are ready, whose Python only tells what it was given."""
    if shutil.which("make") is None:
        pytest.skip("make is not on PATH")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "peers.txt").touch()
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for stamp in (".base", ".run", ".bench"):
        (tmp_path / ".venv" / stamp).touch()
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "import sys; print(*sys.argv[1:])" "$@"\n')
    python.chmod(0o755)
    return tmp_path


def _run(project: Path, *words: str) -> list[str]:
    done = subprocess.run(["make", "-s", *words], cwd=project, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        (["bench", "PEERS=no"], ["-m bench"]),
        (["bench", "launch", "PEERS=no"], ["-m bench launch"]),
        (["bench", "BENCH=launch", "PEERS=no", "BENCH_ARGS=--quick --gate"], ["-m bench launch --quick --gate"]),
        (["bench", "flat"], ["-m bench flat"]),
        (["bench", "start", "cpu"], ["-m bench start", "-m bench cpu"]),
    ],
)
def test_a_word_behind_bench_chooses_the_benchmark(project: Path, words: list[str], commands: list[str]) -> None:
    """`make bench` runs all, a second word one, and each once."""
    assert _run(project, *words) == commands


def test_the_peers_are_installed_one_by_one(project: Path) -> None:
    """A launch is measured beside the peers unless PEERS=no; one that cannot be installed keeps no other away."""
    (project / "bench" / "peers.txt").write_text("# a comment\ngood[x]>=1,<2\nbad\nbetter\n")
    for stamp in (".bench",):
        (project / ".venv" / stamp).touch()
    peers = project / ".venv" / "peers" / "bin"
    peers.mkdir(parents=True)
    pip = peers / "python"
    pip.write_text('#!/bin/sh\necho "peers: $*"\ncase "$*" in *bad) exit 1;; esac\n')
    pip.chmod(0o755)
    told = _run(project, "bench", "launch", "PYTHON=true")
    assert told == [
        "peers: -m pip install --quiet --upgrade pip",
        "peers: -m pip install --quiet good[x]>=1,<2",
        "peers: -m pip install --quiet bad",
        "cannot be installed here: bad",
        "peers: -m pip install --quiet better",
        "-m bench launch",
    ]
