"""The CPU backend: PTX translated to LLVM IR, compiled for this CPU, run on all its cores."""

from __future__ import annotations

from .factory import CpuFactory

__all__ = ["CpuFactory"]
