"""A room of kernels written in Python, in the place of the one that compiles MSL: for tests of what stands around it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

FLOAT, UINT, INT, BOOL = 3, 33, 29, 53


@dataclass(frozen=True)
class Binding:
    """As the MSL room says it of a parameter."""

    kind: str
    index: int
    name: str
    access: str = "read"
    data_type: int = FLOAT
    data_size: int = 4
    alignment: int = 4
    is_used: bool = True


@dataclass(frozen=True)
class Constant:
    name: str
    data_type: int
    index: int
    required: bool = True


@dataclass(frozen=True)
class Crash:
    kind: str
    address: int | None


class Refusal(Exception):
    """The source is not accepted."""

    def __init__(self, log: str) -> None:
        self.log = log
        super().__init__(log)


@dataclass
class Kernel:
    """One kernel: its bindings, and what it does with addresses, lengths, grid and block."""

    name: str
    bindings: Sequence[Binding]
    body: Callable[..., Any]
    constants: Sequence[Constant] = ()
    max_total_threads: int = 0
    static_threadgroup_nbytes: int = 0
    given: dict[int, bytes] = field(default_factory=dict)

    def run(self, buffers: Any, lengths: Any, grid: Any, block: Any) -> Crash | None:
        wrong = self.body(buffers, lengths, grid, block, self.given)
        return wrong if isinstance(wrong, Crash) else None


class FakeLibrary:
    """A compiled library of these kernels."""

    def __init__(self, *kernels: Kernel) -> None:
        self._kernels = {kernel.name: kernel for kernel in kernels}
        self.function_names = tuple(self._kernels)

    def constants(self, name: str) -> tuple[Constant, ...]:
        return tuple(self._kernels[name].constants)

    def function(self, name: str, constants: dict[int, bytes]) -> Kernel:
        kernel = self._kernels[name]
        return Kernel(
            kernel.name,
            kernel.bindings,
            kernel.body,
            (),
            kernel.max_total_threads,
            kernel.static_threadgroup_nbytes,
            constants,
        )


def is_reachable(address: int, nbytes: int = 1) -> bool:
    """Whether this process may read the bytes at this address; nothing crashes where it may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    target = ctypes.create_string_buffer(nbytes)

    class Piece(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    to, from_ = Piece(ctypes.addressof(target), nbytes), Piece(address, nbytes)
    libc.process_vm_readv.argtypes = (
        ctypes.c_int, ctypes.POINTER(Piece), ctypes.c_ulong, ctypes.POINTER(Piece), ctypes.c_ulong, ctypes.c_ulong,
    )  # fmt: skip
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    import os

    return bool(libc.process_vm_readv(os.getpid(), ctypes.byref(to), 1, ctypes.byref(from_), 1, 0) == nbytes)


def _add(buffers: Any, lengths: Any, grid: Any, block: Any, given: Any) -> None:
    """x[i] += step for each thread."""
    step = ctypes.c_float.from_address(buffers[2]).value
    count = grid[0] * block[0]
    x = (ctypes.c_float * count).from_address(buffers[0])
    for position in range(count):
        x[position] += step


def _follow(buffers: Any, lengths: Any, grid: Any, block: Any, given: Any) -> Crash | None:
    """*address = 7, the address being a number in memory."""
    address = ctypes.c_uint64.from_address(buffers[0]).value
    if not is_reachable(address, 4):
        return Crash("page fault", address)
    ctypes.c_float.from_address(address).value = 7.0
    return None


def _scaled(buffers: Any, lengths: Any, grid: Any, block: Any, given: Any) -> None:
    """x[0] = the constant."""
    ctypes.c_int.from_address(buffers[0]).value = int.from_bytes(given[4], "little", signed=True)


def _shared(buffers: Any, lengths: Any, grid: Any, block: Any, given: Any) -> None:
    """x[0] = the length of its threadgroup memory."""
    ctypes.c_float.from_address(buffers[0]).value = lengths[1]


ADD = Kernel("add", (Binding("buffer", 0, "x", "readwrite"), Binding("buffer", 2, "step")), _add, max_total_threads=256)
FOLLOW = Kernel("follow", (Binding("buffer", 0, "addresses", "read", 85, 8, 8),), _follow)
SCALED = Kernel(
    "scaled",
    (Binding("buffer", 0, "x", "readwrite", INT),),
    _scaled,
    (Constant("SCALE", INT, 4), Constant("FAST", BOOL, 9, False)),
)
SHARED = Kernel(
    "shared",
    (Binding("buffer", 0, "x", "readwrite"), Binding("threadgroup", 1, "room", "readwrite", FLOAT, 4, 16)),
    _shared,
    static_threadgroup_nbytes=1024,
)


def compile_library(source: str, *, macros: dict[str, str], fast_math: bool) -> FakeLibrary:
    """The four kernels; a source with "error" in it is refused."""
    if "error" in source:
        raise Refusal(f"program_source:3:10: error: macros {macros}, fast_math {fast_math}")
    return FakeLibrary(ADD, FOLLOW, SCALED, SHARED)
