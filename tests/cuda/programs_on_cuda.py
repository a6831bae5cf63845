"""Random programs on two devices of the CUDA stand-in.

    python tests/cuda/programs_on_cuda.py --first 1000 --seconds 60 [--faults]

runs as many as fit, and reduces and prints what fails.
"""

from __future__ import annotations

import ctypes
import random
import struct
import sys
from pathlib import Path
from typing import Any, ClassVar

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent.parent)]

import numpy as np
from random_programs.machine import Device, Machine, Skip, Wrong
from random_programs.searching import main
from standin import StandIn
from standin.records import LAUNCH_FUNCTION, LOAD_FUNCTION

NO_MORE_PARAMETERS = 1
"""What cuFuncGetParamInfo says behind the last one: scripted, it is no failure but tells of a kernel with fewer."""

PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry affine(
    .param .u64 .ptr .global .align 4 values, .param .u32 count, .param .u32 factor, .param .u32 addend)
{ ret; }
.visible .entry mix(
    .param .u64 .ptr .global .align 4 into, .param .u64 .ptr .global .align 4 from, .param .u8 odd, .param .u32 count,
    .param .u32 factor)
{ ret; }
"""


class CudaMachine(Machine):
    """The machine whose devices are the stand-in's. A fault is (code, which call from now, how many).

    How many is one: when the undoing of a failed call fails too, some of it is left.
    """

    backend = "cuda"
    code: ClassVar = {".ptx": PTX}
    memory_kinds = ("buffer", "buffer", "buffer", "alloc", "async", "async", "managed", "pinned", "lazy", "array")
    priorities = (0, 0, -1)
    can_have_peers = True
    weights: ClassVar = {
        "alloc": 10, "free": 3, "free_async": 3, "drop": 4, "grow": 1, "scratch": 2, "memset": 5, "h2d": 7, "d2h": 6,
        "check": 3, "d2d": 6, "d2d_2d": 3, "peer": 4, "write_host": 2, "launch": 22, "lend": 1, "prepare": 3, "call": 7,
        "record_sequence": 3, "run_sequence": 5, "replay": 10, "record_event": 3, "wait_event": 5, "query": 3,
        "synchronize": 3, "elapsed": 1, "close_event": 2, "new_stream": 1, "end_stream": 1, "begin_capture": 5,
        "end_capture": 7, "draw_in": 4, "end_graph": 1, "reload": 1, "collect": 3, "debug_sync": 1,
    }  # fmt: skip

    def begin(self) -> None:
        self.standin.reset(devices=2, multiprocessor_count=self.r.choice((7, 20)))
        self.executor = PlainExecutor(self.standin)

    @classmethod
    def fault_of(cls, seed: int) -> tuple[int, int, int]:
        r = random.Random(f"fault {seed}")
        return r.choice((1, 1, 2, 2, 400, 801, 719)), r.choice((r.randint(1, 150), r.randint(1, 900))), 1

    @classmethod
    def near_faults(cls, fault: tuple[int, int, int]) -> list[tuple[int, int, int]]:
        code, nth, count = fault
        return [fault, *((code, max(1, nth - by), count) for by in (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22))]

    def start_faults(self) -> None:
        code, nth, count = self.fault
        if code == NO_MORE_PARAMETERS:
            self.read_kernels()
        self.standin.fail_call("*", code, nth=nth, count=count)

    def stop_faults(self) -> None:
        self.standin.clear_faults()

    def lose(self, device: Device) -> None:
        # A scripted call takes the context that is current; in front of entering one there is none.
        self.standin.fail_context(device.gpu.driver.context, 719)  # type: ignore[attr-defined]

    def close(self) -> None:
        self.executor.close()

    def op_reload(self) -> None:
        if self.fault and self.fault[0] == NO_MORE_PARAMETERS:
            raise Skip
        super().op_reload()

    def look(self) -> None:
        from cuda.bindings import driver

        lost = any(each.is_lost for each in self.devices)
        # Nobody waits for what was queued in a lost context, and some losses are only said here.
        violations = [str(each) for each in self.standin.violations() if not (lost and each.kind == "free-in-use")]
        # When what a failed call has done cannot be undone either, some of it is left.
        is_undoing_too = self.fault is not None and self.fault[2] > 1
        if violations and not is_undoing_too:
            raise Wrong(f"violations: {violations[:3]}")
        if self.executor.failures:
            raise Wrong(f"the executor failed: {self.executor.failures[:3]}")
        foreign = [each for each in self.standin.calls() if each.owner_matches is False]
        if foreign:
            raise Wrong(f"in a foreign context: {foreign[:3]}")
        if not (lost or is_undoing_too) and self.standin.live():
            raise Wrong(f"left in the driver: {self.standin.live()}")
        states = [driver.cuDevicePrimaryCtxGetState(number) for number in (0, 1)]
        if any(state[2] for state in states if int(state[0]) == 0):
            raise Wrong("a context is still held")


class PlainExecutor:
    """Runs the two kernels of PTX in the stand-in's memory. `failures` holds what could not be run at all."""

    def __init__(self, standin: StandIn) -> None:
        self._standin = standin
        self._ranges: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        self.failures: list[BaseException] = []
        self.launches = 0
        self._callbacks = (
            LOAD_FUNCTION(lambda record: 0),
            LOAD_FUNCTION(lambda record: 0),
            LAUNCH_FUNCTION(self._launch),
        )
        standin.set_executor(*self._callbacks)

    def close(self) -> None:
        self._standin.set_executor(None, None, None)

    def _launch(self, record: Any) -> int:
        try:
            execution = record.contents
            launch = execution.launch.contents
            image = ctypes.string_at(execution.parameters, launch.parameter_nbytes)
            self.launches += 1
            return self._run(launch, image)
        except BaseException as error:
            self.failures.append(error)
            return 999

    def _run(self, launch: Any, image: bytes) -> int:
        threads = launch.grid[0] * launch.block[0]
        if launch.kernel == b"affine":
            address, count, factor, addend = struct.unpack("<QIII", image)
            words = self._words(launch.context, address, min(count, threads))
            if words is None:
                return 700
            words[:] = words * np.uint32(factor) + np.uint32(addend)
            return 0
        address, source, odd, count, factor = struct.unpack("<QQB3xII", image)
        into = self._words(launch.context, address, min(count, threads))
        given = self._words(launch.context, source, min(count, threads))
        if into is None or given is None:
            return 700
        into[:] = into * np.uint32(factor) + given.copy() + np.uint32(odd)
        return 0

    def _words(self, context: int, address: int, count: int) -> np.ndarray | None:
        if address % 4 or not any(base <= address and address + 4 * count <= end for base, end in self._of(context)):
            return None
        return np.frombuffer((ctypes.c_char * (4 * count)).from_address(address), np.uint32)

    def _of(self, context: int) -> list[tuple[int, int]]:
        version = self._standin.memory_version()
        known = self._ranges.get(context)
        if known is None or known[0] != version:
            ranges: list[tuple[int, int]] = []
            for each in sorted(self._standin.ranges(context), key=lambda each: each.address):
                # The pieces of a lazy buffer continue each other.
                begin = ranges.pop()[0] if ranges and ranges[-1][1] == each.address else each.address
                ranges.append((begin, each.address + each.nbytes))
            known = self._ranges[context] = (version, ranges)
        return known[1]


if __name__ == "__main__":
    import standin as package

    sys.exit(main(CudaMachine, package.cuda()))
