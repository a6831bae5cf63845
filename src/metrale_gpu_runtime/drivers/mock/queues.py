"""Streams and events that order work: operations wait in queues until somebody waits or polls for them.

Nothing runs by itself, and what runs is decided by the calls alone, so every run of a program is the same. An
operation may only wait for one that was queued before it, which is why waiting always ends.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from ...errors import DriverFault
from .kernels import LoadedModule
from .log import Call, Launch
from .memory import ContractViolation, Region

TICK_MS = 1 / 1024
"""How far the mock's clock goes with each operation that runs."""


@dataclass(slots=True, eq=False)
class Recording:
    """One recording of an event: reached when the stream came to it, at the mock's own time."""

    event: int
    stream: int
    reached: bool = False
    time_ms: float = 0.0


@dataclass(slots=True, eq=False)
class Operation:
    """One piece of queued work.

    `action` does it; `regions` and `module` are what it uses; `awaits` an event recording it must wait for,
    `records` one that it reaches; `fault` what it fails with instead of being done; `dropped` is called when it is
    thrown away instead; `over` when it is over in either way.
    """

    call: Call
    stream: int
    action: Callable[[], None] | None = None
    regions: tuple[Region, ...] = ()
    awaits: Recording | None = None
    records: Recording | None = None
    fault: DriverFault | None = None
    drops_later: bool = False
    module: LoadedModule | None = None
    dropped: Callable[[], None] | None = None
    over: Callable[[], None] | None = None


@dataclass(slots=True)
class Queues:
    """All streams of one mock device.

    `depth` is how many operations one stream holds before the next one makes the oldest run, as a real driver's
    queue does when it is full.
    """

    depth: int
    streams: dict[int, deque[Operation]] = field(default_factory=dict)
    time_ms: float = 0.0
    ran: list[Call] = field(default_factory=list)
    keep_ran: bool = True
    # What failed while a full queue was pushed on, to be raised by the next call that waits or polls.
    found: list[DriverFault] = field(default_factory=list)
    # Makes the error for an operation that the engine let run too early.
    refuse: Callable[[str], Exception] = ContractViolation

    def open(self, stream: int) -> None:
        self.streams[stream] = deque()

    def push(self, operation: Operation) -> None:
        queue = self.streams[operation.stream]
        for region in operation.regions:
            region.pending += 1
        if operation.module is not None:
            operation.module.pending += 1
        queue.append(operation)
        while len(queue) > self.depth:
            try:
                self.step(operation.stream)
            except DriverFault as fault:
                self.found.append(fault)

    def is_idle(self, stream: int) -> bool:
        return not self.streams[stream]

    def step(self, stream: int) -> None:
        """Run one operation: the stream's first, or the first of the stream that one waits for. Raises DriverFault."""
        queue = self.streams[stream]
        awaited = queue[0].awaits
        while awaited is not None and not awaited.reached:
            queue = self.streams[awaited.stream]
            awaited = queue[0].awaits
        operation = queue.popleft()
        self._settle(operation)
        if operation.records is not None:
            operation.records.reached, operation.records.time_ms = True, self.time_ms
        if self.keep_ran:
            self.ran.append(operation.call)
        for region in operation.regions:
            if not region.ready:
                raise self.refuse(
                    f"{operation.call.line()}: ran before the stream in whose order {region.base:#x} was allocated had "
                    "come to that allocation"
                )
        try:
            if operation.fault is not None:
                raise operation.fault
            if operation.action is not None:
                operation.action()
        except DriverFault as fault:
            if fault.context_lost:
                fault.dropped = self.drop_everything()
            elif operation.drops_later:
                fault.dropped = self._drop(queue)
            raise
        finally:
            if operation.over is not None:
                operation.over()

    def _settle(self, operation: Operation) -> None:
        self.time_ms += TICK_MS
        for region in operation.regions:
            region.pending -= 1
        if operation.module is not None:
            operation.module.pending -= 1

    def _drop(self, queue: deque[Operation]) -> tuple[int, ...]:
        dropped = []
        while queue:
            operation = queue.popleft()
            self._settle(operation)
            if operation.records is not None:
                # Whoever waits for it must not wait for ever.
                operation.records.reached, operation.records.time_ms = True, self.time_ms
            if operation.dropped is not None:
                operation.dropped()
            if operation.over is not None:
                operation.over()
            if isinstance(operation.call, Launch):
                dropped.append(operation.call.ordinal)
        return tuple(dropped)

    def drop_everything(self) -> tuple[int, ...]:
        """Throw away all queued work; the ordinals of the launches among it."""
        return tuple(sorted(ordinal for queue in self.streams.values() for ordinal in self._drop(queue)))

    def drain(self, stream: int) -> None:
        """Run all the stream holds. A fault is raised when that is done; the first one, should there be several."""
        self._run(lambda: bool(self.streams[stream]), stream)

    def reach(self, recording: Recording) -> None:
        """Run until the event is reached; faults as in `drain`."""
        self._run(lambda: not recording.reached, recording.stream)

    def _run(self, more: Callable[[], bool], stream: int) -> None:
        first: DriverFault | None = self.found.pop(0) if self.found else None
        while more():
            try:
                self.step(stream)
            except DriverFault as fault:
                if fault.context_lost:
                    raise
                first = first or fault
        if first is not None:
            raise first

    def run_all(self, seed: int | None) -> None:
        """Run everything on every stream: one stream after the other, or interleaved at random from a seed."""
        chooser = random.Random(seed)
        while busy := [stream for stream, queue in sorted(self.streams.items()) if queue]:
            self.step(busy[0] if seed is None else chooser.choice(busy))
