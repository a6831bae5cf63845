"""Copies and fills, in the order of their stream.

While a stream has nothing to do, the host copies to and from shared memory itself. Else, and for private memory always,
the bytes go through a staging buffer: towards the device they are taken at once; from the device they are handed over
when the command buffer is known to be done, before anybody is told that the stream is. Pinned memory is the exception:
kernels of the same stream may read and write it, so the GPU copies from and to it itself, when the copy's turn comes.
Other host memory is written by copies alone: one towards the device waits for those that have yet to write its source.

Source: MTLBlitCommandEncoder copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:, fillBuffer:range:value:.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ...handles import StreamHandle
from ...host_address import address_of
from .command_buffers import CommandBuffer
from .copy_kernels import MOST_THREADS, CopyKernels, encode_fill, encode_rows
from .memory import Memory
from .streams import MetalStream
from .temporaries import Temporaries

BLIT_ALIGN = 4
"""Offsets and sizes of blits are multiples of this on macOS."""

_FEW_ROWS = 4
"""So many rows are copied by blits of a row each; for more, one kernel takes fewer messages."""

_LARGEST_BLIT_FILL = 0x7F
"""The bindings declare the byte to fill with as a signed one in their metadata (type `z`) and Metal as an unsigned one;
up to here both readings are the same."""

_Place = tuple[Any, int]


class Copies:
    """The copies and fills of one device."""

    def __init__(
        self,
        memory: Memory,
        temporaries: Temporaries,
        kernels: CopyKernels,
        stream_of: Callable[[StreamHandle], MetalStream],
    ) -> None:
        self._memory, self._temporaries, self._kernels = memory, temporaries, kernels
        self._stream_of = stream_of
        self._lock = threading.Lock()
        # What is still to be written of the host's memory: first address, end, by which command buffer of which stream.
        # Whoever has work left keeps them himself.
        self._expected: list[tuple[int, int, weakref.ref[CommandBuffer], weakref.ref[MetalStream]]] = []

    # ------------------------------------------------ between host and device

    def to_device(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        """The bytes are taken before this returns, from pinned memory in the order of the stream."""
        nbytes = src.nbytes
        allocation, offset = self._memory.find(dst, nbytes, "copy_h2d")
        queue = self._stream_of(stream)
        if allocation.host:
            with queue.at_once() as is_idle:
                if is_idle:
                    ctypes.memmove(allocation.host + offset, address_of(src), nbytes)
                    return
        pinned = self._memory.find_pinned(address_of(src), nbytes)
        if pinned is not None:
            self._queue(queue, pinned, (allocation.native, offset), nbytes, "copy_h2d")
            return
        self._await_writes(address_of(src), nbytes)
        staging = self._temporaries.take(nbytes)
        is_queued = False
        try:
            ctypes.memmove(staging.host, address_of(src), nbytes)
            target = (allocation.native, offset)
            is_queued = self._queue(queue, (staging.native, 0), target, nbytes, "copy_h2d", staging=staging)
        finally:
            if not is_queued:
                staging.give_back()

    def to_host(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        """`dst` is written at once, or when the command buffer is settled; pinned memory in the order of the stream."""
        nbytes = dst.nbytes
        allocation, offset = self._memory.find(src, nbytes, "copy_d2h")
        queue = self._stream_of(stream)
        if allocation.host:
            with queue.at_once() as is_idle:
                if is_idle:
                    ctypes.memmove(address_of(dst), allocation.host + offset, nbytes)
                    return
        pinned = self._memory.find_pinned(address_of(dst), nbytes)
        if pinned is not None:
            self._queue(queue, (allocation.native, offset), pinned, nbytes, "copy_d2h")
            return
        # Whole words around what is wanted: buffers are never shorter than that.
        first = offset // BLIT_ALIGN * BLIT_ALIGN
        length = -(-(offset + nbytes) // BLIT_ALIGN) * BLIT_ALIGN - first
        staging = self._temporaries.take(length)
        is_queued = False
        try:
            with queue.encoding("blit", f"copy_d2h of {nbytes} bytes") as (opened, encoder):
                _blit(encoder, (allocation.native, first), (staging.native, 0), length)
                opened.temporaries.append(staging)
                opened.deliver(staging, offset - first, dst)
                self._expect_write(address_of(dst), nbytes, opened, queue)
                is_queued = True
        finally:
            if not is_queued:
                staging.give_back()

    # ------------------------------------------------ on the device

    def on_device(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        source, target = self._place(src, nbytes, "copy_d2d: src"), self._place(dst, nbytes, "copy_d2d: dst")
        self._queue(self._stream_of(stream), source, target, nbytes, "copy_d2d")

    def rows_on_device(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        if height == 1 or dst_pitch == src_pitch == width:
            self.on_device(dst, src, width * height, stream)
            return
        label = f"copy_d2d_2d of {height} rows of {width} bytes"
        source = self._place(src, (height - 1) * src_pitch + width, "copy_d2d_2d: src")
        target = self._place(dst, (height - 1) * dst_pitch + width, "copy_d2d_2d: dst")
        queue = self._stream_of(stream)
        in_words = _is_aligned(source[1], target[1], width, src_pitch, dst_pitch)
        if in_words and height <= _FEW_ROWS:
            with queue.encoding("blit", label) as (_, encoder):
                for row in range(height):
                    _blit(encoder, _moved(source, row * src_pitch), _moved(target, row * dst_pitch), width)
            return
        size = BLIT_ALIGN if in_words else 1
        pipeline = self._kernels.copying(in_words=in_words)
        pitches = (src_pitch // size, dst_pitch // size)
        with queue.encoding("compute", label) as (_, encoder):
            for row in range(0, height, MOST_THREADS):
                for column in range(0, width // size, MOST_THREADS):
                    encode_rows(
                        encoder,
                        pipeline,
                        _moved(source, row * src_pitch + column * size),
                        _moved(target, row * dst_pitch + column * size),
                        pitches,
                        min(MOST_THREADS, width // size - column),
                        min(MOST_THREADS, height - row),
                    )

    def fill(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        nbytes = width * count
        target = self._place(dst, nbytes, "memset")
        queue = self._stream_of(stream)
        label = f"memset of {nbytes} bytes"
        byte = value & 0xFF
        is_one_byte = value == int.from_bytes(bytes([byte]) * width, "little")
        if is_one_byte and byte <= _LARGEST_BLIT_FILL and _is_aligned(target[1], nbytes):
            with queue.encoding("blit", label) as (_, encoder):
                encoder.fillBuffer_range_value_(target[0], (target[1], nbytes), byte)
            return
        if width < BLIT_ALIGN and _is_aligned(target[1], nbytes):
            # Fewer and wider writes of the same bytes.
            value = int.from_bytes(value.to_bytes(width, "little") * (BLIT_ALIGN // width), "little")
            width, count = BLIT_ALIGN, nbytes // BLIT_ALIGN
        pipeline = self._kernels.filling(width)
        with queue.encoding("compute", label) as (_, encoder):
            for first in range(0, count, MOST_THREADS):
                encode_fill(encoder, pipeline, _moved(target, first * width), value, min(MOST_THREADS, count - first))

    # ------------------------------------------------ inside

    def _expect_write(self, host: int, nbytes: int, buffer: CommandBuffer, stream: MetalStream) -> None:
        with self._lock:
            self._expected = [each for each in self._expected if not _is_over(each[2])]
            self._expected.append((host, host + nbytes, weakref.ref(buffer), weakref.ref(stream)))

    def _await_writes(self, host: int, nbytes: int) -> None:
        """Wait for the copies that have yet to write these bytes of the host's: a replay may read back and copy on."""
        with self._lock:
            found = [each for each in self._expected if each[0] < host + nbytes and host < each[1]]
        for _, _, written, queued in found:
            buffer, stream = written(), queued()
            if buffer is not None and stream is not None:
                stream.await_buffer(buffer)

    def _place(self, address: int, nbytes: int, what: str) -> _Place:
        allocation, offset = self._memory.find(address, nbytes, what)
        return allocation.native, offset

    def _queue(
        self,
        queue: MetalStream,
        source: _Place,
        target: _Place,
        nbytes: int,
        call: str,
        *,
        staging: Any = None,
    ) -> bool:
        """One copy, by a blit where that can do it, else by a kernel. True: it is queued, with its staging buffer."""
        is_blit = _is_aligned(source[1], target[1], nbytes)
        pipeline = None if is_blit else self._kernels.copying(in_words=False)
        with queue.encoding("blit" if is_blit else "compute", f"{call} of {nbytes} bytes") as (opened, encoder):
            if pipeline is None:
                _blit(encoder, source, target, nbytes)
            else:
                for first in range(0, nbytes, MOST_THREADS):
                    columns = min(MOST_THREADS, nbytes - first)
                    encode_rows(
                        encoder, pipeline, _moved(source, first), _moved(target, first), (columns, columns), columns, 1
                    )
            if staging is not None:
                opened.temporaries.append(staging)
        return True


def _is_over(written: weakref.ref[CommandBuffer]) -> bool:
    buffer = written()
    return buffer is None or buffer.is_over


def _blit(encoder: Any, source: _Place, target: _Place, nbytes: int) -> None:
    encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(*source, *target, nbytes)


def _moved(place: _Place, nbytes: int) -> _Place:
    return place[0], place[1] + nbytes


def _is_aligned(*numbers: int) -> bool:
    return not any(number % BLIT_ALIGN for number in numbers)
