"""What the stand-in records, as ctypes structures (control.h) and as the values that tests see."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

_U64, _U32, _I32 = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int32


class CallRecord(ctypes.Structure):
    _fields_ = (
        ("serial", _U64),
        ("thread", _U64),
        ("name", ctypes.c_char_p),
        ("context", _U64),
        ("owner", _U64),
        ("code", _I32),
        ("owner_matches", _I32),
    )


class LaunchRecord(ctypes.Structure):
    _fields_ = (
        *((name, _U64) for name in ("ordinal", "thread", "context", "stream", "module", "function", "exec")),
        ("kernel", ctypes.c_char_p),
        *((name, _U32 * 3) for name in ("grid", "block", "cluster")),
        ("shared", _U32),
        ("cooperative", _I32),
        ("programmatic", _I32),
        ("has_priority", _I32),
        ("priority", _I32),
        ("has_sync_domain", _I32),
        ("sync_domain", _I32),
        ("device", _I32),
        ("parameter_nbytes", _U32),
    )


class ViolationRecord(ctypes.Structure):
    _fields_ = (
        ("serial", _U64),
        ("thread", _U64),
        ("kind", ctypes.c_char_p),
        ("call", ctypes.c_char_p),
        ("detail", ctypes.c_char * 200),
    )


class RangeRecord(ctypes.Structure):
    _fields_ = (
        ("address", _U64),
        ("nbytes", _U64),
        ("id", _U64),
        ("kind", _I32),
        ("device", _I32),
        ("access", _I32),
        ("reserved", _I32),
    )


class GlobalRecord(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", _U64),
        ("nbytes", _U64),
        ("is_constant", _I32),
        ("reserved", _I32),
    )


class ModuleRecord(ctypes.Structure):
    _fields_ = (
        ("handle", _U64),
        ("context", _U64),
        ("image", ctypes.c_void_p),
        ("image_nbytes", _U64),
        ("executable", ctypes.c_void_p),
        ("executable_nbytes", _U64),
        ("globals", ctypes.POINTER(GlobalRecord)),
        ("global_count", _U64),
    )


class ExecutionRecord(ctypes.Structure):
    _fields_ = (
        ("module", ctypes.POINTER(ModuleRecord)),
        ("launch", ctypes.POINTER(LaunchRecord)),
        ("parameters", ctypes.c_void_p),
    )


LOAD_FUNCTION = ctypes.CFUNCTYPE(_I32, ctypes.POINTER(ModuleRecord))
LAUNCH_FUNCTION = ctypes.CFUNCTYPE(_I32, ctypes.POINTER(ExecutionRecord))


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an entry point. `owner_matches` is None where it was given no handle that belongs to a context."""

    serial: int
    thread: int
    name: str
    context: int
    owner: int
    code: int
    owner_matches: bool | None

    @classmethod
    def of(cls, r: CallRecord) -> Call:
        matches = None if r.owner_matches < 0 else bool(r.owner_matches)
        return cls(r.serial, r.thread, r.name.decode(), r.context, r.owner, r.code, matches)


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch that was accepted, with the parameter block as the device sees it."""

    ordinal: int
    thread: int
    context: int
    stream: int
    module: int
    function: int
    executable_graph: int
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    shared: int
    cooperative: bool
    programmatic: bool
    priority: int | None
    sync_domain: int | None
    device: int
    parameters: bytes

    @classmethod
    def of(cls, r: LaunchRecord, parameters: bytes) -> Launch:
        def extent(values: ctypes.Array[ctypes.c_uint32]) -> tuple[int, int, int]:
            return values[0], values[1], values[2]

        return cls(
            r.ordinal,
            r.thread,
            r.context,
            r.stream,
            r.module,
            r.function,
            r.exec,
            r.kernel.decode(),
            extent(r.grid),
            extent(r.block),
            extent(r.cluster) if r.cluster[0] else None,
            r.shared,
            bool(r.cooperative),
            bool(r.programmatic),
            r.priority if r.has_priority else None,
            r.sync_domain if r.has_sync_domain else None,
            r.device,
            parameters,
        )


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that correct callers never do."""

    kind: str
    call: str
    thread: int
    detail: str

    @classmethod
    def of(cls, r: ViolationRecord) -> Violation:
        return cls(r.kind.decode(), r.call.decode(), r.thread, r.detail.decode())

    def __str__(self) -> str:
        return f"{self.kind} in {self.call}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Range:
    """Memory that kernels may use."""

    address: int
    nbytes: int
    id: int
    device: int
    writable: bool

    @classmethod
    def of(cls, r: RangeRecord) -> Range:
        return cls(r.address, r.nbytes, r.id, r.device, bool(r.access & 2))
