"""Frees that wait: memory nobody refers to any more goes back only when the streams that use it have passed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .allocation import Block

if TYPE_CHECKING:
    from ..lane import Lane, Progress
    from ..trace.operations import QueuedOperation
    from .ledger import Ledger

POLL_COUNT = 64
POLL_NBYTES = 64 << 20
"""From so many waiting blocks or bytes on, an allocation asks the driver how far the streams have come."""


class InFlight:
    """What was dropped while queued work still used it.

    `give_back` returns one block's memory to the driver. Nothing here waits, but for `wait`.
    """

    def __init__(
        self, ledger: Ledger, lanes: Mapping[int, Lane], progress: Progress, give_back: Callable[[Block], None]
    ) -> None:
        self._ledger, self._lanes, self._progress, self._give_back = ledger, lanes, progress, give_back
        # How much progress there had been when the waiting blocks were last looked at.
        self._seen = -1
        self._waiting: list[Block] = []
        self._lock = threading.RLock()
        self._held = 0

    def pending_uses(self, block: Block) -> list[QueuedOperation]:
        """The queued operations that use the block and are not known to be done, one a stream at most."""
        pending = []
        for stream, operation in list(block.uses.items()):
            lane = self._lanes.get(stream)
            if lane is not None and not lane.is_done(operation.sequence):
                pending.append(operation)
        return pending

    def hold(self) -> None:
        """Give nothing back until `release`: a capture is under way, which some drivers lose by a free."""
        with self._lock:
            self._held += 1

    def release(self) -> None:
        with self._lock:
            self._held -= 1
            self._seen = -1
        self.settle()

    def defer(self, block: Block) -> None:
        """Give a block back as soon as nothing uses it."""
        with self._lock:
            self._waiting.append(block)
            self._seen = -1

    @property
    def has_work(self) -> bool:
        """True when `settle` may find something to give back."""
        return bool(self._ledger.dropped) or (self._seen != self._progress.count and bool(self._waiting))

    @property
    def is_pressing(self) -> bool:
        """True when enough waits to be worth a question to the driver."""
        return len(self._waiting) >= POLL_COUNT or sum(block.nbytes for block in self._waiting) >= POLL_NBYTES

    def settle(self) -> int:
        """Give back what nothing uses any more; how many blocks that were. Asks the driver nothing."""
        if not self.has_work:
            return 0
        with self._lock:
            self._seen = self._progress.count
            dropped = self._ledger.dropped
            while dropped:
                block = dropped.popleft()
                if block.owned and (not block.gone) and block not in self._waiting:
                    self._waiting.append(block)
            if self._held:
                return 0
            ready = [block for block in self._waiting if not self.pending_uses(block)]
            for block in ready:
                # One by one: what is raised for the first must not lose the others.
                self._waiting.remove(block)
                self._give_back(block)
            return len(ready)

    def lanes_waited_for(self) -> list[Lane]:
        """The streams that hold something back."""
        with self._lock:
            numbers = {use.stream for block in self._waiting for use in self.pending_uses(block)}
        return [lane for lane in (self._lanes.get(number) for number in sorted(numbers)) if lane is not None]

    def is_waiting(self, block: Block) -> bool:
        with self._lock:
            return block in self._waiting
