"""The bare launch of OpenCL: a kernel whose arguments are set, enqueued by pyopencl's own call."""

from __future__ import annotations

import pyopencl as cl

from .interleave import Job

FINISH_EVERY = 512
"""A queue that grows without end makes every enqueue wait."""


def bare_launch(index: int, source: str, name: str, count: int) -> Job:
    """One clEnqueueNDRangeKernel on a queue of its own, on the device of this number among those of all platforms."""
    devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    context = cl.Context([devices[index]])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    kernel = cl.Kernel(cl.Program(context, source).build(), name)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 256)
    for at in range(count):
        kernel.set_arg(at, buffer if at == 0 else (7 + at).to_bytes(4, "little"))
    issued = 0

    # A kernel object holds no buffer: it is named so that it lives as long as the launches.
    def launch(keep: object = buffer) -> None:
        nonlocal issued
        cl.enqueue_nd_range_kernel(queue, kernel, (32,), (32,))
        issued += 1
        if issued % FINISH_EVERY == 0:
            queue.finish()

    return launch
