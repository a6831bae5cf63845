"""Frees that wait: memory nobody refers to any more goes back only when the streams that use it have passed."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .allocation import Block
from .guests import GuestProgress

if TYPE_CHECKING:
    from ..lane import Lane, Progress
    from ..trace.operations import QueuedOperation
    from .ledger import Ledger

POLL_COUNT = 64
POLL_NBYTES = 64 << 20
"""From so many waiting blocks or bytes on, an allocation asks the driver how far the streams have come."""


class InFlight:
    """What was dropped while queued work still used it.

    `give_back` returns one block's memory to the driver. Nothing here waits or asks the driver. No lock is held while
    memory is given back.
    """

    def __init__(
        self, ledger: Ledger, lanes: Mapping[int, Lane], progress: Progress, give_back: Callable[[Block], None]
    ) -> None:
        self._ledger, self._lanes, self._progress, self._give_back = ledger, lanes, progress, give_back
        self.guests = GuestProgress()
        self._waiting: dict[int, Block] = {}
        self._waiting_nbytes = 0
        self._deferred: deque[Block] = deque()
        self._next_poll = POLL_COUNT
        self._lock = threading.RLock()
        self._held = 0
        progress.seen = -1

    @property
    def watched(self) -> tuple[deque[Block], dict[int, Block], dict[Lane, Any]]:
        """What `has_work` looks at, beside the progress: for a gate that looks by itself."""
        return self._deferred, self._waiting, self.guests.links

    def pending_uses(self, block: Block) -> list[QueuedOperation]:
        """The queued operations that use the block and are not known to be done, one a stream at most."""
        pending = []
        for stream, operation in list(block.uses.items()):
            lane = self._lanes.get(stream)
            if lane is not None and not lane.is_done(operation.sequence):
                pending.append(operation)
        return pending

    def lanes_of(self, uses: Iterable[QueuedOperation]) -> list[Lane]:
        """The streams of these operations, by their numbers; another thread may have destroyed some meanwhile."""
        lanes = (self._lanes.get(number) for number in sorted({use.stream for use in uses}))
        return [lane for lane in lanes if lane is not None]

    def hold(self) -> None:
        """Give nothing back until `release`: a capture is under way, which some drivers lose by a free."""
        with self._lock:
            self._held += 1

    def release(self) -> None:
        with self._lock:
            self._held -= 1
            self._progress.seen = -1
        self.settle()

    def defer(self, block: Block) -> None:
        """Give a block back as soon as nothing uses it. Takes no lock: it may come from a finaliser."""
        self._deferred.append(block)

    def _wait(self, block: Block) -> None:
        if block.index not in self._waiting:
            self._waiting[block.index] = block
            self._waiting_nbytes += block.nbytes

    @property
    def has_work(self) -> bool:
        """True when `settle` may find something to give back."""
        if self.guests.has_links:
            self.guests.look()
        if self._ledger.dropped or self._deferred:
            return True
        return self._progress.seen != self._progress.count and bool(self._waiting)

    def settle(self) -> int:
        """Give back what nothing uses any more; how many blocks that were."""
        if not self.has_work:
            return 0
        with self._lock:
            new = self._take_dropped()
            # Read once: progress that another thread makes while we look is looked at the next time.
            count = self._progress.count
            if self._held:
                self._progress.seen = count
                return 0
            # Without progress the others are as they were when they were last looked at.
            candidates = new if self._progress.seen == count else list(self._waiting.values())
            self._progress.seen = count
            ready = [block for block in candidates if not self.pending_uses(block)]
            # A finaliser that runs in the middle may have settled some of them.
            ready = [block for block in ready if self._waiting.pop(block.index, None) is not None]
            self._waiting_nbytes -= sum(block.nbytes for block in ready)
            self._next_poll = max(POLL_COUNT, min(self._next_poll, len(self._waiting) + POLL_COUNT))
        for at, block in enumerate(ready):
            try:
                self._give_back(block)
            except BaseException:
                for rest in ready[at + 1 :]:
                    self.defer(rest)
                raise
        return len(ready)

    def _take_dropped(self) -> list[Block]:
        new = []
        dropped = self._ledger.dropped
        while dropped:
            block = dropped.popleft()
            if block.owned and not block.gone:
                self._wait(block)
                new.append(block)
        while self._deferred:
            block = self._deferred.popleft()
            self._wait(block)
            new.append(block)
        return new

    def lanes_to_poll(self) -> list[Lane]:
        """The streams that hold something back, when so much waits that it is worth a question to the driver."""
        if len(self._waiting) < self._next_poll and self._waiting_nbytes < POLL_NBYTES:
            return []
        # Asked again only when more has piled up: an answer takes as long as the stream does.
        self._next_poll = len(self._waiting) + POLL_COUNT // 2
        return self.lanes_waited_for()

    def lanes_waited_for(self) -> list[Lane]:
        """The streams that hold something back."""
        with self._lock:
            uses = [use for block in self._waiting.values() for use in self.pending_uses(block)]
        return self.lanes_of(uses)

    def is_waiting(self, block: Block) -> bool:
        """True for a block that will be given back."""
        return self._waiting.get(block.index) is block or block in self._deferred
