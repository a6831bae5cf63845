"""Events: the last command buffer that a stream had committed when the event was recorded.

Every command buffer signals its stream's shared event at its end, so that any of them can be waited for, by the GPU as
well. Nothing is encoded for an event itself, and one that is recorded anew while an older recording is still waited for
disturbs nobody.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ...errors import NotSupported
from ...handles import EventHandle
from .faults import Pending

if TYPE_CHECKING:
    from .command_buffers import CommandBuffer
    from .streams import MetalStream


class Mark:
    """One recording: reached when `buffer` is over; without one it was reached at once, at `time_s`."""

    __slots__ = ("_time_s", "buffer", "pending", "stream")

    def __init__(
        self, stream: MetalStream, buffer: CommandBuffer | None, time_s: float, pending: Pending | None
    ) -> None:
        self.stream, self.buffer, self._time_s, self.pending = stream, buffer, time_s, pending

    @property
    def time_s(self) -> float:
        return self._time_s if self.buffer is None else self.buffer.end_time_s

    def wait(self) -> None:
        """Raises DriverFault when the work before it failed and nobody was told."""
        if self.buffer is not None:
            self.buffer.wait()
        self._tell()

    def poll(self) -> bool:
        """True when it is reached. Raises as `wait`."""
        if self.buffer is not None and not self.buffer.poll():
            return False
        self._tell()
        return True

    def _tell(self) -> None:
        pending = self.pending
        if self.buffer is not None and self.buffer.failure is not None:
            # What became of the rest of its stream belongs to the fault.
            self.stream.collect()
            pending = self.buffer.pending
        if pending is not None:
            pending.tell()


class Events:
    """The events of one device."""

    def __init__(self) -> None:
        self._handles = itertools.count(1)
        self._timings: dict[EventHandle, bool] = {}
        self._marks: dict[EventHandle, Mark] = {}

    def create(self, timing: bool) -> EventHandle:
        handle = EventHandle(next(self._handles))
        self._timings[handle] = timing
        return handle

    def destroy(self, event: EventHandle) -> None:
        self._timings.pop(event, None)
        self._marks.pop(event, None)

    def record(self, event: EventHandle, stream: MetalStream) -> None:
        self._marks[event] = stream.record()

    def mark(self, event: EventHandle) -> Mark:
        """Its last recording."""
        return self._marks[event]

    def clear(self) -> None:
        """Let go of all."""
        self._timings.clear()
        self._marks.clear()

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        """Milliseconds between two that were reached. Raises NotSupported for one that was made without timing.

        Source: MTLCommandBuffer GPUEndTime.
        """
        for event in (start, end):
            if not self._timings[event]:
                raise NotSupported(
                    f"metal: event {event} was created without timing", backend="metal", feature="event timing"
                )
        return (self._marks[end].time_s - self._marks[start].time_s) * 1e3
