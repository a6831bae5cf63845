"""How long each kernel took, by events around its launches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import metrale_gpu_runtime as mg


@dataclass(slots=True)
class KernelTime:
    """The launches of one kernel so far."""

    launches: int = 0
    total_ms: float = 0.0


class KernelTimes:
    """Adds up the time between two events around each launch.

    Events cost no wait. A device without event timing is synchronised around each launch and timed by the clock.
    """

    def __init__(self, gpu: mg.GpuBackend) -> None:
        self._gpu = gpu
        self._pending: list[tuple[str, mg.Event, mg.Event]] = []
        self._spare: list[mg.Event] = []
        self.by_kernel: dict[str, KernelTime] = {}

    @contextmanager
    def measure(self, kernel: str) -> Iterator[None]:
        """Count what is launched on the default stream meanwhile as one launch of `kernel`."""
        if not self._gpu.capabilities.event_timing:
            self._gpu.synchronize()
            began = time.perf_counter()
            yield
            self._gpu.synchronize()
            self._add(kernel, (time.perf_counter() - began) * 1e3)
            return
        start, end = self._event(), self._event()
        self._gpu.record_event(start)
        yield
        self._gpu.record_event(end)
        self._pending.append((kernel, start, end))

    def collect(self) -> None:
        """Wait for the device and add up what was measured since the last call."""
        self._gpu.synchronize()
        for kernel, start, end in self._pending:
            self._add(kernel, self._gpu.event_elapsed_ms(start, end))
            self._spare += (start, end)
        self._pending.clear()

    def _add(self, kernel: str, elapsed_ms: float) -> None:
        entry = self.by_kernel.setdefault(kernel, KernelTime())
        entry.launches += 1
        entry.total_ms += elapsed_ms

    def _event(self) -> mg.Event:
        return self._spare.pop() if self._spare else self._gpu.create_event()
