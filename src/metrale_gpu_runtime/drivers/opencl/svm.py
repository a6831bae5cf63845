"""Shared virtual memory: an address is the same for the host and for kernels.

Source: clSVMAlloc, clEnqueueSVMMemcpy, clEnqueueSVMMemFill, clSetKernelArgSVMPointer.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import Any

from ...driver import MemoryKind
from ...errors import BackendUnavailable
from .bindings import Bindings
from .memory import ALIGN, Memory

FINE_GRAIN = 1 << 10
"""CL_MEM_SVM_FINE_GRAIN_BUFFER (cl.h)."""

READ_WRITE = 1
"""CL_MEM_READ_WRITE (cl.h)."""


@dataclass(slots=True)
class _Allocation:
    native: Any
    nbytes: int


class SvmMemory(Memory):
    """Allocations of shared virtual memory. Managed and pinned memory are fine-grain, so that the host may use them
    without mapping."""

    def __init__(self, bindings: Bindings, context: Any, device: Any, name: str) -> None:
        super().__init__(bindings, context, device, name)
        calls = bindings.calls
        if (
            calls.enqueue_svm_memcpy is None
            or calls.enqueue_svm_mem_fill is None
            or calls.set_kernel_arg_svm_pointer is None
        ):
            raise BackendUnavailable(
                "opencl: the OpenCL loader is older than version 2.0 and has no shared virtual memory; open it with "
                'memory="buffers"',
                backend="opencl",
            )
        self._memcpy, self._mem_fill = calls.enqueue_svm_memcpy, calls.enqueue_svm_mem_fill
        self._set_svm_pointer = calls.set_kernel_arg_svm_pointer
        self._lock = threading.Lock()
        self._allocations: dict[int, _Allocation] = {}

    def alloc(self, nbytes: int, kind: MemoryKind) -> int:
        # Alignments over that of the largest type (128 bytes) need not be granted (clSVMAlloc).
        flags = READ_WRITE if kind is MemoryKind.DEVICE else READ_WRITE | FINE_GRAIN
        try:
            native = self._bindings.cl.SVMAllocation(self._context, nbytes + ALIGN, 0, flags)
        except self._bindings.cl.Error as error:
            raise self.no_memory(nbytes, error) from error
        address = -(-int(native.svm_ptr) // ALIGN) * ALIGN
        with self._lock:
            self._allocations[address] = _Allocation(native, nbytes)
            self._taken += nbytes
        return address

    def free(self, address: int) -> None:
        with self._lock:
            gone = self._allocations.pop(address, None)
            if gone is None:
                return  # another thread closed the device meanwhile, and all went with it
            self._taken -= gone.nbytes
        gone.native.release()

    def clear(self) -> None:
        with self._lock:
            every = list(self._allocations.values())
            self._allocations.clear()
            self._taken = 0
        for each in every:
            each.native.release()

    def set_pointer(self, kernel: int, index: int, address: int) -> object:
        self.check(self._set_svm_pointer(kernel, index, address or None), "clSetKernelArgSVMPointer")
        return None

    def write(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        self.copy(queue, dst, src, nbytes)

    def read(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        self.copy(queue, dst, src, nbytes)

    def copy(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        self.check(self._memcpy(queue, 0, dst, src, nbytes, 0, None, None), "clEnqueueSVMMemcpy")

    def fill(self, queue: int, dst: int, pattern: bytes, nbytes: int) -> None:
        place = ctypes.create_string_buffer(pattern, len(pattern))
        self.check(self._mem_fill(queue, dst, place, len(pattern), nbytes, 0, None, None), "clEnqueueSVMMemFill")
