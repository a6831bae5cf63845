"""Grid, block and cluster as checked values; rounding a problem size up to whole blocks.

The grid always counts blocks. What only a device can refuse (its limits) is not checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex, Union

from .errors import GeometryError
from .whole_numbers import is_bool, is_index

Extent = Union[SupportsIndex, Sequence[SupportsIndex], "Dim3"]

_AXES = "xyz"


def _whole(value: object, what: str, axis: str, kernel: str) -> int:
    if is_bool(value):
        raise GeometryError(f"{what}.{axis} is {value!r}; a bool is no count", kernel=kernel, axis=axis, asked=value)
    index = getattr(type(value), "__index__", None)
    if index is None:
        raise GeometryError(
            f"{what}.{axis} is {value!r} ({type(value).__name__}); it must be a whole number, "
            "use div_ceil(a, b) to divide",
            kernel=kernel,
            axis=axis,
            asked=value,
        )
    try:
        return int(index(value))
    except TypeError as error:
        # NumPy arrays have __index__ and refuse it unless they hold one integer.
        raise GeometryError(
            f"{what}.{axis} is {value!r}; it must be a whole number", kernel=kernel, axis=axis, asked=value
        ) from error


@dataclass(frozen=True, slots=True)
class Dim3:
    """Three extents, x fastest. Blocks in a grid, or threads in a block."""

    x: int
    y: int = 1
    z: int = 1

    @classmethod
    def of(cls, extent: Extent, what: str = "grid", kernel: str = "") -> Dim3:
        """Read an integer, or one to three integers, as extents; those left out are 1.

        Raises GeometryError for more than three, for none, for bools, floats and negative numbers; it names `kernel`
        where that is given.
        """
        if type(extent) is int and extent >= 0:
            return cls(extent)
        if isinstance(extent, Dim3):
            return extent
        if kernel:
            what = f"{kernel}: {what}"
        if isinstance(extent, (str, bytes)):
            raise GeometryError(f"{what} is {extent!r}; give one to three integers", kernel=kernel, asked=extent)
        values: Sequence[object] = list(extent) if isinstance(extent, Sequence) else [extent]
        if not 1 <= len(values) <= 3:
            raise GeometryError(
                f"{what} has {len(values)} extents; give one to three (x, y, z)", kernel=kernel, asked=extent
            )
        counts = [_whole(value, what, axis, kernel) for value, axis in zip(values, _AXES, strict=False)]
        for count, axis in zip(counts, _AXES, strict=False):
            if count < 0:
                raise GeometryError(
                    f"{what}.{axis} is {count}; it cannot be negative", kernel=kernel, axis=axis, asked=count
                )
        return cls(*counts)

    @property
    def volume(self) -> int:
        return self.x * self.y * self.z

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.x, self.y, self.z))

    def as_tuple(self) -> tuple[int, int, int]:
        return (self.x, self.y, self.z)


@dataclass(frozen=True, slots=True)
class LaunchAttributes:
    """How a launch relates to its neighbours; each needs a capability of the device.

    `programmatic`: it may start before the launch in front of it has ended (programmatic stream serialization; the
    kernel waits with `griddepcontrol.wait`). `priority`: of this launch alone, as for streams (lower is more urgent).
    `memory_sync_domain`: "default" or "remote": which domain its memory fences order.
    Source: CUDA Driver API, CUlaunchAttributeID.
    """

    programmatic: bool = False
    priority: int | None = None
    memory_sync_domain: str | None = None

    def __str__(self) -> str:
        parts = ["programmatic"] if self.programmatic else []
        if self.priority is not None:
            parts.append(f"priority {self.priority}")
        if self.memory_sync_domain is not None:
            parts.append(f"memory sync domain {self.memory_sync_domain}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Geometry:
    """One launch's shape: grid in blocks, block in threads, dynamic shared memory in bytes.

    `cluster` is in blocks (None: no clusters); `cooperative` asks that all blocks be resident at once; `attributes`
    are None for a plain launch.
    """

    grid: Dim3 = Dim3(1)
    block: Dim3 = Dim3(1)
    shared_mem: int = 0
    cluster: Dim3 | None = None
    cooperative: bool = False
    attributes: LaunchAttributes | None = None

    def __hash__(self) -> int:
        grid, block = self.grid, self.block
        return hash((grid.x, grid.y, grid.z, block.x, block.y, block.z, self.shared_mem, self.cooperative))

    @property
    def is_empty(self) -> bool:
        """True when the grid has a zero extent: a validated no-op."""
        grid = self.grid
        return not (grid.x and grid.y and grid.z)

    @property
    def is_plain(self) -> bool:
        """True when it asks for nothing beyond grid, block and shared memory."""
        return self.cluster is None and not self.cooperative and self.attributes is None

    @property
    def extras(self) -> str:
        """What it asks for beyond grid, block and shared memory, as text; "" for a plain launch."""
        parts = [f"cluster {self.cluster.as_tuple()}"] if self.cluster is not None else []
        if self.cooperative:
            parts.append("cooperative")
        if self.attributes is not None:
            parts.append(str(self.attributes))
        return ", ".join(parts)


def div_ceil(a: int, b: int) -> int:
    """`a / b` rounded up. Raises ValueError when b is not positive or a is negative, TypeError for non-integers."""
    for value in (a, b):
        if not is_index(value):
            raise TypeError(f"div_ceil takes integers, not {type(value).__name__}")
    a, b = a.__index__(), b.__index__()
    if b <= 0 or a < 0:
        raise ValueError(f"div_ceil({a}, {b}): the first must not be negative, the second must be positive")
    return -(-a // b)


def threads(count: Extent, block: Extent = 256) -> Dim3:
    """The grid that covers `count` threads with blocks of `block`, each axis rounded up.

    Raises GeometryError for what is no extent or an empty block.
    """
    total, size = Dim3.of(count, "count"), Dim3.of(block, "block")
    if size.volume == 0:
        raise GeometryError(f"block {size.as_tuple()} has no threads; every extent must be at least 1", asked=block)
    return Dim3(*(div_ceil(t, s) for t, s in zip(total.as_tuple(), size.as_tuple(), strict=True)))
