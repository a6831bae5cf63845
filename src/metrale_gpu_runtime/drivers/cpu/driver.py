"""The CPU as a device: PTX runs on this machine's cores, in this process, in host memory.

Work runs when it is queued and is over when the call returns; a fault in a launch is kept on its stream, as a GPU
would, and raised by the next call that asks about that stream.
"""

from __future__ import annotations

import ctypes
import itertools

from ...capabilities import Capabilities
from ...driver import ArgumentLayout, CodeImage, Driver, FunctionAttributes, LaunchTarget, MemoryKind
from ...handles import EventHandle, KernelHandle, ModuleHandle, StreamHandle
from .launch import CpuLaunchTarget
from .memory import DeviceMemory, memory_figures
from .modules import MAX_THREADS_PER_BLOCK, CpuKernel, CpuModule
from .ranges import LiveRanges
from .streams import Streams
from .workers import Workers

MAX_SHARED_NBYTES = 232_448
"""Static and dynamic shared memory of a block: the 227 KiB of a Hopper GPU, so that its kernels fit."""

MAX_PARAMETER_NBYTES = 32_764

# Copies from here on are made without the interpreter lock.
_LARGE_COPY_NBYTES = 1 << 20
_FILL_NBYTES = 1 << 16


class CpuDriver(Driver):
    """One CPU. `check` is "memory" (accesses are checked against live memory) or None; `workers` is how many threads
    run a launch's blocks, the calling thread included. `launch_timeout_s` ends a launch that runs longer; it needs
    checked accesses, whose loops ask whether to stop."""

    name = "cpu"

    def __init__(self, device: str, *, check: str | None, workers: int, launch_timeout_s: float | None = None) -> None:
        self.check = check
        self.launch_timeout_s = launch_timeout_s
        self.ranges = LiveRanges()
        self.memory = DeviceMemory(self.ranges)
        self.streams = Streams()
        self.workers = Workers(workers)
        self._modules: dict[ModuleHandle, CpuModule] = {}
        self._kernels: dict[KernelHandle, CpuKernel] = {}
        self._handles = itertools.count(1)
        self.capabilities = Capabilities(
            backend="cpu",
            device=device,
            code_formats=("ptx",),
            source_languages=("cuda-c",),
            cuda_architecture="compute_80",
            max_threads_per_block=MAX_THREADS_PER_BLOCK,
            max_static_and_dynamic_shared_mem=MAX_SHARED_NBYTES,
            max_parameter_nbytes=MAX_PARAMETER_NBYTES,
            max_allocation_nbytes=memory_figures()[1],
            multiprocessor_count=workers,
            raw_addresses=True,
            untracked_pointers=False,
            host_arrays_are_device_arrays=True,
            asynchronous=False,
            memory_check=True,
            unified_memory=True,
        )

    # ------------------------------------------------ memory

    def alloc(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        """All kinds are host memory. New memory reads as zeros; nobody may rely on it."""
        return self.memory.alloc(nbytes)

    def free(self, address: int, kind: MemoryKind = MemoryKind.DEVICE) -> None:
        self.memory.free(address)

    def memory_figures(self) -> tuple[int, int]:
        return memory_figures()

    def map_host(self, address: int, nbytes: int) -> int:
        return address

    def lend_host(self, address: int, nbytes: int, writable: bool) -> None:
        self.ranges.lend(address, nbytes, writable=writable)

    def return_host(self, address: int, nbytes: int) -> None:
        self.ranges.take_back(address, nbytes)

    # ------------------------------------------------ copies and fills

    def copy_h2d(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        self.streams.raise_pending(stream)
        _move(_view(dst, src.nbytes), src.cast("B"))

    def copy_d2h(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        self.streams.raise_pending(stream)
        _move(dst.cast("B"), _view(src, dst.nbytes))

    def copy_d2d(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        self.streams.raise_pending(stream)
        ctypes.memmove(dst, src, nbytes)

    def memset(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        self.streams.raise_pending(stream)
        nbytes = width * count
        if width == 1:
            ctypes.memset(dst, value, nbytes)
            return
        pattern = value.to_bytes(width, "little") * min(count, _FILL_NBYTES // width)
        for offset in range(0, nbytes, len(pattern) or 1):
            ctypes.memmove(dst + offset, pattern, min(len(pattern), nbytes - offset))

    # ------------------------------------------------ streams and events

    def create_stream(self, priority: int = 0) -> StreamHandle:
        return self.streams.create()

    def destroy_stream(self, stream: StreamHandle) -> None:
        self.streams.destroy(stream)

    def synchronize(self, stream: StreamHandle) -> None:
        self.streams.raise_pending(stream)

    def query_stream(self, stream: StreamHandle) -> bool:
        self.streams.raise_pending(stream)
        return True

    def create_event(self, timing: bool = True) -> EventHandle:
        return self.streams.create_event(timing)

    def destroy_event(self, event: EventHandle) -> None:
        self.streams.destroy_event(event)

    def record_event(self, event: EventHandle, stream: StreamHandle) -> None:
        self.streams.record(event, stream)

    def wait_event(self, stream: StreamHandle, event: EventHandle) -> None:
        self.streams.wait(stream, event)

    def synchronize_event(self, event: EventHandle) -> None:
        self.streams.raise_event(event)

    def query_event(self, event: EventHandle) -> bool:
        self.streams.raise_event(event)
        return True

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        return self.streams.elapsed_ms(start, end)

    # ------------------------------------------------ code

    def load_module(self, image: CodeImage) -> ModuleHandle:
        module = CpuModule(image, self.memory, self.check)
        handle = ModuleHandle(next(self._handles))
        self._modules[handle] = module
        return handle

    def unload_module(self, module: ModuleHandle) -> None:
        loaded = self._modules.pop(module)
        for kernel in loaded.kernels.values():
            self._kernels.pop(kernel.handle, None)
        loaded.unload()

    def function_names(self, module: ModuleHandle) -> tuple[str, ...]:
        return self._modules[module].kernel_names

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        kernel = self._modules[module].kernel(name, KernelHandle(next(self._handles)))
        self._kernels[kernel.handle] = kernel
        return kernel.handle

    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes:
        return self._kernels[kernel].attributes

    def global_symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        return self._modules[module].symbol(name)

    def prepare_launch(self, kernel: KernelHandle, layout: ArgumentLayout) -> LaunchTarget:
        """Compiles the kernel when this is its first use."""
        return CpuLaunchTarget(self, self._kernels[kernel], layout)

    # ------------------------------------------------ the end

    def close(self) -> None:
        self.workers.close()
        self._modules.clear()
        self._kernels.clear()
        self.memory.close()


def _view(address: int, nbytes: int) -> memoryview:
    """Device memory as writable bytes."""
    return memoryview((ctypes.c_char * nbytes).from_address(address)).cast("B")


def _move(dst: memoryview, src: memoryview) -> None:
    """Copy all bytes of `src`. A large copy lets other threads run, unless the source is read-only (ctypes gives no
    address of that)."""
    if src.nbytes >= _LARGE_COPY_NBYTES and not src.readonly:
        to, source = ctypes.c_char.from_buffer(dst), ctypes.c_char.from_buffer(src)
        ctypes.memmove(ctypes.addressof(to), ctypes.addressof(source), src.nbytes)
    else:
        dst[:] = src
