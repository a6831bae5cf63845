"""Host arrays lent to one launch: what is read, what comes back, what is refused."""

from __future__ import annotations

import gc
from functools import partial

import numpy as np

from ....buffers import In, InOut, Out
from ....errors import ArgumentError, ArgumentKindError, KernelFault, LaunchError
from ....launch import KernelLaunch
from ....scalars import u32
from ..case import case
from ..refused import refused
from ..target import ConformanceTarget


@case(invariants=(6,))
def lent_arrays_are_read_and_written_back(target: ConformanceTarget) -> None:
    """In is read, Out is written, InOut is both; the launch is done when it returns and nothing stays allocated."""
    with target.opened() as gpu:
        x, y = np.array([1, 2, 3], dtype=np.float32), np.array([10, 20, 30], dtype=np.float32)
        before = gpu.live_alloc_count()
        target.kernel(gpu, "scale_add")[1, 3](In(x), InOut(y), u32(3), 100.0)
        assert (x.tolist(), y.tolist()) == ([1, 2, 3], [110, 220, 330])
        places = np.full((4, 6), 77, dtype=np.uint32)
        KernelLaunch(gpu, target.kernel(gpu, "whereabouts")).grid(2).block(2).arg_ptr(Out(places)).launch()
        assert places.tolist() == [[b, 0, 0, t, 0, 0] for b in (0, 1) for t in (0, 1)]
        gc.collect()
        assert gpu.live_alloc_count() == before


@case(invariants=(6,))
def what_cannot_be_lent_is_refused(target: ConformanceTarget) -> None:
    """A read-only array is not lent for writing; nothing lent goes into a prepared launch, sequence or capture."""
    with target.opened() as gpu, gpu.create_stream() as stream:
        kernel = target.kernel(gpu, "scale_add")
        out = gpu.array(np.zeros(3, dtype=np.float32))
        x, fixed = np.ones(3, dtype=np.float32), np.ones(3, dtype=np.float32)
        fixed.setflags(write=False)
        # The kernel is made ready at its first launch.
        kernel[1, 3](In(fixed), out, u32(3), 5.0)
        for lend in (Out, InOut):
            refused(target, gpu, partial(kernel[1, 3], In(x), lend(fixed), u32(3), 1.0), ArgumentError, index=1)
        refused(target, gpu, partial(kernel[1, 3].prepare, In(x), out, u32(3), 1.0), LaunchError)
        with gpu.sequence():
            refused(target, gpu, partial(kernel[1, 3], In(x), out, u32(3), 1.0), LaunchError)
        gpu.begin_capture(stream)
        refused(target, gpu, partial(kernel[1, 3, 0, stream], In(x), out, u32(3), 1.0), LaunchError)
        gpu.abort_capture(stream)
        assert out.numpy().tolist() == [5, 5, 5]


@case(invariants=(6,), where=("not host_arrays_are_device_arrays",))
def a_bare_host_array_is_refused(target: ConformanceTarget) -> None:
    """Where host memory is no device memory a bare host array is refused, and the error names the ways to pass it."""
    with target.opened() as gpu:
        kernel = target.kernel(gpu, "scale_add")
        out, x = gpu.array(np.zeros(3, dtype=np.float32)), np.ones(3, dtype=np.float32)
        launch = KernelLaunch(gpu, kernel)
        refused(
            target, gpu, partial(launch.arg_ptr, x), ArgumentKindError, index=0, says=("In(", "InOut(", "gpu.array")
        )
        refused(target, gpu, partial(kernel[1, 3], x, out, u32(3), 1.0), ArgumentKindError, index=0)


@case(invariants=(6,), where=("host_arrays_are_device_arrays",))
def host_arrays_are_used_in_place(target: ConformanceTarget) -> None:
    """Where host memory is device memory a kernel reads and writes the array itself, without a copy."""
    with target.opened() as gpu:
        x, y = np.array([1, 2, 3], dtype=np.float32), np.array([10, 20, 30], dtype=np.float32)
        before = gpu.live_alloc_count()
        target.kernel(gpu, "scale_add")[1, 3](x, y, u32(3), 100.0)
        gpu.synchronize()
        assert y.tolist() == [110, 220, 330]
        assert gpu.live_alloc_count() == before


@case(invariants=(8,), where=("host_arrays_are_device_arrays", "memory_check"))
def a_write_into_what_was_lent_to_read_is_a_fault(target: ConformanceTarget) -> None:
    """A kernel that writes into an array lent with In is a fault, and the array is as it was."""
    with target.opened(check="memory") as gpu:
        kernel, x = target.kernel(gpu, "echo_32"), np.full(3, 7, dtype=np.uint32)
        refused(target, gpu, partial(kernel[1, 1], In(x), u32(5)), KernelFault, calls_no_driver=False)
        assert x.tolist() == [7, 7, 7]
