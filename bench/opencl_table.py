"""`python -m bench opencl`: our launch beside pyopencl's on the same device, with scalar dtypes declared; and sequences
in command buffers beside those whose launches are made one by one."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from functools import partial
from typing import Any

from rich.console import Console

from .launch.shapes import SHAPES
from .parts import Part

MEMORY = {"svm": "shared virtual memory", "buffers": "buffer objects"}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=31, help="pairs of timings (default 31)")
    parser.add_argument("--shapes", type=int, nargs="+", choices=list(SHAPES), default=list(SHAPES), help="arguments")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; returns the figures. `missing` says why there are none."""
    from .launch.stub import NotHere

    try:
        import pyopencl as cl

        from .launch import opencl

        peer = opencl.OpenCl()
    except (ImportError, NotHere) as error:
        return {"missing": str(error)}
    import metrale_gpu_runtime as mg

    from .beside import compare, is_met
    from .launch.rows import pin

    pin()
    spec = "opencl:{}:{}".format(
        *next(
            (at, index)
            for at, each in enumerate(cl.get_platforms())
            for index, device in enumerate(each.get_devices())
            if device == peer.device
        )
    )
    found: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for memory in MEMORY:
        with mg.open_backend(spec, memory=memory, command_buffers=False) as gpu:
            found[memory] = {
                count: compare(*_rows(gpu, peer, count), pairs=options.pairs, launches=opencl.LAUNCHES)
                for count in options.shapes
            }
            device = gpu.capabilities.device
    try:
        recorded = {memory: _recorded(spec, memory, options) for memory in MEMORY}
    except mg.BackendUnavailable as error:
        recorded = {"missing": str(error)}
    return {
        "device": device,
        "peer": f"pyopencl {importlib.metadata.version('pyopencl')}",
        "python": platform.python_version(),
        "core": mg.launch_core,
        "pairs": options.pairs,
        "launches": opencl.LAUNCHES,
        "is_met": all(is_met(each) for each in found.values()),
        "memory": found,
        "recorded": recorded,
    }


def _recorded(spec: str, memory: str, options: argparse.Namespace) -> dict[int, list[dict[str, Any]]]:
    """Sequences in command buffers beside those whose launches are made one by one. Raises BackendUnavailable."""
    import metrale_gpu_runtime as mg

    from .beside import compare
    from .launch import opencl

    if mg.launch_core != "native":
        raise mg.BackendUnavailable("the launch core in plain Python makes each launch by itself", backend="opencl")
    with (
        mg.open_backend(spec, memory=memory, command_buffers=False) as one_by_one,
        mg.open_backend(spec, memory=memory, command_buffers=True) as recording,
    ):
        return {
            count: compare(*_sequences(one_by_one, recording, count), pairs=options.pairs, launches=opencl.LAUNCHES)
            for count in options.shapes
        }


def _sequences(one_by_one: Any, recording: Any, count: int) -> tuple[Any, Any, list[Any]]:
    from .beside import OursOn
    from .launch import opencl
    from .launch.ours import SEQUENCE, SHORT_LENGTH

    shape, loops = SHAPES[count], []
    for gpu in (one_by_one, recording):
        ours = OursOn(gpu, shape.kernel, {".cl": opencl.source(shape)})
        (row,) = ours.rows(shape, [SEQUENCE])
        ours.check(shape, row)
        sequence: Any = row.names["sequence"]
        if sequence.is_one_command != (gpu is recording):
            raise RuntimeError(f"{row.name}: not recorded where it was to be; nothing is timed")
        loops.append(row.loop())
    first, second = loops
    return (
        partial(_in_sequences, first, SHORT_LENGTH),
        one_by_one.synchronize,
        [(f"{SEQUENCE}, in a command buffer", second, SHORT_LENGTH, recording.synchronize)],
    )


def _in_sequences(loop: Any, length: int, launches: int) -> None:
    loop(launches // length)


def _rows(gpu: Any, peer: Any, count: int) -> tuple[Any, Any, list[Any]]:
    """The peer's loop and what ends it, and the rows that stand beside it."""
    from .beside import FORMS, OursOn
    from .launch import opencl

    shape = SHAPES[count]
    declared, *others = opencl._rows(peer, shape)
    alone = others[-1]
    for row in (declared, alone):
        row.loop()(1)
    for statement, variant in zip(declared.statements, (0, 1), strict=True):
        declared.loop([statement])(1)
        peer.check(declared.name, shape, shape.values(variant, peer.buffers))
    loop = declared.loop()
    ours = OursOn(gpu, shape.kernel, {".cl": opencl.source(shape)})
    rows: list[Any] = []
    for row in ours.rows(shape, FORMS):
        ours.check(shape, row)
        rows.append((row.name, row.loop(), row.launches_of_a_pass, gpu.synchronize))
    rows.append(("pyopencl: enqueue_nd_range_kernel alone, arguments set before", alone.loop(), 1, peer.queue.finish))
    # Two launches in turn, as in ours.
    return partial(_halved, loop), peer.queue.finish, rows


def _halved(loop: Any, launches: int) -> None:
    loop(launches // 2)


def parts(figures: dict[str, Any]) -> list[Part]:
    from .beside import method, table

    if "missing" in figures:
        return [f"The OpenCL benchmark did not run: {figures['missing']}"]
    return [
        method(figures),
        "As a share of `kernel(queue, …)` with declared scalar dtypes and Python numbers, others in each launch:",
        *(table(f"Ours, {MEMORY[memory]}", found) for memory, found in figures["memory"].items()),
        *_parts_of_recorded(figures["recorded"]),
    ]


def _parts_of_recorded(recorded: dict[str, Any]) -> list[Part]:
    from .beside import table

    if "missing" in recorded:
        return [f"Command buffers were not measured: {recorded['missing']}"]
    return [
        "As a share of the same sequence whose launches are made one by one (`command_buffers=False`):",
        *(table(f"Recorded, {MEMORY[memory]}", found) for memory, found in recorded.items()),
    ]
