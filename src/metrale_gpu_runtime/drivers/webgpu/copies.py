"""Copies and fills, in the order of their stream.

Towards the device the bytes are taken at once: wgpu keeps them until the next submission. Towards the host they go
through a buffer that can be mapped, and are handed over when the submission is known to be done, before anybody
is told that the stream is. WebGPU's own commands take multiples of 4 bytes, and copy between two buffers only: what
lies otherwise is done by kernels of the driver's own, and what lies in one buffer goes through another.

Source: GPUQueue.writeBuffer, GPUCommandEncoder.copyBufferToBuffer and clearBuffer (WebGPU).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...handles import StreamHandle
from ...host_address import address_of
from .copy_kernels import CopyKernels, Rows
from .device import Device
from .memory import WORD, Allocation, Memory
from .readback import Delivery, Readbacks
from .streams import WebgpuStream

_FEW_ROWS = 4
"""So many rows are copied by commands of a row each; for more, one kernel takes fewer calls."""


class Copies:
    """The copies and fills of one device."""

    def __init__(
        self,
        device: Device,
        memory: Memory,
        readbacks: Readbacks,
        kernels: CopyKernels,
        streams: Mapping[StreamHandle, WebgpuStream],
    ) -> None:
        self._device, self._memory, self._readbacks = device, memory, readbacks
        self._kernels, self._streams = kernels, streams
        # What a kernel reaches in one binding, from wherever that begins.
        limit = min(int(device.limits.maxStorageBufferBindingSize), 1 << 31)
        self._most = limit - 2 * max(int(device.limits.minStorageBufferOffsetAlignment), 256)

    # ------------------------------------------------ between host and device

    def to_device(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        """The bytes are taken before this returns."""
        nbytes = src.nbytes
        allocation, offset = self._memory.find(dst, nbytes, "copy_h2d")
        queue = self._streams[stream]
        begin = address_of(src)
        queue.await_writes(begin, begin + nbytes)
        bulk = nbytes // WORD * WORD if offset % WORD == 0 else 0
        rest = nbytes - bulk
        aside = self._memory.alloc(rest) if rest else 0
        try:
            with queue.lock:
                # Behind what was recorded before.
                queue.submit()
                if bulk:
                    self._write(queue, allocation, offset, src, bulk)
                if rest:
                    kept, _ = self._memory.find(aside)
                    self._write(queue, kept, 0, bytes(src[bulk:]).ljust(kept.length, b"\0"), kept.length)
                    self._rows(dst + bulk, rest, aside, rest, rest, 1, stream)
        finally:
            if rest:
                self._memory.free(aside)

    def to_host(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        """`dst` is written when the copy is known to be done."""
        nbytes = dst.nbytes
        allocation, offset = self._memory.find(src, nbytes, "copy_d2h")
        begin = offset // WORD * WORD
        length = -(-(offset + nbytes) // WORD) * WORD - begin
        native, room = self._readbacks.take(length)
        delivery = Delivery(self._device, self._readbacks, native, room, length, offset - begin, dst)
        queue = self._streams[stream]
        with queue.lock:
            try:
                encoder = queue.open_encoder()
            except BaseException:
                delivery.discard()
                raise
            self._device.bindings.lib.wgpuCommandEncoderCopyBufferToBuffer(
                encoder, allocation.native, begin, native, 0, length
            )
            queue.deliver(delivery)
            queue.recorded()

    def _write(self, queue: WebgpuStream, allocation: Allocation, offset: int, data: object, nbytes: int) -> None:
        bindings = self._device.bindings
        self._device.check_alive()
        place = bindings.ffi.from_buffer(data)
        bindings.lib.wgpuQueueWriteBuffer(self._device.queue, allocation.native, offset, place, nbytes)
        queue.wrote()
        self._device.check("wgpuQueueWriteBuffer")

    # ------------------------------------------------ on the device

    def on_device(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        """The ranges do not overlap."""
        self.rows_on_device(dst, nbytes, src, nbytes, nbytes, 1, stream)

    def rows_on_device(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        source, source_at = self._memory.find(src, (height - 1) * src_pitch + width, "copy_d2d")
        target, _ = self._memory.find(dst, (height - 1) * dst_pitch + width, "copy_d2d")
        if source is not target:
            self._between(dst, dst_pitch, src, src_pitch, width, height, stream)
            return
        begin = source_at // WORD * WORD
        length = -(-(source_at + (height - 1) * src_pitch + width) // WORD) * WORD - begin
        aside = self._memory.alloc(length)
        try:
            kept, _ = self._memory.find(aside)
            self._command(kept, 0, source, begin, length, stream)
            self._between(dst, dst_pitch, aside + source_at - begin, src_pitch, width, height, stream)
        finally:
            self._memory.free(aside)

    def fill(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        """`value` has `width` bytes, 1, 2 or 4."""
        nbytes = width * count
        allocation, offset = self._memory.find(dst, nbytes, "memset")
        if value == 0 and offset % WORD == 0 and nbytes % WORD == 0:
            queue = self._streams[stream]
            with queue.lock:
                self._device.bindings.lib.wgpuCommandEncoderClearBuffer(
                    queue.open_encoder(), allocation.native, offset, nbytes
                )
                queue.recorded()
            return
        pattern = int.from_bytes(value.to_bytes(width, "little") * (4 // width), "little")
        step = self._most // WORD * WORD
        for done in range(0, nbytes, step):
            self._kernels.fill(dst + done, allocation.base, min(step, nbytes - done), pattern, stream)

    # ------------------------------------------------ inside

    def _between(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        """Rows from one buffer to another."""
        source, source_at = self._memory.find(src)
        target, target_at = self._memory.find(dst)
        is_even = not any(each % WORD for each in (source_at, target_at, width))
        if height > 1:
            is_even = is_even and dst_pitch % WORD == 0 and src_pitch % WORD == 0 and height <= _FEW_ROWS
        if is_even:
            for row in range(height):
                self._command(target, target_at + row * dst_pitch, source, source_at + row * src_pitch, width, stream)
        elif height == 1 and source_at % WORD == 0 and target_at % WORD == 0 and width > WORD:
            bulk = width // WORD * WORD
            self._command(target, target_at, source, source_at, bulk, stream)
            self._rows(dst + bulk, 1, src + bulk, 1, width - bulk, 1, stream)
        else:
            self._rows(dst, dst_pitch, src, src_pitch, width, height, stream)

    def _command(
        self, target: Allocation, target_at: int, source: Allocation, source_at: int, nbytes: int, stream: StreamHandle
    ) -> None:
        queue = self._streams[stream]
        with queue.lock:
            self._device.bindings.lib.wgpuCommandEncoderCopyBufferToBuffer(
                queue.open_encoder(), source.native, source_at, target.native, target_at, nbytes
            )
            queue.recorded()

    def _rows(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        """By the kernel, in parts that one binding reaches."""
        longest = max(dst_pitch, src_pitch, 1)
        if height > 1 and height * longest > self._most:
            step = max(1, self._most // longest)
            for row in range(0, height, step):
                count = min(step, height - row)
                self._rows(dst + row * dst_pitch, dst_pitch, src + row * src_pitch, src_pitch, width, count, stream)
            return
        target, _ = self._memory.find(dst)
        source, _ = self._memory.find(src)
        step = self._most // WORD * WORD
        for done in range(0, width, step):
            part = min(step, width - done)
            self._kernels.copy_rows(
                Rows(dst + done, dst_pitch if height > 1 else part),
                target.base,
                Rows(src + done, src_pitch if height > 1 else part),
                source.base,
                part,
                height,
                stream,
            )
