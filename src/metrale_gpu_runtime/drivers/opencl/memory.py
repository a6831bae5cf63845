"""The memory of one device, as the driver needs it: allocations, and what may be done to them on a queue.

There are two kinds, shared virtual memory (svm.py) and buffer objects (buffers.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ...driver import MemoryKind
from ...errors import NotSupported, OutOfDeviceMemory
from ..host_memory import host_available_nbytes
from .bindings import Bindings
from .faults import NO_MEMORY, fault, is_lost, refused, refused_by
from .recordings import Recordings

ALIGN = 256

GLOBAL_FREE_MEMORY_AMD = 0x4039
"""CL_DEVICE_GLOBAL_FREE_MEMORY_AMD, in KiB (cl_ext.h, cl_amd_device_attribute_query)."""


class Memory(ABC):
    """Allocations by address. Safe to use from several threads."""

    def __init__(self, bindings: Bindings, context: Any, device: Any, name: str) -> None:
        self._bindings, self._context, self._device, self._name = bindings, context, device, name
        self._calls = bindings.calls
        self._taken = 0
        self.handles: dict[int, int] | None = None
        """The handle of each memory object by its first address, where pointers are such."""

    # ------------------------------------------------ allocations

    @abstractmethod
    def alloc(self, nbytes: int, kind: MemoryKind) -> int:
        """The address of new memory, a multiple of 256. Raises OutOfDeviceMemory."""

    @abstractmethod
    def free(self, address: int) -> None:
        """Give back what `alloc` returned."""

    @abstractmethod
    def clear(self) -> None:
        """Give back everything."""

    # ------------------------------------------------ what an argument is

    @abstractmethod
    def set_pointer(self, kernel: int, index: int, address: int) -> object:
        """Make an address the argument of a cl_kernel; what is returned has to live while it is set.

        Raises DriverError, InvalidPointer.
        """

    def recordings_of(self, address: int) -> Recordings | None:
        """Those that keep this memory alive while they name it; None where none does. Raises InvalidPointer."""
        return None

    # ------------------------------------------------ copies and fills, queued

    @abstractmethod
    def write(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        """From an address of the host."""

    @abstractmethod
    def read(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        """To an address of the host."""

    @abstractmethod
    def copy(self, queue: int, dst: int, src: int, nbytes: int) -> None: ...

    def copy_rows(
        self, queue: int, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int
    ) -> None:
        for row in range(height):
            self.copy(queue, dst + row * dst_pitch, src + row * src_pitch, width)

    @abstractmethod
    def fill(self, queue: int, dst: int, pattern: bytes, nbytes: int) -> None: ...

    # ------------------------------------------------ figures

    def figures(self) -> tuple[int, int]:
        """(free, total). Raises NotSupported where nothing tells how much is free.

        OpenCL itself has no such question; where the device shares the host's memory the host answers, and AMD's
        extension does.
        """
        total = int(self._device.global_mem_size)
        if bool(self._device.host_unified_memory):
            available = host_available_nbytes()
            left = max(0, total - self._taken)
            return (left if available is None else min(left, available)), total
        if "cl_amd_device_attribute_query" in str(self._device.extensions).split():
            return int(self._device.get_info(GLOBAL_FREE_MEMORY_AMD)[0]) * 1024, total
        raise NotSupported(
            f"opencl: {self._name} does not tell how much of its {total:,} bytes of memory is free: OpenCL has no such "
            "question",
            backend="opencl",
            feature="free memory",
        )

    # ------------------------------------------------ for the two kinds

    def check(self, code: int, call: str) -> None:
        """Raise for a status that is no success: DriverFault where the device is gone, else DriverError."""
        if code:
            if is_lost(code):
                raise fault(self._bindings, code, f"{call} on {self._name}")
            raise refused(self._bindings, call, code)

    def no_memory(self, nbytes: int, error: Any) -> Exception:
        """What to raise when an allocation failed with this error of pyopencl's."""
        if int(error.code) not in NO_MEMORY:
            return refused_by(self._bindings, error)
        total = int(self._device.global_mem_size)
        return OutOfDeviceMemory(
            f"opencl: {nbytes:,} bytes were asked for; {self._name} has {total:,} bytes, of which this program has "
            f"{self._taken:,}, and allows {int(self._device.max_mem_alloc_size):,} in one allocation "
            f"({self._bindings.code_name(int(error.code))})",
            nbytes=nbytes,
            total=total,
        )
