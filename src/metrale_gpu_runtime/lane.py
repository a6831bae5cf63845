"""The engine's book about one stream: what was queued, how far it is known to have come, what must live until then."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import HandleClosed
from .handles import EventHandle, StreamHandle
from .native import RING_LENGTH as RING_LENGTH
from .native import LaneState, Lock, ProgressState, Ring

if TYPE_CHECKING:
    from .calls.capture import Capture
    from .stream import Stream


class Progress(ProgressState):
    """One lock for all lanes of a backend, because progress of one can be progress of others.

    `count` is how often there was any, `seen` how much there had been when all waiting blocks were last looked at (-1:
    look at all of them).
    """

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.count, self.seen = 0, -1


class Lane(LaneState):
    """One stream as the engine keeps it.

    `lock` orders the driver calls that queue work; it is never held across a wait. `issued` counts the operations
    queued, `completed` those known to be done: known from a synchronisation, a query or an event that the program
    itself asked for, since asking the driver just to find out would make lazy drivers run work early.
    """

    __slots__ = (
        "birth_mark",
        "completed",
        "fence",
        "fence_sequence",
        "has_failed_wait",
        "is_foreign",
        "joins",
        "native",
        "owner",
        "progress",
        "retained",
        "waiters",
        "wrapper",
    )

    def __init__(self, handle: StreamHandle, *, is_synchronous: bool, progress: Progress, floor: int = 0) -> None:
        self.handle = handle
        self.lock = Lock()
        self.progress = progress
        self.is_synchronous = is_synchronous
        self.issued = self.completed = floor
        self.ring = Ring()
        # (sequence, what lives until then, what to do then)
        self.retained: deque[tuple[int, object, Callable[[], None] | None]] = deque()
        # (own sequence, other lane, its sequence): when the own one is done, the other's is too
        self.joins: deque[tuple[int, Lane, int]] = deque()
        self.capture: Capture | None = None
        self.gone = ""
        # The driver's handle, where launches are made natively.
        self.raw: int | None = None
        # An event of the engine's own, and the operation it marks (0: none), for streams that nobody waits for.
        self.fence: EventHandle | None = None
        self.fence_sequence = 0
        # An event behind the last allocation made in this stream's order.
        self.birth_mark: EventHandle | None = None
        # A wait ended with an error and nothing has been waited for since: frees in a clean-up do not raise then.
        self.has_failed_wait = False
        # Threads inside a wait for it; until they are back it is not destroyed.
        self.waiters = 0
        # Another library's stream: never destroyed here, and not waited for while it holds no work of ours, since its
        # maker may have destroyed it by then. `owner` is the object that keeps it, where one was given.
        self.is_foreign = False
        self.owner: object = None
        # The handle by which other libraries know it, once it was asked for; the Stream that stands for it.
        self.native: int | None = None
        self.wrapper: weakref.ref[Stream] | None = None

    def check_open(self) -> None:
        """Raise HandleClosed once the stream takes no more work; asked with the lock held."""
        if self.gone:
            raise HandleClosed(f"stream {self.handle} takes no more work: {self.gone}")

    def shut(self, how: str) -> None:
        """Let nothing more be queued; a call that is queueing now comes to its end first."""
        with self.lock:
            self.gone = self.gone or how

    def is_done(self, sequence: int) -> bool:
        """True when the operation of that number is known to be done."""
        # On a device that runs work at once an operation is issued when it is over.
        return sequence <= (self.issued if self.is_synchronous else self.completed)

    @property
    def is_idle(self) -> bool:
        return self.is_done(self.issued)

    def retain(self, sequence: int, what: object, then: Callable[[], None] | None = None) -> None:
        """Keep `what` alive until the operation is done, then call `then`."""
        if self.is_synchronous:
            if then is not None:
                then()
            return
        self.retained.append((sequence, what, then))

    def reached(self, sequence: int) -> None:
        """All operations up to this number are done, and so is what they waited for."""
        with self.progress.lock:
            self.ring.reached(sequence)
            if sequence > self.completed:
                self.completed = sequence
            # Counted when it can be seen: who looked a moment too early looks again.
            self.progress.count += 1
            if self.completed == self.issued:
                self.has_failed_wait = False
            while self.retained and self.retained[0][0] <= self.completed:
                _, _, then = self.retained.popleft()
                if then is not None:
                    then()
            while self.joins and self.joins[0][0] <= self.completed:
                _, other, other_sequence = self.joins.popleft()
                other.reached(other_sequence)

    def abandon(self) -> None:
        """The context is lost: nothing will be done any more, nothing needs to be kept."""
        with self.progress.lock:
            self.completed = self.issued
            self.progress.count += 1
            self.retained.clear()
            self.joins.clear()
