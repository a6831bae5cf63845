"""One open Metal device: the contract, answered by the rooms beside this file."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping
from typing import Any

from ...driver import CodeImage, Driver, FunctionAttributes, FunctionConstant, LaunchTarget, MemoryKind
from ...errors import NotSupported
from ...handles import DEFAULT_STREAM, EventHandle, KernelHandle, ModuleHandle, StreamHandle
from ...layout import ArgumentLayout
from .bindings import Bindings
from .capabilities import read_capabilities
from .copies import Copies
from .copy_kernels import CopyKernels
from .events import Events
from .launching import MetalLaunchTarget
from .libraries import Libraries
from .memory import Memory
from .streams import MetalStream
from .temporaries import Temporaries

LONGEST_CLOSE_S = 5.0
"""How long closing waits for threads of the driver. They are daemons and end with the GPU's work, if it ends."""


class MetalDriver(Driver):
    """An MTLDevice. `storage` is where device memory lies: "shared" or "private".

    The caller holds an autorelease pool. Raises DriverError when the device gives no command queue.
    """

    name = "metal"

    def __init__(self, bindings: Bindings, device: Any, *, index: int, storage: str) -> None:
        self.capabilities = read_capabilities(bindings, device, index)
        self._bindings, self._device, self._name = bindings, device, self.capabilities.device
        self._temporaries = Temporaries(bindings, device)
        self._memory = Memory(
            bindings,
            device,
            self._temporaries,
            name=self._name,
            is_unified=self.capabilities.unified_memory,
            storage=storage,
        )
        self._libraries = Libraries(bindings, device)
        self._events = Events()
        self._lock = threading.Lock()
        self._handles = itertools.count(1)
        self._streams: dict[StreamHandle, MetalStream] = {DEFAULT_STREAM: self._new_stream()}
        # Destroyed, but their threads may still be on their way out.
        self._ending: list[MetalStream] = []
        self._copy_kernels = CopyKernels(self._libraries)
        self._copies = Copies(self._memory, self._temporaries, self._copy_kernels, self._streams.__getitem__)

    # ------------------------------------------------ memory

    def alloc(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        """Managed memory is a buffer in shared storage; pinned memory too, known by its host address."""
        return self._memory.alloc(nbytes, kind)

    def free(self, address: int, kind: MemoryKind = MemoryKind.DEVICE) -> None:
        self._memory.free(address)

    def memory_figures(self) -> tuple[int, int]:
        return self._memory.figures()

    def device_free_memory(self) -> int:
        return self._memory.device_free()

    def map_host(self, address: int, nbytes: int) -> int:
        return self._memory.device_address(address)

    # ------------------------------------------------ copies and fills

    def copy_h2d(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        self._copies.to_device(dst, src, stream)

    def copy_d2h(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        self._copies.to_host(dst, src, stream)

    def copy_d2d(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        self._copies.on_device(dst, src, nbytes, stream)

    def copy_d2d_2d(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        self._copies.rows_on_device(dst, dst_pitch, src, src_pitch, width, height, stream)

    def memset(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        self._copies.fill(dst, value, width, count, stream)

    # ------------------------------------------------ streams and events

    def create_stream(self, priority: int = 0) -> StreamHandle:
        """Metal's command queues have no priorities: LimitExceeded for any but 0."""
        self._require_no_priority(priority, self._name, "Command queues of Metal have no priorities")
        stream = self._new_stream()
        handle = StreamHandle(next(self._handles))
        self._streams[handle] = stream
        return handle

    def destroy_stream(self, stream: StreamHandle) -> None:
        """Raises DriverFault when its work failed and nobody was told: another stream may have been waited for in its
        stead. It is destroyed then, too."""
        gone = self._streams.pop(stream)
        pending = gone.take_fault()
        gone.close(LONGEST_CLOSE_S)
        with self._lock:
            self._ending = [each for each in self._ending if each.is_ending]
            if gone.is_ending:
                self._ending.append(gone)
        if pending is not None:
            pending.tell()

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
        self._streams[stream].wait_for(self._events.mark(event))

    def synchronize_event(self, event: EventHandle) -> None:
        self._events.mark(event).wait()

    def query_event(self, event: EventHandle) -> bool:
        return self._events.mark(event).poll()

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        return self._events.elapsed_ms(start, end)

    # ------------------------------------------------ code

    def load_module(self, image: CodeImage) -> ModuleHandle:
        return self._libraries.load(image)

    def unload_module(self, module: ModuleHandle) -> None:
        self._libraries.unload(module)

    def function_names(self, module: ModuleHandle) -> tuple[str, ...]:
        return self._libraries.function_names(module)

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        return self._libraries.function(module, name)

    def function_constants(self, module: ModuleHandle, name: str) -> tuple[FunctionConstant, ...]:
        return self._libraries.function_constants(module, name)

    def specialised_function(self, module: ModuleHandle, name: str, constants: Mapping[str, bytes]) -> KernelHandle:
        return self._libraries.specialised(module, name, constants)

    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes:
        return self._libraries.pipeline(kernel).attributes()

    def global_symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        raise NotSupported(
            f"metal: the variables of a library have no address for the host, so {name!r} has none; pass it as an "
            "argument, or as a function constant",
            backend="metal",
            feature="module variables",
        )

    def prepare_launch(self, kernel: KernelHandle, layout: ArgumentLayout) -> LaunchTarget:
        """Raises ArgumentCountError, LimitExceeded for arguments that the kernel has no places for."""
        return MetalLaunchTarget(
            self._bindings,
            self._memory,
            self._temporaries,
            self._streams.__getitem__,
            self._libraries.pipeline(kernel),
            layout,
            device=self._name,
            threadgroup_limit=self.capabilities.max_static_and_dynamic_shared_mem,
        )

    # ------------------------------------------------ the end

    def close(self) -> None:
        end = time.monotonic() + LONGEST_CLOSE_S
        with self._lock:
            streams = [*self._streams.values(), *self._ending]
            self._streams.clear()
            self._ending.clear()
        for stream in streams:
            stream.close(max(0.0, end - time.monotonic()))
        for stream in streams:
            stream.join(max(0.0, end - time.monotonic()))
        self._events.clear()
        self._copy_kernels.clear()
        self._libraries.close()
        self._memory.clear()
        self._temporaries.drain()

    # ------------------------------------------------ inside

    def _new_stream(self) -> MetalStream:
        return MetalStream(self._bindings, self._device, self._name)
