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
    maps = Path("/proc/self/maps").read_text().splitlines()
    libraries = [line for line in maps if re.search(r"/lib(cuda|amdhip64|OpenCL|vulkan)", line)]
    return loaded, libraries, [name for name, state in states.items() if not (state.is_usable or state.reason)]
