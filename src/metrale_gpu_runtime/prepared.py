"""PreparedLaunch and LaunchSequence: launches checked once and issued often. The hot path, alone in its file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .arguments import Argument, encoder_of
from .checked import CheckedLaunch, read_grid
from .driver import Driver
from .errors import ArgumentCountError, CaptureError, HandleClosed
from .geometry import Dim3, Extent, Geometry
from .handles import StreamHandle
from .launch_codes import codes_of
from .memory.pointers import producers_of
from .native import PreparedState, SequenceState, call_directly
from .residency import own_target
from .slots import Slot, names_of
from .trace.launches import LaunchRecord, RecordedOperation
from .trace.site import call_site

if TYPE_CHECKING:
    from .backend import GpuBackend
    from .kernel import Kernel
    from .memory.allocation import Allocation
    from .memory.producers import Producer
    from .stream import Stream


def native_codes(launch: CheckedLaunch) -> bytes | None:
    """The codes of a launch's arguments where the launch core can make it again and again, None where it cannot."""
    if not launch.geometry.is_plain or launch.grid_slots.axes or own_target(launch.target) is not launch.target:
        return None
    pointers = [each.pointer for each in launch.arguments if each.pointer is not None]
    if not all(each.is_own for each in (*pointers, *launch.uses)):
        return None
    return codes_of([each.description for each in launch.arguments])


def native_shape(geometry: Geometry) -> tuple[int, ...]:
    """A plain shape as the launch core takes it."""
    return (*geometry.grid.as_tuple(), *geometry.block.as_tuple(), geometry.shared_mem)


@call_directly
class PreparedLaunch(PreparedState):
    """A checked launch, to be called again with new values, grid or stream.

    `prepared(*values, grid=None, stream=None, **by_name)`: without any it launches as prepared; with values all
    arguments are new; `prepared(n=5)` has one new, by its parameter's name or its slot's. New values hold for that call
    only; what a slot was set to is remembered until it is set again. `grid` and `stream` take the place of the prepared
    ones in this call. Kinds and types stay those it was prepared with. It holds the memory it names. Calls from several
    threads do not see each other's values.

    Raises the ArgumentError family for a value that does not fit, before the driver is called.
    """

    __slots__ = ("__weakref__", "_encoders", "_launch", "_names", "_stream")

    def __new__(cls, launch: CheckedLaunch, stream: Stream) -> PreparedLaunch:
        return super().__new__(cls)

    def __init__(self, launch: CheckedLaunch, stream: Stream) -> None:
        launch.refuse_loans("a prepared launch")
        kernel, signature = launch.kernel, launch.signature
        self._launch, self._stream = launch, stream
        self._encoders: tuple[Callable[[object], Argument], ...] = tuple(
            encoder_of(launch.gpu, argument, kernel=kernel.title, index=index, signature=signature)
            for index, argument in enumerate(launch.arguments)
        )
        self._names = {}
        for index in range(len(launch.arguments)):
            parameter = signature.parameter(index)
            if parameter is not None and parameter.name:
                self._names[parameter.name] = index
        self._remembered = {}
        self._compile_launch()

    def _compile_launch(self) -> None:
        """Hand the launch core all that it needs for calls of its own; without it every call is `_call_plainly`."""
        launch = self._launch
        codes = native_codes(launch)
        if codes is None:
            return
        names = {index: name for name, index in self._names.items()}
        places = tuple(
            (
                names.get(index),
                each.slot.name if each.slot is not None else None,
                each.pointer.allocation if each.pointer is not None else None,
            )
            for index, each in enumerate(launch.arguments)
        )
        used = tuple(each.allocation for each in launch.uses if each.allocation is not None)
        shape = native_shape(launch.geometry)
        self._compile(launch.kernel, self._stream._lane, shape, codes, launch.image, places, used)

    @property
    def kernel(self) -> Kernel:
        return self._launch.kernel

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The names that have to be set before it can run."""
        return self._launch.slot_names

    def _call_plainly(
        self,
        *values: object,
        grid: Extent | None = None,
        stream: Stream | int | None = None,
        **by_name: object,
    ) -> None:
        """Every call that the launch core does not do by itself."""
        launch = self._launch
        kernel = launch.kernel
        kernel.module.check_loaded()
        replaced = self._replaced(values) if values else {}
        remembered = self._remembered
        if by_name:
            remembered = self._read_names(by_name, replaced, remembered)
        geometry = None
        if grid is not None:
            blocks, grid_slots = read_grid(grid, kernel.title)
            if grid_slots.axes:
                raise ArgumentCountError(
                    f"{kernel.title}: a slot in the grid is set by its name, not given again", kernel=kernel.title
                )
            geometry = kernel.with_grid(launch.geometry, blocks)
            kernel.check_geometry(geometry)
        on = self._stream if stream is None else launch.gpu.resolve_stream(stream)
        recorder = launch.gpu.recorder(on)
        if recorder is not None:
            recorder.append_launch(launch.with_arguments(replaced, geometry).with_values(remembered))
        else:
            record = launch.bind(remembered, replaced=replaced, geometry=geometry, site=call_site(2))
            launch.gpu.issue(record, on)
        self._remembered = remembered

    def _replaced(self, values: tuple[object, ...]) -> dict[int, Argument]:
        launch = self._launch
        if len(values) != len(self._encoders):
            raise ArgumentCountError(
                f"{launch.kernel.title}: prepared with {len(self._encoders)} arguments, called with {len(values)}; "
                "give all of them, or some by name",
                kernel=launch.kernel.title,
                expected=len(self._encoders),
                given=len(values),
            )
        replaced = {
            index: encode(value) for index, (encode, value) in enumerate(zip(self._encoders, values, strict=True))
        }
        for index, argument in replaced.items():
            self._check(index, argument)
        return replaced

    def _check(self, index: int, argument: Argument) -> None:
        launch = self._launch
        if argument.slot is None and argument.loan is None and argument.description is launch.descriptions[index]:
            return
        launch.refuse_holes(index, argument)
        launch.kernel.check_replaced(launch.arguments, index, argument, launch.geometry.shared_mem)

    def _read_names(
        self, by_name: Mapping[str, object], replaced: dict[int, Argument], remembered: Mapping[str, object]
    ) -> dict[str, object]:
        kernel = self._launch.kernel.title
        slots = self._launch.slot_names
        updated = dict(remembered)
        for name, value in by_name.items():
            if name in slots:
                self._refuse_twice(name, replaced)
                updated[name] = value
            elif name in self._names:
                index = self._names[name]
                if index in replaced:
                    raise ArgumentCountError(
                        f"{kernel}: parameter {name!r} is given twice, by position {index} and by name",
                        kernel=kernel,
                        index=index,
                        name=name,
                    )
                argument = self._encoders[index](value)
                self._check(index, argument)
                replaced[index] = argument
            else:
                known = sorted({*slots, *self._names})
                raise ArgumentCountError(
                    f"{kernel}: no slot and no parameter is called {name!r}; there are {', '.join(known) or 'none'}",
                    kernel=kernel,
                    name=name,
                    expected=tuple(known),
                    given=name,
                )
        return updated

    def _refuse_twice(self, name: str, replaced: Mapping[int, Argument]) -> None:
        """Raise when every place of this slot has just been given by position."""
        launch = self._launch
        places = [
            index for index, each in enumerate(launch.arguments) if each.slot is not None and each.slot.name == name
        ]
        is_grid_too = any(each.name == name for _, each in launch.grid_slots.axes)
        if places and not is_grid_too and all(index in replaced for index in places):
            raise ArgumentCountError(
                f"{launch.kernel.title}: slot {name!r} is given twice, by position {places[0]} and by name",
                kernel=launch.kernel.title,
                index=places[0],
                name=name,
            )

    def __repr__(self) -> str:
        geometry = self._launch.geometry
        return (
            f"<PreparedLaunch {self.kernel.title} grid {self._launch.shown_grid} block {geometry.block.as_tuple()}"
            f"{', slots ' + ', '.join(self.slot_names) if self.slot_names else ''}>"
        )


@dataclass(slots=True, eq=False)
class RecordedLaunch:
    """A launch as a sequence keeps it."""

    launch: CheckedLaunch

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        launch = self.launch
        pointers = [each.pointer for each in launch.arguments if each.pointer is not None]
        return tuple(each.allocation for each in (*pointers, *launch.uses) if each.allocation is not None)

    @property
    def producers(self) -> tuple[Producer, ...]:
        launch = self.launch
        pointers = [each.pointer for each in launch.arguments if each.pointer is not None]
        return producers_of((*pointers, *launch.uses))

    @property
    def native_form(self) -> tuple[object, ...] | None:
        """Kernel, shape, codes, image, memory, site and slots for the core; None where Python has to make it."""
        launch = self.launch
        codes = native_codes(launch)
        if codes is None:
            return None
        slots = tuple((index, each.slot.name) for index, each in enumerate(launch.arguments) if each.slot is not None)
        return launch.kernel, native_shape(launch.geometry), codes, launch.image, self.allocations, launch.site, slots

    def check(self) -> None:
        """Raise when it can run no more: its memory was freed, or its module unloaded."""
        launch = self.launch
        launch.kernel.module.check_loaded()
        launch.check_memory()

    def run(self, stream: Stream, values: Mapping[str, object] | None = None) -> None:
        self.launch.gpu.issue(self.launch.bind(values), stream)

    @property
    def captured_geometry(self) -> Geometry:
        """The shape with the smallest grid on the axes that are slots: a node exists before they are set."""
        launch = self.launch
        geometry = launch.geometry
        if not launch.grid_slots.axes:
            return geometry
        least = geometry.cluster.as_tuple() if geometry.cluster is not None else (1, 1, 1)
        extents = list(geometry.grid.as_tuple())
        for axis, _ in launch.grid_slots.axes:
            extents[axis] = least[axis]
        return replace(geometry, grid=Dim3(*extents))

    def submit(self, driver: Driver, stream: StreamHandle) -> None:
        geometry = self.captured_geometry
        if not geometry.is_empty:
            self.launch.target.submit(self.launch.image, geometry, stream, 0)

    def describe(self) -> str:
        launch = self.launch
        return f"launch of {launch.kernel.title} grid {launch.shown_grid}, recorded at {launch.site}"


@call_directly
class LaunchSequence(SequenceState):
    """Launches and copies recorded once and issued together, in order.

    Made by `with gpu.sequence() as step:`: the launches, copies and fills that this thread makes inside the block are
    recorded and not run. `step(pos=p, kv=ptr, stream=None)` then issues them on a stream, slots set by name; what a
    slot was set to is remembered until it is set again. It holds the memory it names.

    All slot values are read and checked before the first launch is issued: a call raises ArgumentCountError for an
    unknown name or a slot without a value. Called inside a capture or another recording it becomes part of that, with
    the values of this call.
    """

    def __init__(self, gpu: GpuBackend, *, of_graph: bool = False) -> None:
        self._gpu = gpu
        # What people call it, and how they give it values.
        self._title, self._call = ("graph", "graph.launch") if of_graph else ("sequence", "sequence")
        self._operations: list[RecordedOperation | RecordedLaunch] = []
        self._is_recording = False
        self._is_closed = False
        self._was_recorded = False
        self._remembered = {}
        # Looked for once they are asked for.
        self._slot_names: tuple[str, ...] | None = None
        self._lock = threading.Lock()

    @property
    def gpu(self) -> GpuBackend:
        return self._gpu

    @property
    def operations(self) -> tuple[RecordedOperation | RecordedLaunch, ...]:
        """What was recorded, in order."""
        return tuple(self._operations)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The names that have to be set before it can run."""
        names = self._slot_names
        if names is None:
            slots: list[Slot] = []
            for operation in self._operations:
                if isinstance(operation, RecordedLaunch):
                    slots.extend(operation.launch.slots)
            names = self._slot_names = names_of(slots)
        return names

    @property
    def is_one_command(self) -> bool:
        """Whether a call hands the driver one command that it has recorded (OpenCL's command buffers), not each launch.

        So it is where the driver can, for a sequence of launches without slots, until it refuses a call.
        """
        return self._has_recorded

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """The memory it names, once each."""
        return tuple(dict.fromkeys(each for operation in self._operations for each in operation.allocations))

    def __len__(self) -> int:
        return len(self._operations)

    # ------------------------------------------------ recording

    def __enter__(self) -> LaunchSequence:
        self._check_open()
        if self._was_recorded:
            raise CaptureError("this sequence was recorded already; make another with gpu.sequence()")
        self._gpu.begin_sequence(self)
        self._is_recording = self._was_recorded = True
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._is_recording = False
        self._gpu.end_sequence(self)
        if kind is not None:
            self._operations.clear()
            self._slot_names = None
            self._is_closed = True
        elif not self._is_closed:
            self.compile_launches()
            if self._is_closed:  # by another thread, meanwhile
                self._let_go()

    def compile_launches(self) -> None:
        """Hand the launch core all launches as one; with anything else among them every call is `_call_plainly`.

        The engine's, once all is recorded.
        """
        launches = []
        for operation in self._operations:
            form = operation.native_form if isinstance(operation, RecordedLaunch) else None
            if form is None:
                return
            launches.append(form)
        if self._compile(self._gpu, tuple(launches)) and not self.slot_names:
            checked = [each.launch for each in self._operations if isinstance(each, RecordedLaunch)]
            recorded = self._gpu.record_launches(checked)
            # The driver may have let another thread in that closed it.
            if recorded is not None and not self._is_closed:
                self._use_recorded(recorded.use, recorded.keeper)

    def append(self, operation: RecordedOperation | RecordedLaunch) -> None:
        """Record one operation; the engine's. Raises HandleClosed where it was closed inside its own block."""
        self._check_open()
        operation.check()
        self._operations.append(operation)
        self._slot_names = None

    def append_launch(self, launch: CheckedLaunch) -> None:
        """Record one checked launch; the engine's."""
        self.append(RecordedLaunch(launch))

    # ------------------------------------------------ running

    def _call_plainly(self, *positional: object, stream: Stream | int | None = None, **values: object) -> None:
        """Every call that the launch core does not do by itself."""
        if positional:
            slots = ", ".join(f"{name}=…" for name in self.slot_names) or "it has none"
            raise TypeError(f"a {self._title} takes its slots' values by name ({slots}), and stream=")
        self._check_open()
        if self._is_recording:
            raise CaptureError("this sequence is still being recorded; leave its `with` block before calling it")
        on = self._gpu.resolve_stream(stream)
        current, records = self.bind(values)
        bound = dict(records)
        recorder = self._gpu.recorder(on)
        for index, operation in enumerate(self._operations):
            if isinstance(operation, RecordedLaunch):
                if recorder is not None:
                    recorder.append_launch(operation.launch.with_values(current))
                else:
                    self._gpu.issue(bound[index], on)
            else:
                operation.run(on)

    def _issue_rest(self, first: int, stream: Stream | None) -> None:
        """The launch core's: the driver refused the launch of this place; those before it are queued."""
        on = self._gpu.resolve_stream(stream)
        for index, record in self.bind({})[1]:
            if index >= first:
                self._gpu.issue(record, on)

    def bind(
        self, values: Mapping[str, object], only: Collection[int] | None = None
    ) -> tuple[Mapping[str, object], list[tuple[int, LaunchRecord]]]:
        """The slots' values from now on, and the launches with those set, by their place in the sequence; the engine's.

        Every value is read before the first launch goes out: a refused one leaves nothing half done. `only` are the
        places to read, all by default.
        """
        self._gpu._check_usable()  # first: in a child after fork, whoever held the lock is not there to let go of it
        with self._lock:
            current = {**self._remembered, **values}
            self._check_names(values, current)
            for operation in self._operations:
                operation.check()
            records = [
                (index, operation.launch.bind(current))
                for index, operation in enumerate(self._operations)
                if isinstance(operation, RecordedLaunch) and (only is None or index in only)
            ]
            self._remembered = current
        return current, records

    def launch(self, stream: Stream | int | None = None, **values: object) -> None:
        """The same as calling it."""
        self(stream=stream, **values)

    def copy(self) -> LaunchSequence:
        """Another sequence of the same operations, with the slot values of now; later ones do not reach it."""
        self._check_open()
        twin = LaunchSequence(self._gpu)
        twin._title, twin._call = self._title, self._call
        twin._operations = list(self._operations)
        twin._was_recorded = True
        twin._remembered = dict(self._remembered)
        twin.compile_launches()
        return twin

    def close(self) -> None:
        """Let go of the memory it holds; it cannot be run afterwards."""
        self._is_closed = True
        self._let_go()
        self._operations.clear()
        self._slot_names = None
        self._remembered = {}

    def _check_open(self) -> None:
        if self._is_closed:
            raise HandleClosed("this sequence is closed, or its recording was abandoned; record it again")

    def _check_names(self, values: Mapping[str, object], current: Mapping[str, object]) -> None:
        names = self.slot_names
        for name in values:
            if name not in names:
                raise ArgumentCountError(
                    f"the {self._title} has no slot {name!r}; there are {', '.join(names) or 'none'}",
                    kernel="",
                    name=name,
                    expected=names,
                    given=name,
                )
        for name in names:
            if name not in current:
                raise ArgumentCountError(
                    f"slot {name!r} of the {self._title} has no value; set it by name: {self._call}({name}=value)",
                    kernel="",
                    name=name,
                    expected=name,
                    given=None,
                )

    def __repr__(self) -> str:
        slots = f", slots {', '.join(self.slot_names)}" if self.slot_names else ""
        return f"<LaunchSequence of {len(self._operations)} operations{slots}>"
