"""What importing the package, opening the CPU and a first launch cost, in fresh processes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from .interleave import Timing

PTX = Path(__file__).with_name("kernels") / "bench.ptx"
STEPS = {
    "bare Python": "pass",
    "import": "import metrale_gpu_runtime",
    "import, open cpu": "import metrale_gpu_runtime as mg\nmg.open_backend('cpu').close()",
    "import, open, load, first launch": (
        "import metrale_gpu_runtime as mg\n"
        "with mg.open_backend('cpu') as gpu:\n"
        f"    kernel = gpu.load_module('bench', path={str(PTX)!r})['vector_add']\n"
        "    x = gpu.empty(1000, 'float32')\n"
        "    kernel.over(1000)(x, x, x, mg.u32(1000))\n"
        "    gpu.synchronize()"
    ),
}


def run(rounds: int) -> dict[str, Timing]:
    """Seconds from starting a process to its end, for each step, in turn."""
    found: dict[str, list[float]] = {name: [] for name in STEPS}
    for _ in range(rounds):
        for name, code in STEPS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            found[name].append(time.perf_counter() - started)
    return {name: Timing(tuple(seconds)) for name, seconds in found.items()}
