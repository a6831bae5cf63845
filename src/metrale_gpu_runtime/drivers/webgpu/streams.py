"""Streams: operations recorded in order into a command encoder, and submitted to the device's one queue.

WebGPU has one queue. Streams are in its order: what was submitted later runs later, whichever stream it is of. Between
two dispatches, or a dispatch and a copy, WebGPU itself lets memory be seen. So a wait for an event asks nothing of the
GPU: recording an event submits what it stands behind.

Ctrl-C is raised between any two steps of the interpreter: behind a call of wgpu's, what it returned is lost before it
is stored, and with an encoder all launches that were collected in it. So what such calls return is kept within the step
that calls, and whoever comes next goes on where the interrupt left off.

Source: GPUCommandEncoder, GPUComputePassEncoder, GPUQueue.submit (WebGPU).
"""

from __future__ import annotations

import threading
from typing import Any

from ...errors import DriverFault
from .bind_groups import BindGroups
from .bindings import call_and_keep
from .device import Device
from .faults import refused_work
from .pace import BUSY_COUNT, MAX_OPERATIONS, Pace
from .readback import Delivery, Readbacks
from .values import NBYTES, Values


class Mark:
    """A place in a stream: reached when the submission `index` is over. `done` is set by wgpu where that was asked."""

    __slots__ = ("done", "index", "stream")

    def __init__(self, stream: WebgpuStream, index: int, done: threading.Event | None) -> None:
        self.stream, self.index, self.done = stream, index, done


class WebgpuStream:
    """One stream. What is recorded is recorded under `lock`; `compute` is the open compute pass, None where none is.

    `pipeline` is what was last set in the pass, `ordinals` are the launches collected. `_stages` holds what is on its
    way to the queue: the encoder, behind it what finishing it gave, behind that the submission's index. `_passes` holds
    the pass that was begun in it, behind it what ending that gave.
    """

    __slots__ = (
        "__weakref__",
        "_deliveries",
        "_device",
        "_groups",
        "_has_writes",
        "_index",
        "_lib",
        "_operations",
        "_pace",
        "_passes",
        "_pending",
        "_place",
        "_readbacks",
        "_retired",
        "_settling",
        "_stages",
        "_values",
        "compute",
        "lock",
        "offsets",
        "ordinals",
        "pipeline",
    )

    def __init__(self, device: Device, groups: BindGroups, readbacks: Readbacks, pace: Pace) -> None:
        self._device, self._groups, self._readbacks, self._pace = device, groups, readbacks, pace
        self._lib = device.bindings.lib
        self.lock = threading.RLock()
        self._settling = threading.Lock()
        self._stages: list[Any] = []
        self._passes: list[Any] = []
        self.compute: Any = None
        self.pipeline: Any = None
        self.ordinals: list[int] = []
        self._operations = 0
        self._index = 0
        self._has_writes = False
        self._deliveries: list[Delivery] = []
        self._pending: DriverFault | None = None
        self._values: Values | None = None
        self._retired: list[Values] = []
        self._place = device.bindings.ffi.new("WGPUCommandBuffer[1]")
        self.offsets = device.bindings.ffi.new(
            "uint32_t[]", int(device.limits.maxDynamicUniformBuffersPerPipelineLayout)
        )

    # ------------------------------------------------ recording, under the lock

    @property
    def has_collected(self) -> bool:
        return self._operations > 0

    def values(self) -> Values:
        """The stream's memory for values."""
        if self._values is None:
            self._values = Values(self._device, self._groups, NBYTES)
        return self._values

    def place(self, data: bytes) -> int:
        """Where the values of a launch lie. They may have to be preceded by a submission."""
        values = self.values()
        place = values.add(data)
        if place is None:
            self.submit()
            if len(data) > values.nbytes:
                # Groups that name the old one stay with it until the stream ends.
                self._retired.append(values)
                values = self._values = Values(self._device, self._groups, -(-2 * len(data) // NBYTES) * NBYTES)
            values.restart()
            place = values.add(data)
            assert place is not None
        return place

    def open_pass(self) -> Any:
        """The compute pass to record a dispatch into."""
        if self.compute is None:
            encoder = self.open_encoder()
            self.pipeline = None
            call_and_keep(
                self._passes, self._lib.wgpuCommandEncoderBeginComputePass, encoder, self._device.bindings.ffi.NULL
            )
            self.compute = self._passes[0]
        return self.compute

    def open_encoder(self) -> Any:
        """The command encoder to record a copy into, no pass being open."""
        self._end_pass()
        stages = self._stages
        if len(stages) > 1:
            self.submit()
        if not stages:
            self._device.check_alive()
            self.tell_pending()
            call_and_keep(
                stages,
                self._lib.wgpuDeviceCreateCommandEncoder,
                self._device.native,
                self._device.bindings.ffi.NULL,
            )
        return stages[0]

    def _end_pass(self) -> None:
        passes = self._passes
        if passes:
            self.compute = None
            compute = passes[0]
            if len(passes) == 1:
                call_and_keep(passes, self._lib.wgpuComputePassEncoderEnd, compute)
            passes.clear()
            self._lib.wgpuComputePassEncoderRelease(compute)

    def recorded(self) -> None:
        """One operation more was recorded: submit it, or let it be collected."""
        self._operations += 1
        if self._pace.unknown < BUSY_COUNT or self._operations >= MAX_OPERATIONS or self._pace.is_free():
            self.submit()
        else:
            self._pace.watch(self)

    def noted(self) -> None:
        """One operation more was recorded, and what it stands in is submitted next anyhow."""
        self._operations += 1

    def wrote(self) -> None:
        """The queue has a write that only a submission sends on."""
        self._has_writes = True

    def deliver(self, delivery: Delivery) -> None:
        """Copy to the host when what is recorded is done."""
        self._deliveries.append(delivery)

    # ------------------------------------------------ submitting

    def submit(self) -> None:
        """Hand what was recorded, and what was written, to the queue. Raises DriverFault when it is refused."""
        stages = self._stages
        if not self._operations and len(stages) < 2:
            if self._has_writes:
                # An empty submission, where the device is lost, would end the process like any other.
                self._device.probe()
                self._sent(self._lib.wgpuQueueSubmitForIndex(self._device.queue, 0, self._device.bindings.ffi.NULL))
                self._pace.hold_back()
            return
        lib, device = self._lib, self._device
        self._end_pass()
        if len(stages) == 1:
            call_and_keep(stages, lib.wgpuCommandEncoderFinish, stages[0], device.bindings.ffi.NULL)
        if len(stages) == 2:
            if self._values is not None:
                self._values.write()
            if device.errors or device.lost is not None:
                error = device.take_error()
                if error is not None or device.lost is not None:
                    ordinals = self.ordinals
                    self._abandon()
                    raise refused_work(device.name, error, device.lost, ordinals)
            self._place[0] = stages[1]
            call_and_keep(stages, lib.wgpuQueueSubmitForIndex, device.queue, 1, self._place)
        encoder, commands, index = stages
        self._sent(index)
        self._operations = 0
        self.ordinals = []
        stages.clear()
        lib.wgpuCommandEncoderRelease(encoder)
        lib.wgpuCommandBufferRelease(commands)
        self._pace.hold_back()

    def _sent(self, index: int) -> None:
        self._index = index
        self._has_writes = False
        self._pace.sent(index)
        for delivery in self._deliveries:
            delivery.submitted(index)

    def submit_collected(self) -> None:
        """As `submit`, by nobody's call: a fault is kept for the next one."""
        with self.lock:
            if not self._operations:
                return
            try:
                self.submit()
            except DriverFault as fault:
                self._pending = fault

    def _abandon(self) -> None:
        """Forget work that will not run, and what stood behind it."""
        self._end_pass()
        self.ordinals = []
        self._operations = 0
        stages = self._stages
        if stages:
            encoder, *finished = stages
            stages.clear()
            self._lib.wgpuCommandEncoderRelease(encoder)
            # wgpu-native keeps what was finished and never submitted, whatever is released: a few bytes.
            for commands in finished[:1]:
                self._lib.wgpuCommandBufferRelease(commands)
        for delivery in self._deliveries:
            if delivery.index == 0:
                delivery.discard()
        self._deliveries = [each for each in self._deliveries if not each.is_over]
        self._has_writes = False
        if self._values is not None:
            self._values.restart()

    def tell_pending(self) -> None:
        """Raise a fault that nobody was told of."""
        pending, self._pending = self._pending, None
        if pending is not None:
            raise pending

    # ------------------------------------------------ waiting

    def flush(self) -> int:
        """Submit everything; the index of the stream's last submission."""
        with self.lock:
            self.submit()
            return self._index

    def synchronize(self) -> None:
        """Wait until all is done and what was to be read is with the host."""
        index = self.flush()
        if index:
            self._pace.wait(index)
        self._settle(index)

    def query(self) -> bool:
        """Whether all is done. What is done is delivered."""
        index = self.flush()
        if index and not self._is_done(index):
            return False
        self._settle(index)
        return True

    def mark(self) -> Mark:
        """The place behind what is recorded now, all of it submitted."""
        index = self.flush()
        return Mark(self, index, self._readbacks.work_done() if index and not self._device.poll() else None)

    def reach(self, mark: Mark) -> None:
        """Wait for a mark of this stream."""
        if mark.index:
            self._pace.wait(mark.index)
        self._settle(mark.index)

    def has_reached(self, mark: Mark) -> bool:
        if mark.done is not None and not mark.done.is_set():
            self._device.poll()
            if not mark.done.is_set():
                return False
        self._settle(mark.index)
        return True

    def _is_done(self, index: int) -> bool:
        if self._device.poll():
            return True
        done = self._readbacks.work_done()
        self._device.poll()
        return done.is_set()

    def _settle(self, index: int) -> None:
        """Hand over what was read by submissions that are done. Raises a fault that nobody was told of."""
        # One at a time: whoever finds nothing left to hand over must find it handed over.
        with self._settling:
            with self.lock:
                done = [each for each in self._deliveries if 0 < each.index <= index and not each.is_over]
            try:
                for delivery in done:
                    delivery.complete()
            finally:
                if done:
                    with self.lock:
                        self._deliveries = [each for each in self._deliveries if not each.is_over]
        with self.lock:
            self.tell_pending()
        self._device.check("the queue")
        self._device.check_alive()

    def await_writes(self, begin: int, end: int) -> None:
        """Wait for what is still to be written of the host's memory from `begin` to `end`."""
        if any(each.overlaps(begin, end) for each in self._deliveries):
            self.synchronize()

    # ------------------------------------------------ the end

    def close(self) -> None:
        """Give up what it holds, recorded work too."""
        with self.lock:
            self._abandon()
            for delivery in self._deliveries:
                delivery.discard()
            self._deliveries.clear()
            for values in (self._values, *self._retired):
                if values is not None:
                    values.release()
            self._values = None
            self._retired.clear()
