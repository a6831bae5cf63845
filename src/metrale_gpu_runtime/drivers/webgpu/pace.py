"""When collected work is submitted: at once while the queue has little to do, in larger pieces while it is busy.

Submitting costs more than recording. So while the GPU works on what it has, launches are collected; while it has less
than `BUSY_COUNT` submissions to work on, each operation is submitted as soon as it is recorded. A software device works
while it is submitted to, so that there nothing is ever collected. What is collected never waits for another call of the
host: a thread, started when something is collected for the first time, submits it when the queue has become empty.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

from .device import Device

if TYPE_CHECKING:
    from .streams import WebgpuStream

BUSY_COUNT = 2
MAX_OPERATIONS = 64
MAX_IN_FLIGHT = 16

_LOOKS_S = 0.0002
"""How often the thread looks. It does not wait in wgpu, since nobody can submit meanwhile (gfx-rs/wgpu#9470)."""


class Pace:
    """The policy of one device. `unknown` counts the submissions since the queue was last seen empty."""

    __slots__ = ("_closed", "_device", "_lock", "_started", "_streams", "_wake", "last_index", "unknown")

    def __init__(self, device: Device) -> None:
        self._device = device
        self._lock = threading.RLock()  # a finaliser may come to it while its own thread holds it
        self._wake = threading.Event()
        self._streams: weakref.WeakSet[WebgpuStream] = weakref.WeakSet()
        self._started: threading.Thread | None = None
        self._closed = False
        self.unknown = 0
        self.last_index = 0

    def is_free(self) -> bool:
        """Whether what was just recorded is to be submitted at once."""
        if self.unknown < BUSY_COUNT:
            return True
        if self._device.poll():
            self.unknown = 0
            return True
        return False

    def wait(self, index: int) -> None:
        """Wait for a submission."""
        self._device.wait(index)
        if index == self.last_index:
            self.unknown = 0

    def sent(self, index: int) -> None:
        """One more submission is on its way. Said twice of one, it waits a little sooner."""
        self.unknown += 1
        self.last_index = index

    def hold_back(self) -> None:
        """Wait while more than MAX_IN_FLIGHT submissions may be on their way: the host is far enough ahead."""
        if self.unknown > MAX_IN_FLIGHT:
            if self._device.poll():
                self.unknown = 0
            else:
                self._device.wait(self.last_index - MAX_IN_FLIGHT // 2)
                self.unknown = MAX_IN_FLIGHT // 2

    def watch(self, stream: WebgpuStream) -> None:
        """Submit what a stream has collected when the queue has nothing more to do."""
        with self._lock:
            self._streams.add(stream)
            if self._started is None and not self._closed:
                self._started = threading.Thread(target=self._run, name="metrale-webgpu", daemon=True)
                self._started.start()
        self._wake.set()

    def is_its_thread(self) -> bool:
        """Whether the caller is the thread that submits."""
        return self._started is threading.current_thread()

    def close(self, timeout_s: float) -> None:
        """End the thread."""
        with self._lock:
            self._closed = True
            started = self._started
        self._wake.set()
        if started is not None:
            started.join(timeout_s)

    def _run(self) -> None:
        while not self._closed:
            self._wake.wait()
            self._wake.clear()
            while not self._closed:
                with self._lock:
                    waiting = [stream for stream in self._streams if stream.has_collected]
                    self._streams = weakref.WeakSet(waiting)
                if not waiting:
                    break
                if self._device.poll():
                    self.unknown = 0
                    for stream in waiting:
                        stream.submit_collected()
                else:
                    time.sleep(_LOOKS_S)
