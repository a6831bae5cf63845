"""A kernel with its launches: the parameter block, the number of workers, and what came of it."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import TYPE_CHECKING

from ...driver import ArgumentKind, ArgumentLayout, LaunchTarget
from ...errors import DriverFault, Finding, NotSupported, OutOfDeviceMemory
from ...geometry import Geometry
from ...handles import StreamHandle
from . import abi
from .faults import finding_of, stalled_finding, timeout_finding
from .memory import memory_figures
from .modules import CpuKernel
from .workers import Execution, Need

if TYPE_CHECKING:
    from .driver import CpuDriver
    from .jit import CompiledKernel

# Waking another thread costs about as much as this: shorter launches run on the calling thread alone.
_WORTH_HELP_NS = 150_000
# What is assumed of a kernel that has not run yet.
_FIRST_NS_PER_THREAD = 10
_LARGEST_CHUNK = 64
_PARAMS_ALIGN = 128
_LAUNCH_NBYTES = -(-ctypes.sizeof(abi.Launch) // _PARAMS_ALIGN) * _PARAMS_ALIGN


class _Shape:
    """What is the same for all launches of a kernel with one geometry."""

    __slots__ = ("block_count", "first_estimate_ns", "need", "template")

    def __init__(self, kernel: CpuKernel, code: CompiledKernel, geometry: Geometry) -> None:
        translated = kernel.translated
        threads = geometry.block.volume
        self.block_count = geometry.grid.volume
        launch = abi.Launch()
        launch.grid[:] = geometry.grid.as_tuple()
        launch.block[:] = geometry.block.as_tuple()
        launch.threads_per_block = threads
        launch.dynamic_shared_nbytes = geometry.shared_mem
        launch.shared_nbytes = translated.static_shared_nbytes + geometry.shared_mem
        launch.frame_nbytes = translated.frame_nbytes
        launch.block_count = self.block_count
        self.template = bytes(launch)
        self.need = Need(code, threads, translated.frame_nbytes, launch.shared_nbytes)
        self.first_estimate_ns = threads * _FIRST_NS_PER_THREAD


class CpuLaunchTarget(LaunchTarget):
    """Runs the launch before `submit` returns. What went wrong in it is kept on its stream until somebody asks.

    A KeyboardInterrupt stops the launch and goes through: with checked accesses at the next turn of a loop, else
    between blocks.
    """

    def __init__(self, driver: CpuDriver, kernel: CpuKernel, layout: ArgumentLayout) -> None:
        if ArgumentKind.LOCAL in layout.kinds:
            raise NotSupported(
                f"{kernel.name}: PTX has no local arguments; use shared_mem(nbytes)",
                backend="cpu",
                feature="local arguments",
            )
        self._driver, self._kernel = driver, kernel
        self._code = kernel.compiled(driver.code_cache)
        self._block_type = ctypes.c_char * (_LAUNCH_NBYTES + max(1, kernel.param_nbytes) + _PARAMS_ALIGN)
        self._shapes: dict[Geometry, _Shape] = {}
        # Programs launch with one geometry object again and again; hashing it costs as much as a small launch.
        self._latest: tuple[Geometry | None, _Shape | None] = (None, None)

    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        """Run the launch. Raises DriverFault for an older fault of the stream, OutOfDeviceMemory."""
        driver, kernel = self._driver, self._kernel
        driver.streams.raise_pending(stream)
        known, shape = self._latest
        if shape is None or known is not geometry:
            shape = self._shapes.get(geometry) or self._shape(geometry)
            self._latest = (geometry, shape)
        memory = self._block_type()
        base = -(-ctypes.addressof(memory) // _PARAMS_ALIGN) * _PARAMS_ALIGN
        ctypes.memmove(base, shape.template, len(shape.template))
        ctypes.memmove(base + _LAUNCH_NBYTES, bytes(image), min(len(image), kernel.param_nbytes))
        launch = abi.Launch.from_address(base)
        launch.params = base + _LAUNCH_NBYTES
        launch.ordinal = ordinal
        snapshot = None
        if driver.check is not None:
            snapshot = driver.ranges.snapshot()
            launch.ranges, launch.range_count = snapshot.address, snapshot.count
        blocks = shape.block_count
        helpers = self._helpers(shape) if blocks > 1 else 0
        launch.chunk = max(1, min(_LARGEST_CHUNK, blocks // (8 * (helpers + 1))))
        execution = Execution(self._code, launch, shape.need, keeps=(memory, snapshot))
        began = time.perf_counter_ns()
        try:
            if self._is_watched():
                driver.workers.watch(execution, helpers, driver.launch_timeout_s)
            else:
                kernel.turns_per_call = driver.workers.run(execution, helpers, kernel.turns_per_call)
        except MemoryError as error:
            free, total = memory_figures()
            raise OutOfDeviceMemory(
                f"{kernel.name}: no memory for its blocks, which take {shape.need.nbytes:,} bytes each on every worker",
                nbytes=shape.need.nbytes,
                free=free,
                total=total,
            ) from error
        if launch.stop:
            driver.streams.fail(stream, self._fault(execution, ordinal))
        else:
            kernel.ns_per_block = (time.perf_counter_ns() - began) * (helpers + 1) / blocks

    def _is_watched(self) -> bool:
        """Whether the caller waits beside the launch to be able to stop it, instead of running a part of it.

        Only a kernel with loops may last for ever, Ctrl-C reaches only the main thread, and a time limit everybody.
        """
        if not self._kernel.translated.may_run_on:
            return False
        return self._driver.launch_timeout_s is not None or threading.current_thread() is threading.main_thread()

    def _shape(self, geometry: Geometry) -> _Shape:
        if len(self._shapes) >= 64:
            self._shapes.clear()
        shape = self._shapes[geometry] = _Shape(self._kernel, self._code, geometry)
        return shape

    def _helpers(self, shape: _Shape) -> int:
        per_block = self._kernel.ns_per_block or shape.first_estimate_ns
        if per_block * shape.block_count < _WORTH_HELP_NS:
            return 0
        return min(self._driver.workers.count, shape.block_count) - 1

    def _fault(self, execution: Execution, ordinal: int) -> DriverFault:
        driver, kernel, fault = self._driver, self._kernel, execution.launch.fault
        finding: Finding
        if execution.has_timed_out and not fault.claimed:
            finding = timeout_finding(kernel.name, ordinal, driver.launch_timeout_s)
        elif fault.claimed:
            finding = finding_of(
                fault,
                kernel=kernel.name,
                launch=ordinal,
                sites=kernel.translated.sites,
                shared_nbytes=execution.launch.shared_nbytes,
                ranges=driver.ranges,
                memory=driver.memory,
            )
        else:
            finding = stalled_finding(kernel.name, ordinal, execution.stalled_contexts, driver.workers.stall_s)
        return DriverFault(finding.kind, finding.message, (finding,), launch=ordinal)
