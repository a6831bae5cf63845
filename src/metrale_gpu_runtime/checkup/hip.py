"""HIP: AMD's runtime library, the kernel driver's device files and their groups, the bindings.

Sources: ROCm installation on Linux (post-installation: groups render and video; Docker), HIP runtime API.
"""

from __future__ import annotations

import grp
import importlib.util
import os
from importlib.metadata import PackageNotFoundError, version

from ..drivers.diagnosis import BROKEN, FOUND, MISSING, NOTE, Diagnosis, Observation
from ..drivers.probing import ChildEnd
from ..drivers.remedies import as_root, in_container, pci_devices
from .libraries import ask_library, device_files, is_absent, library_observation

_AMD = 0x1002
_KFD = "/dev/kfd"
_GROUPS = ("render", "video")
_VISIBLE = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_INSTALL = 'pip install "metrale-gpu-runtime[hip]"'


def diagnose() -> Diagnosis:
    """Look for all of it. Starts the runtime in a child process only."""
    names = _names()
    end = ask_library("hip", *names)
    number = end.told.get("version")
    # HIP_VERSION: major * 10000000 + minor * 100000 + patch.
    told = f"HIP {number // 10_000_000}.{number // 100_000 % 100}" if number else "tells no version"
    bindings = _bindings_version()
    nodes, closed = device_files(_KFD, "/dev/dri/renderD*")
    cards = pci_devices(_AMD)
    observations = (
        Observation("HIP bindings", FOUND if bindings else MISSING, bindings or "not installed", ("hip-python",)),
        library_observation("HIP runtime library", end, names, told),
        _nodes_observation(nodes, closed),
        _groups_observation(),
        _cards_observation(cards),
        *(_variable(name) for name in _VISIBLE),
    )
    reason, remedy = _cause(end, bindings, nodes, closed, cards)
    return Diagnosis(observations, reason, remedy)


def _names() -> tuple[str, ...]:
    """The library where the bindings look for it: AMD's wheels, ROCM_PATH, /opt/rocm, then the system's loader."""
    name = "libamdhip64.so"
    folders = []
    wheel = importlib.util.find_spec("_rocm_sdk_core")
    if wheel is not None and wheel.submodule_search_locations:
        folders += [os.path.join(place, "lib") for place in wheel.submodule_search_locations]
    folders += [os.path.join(os.environ.get("ROCM_PATH") or "/opt/rocm", "lib")]
    return (*(os.path.join(folder, name) for folder in folders), name)


def _bindings_version() -> str:
    for package in ("hip-python", "rocm-bindings-hip"):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return ""


def _nodes_observation(nodes: list[str], closed: list[str]) -> Observation:
    where = (_KFD, "/dev/dri/renderD*")
    if _KFD not in nodes:
        detail = f"{_KFD} is not there" + (f"; there is {', '.join(nodes)}" if nodes else "")
        return Observation("device files", MISSING, detail, where)
    if closed:
        return Observation("device files", BROKEN, f"{', '.join(closed)} may not be opened by this user", where)
    return Observation("device files", FOUND, ", ".join(nodes), where)


def _groups_observation() -> Observation:
    mine = {*os.getgroups(), os.getegid()}
    known = {}
    for name in _GROUPS:
        try:
            known[name] = grp.getgrnam(name).gr_gid in mine
        except KeyError:
            continue  # this system has no such group
    member = [name for name, is_member in known.items() if is_member]
    root = " (this is root, who needs none)" if os.geteuid() == 0 else ""
    return Observation("groups", NOTE, f"of {', '.join(_GROUPS)} this user is in {', '.join(member) or 'none'}{root}")


def _cards_observation(cards: tuple[str, ...] | None) -> Observation:
    where = ("/sys/bus/pci/devices",)
    if cards is None:
        return Observation("PCI devices of AMD's", NOTE, "the bus cannot be looked at here", where)
    return Observation("PCI devices of AMD's", FOUND if cards else MISSING, ", ".join(cards) or "none", where)


def _variable(name: str) -> Observation:
    value = os.environ.get(name)
    return Observation("variable", NOTE, f"{name} is not set" if value is None else f"{name}={value}")


def _cause(
    end: ChildEnd, bindings: str, nodes: list[str], closed: list[str], cards: tuple[str, ...] | None
) -> tuple[str, str]:
    if end.ended:
        doing = "it is started" if "path" in end.told else "it is loaded"
        return f"the HIP runtime library {end.problem_when(doing)}", ""
    if is_absent(end):
        tried = ", ".join(end.told["problems"])
        if not cards and _KFD not in nodes and cards is not None:
            return f"libamdhip64 not found (tried {tried}), and this machine has no AMD GPU", ""
        return f"libamdhip64 not found (tried {tried})", "amdgpu-install --usecase=rocm"
    if "problems" in end.told:
        return f"libamdhip64 was found but cannot be loaded ({next(iter(end.told['problems'].values()))})", ""
    if not bindings:
        return "AMD's Python bindings (hip-python) are not installed", _INSTALL
    if end.told.get("count"):
        return "", ""
    if _KFD not in nodes:
        if in_container():
            return f"{_KFD} is not there", "docker run --device /dev/kfd --device /dev/dri …"
        return f"{_KFD} is not there: the kernel driver is not loaded", as_root("modprobe amdgpu") if cards else ""
    if closed:
        remedy = as_root("usermod -a -G render,video $LOGNAME")
        return f"{', '.join(closed)} may not be opened by this user", remedy
    hidden = [name for name in _VISIBLE if os.environ.get(name) is not None]
    if hidden:
        values = ", ".join(f"{name}={os.environ[name]}" for name in hidden)
        return f"the HIP runtime sees no device, with {values}", f"unset {' '.join(hidden)}"
    codes = [end.told.get(f"{what}_code") for what in ("initialize", "count")]
    code = next((each for each in codes if each), 0)
    return f"the HIP runtime is here but sees no device{f' (code {code})' if code else ''}", ""
