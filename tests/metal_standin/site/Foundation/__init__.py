"""The stand-in's `Foundation`."""

from __future__ import annotations

from typing import Any

from metal_standin.framework import foundation


def __getattr__(name: str) -> Any:
    return foundation(name)
