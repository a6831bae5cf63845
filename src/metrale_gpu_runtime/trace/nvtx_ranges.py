"""NVTX ranges for profilers: `gpu.range()` and launches show up in Nsight's timeline under their names.

Source: NVIDIA Tools Extension, nvtx for Python. A profiler attaches itself through NVTX_INJECTION64_PATH.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from ..errors import GpuWarning

DOMAIN = "metrale_gpu_runtime"


class NvtxRanges:
    """Pushes and pops ranges of one NVTX domain. Ranges belong to the thread that pushes them."""

    __slots__ = ("_attributes", "_domain")

    def __init__(self, domain: Any) -> None:
        self._domain = domain
        # By name: a message is registered with the profiler once.
        self._attributes: dict[str, Any] = {}

    def push(self, name: str) -> None:
        attributes = self._attributes.get(name, self)
        if attributes is self:
            attributes = self._attributes[name] = self._domain.get_event_attributes(message=name)
        self._domain.push_range(attributes)

    def pop(self) -> None:
        self._domain.pop_range()


def open_nvtx() -> NvtxRanges | None:
    """The ranges, when a profiler is attached or METRALE_NVTX=1 asks for them, and the package nvtx is installed.

    METRALE_NVTX=0 turns them off. Gives a GpuWarning when they are asked for and the package is missing.
    """
    asked = os.environ.get("METRALE_NVTX", "").strip()
    if asked == "0" or not (asked == "1" or os.environ.get("NVTX_INJECTION64_PATH")):
        return None
    try:
        import nvtx
    except ImportError:
        if asked == "1":
            warnings.warn(
                "METRALE_NVTX=1 asks for NVTX ranges, and the package nvtx is not installed: "
                'pip install "metrale-gpu-runtime[nvtx]"',
                GpuWarning,
                stacklevel=2,
            )
        return None
    return NvtxRanges(nvtx.get_domain(DOMAIN))
