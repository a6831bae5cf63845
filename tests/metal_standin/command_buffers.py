"""MTLCommandBuffer: what was encoded, its states, and how it ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .blit_encoders import BlitEncoder
from .compute_encoders import ComputeEncoder
from .encoding import Encoder, Fault
from .foundation import Base, NSArray, NSError
from .interface import DATA
from .journal import journal
from .messages import models
from .ownership import AutoreleasePool, Fresh, Native
from .proxies import proxy
from .world import Committed, World

if TYPE_CHECKING:
    from .queues import CommandQueue

_ENUMS: dict[str, int] = DATA["enums"]
DOMAIN = "MTLCommandBufferErrorDomain"
ENCODER_INFOS = "MTLCommandBufferEncoderInfoErrorKey"
_STATUS = {
    name: _ENUMS[f"MTLCommandBufferStatus{name}"]
    for name in ("NotEnqueued", "Enqueued", "Committed", "Scheduled", "Completed", "Error")
}
_STATE = {
    name: _ENUMS[f"MTLCommandEncoderErrorState{name}"]
    for name in ("Unknown", "Completed", "Affected", "Pending", "Faulted")
}
_TEXTS = {
    1: "Internal Error",
    2: "Caused GPU Timeout Error",
    3: "Caused GPU Address Fault Error",
    4: "Ignored (for causing prior/excessive GPU errors)",
    8: "Insufficient Memory",
    9: "Invalid Resource",
}


@models
class EncoderInfo(Base):
    """How far one encoder of a failed command buffer came."""

    protocol = "MTLCommandBufferEncoderInfo"
    __slots__ = ("label", "state")

    def __init__(self, world: World, label: str, state: int) -> None:
        super().__init__(world)
        self.label, self.state = label, state

    def do_label(self) -> str:
        return self.label

    def do_errorState(self) -> int:
        return self.state

    def do_debugSignposts(self) -> Fresh:
        return Fresh(NSArray(self.world, []))


class _EventStep:
    """A signal or a wait between encoders."""

    def __init__(self, event: Any, value: int, signals: bool) -> None:
        event.retain()
        self.event, self.value, self.signals = event, value, signals

    @property
    def text(self) -> str:
        return f"{'signal' if self.signals else 'wait'} {self.value}"

    def run(self, world: World) -> None:
        with world.change:
            if self.signals:
                self.event.signal(self.value)
                return
            while self.event.value < self.value and not world.is_over:
                world.change.wait()

    def let_go(self) -> None:
        self.event.release()


@models
class CommandBuffer(Base):
    """One command buffer."""

    protocol = "MTLCommandBuffer"
    __slots__ = (
        "completed_handlers", "encoders", "ended", "error", "error_options", "gpu_end", "gpu_start", "held", "is_committed",
        "is_done", "label", "open_encoder", "queue", "retains", "scheduled_handlers", "status", "steps",
    )  # fmt: skip

    def __init__(self, world: World, queue: CommandQueue, retains: bool, error_options: int) -> None:
        super().__init__(world)
        queue.retain()
        self.queue, self.retains, self.error_options = queue, retains, error_options
        self.label: str | None = None
        self.status = _STATUS["NotEnqueued"]
        self.is_committed = False
        self.is_done = False
        self.open_encoder: Encoder | None = None
        self.encoders: list[Encoder] = []
        self.steps: list[Any] = []
        self.held: dict[Native, None] = {}
        self.error: NSError | None = None
        self.gpu_start = self.gpu_end = 0.0
        self.scheduled_handlers: list[Callable[[Any], Any]] = []
        self.completed_handlers: list[Callable[[Any], Any]] = []

    def dealloc(self) -> None:
        self.queue.leave(self)
        self._let_go()
        self.encoders.clear()
        if self.error is not None:
            self.error.release()
        self.queue.release()

    def _let_go(self) -> None:
        steps, self.steps = self.steps, []
        for step in steps:
            step.let_go()
        held, self.held = self.held, {}
        for native in held:
            native.release()

    # ------------------------------------------------ encoding

    def hold(self, native: Native) -> None:
        """Keep what is encoded alive until the work is done, unless the caller said that it will."""
        if self.retains and native not in self.held:
            native.retain()
            self.held[native] = None

    def _may_encode(self, what: str) -> None:
        if self.is_committed:
            raise journal.abort(f"MTLCommandBuffer {what}: the command buffer is committed already")
        if self.open_encoder is not None:
            raise journal.abort(f"MTLCommandBuffer {what}: the encoder {self.open_encoder.label!r} has not ended")

    def _open(self, kind: type[Encoder], what: str) -> Fresh:
        self._may_encode(what)
        encoder = kind(self.world, self, len(self.encoders))
        self.open_encoder = encoder
        self.encoders.append(encoder)
        self.steps.append(encoder.work)
        return Fresh(encoder)

    def do_computeCommandEncoder(self) -> Fresh:
        return self._open(ComputeEncoder, "computeCommandEncoder")

    def do_computeCommandEncoderWithDispatchType_(self, kind: int) -> Fresh:
        return self._open(ComputeEncoder, "computeCommandEncoderWithDispatchType:")

    def do_blitCommandEncoder(self) -> Fresh:
        return self._open(BlitEncoder, "blitCommandEncoder")

    def _event(self, event: Any, value: int, signals: bool, what: str) -> None:
        self._may_encode(what)
        if event is None:
            raise journal.abort(f"MTLCommandBuffer {what}: the event is nil")
        self.steps.append(_EventStep(event, value, signals))

    def do_encodeSignalEvent_value_(self, event: Any, value: int) -> None:
        self._event(event, value, True, "encodeSignalEvent:value:")

    def do_encodeWaitForEvent_value_(self, event: Any, value: int) -> None:
        self._event(event, value, False, "encodeWaitForEvent:value:")

    # ------------------------------------------------ states

    def do_enqueue(self) -> None:
        raise journal.abort("MTLCommandBuffer enqueue: the stand-in orders by commit only")

    def do_commit(self) -> None:
        self._may_encode("commit")
        self.queue.prepare()
        with self.world.change:
            self.is_committed = True
            self.status = _STATUS["Committed"]
            self.world.committed.append(
                Committed(
                    self.label or "",
                    self.queue.ordinal,
                    tuple(encoder.label for encoder in self.encoders),
                    tuple(
                        text for step in self.steps for text in ([step.text] if hasattr(step, "text") else step.texts)
                    ),
                )
            )
            self.retain()
            self.queue.enter(self)

    def _handler(self, handlers: list[Any], block: Any, what: str) -> None:
        if self.is_committed:
            raise journal.abort(f"MTLCommandBuffer {what}: the command buffer is committed already")
        if block is None:
            raise journal.abort(f"MTLCommandBuffer {what}: the block is nil")
        handlers.append(block)

    def do_addScheduledHandler_(self, block: Any) -> None:
        self._handler(self.scheduled_handlers, block, "addScheduledHandler:")

    def do_addCompletedHandler_(self, block: Any) -> None:
        self._handler(self.completed_handlers, block, "addCompletedHandler:")

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        if not self.is_committed:
            raise journal.abort(
                f"MTLCommandBuffer {what}: the command buffer is not committed; this would wait for ever"
            )
        with self.world.change:
            while not until() and not self.world.is_over:
                self.world.change.wait()

    def do_waitUntilScheduled(self) -> None:
        self._wait(lambda: self.status >= _STATUS["Scheduled"], "waitUntilScheduled")

    def do_waitUntilCompleted(self) -> None:
        # From a handler the command buffer is complete already, and waiting for the handlers would be for ever.
        if self.queue.thread is threading.current_thread() and self.status >= _STATUS["Completed"]:
            return
        world = self.world
        is_awaited = world.awaited_by == threading.get_ident()
        with world.change:
            world.waits += is_awaited
            world.change.notify_all()
        try:
            self._wait(lambda: self.is_done, "waitUntilCompleted")
        finally:
            with world.change:
                world.waits -= is_awaited

    # ------------------------------------------------ the GPU's side

    @property
    def has_ended(self) -> bool:
        """Its status says how it ended; its handlers may still be running."""
        return self.status >= _STATUS["Completed"]

    def _call(self, handlers: list[Any]) -> None:
        for handler in handlers:
            try:
                with AutoreleasePool():
                    handler(proxy(self))
            except Exception as raised:
                journal.note(f"a handler of a command buffer raised {raised!r}; PyObjC ends the process there")

    def schedule(self) -> None:
        with self.world.change:
            self.status = _STATUS["Scheduled"]
            self.world.change.notify_all()
        self._call(self.scheduled_handlers)

    def run(self) -> None:
        """Run the steps in order; then tell how it ended."""
        failure = self._failure()
        ordinal, fault = 0, None
        self.gpu_start = time.monotonic()
        if self.queue.is_revoked:
            fault = Fault(4, None)
        elif failure is not None and failure[1] is None:
            fault = Fault(failure[0], None, failure[2])
        else:
            for step in self.steps:
                if self.world.is_over:
                    return
                if isinstance(step, _EventStep):
                    step.run(self.world)
                    continue
                if failure is not None and failure[1] == ordinal:
                    fault = Fault(failure[0], ordinal, failure[2])
                else:
                    fault = step.run(self.world)
                label = self.encoders[ordinal].label
                (self.world.ran if fault is None else self.world.faulted).append(label)
                if fault is not None:
                    break
                ordinal += 1
        self.gpu_end = time.monotonic()
        self._end(fault)

    def _failure(self) -> tuple[int, int | None, str] | None:
        """What the test asked for: code, the encoder that faults, text."""
        if self.queue.is_revoked:
            return None
        scripted = self.world.failure("command buffer")
        if scripted is None:
            return None
        which = scripted.encoder
        if isinstance(which, str):
            labels = [encoder.label for encoder in self.encoders]
            if which not in labels:
                raise LookupError(f"fail_next: no encoder {which!r} among {labels}")
            which = labels.index(which)
        return scripted.code, which, scripted.text

    def _end(self, fault: Fault | None) -> None:
        with self.world.change:
            if fault is not None:
                self.queue.is_revoked = True
                self.error = self._describe(fault)
            self.status = _STATUS["Error" if fault is not None else "Completed"]
        self._let_go()
        self._call(self.completed_handlers)
        with self.world.change:
            self.is_done = True
            self.queue.outstanding.discard(self)
            self.world.change.notify_all()

    def _describe(self, fault: Fault) -> NSError:
        more: dict[str, Any] = {}
        if self.error_options & _ENUMS["MTLCommandBufferErrorOptionEncoderExecutionStatus"]:
            infos = [
                EncoderInfo(self.world, encoder.label, self._state(encoder.ordinal, fault)) for encoder in self.encoders
            ]
            more[ENCODER_INFOS] = NSArray(self.world, infos)
            for info in infos:
                info.release()
        text = fault.text or f"{_TEXTS.get(fault.code, 'Unknown Error')} ({fault.code:08x}:stand-in)"
        error = NSError(self.world, DOMAIN, fault.code, text, more)
        for value in more.values():
            value.release()
        return error

    def _state(self, ordinal: int, fault: Fault) -> int:
        if fault.code == 4:
            return _STATE["Pending"]
        if fault.encoder is None:
            return _STATE["Unknown"]
        return _STATE["Completed" if ordinal < fault.encoder else "Faulted" if ordinal == fault.encoder else "Pending"]

    # ------------------------------------------------ properties

    def do_device(self) -> Any:
        return self.queue.device

    def do_commandQueue(self) -> Any:
        return self.queue

    def do_retainedReferences(self) -> bool:
        return self.retains

    def do_errorOptions(self) -> int:
        return self.error_options

    def do_label(self) -> Any:
        return self.label

    def do_setLabel_(self, label: Any) -> None:
        self.label = label

    def do_status(self) -> int:
        return self.status

    def do_error(self) -> Any:
        return self.error

    def do_GPUStartTime(self) -> float:
        return self.gpu_start if self.is_done else 0.0

    def do_GPUEndTime(self) -> float:
        return self.gpu_end if self.is_done else 0.0

    def do_pushDebugGroup_(self, name: Any) -> None:
        self._may_encode("pushDebugGroup:")

    def do_popDebugGroup(self) -> None:
        self._may_encode("popDebugGroup")
