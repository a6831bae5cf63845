"""Host memory that queued work will use, known as a real driver knows it: by address, without keeping it alive."""

from __future__ import annotations

import ctypes
import weakref

from ...host_address import address_of


class HostBytes:
    """The bytes of a view that somebody else must keep: alive while the view, or the object below it, is.

    Weak references tell. bytes and bytearray take none, so of those the view itself must live.
    """

    __slots__ = ("_address", "_nbytes", "_owners")

    def __init__(self, view: memoryview) -> None:
        self._address, self._nbytes = address_of(view), view.nbytes
        self._owners: list[weakref.ref[object]] = [weakref.ref(view)]
        try:
            self._owners.append(weakref.ref(view.obj))
        except TypeError:
            # Only the view can tell.
            return

    def view(self) -> memoryview | None:
        """The bytes, or None when nobody keeps them any more and the memory may be anybody's."""
        if all(owner() is None for owner in self._owners):
            return None
        return memoryview((ctypes.c_ubyte * self._nbytes).from_address(self._address)).cast("B")
