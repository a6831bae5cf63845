"""Events: the last submission of a stream when the event was recorded, and a timestamp that the GPU writes there.

Source: GPUQueue.onSubmittedWorkDone, GPUQuerySet (WebGPU), wgpuCommandEncoderWriteTimestamp (webgpu.h).
"""

from __future__ import annotations

import itertools
import struct
import threading
from dataclasses import dataclass
from typing import Any

from ...errors import DriverFault, NotSupported
from ...handles import EventHandle
from .device import Device
from .memory import make_buffer
from .readback import Delivery, Readbacks
from .streams import Mark, WebgpuStream

SET_COUNT = 64
"""Timestamps in one query set."""

RESOLVE_ALIGN = 256
"""Where timestamps are resolved to is a multiple of this."""


@dataclass(slots=True)
class _Event:
    timing: bool
    mark: Mark | None = None
    # Where the GPU writes the last recording's time: (query set, number in it), and what it wrote once that was read.
    place: tuple[Any, int] | None = None
    ticks: int | None = None


class Events:
    """The events of one device."""

    def __init__(self, device: Device, readbacks: Readbacks, *, has_timing: bool) -> None:
        self._device, self._readbacks, self._has_timing = device, readbacks, has_timing
        self._handles = itertools.count(1)
        self._events: dict[EventHandle, _Event] = {}
        self._lock = threading.Lock()
        self._sets: list[Any] = []
        self._free: list[tuple[Any, int]] = []
        self._resolved: Any = None

    def create(self, timing: bool) -> EventHandle:
        handle = EventHandle(next(self._handles))
        self._events[handle] = _Event(timing and self._has_timing)
        return handle

    def destroy(self, event: EventHandle) -> None:
        gone = self._events.pop(event, None)
        if gone is not None and gone.place is not None:
            with self._lock:
                self._free.append(gone.place)

    def record(self, event: EventHandle, stream: WebgpuStream) -> None:
        """Raises DriverFault when the stream's work is refused."""
        recorded = self._events[event]
        if recorded.timing:
            if recorded.place is None:
                recorded.place = self._take()
            recorded.ticks = None
            queries, number = recorded.place
            with stream.lock:
                self._device.bindings.lib.wgpuCommandEncoderWriteTimestamp(stream.open_encoder(), queries, number)
                stream.noted()
        recorded.mark = stream.mark()

    def mark(self, event: EventHandle) -> Mark:
        """Its last recording."""
        mark = self._events[event].mark
        assert mark is not None
        return mark

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        """Milliseconds between two that were reached. Raises NotSupported for one that was made without timing."""
        events = [self._events[each] for each in (start, end)]
        for handle, event in zip((start, end), events, strict=True):
            if not event.timing:
                raise NotSupported(
                    f"webgpu: event {handle} has no time: {self._device.name} has no timestamps in command encoders"
                    if not self._has_timing
                    else f"webgpu: event {handle} was created without timing",
                    backend="webgpu",
                    feature="event timing",
                )
        for event in events:
            if event.ticks is None:
                event.ticks = self._read(event)
        begun, ended = (event.ticks for event in events)
        assert begun is not None
        assert ended is not None
        period_ns = float(self._device.bindings.lib.wgpuQueueGetTimestampPeriod(self._device.queue))
        return (ended - begun) * period_ns * 1e-6

    def clear(self) -> None:
        """Let go of all."""
        lib = self._device.bindings.lib
        self._events.clear()
        with self._lock:
            self._free.clear()
            sets, self._sets = self._sets, []
            resolved, self._resolved = self._resolved, None
        for queries in sets:
            lib.wgpuQuerySetRelease(queries)
        if resolved is not None:
            lib.wgpuBufferRelease(resolved)

    # ------------------------------------------------ inside

    def _take(self) -> tuple[Any, int]:
        with self._lock:
            if not self._free:
                queries = self._make_set()
                self._sets.append(queries)
                self._free = [(queries, number) for number in reversed(range(SET_COUNT))]
            return self._free.pop()

    def _make_set(self) -> Any:
        bindings = self._device.bindings
        descriptor = bindings.ffi.new("WGPUQuerySetDescriptor *")
        descriptor.type, descriptor.count = bindings.lib.WGPUQueryType_Timestamp, SET_COUNT
        queries = bindings.lib.wgpuDeviceCreateQuerySet(self._device.native, descriptor)
        self._device.check("wgpuDeviceCreateQuerySet")
        return queries

    def _read(self, event: _Event) -> int:
        """The timestamp of its last recording, which was reached."""
        assert event.place is not None
        assert event.mark is not None
        lib, stream = self._device.bindings.lib, event.mark.stream
        with self._lock:
            if self._resolved is None:
                self._resolved = make_buffer(
                    self._device, RESOLVE_ALIGN, lib.WGPUBufferUsage_QueryResolve | lib.WGPUBufferUsage_CopySrc
                )
            data = bytearray(8)
            native, room = self._readbacks.take(8)
            delivery = Delivery(self._device, self._readbacks, native, room, 8, 0, memoryview(data))
            with stream.lock:
                encoder = stream.open_encoder()
                lib.wgpuCommandEncoderResolveQuerySet(encoder, *event.place, 1, self._resolved, 0)
                lib.wgpuCommandEncoderCopyBufferToBuffer(encoder, self._resolved, 0, native, 0, 8)
                stream.deliver(delivery)
                stream.noted()
                mark = stream.mark()
            stream.reach(mark)
        (ticks,) = struct.unpack("<Q", data)
        if ticks == 0:
            raise DriverFault("Timestamp", f"{self._device.name} wrote no time for an event that was reached")
        return int(ticks)
