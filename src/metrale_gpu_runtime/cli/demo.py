"""`metrale-gpu demo`: a kernel runs, a wrong launch is refused, an overrun is caught; each is shown."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ..discovery import open_backend
from ..errors import ArgumentError, GpuError, KernelFault
from ..geometry import threads
from ..launch import KernelLaunch
from .plain import print_plain

# Without a suffix: the backend takes PTX or Metal's language.
_KERNELS = Path(__file__).with_name("kernels") / "demo"
_COUNT = 1000
_SIGNATURES = {
    "scale_add": "const float* x, float* y, unsigned int count, float factor",
    "fill_one_too_many": "float* y, unsigned int count, float value",
}


def run_demo(backend: str, console: Console) -> None:
    """Run the three parts on `backend`. Raises GpuError if one of them does not end as it must."""
    import numpy

    x = numpy.arange(_COUNT, dtype=numpy.float32)
    with open_backend(backend) as gpu:
        print_plain(console, f"{gpu.capabilities.device} ({gpu.capabilities.backend})\n", "bold")
        gpu.load_module("demo", path=_KERNELS)
        scale_add = gpu.kernel("demo", "scale_add", signature=_SIGNATURES["scale_add"])
        device_x, device_y = gpu.array(x), gpu.array(numpy.ones(_COUNT, numpy.float32))

        console.rule("1. A kernel runs", align="left")
        print_plain(console, scale_add.signature)
        KernelLaunch(gpu, scale_add).grid(threads(_COUNT, 256)).block(256).arg_ptr(device_x).arg_ptr(device_y).arg_u32(
            _COUNT
        ).arg_f32(2.0).launch()
        y = device_y.numpy()
        if not numpy.array_equal(y, 2 * x + 1):
            raise GpuError("the demo's kernel computed something else than 2 * x + 1")
        console.print(f"y = 2 * x + 1 on {_COUNT} elements: {y[:4]} … {y[-1]}  [green]as it should be[/]\n")

        console.rule("2. A wrong launch is refused, before anything runs", align="left")
        console.print(".arg_ptr(x).arg_ptr(y).arg_u32(1000).arg_f64(2.0)   # the kernel takes a float", highlight=False)
        wrong = KernelLaunch(gpu, scale_add).grid(4).block(256).arg_ptr(device_x).arg_ptr(device_y).arg_u32(_COUNT)
        try:
            wrong.arg_f64(2.0).launch()
        except ArgumentError as error:
            console.print(f"[yellow]{type(error).__name__}[/]")
            print_plain(console, f"  {error}\n")
        else:
            raise GpuError("the demo's wrong launch was accepted")

        console.rule("3. An overrun is caught, and the process lives on", align="left")
        if not gpu.capabilities.memory_check:
            print_plain(console, f"{gpu.capabilities.backend} does not check memory accesses; try --backend cpu")
            return
        overrun = gpu.kernel("demo", "fill_one_too_many", signature=_SIGNATURES["fill_one_too_many"])
        try:
            overrun[4, 256](device_y, _COUNT, 7.0)
            gpu.synchronize()
        except KernelFault as fault:
            console.print(f"[yellow]{type(fault).__name__}[/]")
            print_plain(console, f"  {fault}\n")
        else:
            raise GpuError("the demo's overrun was not caught")
        scale_add[threads(_COUNT, 256), 256](device_x, device_y, _COUNT, 1.0)
        gpu.synchronize()
        console.print("and the next launch runs: [green]nothing was lost[/]")
