"""A tensor map as the mock encodes it: every field of the description at its own place in 128 bytes."""

from __future__ import annotations

import struct

from ...driver import TensorMapDescription

NBYTES = 128

_RANK = 5
_FORM = f"<Q{_RANK}Q{_RANK - 1}Q{_RANK}H{_RANK}BB"


def encode(description: TensorMapDescription) -> bytes:
    """128 bytes that differ whenever a description does. No hardware reads them.

    The words (data type, interleave and so on) are kept as a sum: enough to tell two maps apart in a test.
    """
    each = description
    rank = len(each.shape)
    block = struct.pack(
        _FORM,
        each.address,
        *_padded(each.shape, _RANK),
        *_padded(each.strides, _RANK - 1),
        *_padded(each.box, _RANK),
        *_padded(each.element_strides, _RANK),
        rank,
    )
    words = "/".join((each.data_type, each.interleave, each.swizzle, each.l2_promotion, each.out_of_bounds_fill))
    return block + _digest(words, NBYTES - len(block))


def _padded(values: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (*values, *([0] * (count - len(values))))


def _digest(words: str, nbytes: int) -> bytes:
    import hashlib

    return hashlib.shake_128(words.encode()).digest(nbytes)
