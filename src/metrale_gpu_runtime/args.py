"""KernelArg, and the seed's portable packing of arguments into 64-bit slots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from .handles import DevicePtr


@dataclass(frozen=True, slots=True)
class Buffer:
    """A pointer argument."""

    ptr: DevicePtr


@dataclass(frozen=True, slots=True)
class Bytes:
    """A value argument: its bytes, little-endian for a scalar.

    `align` is a power of two that the bytes want, or None for whatever alignment the parameter declares.
    Raises ValueError for another alignment.
    """

    data: bytes
    align: int | None = None

    def __post_init__(self) -> None:
        # A caller's bytearray could change under a launch that has been described but not issued.
        object.__setattr__(self, "data", bytes(memoryview(self.data)))
        align = self.align
        if align is None:
            return
        if isinstance(align, bool) or not isinstance(align, int) or align <= 0 or align & (align - 1):
            raise ValueError(f"an alignment is a power of two, not {align!r}")


@dataclass(frozen=True, slots=True)
class Local:
    """Local (threadgroup) memory of `nbytes`, handed out by the device for this launch; at least 1."""

    nbytes: int

    def __post_init__(self) -> None:
        if isinstance(self.nbytes, bool) or not isinstance(self.nbytes, int):
            raise TypeError(f"local memory is a whole number of bytes, not {self.nbytes!r}")
        if self.nbytes < 1:
            raise ValueError(f"local memory is at least 1 byte, not {self.nbytes}")


class _KernelArgMeta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (Buffer, Bytes, Local))


class KernelArg(metaclass=_KernelArgMeta):
    """One argument as a backend receives it: `KernelArg.Buffer(ptr)`, `.Bytes(data, align)` or `.Local(nbytes)`.

    It is a name for the three, not a base of them; `isinstance(x, KernelArg)` is true for each.
    """

    Buffer = Buffer
    Bytes = Bytes
    Local = Local

    def __new__(cls) -> KernelArg:
        raise TypeError("KernelArg is made as KernelArg.Buffer(ptr), KernelArg.Bytes(data) or KernelArg.Local(nbytes)")


AnyKernelArg: TypeAlias = Buffer | Bytes | Local


def pack_kernel_args(args: Iterable[AnyKernelArg]) -> tuple[list[int], list[int]]:
    """The arguments as unsigned 64-bit slots, and the first slot of each argument.

    A buffer is one slot with its address. Bytes fill ceil(n / 8) slots, little-endian, the last padded with zeros, and
    at least one even when there are none. Local memory has no bytes: it is one slot of 0, so that every argument still
    has a slot of its own. Raises TypeError for anything else.
    """
    storage: list[int] = []
    starts: list[int] = []
    for arg in args:
        starts.append(len(storage))
        if isinstance(arg, Bytes):
            data = arg.data
            storage.extend(int.from_bytes(data[at : at + 8], "little") for at in range(0, max(len(data), 1), 8))
        elif isinstance(arg, Buffer):
            storage.append(arg.ptr.address)
        elif isinstance(arg, Local):
            storage.append(0)
        else:
            raise TypeError(f"argument {len(starts) - 1} is a {type(arg).__name__}, not a KernelArg")
    return storage, starts
