"""MTLBlitCommandEncoder: copies and fills of buffers."""

from __future__ import annotations

from typing import Any

from .arena import arena
from .encoding import Encoder
from .journal import journal
from .messages import models


@models
class BlitEncoder(Encoder):
    """One blit encoder."""

    protocol = "MTLBlitCommandEncoder"
    __slots__ = ()

    def _range(self, what: str, name: str, buffer: Any, offset: int, size: int) -> None:
        if buffer is None:
            raise journal.abort(f"{self.protocol} {what}: the {name} is nil")
        if offset + size > buffer.length:
            raise journal.abort(f"{self.protocol} {what}: {name} bytes [{offset}, {offset + size}) of {buffer.length}")

    def _aligned(self, what: str, **values: int) -> None:
        unit = self.world.facts.blit_granularity
        for name, value in values.items():
            if value % unit:
                raise journal.abort(f"{self.protocol} {what}: {name} is {value}; on macOS it is a multiple of {unit}")

    def do_copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self, source: Any, source_offset: int, target: Any, target_offset: int, size: int
    ) -> None:
        what = "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"
        self.check_open(what)
        if not size:
            raise journal.abort(f"{self.protocol} {what}: the size is 0")
        self._range(what, "source", source, source_offset, size)
        self._range(what, "destination", target, target_offset, size)
        self._aligned(what, sourceOffset=source_offset, destinationOffset=target_offset, size=size)
        if source is target and abs(source_offset - target_offset) < size:
            raise journal.abort(f"{self.protocol} {what}: the ranges of one buffer overlap, which is undefined")
        self.use(source, False, what)
        self.use(target, True, what)
        to, from_ = target.offset + target_offset, source.offset + source_offset
        self.work.operations.append(lambda world: arena().copy(to, from_, size))
        self.work.texts.append(f"copy {size}")

    def do_fillBuffer_range_value_(self, target: Any, range_: tuple[int, int], value: int) -> None:
        what = "fillBuffer:range:value:"
        self.check_open(what)
        start, size = range_
        if not size:
            raise journal.abort(f"{self.protocol} {what}: the length is 0")
        self._range(what, "destination", target, start, size)
        self._aligned(what, location=start, length=size)
        self.use(target, True, what)
        to, byte = target.offset + start, value & 0xFF
        self.work.operations.append(lambda world: arena().fill(to, byte, size))
        self.work.texts.append(f"fill {size}")

    def do_synchronizeResource_(self, resource: Any) -> None:
        self.check_open("synchronizeResource:")
        if resource is None or resource.storage != 1:
            raise journal.abort(f"{self.protocol} synchronizeResource: only managed storage has two copies")

    def do_updateFence_(self, fence: Any) -> None:
        raise journal.abort(f"{self.protocol} updateFence: fences are not modelled")
