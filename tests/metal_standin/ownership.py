"""Objects of Objective-C with their reference counts, and the autorelease pools of threads."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any, ClassVar

from .journal import journal

if TYPE_CHECKING:
    from .world import World

# The one lock of the stand-in, so that there is no order of locks to keep. Reentrant: the collector may release a proxy
# in the middle of anything, on the same thread.
lock = threading.RLock()


class Native:
    """One native object. It is made with a count of 1, which belongs to whoever made it."""

    protocol: ClassVar[str] = "NSObject"
    __slots__ = ("count", "is_dead", "proxy", "world")

    def __init__(self, world: World) -> None:
        self.count = 1
        self.is_dead = False
        self.proxy: weakref.ref[Any] | None = None
        self.world = world
        with lock:
            world.natives.add(self)

    def retain(self) -> None:
        with lock:
            if self.is_dead:
                journal.note(f"{self.protocol}: retained after it was deallocated")
                return
            self.count += 1

    def release(self) -> None:
        with lock:
            if self.is_dead:
                # Of a world that has ended everything was dropped; its proxies may go later.
                if not self.world.is_over:
                    journal.note(f"{self.protocol}: released once too often")
                return
            self.count -= 1
            if self.count:
                return
            self.is_dead = True
            self.world.natives.discard(self)
        self.dealloc()

    def dealloc(self) -> None:
        """Release what this object holds."""


class Fresh:
    """Marks a method's result as made by this call: its count of 1 goes to the caller, or to the pool."""

    __slots__ = ("native",)

    def __init__(self, native: Native) -> None:
        self.native = native


class _Pools(threading.local):
    def __init__(self) -> None:
        self.stack: list[list[Native]] = []


_pools = _Pools()


def autorelease(native: Native, what: str) -> None:
    """Leave one count of `native` to the innermost pool of this thread; without one it is never released."""
    if _pools.stack:
        _pools.stack[-1].append(native)
    else:
        journal.note(f"{what}: autoreleased with no pool in place; it leaks")


def expect_pool(what: str) -> None:
    """The same for results that are Python values here: texts are objects of Objective-C."""
    if not _pools.stack:
        journal.note(f"{what}: autoreleased with no pool in place; it leaks")


class AutoreleasePool:
    """objc.autorelease_pool: what is autoreleased inside is released at its end, by the thread that began it."""

    __slots__ = ("_pool",)

    def __enter__(self) -> None:
        self._pool: list[Native] = []
        _pools.stack.append(self._pool)

    def __exit__(self, *_: object) -> None:
        stack = _pools.stack
        if not stack or stack[-1] is not self._pool:
            journal.note("an autorelease pool was left on another thread than it was entered on, or out of order")
            if self._pool not in stack:
                return
            stack.remove(self._pool)
        else:
            stack.pop()
        for native in reversed(self._pool):
            native.release()
