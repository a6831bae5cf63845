"""What one open backend keeps, and the one way through which the engine asks its driver."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from .capabilities import Capabilities
from .driver import DEFAULT_STREAM, Driver, MemoryKind, NativeKernelCalls
from .errors import CaptureError, DriverFault, GpuError, GpuResourceWarning, HandleClosed, KernelFault
from .handles import EventHandle, GraphHandle, ModuleHandle, StreamHandle
from .lane import Lane, Progress
from .memory.allocation import Block
from .memory.in_flight import InFlight
from .memory.ledger import Ledger
from .memory.peers import PeerAccess
from .memory.pointers import PointerReader
from .memory.scratch import ScratchPool
from .native import Gate
from .trace.findings import FaultBook
from .trace.nvtx_ranges import open_nvtx

if TYPE_CHECKING:
    from .calls.capture import Capture
    from .exporting import Window
    from .trace.operations import QueuedLaunch
    from .trace.recording import Trace

P = ParamSpec("P")
R = TypeVar("R")


# Why a launch goes through Python: each is a bit of the gate.
SHUT_BY_TROUBLE, SHUT_BY_DEBUG_SYNC, SHUT_BY_TRACES, SHUT_BY_NVTX, SHUT_BY_RECORDING = 2, 4, 8, 16, 32

LONGEST_CALL_S = 10.0
"""How long closing waits for other threads' calls on events; a wait for a kernel that never ends may take for ever."""


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
        # New streams count on from the highest number of those destroyed: a driver may give a handle out again, and
        # what used memory on the former stream of that handle must stay done.
        self._sequence_floor = 0
        self._progress = Progress()
        self._dropped_streams: list[Lane] = []
        self._dropped_events: list[EventHandle] = []
        self._dropped_graphs: list[GraphHandle] = []
        self._live_graphs: set[GraphHandle] = set()
        self._live_events: set[EventHandle] = set()
        # Events of the engine's own that are not in use, for ordering streams; and the stream in whose order others'
        # work on our memory is entered.
        self._spare_marks: list[EventHandle] = []
        self._guest_lane: Lane | None = None
        # The stream on which guard bands are filled while the default stream is captured. Not that of the guests: of
        # that one their being done says that it is through.
        self._band_lane: Lane | None = None
        self._retired_modules: list[ModuleHandle] = []
        self._ledger = Ledger(driver.capabilities.backend, driver.capabilities.device)
        self._ledger.keeper = weakref.ref(self)
        self._peers = PeerAccess(driver)
        self._in_flight = InFlight(self._ledger, self._lanes, self._progress, self._give_back)
        self._faults = FaultBook(self._ledger, self._lanes)
        self._trouble: Callable[[], GpuError] | None = None
        self._is_closed = self._is_closing = False
        self._debug_sync_count = 1 if debug_sync else 0
        # Numbers the launches, and stands shut before the native launch core while Python has to make them.
        self._gate = self._ordinals = Gate()
        self._traces: tuple[Trace, ...] = ()
        # None unless a profiler listens: then launches and ranges are told to it.
        self._nvtx = open_nvtx()
        self._captures: list[Capture] = []
        self._pointers = PointerReader(self._ledger, driver.capabilities, self._peers, self._device_of)
        self._scratch = ScratchPool(self._in_flight)
        self._windows: weakref.WeakSet[Window] = weakref.WeakSet()
        self._threads = threading.local()
        self._lock = threading.RLock()
        # Held while a stream waits for another one's mark, and while a stream's marks are taken from it.
        self._marks_lock = threading.Lock()
        # How many threads are giving an event to the driver.
        self._event_calls = 0
        # The thread that is closing this backend: what is refused to all others it still may do.
        self._closer = 0
        self._recordings = 0
        self._open_gate()
        self._default_lane = self._open_lane(DEFAULT_STREAM)
        self._gate.use_by_default(self._default_lane)

    def _open_gate(self) -> None:
        """Tell the launch core what it has to know of this backend."""
        gate, capabilities = self._gate, self._capabilities
        x, y, z = (min(extent, (1 << 32) - 1) for extent in capabilities.max_grid)
        gate.limit(
            x,
            y,
            z,
            capabilities.max_threads_per_launch or 0,
            capabilities.null_pointers,
            max(capabilities.buffer_offset_alignment, 1),
            capabilities.aliased_writes,
        )
        native = self._driver.native_calls()
        self._has_native_calls = native is not None
        self._has_kernel_objects = isinstance(native, NativeKernelCalls)
        if native is None:
            gate.submit(weakref.ref(self))
        elif isinstance(native, NativeKernelCalls):
            gate.set_and_enqueue(
                native.set_argument,
                native.set_pointer,
                native.enqueue,
                native.flush,
                native.flush_every,
                native.memory,
                native.enqueue_recorded,
                native.ask_recorded,
            )
        else:
            gate.call(
                native.launch,
                native.is_extended,
                native.query,
                native.enter,
                native.leave,
                native.context,
                native.context_nbytes,
                native.leave_takes_place,
            )
        gate.watch(self._ledger, self._ledger.dropped, *self._in_flight.watched, self._progress)
        self._set_gate()

    def _set_gate(self) -> None:
        """Shut the gate for whatever makes launches unusual now. To be called after each change of it."""
        gate = self._gate
        gate.shut(SHUT_BY_TROUBLE, self._trouble is not None)
        gate.shut(SHUT_BY_DEBUG_SYNC, self._debug_sync_count > 0)
        gate.shut(SHUT_BY_TRACES, bool(self._traces))
        gate.shut(SHUT_BY_NVTX, self._nvtx is not None)
        gate.shut(SHUT_BY_RECORDING, self._recordings > 0)

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
    def is_closing(self) -> bool:
        """True from the moment `close` begins, and after it."""
        return self._is_closing

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
            self._refuse()

    def _refuse(self) -> None:
        """Raise what is wrong with this backend, unless this is the thread that is closing it."""
        if self._closer != get_ident() and self._trouble is not None:
            raise self._trouble()

    def _ask(self, lane: Lane | None, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """One driver call; a fault that it finds is raised as KernelFault."""
        if self._trouble is not None:
            self._refuse()
        threads = self._threads.__dict__
        was_asking = threads.get("is_asking", False)
        threads["is_asking"] = True
        try:
            return call(*args, **kwargs)
        except DriverFault as fault:
            self._raise_fault(fault, lane)
        finally:
            threads["is_asking"] = was_asking

    def _device_of(self, address: int) -> tuple[int, int] | None:
        return self._ask(None, self._driver.device_of, address)

    def _raise_fault(
        self, fault: DriverFault, lane: Lane | None, *, own: QueuedLaunch | None = None, earlier: bool = False
    ) -> NoReturn:
        raise self._note_fault(fault, lane, own=own, earlier=earlier) from fault

    def _note_fault(
        self, fault: DriverFault, lane: Lane | None, *, own: QueuedLaunch | None = None, earlier: bool = False
    ) -> KernelFault:
        """Enter a driver's fault into the books and return the error for it."""
        error = self._faults.kernel_fault(fault, lane, own=own, earlier=earlier)
        # Its traceback holds the frames of this call, which hold it: what the failing calls had made would live until
        # the garbage collector comes by. Where a driver noticed a fault says nothing to whoever reads the error.
        told: BaseException | None = fault
        while told is not None:
            told.__traceback__ = None
            told = told.__cause__ or told.__context__
        if fault.context_lost and self._trouble is None:
            self._trouble = lambda: self._faults.context_lost(self._capabilities)
            self._set_gate()
        return error

    def _begin_closing(self) -> None:
        """Refuse every new call of other threads; those that are queueing work come to their end first."""
        self._closer = get_ident()
        device = self._capabilities.device
        self._trouble = lambda: HandleClosed(
            f"the backend on {device} is being closed; open it again with open_backend()"
        )
        self._set_gate()
        with self._lock:
            lanes = list(self._lanes.values())
        for lane in lanes:
            lane.shut("closed with its backend")
        end = time.monotonic() + LONGEST_CALL_S
        while self._event_calls and time.monotonic() < end:
            time.sleep(0.0005)

    def _abandon(self) -> None:
        """Leave everything to the end of the process, because other threads are in the middle of using it."""
        self._is_closing = self._is_closed = True

    def _mark_closed(self) -> None:
        self._is_closed = True
        device = self._capabilities.device
        self._trouble = lambda: HandleClosed(f"the backend on {device} is closed; open it again with open_backend()")
        self._set_gate()
        self._closer = 0

    def _is_held(self) -> bool:
        """Whether another thread has a lock that calls take, or waits for it: after a fork it never goes on."""
        for lock in (self._lock, self._progress.lock, *(lane.lock for lane in self._lanes.values())):
            if not lock.acquire(blocking=False):
                return True
            lock.release()
        return False

    def _leave_to_parent(self, reason: str) -> None:
        """In a child after fork: every call raises at once, and nothing is given back, for it is the parent's.

        Whatever other threads held a lock of is replaced: they are not here to let go of it.
        """
        self._lock = threading.RLock()
        self._progress.lock = threading.RLock()
        self._in_flight = InFlight(self._ledger, self._lanes, self._progress, lambda block: None)
        for noted in (self._dropped_streams, self._dropped_events, self._dropped_graphs, self._retired_modules):
            noted.clear()
        self._is_closing = self._is_closed = True
        device = self._capabilities.device
        self._trouble = lambda: HandleClosed(
            f"the backend on {device} was opened before this process was forked off, and {reason}"
        )
        self._set_gate()

    # ------------------------------------------------ streams

    def _lanes_in_order(self) -> list[Lane]:
        """The streams that may hold work of ours, by their handles.

        Another library's that holds none is left out: it may be destroyed by now.
        """
        # A copy first: other threads make and destroy streams.
        lanes = dict(self._lanes)
        return [lane for _, lane in sorted(lanes.items()) if not (lane.is_foreign and lane.is_idle)]

    def _open_lane(self, handle: StreamHandle) -> Lane:
        lane = Lane(
            handle,
            is_synchronous=not self._is_asynchronous,
            progress=self._progress,
            floor=self._sequence_floor,
        )
        if self._has_kernel_objects:
            lane.raw, counts = self._driver.native_queue(handle)
            lane._count_in(counts)
        elif self._has_native_calls:
            lane.raw = self._driver.native_stream(handle)
        with self._lock:
            if self._is_closing:
                lane.gone = "closed with its backend"
            self._lanes[handle] = lane
        return lane

    def _wait_for(self, lane: Lane, *, own: QueuedLaunch | None = None, earlier: bool = False) -> None:
        """Synchronise one stream. A fault found there is raised, charged to `own` or marked `earlier`.

        After a fault the stream is waited for once more: only then is it known to have passed, and what it used may be
        given back. Raises CaptureError for a stream that is being captured: the driver would end its capture for it.
        """
        if self._trouble is not None:
            self._refuse()
        capture = lane.capture
        if capture is not None:
            raise CaptureError(
                f"this call has to wait for stream {lane.handle}, which is being captured (mode {capture.mode!r}, "
                f"since {capture.site}) and was given work before that; end the capture first (gpu.end_capture)"
            )
        if not self._begin_asking(lane):
            return  # another thread has destroyed it, which waits for its work
        try:
            if lane.is_synchronous:
                # Another thread may be running work here; it holds the lock until that is over.
                with lane.lock:
                    self._synchronize(lane, own, earlier)
            else:
                self._synchronize(lane, own, earlier)
        finally:
            self._end_asking(lane)

    def _begin_asking(self, lane: Lane) -> bool:
        """Keep a stream from being destroyed while the driver is asked about it, until `_end_asking`; False when it is
        gone already."""
        with self._lock:
            is_there = self._lanes.get(lane.handle) is lane
            lane.waiters += is_there
        return is_there

    def _end_asking(self, lane: Lane) -> None:
        with self._lock:
            lane.waiters -= 1

    def _synchronize(self, lane: Lane, own: QueuedLaunch | None, earlier: bool) -> None:
        sequence = lane.issued
        try:
            self._driver.synchronize(lane.handle)
        except DriverFault as fault:
            error = self._note_fault(fault, lane, own=own, earlier=earlier)
            if not fault.context_lost:
                self._wait_again(lane, sequence, error)
            try:
                raise error from fault
            finally:
                del error  # its traceback holds this frame: neither may keep the other
        except GpuError:
            lane.has_failed_wait = True
            raise
        lane.reached(sequence)

    def _wait_again(self, lane: Lane, sequence: int, error: KernelFault) -> None:
        try:
            self._driver.synchronize(lane.handle)
        except DriverFault as fault:
            error.add_note(f"and: {self._note_fault(fault, lane)}")
            lane.has_failed_wait = True
        except GpuError as second:
            error.add_note(f"and: {second}")
            lane.has_failed_wait = True
        else:
            lane.reached(sequence)

    def _has_passed(self, lane: Lane) -> bool:
        """Ask the driver whether the stream has nothing left to do."""
        if not self._begin_asking(lane):
            return True  # destroying it has waited for its work
        try:
            sequence = lane.issued
            done = self._ask(lane, self._driver.query_stream, lane.handle)
        finally:
            self._end_asking(lane)
        if done:
            lane.reached(sequence)
        return done

    def _poll(self, lane: Lane) -> None:
        """Find out how far a stream has come that may always be busy: by a mark of our own, asked for the next time."""
        # One thread at a time from the question on: what another one has marked anew meanwhile is not what was reached.
        with lane.lock:
            if lane.capture is not None or lane.gone:
                return  # a mark would become part of the capture; nobody may queue one on a stream that is going
            if lane.fence is None:
                lane.fence = self._ask(lane, self._driver.create_event, False)
                self._live_events.add(lane.fence)
            reached = lane.fence_sequence
            if reached and not self._ask(lane, self._driver.query_event, lane.fence):
                return
            self._ask(lane, self._driver.record_event, lane.fence, lane.handle)
            lane.issued += 1
            lane.fence_sequence = lane.issued
        if reached:
            lane.reached(reached)

    def _order_birth(self, block: Block, lane: Lane) -> None:
        """Let a stream wait, once, for the allocation of memory that was made in another stream's order.

        The caller holds the stream's lock and queues the first use there.
        """
        born = block.born
        if born is None:
            return
        if born.lane.is_done(born.sequence) or born.lane.gone:
            block.born = None
        elif born.lane is not lane and lane not in born.ordered:
            with self._marks_lock:
                # Gone by now: destroying the stream has waited for the allocation.
                if born.lane.birth_mark is not None:
                    self._ask(lane, self._driver.wait_event, lane.handle, born.lane.birth_mark)
            born.ordered.add(lane)

    # ------------------------------------------------ giving back

    def _give_back(self, block: Block) -> None:
        """Return a block that nobody refers to any more to the driver and take it off the books."""
        is_ours = self._ledger.remove(block, "released when its last reference was dropped")
        if is_ours and block.driver_base and not self._is_closed:
            self._clean_up(self._free_memory, block)

    def _free_memory(self, block: Block) -> None:
        """Return a block's memory to the driver in the way it was had from it."""
        if block.mapping is not None:
            block.mapping.give_back(self._driver, self._driver_give_back)
        else:
            self._driver_free(block.driver_base, block.kind)

    def _driver_free(self, address: int, kind: MemoryKind) -> None:
        self._driver_give_back(self._driver.free, address, kind)

    def _driver_give_back(self, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        threads = self._threads.__dict__
        was_asking = threads.get("is_asking", False)
        threads["is_asking"] = True
        try:
            call(*args, **kwargs)
        except DriverFault as fault:
            error = self._note_fault(fault, None)
            # Memory of a lost context is gone with it; any other fault is older than this free and must be told.
            if not fault.context_lost:
                raise error from fault
        finally:
            threads["is_asking"] = was_asking

    def _clean_up(self, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Give something back on nobody's request: what the driver refuses becomes a warning; a fault is raised."""
        try:
            call(*args, **kwargs)
        except KernelFault:
            if not self.is_lost:
                raise
        except GpuError as error:
            # Refused because another thread has begun to close the backend: it gives everything back.
            if not self._is_left_to_closer:
                warnings.warn(f"the driver did not take something back: {error}", GpuResourceWarning, stacklevel=2)

    @property
    def _is_left_to_closer(self) -> bool:
        """While one thread closes the backend, what is to be given back is its affair alone."""
        return self._is_closing and self._closer != get_ident()

    def _settle(self) -> None:
        """Give back what finalisers have noted and nothing uses any more. Asks the driver nothing."""
        if self._is_left_to_closer:
            return
        if self._in_flight.has_work:
            self._in_flight.settle()
        if self._dropped_streams or self._dropped_events or (self._dropped_graphs and not self._captures):
            self._destroy_dropped()
        if self._retired_modules:
            self._unload_retired()

    def _destroy_dropped(self) -> None:
        # Each is taken in one step: several threads come by here at once, and finalisers add meanwhile.
        while (event := self._take_dropped_event()) is not None:
            self._clean_up(self._destroy_event_handle, event)
        while (lane := self._take_dropped_lane()) is not None:
            self._clean_up(self._destroy_lane, lane)
        # A capture under way may be spoilt by it; the driver lets replays that are queued come to their end.
        while not self._captures and (graph := self._take_dropped_graph()) is not None:
            self._clean_up(self._destroy_graph_handle, graph)

    def _take_dropped_graph(self) -> GraphHandle | None:
        with self._lock:
            return self._dropped_graphs.pop() if self._dropped_graphs else None

    def _take_dropped_event(self) -> EventHandle | None:
        with self._lock:
            return self._dropped_events.pop() if self._dropped_events else None

    def _take_dropped_lane(self) -> Lane | None:
        """A dropped stream that has nothing left to do and that nobody waits for."""
        with self._lock:
            for at, lane in enumerate(self._dropped_streams):
                if lane.is_idle and not lane.waiters:
                    return self._dropped_streams.pop(at)
            return None

    def _destroy_lane(self, lane: Lane) -> None:
        if self._is_left_to_closer:
            return
        with self._lock:
            if self._lanes.get(lane.handle) is not lane:
                return
            if lane.waiters:
                # The driver must know the stream until the last thread that waits for it is back.
                self._dropped_streams.append(lane)
                return
            del self._lanes[lane.handle]
        lane.shut("it was destroyed")
        with self._marks_lock:
            marks, lane.fence, lane.birth_mark = (lane.fence, lane.birth_mark), None, None
        for mark in marks:
            if mark is not None:
                self._clean_up(self._destroy_event_handle, mark)
        self._sequence_floor = max(self._sequence_floor, lane.issued)
        if not self._is_closed and not self.is_lost and not lane.is_foreign:
            self._ask(lane, self._driver.destroy_stream, lane.handle)

    def _unload_retired(self) -> None:
        """Unload the code that nobody can reach any more, if nothing queued can be running it."""
        if self._is_left_to_closer:
            return
        while not self.is_lost and all(lane.is_idle for lane in list(self._lanes.values())):
            with self._lock:
                if not self._retired_modules:
                    return
                module = self._retired_modules.pop()
            self._clean_up(self._ask, None, self._driver.unload_module, module)

    def _destroy_graph_handle(self, graph: GraphHandle) -> None:
        if self._is_left_to_closer or not _taken(self._live_graphs, graph):
            return
        if not self._is_closed and not self.is_lost:
            self._ask(None, self._driver.destroy_graph, graph)

    def _destroy_event_handle(self, event: EventHandle) -> None:
        if self._is_left_to_closer or not _taken(self._live_events, event):
            return  # the latter: a stream's own mark that went with all events when the backend was closed
        if not self._is_closed and not self.is_lost:
            self._ask(None, self._driver.destroy_event, event)


def _taken(things: set[Any], thing: object) -> bool:
    """Take a thing out of a set in one step: True for the one thread that did."""
    try:
        things.remove(thing)
    except KeyError:
        return False
    return True
