"""How far other backends have come, and what their coming so far says of our own streams.

A guest that has waited for its work tells nobody: it would have to take the owner's locks under its own, and two that
are each other's guests would stop each other for good. So the owner looks.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..lane import Lane
    from ..trace.findings import FaultBook


@dataclass(frozen=True, slots=True)
class _Link:
    """When the guest's stream is through `guest_sequence`, ours is through `sequence`, if it is so far otherwise.

    `faults` are the guest's: of a lost context every operation counts as done, also one that had to wait for ours.
    """

    guest: Lane
    guest_sequence: int
    faults: FaultBook
    sequence: int

    @property
    def is_reached(self) -> bool:
        return self.guest.is_done(self.guest_sequence) and self.faults.lost is None


class GuestProgress:
    """What is known of a backend's streams from streams of other backends. Nothing here waits or asks a driver.

    The links of one of our streams are looked at in its order: one guest's being done says nothing of another that
    the same stream waited for before.
    """

    def __init__(self) -> None:
        self._links: dict[Lane, deque[_Link]] = {}
        # No other lock is taken under it; entered again by a finaliser that runs in the middle.
        self._lock = threading.RLock()

    @property
    def links(self) -> dict[Lane, Any]:
        """What has links and which; only to be looked at."""
        return self._links

    @property
    def has_links(self) -> bool:
        """True when `look` may find something."""
        return bool(self._links)

    def note(self, lane: Lane, sequence: int, guest: Lane, guest_sequence: int, faults: FaultBook) -> None:
        """When the guest has come so far, our stream is through `sequence` and what it did before.

        Where ours waits for the guest the caller holds the lock of ours, so that such links come in its order.
        """
        link = _Link(guest, guest_sequence, faults, sequence)
        with self._lock:
            links = self._links.get(lane)
            if links is None:
                links = deque()
            links.append(link)
            self._links[lane] = links

    def look(self) -> None:
        """Tell our streams what the guests' progress means to them."""
        known = []
        with self._lock:
            for lane, links in list(self._links.items()):
                sequence = 0
                while links and (links[0].is_reached or lane.is_done(links[0].sequence)):
                    sequence = max(sequence, links.popleft().sequence)
                if not links:
                    self._links.pop(lane, None)
                if not lane.is_done(sequence):
                    known.append((lane, sequence))
        for lane, sequence in known:
            lane.reached(sequence)
