"""What a launch costs on the host: this package's forms against the bare driver call of the same run, and peers.

The floor is the vendor's own binding with everything prepared: one call, arguments already laid out; on Metal the
messages of the launch (`bare_metal`), on OpenCL and WebGPU the calls of pyopencl and wgpu. No kernel work is waited for
inside a round; the stream is drained between them.

On Metal, OpenCL and WebGPU the time is that of the calling thread's work: command buffers that wait for others to end,
and a device that computes in this process, take no part in it.
"""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import metrale_gpu_runtime as mg

from .bare_metal import LAUNCHES, BareLaunches
from .interleave import Job, Timing, interleave, ratio

COUNTS = (0, 4, 16, 58)
COUNTS_OF_METAL = (0, 4, 16, 31)
"""A Metal kernel has 31 buffer slots."""
COUNTS_OF_WEBGPU = (0, 4, 12)
"""A WebGPU device has at least 12 uniform buffers for a kernel's values."""
FLOOR = "bare driver call"
PER_ROUND_S = 0.02


def source(count: int, backend: str = "cuda") -> dict[str, str]:
    """A kernel that takes a pointer and then u32 arguments, `count` in all, and returns at once, by suffix."""
    if backend == "hip":
        arguments = ", ".join("unsigned* out" if at == 0 else f"unsigned value{at}" for at in range(count))
        return {".hip": f'extern "C" __global__ void nothing_{count}({arguments}) {{}}\n'}
    if backend == "metal":
        arguments = ", ".join(
            "device uint *out [[buffer(0)]]" if at == 0 else f"constant uint &value{at} [[buffer({at})]]"
            for at in range(count)
        )
        return {".metal": f"#include <metal_stdlib>\nkernel void nothing_{count}({arguments}) {{}}\n"}
    if backend == "opencl":
        arguments = ", ".join("global uint *out" if at == 0 else f"uint value{at}" for at in range(count))
        return {".cl": f"kernel void nothing_{count}({arguments}) {{}}\n"}
    if backend == "webgpu":
        kinds = ("var<storage, read_write> b{at}: array<u32>;", "var<uniform> b{at}: u32;")
        bound = "".join(f"@group(0) @binding({at}) {kinds[at > 0].format(at=at)}\n" for at in range(count))
        # What is not named in the kernel is none of its arguments.
        named = " ".join(f"_ = {'&' if at == 0 else ''}b{at};" for at in range(count))
        head = f"override block_x: u32;\n{bound}@compute @workgroup_size(block_x)\n"
        return {".wgsl": f"{head}fn nothing_{count}() {{ {named} }}\n"}
    parameters = ",\n".join(f".param .u{64 if at == 0 else 32} nothing_{count}_param_{at}" for at in range(count))
    entry = f".visible .entry nothing_{count}(\n{parameters}\n)\n{{\nret;\n}}\n"
    return {".ptx": f".version 7.0\n.target sm_70\n.address_size 64\n{entry}"}


def run(backend: str, rounds: int) -> tuple[None, dict[str, Any]]:
    """Medians in ns, and ratios to the floor, for each form and argument count."""
    facts: dict[str, Any] = {"rounds": rounds, "unit": "ns per launch, median; ratio to the bare driver call"}
    with mg.open_backend(backend, check=None) as gpu, _current_context(gpu):
        name = gpu.capabilities.backend
        clock = time.thread_time if name in ("metal", "opencl", "webgpu") else time.perf_counter
        for count in {"metal": COUNTS_OF_METAL, "webgpu": COUNTS_OF_WEBGPU}.get(name, COUNTS):
            jobs = _jobs(gpu, count)
            timings = interleave(jobs, rounds=rounds, seconds=PER_ROUND_S, clock=clock)
            gpu.synchronize()
            bare = jobs.get(FLOOR)
            if isinstance(bare, BareLaunches):
                bare.finish()
                timings[FLOOR] = Timing(tuple(each / LAUNCHES for each in timings[FLOOR].seconds))
            floor = timings.get(FLOOR)
            facts[f"{count} arguments"] = {
                name: {
                    "ns": round(timing.median * 1e9),
                    "spread": round(timing.spread, 2),
                    **({"ratio": round(ratio(timing, floor), 2)} if floor is not None else {}),
                }
                for name, timing in timings.items()
            }
    return None, facts


@contextmanager
def _current_context(gpu: mg.GpuBackend) -> Iterator[None]:
    """The device's context current on this thread, as a program that calls the driver by itself has it."""
    if gpu.capabilities.backend != "cuda":
        yield
        return
    from cuda.bindings import driver

    device = gpu.capabilities.device_index
    status, context = driver.cuDevicePrimaryCtxRetain(device)
    for code in (status, driver.cuCtxPushCurrent(context)[0]):
        if int(code) != 0:
            raise RuntimeError(f"the device's context cannot be made current: {code!r}")
    try:
        yield
    finally:
        driver.cuCtxPopCurrent()
        driver.cuDevicePrimaryCtxRelease(device)


def _jobs(gpu: mg.GpuBackend, count: int) -> dict[str, Job]:
    kernel = gpu.load_module(f"nothing_{count}", source=source(count, gpu.capabilities.backend))[f"nothing_{count}"]
    buffer = gpu.buffer(256)
    values: list[Any] = [buffer.ptr, *(mg.u32(7 + at) for at in range(1, count))][:count]
    prepared = kernel[1, 32].prepare(*values)
    jobs: dict[str, Job] = {}
    floor = _floor(gpu, kernel, buffer.address, count)
    if floor is not None:
        jobs[FLOOR] = floor

    def short_form() -> None:
        kernel[1, 32](*values)

    def builder() -> None:
        launch = mg.KernelLaunch(gpu, kernel).block(32)
        for at, value in enumerate(values):
            if at == 0:
                launch.arg_ptr(value)
            else:
                launch.arg_u32(7 + at)
        launch.launch()

    jobs["prepared()"] = prepared
    if count > 1:
        slotted = kernel[1, 32].prepare(*values[:-1], mg.slot("last", mg.u32))
        numbers = iter(range(1, 2**31))

        def one_changed() -> None:
            slotted(last=next(numbers))

        jobs["prepared(last=n)"] = one_changed
    jobs["kernel[grid, block](…)"] = short_form
    jobs["KernelLaunch(…)…launch()"] = builder
    peer = _cuda_core(gpu, count, buffer.address)
    if peer is not None:
        jobs["cuda.core launch()"] = peer
    return {name: job if isinstance(job, BareLaunches) else _drained(gpu, job) for name, job in jobs.items()}


def _drained(gpu: mg.GpuBackend, job: Job) -> Job:
    """The same job, which waits for the stream every so often: a full queue makes every launch wait."""
    count = 0

    def run() -> None:
        nonlocal count
        job()
        count += 1
        if count % 512 == 0:
            gpu.synchronize()

    return run


def _floor(gpu: mg.GpuBackend, kernel: mg.Kernel, address: int, count: int) -> Job | None:
    """The vendor's binding called with everything ready; None where there is no vendor's call to compare with."""
    backend = gpu.capabilities.backend
    if backend == "metal":
        name = f"nothing_{count}"
        return BareLaunches(gpu.capabilities.device_index, source(count, backend)[".metal"], name, count)
    if backend == "opencl":
        from .bare_opencl import bare_launch as enqueued

        return enqueued(gpu.capabilities.device_index, source(count, backend)[".cl"], f"nothing_{count}", count)
    if backend == "webgpu":
        from .bare_webgpu import bare_launch as submitted

        return submitted(gpu.capabilities.device, source(count, backend)[".wgsl"], f"nothing_{count}", count)
    if backend not in ("cuda", "hip"):
        return None
    image = struct.pack(f"<Q{max(count - 1, 0)}I", address, *(7 + at for at in range(1, count)))
    block = ctypes.create_string_buffer(image, len(image))
    base = ctypes.addressof(block)
    offsets = [0, *(8 + 4 * at for at in range(count - 1))][:count]
    array = (ctypes.c_void_p * max(count, 1))(*(base + offset for offset in offsets))
    stream = gpu.driver.native_stream(gpu.default_stream().handle)
    keep = (block, array)
    call: Callable[..., Any]
    if backend == "cuda":
        from cuda.bindings import driver

        call, function, on = driver.cuLaunchKernel, driver.CUfunction(kernel.handle), driver.CUstream(stream)
    else:
        from hip import hip

        call, function, on = hip.hipModuleLaunchKernel, hip.ihipModuleSymbol_t(kernel.handle), hip.ihipStream_t(stream)
    parameters = ctypes.addressof(array) if count else 0

    def bare(keep: object = keep) -> None:
        status = call(function, 1, 1, 1, 32, 1, 1, 0, on, parameters, 0)
        if int(status[0]) != 0:
            raise RuntimeError(f"the bare launch returned {status[0]!r}")

    return bare


def _cuda_core(gpu: mg.GpuBackend, count: int, address: int) -> Job | None:
    """NVIDIA's own object layer with its launch configuration and scalars prepared, where it is installed."""
    if gpu.capabilities.backend != "cuda":
        return None
    try:
        import numpy as np
        from cuda.core import Device, LaunchConfig, ObjectCode, launch
    except ImportError:
        return None
    device = Device(gpu.capabilities.device_index)
    device.set_current()
    kernel = ObjectCode.from_ptx(source(count)[".ptx"].encode()).get_kernel(f"nothing_{count}")
    stream, config = device.create_stream(), LaunchConfig(grid=1, block=32)
    values = [np.uint64(address), *(np.uint32(7 + at) for at in range(1, count))][:count]

    def run() -> None:
        launch(stream, config, kernel, *values)

    return run
