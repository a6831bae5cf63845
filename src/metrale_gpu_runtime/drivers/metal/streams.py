"""A stream: an MTLCommandQueue, the command buffer that is being filled, those in flight, and when one is committed.

The policy, whose numbers are below: while the GPU has less than `BUSY_COUNT` command buffers of a stream to do, each
operation is committed as soon as it is encoded, so that the GPU starts at once and never waits for the host. Else
operations are collected, so that many share the cost of one commit. What is collected is committed when it is
`MAX_OPERATIONS` long, when somebody asks or waits, or when the GPU is about to run out of work: for that, and only from
the first time on that operations are collected, the stream has a thread of its own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...errors import DriverError, DriverFault
from .bindings import Bindings
from .command_buffers import CommandBuffer, host_time_s
from .events import Mark
from .faults import Failure, Pending, make_fault, spoilt_behind

BUSY_COUNT = 2
"""With so many command buffers in flight the GPU is busy: it runs one and has the next. With one, it would stand still
from the end of it until our thread was woken and had committed the next, some 100 microseconds."""

MAX_OPERATIONS = 64
"""Operations in one command buffer. A commit costs about as much as encoding a few launches; over 64 its share is
small, and a fault still tells which of few launches are lost."""

MAX_IN_FLIGHT = 16
"""Command buffers of a stream that are committed and not done; then the next operation waits for the oldest. Below the
64 of a queue, at which Metal would block inside of a call (MTLDevice newCommandQueue)."""


class Encoding:
    """One operation: `with` it is (command buffer, encoder), the encoder open and labelled.

    The encoder is ended in any case, and the operation is counted when all went well. A class, because a generator
    would cost a launch as much as a message to Metal does.
    """

    __slots__ = ("_encoder", "_kind", "_label", "_stream")

    def __init__(self, stream: MetalStream, kind: str, label: str) -> None:
        self._stream, self._kind, self._label = stream, kind, label
        self._encoder: Any = None

    def __enter__(self) -> tuple[CommandBuffer, Any]:
        stream = self._stream
        opened = stream.begin()
        try:
            native = opened.native
            encoder = native.blitCommandEncoder() if self._kind == "blit" else native.computeCommandEncoder()
            if encoder is None:
                raise stream.refused(f"{self._kind}CommandEncoder", "gives no encoder")
            self._encoder = encoder
            encoder.setLabel_(self._label)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return opened, encoder

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        stream, operations = self._stream, 0
        try:
            if self._encoder is not None:
                try:
                    self._encoder.endEncoding()
                except BaseException as second:
                    stream.give_up(second)
                    raise
                operations = 1 if kind is None else 0
        finally:
            self._encoder = None
            stream.end(operations)


class MetalStream:
    """One stream. Calls that queue work come one at a time; those that ask and wait may come at any time.

    The lock is held while an operation is encoded, and never while the GPU works on what may take long.
    """

    def __init__(self, bindings: Bindings, device: Any, name: str) -> None:
        self._bindings, self._device, self._name = bindings, device, name
        self._lock = threading.Lock()
        self._wakes = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._is_watched = self._is_closed = False
        self._open: CommandBuffer | None = None
        self._in_flight: deque[CommandBuffer] = deque()
        self._pending: Pending | None = None
        self._value = 0
        self._pool: Any = None
        with bindings.pool():
            self._queue: Any = self._new_queue()
            self._event: Any = device.newSharedEvent()
            self._descriptor: Any = bindings.metal.MTLCommandBufferDescriptor.alloc().init()
            # Without it a failed command buffer does not tell which of its encoders it was.
            self._descriptor.setErrorOptions_(bindings.metal.MTLCommandBufferErrorOptionEncoderExecutionStatus)
        if self._event is None:
            raise self.refused("newSharedEvent", "gives no shared event")

    # ------------------------------------------------ queueing

    def begin(self) -> CommandBuffer:
        """The command buffer for one operation; `end` must follow. Raises DriverFault for an older fault.

        From here to `end` the caller holds the stream, and an autorelease pool is in place.
        """
        self._enter()
        try:
            if self._in_flight and not self._is_watched:
                self._collect()
            self._tell()
            pool = self._bindings.pool()
            pool.__enter__()
            try:
                if self._open is None:
                    self._open = self._new_buffer()
            except BaseException:
                pool.__exit__(None, None, None)
                raise
            self._pool = pool
            return self._open
        except BaseException:
            self._lock.release()
            raise

    def end(self, operations: int) -> None:
        """So many operations were encoded since `begin`, whole; commit them if it is time."""
        try:
            opened = self._open
            if opened is None:
                return  # given up
            opened.operations += operations
            if operations and (len(self._in_flight) < BUSY_COUNT or opened.operations >= MAX_OPERATIONS):
                self._commit()
            elif operations:
                self._watch()
            elif opened.is_empty:
                self._open = None
                opened.discard()
        finally:
            pool, self._pool = self._pool, None
            try:
                pool.__exit__(None, None, None)
            finally:
                self._lock.release()

    def give_up(self, why: BaseException) -> None:
        """Between `begin` and `end`: an encoder could not be ended, so the command buffer is of no use any more.

        What was collected in it before is lost with it; the stream tells so.
        """
        broken = self._open
        if broken is not None:
            self._lose(broken, why)

    def encoding(self, kind: str, label: str) -> Encoding:
        """One operation of one encoder ("blit" or "compute"); see `Encoding`."""
        return Encoding(self, kind, label)

    def wait_for(self, mark: Mark) -> None:
        """Let later work wait for a command buffer of another stream. Raises DriverFault for an older fault."""
        awaited = mark.buffer
        if awaited is None or mark.stream is self:
            self._adopt(mark.pending)
            return
        # Before it is asked: once it is over it has no event any more.
        event, value = awaited.event, awaited.value
        if awaited.poll():
            mark.stream.collect()
            self._adopt(awaited.pending)
            return
        opened = self.begin()
        try:
            if awaited not in opened.awaits:
                opened.native.encodeWaitForEvent_value_(event, value)
                opened.awaits.append(awaited)
        finally:
            self.end(0)

    def record(self) -> Mark:
        """Where the stream's end is now. What is collected is committed, so that nobody waits for it for ever."""
        with self._lock:
            self._collect()
            pending = self._pending
            if pending is not None and not pending.is_told:
                return Mark(self, None, host_time_s(), pending)
            self._flush()
            if not self._in_flight:
                return Mark(self, None, host_time_s(), None)
            return Mark(self, self._in_flight[-1], 0.0, None)

    @contextmanager
    def at_once(self) -> Iterator[bool]:
        """True inside while nothing of the stream is queued or running, and nothing can be queued meanwhile.

        Raises DriverFault for an older fault.
        """
        with self._lock:
            self._collect()
            self._tell()
            yield self._open is None and not self._in_flight

    # ------------------------------------------------ asking and waiting

    def synchronize(self) -> None:
        """Wait until what is queued now is done. Raises DriverFault; the wait is over then, too."""
        with self._lock:
            self._flush()
            last = self._in_flight[-1] if self._in_flight else None
        if last is not None:
            last.wait()
        with self._lock:
            self._collect()
            self._tell()

    def await_buffer(self, buffer: CommandBuffer) -> None:
        """Wait until one of the stream's command buffers is over, which is committed if it was not. Tells no fault."""
        with self._lock:
            if self._open is buffer:
                self._flush()
        buffer.wait()

    def query(self) -> bool:
        """True when nothing is queued or running. Raises DriverFault."""
        with self._lock:
            self._flush()
            self._collect()
            self._tell()
            return not self._in_flight

    def collect(self) -> None:
        """Take what is done off the books; a fault is kept for whoever asks."""
        with self._lock:
            self._collect()

    # ------------------------------------------------ the end

    def take_fault(self) -> Pending | None:
        """The fault that nobody was told; nobody is from now on, but by whoever asked for it here."""
        with self._lock:
            self._collect()
            pending, self._pending = self._pending, None
        return pending

    def close(self, timeout_s: float) -> None:
        """Take no more work and end the thread. Waits for nobody longer than that; never raises for what is lost."""
        if self._lock.acquire(timeout=timeout_s):
            try:
                self._is_closed = True
                self._wakes.notify_all()
                tail, self._open = self._open, None
                if tail is not None:
                    tail.discard()
                # What is in flight still keeps what it needs of these by itself.
                self._queue = self._event = self._descriptor = None
            finally:
                self._lock.release()
        else:
            self._is_closed = True

    @property
    def is_ending(self) -> bool:
        """Its thread has not ended yet."""
        return self._thread is not None and self._thread.is_alive()

    def join(self, timeout_s: float) -> None:
        """Wait for the thread to end, so long at most. It is a daemon, and harmless when it waits for the GPU still."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_s)

    # ------------------------------------------------ inside, with the lock held

    def _enter(self) -> None:
        """Take the lock when there is room for one more command buffer."""
        while True:
            self._lock.acquire()
            try:
                if len(self._in_flight) >= MAX_IN_FLIGHT:
                    self._collect()
                if len(self._in_flight) < MAX_IN_FLIGHT:
                    return
                oldest = self._in_flight[0]
            except BaseException:
                self._lock.release()
                raise
            self._lock.release()
            oldest.wait()

    def _tell(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.tell()

    def _adopt(self, pending: Pending | None) -> None:
        """What the stream is told to wait for has failed: unless that was told, it is this stream's fault too."""
        if pending is not None and not pending.is_told:
            with self._lock:
                if self._pending is None or self._pending.is_told:
                    self._pending = pending

    def _new_queue(self) -> Any:
        queue = self._device.newCommandQueue()
        if queue is None:
            raise self.refused("newCommandQueue", "gives no command queue")
        return queue

    def _new_buffer(self) -> CommandBuffer:
        if self._queue is None:
            self._queue = self._new_queue()
        native = self._queue.commandBufferWithDescriptor_(self._descriptor)
        if native is None:
            raise self.refused("commandBufferWithDescriptor:", "gives no command buffer")
        return CommandBuffer(self._bindings, native, self._event)

    def refused(self, call: str, how: str) -> DriverError:
        return DriverError(f"metal: {self._name} {how} ({call})", call=call, code=0, code_name="nil")

    def _flush(self) -> None:
        """Commit what was collected, unless work that it waits for is known to have failed."""
        if self._open is None:
            return
        for awaited in self._open.awaits:
            awaited.poll()
        self._collect()
        if self._open is not None:
            with self._bindings.pool():
                self._commit()

    def _commit(self) -> None:
        """Hand the open command buffer to the GPU. It signals the stream's event, so any can be waited for."""
        opened = self._open
        assert opened is not None
        self._open = None
        opened.value = self._value = self._value + 1
        opened.previous = self._in_flight[-1] if self._in_flight else None
        try:
            opened.native.encodeSignalEvent_value_(self._event, opened.value)
            opened.native.commit()
        except BaseException as error:
            self._lose(opened, error)
            raise
        self._in_flight.append(opened)

    def _lose(self, buffer: CommandBuffer, why: BaseException) -> None:
        """What was collected can not be handed over: the stream tells which launches that were."""
        self._open = None
        if buffer.operations:
            self._keep(
                DriverFault(
                    type(why).__name__,
                    f"a command buffer of {buffer.operations} operations could not be handed to the GPU: {why}",
                    dropped=tuple(buffer.ordinals),
                )
            )
        buffer.discard()

    def _collect(self) -> None:
        """Take off the books what is done, oldest first, and find what will run on the leavings of failed work."""
        while self._in_flight and self._in_flight[0].poll():
            done = self._in_flight.popleft()
            # One that was spoken of as running behind failed work may fail itself, and then takes its queue with it.
            if done.failure is not None and (done.pending is None or done.failure.is_own):
                self._fail(done, done.failure, list(self._in_flight))
        for at, each in enumerate(self._in_flight):
            failure = each.upstream() if each.pending is None else None
            if failure is not None:
                self._fail(each, spoilt_behind(failure, each.ordinals), list(self._in_flight)[at + 1 :])
                break
        opened = self._open
        failure = opened.upstream() if opened is not None and opened.awaits else None
        if failure is not None:
            self._fail(None, spoilt_behind(failure, ()), [])

    def _fail(self, first: CommandBuffer | None, failure: Failure, behind: list[CommandBuffer]) -> None:
        """Make one fault of a failure and of all that was queued behind it; what is not committed yet is dropped.

        `first` is the command buffer in which it is, None for the one that is not committed yet.

        Behind a command buffer that failed itself Metal drops what the queue holds. That is over soon, and only then is
        known what had run; the queue is not used again. Behind one that only ran on bad data, work goes on as it would.
        """
        if failure.is_own:
            for each in behind:
                each.wait_dropped()
            self._in_flight.clear()
            # Another one is made for the next operation: if that fails, the fault must be told all the same.
            self._queue = None
        tail, self._open = self._open, None
        outcomes = [each.failure or spoilt_behind(failure, each.ordinals) for each in behind]
        fault = make_fault(failure, outcomes, tail.ordinals if tail is not None else ())
        pending = self._keep(fault)
        # The last first: who sees that the one before it is spoken of finds that itself is, too.
        for each in (*reversed(behind), *([first] if first is not None else [])):
            each.pending = pending if failure.is_own else each.pending or pending
        if tail is not None:
            tail.discard()

    def _keep(self, fault: DriverFault) -> Pending:
        """Have a fault told by the next call: together with one that is not told yet, or by itself."""
        pending = self._pending
        if pending is None or not pending.add(fault):
            pending = self._pending = Pending(fault)
        return pending

    # ------------------------------------------------ the thread that commits what was collected

    def _watch(self) -> None:
        """Have the collected operations committed when the GPU is about to run out of work. The lock is held."""
        if self._is_watched:
            return
        self._is_watched = True
        if self._thread is not None:
            self._wakes.notify_all()
            return
        thread = threading.Thread(target=self._run, name="metrale-metal-stream", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # No thread can be had (the interpreter is ending, or the system has no more): collect nothing.
            self._is_watched = False
            self._commit()
            return
        self._thread = thread

    def _run(self) -> None:
        while not self._is_closed:
            try:
                self._commit_in_time()
            except BaseException as error:
                with self._lock:
                    self._is_watched = False
                    if self._pending is None or self._pending.is_told:
                        self._keep(
                            DriverFault(type(error).__name__, f"collected work could not be handed over: {error}")
                        )

    def _commit_in_time(self) -> None:
        with self._lock:
            while not self._is_watched and not self._is_closed:
                self._wakes.wait()
            if self._is_closed:
                return
            self._collect()
            if self._open is None or not self._open.operations:
                self._is_watched = False
                return
            if len(self._in_flight) < BUSY_COUNT:
                self._is_watched = False
                self._flush()
                return
            # When this one is done, one less than BUSY_COUNT are left.
            awaited = self._in_flight[len(self._in_flight) - BUSY_COUNT]
        awaited.wait()
