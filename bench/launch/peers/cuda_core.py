"""NVIDIA's object layer: launch(stream, config, kernel, *args), with scalars made before or from Python values."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy
from cuda.core import Device, LaunchConfig, ObjectCode, launch

from ..rows import Row, Sent
from ..shapes import BLOCK, F32, GRID, I32, POINTER, POINTERS, PTX, U32, Shape

PACKAGES = ("cuda-core", "cuda-bindings")
NUMPY_TYPES = {U32: "uint32", I32: "int32", F32: "float32"}
CTYPES = {U32: "c_uint32", I32: "c_int32", F32: "c_float"}


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    device = Device(0)
    device.set_current()
    stream, code = device.create_stream(), ObjectCode.from_ptx(PTX.encode())
    buffers = [device.allocate(256, stream=stream) for _ in range(POINTERS)]
    addresses = [int(each.handle) for each in buffers]

    def rows(shape: Shape) -> list[Row]:
        kernel = code.get_kernel(shape.kernel)
        common = {
            "launch": launch,
            "stream": stream,
            "kernel": kernel,
            "config": LaunchConfig(grid=GRID, block=BLOCK),
            "LaunchConfig": LaunchConfig,
            "ctypes": ctypes,
        }
        each_time = f"LaunchConfig(grid={GRID}, block={BLOCK})"
        found = []
        for name, config, is_made_each_time in (
            ("launch(), configuration and NumPy scalars made before", "config", False),
            ("launch(), configuration made before, scalars each time", "config", True),
            ("launch(), configuration and scalars made each time", each_time, True),
        ):
            names: dict[str, object] = dict(common)
            statements, expected = [], []
            for letter, variant in (("a", 0), ("b", 1)):
                words = []
                for at, (kind, value) in enumerate(zip(shape.kinds, shape.values(variant, buffers), strict=True)):
                    word = f"{letter}{at}"
                    if kind is POINTER:
                        names[word] = value
                    elif is_made_each_time:
                        names[word], word = value, f"ctypes.{CTYPES.get(kind, 'c_uint64')}({word})"
                    else:
                        names[word] = getattr(numpy, NUMPY_TYPES.get(kind, "uint64"))(value)
                    words.append(word)
                statements.append(f"launch(stream, {config}, kernel, {', '.join(words)})")
                expected.append(Sent(shape.image(shape.values(variant, addresses)), kernel=shape.kernel))
            found.append(Row(name, tuple(statements), names, tuple(expected)))
        return found

    yield rows
