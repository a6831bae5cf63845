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

    __slots__ = ("_known", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[weakref.ref[Recording], ...] = ()

    def add(self, recording: Recording) -> None:
        """One more names it. It is not kept alive here."""
        new = weakref.ref(recording)
        with self._lock:
            self._known = (*(each for each in self._known if each() is not None), new)

    def let_go(self) -> None:
        """Let go of them all."""
        with self._lock:
            known, self._known = self._known, ()
        for each in known:
            recording = each()
            if recording is not None:
                recording.let_go()
