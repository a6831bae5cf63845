"""The conformance suite on the Metal driver over the stand-in, which compiles the suite's Metal kernels and runs them."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
from metal_standin import MetalStandIn, standin
from metal_standin.fixtures import metal_standin as metal_standin
from rungs import require_rung

from metrale_gpu_runtime import GpuBackend
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.case import ConformanceCase
from metrale_gpu_runtime.testing.conformance.target import OpenTarget

# What asks and changes nothing, and what a stream's own thread sends at any time: it waits, and commits what is encoded.
_ASKING = frozenset({"status", "error", "name", "GPUEndTime", "signaledValue", "currentAllocatedSize"}) | {
    "waitUntilCompleted",
    "encodeSignalEvent:value:",
    "commit",
}
_opened: weakref.WeakSet[GpuBackend] = weakref.WeakSet()


class MetalTarget(OpenTarget):
    """The stand-in's Metal, with executed kernels; storage "private" keeps the host away from device memory."""

    def __init__(self, storage: str | None = None) -> None:
        super().__init__("metal")
        self.storage = storage

    def open_backend(self, **options: Any) -> GpuBackend:
        gpu = super().open_backend(**options, **({"storage": self.storage} if self.storage else {}))
        _opened.add(gpu)
        return gpu

    def driver_calls(self, gpu: GpuBackend) -> int:
        return sum(count for (_, selector), count in standin.sent().items() if selector not in _ASKING)

    def after_close(self, gpu: GpuBackend) -> None:
        super().after_close(gpu)
        if not any(other.is_open for other in _opened):
            assert standin.live() == {}


@pytest.mark.parametrize("storage", [None, "private"], ids=["shared", "private"])
@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_metal(case: ConformanceCase, storage: str | None, metal_standin: MetalStandIn) -> None:
    """Each law of the suite holds on Metal, or it declares that it has not what the law is about."""
    require_rung("metal stand-in")
    metal_standin.reset(devices=2)
    if reason := case.run(MetalTarget(storage)):
        pytest.skip(reason)
