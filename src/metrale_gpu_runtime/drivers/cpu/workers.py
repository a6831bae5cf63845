"""The threads that run a launch's blocks, and the memory each of them needs for it.

The calling thread always takes part; others join from a pool when a launch is worth it. Native code releases the
interpreter lock, so they run at the same time. Memory for threads and shared arrays is kept between launches and
only grows; nothing of a kernel lives on a C stack but what LLVM spills.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from . import abi
from .jit import CompiledKernel

LARGEST_CONTEXT_COUNT = 1024
"""Blocks of one worker that may wait for others at the same time; a GPU has such a bound too."""

LARGEST_CONTEXTS_NBYTES = 512 << 20
"""Memory that the waiting blocks of one worker may take."""

STALL_S = 30.0
"""How long all blocks of a worker may spin, at that bound, while nobody takes another block."""

_SHARED_ALIGN = 1024
_FRAME_ALIGN = 64
_NO_LIMIT = 2**64 - 1
# Native calls of the launching thread last about this long, so that Ctrl-C gets through between them.
_SLICE_S = 0.05


def _rounded_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


class _Arena:
    """Aligned memory that only grows."""

    __slots__ = ("_buffer", "address", "nbytes")

    def __init__(self) -> None:
        self._buffer: ctypes.Array[ctypes.c_char] | None = None
        self.address = 0
        self.nbytes = 0

    def fit(self, nbytes: int, align: int) -> int:
        """Its address, with room for `nbytes`; what it held is lost when it grows."""
        if nbytes > self.nbytes:
            self._buffer = (ctypes.c_char * (nbytes + align))()
            self.address = _rounded_up(ctypes.addressof(self._buffer), align)
            self.nbytes = nbytes
        return self.address


class _Bench:
    """One worker's contexts (native/abi.h): each the place of one block. Used by one thread at a time."""

    def __init__(self) -> None:
        self._fits: Need | None = None
        self._contexts: list[abi.Context] = []
        self._arenas: list[tuple[_Arena, _Arena, _Arena]] = []
        self.pointers = (ctypes.c_void_p * 0)()

    def prepare(self, first: int, count: int, need: Need) -> None:
        """Make contexts `first` to `count - 1` ready for a launch. Raises MemoryError."""
        if need is self._fits and count == 1:
            context = self._contexts[0]
            context.active = context.prepared = 0
            return
        if count > len(self._contexts):
            for _ in range(count - len(self._contexts)):
                self._contexts.append(abi.Context())
                self._arenas.append((_Arena(), _Arena(), _Arena()))
            self.pointers = (ctypes.c_void_p * count)(*(ctypes.addressof(context) for context in self._contexts))
        for index in range(first, count):
            context, (threads, frames, shared) = self._contexts[index], self._arenas[index]
            context.threads = threads.fit(need.threads_nbytes, _FRAME_ALIGN)
            context.frames = frames.fit(need.frames_nbytes, _FRAME_ALIGN)
            context.shared = shared.fit(need.shared_nbytes, _SHARED_ALIGN)
            context.active = context.prepared = 0
        self._fits = need


class Need:
    """Bytes that one block of a kernel takes, for a block of so many threads."""

    __slots__ = ("frames_nbytes", "shared_nbytes", "threads_nbytes")

    def __init__(self, code: CompiledKernel, threads: int, frame_nbytes: int, shared_nbytes: int) -> None:
        self.threads_nbytes = threads * ctypes.sizeof(abi.Thread) if code.suspends else 0
        # A kernel that never waits runs all its threads in one frame.
        self.frames_nbytes = frame_nbytes * (threads if code.suspends else 1) if code.uses_frame else 0
        self.shared_nbytes = max(_SHARED_ALIGN, _rounded_up(shared_nbytes, _SHARED_ALIGN))

    @property
    def nbytes(self) -> int:
        return self.threads_nbytes + self.frames_nbytes + self.shared_nbytes


class Execution:
    """One launch while it runs. Workers join it until it is closed; it ends when the last has left."""

    def __init__(self, code: CompiledKernel, launch: abi.Launch, need: Need, keeps: tuple[object, ...] = ()) -> None:
        # `keeps` is memory that the launch points to: it must live as long as any worker runs, even where the
        # launching thread was interrupted.
        self.code, self.launch, self.need, self.keeps = code, launch, need, keeps
        self.address = ctypes.addressof(launch)
        self.error: BaseException | None = None
        self.stalled_contexts = 0
        self.has_timed_out = False

    def open(self) -> None:
        """Let others join; for launches that one thread runs alone there is no need."""
        self._lock = threading.Lock()
        self._running = 0
        self._closed = False
        self._idle = threading.Lock()
        self._idle.acquire()
        self._served = threading.Lock()
        self._served.acquire()
        self._has_served = False

    def join(self) -> bool:
        """Take part from here on; False when it is too late."""
        with self._lock:
            if self._closed:
                return False
            self._running += 1
            return True

    def leave(self) -> None:
        with self._lock:
            self._running -= 1
            if not self._has_served:
                self._has_served = True
                self._served.release()
            if self._closed and self._running == 0:
                self._idle.release()

    def wait_served(self, timeout_s: float | None) -> bool:
        """Wait until a worker found no block left, or the launch was stopped; False when the time is over.

        Ctrl-C gets through.
        """
        return self._served.acquire(timeout=-1 if timeout_s is None else min(timeout_s, threading.TIMEOUT_MAX))

    def close(self) -> None:
        """Let nobody join any more, and wait for those who did. Ctrl-C gets through; it may then be called again."""
        with self._lock:
            first = not self._closed
            self._closed = True
            if first and self._running == 0:
                self._idle.release()
        self._idle.acquire()
        self._idle.release()

    def stop(self) -> None:
        """Let the workers take no further block."""
        self.launch.stop = 1


class Workers:
    """A pool of `count` workers, the caller of `run` among them. Safe to use from several threads at once."""

    def __init__(self, count: int, *, stall_s: float = STALL_S) -> None:
        self.count = count
        self.stall_s = stall_s
        self._start_afresh()

    def _start_afresh(self) -> None:
        self._pid = os.getpid()
        self._queue: SimpleQueue[Execution | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._growth = threading.Lock()
        self._benches: list[_Bench] = []
        # How many threads each launch that runs now has asked to join. The pool has as many: a launch never waits for
        # another one's end, which might never come, or come after its own time limit.
        self._invited: dict[Execution, int] = {}

    def run(self, execution: Execution, helpers: int, turns_per_call: int) -> int:
        """Run all blocks of a launch, with up to `helpers` threads of the pool; when this returns, none runs any more.

        The caller's native calls end after `turns_per_call` turns (of a block or chunk of blocks); returns how many
        it should be next time for calls of some 50 ms. Raises KeyboardInterrupt, MemoryError.
        """
        if os.getpid() != self._pid:
            self._start_afresh()  # threads do not survive a fork
        if helpers == 0:
            return self._work(execution, turns_per_call)
        execution.open()
        try:
            self._invite(execution, min(helpers, self.count - 1))
            turns_per_call = self._work(execution, turns_per_call)
            execution.close()
        except BaseException:
            execution.stop()
            execution.close()
            raise
        finally:
            self._invited.pop(execution, None)
        if execution.error is not None:
            raise execution.error
        return turns_per_call

    def watch(self, execution: Execution, helpers: int, timeout_s: float | None) -> None:
        """Run a launch that may never end: on the pool alone, while the caller waits and can stop it.

        Ends it after `timeout_s` (`execution.has_timed_out` tells). Raises KeyboardInterrupt, MemoryError.
        """
        if os.getpid() != self._pid:
            self._start_afresh()
        execution.open()
        try:
            self._invite(execution, helpers + 1)
            if not execution.wait_served(timeout_s):
                execution.has_timed_out = True
                execution.stop()
            execution.close()
        except BaseException:
            execution.stop()
            execution.close()
            raise
        finally:
            self._invited.pop(execution, None)
        if execution.error is not None:
            raise execution.error

    def close(self) -> None:
        """End the pool's threads and give its memory back."""
        if os.getpid() != self._pid:
            return
        with self._growth:
            threads, self._threads = self._threads, []
        for _ in threads:
            self._queue.put(None)
        for thread in threads:
            thread.join(timeout=1.0)
        self._benches.clear()

    def _invite(self, execution: Execution, count: int) -> None:
        with self._growth:
            self._invited[execution] = count
            while len(self._threads) < sum(self._invited.values()):
                name = f"metrale-cpu-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._serve, args=(self._queue,), name=name, daemon=True)
                thread.start()
                self._threads.append(thread)
        for _ in range(count):
            self._queue.put(execution)

    def _serve(self, queue: SimpleQueue[Execution | None]) -> None:
        while (execution := queue.get()) is not None:
            if not execution.join():
                continue
            try:
                self._work(execution, _NO_LIMIT)
            except BaseException as error:
                execution.error = error
                execution.stop()
            finally:
                execution.leave()
            del execution  # its kernel and memory must not live until the next launch

    def _work(self, execution: Execution, turns: int) -> int:
        """Take part in a launch until no block is left for this thread."""
        try:
            bench = self._benches.pop()
        except IndexError:
            bench = _Bench()
        run_worker, address, need = execution.code.run_worker, execution.address, execution.need
        count, patience = 1, None
        try:
            bench.prepare(0, 1, need)
            while True:
                began = time.perf_counter()
                code = run_worker(address, bench.pointers, count, turns)
                if code == 0:  # abi.RunCode.DONE, as nearly always
                    return turns
                if code == abi.RunCode.PAUSED:
                    # Helpers have no limit, and never get here.
                    elapsed = time.perf_counter() - began
                    turns = (
                        turns * 2 if elapsed < _SLICE_S / 2 else max(1, turns // 2) if elapsed > _SLICE_S * 2 else turns
                    )
                    continue
                if code == abi.RunCode.NEEDS_CONTEXTS and self._may_grow(count, need):
                    bench.prepare(count, 2 * count, need)
                    count *= 2
                    continue
                patience = patience or _Patience(execution, self.stall_s)
                patience.wait(count, blocks_are_left=code == abi.RunCode.NEEDS_CONTEXTS)
        finally:
            self._benches.append(bench)

    def _may_grow(self, count: int, need: Need) -> bool:
        return 2 * count <= LARGEST_CONTEXT_COUNT and 2 * count * need.nbytes <= LARGEST_CONTEXTS_NBYTES


class _Patience:
    """Waiting while all blocks of a worker wait for other blocks."""

    def __init__(self, execution: Execution, stall_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._execution, self.stall_s, self._clock = execution, stall_s, clock
        self._seen = -1
        self._since = 0.0
        self._waits = 0

    def wait(self, count: int, *, blocks_are_left: bool) -> None:
        """Leave the CPU to others for a moment; stop the launch when nobody has taken a block for too long.

        With no block left untaken there is no bound: the blocks may wait for the host.
        """
        self._waits += 1
        time.sleep(0 if self._waits < 100 else 0.0005)
        if not blocks_are_left:
            return
        taken = self._execution.launch.next_block
        now = self._clock()
        if taken != self._seen:
            self._seen, self._since = taken, now
        elif now - self._since > self.stall_s:
            self._execution.stalled_contexts = count
            self._execution.stop()
