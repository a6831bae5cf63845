"""The bare launch of WebGPU: a compute pass with everything bound before, encoded and submitted by wgpu's own calls."""

from __future__ import annotations

import wgpu

from .interleave import Job

WAIT_EVERY = 64
"""Submissions that nobody waits for pile up in wgpu."""


def bare_launch(adapter: str, source: str, name: str, count: int) -> Job:
    """One pass of one dispatch on a device of its own, of the adapter that is called so: device and interface."""
    adapters = wgpu.gpu.enumerate_adapters_sync()
    chosen = next(each for each in adapters if each.info["device"] in adapter and each.info["backend_type"] in adapter)
    device = chosen.request_device_sync(required_limits=dict(chosen.limits))
    shader = device.create_shader_module(code=source)
    stage = {"module": shader, "entry_point": name, "constants": {"block_x": 32}}
    pipeline = device.create_compute_pipeline(layout="auto", compute=stage)
    storage, uniform = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC, wgpu.BufferUsage.UNIFORM
    memory = device.create_buffer(size=256, usage=storage)
    values = [device.create_buffer_with_data(data=(7 + at).to_bytes(4, "little"), usage=uniform) for at in range(count)]
    bound = [memory, *values[1:]][:count]
    entries = [
        {"binding": at, "resource": {"buffer": each, "offset": 0, "size": each.size}} for at, each in enumerate(bound)
    ]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries) if count else None
    issued = 0

    def launch() -> None:
        nonlocal issued
        encoder = device.create_command_encoder()
        step = encoder.begin_compute_pass()
        step.set_pipeline(pipeline)
        if group is not None:
            step.set_bind_group(0, group)
        step.dispatch_workgroups(1)
        step.end()
        device.queue.submit([encoder.finish()])
        issued += 1
        if issued % WAIT_EVERY == 0:
            device.queue.read_buffer(memory)

    return launch
