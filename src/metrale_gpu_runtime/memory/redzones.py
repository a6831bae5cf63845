"""Red zones: guard bands on both sides of every allocation, filled, and compared byte for byte when asked."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..whole_numbers import is_index
from .allocation import Block

DEFAULT_FILL = 0xEE
ALIGNMENT = 256
"""A driver's allocations are aligned so; the front band is a multiple of it to keep that for the data."""


@dataclass(frozen=True, slots=True)
class RedzoneDamage:
    """A guard band that something wrote into.

    `side` is "before" or "after"; `offset` is that of the first damaged byte from the start of the data (negative
    before it, at least `nbytes` behind it); `count` bytes differ, `value` is the first; `last_use` names the last
    launch or copy that used the allocation.
    """

    label: str
    nbytes: int
    site: str
    side: str
    offset: int
    last_offset: int
    count: int
    value: int
    last_use: str

    def __str__(self) -> str:
        past = -self.offset if self.side == "before" else self.offset - self.nbytes
        where = f"{past} bytes before its first byte" if self.side == "before" else f"{past} bytes past its end"
        return (
            f"{self.label} ({self.nbytes} bytes, made at {self.site}): {self.count} bytes of the red zone "
            f"{self.side} it are damaged, the first at offset {self.offset} ({where}) with {self.value:#04x}; "
            f"last used by {self.last_use or 'nothing'}"
        )


@dataclass(frozen=True, slots=True)
class RedzoneSize:
    """How large the bands are: `nbytes` asked for, 0 for none; the front one is rounded up to the alignment."""

    nbytes: int
    fill: int = DEFAULT_FILL

    @property
    def front(self) -> int:
        return -(-self.nbytes // ALIGNMENT) * ALIGNMENT

    def back(self, nbytes: int) -> int:
        """The band behind `nbytes` of data: it begins at the very next byte."""
        return self.nbytes if nbytes else 0


def read_settings(nbytes: int | None) -> RedzoneSize:
    """The size from the argument, else from METRALE_REDZONE (bytes) and METRALE_REDZONE_FILL (a byte).

    Raises ValueError for what is no such number.
    """
    if nbytes is None:
        nbytes = _number("METRALE_REDZONE", 0, None)
    elif not is_index(nbytes) or nbytes.__index__() < 0:
        raise ValueError(f"redzone={nbytes!r}; it is a number of bytes, 0 for none")
    return RedzoneSize(int(nbytes), _number("METRALE_REDZONE_FILL", DEFAULT_FILL, 255))


def _number(variable: str, default: int, highest: int | None) -> int:
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if number < 0 or (highest is not None and number > highest):
        allowed = f"0 to {highest}" if highest is not None else "a number of bytes, 0 for none"
        raise ValueError(f"{variable}={text!r} in the environment; it must be {allowed}")
    return number


def bands(block: Block) -> tuple[tuple[str, int, int], ...]:
    """(side, address, nbytes) of the bands of a block; none when it is not guarded."""
    if block.fill is None:
        return ()
    front = block.base - block.driver_base
    end = block.base + block.span_nbytes
    return (
        ("before", block.driver_base, front),
        ("after", end, block.driver_base + block.driver_nbytes - end),
    )


def compare(block: Block, side: str, address: int, found: bytes) -> RedzoneDamage | None:
    """The damage in one band, or None."""
    assert block.fill is not None
    if found == bytes([block.fill]) * len(found):
        return None
    wrong = [at for at, byte in enumerate(found) if byte != block.fill]
    start = address - block.base
    return RedzoneDamage(
        label=block.name,
        nbytes=block.span_nbytes,
        site=block.site,
        side=side,
        offset=start + wrong[0],
        last_offset=start + wrong[-1],
        count=len(wrong),
        value=found[wrong[0]],
        last_use=str(block.last_use) if block.last_use is not None else "",
    )
