"""OpenCL devices of every vendor, over pyopencl."""

from __future__ import annotations

from .factory import OpenclFactory

__all__ = ["OpenclFactory"]
