"""What the launch code hands to the backend to be issued, and what a capture keeps of an operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..driver import Driver, LaunchTarget
from ..errors import LaunchSummary
from ..geometry import Dim3, Geometry
from ..handles import StreamHandle

if TYPE_CHECKING:
    from ..kernel import Kernel
    from ..memory.allocation import Allocation
    from ..memory.producers import Producer
    from ..native.plain import LaunchRecord as NativeRecord
    from ..signature import ArgumentDescription, KernelSignature
    from ..stream import Stream


@dataclass(frozen=True, slots=True)
class LentHostMemory:
    """Host memory that one launch may use in place. `owner` keeps it alive while the launch runs."""

    address: int
    nbytes: int
    writable: bool
    owner: object = None


def no_arguments() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """The words for a launch that the launch core has made: it remembers numbers and bytes."""

    kernel_name: str
    module_name: str
    signature: KernelSignature
    descriptions: tuple[ArgumentDescription, ...]
    offsets: tuple[int, ...]

    def geometry_of(self, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared_mem: int) -> Geometry:
        """The core makes plain launches only."""
        return Geometry(Dim3(gx, gy, gz), Dim3(bx, by, bz), shared_mem)

    def arguments_of(self, image: bytes) -> str:
        """The arguments as text, from the image."""
        from ..checked import describe_image

        return describe_image(self.signature, self.descriptions, self.offsets, image)

    def summary_of(self, record: NativeRecord) -> LaunchSummary:
        """What an error tells of the launch."""
        geometry = record.geometry
        return LaunchSummary(
            ordinal=record.ordinal,
            kernel=self.kernel_name,
            module=self.module_name,
            grid=geometry.grid.as_tuple(),
            block=geometry.block.as_tuple(),
            shared_mem=geometry.shared_mem,
            stream=record.stream,
            arguments=record.arguments(),
            site=record.site,
        )


@dataclass(slots=True)
class LaunchRecord:
    """One checked launch, ready for `gpu.issue(record, stream)`.

    `allocations` is everything the launch names, by argument or by `.uses`; `lent` the host memory it uses in
    place; `producers` who else works on its memory; `arguments` makes the summary for an error, only when there is one;
    `site` is the caller's file and line; `kernel` and `pointers` are kept alive until the driver has the launch.
    """

    kernel_name: str
    module_name: str
    geometry: Geometry
    target: LaunchTarget
    image: bytes
    allocations: tuple[Allocation, ...] = ()
    lent: tuple[LentHostMemory, ...] = ()
    producers: tuple[Producer, ...] = ()
    arguments: Callable[[], str] = no_arguments
    site: str = ""
    kernel: Kernel | None = None
    pointers: object = None


class RecordedOperation(Protocol):
    """One operation of a capture or a sequence, to be run later, as often as wanted."""

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """The memory it names; whoever holds the operation holds the memory."""
        ...

    @property
    def producers(self) -> tuple[Producer, ...]:
        """Who else works on that memory."""
        ...

    def check(self) -> None:
        """Raise when it can run no more: InvalidPointer for memory that was freed, HandleClosed for what was closed."""
        ...

    def run(self, stream: Stream) -> None:
        """Queue it on a stream."""
        ...

    def submit(self, driver: Driver, stream: StreamHandle) -> None:
        """Make its driver call, and nothing else, on a stream that the driver captures."""
        ...

    def describe(self) -> str:
        """What it is, for an error."""
        ...
