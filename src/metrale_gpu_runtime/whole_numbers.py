"""What counts as a whole number here: whatever Python can use as an index, and no bool."""

from __future__ import annotations


def whole(value: object) -> int | None:
    """The integer that a value is, of whatever library; None for everything else, for whose error the caller has words.

    Raises TypeError for arrays that offer an index and refuse it (NumPy's, unless they hold one integer).
    """
    index = getattr(type(value), "__index__", None)
    return None if isinstance(value, bool) or index is None else int(index(value))
