"""Making buffers: untyped, typed, as copies of arrays, and for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from ..buffers import DeviceBuffer, as_numpy
from ..elements import BYTES, Element, count_of, element_of, read_shape
from ..exchange import ForeignArray, read_foreign, refuse_masked
from ..stream import Stream
from ..trace.site import call_site
from .memory import MemoryCalls, read_nbytes
from .queueing import QueueingCalls

if TYPE_CHECKING:
    from ..backend import GpuBackend


class BufferCalls(MemoryCalls, QueueingCalls):
    """The part of GpuBackend that makes buffers."""

    def buffer(self, nbytes: int, *, label: str = "") -> DeviceBuffer:
        """`nbytes` of untyped device memory, contents undefined, freed when dropped. Raises OutOfDeviceMemory."""
        return self._new_buffer((read_nbytes(nbytes, "buffer"),), BYTES, label, call_site(2))

    def empty(self, shape: Any, dtype: Any, *, label: str = "") -> DeviceBuffer:
        """A device array of this shape and element type (`mg.f32`, a NumPy dtype, "float32"), contents undefined."""
        return self._new_buffer(read_shape(shape), element_of(dtype), label, call_site(2))

    def array(self, source: Any, dtype: Any = None, *, label: str = "") -> DeviceBuffer:
        """A device array with a copy of an array of any library, of a buffer, or of nested lists; done on return.

        `dtype` converts as NumPy does. A strided host array is copied in C order.
        """
        site = call_site(2)
        if isinstance(source, DeviceBuffer) and dtype is None:
            return self._new_buffer(source.shape, source._element, label, site).copy_from(source)
        if dtype is not None:
            import numpy

            # NumPy converts one without a word about its mask.
            refuse_masked(source)
            source = numpy.asarray(source, dtype=element_of(dtype).dtype)
        source, array = _read_array(source)
        return self._new_buffer(array.shape, _element_of_array(source, array), label, site).copy_from(source)

    @contextmanager
    def scratch(self, nbytes: int, stream: Stream | int | None = None) -> Iterator[DeviceBuffer]:
        """Untyped memory for work on `stream`, for the length of a `with` block; contents undefined.

        It is used again by later scratch on the same stream without waiting, elsewhere once the work on it is done.
        Its address must not be used after the block.
        """
        on = self.resolve_stream(stream)
        self._settle()
        allocation = self._scratch.take(nbytes, on.handle) if nbytes else None
        if allocation is None:
            allocation = self._allocate(nbytes, label="scratch", owned=True, site=call_site(3))
        try:
            yield DeviceBuffer(cast("GpuBackend", self), allocation, 0, (nbytes,), BYTES)
        finally:
            # What a recording has named belongs to it; it runs when others have the memory.
            is_looked_at = any(window.buffer.allocation is allocation for window in list(self._windows))
            if nbytes and self.recorder(on) is None and not self._is_closed and allocation.is_live and not is_looked_at:
                self._scratch.put(allocation)

    def wait_for_uses(self, buffer: DeviceBuffer) -> None:
        """Wait for the queued work that names a buffer, on whatever streams. Raises KernelFault."""
        self._wait_for_users(buffer.allocation.block)

    # ------------------------------------------------ inside

    def _new_buffer(self, shape: tuple[int, ...], element: Element, label: str, site: str) -> DeviceBuffer:
        allocation = self._allocate(count_of(shape) * element.nbytes, label=label, owned=True, site=site)
        return DeviceBuffer(cast("GpuBackend", self), allocation, 0, shape, element)


def _read_array(source: Any) -> tuple[Any, ForeignArray]:
    """An array of any library, or numbers as one; made contiguous on the host, where the copy is a new array anyway."""
    array = read_foreign(source)
    if array is None:
        source = as_numpy(source, None)
        array = read_foreign(source)
    elif array.is_on_host and not array.is_contiguous:
        import numpy

        source = numpy.ascontiguousarray(source)
        array = read_foreign(source)
    assert array is not None
    return source, array


def _element_of_array(source: object, array: ForeignArray) -> Element:
    if array.element is not None:
        return Element(array.element.nbytes, array.element)
    dtype = getattr(source, "dtype", None)
    return element_of(dtype) if dtype is not None else Element(array.item_nbytes)
