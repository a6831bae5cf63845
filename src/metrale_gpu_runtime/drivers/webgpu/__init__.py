"""Any GPU that wgpu reaches: Vulkan, Metal, Direct3D 12; and software Vulkan on the CPU."""

from __future__ import annotations

from .factory import WebgpuFactory

__all__ = ["WebgpuFactory"]
