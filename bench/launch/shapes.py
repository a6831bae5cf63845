"""The three kernels that everybody launches: 3, 8 and 16 arguments, and values of which no two are alike."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

GRID, BLOCK = 4, 64
POINTERS = 13
"""How many buffers the values point to. A prime, so that the buffers of one launch differ whatever it starts with."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A parameter's type, in the spelling of C, of PTX, of `struct`, and of the builder's method."""

    c: str
    ptx: str
    format: str
    builder: str

    @property
    def nbytes(self) -> int:
        return struct.calcsize(self.format)


POINTER = Kind("float*", ".u64", "Q", "arg_ptr")
U32 = Kind("unsigned int", ".u32", "I", "arg_u32")
U64 = Kind("unsigned long long", ".u64", "Q", "arg_u64")
I32 = Kind("int", ".s32", "i", "arg_i32")
F32 = Kind("float", ".f32", "f", "arg_f32")


@dataclass(frozen=True)
class Shape:
    """One list of parameters, and the kernel that takes it and does nothing."""

    kinds: tuple[Kind, ...]

    @property
    def count(self) -> int:
        return len(self.kinds)

    @property
    def kernel(self) -> str:
        return f"k{self.count}"

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        offsets, end = [], 0
        for kind in self.kinds:
            offsets.append(-(-end // kind.nbytes) * kind.nbytes)
            end = offsets[-1] + kind.nbytes
        return tuple(offsets)

    @property
    def c_parameters(self) -> str:
        return ", ".join(f"{kind.c} p{at}" for at, kind in enumerate(self.kinds))

    @property
    def ptx_entry(self) -> str:
        return self.ptx_entry_named(self.kernel)

    def ptx_entry_named(self, name: str) -> str:
        parameters = ",\n".join(f"    .param {kind.ptx} {name}_param_{at}" for at, kind in enumerate(self.kinds))
        return f".visible .entry {name}(\n{parameters}\n)\n{{\n    ret;\n}}\n"

    def values(self, variant: int, pointers: Sequence[object]) -> list[object]:
        """Python values, one for each parameter; the pointers are taken from `pointers`, of which there are POINTERS.

        No two arguments of a launch are alike, nor are those of two variants, and every float is exact in 32 bits.
        """
        found: list[object] = []
        for at, kind in enumerate(self.kinds):
            if kind is POINTER:
                found.append(pointers[(at + 7 * variant) % POINTERS])
            elif kind is U32:
                found.append(3_000_000_000 + 1000 * variant + at)
            elif kind is U64:
                found.append((1 << 45) + 1000 * variant + at)
            elif kind is I32:
                found.append(-1_000_000 - 1000 * variant - at)
            else:
                found.append(variant + at / 32)
        return found

    def image(self, values: Sequence[object]) -> tuple[tuple[int, bytes], ...]:
        """(offset, bytes) of each argument, pointers given as addresses. What pads between them is not defined."""
        return tuple(
            (offset, struct.pack("<" + kind.format, value))
            for offset, kind, value in zip(self.offsets, self.kinds, values, strict=True)
        )


SHAPES = {
    shape.count: shape
    for shape in (
        Shape((POINTER, U32, F32)),
        Shape((POINTER,) * 4 + (U32,) * 2 + (F32,) * 2),
        Shape((POINTER,) * 6 + (U32,) * 3 + (U64,) + (I32,) * 2 + (F32,) * 4),
    )
}

PTX = ".version 7.0\n.target sm_80\n.address_size 64\n" + "".join(shape.ptx_entry for shape in SHAPES.values())
CUDA_C = "".join(f'extern "C" __global__ void {each.kernel}({each.c_parameters}) {{}}\n' for each in SHAPES.values())
SIGNATURES = {shape.kernel: shape.c_parameters for shape in SHAPES.values()}
