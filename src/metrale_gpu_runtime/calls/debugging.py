"""Looking at what a backend holds and does: ledger reports, red zones, debug sync, findings, traces, ranges."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..books import BackendBooks
from ..errors import Finding, GpuResourceWarning
from ..memory.ledger import report
from ..memory.redzones import DEFAULT_FILL, RedzoneDamage, bands, compare
from ..trace import regions
from ..whole_numbers import is_bool

if TYPE_CHECKING:
    from ..trace.recording import Trace


class DebugCalls(BackendBooks):
    """The part of GpuBackend that tells."""

    # ------------------------------------------------ the ledger

    def live_bytes(self) -> int:
        """Bytes in live allocations, red zones left out; dropped memory counts until queued work is done with it."""
        self._settle()
        return self._ledger.nbytes

    def live_alloc_count(self) -> int:
        """Live allocations, counted as `live_bytes` counts. Empty buffers count, with 0 bytes."""
        self._settle()
        return self._ledger.count

    def alloc_report(self, top: int = 10, min_nbytes: int = 0) -> str:
        """What is alive, as text: the total, the `top` call sites of at least `min_nbytes`, the rest, sums per file."""
        self._settle()
        return report(self._ledger.blocks(), top, min_nbytes)

    def sweep_unreleased(self) -> int:
        """Free everything that `alloc` gave and nobody freed; how many allocations that were.

        Waits for queued work first. Gives one GpuResourceWarning with the largest sites when there were any. Buffers
        that are still referred to are not touched.
        """
        self._check_usable()
        for lane in self._lanes_in_order():
            self._wait_for(lane)
        self._settle()
        left = [block for block in self._ledger.blocks() if not block.owned]
        if not left:
            return 0
        text = report(left, 5, 0)
        for block in left:
            if block.twin is not None:
                self._ledger.remove(block.twin, "released by sweep_unreleased")
            # False where another thread has freed it by now.
            if self._ledger.remove(block, "released by sweep_unreleased") and block.driver_base:
                self._free_memory(block)
        warnings.warn(f"sweep_unreleased freed what was never freed: {text}", GpuResourceWarning, stacklevel=2)
        return len(left)

    # ------------------------------------------------ red zones

    def scan_redzones(self) -> tuple[RedzoneDamage, ...]:
        """Compare every guard band with its fill, report what differs, and fill damaged bands anew.

        Waits for all queued work first. Nothing where the backend was opened without `redzone`. Each damage is also a
        Finding. Raises KernelFault when queued work failed.
        """
        self._check_usable()
        for lane in self._lanes_in_order():
            self._wait_for(lane)
        self._settle()
        damages = []
        lane = self._default_lane
        for block in self._ledger.blocks():
            for side, address, nbytes in bands(block):
                if nbytes == 0:
                    continue
                found = bytearray(nbytes)
                view = memoryview(found)
                with lane.lock:
                    lane.check_open()
                    self._ask(lane, self._driver.copy_d2h, view, address, lane.handle)
                    lane.issued += 1
                    # Should the wait fail, the copy may still run.
                    lane.retain(lane.issued, view)
                self._wait_for(lane)
                damage = compare(block, side, address, bytes(found))
                if damage is not None:
                    damages.append(damage)
                    self._fill_band(address, nbytes, block.fill or 0)
        self._faults.findings.extend(_finding(damage) for damage in damages)
        return tuple(damages)

    def poison_redzones(self, first: int, last: int, fill: int = DEFAULT_FILL) -> int:
        """Fill the bands of allocations number `first` to `last - 1` with `fill`, all others with 0.

        Nothing moves: it finds *reads* past the end by changing what they read and looking whether results change.
        The numbers count allocations from 0, as `alloc_report` and messages do. Returns how many got `fill`.
        Later scans compare with what was written here.
        """
        self._check_usable()
        if is_bool(fill) or not 0 <= fill <= 255:
            raise ValueError(f"poison_redzones: fill is {fill!r}; it is a byte, 0 to 255")
        count = 0
        for block in self._ledger.blocks():
            if block.fill is None:
                continue
            is_chosen = first <= block.index < last
            count += is_chosen
            block.fill = fill if is_chosen else 0
            for _, address, nbytes in bands(block):
                if nbytes:
                    self._fill_band(address, nbytes, block.fill)
        return count

    def _fill_band(self, address: int, nbytes: int, fill: int) -> None:
        lane = self._default_lane
        with lane.lock:
            lane.check_open()
            self._ask(lane, self._driver.memset, address, fill, 1, nbytes, lane.handle)
            lane.issued += 1
        self._wait_for(lane)

    # ------------------------------------------------ debug sync, findings

    def debug_sync_kernels(self) -> bool:
        """True when every launch is waited for, so that a fault is raised where it was made."""
        return self._debug_sync_count > 0

    @contextmanager
    def debug_sync(self) -> Iterator[None]:
        """Wait for every launch made inside the block, by any thread; a fault then names its launch."""
        with self._lock:
            self._debug_sync_count += 1
            self._set_gate()
        try:
            yield
        finally:
            with self._lock:
                self._debug_sync_count -= 1
                self._set_gate()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that faults and red zones have told so far, in that order."""
        return tuple(self._faults.findings)

    # ------------------------------------------------ traces, ranges

    @contextmanager
    def trace(self) -> Iterator[Trace]:
        """Record every launch, copy and fill made inside the block, by any thread: `with gpu.trace() as trace:`."""
        from ..trace.recording import Trace

        trace = Trace(self._capabilities.backend, self._capabilities.device)
        with self._lock:
            self._traces = (*self._traces, trace)
            self._set_gate()
        try:
            yield trace
        finally:
            with self._lock:
                self._traces = tuple(each for each in self._traces if each is not trace)
                self._set_gate()

    @contextmanager
    def range(self, name: str) -> Iterator[None]:
        """Name a stretch of the program: traces note it with each operation, and a profiler shows it. Blocks nest.

        It is an NVTX range too when a profiler is attached (or METRALE_NVTX=1) and the package nvtx is installed, as
        launches then are under their kernels' names. Under NVTX a block belongs to the thread that enters it.
        """
        token = regions.enter(str(name))
        nvtx = self._nvtx
        if nvtx is not None:
            nvtx.push(str(name))
        try:
            yield
        finally:
            if nvtx is not None:
                nvtx.pop()
            regions.leave(token)


def _finding(damage: RedzoneDamage) -> Finding:
    return Finding("out-of-bounds", str(damage), access="write", allocation=damage.label)
