"""Triton: a jitted kernel called with its grid, and the compiled kernel kept. Without torch: pointers are objects with
`data_ptr()`.

It compiles its own kernels: the grid, the block and two scalars are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import triton
from cuda.bindings import driver

from ..rows import Row, Sent
from ..shapes import BLOCK, F32, GRID, POINTERS, U32, Shape

PACKAGES = ("triton",)
WARPS = BLOCK // 32


@triton.jit
def k3(p0, p1, p2):
    pass


@triton.jit
def k8(p0, p1, p2, p3, p4, p5, p6, p7):
    pass


@triton.jit
def k16(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15):
    pass


KERNELS = {3: k3, 8: k8, 16: k16}


@dataclass
class Pointer:
    """What Triton asks of an array."""

    address: int
    dtype: str = "float32"

    def data_ptr(self) -> int:
        return self.address


@contextmanager
def opened() -> Iterator[Callable[[Shape], list[Row]]]:
    pointers = []
    for _ in range(POINTERS):
        status, address = driver.cuMemAlloc(256)
        if int(status) != 0:
            raise RuntimeError(f"cuMemAlloc returned {status!r}")
        pointers.append(Pointer(int(address)))

    def rows(shape: Shape) -> list[Row]:
        kernel = KERNELS[shape.count]
        compiled = kernel[(GRID,)](*shape.values(0, pointers), num_warps=WARPS)
        names: dict[str, object] = {"kernel": kernel, "compiled": compiled, "bound": compiled[(GRID, 1, 1)]}
        calls, expected = [], []
        for letter, variant in (("a", 0), ("b", 1)):
            words = [f"{letter}{at}" for at in range(shape.count)]
            values = shape.values(variant, pointers)
            names |= dict(zip(words, values, strict=True))
            calls.append(", ".join(words))
            image = shape.image(shape.values(variant, range(POINTERS)))
            last = {kind: data for kind, (_, data) in zip(shape.kinds, image, strict=True)}
            expected.append(Sent(somewhere=(last[U32], last[F32])))
        return [
            Row(name, tuple(template % call for call in calls), names, tuple(expected))
            for name, template in (
                ("kernel[grid](*args)", f"kernel[({GRID},)](%s, num_warps={WARPS})"),
                ("compiled[grid](*args), bound runner kept", "bound(%s)"),
            )
        ]

    yield rows
