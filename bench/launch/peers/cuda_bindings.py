"""NVIDIA's own binding of the driver: a launch takes values with their ctypes, or the address of a prepared array."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cuda.bindings import driver

from ..rows import Row, Sent
from ..shapes import BLOCK, F32, GRID, I32, POINTER, POINTERS, PTX, U32, Shape

PACKAGES = ("cuda-bindings",)
CTYPES = {POINTER: "c_void_p", U32: "c_uint", I32: "c_int", F32: "c_float"}
LARGE = "c_uint64"


def ok(answer):  # type: ignore[no-untyped-def]
    if int(answer[0]) != 0:
        raise RuntimeError(f"the driver returned {answer[0]!r}")
    return answer[1] if len(answer) == 2 else answer[1:]


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    module = ok(driver.cuModuleLoadData(PTX.encode()))
    stream = ok(driver.cuStreamCreate(0))
    addresses = [int(ok(driver.cuMemAlloc(256))) for _ in range(POINTERS)]

    def rows(shape: Shape) -> list[Row]:
        function = ok(driver.cuModuleGetFunction(module, shape.kernel.encode()))
        types = [CTYPES.get(kind, LARGE) for kind in shape.kinds]
        launch = f"driver.cuLaunchKernel(function, {GRID}, 1, 1, {BLOCK}, 1, 1, 0, stream, %s, 0)"
        names: dict[str, object] = {"driver": driver, "function": function, "stream": stream}
        names["types"] = tuple(getattr(ctypes, each) for each in types)
        statements, expected = [], []
        for letter, variant in (("a", 0), ("b", 1)):
            values = shape.values(variant, addresses)
            words = [f"{letter}{at}" for at in range(shape.count)]
            names |= dict(zip(words, values, strict=True))
            statements.append(launch % f"(({', '.join(words)}), types)")
            expected.append(Sent(shape.image(values), kernel=shape.kernel))
        given = Row("cuLaunchKernel, (values, ctypes types)", tuple(statements), names, tuple(expected))
        values = shape.values(2, addresses)
        cells = [getattr(ctypes, each)(value) for each, value in zip(types, values, strict=True)]
        array = (ctypes.c_void_p * shape.count)(*(ctypes.addressof(cell) for cell in cells))
        prepared: dict[str, object] = {
            "driver": driver,
            "function": function,
            "stream": stream,
            "address": ctypes.addressof(array),
            "keep": (cells, array),
        }
        same = Sent(shape.image(values), kernel=shape.kernel)
        return [given, Row("cuLaunchKernel, address of a prepared array", (launch % "address",), prepared, (same,))]

    yield rows
