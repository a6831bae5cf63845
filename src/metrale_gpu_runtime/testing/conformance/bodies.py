"""The suite's kernels as Python functions: what kernels/*.cu do, for backends that run no code.

Every body reads the launch as the kernel would, thread by thread where threads matter, so that a launch with the
wrong geometry or arguments gives the wrong bytes here too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from ...drivers.mock import KernelContext

_MASK_32 = 0xFFFF_FFFF

SUITE: dict[str, Callable[[KernelContext], None]] = {}


def _kernel(body: Callable[[KernelContext], None]) -> Callable[[KernelContext], None]:
    SUITE[body.__name__] = body
    return body


@_kernel
def affine(launch: KernelContext) -> None:
    values = launch.elements(0, "u32")
    count, factor, addend = (launch.value(index, "u32") for index in (1, 2, 3))
    for i in launch.global_ids():
        if i < count:
            values[i] = (values[i] * factor + addend) & _MASK_32


@_kernel
def scale_add(launch: KernelContext) -> None:
    x, y = launch.elements(0, "f32"), launch.elements(1, "f32")
    count, factor = launch.value(2, "u32"), launch.value(3, "f32")
    for i in launch.global_ids():
        if i < count:
            y[i] = factor * x[i] + y[i]


@_kernel
def sum_i32(launch: KernelContext) -> None:
    count = launch.value(2, "u32")
    launch.elements(1, "i32")[0] = sum(launch.elements(0, "i32", count))


def _echo(launch: KernelContext) -> None:
    data = launch.data(1)
    launch.memory(0, len(data))[:] = data


for _name in ("echo_8", "echo_16", "echo_32", "echo_64", "echo_f32", "echo_f64"):
    SUITE[_name] = _echo


@_kernel
def mixed(launch: KernelContext) -> None:
    written = b"".join(launch.data(index) for index in range(1, 6))
    launch.memory(0, len(written))[:] = written


@_kernel
def tensor_map(launch: KernelContext) -> None:
    before, tensors, after = launch.data(1), launch.data(2), launch.data(3)
    width = len(before)
    out = launch.memory(0, 128 + 2 * width)
    out[:width], out[128 + width :] = before, after
    for i in launch.global_ids():
        if i < 128:
            out[width + i] = tensors[i]


@_kernel
def gapped(launch: KernelContext) -> None:
    a, b, c = struct.unpack("<b7xdi4x", launch.data(1))
    launch.memory(0, 24)[:] = struct.pack("<qdq", a, b, c)


@_kernel
def whereabouts(launch: KernelContext) -> None:
    out = launch.elements(0, "u32")
    grid, size = launch.grid, launch.block
    for block, thread in launch.threads():
        at = block.x + grid.x * (block.y + grid.y * block.z)
        at = at * size.volume + thread.x + size.x * (thread.y + size.y * thread.z)
        for offset, number in enumerate((*block.as_tuple(), *thread.as_tuple())):
            out[6 * at + offset] = number


@_kernel
def reverse_blocks(launch: KernelContext) -> None:
    values, width = launch.elements(0, "u32"), launch.block.x
    if launch.shared_mem < 4 * width:
        raise IndexError(f"{4 * width} bytes of shared memory are used, the launch has {launch.shared_mem}")
    for block in launch.blocks():
        part = [values[block.x * width + i] for i in range(width)]
        for i in range(width):
            values[block.x * width + i] = part[width - 1 - i]


@_kernel
def at_most_64(launch: KernelContext) -> None:
    out = launch.elements(0, "u32")
    for i in launch.global_ids():
        out[i] = i + 7


@_kernel
def write_at(launch: KernelContext) -> None:
    # 8 bytes, or 4 where a device has no i64.
    address = launch.address(0) + 4 * int.from_bytes(launch.data(1), "little", signed=True)
    launch.memory_at(address, 4)[:] = launch.data(2)


@_kernel
def follow(launch: KernelContext) -> None:
    count, value = launch.value(1, "u32"), launch.value(2, "u32")
    table = launch.elements(0, "u64", count)
    for i in launch.global_ids():
        if i < count:
            launch.memory_at(table[i], 4)[:] = (value + i).to_bytes(4, "little")


@_kernel
def is_null(launch: KernelContext) -> None:
    launch.elements(0, "u32")[0] = 11 if launch.address(1) == 0 else 22


@_kernel
def trap_if(launch: KernelContext) -> None:
    if launch.value(1, "u32"):
        raise RuntimeError("trap")
    launch.elements(0, "u32")[0] = 33


@_kernel
def add_table(launch: KernelContext) -> None:
    out, numbers = launch.elements(0, "u32"), launch.symbol("table").cast("I")
    for i in launch.global_ids():
        if i < 3:
            out[i] = numbers[i] + 1


@_kernel
def _Z7mangledPji(launch: KernelContext) -> None:
    launch.memory(0, 4)[:] = launch.data(1)


def doubled(launch: KernelContext) -> None:
    out, values = launch.elements(0, "u32"), launch.elements(1, "u32")
    for i in launch.global_ids():
        if i < launch.value(2, "u32"):
            out[i] = (values[i] * 2) & _MASK_32


def plus_hundred(launch: KernelContext) -> None:
    out, values = launch.elements(0, "u32"), launch.elements(1, "u32")
    for i in launch.global_ids():
        if i < launch.value(2, "u32"):
            out[i] = (values[i] + 100) & _MASK_32


def _specialised(launch: KernelContext) -> None:
    out, factor = launch.elements(0, "i32"), launch.constant("FACTOR", "u32")
    sign = -1 if launch.constant("NEGATED", "bool") else 1
    for i in launch.global_ids():
        if i < launch.value(1, "u32"):
            out[i] = sign * (factor * i + 1)


def _added(launch: KernelContext) -> None:
    out, a, b = (launch.elements(index, "u32") for index in range(3))
    for i in launch.global_ids():
        if i < launch.value(3, "u32"):
            out[i] = a[i] + b[i]


def _echo_bytes(launch: KernelContext) -> None:
    count = launch.value(2, "u32")
    launch.memory(0, count)[:] = launch.data(1)[:count]


def _reverse_local(launch: KernelContext) -> None:
    values, width = launch.elements(0, "u32"), launch.block.x
    if launch.local_nbytes(1) < 4 * width:
        raise IndexError(f"{4 * width} bytes of local memory are used, the launch has {launch.local_nbytes(1)}")
    for block in launch.blocks():
        part = [values[block.x * width + i] for i in range(width)]
        for i in range(width):
            values[block.x * width + i] = part[width - 1 - i]


BOUND = {
    "specialised": _specialised,
    "added": _added,
    "echo_bytes": _echo_bytes,
    "reverse_local": _reverse_local,
    **dict.fromkeys(("any_8", "any_16", "any_32", "any_64"), _echo),
}
"""What bound.metal has."""

BOUND_CONSTANTS = {"specialised": {"FACTOR": "uint", "NEGATED": "bool"}}

TABLE = (301, 302, 303)
