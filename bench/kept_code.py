"""`python -m bench cache`: what compiled code costs when it has to be made, and when the compile cache has it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from .parts import Part, Table

KERNELS = Path(__file__).with_name("kernels")
SOURCES = {"cpu": KERNELS / "bench.cu", "opencl": KERNELS / "bench.cl"}
TITLES = {
    "nvrtc": "CUDA C by NVRTC",
    "nvrtc (debug)": "the same for debug information",
    "nvrtc, <cuda_fp16.h>": "CUDA C with <cuda_fp16.h>",
    "cpu": "PTX to the CPU's code",
    "opencl": "OpenCL C by PoCL",
}
# One process, as a program starts: each kernel of a file is launched once, over nothing.
CHILD = """
import json, sys, time
import metrale_gpu_runtime as mg
backend, path, half = sys.argv[1:]
try:
    gpu = mg.open_backend(backend)
except mg.GpuError as error:
    print(json.dumps({"missing": str(error).splitlines()[0]}))
    raise SystemExit
began = time.perf_counter()
with gpu:
    memory = gpu.buffer(1 << 16).ptr
    modules = [gpu.load_module("bench", path=path)]
    if backend == "cpu":
        modules.append(gpu.load_module("half", source=half))
    for module in modules:
        for name in module:
            kernel = module[name]
            values = [memory if each.kind == "pointer" else 0 for each in kernel.signature.parameters]
            kernel[1, 128](*values)
    gpu.synchronize()
    total_ms = (time.perf_counter() - began) * 1e3
    builds = [(each.kind, each.name, each.outcome, each.elapsed_ms) for each in gpu.registry.builds]
print(json.dumps({"builds": builds, "total_ms": total_ms}))
"""
HALF = """#include <cuda_fp16.h>
extern "C" __global__ void widen(float* y, const __half* x, int n)
{ int i = threadIdx.x; if (i < n) y[i] = __half2float(x[i]); }
"""
LOADED = {"cpu": "all: load and launch each kernel once, cpu", "opencl": "the same, opencl"}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=7, help="rounds, each with a folder of its own (default 7)")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; returns the figures."""
    found: dict[str, dict[str, list[float]]] = {}
    missing: dict[str, str] = {}
    for _ in range(options.rounds):
        for backend in SOURCES:
            if backend not in missing:
                _round(backend, found, missing)
    figures = {
        what: {"built_ms": statistics.median(each["built"]), "found_ms": statistics.median(each["hit"])}
        for what, each in found.items()
        if each.keys() >= {"built", "hit"}
    }
    return {"rounds": options.rounds, "figures": figures, "missing": missing}


def _round(backend: str, found: dict[str, dict[str, list[float]]], missing: dict[str, str]) -> None:
    """Two processes one after the other with a fresh folder: the first makes everything, the second makes nothing."""
    with tempfile.TemporaryDirectory(prefix="metrale-bench-cache-") as folder:
        environment = {
            **os.environ,
            "METRALE_CACHE": "on",
            "METRALE_CACHE_DIR": str(Path(folder) / "own"),
            # What PoCL keeps by itself must not be measured as ours.
            "POCL_CACHE_DIR": str(Path(folder) / "pocl"),
        }
        for outcome in ("built", "hit"):
            shutil.rmtree(Path(folder) / "pocl", ignore_errors=True)
            command = [sys.executable, "-c", CHILD, backend, str(SOURCES[backend]), HALF]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{backend}: {done.stderr}")
            answer = json.loads(done.stdout.strip().splitlines()[-1])
            if "missing" in answer:
                missing[backend] = answer["missing"]
                return
            sums: dict[str, float] = {LOADED[backend]: answer["total_ms"]}
            for kind, name, told, elapsed_ms in answer["builds"]:
                if told != outcome:
                    raise SystemExit(f"{backend}: {name} ({kind}) was {told}, and {outcome} was to be measured")
                what = _title(kind, name)
                sums[what] = sums.get(what, 0.0) + elapsed_ms
            for what, elapsed_ms in sums.items():
                found.setdefault(what, {}).setdefault(outcome, []).append(elapsed_ms)


def _title(kind: str, name: str) -> str:
    if kind == "nvrtc" and name.startswith("half"):
        return TITLES["nvrtc, <cuda_fp16.h>"]
    return TITLES["nvrtc (debug)" if name.endswith("(debug)") else kind]


def parts(figures: dict[str, Any]) -> list[Part]:
    rows = [
        [what, f"{each['built_ms']:.1f}", f"{each['found_ms']:.1f}", f"{each['built_ms'] / each['found_ms']:.0f}x"]
        for what, each in figures["figures"].items()
    ]
    return [
        Table(["wall time, ms", "made and kept", "found in the cache", "ratio"], rows),
        *(f"Not here: {backend}: {reason}" for backend, reason in figures["missing"].items()),
    ]
