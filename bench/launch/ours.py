"""This package's ways to launch, as rows: the six forms of the table, over whatever driver "cuda" opens here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.slots import Slot

from .rows import Row, Sent
from .shapes import BLOCK, F32, GRID, POINTER, POINTERS, PTX, SIGNATURES, U32, Shape
from .stub import Stub

BUILDER = "builder chain, new launch each time"
SHORT = "short form, Python values"
PREPARED_ALL = "prepared, all arguments change"
PREPARED_NONE = "prepared, nothing changes"
SEQUENCE = "sequence of 100 launches, each"
SLOTS = "sequence of 200 launches, 4 slots in 64 places set, each"

BARS: Mapping[str, Mapping[int, float]] = {
    BUILDER: {3: 11, 8: 12, 16: 13},
    SHORT: {3: 9, 8: 9, 16: 10},
    PREPARED_ALL: {3: 7, 8: 7, 16: 8},
    PREPARED_NONE: {3: 5, 8: 4.5, 16: 3.5},
    SEQUENCE: {3: 1.2, 8: 1.2, 16: 1.2},
    SLOTS: {3: 1.5, 8: 1.5, 16: 1.5},
}
"""What each form must stay under, in floors, by the number of arguments."""

SHORT_LENGTH, SLOTS_LENGTH, PLACES = 100, 200, 64
SLOT_NAMES = ("pointer", "first", "number", "second")
"""Four slots, each set in 16 of the 64 places: a pointer, two u32 and an f32."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One way to have something switched on: how the backend is opened, and what is held open meanwhile."""

    title: str
    options: Mapping[str, object] = field(default_factory=dict)
    hold: Callable[[mg.GpuBackend, ExitStack], object] = lambda gpu, stack: None


OFF = Switch("nothing switched on")
SWITCHES = {
    "debug-sync": Switch("debug sync", hold=lambda gpu, stack: stack.enter_context(gpu.debug_sync())),
    "trace": Switch("a trace is kept", hold=lambda gpu, stack: stack.enter_context(gpu.trace())),
    "range": Switch("inside gpu.range()", hold=lambda gpu, stack: stack.enter_context(gpu.range("step"))),
    "redzones": Switch("red zones round all memory", options={"redzone": 256}),
    "context": Switch("the context is not current on the thread"),
}


def core_in_use() -> str:
    """Which launch core this process has: "native" or "python"."""
    return str(getattr(mg, "launch_core", "python"))


class Ours:
    """One open backend with the three kernels and the buffers that values point to."""

    def __init__(self, gpu: mg.GpuBackend) -> None:
        self.gpu = gpu
        self.module = gpu.load_module("bench", source={".ptx": PTX}, signatures=SIGNATURES)
        self.buffers = [gpu.buffer(256) for _ in range(POINTERS)]

    def values(self, shape: Shape, variant: int) -> list[object]:
        return shape.values(variant, self.buffers)

    def sent(self, shape: Shape, values: Sequence[object]) -> Sent:
        """What arrives of these values."""
        addresses = [each.address if isinstance(each, mg.DeviceBuffer) else each for each in values]
        return Sent(shape.image(addresses), kernel=shape.kernel)

    # ------------------------------------------------ one launch a statement

    def rows(self, shape: Shape, only: Sequence[str] | None = None) -> list[Row]:
        makers = {
            BUILDER: self._builder,
            SHORT: self._short,
            PREPARED_ALL: self._prepared_all,
            PREPARED_NONE: self._prepared_none,
            SEQUENCE: self._sequence,
            SLOTS: self._slots,
        }
        return [make(shape) for name, make in makers.items() if only is None or name in only]

    def _two(self, name: str, shape: Shape, template: Callable[[list[str]], str], names: dict[str, object]) -> Row:
        """Two launches in turn, of which no argument is the same."""
        statements, expected = [], []
        for letter, variant in (("a", 0), ("b", 1)):
            values = self.values(shape, variant)
            words = [f"{letter}{at}" for at in range(shape.count)]
            names |= dict(zip(words, values, strict=True))
            statements.append(template(words))
            expected.append(self.sent(shape, values))
        return Row(name, tuple(statements), names, tuple(expected))

    def _builder(self, shape: Shape) -> Row:
        def chain(words: list[str]) -> str:
            arguments = "".join(f".{kind.builder}({word})" for kind, word in zip(shape.kinds, words, strict=True))
            return f"mg.KernelLaunch(gpu, kernel).grid({GRID}).block({BLOCK}){arguments}.launch()"

        return self._two(BUILDER, shape, chain, {"mg": mg, "gpu": self.gpu, "kernel": self.module[shape.kernel]})

    def _short(self, shape: Shape) -> Row:
        return self._two(
            SHORT,
            shape,
            lambda words: f"kernel[{GRID}, {BLOCK}]({', '.join(words)})",
            {"kernel": self.module[shape.kernel]},
        )

    def _prepared_all(self, shape: Shape) -> Row:
        prepared = self.module[shape.kernel][GRID, BLOCK].prepare(*self.values(shape, 2))
        return self._two(PREPARED_ALL, shape, lambda words: f"prepared({', '.join(words)})", {"prepared": prepared})

    def _prepared_none(self, shape: Shape) -> Row:
        values = self.values(shape, 2)
        prepared = self.module[shape.kernel][GRID, BLOCK].prepare(*values)
        return Row(PREPARED_NONE, ("prepared()",), {"prepared": prepared}, (self.sent(shape, values),))

    # ------------------------------------------------ sequences

    def _recorded(self, shape: Shape, launches: Sequence[Sequence[object]]) -> mg.LaunchSequence:
        with self.gpu.sequence() as sequence:
            for values in launches:
                self.module[shape.kernel][GRID, BLOCK](*values)
        return sequence

    def _verify_places(
        self, shape: Shape, launches: list[list[object]], settings: Mapping[str, object], places: Sequence[int]
    ) -> Callable[[Stub], None]:
        """The stand-in tells the last launch only: so each of these places is the last of a sequence once."""

        def verify(stub: Stub) -> None:
            for place in places:
                slots = {each.name for values in launches[: place + 1] for each in values if isinstance(each, Slot)}
                given = {name: value for name, value in settings.items() if name in slots}
                self._recorded(shape, launches[: place + 1])(**given)
                values = [settings[each.name] if isinstance(each, Slot) else each for each in launches[place]]
                self.sent(shape, values).check(stub, f"launch {place} of a sequence")

        return verify

    def _sequence(self, shape: Shape) -> Row:
        launches = [self.values(shape, variant) for variant in range(SHORT_LENGTH)]
        return Row(
            SEQUENCE,
            ("sequence()",),
            {"sequence": self._recorded(shape, launches)},
            (self.sent(shape, launches[-1]),),
            launches=SHORT_LENGTH,
            verify=self._verify_places(shape, launches, {}, range(0, SHORT_LENGTH, 9)),
        )

    def _slots(self, shape: Shape) -> Row:
        launches = [self.values(shape, variant) for variant in range(SLOTS_LENGTH)]
        parameters = {
            name: [at for at, each in enumerate(shape.kinds) if each is kind]
            for name, kind in zip(SLOT_NAMES, (POINTER, U32, F32, U32), strict=True)
        }
        places = [3 * number for number in range(PLACES)]
        for number, place in enumerate(places):
            name = SLOT_NAMES[number % len(SLOT_NAMES)]
            # From launch to launch another parameter of its kind, where the kernel has several.
            at = parameters[name][number // len(SLOT_NAMES) % len(parameters[name])]
            launches[place][at] = mg.slot(name)
        names: dict[str, object] = {"sequence": self._recorded(shape, launches)}
        settings: dict[str, Mapping[str, object]] = {}
        for letter, variant in (("a", 0), ("b", 1)):
            settings[letter] = {
                "pointer": self.buffers[11 - variant],
                "first": 4_000_000_000 + variant,
                "number": 1000.5 + variant,
                "second": 4_100_000_000 + variant,
            }
            names |= {f"{letter}_{name}": value for name, value in settings[letter].items()}
        return Row(
            SLOTS,
            tuple(f"sequence({', '.join(f'{name}={each}_{name}' for name in SLOT_NAMES)})" for each in settings),
            names,
            (self.sent(shape, launches[-1]),) * 2,
            launches=SLOTS_LENGTH,
            verify=self._verify_places(shape, launches, settings["b"], places),
        )


@contextmanager
def opened(switch: Switch = OFF) -> Iterator[Ours]:
    """The backend over the driver that this process finds, with something switched on."""
    with ExitStack() as stack:
        gpu = stack.enter_context(mg.open_backend("cuda", **switch.options))  # type: ignore[arg-type]
        ours = Ours(gpu)
        switch.hold(gpu, stack)
        yield ours


def versions() -> dict[str, str]:
    return {"metrale-gpu-runtime": mg.__version__, "launch core": core_in_use(), "asked for": wanted_core() or "any"}


def wanted_core() -> str | None:
    return os.environ.get("METRALE_LAUNCH_CORE")
