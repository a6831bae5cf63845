"""Bind groups, made once for each combination of buffers and given up with the first of them.

A bind group keeps its buffers in memory, so it must not outlive the allocations it names: each knows its groups.
Whoever got one from a table holds it himself until it is recorded; the last one to let go of it releases it.

Source: GPUBindGroup (WebGPU), WGPUBindGroupEntry (webgpu.h).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol

from .device import Device

MOST_KEPT = 256
"""Groups that one kernel keeps. The oldest is given up for a new one."""

Key = tuple[int, ...]


class Member(Protocol):
    """What a group names: memory, or the values of a stream."""

    @property
    def users(self) -> set[tuple[int, Key]]: ...


class GroupTable(dict[Key, Any]):
    """The groups of one kernel by the addresses in them: what a launch asks first, without a lock."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.members: dict[Key, tuple[Member, ...]] = {}


class BindGroups:
    """The tables of one device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._lock = threading.Lock()
        self._tables: dict[int, GroupTable] = {}
        self._count = 0

    def table(self) -> GroupTable:
        """A new table for a kernel."""
        with self._lock:
            self._count += 1
            table = self._tables[self._count] = GroupTable(self._count)
            return table

    def drop_table(self, table: GroupTable) -> None:
        """Give up a kernel's groups."""
        with self._lock:
            for key in list(table):
                self._drop(table, key)
            self._tables.pop(table.number, None)

    def enter(self, table: GroupTable, key: Key, group: Any, members: Sequence[Member]) -> None:
        """Keep a group, until one of its members is forgotten."""
        with self._lock:
            if key in table:
                return
            while len(table) >= MOST_KEPT:
                self._drop(table, next(iter(table)))
            table[key] = group
            table.members[key] = tuple(members)
            for member in members:
                member.users.add((table.number, key))

    def forget(self, member: Member) -> None:
        """Give up all groups that name it."""
        with self._lock:
            for number, key in list(member.users):
                table = self._tables.get(number)
                if table is not None:
                    self._drop(table, key)
            member.users.clear()

    def _drop(self, table: GroupTable, key: Key) -> None:
        table.pop(key, None)
        for member in table.members.pop(key, ()):
            member.users.discard((table.number, key))


def make_group(device: Device, layout: Any, entries: Sequence[tuple[int, Any, int, int]]) -> Any:
    """A WGPUBindGroup of (binding, buffer, offset, nbytes), released with its last reference. Raises DriverError."""
    bindings = device.bindings
    ffi, lib = bindings.ffi, bindings.lib
    natives, descriptor = ffi.new("WGPUBindGroupEntry[]", max(len(entries), 1)), ffi.new("WGPUBindGroupDescriptor *")
    for native, (binding, buffer, offset, nbytes) in zip(natives, entries, strict=False):
        native.binding, native.buffer, native.offset, native.size = binding, buffer, offset, nbytes
    descriptor.layout, descriptor.entryCount, descriptor.entries = layout, len(entries), natives
    group = lib.wgpuDeviceCreateBindGroup(device.native, descriptor)
    held = ffi.gc(group, lib.wgpuBindGroupRelease) if group != ffi.NULL else group
    device.check("wgpuDeviceCreateBindGroup")
    return held
