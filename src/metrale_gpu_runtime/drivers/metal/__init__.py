"""Apple's GPUs, over PyObjC's binding of the Metal framework."""

from __future__ import annotations

from .factory import MetalFactory

__all__ = ["MetalFactory"]
