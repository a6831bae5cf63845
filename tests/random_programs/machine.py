"""A machine that runs random programs of public calls, held against a model that applies every operation in program order.

A program is a list of (operation, number): the operation makes its choices by the number, among what there is, so that
any part of a program is a program. Work on one memory is ordered by events and waits as a correct caller orders it; the
stand-ins run streams late, so what is missing below shows as a wrong byte, a violation or a fault.

A backend's own machine says how devices are opened, what code they run, which kinds of memory they have, what may fail
meanwhile, and what must be left in the end.
"""

from __future__ import annotations

import contextlib
import gc
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.errors import (
    AllocationInUse,
    CaptureError,
    ContextLost,
    EventError,
    GpuError,
    HandleClosed,
    InvalidPointer,
)

from .model import (
    Accesses,
    Clock,
    Effect,
    Ref,
    Region,
    affine,
    fill,
    learn,
    mix,
    move,
    move_rows,
    nothing,
    put,
)

Step = tuple[str, int]
Program = list[Step]

MODES = ("global", "thread_local", "relaxed")
GRANULE = 2 << 20


class Wrong(AssertionError):
    """A program found something: what."""


class Skip(Exception):
    """There is nothing to do this operation with."""


@dataclass(eq=False)
class Holder:
    """One allocation. `obj` is what the program holds of it, None when it was dropped or freed."""

    kind: str
    device: Device | None
    obj: Any
    number: int
    regions: list[Region] = field(default_factory=list)
    is_freed: bool = False
    named_by: dict[Clock, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self.kind} {self.number}"


@dataclass(eq=False)
class AStream:
    device: Device
    obj: Any
    clock: Clock
    capture: ACapture | None = None
    inner: Clock | None = None
    # Recorded before it went where it cannot be waited for: into a capture, or away.
    tail: AnEvent | None = None
    is_gone: bool = False

    def __repr__(self) -> str:
        return self.clock.name


@dataclass(eq=False)
class AnEvent:
    device: Device
    obj: Any
    snapshot: dict[Clock, int] | None = None
    capture: ACapture | None = None
    is_over: bool = False
    is_closed: bool = False


OpEffect = Callable[[Mapping[str, Any]], Effect]


@dataclass(eq=False)
class Recording:
    """Operations of a capture or a sequence: effects for given values, slots with what they need, what they name."""

    ops: list[OpEffect] = field(default_factory=list)
    slots: dict[str, int] = field(default_factory=dict)
    names: set[Holder] = field(default_factory=set)
    modules: set[AModule] = field(default_factory=set)
    recorded: list[AnEvent] = field(default_factory=list)
    awaited: list[AnEvent] = field(default_factory=list)
    remembered: dict[str, Any] = field(default_factory=dict)
    # A call that failed half-way may have recorded some of its operations, and so name what it would name.
    is_uncertain: bool = False

    def add(self, op: Op) -> None:
        self.ops.append(op.effect)
        for name, need in op.slots.items():
            self.slots[name] = max(self.slots.get(name, 0), need)
        self.names |= op.names
        self.modules |= op.modules

    def join(self, other: Recording, values: Mapping[str, Any]) -> None:
        """Everything of another recording, with these values."""
        kept = dict(values)
        self.ops += [lambda _, each=each: each(kept) for each in other.ops]  # type: ignore[misc]
        self.names |= other.names | {each.region.holder for each in kept.values() if isinstance(each, Ref)}
        self.modules |= other.modules
        self.is_uncertain = self.is_uncertain or other.is_uncertain

    def effects(self, values: Mapping[str, Any]) -> list[Effect]:
        return [each(values) for each in self.ops]


@dataclass(eq=False)
class ACapture(Recording):
    device: Device = None  # type: ignore[assignment]
    origin: AStream = None  # type: ignore[assignment]
    mode: str = ""
    members: list[AStream] = field(default_factory=list)
    accesses: dict[Region, Accesses] = field(default_factory=dict)

    def access(self, region: Region) -> Accesses:
        return self.accesses.setdefault(region, Accesses())


@dataclass(eq=False)
class Held:
    """A graph, a sequence or a prepared launch of the program."""

    device: Device
    obj: Any
    recording: Recording
    stream: AStream | None = None


@dataclass(eq=False)
class AModule:
    obj: Any
    is_loaded: bool = True


@dataclass
class Op:
    """One operation that can be queued or recorded."""

    effect: OpEffect
    slots: dict[str, int] = field(default_factory=dict)
    names: set[Holder] = field(default_factory=set)
    modules: set[AModule] = field(default_factory=set)


@dataclass(eq=False)
class Device:
    gpu: mg.GpuBackend
    number: int
    streams: list[AStream] = field(default_factory=list)
    events: list[AnEvent] = field(default_factory=list)
    holders: list[Holder] = field(default_factory=list)
    captures: list[ACapture] = field(default_factory=list)
    graphs: list[Held] = field(default_factory=list)
    sequences: list[Held] = field(default_factory=list)
    prepared: list[Held] = field(default_factory=list)
    modules: list[AModule] = field(default_factory=list)
    debugging: contextlib.ExitStack | None = None
    is_lost: bool = False
    # One device used memory of the other since this one was last waited for as a whole: what is known of the one's
    # streams by the other's need not be in its books.
    had_guests: bool = False

    def live(self) -> list[Region]:
        return [region for holder in self.holders for region in holder.regions]


class Machine(ABC):
    """Runs one program. Raises Wrong, or whatever the engine raised that it should not."""

    backend: ClassVar[str]
    code: ClassVar[Mapping[str, str]]
    """The source of a module with the kernels affine and mix, by its suffix."""
    memory_kinds: ClassVar[Sequence[str]]
    priorities: ClassVar[Sequence[int]] = (0,)
    weights: ClassVar[Mapping[str, int]]
    """How often an operation stands in a program."""
    can_have_peers: ClassVar[bool] = False

    def __init__(self, standin: Any, seed: int, *, fault: Any = None) -> None:
        self.standin, self.seed, self.fault = standin, seed, fault
        self.r = random.Random(seed)
        self.host: dict[Clock, int] = {}
        self.numbers = 0
        self.streams: dict[Clock, AStream] = {}
        self.arrays: list[Holder] = []
        # What the engine promises to wait for in the call to come.
        self.trusted: list[dict[Clock, int]] = []
        self.log: list[str] = []
        self.done = 0
        self.begin()
        redzone = self.r.choice((0, 0, 0, 96))
        self.redzone = redzone
        self.has_peers = self.can_have_peers and self.r.random() < 0.7
        self.devices: list[Device] = []
        for number in (0, 1):
            gpu = self.open(number)
            gpu._redzone = type(gpu._redzone)(redzone) if redzone else gpu._redzone
            device = Device(gpu, number)
            for name in ("m0", "m1"):
                device.modules.append(AModule(gpu.load_module(name, source=self.code)))
            self.devices.append(device)
            self._enter_stream(device, gpu.default_stream())
            for _ in range(2):
                self._enter_stream(device, gpu.create_stream())
        if self.has_peers:
            for number in (0, 1):
                self.devices[number].gpu.enable_peer_access(self.devices[1 - number].gpu)
        if fault is not None:
            self.start_faults()

    # ------------------------------------------------ what a backend's machine says

    @abstractmethod
    def begin(self) -> None:
        """Another machine of the stand-in, with two devices."""

    def open(self, number: int) -> mg.GpuBackend:
        return mg.open_backend(f"{self.backend}:{number}")

    @classmethod
    @abstractmethod
    def fault_of(cls, seed: int) -> Any:
        """What shall fail meanwhile; `Machine.fault` of a program that is run with failures."""

    @classmethod
    def near_faults(cls, fault: Any) -> list[Any]:
        """The same failure somewhat earlier, for programs from which something was taken away."""
        return [fault]

    @abstractmethod
    def start_faults(self) -> None: ...

    @abstractmethod
    def stop_faults(self) -> None: ...

    def note_failure(self, error: GpuError) -> None:
        """A call failed while failures are asked for: what is not known any more is noted."""
        self.look_for_loss()

    @abstractmethod
    def lose(self, device: Device) -> None:
        """The engine says that a device is lost: let it be so, where only that was said."""

    def until(self, call: Callable[[], bool], what: str) -> None:
        """Ask until it is so."""
        for _ in range(20000):
            if call():
                return
        raise Wrong(what)

    def settle(self, device: Device) -> None:
        """Nothing fails any more; what failed before may be told now."""
        self.synchronize(device)

    @abstractmethod
    def look(self) -> None:
        """Nothing is left in the driver, and nobody did what a correct caller does not."""

    @abstractmethod
    def close(self) -> None:
        """The stand-in works for somebody else from now on."""

    def read_kernels(self) -> None:
        for device in self.devices:
            for module in device.modules:
                for name in ("affine", "mix"):
                    module.obj[name]

    def _enter_stream(self, device: Device, obj: Any) -> AStream:
        self.numbers += 1
        stream = AStream(device, obj, Clock(f"stream {device.number}.{self.numbers}"))
        device.streams.append(stream)
        self.streams[stream.clock] = stream
        return stream

    # ------------------------------------------------ running

    def run(self, program: Iterable[Step]) -> None:
        for name, number in program:
            self.r = random.Random(number)
            if all(device.is_lost for device in self.devices):
                return
            try:
                getattr(self, f"op_{name}")()
                self.done += 1
            except Skip:
                continue
            except GpuError as error:
                if self.fault is None:
                    raise
                self.note(f"{name}: {type(error).__name__}: {str(error)[:100]}")
                error.__traceback__ = None
                self.note_failure(error)

    def note(self, text: str) -> None:
        self.log.append(text)

    def look_for_loss(self) -> None:
        for device in self.devices:
            if device.gpu.is_lost and not device.is_lost:
                device.is_lost = True
                self.lose(device)
                # What it should have done to anybody's memory, and what others have made of that since, nobody knows.
                for region in (
                    *(region for each in self.devices for region in each.live()),
                    *(each.regions[0] for each in self.arrays),
                ):
                    region.known[:] = False
                self.refused(ContextLost, lambda gpu=device.gpu: gpu.alloc(8))
                self.refused(ContextLost, device.gpu.synchronize)
                self.note(f"device {device.number} is lost")

    def refused(self, kinds: Any, call: Callable[[], object]) -> None:
        """The call has to be refused with one of these."""
        try:
            call()
        except kinds:
            return
        raise Wrong(f"not refused with {kinds}")

    # ------------------------------------------------ choosing

    def device(self) -> Device:
        found = [each for each in self.devices if not each.is_lost]
        if not found:
            raise Skip
        return self.r.choice(found)

    def pick(self, things: Sequence[Any]) -> Any:
        if not things:
            raise Skip
        return self.r.choice(things)

    def stream(self, device: Device) -> AStream:
        captured = [each for each in device.streams if each.capture]
        if captured and self.r.random() < 0.5:
            return self.r.choice(captured)
        return self.pick(device.streams)

    def chance(self, p: float) -> bool:
        return self.r.random() < p

    def bytes(self, nbytes: int) -> bytes:
        return self.r.randbytes(nbytes)

    def regions(self, device: Device, *, peers: bool, host: bool = False) -> list[Region]:
        found = device.live()
        other = self.devices[1 - device.number]
        if peers and self.has_peers and not other.is_lost and not other.captures and not device.captures:
            found += [each for each in other.live() if each.holder.kind in ("buffer", "alloc", "managed", "pinned")]
        return found

    def ref(self, region: Region, nbytes: int | None = None, *, align: int = 1, most: int = 1 << 30) -> Ref:
        """Some bytes of a region: so many, or any number."""
        if nbytes is None:
            room = min(region.nbytes, most) // align
            if room < 1:
                raise Skip
            nbytes = align * (room if self.chance(0.3) else self.r.randint(1, room))
        if nbytes > region.nbytes:
            raise Skip
        skew = -region.base % align if align > 1 else 0
        last = region.nbytes - nbytes
        if last < skew:
            raise Skip
        offset = skew + align * self.r.randint(0, (last - skew) // align) if self.chance(0.7) else skew
        return Ref(region, offset, nbytes)

    def give(self, ref: Ref) -> Any:
        """One of the forms in which a caller names device memory."""
        holder = ref.region.holder
        at = ref.region.base + ref.offset
        obj = holder.obj
        assert obj is not None, f"{holder} is gone"
        if holder.kind == "buffer":
            forms = [lambda: obj.ptr + at, lambda: obj[at:], lambda: obj[at : at + ref.nbytes]]
            if at == 0:
                forms.append(lambda: obj)
            return self.r.choice(forms)()
        if holder.kind == "lazy":
            return obj if at == 0 and self.chance(0.5) else obj.ptr + at
        if holder.kind == "pinned":
            return holder.device.gpu.host_ptr_to_device(obj) + at  # type: ignore[union-attr]
        return obj + at if at else obj

    def host_side(self, ref: Ref) -> Any:
        """Host memory as a copy takes it."""
        obj = ref.region.holder.obj
        if ref.region.holder.kind == "pinned":
            return obj.view[ref.offset : ref.offset + ref.nbytes]
        part = obj[ref.offset : ref.offset + ref.nbytes]
        return self.r.choice((lambda: part, lambda: memoryview(part)))()

    # ------------------------------------------------ order

    def event(self, device: Device, *, is_new: bool = False) -> AnEvent:
        usable = [each for each in device.events if each.capture is None]
        if usable and not is_new and self.chance(0.5):
            return self.r.choice(usable)
        event = AnEvent(device, device.gpu.create_event(timing=self.r.choice((None, False, True))))
        device.events.append(event)
        return event

    def record(self, event: AnEvent, stream: AStream) -> None:
        capture = stream.capture
        event.obj.record(stream.obj)
        event.is_over = False
        if capture is not None:
            assert stream.inner is not None
            event.capture, event.snapshot = capture, stream.inner.snapshot()
            capture.recorded.append(event)
            return
        stream.clock.count += 1
        event.capture, event.snapshot = None, stream.clock.snapshot()
        learn(event.snapshot, self.host)

    def may_wait(self, device: Device, stream: AStream | None = None) -> bool:
        """Whether this thread may wait for the device now."""
        if any(each.mode != "relaxed" for each in device.captures):
            return False
        return stream is None or stream.capture is None

    def await_stream(self, stream: AStream) -> None:
        """Let the host wait for a stream in one of many ways."""
        device = stream.device
        if stream.is_gone or stream.capture is not None:
            if stream.tail is None or stream.tail.snapshot is None or not self.may_wait(device):
                raise Skip
            stream.tail.obj.synchronize()
            learn(self.host, stream.tail.snapshot)
            return
        if not self.may_wait(device, stream):
            raise Skip
        way = self.r.randrange(6)
        snapshot = stream.clock.snapshot()
        if way <= 1:
            stream.obj.synchronize()
        elif way == 2 and not device.captures:
            self.synchronize(device)
        elif way == 3:
            self.until(stream.obj.query, f"{stream} is never done")
        elif way == 4:
            event = self.event(device)
            self.record(event, stream)
            event.obj.synchronize()
        else:
            event = self.event(device)
            self.record(event, stream)
            self.until(event.obj.query, f"an event of {stream} is never reached")
        learn(self.host, snapshot)

    def synchronize(self, device: Device) -> None:
        snapshots = [each.clock.snapshot() for each in device.streams]
        device.gpu.synchronize()
        for snapshot in snapshots:
            learn(self.host, snapshot)
        device.had_guests = False

    def let_wait(self, stream: AStream, clock: Clock) -> None:
        """Let a stream, or the host by it, wait for everything that another was told."""
        other = self.streams[clock]
        if other.device is stream.device and not other.device.is_lost and not self.chance(0.25):
            if other.is_gone or other.capture is not None:
                event = other.tail
                if event is None or event.snapshot is None or event.is_closed:
                    raise Skip
            else:
                event = self.event(other.device)
                self.record(event, other)
            stream.obj.wait_event(event.obj)
            stream.clock.count += 1
            assert event.snapshot is not None
            stream.clock.learn(event.snapshot)
            return
        if other.device.is_lost:
            raise Skip
        self.await_stream(other)

    def order(self, stream: AStream, touched: Mapping[Region, bool]) -> None:
        """See to it that an operation on these regions comes behind all that it must come behind."""
        self.trusted.clear()
        for region, is_write in touched.items():
            if region.holder.kind == "host":
                # A driver reads memory that it has not locked when it is called, not when the copy's turn comes.
                self.order_host(region, is_write)
                continue
            for _ in range(8):
                missing = region.accesses.missing(stream.clock, self.host, is_write)
                if not missing:
                    break
                owner = region.holder.device
                is_peers = owner is not None and owner is not stream.device and region.holder.kind != "pinned"
                if is_peers and not owner.captures and self.chance(0.6):  # type: ignore[union-attr]
                    # The engine promises that work on a peer's memory waits for the peer.
                    self.trusted.append(region.accesses.all_of())
                    owner.had_guests = stream.device.had_guests = True  # type: ignore[union-attr]
                    break
                self.let_wait(stream, missing[0])
            else:
                raise Skip

    def order_inside(self, capture: ACapture, stream: AStream, touched: Mapping[Region, bool]) -> None:
        """The same between the streams of a capture."""
        assert stream.inner is not None
        for region, is_write in touched.items():
            for clock in capture.access(region).missing(stream.inner, {}, is_write):
                other = next(each for each in capture.members if each.inner is clock)
                event = AnEvent(stream.device, stream.device.gpu.create_event())
                stream.device.events.append(event)
                self.record(event, other)
                self.wait_inside(capture, stream, event)

    def wait_inside(self, capture: ACapture, stream: AStream, event: AnEvent) -> None:
        stream.obj.wait_event(event.obj)
        assert stream.inner is not None
        assert event.snapshot is not None
        stream.inner.learn(event.snapshot)

    def order_host(self, region: Region, is_write: bool) -> None:
        for _ in range(8):
            missing = region.accesses.missing(None, self.host, is_write)
            if not missing:
                return
            if self.streams[missing[0]].device.is_lost:
                raise Skip
            self.await_stream(self.streams[missing[0]])
        raise Skip

    # ------------------------------------------------ queueing

    def queue(self, stream: AStream, op: Op, call: Callable[[], object]) -> None:
        """One operation on a stream: recorded where that is captured, else ordered, queued and modelled."""
        capture = stream.capture
        if capture is not None:
            self.queue_inside(capture, stream, op, call)
            return
        effect = op.effect({})
        self.order(stream, effect.touched())
        self.issue(stream, [effect], call)

    def issue(self, stream: AStream, effects: Sequence[Effect], call: Callable[[], object]) -> None:
        stream.clock.count += 1
        try:
            call()
        except GpuError:
            for effect in effects:
                effect.spoil()
            raise
        else:
            for effect in effects:
                effect.apply()
            # Only now: the engine makes its waits in the call.
            for snapshot in self.trusted:
                stream.clock.learn(snapshot)
        finally:
            for effect in effects:
                for region, is_write in effect.touched().items():
                    region.accesses.note(stream.clock, is_write)
                    self.note_guest(stream, region)

    def note_guest(self, stream: AStream, region: Region) -> None:
        owner = region.holder.device
        if owner is not None and owner is not stream.device:
            owner.had_guests = stream.device.had_guests = True

    def queue_inside(self, capture: ACapture, stream: AStream, op: Op, call: Callable[[], object]) -> None:
        if any(name in ("p", "q") for name in op.slots) and len(capture.members) > 1:
            raise Skip
        touched = {} if op.slots else op.effect({}).touched()
        if op.slots:
            touched = {region: True for holder in op.names for region in holder.regions}
        self.order_inside(capture, stream, touched)
        try:
            call()
            # What was refused is no part of the graph; what the driver may have taken all the same spoils the capture.
            capture.add(op)
        finally:
            assert stream.inner is not None
            stream.inner.count += 1
            for region, is_write in touched.items():
                capture.access(region).note(stream.inner, is_write)

    def blocking(
        self, device: Device, effect: Effect, call: Callable[[], object], *, on: AStream | None = None
    ) -> None:
        """A call that is done on return and comes behind everything that was queued on the memory it names."""
        stream = on if on is not None else device.streams[0]
        if not self.may_wait(device, stream):
            if self.chance(0.5):
                raise Skip
            self.refused(CaptureError, call)
            raise Skip
        touched = effect.touched()
        for region, is_write in touched.items():
            if region.holder.device is None or region.holder.kind == "pinned":
                self.order_host(region, is_write)
            elif any(self.streams[clock].capture for clock in region.accesses.all_of()):
                raise Skip
        if on is not None:
            self.order(stream, touched)
        is_queued = True
        try:
            call()
        except CaptureError:
            if not any(each.captures for each in self.devices):
                raise
            # The memory has users on a captured stream: refused before anything was queued.
            is_queued = False
            raise Skip from None
        except GpuError:
            effect.spoil()
            raise
        else:
            effect.apply()
            for snapshot in self.trusted if on is not None else ():
                stream.clock.learn(snapshot)
            for region in touched:
                if on is None and region.holder.device is not None and region.holder.kind != "pinned":
                    learn(self.host, region.accesses.all_of())
        finally:
            if is_queued:
                stream.clock.count += 1
                for region, is_write in touched.items():
                    region.accesses.note(stream.clock, is_write)
                    self.note_guest(stream, region)
        learn(self.host, stream.clock.snapshot())

    # ------------------------------------------------ memory

    def holder(self, kind: str, device: Device | None, obj: Any, nbytes: int, base: int = 0) -> Holder:
        self.numbers += 1
        made = Holder(kind, device, obj, self.numbers)
        made.regions.append(Region(made, base, nbytes))
        return made

    def op_alloc(self) -> None:
        device = self.device()
        gpu = device.gpu
        nbytes = self.r.choice((self.r.randint(4, 90), self.r.randint(90, 700), 257, 64))
        kind = self.r.choice(self.memory_kinds)
        if len(device.holders) > 14:
            raise Skip
        if kind == "array":
            if not self.may_wait(device, device.streams[0]):
                raise Skip
            content = np.frombuffer(self.bytes(nbytes), np.uint8)
            holder = self.holder("buffer", device, gpu.array(content), nbytes)
            holder.regions[0].data[:], holder.regions[0].known[:] = content, True
        elif kind == "buffer":
            holder = self.holder(kind, device, gpu.buffer(nbytes), nbytes)
        elif kind == "alloc":
            holder = self.holder(kind, device, gpu.alloc(nbytes), nbytes)
        elif kind == "managed":
            holder = self.holder(kind, device, gpu.alloc_managed(nbytes), nbytes)
        elif kind == "async":
            holder = self.holder(kind, device, gpu.alloc_async(nbytes, self.stream(device).obj), nbytes)
        elif kind == "pinned":
            pinned = gpu.alloc_host_pinned(nbytes)
            holder = self.holder(kind, device, pinned, nbytes)
            holder.regions[0].known[:] = True
        else:
            if device.captures or sum(each.kind == "lazy" for each in device.holders) > 1:
                raise Skip
            lazy = gpu.lazy_buffer(3 * GRANULE, free_floor=0)
            lazy.ensure_mapped(nbytes)
            holder = self.holder(kind, device, lazy, nbytes)
            device.holders.append(holder)
            self.initialise(holder.regions[0])
            return
        device.holders.append(holder)
        if kind not in ("array", "pinned"):
            self.initialise(holder.regions[0])

    def initialise(self, region: Region) -> None:
        """Nobody knows what new memory holds: fill it, on any stream."""
        device = region.holder.device
        assert device is not None
        streams = [each for each in device.streams if each.capture is None]
        if not streams:
            return
        stream = self.r.choice(streams)
        self.queue_fill(stream, Ref(region, 0, region.nbytes), 1)

    def op_grow(self) -> None:
        device = self.device()
        holder = self.pick([each for each in device.holders if each.kind == "lazy" and len(each.regions) < 3])
        if device.captures:
            self.refused(CaptureError, lambda: holder.obj.ensure_mapped(GRANULE * len(holder.regions) + 1))
            raise Skip
        edge = GRANULE * len(holder.regions)
        holder.obj.ensure_mapped(edge + 1)
        region = Region(holder, edge - 100, 301)
        holder.regions.append(region)
        self.initialise(region)

    def is_named_by_capture(self, holder: Holder) -> bool:
        assert holder.device is not None
        captures = holder.device.captures
        if any(capture.is_uncertain for capture in captures):
            raise Skip
        return any(holder in capture.names for capture in captures)

    def forget(self, holder: Holder, *, is_freed: bool) -> None:
        assert holder.device is not None
        holder.device.holders.remove(holder)
        holder.obj, holder.is_freed = None, is_freed
        holder.regions = list(holder.regions)

    def op_drop(self) -> None:
        """The last reference goes; what is queued still uses the memory."""
        device = self.device()
        holder = self.pick([each for each in device.holders if each.kind in ("buffer", "lazy")])
        if self.chance(0.3):
            # In a cycle, for the garbage collector to find.
            cycle: list[Any] = [holder.obj]
            cycle.append(cycle)
            del cycle
        self.forget(holder, is_freed=False)

    def op_free(self) -> None:
        device = self.device()
        holder = self.pick(device.holders)
        gpu, obj = device.gpu, holder.obj
        if holder.kind == "lazy":
            self.free_lazy(device, holder)
            return
        free = gpu.free_host_pinned if holder.kind == "pinned" else gpu.free
        call = lambda: free(obj)  # noqa: E731
        if self.is_named_by_capture(holder):
            self.refused(CaptureError, call)
            return
        uses = dict(holder.named_by)
        for region in holder.regions:
            learn(uses, region.accesses.all_of())
        pending = any(self.host.get(clock, 0) < count for clock, count in uses.items())
        try:
            call()
        except AllocationInUse:
            if pending or device.had_guests or holder.kind == "async":
                return
            if self.fault is None:
                raise
            return
        except GpuError:
            if not obj.allocation.is_live:
                self.forget(holder, is_freed=True)
            raise
        self.forget(holder, is_freed=True)

    def free_lazy(self, device: Device, holder: Holder) -> None:
        if not self.may_wait(device) or any(
            self.streams[clock].capture
            for uses in (holder.named_by, *(region.accesses.all_of() for region in holder.regions))
            for clock in uses
        ):
            raise Skip
        if self.is_named_by_capture(holder):
            self.refused(CaptureError, holder.obj.release)
            return
        try:
            holder.obj.release()
        except CaptureError:
            if not device.captures:
                raise
            raise Skip from None
        finally:
            if not holder.obj.is_live:
                self.forget(holder, is_freed=True)

    def op_free_async(self) -> None:
        device = self.device()
        holder = self.pick(
            [each for each in device.holders if each.kind in ("buffer", "alloc", "async", "async", "managed")]
        )
        obj, stream = holder.obj, self.stream(device)
        if self.is_named_by_capture(holder):
            self.refused(CaptureError, lambda: device.gpu.free_async(obj, stream.obj))
            return
        try:
            device.gpu.free_async(obj, stream.obj)
        finally:
            if not obj.allocation.is_live:
                self.forget(holder, is_freed=True)

    def op_scratch(self) -> None:
        device = self.device()
        stream = self.stream(device)
        if stream.capture:
            raise Skip
        nbytes = 4 * self.r.randint(3, 60)
        region = self.pick([each for each in self.regions(device, peers=False) if each.nbytes >= nbytes])
        target = self.ref(region, nbytes)
        with device.gpu.scratch(nbytes, stream.obj) as scratch:
            holder = self.holder("buffer", device, scratch, nbytes)
            inner = Ref(holder.regions[0], 0, nbytes)
            stale = np.frombuffer(self.bytes(nbytes), np.uint8)
            data = stale.copy()
            self.queue(
                stream,
                Op(lambda values: put(inner, data)),
                lambda: device.gpu.copy_h2d_async(stale, scratch, stream.obj),
            )
            self.queue_affine(stream, inner, "builder")
            self.queue_move(stream, inner, target)

    # ------------------------------------------------ copies and fills

    def queue_fill(self, stream: AStream, target: Ref, width: int) -> None:
        value = self.r.getrandbits(8 * width)
        call = self.give(target)
        self.queue(
            stream,
            Op(lambda values: fill(target, value, width), names={target.region.holder}),
            lambda: stream.device.gpu.memset_async(call, value, target.nbytes, stream.obj, width=width),
        )

    def op_memset(self) -> None:
        device = self.device()
        width = self.r.choice((1, 2, 4))
        target = self.ref(self.pick(device.live()), align=width)
        if self.chance(0.75):
            self.queue_fill(self.stream(device), target, width)
            return
        value = self.r.getrandbits(8 * width)
        self.blocking(
            device,
            fill(target, value, width),
            lambda: device.gpu.memset(self.give(target), value, target.nbytes, width=width),
        )

    def array(self, nbytes: int) -> Holder:
        """Host memory: an array of the program, or a new one."""
        fitting = [each for each in self.arrays if each.regions[0].nbytes >= nbytes]
        if fitting and self.chance(0.3):
            return self.r.choice(fitting)
        content = np.frombuffer(self.bytes(nbytes + self.r.randint(0, 9)), np.uint8).copy()
        holder = self.holder("host", None, content, len(content))
        holder.regions[0].data[:], holder.regions[0].known[:] = content, True
        self.arrays.append(holder)
        return holder

    def host_ref(self, device: Device, nbytes: int) -> Ref:
        pinned = [each for each in device.holders if each.kind == "pinned" and each.regions[0].nbytes >= nbytes]
        holder = self.r.choice(pinned) if pinned and self.chance(0.5) else self.array(nbytes)
        return self.ref(holder.regions[0], nbytes)

    def drop_arrays(self) -> None:
        """Now and then nobody but the engine holds a host array."""
        if self.arrays and self.chance(0.3):
            holder = self.arrays.pop(self.r.randrange(len(self.arrays)))
            holder.obj = None

    def op_h2d(self) -> None:
        device = self.device()
        target = self.ref(self.pick(device.live()), most=400)
        if target.region.holder.kind == "pinned":
            raise Skip
        gpu, stream = device.gpu, self.stream(device)
        form = self.r.choice(("staged", "staged", "retained", "retained", "sync", "copy_from"))
        if form == "staged":
            content = np.frombuffer(self.bytes(target.nbytes), np.uint8).copy()
            expected = content.copy()
            place = self.give(target)

            def call() -> None:
                gpu.copy_h2d_async(content, place, stream.obj)
                content[:] = 0  # it may be used again

            self.queue(stream, Op(lambda values: put(target, expected), names={target.region.holder}), call)
            return
        source = self.host_ref(device, target.nbytes)
        names = {each.region.holder for each in (source, target) if each.region.holder.device is not None}
        if form == "retained":
            place = self.give(target)
            self.queue(
                stream,
                Op(lambda values: move(source, target), names=names),
                lambda: gpu.copy_h2d_async_retained(self.host_side(source), place, stream.obj),
            )
            self.drop_arrays()
            return
        holder = target.region.holder
        if form == "copy_from" and holder.kind == "buffer":
            self.blocking(
                device,
                move(source, target),
                lambda: holder.obj[target.offset : target.offset + target.nbytes].copy_from(self.host_side(source)),
            )
            return
        self.blocking(device, move(source, target), lambda: gpu.copy_h2d(self.host_side(source), self.give(target)))

    def op_d2h(self) -> None:
        device = self.device()
        source = self.ref(self.pick(device.live()), most=400)
        if source.region.holder.kind == "pinned":
            raise Skip
        gpu, stream = device.gpu, self.stream(device)
        target = self.host_ref(device, source.nbytes)
        names = {each.region.holder for each in (source, target) if each.region.holder.device is not None}
        form = self.r.choice(("async", "async", "sync", "on_stream", "numpy"))
        effect = lambda values=None: move(source, target)  # noqa: E731
        if form == "async":
            place = self.give(source)
            self.queue(
                stream,
                Op(effect, names=names),
                lambda: gpu.copy_d2h_async(place, self.host_side(target), stream.obj),
            )
            self.drop_arrays()
        elif form == "sync":
            self.blocking(device, effect(), lambda: gpu.copy_d2h(self.give(source), self.host_side(target)))
        elif form == "on_stream":
            if stream.capture:
                self.refused(
                    CaptureError, lambda: gpu.copy_d2h_on_stream(self.give(source), self.host_side(target), stream.obj)
                )
                raise Skip
            self.blocking(
                device,
                effect(),
                lambda: gpu.copy_d2h_on_stream(self.give(source), self.host_side(target), stream.obj),
                on=stream,
            )
        else:
            self.check(source.region)
        self.check_arrays()

    def read(self, region: Region) -> np.ndarray:
        if region.holder.kind == "pinned":
            self.order_host(region, False)
            return np.asarray(region.holder.obj).copy()
        found = np.zeros(region.nbytes, np.uint8)
        whole = Ref(region, 0, region.nbytes)
        device = region.holder.device
        assert device is not None

        def call() -> None:
            if region.holder.kind == "buffer" and self.chance(0.5):
                found[:] = region.holder.obj.numpy()
            else:
                device.gpu.copy_d2h(self.give(whole), found)

        self.blocking(device, Effect([whole], [], nothing), call)
        return found

    def check(self, region: Region) -> None:
        self.compare(region, self.read(region))

    def compare(self, region: Region, found: np.ndarray) -> None:
        wrong = np.flatnonzero((found != region.data) & region.known)
        if len(wrong):
            at = int(wrong[0])
            raise Wrong(
                f"{region}: {len(wrong)} of {region.nbytes} bytes are wrong, the first at {at}: {found[at : at + 12].tobytes().hex()}, "
                f"not {region.data[at : at + 12].tobytes().hex()}"
            )

    def check_arrays(self) -> None:
        """Host arrays whose copies are known to be done."""
        for holder in self.arrays:
            region = holder.regions[0]
            if not region.accesses.missing(None, self.host, True):
                self.compare(region, holder.obj)

    def op_check(self) -> None:
        self.check(self.pick(self.device().live()))
        self.check_arrays()

    def queue_move(self, stream: AStream, source: Ref, target: Ref) -> None:
        if source.overlaps(target):
            raise Skip
        places = self.give(source), self.give(target)
        gpu = stream.device.gpu
        self.queue(
            stream,
            Op(lambda values: move(source, target), names={source.region.holder, target.region.holder}),
            lambda: gpu.copy_d2d_async(*places, source.nbytes, stream.obj),
        )

    def op_d2d(self) -> None:
        device = self.device()
        stream = self.stream(device)
        regions = self.regions(device, peers=stream.capture is None)
        source = self.ref(self.pick(regions), most=300)
        target = self.ref(self.pick([each for each in regions if each.nbytes >= source.nbytes]), source.nbytes)
        if source.overlaps(target):
            raise Skip
        if self.chance(0.7):
            self.queue_move(stream, source, target)
            return
        own = [each.region.holder.device is device for each in (source, target)]
        if not all(own):
            raise Skip
        self.blocking(
            device,
            move(source, target),
            lambda: device.gpu.copy_d2d(self.give(source), self.give(target), source.nbytes),
        )

    def op_d2d_2d(self) -> None:
        device = self.device()
        stream = self.stream(device)
        width, height = self.r.randint(1, 40), self.r.randint(1, 6)
        pitches = [width + self.r.randint(0, 9) for _ in range(2)]
        extents = [(height - 1) * pitch + width for pitch in pitches]
        source = self.ref(self.pick([each for each in device.live() if each.nbytes >= extents[0]]), extents[0])
        target = self.ref(self.pick([each for each in device.live() if each.nbytes >= extents[1]]), extents[1])
        if source.overlaps(target):
            raise Skip
        places = self.give(source), self.give(target)
        self.queue(
            stream,
            Op(
                lambda values: move_rows(source, pitches[0], target, pitches[1], width, height),
                names={source.region.holder, target.region.holder},
            ),
            lambda: device.gpu.copy_d2d_2d_async(
                places[0], pitches[0], places[1], pitches[1], width, height, stream.obj
            ),
        )

    def op_peer(self) -> None:
        device = self.device()
        other = self.devices[1 - device.number]
        if other.is_lost or other.captures or device.captures:
            raise Skip
        kinds = ("buffer", "alloc", "managed", "async")
        source = self.ref(self.pick([each for each in other.live() if each.holder.kind in kinds]), most=300)
        fitting = [each for each in device.live() if each.nbytes >= source.nbytes and each.holder.kind != "pinned"]
        target = self.ref(self.pick(fitting), source.nbytes)
        if self.chance(0.6):
            stream = self.stream(device)
            places = self.give(source), self.give(target)
            self.queue(
                stream,
                Op(lambda values: move(source, target), names={source.region.holder, target.region.holder}),
                lambda: device.gpu.copy_peer_async(*places, source.nbytes, stream.obj),
            )
            return
        self.blocking(
            device,
            move(source, target),
            lambda: device.gpu.copy_peer(self.give(source), self.give(target), source.nbytes),
        )

    def op_write_host(self) -> None:
        """The program itself writes into host memory that nothing queued uses."""
        device = self.device()
        pinned = [each for each in device.holders if each.kind == "pinned"]
        holder = self.pick([*pinned, *self.arrays])
        region = holder.regions[0]
        self.order_host(region, True)
        content = np.frombuffer(self.bytes(region.nbytes), np.uint8)
        if holder.kind == "pinned":
            holder.obj.view[:] = content.tobytes()
        else:
            holder.obj[:] = content
        region.data[:], region.known[:] = content, True

    # ------------------------------------------------ launches

    def kernel(self, device: Device, name: str) -> tuple[AModule, Any]:
        module = self.r.choice(device.modules)
        if not module.is_loaded:
            raise Skip
        return module, module.obj[name]

    def words(self, device: Device, *, peers: bool, nbytes: int | None = None) -> Ref:
        regions = [each for each in self.regions(device, peers=peers) if each.nbytes >= max(nbytes or 0, 8)]
        return self.ref(self.pick(regions), nbytes, align=4, most=600)

    def launch(self, device: Device, *, slots: bool, peers: bool, into: Ref | None = None) -> tuple[Op, dict[str, Any]]:
        """A launch as the model sees it, and its parts as a caller gives them."""
        name = "affine" if into is not None or self.chance(0.5) else "mix"
        module, kernel = self.kernel(device, name)
        into = into if into is not None else self.words(device, peers=peers)
        if into.nbytes % 4:
            raise Skip
        block = self.r.choice((1, 3, 32, 64))
        full = -(-into.nbytes // 4 // block)
        grid: Any = self.r.choice((full, full, full + 1, max(full - 1, 0), 0))
        grid_slot = slots and self.chance(0.4)
        factor, addend = self.r.getrandbits(32), self.r.getrandbits(32)
        found: dict[str, int] = {}
        factor_at: Any = factor
        addend_at: Any = addend
        into_at: Any = into
        source: Any = None
        if slots:
            if self.chance(0.5):
                factor_at = "a"
                found["a"] = 0
            if self.chance(0.4):
                addend_at = "b"
                found["b"] = 0
            if self.chance(0.5):
                into_at = "p"
                found["p"] = into.nbytes
        names = {into.region.holder} if into_at != "p" else set()
        odd = addend & 255
        if grid_slot:
            found["g"] = 0
        count = into.nbytes // 4
        if name == "mix":
            given = self.words(device, peers=peers, nbytes=into.nbytes)
            if given.overlaps(into) and (given.region is not into.region or given.offset != into.offset):
                raise Skip
            source = given
            if slots and self.chance(0.4):
                source = "q"
                found["q"] = into.nbytes
            else:
                names.add(given.region.holder)
            if addend_at == "b":
                addend_at = addend
                found.pop("b")

        def effect(values: Mapping[str, Any]) -> Effect:
            target = values["p"].first(4 * count) if into_at == "p" else into
            threads = (values["g"] if grid_slot else grid) * block
            times = values["a"] if factor_at == "a" else factor
            if name == "affine":
                return affine(target, threads, times, values["b"] if addend_at == "b" else addend)
            part = values["q"].first(4 * count) if source == "q" else source.first(4 * count)
            if part.overlaps(target) and (part.region is not target.region or part.offset != target.offset):
                raise Skip
            return mix(target, part, threads, odd, times)

        uses = [each for each in device.holders if each.kind == "buffer"]
        more = self.r.choice(uses) if uses and self.chance(0.15) else None
        if more is not None:
            names.add(more)
        used = [Ref(region, 0, 0) for region in more.regions] if more is not None else []

        def with_uses(values: Mapping[str, Any]) -> Effect:
            found = effect(values)
            return Effect([*found.reads, *used], found.writes, found.apply) if found.reads else found

        parts = {
            "kernel": kernel,
            "name": name,
            "grid": mg.slot("g", "grid") if grid_slot else grid,
            "block": block,
            "into": mg.slot("p", "ptr") if into_at == "p" else self.give(into),
            "source": None if source is None else mg.slot("q", "ptr") if source == "q" else self.give(source),
            "count": count,
            "factor": mg.slot("a", mg.u32) if factor_at == "a" else factor,
            "addend": mg.slot("b", mg.u32) if addend_at == "b" else addend,
            "odd": odd,
            "uses": None if more is None else more.obj,
        }
        return Op(with_uses, found, names, {module}), parts

    def build(self, device: Device, parts: dict[str, Any]) -> mg.KernelLaunch:
        builder = mg.KernelLaunch(device.gpu, parts["kernel"]).grid(parts["grid"]).block(parts["block"])
        builder.arg_ptr(parts["into"])
        if parts["name"] == "mix":
            builder.arg_ptr(parts["source"]).arg_u8(parts["odd"]).arg_u32(parts["count"]).arg_u32(parts["factor"])
        else:
            builder.arg_u32(parts["count"]).arg_u32(parts["factor"]).arg_u32(parts["addend"])
        return builder.uses(parts["uses"]) if parts["uses"] is not None else builder

    def values_of(self, parts: dict[str, Any]) -> list[Any]:
        if parts["name"] == "mix":
            return [
                parts["into"],
                parts["source"],
                mg.u8(parts["odd"]),
                mg.u32(parts["count"]),
                self.wide(parts["factor"]),
            ]
        return [parts["into"], mg.u32(parts["count"]), self.wide(parts["factor"]), self.wide(parts["addend"])]

    def wide(self, value: Any) -> Any:
        return mg.u32(value) if isinstance(value, int) else value

    def queue_launch(self, stream: AStream, op: Op, parts: dict[str, Any], form: str) -> None:
        device = stream.device
        if form == "short" and parts["uses"] is None:
            values = self.values_of(parts)
            call = lambda: parts["kernel"][parts["grid"], parts["block"], 0, stream.obj](*values)  # noqa: E731
        else:
            builder = self.build(device, parts)
            call = lambda: builder.launch(stream.obj)  # noqa: E731
        parts["into"] = parts["source"] = parts["uses"] = None if form != "short" else parts["into"]
        self.queue(stream, op, call)

    def queue_affine(self, stream: AStream, into: Ref, form: str) -> None:
        op, parts = self.launch(stream.device, slots=False, peers=False, into=into)
        values = self.build(stream.device, parts)
        self.queue(stream, op, lambda: values.launch(stream.obj))

    def op_launch(self) -> None:
        device = self.device()
        stream = self.stream(device)
        op, parts = self.launch(
            device, slots=stream.capture is not None and self.chance(0.6), peers=stream.capture is None
        )
        if any(name in op.slots for name in "pq") and stream.capture and len(stream.capture.members) > 1:
            raise Skip
        form = self.r.choice(("builder", "short"))
        if form == "builder":
            builder = self.build(device, parts)
            parts.clear()
            self.queue(stream, op, lambda: builder.launch(stream.obj))
            return
        if parts["uses"] is not None:
            raise Skip
        kernel, grid, block, values = parts["kernel"], parts["grid"], parts["block"], self.values_of(parts)
        parts.clear()
        self.queue(stream, op, lambda: kernel[grid, block, 0, stream.obj](*values))

    def op_lend(self) -> None:
        """Host arrays lent to one launch."""
        device = self.device()
        stream = self.stream(device)
        _, kernel = self.kernel(device, "affine")
        count = self.r.randint(1, 70)
        array = np.frombuffer(self.bytes(4 * count), np.uint32).copy()
        factor, addend = self.r.getrandbits(32), self.r.getrandbits(32)
        expected = array * np.uint32(factor) + np.uint32(addend)
        call = lambda: kernel[-(-count // 32), 32, 0, stream.obj](  # noqa: E731
            mg.InOut(array), mg.u32(count), mg.u32(factor), mg.u32(addend)
        )
        if not self.may_wait(device, stream):
            if stream.capture:
                with contextlib.suppress(GpuError):
                    call()
                    raise Wrong("lent into a capture")
            raise Skip
        call()
        stream.clock.count += 1
        learn(self.host, stream.clock.snapshot())
        if not np.array_equal(array, expected):
            raise Wrong("a lent array does not hold what it should")

    def new_values(self, device: Device, recording: Recording) -> dict[str, Any]:
        """Values for the slots that have none, and for some of the others."""
        values: dict[str, Any] = {}
        for name, need in sorted(recording.slots.items()):
            old = recording.remembered.get(name)
            is_held = not isinstance(old, Ref) or old.region.holder.obj is not None or self.chance(0.3)
            if old is not None and self.chance(0.5) and is_held:
                continue
            if name in "ab":
                values[name] = self.r.getrandbits(32)
            elif name == "g":
                values[name] = self.r.choice((0, 1, 2, 5, 40))
            else:
                values[name] = self.words(device, peers=False, nbytes=need)
        return values

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.give(value) if isinstance(value, Ref) else value for name, value in values.items()}

    def op_prepare(self) -> None:
        device = self.device()
        if len(device.prepared) > 5:
            device.prepared.pop(self.r.randrange(len(device.prepared)))
        op, parts = self.launch(device, slots=self.chance(0.7), peers=self.chance(0.3) and self.has_peers)
        stream = self.r.choice(device.streams)
        recording = Recording()
        recording.add(op)
        builder = self.build(device, parts)
        parts.clear()
        device.prepared.append(Held(device, builder.prepare(stream.obj), recording, stream))

    def op_call(self) -> None:
        """A prepared launch with some new values, on its stream or another."""
        device = self.device()
        held = self.pick(device.prepared)
        self.run_held(held, is_prepared=True)

    def op_record_sequence(self) -> None:
        device = self.device()
        if device.captures:
            raise Skip
        if len(device.sequences) > 4:
            device.sequences.pop(self.r.randrange(len(device.sequences)))
        recording = Recording()
        sequence = device.gpu.sequence()
        stream = device.streams[0]
        with sequence:
            for _ in range(self.r.randint(1, 4)):
                with contextlib.suppress(Skip):
                    self.record_one(device, recording, stream)
        device.sequences.append(Held(device, sequence, recording))

    def record_one(self, device: Device, recording: Recording, stream: AStream) -> None:
        gpu = device.gpu
        kind = self.r.choice(("launch", "launch", "fill", "move", "h2d", "d2h"))
        if kind == "launch":
            op, parts = self.launch(device, slots=self.chance(0.6), peers=False)
            self.build(device, parts).launch(stream.obj)
        elif kind == "fill":
            target, value = self.ref(self.pick(device.live()), align=2), self.r.getrandbits(16)
            gpu.memset_async(self.give(target), value, target.nbytes, stream.obj, width=2)
            op = Op(lambda values: fill(target, value, 2), names={target.region.holder})
        elif kind == "move":
            source = self.ref(self.pick(device.live()), most=100)
            target = self.ref(self.pick(device.live()), source.nbytes)
            if source.overlaps(target):
                raise Skip
            gpu.copy_d2d_async(self.give(source), self.give(target), source.nbytes, stream.obj)
            op = Op(lambda values: move(source, target), names={source.region.holder, target.region.holder})
        elif kind == "h2d":
            target = self.ref(self.pick(device.live()), most=100)
            if target.region.holder.kind == "pinned":
                raise Skip
            content = np.frombuffer(self.bytes(target.nbytes), np.uint8)
            gpu.copy_h2d_async(content, self.give(target), stream.obj)
            op = Op(lambda values: put(target, content), names={target.region.holder})
        else:
            source = self.ref(self.pick(device.live()), most=100)
            if source.region.holder.kind == "pinned":
                raise Skip
            target = Ref(self.array(source.nbytes).regions[0], 0, source.nbytes)
            gpu.copy_d2h_async(self.give(source), self.host_side(target), stream.obj)
            op = Op(lambda values: move(source, target), names={source.region.holder})
        recording.add(op)

    def op_run_sequence(self) -> None:
        self.run_held(self.pick(self.device().sequences))

    def op_replay(self) -> None:
        device = self.device()
        held = self.pick(device.graphs)
        for _ in range(self.r.choice((1, 1, 2, 3))):
            self.run_held(held)

    def run_held(self, what: Held, *, is_prepared: bool = False) -> None:
        """A graph, sequence or prepared launch, with values; by itself or as part of a capture."""
        device, recording = what.device, what.recording
        stream = what.stream if is_prepared and self.chance(0.4) else self.stream(device)
        assert stream is not None
        if stream.is_gone:
            stream = self.stream(device)
        values = self.new_values(device, recording)
        full = {**recording.remembered, **values}
        if set(recording.slots) - set(full):
            raise Wrong("a slot without a value")
        given = self.given(values)
        if is_prepared:
            call = lambda: what.obj(stream=stream.obj, **given)  # noqa: E731
        else:
            call = lambda: what.obj.launch(stream.obj, **given)  # noqa: E731
        named = recording.names | {each.region.holder for each in full.values() if isinstance(each, Ref)}
        # A dropped buffer is held by who remembers it; a freed one is nobody's.
        is_stale = (
            any(each.is_freed for each in named)
            or not all(each.is_loaded for each in recording.modules)
            or any(each.is_closed for each in (*recording.recorded, *recording.awaited))
        )
        if is_stale and not recording.is_uncertain:
            self.refused((InvalidPointer, HandleClosed), call)
            self.forget_values(recording, values)
            return
        if device.debugging is not None and any(each.capture is not None for each in recording.awaited):
            raise Skip  # one by one, what is awaited would be the recording in the capture under way
        effects = recording.effects(full)
        touched: dict[Region, bool] = {}
        for effect in effects:
            for region, is_write in effect.touched().items():
                touched[region] = touched.get(region, False) or is_write
        owners = [region.holder.device for region in touched if region.holder.device not in (None, device)]
        if owners and any(each.captures or each.is_lost for each in owners if each is not None):
            raise Skip
        capture = stream.capture
        try:
            if capture is not None:
                if owners or recording.recorded or recording.awaited:
                    raise Skip
                self.run_inside(capture, stream, recording, full, touched, call)
            else:
                self.order(stream, touched)
                before = stream.clock.snapshot()
                learn(before, self.host)
                self.issue(stream, effects, call)
                # A node that is switched off names its memory, and may keep it from being freed; or is left out.
                for each in named:
                    learn(each.named_by, {stream.clock: stream.clock.count})
                for event in recording.recorded:
                    event.snapshot, event.capture, event.is_over = before, None, False
        except GpuError:
            self.forget_values(recording, values)
            # Issued one by one, some of it may have been queued: when these were recorded last nobody knows.
            for event in recording.recorded:
                if event in device.events:
                    device.events.remove(event)
            raise
        recording.remembered = full

    def forget_values(self, recording: Recording, values: Mapping[str, Any]) -> None:
        """A refused call may or may not have remembered them."""
        for name in values:
            recording.remembered.pop(name, None)
        for name, value in list(recording.remembered.items()):
            if isinstance(value, Ref) and value.region.holder.obj is None:
                del recording.remembered[name]

    def run_inside(
        self,
        capture: ACapture,
        stream: AStream,
        recording: Recording,
        full: Mapping[str, Any],
        touched: Mapping[Region, bool],
        call: Callable[[], object],
    ) -> None:
        self.order_inside(capture, stream, touched)
        assert stream.inner is not None
        try:
            call()
            capture.join(recording, full)
        except GpuError:
            for each in recording.effects(full):
                capture.ops.append(lambda _, each=each: Effect(each.reads, each.writes, each.spoil))  # type: ignore[misc]
            capture.is_uncertain = True
            raise
        finally:
            stream.inner.count += 1
            for region, is_write in touched.items():
                capture.access(region).note(stream.inner, is_write)

    # ------------------------------------------------ streams and events

    def op_record_event(self) -> None:
        device = self.device()
        self.record(self.event(device), self.stream(device))

    def op_wait_event(self) -> None:
        device = self.device()
        event, stream = self.pick(device.events), self.stream(device)
        if event.is_over or (event.snapshot is None):
            if stream.capture is None:
                self.refused(EventError, lambda: stream.obj.wait_event(event.obj))
            return
        if stream.capture is not None:
            if event.capture is stream.capture:
                self.wait_inside(stream.capture, stream, event)
            elif event.capture is None:
                # An event from outside: each replay waits for its last recording.
                stream.obj.wait_event(event.obj)
                stream.capture.awaited.append(event)
            return
        if event.capture is not None:
            self.draw_in(event.capture, stream, event)
            return
        stream.obj.wait_event(event.obj)
        stream.clock.count += 1
        stream.clock.learn(event.snapshot)

    def draw_in(self, capture: ACapture, stream: AStream, event: AnEvent) -> None:
        if "p" in capture.slots or "q" in capture.slots:
            raise Skip
        tail = self.event(stream.device, is_new=True) if self.chance(0.8) else None
        if tail is not None:
            self.record(tail, stream)
            stream.device.events.remove(tail)
        try:
            stream.obj.wait_event(event.obj)
            if not stream.obj.is_capturing:
                raise Wrong(f"{stream} was not drawn in")
        finally:
            # Also when what comes behind the driver's wait fails.
            if stream.obj.is_capturing:
                stream.tail, stream.capture, stream.inner = tail, capture, Clock(f"{stream} inside")
                assert event.snapshot is not None
                stream.inner.learn(event.snapshot)
                capture.members.append(stream)

    def op_draw_in(self) -> None:
        device = self.device()
        capture = self.pick(device.captures)
        others = [each for each in device.streams if each.capture is None]
        stream = self.pick(others)
        event = self.event(device)
        self.record(event, self.r.choice(capture.members))
        self.draw_in(capture, stream, event)

    def op_query(self) -> None:
        device = self.device()
        if self.chance(0.5):
            stream = self.stream(device)
            if not self.may_wait(device, stream):
                self.refused(CaptureError, stream.obj.query)
                return
            snapshot = stream.clock.snapshot()
            if stream.obj.query():
                learn(self.host, snapshot)
            return
        event = self.pick(device.events)
        if event.snapshot is None or event.is_over or event.capture is not None:
            self.refused(EventError, event.obj.query)
            return
        snapshot = event.snapshot
        if event.obj.query():
            learn(self.host, snapshot)

    def op_synchronize(self) -> None:
        device = self.device()
        if self.chance(0.4):
            if device.captures:
                self.refused(CaptureError, device.gpu.synchronize)
            else:
                self.synchronize(device)
        elif self.chance(0.5):
            stream = self.stream(device)
            if not self.may_wait(device, stream):
                self.refused(CaptureError, stream.obj.synchronize)
                return
            self.await_stream(stream)
        else:
            event = self.pick([each for each in device.events if each.snapshot is not None and not each.is_over])
            if event.capture is not None:
                self.refused(EventError, event.obj.synchronize)
                return
            if not self.may_wait(device):
                self.refused(CaptureError, event.obj.synchronize)
                return
            event.obj.synchronize()
            learn(self.host, event.snapshot)
        self.check_arrays()

    def op_elapsed(self) -> None:
        device = self.device()
        start, end = self.pick(device.events), self.pick(device.events)
        if not (start.obj.has_timing and end.obj.has_timing):
            raise Skip
        with contextlib.suppress(EventError):
            elapsed_ms = start.obj.elapsed_ms(end.obj)
            if elapsed_ms < 0:
                raise Wrong(f"{elapsed_ms} ms")

    def op_close_event(self) -> None:
        device = self.device()
        event = self.pick(device.events)
        if event.capture is not None:
            raise Skip
        device.events.remove(event)
        if self.chance(0.5):
            event.is_closed = True
            event.obj.close()

    def op_new_stream(self) -> None:
        device = self.device()
        if len(device.streams) > 4:
            raise Skip
        self._enter_stream(device, device.gpu.create_stream(self.r.choice(self.priorities)))

    def op_end_stream(self) -> None:
        device = self.device()
        stream = self.pick(device.streams[1:])
        if stream.capture is not None:
            self.refused(CaptureError, stream.obj.close)
            return
        if self.chance(0.6):
            if not self.may_wait(device):
                # Nothing is said of destroying another stream meanwhile.
                raise Skip
            snapshot = stream.clock.snapshot()
            try:
                stream.obj.close()
                learn(self.host, snapshot)
            finally:
                if not stream.obj.is_open:
                    device.streams.remove(stream)
                    stream.is_gone = True
            return
        event = self.event(device, is_new=True)
        self.record(event, stream)
        device.events.remove(event)
        stream.tail, stream.is_gone = event, True
        device.streams.remove(stream)
        for held in device.prepared:
            if held.stream is stream:
                held.stream = None
        device.prepared = [each for each in device.prepared if each.stream is not None]
        stream.obj = None

    # ------------------------------------------------ captures

    def op_begin_capture(self) -> None:
        device = self.device()
        if len(device.captures) > (1 if self.chance(0.2) else 0):
            raise Skip
        stream = self.r.choice(device.streams)
        if stream.capture is not None:
            self.refused(CaptureError, lambda: device.gpu.begin_capture(stream.obj))
            return
        tail = None
        if self.chance(0.8):
            tail = self.event(device, is_new=True)
            self.record(tail, stream)
            device.events.remove(tail)
        mode = self.r.choice(MODES)
        device.gpu.begin_capture(stream.obj, mode=mode)
        capture = ACapture(device=device, origin=stream, mode=mode, members=[stream])
        stream.capture, stream.inner, stream.tail = capture, Clock(f"{stream} inside"), tail
        device.captures.append(capture)

    def leave(self, capture: ACapture) -> None:
        capture.device.captures.remove(capture)
        for stream in capture.members:
            stream.capture = stream.inner = stream.tail = None
            if stream.obj.is_capturing:
                raise Wrong(f"{stream} is still being captured")
        for event in capture.device.events:
            if event.capture is capture:
                event.capture, event.snapshot, event.is_over = None, None, True

    def op_end_capture(self) -> None:
        device = self.device()
        capture = self.pick(device.captures)
        if len(capture.members) > 1 and self.chance(0.1):
            self.refused(CaptureError, lambda: device.gpu.end_capture(capture.members[1].obj))
            return
        if self.chance(0.15):
            try:
                device.gpu.abort_capture(self.r.choice(capture.members).obj)
            finally:
                self.leave(capture)
            return
        try:
            graph = device.gpu.end_capture(capture.origin.obj)
        finally:
            self.leave(capture)
        recording = Recording(
            capture.ops, capture.slots, capture.names, capture.modules, capture.recorded, capture.awaited
        )
        recording.is_uncertain = capture.is_uncertain
        if set(graph.slot_names) != set(recording.slots) and self.fault is None:
            raise Wrong(f"slots {graph.slot_names}, not {sorted(recording.slots)}")
        if len(device.graphs) > 4:
            device.graphs.pop(self.r.randrange(len(device.graphs)))
        device.graphs.append(Held(device, graph, recording))

    def op_end_graph(self) -> None:
        device = self.device()
        held = self.pick(device.graphs)
        device.graphs.remove(held)
        if self.chance(0.5):
            held.obj.close()

    # ------------------------------------------------ the rest

    def op_reload(self) -> None:
        device = self.device()
        if not self.may_wait(device) or device.captures:
            raise Skip
        old = device.modules[1]
        if self.chance(0.5):
            try:
                if old.is_loaded:
                    device.gpu.unload_module("m1")
            finally:
                old.is_loaded = device.gpu.has_module("m1")
            if self.chance(0.5):
                return
        try:
            device.gpu.load_module("m1", source=self.code, replace=True)
        finally:
            new = device.gpu.module("m1") if device.gpu.has_module("m1") else None
            if new is not None and new is not old.obj:
                old.is_loaded = False
                device.modules[1] = AModule(new)

    def op_collect(self) -> None:
        gc.collect(self.r.choice((0, 1)))

    def op_debug_sync(self) -> None:
        device = self.device()
        if device.debugging is not None:
            device.debugging.close()
            device.debugging = None
        elif self.chance(0.4):
            device.debugging = contextlib.ExitStack()
            device.debugging.enter_context(device.gpu.debug_sync())

    # ------------------------------------------------ the end

    def finish(self) -> None:
        """Everything is compared, let go of and closed, and then nothing is left."""
        self.stop_faults()
        self.r = random.Random(self.seed)
        alive = [each for each in self.devices if not each.is_lost]
        for device in alive:
            while device.captures:
                capture = device.captures[0]
                device.gpu.abort_capture(capture.origin.obj)
                self.leave(capture)
        for device in alive:
            self.settle(device)
        for device in alive:
            self.synchronize(device)
        for device in alive:
            for region in device.live():
                with contextlib.suppress(Skip):
                    self.check(region)
        for holder in self.arrays:
            clocks = holder.regions[0].accesses.all_of()
            if not any(self.streams[clock].device.is_lost or self.streams[clock].is_gone for clock in clocks):
                self.compare(holder.regions[0], holder.obj)
        if self.fault is not None:
            for device in alive:
                self.use(device)
            for device in (*alive, *alive):
                self.synchronize(device)
        for device in self.devices:
            if device.debugging is not None:
                device.debugging.close()
        if self.redzone and self.fault is None:
            for device in alive:
                damages = device.gpu.scan_redzones()
                if damages:
                    raise Wrong(f"{damages}")
        leave_objects = self.chance(0.3)
        kept = []
        for device in self.devices:
            kept.append((device.streams, device.events, device.graphs) if leave_objects else None)
            self.let_go(device)
        self.arrays.clear()
        self.streams.clear()
        gc.collect()
        for device in self.devices:
            if device.is_lost:
                # A capture under way there may name memory of the other one.
                device.gpu.close()
        for device in alive:
            device.gpu._scratch.drop_spare()
            device.gpu.synchronize()
            if device.gpu.live_alloc_count():
                raise Wrong(f"left in the ledger: {device.gpu.alloc_report()}")
        for device in self.devices:
            device.gpu.close()
        del kept
        gc.collect()
        self.look()

    def use(self, device: Device) -> None:
        """After faults: what there is can be used, and does what it should."""
        for region in device.live():
            with contextlib.suppress(Skip):
                self.queue_fill(self.r.choice(device.streams), Ref(region, 0, region.nbytes), 1)
                target = self.ref(region, align=4)
                self.queue_affine(self.r.choice(device.streams), target, "builder")
        for held in (*device.graphs, *device.sequences):
            if held.recording.is_uncertain:
                continue
            with contextlib.suppress(Skip):
                self.run_held(held)
                self.run_held(held)
        for held in device.prepared:
            with contextlib.suppress(Skip):
                self.run_held(held, is_prepared=True)
        for region in device.live():
            with contextlib.suppress(Skip):
                self.check(region)

    def let_go(self, device: Device) -> None:
        for held in (*device.graphs, *device.sequences, *device.prepared):
            held.obj = None
        for things in (device.graphs, device.sequences, device.prepared):
            things.clear()
        for holder in list(device.holders):
            if holder.kind == "pinned":
                device.gpu.free_host_pinned(holder.obj) if not device.is_lost else None
            elif holder.kind in ("alloc", "async", "managed"):
                device.gpu.free(holder.obj) if not device.is_lost else None
            self.forget(holder, is_freed=True)
        device.streams, device.events = [], []
