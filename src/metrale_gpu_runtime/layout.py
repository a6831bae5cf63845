"""Where each argument of a launch lies in its image: what a signature decides and a driver reads."""

from __future__ import annotations

import enum
import struct
from collections.abc import Sequence
from dataclasses import dataclass


class ArgumentKind(enum.Enum):
    """How an argument reaches the kernel."""

    POINTER = "pointer"
    VALUE = "value"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class ArgumentLayout:
    """Where each argument lies in a launch's image, in the kernel's order.

    The image is the parameter block as C lays it out: each argument at its natural (or declared) alignment, the
    end not padded. A pointer is its 8-byte little-endian address. A LOCAL argument has no bytes in the image; its
    size in `sizes` is the local memory asked for.
    """

    kinds: tuple[ArgumentKind, ...]
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    alignments: tuple[int, ...]
    nbytes: int

    def writer(self) -> struct.Struct:
        """Makes an image of the arguments' bytes, all of them in order; local memory has none.

        Raises ValueError where one would lie over another.
        """
        text, end = "<", 0
        for kind, offset, size in zip(self.kinds, self.offsets, self.sizes, strict=True):
            nbytes = 0 if kind is ArgumentKind.LOCAL else size
            if offset < end:
                raise ValueError(f"an argument at byte {offset} lies over the one before, which ends at byte {end}")
            text += f"{offset - end}x{nbytes}s" if offset > end else f"{nbytes}s"
            end = offset + nbytes
        return struct.Struct(text)

    def reader(self, places: Sequence[int]) -> struct.Struct:
        """Reads arguments out of an image, by rising offset: pointers as numbers, values as bytes."""
        text, end = "<", 0
        for at in places:
            offset, size = self.offsets[at], self.sizes[at]
            text += f"{offset - end}x" if offset > end else ""
            text += "Q" if self.kinds[at] is ArgumentKind.POINTER else f"{size}s"
            end = offset + size
        return struct.Struct(text)
