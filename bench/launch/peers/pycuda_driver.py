"""PyCUDA: a function called with NumPy scalars, and its prepared call with Python's own numbers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy

from ..rows import Row, Sent
from ..shapes import BLOCK, F32, GRID, I32, POINTER, POINTERS, PTX, U32, U64, Shape

PACKAGES = ("pycuda",)
NUMPY_TYPES = {POINTER: "uintp", U32: "uint32", U64: "uint64", I32: "int32", F32: "float32"}
STRUCT_CODES = {POINTER: "P", U32: "I", U64: "Q", I32: "i", F32: "f"}


def _driver():  # type: ignore[no-untyped-def]
    """PyCUDA names an entry point that the stand-in has not, cuProfilerInitialize: it is never called."""
    flags = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_LAZY)
    try:
        import pycuda.driver
    finally:
        sys.setdlopenflags(flags)
    return pycuda.driver


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    cuda = _driver()
    cuda.init()
    context = cuda.Device(0).retain_primary_context()
    context.push()
    module = cuda.module_from_buffer(PTX.encode())
    stream = cuda.Stream()
    memory = [cuda.mem_alloc(256) for _ in range(POINTERS)]
    addresses = [int(each) for each in memory]

    def rows(shape: Shape) -> list[Row]:
        function = module.get_function(shape.kernel)
        prepared = module.get_function(shape.kernel)
        prepared.prepare("".join(STRUCT_CODES[kind] for kind in shape.kinds))
        found = []
        grid, block = f"({GRID}, 1)", f"({BLOCK}, 1, 1)"
        called = f"function(%s, block={block}, grid={grid})"
        for name, template, scalar in (
            ("Function.__call__, NumPy scalars made before", called, "before"),
            ("Function.__call__, NumPy scalars made each time", called, "each time"),
            ("prepared_call(grid, block, *values)", f"prepared.prepared_call({grid}, {block}, %s)", "python"),
            (
                "prepared_async_call(grid, block, stream, *values)",
                f"prepared.prepared_async_call({grid}, {block}, stream, %s)",
                "python",
            ),
        ):
            names: dict[str, object] = {"function": function, "prepared": prepared, "stream": stream, "numpy": numpy}
            statements, expected = [], []
            for letter, variant in (("a", 0), ("b", 1)):
                words = []
                values = shape.values(variant, addresses)
                for at, (kind, value) in enumerate(zip(shape.kinds, values, strict=True)):
                    word = f"{letter}{at}"
                    if kind is POINTER and scalar != "python":
                        names[word] = memory[addresses.index(value)]  # type: ignore[arg-type]
                    elif scalar == "each time":
                        names[word], word = value, f"numpy.{NUMPY_TYPES[kind]}({word})"
                    else:
                        names[word] = getattr(numpy, NUMPY_TYPES[kind])(value) if scalar == "before" else value
                    words.append(word)
                statements.append(template % ", ".join(words))
                expected.append(Sent(shape.image(values), kernel=shape.kernel))
            found.append(Row(name, tuple(statements), names, tuple(expected)))
        return found

    try:
        yield rows
    finally:
        context.pop()
