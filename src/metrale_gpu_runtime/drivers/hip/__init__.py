"""AMD GPUs: the session that CUDA and HIP share, over PyPI's HIP bindings."""

from __future__ import annotations

from .factory import HipFactory

__all__ = ["HipFactory"]
