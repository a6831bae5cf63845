"""Host arrays in a launch: lent with In, Out and InOut on every backend, used in place on the CPU.

Run it: `python examples/host_arrays.py`
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

COUNT = 500
SIGNATURE = "const float* a, const float* b, float* sum, unsigned int count"


def main() -> None:
    a, b = np.arange(COUNT, dtype=np.float32), np.full(COUNT, 100, np.float32)

    with mg.open_backend("cpu") as gpu:
        gpu.load_module("kernels", path=Path(__file__).with_name("kernels.ptx"))
        add = gpu.kernel("kernels", "vector_add", signature=SIGNATURE)

        # Lent: the launch is synchronous, and `total` has the result when it returns. The same line runs on a GPU,
        # where the arrays are copied in and out.
        total = np.zeros(COUNT, np.float32)
        add.over(COUNT)(mg.In(a), mg.In(b), mg.Out(total), COUNT)
        print("lent:    ", total[:3])

        # In place: on the CPU a host array is a device array; nothing is copied, here or with In and Out.
        gpu.kernel("kernels", "scale", signature="float* values, unsigned int count, float factor").over(COUNT)(
            total, COUNT, 2.0
        )
        gpu.synchronize()
        print("in place:", total[:3])

        # Arrays with gaps are refused: a kernel would walk the wrong elements.
        try:
            add.over(COUNT)(mg.In(a[::2]), mg.In(b), mg.Out(total), COUNT)
        except mg.ArgumentError as error:
            print("refused: ", error)

    # A device that does not share the host's memory refuses a bare host array and names what to do.
    with mg.MockGpuBackend() as gpu:
        try:
            gpu.kernel("kernels", "vector_add", signature=SIGNATURE).over(COUNT)(a, b, total, COUNT)
        except mg.ArgumentKindError as error:
            print("refused: ", error)


if __name__ == "__main__":
    main()
