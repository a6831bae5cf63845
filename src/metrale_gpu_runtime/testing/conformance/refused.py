"""The one way in which the laws judge a refusal: its kind, whom it blames, and that no driver was called."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TypeVar

from ...backend import GpuBackend
from .target import ConformanceTarget

E = TypeVar("E", bound=Exception)


def refused(
    target: ConformanceTarget,
    gpu: GpuBackend,
    launch: Callable[[], object],
    error: type[E],
    *,
    index: int | None = None,
    says: tuple[str, ...] = (),
    calls_no_driver: bool = True,
) -> E:
    """Assert that `launch` raises this kind of error, about this argument, and without a driver call."""
    caught: Exception | None = None
    with target.no_launch(gpu) if calls_no_driver else nullcontext():
        try:
            launch()
        except Exception as raised:
            caught = raised
    if caught is None:
        raise AssertionError(f"went through; {error.__name__} is right")
    if not isinstance(caught, error):
        raise AssertionError(f"raised {type(caught).__name__} instead of {error.__name__}: {caught}") from caught
    if index is not None:
        blamed = getattr(caught, "index", None)
        assert blamed == index, f"blames argument {blamed}, not {index}: {caught}"
    for words in says:
        assert words in str(caught), f"{words!r} is missing in: {caught}"
    return caught
