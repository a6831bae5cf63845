"""A command buffer from the first operation encoded into it to the moment its outcome is read.

Its outcome is read once, by whoever comes first, after the outcomes of all that it comes behind: the command buffer
before it in its queue, and those of other streams that it waits for. So a failure is known before the work behind it
is taken for good. Nothing here takes a stream's lock: a stream may wait for another one while it holds its own.

Source: MTLCommandBuffer (commit, status, error, waitUntilCompleted, GPUEndTime), MTLSharedEvent.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from typing import Any

from ...host_address import address_of
from .bindings import Bindings
from .faults import Failure, Pending, dropped_behind, read_failure, spoilt_behind, unreadable_failure
from .temporaries import Temporary

LONGEST_DROP_S = 0.1
"""How long dropping what lies behind a command buffer that failed may take. A stream's lock is held so long."""


class CommandBuffer:
    """Operations that are handed to the GPU together. `native` is the MTLCommandBuffer, None once it is over.

    `event` and `value`: what it signals at its end. `ordinals` are the launches in it, `awaits` the command buffers of
    other streams that it waits for, `temporaries` the buffers that must live until it is done. `pending` is the fault
    of the stream that speaks of it, once there is one.
    """

    __slots__ = (
        "__weakref__",
        "_bindings",
        "_deliveries",
        "_lock",
        "awaits",
        "end_time_s",
        "event",
        "failure",
        "is_over",
        "native",
        "operations",
        "ordinals",
        "pending",
        "previous",
        "temporaries",
        "value",
    )

    def __init__(self, bindings: Bindings, native: Any, event: Any) -> None:
        self._bindings, self.native, self.event = bindings, native, event
        self._lock = threading.Lock()
        self._deliveries: list[tuple[Temporary, int, memoryview]] = []
        self.operations = 0
        self.ordinals: list[int] = []
        self.awaits: list[CommandBuffer] = []
        self.temporaries: list[Temporary] = []
        self.previous: CommandBuffer | None = None
        self.value = 0
        self.is_over = False
        self.failure: Failure | None = None
        self.pending: Pending | None = None
        self.end_time_s = 0.0

    @property
    def is_empty(self) -> bool:
        """Nothing was encoded into it."""
        return not self.operations and not self.awaits

    def deliver(self, temporary: Temporary, offset: int, target: memoryview) -> None:
        """When it is done, copy what is in a staging buffer of it to the host."""
        self._deliveries.append((temporary, offset, target))

    def discard(self) -> None:
        """It will not be committed: let go of what it would have used."""
        with self._lock:
            self._let_go()

    # ------------------------------------------------ its end

    def wait(self) -> None:
        """Wait until it is done and its outcome is read."""
        _settle(self, is_waiting=True)

    def poll(self) -> bool:
        """True when it is done; its outcome is read then."""
        return self.is_over or _settle(self, is_waiting=False)

    def wait_dropped(self) -> None:
        """Wait for a command buffer behind one that failed, which Metal drops at once.

        Should it run all the same, it is waited for like any other, behind all that it waits for itself.
        """
        end = time.monotonic() + LONGEST_DROP_S
        while not self.is_done():
            if time.monotonic() > end:
                self.wait()
                return
            time.sleep(0.0001)
        self.settle()

    def blocker(self) -> CommandBuffer | None:
        """A command buffer that has to be over first."""
        before = self.previous
        if before is not None and not before.is_over:
            return before
        return next((each for each in self.awaits if not each.is_over), None)

    def is_done(self) -> bool:
        native = self.native
        return native is None or native.status() >= self._bindings.metal.MTLCommandBufferStatusCompleted

    def wait_natively(self) -> None:
        native = self.native
        if native is not None:
            with self._bindings.pool():
                native.waitUntilCompleted()

    def settle(self) -> None:
        """Read the outcome of what is done, hand over what it read back, let go of what it used."""
        with self._lock:
            if self.is_over:
                return
            try:
                self.failure = self._outcome()
                self.end_time_s = float(self.native.GPUEndTime()) or host_time_s()
            except Exception as error:
                self.failure = unreadable_failure(error, self.ordinals)
            if self.failure is not None:
                self._release_waiting()
            else:
                for temporary, offset, target in self._deliveries:
                    ctypes.memmove(address_of(target), temporary.host + offset, target.nbytes)
            self._let_go()

    def _release_waiting(self) -> None:
        """The GPU may not have come to its signal, or nobody knows; whoever waits for it must not wait for ever."""
        try:
            if self.event.signaledValue() < self.value:
                self.event.setSignaledValue_(self.value)
        except Exception as error:
            self.failure = unreadable_failure(error, self.ordinals)

    def _outcome(self) -> Failure | None:
        upstream = self.upstream()
        if self.native.status() == self._bindings.metal.MTLCommandBufferStatusError:
            with self._bindings.pool():
                own = read_failure(self._bindings, self.native, self.ordinals)
            return own if upstream is None else dropped_behind(upstream, own)
        return None if upstream is None else spoilt_behind(upstream, self.ordinals)

    def upstream(self) -> Failure | None:
        """The failure of what it comes behind, as far as that is known."""
        before = self.previous
        # What was queued after a fault was told is not behind it: such a fault names all that is.
        if before is not None and before.failure is not None and before.pending in (None, self.pending):
            return before.failure
        return next((each.failure for each in self.awaits if each.failure is not None), None)

    def _let_go(self) -> None:
        for temporary in self.temporaries:
            temporary.give_back()
        self.temporaries.clear()
        self._deliveries.clear()
        self.is_over = True
        # Else each would keep all that came before it; and who remembers one that is over keeps nothing of Metal's.
        self.native = self.event = self.previous = None
        self.awaits.clear()


def _settle(last: CommandBuffer, *, is_waiting: bool) -> bool:
    """Read the outcome of a command buffer and of all that it comes behind, those first; False where one is not done.

    Waiting, in this order, is what releases a command buffer that waits for a stream which failed: the failed one is
    read first, and reading it sets the event.
    """
    stack = [last]
    while stack:
        top = stack[-1]
        if top.is_over:
            stack.pop()
            continue
        blocker = top.blocker()
        if blocker is not None:
            stack.append(blocker)
            continue
        if is_waiting:
            top.wait_natively()
        elif not top.is_done():
            return False
        top.settle()
    return True


def host_time_s() -> float:
    """Now, on the clock of GPUEndTime: seconds of the host's time without sleep (mach_absolute_time)."""
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_UPTIME_RAW)
    return time.monotonic()
