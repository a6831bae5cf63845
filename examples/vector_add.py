"""The smallest whole program: load code, copy in, launch, copy out. The builder and the short form do the same.

Run it: `python examples/vector_add.py`
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

BACKEND = os.environ.get("METRALE_BACKEND") or "cpu"  # METRALE_BACKEND=cuda runs it on a GPU
COUNT = 1000


def main() -> None:
    with mg.open_backend(BACKEND) as gpu:
        gpu.load_module("kernels", path=Path(__file__).with_name("kernels"))
        # PTX alone knows neither names nor signs nor element types; the declaration says them.
        kernel = gpu.kernel(
            "kernels", "vector_add", signature="const float* a, const float* b, float* sum, unsigned int count"
        )
        a, b = gpu.array(np.arange(COUNT, dtype=np.float32)), gpu.array(np.full(COUNT, 0.5, np.float32))
        total = gpu.empty(COUNT, mg.f32)

        # The builder says every type.
        (
            mg.KernelLaunch(gpu, kernel)
            .grid(mg.threads(COUNT, 256))
            .block(256)
            .arg_ptr(a)
            .arg_ptr(b)
            .arg_ptr(total)
            .arg_u32(COUNT)
            .launch()
        )
        print("builder:   ", total.numpy()[:4], "…", total.numpy()[-1])

        # The short form takes the types from the signature and rounds the grid up.
        total.fill(0)
        kernel.over(COUNT, block=256)(a, b, total, count=COUNT)
        print("short form:", total.numpy()[:4], "…", total.numpy()[-1])

        # A wrong launch never reaches the kernel.
        try:
            kernel.over(COUNT)(a, b, total, mg.u64(COUNT))
        except mg.ArgumentSizeError as error:
            print("refused:   ", error)


if __name__ == "__main__":
    main()
