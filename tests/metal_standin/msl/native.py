"""The runtime's calls and structures, as msl_abi.h writes them. Every call lets other Python threads run."""

from __future__ import annotations

import ctypes
import functools

from .building import runtime

SLOTS = 31
CRASHES = {1: "page fault", 2: "barrier", 3: "illegal instruction", 4: "stack overflow", 5: "out of memory"}


class Request(ctypes.Structure):
    """msl_request"""

    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("buffers", ctypes.c_uint64 * SLOTS),
        ("threadgroup_nbytes", ctypes.c_uint64 * SLOTS),
        ("static_nbytes", ctypes.c_uint64),
        ("threadgroup_alignment", ctypes.c_uint32 * SLOTS),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
    )


class Crash(ctypes.Structure):
    """msl_crash"""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("address", ctypes.c_uint64),
        ("group", ctypes.c_uint32 * 3),
        ("thread", ctypes.c_uint32 * 3),
        ("detail", ctypes.c_char * 192),
    )


class Constant(ctypes.Structure):
    """msl_constant"""

    _fields_ = (("index", ctypes.c_uint32), ("value", ctypes.c_ubyte * 32))


class Parameter(ctypes.Structure):
    """msl_parameter"""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("is_threadgroup", ctypes.c_int),
        ("index", ctypes.c_int),
        ("is_read_only", ctypes.c_int),
        ("data_type", ctypes.c_int),
        ("data_nbytes", ctypes.c_uint32),
        ("alignment", ctypes.c_uint32),
        ("is_used", ctypes.c_int),
    )


@functools.cache
def calls() -> ctypes.CDLL:
    """The runtime, loaded once per process; compiled kernels find its functions by its name."""
    library = ctypes.CDLL(str(runtime()), mode=ctypes.RTLD_GLOBAL)
    library.msl_run.argtypes = (ctypes.POINTER(Request), ctypes.POINTER(Crash))
    library.msl_open.argtypes = (
        ctypes.c_char_p,
        ctypes.POINTER(Constant),
        ctypes.c_uint32,
        ctypes.c_char_p,
        ctypes.c_uint32,
    )
    library.msl_open.restype = ctypes.c_void_p
    library.msl_symbol.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
    library.msl_symbol.restype = ctypes.c_void_p
    library.msl_close.argtypes = (ctypes.c_void_p,)
    library.msl_close.restype = None
    return library


class Loaded:
    """A library of kernels in memory, its function constants fixed. It is unloaded when nobody holds it."""

    def __init__(self, path: str, constants: dict[int, bytes]) -> None:
        self._runtime = calls()
        values = (Constant * max(len(constants), 1))()
        for slot, (index, value) in zip(values, constants.items(), strict=False):
            slot.index = index
            ctypes.memmove(slot.value, value, min(len(value), 32))
        error = ctypes.create_string_buffer(512)
        self._handle = self._runtime.msl_open(path.encode(), values, len(constants), error, len(error))
        if not self._handle:
            raise RuntimeError(f"compiled kernels cannot be loaded: {error.value.decode()}")

    def address(self, name: str) -> int:
        """The address of a symbol."""
        found: int | None = self._runtime.msl_symbol(self._handle, name.encode())
        if not found:
            raise RuntimeError(f"compiled kernels have no symbol {name}")
        return found

    def static_nbytes(self, number: int) -> int:
        """How much threadgroup memory the kernel of that number declares."""
        return int(ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)(self.address("__msl_static_nbytes_of"))(number))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._runtime.msl_close(self._handle)
            self._handle = None
