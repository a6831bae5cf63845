"""A kernel with one argument layout: where each argument goes, and one launch as calls of a compute pass.

All that can be refused is refused before anything is recorded: what wgpu finds wrong with a dispatch it says only when
the encoder is finished, and then all that was collected is lost.

Source: GPUComputePassEncoder (WebGPU), wgpuComputePassEncoderSetImmediates (webgpu.h).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from ...driver import ArgumentKind, ArgumentLayout, LaunchTarget
from ...errors import ArgumentCountError, ArgumentKindError, ArgumentSizeError, LimitExceeded
from ...geometry import Geometry
from ...handles import StreamHandle
from .bind_groups import Key, Member, make_group
from .device import Device
from .memory import WORD, Memory
from .pipelines import UNIFORM_GRANULE, WebgpuKernel
from .streams import WebgpuStream

NO_LAUNCH = -1
"""The ordinal of the driver's own kernels, which fill and copy."""

_NOTHING: tuple[bytes | None, Key, bytes] = (None, (), b"")


class WebgpuLaunchTarget(LaunchTarget):
    """Records launches. Safe to use from several threads: a launch shares nothing with another that can be changed.

    `binds_parts`: of memory that is too large to be bound, as much is bound as can be.
    """

    def __init__(
        self,
        device: Device,
        memory: Memory,
        streams: Mapping[StreamHandle, WebgpuStream],
        kernel: WebgpuKernel,
        layout: ArgumentLayout,
        *,
        binds_parts: bool = False,
    ) -> None:
        self._device, self._memory, self._streams, self._kernel = device, memory, streams, kernel
        self._check(layout)
        self._binds_parts = binds_parts
        lib = device.bindings.lib
        self._set_pipeline, self._set_group = (
            lib.wgpuComputePassEncoderSetPipeline,
            lib.wgpuComputePassEncoderSetBindGroup,
        )
        self._dispatch, self._set_immediates = (
            lib.wgpuComputePassEncoderDispatchWorkgroups,
            lib.wgpuComputePassEncoderSetImmediates,
        )
        self._groups = kernel.groups
        step = max(int(device.limits.minUniformBufferOffsetAlignment), UNIFORM_GRANULE)
        self._pointers = layout.reader([at for at, _, _ in kernel.storage])
        self._uniforms = layout.reader([at for at, _, _ in kernel.uniforms])
        self._places: list[tuple[int, int]] = []
        text, end = "<", 0
        for at, _, type in kernel.uniforms:
            self._places.append((len(self._places), end))
            room = -(-(type.nbytes or 0) // step) * step
            text += f"{layout.sizes[at]}s{room - layout.sizes[at]}x"
            end += room
        self._packed = struct.Struct(text)
        self._count = len(self._places)
        self._immediates = layout.reader([at for at, _, _ in kernel.immediates])
        self._immediate_places = [offset for _, offset, _ in kernel.immediates]
        self._immediate_nbytes = kernel.immediate_nbytes
        # The last image, and what was read of it; replaced as a whole, so that no thread sees a part.
        self._latest = _NOTHING
        self._latest_pipeline: tuple[Geometry | None, Any, int, int, int] = (None, None, 0, 0, 0)

    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        """Queue one launch. Raises InvalidPointer, LimitExceeded, ArgumentSizeError, GeometryError, CompileError for a
        new block, DriverFault. But for the last, nothing is queued then, and the stream is as it was."""
        shape, pipeline, x, y, z = self._latest_pipeline
        if shape is not geometry:
            grid = geometry.grid
            pipeline, x, y, z = self._kernel.pipeline(geometry), grid.x, grid.y, grid.z
            self._latest_pipeline = (geometry, pipeline, x, y, z)
        known, key, values = self._latest
        if known != image:
            key = self._pointers.unpack_from(image)
            values = self._packed.pack(*self._uniforms.unpack_from(image)) if self._count else b""
            self._latest = (bytes(image), key, values)
        queue = self._streams[stream]
        with queue.lock:
            count = self._count
            offsets = None
            if count:
                memory = queue.values()
                place = memory.places.get(values)
                if place is None:
                    place = queue.place(values)
                    memory = queue.values()
                offsets = queue.offsets
                for at, offset in self._places:
                    offsets[at] = place + offset
                key = (memory.number, *key)
            group = self._groups.get(key)
            if group is None:
                group = self._make_group(key, queue)
            compute = queue.compute
            if compute is None:
                compute = queue.open_pass()
            if queue.pipeline is not pipeline:
                self._set_pipeline(compute, pipeline)
                queue.pipeline = pipeline
            if offsets is None:
                self._set_group(compute, 0, group, 0, self._device.bindings.ffi.NULL)
            else:
                self._set_group(compute, 0, group, count, offsets)
            if self._immediate_nbytes:
                self._set_immediates(compute, 0, self._immediate_bytes(image), self._immediate_nbytes)
            self._dispatch(compute, x, y, z)
            queue.ordinals.append(ordinal)
            queue.recorded()

    # ------------------------------------------------ arguments

    def _immediate_bytes(self, image: bytes | bytearray) -> bytes:
        data = bytearray(self._immediate_nbytes)
        for place, value in zip(self._immediate_places, self._immediates.unpack_from(image), strict=True):
            data[place : place + len(value)] = value
        return bytes(data)

    def _make_group(self, key: Key, queue: WebgpuStream) -> Any:
        """The bind group of a launch that binds what no launch before it did."""
        kernel, members = self._kernel, []
        entries: list[tuple[int, Any, int, int]] = []
        found: list[Member] = []
        addresses = key[1:] if self._count else key
        for (at, binding, type), address in zip(kernel.storage, addresses, strict=True):
            what = f"{kernel.name}: argument {at} ({kernel.names[at]})"
            allocation, offset = self._memory.find(address, 1, what)
            nbytes = allocation.length - offset
            if self._binds_parts:
                nbytes = min(nbytes, int(self._device.limits.maxStorageBufferBindingSize) // WORD * WORD)
            self._check_binding(at, nbytes, (type.nbytes or type.least_nbytes or 0), allocation.nbytes - offset)
            entries.append((binding, allocation.native, offset, nbytes))
            members.append(allocation)
        found.extend(members)
        if self._count:
            values = queue.values()
            for _, binding, type in kernel.uniforms:
                nbytes = -(-(type.nbytes or 0) // UNIFORM_GRANULE) * UNIFORM_GRANULE
                entries.append((binding, values.native, 0, nbytes))
            found.append(values)
        group = make_group(self._device, kernel.group_layout, entries)
        self._memory.groups.enter(self._groups, key, group, found)
        return group

    def _check_binding(self, at: int, nbytes: int, needed: int, given: int) -> None:
        kernel, limit = self._kernel, int(self._device.limits.maxStorageBufferBindingSize)
        if nbytes > limit:
            raise LimitExceeded(
                kernel=kernel.name,
                what=f"bytes of memory bound as argument {at} ({kernel.names[at]})",
                asked=nbytes,
                limit=limit,
                device=self._device.name,
                advice="From the pointer to the end of its buffer is bound; put the data into several buffers",
            )
        if nbytes < needed:
            raise ArgumentSizeError(
                f"{kernel.name}: argument {at} ({kernel.names[at]}): {given} bytes lie behind the pointer; what the "
                f"kernel declares has {needed}",
                kernel=kernel.name,
                index=at,
                name=kernel.names[at],
                expected=needed,
                given=given,
            )

    def _check(self, layout: ArgumentLayout) -> None:
        """Raise where the kernel has no such parameters, by count, kind or size."""
        kernel = self._kernel
        if len(layout.kinds) != len(kernel.names):
            raise ArgumentCountError(
                f"{kernel.name}: {len(layout.kinds)} arguments were given; the kernel has {len(kernel.names)}: "
                f"{', '.join(kernel.names) or 'none'}",
                kernel=kernel.name,
                expected=len(kernel.names),
                given=len(layout.kinds),
            )
        pointers = {at for at, _, _ in kernel.storage}
        for at, kind in enumerate(layout.kinds):
            wanted = ArgumentKind.POINTER if at in pointers else ArgumentKind.VALUE
            if kind is not wanted:
                raise ArgumentKindError(
                    f"{kernel.name}: argument {at} ({kernel.names[at]}) is a {kind.value}; the kernel declares "
                    f"{'memory' if at in pointers else 'a value'} there",
                    kernel=kernel.name,
                    index=at,
                    name=kernel.names[at],
                    expected=wanted.value,
                    given=kind.value,
                )
        for at, _, type in (*kernel.uniforms, *kernel.immediates):
            if layout.sizes[at] != type.nbytes:
                raise ArgumentSizeError(
                    f"{kernel.name}: argument {at} ({kernel.names[at]}) has {layout.sizes[at]} bytes; {type.spelling} "
                    f"has {type.nbytes}",
                    kernel=kernel.name,
                    index=at,
                    name=kernel.names[at],
                    expected=type.nbytes,
                    given=layout.sizes[at],
                )
