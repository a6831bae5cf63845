"""Where an OpenCL loader looks for drivers, read as it reads it: variables, folders, .icd files. Loads nothing.

Sources: libOpenCL(7) of ocl-icd; README.md and loader/linux/icd_linux.c of Khronos' OpenCL-ICD-Loader. The wheels of
pyopencl for Linux bring ocl-icd with one change: where it reads a folder, it also reads $PYOPENCL_HOME/.libs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OCL_ICD, KHRONOS = "ocl-icd", "Khronos"

DEFAULT_FOLDER = "/etc/OpenCL/vendors"

VARIABLES: Mapping[str, tuple[str, ...]] = {
    OCL_ICD: ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"),
    KHRONOS: ("OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"),
}
"""Which variables choose drivers, by the kind of loader, the stronger one first."""

ALL_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES")

_MOST_LOADER_NBYTES = 1 << 24
_FOLDER_IN_LOADER = re.compile(rb"/[\x21-\x7e]*OpenCL/vendors(?=\0)")


@dataclass(frozen=True, slots=True)
class Loader:
    """The library that pyopencl calls: `kind` is "ocl-icd", "Khronos", or "" for one that is not known.

    `own_folder` is the folder of .icd files that a loader inside pyopencl reads as well, `folder` the one built in.
    """

    path: str
    kind: str = ""
    version: str = ""
    folder: str = DEFAULT_FOLDER
    own_folder: str = ""

    def __str__(self) -> str:
        name = " ".join(each for each in (self.kind or "unknown loader", self.version) if each)
        return f"{name} inside pyopencl" if self.own_folder else f"{name}, {self.path}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One driver that the loader is told of: the .icd file (empty where a variable names the library itself)."""

    file: str
    library: str
    problem: str = ""

    def __str__(self) -> str:
        return self.file or self.library


@dataclass(frozen=True, slots=True)
class Place:
    """One thing that the loader reads: a folder, a file or a library, and who named it ("" for the loader itself)."""

    path: str
    named_by: str = ""
    problem: str = ""
    entries: tuple[Entry, ...] = ()


def kind_of(path: str, vendor: str = "") -> str:
    """Which loader it is: by what it says of its vendor (clGetICDLoaderInfoOCLICD), else by the texts in its file."""
    # Both have the name "OpenCL ICD Loader".
    told = vendor.encode() or _bytes_of(path)
    if b"OCL Icd free software" in told:
        return OCL_ICD
    return KHRONOS if b"Khronos Group" in told else ""


def built_in_folder(path: str) -> str:
    """The folder that is written into the loader; a loader of conda's has one in its own environment."""
    match = _FOLDER_IN_LOADER.search(_bytes_of(path))
    return os.fsdecode(match[0]) if match else DEFAULT_FOLDER


def _bytes_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_LOADER_NBYTES)
    except OSError:
        return b""


def places(loader: Loader, environment: Mapping[str, str]) -> tuple[Place, ...]:
    """What this loader reads under this environment, in its order."""
    if loader.kind == KHRONOS:
        return _khronos_places(loader, environment)
    return _ocl_icd_places(loader, environment)


def default_places(loader: Loader) -> tuple[Place, ...]:
    """What it would read if no variable were set."""
    return places(loader, {})


def set_variables(loader: Loader, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Which of the variables that this loader reads are set."""
    return tuple(name for name in VARIABLES.get(loader.kind, ALL_VARIABLES) if environment.get(name))


def _ocl_icd_places(loader: Loader, environment: Mapping[str, str]) -> tuple[Place, ...]:
    vendor_path = environment.get("OPENCL_VENDOR_PATH", "")
    folder, named_by = (vendor_path, "OPENCL_VENDOR_PATH") if vendor_path else (loader.folder, "")
    chosen = environment.get("OCL_ICD_VENDORS", "")
    if chosen and not os.path.isdir(chosen):
        # What is no folder is one driver: an .icd file (a bare name is looked for in the folder first), or a library.
        return (_single(chosen, folder),)
    if chosen:
        folder, named_by = chosen, "OCL_ICD_VENDORS"
    found = [read_folder(folder, named_by)]
    if loader.own_folder:
        found.append(read_folder(loader.own_folder))
    return tuple(found)


def _single(chosen: str, folder: str) -> Place:
    name = "OCL_ICD_VENDORS"
    if not chosen.endswith(".icd"):
        what = "names no folder, so it is taken for a driver library"
        return Place(chosen, name, what, (Entry("", chosen),))
    candidates = [chosen] if "/" in chosen else [os.path.join(folder, chosen), chosen]
    for candidate in candidates:
        if os.path.exists(candidate):
            return Place(candidate, name, "", (read_entry(candidate),))
    return Place(chosen, name, f"does not exist (looked for {' and '.join(candidates)})")


def _khronos_places(loader: Loader, environment: Mapping[str, str]) -> tuple[Place, ...]:
    found = []
    libraries = environment.get("OCL_ICD_FILENAMES", "")
    if libraries:
        entries = tuple(Entry("", library) for library in libraries.split(os.pathsep) if library)
        found.append(Place(libraries, "OCL_ICD_FILENAMES", "", entries))
    chosen = environment.get("OCL_ICD_VENDORS", "")
    found.append(read_folder(chosen or loader.folder, "OCL_ICD_VENDORS" if chosen else ""))
    return tuple(found)


def read_folder(folder: str, named_by: str = "") -> Place:
    """The .icd files of a folder, by name."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".icd") and len(name) > len(".icd"))
    except FileNotFoundError:
        return Place(folder, named_by, "does not exist")
    except OSError as error:
        return Place(folder, named_by, f"cannot be read: {error.strerror}")
    entries = tuple(read_entry(os.path.join(folder, name)) for name in names)
    return Place(folder, named_by, "" if entries else "has no .icd file", entries)


def read_entry(file: str) -> Entry:
    """The library that an .icd file names in its first line."""
    try:
        text = Path(file).read_bytes().decode(errors="replace")
    except OSError as error:
        return Entry(file, "", f"cannot be read: {error.strerror}")
    library = text.partition("\n")[0]
    if not library.strip():
        return Entry(file, "", "names no library in its first line")
    if library != library.strip():
        what = "a carriage return" if library.endswith("\r") else "a blank"
        return Entry(file, library, f"has {what} beside the library's name, which the loader takes for part of it")
    return Entry(file, library)
