"""The floor in this process: the C loops of floor.c over the stand-in, with a module and memory of their own."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence

from .shapes import F32, I32, POINTER, POINTERS, PTX, U32, U64, Shape
from .stub import Stub


class _Given(ctypes.Structure):
    """floor.c's `struct given`."""

    _fields_ = (
        ("pointer", ctypes.c_uint64 * 6),
        ("u64", ctypes.c_uint64 * 1),
        ("u32", ctypes.c_uint32 * 3),
        ("i32", ctypes.c_int32 * 2),
        ("f32", ctypes.c_float * 4),
    )


_FIELDS = {POINTER: "pointer", U32: "u32", U64: "u64", I32: "i32", F32: "f32"}


class Floor:
    """The floor of each shape. Its context is the device's primary one, which all contenders use too.

    `keep_current`: leave that context current on this thread, as in a program where another library has made it so.
    """

    def __init__(self, stub: Stub, library: str, *, keep_current: bool = True) -> None:
        self.stub = stub
        self._library = ctypes.CDLL(library)
        self._context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), 0)
        self._call("cuCtxSetCurrent", self._context)
        self._module = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(self._module), PTX.encode())
        self._pointers = [ctypes.c_uint64() for _ in range(POINTERS)]
        for pointer in self._pointers:
            self._call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(256))
        self._launch = ctypes.cast(stub.library.cuLaunchKernel, ctypes.c_void_p)
        self._kernels: dict[int, tuple[ctypes.c_void_p, _Given]] = {}
        if not keep_current:
            self._call("cuCtxSetCurrent", ctypes.c_void_p())

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self.stub.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")

    @property
    def pointers(self) -> list[int]:
        return [pointer.value for pointer in self._pointers]

    def values(self, shape: Shape, variant: int) -> list[object]:
        return shape.values(variant, self.pointers)

    def _prepared(self, shape: Shape) -> tuple[ctypes.c_void_p, _Given]:
        found = self._kernels.get(shape.count)
        if found is None:
            kernel = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(kernel), self._module, shape.kernel.encode())
            found = self._kernels[shape.count] = kernel, _given(shape, self.values(shape, 0))
        return found

    def run(self, shape: Shape, times: int) -> int:
        """Nanoseconds of this thread's CPU time for so many launches."""
        kernel, given = self._prepared(shape)
        loop = getattr(self._library, f"floor_{shape.count}")
        self._call("cuCtxPushCurrent_v2", self._context)
        try:
            started = time.thread_time_ns()
            status = loop(self._launch, kernel, None, ctypes.byref(given), ctypes.c_long(times))
            ended = time.thread_time_ns()
        finally:
            self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        if status != 0:
            raise RuntimeError(f"a launch of the floor returned {status}")
        return ended - started

    def empty_calls(self, times: int) -> int:
        """Nanoseconds of this thread's CPU time for so many calls of a C function that does nothing."""
        started = time.thread_time_ns()
        self._library.empty_calls(ctypes.c_long(times))
        return time.thread_time_ns() - started

    def check(self, shape: Shape) -> None:
        """Raise unless the floor's own launch arrives as sent."""
        self.run(shape, 1)
        seen = self.stub.last_launch()
        for offset, data in shape.image(self.values(shape, 0)):
            if seen.parameters[offset : offset + len(data)] != data:
                raise RuntimeError(f"the floor's argument at byte {offset} of {shape.kernel} did not arrive as sent")


def _given(shape: Shape, values: Sequence[object]) -> _Given:
    given, taken = _Given(), dict.fromkeys(_FIELDS.values(), 0)
    for kind, value in zip(shape.kinds, values, strict=True):
        field = _FIELDS[kind]
        getattr(given, field)[taken[field]] = value
        taken[field] += 1
    return given
