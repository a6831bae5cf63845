"""The mock as a conformance target: the suite's PTX for the signatures, Python functions for the bodies."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ..mock_backend import MockGpuBackend
from .bodies import SUITE, TABLE, doubled, plus_hundred
from .target import ConformanceTarget

if TYPE_CHECKING:
    from ...backend import GpuBackend
    from ...kernel import Module


class MockTarget(ConformanceTarget):
    """The mock, strict, on a named profile; new memory is filled with a byte nobody expects."""

    name = "mock"

    def __init__(self, profile: str = "generic", *, strict_pointers: bool = False) -> None:
        self.profile, self.strict_pointers = profile, strict_pointers
        self.name = f"mock {profile}"

    def open_backend(self, **options: Any) -> MockGpuBackend:
        # The mock has no check of memory accesses to turn off.
        options.pop("check", None)
        return MockGpuBackend(self.profile, strict=True, strict_pointers=self.strict_pointers, fill=0xC7, **options)

    def load(self, gpu: GpuBackend, kernels: str, name: str | None = None) -> Module:
        assert isinstance(gpu, MockGpuBackend)
        module = name or kernels
        if kernels == "suite":
            for function, body in SUITE.items():
                gpu.define_kernel(module, function, body)
            gpu.define_global(module, "table", struct.pack("<3I", *TABLE))
        else:
            gpu.define_kernel(module, "transform", {"doubled": doubled, "plus_hundred": plus_hundred}[kernels])
        return super().load(gpu, kernels, name)

    def driver_calls(self, gpu: GpuBackend) -> int | None:
        assert isinstance(gpu, MockGpuBackend)
        return len(gpu.log.transcript())

    def after_close(self, gpu: GpuBackend) -> None:
        assert isinstance(gpu, MockGpuBackend)
        assert not gpu.mock.violations, gpu.mock.violations
        left = {kind: count for kind, count in gpu.mock.books.items() if count}
        assert not left, f"not given back: {left}"
