"""Handles know their backend: what belongs to another one, or to nobody, is refused by name."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial

import numpy as np

from ....errors import ForeignHandle, HandleClosed, InvalidPointer
from ....handles import DevicePtr
from ....launch import KernelLaunch
from ....scalars import u32
from ..case import case
from ..cells import Cells
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(9,))
def handles_of_another_backend_are_refused(target: ConformanceTarget) -> None:
    """A pointer, buffer, kernel, stream, event or graph of another open backend is refused, and nothing runs."""
    with target.opened() as gpu, target.opened() as other:
        kernel, theirs = target.kernel(gpu, "echo_32"), target.kernel(other, "echo_32")
        out, buffer = gpu.array(np.zeros(2, dtype=np.uint32)), other.array(np.zeros(2, dtype=np.uint32))
        stream, event = other.create_stream(), other.create_event()
        event.record(stream)
        with other.capture(stream) as capture:
            theirs[1, 1, 0, stream](buffer, u32(1))
        using_their_memory: tuple[Callable[[], object], ...] = (
            lambda: kernel[1, 1](buffer, u32(5)),
            lambda: KernelLaunch(gpu, kernel).arg_ptr(buffer.ptr).arg_u32(5).launch(),
            lambda: gpu.copy_d2d(buffer, out, 8),
            lambda: gpu.copy_h2d(np.zeros(2, dtype=np.uint32), buffer.ptr),
        )
        device = gpu.capabilities.dlpack_device
        if device is not None and device == other.capabilities.dlpack_device:
            # One GPU opened twice is one context: its memory is used in place.
            using_their_memory = ()
        for call in (
            *using_their_memory,
            lambda: KernelLaunch(gpu, theirs),
            lambda: kernel[1, 1, 0, stream](out, u32(5)),
            lambda: gpu.synchronize(stream),
            lambda: gpu.stream_wait_event(None, event),
            lambda: gpu.record_event(event),
            lambda: gpu.free(buffer.ptr),
            lambda: gpu.launch_graph(capture.graph),
        ):
            refused(target, gpu, call, ForeignHandle)
        other.synchronize()
        assert out.numpy().tolist() == buffer.numpy().tolist() == [0, 0]


@case(invariants=(6, 9), where=("not untracked_pointers",))
def an_unknown_address_is_refused(target: ConformanceTarget) -> None:
    """A bare address that lies in no live allocation is refused before the launch; one inside an allocation is not."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "echo_32")
        cells = Cells(gpu, 3)
        refused(
            target,
            gpu,
            lambda: KernelLaunch(gpu, kernel).arg_ptr(DevicePtr(0x1000)).arg_u32(5).launch(),
            InvalidPointer,
        )
        KernelLaunch(gpu, kernel).arg_ptr(DevicePtr(cells[1].address)).arg_u32(5).launch()
        assert cells.values() == [0, 5, 0]


@case(invariants=(8, 9))
def a_closed_backend_is_refused(target: ConformanceTarget) -> None:
    """After `close` every call raises HandleClosed; closing again and dropping what is left do nothing."""
    gpu = target.open_backend()
    kernel = target.kernel(gpu, "echo_32")
    out, stream, event = gpu.array(np.zeros(2, dtype=np.uint32)), gpu.create_stream(), gpu.create_event()
    prepared = kernel[1, 1, 0, stream].prepare(out, u32(5))
    prepared()
    gpu.close()
    gpu.close()
    calls: list[Callable[[], object]] = [
        partial(gpu.alloc, 3),
        partial(kernel[1, 1], out, u32(5)),
        prepared,
        out.numpy,
        stream.synchronize,
        event.record,
        gpu.synchronize,
        partial(gpu.load_module, "m", source="x"),
    ]
    for call in calls:
        refused(target, gpu, call, HandleClosed)
    calls.clear()
    del out, stream, event, prepared, kernel, call
    gc.collect()
    target.after_close(gpu)
