"""The report as a person and a script get it: text, JSON, exit codes, settings; and that it never raises."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.checkup import general, run, settings
from metrale_gpu_runtime.checkup.report import BackendReport, DoctorReport, SettingReport
from metrale_gpu_runtime.drivers.diagnosis import BROKEN, FOUND, NOTE, Diagnosis, Observation

ROOT = Path(mg.__file__).parent


def _doctor(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metrale_gpu_runtime", "doctor", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)


def test_the_json_document() -> None:
    """Every backend with all fields; the same numbers of states as documented; usable ones exit with 0."""
    done = _doctor("--json", "--require", "mock", METRALE_REDZONE="many", METRALE_REDZON="7")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert set(document) == {"schema", "versions", "backends", "general", "settings"}
    by_name = {each["backend"]: each for each in document["backends"]}
    assert set(by_name) >= {"cpu", "mock", "cuda", "hip", "metal", "opencl", "webgpu"}
    for each in by_name.values():
        assert set(each) == {"backend", "usable", "reason", "remedy", "devices", "observations"}
        assert each["usable"] == bool(each["devices"])
        assert each["usable"] != bool(each["reason"])
        for observation in each["observations"]:
            assert set(observation) == {"what", "state", "detail", "where"}
            assert observation["state"] in ("found", "missing", "broken", "note")
    assert [each["what"] for each in document["general"]] == ["launch core", "compile cache"]
    values = {each["name"]: each for each in document["settings"]}
    assert "'many'" in values["METRALE_REDZONE"]["problem"]
    assert "METRALE_REDZONE may be meant" in values["METRALE_REDZON"]["problem"]
    assert values["METRALE_BACKEND"]["problem"] is None


def test_the_text_and_a_required_backend_that_is_not_usable() -> None:
    """Plain text names each backend; the exit code is 1 only where a required backend is not usable."""
    done = _doctor("--require", "metal", "--require", "cpu", PYTHONWARNINGS="ignore")
    assert "metal: not usable: " in done.stdout or "metal: usable: " in done.stdout
    assert done.returncode == (1 if "metal: not usable: " in done.stdout else 0)
    assert "cpu: usable: cpu:0" in done.stdout
    assert "\x1b[" not in done.stdout
    assert done.stderr == ""


def test_an_unknown_backend_cannot_be_required() -> None:
    """A misspelt name is refused before anything is looked at."""
    done = _doctor("--require", "openc")
    assert done.returncode == 2
    assert "openc" in done.stderr


def test_what_fails_on_the_way_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """An examiner, a listing or a look at the cache that raises is told; the rest is there as ever."""

    def fails(*_: object) -> Diagnosis:
        raise OSError("no more processes")

    monkeypatch.setattr(run, "_EXAMINERS", {"cpu": f"{__name__}:_broken", "mock": f"{__name__}:_fine"})
    monkeypatch.setattr(run, "available_backends", fails)
    monkeypatch.setattr(run, "look_at_cache", fails)
    report = mg.doctor()
    assert "no more processes" in str(report)
    assert report["cpu"].observations[0].state == BROKEN
    assert "ValueError: odd" in report["cpu"].observations[0].detail
    assert report["mock"].observations[0].detail == "fine"
    assert [each.what for each in report.general] == ["launch core", "doctor", "backends"]


def _broken() -> Diagnosis:
    raise ValueError("odd")


def _fine() -> Diagnosis:
    return Diagnosis((Observation("mock", NOTE, "fine"),))


def test_nothing_is_opened_here() -> None:
    """After a doctor's look this process has loaded no bindings and no driver."""
    script = (
        "import sys, json, metrale_gpu_runtime as mg\n"
        "mg.doctor()\n"
        "maps = open('/proc/self/maps').read() if sys.platform == 'linux' else ''\n"
        "loaded = [name for name in ('pyopencl', 'wgpu', 'llvmlite', 'cuda.bindings.driver', 'hip') if name in sys.modules]\n"
        "print(json.dumps([loaded, [name for name in ('libOpenCL', 'libpocl', 'libvulkan', 'libnvrtc') if name in maps]]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], []]


def test_every_variable_that_is_read_is_explained() -> None:
    """Each METRALE_ variable in the package's source is one of the settings, and the other way round."""
    text = "\n".join(path.read_text() for path in ROOT.rglob("*.py") if "checkup" not in path.parts)
    read = set(re.findall(r"\bMETRALE_[A-Z_]+[A-Z]\b", text))
    assert read == set(settings.SETTINGS)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("METRALE_BACKEND", "opencl:0:1", "cudda"),
        ("METRALE_LAUNCH_CORE", "python", "fast"),
        ("METRALE_DEBUG_SYNC_KERNELS", "1", "yes"),
        ("METRALE_REDZONE", "0x40", "-3"),
        ("METRALE_REDZONE_FILL", "255", "256"),
        ("METRALE_LAZY_MAP_FREE_FLOOR_MB", "0", "1.5"),
        ("METRALE_CPU_WORKERS", "3", "0"),
        ("METRALE_CPU_LAUNCH_TIMEOUT_S", "2.5", "nan"),
        ("METRALE_NVTX", "0", "true"),
        ("METRALE_CACHE", "off", "no"),
        ("METRALE_CACHE_DIR", "/tmp/x", None),
        ("METRALE_CACHE_MAX_MIB", "12", "12G"),
    ],
)
def test_values_are_checked_by_who_reads_them(
    monkeypatch: pytest.MonkeyPatch, name: str, good: str, bad: str | None
) -> None:
    """A value that the package would take has no problem; one that it would refuse, or not understand, has."""
    # Of a cache that is off nothing else is read.
    monkeypatch.delenv("METRALE_CACHE", raising=False)
    monkeypatch.setenv(name, good)
    assert _setting(name) == SettingReport(name, settings.SETTINGS[name].meaning, good, "")
    if bad is not None:
        monkeypatch.setenv(name, bad)
        assert _setting(name).problem
    monkeypatch.delenv(name)
    assert _setting(name).value is None


def _setting(name: str) -> SettingReport:
    return next(each for each in settings.read_settings() if each.name == name)


def test_the_caches_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off, not there yet, in use, and a folder that is none are told apart."""
    monkeypatch.setenv("METRALE_CACHE", "off")
    assert "not used" in general.look_at_cache().detail
    monkeypatch.setenv("METRALE_CACHE", "on")
    folder = tmp_path / "kept"
    monkeypatch.setenv("METRALE_CACHE_DIR", str(folder))
    assert general.look_at_cache() == Observation(
        "compile cache", NOTE, f"{folder} is not there yet; the first compilation makes it", (str(folder),)
    )
    folder.mkdir(mode=0o700)
    assert general.look_at_cache().state == FOUND
    assert f"{folder}: 0 entries" in general.look_at_cache().detail
    folder.rmdir()
    folder.write_text("a file")
    assert general.look_at_cache().state == BROKEN


def test_the_text_says_what_would_help() -> None:
    """The command stands under the verdict; where there is none, that is said; places not named yet are."""
    report = DoctorReport(
        {"it": "1"},
        (
            BackendReport("a", (), "no a", "install a", (Observation("lib", BROKEN, "x", ("x", "/y")),)),
            BackendReport("b", (), "no b"),
        ),
        (SettingReport("METRALE_X", "means x", "v", "wrong"), SettingReport("METRALE_Y", "means y")),
    )
    lines = str(report).splitlines()
    at = lines.index("a: not usable: no a")
    assert lines[at + 1 : at + 3] == ["  to use it: install a", "  ! lib: x  [/y]"]
    assert lines[lines.index("b: not usable: no b") + 1] == "  no command would make it usable here"
    assert "  METRALE_X is 'v': not valid: wrong" in lines
    assert "  METRALE_Y is not set (means y)" in lines
    with pytest.raises(KeyError):
        report["c"]
