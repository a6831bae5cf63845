"""From the record that native code leaves of a fault to the finding that a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import Finding
from . import abi
from .abi import Access, FaultKind, WarpOp
from .memory import DeviceMemory
from .ranges import LiveRanges

if TYPE_CHECKING:
    from .translate import Site

_KINDS = {
    FaultKind.OUT_OF_BOUNDS: "out-of-bounds",
    FaultKind.MISALIGNED: "misaligned",
    FaultKind.SHARED_BOUNDS: "shared-bounds",
    FaultKind.LOCAL_BOUNDS: "local-bounds",
    FaultKind.NULL: "null-pointer",
    FaultKind.TRAP: "trap",
    FaultKind.ASSERT: "assert",
    FaultKind.DEADLOCK: "deadlock",
    FaultKind.DIVERGENT_WARP_OP: "deadlock",
    FaultKind.READ_ONLY: "out-of-bounds",
    FaultKind.PARAM_BOUNDS: "out-of-bounds",
}
_ACCESSES = {Access.READ: "read", Access.WRITE: "write", Access.ATOMIC: "atomic"}
_VERBS = {Access.READ: "reads", Access.WRITE: "writes", Access.ATOMIC: "updates"}

# No memory lies in the first page: such an address is null with an index.
_NULL_NBYTES = 4096

# Nearer than this to live memory, an address is explained by it.
_NEAR_NBYTES = 1 << 20


def finding_of(
    fault: abi.Fault,
    *,
    kernel: str,
    launch: int,
    sites: Sequence[Site],
    shared_nbytes: int,
    ranges: LiveRanges,
    memory: DeviceMemory,
) -> Finding:
    """The finding for a recorded fault; `sites` and `shared_nbytes` are those of the kernel that was launched.

    Asked soon after the launch: where memory lies is what `ranges` and `memory` say now.
    """
    kind, access = FaultKind(fault.kind), Access(fault.access)
    site = sites[fault.site] if fault.site < len(sites) else None
    has_address = access is not Access.NONE
    address, nbytes = int(fault.address), int(fault.nbytes)
    if kind is FaultKind.OUT_OF_BOUNDS and address < _NULL_NBYTES:
        kind = FaultKind.NULL
    name, allocation = _KINDS[kind], None
    block: tuple[int, int, int] = (fault.block[0], fault.block[1], fault.block[2])
    thread: tuple[int, int, int] = (fault.thread[0], fault.thread[1], fault.thread[2])
    if kind in (FaultKind.OUT_OF_BOUNDS, FaultKind.READ_ONLY):
        freed = memory.freed_around(address) if kind is FaultKind.OUT_OF_BOUNDS else None
        if freed is not None:
            name = "use-after-free"
            allocation = f"{address - freed[0]:,} bytes into {freed[1] - freed[0]:,} bytes at {freed[0]:#x}, freed"
        else:
            allocation = _nearest(address, nbytes, ranges)
    # Where it happened is told by the finding's fields, which whoever shows it puts behind the message.
    what = _what_happened(kind, access, address, nbytes, fault, shared_nbytes)
    return Finding(
        kind=name,
        message=f"{kernel}: {what}",
        kernel=kernel,
        launch=launch,
        block=block,
        thread=thread,
        access=_ACCESSES.get(access),
        address=address if has_address else None,
        nbytes=nbytes if has_address else None,
        ptx_line=site.line if site is not None else None,
        instruction=site.instruction if site is not None else None,
        source_file=site.source.file if site is not None and site.source is not None else None,
        source_line=site.source.line if site is not None and site.source is not None else None,
        allocation=allocation,
    )


def stalled_finding(kernel: str, launch: int, contexts: int, seconds: float) -> Finding:
    """The finding for a launch whose resident blocks all waited for blocks that had not begun."""
    return Finding(
        kind="deadlock",
        message=(
            f"{kernel}: {contexts} blocks of a worker waited {seconds:g} s for blocks that had not begun, and "
            f"{contexts} is the most that can wait here at the same time; use a smaller grid, or let blocks wait only "
            "for blocks with lower numbers"
        ),
        kernel=kernel,
        launch=launch,
    )


def timeout_finding(kernel: str, launch: int, seconds: float | None) -> Finding:
    """The finding for a launch that was stopped because it ran too long."""
    return Finding(
        kind="timeout",
        message=(
            f"{kernel}: still running after {seconds:g} s, the limit of this backend, and stopped; what it wrote so "
            "far stays written. If it is meant to run that long, raise open_backend('cpu', launch_timeout_s=…), or "
            "leave it out for no limit"
        ),
        kernel=kernel,
        launch=launch,
    )


def _nearest(address: int, nbytes: int, ranges: LiveRanges) -> str:
    nearest = ranges.nearest(address)
    if nearest is None:
        return "no memory is allocated or lent"
    base, end = nearest
    memory = f"{end - base:,} bytes at {base:#x}"
    if base <= address < end:
        left = end - address
        return f"{address - base:,} bytes into {memory}" + (f", of which {left:,} are left" if left < nbytes else "")
    distance = base - address if address < base else address - end
    if distance > _NEAR_NBYTES:
        return f"far from any allocation; the nearest is {memory}"
    if address < base:
        return f"{distance:,} bytes before {memory}"
    return f"{distance:,} bytes past the end of {memory}"


def _what_happened(
    kind: FaultKind, access: Access, address: int, nbytes: int, fault: abi.Fault, shared_nbytes: int
) -> str:
    does = f"{_VERBS.get(access, 'touches')} {nbytes} bytes at {address:#x}"
    detail = fault.detail
    match kind:
        case FaultKind.OUT_OF_BOUNDS:
            return f"{does}, outside of live memory"
        case FaultKind.READ_ONLY:
            return f"{does}, which is read-only"
        case FaultKind.MISALIGNED:
            return f"{does}, which is not aligned to {nbytes}"
        case FaultKind.NULL:
            return f"{does}: a null pointer"
        case FaultKind.SHARED_BOUNDS:
            return f"{does} of shared memory, of which this launch has {shared_nbytes:,} bytes"
        case FaultKind.LOCAL_BOUNDS:
            return f"{does} outside of the thread's local memory"
        case FaultKind.PARAM_BOUNDS:
            return f"{does} outside of the kernel's parameters"
        case FaultKind.TRAP:
            return "the kernel trapped"
        case FaultKind.ASSERT:
            return "an assertion failed"
        case FaultKind.DEADLOCK:
            waiting, expected, barrier, exited = detail
            return (
                f"{waiting} threads wait at barrier {barrier} for {expected} that can never all come "
                f"({exited} threads of the block have ended)"
            )
        case FaultKind.DIVERGENT_WARP_OP:
            came, mask, operation, gone = detail
            absent = mask & ~came & ~gone & 0xFFFFFFFF
            return (
                f"lanes {came:#010x} of a warp meet in {_operation_name(operation)} with mask {mask:#010x}, but lanes "
                f"{absent:#010x} wait elsewhere"
            )
        case _:
            return "a fault without a kind"


def _operation_name(operation: int) -> str:
    name = WarpOp(operation).name.lower()
    if name == "sync":
        return "bar.warp.sync"
    first, _, rest = name.partition("_")
    return f"{first}.sync{'.' + rest.replace('_', '.') if rest else ''}"
