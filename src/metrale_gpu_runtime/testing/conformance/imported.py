"""What importing the package brings into a process; a file of its own, for the laws import NumPy."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEAVY = ("numpy", "llvmlite", "cuda", "pyopencl", "wgpu", "Metal")


def what_importing_loads() -> tuple[list[str], list[str], list[str]]:
    """Heavy modules and GPU libraries in this process after importing the package, and backends without a reason."""
    import metrale_gpu_runtime as package

    states = package.available_backends()
    loaded: list[str] = [name for name in HEAVY if name in sys.modules]
    libraries = [path for path in _loaded_images() if re.search(r"/lib(cuda|amdhip64|OpenCL|vulkan)|/Metal$", path)]
    return loaded, libraries, [name for name, state in states.items() if not (state.is_usable or state.reason)]


def _loaded_images() -> list[str]:
    """The files of code that are mapped into this process; on macOS dyld tells them (mach-o/dyld.h)."""
    if sys.platform != "darwin":
        return Path("/proc/self/maps").read_text().splitlines()
    import ctypes

    dyld = ctypes.CDLL(None)
    dyld._dyld_get_image_name.restype = ctypes.c_char_p
    names = (dyld._dyld_get_image_name(at) for at in range(dyld._dyld_image_count()))
    return [name.decode() for name in names if name is not None]
