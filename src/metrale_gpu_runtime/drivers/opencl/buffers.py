"""Buffer objects: addresses are numbers of our own, and a pointer into a buffer is a sub-buffer.

Source: clCreateBuffer, clCreateSubBuffer, clEnqueueCopyBuffer and its kin, clSetKernelArg.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from ...driver import MemoryKind
from ...errors import InvalidPointer
from ...ranges import RangeMap
from ..invented_addresses import invented_addresses
from .bindings import Bindings
from .memory import Memory
from .recordings import Recordings

READ_WRITE = 1
"""CL_MEM_READ_WRITE (cl.h)."""

MOST_PARTS = 64
"""Sub-buffers kept per buffer beside those that are set on a kernel; making one costs about as much as a launch."""

_Handle = ctypes.c_void_p
_Region = ctypes.c_size_t * 3


@dataclass(slots=True, eq=False, weakref_slot=True)
class _Part:
    """A sub-buffer from an offset to its buffer's end. `native` is None when the buffer is given back."""

    native: Any
    handle: int


@dataclass(slots=True, eq=False)
class _Allocation:
    native: Any
    handle: int
    base: int
    nbytes: int
    # All that are alive, by their offsets: those taken last, and those that a kernel is set to.
    parts: WeakValueDictionary[int, _Part] = field(default_factory=WeakValueDictionary)
    recent: deque[_Part] = field(default_factory=lambda: deque(maxlen=MOST_PARTS))
    recordings: Recordings = field(default_factory=Recordings)

    def give_back(self) -> None:
        """Let go of the sub-buffers, also of those that a kernel is set to, and of recordings: each keeps the whole
        memory alive."""
        self.recordings.let_go()
        for part in list(self.parts.values()):
            part.native = None
        self.parts.clear()
        self.recent.clear()


class BufferMemory(Memory):
    """Allocations as buffer objects."""

    def __init__(self, bindings: Bindings, context: Any, device: Any, name: str) -> None:
        super().__init__(bindings, context, device, name)
        self._lock = threading.Lock()
        self._ranges: RangeMap[_Allocation] = RangeMap()
        self._bases: dict[int, _Allocation] = {}
        self._handles: dict[int, int] = {}
        self.handles = self._handles

    # ------------------------------------------------ allocations

    def alloc(self, nbytes: int, kind: MemoryKind) -> int:
        cl = self._bindings.cl
        try:
            native = cl.Buffer(self._context, READ_WRITE, nbytes)
        except cl.Error as error:
            raise self.no_memory(nbytes, error) from error
        base = invented_addresses.take(nbytes)
        with self._lock:
            allocation = _Allocation(native, int(native.int_ptr), base, nbytes)
            self._ranges.insert(base, nbytes, allocation)
            self._bases[base] = allocation
            self._handles[base] = allocation.handle
            self._taken += nbytes
        return base

    def free(self, address: int) -> None:
        with self._lock:
            gone = self._bases.pop(address, None)
            if gone is None:
                return  # another thread closed the device meanwhile, and all went with it
            self._ranges.remove(address)
            del self._handles[address]
            self._taken -= gone.nbytes
        gone.give_back()

    def clear(self) -> None:
        with self._lock:
            for each in self._bases.values():
                each.give_back()
            self._bases.clear()
            self._handles.clear()
            self._ranges = RangeMap()
            self._taken = 0

    # ------------------------------------------------ addresses

    def set_pointer(self, kernel: int, index: int, address: int) -> object:
        found = self._bases.get(address)
        part: _Part | None = None
        if found is not None:
            handle = found.handle
        elif address == 0:
            handle = 0
        else:
            part = self._part(address)
            handle = 0 if part is None else part.handle
        self.check(
            self._calls.set_kernel_arg(kernel, index, ctypes.sizeof(_Handle), ctypes.byref(_Handle(handle))),
            "clSetKernelArg",
        )
        return part

    def recordings_of(self, address: int) -> Recordings:
        found = self._bases.get(address)
        return (found or self._find(address, 0)[0]).recordings

    def _part(self, address: int) -> _Part | None:
        """The sub-buffer from an address to its buffer's end; None for the end itself, behind which nothing lies."""
        found, offset = self._find(address, 0)
        if offset == found.nbytes:
            return None
        with self._lock:
            part = found.parts.get(offset)
            if part is None:
                native = found.native.get_sub_region(offset, found.nbytes - offset)
                part = found.parts[offset] = _Part(native, int(native.int_ptr))
                # The one taken up first goes. Work that is queued keeps what it uses (clReleaseMemObject), a kernel
                # that is merely set to it does not (clSetKernelArg).
                found.recent.append(part)
        return part

    def _find(self, address: int, nbytes: int) -> tuple[_Allocation, int]:
        with self._lock:
            found = self._ranges.find(address, nbytes)
        if found is None:
            raise InvalidPointer(
                f"opencl: {address:#x} lies in no live allocation on {self._name}", address=address, nbytes=nbytes
            )
        return found, address - found.base

    # ------------------------------------------------ copies and fills

    def write(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        found, offset = self._find(dst, nbytes)
        self.check(
            self._calls.enqueue_write_buffer(queue, found.handle, 0, offset, nbytes, src, 0, None, None),
            "clEnqueueWriteBuffer",
        )

    def read(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        found, offset = self._find(src, nbytes)
        self.check(
            self._calls.enqueue_read_buffer(queue, found.handle, 0, offset, nbytes, dst, 0, None, None),
            "clEnqueueReadBuffer",
        )

    def copy(self, queue: int, dst: int, src: int, nbytes: int) -> None:
        source, src_offset = self._find(src, nbytes)
        target, dst_offset = self._find(dst, nbytes)
        self.check(
            self._calls.enqueue_copy_buffer(
                queue, source.handle, target.handle, src_offset, dst_offset, nbytes, 0, None, None
            ),
            "clEnqueueCopyBuffer",
        )

    def copy_rows(
        self, queue: int, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int
    ) -> None:
        source, src_offset = self._find(src, (height - 1) * src_pitch + width)
        target, dst_offset = self._find(dst, (height - 1) * dst_pitch + width)
        if source is target:
            # Within one buffer both sides must have the same pitch.
            super().copy_rows(queue, dst, dst_pitch, src, src_pitch, width, height)
            return
        code = self._calls.enqueue_copy_buffer_rect(
            queue,
            source.handle,
            target.handle,
            _Region(src_offset, 0, 0),
            _Region(dst_offset, 0, 0),
            _Region(width, height, 1),
            src_pitch,
            0,
            dst_pitch,
            0,
            0,
            None,
            None,
        )
        self.check(code, "clEnqueueCopyBufferRect")

    def fill(self, queue: int, dst: int, pattern: bytes, nbytes: int) -> None:
        found, offset = self._find(dst, nbytes)
        place = ctypes.create_string_buffer(pattern, len(pattern))
        self.check(
            self._calls.enqueue_fill_buffer(queue, found.handle, place, len(pattern), offset, nbytes, 0, None, None),
            "clEnqueueFillBuffer",
        )
