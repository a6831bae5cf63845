"""What a command buffer that failed says of itself, and the fault that is made of it.

Source: MTLCommandBuffer status and error, MTLCommandBufferError, MTLCommandBufferEncoderInfo (MTLCommandBuffer.h).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import DriverFault
from .bindings import Bindings

_CODES = (
    "Internal",
    "Timeout",
    "PageFault",
    "AccessRevoked",
    "NotPermitted",
    "OutOfMemory",
    "InvalidResource",
    "Memoryless",
    "DeviceRemoved",
    "StackOverflow",
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the work of one command buffer is no good.

    `launch` is the ordinal of the culprit where it is known; `not_run` are launches that did not run to their end,
    `spoilt` those that ran on what failed work had left. `is_own`: the buffer itself failed, and with it what lies
    behind it in its queue; else it ran behind work that failed.
    """

    code_name: str
    message: str
    launch: int | None = None
    not_run: tuple[int, ...] = ()
    spoilt: tuple[int, ...] = ()
    is_own: bool = True
    context_lost: bool = False


class Pending:
    """A fault that is told once: by the first call on its stream, or on an event behind the work that failed."""

    __slots__ = ("_lock", "_told", "fault")

    def __init__(self, fault: DriverFault) -> None:
        self.fault = fault
        self._told = False
        self._lock = threading.Lock()

    @property
    def is_told(self) -> bool:
        return self._told

    def add(self, later: DriverFault) -> bool:
        """Let a later fault be told with this one; False when this one is told already, the other is by itself."""
        with self._lock:
            if not self._told:
                self.fault = _together(self.fault, later)
            return not self._told

    def tell(self) -> None:
        """Raise the DriverFault, unless somebody was told already."""
        with self._lock:
            told, self._told = self._told, True
        if not told:
            raise self.fault


def read_failure(bindings: Bindings, native: Any, ordinals: Sequence[int]) -> Failure:
    """The failure of an MTLCommandBuffer whose status is error; `ordinals` are its launches in order.

    The caller holds an autorelease pool. Encoders of launches are labelled "<ordinal> <kernel>".
    """
    metal = bindings.metal
    error = native.error()
    if error is None:
        return _unexplained(ordinals, "Metal says that the command buffer failed and gives no error")
    code, domain = int(error.code()), str(error.domain())
    is_known = domain == str(metal.MTLCommandBufferErrorDomain)
    code_name = _code_name(metal, code) if is_known else f"{domain} {code}"
    infos = list((error.userInfo() or {}).get(metal.MTLCommandBufferEncoderInfoErrorKey) or ())
    states = [(str(info.label() or ""), int(info.errorState())) for info in infos]
    culprit = _culprit(metal, states, ordinals)
    completed = {_ordinal(label) for label, state in states if state == metal.MTLCommandEncoderErrorStateCompleted}
    launch = _ordinal(culprit) if culprit is not None else None
    where = f" (in {culprit!r})" if culprit is not None and launch is None else ""
    return Failure(
        code_name,
        f"{error.localizedDescription()}{where}",
        launch=launch,
        not_run=tuple(each for each in ordinals if each not in completed and each != launch),
        context_lost=is_known and code == metal.MTLCommandBufferErrorDeviceRemoved,
    )


def unreadable_failure(error: BaseException, ordinals: Sequence[int]) -> Failure:
    """The failure of a command buffer that could not even be asked how it ended."""
    return _unexplained(ordinals, f"its command buffer could not be read: {type(error).__name__}: {error}")


def dropped_behind(upstream: Failure, own: Failure) -> Failure:
    """The failure of a command buffer that failed behind another one: Metal says no more of it than that."""
    lost = own.not_run if own.launch is None else (own.launch, *own.not_run)
    return replace(upstream, not_run=lost, spoilt=(), is_own=True, context_lost=own.context_lost)


def spoilt_behind(upstream: Failure, ordinals: Sequence[int]) -> Failure:
    """The failure of a command buffer that ran, but behind work that failed."""
    return replace(upstream, not_run=(), spoilt=tuple(ordinals), is_own=False)


def make_fault(first: Failure, behind: Iterable[Failure], dropped: Sequence[int]) -> DriverFault:
    """One fault for a stream: its first failure, what came of the command buffers behind it, and the launches that were
    never handed over because of it."""
    not_run, spoilt = list(first.not_run), list(first.spoilt)
    for each in behind:
        not_run.extend(each.not_run)
        spoilt.extend(each.spoilt)
    not_run.extend(dropped)
    message = first.message
    if not first.is_own:
        message = f"work that this stream waited for failed: {message}"
    if spoilt:
        message += f"; launches that ran behind it all the same, on what it left: {', '.join(map(str, spoilt))}"
    return DriverFault(
        first.code_name,
        message,
        launch=first.launch,
        context_lost=first.context_lost,
        dropped=tuple(sorted(set(not_run))),
    )


def _together(first: DriverFault, later: DriverFault) -> DriverFault:
    """The first one, and what the later one says that it does not: what else failed, and what else did not run."""
    lost = {*first.dropped, *later.dropped, later.launch} - {None, first.launch}
    message = first.message if later.message == first.message else f"{first.message}; and {later}"
    return DriverFault(
        first.code_name,
        message,
        findings=(*first.findings, *later.findings),
        launch=first.launch,
        context_lost=first.context_lost or later.context_lost,
        dropped=tuple(sorted(each for each in lost if each is not None)),
    )


def _unexplained(ordinals: Sequence[int], message: str) -> Failure:
    launch = ordinals[0] if len(ordinals) == 1 else None
    return Failure(
        "MTLCommandBufferErrorInternal",
        message,
        launch=launch,
        not_run=tuple(each for each in ordinals if each != launch),
    )


def _code_name(metal: Any, code: int) -> str:
    for name in _CODES:
        if getattr(metal, f"MTLCommandBufferError{name}", None) == code:
            return f"MTLCommandBufferError{name}"
    return f"MTLCommandBufferError {code}"


def _culprit(metal: Any, states: Sequence[tuple[str, int]], ordinals: Sequence[int]) -> str | None:
    """The label of the encoder that is to blame: the one at fault, else the only one that can be meant."""
    faulted = [label for label, state in states if state == metal.MTLCommandEncoderErrorStateFaulted]
    if faulted:
        return faulted[0]
    affected = [label for label, state in states if state == metal.MTLCommandEncoderErrorStateAffected]
    if len(affected) == 1:
        return affected[0]
    if not states and len(ordinals) == 1:
        return str(ordinals[0])
    return None


def _ordinal(label: str) -> int | None:
    number = label.partition(" ")[0]
    return int(number) if number.isdecimal() else None
