"""A backend over the stand-in driver in which programs of launches run, each step described by plain data.

The same program runs in two processes, one for each launch core; what a step did is plain data too, with addresses
as offsets in the buffers they lie in, so that both accounts can be compared.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from standin import StandIn, cuda

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.driver import LaunchTarget
from metrale_gpu_runtime.drivers.mock import log as mock_log
from metrale_gpu_runtime.drivers.mock.faults import Failure, FaultFound, Refusal
from metrale_gpu_runtime.errors import DriverFault
from metrale_gpu_runtime.testing import MockGpuBackend

SCALARS = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "boolean")
_C_NAMES = (
    "unsigned char",
    "unsigned short",
    "unsigned int",
    "unsigned long long",
    "signed char",
    "short",
    "int",
    "long long",
    "__half",
    "__nv_bfloat16",
    "float",
    "double",
    "bool",
)
_PTX_NAMES = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b16", "b16", "f32", "f64", "u8")

# Per kernel: its parameters in PTX, and what is declared of them (None: only what the code says).
KERNELS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "empty": ((), ""),
    "scale": ((".u64", ".u32", ".f32"), "float* x, unsigned int count, float factor"),
    "pair": ((".u64", ".u64"), "float* x, const float* y"),
    "typed": (
        (*(f".{each}" for each in _PTX_NAMES), ".u64"),
        ", ".join(f"{name} v{at}" for at, name in enumerate(_C_NAMES)) + ", int* out",
    ),
    "opened": ((".u64", ".u32", ".f32", ".u64"), None),
    "many": ((".u64", *[".u32"] * 23), "int* x, " + ", ".join(f"unsigned int v{at}" for at in range(23))),
    "complexes": (
        (".align 8 .b8 z[8]", ".align 16 .b8 w[16]", ".u32"),
        "cuFloatComplex z, cuDoubleComplex w, unsigned int n",
    ),
    "blob": ((".align 8 .b8 s[24]", ".u64"), None),
    # More arguments than a builder has room for at once; as many bytes as it has room for, and more.
    "crowd": ((".u64", *[".u32"] * 40), "int* x, " + ", ".join(f"unsigned int v{at}" for at in range(40))),
    "full": (
        (".u64", *[f".align 16 .b8 w{at}[16]" for at in range(14)], *[".u32"] * 4),
        "float* x, " + ", ".join(f"cuDoubleComplex w{at}" for at in range(14)) + ", unsigned int a, unsigned int b, "
        "unsigned int c, unsigned int d",
    ),
    "wide": (
        (*[f".align 16 .b8 w{at}[16]" for at in range(16)], ".u64"),
        ", ".join(f"cuDoubleComplex w{at}" for at in range(16)) + ", float* x",
    ),
    "numbers": (
        (*(f".{each}" for each in _PTX_NAMES[:8]), ".f32", ".f64", ".u64"),
        ", ".join(f"{name} v{at}" for at, name in enumerate((*_C_NAMES[:8], "float", "double"))) + ", int* out",
    ),
}


def _ptx() -> str:
    entries = []
    for name, (parameters, _) in KERNELS.items():
        texts = [f".param {each}" if "[" in each else f".param {each} p{at}" for at, each in enumerate(parameters)]
        entries.append(f".visible .entry {name}({', '.join(texts)}) {{ ret; }}")
    return ".version 7.8\n.target sm_80\n.address_size 64\n" + "\n".join(entries) + "\n"


BUFFERS, STREAMS = 4, 2
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_REPR_ADDRESS = re.compile(r" at 0x[0-9a-f]+>")


class _Indexed:
    """A whole number of a class of its own, whose reading may do something first."""

    def __init__(self, value: int, act: Callable[[], object] | None = None) -> None:
        self.value, self.act = value, act

    def __index__(self) -> int:
        if self.act is not None:
            act, self.act = self.act, None
            act()
        return self.value

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __repr__(self) -> str:
        return f"_Indexed({self.value})"


class _Whole(int):
    """An int that is not exactly one."""


class _Real(float):
    """A float that is not exactly one."""


class _Text(str):
    """Text that is not exactly a str, equal to any that begins alike."""


class _Lying:
    """Something that says it has any length, and has none."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, at: int) -> int:
        raise IndexError(at)

    def __repr__(self) -> str:
        return f"_Lying({self.length})"


class _Raising:
    """Something that raises whatever is asked of it."""

    def __index__(self) -> int:
        raise ZeroDivisionError("__index__")

    def __float__(self) -> float:
        raise ZeroDivisionError("__float__")

    def __len__(self) -> int:
        raise ZeroDivisionError("__len__")

    def __repr__(self) -> str:
        return "_Raising()"


class World:
    """One backend over the stand-in, its kernels, buffers and streams, and what was prepared and recorded."""

    def __init__(self) -> None:
        self.gpu: Any
        self.other: Any
        self.kernels: dict[str, Any]
        self._open()
        self.spans: list[tuple[int, int, str]] = []
        self.buffers: list[Any] = []
        for at in range(BUFFERS):
            self.buffers.append(self._named(self.gpu.empty(16 + 8 * at, (mg.f32, mg.i32, mg.f32, mg.u8)[at]), f"b{at}"))
        self.buffers.append(self.gpu.empty(0, mg.f32))
        self.foreign = self._named(self.other.empty(16, mg.f32), "foreign")
        self.handles: dict[int, str] = {}
        self.streams = [self._new_stream(at) for at in range(STREAMS)]
        self.kept: dict[str, Any] = {}
        self.open: list[Any] = []
        self.seen = 0
        self.new_nbytes = 1 << 17
        # What a target does in the middle of its next launch.
        self.within: list[Any] = []

    def _open(self) -> None:
        self.driver: StandIn = cuda()
        self.driver.reset(devices=2)
        self.gpu, self.other = mg.open_backend("cuda:0"), mg.open_backend("cuda:1")
        signatures = {name: declared for name, (_, declared) in KERNELS.items() if declared is not None}
        self.gpu.load_module("m", source={".ptx": _ptx()}, signatures=signatures)
        self.kernels = {name: self.gpu.kernel("m", name) for name in KERNELS}

    def _named(self, buffer: Any, name: str) -> Any:
        self.spans.append((buffer.address, max(buffer.nbytes, 1), name))
        return buffer

    def _new_stream(self, at: int) -> Any:
        stream = self.gpu.create_stream()
        handle = stream.native_handle if self.gpu.capabilities.raw_stream_handles else stream.handle
        self.handles[handle] = f"stream {at}"
        return stream

    def close(self) -> None:
        """Close everything, whatever state a program has left it in."""
        self._clear_faults()
        for each in reversed(self.open):
            with contextlib.suppress(Exception):
                each.__exit__(None, None, None)
        self.open.clear()
        self.kept.clear()
        self.buffers.clear()
        self.streams.clear()
        self.kernels.clear()
        for gpu in (self.gpu, self.other):
            with contextlib.suppress(Exception):
                gpu.close()
        self.gpu = self.other = self.foreign = None
        gc.collect()

    @property
    def left(self) -> str:
        """What the driver was not given back, of a closed world of which nobody has anything."""
        return ""

    # ------------------------------------------------ from data to values

    def value(self, data: Any) -> Any:
        """The Python object that a description stands for."""
        kind, *rest = data
        return getattr(self, f"_value_{kind}")(*rest)

    def _value_plain(self, value: object) -> object:
        return value

    def _value_float(self, bits: bytes) -> float:
        return float(struct.unpack("<d", bits)[0])

    def _value_numpy(self, name: str, value: object) -> object:
        with np.errstate(all="ignore"):
            return getattr(np, name)(value)

    def _value_array0(self, name: str, value: object) -> object:
        with np.errstate(all="ignore"):
            return np.array(value, dtype=getattr(np, name))

    def _value_ctypes(self, name: str, value: Any) -> object:
        return getattr(ctypes, name)(value)

    def _value_typed(self, name: str, value: Any) -> object:
        return getattr(mg, name)(value)

    def _value_buffer(self, at: int) -> object:
        return self.buffers[at]

    def _value_view(self, at: int, start: int, stop: int) -> object:
        return self.buffers[at][start:stop]

    def _value_pointer(self, at: int, offset: int) -> object:
        return self.buffers[at].ptr + offset

    def _value_untracked(self, address: int) -> object:
        return mg.DevicePtr(address)

    def _value_inside(self, at: int, offset: int) -> object:
        return mg.DevicePtr(self.buffers[at].address + offset)

    def _value_foreign(self) -> object:
        return self.foreign

    def _value_slot(self, name: str, kind: str | None) -> object:
        return mg.slot(name, getattr(mg, kind) if kind in SCALARS else kind)

    def _value_whole(self, value: int) -> object:
        return _Whole(value)

    def _value_real(self, value: float) -> object:
        return _Real(value)

    def _value_text(self, value: str) -> object:
        return _Text(value)

    def _value_lying(self, length: int) -> object:
        return _Lying(length)

    def _value_raising(self) -> object:
        return _Raising()

    def _value_indexed(self, value: int, act: Any = None) -> object:
        return _Indexed(value, None if act is None else lambda: self.act(act))

    def _value_tuple(self, values: Any) -> object:
        return tuple(self.value(each) for each in values)

    def _value_list(self, values: Any) -> object:
        return [self.value(each) for each in values]

    def _value_stream(self, at: int | None) -> object:
        return None if at is None else self.streams[at]

    def _value_foreign_stream(self) -> object:
        return self.other.default_stream()

    def _value_class(self) -> object:
        return mg.u32

    def act(self, step: Any) -> None:
        """Run a step from the middle of another; what it raises, it raises there."""
        kind, *rest = step
        getattr(self, f"_do_{kind}")(*rest)

    # ------------------------------------------------ steps

    def _named_values(self, names: Any) -> dict[Any, Any]:
        return {(_Text(name) if is_own else name): self.value(value) for name, value, is_own in names}

    def _do_short(self, kernel: str, key: Any, values: Any, names: Any = ()) -> object:
        configured = self.kernels[kernel][self.value(key)]
        return configured(*[self.value(each) for each in values], **self._named_values(names))

    def _do_builder(self, kernel: str, calls: Any, launches: Any) -> object:
        launch = mg.KernelLaunch(self.gpu, self.kernels[kernel])
        self._describe(launch, calls)
        for stream in launches:
            assert launch.launch(*[self.value(each) for each in stream]) is None
        return launch

    def _describe(self, launch: Any, calls: Any) -> None:
        for name, values, names in calls:
            if name == "kernel_args":
                assert isinstance(launch.kernel_args, tuple)  # read, which leaves the rest to Python
                continue
            # As `launch.name(…)` calls it. A method that is taken first and called then is CPython's own to refuse.
            method = getattr(mg.KernelLaunch, name)
            result = method(launch, *[self.value(each) for each in values], **self._named_values(names))
            assert result is (None if name == "launch" else launch)

    def _do_bound_builder(self, kernel: str, calls: Any, launches: Any) -> object:
        """All methods are taken before the first of them is called."""
        launch = mg.KernelLaunch(self.gpu, self.kernels[kernel])
        run, methods = launch.launch, [getattr(launch, name) for name, _, _ in calls]
        for method, (_, values, names) in zip(methods, calls, strict=True):
            assert method(*[self.value(each) for each in values], **self._named_values(names)) is launch
        for stream in launches:
            assert run(*[self.value(each) for each in stream]) is None
        return launch

    def _do_keep_builder(self, name: str, kernel: str) -> None:
        self.kept[name] = mg.KernelLaunch(self.gpu, self.kernels[kernel])

    def _do_builder_calls(self, name: str, calls: Any) -> None:
        """Go on with one that was kept."""
        self._describe(self.kept[name], calls)

    def _do_builder_call(self, name: str, call: str, values: Any) -> object:
        result = getattr(self.kept[name], call)(*[self.value(each) for each in values])
        return "itself" if result is self.kept[name] else result

    def _do_prepare(self, name: str, kernel: str, key: Any, values: Any) -> None:
        self.kept[name] = self.kernels[kernel][self.value(key)].prepare(*[self.value(each) for each in values])

    def _do_prepare_builder(self, name: str, kernel: str, calls: Any, uses: Any) -> None:
        launch = mg.KernelLaunch(self.gpu, self.kernels[kernel])
        self._describe(launch, calls)
        launch.uses(*[self.value(each) for each in uses])
        self.kept[name] = launch.prepare()

    def _do_record(self, name: str, steps: Any) -> None:
        with self.gpu.sequence() as sequence:
            for step in steps:
                self.act(step)
        self.kept[name] = sequence

    def _do_copy(self, name: str, source: str) -> None:
        self.kept[name] = self.kept[source].copy()

    def _do_call(self, name: str, values: Any, names: Any) -> object:
        return self.kept[name](*[self.value(each) for each in values], **self._named_values(names))

    def _do_close_kept(self, name: str) -> None:
        self.kept[name].close()

    def _do_drop(self, name: str) -> None:
        self.kept.pop(name, None)

    def _do_free(self, at: int) -> None:
        self.buffers[at].free()

    def _new_nbytes(self) -> int:
        """More than anything that was freed before, so that an address is never used again in one process alone."""
        self.new_nbytes = min(self.new_nbytes * 2, 1 << 27)
        return self.new_nbytes

    def _do_renew(self, at: int) -> None:
        self.buffers[at] = self._named(self.gpu.empty(self._new_nbytes() // 4, mg.f32), f"new{at}")

    def _do_async(self, at: int, stream: Any) -> None:
        nbytes = self._new_nbytes()
        pointer = self.gpu.alloc_async(nbytes, self.value(stream))
        self.spans.append((pointer.address, nbytes, f"async{at}"))
        self.kept[f"async{at}"] = pointer

    def _do_async_launch(self, at: int, key: Any) -> None:
        self.kernels["scale"][self.value(key)](self.kept[f"async{at}"], 1, 0.5)

    def _do_close_stream(self, at: int) -> None:
        self.streams[at].close()

    def _do_new_stream(self, at: int) -> None:
        self.streams[at] = self._new_stream(at)

    def _do_synchronize(self) -> None:
        self.gpu.synchronize()

    def _do_query(self, stream: Any) -> object:
        return (self.value(stream) or self.gpu.default_stream()).query()

    def _do_under(self, switch: str, steps: Any) -> object:
        switches = {"debug_sync": self.gpu.debug_sync, "trace": self.gpu.trace}
        with switches[switch]() as trace:
            for step in steps:
                self.act(step)
        return len(trace.launches) if switch == "trace" else None

    def _do_capture(self, stream: Any, steps: Any) -> object:
        on = self.value(stream)
        with self.gpu.capture(on) as capture:
            for step in steps:
                self.act(step)
        capture.graph.launch(on)
        self.gpu.synchronize()
        capture.graph.close()
        return None

    def _do_refused(self, code: int, nth: int, step: Any) -> None:
        """A step whose nth launch the driver refuses."""
        self._fail_launch(code, nth)
        try:
            self.act(step)
        finally:
            self._clear_faults()

    def _fail_launch(self, code: int, nth: int) -> None:
        self.driver.fail_call("cuLaunchKernelEx", code, nth=nth)

    def _clear_faults(self) -> None:
        self.driver.clear_faults()

    def _do_within(self, step: Any, inner: Any) -> None:
        """A step in whose launch the target does another one, where launches are a target's to make."""
        self.within.append(inner)
        try:
            self.act(step)
        finally:
            self.within.clear()

    def do_within(self) -> None:
        if self.within:
            self.act(self.within.pop())

    def _do_unload(self) -> None:
        self.gpu.unload_module("m")

    def _do_close_backend(self) -> None:
        self.gpu.close()

    def _do_attribute(self, name: str, of: str) -> object:
        return getattr(self.kept[of], name)

    def _do_repr(self, of: str) -> str:
        return repr(self.kept[of])

    # ------------------------------------------------ from values to data

    def at(self, address: int) -> str:
        for base, nbytes, name in reversed(self.spans):
            if base <= address <= base + nbytes:
                return f"<{name}+{address - base}>"
        # Where the memory of two processes lies is no fact of a launch.
        is_near = any(abs(address - base) < 1 << 24 for base, _, _ in self.spans)
        return "<beyond>" if is_near else f"<{address:#x}>"

    def text(self, text: str) -> str:
        """A message with its addresses by name."""
        text = _REPR_ADDRESS.sub(" at …>", text)
        text = re.sub(r"\bstream (\d{5,})\b", "stream …", text)
        # Nor which memory is nearest to an address that is nowhere, where memory is the host's.
        text = re.sub(r"the nearest is allocation \d+ \([^)]*\)", "the nearest is …", text)
        return _ADDRESS.sub(lambda found: self.at(int(found[0], 16)), text)

    def shown(self, value: object) -> object:
        if value is None or isinstance(value, (bool, float)):
            return repr(value)
        if type(value) is int:
            return self.at(value)
        return f"{type(value).__name__} {self.text(str(value))}"

    def parameters(self, kernel: str, data: bytes) -> tuple[object, ...]:
        """The parameter block as the device sees it, words that are addresses by name; padding is nobody's."""
        shown: list[object] = []
        offset = 0
        for each in KERNELS[kernel][0]:
            if "[" in each:
                nbytes, align = int(each[each.index("[") + 1 : -1]), int(each.split()[1])
            else:
                nbytes = align = int(each[2:]) // 8
            offset = (offset + align - 1) // align * align
            piece = data[offset : offset + nbytes]
            offset += nbytes
            word = int.from_bytes(piece, "little")
            shown.append(self.at(word) if nbytes == 8 else piece.hex())
        return tuple(shown)

    def _operation(self, operation: Any) -> object:
        if operation is None:
            return None
        numbers = (operation.stream, operation.sequence, getattr(operation, "ordinal", None))
        return (*numbers, getattr(operation, "rejected", None), self.text(str(operation)))

    def books(self) -> dict[str, object]:
        """What the engine remembers: numbers and rings of the streams, uses of the memory."""
        gpu = self.gpu
        lanes = {}
        for name, lane in (("default", gpu._default_lane), *((f"s{at}", s._lane) for at, s in enumerate(self.streams))):
            lanes[name] = (lane.issued, [self._operation(each) for each in list(lane.ring)])
        uses = {}
        for at, buffer in enumerate(self.buffers):
            if buffer.allocation is None:
                continue
            block = buffer.allocation.block
            each = sorted((stream, self._operation(operation)) for stream, operation in list(block.uses.items()))
            uses[at] = (each, self._operation(block.last_use), block.gone)
        return {"lanes": lanes, "uses": uses, "live": gpu.live_alloc_count() if not gpu.is_closing else None}

    def run(self, step: Any, *, with_books: bool = True) -> tuple[object, ...]:
        """Do one step: how it ended, what the driver got, and the books after it."""
        kind, *rest = step
        try:
            ended: object = ("returned", self.shown(getattr(self, f"_do_{kind}")(*rest)))
        except Exception as error:
            facts = {
                name: self.shown(getattr(error, name))
                for name in ("kernel", "index", "name", "expected", "given", "axis", "asked", "feature", "address")
                if hasattr(error, name)
            }
            ended = ("raised", type(error).__name__, self.text(str(error)), facts, type(error.__cause__).__name__)
        got = self._launched()
        return ended, got, self.books() if with_books else None

    def _launched(self) -> list[object]:
        """What the driver got since it was last asked for."""
        count = self.driver.launch_count()
        launched: list[object] = [
            (
                each.kernel,
                each.grid,
                each.block,
                each.cluster,
                each.shared,
                self.handles.get(each.stream, "default"),
                self.parameters(each.kernel, each.parameters),
            )
            for each in (self.driver.launches()[-(count - self.seen) :] if count != self.seen else ())
        ]
        self.seen = count
        return launched

    def violations(self) -> list[str]:
        return [each.kind for each in self.driver.violations()]


class _OwnFault(Failure):
    """The launch is over when the call returns, and was the one that failed."""

    def error(self, call: Any) -> Exception:
        return DriverFault("MOCK_ERROR_OWN", "the launch itself (injected)", launch=call.ordinal)


_FAILURES: dict[int, Failure] = {
    1: Refusal(),
    2: _OwnFault(),
    701: FaultFound(),
    719: FaultFound("MOCK_ERROR_LOST", context_lost=True),
}


class _Busy(LaunchTarget):
    """A target that does something else in the middle of a launch, where the world says so."""

    def __init__(self, world: World, target: LaunchTarget) -> None:
        self._world, self._target = world, target

    def submit(self, image: Any, geometry: Any, stream: Any, ordinal: int) -> None:
        self._world.do_within()
        self._target.submit(image, geometry, stream, ordinal)

    def submit_using(self, image: Any, geometry: Any, stream: Any, ordinal: int, addresses: Any) -> None:
        self._world.do_within()
        self._target.submit_using(image, geometry, stream, ordinal, addresses)


class MockWorld(World):
    """The same over the mock driver, whose targets the core calls."""

    profile = "generic"
    keep_log = True

    def _open(self) -> None:
        self.gpu, self.other = MockGpuBackend(self.profile, keep_log=self.keep_log), MockGpuBackend()
        self.kernels = {
            name: self.gpu.kernel("m", name, **({} if declared is None else {"signature": declared}))
            for name, (_, declared) in KERNELS.items()
        }
        prepare = self.gpu.mock.prepare_launch
        self.gpu.mock.prepare_launch = lambda kernel, layout: _Busy(self, prepare(kernel, layout))

    def _fail_launch(self, code: int, nth: int) -> None:
        self.gpu.mock.plan.fail("launch", nth=nth, failure=_FAILURES[code])

    def _clear_faults(self) -> None:
        self.gpu.mock.plan.rules.clear()

    def _launched(self) -> list[object]:
        entries = [each for each in self.gpu.log if each.call == "launch"]
        new, self.seen = entries[self.seen :], len(entries)
        return [self.text(re.sub(r"(\d{9,})", lambda found: hex(int(found[0])), repr(each))) for each in new]

    def violations(self) -> list[str]:
        return list(self.gpu.mock.violations)


class QuietMockWorld(MockWorld):
    """One that keeps nothing of what it was told, for millions of launches."""

    keep_log = False


class AlignedWorld(MockWorld):
    """A device that binds memory at certain offsets alone, has no null, and writes no memory that is given twice."""

    profile = "WebGPU"


class MetalLikeWorld(MockWorld):
    """A device that has to be told of memory that is no argument."""

    profile = "M2"


class _Spy(LaunchTarget):
    """A target that notes its launches, and refuses one where the world says so."""

    def __init__(self, world: SpiedWorld, name: str, target: LaunchTarget) -> None:
        self._world, self._name, self._target = world, name, target

    def submit(self, image: Any, geometry: Any, stream: Any, ordinal: int) -> None:
        self._world.do_within()
        self._world.note(self._name, image, geometry, stream, ordinal, ())
        self._target.submit(image, geometry, stream, ordinal)

    def submit_using(self, image: Any, geometry: Any, stream: Any, ordinal: int, addresses: Any) -> None:
        self._world.do_within()
        self._world.note(self._name, image, geometry, stream, ordinal, addresses)
        self._target.submit_using(image, geometry, stream, ordinal, addresses)


class SpiedWorld(World):
    """A world over a real driver whose targets are watched."""

    def _open(self) -> None:
        self.noted: list[object] = []
        self.failing: tuple[int, int] | None = None
        self._open_backends()
        names = {kernel.handle: name for name, kernel in self.kernels.items()}
        prepare = self.gpu.driver.prepare_launch
        self.gpu.driver.prepare_launch = lambda kernel, layout: _Spy(self, names[kernel], prepare(kernel, layout))

    def _open_backends(self) -> None:
        raise NotImplementedError

    def note(self, name: str, image: Any, geometry: Any, stream: int, ordinal: int, addresses: Any) -> None:
        on = self.handles.get(stream, "default")
        used = [self.at(each) for each in addresses]
        self.noted.append((name, self.parameters(name, bytes(image)), str(geometry), on, ordinal, used))
        if self.failing is not None:
            code, nth = self.failing
            self.failing = (code, nth - 1)
            if nth == 1:
                raise _FAILURES[code].error(mock_log.Launch(0, "m", name, (1, 1, 1), (1, 1, 1), 0, 0, ordinal, b""))

    def _fail_launch(self, code: int, nth: int) -> None:
        self.failing = (code, nth)

    def _clear_faults(self) -> None:
        self.failing = None

    def _launched(self) -> list[object]:
        noted, self.noted = self.noted, []
        return noted

    def violations(self) -> list[str]:
        return []


class CpuWorld(SpiedWorld):
    """The CPU backend: every launch is over when it returns."""

    def _open_backends(self) -> None:
        self.gpu, self.other = mg.open_backend("cpu", check=None), mg.open_backend("cpu", check=None)
        signatures = {name: declared for name, (_, declared) in KERNELS.items() if declared is not None}
        self.gpu.load_module("m", source={".ptx": _ptx()}, signatures=signatures)
        self.kernels = {name: self.gpu.kernel("m", name) for name in KERNELS}

    def at(self, address: int) -> str:
        # Host arrays are device memory here, and lie elsewhere in each process.
        shown = super().at(address)
        return "<host>" if shown.startswith("<0x") and 1 << 40 < address < 1 << 47 else shown


_MANY = [f"v{at}" for at in range(23)]
_OPENCL_C = f"""
kernel void empty() {{}}
kernel void scale(global float *x, uint count, float factor) {{
    global uint *to = (global uint *)x;
    if (x != 0 && get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) {{
        to[0] = count; to[1] = as_uint(factor); to[2] += get_global_size(0) * get_global_size(1) * get_global_size(2);
    }}
}}
kernel void pair(global float *x, global const float *y) {{
    global uint *to = (global uint *)x;
    global const uint *from = (global const uint *)y;
    if (x != 0 && get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)
        to[0] = to[0] * 5 + (y != 0 ? from[1] : 7) + get_local_size(0);
}}
kernel void opened(global uint *x, uint n, float f, local uint *room, global const uint *y) {{
    if (x != 0 && get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) {{
        room[0] = n; x[0] = x[0] * 3 + room[0] + as_uint(f) + (y != 0 ? y[0] : 1);
    }}
}}
kernel void many(global int *x, {", ".join(f"uint {each}" for each in _MANY)}) {{
    if (x != 0 && get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)
        x[0] = {" ^ ".join(f"rotate({each}, {at}u)" for at, each in enumerate(_MANY))};
}}
"""


class OpenclWorld(World):
    """OpenCL over PoCL: what is enqueued is seen on its way, and what the kernels were given in the memory."""

    memory = "svm"

    def __init__(self) -> None:
        super().__init__()
        for buffer in self.buffers[:BUFFERS]:
            buffer.view("uint8").copy_from(bytes(buffer.nbytes))

    def _open(self) -> None:
        from pocl import pocl_spec

        from metrale_gpu_runtime.drivers.opencl.bindings import load_bindings

        self.noted: list[object] = []
        self.failing = 0
        bindings = load_bindings()
        calls = bindings.calls
        self._finish = ctypes.CDLL(bindings.cl._cl.__file__).clFinish
        self._own_enqueue, self._calls = calls.enqueue_nd_range_kernel, calls
        shape = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 2, ctypes.c_uint32, *(ctypes.c_void_p,) * 3,
                                 ctypes.c_uint32, *(ctypes.c_void_p,) * 2)  # fmt: skip
        self._enqueue = shape(self._note)
        object.__setattr__(calls, "enqueue_nd_range_kernel", self._enqueue)
        spec = str(pocl_spec())
        # What a command buffer queues is not seen here: opencl_like_worlds has worlds with those.
        self.gpu, self.other = (mg.open_backend(spec, memory=self.memory, command_buffers=False) for _ in range(2))
        module = self.gpu.load_module("m", source={".cl": _OPENCL_C})
        self.kernels = {name: module[name] for name in ("empty", "scale", "pair", "opened", "many")}

    def _note(self, queue: int, kernel: int, *launch: Any) -> int:
        _, _, total, block, *_ = launch
        self.noted.append([list((ctypes.c_size_t * 3).from_address(each)) for each in (total, block)])
        self.failing -= 1
        if self.failing == 0:
            return -5
        code = int(self._own_enqueue(queue, kernel, *launch))
        # Of two streams that write the same memory, which came last is no fact of a launch.
        self._finish(ctypes.c_void_p(queue))
        return code

    def close(self) -> None:
        super().close()
        object.__setattr__(self._calls, "enqueue_nd_range_kernel", self._own_enqueue)

    def _do_renew(self, at: int) -> None:
        super()._do_renew(at)
        # What kernels read is compared: new memory holds anything.
        self.gpu.memset(self.buffers[at], 0, self.buffers[at].nbytes)

    def _do_query(self, stream: Any) -> object:
        """Nothing: how far a device has come depends on nothing that is compared."""

    def _fail_launch(self, code: int, nth: int) -> None:
        self.failing = nth

    def _clear_faults(self) -> None:
        self.failing = 0

    def _launched(self) -> list[object]:
        noted, self.noted = self.noted, []
        return noted

    def violations(self) -> list[str]:
        # Last of all: reading waits, and what is waited for is remembered no longer.
        if self.gpu.is_closing:
            return []
        return [buffer.numpy().tobytes().hex() for buffer in self.buffers if buffer.is_live and buffer.nbytes < 1000]


class OpenclBuffersWorld(OpenclWorld):
    """The same with memory objects, of which a pointer into one is a part."""

    memory = "buffers"
