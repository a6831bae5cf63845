"""The mock as a conformance target: the suite's PTX for the signatures, Python functions for the bodies."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ...driver import FunctionAttributes, KernelBinding
from ..mock_backend import MockGpuBackend
from .bodies import BOUND, BOUND_CONSTANTS, SUITE, TABLE, doubled, plus_hundred
from .target import KERNELS, ConformanceTarget

if TYPE_CHECKING:
    from ...backend import GpuBackend
    from ...kernel import Module


_OF_METAL = {
    "at_most_64": FunctionAttributes(max_threads_per_block=64),
    "gapped": FunctionAttributes(
        bindings=(
            KernelBinding("buffer", 0, "out", "write", 8, 8, "ulong"),
            KernelBinding("buffer", 1, "s", "read", 24, 8),
        )
    ),
}
_OF_WGSL = {"at_most_64": FunctionAttributes(required_block=(64, 1, 1))}


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
                gpu.define_kernel(module, function, body, attributes=self._attributes(function))
            gpu.define_global(module, "table", struct.pack("<3I", *TABLE))
        elif kernels == "bound":
            for function, body in BOUND.items():
                gpu.define_kernel(module, function, body, constants=BOUND_CONSTANTS.get(function, ()))
        else:
            gpu.define_kernel(module, "transform", {"doubled": doubled, "plus_hundred": plus_hundred}[kernels])
        return gpu.load_module(module, path=KERNELS / f"{kernels}{self._suffix}")

    @property
    def _suffix(self) -> str:
        """A device's own language where the engine reads that, so that what is read of it is checked as it is there."""
        return {"M2": ".metal", "WebGPU": ".wgsl"}.get(self.profile, "")

    def _attributes(self, function: str) -> FunctionAttributes | None:
        # Of PTX the mock reads it itself; of the others the device's compiler tells it.
        return {".metal": _OF_METAL, ".wgsl": _OF_WGSL}.get(self._suffix, {}).get(function)

    def driver_calls(self, gpu: GpuBackend) -> int | None:
        assert isinstance(gpu, MockGpuBackend)
        return len(gpu.log.transcript())

    def after_close(self, gpu: GpuBackend) -> None:
        assert isinstance(gpu, MockGpuBackend)
        assert not gpu.mock.violations, gpu.mock.violations
        left = {kind: count for kind, count in gpu.mock.books.items() if count}
        assert not left, f"not given back: {left}"
