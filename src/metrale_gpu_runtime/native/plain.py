"""The launch core in plain Python: what the engine's classes stand on where the extension is not there.

Each name here is one of the extension's, with the same behaviour as far as the engine sees it. The hot calls are not
here: a base without them leaves every call to the class above it.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

_T = TypeVar("_T")

RING_LENGTH = 64

Lock = threading.RLock
Uses: type[dict[int, Any]] = dict


class LaunchRecord:
    """The extension's form of a queued launch, read as trace.operations.QueuedLaunch is; there are none here."""

    __slots__ = ()

    stream: int
    sequence: int
    ordinal: int
    rejected: bool
    kernel_name: str
    module_name: str
    geometry: Any
    site: str
    summary: Any

    def arguments(self) -> str:
        raise NotImplementedError


class LaunchMark(LaunchRecord):
    """The extension's form of a launch of a sequence; there are none here."""

    __slots__ = ()


class Ring(deque[Any]):
    """The last launches of a stream, oldest first."""

    def __init__(self) -> None:
        super().__init__(maxlen=RING_LENGTH)

    def __iter__(self) -> Iterator[Any]:
        """Those that are there at this moment."""
        while True:
            try:
                return iter([*super().__iter__()])
            except RuntimeError:
                # Another thread has launched meanwhile: without an interpreter lock nothing keeps it from that.
                continue

    def reached(self, sequence: int) -> None:
        """Forget those up to this number: they are done."""
        while self and self[0].sequence <= sequence:
            self.popleft()


class LaneState:
    """What the core reads of a stream."""

    __slots__ = ("capture", "gone", "handle", "is_synchronous", "issued", "lock", "raw", "ring")

    def _count_in(self, array: object) -> None:
        """Count there what is queued natively: here nothing is."""


class BlockState:
    """What the core reads of an allocation's entry."""

    __slots__ = ("base", "born", "gone", "last_use", "ledger", "nbytes", "uses")


class AllocationState:
    """What the core reads of the hold on an allocation."""

    __slots__ = ("block",)


class PointerState:
    """What the core reads of a device pointer."""

    __slots__ = ("_address", "_allocation")

    _address: int
    _allocation: Any


class BufferState:
    """What the core reads of a device buffer."""

    __slots__ = ("_address", "_allocation", "_nbytes", "_scalar")

    _address: int
    _allocation: Any
    _nbytes: int
    _scalar: Any


class ProgressState:
    """What the core reads of a backend's progress."""

    __slots__ = ("count", "seen")


class ModuleState:
    """What the core reads of a module."""

    _is_loaded: bool


class Gate:
    """What stands between a launch and the driver of one backend; an iterator over the numbers of launches."""

    __slots__ = ("_ordinals", "shut_for")

    def __init__(self) -> None:
        self._ordinals = itertools.count(1)
        self.shut_for = 1

    native_count = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        return next(self._ordinals)

    def count_from(self, ordinal: int) -> None:
        """Let this be the number of the next launch."""
        self._ordinals = itertools.count(ordinal)

    def shut(self, bit: int, is_shut: bool) -> None:
        """Shut or open the gate for one reason, which is a bit from 2 on."""
        self.shut_for = self.shut_for | bit if is_shut else self.shut_for & ~bit

    def watch(self, *watched: object) -> None:
        """What is looked at before each launch: here by the launch itself."""

    def limit(
        self, x: int, y: int, z: int, threads: int, null_pointers: bool, offset_alignment: int, aliased_writes: bool
    ) -> None:
        """The device's limits on a grid, and which pointers it takes: here checked by the launch itself."""

    def submit(self, keeper: object) -> None:
        """Have targets make the launches: here they are asked by the launch itself."""

    def use_by_default(self, lane: object) -> None:
        """The stream of launches that name none: here resolved by each launch."""

    def set_and_enqueue(self, *calls: object) -> None:
        """The calls of a driver whose kernel objects hold their arguments: here nobody makes them."""

    def call(self, *addresses: int) -> None:
        """The addresses of the driver's calls: here nobody calls them."""


class KernelState:
    """What the core knows of a kernel: here nothing."""

    _gate: Gate
    _module: Any
    _allowed_shared_mem = 0
    _shares = False
    _plan_count = 0
    _latest: tuple[object, Any] = (object(), None)
    """What was given for the latest shape of numbers alone, and what `kernel[…]` made of it."""

    def _belong(self, gpu: object, gate: Gate, module: object, specs: bytes | None) -> None:
        self._gate, self._module = gate, module

    def __getitem__(self, configuration: object) -> Any:
        given, configured = self._latest
        return configured if given is configuration else self._configure(configuration)

    def _configure(self, configuration: object) -> Any:
        raise NotImplementedError

    def _learn_plan(self, *plan: object) -> None: ...

    def _learn_shape(self, *shape: int) -> None: ...


class PreparedState:
    """A prepared launch without a native call: `_call_plainly` does every one."""

    __slots__ = ("_remembered",)

    def __init__(self) -> None:
        self._remembered: dict[str, object] = {}

    def _compile(self, *form: object) -> bool:
        return False

    def _call_plainly(self, *values: Any, **by_name: Any) -> None:
        raise NotImplementedError

    def __call__(self, *values: Any, **by_name: Any) -> None:
        raise NotImplementedError


class ConfiguredState:
    """A kernel with its geometry, without a native call: `_call_plainly` does every one."""

    __slots__ = ("_geometry", "_grid_slots", "_kernel", "_stream")

    def _compile(
        self, kernel: Any, lane: object, shape: object, stream: object, geometry: Any, grid_slots: Any
    ) -> None:
        self._kernel, self._stream, self._geometry, self._grid_slots = kernel, stream, geometry, grid_slots

    def _call_plainly(self, *values: Any, **by_name: Any) -> None:
        raise NotImplementedError

    def __call__(self, *values: Any, **by_name: Any) -> None:
        raise NotImplementedError


class SequenceState:
    """A sequence without a native call: `_call_plainly` does every one."""

    _remembered: dict[str, object]
    _has_recorded = False

    def _compile(self, gpu: object, launches: tuple[object, ...]) -> bool:
        return False

    def _use_recorded(self, use: object, keeper: object) -> None:
        """Have the driver's one command for all that was compiled: here nothing was."""

    def _let_go(self) -> None:
        """Drop what was compiled: here nothing was."""

    def _call_plainly(self, *values: Any, **by_name: Any) -> None:
        raise NotImplementedError

    def __call__(self, *values: Any, **by_name: Any) -> None:
        raise NotImplementedError


class BuilderState:
    """A launch being described: here the class above does it all."""

    def _spill(self) -> None:
        """Let Python have all that was given so far: here it has."""


def _know(kind: type[_T]) -> type[_T]:
    return kind


know_pointer: Callable[[type[_T]], type[_T]] = _know
know_buffer: Callable[[type[_T]], type[_T]] = _know
know_allocation: Callable[[type[_T]], type[_T]] = _know
know_stream: Callable[[type[_T]], type[_T]] = _know
know_birth: Callable[[type[_T]], type[_T]] = _know
know_builder: Callable[[type[_T]], type[_T]] = _know
know_configured: Callable[[type[_T]], type[_T]] = _know
know_kernel: Callable[[type[_T]], type[_T]] = _know


def call_directly(kind: type[_T]) -> type[_T]:
    """Have calls of an instance be what its class calls `_call_plainly`, without a step between."""
    kind.__call__ = kind._call_plainly  # type: ignore[attr-defined, method-assign]
    return kind


def know_scalars(scalar: type, types: tuple[object, ...]) -> None:
    """Tell the class of typed values and the scalar type of each code."""


def know_typed(value: object, code: int, data: bytes) -> None:
    """Tell that values of this one's class are a scalar type's bytes as they lie in memory."""


def know_package(folder: str, callers: str) -> None:
    """Tell the package's folder, and the folder in it that is a caller."""


def take_answer(function: int) -> tuple[bool, int] | None:
    """What the driver answered to this kernel's launch, made natively: never anything here."""
    return None
