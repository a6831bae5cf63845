"""CUDA: the display driver's library, the kernel's part of it, the bindings and their version against the driver's.

Sources: CUDA driver API (cuDriverGetVersion, cuInit), CUDA on WSL User Guide, NVIDIA Container Toolkit.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..drivers.diagnosis import BROKEN, FOUND, MISSING, NOTE, Diagnosis, Observation
from ..drivers.probing import ChildEnd
from ..drivers.remedies import as_root, family, in_container, pci_devices, system_packages
from .cpu import look_at_nvrtc
from .libraries import ask_library, device_files, is_absent, library_observation

_NVIDIA = 0x10DE
_KERNEL_MODULE = Path("/proc/driver/nvidia/version")
_WSL_FOLDER, _WSL_DEVICE = "/usr/lib/wsl/lib", "/dev/dxg"
_OLDEST_MAJOR = 12
_NO_DEVICE, _MISMATCH, _NOT_PERMITTED = 100, 803, 800

NAMES = ("libcuda.so.1",) if os.name == "posix" else ("nvcuda.dll",)


def diagnose() -> Diagnosis:
    """Look for all of it. Starts the driver in a child process only."""
    end = ask_library("cuda", *NAMES)
    driver = end.told.get("version")
    told = f"for CUDA {_shown(driver)}" if driver else "tells no version"
    bindings = _bindings_version()
    kernel = _kernel_version()
    nodes, closed = device_files("/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/nvidia-uvm", _WSL_DEVICE)
    cards = pci_devices(_NVIDIA)
    observations = (
        _bindings_observation(bindings, driver),
        library_observation("CUDA driver library", end, NAMES, told),
        *_wsl(end),
        Observation("kernel driver", FOUND if kernel else MISSING, kernel or "not loaded", (str(_KERNEL_MODULE),)),
        _nodes_observation(nodes, closed),
        _cards_observation(cards),
        _visible(),
        _start_observation(end),
        look_at_nvrtc(),
    )
    reason, remedy = _cause(end, bindings, driver, kernel, nodes, closed, cards)
    return Diagnosis(observations, reason, remedy)


def _bindings_version() -> str:
    try:
        return version("cuda-bindings")
    except PackageNotFoundError:
        return ""


def _kernel_version() -> str:
    try:
        line = _KERNEL_MODULE.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    except OSError:
        return ""
    # "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct …"
    match = re.search(r"\d+\.\d+(?:\.\d+)*", line)
    return match[0] if match else line


def _shown(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _bindings_observation(bindings: str, driver: int | None) -> Observation:
    where = ("cuda-bindings",)
    if not bindings:
        return Observation("CUDA bindings", MISSING, "cuda-bindings is not installed", where)
    if driver and int(bindings.partition(".")[0]) > driver // 1000:
        detail = f"{bindings}, which takes a driver of its major version or later; this one is for {_shown(driver)}"
        return Observation("CUDA bindings", BROKEN, detail, where)
    return Observation("CUDA bindings", FOUND, bindings, where)


def _wsl(end: ChildEnd) -> tuple[Observation, ...]:
    there = os.path.join(_WSL_FOLDER, NAMES[0])
    if not os.path.exists(_WSL_DEVICE) and not os.path.isdir(_WSL_FOLDER):
        return ()
    state = FOUND if os.path.exists(there) else MISSING
    return (Observation("WSL's driver library", state, there, (_WSL_FOLDER, _WSL_DEVICE)),)


def _nodes_observation(nodes: list[str], closed: list[str]) -> Observation:
    where = ("/dev/nvidia*", _WSL_DEVICE)
    if not nodes:
        return Observation("device files", MISSING, "none", where)
    if closed:
        return Observation("device files", BROKEN, f"{', '.join(closed)} may not be opened by this user", where)
    return Observation("device files", FOUND, ", ".join(nodes), where)


def _cards_observation(cards: tuple[str, ...] | None) -> Observation:
    where = ("/sys/bus/pci/devices",)
    if cards is None:
        return Observation("PCI devices of NVIDIA's", NOTE, "the bus cannot be looked at here", where)
    return Observation("PCI devices of NVIDIA's", FOUND if cards else MISSING, ", ".join(cards) or "none", where)


def _visible() -> Observation:
    value = os.environ.get("CUDA_VISIBLE_DEVICES")
    said = "CUDA_VISIBLE_DEVICES is not set" if value is None else f"CUDA_VISIBLE_DEVICES={value}"
    state = BROKEN if value is not None and _hides_all(value) else NOTE
    return Observation("variable", state, said + (", which hides every device" if state == BROKEN else ""))


def _hides_all(value: str) -> bool:
    # The list ends at the first number that is none.
    return not value.strip() or value.strip().startswith("-1")


def _start_observation(end: ChildEnd) -> Observation:
    where = ("cuInit", "cuDeviceGetCount")
    told = end.told
    if "initialize_code" not in told:
        return Observation("driver start", NOTE, "not tried: there is no library to start", where)
    if told["initialize_code"] != 0:
        return Observation("driver start", BROKEN, f"cuInit returned {told['initialize_code']}", where)
    count = told.get("count")
    return Observation("driver start", FOUND if count else MISSING, f"{count or 'no'} device(s)", where)


def _cause(
    end: ChildEnd,
    bindings: str,
    driver: int | None,
    kernel: str,
    nodes: list[str],
    closed: list[str],
    cards: tuple[str, ...] | None,
) -> tuple[str, str]:
    has_hardware = bool(cards or kernel or nodes)
    if end.ended:
        doing = "it is started" if "path" in end.told else "it is loaded"
        return f"the CUDA driver library {end.problem_when(doing)}", _driver_remedy(has_hardware)
    if is_absent(end):
        if os.path.exists(os.path.join(_WSL_FOLDER, NAMES[0])):
            where = f"{NAMES[0]} is in {_WSL_FOLDER}, where the system's loader does not look"
            return where, as_root(f"ldconfig {_WSL_FOLDER}")
        missing = f"libcuda not found (tried {', '.join(NAMES)} in the system's library path)"
        if not has_hardware and cards is not None:
            return f"{missing}, and this machine has no NVIDIA GPU", ""
        return missing, _driver_remedy(has_hardware)
    if "problems" in end.told:
        told = next(iter(end.told["problems"].values()))
        return f"libcuda was found but cannot be loaded ({told})", _driver_remedy(has_hardware)
    if not bindings:
        major = 12 if driver and driver // 1000 == _OLDEST_MAJOR else 13
        return "NVIDIA's Python bindings (cuda-bindings) are not installed", _install(major)
    if driver and driver // 1000 < _OLDEST_MAJOR:
        return f"the driver is for CUDA {_shown(driver)}, and none before {_OLDEST_MAJOR} works", _driver_remedy(True)
    if driver and int(bindings.partition(".")[0]) > driver // 1000:
        reason = f"the driver is for CUDA {_shown(driver)}, too old for these bindings ({bindings})"
        return reason, _install(driver // 1000)
    code = end.told.get("initialize_code", 0) or end.told.get("count_code", 0)
    value = os.environ.get("CUDA_VISIBLE_DEVICES")
    if code in (0, _NO_DEVICE) and not end.told.get("count"):
        if value is not None:
            return f"CUDA_VISIBLE_DEVICES is {value!r}, and no device is visible", "unset CUDA_VISIBLE_DEVICES"
        if not kernel and not nodes:
            remedy = as_root("modprobe nvidia") if cards and not in_container() else _driver_remedy(has_hardware)
            return "the driver library is here, but the kernel's part of the driver is not loaded", remedy
        return "the driver is here, but there is no device", ""
    if closed:
        groups = as_root(f"chmod a+rw {' '.join(closed)}")
        return f"{', '.join(closed)} may not be opened by this user (cuInit returned {code})", groups
    if code == _MISMATCH:
        reason = f"the driver's library is not of the kernel driver's version, {kernel} (cuInit returned {code})"
        return reason, "" if in_container() else as_root("reboot")
    return (f"the driver cannot be started (code {code})", "") if code else ("", "")


def _install(major: int) -> str:
    return f'pip install "metrale-gpu-runtime[cuda{major}]"'


def _driver_remedy(has_hardware: bool) -> str:
    if in_container():
        return "docker run --gpus all …"
    if not has_hardware or not sys.platform.startswith("linux"):
        return ""
    return as_root("ubuntu-drivers install") if family() == "ubuntu" else system_packages("nvidia-driver")
