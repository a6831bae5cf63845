"""gpu.raw_kernel: source string in, callable out, with the call of CuPy's RawKernel."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .driver import FunctionAttributes
from .errors import ArgumentCountError
from .geometry import Extent
from .kernel import Kernel
from .modules.formats import ANY
from .modules.sources import strings_given

if TYPE_CHECKING:
    from .backend import GpuBackend
    from .stream import Stream


class RawKernel:
    """A kernel compiled from a source string: `k((4,), (256,), (x, y, np.int32(n)), shared_mem=0)`.

    The call is CuPy's; the arguments are checked like those of every launch, so a Python number becomes what the
    kernel declares and a NumPy scalar of another width is refused.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    @property
    def kernel(self) -> Kernel:
        """The kernel itself, with its signature and the short form."""
        return self._kernel

    @property
    def name(self) -> str:
        return self._kernel.function

    @property
    def attributes(self) -> FunctionAttributes:
        return self._kernel.attributes

    def __call__(
        self,
        grid: Extent,
        block: Extent,
        args: Sequence[object],
        *,
        shared_mem: int = 0,
        stream: Stream | int | None = None,
    ) -> None:
        """Launch on `stream` (None: the default stream). `args` is a tuple or list.

        Raises the ArgumentError family, GeometryError, LimitExceeded before the driver is called.
        """
        if not isinstance(args, (tuple, list)):
            raise ArgumentCountError(
                f"{self.name}: the arguments come as one tuple: k(grid, block, (x, y, n)), not {type(args).__name__}",
                kernel=self.name,
                expected="a tuple",
                given=type(args).__name__,
            )
        self._kernel[grid, block, shared_mem, stream](*args)

    def __repr__(self) -> str:
        return f"<RawKernel {self._kernel.signature}>"


def load_raw_kernel(gpu: GpuBackend, source: str, name: str, options: Sequence[str] = ()) -> RawKernel:
    """Compile `source` for this backend and find `name` in it; the same source and options are compiled once.

    `name` may be a C++ name such as `scale<float>` where the backend instantiates templates (CUDA C, HIP C); Metal
    source instantiates its own. Raises CompileError, KernelNotFound, BackendUnavailable (no compiler).
    """
    if not isinstance(source, str):
        raise TypeError(f"raw_kernel takes the source as a string, not {type(source).__name__}")
    options = strings_given("options", options)
    capabilities = gpu.capabilities
    instantiates = bool(capabilities.source_languages) or ANY in capabilities.code_formats
    expressions = (name,) if instantiates and ("<" in name or "::" in name) else ()
    text = "\0".join((source, *options, *expressions))
    module_name = f"raw_{name.split('<')[0]}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if not gpu.has_module(module_name):
        gpu.load_module(module_name, source=source, options=options, names=expressions)
    return RawKernel(gpu.kernel(module_name, name))
