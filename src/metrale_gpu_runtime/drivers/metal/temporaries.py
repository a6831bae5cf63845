"""Buffers of the driver's own that live as long as one command buffer: large values, and staging of host copies."""

from __future__ import annotations

import threading
from typing import Any

from ...errors import OutOfDeviceMemory
from ...host_address import address_of
from .bindings import Bindings

SMALLEST_NBYTES = 4096
"""A value that needs a buffer is larger than this (MTLComputeCommandEncoder setBytes:length:atIndex:)."""

KEPT_NBYTES = 64 << 20
"""Up to so many bytes of buffers that nobody uses are kept for the next one: making one costs tens of microseconds."""


LARGE_GRANULE = 1 << 20
"""Those that are too large to be kept are a multiple of this. Rounded up to a power of two as the others are, the
staging of a large buffer could need one that the device cannot make."""


class Temporary:
    """One buffer in shared storage: `native` for the GPU, `host` its address for the host."""

    __slots__ = ("_pool", "host", "native", "nbytes")

    def __init__(self, pool: Temporaries, native: Any, nbytes: int) -> None:
        self._pool, self.native, self.nbytes = pool, native, nbytes
        self.host = host_address(native, nbytes)

    def give_back(self) -> None:
        """The command buffer that used it is done."""
        self._pool.take_back(self)


class Temporaries:
    """The temporary buffers of one device, reused by size. Safe to use from several threads."""

    def __init__(self, bindings: Bindings, device: Any) -> None:
        self._bindings, self._device = bindings, device
        self._lock = threading.Lock()
        self._kept: dict[int, list[Temporary]] = {}
        self._kept_nbytes = 0
        self.live_count = 0
        """How many are in use."""

    def take(self, nbytes: int) -> Temporary:
        """A buffer of at least `nbytes`. Raises OutOfDeviceMemory."""
        size = _rounded(nbytes)
        with self._lock:
            self.live_count += 1
            kept = self._kept.get(size)
            if kept:
                self._kept_nbytes -= size
                return kept.pop()
        try:
            return self._make(size, nbytes)
        except BaseException:
            with self._lock:
                self.live_count -= 1
            raise

    def take_back(self, temporary: Temporary) -> None:
        with self._lock:
            self.live_count -= 1
            if self._kept_nbytes + temporary.nbytes <= KEPT_NBYTES:
                self._kept_nbytes += temporary.nbytes
                self._kept.setdefault(temporary.nbytes, []).append(temporary)

    def drain(self) -> bool:
        """Let go of the buffers that nobody uses; False when there were none."""
        with self._lock:
            kept, self._kept, self._kept_nbytes = self._kept, {}, 0
        return any(kept.values())

    def _make(self, size: int, nbytes: int) -> Temporary:
        shared = self._bindings.metal.MTLResourceStorageModeShared
        with self._bindings.pool():
            native = self._device.newBufferWithLength_options_(size, shared)
            if native is None and self.drain():
                native = self._device.newBufferWithLength_options_(size, shared)
            if native is None:
                raise OutOfDeviceMemory(
                    f"metal: {self._device.name()} has no {size:,} bytes for a temporary buffer (a value over 4096 "
                    f"bytes, or a host copy behind queued work, of {nbytes:,} bytes)",
                    nbytes=size,
                )
            return Temporary(self, native, size)


def _rounded(nbytes: int) -> int:
    """The size of a buffer for so many bytes: few different ones, so that one may serve the next who asks."""
    if nbytes > KEPT_NBYTES:
        return -(-nbytes // LARGE_GRANULE) * LARGE_GRANULE
    return max(SMALLEST_NBYTES, 1 << (nbytes - 1).bit_length())


def host_address(native: Any, nbytes: int) -> int:
    """Where the host sees an MTLBuffer in shared storage."""
    return address_of(memoryview(native.contents().as_buffer(nbytes)))
