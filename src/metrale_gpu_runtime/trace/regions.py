"""`gpu.range(name)`: names for stretches of a program, which traces note with each operation."""

from __future__ import annotations

import contextvars

_names: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar("metrale_gpu_ranges", default=())


def enter(name: str) -> contextvars.Token[tuple[str, ...]]:
    return _names.set((*_names.get(), name))


def leave(token: contextvars.Token[tuple[str, ...]]) -> None:
    _names.reset(token)


def current() -> str:
    """The names around this point, outermost first, joined by "/"; "" outside of all."""
    return "/".join(_names.get())
