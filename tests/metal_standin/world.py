"""All that stands for one machine with its Metal devices: facts, live objects, what the test asked to go wrong."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .ownership import lock

if TYPE_CHECKING:
    from .command_buffers import CommandBuffer
    from .devices import Device
    from .ownership import Native
    from .queues import CommandQueue


@dataclass
class Facts:
    """What the devices say of themselves, and the documented limits. A test may set each."""

    devices: int = 1
    name: str = "Apple M2 stand-in"
    unified: bool = True
    low_power: bool = False
    headless: bool = False
    removable: bool = False
    # MTLGPUFamily values that supportsFamily: answers with yes: Apple7, Apple8, Mac2, Common3, Metal3.
    families: tuple[int, ...] = (1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 2001, 2002, 3001, 3002, 3003, 5001)
    max_threads: tuple[int, int, int] = (1024, 1024, 1024)
    max_total_threads: int = 1024
    thread_execution_width: int = 32
    threadgroup_memory: int = 32768
    max_buffer_length: int = 1 << 33
    working_set: int = 1 << 34
    memory: int = 1 << 35
    gpu_addresses: bool = True
    # Apple's page on copyFromBuffer and fillBuffer: on macOS, offsets and sizes are multiples of 4.
    blit_granularity: int = 4
    # How long a message that waits for room on the queue waits before it is called a hang.
    patience_s: float = 20.0


@dataclass
class Failure:
    """One scripted failure: of the nth next operation of this kind."""

    kind: str
    nth: int
    code: int
    text: str
    encoder: str | int | None = None


@dataclass(frozen=True)
class Committed:
    """One command buffer as it was committed."""

    label: str
    queue: int
    encoders: tuple[str, ...]
    operations: tuple[str, ...]


@dataclass
class World:
    """One machine. `change` guards and announces every change of what the GPU does."""

    facts: Facts = field(default_factory=Facts)
    natives: set[Native] = field(default_factory=set)
    change: threading.Condition = field(default_factory=lambda: threading.Condition(lock))
    failures: list[Failure] = field(default_factory=list)
    committed: deque[Committed] = field(default_factory=lambda: deque(maxlen=20_000))
    # The labels of the encoders whose work ran to its end, and of those at which a command buffer failed.
    ran: deque[str] = field(default_factory=lambda: deque(maxlen=200_000))
    faulted: deque[str] = field(default_factory=lambda: deque(maxlen=200_000))
    queues: list[CommandQueue] = field(default_factory=list)
    running: set[CommandBuffer] = field(default_factory=set)
    devices: list[Device] = field(default_factory=list)
    is_held: bool = False
    # The thread whose waits for a command buffer let the GPU run although it is held, and how many of them there are now.
    awaited_by: int | None = None
    waits: int = 0
    # How many command buffers may run although it is held: of a queue by its ordinal, or of any (None).
    allowed: dict[int | None, int] = field(default_factory=dict)
    is_over: bool = False
    queue_ordinals: int = 0
    allocated: dict[int, int] = field(default_factory=dict)
    compile_library: Callable[..., Any] | None = None

    def failure(self, kind: str) -> Failure | None:
        """The scripted failure whose turn it is, used up by this."""
        with self.change:
            found = None
            for failure in [one for one in self.failures if one.kind == kind]:
                failure.nth -= 1
                if failure.nth == 0 and found is None:
                    found = failure
            if found is not None:
                self.failures.remove(found)
            return found

    def pass_gate(self, queue: CommandQueue) -> bool:
        """Wait until the GPU may run one more command buffer of this queue; False where this world is over.

        What a queue drops is not run, and is not held either.
        """
        with self.change:
            while self.is_held and not self.waits and not queue.is_revoked and not self.is_over:
                ticket = next((key for key in (queue.ordinal, None) if self.allowed.get(key)), -1)
                if ticket != -1:
                    self.allowed[ticket] -= 1
                    break
                self.change.wait()
            return not self.is_over

    def end(self) -> None:
        """Let its threads end; what is still alive is forgotten and its memory given back."""
        with self.change:
            self.is_over = True
            self.change.notify_all()
            threads = [
                queue.thread for queue in self.queues if queue.thread is not None and queue.thread.ident is not None
            ]
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout=10)
        for native in list(self.natives):
            native.is_dead = True
            free = getattr(native, "give_back", None)
            if free is not None:
                free()
        self.natives.clear()


_current = World()


def world() -> World:
    """The world that new objects belong to."""
    return _current


def begin(facts: Facts) -> World:
    """End the present world and begin another."""
    global _current
    _current.end()
    _current = World(facts)
    return _current
