"""CUDA and HIP: what stands between the driver's library and a device, each cause with its own command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from doctor_machines import CRASHES, build
from rungs import require_rung

from metrale_gpu_runtime.checkup import cpu, cuda, hip, metal
from metrale_gpu_runtime.drivers import remedies
from metrale_gpu_runtime.drivers.diagnosis import BROKEN, FOUND, MISSING, Observation

# A driver library that answers as its vendor's, with these numbers.
DRIVER = """
int {version}(int *to) {{ *to = {number}; return 0; }}
int {initialize}(unsigned flags) {{ return {code}; }}
int {count}(int *to) {{ *to = {devices}; return 0; }}
"""
CUDA_CALLS = {"version": "cuDriverGetVersion", "initialize": "cuInit", "count": "cuDeviceGetCount"}
HIP_CALLS = {"version": "hipRuntimeGetVersion", "initialize": "hipInit", "count": "hipGetDeviceCount"}


@pytest.fixture(autouse=True)
def _a_plain_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variables, no devices, no container, Debian, root; NVRTC is looked at elsewhere."""
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    monkeypatch.setattr(cuda, "look_at_nvrtc", lambda: Observation("NVRTC", FOUND))
    monkeypatch.setattr(cuda, "_KERNEL_MODULE", tmp_path / "no-kernel-module")
    monkeypatch.setattr(cuda, "in_container", lambda: False)
    monkeypatch.setattr(hip, "in_container", lambda: False)
    for module in (cuda, hip):
        monkeypatch.setattr(module, "as_root", lambda command: command)
        monkeypatch.setattr(module, "device_files", lambda *patterns: ([], []))
        monkeypatch.setattr(module, "pci_devices", lambda vendor: ())
        monkeypatch.setattr(module, "_bindings_version", lambda: "13.5.0")


def _library(folder: Path, monkeypatch: pytest.MonkeyPatch, calls: dict[str, str], **numbers: int) -> None:
    require_rung("c compiler")
    folder.mkdir()
    name = "libcuda.so.1" if calls is CUDA_CALLS else "libamdhip64.so"
    build(DRIVER.format(**calls, **{"code": 0, "devices": 2, "number": 13000} | numbers), folder / name)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))


def _state(observations: tuple[Observation, ...], what: str) -> str:
    return next(each.state for each in observations if each.what == what)


def test_cuda_on_a_machine_without_a_gpu() -> None:
    """No library and no NVIDIA device on the bus: no command would help, and none is given."""
    found = cuda.diagnose()
    assert "libcuda not found (tried libcuda.so.1" in found.reason
    assert "this machine has no NVIDIA GPU" in found.reason
    assert found.remedy == ""
    assert _state(found.observations, "CUDA driver library") == MISSING


def test_cuda_with_a_card_and_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card on the bus: the driver is installed; in a container it is handed in from the host."""
    monkeypatch.setattr(cuda, "pci_devices", lambda vendor: ("0000:01:00.0",))
    assert "nvidia-driver" in cuda.diagnose().remedy or "ubuntu-drivers" in cuda.diagnose().remedy
    monkeypatch.setattr(cuda, "in_container", lambda: True)
    assert cuda.diagnose().remedy.startswith("docker run --gpus all")


def test_cuda_under_wsl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WSL's library in its own folder, where the loader does not look, is told with how to make it look."""
    (tmp_path / "libcuda.so.1").touch()
    monkeypatch.setattr(cuda, "_WSL_FOLDER", str(tmp_path))
    found = cuda.diagnose()
    assert found.reason == f"libcuda.so.1 is in {tmp_path}, where the system's loader does not look"
    assert found.remedy == f"ldconfig {tmp_path}"
    assert _state(found.observations, "WSL's driver library") == FOUND


def test_cuda_that_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Library, version and devices are told; there is no reason and no command."""
    _library(tmp_path / "lib", monkeypatch, CUDA_CALLS)
    found = cuda.diagnose()
    assert (found.reason, found.remedy) == ("", "")
    (library,) = [each for each in found.observations if each.what == "CUDA driver library"]
    assert (library.state, library.detail, library.where) == (FOUND, "for CUDA 13.0", (f"{tmp_path}/lib/libcuda.so.1",))


@pytest.mark.parametrize(
    ("numbers", "bindings", "reason", "remedy"),
    [
        ({"number": 12040}, "13.5.0", "for CUDA 12.4, too old for these bindings (13.5.0)", "[cuda12]"),
        ({"number": 12040}, "", "(cuda-bindings) are not installed", "[cuda12]"),
        ({"number": 13010}, "", "(cuda-bindings) are not installed", "[cuda13]"),
        ({"number": 11080}, "12.9.1", "for CUDA 11.8, and none before 12 works", "nvidia"),
        ({"devices": 0}, "13.5.0", "the kernel's part of the driver is not loaded", ""),
        ({"code": 999}, "13.5.0", "the driver cannot be started (code 999)", ""),
    ],
)
def test_cudas_causes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    numbers: dict[str, int],
    bindings: str,
    reason: str,
    remedy: str,
) -> None:
    """Versions that do not fit, missing bindings, no device: each cause with what helps against it."""
    _library(tmp_path / "lib", monkeypatch, CUDA_CALLS, **numbers)
    monkeypatch.setattr(cuda, "_bindings_version", lambda: bindings)
    monkeypatch.setattr(cuda, "family", lambda: "debian")
    found = cuda.diagnose()
    assert reason in found.reason
    assert remedy in found.remedy
    assert bool(remedy) == bool(found.remedy)


def test_cuda_devices_that_are_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA_VISIBLE_DEVICES that leaves nothing is the cause before any other."""
    _library(tmp_path / "lib", monkeypatch, CUDA_CALLS, code=100)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    found = cuda.diagnose()
    assert "CUDA_VISIBLE_DEVICES is '-1'" in found.reason
    assert found.remedy == "unset CUDA_VISIBLE_DEVICES"
    assert _state(found.observations, "variable") == BROKEN


def test_a_driver_library_that_crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A libcuda that crashes when it is loaded, or when it is started, ends a child only."""
    require_rung("c compiler")
    (tmp_path / "lib").mkdir()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "lib"))
    build(CRASHES, tmp_path / "lib" / "libcuda.so.1")
    assert "crashed with SIGSEGV when it is loaded" in cuda.diagnose().reason
    build("int cuDriverGetVersion(int *to) { *(volatile int *)8 = 1; return 0; }", tmp_path / "lib" / "libcuda.so.1")
    assert "crashed with SIGSEGV when it is started" in cuda.diagnose().reason


def test_a_driver_library_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of that name that is no library is told apart from none."""
    (tmp_path / "libcuda.so.1").write_text("no library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert "libcuda was found but cannot be loaded" in cuda.diagnose().reason


def test_hip_without_a_gpu_and_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """No library: without an AMD device nothing helps, with one ROCm does."""
    assert "this machine has no AMD GPU" in hip.diagnose().reason
    assert hip.diagnose().remedy == ""
    monkeypatch.setattr(hip, "pci_devices", lambda vendor: ("0000:03:00.0",))
    assert hip.diagnose().remedy == "amdgpu-install --usecase=rocm"


def test_hips_device_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/dev/kfd that is not there, and one that this user may not open, have their own commands."""
    _library(tmp_path / "lib", monkeypatch, HIP_CALLS, number=70_200_000, devices=0)
    monkeypatch.setattr(hip, "pci_devices", lambda vendor: ("0000:03:00.0",))
    found = hip.diagnose()
    assert found.reason == "/dev/kfd is not there: the kernel driver is not loaded"
    assert found.remedy == "modprobe amdgpu"
    (library,) = [each for each in found.observations if each.what == "HIP runtime library"]
    assert (library.state, library.detail) == (FOUND, "HIP 7.2")
    monkeypatch.setattr(hip, "in_container", lambda: True)
    assert "--device /dev/kfd" in hip.diagnose().remedy
    monkeypatch.setattr(hip, "device_files", lambda *patterns: (["/dev/kfd"], ["/dev/kfd"]))
    assert hip.diagnose().remedy == "usermod -a -G render,video $LOGNAME"
    monkeypatch.setattr(hip, "device_files", lambda *patterns: (["/dev/kfd"], []))
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "9")
    found = hip.diagnose()
    assert "ROCR_VISIBLE_DEVICES=9" in found.reason
    assert found.remedy == "unset ROCR_VISIBLE_DEVICES"


def test_metal_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metal is Apple's: elsewhere no command helps; on a Mac without PyObjC one does."""
    monkeypatch.setitem(sys.modules, "Metal", None)
    monkeypatch.setattr(sys, "platform", "linux")
    assert metal.diagnose().remedy == ""
    assert "macOS only" in metal.diagnose().reason
    monkeypatch.setattr(sys, "platform", "darwin")
    assert metal.diagnose().remedy == 'pip install "metrale-gpu-runtime[metal]"'


def test_the_cpu_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """llvmlite's version, LLVM and target are told; without it, what installs it."""
    found = cpu.diagnose()
    assert found.reason == ""
    assert _state(found.observations, "target") == FOUND
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    assert cpu.diagnose().remedy.startswith("pip install")


@pytest.mark.parametrize(
    ("release", "command"),
    [
        ("ID=debian\n", "apt-get install -y libvulkan1 mesa-vulkan-drivers"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt-get install -y libvulkan1 mesa-vulkan-drivers"),
        ("ID=fedora\n", "dnf install -y vulkan-loader mesa-vulkan-drivers"),
        ("ID=arch\n", "pacman -S --noconfirm vulkan-icd-loader vulkan-swrast"),
        ("ID=alpine\n", "apk add vulkan-loader mesa-vulkan-swrast"),
        ("ID=other\n", "apt-get install -y libvulkan1 mesa-vulkan-drivers"),
    ],
)
def test_packages_by_their_distributions_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, command: str
) -> None:
    """A package has the name, and its manager the words, of this distribution."""
    (tmp_path / "os-release").write_text(release)
    monkeypatch.setattr(remedies, "as_root", lambda command: command)
    names = (remedies.VULKAN_LOADER, remedies.VULKAN_SOFTWARE)
    assert remedies.system_packages(*names, os_release=tmp_path / "os-release") == command


def test_cards_on_the_bus(tmp_path: Path) -> None:
    """Display controllers and accelerators of one vendor count, its audio and other vendors' cards do not."""
    for name, vendor, kind in [
        ("0000:01:00.0", "0x10de", "0x030200"),
        ("0000:01:00.1", "0x10de", "0x040300"),
        ("0000:02:00.0", "0x1002", "0x120000"),
    ]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor").write_text(vendor)
        (tmp_path / name / "class").write_text(kind)
    assert remedies.pci_devices(0x10DE, tmp_path) == ("0000:01:00.0",)
    assert remedies.pci_devices(0x1002, tmp_path) == ("0000:02:00.0",)
    assert remedies.pci_devices(0x10DE, tmp_path / "none") is None
