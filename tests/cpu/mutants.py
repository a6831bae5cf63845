"""Damaged PTX taken all the way: read, translated, compiled and run with checked accesses, in whatever process calls."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

ROOT = Path(__file__).parents[1]
PACKAGE = Path(mg.__file__).parent
FILES = {
    "demo": PACKAGE / "cli" / "kernels" / "demo.ptx",
    "doubled": PACKAGE / "testing" / "conformance" / "kernels" / "doubled.ptx",
    "reduction": ROOT / "ptx" / "data" / "reduction.sm80.ptx",
    "softmax": ROOT / "ptx" / "data" / "softmax.triton.ptx",
}
COUNT = 50
TIME_LIMIT_S = 0.5


def damaged(text: bytes, draw: random.Random) -> bytes:
    """A few characters flipped, a line lost, doubled or moved, two operands' characters swapped, or the end cut off."""
    data = bytearray(text)
    kind = draw.randrange(5)
    if kind == 0:
        del data[draw.randrange(len(data)) :]
        return bytes(data)
    if kind in (1, 2):
        # Digits and letters above all: such a text is often still PTX, and means something else.
        for _ in range(draw.randrange(1, 4)):
            data[draw.randrange(len(data))] = draw.choice(b"0123456789rdpfsu.,;%[]+-!@ {}")
        return bytes(data)
    lines = bytes(data).split(b"\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    if kind == 3:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        del lines[first]
    return b"\n".join(lines)


def run_one(gpu: mg.GpuBackend, name: str, text: bytes, draw: random.Random) -> str:
    """How one text ended: "refused", "fault" or "ran". Anything but a GpuError comes out."""
    memory = [gpu.array(np.arange(1, 1025, dtype=np.uint32)) for _ in range(3)]
    try:
        module = gpu.load_module(name, binary=text)
    except mg.GpuError:
        return "refused"
    try:
        kernels = list(module)
        if not kernels:
            return "refused"
        kernel = module[draw.choice(kernels)]
        launch = mg.KernelLaunch(gpu, kernel).grid(2).block(kernel.attributes.required_block or 33).shared_mem(256)
        for index, parameter in enumerate(kernel.signature.parameters or ()):
            if parameter.nbytes == 8:
                launch.arg_ptr(memory[index % 3])
            elif parameter.nbytes == 4 and parameter.floating:
                launch.arg_f32(1.5)
            elif parameter.nbytes == 4:
                launch.arg_u32(37)
            else:
                launch.arg_bytes(bytes(parameter.nbytes or 1))
        launch.launch()
        gpu.synchronize()
    except mg.KernelFault:
        return "fault"
    except mg.GpuError:
        return "refused"
    finally:
        gpu.unload_module(name)
    return "ran"


def run_damaged(name: str) -> dict[str, int]:
    """Run COUNT damaged versions of one file after another; how many ended how."""
    text = FILES[name].read_bytes()
    draw = random.Random(name)
    ends: Counter[str] = Counter()
    with mg.open_backend("cpu", launch_timeout_s=TIME_LIMIT_S) as gpu:
        # What the guessed arguments make of the undamaged file is the same before and after.
        whole = run_one(gpu, "whole", text, random.Random(1))
        for number in range(COUNT):
            ends[run_one(gpu, f"mutant{number}", damaged(text, draw), draw)] += 1
        assert whole == run_one(gpu, "whole again", text, random.Random(1)) != "refused"
    return dict(ends)
