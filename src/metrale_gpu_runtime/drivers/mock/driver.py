"""The mock driver: records every call, moves real bytes, orders work in queues, fails on request.

What it does not model:
- Kernels do nothing unless a Python function stands for their body (`define_kernel`); of code it reads only the names
  and the `.maxntid` and `.reqntid` of a PTX text's kernels. A body runs as one piece: threads never race.
- Time: its clock counts operations (1/1024 ms each). Nothing runs in the background; work runs when somebody
  waits, polls (one operation per question) or has filled a queue.
- Registers, caches, occupancy beyond what a kernel's definition says, clocks, power, preemption.
- Contexts current to a thread, peer access between devices, several processes, the layout of managed memory.
- Tensor maps: the 128 bytes tell one map from another and mean nothing. Graphs of its own: the engine records.
- Memory pressure by fragmentation: an allocation fails only over the total or by a fault plan.
- Races between streams: operations run one after the other. `run_queued(seed=…)` tries other orders.
- Compilers: any text is accepted. A wrong address in a launch is noticed only by a body that uses it.
- Limits: it states a profile in its capabilities; whoever calls the driver enforces them.

It does check the engine: memory freed or unmapped, modules unloaded and streams destroyed while queued work uses them,
memory of a stream's order used before the stream has come to it or after it was given back, addresses with nothing
mapped to them, and a host array that is gone before its copy ran, raise ContractViolation and stay in `violations`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ...capabilities import Capabilities
from ...driver import (
    DEFAULT_STREAM,
    ArgumentKind,
    ArgumentLayout,
    CodeImage,
    Driver,
    FunctionAttributes,
    FunctionConstant,
    LaunchTarget,
    MemoryKind,
    TensorMapDescription,
)
from ...errors import DriverFault, Finding, KernelNotFound
from ...geometry import Geometry
from ...handles import EventHandle, KernelHandle, ModuleHandle, StreamHandle
from . import log as calls
from .faults import FaultFound, FaultPlan, LaunchFault
from .host import HostBytes
from .kernels import (
    KernelBody,
    KernelContext,
    KernelDefinition,
    LoadedKernel,
    LoadedModule,
    constants_of,
    declared_kernels,
)
from .memory import GRANULE, ContractViolation, MockMemory, Region
from .profiles import profile as named_profile
from .queues import Operation, Queues, Recording
from .tensor_maps import encode

GIB = 1024**3

FIRST_STREAM_OR_EVENT = 101
"""Streams and events share one row of numbers, as in the seed's mock: one taken for the other is then noticed."""

FIRST_KERNEL = 0xDEAD

_GIVES_MEMORY_BACK = (calls.Free, calls.FreeAsync, calls.UnmapMemory, calls.ReleaseAddresses)


class MockDriver(Driver):
    """A device in memory, for tests of programs and of the engine.

    `profile` names a device whose limits to state, or gives them as Capabilities. `strict`: only kernels that were
    defined or declared, or that a loaded PTX text holds, are found. `strict_pointers`: addresses outside the
    ledger are refused. `plan` says which calls fail. `fill` is the byte that new memory holds (None: zero).
    `queue_depth` is how many operations a stream holds. `keep_log=False` counts only.
    """

    name = "mock"

    def __init__(
        self,
        profile: str | Capabilities = "generic",
        *,
        strict: bool = False,
        strict_pointers: bool = False,
        plan: FaultPlan | None = None,
        fill: int | None = None,
        total_memory: int = 128 * GIB,
        reserved_memory: int | None = None,
        queue_depth: int = 1024,
        keep_log: bool = True,
    ) -> None:
        capabilities = named_profile(profile) if isinstance(profile, str) else profile
        self.capabilities = replace(capabilities, untracked_pointers=False) if strict_pointers else capabilities
        self.strict = strict
        self.plan = plan if plan is not None else FaultPlan()
        self.log = calls.Log(keep_log)
        self.violations: list[str] = []
        reserved = min(8 * GIB, total_memory // 16) if reserved_memory is None else reserved_memory
        self._memory = MockMemory(total_memory, reserved, fill)
        self._queues = Queues(queue_depth, keep_ran=keep_log, refuse=self._violation)
        self.host_available: int | None = None
        """What the host has free, for a device that shares its memory (`Capabilities.unified_memory`)."""
        self._queues.open(DEFAULT_STREAM)
        self._events: dict[EventHandle, Recording | None] = {}
        self._modules: dict[ModuleHandle, LoadedModule] = {}
        self._kernels: dict[KernelHandle, LoadedKernel] = {}
        self._definitions: dict[tuple[str, str], KernelDefinition] = {}
        self._declared: set[tuple[str, str]] = set()
        self._denied: set[tuple[str, str]] = set()
        self._globals: dict[tuple[str, str], bytes] = {}
        self._next_handle: Counter[str] = Counter(
            {"stream or event": FIRST_STREAM_OR_EVENT, "kernel": FIRST_KERNEL, "module": 1}
        )
        self._lost: DriverFault | None = None
        self._found_at_once: DriverFault | None = None
        self._closed = False
        # One lock: several threads may call, and the order of the log is the order in which they got in.
        self._lock = threading.RLock()

    # ------------------------------------------------ what a test says beforehand

    def define_kernel(
        self,
        module: str,
        function: str,
        body: KernelBody | None = None,
        *,
        attributes: FunctionAttributes | None = None,
        blocks_per_multiprocessor: int | None = None,
        max_cluster_blocks: int | None = None,
        constants: Sequence[FunctionConstant] | Mapping[str, str] = (),
    ) -> None:
        """Let a Python function stand for a kernel's body, and say what the driver knows of the kernel.

        `constants` are its function constants, for a profile that has them ("M2"): {"N": "uint", "USE_BIAS": "bool"}
        says required ones, numbered in order; FunctionConstant says all. Holds for lookups made afterwards. `body` gets
        a KernelContext.
        """
        self._definitions[module, function] = KernelDefinition(
            body, attributes, blocks_per_multiprocessor, max_cluster_blocks, constants_of(constants)
        )

    def declare_kernels(self, module: str, *functions: str) -> None:
        """Say that a module has these kernels, without a body; what `strict` then finds."""
        self._declared.update((module, function) for function in functions)

    def deny_kernel(self, module: str, function: str) -> None:
        """Let every lookup of this kernel fail; it is recorded all the same."""
        self._denied.add((module, function))

    def define_global(self, module: str, symbol: str, data: bytes) -> None:
        """Give a module that is loaded afterwards a variable with these first bytes."""
        self._globals[module, symbol] = bytes(data)

    # ------------------------------------------------ what a test asks afterwards

    @property
    def ran(self) -> list[calls.Call]:
        """The queued calls that have run, in the order in which they ran."""
        return self._queues.ran

    @property
    def queued_count(self) -> int:
        """Operations that wait in queues."""
        return sum(map(len, self._queues.streams.values()))

    @property
    def books(self) -> dict[str, int]:
        """How many of each kind the engine has not given back; all 0 after `close` of a correct engine."""
        return {
            "allocations": len(self._memory.live),
            "reservations": len(self._memory.reserved),
            "streams": len(self._queues.streams) - 1,
            "events": len(self._events),
            "modules": len(self._modules),
            "queued": self.queued_count,
        }

    @property
    def is_lost(self) -> bool:
        """True once a fault took the context."""
        return self._lost is not None

    def peek(self, address: int, nbytes: int) -> bytes:
        """The bytes in device memory now, without running anything. Raises IndexError outside allocations."""
        return bytes(self._memory.view(address, nbytes))

    def run_queued(self, *, seed: int | None = None) -> None:
        """Run all queued work without a waiting call: stream by stream, or interleaved at random from a seed.

        Raises DriverFault when some of it fails.
        """
        with self._lock, self._noticing_loss():
            self._queues.run_all(seed)

    # ------------------------------------------------ inside

    def _violation(self, message: str) -> ContractViolation:
        self.violations.append(message)
        return ContractViolation(message)

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        try:
            yield
        except DriverFault as fault:
            if fault.context_lost and self._lost is None:
                dropped = self._queues.drop_everything()
                if dropped:
                    fault.dropped = tuple(sorted({*fault.dropped, *dropped}))
                self._lost = fault
            raise

    @contextmanager
    def _call(self, call: calls.Call, *, clean_up: bool = False) -> Iterator[LaunchFault | None]:
        """Record a call, let it fail if the plan says so, and note how it ended.

        Gives what the plan wants of a launch once it runs, for that concerns no call of now.
        """
        with self._lock, self._noticing_loss():
            self.log.enter(call)
            try:
                if self._closed:
                    raise self._violation(f"{call.call} after close")
                if self._lost is not None and not clean_up:
                    raise DriverFault(
                        self._lost.code_name, self._lost.message, launch=self._lost.launch, context_lost=True
                    )
                if self._found_at_once is not None and not clean_up:
                    found, self._found_at_once = self._found_at_once, None
                    raise found
                failure = self.plan.take(call)
                if failure is None or isinstance(failure, LaunchFault):
                    yield failure
                elif isinstance(failure, FaultFound):
                    yield from self._find_fault(failure.error(call), call)
                else:
                    raise failure.error(call)
            except Exception as error:
                call.failed = type(error).__name__
                raise
            self.log.completed(call)

    def _find_fault(self, fault: DriverFault, call: calls.Call) -> Iterator[None]:
        """Let a call find a fault, in the way the contract has it for that call."""
        if isinstance(call, calls.Synchronize | calls.SynchronizeEvent) and not fault.context_lost:
            # Who waits is told of a fault when the wait is over.
            yield
        elif isinstance(call, _GIVES_MEMORY_BACK) and fault.context_lost:
            # Giving memory back never tells of a lost context; the next call will.
            yield
            self._queues.drop_everything()
            self._lost = fault
            return
        raise fault

    def _number(self, kind: str) -> int:
        number = self._next_handle[kind]
        self._next_handle[kind] += 1
        return number

    def _bytes(self, address: int, nbytes: int) -> memoryview:
        try:
            return self._memory.view(address, nbytes)
        except IndexError as error:
            raise self._violation(str(error)) from error

    def _region(self, address: int, nbytes: int) -> Region:
        found = self._memory.find(address)
        if found is None or not found[0].holds(found[1], nbytes):
            raise self._violation(f"{nbytes} bytes at {address:#x} do not lie in one live allocation")
        if found[0].given_back:
            raise self._violation(f"{address:#x} was given to free_async and is used again")
        return found[0]

    def _stream(self, stream: StreamHandle) -> StreamHandle:
        if stream not in self._queues.streams:
            raise self._violation(f"stream {stream} was never created or is destroyed")
        return stream

    def _recording(self, event: EventHandle) -> Recording:
        recording = self._events.get(event)
        if recording is None:
            raise self._violation(f"event {event} has no recording, or is destroyed")
        return recording

    def _queue(self, call: calls.Call, stream: StreamHandle, action: Callable[[], None], *regions: Region) -> None:
        self._queues.push(Operation(call, self._stream(stream), action, regions))

    # ------------------------------------------------ memory

    def alloc(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> int:
        call = calls.Alloc(nbytes, kind.value)
        with self._call(call):
            call.address = self._memory.allocate(nbytes, kind).base
            return call.address

    def free(self, address: int, kind: MemoryKind = MemoryKind.DEVICE) -> None:
        with self._call(calls.Free(address, kind.value), clean_up=True):
            found = self._memory.find(address)
            if found is not None and found[0].pending:
                raise self._violation(f"free({address:#x}) while {found[0].pending} queued operations use it")
            if found is not None and not found[0].ready:
                raise self._violation(f"free({address:#x}) before its stream has come to the allocation")
            with self._noting_violations():
                self._memory.release(address, kind)

    @contextmanager
    def _noting_violations(self) -> Iterator[None]:
        try:
            yield
        except ContractViolation as error:
            self.violations.append(str(error))
            raise

    def memory_figures(self) -> tuple[int, int]:
        with self._call(calls.MemoryFigures()):
            free = self._memory.free
            if self.capabilities.unified_memory and self.host_available is not None:
                free = max(free, self.host_available)
            return free, self._memory.total

    def device_free_memory(self) -> int:
        with self._call(calls.DeviceFreeMemory()):
            return self._memory.free

    def alloc_async(self, nbytes: int, stream: StreamHandle) -> int:
        call = calls.AllocAsync(nbytes, stream)
        with self._call(call):
            self._stream(stream)
            region = self._memory.allocate(nbytes, MemoryKind.DEVICE)
            region.ready = False

            def reach() -> None:
                region.ready = True

            self._queues.push(Operation(call, stream, reach, dropped=reach))
            call.address = region.base
            return region.base

    def free_async(self, address: int, stream: StreamHandle) -> None:
        call = calls.FreeAsync(address, stream)
        with self._call(call, clean_up=True):
            found = self._memory.find(address)
            if found is None or found[1] or found[0].given_back:
                raise self._violation(f"free_async({address:#x}) of what alloc_async never returned or is freed")
            region = found[0]
            region.given_back = True

            def release() -> None:
                if region.pending:
                    raise self._violation(
                        f"free_async({address:#x}) ran before {region.pending} operations that use it"
                    )
                self._memory.release(address, MemoryKind.DEVICE)

            def drop() -> None:
                self._memory.release(address, MemoryKind.DEVICE)

            if self._lost is not None:
                drop()
            else:
                self._queues.push(Operation(call, self._stream(stream), release, dropped=drop))

    def reserve_addresses(self, nbytes: int) -> tuple[int, int, int]:
        call = calls.ReserveAddresses(nbytes)
        with self._call(call):
            region = self._memory.reserve(nbytes)
            call.address = region.base
            return region.base, region.nbytes, GRANULE

    def map_memory(self, address: int, nbytes: int) -> None:
        with self._call(calls.MapMemory(address, nbytes)), self._noting_violations():
            self._memory.map(address, nbytes)

    def unmap_memory(self, address: int, nbytes: int) -> None:
        with self._call(calls.UnmapMemory(address, nbytes), clean_up=True), self._noting_violations():
            self._memory.unmap(address, nbytes)

    def release_addresses(self, base: int, nbytes: int) -> None:
        with self._call(calls.ReleaseAddresses(base, nbytes), clean_up=True), self._noting_violations():
            self._memory.release_range(base, nbytes)

    def encode_tensor_map(self, description: TensorMapDescription) -> bytes:
        """Bytes that tell one description from another; NVIDIA's own form is known to its driver alone."""
        with self._call(calls.EncodeTensorMap(description)):
            if not self.capabilities.tensor_map_encoding:
                raise self._violation("encode_tensor_map on a device that states no tensor_map_encoding")
            return encode(description)

    def map_host(self, address: int, nbytes: int) -> int:
        """The device's own address of pinned memory; it differs from the host's, so that a mix-up shows."""
        with self._call(calls.MapHost(address, nbytes)):
            region = self._region(address, nbytes)
            if region.kind is not MemoryKind.PINNED:
                raise self._violation(f"map_host({address:#x}) of {region.kind.value} memory")
            return region.device_base + (address - region.base)

    # ------------------------------------------------ copies and fills

    def copy_h2d(self, dst: int, src: memoryview, stream: StreamHandle) -> None:
        call = calls.CopyH2D(dst, src.nbytes, stream)
        with self._call(call):
            region = self._region(dst, call.nbytes)
            source = HostBytes(src)
            self._queue(call, stream, lambda: self._read_host(call, source), region)

    def _read_host(self, call: calls.CopyH2D, source: HostBytes) -> None:
        view = source.view()
        if view is None:
            raise self._violation(f"the host source of {call.line()} was dropped before the copy ran")
        self._bytes(call.dst, call.nbytes)[:] = view

    def copy_d2h(self, dst: memoryview, src: int, stream: StreamHandle) -> None:
        call = calls.CopyD2H(src, dst.nbytes, stream)
        with self._call(call):
            region = self._region(src, call.nbytes)
            target = HostBytes(dst)
            self._queue(call, stream, lambda: self._write_host(call, target), region)

    def _write_host(self, call: calls.CopyD2H, target: HostBytes) -> None:
        view = target.view()
        if view is None:
            raise self._violation(f"the host target of {call.line()} was dropped before the copy ran")
        view[:] = self._bytes(call.src, call.nbytes)

    def copy_d2d(self, dst: int, src: int, nbytes: int, stream: StreamHandle) -> None:
        call = calls.CopyD2D(dst, src, nbytes, stream)
        with self._call(call):
            regions = self._region(dst, nbytes), self._region(src, nbytes)
            self._queue(call, stream, lambda: self._move(dst, src, nbytes), *regions)

    def _move(self, dst: int, src: int, nbytes: int) -> None:
        self._bytes(dst, nbytes)[:] = bytes(self._bytes(src, nbytes))

    def copy_d2d_2d(
        self, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: StreamHandle
    ) -> None:
        call = calls.CopyD2D2D(dst, dst_pitch, src, src_pitch, width, height, stream)

        def rows() -> None:
            for row in range(height):
                self._move(dst + row * dst_pitch, src + row * src_pitch, width)

        with self._call(call):
            if width > min(dst_pitch, src_pitch):
                raise self._violation(f"{call.line()}: a row is wider than its pitch")
            regions = (
                self._region(dst, (height - 1) * dst_pitch + width),
                self._region(src, (height - 1) * src_pitch + width),
            )
            self._queue(call, stream, rows, *regions)

    def memset(self, dst: int, value: int, width: int, count: int, stream: StreamHandle) -> None:
        call = calls.Memset(dst, value, width, count, stream)

        def fill() -> None:
            self._bytes(dst, width * count)[:] = value.to_bytes(width, "little") * count

        with self._call(call):
            self._queue(call, stream, fill, self._region(dst, width * count))

    # ------------------------------------------------ streams and events

    def create_stream(self, priority: int = 0) -> StreamHandle:
        call = calls.CreateStream(priority)
        with self._call(call):
            stream = StreamHandle(self._number("stream or event"))
            self._queues.open(stream)
            call.stream = stream
            return stream

    def destroy_stream(self, stream: StreamHandle) -> None:
        with self._call(calls.DestroyStream(stream), clean_up=True):
            if self._stream(stream) == DEFAULT_STREAM:
                raise self._violation("the default stream cannot be destroyed")
            if not self._queues.is_idle(stream):
                raise self._violation(f"destroy_stream({stream}) with {len(self._queues.streams[stream])} queued")
            del self._queues.streams[stream]

    def synchronize(self, stream: StreamHandle) -> None:
        with self._call(calls.Synchronize(stream, self.log.d2h_count)):
            self._queues.drain(self._stream(stream))

    def query_stream(self, stream: StreamHandle) -> bool:
        call = calls.QueryStream(stream)
        with self._call(call):
            call.done = self._poll(self._stream(stream), self._queues.is_idle(stream))
            return call.done

    def _poll(self, stream: int, done: bool) -> bool:
        """Answer a question and let one operation run; the answer is that of the moment of asking."""
        if self._queues.found:
            raise self._queues.found.pop(0)
        if not done:
            self._queues.step(stream)
        return done

    def create_event(self, timing: bool = True) -> EventHandle:
        call = calls.CreateEvent(timing)
        with self._call(call):
            event = EventHandle(self._number("stream or event"))
            self._events[event] = None
            call.event = event
            return event

    def destroy_event(self, event: EventHandle) -> None:
        with self._call(calls.DestroyEvent(event), clean_up=True):
            if event not in self._events:
                raise self._violation(f"event {event} was never created or is destroyed")
            del self._events[event]

    def record_event(self, event: EventHandle, stream: StreamHandle) -> None:
        call = calls.RecordEvent(event, stream)
        with self._call(call):
            if event not in self._events:
                raise self._violation(f"event {event} was never created or is destroyed")
            recording = Recording(event, self._stream(stream))
            self._events[event] = recording
            self._queues.push(Operation(call, stream, records=recording))

    def wait_event(self, stream: StreamHandle, event: EventHandle) -> None:
        call = calls.WaitEvent(stream, event)
        with self._call(call):
            self._queues.push(Operation(call, self._stream(stream), awaits=self._recording(event)))

    def synchronize_event(self, event: EventHandle) -> None:
        with self._call(calls.SynchronizeEvent(event)):
            self._queues.reach(self._recording(event))

    def query_event(self, event: EventHandle) -> bool:
        call = calls.QueryEvent(event)
        with self._call(call):
            recording = self._recording(event)
            call.done = self._poll(recording.stream, recording.reached)
            return call.done

    def elapsed_ms(self, start: EventHandle, end: EventHandle) -> float:
        with self._call(calls.ElapsedMs(start, end)):
            first, last = self._recording(start), self._recording(end)
            if not (first.reached and last.reached):
                raise self._violation(f"elapsed_ms({start}, {end}) before both were reached")
            return last.time_ms - first.time_ms

    # ------------------------------------------------ code

    def load_module(self, image: CodeImage) -> ModuleHandle:
        call = calls.LoadModule(image.name, image.format, len(image.data), image.options)
        with self._call(call):
            module = LoadedModule(ModuleHandle(self._number("module")), image, declared_kernels(image))
            for (owner, symbol), data in self._globals.items():
                if owner == image.name:
                    region = self._memory.allocate(max(len(data), 1), MemoryKind.DEVICE)
                    region.data[: len(data)] = data
                    module.symbols[symbol] = (region.base, len(data))
            self._modules[module.handle] = module
            call.module = module.handle
            return module.handle

    def unload_module(self, module: ModuleHandle) -> None:
        with self._call(calls.UnloadModule(module), clean_up=True):
            loaded = self._module(module)
            if loaded.pending:
                raise self._violation(f"unload_module({loaded.image.name}) while {loaded.pending} launches are queued")
            del self._modules[module]
            for kernel in loaded.kernels.values():
                del self._kernels[kernel]
            for address, _ in loaded.symbols.values():
                self._memory.release(address, MemoryKind.DEVICE)

    def _module(self, module: ModuleHandle) -> LoadedModule:
        if module not in self._modules:
            raise self._violation(f"module {module} was never loaded or is unloaded")
        return self._modules[module]

    def _kernel(self, kernel: KernelHandle) -> LoadedKernel:
        if kernel not in self._kernels:
            raise self._violation(f"kernel {kernel} was never looked up, or its module is unloaded")
        return self._kernels[kernel]

    def _known_functions(self, module: LoadedModule) -> tuple[str, ...]:
        name = module.image.name
        said = [function for owner, function in (*self._definitions, *sorted(self._declared)) if owner == name]
        known = dict.fromkeys((*(module.declared or ()), *said))
        return tuple(function for function in known if (name, function) not in self._denied)

    def function_names(self, module: ModuleHandle) -> tuple[str, ...] | None:
        loaded = self._module(module)
        with self._call(calls.FunctionNames(loaded.image.name)):
            known = self._known_functions(loaded)
            return known if self.strict or loaded.declared is not None else known or None

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        loaded = self._module(module)
        call = calls.Lookup(loaded.image.name, name)
        with self._call(call):
            call.handle = handle = self._found(loaded, name, {})
            return handle

    def function_constants(self, module: ModuleHandle, name: str) -> tuple[FunctionConstant, ...]:
        loaded = self._module(module)
        with self._call(calls.AskConstants(loaded.image.name, name)):
            return self._definition(loaded, name).constants

    def specialised_function(self, module: ModuleHandle, name: str, constants: Mapping[str, bytes]) -> KernelHandle:
        loaded = self._module(module)
        call = calls.SpecialisedLookup(loaded.image.name, name, tuple(sorted(constants.items())))
        with self._call(call):
            call.handle = handle = self._found(loaded, name, constants)
            return handle

    def _definition(self, loaded: LoadedModule, name: str) -> KernelDefinition:
        owner = loaded.image.name
        if (owner, name) in self._denied or (self.strict and name not in self._known_functions(loaded)):
            raise KernelNotFound(
                f"mock: module {owner} has no kernel {name}",
                module=owner,
                function=name,
                available=self._known_functions(loaded),
            )
        return self._definitions.get((owner, name), KernelDefinition())

    def _found(self, loaded: LoadedModule, name: str, constants: Mapping[str, bytes]) -> KernelHandle:
        definition = self._definition(loaded, name)
        if self.capabilities.function_constants:
            self._check_constants(definition, name, constants)
        key = (name, frozenset(constants.items()))
        if key not in loaded.kernels:
            handle = KernelHandle(self._number("kernel"))
            loaded.kernels[key] = handle
            self._kernels[handle] = LoadedKernel(handle, name, loaded, definition, dict(constants))
        return loaded.kernels[key]

    def _check_constants(self, definition: KernelDefinition, name: str, constants: Mapping[str, bytes]) -> None:
        known = {each.name for each in definition.constants}
        missing = [each.name for each in definition.constants if each.required and each.name not in constants]
        if missing or not known.issuperset(constants):
            raise self._violation(f"{name} made with the constants {sorted(constants)}; it has {sorted(known)}")

    def function_attributes(self, kernel: KernelHandle) -> FunctionAttributes:
        with self._call(calls.AskAttributes(kernel)):
            known = self._kernel(kernel)
            said = known.definition.attributes
            return said if said is not None else known.module.attributes_of(known.name)

    def max_active_blocks(self, kernel: KernelHandle, block_threads: int, shared_mem: int) -> int:
        with self._call(calls.AskOccupancy(kernel, block_threads, shared_mem)):
            definition = self._kernel(kernel).definition
            if definition.blocks_per_multiprocessor is not None:
                return definition.blocks_per_multiprocessor
            # 2048 resident threads and twice a block's shared memory: the shape of recent devices, no model of one.
            fitting = 2048 // block_threads
            if shared_mem:
                fitting = min(fitting, 2 * self.capabilities.max_static_and_dynamic_shared_mem // shared_mem)
            return fitting

    def max_cluster_blocks(self, kernel: KernelHandle, geometry: Geometry) -> int:
        with self._call(calls.AskClusterLimit(kernel, geometry.block.volume, geometry.shared_mem)):
            said = self._kernel(kernel).definition.max_cluster_blocks
            return said if said is not None else self.capabilities.max_cluster_blocks

    def global_symbol(self, module: ModuleHandle, name: str) -> tuple[int, int]:
        loaded = self._module(module)
        with self._call(calls.GlobalSymbol(loaded.image.name, name)):
            if name not in loaded.symbols:
                raise KernelNotFound(
                    f"mock: module {loaded.image.name} has no variable {name}",
                    module=loaded.image.name,
                    function=name,
                    available=tuple(loaded.symbols),
                )
            return loaded.symbols[name]

    def prepare_launch(self, kernel: KernelHandle, layout: ArgumentLayout) -> LaunchTarget:
        with self._call(calls.PrepareLaunch(kernel, len(layout.kinds))):
            return _MockTarget(self, self._kernel(kernel), layout)

    def _launch(
        self,
        kernel: LoadedKernel,
        layout: ArgumentLayout,
        image: bytes | bytearray,
        geometry: Geometry,
        stream: StreamHandle,
        ordinal: int,
        using: tuple[int, ...] | None = None,
    ) -> None:
        call = calls.Launch(
            kernel.handle,
            kernel.module.image.name,
            kernel.name,
            geometry.grid.as_tuple(),
            geometry.block.as_tuple(),
            geometry.shared_mem,
            stream,
            ordinal,
            bytes(image),
            layout,
            geometry.cluster.as_tuple() if geometry.cluster is not None else None,
            geometry.cooperative,
            geometry.attributes,
            using,
            self._threadgroup_memory(layout, geometry.shared_mem),
        )
        with self._call(call) as planned:
            self._kernel(kernel.handle)
            if len(call.image) != layout.nbytes:
                raise self._violation(f"{call.line()}: {len(call.image)} image bytes, the layout has {layout.nbytes}")
            if geometry.is_empty:
                raise self._violation(f"{call.line()}: an empty grid reached the driver")
            if self._queues.found:
                raise self._queues.found.pop(0)
            if using is not None and not self.capabilities.explicit_residency:
                raise self._violation(f"{call.line()}: memory is named beside the arguments, and nobody asked for it")
            operation = Operation(call, self._stream(stream), regions=self._pointed_at(call), module=kernel.module)
            self._put_aside(operation, call)
            self._arrange(operation, kernel, call, planned)
            self._queues.push(operation)

    def _threadgroup_memory(self, layout: ArgumentLayout, shared_mem: int) -> tuple[int, ...] | None:
        granule = self.capabilities.shared_mem_granularity
        if granule == 1:
            return None
        local = [size for kind, size in zip(layout.kinds, layout.sizes, strict=True) if kind is ArgumentKind.LOCAL]
        return tuple(-(-nbytes // granule) * granule for nbytes in ([shared_mem] if shared_mem else []) + local)

    def _put_aside(self, operation: Operation, call: calls.Launch) -> None:
        """Put values that are too large to go inline into memory of the driver's own, until the launch is over."""
        limit = self.capabilities.max_inline_argument_nbytes
        if limit is None:
            return
        aside = [
            (index, each)
            for index, each in enumerate(call.arguments)
            if each.kind is ArgumentKind.VALUE and each.nbytes > limit
        ]
        addresses: list[int] = []

        def release() -> None:
            for address in addresses:
                given_back = calls.TemporaryFree(call.ordinal, address)
                self.log.enter(given_back)
                self._memory.release(address, MemoryKind.DEVICE)
                self.log.completed(given_back)

        try:
            for index, each in aside:
                made = calls.TemporaryAlloc(call.ordinal, index, each.nbytes)
                with self._call(made):
                    region = self._memory.allocate(each.nbytes, MemoryKind.DEVICE)
                    region.data[:] = each.data
                    made.address = region.base
                    addresses.append(region.base)
        except BaseException:
            release()
            raise
        if addresses:
            operation.over = release

    def _arrange(
        self, operation: Operation, kernel: LoadedKernel, call: calls.Launch, planned: LaunchFault | None
    ) -> None:
        """Decide what the launch does when its turn comes: fail as planned, run its body, or nothing."""
        if planned is not None:
            fault = planned.error(call)
            if planned.found_at_once:
                self._found_at_once = fault
            else:
                operation.fault, operation.drops_later = fault, planned.drops_later
        elif kernel.definition.body is not None:
            body, symbols = kernel.definition.body, kernel.module.symbols
            resident = operation.regions if self.capabilities.explicit_residency else None
            operation.action = lambda: self._run_body(
                body, KernelContext(call, self._memory, symbols, kernel.constants, resident)
            )

    def _pointed_at(self, call: calls.Launch) -> tuple[Region, ...]:
        addresses = [a.address for a in call.arguments if a.kind is ArgumentKind.POINTER]
        if not self.capabilities.null_pointers and 0 in addresses:
            raise self._violation(f"{call.line()}: a null pointer reached a driver that takes none")
        found = (self._memory.find(address) for address in (*addresses, *(call.using or ())))
        regions = tuple(at[0] for at in found if at is not None)
        for region in regions:
            if region.given_back:
                raise self._violation(f"{call.line()}: {region.base:#x} was given to free_async and is used again")
        return regions

    def _run_body(self, body: KernelBody, context: KernelContext) -> None:
        call = context.launch
        try:
            body(context)
        except Exception as error:
            kind = "out-of-bounds" if isinstance(error, IndexError) else "trap"
            message = f"the Python body of {call.function} raised {type(error).__name__}: {error}"
            finding = Finding(kind, message, kernel=call.function, launch=call.ordinal)
            raise DriverFault("MOCK_KERNEL_RAISED", message, findings=(finding,), launch=call.ordinal) from error

    # ------------------------------------------------ the end

    def close(self) -> None:
        """Give everything back; what the engine left open stays in `books`."""
        with self._lock:
            self.log.enter(calls.Close())
            self._closed = True


class _MockTarget(LaunchTarget):
    """A kernel with one layout; every submit is a call of its own."""

    __slots__ = ("_driver", "_kernel", "_layout")

    def __init__(self, driver: MockDriver, kernel: LoadedKernel, layout: ArgumentLayout) -> None:
        self._driver, self._kernel, self._layout = driver, kernel, layout

    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        self._driver._launch(self._kernel, self._layout, image, geometry, stream, ordinal)

    def submit_using(
        self,
        image: bytes | bytearray,
        geometry: Geometry,
        stream: StreamHandle,
        ordinal: int,
        addresses: tuple[int, ...],
    ) -> None:
        self._driver._launch(self._kernel, self._layout, image, geometry, stream, ordinal, addresses)
