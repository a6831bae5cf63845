"""A kernel writes one element too many. On the CPU the access itself is caught; red zones catch it anywhere, later.

Run it: `python examples/catch_an_overrun.py`
"""

from __future__ import annotations

from pathlib import Path

import metrale_gpu_runtime as mg

COUNT = 1000
KERNELS = Path(__file__).with_name("kernels.ptx")
SIGNATURE = "float* values, unsigned int count, float value"


def caught_where_it_happens() -> None:
    """check="memory" is the CPU backend's default: every access of a kernel is looked up in the live memory."""
    with mg.open_backend("cpu") as gpu:
        gpu.load_module("kernels", path=KERNELS)
        fill = gpu.kernel("kernels", "fill_one_too_many", signature=SIGNATURE)
        values = gpu.empty(COUNT, mg.f32, label="values")
        fill.over(COUNT)(values, COUNT, 7.0)
        try:
            gpu.synchronize()
        except mg.KernelFault as fault:
            (finding,) = fault.findings
            print(f"{finding.kind}: thread {finding.thread} of block {finding.block}, {finding.access}")
            print(f"  {finding.source_file}:{finding.source_line}")
            print(f"  {finding.allocation}")
            print(f"  launch: {fault.launch}")


def caught_afterwards() -> None:
    """redzone=64 puts guard bands around every allocation: on every backend, without a check of accesses."""
    with mg.open_backend("cpu", check=None, redzone=64) as gpu:
        gpu.load_module("kernels", path=KERNELS)
        fill = gpu.kernel("kernels", "fill_one_too_many", signature=SIGNATURE)
        values = gpu.empty(COUNT, mg.f32, label="values")
        fill.over(COUNT)(values, COUNT, 7.0)
        for damage in gpu.scan_redzones():
            print(f"red zone: {damage.count} bytes {damage.side} {damage.label}, from offset {damage.offset}")


if __name__ == "__main__":
    caught_where_it_happens()
    caught_afterwards()
