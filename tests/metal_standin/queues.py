"""MTLCommandQueue: hands out command buffers, and runs those committed, in order, on a thread of its own."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from .foundation import Base
from .journal import journal
from .messages import models
from .ownership import Fresh
from .world import World

if TYPE_CHECKING:
    from .command_buffers import CommandBuffer


@models
class CommandQueue(Base):
    """One queue. After a command buffer failed, what was and is committed behind it is refused by the device."""

    protocol = "MTLCommandQueue"
    __slots__ = (
        "device",
        "is_closed",
        "is_revoked",
        "label",
        "max_count",
        "ordinal",
        "outstanding",
        "thread",
        "waiting",
    )

    def __init__(self, world: World, device: Any, max_count: int) -> None:
        super().__init__(world)
        self.device, self.max_count, self.label = device, max_count, None
        self.waiting: deque[CommandBuffer] = deque()
        # Made and not done: what the limit counts. `uncommitted` of them cannot end by themselves.
        self.outstanding: set[CommandBuffer] = set()
        self.thread: threading.Thread | None = None
        self.is_revoked = False
        self.is_closed = False
        with world.change:
            self.ordinal = world.queue_ordinals
            world.queue_ordinals += 1
            world.queues.append(self)

    def dealloc(self) -> None:
        with self.world.change:
            self.is_closed = True
            if self in self.world.queues:
                self.world.queues.remove(self)
            self.world.change.notify_all()

    def do_label(self) -> Any:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.label = label

    def do_device(self) -> Any:
        return self.device

    def _make(self, retained: bool, error_options: int) -> Fresh:
        from .command_buffers import CommandBuffer

        end = time.monotonic() + self.world.facts.patience_s
        with self.world.change:
            while len(self.outstanding) >= self.max_count:
                if all(not buffer.is_committed for buffer in self.outstanding):
                    raise journal.abort(
                        f"MTLCommandQueue commandBuffer: all {self.max_count} command buffers are made and none is "
                        "committed; this would wait for ever"
                    )
                left = end - time.monotonic()
                if left <= 0:
                    raise journal.abort(f"MTLCommandQueue commandBuffer: no room among {self.max_count} for too long")
                self.world.change.wait(left)
            made = CommandBuffer(self.world, self, retained, error_options)
            self.outstanding.add(made)
            return Fresh(made)

    def do_commandBuffer(self) -> Fresh:
        return self._make(True, 0)

    def do_commandBufferWithUnretainedReferences(self) -> Fresh:
        return self._make(False, 0)

    def do_commandBufferWithDescriptor_(self, descriptor: Any) -> Fresh:
        if descriptor is None:
            raise journal.abort("MTLCommandQueue commandBufferWithDescriptor: the descriptor is nil")
        return self._make(descriptor.values["retainedReferences"], descriptor.values["errorOptions"])

    def prepare(self) -> None:
        """Have a thread that runs what is committed. Never with the lock held: `start` waits for the new thread, in
        which the collector may run first, and what it lets go of takes the lock."""
        with self.world.change:
            if self.thread is not None:
                return
            # As a thread of the package's own, that of a Metal queue being nobody's in Python.
            self.thread = threading.Thread(
                target=self._work, name=f"metrale-stand-in Metal queue {self.ordinal}", daemon=True
            )
        self.thread.start()

    def enter(self, buffer: CommandBuffer) -> None:
        """Take one committed command buffer. `prepare` comes before it."""
        with self.world.change:
            self.waiting.append(buffer)
            self.world.change.notify_all()

    def _work(self) -> None:
        while True:
            with self.world.change:
                while not self.waiting:
                    if self.is_closed or self.world.is_over:
                        return
                    self.world.change.wait()
                buffer = self.waiting.popleft()
            buffer.schedule()
            if not self.world.pass_gate(self):
                return
            world = self.world
            with world.change:
                world.running.add(buffer)
            buffer.run()
            self.leave(buffer)
            # The thread owned one reference, taken by commit: with it the last may go, the queue's own included.
            buffer.release()
            with world.change:
                world.running.discard(buffer)
                world.change.notify_all()
            del buffer

    def leave(self, buffer: CommandBuffer) -> None:
        with self.world.change:
            self.outstanding.discard(buffer)
            self.world.change.notify_all()
