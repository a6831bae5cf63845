"""How often this process was forked off another: what was opened before then belongs to the parent."""

from __future__ import annotations

import os


class _Generation:
    """One number for the process; a child counts on from its parent's."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 0

    def advance(self) -> None:
        self.number += 1


generation = _Generation()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=generation.advance)
