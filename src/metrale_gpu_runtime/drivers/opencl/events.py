"""Events: markers in queues.

Source: clEnqueueMarkerWithWaitList, clGetEventProfilingInfo (CL_PROFILING_COMMAND_END, in nanoseconds).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from ...errors import DriverError, NotSupported
from ...handles import EventHandle
from .bindings import Bindings
from .faults import refused_by
from .streams import Stream


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording of an event: the cl_event and whose it is."""

    native: Any
    stream: Stream

    def wait(self) -> None:
        """Raises DriverFault when what was queued before it failed."""
        self.stream.wait(self.native)

    def poll(self) -> bool:
        """True when it is reached. Raises DriverFault."""
        failure = self.stream.failure(self.native)
        if failure is not None:
            raise failure
        return int(self.native.command_execution_status) == 0


class Events:
    """The events of one device."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._handles = itertools.count(1)
        self._timings: dict[EventHandle, bool] = {}
        self._recordings: dict[EventHandle, Recording] = {}

    def create(self, timing: bool) -> EventHandle:
        handle = EventHandle(next(self._handles))
        self._timings[handle] = timing
        return handle

    def destroy(self, event: EventHandle) -> None:
        self._timings.pop(event, None)
        self._recordings.pop(event, None)

    def record(self, event: EventHandle, stream: Stream) -> None:
        self._recordings[event] = Recording(stream.record(), stream)

    def recording(self, event: EventHandle) -> Recording:
        """The last one."""
        return self._recordings[event]

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        """Milliseconds between two that were reached. Raises NotSupported for one that was made without timing."""
        for event in (start, end):
            if not self._timings[event]:
                raise NotSupported(
                    f"opencl: event {event} was created without timing", backend="opencl", feature="event timing"
                )
        return (self._end_ns(end) - self._end_ns(start)) / 1e6

    def _end_ns(self, event: EventHandle) -> int:
        cl = self._bindings.cl
        try:
            end = int(self._recordings[event].native.get_profiling_info(cl.profiling_info.END))
        except cl.Error as error:
            raise refused_by(self._bindings, error, f"event {event} has no time") from error
        if end == 0:
            raise DriverError(
                f"opencl: the driver gives 0 as the time at which event {event} was reached",
                call="clGetEventProfilingInfo",
                code=0,
                code_name="no time",
            )
        return end

    def clear(self) -> None:
        """Let go of all."""
        self._timings.clear()
        self._recordings.clear()
