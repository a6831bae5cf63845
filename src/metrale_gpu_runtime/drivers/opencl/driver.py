"""One open OpenCL device: the contract, answered by the rooms beside this file."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress

from ...driver import (
    CodeImage,
    Driver,
    FunctionAttributes,
    LaunchTarget,
    LaunchToRecord,
    MemoryKind,
    NativeKernelCalls,
    RecordedLaunches,
)
from ...errors import GpuError, NotSupported
from ...handles import DEFAULT_STREAM, EventHandle, KernelHandle, ModuleHandle, StreamHandle
from ...host_address import address_of
from ...layout import ArgumentLayout
from .bindings import Bindings
from .buffers import BufferMemory
from .capabilities import read_capabilities
from .command_buffers import CommandBuffers
from .devices import Found
from .entry_points import address_of_function
from .events import Events
from .faults import refused_by
from .launching import OpenclLaunchTarget
from .memory import Memory
from .programs import Programs
from .streams import FLUSH_EVERY, Stream
from .svm import SvmMemory


class OpenclDriver(Driver):
    """A context with one device. `memory` is what allocations are: "svm" or "buffers"; with `command_buffers` sequences
    are recorded where the device can. Raises DriverError."""

    name = "opencl"

    def __init__(self, bindings: Bindings, found: Found, *, memory: str, command_buffers: bool) -> None:
        self.capabilities = read_capabilities(bindings, found, memory=memory)
        self._bindings, self._device, self._name = bindings, found.device, self.capabilities.device
        try:
            self._context = bindings.cl.Context([found.device])
        except bindings.cl.Error as error:
            raise refused_by(bindings, error) from error
        kind = SvmMemory if memory == "svm" else BufferMemory
        self._memory: Memory = kind(bindings, self._context, found.device, self._name)
        self._programs = Programs(bindings, self._context, found.device, self._name)
        self._events = Events(bindings)
        self._command_buffers = CommandBuffers.of_device(bindings, found) if command_buffers else None
        self._handles = itertools.count(1)
        self._streams: dict[StreamHandle, Stream] = {DEFAULT_STREAM: self._new_stream()}

    # ------------------------------------------------ memory

    def alloc(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        """Managed and pinned memory are fine-grain shared virtual memory, whose address is the host's as well."""
        return self._memory.alloc(nbytes, kind)

    def free(self, address: int, kind: MemoryKind = MemoryKind.DEVICE) -> None:
        self._memory.free(address)

    def memory_figures(self) -> tuple[int, int]:
        """Raises NotSupported where nothing tells how much is free."""
        return self._memory.figures()

    def map_host(self, address: int, nbytes: int) -> int:
        return address

    # ------------------------------------------------ copies and fills

    def copy_h2d(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        queue = self._streams[stream]
        self._memory.write(queue.pointer, dst, address_of(src), src.nbytes)
        queue.queued()

    def copy_d2h(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        queue = self._streams[stream]
        self._memory.read(queue.pointer, address_of(dst), src, dst.nbytes)
        queue.queued()

    def copy_d2d(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        queue = self._streams[stream]
        self._memory.copy(queue.pointer, dst, src, nbytes)
        queue.queued()

    def copy_d2d_2d(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        queue = self._streams[stream]
        self._memory.copy_rows(queue.pointer, dst, dst_pitch, src, src_pitch, width, height)
        queue.queued()

    def memset(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        queue = self._streams[stream]
        self._memory.fill(queue.pointer, dst, value.to_bytes(width, "little"), width * count)
        queue.queued()

    # ------------------------------------------------ streams and events

    def create_stream(self, priority: int = 0) -> StreamHandle:
        """LimitExceeded for any priority but 0: queues of OpenCL have none."""
        self._require_no_priority(priority, self._name, "Command queues of OpenCL have no priorities")
        stream = self._new_stream()
        handle = StreamHandle(next(self._handles))
        self._streams[handle] = stream
        return handle

    def destroy_stream(self, stream: StreamHandle) -> None:
        self._streams.pop(stream).close()

    def synchronize(self, stream: StreamHandle) -> None:
        self._streams[stream].synchronize()

    def query_stream(self, stream: StreamHandle) -> bool:
        return self._streams[stream].query()

    def create_event(self, timing: bool = True) -> EventHandle:
        return self._events.create(timing)

    def destroy_event(self, event: EventHandle) -> None:
        self._events.destroy(event)

    def record_event(self, event: EventHandle, stream: StreamHandle) -> None:
        self._events.record(event, self._streams[stream])

    def wait_event(self, stream: StreamHandle, event: EventHandle) -> None:
        recording, queue = self._events.recording(event), self._streams[stream]
        # A queue is in order: it need not be told to wait for itself.
        if recording.stream is not queue:
            queue.wait_for(recording.native)

    def synchronize_event(self, event: EventHandle) -> None:
        self._events.recording(event).wait()

    def query_event(self, event: EventHandle) -> bool:
        return self._events.recording(event).poll()

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        return self._events.elapsed_ms(start, end)

    # ------------------------------------------------ code

    def load_module(self, image: CodeImage) -> ModuleHandle:
        return self._programs.load(image, self.code_cache)

    def unload_module(self, module: ModuleHandle) -> None:
        self._programs.unload(module)

    def function_names(self, module: ModuleHandle) -> tuple[str, ...]:
        return self._programs.function_names(module)

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        return self._programs.function(module, name)

    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes:
        return self._programs.kernel(kernel).attributes

    def global_symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        raise NotSupported(
            f"opencl: the variables of a program have no address for the host, so {name!r} has none; pass it as an "
            "argument",
            backend="opencl",
            feature="module variables",
        )

    def prepare_launch(self, kernel: KernelHandle, layout: ArgumentLayout) -> LaunchTarget:
        """Raises ArgumentCountError."""
        return OpenclLaunchTarget(
            self._bindings,
            self._memory,
            self._streams.__getitem__,
            self._programs.kernel(kernel),
            layout,
            device=self._name,
        )

    def native_calls(self) -> NativeKernelCalls:
        calls, by_handle = self._bindings.calls, self._memory.handles
        pointer = calls.set_kernel_arg_svm_pointer if by_handle is None else None
        buffers = self._command_buffers
        return NativeKernelCalls(
            set_argument=address_of_function(calls.set_kernel_arg),
            set_pointer=address_of_function(pointer) if pointer is not None else 0,
            enqueue=address_of_function(calls.enqueue_nd_range_kernel),
            flush=address_of_function(calls.flush),
            flush_every=FLUSH_EVERY,
            memory=by_handle,
            enqueue_recorded=buffers.calls.enqueue if buffers is not None else 0,
            ask_recorded=buffers.calls.ask if buffers is not None and buffers.must_ask else 0,
        )

    def record_launches(self, launches: Sequence[LaunchToRecord]) -> RecordedLaunches | None:
        stream = self._streams.get(DEFAULT_STREAM)
        if self._command_buffers is None or stream is None:
            return None
        return self._command_buffers.record(launches, stream.pointer)

    def native_queue(self, stream: StreamHandle) -> tuple[int, object]:
        queue = self._streams[stream]
        return queue.pointer, queue.counts

    # ------------------------------------------------ the end

    def close(self) -> None:
        streams = list(self._streams.values())
        self._streams.clear()
        for stream in streams:
            # The context may be lost; what its end could not say is said already.
            with suppress(GpuError):
                stream.close()
        self._events.clear()
        self._programs.close()
        self._memory.clear()

    # ------------------------------------------------ inside

    def _new_stream(self) -> Stream:
        return Stream(self._bindings, self._context, self._device, self._name)
