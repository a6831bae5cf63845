"""In which command buffers a kernel or a memory object is recorded: each keeps it alive, and goes when it has to go."""

from __future__ import annotations

import threading
import weakref
from typing import Protocol


class Recording(Protocol):
    """What names kernels and memory, and can be let go of."""

    def let_go(self) -> None: ...


class Recordings:
    """The recordings that name one kernel or memory object. Safe to use from several threads."""

    __slots__ = ("_known", "_lock", "_room")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: list[weakref.ref[Recording]] = []
        self._room = 16

    def add(self, recording: Recording) -> None:
        """One more names it, which is new here. It is not kept alive."""
        new = weakref.ref(recording)
        with self._lock:
            if len(self._known) >= self._room:
                # Those that are gone are left out now and then: looking for them each time would cost more and more.
                self._known = [each for each in self._known if each() is not None]
                self._room = max(16, 2 * len(self._known))
            self._known.append(new)

    def let_go(self) -> None:
        """Let go of them all."""
        with self._lock:
            known, self._known = self._known, []
        for each in known:
            recording = each()
            if recording is not None:
                recording.let_go()
