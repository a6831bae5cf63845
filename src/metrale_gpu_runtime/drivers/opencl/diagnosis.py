"""Why OpenCL can or cannot be used here: the bindings, their loader, what it reads, and each driver tried by itself."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ..diagnosis import BROKEN, FOUND, MISSING, NOTE, Diagnosis, Observation, variables
from ..probing import ChildEnd, run_probe
from ..remedies import POCL, as_root, family, in_container, software_opencl, system_packages
from . import vendor_probe
from .vendors import (
    ALL_VARIABLES,
    KHRONOS,
    OCL_ICD,
    VARIABLES,
    Entry,
    Loader,
    Place,
    built_in_folder,
    default_places,
    kind_of,
    places,
    set_variables,
)

_INSTALL = 'pip install "metrale-gpu-runtime[opencl]"'
_REINSTALL = "pip install --force-reinstall pyopencl"

# Debian's package of a driver, by the beginning of its library's name.
_DRIVER_PACKAGES: Mapping[str, str] = {
    "libpocl": "pocl-opencl-icd",
    "libigdrcl": "intel-opencl-icd",
    "libRusticlOpenCL": "mesa-opencl-icd",
    "libMesaOpenCL": "mesa-opencl-icd",
}


@dataclass(frozen=True, slots=True)
class _Tried:
    """One driver after it was tried; `is_fatal`: it takes the process down that loads it."""

    entry: Entry
    named_by: str
    works: bool
    detail: str
    is_fatal: bool = False

    @property
    def observation(self) -> Observation:
        where = (self.entry.file,) if self.entry.file else (f"{self.named_by}={self.entry.library}",)
        return Observation("OpenCL driver", FOUND if self.works else BROKEN, self.detail, where)


def why_unusable() -> str:
    """One line for BackendUnavailable and `BackendState.reason`: the reason; the command that would help."""
    found = diagnose()
    if not found.reason:
        return "OpenCL has devices when they are looked for, but not in this process; see `metrale-gpu doctor`"
    return found.in_one_line


def diagnose() -> Diagnosis:
    """Look at all of it, in child processes. Opens nothing here; never raises for what a driver does."""
    if importlib.util.find_spec("pyopencl") is None:
        return _without_bindings()
    with tempfile.TemporaryDirectory(prefix="metrale-doctor-") as kept:
        # What PoCL compiles when it is tried is kept by nobody.
        bindings = run_probe(vendor_probe.BINDINGS, environment={"POCL_CACHE_DIR": kept})
    if "version" not in bindings.told:
        detail = bindings.problem or "told nothing"
        seen = Observation("pyopencl", BROKEN, f"cannot be imported: {detail}", _import_places())
        return Diagnosis((seen,), f"pyopencl cannot be imported ({detail})", _REINSTALL)
    version, home = str(bindings.told["version"]), str(bindings.told["home"])
    observations = [Observation("pyopencl", FOUND, version, (home,))]
    path = str(bindings.told["loader"])
    if not path:
        # macOS's framework and Windows' registry have no such folders.
        observations.append(Observation("OpenCL loader", NOTE, "the system's; what it reads cannot be told here"))
        return _conclude(observations, None, (), (), bindings)
    with tempfile.TemporaryDirectory(prefix="metrale-doctor-") as empty:
        loader = _identify(path, home, empty)
        observations.append(Observation("OpenCL loader", FOUND, str(loader), (path,)))
        observations += _variables(loader, os.environ)
        read = places(loader, os.environ)
        observations += [_of_place(each) for each in read]
        named = [(entry, place.named_by) for place in read for entry in place.entries]
        with ThreadPoolExecutor(max_workers=4) as pool:
            tried = tuple(pool.map(lambda each: _try(loader, each[0], each[1], empty), named))
    observations += [each.observation for each in tried]
    return _conclude(observations, loader, read, tried, bindings)


def _without_bindings() -> Diagnosis:
    # The loader of pip's pyopencl, which would read this.
    loader = Loader("", OCL_ICD)
    read = places(loader, os.environ)
    seen = [Observation("pyopencl", MISSING, "not installed", _import_places())]
    seen += [*_variables(loader, os.environ), *(_of_place(each) for each in read)]
    remedy = _INSTALL if any(place.entries for place in read) else software_opencl(reads_wheels=True)
    return Diagnosis(tuple(seen), "the Python bindings (pyopencl) are not installed", remedy)


def _import_places() -> tuple[str, ...]:
    return ("this Python's import path",)


def _identify(path: str, home: str, empty: str) -> Loader:
    # Told of no driver at all, so that none can crash it.
    environment: dict[str, str | None] = dict.fromkeys(ALL_VARIABLES, None)
    environment |= {"OCL_ICD_VENDORS": empty, "PYOPENCL_HOME": empty}
    told = run_probe(vendor_probe.LOADER, path, environment=environment).told
    is_inside = os.path.realpath(path).startswith(os.path.realpath(home) + os.sep)
    kind = kind_of(path, str(told.get("vendor", "")))
    own_folder = os.path.join(home, ".libs") if is_inside and kind == OCL_ICD else ""
    return Loader(path, kind, str(told.get("version", "")), built_in_folder(path), own_folder)


def _variables(loader: Loader, environment: Mapping[str, str]) -> list[Observation]:
    read = VARIABLES.get(loader.kind, ALL_VARIABLES)
    ignored = [name for name in ALL_VARIABLES if name not in read and environment.get(name)]
    return [
        *variables(environment, read),
        *(
            Observation("variable", BROKEN, f"{name}={environment[name]}, which this loader does not read")
            for name in ignored
        ),
    ]


def _of_place(place: Place) -> Observation:
    named = f", named by {place.named_by}" if place.named_by else ""
    if place.problem and not place.entries:
        return Observation("OpenCL vendor entries", MISSING, f"{place.path}{named}: {place.problem}", (place.path,))
    count = len(place.entries)
    detail = f"{place.path}{named}: {place.problem or f'{count} entr' + ('y' if count == 1 else 'ies')}"
    return Observation("OpenCL vendor entries", NOTE if place.problem else FOUND, detail, (place.path,))


# ---------------------------------------------------------------- one driver


def _try(loader: Loader, entry: Entry, named_by: str, empty: str) -> _Tried:
    if not entry.library:
        return _Tried(entry, named_by, False, f"{entry} {entry.problem}")
    candidates = [] if "/" in entry.library else [os.path.join(os.path.dirname(loader.path), entry.library)]
    environment: dict[str, str | None] = dict.fromkeys(ALL_VARIABLES, None)
    # ocl-icd takes a library for what OCL_ICD_VENDORS names when it is no folder.
    if loader.kind == KHRONOS:
        environment |= {"OCL_ICD_FILENAMES": entry.library, "OCL_ICD_VENDORS": empty}
    else:
        environment["OCL_ICD_VENDORS"] = entry.library
    environment["PYOPENCL_HOME"] = empty
    end = run_probe(vendor_probe.ENTRY, loader.path, entry.library, *candidates, environment=environment)
    told = end.told
    platforms = told.get("platforms", ())
    if any(each["devices"] for each in platforms):
        path = str(told.get("path", "")) or entry.library
        return _Tried(entry, named_by, True, f"{path}: {_shown(platforms)}")
    detail, is_fatal = _what_is_wrong(entry, end)
    return _Tried(entry, named_by, False, f"{_naming(entry, named_by)}{detail}", is_fatal)


def _naming(entry: Entry, named_by: str) -> str:
    if entry.file:
        return f"{entry.file} names {entry.library}, which "
    if named_by == "OCL_ICD_VENDORS":
        return f"{named_by}={entry.library} names no folder, so it is taken for a driver library, which "
    return f"{named_by} names {entry.library}, which "


def _what_is_wrong(entry: Entry, end: ChildEnd) -> tuple[str, bool]:
    told = end.told
    if end.ended and "unloadable" not in told:
        return end.problem_when("it was loaded"), True
    if told.get("unloadable"):
        return _unloadable(entry, str(told["unloadable"])), False
    if end.ended:
        return f"loads and {end.problem_when('it was asked for its platforms')}", True
    if not told.get("is_driver"):
        return "is no OpenCL driver: it has neither clIcdGetPlatformIDsKHR nor clGetExtensionFunctionAddress", False
    if told.get("loader_problem"):
        return f"loads, but the loader does not: {told['loader_problem']}", False
    if told.get("platforms"):
        names = ", ".join(str(each["name"]) for each in told["platforms"])
        return f"loads, but its platform ({names}) has no device", False
    return "loads, but has no platform: no device of its kind is here, or none that this user may open", False


def _unloadable(entry: Entry, said: str) -> str:
    problem = f"; {entry.problem}" if entry.problem else ""
    named, _, words = said.partition(": ")
    if "cannot open shared object file: No such file" not in words:
        return f"cannot be loaded: {said}{problem}"
    if named != entry.library:
        return f"cannot be loaded: it needs {named}, which is not found"
    where = "does not exist" if "/" in named else "is in none of the system loader's folders"
    return where + problem


def _shown(platforms: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{each['name']}, {each['version']}: {', '.join(each['devices']) or each['problem'] or 'no device'}"
        for each in platforms
    )


# ---------------------------------------------------------------- the conclusion


def _conclude(
    observations: list[Observation],
    loader: Loader | None,
    read: Sequence[Place],
    tried: Sequence[_Tried],
    bindings: ChildEnd,
) -> Diagnosis:
    platforms = bindings.told.get("platforms", ())
    if any(each["devices"] for each in platforms):
        observations.append(Observation("OpenCL platforms", FOUND, _shown(platforms), ("clGetPlatformIDs",)))
        refused: Mapping[str, str] = bindings.told.get("refuses_all", {})
        for device, said in refused.items():
            detail = f"{device} compiles nothing here, not even an empty kernel: {said}"
            observations.append(Observation("OpenCL compiler", BROKEN, detail, ("clBuildProgram",)))
        if all(device in refused for each in platforms for device in each["devices"]):
            device, said = next(iter(refused.items()))
            reason = f"{device} is listed and compiles nothing, not even an empty kernel: {said}"
            chosen = set_variables(loader, os.environ) if loader is not None else ()
            others = loader is not None and any(
                place.entries and not place.path.startswith(loader.own_folder or "\0")
                for place in default_places(loader)
            )
            remedy = f"unset {' '.join(chosen)}" if chosen and others else system_packages(POCL)
            return Diagnosis(tuple(observations), reason, remedy, although_listed=True)
        return Diagnosis(tuple(observations))
    said = _shown(platforms) if platforms else str(bindings.told.get("refused", "")) or bindings.problem
    observations.append(Observation("OpenCL platforms", MISSING, said or "none", ("clGetPlatformIDs",)))
    if loader is None:
        return Diagnosis(tuple(observations), f"there is no OpenCL device ({said or 'no platform'})", "")
    reason, remedy = _cause(loader, read, tried, said)
    return Diagnosis(tuple(observations), reason, remedy)


def _cause(loader: Loader, read: Sequence[Place], tried: Sequence[_Tried], said: str) -> tuple[str, str]:
    fatal = [each for each in tried if each.is_fatal]
    if fatal:
        # It takes the others with it, so nothing helps but to keep it from being loaded.
        return fatal[0].detail, _keep_out(fatal[0])
    shown = ", ".join(
        f"{each.path}{f' ({each.named_by})' if each.named_by else ''}, which {each.problem or 'has entries'}"
        for each in read
    )
    chosen = set_variables(loader, os.environ)
    drivers_without = any(place.entries for place in default_places(loader))
    install = software_opencl(reads_wheels=bool(loader.own_folder))
    if not tried:
        reason = f"no OpenCL driver is registered: the loader ({loader}) reads {shown}"
        return reason, f"unset {' '.join(chosen)}" if chosen and drivers_without else install
    broken = [each for each in tried if not each.works]
    if broken:
        others = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        reason = f"no OpenCL driver works: {broken[0].detail}{others}"
        if chosen and drivers_without and any(each.named_by in chosen for each in broken):
            return reason, f"unset {' '.join(chosen)}"
        return reason, _bring(broken[0].entry) or install
    return f"the drivers work one by one, but together they give no device ({said})", ""


def _keep_out(tried: _Tried) -> str:
    if not tried.entry.file or tried.named_by:
        return f"unset {tried.named_by}"
    move = f"mv {tried.entry.file} {tried.entry.file}.off"
    return move if os.access(os.path.dirname(tried.entry.file), os.W_OK) else as_root(move)


def _bring(entry: Entry) -> str:
    """What installs the library that an entry names, where it is known."""
    name = os.path.basename(entry.library)
    if name.startswith("libnvidia-opencl"):
        return "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …" if in_container() else ""
    for beginning, package in _DRIVER_PACKAGES.items():
        # A file beside pyopencl came with a wheel; the system's package would not bring it.
        if name.startswith(beginning) and "-" not in name and family() in ("debian", "ubuntu"):
            return system_packages(package)
    return ""
