"""Why OpenCL cannot be used: no driver, an empty folder, a missing or broken library, one that crashes; and PoCL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from doctor_machines import (
    CRASHES,
    CRASHES_WHEN_ASKED,
    HANGS,
    LOADER_VARIABLES,
    NO_DRIVER,
    bare_pyopencl,
    build,
    compile_nothing,
    system_pocl,
    vendor_folder,
)
from rungs import require_rung

from metrale_gpu_runtime import discovery, doctor, open_backend
from metrale_gpu_runtime.drivers import probing
from metrale_gpu_runtime.drivers.diagnosis import BROKEN, FOUND, MISSING, Diagnosis, Observation
from metrale_gpu_runtime.drivers.opencl import diagnosis as opencl_diagnosis
from metrale_gpu_runtime.drivers.opencl.diagnosis import diagnose
from metrale_gpu_runtime.drivers.opencl.vendors import read_folder
from metrale_gpu_runtime.errors import BackendUnavailable
from metrale_gpu_runtime.testing import run_isolated


def _seen(found: Diagnosis, what: str, state: str | None = None) -> list[Observation]:
    return [each for each in found.observations if each.what == what and state in (None, each.state)]


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LOADER_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which pyopencl has its own loader, and nothing that pip added beside it."""
    require_rung("pocl")
    home = bare_pyopencl(tmp_path / "site")
    monkeypatch.syspath_prepend(str(home.parent))
    return home


def test_a_machine_without_any_driver(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the vendor folder is not there, the loader, the folder and what would bring a driver are named."""
    monkeypatch.setenv("OPENCL_VENDOR_PATH", str(tmp_path / "vendors"))
    # As if the loader had been built for that folder: without the variable there are no drivers either.
    monkeypatch.setattr(opencl_diagnosis, "default_places", lambda loader: ())
    found = diagnose()
    (loader,) = _seen(found, "OpenCL loader", FOUND)
    assert "ocl-icd" in loader.detail
    assert "inside pyopencl" in loader.detail
    assert [Path(each).parent for each in loader.where] == [bare / ".libs"]
    places = [each.detail for each in _seen(found, "OpenCL vendor entries", MISSING)]
    assert places == [
        f"{tmp_path / 'vendors'}, named by OPENCL_VENDOR_PATH: does not exist",
        f"{bare / '.libs'}: has no .icd file",
    ]
    assert "no OpenCL driver is registered" in found.reason
    assert f"{tmp_path / 'vendors'} (OPENCL_VENDOR_PATH), which does not exist" in found.reason
    assert "pocl" in found.remedy
    assert not _seen(found, "OpenCL driver")


def test_an_empty_vendor_folder(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder that a variable names is told as empty; where the usual one has drivers, unset helps."""
    folder = vendor_folder(tmp_path / "empty")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    found = diagnose()
    assert f"{folder} (OCL_ICD_VENDORS), which has no .icd file" in found.reason
    if system_pocl():
        assert found.remedy == "unset OCL_ICD_VENDORS"
    else:
        assert "pocl" in found.remedy
    assert [each.state for each in _seen(found, "OpenCL platforms")] == [MISSING]


def test_an_entry_that_names_a_missing_library(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry and library are named with what is wrong: a path that does not exist, or a name that nobody finds."""
    folder = vendor_folder(tmp_path / "vendors", path="/nowhere/libgone.so.3", name="libnever-built.so.7")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    found = diagnose()
    broken = [each.detail for each in _seen(found, "OpenCL driver", BROKEN)]
    assert broken == [
        f"{folder}/name.icd names libnever-built.so.7, which is in none of the system loader's folders",
        f"{folder}/path.icd names /nowhere/libgone.so.3, which does not exist",
    ]
    assert "libnever-built.so.7" in found.reason
    assert "(and 1 more)" in found.reason


def test_pocl_is_found_with_its_version_and_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With PoCL nothing is wrong: its entry, platform, version and device are told, also beside a broken entry."""
    require_rung("pocl")
    library = system_pocl() or pytest.skip("the system has no PoCL of its own")
    folder = vendor_folder(tmp_path / "vendors", good=library, bad="/nowhere/libgone.so.3")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    found = diagnose()
    assert (found.reason, found.remedy) == ("", "")
    working = [each for each in _seen(found, "OpenCL driver", FOUND) if each.where == (f"{folder}/good.icd",)]
    assert "Portable Computing Language" in working[0].detail
    assert "PoCL" in working[0].detail
    assert "(CPU)" in working[0].detail
    assert len(_seen(found, "OpenCL driver", BROKEN)) == 1
    (platforms,) = _seen(found, "OpenCL platforms", FOUND)
    assert "Portable Computing Language" in platforms.detail


def test_the_wheels_driver_is_read_beside_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip's PoCL is read by pyopencl's own loader even where the folder is empty, and by no other."""
    require_rung("pocl")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(vendor_folder(tmp_path / "empty")))
    found = diagnose()
    wheels = [each for each in _seen(found, "OpenCL driver", FOUND) if each.where[0].endswith(".libs/pocl.icd")]
    if not wheels:
        pytest.skip("pip's PoCL is not installed beside pyopencl")
    # It does not know every processor, and then says so when something is compiled: opening meets that, and so does the doctor.
    ended = run_isolated(compile_nothing)
    assert ended.exit_code == 0, ended
    if not found.reason:
        assert ended.value == ""
        return
    assert "compiles nothing, not even an empty kernel" in found.reason
    assert found.reason.rpartition(": ")[2] in ended.value
    registered = bool(list(Path("/etc/OpenCL/vendors").glob("*.icd")))
    assert found.remedy == "unset OCL_ICD_VENDORS" if registered else "pocl" in found.remedy
    report = doctor()["opencl"]
    assert (report.is_usable, report.reason, report.remedy) == (False, found.reason, found.remedy)


def test_a_device_that_compiles_nothing_is_told_beside_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed by its driver, and every program would be refused: with another device OpenCL is usable, alone it is not."""

    def told(*refusing: str) -> Diagnosis:
        platform = {"name": "P", "version": "1", "devices": ["old (CPU)", "new (CPU)"], "problem": ""}
        facts = {"version": "1", "home": "/h", "loader": "", "platforms": [platform]}
        end = probing.ChildEnd({**facts, "refuses_all": dict.fromkeys(refusing, "error: unknown target CPU 'x'")})
        monkeypatch.setattr(opencl_diagnosis, "run_probe", lambda *_, **__: end)
        return diagnose()

    one = told("old (CPU)")
    assert one.reason == ""
    (broken,) = _seen(one, "OpenCL compiler", BROKEN)
    assert broken.detail == "old (CPU) compiles nothing here, not even an empty kernel: error: unknown target CPU 'x'"
    both = told("old (CPU)", "new (CPU)")
    assert both.reason.endswith("compiles nothing, not even an empty kernel: error: unknown target CPU 'x'")
    assert not _seen(told(), "OpenCL compiler")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (CRASHES, "crashed with SIGSEGV when it was loaded"),
        (CRASHES_WHEN_ASKED, "loads and crashed with SIGSEGV when it was asked for its platforms"),
    ],
)
def test_a_driver_that_crashes_is_a_line(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, said: str
) -> None:
    """A crash ends a child; the driver, its entry and the signal are told, and how to keep it from being loaded."""
    require_rung("c compiler")
    library = build(source, tmp_path / "libcrash.so")
    folder = vendor_folder(tmp_path / "vendors", crash=library)
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    found = diagnose()
    assert found.reason == f"{folder}/crash.icd names {library}, which {said}"
    assert found.remedy == "unset OCL_ICD_VENDORS"
    monkeypatch.delenv("OCL_ICD_VENDORS")
    monkeypatch.setattr(opencl_diagnosis, "places", lambda *_: (read_folder(str(folder)),))
    # Its entry in a usual folder is moved away: the loader takes only names that end in .icd.
    environment = {**os.environ, "OPENCL_VENDOR_PATH": str(folder)}
    monkeypatch.setattr(os, "environ", environment)
    assert diagnose().remedy == f"mv {folder}/crash.icd {folder}/crash.icd.off"


def test_a_driver_that_hangs_is_a_line(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that never returns is ended at the limit, and told."""
    require_rung("c compiler")
    library = build(HANGS, tmp_path / "libhang.so")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(vendor_folder(tmp_path / "vendors", hang=library)))
    monkeypatch.setattr(probing, "TIMEOUT_S", 1.5)
    found = diagnose()
    assert "which did not end within 1.5 s when it was loaded" in found.reason


def test_what_a_driver_lacks_is_named(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that needs another one, and one that is no driver, are told apart from one that is not there."""
    require_rung("c compiler")
    needed = build(NO_DRIVER, tmp_path / "libneeded-by-it.so")
    lacking = build(
        "int unrelated(void); int f(void) { return unrelated(); }", tmp_path / "liblacking.so", str(needed),
        "-Wl,-soname,liblacking.so",
    )  # fmt: skip
    other = build("int g(void) { return 1; }", tmp_path / "libother.so")
    needed.unlink()
    monkeypatch.setenv("OCL_ICD_VENDORS", str(vendor_folder(tmp_path / "vendors", a=lacking, b=other)))
    a, b = (each.detail for each in _seen(diagnose(), "OpenCL driver", BROKEN))
    assert "cannot be loaded: it needs" in a
    assert "libneeded-by-it.so, which is not found" in a
    assert "is no OpenCL driver" in b


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "names no library in its first line"), ("libpocl.so.2\r\n", "has a carriage return beside")],
)
def test_entries_that_name_nothing_good(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, said: str
) -> None:
    """An empty entry, and one written with DOS line ends, are told as that."""
    folder = vendor_folder(tmp_path / "vendors")
    (folder / "odd.icd").write_bytes(content.encode())
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    (entry,) = _seen(diagnose(), "OpenCL driver", BROKEN)
    assert said in entry.detail


def test_without_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyopencl the reason is that, and the command installs it."""
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    found = diagnose()
    assert "pyopencl) are not installed" in found.reason
    assert found.remedy.startswith("pip install")


def test_without_bindings_the_variables_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip's loader would read is told, not what it would read without them; with a driver there the bindings do."""
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    monkeypatch.setenv("OCL_ICD_VENDORS", str(vendor_folder(tmp_path / "empty")))
    found = diagnose()
    (place,) = _seen(found, "OpenCL vendor entries")
    assert (place.state, place.where) == (MISSING, (str(tmp_path / "empty"),))
    assert "pocl" in found.remedy
    monkeypatch.setenv("OCL_ICD_VENDORS", str(vendor_folder(tmp_path / "one", some="/nowhere/libsome.so")))
    assert diagnose().remedy == 'pip install "metrale-gpu-runtime[opencl]"'


def test_bindings_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pyopencl that raises at import is told with its last words, and installed anew."""
    (tmp_path / "pyopencl").mkdir()
    (tmp_path / "pyopencl" / "__init__.py").write_text("raise ImportError('libstdc++ is too old')")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = diagnose()
    assert "libstdc++ is too old" in found.reason
    assert "--force-reinstall pyopencl" in found.remedy


def test_opening_and_listing_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing, open_backend and the diagnosis give one reason in one line, and name the doctor."""
    require_rung("pocl")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "nothing.icd"))
    reason = discovery.state_of("opencl").reason
    assert reason == diagnose().in_one_line
    assert "\n" not in reason
    assert reason.count(";") == 1
    assert "`metrale-gpu doctor`" in reason
    script = (
        "import json, metrale_gpu_runtime as mg\n"
        "try:\n mg.open_backend('opencl')\n"
        "except mg.BackendUnavailable as error: print(json.dumps(str(error)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == f"opencl: {reason}"


def test_a_crashing_driver_does_not_end_whoever_lists(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listing the devices where a driver crashes gives that driver as the reason."""
    require_rung("c compiler")
    library = build(CRASHES, tmp_path / "libcrash.so")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(vendor_folder(tmp_path / "vendors", crash=library)))
    assert f"{library}, which crashed with SIGSEGV when it was loaded" in discovery.state_of("opencl").reason


def test_pocls_device_is_chosen_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With PoCL there, its CPU device opens by its name."""
    require_rung("pocl")
    try:
        with open_backend("opencl:pocl") as gpu:
            assert gpu.capabilities.backend == "opencl"
    except BackendUnavailable as error:
        pytest.fail(str(error))
