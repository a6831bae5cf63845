"""Loaded PTX: its variables in memory, its kernels translated when asked for and compiled when first prepared."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...code_cache import CodeCache
from ...driver import CodeImage, FunctionAttributes
from ...errors import KernelNotFound, ModuleLoadError, NotSupported
from ...handles import KernelHandle
from .memory import DeviceMemory

if TYPE_CHECKING:
    from ...ptx.syntax import Function, PtxModule, Variable
    from .jit import CompiledKernel
    from .translate import TranslatedKernel

MAX_THREADS_PER_BLOCK = 1024


class CpuKernel:
    """One kernel of a module: its translation, and its machine code once that is needed."""

    def __init__(
        self,
        handle: KernelHandle,
        function: Function,
        translated: TranslatedKernel,
        variables: Mapping[str, tuple[int, int]],
    ) -> None:
        self.handle, self.name, self.translated = handle, function.name, translated
        self._variables = variables
        self.parameters = tuple(
            (offset, parameter.nbytes)
            for offset, parameter in zip(function.parameter_offsets(), function.parameters, strict=True)
        )
        self.param_nbytes = max((offset + nbytes for offset, nbytes in self.parameters), default=0)
        self.attributes = self._attributes(function)
        # What a block of it took when it ran last, and how many turns make a native call of some 50 ms.
        self.ns_per_block: float | None = None
        self.turns_per_call = 64
        self._compiled: CompiledKernel | None = None
        self._lock = threading.Lock()

    def _attributes(self, function: Function) -> FunctionAttributes:
        bounds = function.bounds
        extents = bounds.reqntid or bounds.maxntid
        limit = math.prod(extents) if extents else MAX_THREADS_PER_BLOCK
        return FunctionAttributes(
            max_threads_per_block=min(MAX_THREADS_PER_BLOCK, limit),
            static_shared_mem=self.translated.static_shared_nbytes,
            local_mem=self.translated.frame_nbytes,
            required_block=bounds.reqntid,
            max_block=bounds.maxntid,
            parameters=self.parameters,
        )

    def compiled(self, code_cache: CodeCache) -> CompiledKernel:
        """Its machine code; the first call compiles it, or loads what the cache has kept of it."""
        code = self._compiled
        if code is None:
            from .kept_code import kernel_code

            with self._lock:
                if self._compiled is None:
                    text = self.translated.ir
                    self._compiled = kernel_code(code_cache, self.name, text, self.param_nbytes, self._variables)
                code = self._compiled
        return code


class CpuModule:
    """One loaded module. Its variables live until it is unloaded."""

    def __init__(self, image: CodeImage, memory: DeviceMemory, check: str | None) -> None:
        self.name = image.name
        self._check, self._memory = check, memory
        self._ptx = _read(image)
        self.variables: dict[str, tuple[int, int]] = {}
        self.kernels: dict[str, CpuKernel] = {}
        self._lock = threading.Lock()
        try:
            self._allocate_variables()
        except BaseException:
            self.unload()
            raise

    @property
    def kernel_names(self) -> tuple[str, ...]:
        return tuple(function.name for function in self._ptx.kernels())

    def kernel(self, name: str, handle: KernelHandle) -> CpuKernel:
        """A kernel, translated; it gets `handle` when this is the first time that it is asked for.

        Raises KernelNotFound, UnsupportedInstruction.
        """
        with self._lock:
            known = self.kernels.get(name)
            if known is not None:
                return known
            function = self._ptx.functions.get(name)
            if function is None or not function.is_kernel or function.body is None:
                raise KernelNotFound(
                    f"{self.name} has no kernel {name}", module=self.name, function=name, available=self.kernel_names
                )
            from .translate import translate

            addresses = {variable: address for variable, (address, _) in self.variables.items()}
            translated = translate(
                self._ptx, name, module_name=self.name, check=self._check, global_addresses=addresses
            )
            kernel = self.kernels[name] = CpuKernel(handle, function, translated, self.variables)
            return kernel

    def symbol(self, name: str) -> tuple[int, int]:
        """(address, nbytes) of a `.global` or `.const` variable. Raises KernelNotFound."""
        try:
            return self.variables[name]
        except KeyError:
            raise KernelNotFound(
                f"{self.name} has no variable {name} in .global or .const",
                module=self.name,
                function=name,
                available=tuple(self.variables),
            ) from None

    def unload(self) -> None:
        """Give the variables' memory back."""
        variables, self.variables = self.variables, {}
        for address, _ in variables.values():
            self._memory.free(address)

    # ------------------------------------------------ variables

    def _allocate_variables(self) -> None:
        placed: list[tuple[int, Variable]] = []
        for name, variable in self._ptx.variables.items():
            # What is declared .extern and defined nowhere has no address: a kernel that needs it is refused.
            if variable.space not in ("global", "const") or variable.linkage == "extern" or variable.nbytes == 0:
                continue
            # Code that is kept has a name for it (module_variables.py), which knows it by its size.
            address = self._memory.alloc(variable.nbytes, writable=variable.space == "global", is_far=True)
            self.variables[name] = (address, variable.nbytes)
            placed.append((address, variable))
        for address, variable in placed:
            self._initialize(address, variable)

    def _initialize(self, address: int, variable: Variable) -> None:
        if variable.data:
            ctypes.memmove(address, variable.data, len(variable.data))
        for relocation in variable.relocations:
            # An address of code stays 0: calls through it are refused where a kernel makes one.
            target, _ = self.variables.get(relocation.symbol, (None, 0))
            value = target + relocation.addend if target is not None else 0
            if relocation.mask is not None:
                lowest_bit = relocation.mask & -relocation.mask
                value = (value & relocation.mask) // lowest_bit
            stored = (value & (1 << 8 * relocation.nbytes) - 1).to_bytes(relocation.nbytes, "little")
            ctypes.memmove(address + relocation.offset, stored, relocation.nbytes)


def _read(image: CodeImage) -> PtxModule:
    """Parse the image. Raises NotSupported for another format or options, PtxSyntaxError, ModuleLoadError."""
    if image.format != "ptx":
        raise NotSupported(
            f"{image.name}: the CPU backend loads PTX, not {image.format}", backend="cpu", feature=image.format
        )
    if image.options:
        raise NotSupported(
            f"module {image.name!r}: options {' '.join(image.options)} were given for PTX, and the CPU backend's "
            "compiler takes none; give CUDA C source, whose compiler takes options",
            backend="cpu",
            feature="options for PTX",
        )
    from ...ptx.parser import parse

    ptx = parse(image.data, name=image.name)
    if ptx.address_size != 64:
        raise ModuleLoadError(
            f"{image.name}: it is PTX with {ptx.address_size}-bit addresses; compile it for 64 bits (nvcc -m64)",
            module=image.name,
        )
    return ptx
