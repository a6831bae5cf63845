"""A trace: the operations a backend was given, as a list, as JSON, and compared with another one by alignment."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..code_cache import Build
from ..geometry import Geometry
from . import regions

if TYPE_CHECKING:
    from ..lane import Lane
    from .launches import LaunchRecord
    from .operations import QueuedLaunch, QueuedOperation

FORMAT = 1

_reading = threading.RLock()
"""Held while what was noted is put into words, so that two readers leave it in order."""


@dataclass(frozen=True, slots=True)
class TracedOperation:
    """One operation. `kind` is "launch" or the call's name; `outcome` "queued", "empty", "rejected" or "failed".

    `image` is the launch's parameter block in hexadecimal, `arguments` the same for people; `nbytes` is what a copy or
    fill moves; `range` the names of the `gpu.range` blocks around it; `extras` what a launch asked for beyond grid,
    block and shared memory ("cluster (2, 1, 1), priority -3").
    """

    kind: str
    stream: int
    outcome: str = "queued"
    kernel: str = ""
    module: str = ""
    ordinal: int = 0
    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    shared_mem: int = 0
    arguments: str = ""
    image: str = ""
    nbytes: int = 0
    detail: str = ""
    site: str = ""
    range: str = ""
    extras: str = ""

    def __str__(self) -> str:
        if self.kind != "launch":
            return f"{self.detail or self.kind} on stream {self.stream}"
        text = f"{self.kernel} (module {self.module}), grid {self.grid}, block {self.block}"
        if self.shared_mem:
            text += f", {self.shared_mem} bytes of shared memory"
        if self.extras:
            text += f", {self.extras}"
        text += f", stream {self.stream}, arguments ({self.arguments})"
        return text if self.outcome == "queued" else f"{text}: {self.outcome}"


class Trace:
    """What one backend was given while the trace was on, in the order in which it was queued.

    `builds` is what was compiled meanwhile, or found in the compile cache, with the time that took: no part of a run.
    """

    __slots__ = ("_operations", "_unread", "backend", "builds", "device")

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, backend: str, device: str, operations: Iterable[TracedOperation] = (), builds: Iterable[Build] = ()
    ) -> None:
        self.backend, self.device = backend, device
        self.builds = list(builds)
        self._operations = list(operations)
        # A launch is put into words when somebody reads them: the program that is traced need not wait for that.
        self._unread: deque[TracedOperation | _Launch] = deque()

    @property
    def operations(self) -> list[TracedOperation]:
        """Every operation so far."""
        with _reading:
            while self._unread:
                noted = self._unread.popleft()
                self._operations.append(noted.in_words() if isinstance(noted, _Launch) else noted)
        return self._operations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return (self.backend, self.device, self.operations, self.builds) == (
            other.backend, other.device, other.operations, other.builds,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"Trace({self.backend!r}, {self.device!r}, {self.operations!r}, {self.builds!r})"

    def __reduce__(self) -> tuple[type[Trace], tuple[object, ...]]:
        return Trace, (self.backend, self.device, self.operations, self.builds)

    def __len__(self) -> int:
        return len(self.operations)

    def __iter__(self) -> Iterator[TracedOperation]:
        return iter(self.operations)

    @property
    def launches(self) -> list[TracedOperation]:
        """The launches among the operations."""
        return [each for each in self.operations if each.kind == "launch"]

    def launch(self, record: LaunchRecord, lane: Lane, launch: QueuedLaunch, outcome: str) -> None:
        """Note one launch; the engine's."""
        self._unread.append(
            _Launch(
                lane.handle,
                outcome,
                record.kernel_name,
                record.module_name,
                launch.ordinal,
                record.geometry,
                record.arguments,
                record.image,
                record.site,
                regions.current(),
            )
        )

    def operation(
        self, kind: str, lane: Lane, operation: QueuedOperation, nbytes: int, detail: str | None = None
    ) -> None:
        """Note one copy, fill or event call; the engine's."""
        text = detail if detail is not None else operation.describe_work()
        self._unread.append(TracedOperation(kind, lane.handle, nbytes=nbytes, detail=text, range=regions.current()))

    def to_json(self, indent: int | None = None) -> str:
        """The whole trace as JSON; `Trace.from_json` reads it."""
        return json.dumps(
            {
                "format": FORMAT,
                "backend": self.backend,
                "device": self.device,
                "operations": [asdict(operation) for operation in self.operations],
                "builds": [asdict(build) for build in self.builds],
            },
            indent=indent,
        )

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read what `to_json` wrote. Raises ValueError for anything else."""
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise ValueError(f"a trace of format {data['format']!r}; this version reads {FORMAT}")
            operations = [_operation(each) for each in data["operations"]]
            builds = [Build(**each) for each in data.get("builds", ())]
            return cls(str(data["backend"]), str(data["device"]), operations, builds)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"this is no trace: {error}") from error


class _Launch(NamedTuple):
    """One launch as it is noted: nothing of it keeps memory alive."""

    stream: int
    outcome: str
    kernel: str
    module: str
    ordinal: int
    geometry: Geometry
    arguments: Callable[[], str]
    image: bytes
    site: str
    range: str

    def in_words(self) -> TracedOperation:
        geometry = self.geometry
        return TracedOperation(
            "launch",
            self.stream,
            self.outcome,
            self.kernel,
            self.module,
            self.ordinal,
            geometry.grid.as_tuple(),
            geometry.block.as_tuple(),
            geometry.shared_mem,
            self.arguments(),
            bytes(self.image).hex(),
            site=self.site,
            range=self.range,
            extras=geometry.extras,
        )


def _operation(written: dict[str, Any]) -> TracedOperation:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in written.items()
    }
    return TracedOperation(**values)
