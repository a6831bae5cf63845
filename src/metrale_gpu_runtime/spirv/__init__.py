"""SPIR-V as values: the kernels of a module, their parameters, and the sizes of work-groups they ask for."""

from __future__ import annotations

from .kernels import SpirvKernel, SpirvModule, SpirvParameter, read_spirv

__all__ = ["SpirvKernel", "SpirvModule", "SpirvParameter", "read_spirv"]
