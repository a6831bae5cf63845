"""Which stream a caller means."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..books import BackendBooks
from ..errors import ForeignHandle, NotSupported
from ..handles import StreamHandle
from ..stream import Stream

if TYPE_CHECKING:
    from ..backend import GpuBackend

_RAW_HANDLE_BACKENDS = ("cuda", "hip")


class HandleCalls(BackendBooks):
    """The part of GpuBackend that reads stream arguments."""

    _default_stream: Stream

    def default_stream(self) -> Stream:
        """The stream that None and 0 stand for."""
        return self._default_stream

    def resolve_stream(self, stream: object) -> Stream:
        """The stream that a caller means: None and 0 are the default one.

        Takes a Stream, an object with `__cuda_stream__` and a raw handle on CUDA and HIP. Raises ForeignHandle for a
        stream of another backend, HandleClosed for a destroyed one, NotSupported for a raw handle elsewhere.
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
        if isinstance(stream, bool):
            raise TypeError(f"stream is {stream!r}; give a Stream, or None for the default stream")
        protocol = getattr(stream, "__cuda_stream__", None)
        if protocol is not None:
            version, handle = protocol() if callable(protocol) else protocol
            if version != 0:
                raise NotSupported(f"__cuda_stream__ of version {version}; 0 is understood", feature="__cuda_stream__")
            return self._raw_stream(int(handle), type(stream).__name__)
        index = getattr(type(stream), "__index__", None)
        if index is None:
            raise TypeError(f"stream is a {type(stream).__name__}; give a Stream, or None for the default stream")
        handle = int(index(stream))
        if handle == 0:
            return self._default_stream
        known = self._lanes.get(handle)
        if self._capabilities.backend in _RAW_HANDLE_BACKENDS or known is None or known.gone:
            return self._raw_stream(handle, "a raw handle")
        raise NotSupported(
            f"{handle} is the bare handle of a stream; {self._capabilities.backend} takes the Stream itself",
            backend=self._capabilities.backend,
            feature="raw stream handles",
        )

    def _raw_stream(self, handle: int, given: str) -> Stream:
        backend = self._capabilities.backend
        if backend not in _RAW_HANDLE_BACKENDS:
            raise NotSupported(
                f"{backend} takes no stream of another library ({given}, {handle:#x}); "
                "give a Stream of gpu.create_stream(), or None for the default stream",
                backend=backend,
                feature="raw stream handles",
            )
        with self._lock:
            lane = self._lanes.get(handle) or self._open_lane(StreamHandle(handle))
        return Stream(cast("GpuBackend", self), lane, is_owned=False)
