"""Which stream a caller means: one of ours, or another library's by its handle."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, NoReturn, cast

from ..books import BackendBooks
from ..dlpack import LEGACY_STREAM, PER_THREAD_STREAM
from ..errors import ForeignHandle, NotSupported
from ..handles import StreamHandle
from ..lane import Lane
from ..stream import Stream
from ..whole_numbers import is_bool, is_index

if TYPE_CHECKING:
    from ..backend import GpuBackend

MOST_IDLE_FOREIGN = 64
"""How many streams of other libraries are remembered that hold no work of ours."""


class HandleCalls(BackendBooks):
    """The part of GpuBackend that reads stream arguments."""

    _default_stream: Stream

    def default_stream(self) -> Stream:
        """The stream that None and 0 stand for."""
        return self._default_stream

    def resolve_stream(self, stream: object) -> Stream:
        """The stream that a caller means: None and 0 are the default one.

        Where Capabilities.raw_stream_handles: also `Stream.legacy`, an object with `__cuda_stream__` (or torch's
        `cuda_stream`), whose handle 0 is the legacy default stream, and a raw handle. Work put there is tracked like
        any other; the stream stays its maker's, who must keep it until that work is done (an object is kept here).
        Raises ForeignHandle for a stream of another backend or device, HandleClosed for a destroyed one, NotSupported
        for a foreign one elsewhere, and for the per-thread default stream.
        """
        if stream is None:
            return self._default_stream
        if isinstance(stream, Stream):
            if stream._gpu is not self:
                raise ForeignHandle(
                    f"{stream!r} is a stream of another backend, the call is for {self._capabilities.device}; "
                    "make one with gpu.create_stream() there"
                )
            stream._check_open()
            return stream
        if is_bool(stream):
            raise TypeError(f"stream is {stream!r}; give a Stream, or None for the default stream")
        protocol = getattr(stream, "__cuda_stream__", None)
        if protocol is not None:
            return self._foreign_stream(_protocol_handle(stream, protocol) or LEGACY_STREAM, stream)
        if isinstance(getattr(stream, "cuda_stream", None), int):
            # An older torch, whose streams have no __cuda_stream__.
            return self._foreign_stream(stream.cuda_stream or LEGACY_STREAM, stream)  # type: ignore[attr-defined]
        index = getattr(type(stream), "__index__", None)
        if index is None:
            raise TypeError(f"stream is a {type(stream).__name__}; give a Stream, or None for the default stream")
        handle = int(index(stream))
        if handle == 0:
            return self._default_stream
        if not self._capabilities.raw_stream_handles and handle in self._lanes:
            raise NotSupported(
                f"{handle} is the bare handle of a stream; {self._capabilities.backend} takes the Stream itself",
                backend=self._capabilities.backend,
                feature="raw stream handles",
            )
        return self._foreign_stream(handle, stream)

    def lane_of(self, stream: object) -> Lane | None:
        """The stream that is meant wherever nothing has to be looked up or refused for it; None otherwise."""
        if stream is None:
            return self._default_lane
        return stream._lane if isinstance(stream, Stream) and stream._gpu is self else None

    def _foreign_stream(self, handle: int, given: object) -> Stream:
        shown = "a raw handle" if type(given) is int else f"a {type(given).__name__}"
        if given is Stream.legacy:
            shown = repr(given)
        if not self._capabilities.raw_stream_handles:
            self._refuse_foreign_stream(handle, shown)
        device = getattr(given, "device_index", getattr(given, "device_id", None))
        if isinstance(device, int) and device >= 0 and device != self._capabilities.device_index:
            raise ForeignHandle(
                f"{shown} ({handle:#x}) is a stream of device {device}, the call is for device "
                f"{self._capabilities.device_index} ({self._capabilities.device})"
            )
        if handle == PER_THREAD_STREAM:
            raise NotSupported(
                "handle 2 is the per-thread default stream, another one in every thread, so that nobody could wait for "
                "work on it from elsewhere; use gpu.create_stream()",
                backend=self._capabilities.backend,
                feature="per-thread default stream",
            )
        if handle < 0 or handle >= 1 << 64:
            raise ValueError(f"stream is {handle}; a handle has 64 bits and is not negative")
        with self._lock:
            lane = self._lane_of_native(handle)
            if lane is self._default_lane:
                return self._default_stream
            if lane is None:
                self._forget_idle_streams()
                lane = self._open_lane(StreamHandle(handle))
                lane.is_foreign = True
            if lane.is_foreign and not isinstance(given, int):
                lane.owner = given
            known = lane.wrapper() if lane.wrapper is not None else None
            if known is None:
                known = Stream(cast("GpuBackend", self), lane, is_owned=False)
                lane.wrapper = weakref.ref(known)
        known._check_open()
        return known

    def _native_stream(self, lane: Lane) -> int:
        """The handle by which other libraries know a stream. Raises NotSupported where they know none."""
        if lane.native is None:
            self._check_raw_handles("a stream's native handle")
            lane.native = self._ask(None, self._driver.native_stream, lane.handle)
        return lane.native

    def _check_raw_handles(self, what: str) -> None:
        if not self._capabilities.raw_stream_handles:
            raise NotSupported(
                f"{self._capabilities.backend}: {what} is wanted, and {self._capabilities.device} has no streams that "
                "other libraries know; synchronize on both sides instead, or exchange arrays through the host",
                backend=self._capabilities.backend,
                feature="raw stream handles",
            )

    def _lane_of_native(self, handle: int) -> Lane | None:
        """The stream of ours that has this native handle, or a foreign one on which we have queued work."""
        for lane in list(self._lanes.values()):
            # The vendors differ in the legacy stream's handle; as a StreamHandle it is 1 for both.
            if lane.handle == handle if lane.is_foreign else self._native_stream(lane) == handle:
                return lane
        return None

    def _forget_idle_streams(self) -> None:
        """Let go of other libraries' streams that hold no work of ours and that nobody holds a Stream of."""
        idle = [lane for lane in self._lanes.values() if lane.is_foreign and lane.is_idle and _is_unheld(lane)]
        if len(idle) < MOST_IDLE_FOREIGN:
            return
        for lane in idle:
            del self._lanes[lane.handle]
            self._sequence_floor = max(self._sequence_floor, lane.issued)
            if lane.fence is not None:
                self._dropped_events.append(lane.fence)

    def _refuse_foreign_stream(self, handle: int, shown: str) -> NoReturn:
        backend = self._capabilities.backend
        raise NotSupported(
            f"{backend} takes no stream of another library ({shown}, {handle:#x}); "
            "give a Stream of gpu.create_stream(), or None for the default stream",
            backend=backend,
            feature="raw stream handles",
        )


def _protocol_handle(stream: object, protocol: object) -> int:
    """The handle that an object's `__cuda_stream__` gives. Source: the CUDA Stream Protocol of cuda.core."""
    shown = protocol() if callable(protocol) else protocol
    name = f"__cuda_stream__ of the {type(stream).__name__} given as stream"
    if not isinstance(shown, (tuple, list)) or len(shown) != 2:
        raise TypeError(f"{name} gives {shown!r}; it should be a tuple (version, handle)")
    version, handle = shown
    for role, number in (("version", version), ("handle", handle)):
        if not is_index(number):
            raise TypeError(f"{name} gives {shown!r}, whose {role} is {number!r}; it should be a whole number")
    if version != 0:
        raise NotSupported(f"{name} has version {version}; 0 is understood", feature="__cuda_stream__")
    return int(handle)


def _is_unheld(lane: Lane) -> bool:
    return not lane.waiters and lane.capture is None and (lane.wrapper is None or lane.wrapper() is None)
