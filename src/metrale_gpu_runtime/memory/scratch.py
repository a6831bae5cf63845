"""Scratch memory: blocks used again in stream order, so that a step's temporaries cost no allocation."""

from __future__ import annotations

import threading

from .allocation import Allocation
from .in_flight import InFlight


class ScratchPool:
    """Spare blocks. One that was used on a stream is used again there without waiting, since work on one
    stream happens in order; elsewhere it is used again only when nothing queued uses it any more.
    """

    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight
        self._spare: list[Allocation] = []
        self._lock = threading.Lock()

    def take(self, nbytes: int, stream: int) -> Allocation | None:
        """The smallest spare block of at least `nbytes` and at most four times that, or None."""
        with self._lock:
            fitting = [
                (allocation.nbytes, at)
                for at, allocation in enumerate(self._spare)
                if nbytes <= allocation.nbytes <= max(4 * nbytes, 1 << 16)
                and all(use.stream == stream for use in self._in_flight.pending_uses(allocation.block))
            ]
            if not fitting:
                return None
            return self._spare.pop(min(fitting)[1])

    def put(self, allocation: Allocation) -> None:
        """Keep a block for the next who asks."""
        with self._lock:
            self._spare.append(allocation)

    def drop_spare(self) -> bool:
        """Let go of all spare blocks; True when there were any. Their memory follows when queued work is done."""
        with self._lock:
            had = bool(self._spare)
            self._spare.clear()
        return had
