"""Which PoCL here works: pip's knows not every processor, and a machine may have several."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

_PROGRAM = """
import pyopencl as cl
for number, platform in enumerate(cl.get_platforms()):
    if "pocl" not in platform.version.lower():
        continue
    for at, device in enumerate(platform.get_devices()):
        program = cl._cl._Program(cl.Context([device]), "kernel void k(global int *out) { out[0] = 1; }")
        try:
            program._build(b"", [device])
        except cl.Error:
            continue
        print(f"opencl:{number}:{at}")
"""


@cache
def pocl_spec() -> str | None:
    """The first PoCL that compiles a kernel, as "opencl:0:0"; None where none does. Asked in a child process."""
    ended = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    return next(iter(ended.stdout.split()), None)
