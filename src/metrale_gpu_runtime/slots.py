"""slot(name, type): stands for a value, a pointer or a grid axis that is set by name at each call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .scalars import SCALARS, ScalarType

POINTER = "ptr"
GRID = "grid"
_TAKEN = ("grid", "stream")


@dataclass(frozen=True, slots=True)
class Slot:
    """A named hole in a prepared launch, a sequence or a graph. Made by `slot`."""

    name: str
    type: ScalarType | str | None

    @property
    def is_pointer(self) -> bool:
        return self.type == POINTER

    @property
    def is_grid(self) -> bool:
        return self.type == GRID

    def __repr__(self) -> str:
        kind = self.type.name if isinstance(self.type, ScalarType) else self.type
        return f"slot({self.name!r}, {kind!r})"


def slot(name: str, type: ScalarType | str | None = None) -> Slot:
    """A hole called `name`, to be set by `prepared(name=…)` or `sequence(name=…)`.

    `type` is a scalar type (`mg.u32` or "u32"), "ptr" for a pointer, "grid" for a grid axis, or None to take the
    type of the place it stands in. Values set are range-checked against it.

    Raises ValueError for a name that is no identifier, for `grid` and `stream`, or for an unknown type.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"slot name {name!r} must be a Python identifier: it is set as a keyword argument")
    if name in _TAKEN:
        raise ValueError(
            f"a slot cannot be called {name!r}: {name}= of the call is the launch's own; choose another name"
        )
    if isinstance(type, str) and type not in (POINTER, GRID):
        if type not in SCALARS:
            raise ValueError(
                f'slot {name!r}: unknown type {type!r}; give a scalar type such as mg.u32, "ptr" or "grid"'
            )
        type = SCALARS[type]
    elif type is not None and not isinstance(type, (str, ScalarType)):
        raise ValueError(f'slot {name!r}: {type!r} is no type; give a scalar type such as mg.u32, "ptr" or "grid"')
    return Slot(name, type)


def names_of(slots: Iterable[Slot]) -> tuple[str, ...]:
    """The distinct names, in the order of their first place."""
    return tuple(dict.fromkeys(each.name for each in slots))
