"""What counts as a whole number here: whatever Python can use as an index, and no bool."""

from __future__ import annotations

from typing import SupportsIndex, TypeGuard


def is_bool(value: object) -> bool:
    """Whether a value is a truth value, Python's or NumPy's: some versions of NumPy let theirs pass for an index."""
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def is_index(value: object) -> TypeGuard[SupportsIndex]:
    """Whether a value passes for a whole number; arrays do, and may refuse it when they are asked for theirs."""
    return not is_bool(value) and hasattr(type(value), "__index__")


def whole(value: object) -> int | None:
    """The integer that a value is, of whatever library; None for everything else, for whose error the caller has words.

    Raises TypeError for arrays that offer an index and refuse it (NumPy's, unless they hold one integer).
    """
    return int(value.__index__()) if is_index(value) else None
