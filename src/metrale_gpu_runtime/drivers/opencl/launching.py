"""A kernel with one argument layout: which argument is which parameter, and one launch.

What was set on the thread's cl_kernel before and is the same now is not set again, but for addresses of shared virtual
memory. Source: clSetKernelArg,
clEnqueueNDRangeKernel, clSetKernelExecInfo.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from ...driver import ArgumentKind, ArgumentLayout, LaunchTarget, NativeKernelForm
from ...errors import ArgumentCountError
from ...geometry import Geometry
from ...handles import StreamHandle
from ...native import take_answer
from .bindings import Bindings
from .entry_points import SVM_PTRS
from .faults import fault, is_lost, refused
from .memory import Memory
from .programs import LoadedKernel, ThreadKernel
from .recordings import Recordings
from .streams import Stream

_Extents = ctypes.c_size_t * 3


class _Shape:
    """What is the same for all launches with one geometry: OpenCL counts the threads of the whole grid."""

    __slots__ = ("block", "total")

    def __init__(self, geometry: Geometry) -> None:
        grid, block = geometry.grid, geometry.block
        self.total = _Extents(grid.x * block.x, grid.y * block.y, grid.z * block.z)
        self.block = _Extents(block.x, block.y, block.z)


class OpenclLaunchTarget(LaunchTarget):
    """Sets the arguments of each launch and queues it. Safe to use from several threads."""

    def __init__(
        self,
        bindings: Bindings,
        memory: Memory,
        stream_of: Callable[[StreamHandle], Stream],
        kernel: LoadedKernel,
        layout: ArgumentLayout,
        *,
        device: str,
    ) -> None:
        self._bindings, self._memory, self._stream_of = bindings, memory, stream_of
        self._kernel, self._device = kernel, device
        self._enqueue = bindings.calls.enqueue_nd_range_kernel
        self._shared_index = self._index_of_shared(layout)
        indices = [at for at in range(kernel.count) if at != self._shared_index]
        placed = list(zip(indices, layout.kinds, layout.sizes, layout.offsets, strict=True))
        # In the order of the image: (parameter, is it a pointer)
        self._slots = tuple(
            (index, kind is ArgumentKind.POINTER) for index, kind, _, _ in placed if kind is not ArgumentKind.LOCAL
        )
        # An address of shared virtual memory may be given back and come again as other memory, of which the driver has
        # to be told; a buffer's number never comes again.
        self._addresses_return = memory.handles is None and any(is_pointer for _, is_pointer in self._slots)
        self._locals = tuple((index, size) for index, kind, size, _ in placed if kind is ArgumentKind.LOCAL)
        self._struct = layout.reader([at for at, kind in enumerate(layout.kinds) if kind is not ArgumentKind.LOCAL])
        self._latest: tuple[Geometry | None, _Shape | None] = (None, None)

    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        """Queue one launch. Raises InvalidPointer, ArgumentCountError, DriverError; nothing is queued then."""
        self._launch(self._kernel.of_this_thread(), image, geometry, stream)

    def submit_using(
        self,
        image: bytes | bytearray,
        geometry: Geometry,
        stream: StreamHandle,
        ordinal: int,
        addresses: tuple[int, ...],
    ) -> None:
        """As `submit`; the driver is told of the memory at these addresses (CL_KERNEL_EXEC_INFO_SVM_PTRS)."""
        bound = self._kernel.of_this_thread_with_memory()
        named = (ctypes.c_void_p * len(addresses))(*addresses)
        call = self._bindings.calls.set_kernel_exec_info
        if call is None:
            raise refused(self._bindings, "clSetKernelExecInfo", 0, "the OpenCL loader is older than version 2.0")
        self._check(call(bound.pointer, SVM_PTRS, ctypes.sizeof(named), named), "clSetKernelExecInfo")
        self._launch(bound, image, geometry, stream)

    def native_form(self) -> NativeKernelForm | None:
        if self._locals:
            return None
        indices = tuple(index for index, _ in self._slots)
        return NativeKernelForm(id(self), indices, self._shared_index, self._make_kernel)

    def _make_kernel(self) -> tuple[int, object]:
        bound = self._kernel.another()
        return bound.pointer, bound

    # ------------------------------------------------ recording

    def ready(
        self, image: bytes | bytearray, geometry: Geometry
    ) -> tuple[ThreadKernel, ctypes.Array[ctypes.c_size_t], ctypes.Array[ctypes.c_size_t]]:
        """A kernel object of its own with one launch's arguments, and the extents of its whole grid and of a block.

        Raises as `submit` does.
        """
        bound, shape = self._kernel.another(), _Shape(geometry)
        self._set(bound, self._struct.unpack_from(image), geometry.shared_mem)
        return bound, shape.total, shape.block

    def recordings_of(self, image: bytes | bytearray) -> Iterator[Recordings]:
        """Of what a launch names: the kernel, and memory that lives as long as a recording names it."""
        yield self._kernel.recordings
        for (_, is_pointer), value in zip(self._slots, self._struct.unpack_from(image), strict=True):
            found = self._memory.recordings_of(value) if is_pointer and value else None
            if found is not None:
                yield found

    # ------------------------------------------------ one launch

    def _launch(self, bound: ThreadKernel, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle) -> None:
        known, shape = self._latest
        if shape is None or known is not geometry:
            shape = _Shape(geometry)
            self._latest = (geometry, shape)
        values = self._struct.unpack_from(image)
        if (
            self._addresses_return
            or bound.target is not self
            or bound.values != values
            or bound.shared_mem != geometry.shared_mem
        ):
            self._set(bound, values, geometry.shared_mem)
        queue = self._stream_of(stream)
        answer = take_answer(id(self))
        if answer is not None:
            self._check(answer[1], "clEnqueueNDRangeKernel")
        code = self._enqueue(queue.pointer, bound.pointer, 3, None, shape.total, shape.block, 0, None, None)
        if code:
            self._check(code, "clEnqueueNDRangeKernel")
        queue.queued()

    def _set(self, bound: ThreadKernel, values: tuple[Any, ...], shared_mem: int) -> None:
        before = bound.values if bound.target is self else None
        shared_before = bound.shared_mem if bound.target is self else -1
        # Until all is set, nothing is known of what is.
        bound.target = None
        if shared_mem != shared_before:
            self._set_shared(bound, shared_mem)
        if before is None:
            for index, nbytes in self._locals:
                bound.set_local(index, nbytes)
        for at, (index, is_pointer) in enumerate(self._slots):
            value = values[at]
            if before is not None and before[at] == value and not (is_pointer and self._addresses_return):
                continue
            if is_pointer:
                bound.kept[index] = self._memory.set_pointer(bound.pointer, index, value)
            else:
                bound.set_value(index, value)
        bound.values, bound.shared_mem, bound.target = values, shared_mem, self

    def _set_shared(self, bound: ThreadKernel, nbytes: int) -> None:
        if self._shared_index is not None and nbytes == 0:
            raise ArgumentCountError(
                f"{self._kernel.name}: no memory is given for {self._name_of(self._shared_index)}; say how many bytes "
                "with .shared_mem(nbytes) or .arg_local(nbytes)",
                kernel=self._kernel.name,
                expected=self._kernel.count,
                given=self._kernel.count - 1,
            )
        if self._shared_index is None and nbytes:
            raise ArgumentCountError(
                f"{self._kernel.name}: .shared_mem({nbytes}) is for the last parameter in local memory; every "
                "parameter of this kernel has an argument already",
                kernel=self._kernel.name,
                expected=self._kernel.count,
                given=self._kernel.count + 1,
            )
        if self._shared_index is not None:
            bound.set_local(self._shared_index, nbytes)

    # ------------------------------------------------ once

    def _index_of_shared(self, layout: ArgumentLayout) -> int | None:
        """The parameter that `.shared_mem` is: the last one in local memory, where no argument is given for it."""
        kernel, given = self._kernel, len(layout.kinds)
        if given == kernel.count:
            return None
        if given == kernel.count - 1:
            if kernel.parameters is None:
                return kernel.count - 1
            last = [each.index for each in kernel.parameters if each.kind == "local"]
            if last:
                return last[-1]
        raise ArgumentCountError(
            f"{kernel.name}: expects {kernel.count} arguments, got {given}",
            kernel=kernel.name,
            expected=kernel.count,
            given=given,
        )

    def _name_of(self, index: int) -> str:
        bound = self._kernel.parameters
        return bound[index].name if bound is not None and bound[index].name else f"parameter {index}"

    def _check(self, code: int, call: str) -> None:
        if code:
            if is_lost(code):
                raise fault(self._bindings, code, f"{call} on {self._device}")
            raise refused(self._bindings, call, code, f"kernel {self._kernel.name}")
