"""A kernel with one argument layout: where each argument goes, and one launch as messages to a compute encoder.

All that can be refused is refused before an encoder is opened; a message costs about a microsecond, so none is sent
that need not be.

Source: MTLComputeCommandEncoder.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ...driver import ArgumentKind, ArgumentLayout, KernelBinding, LaunchTarget
from ...errors import ArgumentCountError, ArgumentSizeError, InvalidPointer, LimitExceeded
from ...geometry import Geometry
from ...handles import StreamHandle
from .bindings import Bindings
from .capabilities import MAX_BUFFERS, MAX_INLINE_NBYTES, THREADGROUP_GRANULE
from .memory import Memory
from .pipelines import Pipeline
from .streams import MetalStream
from .temporaries import Temporaries, Temporary

MOST_POSITIONS = 2**32
"""Threads along an axis: their positions are 32-bit numbers (Metal Shading Language Specification, "Kernel Function
Input Attributes")."""


class _Shape:
    """What is the same for all launches with one geometry."""

    __slots__ = ("block", "grid", "threadgroup")

    def __init__(self, geometry: Geometry, threadgroup: tuple[tuple[int, int], ...]) -> None:
        self.grid, self.block = geometry.grid.as_tuple(), geometry.block.as_tuple()
        self.threadgroup = threadgroup


class MetalLaunchTarget(LaunchTarget):
    """Binds the arguments of each launch. Safe to use from several threads: a launch shares nothing with another."""

    def __init__(
        self,
        bindings: Bindings,
        memory: Memory,
        temporaries: Temporaries,
        stream_of: Callable[[StreamHandle], MetalStream],
        pipeline: Pipeline,
        layout: ArgumentLayout,
        *,
        device: str,
        threadgroup_limit: int,
    ) -> None:
        self._memory, self._temporaries, self._stream_of = memory, temporaries, stream_of
        self._bases = memory.bases
        self._pipeline, self._device, self._threadgroup_limit = pipeline, device, threadgroup_limit
        metal = bindings.metal
        self._usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
        places = [at for at, kind in enumerate(layout.kinds) if kind is not ArgumentKind.LOCAL]
        self._locals = tuple(
            size for size, kind in zip(layout.sizes, layout.kinds, strict=True) if kind is ArgumentKind.LOCAL
        )
        self._check_count(len(places))
        self._struct = layout.reader(places)
        # In the order of the image: (is it a pointer, binding, number of the argument)
        self._slots = tuple(
            (layout.kinds[at] is ArgumentKind.POINTER, binding, at)
            for at, binding in zip(places, pipeline.buffers, strict=True)
        )
        self._latest: tuple[Geometry | None, _Shape | None] = (None, None)

    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        """Queue one launch. Raises InvalidPointer, LimitExceeded, ArgumentCountError, OutOfDeviceMemory, DriverError.

        Nothing is queued then, and the stream is as it was.
        """
        self.submit_using(image, geometry, stream, ordinal, ())

    def submit_using(
        self,
        image: bytes | bytearray,
        geometry: Geometry,
        stream: StreamHandle,
        ordinal: int,
        addresses: tuple[int, ...],
    ) -> None:
        """As `submit`; the buffers in which the addresses lie are made resident for it (useResource:usage:)."""
        known, shape = self._latest
        if shape is None or known is not geometry:
            shape = self._shape(geometry)
            self._latest = (geometry, shape)
        used = {id(found.native): found.native for found in map(self._used, addresses)} if addresses else None
        buffers, values, temporaries = self._arguments(image)
        is_queued = False
        try:
            queue = self._stream_of(stream)
            with queue.encoding("compute", f"{ordinal} {self._pipeline.name}") as (opened, encoder):
                encoder.setComputePipelineState_(self._pipeline.state)
                for native, offset, index in buffers:
                    encoder.setBuffer_offset_atIndex_(native, offset, index)
                for value, index in values:
                    encoder.setBytes_length_atIndex_(value, len(value), index)
                for length, index in shape.threadgroup:
                    encoder.setThreadgroupMemoryLength_atIndex_(length, index)
                if used:
                    for native in used.values():
                        encoder.useResource_usage_(native, self._usage)
                encoder.dispatchThreadgroups_threadsPerThreadgroup_(shape.grid, shape.block)
                opened.ordinals.append(ordinal)
                opened.temporaries.extend(temporaries)
                is_queued = True
        finally:
            if not is_queued:
                for temporary in temporaries:
                    temporary.give_back()

    # ------------------------------------------------ arguments

    def _arguments(
        self, image: bytes | bytearray
    ) -> tuple[list[tuple[Any, int, int]], list[tuple[bytes, int]], list[Temporary]]:
        """What is bound where: (buffer, offset, index), (bytes, index), and the temporary buffers among the former."""
        buffers: list[tuple[Any, int, int]] = []
        values: list[tuple[bytes, int]] = []
        large: list[tuple[bytes, int]] = []
        for (is_pointer, binding, at), value in zip(self._slots, self._struct.unpack_from(image), strict=True):
            if is_pointer:
                found = self._bases.get(value)
                if found is not None and (binding.nbytes or 0) <= found.nbytes:
                    buffers.append((found.native, 0, binding.index))
                else:
                    buffers.append(self._inside(value, binding, at))
            elif len(value) <= MAX_INLINE_NBYTES:
                values.append((value, binding.index))
            else:
                large.append((value, binding.index))
        temporaries: list[Temporary] = []
        try:
            for value, index in large:
                temporary = self._temporaries.take(len(value))
                temporaries.append(temporary)
                ctypes.memmove(temporary.host, value, len(value))
                buffers.append((temporary.native, 0, index))
        except BaseException:
            for temporary in temporaries:
                temporary.give_back()
            raise
        return buffers, values, temporaries

    def _inside(self, address: int, binding: KernelBinding, at: int) -> tuple[Any, int, int]:
        """A pointer that is not the first address of an allocation, or has little memory behind it."""
        what = f"{self._pipeline.name}: argument {at} ({binding.name})"
        found, offset = self._memory.find(address, 1, what)
        if binding.align and offset % binding.align:
            raise InvalidPointer(
                f"{what}: {address:#x} lies {offset} bytes into its buffer; Metal binds "
                f"{binding.type_name or 'this type'} at multiples of {binding.align}, this is "
                f"{offset % binding.align} too many; begin at such a multiple, or copy the data to memory of its own",
                address=address,
            )
        needed, left = binding.nbytes or 0, found.nbytes - offset
        if needed > left:
            raise ArgumentSizeError(
                f"{what}: {left} bytes lie behind {address:#x}; {binding.type_name or 'what the kernel declares'} has "
                f"{needed}",
                kernel=self._pipeline.name,
                index=at,
                name=binding.name,
                expected=needed,
                given=left,
            )
        return found.native, offset, binding.index

    def _used(self, address: int) -> Any:
        found = self._bases.get(address)
        if found is None:
            found, _ = self._memory.find(address, 1, f"{self._pipeline.name}: uses")
        return found

    def _check_count(self, given: int) -> None:
        pipeline = self._pipeline
        if given > MAX_BUFFERS:
            raise LimitExceeded(
                kernel=pipeline.name,
                what="arguments that take a buffer index",
                asked=given,
                limit=MAX_BUFFERS,
                device=self._device,
                advice="Put values together into one structure",
            )
        if given != len(pipeline.buffers):
            declared = ", ".join(f"{each.name} [[buffer({each.index})]]" for each in pipeline.buffers) or "none"
            raise ArgumentCountError(
                f"{pipeline.name}: {given} pointers and values were given; the kernel has {len(pipeline.buffers)} "
                f"buffer parameters: {declared}",
                kernel=pipeline.name,
                expected=len(pipeline.buffers),
                given=given,
            )

    # ------------------------------------------------ geometry

    def _shape(self, geometry: Geometry) -> _Shape:
        """Every length is rounded up to what Metal takes; the limit holds for what comes of that.

        `.shared_mem` is the first threadgroup parameter, local arguments are those that follow.
        """
        pipeline = self._pipeline
        self._check_positions(geometry)
        given = ([geometry.shared_mem] if geometry.shared_mem else []) + list(self._locals)
        rounded = [-(-length // THREADGROUP_GRANULE) * THREADGROUP_GRANULE for length in given]
        total = pipeline.static_threadgroup_nbytes + sum(rounded)
        if total > self._threadgroup_limit:
            raise LimitExceeded(
                kernel=pipeline.name,
                what="threadgroup memory in bytes",
                asked=total,
                limit=self._threadgroup_limit,
                device=self._device,
                advice=f"{pipeline.static_threadgroup_nbytes} are the kernel's own; each of {given} is rounded up to a "
                f"multiple of {THREADGROUP_GRANULE}",
            )
        indices = [each.index for each in pipeline.locals] or [0]
        missing = pipeline.locals[sum(1 for length in rounded if length) :]
        if missing:
            names = ", ".join(f"{each.name} [[threadgroup({each.index})]]" for each in missing)
            raise ArgumentCountError(
                f"{pipeline.name}: no memory is given for {names}; say how many bytes with .shared_mem(nbytes) or "
                ".arg_local(nbytes)",
                kernel=pipeline.name,
                expected=len(pipeline.locals),
                given=len(given),
            )
        for binding, length in zip(pipeline.locals, rounded, strict=False):
            if length < (binding.nbytes or 0):
                raise ArgumentSizeError(
                    f"{pipeline.name}: {length} bytes of threadgroup memory are given for {binding.name} "
                    f"[[threadgroup({binding.index})]], which has {binding.nbytes}",
                    kernel=pipeline.name,
                    name=binding.name,
                    expected=binding.nbytes,
                    given=length,
                )
        if len(rounded) > len(indices):
            raise ArgumentCountError(
                f"{pipeline.name}: {len(rounded)} pieces of threadgroup memory were given (.shared_mem counts as one); "
                f"the kernel has {len(pipeline.locals)} threadgroup parameters",
                kernel=pipeline.name,
                expected=len(pipeline.locals),
                given=len(rounded),
            )
        return _Shape(
            geometry, tuple((length, index) for length, index in zip(rounded, indices, strict=False) if length)
        )

    def _check_positions(self, geometry: Geometry) -> None:
        """Refuse more threads along an axis than `thread_position_in_grid` can count: it would begin again at 0."""
        for axis, blocks, threads in zip("xyz", geometry.grid.as_tuple(), geometry.block.as_tuple(), strict=True):
            if blocks * threads > MOST_POSITIONS:
                raise LimitExceeded(
                    kernel=self._pipeline.name,
                    what=f"threads along {axis} (grid.{axis} * block.{axis})",
                    asked=blocks * threads,
                    limit=MOST_POSITIONS,
                    device=self._device,
                    advice="Positions in the grid are 32-bit numbers in Metal; launch it in parts, or spread the "
                    "threads over another axis",
                )
