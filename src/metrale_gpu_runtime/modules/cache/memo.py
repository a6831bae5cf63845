"""What this process has compiled, by key."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class CompileMemo(Generic[R]):
    """Compilations of this process by key, the most recent ones. Safe to use from several threads, and after a fork."""

    def __init__(self, most: int = 128) -> None:
        self._most = most
        self._results: dict[str, R] = {}
        self._lock = threading.Lock()
        self.hits = 0
        _memos.add(self)

    def get(self, key: str | None) -> R | None:
        """The remembered result of this key, or None."""
        with self._lock:
            result = self._results.get(key) if key is not None else None
            self.hits += result is not None
            return result

    def put(self, key: str | None, result: R) -> None:
        """Remember a result; one without a key is not kept."""
        if key is None:
            return
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._most:
                del self._results[next(iter(self._results))]

    def renew_lock(self) -> None:
        """After a fork: the thread that held the lock is not in this process to let go of it."""
        self._lock = threading.Lock()


_memos: weakref.WeakSet[CompileMemo[Any]] = weakref.WeakSet()


def _renew_locks() -> None:
    for memo in list(_memos):
        memo.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
