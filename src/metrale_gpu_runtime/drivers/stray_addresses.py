"""What is said of an address that lies in no live allocation: how far it is from the nearest one."""

from __future__ import annotations

from typing import Protocol

from ..errors import InvalidPointer


class Placed(Protocol):
    """An allocation, as far as its place is told."""

    @property
    def base(self) -> int: ...

    @property
    def nbytes(self) -> int: ...


def stray(address: int, nbytes: int, near: tuple[Placed, int] | None, what: str, device: str) -> InvalidPointer:
    """The refusal of `nbytes` at an address; `near` is what RangeMap.nearest found, `what` begins the message."""
    if address == 0:
        return InvalidPointer(f"{what}: null; {device} binds memory, and null is none", address=0, nbytes=nbytes)
    place = "there is none"
    if near is not None:
        allocation, distance = near
        last = "the last of" if distance > 0 else "the end of"
        how = f"{distance:,} bytes past" if distance > 0 else f"{nbytes:,} bytes from there run past"
        if distance < 0:
            how, last = f"{-distance:,} bytes before", "the first of"
        place = f"{how} {last} the {allocation.nbytes:,} bytes at {allocation.base:#x}"
    return InvalidPointer(
        f"{what}: {address:#x} lies in no live allocation on {device}: {place}", address=address, nbytes=nbytes
    )
