"""Runs a program's text on the CPU backend and compares every array with the reference, bit for bit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from operations import DTYPES, UNSIGNED
from programs import Fault, Program

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.cpu import launch as launching


@dataclass(frozen=True)
class Way:
    """One way to run a kernel. `by_block` False: thread by thread; True: by block where that can be; None: as the
    translator chooses."""

    check: str | None
    workers: int
    by_block: bool | None

    def __str__(self) -> str:
        return (
            f"check={self.check!r}, workers={self.workers}"
            + {None: "", True: ", by block", False: ", by thread"}[self.by_block]
        )


WAYS = (
    Way(None, 2, by_block=True),
    Way("memory", 1, by_block=True),
    Way(None, 1, by_block=False),
    Way("memory", 2, by_block=False),
    Way("memory", 2, by_block=None),
)

# Threads of a pool are asked for help by every launch, however short.
launching._WORTH_HELP_NS = 0

_backends: dict[tuple[str | None, int], mg.GpuBackend] = {}


def _backend(way: Way) -> mg.GpuBackend:
    key = way.check, way.workers
    if key not in _backends:
        _backends[key] = mg.open_backend("cpu", check=way.check, workers=way.workers)  # type: ignore[arg-type]
    return _backends[key]


def bit_pattern_dtype(type_: str) -> Any:
    return UNSIGNED[8 * np.dtype(DTYPES[type_]).itemsize]


def run(program: Program, ptx: str, way: Way) -> dict[str, Any]:
    """The arrays that the program writes. Raises what the backend raises."""
    gpu = _backend(way)
    arrays: dict[str, Any] = {}
    for array in program.arrays.values():
        if array.space == "global":
            elements = np.zeros(array.count, bit_pattern_dtype(array.type))
            elements[: len(array.initial)] = np.array(array.initial, elements.dtype)
            if array.type != "f16":  # CUDA C holds those as unsigned short
                elements = elements.view(DTYPES[array.type])
            arrays[array.name] = gpu.array(elements)
    restore = _translating(by_block=way.by_block)
    try:
        module = gpu.load_module("case", source={".ptx": ptx})
        kernel = gpu.kernel(module, "k")
        builder = mg.KernelLaunch(gpu, kernel).grid(program.grid).block(program.block)
        dynamic = [a for a in program.arrays.values() if a.dynamic]
        if dynamic:
            builder = builder.shared_mem(max(a.count * np.dtype(DTYPES[a.type]).itemsize for a in dynamic))
        for name, (type_, value) in program.parameters.items():
            if name in arrays:
                builder = builder.arg_ptr(arrays[name])
            elif type_ == "f32":
                builder = builder.arg_f32(float(np.uint32(value).view(np.float32)))
            elif type_ == "s32":
                builder = builder.arg_i32((value & 0xFFFFFFFF) - ((value & 0x80000000) << 1))
            elif type_ == "u64":
                builder = builder.arg_u64(value)
            else:
                builder = builder.arg_u32(value & 0xFFFFFFFF)
        builder.launch()
        gpu.synchronize()
        return {
            a.name: arrays[a.name].numpy().view(bit_pattern_dtype(a.type))
            for a in program.arrays.values()
            if a.role == "out"
        }
    finally:
        restore()
        if gpu.has_module("case"):
            gpu.unload_module("case")


def _translating(*, by_block: bool | None) -> Any:
    """Let the driver translate in a given way until the returned function is called."""
    from metrale_gpu_runtime.drivers.cpu import translate as package

    original = package.translate

    def translate(*arguments: Any, **named: Any) -> Any:
        return original(*arguments, **{**named, "by_block": by_block})

    package.translate = translate  # type: ignore[assignment]

    def restore() -> None:
        package.translate = original

    return restore


def differences(expected: dict[str, Any], found: dict[str, Any], program: Program) -> list[str]:
    """What is wrong, in words; nothing where all is right."""
    wrong = []
    for name, right in expected.items():
        got = found[name].reshape(-1)
        wrong_ones = got != right
        if name in program.arrays and program.arrays[name].type in ("f16", "f32", "f64"):
            # Which NaN it is depends on the order of an operation's operands.
            dtype = DTYPES[program.arrays[name].type]
            wrong_ones &= ~(np.isnan(got.view(dtype)) & np.isnan(right.view(dtype)))
        where = np.flatnonzero(wrong_ones)
        if len(where):
            first = int(where[0])
            what = f"{name}[{first}]"
            if name == "out":
                var = program.outputs[first // program.thread_count]
                what += f" ({var.name}: {var.type} of thread {first % program.thread_count})"
            wrong.append(
                f"{what} is {int(found[name].reshape(-1)[first]):#x}, not {int(right[first]):#x}; {len(where)} differ"
            )
    return wrong


def _check_fault(program: Program, texts: Iterable[tuple[str, str]], ways: Iterable[Way], fault: Fault) -> list[str]:
    """Where the program does what it may not, the very fault is wanted; without the check only of a trap."""
    block, thread = divmod(fault.thread, program.threads_per_block)
    places = {
        "block": (block, program.grid),
        "thread": (thread, program.block),
    }
    where = {name: (n % e[0], n // e[0] % e[1], n // (e[0] * e[1])) for name, (n, e) in places.items()}
    wrong = []
    for title, text in texts:
        for way in ways:
            if way.check is None and fault.kind != "trap":
                continue
            try:
                run(program, text, way)
                wrong.append(f"{title}, {way}: no fault, where {fault.kind} of {where} was to come")
            except mg.KernelFault as error:
                finding = error.findings[0]
                found = (finding.kind, finding.block, finding.thread)
                if found != (fault.kind, where["block"], where["thread"]):
                    wrong.append(f"{title}, {way}: the fault is {found}, not {fault.kind} of {where}")
            except Exception as error:
                wrong.append(f"{title}, {way}: {type(error).__name__}: {error} ({_place(error)})")
    return wrong


def _place(error: Exception) -> str:
    """Where an error comes from: the innermost line of Python."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return "" if frame is None else f"{frame.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno}"


def check(program: Program, texts: Iterable[tuple[str, str]], ways: Iterable[Way] = WAYS) -> list[str]:
    """Everything wrong with some texts of a program, under the given ways to run them."""
    from reference import Faulted, expected

    try:
        right = expected(program)
    except Faulted as faulted:
        return _check_fault(program, texts, ways, faulted.fault)
    wrong = []
    for title, text in texts:
        for way in ways:
            try:
                found = run(program, text, way)
            except Exception as error:
                # Refused, a fault that should not be, or a defect of the translator: all are wrong answers.
                wrong.append(f"{title}, {way}: {type(error).__name__}: {error} ({_place(error)})")
                continue
            wrong += [f"{title}, {way}: {each}" for each in differences(right, found, program)]
    return wrong
