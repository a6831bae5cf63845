"""Kernels of the driver's own, for what a blit cannot do.

On macOS offsets and sizes of `copyFromBuffer:…` and `fillBuffer:…` are multiples of 4 (MTLBlitCommandEncoder), a blit
copies one row at a time, and fills with one byte. These copy rows of bytes or words, and fill with 1, 2 or 4 bytes.
"""

from __future__ import annotations

import struct
import threading
from typing import Any

from ...driver import CodeImage
from .libraries import Libraries
from .pipelines import Pipeline

SOURCE = """\
#include <metal_stdlib>
using namespace metal;

struct Rows {
    ulong source_pitch;
    ulong target_pitch;
    uint columns;
    uint rows;
};

kernel void copy_bytes(device const uchar* source [[buffer(0)]], device uchar* target [[buffer(1)]],
                       constant Rows& shape [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    if (at.x < shape.columns && at.y < shape.rows) {
        target[at.y * shape.target_pitch + at.x] = source[at.y * shape.source_pitch + at.x];
    }
}

kernel void copy_words(device const uint* source [[buffer(0)]], device uint* target [[buffer(1)]],
                       constant Rows& shape [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    if (at.x < shape.columns && at.y < shape.rows) {
        target[at.y * shape.target_pitch + at.x] = source[at.y * shape.source_pitch + at.x];
    }
}

struct Fill {
    uint count;
    uint value;
};

kernel void fill_bytes(device uchar* target [[buffer(0)]], constant Fill& fill [[buffer(1)]],
                       uint at [[thread_position_in_grid]]) {
    if (at < fill.count) {
        target[at] = uchar(fill.value);
    }
}

kernel void fill_halves(device ushort* target [[buffer(0)]], constant Fill& fill [[buffer(1)]],
                        uint at [[thread_position_in_grid]]) {
    if (at < fill.count) {
        target[at] = ushort(fill.value);
    }
}

kernel void fill_words(device uint* target [[buffer(0)]], constant Fill& fill [[buffer(1)]],
                       uint at [[thread_position_in_grid]]) {
    if (at < fill.count) {
        target[at] = fill.value;
    }
}
"""

MOST_THREADS = 1 << 30
"""Threads of one dispatch along an axis: positions in the grid are 32-bit numbers."""

_BLOCK = 256
_FILLS = {1: "fill_bytes", 2: "fill_halves", 4: "fill_words"}


class CopyKernels:
    """The kernels, compiled when one is first needed. Safe to use from several threads."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._lock = threading.Lock()
        self._pipelines: dict[str, Pipeline] = {}

    def prepare(self, name: str) -> Pipeline:
        """A kernel by name; compiled outside of any stream's lock, and before an encoder is open."""
        with self._lock:
            if not self._pipelines:
                self._pipelines = self._load()
            return self._pipelines[name]

    def _load(self) -> dict[str, Pipeline]:
        """All of them, or none: what fails today may go well tomorrow."""
        libraries = self._libraries
        module = libraries.load(CodeImage("copies and fills of the backend", "msl", SOURCE.encode()))
        try:
            return {
                name: libraries.pipeline(libraries.function(module, name))
                for name in ("copy_bytes", "copy_words", *_FILLS.values())
            }
        except BaseException:
            libraries.unload(module)
            raise

    def clear(self) -> None:
        """Let go of them."""
        with self._lock:
            self._pipelines.clear()

    def copying(self, *, in_words: bool) -> Pipeline:
        return self.prepare("copy_words" if in_words else "copy_bytes")

    def filling(self, width: int) -> Pipeline:
        return self.prepare(_FILLS[width])


def encode_rows(
    encoder: Any,
    pipeline: Pipeline,
    source: tuple[Any, int],
    target: tuple[Any, int],
    pitches: tuple[int, int],
    columns: int,
    rows: int,
) -> None:
    """Copy `rows` rows of `columns` elements; `pitches` are those of source and target, in elements."""
    block = min(_BLOCK, pipeline.max_threads)
    wide = min(block, 1 << (columns - 1).bit_length())
    high = block // wide
    encoder.setComputePipelineState_(pipeline.state)
    encoder.setBuffer_offset_atIndex_(*source, 0)
    encoder.setBuffer_offset_atIndex_(*target, 1)
    shape = struct.pack("<QQII", *pitches, columns, rows)
    encoder.setBytes_length_atIndex_(shape, len(shape), 2)
    encoder.dispatchThreadgroups_threadsPerThreadgroup_((-(-columns // wide), -(-rows // high), 1), (wide, high, 1))


def encode_fill(encoder: Any, pipeline: Pipeline, target: tuple[Any, int], value: int, count: int) -> None:
    """Fill `count` elements with `value`."""
    block = min(_BLOCK, pipeline.max_threads)
    encoder.setComputePipelineState_(pipeline.state)
    encoder.setBuffer_offset_atIndex_(*target, 0)
    fill = struct.pack("<II", count, value)
    encoder.setBytes_length_atIndex_(fill, len(fill), 1)
    encoder.dispatchThreadgroups_threadsPerThreadgroup_((-(-count // block), 1, 1), (block, 1, 1))
