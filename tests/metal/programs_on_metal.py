"""Random programs on two devices of the Metal stand-in.

    python tests/metal/programs_on_metal.py --first 1000 --seconds 60 [--faults]

runs as many as fit, and reduces and prints what fails.
"""

from __future__ import annotations

import contextlib
import random
import struct
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent.parent)]

import numpy as np
from random_programs.machine import AStream, Device, Machine, Op, Skip, Wrong
from random_programs.model import Clock, Effect, Ref, Region, affine, nothing, put
from random_programs.searching import main

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.metal.faults import Pending
from metrale_gpu_runtime.drivers.metal.launching import MetalLaunchTarget
from metrale_gpu_runtime.errors import ContextLost, DriverFault, GpuError, KernelFault

LARGE_COUNT = 1030
"""Words of a value that goes through memory of its own: more than 4096 bytes."""

MSL = f"""
#include <metal_stdlib>
using namespace metal;

kernel void affine(device uint* values [[buffer(0)]], constant uint& count [[buffer(1)]],
                   constant uint& factor [[buffer(2)]], constant uint& addend [[buffer(3)]],
                   uint at [[thread_position_in_grid]]) {{
    if (at < count) {{
        values[at] = values[at] * factor + addend;
    }}
}}

kernel void mix(device uint* into [[buffer(0)]], device const uint* from [[buffer(1)]],
                constant uchar& odd [[buffer(2)]], constant uint& count [[buffer(3)]],
                constant uint& factor [[buffer(4)]], uint at [[thread_position_in_grid]]) {{
    if (at < count) {{
        into[at] = into[at] * factor + from[at] + odd;
    }}
}}

kernel void through(device const ulong* table [[buffer(0)]], constant uint& count [[buffer(1)]],
                    constant uint& factor [[buffer(2)]], constant uint& addend [[buffer(3)]],
                    uint at [[thread_position_in_grid]]) {{
    if (at < count) {{
        device uint* values = reinterpret_cast<device uint*>(table[0]);
        values[at] = values[at] * factor + addend;
    }}
}}

struct Large {{
    uint words[{LARGE_COUNT}];
}};

kernel void add_large(device uint* values [[buffer(0)]], constant Large& value [[buffer(1)]],
                      constant uint& count [[buffer(2)]], uint at [[thread_position_in_grid]]) {{
    if (at < count) {{
        values[at] = values[at] + value.words[{LARGE_COUNT - 1} - at % {LARGE_COUNT}];
    }}
}}

constant uint STEP [[function_constant(0)]];

kernel void reversed(device uint* values [[buffer(0)]], constant uint& count [[buffer(1)]],
                     threadgroup uint* room [[threadgroup(0)]], uint at [[thread_position_in_grid]],
                     uint inner [[thread_position_in_threadgroup]], uint width [[threads_per_threadgroup]]) {{
    room[inner] = at < count ? values[at] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (at < count) {{
        values[at] = room[width - 1 - inner] + STEP;
    }}
}}
"""

FIRST_ORDINALS = (10**6, 10**9)

REVOKED = 4
"""The code of what Metal does not even begin: no encoder is to blame."""

STRAY = 0x40
"""An address at which nothing lies."""


@dataclass(frozen=True)
class MetalFault:
    """What fails: the nth next operation of each kind, and how often a launch that strays is made."""

    buffers: tuple[tuple[int, int, int | None], ...] = ()
    """(code, which command buffer from now, which encoder of it)"""
    nils: tuple[tuple[str, int], ...] = ()
    """(kind, which from now): "buffer", "queue", "event", "library", "pipeline" """
    strays: bool = False


class Blame:
    """Which launches the driver took, and which the faults that it told name."""

    def __init__(self) -> None:
        self.queued: list[int] = []
        self.faults: list[DriverFault] = []
        submit, tell = MetalLaunchTarget.submit_using, Pending.tell
        self._real = submit, tell

        def noted_submit(target: Any, image: Any, geometry: Any, stream: int, ordinal: int, addresses: Any) -> None:
            submit(target, image, geometry, stream, ordinal, addresses)
            self.queued.append(ordinal)

        def noted_tell(pending: Pending) -> None:
            try:
                tell(pending)
            except DriverFault as fault:
                self.faults.append(fault)
                raise

        MetalLaunchTarget.submit_using = noted_submit  # type: ignore[method-assign]
        Pending.tell = noted_tell  # type: ignore[method-assign]

    def stop(self) -> None:
        MetalLaunchTarget.submit_using, Pending.tell = self._real  # type: ignore[method-assign]

    def check(self, standin: Any, lost: Sequence[int]) -> None:
        """Every launch that did not run is named by a fault, and none that did is said not to have run."""
        ran, faulted = _ordinals(standin.world.ran), _ordinals(standin.world.faulted)
        culprits = {each.launch for each in self.faults if each.launch is not None}
        dropped = {ordinal for each in self.faults for ordinal in each.dropped}
        silent = [
            each
            for each in self.queued
            if each not in ran | culprits | dropped and not any(first <= each < 1000 * first for first in lost)
        ]
        if silent:
            raise Wrong(f"launches that did not run and of which nobody was told: {silent[:9]}, of {self.faults}")
        if dropped & ran:
            raise Wrong(f"launches that are said not to have run did: {sorted(dropped & ran)[:9]}, of {self.faults}")
        # One that failed behind a failure of another stream is told with that one, as not run.
        if faulted - culprits - dropped and not lost:
            raise Wrong(f"launches at fault that nobody named: {sorted(faulted - culprits)[:9]}, of {self.faults}")


def _ordinals(labels: Iterable[str]) -> set[int]:
    return {int(label.partition(" ")[0]) for label in labels if label.partition(" ")[0].isdecimal()}


class MetalMachine(Machine):
    """The machine whose devices are the stand-in's."""

    backend = "metal"
    code: ClassVar = {".metal": MSL}
    memory_kinds = ("buffer", "buffer", "buffer", "alloc", "async", "managed", "pinned", "array")
    weights: ClassVar = {
        "alloc": 10, "free": 3, "free_async": 3, "drop": 4, "scratch": 2, "memset": 6, "h2d": 7, "d2h": 6,
        "check": 3, "d2d": 6, "d2d_2d": 4, "write_host": 2, "launch": 20, "lend": 1, "prepare": 3, "call": 7,
        "record_sequence": 3, "run_sequence": 5, "replay": 8, "record_event": 3, "wait_event": 5, "query": 3,
        "synchronize": 3, "elapsed": 1, "close_event": 2, "new_stream": 1, "end_stream": 1, "begin_capture": 4,
        "end_capture": 6, "draw_in": 3, "end_graph": 1, "reload": 1, "collect": 3, "debug_sync": 1,
        "gpu": 4, "through": 4, "large": 3, "reversed": 3, "many": 1, "stray": 1,
    }  # fmt: skip

    def begin(self) -> None:
        self.standin.reset(devices=2, unified=self.r.random() < 0.6)
        self.storage = self.r.choice(("shared", "private", None))
        # What was queued and is not known to be done, per stream: a failure may have taken it.
        self.queued: list[tuple[Clock, int, Effect]] = []
        self.told: list[KernelFault] = []
        self.blame = Blame() if self.fault is not None else None

    def open(self, number: int) -> mg.GpuBackend:
        return mg.open_backend(f"metal:{number}", storage=self.storage)

    @classmethod
    def fault_of(cls, seed: int) -> MetalFault:
        r = random.Random(f"fault {seed}")
        codes = (1, 2, 3, 3, 4, 8, 9, 11)
        buffers = tuple(
            (code, r.randint(1, 120), r.choice((None, 0, 0, 1, 5)) if code != REVOKED else None)
            for code in r.choices(codes, k=r.choice((0, 1, 1, 2, 4)))
        )
        kinds = ("buffer", "buffer", "buffer", "queue", "event", "library", "pipeline")
        nils = tuple((r.choice(kinds), r.randint(1, 12)) for _ in range(r.choice((0, 0, 1, 3))))
        return MetalFault(buffers, nils, strays=r.random() < 0.4)

    @classmethod
    def near_faults(cls, fault: MetalFault) -> list[MetalFault]:
        found = [fault]
        for at in range(len(fault.buffers)):
            found.append(replace(fault, buffers=fault.buffers[:at] + fault.buffers[at + 1 :]))
        for at in range(len(fault.nils)):
            found.append(replace(fault, nils=fault.nils[:at] + fault.nils[at + 1 :]))
        for by in (1, 2, 3, 5, 8, 13):
            earlier = tuple((code, max(1, nth - by), encoder) for code, nth, encoder in fault.buffers)
            found.append(replace(fault, buffers=earlier))
        return list(dict.fromkeys(found))

    def start_faults(self) -> None:
        for device in self.devices:
            # So that the number of a launch says whose it is.
            device.gpu._gate.count_from(FIRST_ORDINALS[device.number])
        for code, nth, encoder in self.fault.buffers:
            self.standin.fail_next("command buffer", code, nth=nth, encoder=encoder)
        for kind, nth in self.fault.nils:
            self.standin.fail_next(kind, nth=nth)

    def stop_faults(self) -> None:
        self.standin.world.failures.clear()
        self.standin.release()

    def lose(self, device: Device) -> None:
        """The stand-in's device goes on; the engine must not."""

    def close(self) -> None:
        self.standin.release()
        if self.blame is not None:
            self.blame.stop()

    def give(self, ref: Ref) -> Any:
        given = super().give(ref)
        # A kernel of words refuses a buffer that is known to be of bytes.
        return given.ptr if getattr(given, "dtype", None) is not None else given

    def until(self, call: Callable[[], bool], what: str) -> None:
        if call():
            return
        self.standin.release()
        end = time.monotonic() + 10
        while not call():
            if time.monotonic() > end:
                raise Wrong(what)
            time.sleep(0)

    def issue(self, stream: AStream, effects: Sequence[Effect], call: Callable[[], object]) -> None:
        try:
            super().issue(stream, effects, call)
        finally:
            if self.fault is not None:
                self.queued += [(stream.clock, stream.clock.count, each) for each in effects]

    def note_failure(self, error: GpuError) -> None:
        """What is not known to be done may have been lost with what failed, wherever it was queued."""
        super().note_failure(error)
        if isinstance(error, KernelFault):
            self.told.append(error)
            self.queued = [each for each in self.queued if self.host.get(each[0], 0) < each[1]]
            for _, _, effect in self.queued:
                effect.spoil()

    def read(self, region: Region) -> np.ndarray:
        """Memory that a launch names which did not run is refused until somebody uses it again, as it should be."""
        try:
            return super().read(region)
        except KernelFault as error:
            if "does not hold what it should" not in str(error) or not self.told:
                raise
            raise Skip from None

    def settle(self, device: Device) -> None:
        for _ in range(20):
            try:
                self.synchronize(device)
                return
            except ContextLost:
                raise
            except KernelFault as error:
                if self.fault is None:
                    raise
                self.note_failure(error)
        raise Wrong("faults without an end")

    def settle_stream(self, stream: AStream) -> None:
        """What failed before may be told now; a device may be lost by it."""
        try:
            stream.obj.synchronize()
        except KernelFault as error:
            self.note_failure(error)

    def finish(self) -> None:
        self.stop_faults()
        for device in self.devices:
            while device.captures and not device.is_lost:
                device.gpu.abort_capture(device.captures[0].origin.obj)
                self.leave(device.captures[0])
        for device in self.devices:
            for stream in device.streams:
                if self.fault is not None and stream.capture is None and not device.is_lost:
                    self.settle_stream(stream)
        super().finish()

    def let_go(self, device: Device) -> None:
        self.queued.clear()
        super().let_go(device)

    # ------------------------------------------------ what Metal has more

    def op_gpu(self) -> None:
        """The GPU runs late, at once, or a little."""
        way = self.r.randrange(4)
        if way <= 1:
            self.standin.hold(until_awaited=True)
        elif way == 2:
            self.standin.release()
        else:
            self.standin.release(self.r.randint(1, 4))

    def op_many(self) -> None:
        """So many small launches that they are collected."""
        device = self.device()
        stream = self.stream(device)
        module, kernel = self.kernel(device, "affine")
        into = self.words(device, peers=False)
        count = into.nbytes // 4
        for _ in range(self.r.choice((5, 20, 90))):
            factor, addend = self.r.getrandbits(32), self.r.getrandbits(32)
            call = lambda factor=factor, addend=addend: kernel[-(-count // 32), 32, 0, stream.obj](  # noqa: E731
                self.give(into), mg.u32(count), mg.u32(factor), mg.u32(addend)
            )
            effect = lambda values, factor=factor, addend=addend: affine(into, count, factor, addend)  # noqa: E731
            self.queue(stream, Op(effect, names={into.region.holder}, modules={module}), call)

    def op_through(self) -> None:
        """A launch that follows an address in memory to memory that it names by `.uses`."""
        device = self.device()
        stream = self.stream(device)
        module, kernel = self.kernel(device, "through")
        into = self.words(device, peers=False)
        holder = into.region.holder
        place = self.give(into)
        if holder.kind == "pinned":
            address = device.gpu.host_ptr_to_device(holder.obj).address + into.region.base + into.offset
        else:
            address = getattr(holder.obj, "ptr", holder.obj).address + into.region.base + into.offset
        tables = [each for each in device.live() if each.nbytes >= 8 and each.holder is not holder]
        table = self.ref(self.pick(tables), 8, align=8)
        count = into.nbytes // 4
        data = np.frombuffer(struct.pack("<Q", address), np.uint8).copy()
        table_at = self.give(table)
        self.queue(
            stream,
            Op(lambda values: put(table, data), names={table.region.holder}),
            lambda: device.gpu.copy_h2d_async(data, table_at, stream.obj),
        )
        factor, addend = self.r.getrandbits(32), self.r.getrandbits(32)
        builder = (
            mg.KernelLaunch(device.gpu, kernel)
            .grid(-(-count // 32))
            .block(32)
            .arg_ptr(table_at)
            .arg_u32(count)
            .arg_u32(factor)
            .arg_u32(addend)
            .uses(place)
        )

        def effect(values: Mapping[str, Any]) -> Effect:
            inner = affine(into, count, factor, addend)
            return Effect([*inner.reads, table], inner.writes, inner.apply)

        op = Op(effect, names={table.region.holder, holder}, modules={module})
        self.queue(stream, op, lambda: builder.launch(stream.obj))

    def op_stray(self) -> None:
        """A launch that writes where nothing is."""
        if self.fault is None or not self.fault.strays:
            raise Skip
        device = self.device()
        stream = self.stream(device)
        if stream.capture is not None:
            raise Skip
        _, kernel = self.kernel(device, "through")
        table = self.ref(self.pick([each for each in device.live() if each.nbytes >= 8]), 8, align=8)
        data = np.frombuffer(struct.pack("<Q", STRAY), np.uint8).copy()
        table_at = self.give(table)
        self.queue(
            stream,
            Op(lambda values: put(table, data)),
            lambda: device.gpu.copy_h2d_async(data, table_at, stream.obj),
        )
        effect = Effect([table], [], nothing)
        self.queue(
            stream,
            Op(lambda values: effect),
            lambda: kernel[1, 1, 0, stream.obj](table_at, mg.u32(1), mg.u32(1), mg.u32(1)),
        )

    def op_large(self) -> None:
        """A launch with a value that is no inline one."""
        device = self.device()
        stream = self.stream(device)
        module, kernel = self.kernel(device, "add_large")
        into = self.words(device, peers=False)
        count = into.nbytes // 4
        value = np.frombuffer(self.bytes(4 * LARGE_COUNT), np.uint32)
        place = self.give(into)
        builder = (
            mg.KernelLaunch(device.gpu, kernel)
            .grid(-(-count // 64))
            .block(64)
            .arg_ptr(place)
            .arg_bytes(value.tobytes(), align=4)
            .arg_u32(count)
        )

        def effect(values: Mapping[str, Any]) -> Effect:
            def apply() -> None:
                words = into.data.view(np.uint32)
                words[:] = words + value[LARGE_COUNT - 1 - np.arange(count) % LARGE_COUNT]
                into.known[:] = np.repeat(into.known.reshape(-1, 4).all(axis=1), 4)

            return Effect([into], [into], apply)

        self.queue(
            stream,
            Op(effect, names={into.region.holder}, modules={module}),
            lambda: builder.launch(stream.obj),
        )

    def op_reversed(self) -> None:
        """A specialised launch that uses threadgroup memory, given in one of its two forms."""
        device = self.device()
        stream = self.stream(device)
        module = self.pick([each for each in device.modules if each.is_loaded])
        step, block = self.r.choice((3, 70_000)), self.r.choice((1, 7, 32))
        kernel = device.gpu.kernel(module.obj, "reversed", constants={"STEP": step})
        into = self.words(device, peers=False)
        count = into.nbytes // 4
        grid = -(-count // block)
        place = self.give(into)
        builder = mg.KernelLaunch(device.gpu, kernel).grid(grid).block(block).arg_ptr(place).arg_u32(count)
        builder = builder.shared_mem(4 * block) if self.chance(0.5) else builder.arg_local(4 * block)

        def effect(values: Mapping[str, Any]) -> Effect:
            def apply() -> None:
                words = into.data.view(np.uint32)
                room = np.zeros(grid * block, np.uint32)
                room[:count] = words
                words[:] = room.reshape(grid, block)[:, ::-1].reshape(-1)[:count] + np.uint32(step)
                known = np.ones(grid * block, bool)
                known[:count] = into.known.reshape(-1, 4).all(axis=1)
                into.known[:] = np.repeat(known.reshape(grid, block)[:, ::-1].reshape(-1)[:count], 4)

            return Effect([into], [into], apply)

        self.queue(
            stream,
            Op(effect, names={into.region.holder}, modules={module}),
            lambda: builder.launch(stream.obj),
        )

    # ------------------------------------------------ the end

    def look(self) -> None:
        if self.blame is not None:
            lost = [FIRST_ORDINALS[each.number] for each in self.devices if each.is_lost]
            self.blame.check(self.standin, lost)
        violations = self.standin.take_violations()
        if violations:
            raise Wrong(f"violations: {violations[:3]}")
        left = self.standin.live()
        if left:
            raise Wrong(f"left in Metal: {left}")


@contextlib.contextmanager
def standing_in() -> Any:
    from metal_standin.control import standin

    standin.reset(devices=2)
    with standin.on_path():
        yield standin


if __name__ == "__main__":
    with standing_in() as standin:
        sys.exit(main(MetalMachine, standin))
