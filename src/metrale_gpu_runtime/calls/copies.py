"""Copies and fills. Copies take `(src, dst)`; the forms without `_async` are complete when they return."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from ..errors import ArgumentKindError, GpuWarning, InvalidPointer, KernelFault
from ..exchange import ForeignArray, host_view, read_foreign
from ..handles import StreamHandle
from ..lane import Lane
from ..memory.pointers import PointerValue, check_extent
from ..whole_numbers import is_bool, is_index
from .memory import read_nbytes
from .queueing import QueueingCalls

if TYPE_CHECKING:
    from ..stream import Stream


class CopyCalls(QueueingCalls):
    """The part of GpuBackend that moves bytes."""

    def copy_h2d(self, src: object, dst: object) -> None:
        """Copy a host array to the device; done on return. The host array gives the length.

        It runs on the default stream, after everything queued on any stream that names the memory. Raises
        InvalidPointer when the bytes do not fit behind `dst`, CaptureError inside a capture.
        """
        self._copy_h2d(src, dst, self._default_lane, "copy_h2d", waits=True)

    def copy_h2d_async(self, src: object, dst: object, stream: Stream | int | None = None) -> None:
        """Queue a copy to the device. The bytes are taken before this returns: the source may be used again."""
        self._copy_h2d(src, dst, self.resolve_stream(stream)._lane, "copy_h2d_async", staged=True)

    def copy_h2d_async_retained(self, src: object, dst: object, stream: Stream | int | None = None) -> None:
        """Queue a copy to the device without staging. The source is kept alive until the copy is done; its bytes must
        not change before then. Under debug sync a change is noticed and a GpuWarning given.
        """
        self._copy_h2d(src, dst, self.resolve_stream(stream)._lane, "copy_h2d_async_retained")

    def copy_d2h(self, src: object, dst: object) -> None:
        """Copy from the device into a writable host array; done on return. The host array gives the length.

        Ordered as `copy_h2d`. Raises KernelFault when the launch that should have written the memory did not run.
        """
        self._copy_d2h(src, dst, self._default_lane, "copy_d2h", waits=True)

    def copy_d2h_on_stream(self, src: object, dst: object, stream: Stream | int | None = None) -> None:
        """As `copy_d2h`, ordered after the work of one stream only; done on return."""
        self._copy_d2h(src, dst, self.resolve_stream(stream)._lane, "copy_d2h_on_stream", waits=True, only_own=True)

    def copy_d2h_async(self, src: object, dst: object, stream: Stream | int | None = None) -> None:
        """Queue a copy into a writable host array, which is kept alive until the stream has passed."""
        self._copy_d2h(src, dst, self.resolve_stream(stream)._lane, "copy_d2h_async")

    def copy_d2d(self, src: object, dst: object, nbytes: int | None = None) -> None:
        """Copy on the device; done on return. `nbytes` may be left out between buffers of one size.

        Raises InvalidPointer when a range runs past its allocation, or both overlap.
        """
        self._copy_d2d(src, dst, nbytes, self._default_lane, "copy_d2d", waits=True)

    def copy_d2d_async(
        self, src: object, dst: object, nbytes: int | None = None, stream: Stream | int | None = None
    ) -> None:
        """Queue a copy on the device."""
        self._copy_d2d(src, dst, nbytes, self.resolve_stream(stream)._lane, "copy_d2d_async")

    def copy_d2d_2d_async(
        self,
        src: object,
        src_pitch: int,
        dst: object,
        dst_pitch: int,
        width: int,
        height: int,
        stream: Stream | int | None = None,
    ) -> None:
        """Queue a copy of `height` rows of `width` bytes; a pitch is the distance of two rows in bytes.

        Raises ValueError when a row is wider than a pitch, InvalidPointer when the last row runs past an allocation.
        """
        call = "copy_d2d_2d_async"
        lane = self.resolve_stream(stream)._lane
        width, height = read_nbytes(width, f"{call}: width"), read_nbytes(height, f"{call}: height")
        pitches = read_nbytes(src_pitch, f"{call}: src_pitch"), read_nbytes(dst_pitch, f"{call}: dst_pitch")
        for side, pitch in zip(("src", "dst"), pitches, strict=True):
            if width > pitch and height > 1:
                raise ValueError(f"{call}: a row of {width} bytes is wider than {side}_pitch, {pitch} bytes")
        source = self._range(src, 0, f"{call}: src")
        target = self._range(dst, 0, f"{call}: dst", is_written=True)
        if not (width and height):
            return
        if height == 1:
            pitches = max(pitches[0], width), max(pitches[1], width)
        extents = tuple((height - 1) * pitch + width for pitch in pitches)
        check_extent(source, extents[0], f"{call}: src")
        check_extent(target, extents[1], f"{call}: dst")
        if source.address < target.address + extents[1] and target.address < source.address + extents[0]:
            raise _overlap(call, source, target, max(extents))

        def queue(handle: StreamHandle) -> None:
            self._driver.copy_d2d_2d(target.address, pitches[1], source.address, pitches[0], width, height, handle)

        self._queue(
            lane,
            queue,
            (source, target),
            lambda: f"{call} of {height} rows of {width} bytes",
            kind=call,
            nbytes=width * height,
        )

    def memset(self, dst: object, value: int, nbytes: int | None = None, *, width: int = 1) -> None:
        """Fill `nbytes` with elements of `width` bytes (1, 2 or 4) of `value`; done on return.

        `nbytes` may be left out for a buffer. Raises ValueError for a value that does not fit, or a length that is no
        multiple of the width, InvalidPointer for an address that is none.
        """
        self._memset(dst, value, nbytes, width, self._default_lane, "memset", waits=True)

    def memset_async(
        self,
        dst: object,
        value: int,
        nbytes: int | None = None,
        stream: Stream | int | None = None,
        *,
        width: int = 1,
    ) -> None:
        """Queue a fill; see `memset`."""
        self._memset(dst, value, nbytes, width, self.resolve_stream(stream)._lane, "memset_async")

    # ------------------------------------------------ inside

    def _range(self, value: object, nbytes: int, what: str, *, is_written: bool = False) -> PointerValue:
        self._check_usable()
        pointer = self._pointers.read(value, what)
        check_extent(pointer, nbytes, what)
        if is_written and not pointer.writable:
            raise InvalidPointer(f"{what}: this array is read-only", address=pointer.address, nbytes=nbytes)
        return pointer

    def _copy_h2d(
        self, src: object, dst: object, lane: Lane, call: str, *, waits: bool = False, staged: bool = False
    ) -> None:
        if waits:
            self._refuse_while_recording(call, lane)
        source = _host_array(src, f"{call}: src")
        nbytes = source.nbytes
        target = self._range(dst, nbytes, f"{call}: dst", is_written=True)
        if nbytes == 0:
            return
        # A recorded copy runs later and often: it takes the bytes it was recorded with, like any queued one.
        view = memoryview(bytes(host_view(source))) if staged else host_view(source)
        if waits:
            self._wait_for_other_users(lane, (target,))

        then = None
        if self._debug_sync_count and not waits and not staged:
            before = zlib.crc32(view)

            def then() -> None:
                if zlib.crc32(view) != before:
                    _warn_changed(call, nbytes)

        self._queue(
            lane,
            lambda handle: self._driver.copy_h2d(target.address, view, handle),
            (target, *self._pinned(source if not staged else None)),
            lambda: f"{call} of {nbytes} bytes",
            kind=call,
            nbytes=nbytes,
            retain=(view, source),
            then=then,
            is_recordable=not waits,
        )
        if waits:
            self._wait_for(lane)

    def _copy_d2h(
        self, src: object, dst: object, lane: Lane, call: str, *, waits: bool = False, only_own: bool = False
    ) -> None:
        if waits:
            self._refuse_while_recording(call, lane)
        target = _host_array(dst, f"{call}: dst")
        if not target.is_writable:
            raise InvalidPointer(f"{call}: dst: this host array is read-only", address=target.address)
        nbytes = target.nbytes
        source = self._range(src, nbytes, f"{call}: src")
        if nbytes == 0:
            return
        if waits and not only_own:
            self._wait_for_other_users(lane, (source,))
        view = host_view(target)
        self._check_contents(source, call)
        self._queue(
            lane,
            lambda handle: self._driver.copy_d2h(view, source.address, handle),
            (source, *self._pinned(target)),
            lambda: f"{call} of {nbytes} bytes",
            kind=call,
            nbytes=nbytes,
            retain=(view, target),
            is_recordable=not waits,
        )
        if waits:
            self._wait_for(lane)

    def _pinned(self, array: ForeignArray | None) -> tuple[PointerValue, ...]:
        """Host memory that this backend allocated itself: in use, like device memory, until the copy is done."""
        block = self._ledger.find(array.address) if array is not None else None
        allocation = block.allocation if block is not None else None
        return (PointerValue(allocation.base, allocation),) if allocation is not None else ()

    def _check_contents(self, pointer: PointerValue, call: str) -> None:
        if pointer.allocation is None:
            return
        block = pointer.allocation.block
        if block.void and block.last_use is block.void_since:
            raise KernelFault(f"{call}: {block} does not hold what it should: {block.void}")

    def _copy_d2d(
        self, src: object, dst: object, nbytes: int | None, lane: Lane, call: str, *, waits: bool = False
    ) -> None:
        if waits:
            self._refuse_while_recording(call, lane)
        source = self._range(src, 0, f"{call}: src")
        target = self._range(dst, 0, f"{call}: dst", is_written=True)
        count = agreed_nbytes(nbytes, source, target, call)
        check_extent(source, count, f"{call}: src")
        check_extent(target, count, f"{call}: dst")
        if count == 0:
            return
        if abs(source.address - target.address) < count:
            if source.address == target.address:
                return
            raise _overlap(call, source, target, count)
        self._check_contents(source, call)
        if waits:
            self._wait_for_other_users(lane, (source, target))
        self._queue(
            lane,
            lambda handle: self._driver.copy_d2d(target.address, source.address, count, handle),
            (source, target),
            lambda: f"{call} of {count} bytes",
            kind=call,
            nbytes=count,
            is_recordable=not waits,
        )
        if waits:
            self._wait_for(lane)

    def _memset(
        self, dst: object, value: int, nbytes: int | None, width: int, lane: Lane, call: str, *, waits: bool = False
    ) -> None:
        if waits:
            self._refuse_while_recording(call, lane)
        if is_bool(width) or width not in (1, 2, 4):
            raise ValueError(f"{call}: width is {width!r}; elements have 1, 2 or 4 bytes")
        if not is_index(value):
            raise TypeError(f"{call}: value is {value!r}; it is an unsigned integer of {width} bytes")
        value = value.__index__()
        if not 0 <= value < 1 << (8 * width):
            raise ValueError(f"{call}: value {value} does not fit {width} byte(s): 0 to {(1 << (8 * width)) - 1}")
        target = self._range(dst, 0, f"{call}: dst", is_written=True)
        if nbytes is None:
            if target.nbytes is None:
                raise ValueError(f"{call}: the length is not known; give nbytes")
            nbytes = target.nbytes
        nbytes = read_nbytes(nbytes, call)
        check_extent(target, nbytes, f"{call}: dst")
        if nbytes % width:
            raise ValueError(f"{call}: {nbytes} bytes are no whole number of elements of {width} bytes")
        if target.address % width:
            raise InvalidPointer(
                f"{call}: dst: {target.address:#x} is no multiple of {width}, at which elements of {width} bytes lie; "
                f"it is {target.address % width} past one. Fill it with width=1, or from an aligned address",
                address=target.address,
                nbytes=nbytes,
            )
        if nbytes == 0:
            return
        if waits:
            self._wait_for_other_users(lane, (target,))
        self._queue(
            lane,
            lambda handle: self._driver.memset(target.address, value, width, nbytes // width, handle),
            (target,),
            lambda: f"{call} of {nbytes} bytes",
            kind=call,
            nbytes=nbytes,
            is_recordable=not waits,
        )
        if waits:
            self._wait_for(lane)


def _host_array(value: object, what: str) -> ForeignArray:
    """A contiguous array in host memory. Raises ArgumentKindError for anything else."""
    is_device = hasattr(type(value), "pointer_value")
    array = None if isinstance(value, str) or is_device else read_foreign(value)
    if array is None or not array.is_on_host:
        given = type(value).__name__
        raise ArgumentKindError(
            f"{what}: {given} where a host array is wanted: anything with the buffer protocol, an array interface or "
            "DLPack on the host. Copies take (src, dst)",
            kernel="",
            expected="a host array",
            given=given,
        )
    if not array.is_contiguous:
        raise InvalidPointer(
            f"{what}: an array of shape {array.shape} has strides of {array.strides} bytes: its elements do not lie "
            "one behind the other; make it contiguous first (numpy.ascontiguousarray)",
            address=array.address,
            nbytes=array.nbytes,
        )
    return array


def agreed_nbytes(nbytes: int | None, source: PointerValue, target: PointerValue, call: str) -> int:
    """The length of a copy: as given, or that of both sides. Raises ValueError where they are not of one length."""
    if nbytes is not None:
        return read_nbytes(nbytes, call)
    if source.nbytes is None or target.nbytes is None or source.nbytes != target.nbytes:
        raise ValueError(
            f"{call}: src has {source.nbytes} bytes and dst {target.nbytes}; give nbytes where they are not the same"
        )
    return source.nbytes


def _overlap(call: str, source: PointerValue, target: PointerValue, nbytes: int) -> InvalidPointer:
    return InvalidPointer(
        f"{call}: the ranges {source.address:#x} and {target.address:#x} of {nbytes} bytes overlap; "
        "copy through other memory",
        address=target.address,
        nbytes=nbytes,
    )


def _warn_changed(call: str, nbytes: int) -> None:
    import warnings

    warnings.warn(
        f"{call}: the source of {nbytes} bytes was changed before the copy was done; what arrived may be a mixture. "
        "Wait for the stream first, or use copy_h2d_async, which takes the bytes at once",
        GpuWarning,
        stacklevel=2,
    )
