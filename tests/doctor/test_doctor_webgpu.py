"""Why WebGPU cannot be used: no Vulkan driver, an empty folder, a missing library, a crash; and software Vulkan."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from doctor_machines import CRASHES, NO_DRIVER, VULKAN_VARIABLES, build, lavapipe, manifest
from rungs import require_rung

from metrale_gpu_runtime import discovery
from metrale_gpu_runtime.drivers.diagnosis import BROKEN, FOUND, MISSING, NOTE, Diagnosis, Observation
from metrale_gpu_runtime.drivers.webgpu import diagnosis as webgpu_diagnosis
from metrale_gpu_runtime.drivers.webgpu.diagnosis import diagnose
from metrale_gpu_runtime.drivers.webgpu.vulkan import LOADER


def _seen(found: Diagnosis, what: str, state: str | None = None) -> list[Observation]:
    return [each for each in found.observations if each.what == what and state in (None, each.state)]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without OpenGL, whose usual folders of Vulkan drivers are not there; the Vulkan loader is."""
    require_rung("software vulkan")
    for name in VULKAN_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "nothing").mkdir()
    # EGL's vendors are found in the same way as Vulkan's drivers.
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_DIRS", str(tmp_path / "nothing"))
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path


def test_a_machine_without_any_driver(machine: Path) -> None:
    """Without a manifest anywhere, each folder is named, and what brings a software Vulkan."""
    found = diagnose()
    folders = [each.detail for each in _seen(found, "Vulkan driver manifests")]
    assert f"{machine}/xdg_data_dirs/vulkan/icd.d, named by XDG_DATA_DIRS: does not exist" in folders
    assert "no Vulkan driver is registered" in found.reason
    assert "mesa-vulkan-drivers" in found.remedy or "swrast" in found.remedy
    assert _seen(found, "Vulkan loader", FOUND)
    assert [each.detail for each in _seen(found, "adapter", MISSING)] == ["none"]


def test_an_empty_folder(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without manifests that a variable names is told; where the usual ones have some, unset helps."""
    usual = machine / "xdg_data_home" / "vulkan" / "icd.d"
    usual.mkdir(parents=True)
    manifest(usual / "some.json", "libsome.so")
    monkeypatch.setenv("VK_DRIVER_FILES", str(machine / "nothing"))
    found = diagnose()
    assert f"{machine / 'nothing'} (VK_DRIVER_FILES)" in found.reason
    assert found.remedy == "unset VK_DRIVER_FILES"


@pytest.mark.parametrize("value", ["", ":"])
@pytest.mark.parametrize("name", ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"])
def test_a_variable_that_names_no_file(machine: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The loader reads nothing then, whatever lies in the usual folders: the variable is the cause, and unset helps."""
    usual = machine / "xdg_data_home" / "vulkan" / "icd.d"
    usual.mkdir(parents=True)
    manifest(usual / "some.json", lavapipe())
    assert diagnose().reason == ""
    monkeypatch.setenv(name, value)
    found = diagnose()
    assert f"the loader reads nothing ({name})" in found.reason
    assert found.remedy == f"unset {name}"
    assert [each.where for each in _seen(found, "Vulkan driver manifests")] == [(name,)]
    assert (f"{name} is set, and empty" if not value else f"{name}=:") in [
        each.detail for each in _seen(found, "variable")
    ]
    assert name not in _seen(found, "variables")[0].detail


def test_a_manifest_that_names_a_missing_library(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Manifest and library are named with what is wrong."""
    path = manifest(machine / "gone.json", "/nowhere/libvulkan_gone.so")
    monkeypatch.setenv("VK_ICD_FILENAMES", str(path))
    found = diagnose()
    told = f"{path} names /nowhere/libvulkan_gone.so, which does not exist"
    assert [each.detail for each in _seen(found, "Vulkan driver")] == [told]
    assert found.reason == f"no Vulkan driver works: {told}"


def test_software_vulkan(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A software driver's device and adapter are told as software, usable without a display, beside a broken one."""
    library = lavapipe()
    good, bad = manifest(machine / "good.json", library), manifest(machine / "bad.json", "/nowhere/libbad.so")
    monkeypatch.setenv("VK_DRIVER_FILES", f"{bad}:{good}")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    found = diagnose()
    assert (found.reason, found.remedy) == ("", "")
    (driver,) = _seen(found, "Vulkan driver", FOUND)
    assert "(CPU, software)" in driver.detail
    (adapter,) = _seen(found, "adapter", FOUND)
    assert "software, Vulkan" in adapter.detail
    assert len(_seen(found, "Vulkan driver", BROKEN)) == 1


def test_a_driver_that_crashes_is_a_line(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash ends a child; manifest, library and signal are told, and in the listing too."""
    require_rung("c compiler")
    library = build(CRASHES, machine / "libcrash.so")
    # A library with a slash in its name lies relative to the manifest.
    path = manifest(machine / "crash.json", "./libcrash.so")
    monkeypatch.setenv("VK_DRIVER_FILES", str(path))
    found = diagnose()
    assert found.reason == f"{path} names {library}, which crashed with SIGSEGV when it was loaded"
    assert found.remedy == "unset VK_DRIVER_FILES"
    state = discovery.state_of("webgpu")
    assert state.reason == found.in_one_line


def test_a_crash_in_a_usual_folder_is_moved_away(machine: Path) -> None:
    """Where no variable names the manifest, it is moved out of the loader's sight."""
    require_rung("c compiler")
    folder = machine / "xdg_data_home" / "vulkan" / "icd.d"
    folder.mkdir(parents=True)
    path = manifest(folder / "crash.json", build(CRASHES, machine / "libcrash.so"))
    assert diagnose().remedy == f"mv {path} {path}.off"


def test_what_is_no_driver(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library without the driver's entry point is told as that."""
    require_rung("c compiler")
    path = manifest(machine / "odd.json", build(NO_DRIVER, machine / "libodd.so"))
    monkeypatch.setenv("VK_DRIVER_FILES", str(path))
    assert "is no Vulkan driver: it lacks vk_icdGetInstanceProcAddr" in diagnose().reason


def test_filters_are_told(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that works and that a pattern leaves out is told, with the variable to unset."""
    library = lavapipe()
    monkeypatch.setenv("VK_DRIVER_FILES", str(manifest(machine / "soft.json", library)))
    monkeypatch.setenv("VK_LOADER_DRIVERS_DISABLE", "*soft*")
    found = diagnose()
    if not found.reason:
        pytest.skip("this Vulkan loader is from before 1.3.234 and reads no such pattern")
    assert "filtered away by VK_LOADER_DRIVERS_DISABLE=*soft*" in found.reason
    assert found.remedy == "unset VK_LOADER_DRIVERS_DISABLE"


def test_without_the_loader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the Vulkan loader itself is missing, loader and driver are installed by one command."""
    monkeypatch.setattr("metrale_gpu_runtime.drivers.webgpu.vulkan_probe.VULKAN", _NO_LOADER)
    found = diagnose()
    assert "there is no Vulkan loader" in found.reason
    assert "vulkan" in found.remedy
    assert _seen(found, "Vulkan loader", MISSING)


_NO_LOADER = (
    "from metrale_gpu_runtime.drivers.probing import tell, load_library\n"
    f"tell(problem='{LOADER}: cannot open shared object file: No such file or directory')"
)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without wgpu the reason is that, and the command installs it."""
    monkeypatch.setitem(sys.modules, "wgpu", None)
    found = diagnose()
    assert found.reason == "the package wgpu is not installed"
    assert found.remedy == 'pip install "metrale-gpu-runtime[webgpu]"'


def test_a_native_library_that_cannot_be_loaded(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WGPU_LIB_PATH that names nothing is told, and unset helps."""
    monkeypatch.setenv("WGPU_LIB_PATH", str(machine / "libnone.so"))
    found = diagnose()
    assert str(machine / "libnone.so") in found.reason
    assert found.remedy == "unset WGPU_LIB_PATH"
    assert NOTE not in {each.state for each in _seen(found, "wgpu's native library")}
    assert webgpu_diagnosis.why_unusable() == found.in_one_line
