"""Memory that a launch reaches though no argument names it, where a device has to be told (`.uses`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .driver import LaunchTarget

if TYPE_CHECKING:
    from .capabilities import Capabilities
    from .geometry import Geometry
    from .handles import StreamHandle
    from .memory.pointers import PointerValue


class TargetUsing(LaunchTarget):
    """A launch target that names the same memory beside the arguments at each of its launches.

    It stands in the plain target's place, so that a launch without such memory does not even ask.
    """

    __slots__ = ("addresses", "target")

    def __init__(self, target: LaunchTarget, addresses: tuple[int, ...]) -> None:
        self.target, self.addresses = target, addresses

    def submit(self, image: bytes | bytearray, geometry: Geometry, stream: StreamHandle, ordinal: int) -> None:
        self.target.submit_using(image, geometry, stream, ordinal, self.addresses)


def with_used_memory(target: LaunchTarget, uses: Iterable[PointerValue], capabilities: Capabilities) -> LaunchTarget:
    """The target for launches that use this memory: the plain one where the device needs no telling."""
    if not capabilities.explicit_residency:
        return target
    addresses = tuple(dict.fromkeys(pointer.address for pointer in uses if pointer.address))
    return TargetUsing(target, addresses) if addresses else target


def own_target(target: LaunchTarget) -> LaunchTarget:
    """The target as the driver made it."""
    return target.target if isinstance(target, TargetUsing) else target
