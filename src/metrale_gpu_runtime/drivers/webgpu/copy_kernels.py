"""The driver's own kernels: copies and fills at any byte, for which WebGPU has no commands.

Memory is words of 4 bytes to WGSL. A thread makes one word of the target: it keeps the bytes that are not the copy's.
Nothing else writes such a word meanwhile: dispatches of one queue run one behind the other.

Source: "WebGPU Shading Language"; GPUCommandEncoder.copyBufferToBuffer, which takes multiples of 4 only.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from ...driver import ArgumentKind, ArgumentLayout, CodeImage
from ...geometry import Dim3, Geometry
from ...handles import StreamHandle
from .launching import NO_LAUNCH, WebgpuLaunchTarget
from .modules import Modules
from .pipelines import WebgpuKernel

THREADS = 64

SOURCE = """
struct Rows {
    target_at: u32, target_pitch: u32, source_at: u32, source_pitch: u32,
    width: u32, height: u32, first: u32, words: u32, across: u32,
}
struct Fill { at: u32, nbytes: u32, pattern: u32, first: u32, words: u32, across: u32 }

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> to: array<u32>;
@group(0) @binding(2) var<uniform> rows: Rows;

@group(0) @binding(0) var<storage, read_write> filled: array<u32>;
@group(0) @binding(1) var<uniform> fill: Fill;

@compute @workgroup_size(64)
fn copy_rows(@builtin(global_invocation_id) id: vec3u) {
    let at = id.y * rows.across + id.x;
    if (at >= rows.words) { return; }
    let word = rows.first + at;
    var bits = to[word];
    for (var byte = 0u; byte < 4u; byte++) {
        let place = word * 4u + byte;
        if (place < rows.target_at) { continue; }
        let row = (place - rows.target_at) / rows.target_pitch;
        let column = (place - rows.target_at) % rows.target_pitch;
        if (row >= rows.height || column >= rows.width) { continue; }
        let read = rows.source_at + row * rows.source_pitch + column;
        let value = (source[read / 4u] >> (read % 4u * 8u)) & 0xffu;
        bits = (bits & ~(0xffu << (byte * 8u))) | (value << (byte * 8u));
    }
    to[word] = bits;
}

@compute @workgroup_size(64)
fn fill_bytes(@builtin(global_invocation_id) id: vec3u) {
    let at = id.y * fill.across + id.x;
    if (at >= fill.words) { return; }
    let word = fill.first + at;
    var bits = filled[word];
    for (var byte = 0u; byte < 4u; byte++) {
        let place = word * 4u + byte;
        if (place < fill.at || place >= fill.at + fill.nbytes) { continue; }
        let value = (fill.pattern >> ((place - fill.at) % 4u * 8u)) & 0xffu;
        bits = (bits & ~(0xffu << (byte * 8u))) | (value << (byte * 8u));
    }
    filled[word] = bits;
}
"""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of bytes in one allocation: where the first begins (an address) and how far the next one is from it."""

    address: int
    pitch: int


class CopyKernels:
    """The kernels, compiled when one is needed. `prepare` makes a launch target of a kernel and a layout.

    `align` is what a binding's offset has to be a multiple of, `most_groups` what a grid's axis takes.
    """

    def __init__(
        self,
        modules: Modules,
        prepare: Callable[[WebgpuKernel, ArgumentLayout], WebgpuLaunchTarget],
        *,
        align: int,
        most_groups: int,
    ) -> None:
        self._modules, self._prepare, self._align, self._most_groups = modules, prepare, align, most_groups
        self._targets: dict[str, WebgpuLaunchTarget] = {}

    def copy_rows(
        self,
        target: Rows,
        target_base: int,
        source: Rows,
        source_base: int,
        width: int,
        height: int,
        stream: StreamHandle,
    ) -> None:
        """Record a copy between two allocations that begin at the bases. All of it is within 2**32 bytes of them."""
        target_bound, target_at = self._bound(target.address, target_base)
        source_bound, source_at = self._bound(source.address, source_base)
        first = target_at // 4
        last = (target_at + (height - 1) * target.pitch + width - 1) // 4
        words = last - first + 1
        grid, across = self._grid(words)
        image = struct.pack(
            "<QQ9I",
            source_bound,
            target_bound,
            target_at,
            max(target.pitch, 1),
            source_at,
            source.pitch,
            width,
            height,
            first,
            words,
            across,
        )
        self._target("copy_rows").submit(image, grid, stream, NO_LAUNCH)

    def fill(self, address: int, base: int, nbytes: int, pattern: int, stream: StreamHandle) -> None:
        """Record filling bytes with a word's four bytes, over and over."""
        bound, at = self._bound(address, base)
        first = at // 4
        words = (at + nbytes - 1) // 4 - first + 1
        grid, across = self._grid(words)
        image = struct.pack("<Q6I", bound, at, nbytes, pattern, first, words, across)
        self._target("fill_bytes").submit(image, grid, stream, NO_LAUNCH)

    def clear(self) -> None:
        """Forget the targets; the module goes with the others."""
        self._targets.clear()

    def _bound(self, address: int, base: int) -> tuple[int, int]:
        """What is bound, and how far from there the address is."""
        bound = base + (address - base) // self._align * self._align
        return bound, address - bound

    def _grid(self, words: int) -> tuple[Geometry, int]:
        groups = -(-words // THREADS)
        x = min(groups, self._most_groups)
        return Geometry(Dim3(x, -(-groups // x)), Dim3(THREADS)), x * THREADS

    def _target(self, name: str) -> WebgpuLaunchTarget:
        known = self._targets.get(name)
        if known is None:
            module = self._modules.load(CodeImage("the driver's copies", "wgsl", SOURCE.encode()))
            for each, count, size in (("copy_rows", 2, 36), ("fill_bytes", 1, 24)):
                kernel = self._modules.kernel(self._modules.specialised(module, each, {}))
                self._targets[each] = self._prepare(kernel, _layout(count, size))
            known = self._targets[name]
        return known


def _layout(pointers: int, nbytes: int) -> ArgumentLayout:
    return ArgumentLayout(
        kinds=(*(ArgumentKind.POINTER,) * pointers, ArgumentKind.VALUE),
        offsets=tuple(8 * at for at in range(pointers + 1)),
        sizes=(*(8,) * pointers, nbytes),
        alignments=(*(8,) * pointers, 4),
        nbytes=8 * pointers + nbytes,
    )
