"""PinnedMemory: page-locked host memory that the driver can copy from and to without staging."""

from __future__ import annotations

import ctypes

from ..errors import HandleClosed
from .allocation import Allocation


class PinnedMemory:
    """What `gpu.alloc_host_pinned` returns. It has to be given back with `gpu.free_host_pinned`."""

    __slots__ = ("__weakref__", "_view", "allocation", "device_allocation")

    def __init__(self, allocation: Allocation) -> None:
        self.allocation = allocation
        self.device_allocation: Allocation | None = None
        block = (ctypes.c_ubyte * allocation.nbytes).from_address(allocation.base) if allocation.nbytes else bytearray()
        self._view = memoryview(block).cast("B")

    @property
    def address(self) -> int:
        """The host address; 0 for no bytes."""
        return self.allocation.base

    @property
    def nbytes(self) -> int:
        return self.allocation.nbytes

    @property
    def view(self) -> memoryview:
        """The bytes, writable. Raises HandleClosed after free_host_pinned."""
        if self.allocation.block.gone:
            raise HandleClosed(f"this pinned memory is gone: {self.allocation.block.gone}")
        return self._view

    @property
    def __array_interface__(self) -> dict[str, object]:
        return {"shape": (self.view.nbytes,), "typestr": "|u1", "data": (self.address, False), "version": 3}

    def __repr__(self) -> str:
        return f"<PinnedMemory {self.allocation.block}>"
