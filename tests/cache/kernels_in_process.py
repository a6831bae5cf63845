"""A process that needs compiled code: eight kernels by NVRTC and the CPU's compiler, or by OpenCL; it checks every result.

`python kernels_in_process.py BACKEND`: prints how often each compiler built and how often the cache had it, as JSON.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

import numpy as np

import metrale_gpu_runtime as mg

COUNT = 8
N = 333
CUDA = """
__device__ int table[4] = {{{factor}, 7, 11, 13}};
extern "C" __global__ void scale(int* out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i * table[0] + table[i % 4] + {number};
}}
"""
OPENCL = """
__kernel void scale(__global int* out, int n) {{
    int i = get_global_id(0);
    int table[4] = {{ {factor}, 7, 11, 13 }};
    if (i < n) out[i] = i * table[0] + table[i % 4] + {number};
}}
"""


def expected(number: int) -> np.ndarray:
    """What kernel `number` writes."""
    i = np.arange(N, dtype=np.int32)
    factor = 3 + 2 * number
    return i * factor + np.array([factor, 7, 11, 13], dtype=np.int32)[i % 4] + number


def main(backend: str) -> None:
    text = OPENCL if backend.startswith("opencl") else CUDA
    with mg.open_backend(backend) as gpu:
        for number in range(COUNT):
            source = text.format(number=number, factor=3 + 2 * number)
            # One name for all: kernels are told apart by what they are.
            kernel = gpu.load_module(f"m{number}", source=source)["scale"]
            out = gpu.empty(N, "int32")
            kernel.over(N, block=64)(out, N)
            assert np.array_equal(out.numpy(), expected(number)), number
        counts = Counter(f"{each.kind} {each.outcome}" for each in gpu.registry.builds)
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1])
