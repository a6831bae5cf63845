"""Random programs of launches, as data for launch_world: mostly good ones, and every way to be wrong."""

from __future__ import annotations

import random
import struct
from typing import Any

from launch_world import BUFFERS, KERNELS, SCALARS, STREAMS
from opencl_like_worlds import LOST, REFUSED

Data = tuple[Any, ...]

_RANGES = {"u8": (0, 8), "u16": (0, 16), "u32": (0, 32), "u64": (0, 64)} | {
    f"i{bits}": (1, bits) for bits in (8, 16, 32, 64)
}
_FLOATS = ("f16", "bf16", "f32", "f64")
_NUMPY_INTEGERS = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "longlong", "intc")
_NUMPY_FLOATS = ("float16", "float32", "float64")
_CTYPES = ("c_uint8", "c_uint16", "c_uint32", "c_uint64", "c_int8", "c_int16", "c_int32", "c_int64")
_KINDS = {
    "scale": ("ptr f32", "u32", "f32"),
    "pair": ("ptr f32", "ptr f32"),
    "typed": (*SCALARS, "ptr i32"),
    "opened": ("ptr", "open", "f32", "ptr"),
    "many": ("ptr i32", *["u32"] * 23),
    "complexes": ("c64", "c128", "u32"),
    "blob": ("blob", "ptr"),
    "empty": (),
    "crowd": ("ptr i32", *["u32"] * 40),
    "full": ("ptr f32", *["c128"] * 14, *["u32"] * 4),
    "wide": (*["c128"] * 16, "ptr f32"),
    "numbers": (*SCALARS[:8], "f32", "f64", "ptr i32"),
}
_NAMES = {
    "scale": ("x", "count", "factor"),
    "pair": ("x", "y"),
    "typed": (*(f"v{at}" for at in range(13)), "out"),
    "opened": ("p0", "p1", "p2", "p3"),
    "many": ("x", *(f"v{at}" for at in range(23))),
    "complexes": ("z", "w", "n"),
    "blob": ("s", "p1"),
    "empty": (),
    "crowd": ("x", *(f"v{at}" for at in range(40))),
    "full": ("x", *(f"w{at}" for at in range(14)), "a", "b", "c", "d"),
    "wide": (*(f"w{at}" for at in range(16)), "x"),
    "numbers": (*(f"v{at}" for at in range(10)), "out"),
}
assert set(_KINDS) == set(KERNELS)

_OFTEN = ("scale", "scale", "pair", "typed", "typed", "opened", "many", "complexes", "blob", "empty")
# Of a list of so many arguments nearly every one has a wrong one: these come less often.
_LONG = ("crowd", "full", "wide")
CUDA = (*_OFTEN, *_OFTEN, *_LONG)
# OpenCL C has no bool for a parameter, and no structure without its text.
POCL = ("scale", "scale", "pair", "pair", "opened", "many", "empty")
OPENCL = ("scale", "scale", "pair", "numbers", "numbers", "opened", "many", "complexes", "empty", *_LONG)


def _slot_kind(kind: str) -> str | None:
    return kind if kind in SCALARS else "ptr" if kind.startswith("ptr") else "u32" if kind == "open" else None


class Chooser:
    """Makes programs out of random choices. `hostile` adds objects that act while they are read."""

    def __init__(
        self,
        rng: random.Random,
        *,
        hostile: bool = False,
        most_wild: float = 0.12,
        kernels: tuple[str, ...] = CUDA,
    ) -> None:
        self.rng, self.hostile, self.most_wild, self.wild = rng, hostile, most_wild, 0.0
        self.kernels, self.is_opencl = kernels, "typed" not in kernels
        self.kept: dict[str, tuple[str, ...]] = {}
        self.sequences: dict[str, tuple[str, ...]] = {}
        # The kernel of each builder that is kept, and how many arguments it has.
        self.builders: dict[str, tuple[str, int]] = {}

    def chance(self, likely: float) -> bool:
        return self.rng.random() < likely

    def one(self, *choices: Any) -> Any:
        return choices[self.rng.randrange(len(choices))]

    # ------------------------------------------------ values

    def integer(self, kind: str) -> int:
        is_signed, bits = _RANGES[kind]
        high = (1 << (bits - is_signed)) - 1
        low = -high - 1 if is_signed else 0
        if self.chance(self.wild):
            if kind == "u32" and self.chance(0.5):
                return self.one(REFUSED, REFUSED, REFUSED, LOST)
            return int(self.one(low - 1, high + 1, -1, 1 << 63, 1 << 64, -(1 << 63) - 1, 1 << 200, -(1 << 5000)))
        return int(self.one(low, high, 0, 1, high // 2 + 1, self.rng.randrange(low, high + 1)))

    def real(self) -> Data:
        if self.chance(0.3):
            return "float", self.rng.getrandbits(64).to_bytes(8, "little")
        edges = (0.0, -0.0, 1.5, 65504.0, 65519.99, 65520.0, 2.0**-24, 2.0**-25, 2.0**-149, 2.0**-150, 2.0**-133)
        more = (1e39, -1e39, 3.4e38, 5e-324, 1.0 + 2.0**-11, 1.0 + 3 * 2.0**-11, 1.0 + 2.0**-8, 1e308)
        rare = (float("nan"), float("inf"), float("-inf"))
        return "float", struct.pack("<d", self.one(*edges, *more, *rare))

    def scalar(self, kind: str) -> Data:
        """A value for a place of this type, bare or typed."""
        rng = self.rng
        if self.chance(self.wild):
            return self.anything()
        if kind == "boolean":
            return "plain", self.one(True, False)
        if kind in _RANGES:
            number = self.integer(kind)
            how = rng.randrange(12)
            if how == 0 and self.wild and -(1 << 63) <= number < 1 << 63:
                return "typed", "i64", number
            if how == 1:
                is_signed, bits = _RANGES[kind]
                if (-(1 << (bits - 1)) if is_signed else 0) <= number < 1 << (bits - is_signed):
                    return self.one(
                        ("typed", kind, number), ("numpy", f"{'int' if is_signed else 'uint'}{bits}", number)
                    )
            if how == 2 and self.wild:
                return "ctypes", self.one(*_CTYPES), number
            if how == 3 and self.wild and 0 <= number < 128:
                return "numpy", self.one(*_NUMPY_INTEGERS), number
            return "plain", number
        how = rng.randrange(8) if self.wild else rng.choice((0, 4, 5, 6, 7))
        if how == 0:
            return "plain", self.one(0, 1, -3, 1 << 24, (1 << 24) + 1, (1 << 53) + 1, 1 << 70, 1 << 1100, -(1 << 64))
        if how == 1:
            return self.one("numpy", "array0"), self.one(*_NUMPY_FLOATS), self.one(0.5, 1.25, 1 / 3, 1e300, -0.0)
        if how == 2:
            return "ctypes", self.one("c_float", "c_double"), self.one(0.5, 1 / 3, 1e39)
        if how == 3:
            return "typed", self.one(kind, *_FLOATS), 0.5
        return self.real()

    def pointer(self, element: str = "") -> Data:
        if self.chance(self.wild):
            return self.anything()
        at = self.rng.randrange(BUFFERS)
        if not self.chance(self.wild):
            at = {"f32": self.one(0, 2), "i32": 1}.get(element, at)
        return self.one(
            ("buffer", at),
            ("buffer", at),
            ("buffer", at),
            ("view", at, self.one(0, 1, 3), self.one(5, 9, 16)),
            ("pointer", at, self.one(0, 4, 8, 16)),
            ("plain", None),
        )

    def anything(self) -> Data:
        at = self.rng.randrange(BUFFERS)
        choices: list[Data] = [
            ("plain", None),
            ("plain", True),
            ("plain", "text"),
            ("plain", b"12345678"),
            ("plain", 1 + 2j),
            ("plain", 7),
            ("plain", 2.5),
            ("plain", -1),
            ("plain", (1, 2)),
            ("plain", []),
            ("numpy", "bool_", True),
            ("numpy", self.one(*_NUMPY_INTEGERS), 5),
            ("numpy", self.one(*_NUMPY_FLOATS, "longdouble"), 0.5),
            ("numpy", "complex64", 1j),
            ("array0", "int32", 3),
            ("array0", "int32", [1, 2]),
            ("ctypes", "c_bool", True),
            ("ctypes", "c_void_p", 64),
            ("typed", self.one(*SCALARS[:12]), 1),
            ("typed", "boolean", True),
            ("typed", "c64", 1j),
            ("typed", "c128", 1j),
            ("numpy", "complex128", 1 / 3 + 1j),
            ("buffer", at),
            ("buffer", BUFFERS),
            ("view", at, 4, 4),
            ("view", at, 10_000, 20_000),
            ("pointer", at, self.one(-1, 60, 64, 1000, 10**6)),
            ("untracked", self.one(0, 1, 4096, (1 << 64) - 1)),
            ("inside", at, self.one(0, 4, 63, 64)),
            ("foreign",),
            ("slot", self.one("a", "b"), self.one(None, "ptr", "grid", "u32")),
            ("whole", 3),
            ("real", 0.5),
            ("text", "x"),
            ("lying", self.one(3, 1 << 40, -1)),
            ("raising",),
            ("indexed", 3),
            ("class",),
            ("stream", 0),
        ]
        if self.hostile:
            choices += [("indexed", 3, self.act()) for _ in range(8)]
        return choices[self.rng.randrange(len(choices))]

    def act(self) -> Data:
        """What an object does while it is read."""
        at = self.rng.randrange(BUFFERS)
        kept = self.one(*self.kept, *self.sequences) if self.kept or self.sequences else None
        choices: list[Data] = [
            *(
                ("builder_calls", name, (self.one(("launch", (), ()), ("arg", (("plain", 3),), ())),))
                for name in self.builders
            ),
            ("free", at),
            ("renew", at),
            ("synchronize",),
            ("short", "scale", self.key(), (("buffer", at), ("plain", 3), ("plain", 0.5))),
            ("close_stream", self.rng.randrange(STREAMS)),
            ("unload",),
            ("close_backend",),
        ]
        if kept is not None:
            choices += [("drop", kept), ("call", kept, (), ()), ("call", kept, (), (("a", ("plain", 3), False),))]
        return choices[self.rng.randrange(len(choices))]

    def argument(self, kind: str) -> Data:
        if kind.startswith("ptr"):
            return self.pointer(kind[4:])
        if kind == "open":
            return ("plain", self.rng.randrange(1 << 31)) if not self.chance(self.wild) else self.scalar("i64")
        if kind in ("c64", "c128"):
            # A vector of OpenCL's has no name for a complex number, so that one has to say its type there.
            bare = [("plain", 1 + 2j), ("plain", 1.5), ("plain", 1)] if not self.is_opencl or self.wild else []
            return self.one(("typed", kind, 1j), ("typed", kind, 0.25 - 3j), ("numpy", "complex" + kind[1:], 2j), *bare)
        if kind == "blob":
            return "plain", bytes(self.one(0, 8, 24) if self.chance(self.wild) else 24)
        return self.scalar(kind)

    def arguments(self, kernel: str) -> tuple[Data, ...]:
        values = [self.argument(kind) for kind in _KINDS[kernel]]
        if self.chance(self.wild / 2):
            if values and self.chance(0.5):
                values.pop()
            else:
                values.append(self.anything())
        return tuple(values)

    # ------------------------------------------------ geometry

    def extent(self) -> Data:
        if self.chance(self.wild):
            # PoCL would run them all, or end the process.
            huge = () if self.kernels is POCL else (("plain", 1 << 31), ("plain", 1 << 40), ("plain", (1, 70000)))
            return self.one(
                *huge,
                ("plain", 0),
                ("plain", -1),
                ("plain", (1, 2, 3, 4)),
                ("plain", ()),
                ("plain", 2.0),
                ("plain", True),
                ("plain", (1, 1, 65)),
                ("plain", 1025),
                ("plain", "3"),
                ("plain", None),
                ("plain", [2, 2]),
                ("whole", 2),
                ("numpy", "int32", 2),
                ("tuple", (("numpy", "int64", 2), ("plain", 1))),
                ("indexed", 2),
                ("lying", 2),
                ("raising",),
                ("slot", "blocks", "grid"),
            )
        return "plain", self.one(1, 2, 3, 32, (3,), (2, 2), (1, 2, 3), (4, 1, 1))

    def stream(self) -> Data:
        if self.chance(self.wild / 2):
            return self.one(
                ("plain", 0), ("plain", 1), ("plain", -1), ("foreign_stream",), ("plain", "s"), ("buffer", 0)
            )
        return "stream", self.one(None, None, *range(STREAMS))

    def shared(self, kernel: str = "") -> Data:
        if self.chance(self.wild):
            return "plain", self.one(-1, 1 << 20, 49152, 49153, 65536, 2.0, None, True, 1 << 40)
        if self.is_opencl:
            return "plain", self.one(128, 1024) if kernel == "opened" else 0
        return "plain", self.one(0, 0, 0, 128, 1024)

    def needs_shared(self, kernel: str) -> bool:
        """In OpenCL it is a parameter."""
        return kernel == "opened" and self.is_opencl and self.chance(0.8)

    def key(self, kernel: str = "") -> Data:
        parts = [self.extent(), self.extent()]
        if self.chance(0.4) or self.needs_shared(kernel):
            parts.append(self.shared(kernel))
            if self.chance(0.6):
                parts.append(self.stream())
        if self.chance(self.wild / 4):
            return self.one(
                ("plain", 3), ("tuple", tuple(parts[:1])), ("list", tuple(parts)), ("tuple", (*parts, *parts))
            )
        return "tuple", tuple(parts)

    # ------------------------------------------------ steps

    def kernel(self) -> str:
        return str(self.one(*self.kernels))

    def by_name(self, kernel: str, values: tuple[Data, ...]) -> tuple[tuple[Data, ...], tuple[Any, ...]]:
        """Some of the values by their parameters' names."""
        names = _NAMES[kernel]
        if not names or not self.chance(0.3) or kernel in ("opened", "blob"):
            return values, ()
        at = self.rng.randrange(len(names) + 1)
        named = [(name, value, self.chance(0.05)) for name, value in zip(names[at:], values[at:], strict=False)]
        if self.chance(self.wild):
            named.append((str(self.one("nobody", "x", "stream", "grid", "")), self.anything(), False))
        keys = {}
        for name, value, is_own in named:
            keys[name] = (name, value, is_own)
        return values[:at], tuple(keys.values())

    def short(self) -> Data:
        kernel = self.kernel()
        values, names = self.by_name(kernel, self.arguments(kernel))
        return "short", kernel, self.key(kernel), values, names

    def builder_calls(self, kernel: str, *, has_slots: bool = False) -> tuple[Any, ...]:
        calls: list[Any] = []
        # Long lists are all of one kind mostly, so that not each of them has a method that Python alone has.
        untyped = self.one(0.0, 0.35, 1.0) if len(_KINDS[kernel]) < 15 else self.one(0.0, 1.0, 1.0)
        for at, kind in enumerate(_KINDS[kernel]):
            value = self.argument(kind)
            if has_slots and self.chance(0.4):
                value = ("slot", self.one("a", "b", f"s{at}"), _slot_kind(kind))
            name = {"boolean": "arg_bool", "blob": "arg_bytes", "open": "arg_u32"}.get(kind, f"arg_{kind.split()[0]}")
            if self.chance(untyped):
                name = "arg"
            elif self.chance(self.wild / 4):
                name = f"arg_{self.one('u8', 'i64', 'f16', 'bf16', 'bool', 'c64', 'c128', 'ptr', 'local', 'struct', 'tensormap')}"
            names: tuple[Any, ...] = ()
            if name in ("arg_f16", "arg_f32", "arg_bf16") and self.chance(0.1):
                names = (("exact", ("plain", True), False),)
            values: tuple[Data, ...] = (value,)
            if self.chance(self.wild / 8):
                values, names = self.one(((), ()), ((value, value), ()), ((), (("value", value, False),)))
            calls.append((name, values, names))
        for name in ("grid", "block"):
            if self.chance(0.6):
                calls.insert(self.rng.randrange(len(calls) + 1), (name, (self.extent(),), ()))
        if self.chance(0.6) or self.needs_shared(kernel):
            place = 0 if self.chance(0.7) else self.rng.randrange(len(calls) + 1)
            calls.insert(place, ("shared_mem", (self.shared(kernel),), ()))
        if self.chance(0.08):
            extra = self.one(
                ("cluster", (("plain", 1),), ()),
                ("cluster", (("plain", 2),), ()),
                ("cooperative", (), ()),
                ("programmatic", (), ()),
                ("priority", (("plain", -1),), ()),
                ("memory_sync_domain", (("plain", "remote"),), ()),
                ("uses", (self.pointer(),), ()),
                ("args", (self.anything(),), ()),
                ("arg_bytes", (("plain", bytes(8)),), ()),
                ("kernel_args", (), ()),
            )
            calls.insert(self.rng.randrange(len(calls) + 1), extra)
        return tuple(calls)

    def launches(self) -> tuple[Any, ...]:
        counts = (0, 1, 1, 1, 1, 2, 3)
        return tuple(self.one((), (self.stream(),), (("stream", None),)) for _ in range(self.one(*counts)))

    def builder(self) -> Data:
        kernel = self.kernel()
        calls = self.builder_calls(kernel)
        if self.chance(0.1):
            calls = calls[: self.rng.randrange(len(calls) + 1)]
        if self.chance(0.15):
            # A method that is taken first is CPython's own to call, and to say that it has the wrong arguments.
            taken = [each for each in calls if each[0] != "kernel_args"]
            return (
                "bound_builder",
                kernel,
                tuple((name, values[:1], ()) for name, values, _ in taken if values),
                self.launches(),
            )
        return "builder", kernel, calls, self.launches()

    def kept_builder(self) -> Data:
        """A new one to be kept, or some calls of one that is."""
        if not self.builders or self.chance(0.3):
            name, kernel = f"b{self.rng.randrange(3)}", self.kernel()
            self.builders[name] = (kernel, 0)
            return "keep_builder", name, kernel
        return self.go_on(str(self.one(*self.builders)))

    def go_on(self, name: str) -> Data:
        """Some calls of a builder that is kept: most often all that it lacks."""
        kernel, given = self.builders[name]
        rest = _KINDS[kernel][given:]
        before = [("shared_mem", (self.shared(kernel),), ())] if not given and self.needs_shared(kernel) else []
        count = self.one(len(rest), len(rest), len(rest) // 2, 0)
        calls: list[Any] = before
        for kind in rest[:count]:
            typed = {"boolean": "arg_bool", "blob": "arg_bytes", "open": "arg_u32"}.get(kind, f"arg_{kind.split()[0]}")
            calls.append((self.one("arg", typed), (self.argument(kind),), ()))
        self.builders[name] = (kernel, given + count)
        calls += [("grid", (self.extent(),), ()), ("block", (self.extent(),), ())] if self.chance(0.3) else []
        calls += [("launch", each, ()) for each in self.launches()] if given + count == len(_KINDS[kernel]) else []
        return "builder_calls", name, tuple(calls)

    def prepare(self) -> Data:
        kernel, name = self.kernel(), f"p{self.rng.randrange(3)}"
        if self.chance(0.7):
            self.wild = 0.0
        values = list(self.arguments(kernel))
        slots = []
        for at, kind in enumerate(_KINDS[kernel][: len(values)]):
            if self.chance(0.25):
                slot = str(self.one("a", "b", f"s{at}"))
                slots.append(slot)
                values[at] = ("slot", slot, _slot_kind(kind))
        self.kept[name] = (kernel, *slots)
        if self.chance(0.25):
            calls = self.builder_calls(kernel, has_slots=True)
            self.kept[name] = (kernel, "a", "b")
            return "prepare_builder", name, kernel, calls, tuple(self.pointer() for _ in range(self.one(0, 0, 1, 2)))
        return "prepare", name, kernel, self.key(kernel), tuple(values)

    def call_prepared(self) -> Data:
        if not self.kept:
            return self.prepare()
        name = self.one(*self.kept)
        kernel, *slots = self.kept[name]
        values: tuple[Data, ...] = ()
        names: dict[str, Any] = {}
        how = self.rng.randrange(5)
        if how < 2:
            values = self.arguments(kernel)
        kinds = dict(zip(_NAMES[kernel], _KINDS[kernel], strict=True))
        if how in (2, 3) and kinds:
            for _ in range(self.one(1, 1, 2, len(kinds))):
                parameter = str(self.one(*kinds))
                names[parameter] = (parameter, self.argument(kinds[parameter]), self.chance(0.05))
        for slot in slots:
            if self.chance(0.6):
                names[slot] = (slot, self.slot_value(kernel, slot), self.chance(0.05))
        if self.chance(0.25):
            names["stream"] = ("stream", self.stream(), False)
        if self.chance(0.15):
            names["grid"] = ("grid", self.extent(), False)
        if self.chance(self.wild / 4):
            names["nobody"] = ("nobody", self.anything(), False)
        return "call", name, values, tuple(names.values())

    def slot_value(self, kernel: str, slot: str) -> Data:
        """A value for one of the places that a slot may stand in."""
        kinds = _KINDS[kernel] or ("u32",)
        if slot[0] == "s":
            return self.argument(kinds[int(slot[1:]) % len(kinds)])
        return self.argument(str(self.one(*kinds)))

    def record(self) -> Data:
        name = f"q{self.rng.randrange(2)}"
        if self.chance(0.8):
            self.wild = 0.0
        steps: list[Data] = []
        slots: list[str] = []
        slotted = self.one(0.0, 0.25, 0.25)  # without slots a driver may record it
        for _ in range(self.one(1, 2, 3, 5)):
            numbers = next(each for each in ("typed", "numbers", "pair") if each in self.kernels)
            kernel = self.one("scale", "pair", "scale", numbers, "opened")
            values = list(self.arguments(kernel))
            for at, kind in enumerate(_KINDS[kernel][: len(values)]):
                if self.chance(slotted):
                    slot = f"{kind.replace(' ', '_')}_{self.one(0, 1)}"
                    slots.append(slot)
                    values[at] = ("slot", slot, _slot_kind(kind))
            shared = (self.shared(kernel),) if self.needs_shared(kernel) else ()
            key = ("tuple", (self.extent(), self.extent(), *shared))
            steps.append(("short", kernel, key, tuple(values)))
        self.sequences[name] = tuple(dict.fromkeys(slots))
        return "record", name, tuple(steps)

    def call_sequence(self) -> Data:
        if not self.sequences:
            return self.record()
        name = self.one(*self.sequences)
        names: dict[str, Any] = {}
        for slot in self.sequences[name]:
            if self.chance(0.8):
                kind = slot[:-2].replace("_", " ")
                names[slot] = (slot, self.argument(kind), self.chance(0.03))
        if self.chance(0.3):
            names["stream"] = ("stream", self.stream(), False)
        if self.chance(self.wild / 4):
            names["nobody"] = ("nobody", self.anything(), False)
        return "call", name, (), tuple(names.values())

    def step(self) -> Data:
        """One step; those that spoil what follows are rare."""
        rng = self.rng
        # Of a long list of arguments one is enough to be wrong.
        self.wild = self.one(0.0, 0.0, 0.0, 0.02, self.most_wild)
        kind = rng.randrange(100)
        if kind < 20:
            return self.short()
        if kind < 31:
            return self.builder()
        if kind < 37:
            return self.kept_builder()
        if kind < 47:
            return self.prepare()
        if kind < 66:
            return self.call_prepared()
        if kind < 72:
            return self.record()
        if kind < 82:
            return self.call_sequence()
        at = rng.randrange(BUFFERS)
        if kind < 83:
            return "within", self.inner(), self.one(self.act, self.inner, self.inner)()
        if kind < 85:
            step = self.one(self.short, self.builder, self.call_prepared)()
            return "refused", self.one(1, 1, 2, 701, 719), self.one(1, 1, 2), step
        if kind < 86:
            return ("synchronize",)
        if kind < 88:
            return "free", at
        if kind < 90:
            return "renew", at
        if kind < 92:
            return "under", self.one("debug_sync", "trace"), tuple(self.inner() for _ in range(2))
        if kind < 94:
            return "capture", ("stream", rng.randrange(STREAMS)), tuple(self.inner() for _ in range(2))
        if kind < 95:
            return self.one(("close_stream", rng.randrange(STREAMS)), ("new_stream", rng.randrange(STREAMS)))
        if kind < 96:
            return (
                self.one(("unload",), ("close_backend",), ("synchronize",))
                if self.chance(0.3)
                else ("query", ("stream", 0))
            )
        if kind < 97:
            return "async", at, self.stream()
        if kind < 98:
            return "async_launch", at, self.key()
        if kind < 99 and self.sequences:
            name = self.one(*self.sequences)
            return self.one(("close_kept", name), ("drop", name), ("repr", name), ("copy", "q1", name))
        if self.kept:
            return self.one(("repr", self.one(*self.kept)), ("attribute", "slot_names", self.one(*self.kept)))
        return ("synchronize",)

    def inner(self) -> Data:
        return self.one(self.short, self.builder, self.kept_builder, self.call_prepared, self.call_sequence)()

    def program(self, length: int) -> list[Data]:
        steps: list[Data] = []
        while len(steps) < length:
            step = self.step()
            steps.append(step)
            if step[0] == "keep_builder":
                steps.append(self.go_on(step[1]))
                continue
            # The second time is the native core's, where the first was the plain one's.
            while self.chance(0.35):
                steps.append(step)
        return steps


def program_of(
    seed: int, length: int, *, world: str = "World", hostile: bool = False, most_wild: float = 0.12
) -> list[Data]:
    """The program of a seed, of kernels that a world has."""
    kernels = OPENCL if world.startswith("OpenclLike") else POCL if world.startswith("Opencl") else CUDA
    return Chooser(random.Random(seed), hostile=hostile, most_wild=most_wild, kernels=kernels).program(length)
