"""What one open backend keeps, and the one way through which the engine asks its driver."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

from .capabilities import Capabilities
from .driver import DEFAULT_STREAM, Driver, MemoryKind
from .errors import DriverFault, GpuError, HandleClosed
from .handles import EventHandle, StreamHandle
from .lane import Lane
from .memory.allocation import Block
from .memory.in_flight import InFlight
from .memory.ledger import Ledger
from .memory.pointers import PointerReader
from .memory.scratch import ScratchPool
from .trace.findings import FaultBook

if TYPE_CHECKING:
    from .calls.capture import Capture
    from .trace.operations import QueuedLaunch
    from .trace.recording import Trace

P = ParamSpec("P")
R = TypeVar("R")


class BackendBooks:
    """The state of one backend: its driver, its ledger, its streams, its faults.

    The rooms of `calls/` are mixed into GpuBackend and share this. `_trouble` is None while the backend can be used,
    else it makes the error that every call raises.
    """

    def __init__(self, driver: Driver, *, debug_sync: bool) -> None:
        self._driver = driver
        self._capabilities = driver.capabilities
        self._is_asynchronous = driver.capabilities.asynchronous
        self._lanes: dict[int, Lane] = {}
        self._sequence_floors: dict[int, int] = {}
        self._progress = threading.RLock()
        self._dropped_streams: list[Lane] = []
        self._dropped_events: list[EventHandle] = []
        self._ledger = Ledger(driver.capabilities.backend, driver.capabilities.device)
        self._in_flight = InFlight(self._ledger, self._lanes, self._give_back)
        self._faults = FaultBook(self._ledger, self._lanes)
        self._trouble: Callable[[], GpuError] | None = None
        self._is_closed = False
        self._debug_sync_count = 1 if debug_sync else 0
        self._ordinals = itertools.count(1)
        self._traces: tuple[Trace, ...] = ()
        self._captures: list[Capture] = []
        self._pointers = PointerReader(self._ledger, driver.capabilities)
        self._scratch = ScratchPool(self._in_flight)
        self._threads = threading.local()
        self._lock = threading.RLock()
        self._default_lane = self._open_lane(DEFAULT_STREAM)

    # ------------------------------------------------ what it is

    @property
    def capabilities(self) -> Capabilities:
        """What this device can do and its limits."""
        return self._capabilities

    @property
    def is_open(self) -> bool:
        """False once it was closed."""
        return not self._is_closed

    @property
    def is_lost(self) -> bool:
        """True once a fault took the device's context; every call then raises ContextLost."""
        return self._faults.lost is not None

    @property
    def driver(self) -> Driver:
        """The driver below. Calls made on it directly are on nobody's books."""
        return self._driver

    # ------------------------------------------------ asking the driver

    def _check_usable(self) -> None:
        """Raise HandleClosed after `close`, ContextLost after the loss of the context."""
        if self._trouble is not None:
            raise self._trouble()

    def _ask(self, lane: Lane | None, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """One driver call; a fault that it finds is raised as KernelFault."""
        if self._trouble is not None:
            raise self._trouble()
        try:
            return call(*args, **kwargs)
        except DriverFault as fault:
            self._raise_fault(fault, lane)

    def _raise_fault(
        self, fault: DriverFault, lane: Lane | None, *, own: QueuedLaunch | None = None, earlier: bool = False
    ) -> NoReturn:
        error = self._faults.kernel_fault(fault, lane, own=own, earlier=earlier)
        if fault.context_lost and self._trouble is None:
            self._trouble = lambda: self._faults.context_lost(self._capabilities.device)
        raise error from fault

    def _mark_closed(self) -> None:
        self._is_closed = True
        device = self._capabilities.device
        self._trouble = lambda: HandleClosed(f"the backend on {device} is closed; open it again with open_backend()")

    # ------------------------------------------------ streams

    def _open_lane(self, handle: StreamHandle) -> Lane:
        lane = Lane(
            handle,
            is_synchronous=not self._is_asynchronous,
            progress=self._progress,
            floor=self._sequence_floors.get(handle, 0),
        )
        self._lanes[handle] = lane
        return lane

    def _wait_for(self, lane: Lane) -> None:
        """Synchronise one stream. A fault found there is raised; the stream has then been waited for all the same."""
        sequence = lane.issued
        if self._trouble is not None:
            raise self._trouble()
        try:
            self._driver.synchronize(lane.handle)
        except DriverFault as fault:
            error = self._faults.kernel_fault(fault, lane)
            if fault.context_lost:
                if self._trouble is None:
                    self._trouble = lambda: self._faults.context_lost(self._capabilities.device)
            else:
                lane.reached(sequence)
            raise error from fault
        lane.reached(sequence)

    def _has_passed(self, lane: Lane) -> bool:
        """Ask the driver whether the stream has nothing left to do."""
        sequence = lane.issued
        done = self._ask(lane, self._driver.query_stream, lane.handle)
        if done:
            lane.reached(sequence)
        return done

    # ------------------------------------------------ giving back

    def _give_back(self, block: Block) -> None:
        """Return a block's memory to the driver and take it off the books. Never raises for a lost context."""
        if block.gone and not block.has_pending_free:
            return
        self._ledger.remove(block, "released when its last reference was dropped")
        if block.driver_base and not self._is_closed:
            self._driver_free(block.driver_base, block.kind)

    def _driver_free(self, address: int, kind: MemoryKind) -> None:
        try:
            self._driver.free(address, kind)
        except DriverFault as fault:
            # Memory of a lost context is gone with it; any other fault is older than this free and must be told.
            if not fault.context_lost:
                self._raise_fault(fault, None)

    def _settle(self) -> None:
        """Give back what finalisers have noted and nothing uses any more. Asks the driver nothing."""
        if self._in_flight.has_work:
            self._in_flight.settle()
        if self._dropped_streams or self._dropped_events:
            self._destroy_dropped()

    def _destroy_dropped(self) -> None:
        while self._dropped_events:
            self._destroy_event_handle(self._dropped_events.pop())
        for lane in list(self._dropped_streams):
            if lane.is_idle:
                self._dropped_streams.remove(lane)
                self._destroy_lane(lane)

    def _destroy_lane(self, lane: Lane) -> None:
        if self._lanes.get(lane.handle) is not lane:
            return
        del self._lanes[lane.handle]
        # A driver may give the same handle out again: the numbers go on, so that old uses stay done.
        self._sequence_floors[lane.handle] = lane.issued
        if not self._is_closed and not self.is_lost:
            self._ask(lane, self._driver.destroy_stream, lane.handle)

    def _destroy_event_handle(self, event: EventHandle) -> None:
        if not self._is_closed and not self.is_lost:
            self._ask(None, self._driver.destroy_event, event)
