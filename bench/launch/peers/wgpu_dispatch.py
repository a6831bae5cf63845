"""wgpu: a compute pass encoded, with its bind group made before or each time, and submitted; where there is a Vulkan.

WebGPU has no launch with arguments: values go through a uniform buffer that the queue writes. The floor beside it is
the CUDA one, as a unit of the host's speed only.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import wgpu

from ..rows import Row
from ..shapes import POINTER, POINTERS, Shape

PACKAGES = ("wgpu",)
facts: dict[str, str] = {}
"""Which adapter it runs on: filled when opened."""


def _shader(shape: Shape) -> str:
    """A kernel whose threads copy the values into every buffer, so that they can be seen there."""
    words = sum(kind.nbytes // 4 for kind in shape.kinds if kind is not POINTER)
    pointers = sum(kind is POINTER for kind in shape.kinds)
    buffers = "".join(
        f"@group(0) @binding({at}) var<storage, read_write> p{at}: array<u32>;\n" for at in range(pointers)
    )
    copied = " ".join(f"p{at}[i] = values[i / 4u][i % 4u];" for at in range(pointers))
    return (
        f"{buffers}@group(0) @binding({pointers}) var<uniform> values: array<vec4<u32>, {-(-words // 4)}>;\n"
        "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
        f"    let i = id.x; if (i < {words}u) {{ {copied} }}\n}}\n"
    )


STEP = (
    "queue.write_buffer(uniform, 0, %s); encoder = device.create_command_encoder(); "
    "step = encoder.begin_compute_pass(); step.set_pipeline(pipeline); step.set_bind_group(0, %s); "
    "step.dispatch_workgroups(4); step.end(); queue.submit([encoder.finish()])"
)


@contextmanager
def opened(adapter: Any = None) -> Iterator[Callable[[Shape], list[Row]]]:
    """The rows on an adapter, None: the one that wgpu prefers."""
    if adapter is None:
        adapter = wgpu.gpu.request_adapter_sync()
    facts["adapter"] = f"{adapter.info['device']}, {adapter.info['backend_type']}"
    limit = min(adapter.limits["max-storage-buffers-per-shader-stage"], 8)
    device = adapter.request_device_sync(required_limits={"max-storage-buffers-per-shader-stage": limit})
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC
    buffers = [device.create_buffer(size=256, usage=usage) for _ in range(POINTERS)]

    def rows(shape: Shape) -> list[Row]:
        shader = device.create_shader_module(code=_shader(shape))
        pipeline = device.create_compute_pipeline(layout="auto", compute={"module": shader, "entry_point": "main"})
        uniform = device.create_buffer(size=64, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        names: dict[str, object] = {"device": device, "queue": device.queue, "pipeline": pipeline, "uniform": uniform}
        names |= {"layout": pipeline.get_bind_group_layout(0)}
        sent = {}
        for letter, variant in (("a", 0), ("b", 1)):
            values = shape.values(variant, buffers)
            pointers = [each for kind, each in zip(shape.kinds, values, strict=True) if kind is POINTER]
            scalars = [(kind, each) for kind, each in zip(shape.kinds, values, strict=True) if kind is not POINTER]
            packed = sent[letter] = b"".join(struct.pack("<" + kind.format, each) for kind, each in scalars)
            names[f"{letter}_values"] = packed.ljust(-(-len(packed) // 16) * 16, b"\0")
            names[f"{letter}_entries"] = [
                {"binding": at, "resource": {"buffer": each, "offset": 0, "size": each.size}}
                for at, each in enumerate([*pointers, uniform])
            ]
            entries = names[f"{letter}_entries"]
            names[f"{letter}_group"] = device.create_bind_group(layout=names["layout"], entries=entries)

        def verify(statements: tuple[str, ...], stub: object) -> None:
            for letter, statement in zip("ab", statements, strict=True):
                Row("", (statement,), names, ()).loop()(1)
                for entry in names[f"{letter}_entries"][:-1]:  # type: ignore[index]
                    seen = bytes(device.queue.read_buffer(entry["resource"]["buffer"]))
                    if not seen.startswith(sent[letter]):
                        raise RuntimeError("wgpu: the values did not arrive as sent; nothing is timed")

        made = "device.create_bind_group(layout=layout, entries=%s_entries)"
        return [
            Row(f"pass encoded and submitted, {name}", statements, names, (), verify=partial(verify, statements))
            for name, statements in (
                ("bind groups made before", tuple(STEP % (f"{each}_values", f"{each}_group") for each in "ab")),
                ("bind group made each time", tuple(STEP % (f"{each}_values", made % each) for each in "ab")),
            )
        ]

    yield rows
