"""numba-cuda: a jitted kernel of a declared signature, called with device arrays and Python's numbers.

It compiles its own kernels, and turns an array into seven parameters: the grid, the block and two scalars are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy
from numba import cuda

from ..rows import Row, Sent
from ..shapes import BLOCK, F32, GRID, I32, POINTER, POINTERS, U32, U64, Shape

PACKAGES = ("numba-cuda", "numba")
NUMBA_TYPES = {POINTER: "float32[::1]", U32: "uint32", U64: "uint64", I32: "int32", F32: "float32"}


def two_scalars(shape: Shape, variant: int) -> tuple[bytes, ...]:
    """The bytes of the last unsigned and of the last float argument."""
    image = shape.image(shape.values(variant, range(POINTERS)))
    return tuple(
        next(data for kind, (_, data) in zip(reversed(shape.kinds), reversed(image), strict=True) if kind is wanted)
        for wanted in (U32, F32)
    )


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    arrays = [cuda.device_array(64, dtype=numpy.float32) for _ in range(POINTERS)]

    def rows(shape: Shape) -> list[Row]:
        space: dict[str, object] = {}
        exec(f"def {shape.kernel}({', '.join(f'p{at}' for at in range(shape.count))}):\n    pass\n", space)
        signature = f"void({', '.join(NUMBA_TYPES[kind] for kind in shape.kinds)})"
        kernel = cuda.jit(signature)(space[shape.kernel])
        stream = cuda.stream()
        names: dict[str, object] = {"kernel": kernel, "stream": stream, "configured": kernel[GRID, BLOCK, stream]}
        calls, expected = [], []
        for letter, variant in (("a", 0), ("b", 1)):
            words = [f"{letter}{at}" for at in range(shape.count)]
            names |= dict(zip(words, shape.values(variant, arrays), strict=True))
            calls.append(f"({', '.join(words)})")
            expected.append(Sent(somewhere=two_scalars(shape, variant)))
        return [
            Row(name, tuple(f"{called}{call}" for call in calls), names, tuple(expected))
            for name, called in (
                ("kernel[grid, block, stream](*args), declared signature", f"kernel[{GRID}, {BLOCK}, stream]"),
                ("configured kernel kept", "configured"),
            )
        ]

    yield rows
