"""Reading device memory: a copy into a buffer that the host can map, and the mapping, which wgpu tells by a callback.

Source: GPUBuffer.mapAsync, GPUQueue.onSubmittedWorkDone (WebGPU).
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any

from ...errors import DriverFault
from ...host_address import address_of
from .bindings import Bindings, call_and_keep, make_callback
from .device import Device
from .memory import make_buffer

MAX_KEPT_NBYTES = 1 << 26
"""Buffers for reading that are kept while nobody reads."""

SMALLEST_NBYTES = 1 << 12

_waiting: dict[int, threading.Event] = {}
_statuses: dict[int, int] = {}
_numbers = itertools.count(1)


class _Callbacks:
    """The C functions that wgpu calls, made once; `userdata1` is the number of an event."""

    def __init__(self, bindings: Bindings) -> None:
        ffi = bindings.ffi

        def on_mapped(status: int, _message: Any, number: Any, _other: Any) -> None:
            key = int(ffi.cast("uintptr_t", number))
            event = _waiting.get(key)
            if event is not None:
                _statuses[key] = status
                event.set()
                _waiting.pop(key, None)

        def on_work_done(_status: int, _message: Any, number: Any, _other: Any) -> None:
            key = int(ffi.cast("uintptr_t", number))
            event = _waiting.get(key)
            if event is not None:
                event.set()
                _waiting.pop(key, None)

        self.mapped = make_callback(ffi, "WGPUBufferMapCallback", on_mapped)
        self.work_done = make_callback(ffi, "WGPUQueueWorkDoneCallback", on_work_done)


_callbacks: list[_Callbacks] = []


class Readbacks:
    """Buffers of one device that the host can map, by size. Safe to use from several threads."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._lock = threading.Lock()
        self._free: dict[int, list[Any]] = {}
        self._kept_nbytes = 0
        lib = device.bindings.lib
        self._usage = lib.WGPUBufferUsage_MapRead | lib.WGPUBufferUsage_CopyDst
        if not _callbacks:
            _callbacks.append(_Callbacks(device.bindings))

    def take(self, nbytes: int) -> tuple[Any, int]:
        """(buffer, length), at least so long. Raises OutOfDeviceMemory."""
        length = max(SMALLEST_NBYTES, 1 << (nbytes - 1).bit_length())
        with self._lock:
            free = self._free.get(length)
            if free:
                self._kept_nbytes -= length
                return free.pop(), length
        length = min(length, max(int(self._device.limits.maxBufferSize) // 4 * 4, nbytes))
        return make_buffer(self._device, length, self._usage, nbytes), length

    def give_back(self, native: Any, length: int) -> None:
        """Keep a buffer that is not mapped for the next reader, or let it go."""
        with self._lock:
            if self._kept_nbytes + length <= MAX_KEPT_NBYTES:
                self._kept_nbytes += length
                self._free.setdefault(length, []).append(native)
                return
        self._device.bindings.lib.wgpuBufferRelease(native)

    def drain(self) -> None:
        """Let go of all that nobody uses."""
        with self._lock:
            free, self._free, self._kept_nbytes = self._free, {}, 0
        for natives in free.values():
            for native in natives:
                self._device.bindings.lib.wgpuBufferRelease(native)

    def map(self, native: Any, nbytes: int, number: int, asked: list[Any]) -> None:
        """Ask for a mapping of a buffer's first bytes, of which the event `number` will tell; `asked` is not empty once
        it was asked for, which wgpu takes only once."""
        bindings = self._device.bindings
        info = bindings.ffi.new("WGPUBufferMapCallbackInfo *")
        info.mode = bindings.lib.WGPUCallbackMode_AllowSpontaneous
        info.callback, info.userdata1 = _callbacks[0].mapped, bindings.ffi.cast("void *", number)
        call_and_keep(asked, bindings.lib.wgpuBufferMapAsync, native, bindings.lib.WGPUMapMode_Read, 0, nbytes, info[0])
        self._device.check("wgpuBufferMapAsync")

    def work_done(self) -> threading.Event:
        """An event that is set, at some poll, when all that is submitted now is done."""
        bindings = self._device.bindings
        number, event = _new_event()
        info = bindings.ffi.new("WGPUQueueWorkDoneCallbackInfo *")
        info.mode = bindings.lib.WGPUCallbackMode_AllowSpontaneous
        info.callback, info.userdata1 = _callbacks[0].work_done, bindings.ffi.cast("void *", number)
        bindings.lib.wgpuQueueOnSubmittedWorkDone(self._device.queue, info[0])
        return event


def _new_event() -> tuple[int, threading.Event]:
    number, event = next(_numbers), threading.Event()
    _waiting[number] = event
    return number, event


class Delivery:
    """Bytes on their way to the host: copied to a buffer of `Readbacks`, from `offset` on, and then to `target`.

    `nbytes` of the buffer are mapped. `index` is the submission that copies, 0 before there is one.
    """

    __slots__ = (
        "_asked",
        "_device",
        "_length",
        "_mapped",
        "_native",
        "_nbytes",
        "_offset",
        "_readbacks",
        "_target",
        "index",
        "is_over",
    )

    def __init__(
        self,
        device: Device,
        readbacks: Readbacks,
        native: Any,
        length: int,
        nbytes: int,
        offset: int,
        target: memoryview,
    ) -> None:
        self._device, self._readbacks, self._native, self._length = device, readbacks, native, length
        self._nbytes, self._offset, self._target = nbytes, offset, target
        # The number and the event of the mapping, and what asking for it returned.
        self._mapped: tuple[int, threading.Event] | None = None
        self._asked: list[Any] = []
        self.index = 0
        self.is_over = False

    def overlaps(self, begin: int, end: int) -> bool:
        """Whether it has yet to write any of these addresses of the host's."""
        start = address_of(self._target)
        return not self.is_over and start < end and begin < start + self._target.nbytes

    def submitted(self, index: int) -> None:
        """The copy is on its way."""
        if self.index == 0:
            self.index = index

    def complete(self) -> None:
        """Copy to the host; the submission is over. Raises DriverFault when the buffer cannot be mapped."""
        if self._mapped is None:
            self._mapped = _new_event()
        number, mapped = self._mapped
        if not self._asked:
            self._readbacks.map(self._native, self._nbytes, number, self._asked)
        while not mapped.is_set():
            # Done is what it waits for: this is a look at the queue, which tells of mappings.
            self._device.wait(self.index)
            if not mapped.is_set():
                mapped.wait(0.0005)
                self._device.check_alive()
        lib, ffi = self._device.bindings.lib, self._device.bindings.ffi
        # Asking for the bytes of a buffer that went with its device would end the process.
        self._device.probe()
        status = _statuses[number]
        if status != lib.WGPUMapAsyncStatus_Success:
            self._is_told()
            lib.wgpuBufferRelease(self._native)
            self._device.check_alive()
            raise DriverFault(
                "MapAsync", f"{self._device.name}: a buffer that was read cannot be mapped (status {status})"
            )
        source = lib.wgpuBufferGetConstMappedRange(self._native, 0, self._nbytes)
        ctypes.memmove(address_of(self._target), int(ffi.cast("uintptr_t", source)) + self._offset, self._target.nbytes)
        self._is_told()
        lib.wgpuBufferUnmap(self._native)
        self._readbacks.give_back(self._native, self._length)

    def _is_told(self) -> None:
        self.is_over = True
        if self._mapped is not None:
            _statuses.pop(self._mapped[0], None)

    def discard(self) -> None:
        """Nothing will be copied, or nobody waits for it any more."""
        if not self.is_over:
            self._is_told()
            if self._mapped is not None:
                _waiting.pop(self._mapped[0], None)
            self._device.bindings.lib.wgpuBufferRelease(self._native)
