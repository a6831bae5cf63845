"""The mock's record: one typed entry per driver call, in the order in which the engine made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import ClassVar, TypeVar

from ...driver import ArgumentKind, ArgumentLayout, TensorMapDescription
from ...geometry import LaunchAttributes


@dataclass(slots=True)
class Call:
    """One driver call. `failed` is the name of the exception it ended with, None for a call that returned."""

    call: ClassVar[str] = ""
    failed: str | None = field(default=None, kw_only=True)

    def line(self) -> str:
        """The call as one line of a transcript: its name and every field, a launch's bytes in hexadecimal."""
        parts = []
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "layout" or value is None:
                continue
            parts.append(f"{item.name}={value.hex() if isinstance(value, bytes) else value}")
        return " ".join((self.call, *parts))


@dataclass(slots=True)
class Alloc(Call):
    call: ClassVar[str] = "alloc"
    nbytes: int
    kind: str
    address: int | None = None


@dataclass(slots=True)
class Free(Call):
    call: ClassVar[str] = "free"
    address: int
    kind: str


@dataclass(slots=True)
class AllocAsync(Call):
    call: ClassVar[str] = "alloc_async"
    nbytes: int
    stream: int
    address: int | None = None


@dataclass(slots=True)
class FreeAsync(Call):
    call: ClassVar[str] = "free_async"
    address: int
    stream: int


@dataclass(slots=True)
class ReserveAddresses(Call):
    call: ClassVar[str] = "reserve_addresses"
    nbytes: int
    address: int | None = None


@dataclass(slots=True)
class MapMemory(Call):
    call: ClassVar[str] = "map_memory"
    address: int
    nbytes: int


@dataclass(slots=True)
class UnmapMemory(Call):
    call: ClassVar[str] = "unmap_memory"
    address: int
    nbytes: int


@dataclass(slots=True)
class ReleaseAddresses(Call):
    call: ClassVar[str] = "release_addresses"
    address: int
    nbytes: int


@dataclass(slots=True)
class EncodeTensorMap(Call):
    call: ClassVar[str] = "encode_tensor_map"
    description: TensorMapDescription


@dataclass(slots=True)
class MapHost(Call):
    call: ClassVar[str] = "map_host"
    address: int
    nbytes: int


@dataclass(slots=True)
class CopyH2D(Call):
    call: ClassVar[str] = "copy_h2d"
    dst: int
    nbytes: int
    stream: int


@dataclass(slots=True)
class CopyD2H(Call):
    call: ClassVar[str] = "copy_d2h"
    src: int
    nbytes: int
    stream: int


@dataclass(slots=True)
class CopyD2D(Call):
    call: ClassVar[str] = "copy_d2d"
    dst: int
    src: int
    nbytes: int
    stream: int


@dataclass(slots=True)
class CopyD2D2D(Call):
    call: ClassVar[str] = "copy_d2d_2d"
    dst: int
    dst_pitch: int
    src: int
    src_pitch: int
    width: int
    height: int
    stream: int


@dataclass(slots=True)
class Memset(Call):
    call: ClassVar[str] = "memset"
    dst: int
    value: int
    width: int
    count: int
    stream: int


@dataclass(slots=True)
class CreateStream(Call):
    call: ClassVar[str] = "create_stream"
    priority: int
    stream: int | None = None


@dataclass(slots=True)
class DestroyStream(Call):
    call: ClassVar[str] = "destroy_stream"
    stream: int


@dataclass(slots=True)
class Synchronize(Call):
    """`d2h_before` counts the copies to the host queued until then, as the seed's mock notes them."""

    call: ClassVar[str] = "synchronize"
    stream: int
    d2h_before: int = 0


@dataclass(slots=True)
class QueryStream(Call):
    call: ClassVar[str] = "query_stream"
    stream: int
    done: bool | None = None


@dataclass(slots=True)
class CreateEvent(Call):
    call: ClassVar[str] = "create_event"
    timing: bool
    event: int | None = None


@dataclass(slots=True)
class DestroyEvent(Call):
    call: ClassVar[str] = "destroy_event"
    event: int


@dataclass(slots=True)
class RecordEvent(Call):
    call: ClassVar[str] = "record_event"
    event: int
    stream: int


@dataclass(slots=True)
class WaitEvent(Call):
    call: ClassVar[str] = "wait_event"
    stream: int
    event: int


@dataclass(slots=True)
class SynchronizeEvent(Call):
    call: ClassVar[str] = "synchronize_event"
    event: int


@dataclass(slots=True)
class QueryEvent(Call):
    call: ClassVar[str] = "query_event"
    event: int
    done: bool | None = None


@dataclass(slots=True)
class ElapsedMs(Call):
    call: ClassVar[str] = "elapsed_ms"
    start: int
    end: int


@dataclass(slots=True)
class LoadModule(Call):
    call: ClassVar[str] = "load_module"
    name: str
    format: str
    nbytes: int
    options: tuple[str, ...]
    module: int | None = None


@dataclass(slots=True)
class UnloadModule(Call):
    call: ClassVar[str] = "unload_module"
    module: int


@dataclass(slots=True)
class Lookup(Call):
    """A kernel was asked for; denied and missing ones are recorded too, with `failed`."""

    call: ClassVar[str] = "function"
    module: str
    function: str
    handle: int | None = None


@dataclass(slots=True)
class AskConstants(Call):
    call: ClassVar[str] = "function_constants"
    module: str
    function: str


@dataclass(slots=True)
class SpecialisedLookup(Call):
    """A kernel was asked for with these function constants, in order of their names."""

    call: ClassVar[str] = "specialised_function"
    module: str
    function: str
    constants: tuple[tuple[str, bytes], ...]
    handle: int | None = None


@dataclass(slots=True)
class TemporaryAlloc(Call):
    """Memory of the driver's own for a value over `max_inline_argument_nbytes`, for the time of one launch."""

    call: ClassVar[str] = "temporary_alloc"
    ordinal: int
    argument: int
    nbytes: int
    address: int | None = None


@dataclass(slots=True)
class TemporaryFree(Call):
    """The launch that such memory was made for has run, or was dropped."""

    call: ClassVar[str] = "temporary_free"
    ordinal: int
    address: int


@dataclass(slots=True)
class GlobalSymbol(Call):
    call: ClassVar[str] = "global_symbol"
    module: str
    symbol: str


@dataclass(slots=True)
class MemoryFigures(Call):
    call: ClassVar[str] = "memory_figures"


@dataclass(slots=True)
class DeviceFreeMemory(Call):
    call: ClassVar[str] = "device_free_memory"


@dataclass(slots=True)
class FunctionNames(Call):
    call: ClassVar[str] = "function_names"
    module: str


@dataclass(slots=True)
class AskAttributes(Call):
    call: ClassVar[str] = "function_attributes"
    handle: int


@dataclass(slots=True)
class AskOccupancy(Call):
    call: ClassVar[str] = "max_active_blocks"
    handle: int
    block_threads: int
    shared_mem: int


@dataclass(slots=True)
class AskClusterLimit(Call):
    call: ClassVar[str] = "max_cluster_blocks"
    handle: int
    block_threads: int
    shared_mem: int


@dataclass(slots=True)
class PrepareLaunch(Call):
    call: ClassVar[str] = "prepare_launch"
    handle: int
    arguments: int


@dataclass(slots=True)
class Close(Call):
    call: ClassVar[str] = "close"


@dataclass(frozen=True, slots=True)
class RecordedArgument:
    """One argument as it reached the driver: its bytes (none for LOCAL) and how many it asked for."""

    kind: ArgumentKind
    data: bytes
    nbytes: int

    @property
    def address(self) -> int:
        """A pointer's address. Raises TypeError for what is no pointer."""
        if self.kind is not ArgumentKind.POINTER:
            raise TypeError(f"a {self.kind.value} argument has no address")
        return int.from_bytes(self.data, "little")


@dataclass(slots=True)
class Launch(Call):
    """One launch as the driver got it: `image` is the parameter block, `layout` says what lies where in it.

    `using` are the addresses that it names beside its arguments. `threadgroup_memory` are the lengths that are set
    where a device takes multiples (`shared_mem_granularity`): dynamic shared memory first, where there is some, then
    the local arguments. Both are None where there is nothing of the kind.
    """

    call: ClassVar[str] = "launch"
    handle: int
    module: str
    function: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_mem: int
    stream: int
    ordinal: int
    image: bytes
    layout: ArgumentLayout = field(repr=False)
    cluster: tuple[int, int, int] | None = None
    cooperative: bool = False
    attributes: LaunchAttributes | None = None
    using: tuple[int, ...] | None = None
    threadgroup_memory: tuple[int, ...] | None = None

    @property
    def arguments(self) -> tuple[RecordedArgument, ...]:
        """The argument list, decoded from the image."""
        layout = self.layout
        return tuple(
            RecordedArgument(kind, b"" if kind is ArgumentKind.LOCAL else self.image[offset : offset + size], size)
            for kind, offset, size in zip(layout.kinds, layout.offsets, layout.sizes, strict=True)
        )


QUERIES = frozenset({"query_stream", "query_event", "memory_figures", "device_free_memory"})
"""Calls that change nothing a program can see; a transcript may leave them out."""

_C = TypeVar("_C", bound=Call)


class Log:
    """The ordered record with the seed's counters.

    The counters count calls that returned, and go on when `keep` is False, where no entry is kept (for runs of a
    million launches).
    """

    def __init__(self, keep: bool = True) -> None:
        self.keep = keep
        self.calls: list[Call] = []
        self.counts: Counter[str] = Counter()
        self.h2d_nbytes = 0
        self.d2h_nbytes = 0

    def __len__(self) -> int:
        return len(self.calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(self.calls)

    def __getitem__(self, index: int) -> Call:
        return self.calls[index]

    def enter(self, call: Call) -> None:
        if self.keep:
            self.calls.append(call)

    def completed(self, call: Call) -> None:
        self.counts[call.call] += 1
        if isinstance(call, CopyH2D):
            self.h2d_nbytes += call.nbytes
        elif isinstance(call, CopyD2H):
            self.d2h_nbytes += call.nbytes
        elif isinstance(call, Alloc) and call.kind == "pinned":
            self.counts["alloc pinned"] += 1

    def of(self, kind: type[_C]) -> list[_C]:
        """The entries of one kind, in order: `log.of(Launch)`."""
        return [call for call in self.calls if isinstance(call, kind)]

    def clear(self) -> None:
        """Forget the entries; the counters stay."""
        self.calls.clear()

    def transcript(self, *, details: bool = False, queries: bool = False) -> list[str]:
        """The names of the calls in order, or their whole lines; polling is left out unless asked for."""
        kept = [call for call in self.calls if queries or call.call not in QUERIES]
        if details:
            return [call.line() for call in kept]
        return [f"{call.call}!" if call.failed else call.call for call in kept]

    @property
    def launch_count(self) -> int:
        return self.counts["launch"]

    @property
    def sync_count(self) -> int:
        """Waits for a stream."""
        return self.counts["synchronize"]

    @property
    def h2d_count(self) -> int:
        return self.counts["copy_h2d"]

    @property
    def d2h_count(self) -> int:
        return self.counts["copy_d2h"]

    @property
    def d2d_count(self) -> int:
        """Copies on the device, pitched ones included."""
        return self.counts["copy_d2d"] + self.counts["copy_d2d_2d"]

    @property
    def d2d_2d_count(self) -> int:
        return self.counts["copy_d2d_2d"]

    @property
    def pinned_count(self) -> int:
        return self.counts["alloc pinned"]
