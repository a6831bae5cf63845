"""`metrale-gpu cache` as a person and a script see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from metrale_gpu_runtime.checkup.general import look_at_cache
from metrale_gpu_runtime.cli.cache import show_cache
from metrale_gpu_runtime.drivers.diagnosis import BROKEN, NOTE
from metrale_gpu_runtime.modules.cache.keys import key_of
from metrale_gpu_runtime.modules.cache.store import current_store


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metrale_gpu_runtime", "cache", *arguments]
    wide = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment}
    return subprocess.run(command, capture_output=True, text=True, env=wide, timeout=120)


def test_it_tells_where_what_and_how_much(folder: Path) -> None:
    """The folder, entries and bytes of each kind and of all, the limit; as JSON the same numbers."""
    for at, kind in enumerate(("cpu", "cpu", "nvrtc")):
        current_store().write(kind, key_of(kind, [str(at)]), bytes(3000 + at))
    text = run().stdout
    assert str(folder) in text
    assert "512.0 MiB" in text
    told = json.loads(run("--json").stdout)
    head = (folder / f"cpu-{key_of('cpu', ['0'])}").stat().st_size - 3000
    assert told == {
        "folder": str(folder),
        "is_used": True,
        "reason": None,
        "is_writable": True,
        "nbytes": 9003 + 3 * head,
        "max_nbytes": 512 << 20,
        "entries": 3,
        "unfinished": 0,
        "kinds": {"cpu": {"entries": 2, "nbytes": 6001 + 2 * head}, "nvrtc": {"entries": 1, "nbytes": 3002 + head}},
    }


def test_clear_removes_what_is_kept(folder: Path) -> None:
    """`clear` says what it removed; a stranger's file stays; the second time there is nothing."""
    current_store().write("opencl", key_of("opencl", ["x"]), b"binary")
    (folder / "mine.txt").touch()
    cleared = json.loads(run("clear", "--json").stdout)
    assert cleared["entries"] == 1
    assert [each.name for each in folder.iterdir()] == ["mine.txt"]
    assert "0 entries" in run("clear").stdout
    current_store().write("opencl", key_of("opencl", ["y"]), b"binary")
    assert run("clear").stdout.startswith("1 entry, ")


def test_a_cache_that_is_not_used_says_why(folder: Path) -> None:
    """Turned off, open to others: told with the reason, and what others may write is not cleared."""
    assert "METRALE_CACHE=off" in run(METRALE_CACHE="off").stdout
    current_store().write("cpu", key_of("cpu", ["x"]), b"code")
    folder.chmod(0o777)
    told = json.loads(run("--json").stdout)
    assert told["is_used"] is False
    assert "others may write to it" in told["reason"]
    done = run("clear")
    assert done.returncode == 1
    assert "nothing was cleared" in done.stderr
    assert len(list(folder.iterdir())) == 1


def test_a_folder_that_is_only_read_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is there is used and shown, and where nothing can be written that is said with the variable that helps, by the
    command and by the doctor; a folder that nobody can make is not promised."""
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    console = Console(width=200, no_color=True)
    assert look_at_cache().detail.startswith(
        f"{folder} is not there, and this user cannot write there; METRALE_CACHE_DIR"
    )
    assert look_at_cache().state == BROKEN
    current_store().write("cpu", key_of("cpu", ["x"]), b"code")
    show_cache(False, console)
    shown = capsys.readouterr().out
    assert "read only: this user cannot write there; METRALE_CACHE_DIR names another" in shown
    assert "cpu" in shown
    show_cache(True, console)
    told = json.loads(capsys.readouterr().out)
    assert (told["is_used"], told["is_writable"], told["entries"]) == (True, False, 1)
    assert look_at_cache().state == NOTE
    assert "1 entry, " in look_at_cache().detail


def test_another_word_is_refused(folder: Path) -> None:
    """Nothing is done for a word that is neither show nor clear."""
    assert run("cleer").returncode == 2
