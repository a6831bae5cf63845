"""MTLEvent and MTLSharedEvent: a number that rises, which queues and the host set and wait for."""

from __future__ import annotations

import time
from typing import Any

from .foundation import Base
from .journal import journal
from .messages import models
from .world import World

# UINT64_MAX milliseconds is how callers say "for ever"; a lock takes no more than this.
_LONGEST_S = 1e6


@models
class Event(Base):
    """MTLEvent: between the queues of one device."""

    protocol = "MTLEvent"
    __slots__ = ("device", "label", "value")

    def __init__(self, world: World, device: Any) -> None:
        super().__init__(world)
        self.device, self.value, self.label = device, 0, None

    def signal(self, value: int) -> None:
        with self.world.change:
            if value < self.value:
                journal.note(f"{self.protocol}: signalled with {value} after {self.value}; values only rise")
            self.value = value
            self.world.change.notify_all()

    def do_device(self) -> Any:
        return self.device

    def do_label(self) -> Any:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.label = label


@models
class SharedEvent(Event):
    """An event whose number the host sees and sets as well."""

    protocol = "MTLSharedEvent"
    __slots__ = ()

    def do_signaledValue(self) -> int:
        return self.value

    def do_setSignaledValue_(self, value: int) -> None:
        with self.world.change:
            self.signal(value)

    def do_waitUntilSignaledValue_timeoutMS_(self, value: int, timeout_ms: int) -> bool:
        end = time.monotonic() + min(timeout_ms / 1000, _LONGEST_S)
        with self.world.change:
            while self.value < value:
                left = end - time.monotonic()
                if left <= 0 or self.world.is_over:
                    return False
                self.world.change.wait(left)
        return True
