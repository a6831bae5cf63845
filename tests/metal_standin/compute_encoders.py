"""MTLComputeCommandEncoder: bindings, and dispatches checked against the pipeline as Metal's validation does."""

from __future__ import annotations

import ctypes
from typing import Any

from .encoding import Encoder
from .interface import DATA
from .journal import journal
from .messages import models
from .world import World

_ENUMS: dict[str, int] = DATA["enums"]
SLOTS = 31
INLINE_NBYTES = 4096
_WRITE = _ENUMS["MTLResourceUsageWrite"]


@models
class ComputeEncoder(Encoder):
    """One compute encoder. Bindings stay from one dispatch to the next."""

    protocol = "MTLComputeCommandEncoder"
    __slots__ = ("buffers", "lengths", "pipeline", "values")

    def __init__(self, world: World, buffer: Any, ordinal: int) -> None:
        super().__init__(world, buffer, ordinal)
        self.pipeline: Any = None
        self.buffers: dict[int, tuple[Any, int]] = {}
        self.values: dict[int, bytes] = {}
        self.lengths: dict[int, int] = {}

    def _abort(self, what: str, text: str) -> Exception:
        return journal.abort(f"{self.protocol} {what}: {text}")

    def do_dispatchType(self) -> int:
        return _ENUMS["MTLDispatchTypeSerial"]

    def do_setComputePipelineState_(self, state: Any) -> None:
        self.check_open("setComputePipelineState:")
        if state is None:
            raise self._abort("setComputePipelineState:", "the state is nil")
        if state.device is not self.buffer.queue.device:
            raise self._abort("setComputePipelineState:", "the state is another device's")
        # Held whatever the command buffer's references are: those are about resources.
        if state not in self.buffer.held:
            state.retain()
            self.buffer.held[state] = None
        self.pipeline = state

    def _slot(self, what: str, index: int) -> None:
        self.check_open(what)
        if index >= SLOTS:
            raise self._abort(what, f"index {index}; there are {SLOTS} buffer slots, 0 to {SLOTS - 1}")

    def do_setBuffer_offset_atIndex_(self, buffer: Any, offset: int, index: int) -> None:
        what = "setBuffer:offset:atIndex:"
        self._slot(what, index)
        self.values.pop(index, None)
        if buffer is None:
            self.buffers.pop(index, None)
            return
        if offset >= buffer.length:
            raise self._abort(what, f"offset {offset} of a buffer of {buffer.length} bytes")
        self.use(buffer, True, what)
        self.buffers[index] = (buffer, offset)

    def do_setBufferOffset_atIndex_(self, offset: int, index: int) -> None:
        what = "setBufferOffset:atIndex:"
        self._slot(what, index)
        if index not in self.buffers:
            raise self._abort(what, f"no buffer is bound at index {index}")
        self.do_setBuffer_offset_atIndex_(self.buffers[index][0], offset, index)

    def do_setBytes_length_atIndex_(self, data: Any, length: int, index: int) -> None:
        what = "setBytes:length:atIndex:"
        self._slot(what, index)
        if data is None or not length:
            raise self._abort(what, "the bytes are nil or the length is 0")
        if length > INLINE_NBYTES:
            raise self._abort(what, f"{length} bytes; inline data has at most {INLINE_NBYTES}")
        self.buffers.pop(index, None)
        self.values[index] = bytes(data[:length])

    def do_setThreadgroupMemoryLength_atIndex_(self, length: int, index: int) -> None:
        what = "setThreadgroupMemoryLength:atIndex:"
        self._slot(what, index)
        if length % 16:
            raise self._abort(what, f"length {length} is no multiple of 16")
        limit = self.world.facts.threadgroup_memory
        if length > limit:
            raise self._abort(what, f"length {length}; the device has {limit}")
        if length:
            self.lengths[index] = length
        else:
            self.lengths.pop(index, None)

    def do_useResource_usage_(self, resource: Any, usage: int) -> None:
        what = "useResource:usage:"
        self.check_open(what)
        if resource is None or not usage:
            raise self._abort(what, "the resource is nil or the usage is 0")
        self.use(resource, bool(usage & _WRITE), what)

    def do_useResources_count_usage_(self, resources: Any, count: int, usage: int) -> None:
        for resource in resources[:count]:
            self.do_useResource_usage_(resource, usage)

    def do_memoryBarrierWithScope_(self, scope: int) -> None:
        self.check_open("memoryBarrierWithScope:")

    # ------------------------------------------------ dispatch

    def do_dispatchThreadgroups_threadsPerThreadgroup_(self, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
        what = "dispatchThreadgroups:threadsPerThreadgroup:"
        self.check_open(what)
        state = self.pipeline
        if state is None:
            raise self._abort(what, "no pipeline state is set")
        if 0 in grid or 0 in block:
            raise self._abort(what, f"a grid of {grid} threadgroups of {block} threads has no thread")
        threads = block[0] * block[1] * block[2]
        if threads > state.max_threads:
            raise self._abort(
                what, f"{threads} threads per threadgroup; pipeline {state.name} allows {state.max_threads}"
            )
        for axis, asked, limit in zip("xyz", block, self.world.facts.max_threads, strict=True):
            if asked > limit:
                raise self._abort(what, f"{asked} threads along {axis}; the device allows {limit}")
        self._threadgroup_memory(what, state)
        addresses, kept = self._addresses(what, state)
        lengths = {index: self.lengths[index] for index in state.by_kind["threadgroup"] if index in self.lengths}
        run = state.compiled.run

        # The default keeps the inline values alive as long as this operation.
        def operation(world: World, kept: list[Any] = kept) -> tuple[int, str] | None:
            crash = run(addresses, lengths, grid, block)
            if crash is None:
                return None
            address = f" at {crash.address:#x}" if crash.address is not None else ""
            return _CODES.get(crash.kind, 1), f"{_TEXTS.get(crash.kind, crash.kind)}{address}"

        self.work.operations.append(operation)
        self.work.texts.append(f"dispatch {state.name}")

    def _threadgroup_memory(self, what: str, state: Any) -> None:
        for index, binding in state.by_kind["threadgroup"].items():
            if index not in self.lengths:
                if not binding.is_used:
                    continue
                raise self._abort(
                    what, f"threadgroup memory {binding.name} at index {index} of {state.name} has no length"
                )
            if self.lengths[index] < binding.data_size:
                raise self._abort(
                    what,
                    f"threadgroup memory {binding.name} has {self.lengths[index]} bytes, needs {binding.data_size}",
                )
        total = state.static_nbytes + sum(self.lengths.values())
        limit = self.world.facts.threadgroup_memory
        if total > limit:
            raise self._abort(what, f"{total} bytes of threadgroup memory, static and set; the device has {limit}")

    def _addresses(self, what: str, state: Any) -> tuple[dict[int, int], list[Any]]:
        """Address of each buffer slot of the pipeline, and what must live until it has run."""
        addresses: dict[int, int] = {}
        kept: list[Any] = []
        for index, binding in state.by_kind["buffer"].items():
            if index in self.buffers:
                buffer, offset = self.buffers[index]
                if binding.alignment and offset % binding.alignment:
                    raise self._abort(
                        what, f"{binding.name} at index {index}: offset {offset}, alignment {binding.alignment}"
                    )
                size = buffer.length - offset
                addresses[index] = buffer.gpu() + offset
            elif index in self.values:
                size = len(self.values[index])
                if binding.access != "read":
                    raise self._abort(what, f"{binding.name} at index {index} is written; inline bytes are constant")
                room = ctypes.create_string_buffer(self.values[index] + b"\xa5" * 16, size + 16)
                kept.append(room)
                addresses[index] = ctypes.addressof(room)
            elif not binding.is_used:
                continue
            else:
                raise self._abort(what, f"missing buffer binding at index {index} for {binding.name} of {state.name}")
            if size < binding.data_size:
                raise self._abort(
                    what, f"{binding.name} at index {index}: {size} bytes bound, {binding.data_size} needed"
                )
        return addresses, kept


# MTLCommandBufferError by what the MSL room says of a crash; what is not here is an internal error.
_CODES = {"page fault": 3, "timeout": 2, "stack overflow": 12, "out of memory": 8}
_TEXTS = {"page fault": "Caused GPU Address Fault Error", "timeout": "Caused GPU Timeout Error"}
