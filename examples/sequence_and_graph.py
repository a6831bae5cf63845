"""Many launches recorded once: a LaunchSequence, and a graph captured from a stream. Both take slots.

Run it: `python examples/sequence_and_graph.py`
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

BACKEND = os.environ.get("METRALE_BACKEND") or "cpu"  # METRALE_BACKEND=cuda runs it on a GPU
COUNT = 300
SIGNATURE = "float* values, unsigned int count, float number"


def main() -> None:
    with mg.open_backend(BACKEND) as gpu:
        gpu.load_module("kernels", path=Path(__file__).with_name("kernels"))
        scale = gpu.kernel("kernels", "scale", signature=SIGNATURE)
        add = gpu.kernel("kernels", "add_constant", signature=SIGNATURE)
        values, result = gpu.array(np.ones(COUNT, np.float32)), gpu.empty(COUNT, np.float32)

        # Nothing inside the block runs. The _async copies and fills of this thread are recorded too.
        with gpu.sequence() as step:
            scale.over(COUNT)(values, COUNT, mg.slot("factor"))
            add.over(COUNT)(values, COUNT, 1.0)
            gpu.copy_d2d_async(values, result)
        print(step)
        step(factor=3.0)
        step(factor=10.0)
        print("sequence, twice:", result.numpy()[0])

        # A graph is the same, recorded from one stream; it goes by the driver's own graphs where there are any.
        with gpu.create_stream() as stream:
            with gpu.capture(stream) as capture:
                scale[3, 128, 0, stream](values, COUNT, mg.slot("factor"))
                add[3, 128, 0, stream](values, COUNT, 0.5)
            graph = capture.graph
            for factor in (0.5, 2.0):
                graph.launch(stream, factor=factor)
            stream.synchronize()
            print("graph, twice:   ", values.numpy()[0])


if __name__ == "__main__":
    main()
