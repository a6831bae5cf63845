"""A launch that is checked once and made often: `prepare`, new values by position or by name, and slots.

Run it: `python examples/prepared_and_slots.py`
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

BACKEND = os.environ.get("METRALE_BACKEND") or "cpu"  # METRALE_BACKEND=cuda runs it on a GPU
COUNT = 300


def main() -> None:
    with mg.open_backend(BACKEND) as gpu:
        gpu.load_module("kernels", path=Path(__file__).with_name("kernels"))
        kernel = gpu.kernel("kernels", "scale", signature="float* values, unsigned int count, float factor")
        values = gpu.array(np.ones(COUNT, np.float32))

        # Everything that can be decided is decided here.
        double = kernel.over(COUNT, block=128).prepare(values, COUNT, 2.0)
        for _ in range(3):
            double()
        print("three times doubled:", values.numpy()[0])

        # New values hold for one call; the types stay those it was prepared with.
        double(factor=0.5)
        print("halved once:        ", values.numpy()[0])
        double()
        print("doubled again:      ", values.numpy()[0])

        # A slot has no value until it is set, and keeps what it was set to. A grid axis may be one.
        part = kernel[mg.slot("blocks", "grid"), 128].prepare(values, COUNT, mg.slot("by"))
        print("slots:              ", part.slot_names)
        part(by=10.0, blocks=1)
        part()
        print("first block and rest:", values.numpy()[127], values.numpy()[128])

        try:
            part(by="ten")
        except mg.ArgumentKindError as error:
            print("refused:            ", error)


if __name__ == "__main__":
    main()
