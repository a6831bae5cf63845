"""What the encoders share: their states, and the work that they leave with their command buffer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .foundation import Base
from .journal import journal
from .world import World

if TYPE_CHECKING:
    from .command_buffers import CommandBuffer


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a command buffer failed: MTLCommandBufferError code, and the encoder that did it, where it is known."""

    code: int
    encoder: int | None
    text: str = ""


@dataclass(slots=True)
class Work:
    """What one encoder encoded, in order: each an operation that returns None or a fault's code and text."""

    ordinal: int
    operations: list[Callable[[World], tuple[int, str] | None]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    # Blocks of the arena that are resident while it runs: (offset, rounded size, writable).
    resident: dict[tuple[int, int, bool], None] = field(default_factory=dict)
    unretained: dict[Any, None] = field(default_factory=dict)

    def run(self, world: World) -> Fault | None:
        from .arena import arena

        for native in self.unretained:
            if native.is_dead:
                text = f"{native.protocol} was deallocated before the command buffer that uses it had run"
                journal.note(text)
                return Fault(3, self.ordinal, text)
        memory = arena()
        blocks = list(self.resident)
        memory.open(blocks)
        try:
            for operation in self.operations:
                found = operation(world)
                if found is not None:
                    return Fault(found[0], self.ordinal, found[1])
        finally:
            memory.close(blocks)
        return None

    def let_go(self) -> None:
        self.operations.clear()
        self.resident.clear()
        self.unretained.clear()


class Encoder(Base):
    """One encoder: open from its making until `endEncoding`."""

    __slots__ = ("buffer", "has_ended", "label", "ordinal", "work")
    kind = ""

    def __init__(self, world: World, buffer: CommandBuffer, ordinal: int) -> None:
        super().__init__(world)
        buffer.retain()
        self.buffer, self.ordinal = buffer, ordinal
        self.label = ""
        self.has_ended = False
        self.work = Work(ordinal)

    def dealloc(self) -> None:
        if not self.has_ended:
            journal.note(f"{self.protocol} {self.label!r}: released without endEncoding")
            self.buffer.open_encoder = None
        self.buffer.release()

    def check_open(self, what: str) -> None:
        if self.has_ended:
            raise journal.abort(f"{self.protocol} {what}: the encoder {self.label!r} has ended")

    def use(self, resource: Any, writable: bool, what: str) -> None:
        """Keep a buffer for the time that the encoder's work runs. Raises for another device's."""
        if resource.device is not self.buffer.queue.device:
            raise journal.abort(f"{self.protocol} {what}: the buffer is another device's")
        self.buffer.hold(resource)
        if not self.buffer.retains:
            self.work.unretained[resource] = None
        self.work.resident[resource.offset, resource.rounded, writable] = None

    def do_endEncoding(self) -> None:
        self.check_open("endEncoding")
        self.has_ended = True
        self.buffer.open_encoder = None

    def do_label(self) -> str:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.check_open("setLabel:")
        self.label = label or ""

    def do_device(self) -> Any:
        return self.buffer.queue.device

    def do_insertDebugSignpost_(self, text: Any) -> None:
        self.check_open("insertDebugSignpost:")

    def do_pushDebugGroup_(self, text: Any) -> None:
        self.check_open("pushDebugGroup:")

    def do_popDebugGroup(self) -> None:
        self.check_open("popDebugGroup")
