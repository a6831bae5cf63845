"""Why WebGPU can or cannot be used here: the package, its native library, Vulkan's loader and drivers, the adapters."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..diagnosis import BROKEN, FOUND, MISSING, NOTE, Diagnosis, Observation, variables
from ..probing import ChildEnd, run_probe
from ..remedies import VULKAN_LOADER, VULKAN_SOFTWARE, as_root, system_packages
from . import vulkan_probe
from .vulkan import ADDED, FILTERS, INSTEAD, LOADER, VARIABLES, Manifest, ManifestPlace, default_places, places

_INSTALL = 'pip install "metrale-gpu-runtime[webgpu]"'
_REINSTALL = "pip install --upgrade --force-reinstall wgpu"

# VkResult.
_INCOMPATIBLE_DRIVER, _INITIALIZATION_FAILED = -9, -3


@dataclass(frozen=True, slots=True)
class _Tried:
    """One Vulkan driver after it was tried; `is_fatal`: it takes the process down that loads it."""

    manifest: Manifest
    named_by: str
    works: bool
    detail: str
    is_broken: bool = True
    is_fatal: bool = False

    @property
    def observation(self) -> Observation:
        state = FOUND if self.works else BROKEN if self.is_broken else NOTE
        return Observation("Vulkan driver", state, self.detail, (self.manifest.file,))


def why_unusable() -> str:
    """One line for BackendUnavailable and `BackendState.reason`: the reason; the command that would help."""
    found = diagnose()
    if not found.reason:
        return "WebGPU has adapters when they are looked for, but not in this process; see `metrale-gpu doctor`"
    return found.in_one_line


def diagnose() -> Diagnosis:
    """Look at all of it, in child processes. Opens nothing here; never raises for what a driver does."""
    if importlib.util.find_spec("wgpu") is None:
        seen = Observation("wgpu", MISSING, "not installed", ("this Python's import path",))
        return Diagnosis((seen,), "the package wgpu is not installed", _INSTALL)
    observations = [Observation("wgpu", FOUND, _version_of_wgpu())]
    adapters = run_probe(vulkan_probe.ADAPTERS)
    told = adapters.told
    override = os.environ.get("WGPU_LIB_PATH", "")
    where = ("WGPU_LIB_PATH",) if override else ()
    if "native" not in told or told.get("problem"):
        problem = str(told.get("problem", "")) or adapters.problem or "told nothing"
        observations.append(Observation("wgpu's native library", BROKEN, problem, where))
        return Diagnosis(tuple(observations), problem, "unset WGPU_LIB_PATH" if override else _REINSTALL)
    observations.append(
        Observation("wgpu's native library", FOUND, f"wgpu-native {told['native']}", (str(told["library"]), *where))
    )
    loader_problem = ""
    read: tuple[ManifestPlace, ...] = ()
    tried: tuple[_Tried, ...] = ()
    if sys.platform == "linux":
        loader_problem, read, tried, seen_of_vulkan = _look_at_vulkan()
        observations += seen_of_vulkan
    found: Sequence[Mapping[str, Any]] = told.get("adapters", ())
    for each in found:
        state, problem = (BROKEN, f": not usable: {each['reason']}") if each["reason"] else (FOUND, "")
        detail = f"{each['name']}, {each['driver']}{problem}"
        observations.append(Observation("adapter", state, detail, (str(each["graphics"]),)))
    if any(not each["reason"] for each in found):
        return Diagnosis(tuple(observations))
    if not found:
        observations.append(
            Observation("adapter", MISSING, adapters.problem or "none", ("wgpuInstanceEnumerateAdapters",))
        )
    reason, remedy = _cause(loader_problem, read, tried, adapters)
    if found:
        reason += f" ({', '.join(str(each['name']) + ' is there, but ' + str(each['reason']) for each in found)})"
    return Diagnosis(tuple(observations), reason, remedy)


def _version_of_wgpu() -> str:
    try:
        return version("wgpu")
    except PackageNotFoundError:
        return "version not known"


def _look_at_vulkan() -> tuple[str, tuple[ManifestPlace, ...], tuple[_Tried, ...], list[Observation]]:
    observations = []
    end = run_probe(vulkan_probe.VULKAN)
    problem = str(end.told.get("problem", "")) or end.problem
    if problem:
        missing = problem.startswith(f"{LOADER}: cannot open shared object file: No such file")
        state = MISSING if missing else BROKEN
        observations.append(Observation("Vulkan loader", state, problem, ("the system loader's folders",)))
    else:
        observations.append(Observation("Vulkan loader", FOUND, str(end.told["version"]), (str(end.told["path"]),)))
    observations += variables(os.environ, VARIABLES)
    read = places(os.environ)
    observations += [_of_place(each) for each in read]
    named = [(manifest, place.named_by) for place in read for manifest in place.manifests]
    with ThreadPoolExecutor(max_workers=4) as pool:
        tried = tuple(pool.map(lambda each: _try(*each), named))
    observations += [each.observation for each in tried]
    return problem, read, tried, observations


def _of_place(place: ManifestPlace) -> Observation:
    named = f", named by {place.named_by}" if place.named_by else ""
    count = len(place.manifests)
    told = place.problem or f"{count} manifest{'' if count == 1 else 's'}"
    detail = f"{place.path or 'no file'}{named}: {told}"
    where = (place.path or place.named_by,)
    return Observation("Vulkan driver manifests", MISSING if place.problem else FOUND, detail, where)


def _try(manifest: Manifest, named_by: str) -> _Tried:
    if manifest.problem:
        return _Tried(manifest, named_by, False, f"{manifest.file} {manifest.problem}")
    environment: dict[str, str | None] = dict.fromkeys((ADDED, *FILTERS), None)
    # Loaders before 1.3.207 know the older name only. Implicit layers would speak and load for themselves.
    environment |= dict.fromkeys(INSTEAD, manifest.file)
    environment["VK_LOADER_LAYERS_DISABLE"] = "~implicit~"
    end = run_probe(vulkan_probe.DRIVER, manifest.library, environment=environment)
    devices = end.told.get("devices", ())
    naming = f"{manifest.file} names {manifest.library}, which "
    if devices:
        return _Tried(manifest, named_by, True, f"{manifest.library}: {', '.join(devices)}")
    if end.ended and "unloadable" not in end.told:
        return _Tried(manifest, named_by, False, naming + end.problem_when("it was loaded"), is_fatal=True)
    if end.told.get("unloadable"):
        return _Tried(manifest, named_by, False, naming + _unloadable(manifest, str(end.told["unloadable"])))
    if end.ended:
        said = f"loads and {end.problem_when('it was asked for its devices')}"
        return _Tried(manifest, named_by, False, naming + said, is_fatal=True)
    if not end.told.get("is_driver"):
        return _Tried(manifest, named_by, False, f"{naming}is no Vulkan driver: it lacks vk_icdGetInstanceProcAddr")
    code = int(end.told.get("code", 0))
    if code in (0, _INITIALIZATION_FAILED):
        return _Tried(manifest, named_by, False, f"{naming}loads and finds no device of its kind", is_broken=False)
    why = "does not take it for a driver" if code == _INCOMPATIBLE_DRIVER else f"gives VkResult {code}"
    loader_problem = end.told.get("loader_problem")
    said = (
        f"loads, but the Vulkan loader does not: {loader_problem}" if loader_problem else f"loads, but the loader {why}"
    )
    return _Tried(manifest, named_by, False, naming + said)


def _unloadable(manifest: Manifest, said: str) -> str:
    named, _, words = said.partition(": ")
    if "cannot open shared object file: No such file" not in words:
        return f"cannot be loaded: {said}"
    if named != manifest.library:
        return f"cannot be loaded: it needs {named}, which is not found"
    return "does not exist" if "/" in named else "is in none of the system loader's folders"


# ---------------------------------------------------------------- the conclusion


def _cause(
    loader_problem: str, read: Sequence[ManifestPlace], tried: Sequence[_Tried], adapters: ChildEnd
) -> tuple[str, str]:
    install = system_packages(VULKAN_SOFTWARE)
    if sys.platform != "linux":
        return f"wgpu finds no adapter ({adapters.problem or 'none'})", ""
    if loader_problem:
        return f"there is no Vulkan loader ({loader_problem})", system_packages(VULKAN_LOADER, VULKAN_SOFTWARE)
    fatal = [each for each in tried if each.is_fatal]
    if fatal:
        return fatal[0].detail, _keep_out(fatal[0])
    chosen = [name for name in (*INSTEAD, *FILTERS) if os.environ.get(name) or (name in INSTEAD and name in os.environ)]
    drivers_without = any(place.manifests for place in default_places(os.environ))
    unset = f"unset {' '.join(chosen)}" if chosen and drivers_without else ""
    if not tried:
        shown = ", ".join((each.path or "nothing") + (f" ({each.named_by})" if each.named_by else "") for each in read)
        return f"no Vulkan driver is registered: the loader reads {shown}, and there is no manifest", unset or install
    if any(each.works for each in tried):
        filters = [name for name in FILTERS if os.environ.get(name)]
        if filters:
            values = ", ".join(f"{name}={os.environ[name]}" for name in filters)
            return f"Vulkan drivers with devices are filtered away by {values}", f"unset {' '.join(filters)}"
        return f"the Vulkan drivers have devices, but wgpu takes none ({adapters.problem or 'it lists none'})", ""
    broken = [each for each in tried if each.is_broken]
    if broken:
        others = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return f"no Vulkan driver works: {broken[0].detail}{others}", unset or install
    names = ", ".join(os.path.basename(each.manifest.library) for each in tried)
    return f"no Vulkan driver has a device: {names} load and find none of their kind", unset or install


def _keep_out(tried: _Tried) -> str:
    if tried.named_by in (*INSTEAD, ADDED):
        return f"unset {tried.named_by}"
    move = f"mv {tried.manifest.file} {tried.manifest.file}.off"
    return move if os.access(os.path.dirname(tried.manifest.file), os.W_OK) else as_root(move)
