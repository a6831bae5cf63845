"""The stand-in's `Metal`: names as pyobjc-framework-Metal has them."""

from __future__ import annotations

from typing import Any

from metal_standin.framework import metal


def __getattr__(name: str) -> Any:
    return metal(name)
