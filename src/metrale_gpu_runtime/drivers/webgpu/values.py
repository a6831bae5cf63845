"""The values of launches: uniforms in a buffer of each stream's own.

A launch's uniforms are written once, behind those before; the same bytes are not written again, but bound where they
lie. When the end of the buffer is reached, what was collected is submitted and writing begins anew: the queue keeps a
later write behind the work that reads what was there.

Source: GPUQueue.writeBuffer (WebGPU), "minUniformBufferOffsetAlignment" of GPUSupportedLimits.
"""

from __future__ import annotations

import itertools
from typing import Any

from .bind_groups import BindGroups, Key
from .device import Device
from .memory import make_buffer

NBYTES = 1 << 17

_numbers = itertools.count(1)


class Values:
    """One buffer of values, used under its stream's lock. `number` stands for it in the keys of bind groups."""

    def __init__(self, device: Device, groups: BindGroups, nbytes: int) -> None:
        self._device, self._groups = device, groups
        lib = device.bindings.lib
        self.nbytes = nbytes
        self.native = make_buffer(device, nbytes, lib.WGPUBufferUsage_Uniform | lib.WGPUBufferUsage_CopyDst)
        self.number = -next(_numbers)  # no address is negative
        self.users: set[tuple[int, Key]] = set()
        self.places: dict[bytes, int] = {}
        self._bytes = bytearray(nbytes)
        self._view: Any = device.bindings.ffi.from_buffer(self._bytes)
        self._end = self._written = 0

    def add(self, data: bytes) -> int | None:
        """Where these bytes lie now; None where there is no room: submit what was collected, and `restart`."""
        place = self._end
        end = place + len(data)
        if end > self.nbytes:
            return None
        self._bytes[place:end] = data
        self._end = end
        self.places[data] = place
        return place

    def restart(self) -> None:
        """Begin anew: nothing that is not submitted uses what was there."""
        self.places.clear()
        self._end = self._written = 0

    def write(self) -> None:
        """Hand what was added to the queue, in front of what is submitted next."""
        begin, end = self._written, self._end
        if begin < end:
            self._device.bindings.lib.wgpuQueueWriteBuffer(
                self._device.queue, self.native, begin, self._view + begin, end - begin
            )
            # Behind the call: written twice, after an interrupt, is no harm, and not written is.
            self._written = end

    def release(self) -> None:
        """Give the buffer up, and the groups that name it."""
        self._groups.forget(self)
        self._device.bindings.lib.wgpuBufferRelease(self.native)
