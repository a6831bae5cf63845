"""`python -m bench webgpu`: our launch beside wgpu's own encoder calls on the same adapter."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from functools import partial
from typing import Any

from rich.console import Console

from .launch.shapes import F32, I32, POINTER, SHAPES, U32, U64, Shape
from .parts import Part

LAUNCHES = 64
"""In each timing. On a software device each submission computes; many would only be more of the same."""

WGSL = {U32: "u32", I32: "i32", F32: "f32"}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=31, help="pairs of timings (default 31)")
    parser.add_argument("--shapes", type=int, nargs="+", choices=list(SHAPES), default=list(SHAPES), help="arguments")


def shape_of(count: int) -> Shape:
    """The launch of so many arguments as it is everywhere, but that WGSL has no 64-bit integers."""
    return Shape(tuple(U32 if kind is U64 else kind for kind in SHAPES[count].kinds))


def source(shape: Shape) -> str:
    """A kernel whose first thread writes its last float and its last u32 to its first pointer, to be seen there."""
    from .beside import last

    bound, named = "", ""
    for at, kind in enumerate(shape.kinds):
        place = f"@group(0) @binding({at}) "
        if kind is POINTER:
            bound += f"{place}var<storage, read_write> p{at}: array<u32>;\n"
            named += f"    _ = &p{at};\n"
        else:
            bound += f"{place}var<uniform> p{at}: {WGSL[kind]};\n"
            named += f"    _ = p{at};\n"
    real, number = last(shape, F32), last(shape, U32)
    return (
        f"{bound}@compute @workgroup_size(64)\nfn {shape.kernel}(@builtin(global_invocation_id) id: vec3u) {{\n{named}"
        f"    if (id.x == 0u) {{\n        p0[0] = bitcast<u32>(p{real});\n        p0[1] = p{number};\n    }}\n}}\n"
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; returns the figures. `missing` says why there are none."""
    import metrale_gpu_runtime as mg
    from metrale_gpu_runtime.errors import BackendUnavailable

    try:
        import wgpu

        gpu = mg.open_backend("webgpu")
    except (ImportError, BackendUnavailable) as error:
        return {"missing": str(error)}
    from .beside import compare, is_met
    from .launch.peers import wgpu_dispatch
    from .launch.rows import pin

    pin()
    with gpu:
        device = gpu.capabilities.device
        adapter = next(
            each
            for each in wgpu.gpu.enumerate_adapters_sync()
            if each.info["device"] in device and each.info["backend_type"] in device
        )
        with wgpu_dispatch.opened(adapter) as peer_rows:
            found = {
                count: compare(*_rows(gpu, peer_rows, count), pairs=options.pairs, launches=LAUNCHES)
                for count in options.shapes
            }
    return {
        "device": device,
        "peer": f"wgpu {importlib.metadata.version('wgpu')}",
        "python": platform.python_version(),
        "core": mg.launch_core,
        "pairs": options.pairs,
        "launches": LAUNCHES,
        "is_met": is_met(found),
        "by_count": found,
    }


def _rows(gpu: Any, peer_rows: Any, count: int) -> tuple[Any, Any, list[Any]]:
    """The peer's loop and what ends it, and the rows that stand beside it."""
    from .beside import FORMS, OursOn

    shape = shape_of(count)
    before, each_time = peer_rows(shape)
    names = before.names
    for row in (before, each_time):
        row.verify(None)
    first = names["a_entries"][0]["resource"]["buffer"]

    def drain() -> None:
        names["queue"].read_buffer(first)

    ours = OursOn(gpu, shape.kernel, {".wgsl": source(shape)})
    rows: list[Any] = []
    for row in ours.rows(shape, FORMS):
        ours.check(shape, row)
        rows.append((row.name, row.loop(), row.launches_of_a_pass, gpu.synchronize))
    rows.append(("wgpu: the same, bind group made each time", each_time.loop(), 2, drain))
    rows.append(("wgpu: set and dispatched in one pass, one submission for all", partial(_one_pass, names), 1, drain))
    loop = before.loop()
    return partial(_halved, loop), drain, rows


def _one_pass(names: Any, launches: int) -> None:
    pipeline, group = names["pipeline"], names["a_group"]
    encoder = names["device"].create_command_encoder()
    step = encoder.begin_compute_pass()
    for _ in range(launches):
        step.set_pipeline(pipeline)
        step.set_bind_group(0, group)
        step.dispatch_workgroups(4)
    step.end()
    names["queue"].submit([encoder.finish()])


def _halved(loop: Any, launches: int) -> None:
    loop(launches // 2)


def parts(figures: dict[str, Any]) -> list[Part]:
    from .beside import method, table

    if "missing" in figures:
        return [f"The WebGPU benchmark did not run: {figures['missing']}"]
    return [
        method(figures),
        "As a share of a launch by wgpu's own calls: values written by the queue, a pass encoded with its bind group "
        "made before, and submitted. In the last row no values are written, and one submission stands for all:",
        table("Ours", figures["by_count"]),
    ]
