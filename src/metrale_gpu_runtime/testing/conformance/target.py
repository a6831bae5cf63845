"""What a backend's author supplies to have the backend judged: how to open it, and how it gets the suite's kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...capabilities import Capabilities

if TYPE_CHECKING:
    from ...backend import GpuBackend
    from ...kernel import Kernel, Module

KERNELS = Path(__file__).with_name("kernels")
"""The folder of the suite's kernels: `suite`, `doubled` and `plus_hundred` as .cu, .ptx, .metal, .cl and .wgsl; `bound`
as .metal, .cl and .wgsl, for devices that bind arguments one by one; `half` as .wgsl."""

SIGNATURES: Mapping[str, str] = MappingProxyType(
    {
        "affine": "unsigned int* values, unsigned int count, unsigned int factor, unsigned int addend",
        "scale_add": "const float* x, float* y, unsigned int count, float factor",
        "sum_i32": "const int* x, int* out, unsigned int count",
        "write_at": "int* out, long long index, int value",
    }
)
"""Declared signatures for the laws that need names and element types."""


class ConformanceTarget(ABC):
    """A backend under judgement.

    `known_gaps` maps a case's name to the reason why the backend breaks that law today: the case is then expected
    to fail, and the run fails when it does not. `programs` are those that the device's own driver runs (PoCL links
    each kernel with "ld"): they are on PATH where nothing else is.
    """

    name: str
    known_gaps: Mapping[str, str] = MappingProxyType({})
    programs: tuple[str, ...] = ()

    @abstractmethod
    def open_backend(self, **options: Any) -> GpuBackend:
        """A fresh backend. `options` are those of `open_backend` that the case needs: debug_sync, check, redzone."""

    def load(self, gpu: GpuBackend, kernels: str, name: str | None = None) -> Module:
        """Load one of the kernel files of KERNELS as module `name` (its own name by default).

        The default loads the form that the backend takes: PTX, CUDA C where it compiles that and takes no PTX, Metal's,
        OpenCL C or WGSL; a backend for another language overrides this.
        """
        return gpu.load_module(name or kernels, path=KERNELS / kernels)

    def driver_calls(self, gpu: GpuBackend) -> int | None:
        """How many calls the driver has had, where the target can count them: a refusal must not make any."""
        return None

    def after_close(self, gpu: GpuBackend) -> None:
        """Look at the driver's books after `close`. Raises AssertionError when something was not given back.

        The default looks at the engine's own.
        """
        assert not gpu.is_open
        assert gpu.live_alloc_count() == 0

    # ------------------------------------------------ for the cases

    @property
    def capabilities(self) -> Capabilities:
        """The device's capabilities, asked once."""
        known = self.__dict__.get("_capabilities")
        if known is None:
            gpu = self.open_backend()
            known = self.__dict__["_capabilities"] = gpu.capabilities
            gpu.close()
        result: Capabilities = known
        return result

    @contextmanager
    def opened(self, **options: Any) -> Iterator[GpuBackend]:
        """A backend that is closed at the end, with the books looked at."""
        gpu = self.open_backend(**options)
        try:
            yield gpu
        finally:
            gpu.close()
        self.after_close(gpu)

    def kernel(self, gpu: GpuBackend, function: str, *, signature: str | None = None) -> Kernel:
        """A kernel of the suite, loaded once per backend; `signature` declares one, as a module of its own."""
        if signature is None:
            if not gpu.has_module("suite"):
                self.load(gpu, "suite")
            return gpu.kernel("suite", function)
        name = f"suite_declaring_{function}"
        if not gpu.has_module(name):
            self.load(gpu, "suite", name)
        return gpu.kernel(name, function, signature=signature)

    def kernel_of(self, gpu: GpuBackend, kernels: str, function: str) -> Kernel:
        """A kernel of another of the kernel files, loaded once per backend."""
        if not gpu.has_module(kernels):
            self.load(gpu, kernels)
        return gpu.kernel(kernels, function)

    @contextmanager
    def no_launch(self, gpu: GpuBackend) -> Iterator[None]:
        """Assert that the driver gets no call inside, where the target can count them."""
        before = self.driver_calls(gpu)
        yield
        after = self.driver_calls(gpu)
        assert before == after, f"a refusal made {after} - {before} driver calls"


class OpenTarget(ConformanceTarget):
    """Any backend that `open_backend(spec)` opens and that takes PTX, CUDA C, Metal source, OpenCL C or WGSL."""

    def __init__(
        self, spec: str, known_gaps: Mapping[str, str] | None = None, *, programs: tuple[str, ...] = ()
    ) -> None:
        self.name, self.programs = spec, programs
        if known_gaps is not None:
            self.known_gaps = known_gaps

    def open_backend(self, **options: Any) -> GpuBackend:
        from ...discovery import open_backend

        return open_backend(self.name, **options)
