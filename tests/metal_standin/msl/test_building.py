"""A text is compiled once, whoever asks and however many at a time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from rungs import require_rung

from . import building, compile_library
from .launched import launch

require_rung("clang-19")

TEXT = "kernel void k(device uint *x) { x[0] = N; }"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own, with the runtime of the user's."""
    building.runtime()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return building.cache_folder()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Every start of the compiler."""
    calls: list[tuple[str, ...]] = []
    start = building.start

    def counted(where: Path, *arguments: str) -> subprocess.Popen[str]:
        calls.append(arguments)
        return start(where, *arguments)

    monkeypatch.setattr(building, "start", counted)
    return calls


def number(macros: dict[str, str], fast_math: bool = False) -> int:
    out = np.zeros(1, np.uint32)
    assert launch(compile_library(TEXT, macros=macros, fast_math=fast_math).function("k"), out) is None
    return int(out[0])


def test_the_second_time_nothing_is_compiled(folder: Path, started: list[tuple[str, ...]]) -> None:
    """The same text with the same macros and options is found; another macro or option is compiled."""
    assert number({"N": "5"}) == 5
    assert len(started) == 3
    assert number({"N": "5"}) == 5
    assert len(started) == 3
    assert number({"N": "6"}) == 6
    assert number({"N": "5"}, fast_math=True) == 5
    assert len(started) == 9


def test_a_wrong_text_leaves_nothing_half_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the compilation itself breaks off, the cache is as before and the next attempt compiles."""
    before = set(folder.iterdir())

    def broken(*arguments: object, **options: object) -> tuple[str, ...]:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(building, "code_making", broken)
        with pytest.raises(OSError, match="no room"):
            number({"N": "7"})
    assert set(folder.iterdir()) == before
    assert number({"N": "7"}) == 7


def test_several_processes_at_once(tmp_path: Path) -> None:
    """Processes that compile one text at the same time all get it, and one result stays."""
    code = (
        "import sys, tempfile\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[2])]!r}\n"
        "from metal_standin.msl import building, compile_library\n"
        "building.runtime()\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        "import ctypes\n"
        f"f = compile_library({TEXT!r}, macros={{'N': '8'}}).function('k')\n"
        "x = ctypes.c_uint32(0)\n"
        "assert f.run({0: ctypes.addressof(x)}, {}, (1,), (1,)) is None\n"
        "print(x.value)\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [child.communicate()[0] for child in children] == ["8\n"] * 3
    (cache,) = tmp_path.iterdir()
    assert len(list(cache.iterdir())) == 1


def test_a_missing_compiler_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without clang++ the error says which program is missing and how to have it."""
    monkeypatch.setenv("MSL_CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match=r"clang\+\+-19, which is not on PATH: apt-get install clang-19"):
        building.required_compiler()
