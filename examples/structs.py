"""A structure by value, from a NumPy structured scalar and from a ctypes structure, in the layout of C.

Run it: `python examples/structs.py`
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

BACKEND = os.environ.get("METRALE_BACKEND") or "cpu"  # METRALE_BACKEND=cuda runs it on a GPU
COUNT = 5

# struct Line { char axis; double slope; int offset; }: 24 bytes, aligned to 8.
line_dtype = np.dtype([("axis", "S1"), ("slope", np.float64), ("offset", np.int32)], align=True)
packed_dtype = np.dtype([("axis", "S1"), ("slope", np.float64), ("offset", np.int32)])


class Line(ctypes.Structure):
    _fields_ = (("axis", ctypes.c_char), ("slope", ctypes.c_double), ("offset", ctypes.c_int))


def main() -> None:
    with mg.open_backend(BACKEND) as gpu:
        gpu.load_module("kernels", path=Path(__file__).with_name("kernels"))
        # A structure's size is not known from its name: the declaration gives size and alignment.
        kernel = gpu.kernel(
            "kernels", "on_line", signature="const double* x, double* y, unsigned int count, struct Line(24, 8) line"
        )
        x, y = gpu.array(np.arange(COUNT, dtype=np.float64)), gpu.empty(COUNT, mg.f64)

        kernel[1, 32](x, y, COUNT, np.array((b"y", 2.0, -1), line_dtype)[()])
        print("NumPy: ", y.numpy())

        kernel[1, 32](x, y, COUNT, Line(b"x", 0.25, 10))
        print("ctypes:", y.numpy())

        try:
            kernel[1, 32](x, y, COUNT, np.zeros((), packed_dtype)[()])
        except mg.ArgumentKindError as error:
            print("refused:", error)


if __name__ == "__main__":
    main()
