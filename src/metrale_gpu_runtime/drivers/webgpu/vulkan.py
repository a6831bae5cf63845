"""Where the Vulkan loader looks for drivers on Linux, read as it reads it: variables, folders, manifests; loads none.

Source: LoaderDriverInterface.md and LoaderInterfaceArchitecture.md of Khronos' Vulkan-Loader.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LOADER = "libvulkan.so.1"

INSTEAD = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
"""Manifests, or folders of them, that are read instead of the usual folders; the first that is set counts, also to
nothing: then no driver is read (seen with 1.3.239)."""

ADDED = "VK_ADD_DRIVER_FILES"
FILTERS = ("VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE")
"""Patterns of manifests' names that alone are used, or are left out."""

VARIABLES = (*INSTEAD, ADDED, *FILTERS, "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS")

_SUFFIX = "vulkan/icd.d"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One JSON file that names a driver's library; `library` is a path, or a bare name for the system's loader."""

    file: str
    library: str = ""
    api_version: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ManifestPlace:
    """A folder or file that the loader reads ("" where a variable names none), and the variable that named it ("" for
    none)."""

    path: str
    named_by: str = ""
    problem: str = ""
    manifests: tuple[Manifest, ...] = ()


def places(environment: Mapping[str, str]) -> tuple[ManifestPlace, ...]:
    """What the loader reads under this environment, in its order.

    With elevated privileges it ignores the variables; nobody asks it so here.
    """
    for name in INSTEAD:
        if name in environment:
            named = tuple(_listed(environment[name], name))
            return named or (ManifestPlace("", name, "it is set, so that the loader reads nothing else"),)
    added = _listed(environment[ADDED], ADDED) if environment.get(ADDED) else ()
    return (*added, *default_places(environment))


def default_places(environment: Mapping[str, str]) -> tuple[ManifestPlace, ...]:
    """What it reads when no variable names manifests."""
    home = environment.get("HOME", "")
    config_home = environment.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    data_home = environment.get("XDG_DATA_HOME") or (f"{home}/.local/share" if home else "")
    roots = (
        (config_home, "XDG_CONFIG_HOME"),
        *((each, "XDG_CONFIG_DIRS") for each in (environment.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")),
        ("/etc", ""),
        (data_home, "XDG_DATA_HOME"),
        *(
            (each, "XDG_DATA_DIRS")
            for each in (environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
        ),
    )
    folders: dict[str, str] = {}
    for root, variable in roots:
        if root:
            folders.setdefault(os.path.join(root, _SUFFIX), variable if environment.get(variable) else "")
    return tuple(_folder(folder, named_by) for folder, named_by in folders.items())


def _listed(value: str, variable: str) -> Iterator[ManifestPlace]:
    for path in value.split(os.pathsep):
        if not path:
            continue
        if os.path.isdir(path):
            yield _folder(path, variable)
        elif os.path.exists(path):
            yield ManifestPlace(path, variable, "", (read_manifest(path),))
        else:
            yield ManifestPlace(path, variable, "does not exist")


def _folder(folder: str, named_by: str) -> ManifestPlace:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return ManifestPlace(folder, named_by, "does not exist")
    except OSError as error:
        return ManifestPlace(folder, named_by, f"cannot be read: {error.strerror}")
    manifests = tuple(read_manifest(os.path.join(folder, name)) for name in names)
    return ManifestPlace(folder, named_by, "" if manifests else "has no .json file", manifests)


def read_manifest(file: str) -> Manifest:
    """A driver's manifest. A library with a slash lies relative to the file; a bare name is the system's to find."""
    try:
        content = json.loads(Path(file).read_bytes())
        driver = content["ICD"]
        library, api_version = driver["library_path"], driver.get("api_version", "")
    except OSError as error:
        return Manifest(file, problem=f"cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError):
        return Manifest(file, problem='is no driver manifest: it has no "ICD" with a "library_path"')
    if not isinstance(library, str) or not library:
        return Manifest(file, problem='names no library: its "library_path" is no text')
    if "/" in library and not os.path.isabs(library):
        library = os.path.normpath(os.path.join(os.path.dirname(file), library))
    return Manifest(file, library, str(api_version))
