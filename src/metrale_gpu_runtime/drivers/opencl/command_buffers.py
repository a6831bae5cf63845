"""Command buffers: the launches of a sequence, recorded once and queued as one command (cl_khr_command_buffer)."""

from __future__ import annotations

import ctypes
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...driver import ANY_QUEUE, QUEUE_OF_FIRST_USE, LaunchToRecord, RecordedLaunches
from ...errors import GpuError
from ..forks import generation
from .bindings import Bindings
from .command_buffer_extension import (
    TAKES_ONE_AFTER_THE_OTHER,
    ExtensionCalls,
    is_simultaneous,
    read_version,
    why_unused,
)
from .devices import Found
from .faults import refused
from .launching import OpenclLaunchTarget
from .recordings import Recordings

FLAGS, SIMULTANEOUS_USE = 0x1293, 1
"""CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR (cl_ext.h)."""

ADDRESS, CALLS, QUEUE = 0, 1, 2

MOST_LAUNCHES = 10_000
"""Longer sequences are not recorded: each launch in a command buffer has a kernel object of its own."""


def is_worth_it(found: Found, memory: str) -> bool:
    """Whether sequences are recorded without being asked for: not on PoCL with shared virtual memory, where those of
    kernels with few arguments took more of the host's time so than launch by launch (docs/performance.md)."""
    return memory != "svm" or not found.is_pocl


class CommandBuffer:
    """One cl_command_buffer_khr and the kernel objects in it. `use` is what RecordedLaunches says of it.

    Until `finish` it is being recorded, which counts as a call that uses it.
    """

    __slots__ = ("__weakref__", "_generation", "_is_over", "_kernels", "_lock", "_release", "pointer", "use")

    def __init__(self, release: Callable[..., int], pointer: int, queue: int) -> None:
        self._release, self._generation = release, generation.number
        self._lock, self._is_over = threading.Lock(), False
        self._kernels: list[object] = []
        self.use = array("Q", (0, 1, queue))
        self.pointer = pointer

    def keep(self, kernel: object) -> None:
        """Let a kernel object live as long as this: some drivers read its arguments when the command is queued."""
        self._kernels.append(kernel)

    def finish(self) -> None:
        """It is recorded: from now on it may be queued."""
        with self._lock:
            self.use[CALLS] = 0
            if not self._is_over:
                self.use[ADDRESS] = self.pointer
                return
        self.let_go()

    def let_go(self) -> None:
        """Have it queued no more, and give it back; what is queued still runs (clReleaseCommandBufferKHR).

        A call that uses it keeps it; whoever counts the call lets go of it then.
        """
        if generation.number != self._generation:
            return  # forked off: it is the parent's, and so are the threads that its driver would wait for
        with self._lock:
            self._is_over = True
            self.use[ADDRESS] = 0
            if self.use[CALLS]:
                return
            pointer, self.pointer = self.pointer, 0
            kernels, self._kernels = self._kernels, []
        if pointer:
            self._release(pointer)
        kernels.clear()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At the interpreter's end the driver may be gone already, and so may this module's names; the process takes all
        # with it. There is no pointer where Ctrl-C came in the midst of __init__.
        if hasattr(self, "pointer") and not is_finalizing():
            self.use[CALLS] = 0
            self.let_go()


class CommandBuffers:
    """What records launches on one device. `must_ask`: a command buffer must not be queued while it is pending."""

    def __init__(self, bindings: Bindings, calls: ExtensionCalls, *, simultaneous: bool, one_after_other: bool) -> None:
        self._bindings, self.calls = bindings, calls
        self.must_ask = not simultaneous and not one_after_other
        self._properties: Any = None
        if simultaneous and not one_after_other:
            self._properties = (ctypes.c_uint64 * 3)(FLAGS, SIMULTANEOUS_USE, 0)
        # One queue runs one after the other; two may run at once, which then has to be allowed.
        self._queue = QUEUE_OF_FIRST_USE if one_after_other else ANY_QUEUE

    @classmethod
    def of_device(cls, bindings: Bindings, found: Found) -> CommandBuffers | None:
        """None where the device has none that is known here."""
        version = read_version(bindings, found.device)
        if version is None or why_unused(bindings, found.device):
            return None
        return cls(
            bindings,
            ExtensionCalls.of_platform(bindings, found.platform),
            simultaneous=is_simultaneous(bindings, found.device),
            one_after_other=version >= TAKES_ONE_AFTER_THE_OTHER,
        )

    def record(self, launches: Sequence[LaunchToRecord], queue: int) -> RecordedLaunches | None:
        """A command buffer for queues like this one; None where the driver refuses it, or for too many launches."""
        if len(launches) > MOST_LAUNCHES:
            return None
        try:
            made = self._create(queue)
            # First: what is unloaded or freed meanwhile then finds it.
            for named in _named_by(launches):
                named.add(made)
            for each in launches:
                self._add(made, each)
            self._check(self.calls.finalize(made.pointer), "clFinalizeCommandBufferKHR")
        except (GpuError, self._bindings.cl.Error):
            return None
        made.finish()
        return RecordedLaunches(made.use, made)

    def _create(self, queue: int) -> CommandBuffer:
        code = ctypes.c_int32()
        queues = (ctypes.c_void_p * 1)(queue)
        pointer = self.calls.create(1, queues, self._properties, ctypes.byref(code))
        self._check(code.value, "clCreateCommandBufferKHR")
        return CommandBuffer(self.calls.release, int(pointer or 0), self._queue)

    def _add(self, made: CommandBuffer, launch: LaunchToRecord) -> None:
        kernel, total, block = _own_target(launch).ready(launch.image, launch.geometry)
        made.keep(kernel)
        # Neither a queue, which is for several, nor points to wait for: commands for a queue in order are in order.
        code = self.calls.record(made.pointer, None, None, kernel.pointer, 3, None, total, block, 0, None, None, None)
        self._check(code, "clCommandNDRangeKernelKHR")

    def _check(self, code: int, call: str) -> None:
        if code:
            raise refused(self._bindings, call, code)


def _own_target(launch: LaunchToRecord) -> OpenclLaunchTarget:
    assert isinstance(launch.target, OpenclLaunchTarget)
    return launch.target


def _named_by(launches: Sequence[LaunchToRecord]) -> Iterable[Recordings]:
    """Of the kernels and the memory of launches, once each."""
    return dict.fromkeys(each for launch in launches for each in _own_target(launch).recordings_of(launch.image))
