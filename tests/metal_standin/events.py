"""MTLSharedEvent: a number that rises, which queues and the host set and wait for."""

from __future__ import annotations

import time
from typing import Any

from .foundation import Base
from .journal import journal
from .messages import models
from .world import World


@models
class SharedEvent(Base):
    """One event. `MTLEvent` is the same without the host's side of it."""

    protocol = "MTLSharedEvent"
    __slots__ = ("device", "label", "value")

    def __init__(self, world: World, device: Any) -> None:
        super().__init__(world)
        self.device, self.value, self.label = device, 0, None

    def signal(self, value: int) -> None:
        with self.world.change:
            self.value = value
            self.world.change.notify_all()

    def do_device(self) -> Any:
        return self.device

    def do_label(self) -> Any:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.label = label

    def do_signaledValue(self) -> int:
        return self.value

    def do_setSignaledValue_(self, value: int) -> None:
        with self.world.change:
            if value < self.value:
                raise journal.abort(f"MTLSharedEvent setSignaledValue: {value} is below the present {self.value}")
            self.signal(value)

    def do_waitUntilSignaledValue_timeoutMS_(self, value: int, timeout_ms: int) -> bool:
        end = time.monotonic() + min(timeout_ms / 1000, threading_limit)
        with self.world.change:
            while self.value < value:
                left = end - time.monotonic()
                if left <= 0 or self.world.is_over:
                    return False
                self.world.change.wait(left)
        return True


@models
class Event(SharedEvent):
    """MTLEvent: between the queues of one device."""

    protocol = "MTLEvent"
    __slots__ = ()


# UINT64_MAX milliseconds is how callers say "for ever"; a lock takes no more than this.
threading_limit = 1e6
