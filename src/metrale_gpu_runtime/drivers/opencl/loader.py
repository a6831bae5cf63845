"""Where OpenCL's loader looks for drivers, and what it finds there: for the error when there is no platform.

Source: the OpenCL ICD Loader's README (OCL_ICD_VENDORS, OCL_ICD_FILENAMES), ocl-icd's manual page (the same names,
OPENCL_VENDOR_PATH), the extension cl_khr_icd.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

SYSTEM_FOLDERS = ("/etc/OpenCL/vendors",)
VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH", "OCL_ICD_ENABLE_TRACE", "OCL_ICD_DEBUG")


def loader_path(cl: Any) -> str:
    """The loader that pyopencl uses, where this system tells; else how it is called."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                path = line.rstrip("\n").partition("/")
                if path[1] and "libOpenCL" in path[2]:
                    return f"/{path[2]}"
    except OSError:
        pass  # not Linux: nothing lists the libraries of a process
    return f"the one that {cl._cl.__file__} is linked to"


def describe_loader(cl: Any) -> str:
    """The loader, the variables and directories that it reads, and for each entry why it gave no platform."""
    lines = [f"  loader: {loader_path(cl)}"]
    for name in VARIABLES:
        value = os.environ.get(name)
        if value is not None:
            lines.append(f"  {name} is {value!r}")
    for folder in vendor_folders(cl):
        lines.extend(_described(folder))
    lines.append(
        "  A driver comes with the device's software (on Debian and Ubuntu: apt-get install ocl-icd-libopencl1 and "
        "pocl-opencl-icd for the CPU, intel-opencl-icd, mesa-opencl-icd or nvidia's package for a GPU), or with pip: "
        "pip install 'pyopencl[pocl]' runs kernels on the CPU"
    )
    return "\n".join(lines)


def vendor_folders(cl: Any) -> list[str]:
    """The directories (or single files) in which entries of drivers are looked for."""
    asked = os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OPENCL_VENDOR_PATH")
    if asked:
        return [asked]
    if sys.platform == "win32":
        return []
    own = Path(loader_path(cl)).parent
    return [*SYSTEM_FOLDERS, *([str(own)] if own.is_dir() and any(own.glob("*.icd")) else [])]


def _described(folder: str) -> list[str]:
    path = Path(folder)
    if path.is_file():
        entries = [path]
    elif path.is_dir():
        entries = sorted(path.glob("*.icd"))
    else:
        return [f"  {folder}: there is no such directory"]
    if not entries:
        return [f"  {folder}: no entry (*.icd) in it"]
    return [f"  {entry}: {_why(entry)}" for entry in entries]


def _why(entry: Path) -> str:
    if entry.suffix != ".icd":
        return "is no entry: it is not called *.icd"
    try:
        library = entry.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not library:
        return "is empty; it should name the driver's library"
    try:
        loaded = ctypes.CDLL(library)
    except OSError as error:
        return f"names {library}, which cannot be loaded: {error}"
    for name in ("clIcdGetPlatformIDsKHR", "clGetExtensionFunctionAddress"):
        if getattr(loaded, name, None) is not None:
            return f"names {library}, which can be loaded, and reports no platform that can be used"
    return f"names {library}, which is no OpenCL driver: it has no clIcdGetPlatformIDsKHR"
