"""What is remembered of a queued operation: enough to name it in an error, nothing that keeps memory alive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import LaunchSummary
from ..geometry import Geometry

if TYPE_CHECKING:
    from .launches import RecordedOperation


_NAMED_NODES = 16


class QueuedOperation:
    """A copy, a fill, an allocation in stream order: `sequence` is its number on stream `stream`, from 1."""

    __slots__ = ("describe_work", "sequence", "stream")

    def __init__(self, stream: int, sequence: int, describe_work: Callable[[], str]) -> None:
        self.stream, self.sequence, self.describe_work = stream, sequence, describe_work

    def __str__(self) -> str:
        return f"{self.describe_work()} on stream {self.stream}"

    @property
    def summary(self) -> LaunchSummary | None:
        """The launch it is, if it is one."""
        return None


class QueuedLaunch(QueuedOperation):
    """A launch, by the ordinal that the driver knows it by."""

    __slots__ = ("arguments", "geometry", "kernel_name", "module_name", "ordinal", "rejected", "site")

    def __init__(
        self,
        stream: int,
        sequence: int,
        ordinal: int,
        kernel_name: str,
        module_name: str,
        geometry: Geometry,
        arguments: Callable[[], str],
        site: str,
    ) -> None:
        self.stream, self.sequence, self.ordinal = stream, sequence, ordinal
        self.kernel_name, self.module_name, self.geometry = kernel_name, module_name, geometry
        self.arguments, self.site, self.rejected = arguments, site, False

    def __str__(self) -> str:
        return str(self.summary)

    @property
    def summary(self) -> LaunchSummary:
        geometry = self.geometry
        return LaunchSummary(
            ordinal=self.ordinal,
            kernel=self.kernel_name,
            module=self.module_name,
            grid=geometry.grid.as_tuple(),
            block=geometry.block.as_tuple(),
            shared_mem=geometry.shared_mem,
            stream=self.stream,
            arguments=self.arguments(),
            site=self.site,
            extras=geometry.extras,
        )


class QueuedGraph(QueuedLaunch):
    """A replay of a whole graph by the driver: one number, and the words for what is in it."""

    __slots__ = ("words",)

    def __init__(self, stream: int, sequence: int, ordinal: int, name: str, words: tuple[str, ...], site: str) -> None:
        super().__init__(stream, sequence, ordinal, name, "", Geometry(), lambda: "", site)
        self.words = words

    @property
    def summary(self) -> LaunchSummary:
        return LaunchSummary(
            ordinal=self.ordinal,
            kernel=self.kernel_name,
            module="",
            grid=(0, 0, 0),
            block=(0, 0, 0),
            shared_mem=0,
            stream=self.stream,
            site=self.site,
            nodes=self.words,
        )


def describe_operations(operations: Sequence[RecordedOperation]) -> tuple[str, ...]:
    """How many there are, and each of them where they are few. Keeps nothing of them alive."""
    nodes = tuple(operation.describe() for operation in operations) if len(operations) <= _NAMED_NODES else ()
    return (f"{len(operations)} operations", *nodes)
