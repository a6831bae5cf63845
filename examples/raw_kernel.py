"""CuPy's RawKernel call: CUDA C in a string, compiled by NVRTC, launched with one tuple of arguments.

Needs the compiler: pip install "metrale-gpu-runtime[nvrtc]". Names and types of the parameters come from the source.

Run it: `python examples/raw_kernel.py`
"""

from __future__ import annotations

import os

import numpy as np

import metrale_gpu_runtime as mg

BACKEND = os.environ.get("METRALE_BACKEND") or "cpu"  # METRALE_BACKEND=cuda runs it on a GPU

SOURCE = r"""
extern "C" __global__ void saxpy(const float* x, float* y, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

template <typename T> __global__ void fill(T* out, int n, T value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
"""


def main() -> None:
    n = 1000
    with mg.open_backend(BACKEND) as gpu:
        x, y = gpu.array(np.arange(n, dtype=np.float32)), gpu.array(np.ones(n, np.float32))

        saxpy = gpu.raw_kernel(SOURCE, "saxpy")
        saxpy((4,), (256,), (x, y, np.int32(n), np.float32(2.0)), shared_mem=0)
        print(saxpy.kernel.signature)
        print("y:   ", y.numpy()[:3])

        # Python numbers become what the kernel declares.
        saxpy((4,), (256,), (x, y, n, 0.5))
        print("y:   ", y.numpy()[:3])

        # A template becomes a kernel by its instance's name.
        z = gpu.empty(n, np.float64)
        gpu.raw_kernel(SOURCE, "fill<double>")((4,), (256,), (z, n, 2.5))
        print("z:   ", z.numpy()[-2:])


if __name__ == "__main__":
    main()
