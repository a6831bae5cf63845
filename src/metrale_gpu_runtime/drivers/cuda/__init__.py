"""NVIDIA GPUs: the session that CUDA and HIP share, over NVIDIA's own bindings."""

from __future__ import annotations

from .factory import CudaFactory

__all__ = ["CudaFactory"]
