"""PoCL's folder is built in by one process at a time: PoCL itself does not see to it, and ends processes that meet there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from metrale_gpu_runtime.drivers.opencl import pocl_turns
from metrale_gpu_runtime.drivers.opencl.pocl_turns import LOCK_NAME, POCL, building

fcntl = pytest.importorskip("fcntl")

TRY = """
import fcntl, sys
with open(sys.argv[1], "r+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("free")
    except BlockingIOError:
        print("taken")
"""


def device(platform: str) -> SimpleNamespace:
    return SimpleNamespace(platform=SimpleNamespace(name=platform))


def seen_by_another(file: Path) -> str:
    run = subprocess.run([sys.executable, "-c", TRY, str(file)], capture_output=True, text=True, timeout=60, check=True)
    return run.stdout.strip()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    return tmp_path / "pocl" / LOCK_NAME


def test_one_process_builds_at_a_time(place: Path) -> None:
    """Another process finds the folder taken while one builds, and free when that ended, also with an error."""
    with building(device(POCL)):
        assert pocl_turns._threads.locked()
        assert seen_by_another(place) == "taken"
    assert seen_by_another(place) == "free"
    with pytest.raises(ZeroDivisionError), building(device(POCL)):
        raise ZeroDivisionError
    assert seen_by_another(place) == "free"
    assert not pocl_turns._threads.locked()


def test_other_platforms_take_no_turns(place: Path) -> None:
    """Their drivers see to it themselves, and nothing is written."""
    with building(device("Some Vendor's")):
        assert not place.exists()
        assert not pocl_turns._threads.locked()


def test_who_hangs_in_a_build_does_not_keep_others(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a limit the next one builds without its turn."""
    monkeypatch.setattr(pocl_turns, "_LIMIT_S", 0.0)
    program = TRY + "    sys.stdout.flush(); sys.stdin.read()\n"
    place.parent.mkdir()
    place.touch()
    command = [sys.executable, "-c", program, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "free\n"
        with building(device(POCL)):
            assert seen_by_another(place) == "taken"
        holder.communicate(timeout=60)


def test_without_a_folder_there_are_no_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file cannot be made, what is built is built all the same."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "file"))
    with building(device(POCL)):
        assert pocl_turns._threads.locked()
