"""A fault on the device is told: at the launch under debug sync, at the next wait otherwise, and never on another."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ....backend import GpuBackend
from ....buffers import DeviceBuffer
from ....errors import ContextLost, GpuResourceWarning, KernelFault
from ....kernel import Kernel
from ....launch import KernelLaunch
from ....scalars import u32
from ....slots import slot
from ...isolation import run_isolated
from ..case import case
from ..cells import Cells
from ..known import index_of_write_at
from ..refused import refused
from ..target import KERNELS, ConformanceTarget


def _caught(call: object) -> KernelFault:
    try:
        call()  # type: ignore[operator]
    except KernelFault as fault:
        return fault
    raise AssertionError("a faulting launch went through unnoticed")


def _still_works(target: ConformanceTarget, gpu: GpuBackend, kernel: Kernel) -> None:
    """Either the backend goes on as if nothing had been, or it says at once that its context is lost."""
    if gpu.is_lost:
        lost = refused(target, gpu, partial(gpu.alloc, 3), ContextLost)
        assert isinstance(lost.cause, KernelFault)
        return
    out = gpu.array(np.zeros(2, dtype=np.uint32))
    kernel[1, 1](out, u32(0))
    gpu.synchronize()
    assert out.numpy().tolist() == [33, 0]


@case(invariants=(8, 10), field=(2,), where=("kernel_faults",))
def debug_sync_blames_the_launch(target: ConformanceTarget) -> None:
    """Under debug sync a faulting launch itself raises, with kernel, geometry, arguments and the line that made it."""
    with target.opened(debug_sync=True) as gpu:
        kernel = target.kernel(gpu, "trap_if")
        out = gpu.array(np.zeros(2, dtype=np.uint32))
        kernel[1, 1](out, u32(0))
        fault = _caught(lambda: kernel[3, 2](out, u32(1)))
        assert fault.launch is not None
        assert (fault.launch.kernel, fault.launch.grid, fault.launch.block) == ("trap_if", (3, 1, 1), (2, 1, 1))
        assert not fault.earlier
        assert re.search(r"\.py:\d+$", fault.launch.site), fault.launch.site
        for words in ("trap_if", "(3, 1, 1)", "u32 1", fault.launch.site):
            assert words in str(fault), f"{words!r} is missing in: {fault}"
        _still_works(target, gpu, kernel)


@case(invariants=(10,), field=(2,), where=("kernel_faults",))
def debug_sync_can_be_a_region(target: ConformanceTarget) -> None:
    """`with gpu.debug_sync():` blames at the launch inside; outside the fault comes with the next wait."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "trap_if")
        out = gpu.array(np.zeros(2, dtype=np.uint32))
        with gpu.debug_sync():
            fault = _caught(lambda: kernel[3, 2](out, u32(1)))
            assert fault.launch is not None
            assert fault.launch.grid == (3, 1, 1)
        _still_works(target, gpu, kernel)


@case(invariants=(10,), field=(2,), where=("kernel_faults",))
def debug_sync_covers_every_way_of_launching(target: ConformanceTarget) -> None:
    """Under debug sync prepared launches, sequences and graphs blame their launch; a graph's fault names its node."""
    with target.opened(debug_sync=True) as gpu, gpu.create_stream() as stream:
        kernel, echo = target.kernel(gpu, "trap_if"), target.kernel(gpu, "echo_32")
        cells = Cells(gpu, 2)
        prepared = kernel[3, 2].prepare(cells[0], u32(0))
        with gpu.sequence() as step:
            echo[1, 1](cells[1], u32(5))
            KernelLaunch(gpu, kernel).grid(3).arg_ptr(cells[0]).arg_u32(slot("flag")).launch()
        with gpu.capture(stream) as capture:
            echo[1, 1, 0, stream](cells[1], u32(6))
            KernelLaunch(gpu, kernel).grid(3).arg_ptr(cells[0]).arg_u32(slot("flag")).launch(stream)
        calls = (partial(prepared, cells[0], u32(1)), partial(step, flag=1), partial(capture.graph.launch, flag=1))
        for call in calls:
            if gpu.is_lost:
                return
            fault = _caught(call)
            assert fault.launch is not None
            assert (fault.launch.kernel, fault.launch.grid, fault.earlier) == ("trap_if", (3, 1, 1), False)
        notes = " ".join(getattr(fault, "__notes__", ()))
        assert capture.graph.name in notes, notes
        assert "node 1" in notes, notes
        _still_works(target, gpu, kernel)


@case(invariants=(8,), field=(2, 7), where=("kernel_faults",))
def what_a_faulted_launch_wrote_is_not_read_as_good(target: ConformanceTarget) -> None:
    """Reading memory that a faulted launch of another stream was given raises its fault, as a wait for it would."""
    _read_after_a_fault(target, lambda gpu, out: out.numpy())


@case(invariants=(8,), field=(2, 7), where=("kernel_faults",))
def what_a_faulted_launch_wrote_is_not_copied_as_good(target: ConformanceTarget) -> None:
    """Copying such memory to the host raises the fault as well."""
    _read_after_a_fault(target, lambda gpu, out: gpu.copy_d2h(out, np.zeros(2, np.uint32)))


def _read_after_a_fault(target: ConformanceTarget, read: Callable[[GpuBackend, DeviceBuffer], object]) -> None:
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "trap_if")
        out, other = gpu.array(np.zeros(2, dtype=np.uint32)), gpu.array(np.ones(3, dtype=np.uint32))
        kernel[3, 2, 0, stream](out, u32(1))
        fault = None
        try:
            assert other.numpy().tolist() == [1, 1, 1]
        except KernelFault as early:
            # Where a fault costs the whole context, whatever asks the device first may find it.
            assert gpu.is_lost
            fault = early
        if fault is None:
            fault = _caught(partial(read, gpu, out))
        named = [fault.launch] if fault.launch is not None else list(fault.suspects)
        assert "trap_if" in [each.kernel for each in named]
        _still_works(target, gpu, kernel)


@case(invariants=(8, 10), field=(2, 8), where=("kernel_faults",))
def an_undebugged_fault_comes_with_the_next_wait(target: ConformanceTarget) -> None:
    """Without debug sync the next wait raises once, naming the launch or listing those since the last good wait."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel, echo = target.kernel(gpu, "trap_if"), target.kernel(gpu, "echo_32")
        cells = Cells(gpu, 3)
        echo[1, 1, 0, stream](cells[0], u32(4))
        stream.synchronize()

        def launch_and_wait() -> None:
            echo[1, 1, 0, stream](cells[1], u32(5))
            kernel[1, 1, 0, stream](cells[2], u32(1))
            stream.synchronize()

        fault = _caught(launch_and_wait)
        named = [fault.launch] if fault.launch is not None else list(fault.suspects)
        assert "trap_if" in [each.kernel for each in named]
        assert all(each.ordinal > 1 for each in named), "a launch before the last good wait is accused"
        if not gpu.is_lost:
            stream.synchronize()
            assert cells.values() == [4, 5, 0]
        _still_works(target, gpu, kernel)


@case(invariants=(8,), field=(2,), where=("kernel_faults",))
def an_older_fault_is_not_charged_to_a_launch(target: ConformanceTarget) -> None:
    """A fault that was there before a launch under debug sync says that it is older, and names its own launch."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel, echo = target.kernel(gpu, "trap_if"), target.kernel(gpu, "echo_32")
        cells = Cells(gpu, 2)

        def launch() -> None:
            kernel[1, 1, 0, stream](cells[0], u32(1))
            with gpu.debug_sync():
                echo[1, 1, 0, stream](cells[1], u32(5))

        fault = _caught(launch)
        assert fault.launch is None or fault.launch.kernel == "trap_if", f"the wrong launch is accused: {fault}"
        assert fault.earlier or not gpu.capabilities.asynchronous
        _still_works(target, gpu, kernel)


@case(invariants=(8,), field=(6,), where=("memory_check",))
def a_stray_write_is_caught(target: ConformanceTarget) -> None:
    """With the memory check a write past a buffer is a fault that names kernel, block, address and buffer."""
    with target.opened(check="memory") as gpu:
        kernel = target.kernel(gpu, "write_at")
        buffer = gpu.empty(3, np.int32, label="three numbers")
        buffer.copy_from(np.array([1, 2, 3], dtype=np.int32))
        for index in (3, -1, 1_000_000):

            def launch(index: int = index) -> None:
                kernel[1, 1](buffer, index_of_write_at(gpu.capabilities)(index), np.int32(9))
                gpu.synchronize()

            fault = _caught(launch)
            (finding,) = fault.findings
            assert (finding.kind, finding.kernel, finding.block) == ("out-of-bounds", "write_at", (0, 0, 0))
            assert (finding.access, finding.nbytes) == ("write", 4)
            assert finding.address == buffer.ptr.address + 4 * index
            assert finding.allocation is not None
            assert "three numbers" in finding.allocation
            if finding.source_line is not None:
                name = Path(finding.source_file).name if finding.source_file is not None else "suite.cu"
                line = (KERNELS / name).read_text().splitlines()[finding.source_line - 1]
                assert "out[index] = value" in line, f"blames line {finding.source_line}: {line}"
        assert len(gpu.findings) == 3
        assert buffer.numpy().tolist() == [1, 2, 3]


@case(invariants=(8,), field=(19,), where=("kernel_faults",))
def closing_after_a_fault_neither_raises_nor_hangs(target: ConformanceTarget) -> None:
    """Leaving a backend with a fault nobody waited for, memory and streams open, closes it; the books are empty."""
    gpu = target.open_backend()
    kernel = target.kernel(gpu, "trap_if")
    out, stream = gpu.array(np.zeros(2, dtype=np.uint32)), gpu.create_stream()
    pointer = gpu.alloc(33)
    try:
        kernel[1, 1, 0, stream](out, u32(1))
        kernel[1, 1, 0, stream](pointer, u32(0))
    except KernelFault:
        # A backend that runs at once tells it here, and so may any other: the first launch may be over by now.
        if not gpu.is_lost:
            stream.synchronize()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        gpu.close()
    assert all(issubclass(each.category, GpuResourceWarning) for each in told), [str(each.message) for each in told]
    assert not gpu.is_open
    target.after_close(gpu)


def _do_what_is_forbidden(pickled: bytes) -> list[list[int]]:
    """The child's part: a kernel that writes where nothing is; what its buffer and those beside it hold afterwards."""
    target: ConformanceTarget = pickle.loads(pickled)
    with target.opened() as gpu:
        before, out, after = (gpu.array(np.arange(first, first + 5, dtype=np.uint32)) for first in (10, 20, 30))
        kernel = target.kernel(gpu, "trap_if")
        kernel[1, 1](out, u32(1))
        gpu.synchronize()
        kernel[1, 1](out, u32(0))
        return [buffer.numpy().tolist() for buffer in (before, out, after)]


@case(invariants=(8,), field=(6,), where=("not kernel_faults",))
def without_faults_a_kernel_does_no_harm_or_ends_the_process(target: ConformanceTarget) -> None:
    """A device that states that it tells no faults tells none, and keeps a stray write in its buffer if it says so."""
    done = run_isolated(_do_what_is_forbidden, pickle.dumps(target))
    if done.signal_name is not None and not target.capabilities.bounded_accesses:
        return
    # A fault that was told is an exception here: it would be declared.
    assert done.exit_code == 0, f"{target.name} declares that it has no kernel_faults:\n{done.stderr}"
    before, out, after = done.value
    assert out[0] == 33
    if target.capabilities.bounded_accesses:
        # Beyond the end may be the last element.
        assert (before, out[1:4], after) == ([*range(10, 15)], [21, 22, 23], [*range(30, 35)])
