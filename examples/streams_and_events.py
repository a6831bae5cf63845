"""Two streams, an event between them, a time between two events, and waiting without blocking.

Run it: `python examples/streams_and_events.py`
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import numpy as np

import metrale_gpu_runtime as mg

BACKEND = os.environ.get("METRALE_BACKEND") or "cpu"  # METRALE_BACKEND=cuda runs it on a GPU
COUNT = 100_000
SIGNATURE = "float* values, unsigned int count, float number"


async def main() -> None:
    with mg.open_backend(BACKEND) as gpu, gpu.create_stream() as copies, gpu.create_stream() as work:
        gpu.load_module("kernels", path=Path(__file__).with_name("kernels"))
        scale = gpu.kernel("kernels", "scale", signature=SIGNATURE)
        values = gpu.empty(COUNT, np.float32)

        # The source may be used again as soon as the call returns.
        gpu.copy_h2d_async(np.full(COUNT, 1.5, np.float32), values, copies)
        arrived = copies.record_event()
        work.wait_event(arrived)

        start, end = gpu.create_event(), gpu.create_event()
        start.record(work)
        scale[mg.threads(COUNT, 256), 256, 0, work](values, COUNT, 4.0)
        end.record(work)

        # Three ways to go on when the stream has come this far; none of them blocks this thread.
        read = work.read(values)
        told = work.call(lambda: "a function called behind the work")
        await work.done()
        print("read:   ", read.result()[:2])
        print("called: ", told.result())
        print("elapsed:", "a positive time" if start.elapsed_ms(end) > 0 else "no time at all")


if __name__ == "__main__":
    asyncio.run(main())
