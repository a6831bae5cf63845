"""Literals between the two IEEE formats, by bits."""

from __future__ import annotations

import struct


def float32_bits(bits64: int) -> int:
    """The f32 nearest to a double, both as bit patterns; too large a value becomes infinity."""
    value = struct.unpack("<d", struct.pack("<Q", bits64))[0]
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return int.from_bytes(packed, "little")


def float64_bits(bits32: int) -> int:
    """The double equal to an f32, both as bit patterns."""
    value = struct.unpack("<f", struct.pack("<I", bits32 & 0xFFFFFFFF))[0]
    return int.from_bytes(struct.pack("<d", value), "little")
