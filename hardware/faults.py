"""Faults on the device, each in a process of its own: what is raised, whom it blames, that nothing hangs after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metrale_gpu_runtime.testing import run_isolated

# faults.cu, .metal, .cl or .wgsl, whichever the device takes.
SOURCE = Path(__file__).with_name("faults")
KINDS = ("illegal_address", "misaligned_address", "trapped", "failed_assertion")
# Metal's language and OpenCL's have no trap and no assertion, and Metal's devices round addresses down.
KINDS_OF = {"metal": KINDS[:1], "opencl": KINDS[:1]}
TIMEOUT_S = 60


def run(backend: str) -> tuple[bool, dict[str, Any]]:
    """With debug sync each launch is named, without it is among the suspects; the next process is fine.

    A device that states that it tells no faults is asked for none; one that bounds every access shows that it does.
    """
    facts: dict[str, Any] = {}
    told = run_isolated(what_is_told, backend, timeout_s=TIMEOUT_S)
    if told.value is None:
        return False, {"what the device tells": {"ok": False, "exit": told.exit_code, "stderr": told.stderr[-2000:]}}
    kinds = KINDS_OF.get(backend.partition(":")[0], KINDS) if told.value["kernel_faults"] else ()
    facts["what the device tells"] = {"ok": True, **told.value}
    if told.value["bounded_accesses"]:
        done = run_isolated(overrun, backend, timeout_s=TIMEOUT_S)
        facts["an overrun beside other memory"] = {"ok": done.is_clean and done.value == [[5] * 8, [7] * 8]}
    for kind in kinds:
        for debug_sync in (True, False):
            done = run_isolated(provoke, backend, kind, debug_sync, timeout_s=TIMEOUT_S)
            name = f"{kind}, debug sync {'on' if debug_sync else 'off'}"
            failure = {"ok": False, "exit": done.exit_code, "stderr": done.stderr[-2000:]}
            facts[name] = done.value if done.is_clean else failure
    done = run_isolated(afterwards, backend, timeout_s=TIMEOUT_S)
    facts["afterwards, another process"] = {"ok": done.is_clean and done.value == [7, 8, 9], "value": done.value}
    return all(each["ok"] for each in facts.values()), facts


def what_is_told(backend: str) -> dict[str, bool]:
    """The child's part: what the device states of kernels that go wrong."""
    import metrale_gpu_runtime as mg

    with mg.open_backend(backend) as gpu:
        return {name: getattr(gpu.capabilities, name) for name in ("kernel_faults", "bounded_accesses")}


def overrun(backend: str) -> list[list[int]]:
    """The child's part: the memory on both sides of a buffer that a kernel writes far beyond."""
    import numpy as np

    import metrale_gpu_runtime as mg

    with mg.open_backend(backend) as gpu:
        before, out, after = (gpu.array(np.full(8, value, np.uint32)) for value in (5, 6, 7))
        gpu.load_module("faults", path=SOURCE)["illegal_address"][1, 8](out)
        return [before.numpy().tolist(), after.numpy().tolist()]


def provoke(backend: str, kind: str, debug_sync: bool) -> dict[str, Any]:
    """The child's part: one healthy launch, one that faults, and every call after it."""
    import metrale_gpu_runtime as mg

    gpu = mg.open_backend(backend, debug_sync=debug_sync)
    module = gpu.load_module("faults", path=SOURCE)
    out = gpu.empty(32, "uint32")
    module["healthy"][1, 32](out)
    gpu.synchronize()
    found: dict[str, Any] = {"ok": False}
    try:
        module[kind][1, 32](out)
        gpu.synchronize()
    except mg.KernelFault as fault:
        blamed = fault.launch.kernel if fault.launch is not None else None
        suspects = [suspect.kernel for suspect in fault.suspects]
        found = {"code": fault.code_name, "blamed": blamed, "suspects": suspects, "message": str(fault)[:1000]}
        found["ok"] = blamed == kind if debug_sync else (blamed in (None, kind) and kind in (blamed, *suspects))
    if gpu.is_lost:
        try:
            gpu.synchronize()
            found["ok"] = False
        except mg.ContextLost as lost:
            found["after the loss"] = str(lost)[:500]
    gpu.close()
    return found


def afterwards(backend: str) -> list[int]:
    """The child's part: a device that other processes have faulted on works."""
    import metrale_gpu_runtime as mg

    with mg.open_backend(backend) as gpu:
        out = gpu.empty(3, "uint32")
        gpu.load_module("faults", path=SOURCE)["healthy"][1, 3](out)
        values: list[int] = out.numpy().tolist()
        return values
