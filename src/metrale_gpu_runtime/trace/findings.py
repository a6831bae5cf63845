"""From what a driver reports to what a user is told: whose fault it is, the details, and the log of all of them."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import ContextLost, DriverFault, Finding, KernelFault, LaunchSummary
from ..native import LaunchMark
from ..native import LaunchRecord as NativeRecord
from .operations import QueuedLaunch

if TYPE_CHECKING:
    from ..capabilities import Capabilities
    from ..lane import Lane
    from ..memory.ledger import Ledger

_SHOWN_FINDINGS = 8
_LAUNCHES = (QueuedLaunch, NativeRecord, LaunchMark)
_REMEMBERED_FAULTS = 16

# Addresses of these are offsets into memory of the block or the thread, or null: no allocation is near them.
_IN_NO_ALLOCATION = frozenset({"shared-bounds", "local-bounds", "null-pointer"})


class FaultBook:
    """All faults of one backend: `findings` in the order they were found, and the fault that lost the context."""

    def __init__(self, ledger: Ledger, lanes: Mapping[int, Lane]) -> None:
        self._ledger, self._lanes = ledger, lanes
        self.findings: list[Finding] = []
        self.lost: KernelFault | None = None
        # The launches blamed last: the ring forgets them as soon as the wait that found the fault is over.
        self._blamed: deque[QueuedLaunch | NativeRecord] = deque(maxlen=_REMEMBERED_FAULTS)

    def kernel_fault(
        self, fault: DriverFault, lane: Lane | None, *, own: QueuedLaunch | None = None, earlier: bool = False
    ) -> KernelFault:
        """The error a user sees for a driver's fault, found while working on `lane`.

        `own` is the launch it is charged to unless the driver names another one; `earlier` says that it was there
        before the launch at which it was noticed.
        """
        if fault.launch is not None:
            found = self.launch(fault.launch)
            if found is None and own is not None and own.ordinal == fault.launch:
                found = own
        else:
            found = own
        launch = found.summary if found is not None else None
        if found is not None:
            self._blamed.append(found)
        findings = tuple(self._complete(finding, launch, fault) for finding in fault.findings)
        self.findings.extend(findings)
        suspects = self._suspects(lane) if launch is None and fault.launch is None else ()
        dropped = tuple(
            each.summary for each in (self.launch(ordinal) for ordinal in fault.dropped) if each is not None
        )
        error = KernelFault(
            _message(fault, launch, suspects, dropped, findings, earlier),
            findings=findings,
            launch=launch,
            suspects=suspects,
            dropped=dropped,
            earlier=earlier,
            code_name=fault.code_name,
        )
        self._void(fault, launch)
        if fault.context_lost and self.lost is None:
            self.lost = error
            for each in self._lanes.values():
                each.abandon()
        return error

    def context_lost(self, capabilities: Capabilities) -> ContextLost:
        """What every call raises once the context is lost."""
        cause = self.lost
        assert cause is not None
        launch = cause.launch
        if launch is not None:
            since = f"since launch {launch.ordinal} (kernel {launch.kernel})"
        elif cause.suspects:
            # Nobody knows which of them it was; it was none after the last.
            last = cause.suspects[-1]
            since = f"since launch {last.ordinal} (kernel {last.kernel})"
            since += f" or one of the {len(cause.suspects) - 1} before it" if len(cause.suspects) > 1 else ""
        else:
            since = "since a fault"
        if capabilities.usable_after_loss:
            remedy = "Nothing can be run on it any more; close this backend and open another"
        else:
            remedy = (
                "The driver runs nothing more on this device for this process, nor for a backend that it opens anew; "
                "start a new process (mg.testing.run_isolated runs a case in one)"
            )
        return ContextLost(
            f"{capabilities.device}: context lost {since}: {cause.code_name}. {remedy}",
            cause=cause,
            launch=launch,
        )

    def launch(self, ordinal: int) -> QueuedLaunch | NativeRecord | None:
        """The launch of that number, as far as it is remembered."""
        launch: QueuedLaunch | NativeRecord
        for launch in (*self._blamed, *(each for lane in list(self._lanes.values()) for each in list(lane.ring))):
            if launch.ordinal == ordinal:
                return launch
        for block in self._ledger.blocks():
            used = block.last_use
            if isinstance(used, _LAUNCHES) and used.ordinal == ordinal:
                return used
        return None

    def _suspects(self, lane: Lane | None) -> tuple[LaunchSummary, ...]:
        """The launches since the last good synchronisation: of this stream, or of all when it has none."""
        own = list(lane.ring) if lane is not None else []
        if not own:
            own = sorted(
                (launch for each in list(self._lanes.values()) for launch in list(each.ring)),
                key=lambda launch: launch.ordinal,
            )
        return tuple(launch.summary for launch in own if not launch.rejected)

    def _complete(self, finding: Finding, launch: LaunchSummary | None, fault: DriverFault) -> Finding:
        """Add what only the engine knows: the kernel's name, the launch's number, what lies at the address."""
        changes: dict[str, object] = {}
        if finding.kernel is None and launch is not None:
            changes["kernel"] = launch.kernel
        if finding.launch is None and (launch is not None or fault.launch is not None):
            changes["launch"] = launch.ordinal if launch is not None else fault.launch
        if finding.address is not None and finding.kind not in _IN_NO_ALLOCATION:
            place = self._ledger.describe(finding.address)
            if place:
                changes["allocation"] = place
        return dataclasses.replace(finding, **changes) if changes else finding  # type: ignore[arg-type]

    def _void(self, fault: DriverFault, launch: LaunchSummary | None) -> None:
        """Remember what a failed command buffer and those behind it should have written: reading it is refused."""
        if not fault.dropped:
            return
        culprit = f"launch {launch.ordinal} of {launch.kernel}" if launch is not None else "an earlier fault"
        for block in self._ledger.blocks():
            used = block.last_use
            if not isinstance(used, _LAUNCHES):
                continue
            if used.ordinal in fault.dropped:
                block.void_since = used
                block.void = (
                    f"launch {used.ordinal} of {used.kernel_name}, which uses it, did not run because of {culprit}"
                )
            elif used.ordinal == fault.launch:
                block.void, block.void_since = f"{culprit}, which uses it, failed", used


def describe_finding(finding: Finding, told: str = "") -> str:
    """One finding as one line: what, where in the kernel, where in memory, where in the source.

    What `told` has said already is not said again.
    """
    parts = [] if finding.message and finding.message in told else [f"{finding.kind}: {finding.message}"]
    if finding.block is not None:
        parts.append(f"block {finding.block}")
    if finding.thread is not None:
        parts.append(f"thread {finding.thread}")
    if finding.address is not None and f"{finding.address:#x}" not in finding.message:
        what = f"{finding.nbytes} bytes " if finding.nbytes is not None else ""
        parts.append(f"{finding.access or 'access'} of {what}at {finding.address:#x}")
    if finding.allocation:
        parts.append(finding.allocation)
    if finding.source_file is not None:
        parts.append(f"{finding.source_file}:{finding.source_line}")
    if finding.ptx_line is not None:
        parts.append(f"PTX line {finding.ptx_line}{f' ({finding.instruction})' if finding.instruction else ''}")
    return ", ".join(parts)


def _message(
    fault: DriverFault,
    launch: LaunchSummary | None,
    suspects: Iterable[LaunchSummary],
    dropped: Iterable[LaunchSummary],
    findings: tuple[Finding, ...],
    earlier: bool,
) -> str:
    lines = [str(fault)]
    if launch is not None:
        lines.append(f"in {launch}")
    if earlier:
        lines.append("this fault is older than the launch at which it was noticed, and not charged to it")
    if launch is None and fault.launch is not None:
        lines.append(f"in launch {fault.launch}, no longer remembered")
    elif launch is None:
        listed = list(suspects)
        if listed:
            lines.append("unattributed; launches since the last good synchronisation:")
            lines.extend(f"  {each}" for each in listed)
        else:
            lines.append("unattributed; no launch since the last good synchronisation is remembered")
        lines.append("to find out which: open_backend(…, debug_sync=True), or `with gpu.debug_sync():` around a region")
    lines.extend(f"  {describe_finding(finding, lines[0])}" for finding in findings[:_SHOWN_FINDINGS])
    if len(findings) > _SHOWN_FINDINGS:
        lines.append(f"  and {len(findings) - _SHOWN_FINDINGS} more findings (.findings)")
    lines.extend(f"not run because of it: {each}" for each in dropped)
    return "\n".join(lines)
