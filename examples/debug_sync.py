"""Who made the fault? Without debug sync it shows at the next wait; with it the very line that launched raises.

The mock plays a GPU whose driver does not say which launch failed.

Run it: `python examples/debug_sync.py`
"""

from __future__ import annotations

import traceback

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.testing import FaultPlan, LaunchFault

# The second launch faults when it runs, and nobody can tell that it was the second.
FAULT = LaunchFault(attributed=False, context_lost=False)


def three_launches(gpu: mg.GpuBackend) -> None:
    values = gpu.empty(64, mg.f32)
    for name in ("prepare", "solve", "report"):
        gpu.kernel("steps", name)[1, 64](values)
    gpu.synchronize()


def without() -> None:
    with mg.MockGpuBackend(plan=FaultPlan().fail("launch", nth=2, failure=FAULT)) as gpu:
        try:
            three_launches(gpu)
        except mg.KernelFault as fault:
            suspects = [launch.kernel for launch in fault.suspects]
            print("without debug sync: raised at synchronize; suspects:", ", ".join(suspects))


def with_it() -> None:
    with mg.MockGpuBackend(plan=FaultPlan().fail("launch", nth=2, failure=FAULT)) as gpu:
        try:
            # For a whole backend: open_backend(…, debug_sync=True), or METRALE_DEBUG_SYNC_KERNELS=1 for any program.
            with gpu.debug_sync():
                three_launches(gpu)
        except mg.KernelFault as fault:
            frames = traceback.extract_tb(fault.__traceback__)
            line = next(frame.line for frame in reversed(frames) if frame.filename == __file__)
            print("with debug sync:    raised at the launch of", fault.launch.kernel if fault.launch else "?")
            print(f"                    by `{line}`")


if __name__ == "__main__":
    without()
    with_it()
