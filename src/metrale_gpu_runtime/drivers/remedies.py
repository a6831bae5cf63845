"""The one command that brings what is missing, in the words of this system's package manager."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

_OS_RELEASE = Path("/etc/os-release")

# The distribution's family (ID and ID_LIKE of os-release(5)) and how it installs.
_INSTALLERS: Mapping[str, str] = {
    "debian": "apt-get install -y",
    "ubuntu": "apt-get install -y",
    "fedora": "dnf install -y",
    "rhel": "dnf install -y",
    "arch": "pacman -S --noconfirm",
    "alpine": "apk add",
}

# What each family calls a package, where the names differ from Debian's.
_NAMES: Mapping[str, Mapping[str, str]] = {
    "pocl-opencl-icd": {"fedora": "pocl", "rhel": "pocl", "arch": "pocl", "alpine": "pocl"},
    "ocl-icd-libopencl1": {"fedora": "ocl-icd", "rhel": "ocl-icd", "arch": "ocl-icd", "alpine": "opencl-icd-loader"},
    "mesa-vulkan-drivers": {"arch": "vulkan-swrast", "alpine": "mesa-vulkan-swrast"},
    "libvulkan1": {
        "fedora": "vulkan-loader",
        "rhel": "vulkan-loader",
        "arch": "vulkan-icd-loader",
        "alpine": "vulkan-loader",
    },
}

POCL = "pocl-opencl-icd"
VULKAN_SOFTWARE = "mesa-vulkan-drivers"
VULKAN_LOADER = "libvulkan1"


def family(os_release: Path = _OS_RELEASE) -> str:
    """The distribution's family: "debian", "fedora", …; empty where it is none whose packages are known."""
    values: dict[str, str] = {}
    try:
        for line in os_release.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            values[name] = value.strip().strip("\"'")
    except OSError:
        return ""
    for each in (values.get("ID", ""), *values.get("ID_LIKE", "").split()):
        if each in _INSTALLERS:
            return each
    return ""


def as_root(command: str) -> str:
    """The command, with sudo where this user is not root."""
    return command if not hasattr(os, "geteuid") or os.geteuid() == 0 else f"sudo {command}"


def system_packages(*names: str, os_release: Path = _OS_RELEASE) -> str:
    """How this system installs packages that are given by Debian's names; Debian's way where it is not known."""
    kind = family(os_release)
    installer = _INSTALLERS.get(kind, _INSTALLERS["debian"])
    return as_root(f"{installer} {' '.join(_NAMES.get(name, {}).get(kind, name) for name in names)}")


def software_opencl(*, reads_wheels: bool) -> str:
    """What installs PoCL: from pip where it has a wheel and the loader in use reads what pip installs."""
    # pocl-binary-distribution has wheels for Linux on x86-64 only.
    if reads_wheels and sys.platform == "linux" and platform.machine() == "x86_64":
        return 'pip install "pyopencl[pocl]"'
    return system_packages(POCL)


def in_container() -> bool:
    """Whether this looks like a container, where drivers come from the host."""
    return any(os.path.exists(mark) for mark in ("/.dockerenv", "/run/.containerenv"))


def pci_devices(vendor: int, root: Path = Path("/sys/bus/pci/devices")) -> tuple[str, ...] | None:
    """The addresses of this vendor's display controllers and accelerators; None where the bus cannot be looked at."""
    found = []
    try:
        devices = sorted(root.iterdir())
    except OSError:
        return None
    for device in devices:
        try:
            its_vendor = int((device / "vendor").read_text(), 16)
            its_class = int((device / "class").read_text(), 16) >> 16
        except (OSError, ValueError):
            continue  # it went away, or is none that says what it is
        # PCI's base classes: 03 display controller, 12 processing accelerator.
        if its_vendor == vendor and its_class in (0x03, 0x12):
            found.append(device.name)
    return tuple(found)
