"""The loaded stand-in, as tests steer and question it."""

from __future__ import annotations

import ctypes
from typing import Any

from .records import (
    LAUNCH_FUNCTION,
    LOAD_FUNCTION,
    Call,
    CallRecord,
    Launch,
    LaunchRecord,
    Range,
    RangeRecord,
    Violation,
    ViolationRecord,
)

_TEXT, _U64, _I64, _INT = ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int64, ctypes.c_int
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "reset": (None, ()),
    "deinitialize": (None, ()),
    "get": (_I64, (_TEXT,)),
    "set": (_INT, (_TEXT, _I64)),
    "text": (_TEXT, (_TEXT,)),
    "set_text": (_INT, (_TEXT, _TEXT)),
    "attribute": (_I64, (_INT, _TEXT)),
    "set_attribute": (_INT, (_INT, _TEXT, _I64)),
    "attribute_name": (_TEXT, (ctypes.c_uint,)),
    "setting_name": (_TEXT, (ctypes.c_uint,)),
    "set_function": (_INT, (_TEXT, _TEXT, _I64)),
    "fail_call": (None, (_TEXT, _U64, _U64, _INT)),
    "fail_launch": (None, (_U64, _INT)),
    "fail_context": (_INT, (_U64, _INT)),
    "clear_faults": (None, ()),
    "set_absent": (_INT, (_TEXT,)),
    "call_count": (_U64, (_TEXT,)),
    "calls": (_U64, (ctypes.POINTER(CallRecord), _U64)),
    "launch_count": (_U64, ()),
    "launches": (_U64, (ctypes.POINTER(LaunchRecord), _U64)),
    "launch_parameters": (_U64, (_U64, ctypes.c_char_p, _U64)),
    "violation_count": (_U64, (_TEXT,)),
    "violations": (_U64, (ctypes.POINTER(ViolationRecord), _U64)),
    "count": (_U64, (_TEXT, _TEXT)),
    "queued": (_U64, ()),
    "clock_ns": (_U64, ()),
    "clear_journal": (None, ()),
    "memory_version": (_U64, ()),
    "ranges": (_U64, (_U64, ctypes.POINTER(RangeRecord), _U64)),
    "set_executor": (None, (LOAD_FUNCTION, LOAD_FUNCTION, LAUNCH_FUNCTION)),
}
KINDS = ("context", "stream", "event", "module", "memory", "host_memory", "pool", "physical", "reservation", "mapping")
GRAPH_KINDS = ("graph", "exec")


class StandIn:
    """One stand-in library in this process. None of its methods is a call of the driver."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, f"standin_{name}")
            function.restype, function.argtypes = result, arguments

    def _call(self, name: str, *arguments: object) -> Any:
        return getattr(self.library, f"standin_{name}")(*arguments)

    # ------------------------------------------------ settings

    def reset(self, *, devices: int = 0, **settings: int) -> None:
        """As loaded: nothing is alive, the journal is empty; then so many devices and these settings or attributes."""
        self._call("reset")
        self.set(devices=devices, **settings)

    def set(self, **settings: int) -> None:
        """Named integers (`execution=1`) or, where there is no setting of the name, attributes of all devices.

        `compute_capability=90` sets both of its attributes. Raises KeyError for an unknown name.
        """
        for name, value in settings.items():
            if name == "compute_capability":
                self.set_attribute("compute_capability_major", value // 10)
                self.set_attribute("compute_capability_minor", value % 10)
            elif self._call("set", name.encode(), int(value)):
                self.set_attribute(name, int(value))

    def get(self, name: str) -> int:
        """A setting's value. Raises KeyError."""
        if name not in self.setting_names():
            raise KeyError(name)
        return int(self._call("get", name.encode()))

    def set_attribute(self, name: str, value: int, device: int = -1) -> None:
        """An attribute of one device, or of all. Raises KeyError."""
        if self._call("set_attribute", device, name.encode(), value):
            raise KeyError(name)

    def attribute(self, name: str, device: int = 0) -> int:
        value = int(self._call("attribute", device, name.encode()))
        if value == -(2**63):
            raise KeyError(name)
        return value

    def set_text(self, name: str, value: str) -> None:
        """ "name" (of the devices). Raises KeyError."""
        if self._call("set_text", name.encode(), value.encode()):
            raise KeyError(name)

    def set_function(self, kernel: str, **attributes: int) -> None:
        """What the driver says of every kernel of this name: `registers=96`, `max_threads_per_block=640`."""
        for name, value in attributes.items():
            if self._call("set_function", kernel.encode(), name.encode(), value):
                raise KeyError(name)

    def set_absent(self, *entry_points: str) -> None:
        """Entry points that this driver does not have, for look-ups from now on.

        cuda-bindings looks everything up once in a process: there it must be set before (METRALE_STANDIN_ABSENT).
        """
        assert self._call("set_absent", ",".join(entry_points).encode()) == 0

    def setting_names(self) -> tuple[str, ...]:
        return self._names("setting_name")

    def attribute_names(self) -> tuple[str, ...]:
        return self._names("attribute_name")

    def _names(self, function: str) -> tuple[str, ...]:
        names: list[str] = []
        while (name := self._call(function, len(names))) is not None:
            names.append(name.decode())
        return tuple(names)

    # ------------------------------------------------ faults

    def fail_call(self, entry: str, code: int, *, nth: int = 1, count: int = 1) -> None:
        """The nth next call of this entry point returns `code` and does nothing, `count` times (0: for ever).

        Entry "*" is any entry point. A code that loses a context loses the one that is current then.
        """
        self._call("fail_call", entry.encode(), nth, count, int(code))

    def fail_launch(self, code: int, *, nth: int = 1) -> None:
        """The nth next launch fails with `code` when it runs: later, as faults on a device are."""
        self._call("fail_launch", nth, int(code))

    def fail_context(self, context: int, code: int) -> None:
        """The context is lost from now on. Raises KeyError for what is no context."""
        if self._call("fail_context", int(context), int(code)):
            raise KeyError(context)

    def clear_faults(self) -> None:
        self._call("clear_faults")

    def deinitialize(self) -> None:
        """Every call returns 4 from now on, until `reset`."""
        self._call("deinitialize")

    # ------------------------------------------------ the journal

    def call_count(self, entry: str = "") -> int:
        """Calls of this entry point (of all) since the last reset, refused ones included."""
        return int(self._call("call_count", entry.encode()))

    def calls(self, most: int = 65536) -> list[Call]:
        """The last calls, oldest first."""
        room = (CallRecord * most)()
        return [Call.of(room[i]) for i in range(self._call("calls", room, most))]

    def names(self, most: int = 65536) -> list[str]:
        """The last calls' entry points, oldest first: a transcript."""
        return [call.name for call in self.calls(most)]

    def launches(self, most: int = 16384) -> list[Launch]:
        """The last accepted launches, oldest first, those of graph replays included."""
        room = (LaunchRecord * most)()
        return [Launch.of(room[i], self._parameters(room[i])) for i in range(self._call("launches", room, most))]

    def _parameters(self, record: LaunchRecord) -> bytes:
        room = ctypes.create_string_buffer(record.parameter_nbytes + 1)
        self._call("launch_parameters", record.ordinal, room, record.parameter_nbytes)
        return room.raw[: record.parameter_nbytes]

    def launch_count(self) -> int:
        return int(self._call("launch_count"))

    def violations(self, *kinds: str) -> list[Violation]:
        """What correct callers never do, of these kinds or of all, oldest first."""
        room = (ViolationRecord * 1024)()
        found = [Violation.of(room[i]) for i in range(self._call("violations", room, 1024))]
        return [violation for violation in found if not kinds or violation.kind in kinds]

    def violation_count(self, kind: str = "") -> int:
        return int(self._call("violation_count", kind.encode()))

    def count(self, kind: str, what: str = "live") -> int:
        """How many of KINDS or GRAPH_KINDS were "created", "destroyed", or are "live"."""
        value = int(self._call("count", kind.encode(), what.encode()))
        if value == 2**64 - 1:
            raise KeyError(f"{kind} {what}")
        return value

    def live(self) -> dict[str, int]:
        """Everything that is alive, by kind; a primary context and the pools of its device are not the caller's."""
        kinds = [kind for kind in (*KINDS, *GRAPH_KINDS) if kind not in ("context", "pool")]
        return {kind: n for kind in kinds if (n := self.count(kind))}

    def queued(self) -> int:
        """Operations that have not run."""
        return int(self._call("queued"))

    def clock_ns(self) -> int:
        return int(self._call("clock_ns"))

    def clear_journal(self) -> None:
        """Forget calls, launches, violations and scripted faults; what is alive stays."""
        self._call("clear_journal")

    # ------------------------------------------------ memory and execution

    def memory_version(self) -> int:
        return int(self._call("memory_version"))

    def ranges(self, context: int) -> list[Range]:
        """Memory that kernels of this context may use."""
        room = 0
        while True:
            records = (RangeRecord * (room + 1))()
            count = int(self._call("ranges", int(context), records, room + 1))
            if count <= room + 1:
                return [Range.of(records[i]) for i in range(count)]
            room = count

    def set_executor(self, load: Any, unload: Any, launch: Any) -> None:
        """ctypes callbacks of LOAD_FUNCTION and LAUNCH_FUNCTION, kept alive by the caller; None for none."""
        none_load, none_launch = LOAD_FUNCTION(), LAUNCH_FUNCTION()
        self._call("set_executor", load or none_load, unload or none_load, launch or none_launch)
