"""PyOpenCL over PoCL, beside a C loop that sets every argument and enqueues: a floor of its own, with its own pairs.

The queue is finished between timings, outside of them. This floor is a real runtime that wakes real threads.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import platform
import struct
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pyopencl as cl

from .rows import Figures, Row
from .shapes import BLOCK, F32, GRID, I32, POINTER, POINTERS, SHAPES, U32, U64, Shape
from .stub import NotHere

LAUNCHES = 300
"""In each timing: more would fill the queue, and an enqueue would wait."""
OPENCL_C = {POINTER: "__global float*", U32: "uint", U64: "ulong", I32: "int", F32: "float"}
NUMPY_TYPES = {U32: numpy.uint32, U64: numpy.uint64, I32: numpy.int32, F32: numpy.float32}


def source(shape: Shape) -> str:
    """A kernel whose first item writes its last float and its last u32 to its first pointer, so that it can be seen."""
    parameters = ", ".join(f"{OPENCL_C[kind]} p{at}" for at, kind in enumerate(shape.kinds))
    return (
        f"__kernel void {shape.kernel}({parameters}) {{\n    if (get_global_id(0) == 0) {{\n"
        f"        p0[0] = p{_last(shape, F32)};\n        p0[1] = as_float(p{_last(shape, U32)});\n    }}\n}}\n"
    )


def _last(shape: Shape, wanted: object) -> int:
    return max(at for at, kind in enumerate(shape.kinds) if kind is wanted)


class OpenCl:
    """A PoCL device that builds the kernels, with its queue and buffers."""

    def __init__(self) -> None:
        refusals = []
        for device in _devices():
            context = cl.Context([device])
            try:
                self.program = cl.Program(context, "".join(map(source, SHAPES.values()))).build()
            except cl.RuntimeError as error:
                refusals.append(f"{device.platform.version.strip()}: {str(error).strip().splitlines()[-1]}")
                continue
            self.device = device
            break
        else:
            raise NotHere("no PoCL here builds for this processor: " + "; ".join(refusals or ["there is none"]))
        self.queue = cl.CommandQueue(context)
        self.buffers = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 256) for _ in range(POINTERS)]

    def check(self, who: str, shape: Shape, values: Sequence[Any]) -> None:
        """Raise unless the launch before arrived with these values."""
        found = numpy.zeros(2, numpy.float32)
        cl.enqueue_copy(self.queue, found, values[0])
        self.queue.finish()
        if found.tobytes() != struct.pack("<fI", values[_last(shape, F32)], values[_last(shape, U32)]):
            raise RuntimeError(f"{who}: the last float and the last u32 did not arrive as sent; nothing is timed")


def _devices() -> list[Any]:
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        raise NotHere(f"OpenCL has no platform here: {error}") from error
    return [
        device
        for platform in platforms
        if "Portable Computing Language" in platform.name
        for device in platform.get_devices(cl.device_type.CPU)
    ]


def _library() -> ctypes.CDLL:
    """The OpenCL loader that PyOpenCL itself has loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[5:]
        if path and "libOpenCL" in path[0]:
            return ctypes.CDLL(path[0])
    raise NotHere("PyOpenCL has loaded no libOpenCL: its floor cannot be measured")


def _floor(opencl: OpenCl, shape: Shape, compiled: str) -> Callable[[int], int]:
    library, loader = ctypes.CDLL(compiled), _library()
    kernel = cl.Kernel(opencl.program, shape.kernel)
    values = shape.values(0, [buffer.int_ptr for buffer in opencl.buffers])
    data = b"".join(struct.pack("<" + kind.format, value) for kind, value in zip(shape.kinds, values, strict=True))
    nbytes = (ctypes.c_size_t * shape.count)(*(kind.nbytes for kind in shape.kinds))
    set_argument = ctypes.cast(loader.clSetKernelArg, ctypes.c_void_p)
    enqueue = ctypes.cast(loader.clEnqueueNDRangeKernel, ctypes.c_void_p)
    queue, handle = ctypes.c_void_p(opencl.queue.int_ptr), ctypes.c_void_p(kernel.int_ptr)

    # The kernel object is named so that it lives as long as the loop.
    def run(times: int, keep: object = kernel) -> int:
        status = library.opencl_floor(
            set_argument, enqueue, queue, handle, shape.count, nbytes, data, ctypes.c_long(times)
        )
        if status != 0:
            raise RuntimeError(f"a launch of the OpenCL floor returned {status}")
        return times

    return run


def _rows(opencl: OpenCl, shape: Shape) -> list[Row]:
    found = []
    for name, is_declared, template in (
        ("kernel(queue, …), scalar dtypes declared, Python numbers", True, "kernel(queue, (256,), (64,), %s)"),
        ("kernel(queue, …), NumPy scalars made before", False, "kernel(queue, (256,), (64,), %s)"),
        (
            "set_args and enqueue_nd_range_kernel, NumPy scalars made before",
            False,
            "kernel.set_args(%s); cl.enqueue_nd_range_kernel(queue, kernel, (256,), (64,))",
        ),
    ):
        kernel = cl.Kernel(opencl.program, shape.kernel)
        if is_declared:
            kernel.set_scalar_arg_dtypes([NUMPY_TYPES.get(kind) for kind in shape.kinds])
        names: dict[str, object] = {"kernel": kernel, "queue": opencl.queue, "cl": cl}
        statements = []
        for letter, variant in (("a", 0), ("b", 1)):
            words = [f"{letter}{at}" for at in range(shape.count)]
            for word, kind, value in zip(words, shape.kinds, shape.values(variant, opencl.buffers), strict=True):
                names[word] = value if is_declared or kind is POINTER else NUMPY_TYPES[kind](value)
            statements.append(template % ", ".join(words))
        found.append(Row(name, tuple(statements), names, ()))
    kernel = cl.Kernel(opencl.program, shape.kernel)
    kernel.set_args(
        *(
            value if kind is POINTER else NUMPY_TYPES[kind](value)
            for kind, value in zip(shape.kinds, shape.values(0, opencl.buffers), strict=True)
        )
    )
    alone = {"kernel": kernel, "queue": opencl.queue, "cl": cl}
    enqueue = "cl.enqueue_nd_range_kernel(queue, kernel, (256,), (64,))"
    return [*found, Row("enqueue_nd_range_kernel alone", (enqueue,), alone, ())]


def run(pairs: int, counts: Sequence[int], compiled: str) -> dict[str, object]:
    """The figures. Raises NotHere."""
    assert (GRID * BLOCK, BLOCK) == (256, 64)
    opencl = OpenCl()
    figures = []
    for count in counts:
        shape = SHAPES[count]
        floor, rows = _floor(opencl, shape, compiled), _rows(opencl, shape)
        floor(1)
        opencl.check("the floor", shape, shape.values(0, opencl.buffers))
        for row in rows:
            for statement, variant in zip(row.statements, (0, 1), strict=False):
                row.loop([statement])(1)
                opencl.check(row.name, shape, shape.values(variant, opencl.buffers))
        loops = [row.loop() for row in rows]
        found = [Figures(row.name, count) for row in rows]
        for _ in range(pairs):
            for row, loop, each in zip(rows, loops, found, strict=True):
                each.floor_ns.append(_timed(opencl, floor, LAUNCHES) / LAUNCHES)
                each.ns.append(_timed(opencl, loop, LAUNCHES // row.launches_of_a_pass) / LAUNCHES)
        figures += found
    versions = {each: importlib.metadata.version(each) for each in ("pyopencl",)}
    return {
        "versions": versions
        | {"PoCL": opencl.device.platform.version.split("  ")[0].strip(), "Python": platform.python_version()},
        "empty_call_ns": None,
        "other_threads_ms": 0.0,
        "rows": [
            {"name": each.name, "arguments": each.count, "ns": each.ns, "floor_ns": each.floor_ns} for each in figures
        ],
    }


def _timed(opencl: OpenCl, loop: Callable[[int], object], times: int) -> int:
    started = time.thread_time_ns()
    loop(times)
    took = time.thread_time_ns() - started
    opencl.queue.finish()
    return took
