"""Processes that share PoCL's folder build in turns: PoCL 3.1 does not hold up several in it at once.

Two that build, load or hand out one program at the same time read each other's half-written files: a build is refused
without a word, or an assertion ends the process. So each takes a lock in that folder while it does. The system lets go
of it when a process ends, however it ends. Where there can be no lock, PoCL is used without, as by anybody else.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from .pocl_needs import folder

POCL: Final = "Portable Computing Language"
LOCK_NAME: Final = ".metrale-turns"
# Somebody who hangs in a build does not keep the others for ever.
_LIMIT_S: Final = 60.0
_PAUSE_S: Final = 0.005

_threads = threading.Lock()


@contextmanager
def building(device: Any) -> Iterator[None]:
    """While this is entered no other thread or process builds on PoCL in its folder; other platforms need no turns."""
    if device.platform.name.strip("\0 ") != POCL:
        yield
        return
    # Locks of files are the process's: they tell no threads apart, and are not inherited over a fork (fcntl(2)).
    with _threads:
        file = _opened()
        try:
            if file is not None:
                _take(file)
            yield
        finally:
            if file is not None:
                os.close(file)


def _opened() -> int | None:
    place = folder()
    try:
        import fcntl  # noqa: F401  not there on Windows, where PoCL's folder is nobody's habit

        os.makedirs(place, mode=0o700, exist_ok=True)
        return os.open(os.path.join(place, LOCK_NAME), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except (ImportError, OSError):
        return None


def _take(file: int) -> None:
    import fcntl

    until = time.monotonic() + _LIMIT_S
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                return
            time.sleep(_PAUSE_S)
        except OSError:  # a file system without locks
            return


def _renew_lock() -> None:
    """After a fork: the thread that held the lock is not in this process to let go of it."""
    global _threads
    _threads = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
