"""Many processes and one cache folder: no failure, right results, and a second start builds nothing.

METRALE_CACHE_ROUNDS=50 runs the whole of it; by default one round each.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rungs import require_rung

PROGRAM = Path(__file__).with_name("kernels_in_process.py")
PROCESSES = 8
ROUNDS = int(os.environ.get("METRALE_CACHE_ROUNDS", "1"))


@pytest.fixture(params=["cpu", "opencl"])
def backend(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A backend with real compilers; PoCL's own cache is this test's, so that ours alone can spare a build."""
    require_rung("nvrtc" if request.param == "cpu" else "pocl")
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "pocl"))
    return str(request.param)


def start(backend: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", str(PROGRAM), backend]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> dict[str, int]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return dict(json.loads(out.strip().splitlines()[-1]))


def built(counts: dict[str, int]) -> int:
    return sum(count for outcome, count in counts.items() if outcome.endswith(" built"))


def damage(folder: Path, samples: dict[str, bytes]) -> list[str]:
    """Plant damaged files under the entries' own names, and leftovers: what was planted."""
    folder.mkdir(mode=0o700)
    names = sorted(samples)
    planted = []
    for at, name in enumerate(names):
        path, good = folder / name, samples[name]
        other = samples[names[(at + 1) % len(names)]]
        wrong = [good[:-1], b"", good[:40], bytes([good[0] ^ 1]) + good[1:], good[:-7] + b"\xff" * 7, other, None, good]
        data = wrong[at % len(wrong)]
        if data is None:
            path.symlink_to("/etc/passwd")
        else:
            path.write_bytes(data)
            path.chmod(0o600)
        if data != good:
            planted.append(name)
    (folder / ".new-of-a-killed-process").write_bytes(b"half")
    (folder / "a stranger's file").write_bytes(b"stays")
    return planted


@pytest.mark.timeout(240 + 60 * ROUNDS)
def test_eight_processes_share_one_fresh_cache(backend: str, folder: Path, tmp_path: Path) -> None:
    """Each round: damaged entries planted in a fresh folder, eight processes at once, then one that builds nothing."""
    # What the entries are called and hold, from one start of their own.
    first = finish(start(backend))
    kernels = built(first)
    assert kernels >= 8
    samples = {each.name: each.read_bytes() for each in folder.iterdir()}
    assert len(samples) == kernels
    for number in range(ROUNDS):
        shutil.rmtree(folder)
        # PoCL's own folder is as fresh: all of them build there at once.
        shutil.rmtree(tmp_path / "pocl", ignore_errors=True)
        if number % 2 == 0:
            planted = damage(folder, samples)
            assert len(planted) > len(samples) // 2
        running = [start(backend) for _ in range(PROCESSES)]
        counts = [finish(each) for each in running]
        assert sum(map(built, counts)) >= len(samples) // 2
        again = finish(start(backend))
        assert built(again) == 0, (number, again)
        left = {each.name for each in folder.iterdir()} - {".new-of-a-killed-process", "a stranger's file"}
        assert left == samples.keys()


def test_processes_killed_while_they_write_harm_nobody(folder: Path, tmp_path: Path) -> None:
    """A process that ends between writing and renaming leaves a file that stands in nobody's way."""
    require_rung("nvrtc")
    code = (
        "import os, sys\n"
        "def killed(*_): os.kill(os.getpid(), 9)\n"
        "os.replace = killed\n"
        f"sys.path.insert(0, {str(PROGRAM.parent)!r})\n"
        "import kernels_in_process\n"
        "kernels_in_process.main('cpu')\n"
    )
    for _ in range(2):
        died = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
        assert died.returncode == -9
    assert [each.name[:5] for each in folder.iterdir()] == [".new-"] * 2
    assert built(finish(start("cpu"))) >= 8
    assert built(finish(start("cpu"))) == 0
