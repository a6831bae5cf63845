"""The live allocations of one device, and which buffer an address lies in.

Memory has no addresses in WebGPU. Ours are numbers that this backend gives out, each once: kernels never see them.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import Any

from ...errors import NotSupported, OutOfDeviceMemory
from ...ranges import RangeMap
from ..invented_addresses import invented_addresses
from ..stray_addresses import stray
from .bind_groups import BindGroups, Key
from .device import Device

WORD = 4
"""Copies, fills and bindings of WebGPU go by multiples of this; so buffers are made."""


@dataclass(slots=True, eq=False)
class Allocation:
    """One buffer: `nbytes` is what was asked for, `length` what the buffer has.

    `users` are the bind groups that name it.
    """

    native: Any
    base: int
    nbytes: int
    length: int
    users: set[tuple[int, Key]] = field(default_factory=set)


class Memory:
    """Allocations by address. Safe to use from several threads.

    `bases` holds the allocations by their first address, `groups` are the device's bind groups.
    """

    def __init__(self, device: Device, groups: BindGroups) -> None:
        self._device, self.groups = device, groups
        self._lock = threading.Lock()
        self._ranges: RangeMap[Allocation] = RangeMap()
        lib = device.bindings.lib
        self._usage = lib.WGPUBufferUsage_Storage | lib.WGPUBufferUsage_CopySrc | lib.WGPUBufferUsage_CopyDst
        self.bases: dict[int, Allocation] = {}

    # ------------------------------------------------ allocations

    def alloc(self, nbytes: int) -> int:
        """The address of a new buffer. Raises OutOfDeviceMemory, DriverFault when the device is lost."""
        length = -(-nbytes // WORD) * WORD
        limit = int(self._device.limits.maxBufferSize)
        if length > limit:
            raise OutOfDeviceMemory(
                f"webgpu: {nbytes:,} bytes were asked for; {self._device.name} allows {limit:,} in one buffer",
                nbytes=nbytes,
            )
        native = make_buffer(self._device, length, self._usage, nbytes)
        base = invented_addresses.take(length)
        with self._lock:
            allocation = Allocation(native, base, nbytes, length)
            self._ranges.insert(base, nbytes, allocation)
            self.bases[base] = allocation
        return base

    def free(self, address: int) -> None:
        """Let go of a buffer. It is not destroyed but released: wgpu frees it behind the work that uses it."""
        with self._lock:
            allocation = self.bases.pop(address, None)
            if allocation is None:
                return  # another thread closed the device meanwhile, and all went with it
            self._ranges.remove(address)
        self._release(allocation)

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            allocations = list(self.bases.values())
            self.bases.clear()
            self._ranges = RangeMap()
        for allocation in allocations:
            self._release(allocation)

    def _release(self, allocation: Allocation) -> None:
        self.groups.forget(allocation)
        self._device.bindings.lib.wgpuBufferRelease(allocation.native)

    # ------------------------------------------------ addresses

    def find(self, address: int, nbytes: int = 1, what: str = "webgpu") -> tuple[Allocation, int]:
        """(allocation, offset) of these bytes, all of them in it. Raises InvalidPointer; `what` begins its message."""
        with self._lock:
            allocation = self._ranges.find(address, nbytes)
            near = self._ranges.nearest(address) if allocation is None else None
        if allocation is None:
            raise stray(address, nbytes, near, what, self._device.name)
        return allocation, address - allocation.base

    # ------------------------------------------------ figures

    def figures(self) -> tuple[int, int]:
        """(free, total). WebGPU tells neither; a software device's memory is the host's. Raises NotSupported."""
        if not self._device.adapter.is_software:
            raise NotSupported(
                f"webgpu: {self._device.name} tells neither how much memory it has nor how much is free: WebGPU has no "
                "call for that",
                backend="webgpu",
                feature="memory figures",
            )
        figures = {}
        try:
            with open("/proc/meminfo", encoding="ascii") as lines:
                for line in lines:
                    name, _, value = line.partition(":")
                    figures[name] = int(value.split()[0]) * 1024
            return figures["MemAvailable"], figures["MemTotal"]
        except (OSError, KeyError):
            pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
            return pages, pages


def make_buffer(device: Device, length: int, usage: int, nbytes: int | None = None) -> Any:
    """A WGPUBuffer. Raises OutOfDeviceMemory, naming `nbytes`, DriverError, DriverFault."""
    bindings = device.bindings
    device.check_alive()
    descriptor = bindings.ffi.new("WGPUBufferDescriptor *")
    descriptor.size, descriptor.usage = length, usage
    native = bindings.lib.wgpuDeviceCreateBuffer(device.native, descriptor)
    error = device.take_error()
    if error is not None:
        if native != bindings.ffi.NULL:
            bindings.lib.wgpuBufferRelease(native)
        asked = length if nbytes is None else nbytes
        if error.kind == "OutOfMemory":
            raise OutOfDeviceMemory(
                f"webgpu: {asked:,} bytes were asked for; {device.name} has no more: {error.text}", nbytes=asked
            )
        device.refuse(error, "wgpuDeviceCreateBuffer")
    return native
