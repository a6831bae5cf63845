"""Kernels of the mock: what a module holds, and Python functions that stand for a kernel's body."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

from ...driver import ArgumentKind, CodeImage, FunctionAttributes, FunctionConstant
from ...errors import PtxSyntaxError
from ...geometry import Dim3
from ...handles import KernelHandle, ModuleHandle
from .log import Launch, RecordedArgument
from .memory import MockMemory, Region

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FORMATS = {
    "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q",
    "f16": "e", "f32": "f", "f64": "d", "bool": "?",
}  # fmt: skip


class KernelContext:
    """What a Python kernel body gets: one whole launch, all of its blocks.

    It runs when the queue runs, not when the launch is made. An IndexError or any other exception it raises
    becomes a fault of that launch.
    """

    def __init__(
        self,
        launch: Launch,
        memory: MockMemory,
        symbols: Mapping[str, tuple[int, int]] | None = None,
        constants: Mapping[str, bytes] | None = None,
        resident: tuple[Region, ...] | None = None,
    ) -> None:
        self._memory = memory
        self._symbols = symbols if symbols is not None else {}
        # What the launch may reach: everything, but where the device has to be told (`explicit_residency`).
        self._resident = resident
        self.constants: Mapping[str, bytes] = constants if constants is not None else {}
        self.launch = launch
        self.module, self.function = launch.module, launch.function
        self.grid, self.block = Dim3(*launch.grid), Dim3(*launch.block)
        self.shared_mem = launch.shared_mem
        self.arguments: tuple[RecordedArgument, ...] = launch.arguments

    def data(self, index: int) -> bytes:
        """The bytes of an argument as they lie in the parameter block."""
        return self.arguments[index].data

    def value(self, index: int, scalar: str) -> Any:
        """A by-value argument read as a scalar type: "u8" … "u64", "i8" … "i64", "f16", "f32", "f64", "bool".

        Raises ValueError when the argument has not as many bytes as that type.
        """
        return self._read(self.data(index), scalar, f"argument {index}")

    def constant(self, name: str, scalar: str, default: Any = None) -> Any:
        """A function constant read as a scalar type; `default` where the kernel was made without it.

        Raises ValueError when the constant has not as many bytes as that type.
        """
        data = self.constants.get(name)
        return default if data is None else self._read(data, scalar, f"constant {name}")

    def _read(self, data: bytes, scalar: str, what: str) -> Any:
        form = _FORMATS[scalar]
        if len(data) != struct.calcsize(form):
            raise ValueError(f"{what} of {self.function} has {len(data)} bytes; {scalar} has not that many")
        return struct.unpack(f"<{form}", data)[0]

    def address(self, index: int) -> int:
        """The address a pointer argument holds; 0 is null."""
        return self.arguments[index].address

    def local_nbytes(self, index: int) -> int:
        """The size of a local-memory argument."""
        argument = self.arguments[index]
        if argument.kind is not ArgumentKind.LOCAL:
            raise TypeError(f"argument {index} of {self.function} is a {argument.kind.value}, not local memory")
        return argument.nbytes

    def memory(self, index: int, nbytes: int | None = None) -> memoryview:
        """The bytes a pointer argument points at: `nbytes`, or to the end of the driver's allocation."""
        address = self.address(index)
        return self.memory_at(address, nbytes)

    def memory_at(self, address: int, nbytes: int | None = None) -> memoryview:
        """Any device memory, by address. Raises IndexError where no allocation is, or it is too short, or the device
        reaches only what a launch names and this one has not named it.
        """
        found = self._memory.find(address)
        if found is not None and self._resident is not None and found[0] not in self._resident:
            raise IndexError(
                f"address {address:#x} lies in memory that is neither an argument of this launch nor named by .uses()"
            )
        if nbytes is None:
            if found is None:
                raise IndexError(f"address {address:#x} lies in no live allocation")
            region, offset = found
            return region.data[offset:]
        return self._memory.view(address, nbytes)

    def symbol(self, name: str) -> memoryview:
        """The bytes of a variable of the kernel's module (`define_global`). Raises KeyError."""
        return self.memory_at(*self._symbols[name])

    def elements(self, index: int, scalar: str, count: int | None = None) -> memoryview:
        """A pointer argument as a typed view (`view[i]` reads and writes), of `count` elements or to the end.

        `scalar` as for `value`, but not f16 on Python before 3.12.
        """
        form = _FORMATS[scalar]
        size = struct.calcsize(form)
        view = self.memory(index, None if count is None else count * size)
        return view[: len(view) // size * size].cast(form)  # type: ignore[no-any-return,call-overload]

    def array(self, index: int, dtype: npt.DTypeLike, count: int | None = None) -> npt.NDArray[Any]:
        """A pointer argument as a NumPy array on the mock's memory, of `count` elements or to the allocation's end."""
        import numpy as np

        kind: np.dtype[Any] = np.dtype(dtype)
        if count is not None:
            return np.frombuffer(self.memory(index, count * kind.itemsize), dtype=kind)
        view = self.memory(index)
        return np.frombuffer(view[: len(view) // kind.itemsize * kind.itemsize], dtype=kind)

    def blocks(self) -> Iterator[Dim3]:
        """Every block index of the grid, x fastest."""
        yield from _walk(self.grid)

    def threads(self) -> Iterator[tuple[Dim3, Dim3]]:
        """Every (block index, thread index) of the launch."""
        for block in self.blocks():
            for thread in _walk(self.block):
                yield block, thread

    def global_ids(self) -> Iterator[int]:
        """blockIdx.x * blockDim.x + threadIdx.x of every thread; for launches of one dimension."""
        return iter(range(self.grid.x * self.block.x))


def _walk(extent: Dim3) -> Iterator[Dim3]:
    for z in range(extent.z):
        for y in range(extent.y):
            for x in range(extent.x):
                yield Dim3(x, y, z)


KernelBody = Callable[[KernelContext], object]


@dataclass(slots=True)
class KernelDefinition:
    """What was said of a kernel before it was looked up."""

    body: KernelBody | None = None
    attributes: FunctionAttributes | None = None
    blocks_per_multiprocessor: int | None = None
    max_cluster_blocks: int | None = None
    constants: tuple[FunctionConstant, ...] = ()


@dataclass(slots=True)
class LoadedModule:
    """A loaded module; `pending` counts its launches that have not run."""

    handle: ModuleHandle
    image: CodeImage
    declared: tuple[str, ...] | None
    kernels: dict[tuple[str, frozenset[tuple[str, bytes]]], KernelHandle] = field(default_factory=dict)
    symbols: dict[str, tuple[int, int]] = field(default_factory=dict)
    pending: int = 0
    _bounds: dict[str, FunctionAttributes] | None = None

    def attributes_of(self, function: str) -> FunctionAttributes:
        """What the code itself tells of a kernel; the text is read when that is first asked."""
        if self._bounds is None:
            self._bounds = launch_bounds(self.image)
        return self._bounds.get(function, FunctionAttributes())


@dataclass(slots=True)
class LoadedKernel:
    handle: KernelHandle
    name: str
    module: LoadedModule
    definition: KernelDefinition
    constants: Mapping[str, bytes] = field(default_factory=dict)


def constants_of(said: Sequence[FunctionConstant] | Mapping[str, str]) -> tuple[FunctionConstant, ...]:
    """A kernel's function constants as a test says them: {"N": "uint"} are required ones, numbered in order."""
    if isinstance(said, Mapping):
        return tuple(FunctionConstant(name, type, index, True) for index, (name, type) in enumerate(said.items()))
    return tuple(said)


# Comments and strings go first, so that a kernel in a comment is none.
_PTX_NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\[^\n])*"', re.DOTALL)
_PTX_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$%][\w$]*)")


def launch_bounds(image: CodeImage) -> dict[str, FunctionAttributes]:
    """What a PTX text says of its kernels' blocks (`.reqntid`, `.maxntid`), as a real driver reports it."""
    if image.format != "ptx":
        return {}
    from ...ptx.parser import parse

    try:
        kernels = parse(image.data.decode(), name=image.name).kernels()
    except (PtxSyntaxError, UnicodeDecodeError):
        # Any text is accepted here, so nothing is known of this one's kernels.
        return {}
    return {
        kernel.name: FunctionAttributes(
            max_threads_per_block=prod(kernel.bounds.maxntid) if kernel.bounds.maxntid is not None else None,
            required_block=kernel.bounds.reqntid,
        )
        for kernel in kernels
    }


def declared_kernels(image: CodeImage) -> tuple[str, ...] | None:
    """The kernels a text names itself, or None where the mock cannot read the format. It reads PTX only."""
    if image.format != "ptx":
        return None
    text = _PTX_NOISE.sub(" ", image.data.decode("utf-8", "replace"))
    return tuple(dict.fromkeys(_PTX_ENTRY.findall(text)))
