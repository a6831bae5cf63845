"""The messages of a launch on Metal, sent by hand through PyObjC with everything ready: what no form goes below.

A call encodes `LAUNCHES` launches into one command buffer and commits it, as a program does that knows them all
beforehand: an encoder for each launch, no label, no check, one autorelease pool for all.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import Any

from metrale_gpu_runtime.drivers.metal.bindings import load_bindings
from metrale_gpu_runtime.drivers.metal.devices import usable_devices

LAUNCHES = 64
_MOST_IN_FLIGHT = 16


class BareLaunches:
    """Launches of one kernel with a buffer and then u32 values, `count` arguments in all, on a queue of its own."""

    def __init__(self, device_index: int, source: str, kernel: str, count: int) -> None:
        bindings = load_bindings()
        self._pool = bindings.pool
        with bindings.pool():
            device = usable_devices(bindings)[device_index]
            library, error = device.newLibraryWithSource_options_error_(source, None, None)
            if library is None:
                raise RuntimeError(f"{kernel} cannot be compiled: {error.localizedDescription()}")
            descriptor = bindings.metal.MTLComputePipelineDescriptor.alloc().init()
            descriptor.setComputeFunction_(library.newFunctionWithName_(kernel))
            self._state, _, error = device.newComputePipelineStateWithDescriptor_options_reflection_error_(
                descriptor, 0, None, None
            )
            if self._state is None:
                raise RuntimeError(f"{kernel} cannot run: {error.localizedDescription()}")
            self._queue = device.newCommandQueue()
            self._buffer = device.newBufferWithLength_options_(256, bindings.metal.MTLResourceStorageModeShared)
        self._has_buffer = count > 0
        self._values = [(struct.pack("<I", 7 + at), at) for at in range(1, count)]
        self._in_flight: deque[Any] = deque()

    def __call__(self) -> None:
        state, buffer, values = self._state, self._buffer, self._values
        with self._pool():
            commands = self._queue.commandBuffer()
            for _ in range(LAUNCHES):
                encoder = commands.computeCommandEncoder()
                encoder.setComputePipelineState_(state)
                if self._has_buffer:
                    encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
                for value, index in values:
                    encoder.setBytes_length_atIndex_(value, 4, index)
                encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (32, 1, 1))
                encoder.endEncoding()
            commands.commit()
        self._in_flight.append(commands)
        if len(self._in_flight) > _MOST_IN_FLIGHT:
            self._in_flight.popleft().waitUntilCompleted()

    def finish(self) -> None:
        """Wait for everything."""
        while self._in_flight:
            self._in_flight.popleft().waitUntilCompleted()
