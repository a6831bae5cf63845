"""One open WebGPU device: the contract, answered by the rooms beside this file."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping

from ...driver import CodeImage, Driver, FunctionAttributes, FunctionConstant, LaunchTarget, MemoryKind
from ...errors import NotSupported
from ...handles import DEFAULT_STREAM, EventHandle, KernelHandle, ModuleHandle, StreamHandle
from ...layout import ArgumentLayout
from .adapters import Adapter
from .bind_groups import BindGroups
from .bindings import Bindings
from .capabilities import read_capabilities
from .copies import Copies
from .copy_kernels import CopyKernels
from .device import Device
from .events import Events
from .launching import WebgpuLaunchTarget
from .memory import Memory
from .modules import Modules
from .pace import Pace
from .pipelines import WebgpuKernel
from .readback import Readbacks
from .streams import WebgpuStream

LONGEST_CLOSE_S = 5.0
"""How long closing waits for the thread of the driver."""


class WebgpuDriver(Driver):
    """A device of one adapter. Raises BackendUnavailable where the adapter gives none."""

    name = "webgpu"

    def __init__(self, bindings: Bindings, adapter: Adapter, *, index: int) -> None:
        device = self._device = Device(bindings, adapter)
        self.capabilities = read_capabilities(device, index)
        self._groups = BindGroups(device)
        self._memory = Memory(device, self._groups)
        self._modules = Modules(device, self._groups)
        self._readbacks = Readbacks(device)
        self._pace = Pace(device)
        self._events = Events(device, self._readbacks, has_timing=self.capabilities.event_timing)
        self._handles = itertools.count(1)
        self._streams: dict[StreamHandle, WebgpuStream] = {DEFAULT_STREAM: self._new_stream()}
        self._kernels = CopyKernels(
            self._modules,
            self._prepare_own,
            align=int(device.limits.minStorageBufferOffsetAlignment),
            most_groups=int(device.limits.maxComputeWorkgroupsPerDimension),
        )
        self._copies = Copies(device, self._memory, self._readbacks, self._kernels, self._streams)

    # ------------------------------------------------ memory

    def alloc(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        """Raises OutOfDeviceMemory, NotSupported for managed and pinned memory, of which WebGPU has none."""
        if kind is not MemoryKind.DEVICE:
            raise NotSupported(
                f"webgpu: there is no {kind.value} memory: kernels reach buffers of the device only; copy",
                backend="webgpu",
                feature=f"{kind.value} memory",
            )
        return self._memory.alloc(nbytes)

    def free(self, address: int, kind: MemoryKind = MemoryKind.DEVICE) -> None:
        self._memory.free(address)

    def memory_figures(self) -> tuple[int, int]:
        """Raises NotSupported but for a software device, whose memory is the host's."""
        return self._memory.figures()

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
        """WebGPU has one queue: LimitExceeded for any priority but 0."""
        self._require_no_priority(priority, self._device.name, "WebGPU has one queue and no priorities")
        handle = StreamHandle(next(self._handles))
        self._streams[handle] = self._new_stream()
        return handle

    def destroy_stream(self, stream: StreamHandle) -> None:
        """Raises DriverFault when its work was refused and nobody was told. It is destroyed then, too."""
        gone = self._streams.pop(stream)
        gone.close()
        gone.tell_pending()

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
        """What the event stands behind was submitted when it was recorded, and there is one queue: what is recorded
        from now on is submitted behind it. What the stream has recorded already need not wait."""

    def synchronize_event(self, event: EventHandle) -> None:
        mark = self._events.mark(event)
        mark.stream.reach(mark)

    def query_event(self, event: EventHandle) -> bool:
        mark = self._events.mark(event)
        return mark.stream.has_reached(mark)

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        return self._events.elapsed_ms(start, end)

    # ------------------------------------------------ code

    def load_module(self, image: CodeImage) -> ModuleHandle:
        return self._modules.load(image)

    def unload_module(self, module: ModuleHandle) -> None:
        self._modules.unload(module)

    def function_names(self, module: ModuleHandle) -> tuple[str, ...]:
        return self._modules.function_names(module)

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        return self._modules.specialised(module, name, {})

    def function_constants(self, module: ModuleHandle, name: str) -> tuple[FunctionConstant, ...]:
        return self._modules.function_constants(module, name)

    def specialised_function(self, module: ModuleHandle, name: str, constants: Mapping[str, bytes]) -> KernelHandle:
        return self._modules.specialised(module, name, constants)

    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes:
        return self._modules.kernel(kernel).attributes()

    def global_symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        raise NotSupported(
            f"webgpu: the variables of a WGSL module have no address, so {name!r} has none; pass it as an argument, or "
            "as an override",
            backend="webgpu",
            feature="module variables",
        )

    def prepare_launch(self, kernel: KernelHandle, layout: ArgumentLayout) -> LaunchTarget:
        """Raises ArgumentCountError, ArgumentKindError, ArgumentSizeError for arguments that the kernel has no places
        for."""
        return WebgpuLaunchTarget(self._device, self._memory, self._streams, self._modules.kernel(kernel), layout)

    # ------------------------------------------------ the end

    def close(self) -> None:
        if self._pace.is_its_thread():
            # The backend was dropped in a cycle, which was found while that thread was at work: it ends first.
            threading.Thread(target=self._close, name="metrale-webgpu-close", daemon=True).start()
        else:
            self._close()

    def _close(self) -> None:
        self._pace.close(LONGEST_CLOSE_S)
        streams = list(self._streams.values())
        self._streams.clear()
        for stream in streams:
            stream.close()
        self._events.clear()
        self._kernels.clear()
        self._modules.close()
        self._memory.clear()
        self._readbacks.drain()
        self._device.close()

    # ------------------------------------------------ inside

    def _new_stream(self) -> WebgpuStream:
        return WebgpuStream(self._device, self._groups, self._readbacks, self._pace)

    def _prepare_own(self, kernel: WebgpuKernel, layout: ArgumentLayout) -> WebgpuLaunchTarget:
        return WebgpuLaunchTarget(self._device, self._memory, self._streams, kernel, layout, binds_parts=True)
