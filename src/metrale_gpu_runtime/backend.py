"""GpuBackend: the public interface over one open driver. It checks, keeps the books, and then calls the driver."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Self, cast

from .calls.buffers import BufferCalls
from .calls.capture import CaptureCalls
from .calls.debugging import DebugCalls
from .calls.lazy import LazyCalls
from .calls.modules import AskedDriver, ModuleCalls
from .calls.peers import PeerCalls
from .calls.tensor_maps import TensorMapCalls
from .driver import Driver
from .errors import GpuError, GpuResourceWarning, KernelFault
from .memory.pointers import PointerValue
from .memory.redzones import read_settings
from .modules.registry import ModuleRegistry
from .stream import Stream
from .trace.site import is_inside

__all__ = ["GpuBackend", "PointerValue"]

OWN_THREADS = "metrale-"
"""How the names of this package's own threads begin."""

LONGEST_EXIT_S = 5.0
"""How long queued work may hold up the interpreter's exit: work that never ends must not."""

_open_backends: weakref.WeakSet[GpuBackend] = weakref.WeakSet()


class GpuBackend(BufferCalls, LazyCalls, TensorMapCalls, CaptureCalls, ModuleCalls, PeerCalls, DebugCalls):
    """One open device. Made by `open_backend(…)`; a context manager that closes it.

    `debug_sync`: wait for every launch, so that a fault names it (None: METRALE_DEBUG_SYNC_KERNELS=1 turns it on).
    `redzone`: bytes of guard band on both sides of every allocation (None: METRALE_REDZONE). Safe to use from several
    threads.
    """

    def __init__(self, driver: Driver, *, debug_sync: bool | None = None, redzone: int | None = None) -> None:
        if debug_sync is None:
            debug_sync = os.environ.get("METRALE_DEBUG_SYNC_KERNELS", "").strip() == "1"
        self._redzone = read_settings(redzone)
        super().__init__(driver, debug_sync=debug_sync)
        self._waiter = None
        self._modules, self._symbols = {}, {}
        self._registry = ModuleRegistry(cast(Driver, AskedDriver(self)), self._retire_module, self._note_build)
        driver.code_cache = self._registry.code_cache
        self._default_stream = Stream(self, self._default_lane, is_owned=False)
        _open_backends.add(self)

    # ------------------------------------------------ threads

    def bind_to_thread(self) -> None:
        """Make this device the calling thread's. Every call does so by itself; this only checks that it is usable."""
        self._check_usable()

    # ------------------------------------------------ the end

    def close(self) -> None:
        """Wait for all work, give everything back, and close the device. Nothing when it is closed already.

        Never raises: a fault of work that nobody has waited for, and what the driver does not take back, become one
        GpuResourceWarning. (Leaving a `with` block raises that fault.) After the context is lost it does not wait.
        """
        failures = self._shut()
        if failures:
            told = "; ".join(map(str, failures))
            warnings.warn(f"closing {self._capabilities.device}: {told}", GpuResourceWarning, stacklevel=2)

    def _shut(self) -> list[Exception]:
        """Close; what failed meanwhile."""
        with self._lock:
            if self._is_closing:
                return []
            self._is_closing = True
        self._begin_closing()
        failures: list[Exception] = []
        for capture in list(self._captures):
            try:
                self._abort(capture)
            except GpuError as error:
                failures.append(error)
        for lane in [] if self.is_lost else self._lanes_in_order():
            try:
                if not self.is_lost:
                    self._wait_for(lane)
            except GpuError as error:
                failures.append(error)
        self._give_everything_back(failures)
        self._mark_closed()
        _open_backends.discard(self)
        windows = list(self._windows)
        if windows:
            # Arrays of other libraries still look at this memory. The device ends with the last of them.
            rest = _Rest()
            weakref.finalize(rest, self._driver.close)
            for window in windows:
                window.keeps = rest
        else:
            self._driver.close()
        return failures

    def _give_everything_back(self, failures: list[Exception]) -> None:
        """Clean up in the order that drivers want: memory, modules, events, streams.

        What queued work may still use, because waiting for it failed, is left to the driver's own closing.
        """

        def attempt(call: Callable[..., object], *args: object) -> None:
            try:
                call(*args)
            except GpuError as error:
                if not self.is_lost:
                    failures.append(error)

        self._scratch.drop_spare()
        attempt(self._settle)
        for graph in list(self._live_graphs):
            attempt(self._destroy_graph_handle, graph)
        seen = {window.buffer.allocation.block for window in list(self._windows)}
        for block in self._ledger.blocks():
            is_in_use = bool(self._in_flight.pending_uses(block)) or block in seen
            if block.twin is not None:
                self._ledger.remove(block.twin, "released when its backend was closed")
            if not self._ledger.remove(block, "released when its backend was closed"):
                continue  # another thread was in the middle of giving it back
            if block.driver_base and not is_in_use:
                attempt(self._free_memory, block)
            elif block.mapping is not None:
                block.mapping.refund()
        is_idle = all(lane.is_idle for lane in self._lanes.values())
        for name in self._registry.module_names():
            module = self._modules.pop(name, None)
            if module is not None:
                module.mark_unloaded()
            if is_idle and not self.is_lost:
                attempt(self._registry.unload, name)
        for event in list(self._live_events):
            attempt(self._destroy_event_handle, event)
        for lane in self._lanes_in_order():
            if lane is not self._default_lane and lane.is_idle:
                attempt(self._destroy_lane, lane)

    def __enter__(self) -> Self:
        self._check_usable()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        failures = self._shut()
        for failure in failures:
            if error is None and isinstance(failure, KernelFault):
                raise failure
        if not failures:
            return
        told = f"closing {self._capabilities.device}: {'; '.join(map(str, failures))}"
        if error is not None:
            error.add_note(told)
        else:
            warnings.warn(told, GpuResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "context lost" if self.is_lost else "open"
        return f"<GpuBackend {self._capabilities.backend}: {self._capabilities.device}, {state}>"

    def __del__(self) -> None:
        # Also when __init__ failed half-way.
        if self.__dict__.get("_is_closed", True):
            return
        if not threading.current_thread().name.startswith(OWN_THREADS):
            _close_quietly(self)
            return
        # The collector ran on a thread that works for a backend, perhaps for this one: closing waits for such threads.
        closing = threading.Thread(target=_close_quietly, args=(self,), name=f"{OWN_THREADS}closing", daemon=True)
        try:
            closing.start()
        except RuntimeError:  # the interpreter ends, and starts no thread any more
            self._abandon()


class _Rest:
    """What is left of a closed device while its memory is looked at from outside."""

    __slots__ = ("__weakref__",)


def _close_quietly(gpu: GpuBackend) -> None:
    """Close from a finaliser or at exit, where nobody could catch anything and nobody would read a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GpuResourceWarning)
        gpu.close()


def _comes_to_rest(gpu: GpuBackend, end: float) -> bool:
    """Whether all streams pass what is queued before that time; asked, since a wait could not be given up."""
    for lane in gpu._lanes_in_order():
        while not lane.is_idle and not gpu.is_lost:
            try:
                if gpu._driver.query_stream(lane.handle):
                    break
            except Exception:
                break  # failed, and so over; who waits for it is told
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
    return True


@atexit.register
def _close_all() -> None:
    # Daemon threads, the only others left, go on until the interpreter ends them. Closed under them, a backend would
    # make them print what they are refused; and one that was ended holding a lock would never give it back.
    is_in_use = any(not thread.name.startswith(OWN_THREADS) for thread in threading.enumerate() if thread.daemon)
    end = time.monotonic() + LONGEST_EXIT_S
    for gpu in list(_open_backends):
        if is_in_use or not _comes_to_rest(gpu, end):
            gpu._abandon()
        else:
            _close_quietly(gpu)


def _is_amid_calls() -> bool:
    """Whether another thread is in the midst of a call of this package. Its own ones are, only for others."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    own = threading.get_ident()
    for ident, innermost in sys._current_frames().items():
        frame: FrameType | None = innermost
        if ident == own or names.get(ident, "").startswith(OWN_THREADS):
            continue
        while frame is not None:
            if is_inside(frame.f_code.co_filename):
                return True
            frame = frame.f_back
    return False


_was_amid_calls = False


def _look_round() -> None:
    """Before a fork: the child will have none of the other threads, and what they had begun stays half done there."""
    global _was_amid_calls
    _was_amid_calls = bool(_open_backends) and _is_amid_calls()


def _leave_behind() -> None:
    """In a child after fork: what a driver, or other threads, do not let it use belongs to the parent alone."""
    for gpu in list(_open_backends):
        name = gpu.capabilities.backend
        if not gpu.capabilities.usable_after_fork:
            reason = (
                f"{name} cannot be used on both sides of a fork; open it after the fork, in processes that do not come "
                f'from one with an open {name} backend (multiprocessing: the "spawn" start method)'
            )
        elif _was_amid_calls or gpu._is_held():
            reason = (
                "another thread was in the midst of a call just then, which nobody here can finish; open it anew in "
                "this process, or fork while no other thread uses it"
            )
        else:
            gpu._waiter = None  # its thread is the parent's, with what it was asked to call
            continue
        gpu._leave_to_parent(reason)
        _open_backends.discard(gpu)  # its driver is asked nothing any more, at exit either


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_look_round, after_in_child=_leave_behind)
