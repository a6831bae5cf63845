"""A stream: an in-order command queue with profiling.

Nothing is known of a command of the queue but what a marker behind it tells: commands are queued without events of
their own, which would cost more than a launch. Source: clCreateCommandQueue, clEnqueueMarkerWithWaitList.
"""

from __future__ import annotations

import threading
from array import array
from typing import Any

from ...errors import DriverError
from .bindings import Bindings
from .faults import fault, refused_by

QUEUED, UNSENT = 0, 1

FLUSH_EVERY = 32
"""Launches that may wait in the driver for company. The first after a wait is sent at once, so that the device starts;
clFlush for each would cost more than the launch on some drivers."""


class Stream:
    """One command queue. `pointer` is its cl_command_queue."""

    def __init__(self, bindings: Bindings, context: Any, device: Any, name: str) -> None:
        cl = bindings.cl
        self._bindings, self._name = bindings, name
        self._lock = threading.Lock()
        try:
            self._queue = cl.CommandQueue(context, device, cl.command_queue_properties.PROFILING_ENABLE)
        except cl.Error as error:
            raise refused_by(bindings, error) from error
        self.pointer = int(self._queue.int_ptr)
        self._flush = bindings.calls.flush
        # Commands queued, and launches since the last wait: an array, for launches that are made natively count there.
        self.counts = array("Q", (0, 0))
        # The last marker, and how much was queued before it.
        self._marker: tuple[Any, int] | None = None

    # ------------------------------------------------ after each command

    def queued(self) -> None:
        """Say that a command was queued; it is sent to the device when it is time."""
        counts = self.counts
        counts[QUEUED] += 1
        if counts[UNSENT] % FLUSH_EVERY == 0:
            self._flush(self.pointer)
        counts[UNSENT] += 1

    # ------------------------------------------------ events

    def record(self) -> Any:
        """A cl_event that is complete when all that is queued now is done. Raises DriverError."""
        cl = self._bindings.cl
        try:
            return self._mark()
        except cl.Error as error:
            raise refused_by(self._bindings, error) from error

    def wait_for(self, event: Any) -> None:
        """Let what is queued later wait for an event of another queue. Raises DriverError."""
        cl = self._bindings.cl
        try:
            cl._cl._enqueue_barrier_with_wait_list(self._queue, [event])
        except cl.Error as error:
            raise refused_by(self._bindings, error) from error
        self.counts[QUEUED] += 1

    # ------------------------------------------------ waiting

    def synchronize(self) -> None:
        """Wait until all that is queued is done. Raises DriverFault when it failed."""
        cl = self._bindings.cl
        try:
            marker = self._mark()
        except cl.Error as error:
            raise fault(self._bindings, int(error.code), f"{error.routine} on {self._name}") from error
        self.wait(marker)

    def query(self) -> bool:
        """True when nothing is queued or running. Raises DriverFault."""
        cl = self._bindings.cl
        with self._lock:
            try:
                # One marker at a time: a new one for each question would never be seen to be done.
                known = self._marker
                if known is None or (known[1] != self.counts[QUEUED] and self._is_over(known[0])):
                    self._mark()
                    known = self._marker
                return known is not None and known[1] == self.counts[QUEUED] and self._is_over(known[0])
            except cl.Error as error:
                raise fault(self._bindings, int(error.code), f"{error.routine} on {self._name}") from error

    def wait(self, event: Any) -> None:
        """Wait for an event of this queue. Raises DriverFault; the queue has come to rest then."""
        cl = self._bindings.cl
        try:
            event.wait()
            return
        except cl.Error as error:
            code, call = int(error.code), str(error.routine)
        try:
            self._queue.finish()
        except cl.Error as error:
            raise fault(self._bindings, int(error.code), f"clFinish on {self._name}") from error
        raise self.failure(event) or fault(self._bindings, code, f"{call} on {self._name}")

    def failure(self, event: Any) -> Exception | None:
        """The fault of an event that ended in one."""
        status = int(event.command_execution_status)
        if status >= 0:
            return None
        return fault(self._bindings, status, f"a command of this queue of {self._name} failed")

    # ------------------------------------------------ inside

    def _mark(self) -> Any:
        queued = self.counts[QUEUED]
        event = self._bindings.cl._cl._enqueue_marker_with_wait_list(self._queue, None)
        # Another queue may wait for it: only what was sent is sure to run (clFlush).
        self._queue.flush()
        self.counts[UNSENT] = 0
        self._marker = (event, queued)
        return event

    def _is_over(self, event: Any) -> bool:
        failure = self.failure(event)
        if failure is not None:
            self._marker = None
            raise failure
        return int(event.command_execution_status) == 0

    # ------------------------------------------------ the end

    def close(self) -> DriverError | None:
        """Wait, and let go of the queue; what the wait met is returned."""
        cl = self._bindings.cl
        try:
            self._queue.finish()
        except cl.Error as error:
            return refused_by(self._bindings, error)
        finally:
            self._marker = None
        return None
