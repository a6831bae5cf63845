"""`python -m bench start`: what importing the package costs over bare Python, and what a first launch is made of."""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from .interleave import Timing
from .launch.stub import NotHere, stub_folder
from .parts import Part, Table

PTX = Path(__file__).with_name("kernels") / "bench.ptx"
BAR_MS = 40
"""What `import metrale_gpu_runtime` may cost over bare Python."""
COLUMNS = {
    "processor_ms": "processor time",
    "processor_over_bare_ms": "over bare Python",
    "clock_ms": "by the clock",
    "clock_over_bare_ms": "over bare Python, by the clock",
}
BARE, IMPORT = "bare Python", "import"
STEPS = {
    BARE: "pass",
    IMPORT: "import metrale_gpu_runtime",
    "import every public name": "from metrale_gpu_runtime import *",
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

SOURCES = {
    ".hip": 'extern "C" __global__ void vector_add(const float* a, const float* b, float* c, unsigned n) {\n'
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = a[i] + b[i];\n}\n",
    ".metal": "#include <metal_stdlib>\nkernel void vector_add(device const float* a [[buffer(0)]],\n"
    "    device const float* b [[buffer(1)]], device float* c [[buffer(2)]], constant uint& n [[buffer(3)]],\n"
    "    uint i [[thread_position_in_grid]]) { if (i < n) c[i] = a[i] + b[i]; }\n",
    ".cl": "kernel void vector_add(global const float *a, global const float *b, global float *c, uint n) {\n"
    "    size_t i = get_global_id(0);\n    if (i < n) c[i] = a[i] + b[i];\n}\n",
    ".wgsl": "@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
    "@group(0) @binding(1) var<storage, read> b: array<f32>;\n"
    "@group(0) @binding(2) var<storage, read_write> c: array<f32>;\n"
    "@group(0) @binding(3) var<uniform> n: u32;\n"
    "@compute @workgroup_size(256) fn vector_add(@builtin(global_invocation_id) id: vec3<u32>) {\n"
    "    if (id.x < n) { c[id.x] = a[id.x] + b[id.x]; }\n}\n",
}
"""The kernel for the backends that take no PTX; each compiles it, which is part of loading it."""
BACKENDS = ("mock", "cpu", "cuda over the stand-in", "cuda", "hip", "metal", "opencl", "webgpu")
BREAKDOWN = """
import json, sys, time
marks = [("", time.process_time())]
def mark(name): marks.append((name, time.process_time()))
import metrale_gpu_runtime as mg
mark("import")
try:
    gpu = mg.open_backend(sys.argv[1])
except mg.GpuError as error:
    print(json.dumps({"missing": str(error)}))
    raise SystemExit
mark("open")
module = gpu.load_module("bench", source=json.loads(sys.argv[2]))
mark("load the module")
kernel = module["vector_add"]
mark("look up the kernel")
x, y, z = (gpu.empty(1000, "float32") for _ in range(3))
mark("three buffers")
kernel.over(1000)(x, y, z, mg.u32(1000))
mark("first launch")
gpu.synchronize()
mark("wait for it")
kernel.over(1000)(x, y, z, mg.u32(1000))
mark("second launch")
gpu.close()
print(json.dumps([(name, at - before) for (_, before), (name, at) in zip(marks, marks[1:])]))
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=21, help="interleaved rounds (default 21)")


@contextmanager
def compiled_environment() -> Iterator[dict[str, str]]:
    """An environment whose processes find bytecode, as those of an installed package do, whatever is set here."""
    with tempfile.TemporaryDirectory(prefix="metrale-bench-bytecode-") as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        yield environment | {"PYTHONPYCACHEPREFIX": folder}


def processes(rounds: int, environment: Mapping[str, str]) -> tuple[dict[str, Timing], dict[str, Timing]]:
    """Seconds of processor time of a process, and seconds from its start to its end, for each step, in turn."""
    used: dict[str, list[float]] = {name: [] for name in STEPS}
    passed: dict[str, list[float]] = {name: [] for name in STEPS}
    for code in STEPS.values():
        # Once for the bytecode and the system's own caches.
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    for _ in range(rounds):
        for name, code in STEPS.items():
            before, started = _children_seconds(), time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)
            passed[name].append(time.perf_counter() - started)
            used[name].append(_children_seconds() - before)
    return tuple({name: Timing(tuple(each)) for name, each in found.items()} for found in (used, passed))  # type: ignore[return-value]


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def over_bare_ms(timings: dict[str, Timing], name: str) -> float:
    """The median of the rounds' own differences: what slows a whole round cancels."""
    pairs = zip(timings[name].seconds, timings[BARE].seconds, strict=True)
    return statistics.median(own - bare for own, bare in pairs) * 1e3


def breakdowns(rounds: int, given: Mapping[str, str]) -> dict[str, dict[str, float] | str]:
    """Milliseconds of processor time of each step to a first launch, by backend; or why there are none."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in BACKENDS}
    missing: dict[str, str] = {}
    for turn in range(rounds + 1):
        for name in BACKENDS:
            if name in missing:
                continue
            answer = _breakdown(name, given)
            if isinstance(answer, str):
                missing[name] = answer
            elif turn:  # the first is for the bytecode
                found[name].append(answer)
    return {
        name: missing.get(name)
        or {step: statistics.median(each[step] for each in found[name]) for step in found[name][0]}
        for name in BACKENDS
    }


def _breakdown(name: str, given: Mapping[str, str]) -> dict[str, float] | str:
    backend, *stand_in = name.split(maxsplit=1)
    sources = json.dumps({".ptx": PTX.read_text(), **SOURCES})
    environment = dict(given)
    if stand_in:
        try:
            environment["LD_LIBRARY_PATH"] = str(stub_folder())
        except NotHere as error:
            return str(error)
    done = subprocess.run(
        [sys.executable, "-c", BREAKDOWN, backend, sources], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
    answer = json.loads(done.stdout)
    if isinstance(answer, dict):
        return str(answer["missing"]).splitlines()[0]
    return {step: seconds * 1e3 for step, seconds in answer}


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; returns the figures."""
    with compiled_environment() as environment:
        used, passed = processes(options.rounds, environment)
        found = breakdowns(max(3, options.rounds // 3), environment)
    return {
        "rounds": options.rounds,
        "processes": {
            name: {
                "processor_ms": used[name].median * 1e3,
                "processor_over_bare_ms": over_bare_ms(used, name),
                "clock_ms": passed[name].median * 1e3,
                "clock_over_bare_ms": over_bare_ms(passed, name),
                "spread": used[name].spread,
            }
            for name in STEPS
        },
        "first_launch_ms": found,
    }


def parts(figures: dict[str, Any]) -> list[Part]:
    processes = figures["processes"]
    over = processes[IMPORT]["processor_over_bare_ms"]
    verdict = "met" if over < BAR_MS else "missed"
    rows = [
        [name, *(f"{each[key]:.1f}" for key in COLUMNS), f"{each['spread']:.0%}"] for name, each in processes.items()
    ]
    by_backend = figures["first_launch_ms"]
    present = {name: each for name, each in by_backend.items() if not isinstance(each, str)}
    steps = list(next(iter(present.values())))
    return [
        Table(["a fresh process, ms", *COLUMNS.values(), "spread"], rows),
        f"Importing costs {over:.1f} ms over bare Python; the bar is {BAR_MS} ms: {verdict}. "
        "It imports what is used when it is used, so the first steps below pay for what they need.",
        Table(
            ["to a first launch, ms of processor time", *steps],
            [[name, *(f"{each[step]:.2f}" for step in steps)] for name, each in present.items()],
        ),
        *(f"Not here: {name}: {each}" for name, each in by_backend.items() if isinstance(each, str)),
    ]
