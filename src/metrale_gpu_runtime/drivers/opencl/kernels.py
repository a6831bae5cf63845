"""cl_kernel objects. pyopencl's own would write a cache of generated Python to the home folder, and fail without one.

Source: clCreateKernel, clSetKernelArg, clGetKernelInfo, clGetKernelArgInfo, clGetKernelWorkGroupInfo.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from typing import Any

from ...errors import DriverError
from .bindings import Bindings
from .faults import refused

_NUM_ARGS = 0x1191
ADDRESS_QUALIFIER, TYPE_NAME, TYPE_QUALIFIER, NAME = 0x1196, 0x1198, 0x1199, 0x119A
"""CL_KERNEL_ARG_… (cl.h)."""

WORK_GROUP_SIZE, COMPILE_WORK_GROUP_SIZE, LOCAL_MEM_SIZE, PREFERRED_MULTIPLE, PRIVATE_MEM_SIZE = range(0x11B0, 0x11B5)
"""CL_KERNEL_WORK_GROUP_SIZE and its kin (cl.h)."""


class ClKernel:
    """One cl_kernel; `pointer` is it. Its arguments are those that were set last, so it belongs to one thread."""

    __slots__ = ("_bindings", "name", "pointer")

    def __init__(self, bindings: Bindings, program: Any, name: str) -> None:
        """Raises DriverError; CL_INVALID_KERNEL_NAME (-46) is its code where there is no such kernel."""
        self.pointer, self._bindings, self.name = 0, bindings, name
        code = ctypes.c_int32()
        made = bindings.calls.create_kernel(int(program.int_ptr), name.encode(), ctypes.byref(code))
        self._check(code.value, "clCreateKernel")
        self.pointer = int(made or 0)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the interpreter's end the driver may be gone already, and so may this module's names; the process takes all
        # with it. There is no pointer where Ctrl-C came before __init__ had begun.
        pointer = getattr(self, "pointer", 0)
        if pointer and not is_finalizing():
            self._bindings.calls.release_kernel(pointer)

    # ------------------------------------------------ arguments

    def set_value(self, index: int, data: bytes) -> None:
        """Raises DriverError."""
        self._check(self._bindings.calls.set_kernel_arg(self.pointer, index, len(data), data), "clSetKernelArg")

    def set_local(self, index: int, nbytes: int) -> None:
        """Raises DriverError."""
        self._check(self._bindings.calls.set_kernel_arg(self.pointer, index, nbytes, None), "clSetKernelArg")

    # ------------------------------------------------ what is known of it

    @property
    def argument_count(self) -> int:
        number: int = struct.unpack("=I", self._ask(self._bindings.calls.get_kernel_info, _NUM_ARGS))[0]
        return number

    def argument_number(self, index: int, what: int) -> int:
        """One of the answers that are numbers. Raises DriverError, CL_KERNEL_ARG_INFO_NOT_AVAILABLE (-19)."""
        told = self._ask(self._bindings.calls.get_kernel_arg_info, index, what)
        return int.from_bytes(told, sys.byteorder)

    def argument_text(self, index: int, what: int) -> str:
        """One of the answers that are texts."""
        return self._ask(self._bindings.calls.get_kernel_arg_info, index, what).rstrip(b"\0").decode().strip()

    def sizes(self, device: Any, what: int) -> tuple[int, ...]:
        """An answer of clGetKernelWorkGroupInfo: one number, or three. Raises DriverError."""
        told = self._ask(self._bindings.calls.get_kernel_work_group_info, int(device.int_ptr), what)
        # Memory sizes are cl_ulong, all others size_t.
        word = "Q" if what in (LOCAL_MEM_SIZE, PRIVATE_MEM_SIZE) else "N"
        count = len(told) // struct.calcsize(word)
        return struct.unpack(f"@{count}{word}", told)

    def _ask(self, call: Any, *what: int) -> bytes:
        nbytes = ctypes.c_size_t()
        self._check(call(self.pointer, *what, 0, None, ctypes.byref(nbytes)), call.__name__)
        place = ctypes.create_string_buffer(max(1, nbytes.value))
        self._check(call(self.pointer, *what, nbytes.value, place, None), call.__name__)
        return place.raw[: nbytes.value]

    def _check(self, code: int, call: str) -> None:
        if code:
            raise self._error(code, call)

    def _error(self, code: int, call: str) -> DriverError:
        return refused(self._bindings, call, code, f"kernel {self.name}")
