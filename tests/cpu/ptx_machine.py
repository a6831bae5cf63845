"""Runs PTX for tests: parse, translate, compile, launch on one worker. No driver, no engine."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrale_gpu_runtime.drivers.cpu import abi, jit
from metrale_gpu_runtime.drivers.cpu.translate import TranslatedKernel, translate
from metrale_gpu_runtime.ptx.parser import parse
from metrale_gpu_runtime.ptx.syntax import PtxModule

HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"


@dataclass
class Outcome:
    """The fault of a launch (kind NONE if there was none) and what run_worker returned."""

    fault: abi.Fault
    code: int
    translated: TranslatedKernel

    @property
    def kind(self) -> abi.FaultKind:
        return abi.FaultKind(self.fault.kind)


def _aligned_bytes(nbytes: int, align: int) -> tuple[Any, int]:
    buffer = (ctypes.c_char * (nbytes + align))()
    return buffer, -(-ctypes.addressof(buffer) // align) * align


class Machine:
    """One compiled kernel."""

    def __init__(
        self,
        ptx: str | PtxModule,
        kernel: str | None = None,
        *,
        check: str | None = None,
        global_addresses: Mapping[str, int] | None = None,
        by_block: bool | None = None,
    ) -> None:
        module = parse(ptx) if isinstance(ptx, str) else ptx
        function = module.functions[kernel] if kernel else module.kernels()[0]
        self.function = function
        self.translated = translate(
            module,
            function.name,
            module_name="test",
            check=check,
            global_addresses=global_addresses,
            by_block=by_block,
        )
        ends = [o + p.nbytes for o, p in zip(function.parameter_offsets(), function.parameters, strict=True)]
        self.params_nbytes = max(ends, default=1)
        self.code = jit.compile_kernel(self.translated.ir, self.params_nbytes)

    def launch(
        self,
        arguments: Sequence[object],
        *,
        grid: tuple[int, int, int] | int = 1,
        block: tuple[int, int, int] | int = 1,
        shared_nbytes: int = 0,
        ranges: Sequence[tuple[int, int, int]] | None = None,
    ) -> Outcome:
        """Arrays become their address; NumPy scalars and bytes are passed by value. `ranges` default to the arrays."""
        grid = (grid, 1, 1) if isinstance(grid, int) else grid
        block = (block, 1, 1) if isinstance(block, int) else block
        params, params_at = _aligned_bytes(max(self.params_nbytes, 1), 128)
        known: list[tuple[int, int, int]] = []
        for offset, parameter, value in zip(
            self.function.parameter_offsets(), self.function.parameters, arguments, strict=True
        ):
            if isinstance(value, np.ndarray):
                known.append((value.ctypes.data, value.ctypes.data + value.nbytes, int(value.flags.writeable)))
                data = value.ctypes.data.to_bytes(8, "little")
            elif isinstance(value, int):
                data = (value & (2 ** (8 * parameter.nbytes) - 1)).to_bytes(parameter.nbytes, "little")
            else:
                data = bytes(value)  # type: ignore[call-overload]
            assert len(data) == parameter.nbytes, (parameter, value)
            ctypes.memmove(params_at + offset, data, len(data))
        known = sorted(set(known if ranges is None else ranges))
        table = (abi.Range * max(1, len(known)))(*(abi.Range(*entry) for entry in known))
        threads = block[0] * block[1] * block[2]
        static = self.translated.static_shared_nbytes
        launch = abi.Launch()
        launch.params = params_at
        launch.grid[:], launch.block[:] = grid, block
        launch.threads_per_block = threads
        launch.dynamic_shared_nbytes, launch.shared_nbytes = shared_nbytes, static + shared_nbytes
        launch.frame_nbytes = self.translated.frame_nbytes
        launch.block_count, launch.chunk = grid[0] * grid[1] * grid[2], 1
        launch.ranges, launch.range_count = ctypes.addressof(table), len(known)
        context_count = min(64, launch.block_count)
        contexts, keep = [], []
        for _ in range(context_count):
            context = abi.Context()
            thread_memory, context.threads = _aligned_bytes(threads * ctypes.sizeof(abi.Thread), 64)
            frames, context.frames = _aligned_bytes(max(64, threads * launch.frame_nbytes), 64)
            shared, context.shared = _aligned_bytes(static + shared_nbytes + 1024, 1024)
            keep += [thread_memory, frames, shared]
            contexts.append(context)
        pointers = (ctypes.c_void_p * context_count)(*(ctypes.addressof(c) for c in contexts))
        code = self.code.run_worker(ctypes.addressof(launch), ctypes.addressof(pointers), context_count, 1 << 20)
        del keep, params
        fault = abi.Fault()
        ctypes.memmove(ctypes.addressof(fault), ctypes.addressof(launch.fault), ctypes.sizeof(fault))
        return Outcome(fault, code, self.translated)


def run(ptx: str, arguments: Sequence[object], **geometry: Any) -> Outcome:
    """Translate the only kernel of a text and launch it; it must end without a fault."""
    check = geometry.pop("check", None)
    outcome = Machine(ptx, check=check).launch(arguments, **geometry)
    assert outcome.kind is abi.FaultKind.NONE, outcome.kind
    assert outcome.code == abi.RunCode.DONE
    return outcome
