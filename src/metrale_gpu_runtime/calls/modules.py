"""Modules and kernels: loading, looking up, unloading when queued work allows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ..books import BackendBooks
from ..buffers import DeviceBuffer
from ..code_cache import Build
from ..driver import MemoryKind
from ..elements import BYTES
from ..errors import NotSupported
from ..geometry import Geometry
from ..kernel import Kernel, Module
from ..memory.allocation import Allocation
from ..modules.linking import LinkInput, find_parts
from ..modules.loading import LoadedModule
from ..modules.parts import LinkRequest
from ..modules.registry import ModuleRegistry
from ..modules.sources import CodeInput, PathGiven, find_code, strings_given
from ..trace.site import call_site
from .streams import StreamCalls

if TYPE_CHECKING:
    from ..backend import GpuBackend
    from ..raw_kernel import RawKernel


class ModuleCalls(StreamCalls):
    """The part of GpuBackend that holds code."""

    _modules: dict[str, Module]
    _symbols: dict[tuple[int, str], Allocation]
    _registry: ModuleRegistry

    @property
    def registry(self) -> ModuleRegistry:
        """What is loaded and who asked for what."""
        self._check_usable()
        return self._registry

    def load_module(
        self,
        name: str,
        path: PathGiven | Mapping[str, PathGiven] | None = None,
        *,
        source: str | Mapping[str, str] | None = None,
        binary: bytes | bytearray | memoryview | None = None,
        options: Sequence[str] = (),
        names: Sequence[str] = (),
        signatures: Mapping[str, str] | None = None,
        replace: bool = False,
        link: Sequence[LinkInput] | None = None,
        link_options: Sequence[str] = (),
    ) -> Module:
        """Load code under a name, from exactly one of `path`, `source`, `binary` and `link`.

        A path without suffix, or a mapping from suffix to path or text, gives alternatives of which this backend takes
        its best. `options` are the compiler's; `names` are C++ template instances to be made kernels; `signatures`
        declares kernels by name: {"add": "const float* x, int n"}.

        `link` makes one module of several inputs: paths (.cu .ptx .cubin .fatbin .ltoir .o .a), (form, contents) pairs,
        source text; CUDA C is compiled with -rdc=true first, `link_options` are the linker's (nvJitLink). Raises
        NotSupported where Capabilities.linking is False.

        A name in use is refused unless `replace`. Raises
        ModuleLoadError or one of its kinds (CompileError, PtxSyntaxError); nothing is loaded then.
        """
        self._check_usable()
        if replace:
            self._refuse_while_recording("load_module with replace")
        options, names = strings_given("options", options), strings_given("names", names)
        link_options = strings_given("link_options", link_options)
        self._settle()
        code: CodeInput | LinkRequest
        if link is not None:
            if path is not None or source is not None or binary is not None:
                raise TypeError("load_module takes exactly one of path=, source=, binary= and link=")
            code = find_parts(str(name), link, link_options, self._capabilities)
        elif link_options:
            raise TypeError("load_module: link_options= goes with link=")
        else:
            code = find_code(str(name), path, source=source, binary=binary, capabilities=self._capabilities)
        earlier = self._modules.get(name)
        before = self._registry.module(name) if earlier is not None else None
        try:
            self._ask(
                None,
                self._registry.load,
                name,
                code,
                options=options,
                names=names,
                signatures=signatures,
                replace=replace,
            )
        except BaseException:
            # What failed may be the wait for work that runs the earlier code: the new one has its place then.
            if before is not None and self._registry.has_module(name) and self._registry.module(name) is not before:
                self._put_module(name, earlier)
            raise
        return self._put_module(name, earlier)

    def _put_module(self, name: str, earlier: Module | None) -> Module:
        if earlier is not None:
            earlier.mark_unloaded()
        module = self._modules[name] = Module(cast("GpuBackend", self), name)
        return module

    def unload_module(self, name: str | Module) -> None:
        """Unload a module, after the queued work of every stream is done. Its kernels refuse to be launched then.

        Raises KernelNotFound when there is none of the name, KernelFault when queued work failed. After the context is
        lost it only tidies up.
        """
        if self._is_closed or not self.is_lost:
            self._check_usable()
        self._refuse_while_recording("unload_module")
        key = name.name if isinstance(name, Module) else name
        self._registry.module(key)
        module = self._modules.pop(key, None)
        if module is not None:
            module.mark_unloaded()
        if self.is_lost:
            self._registry.unload(key)
        else:
            self._ask(None, self._registry.unload, key)

    def has_module(self, name: str) -> bool:
        """True when a module of this name is loaded."""
        self._check_usable()
        return self._registry.has_module(name)

    def module(self, name: str) -> Module:
        """The loaded module of this name. Raises KernelNotFound with what is loaded."""
        self._check_usable()
        self._registry.module(name)
        return self._modules[name]

    def kernel(
        self,
        module: str | Module,
        function: str,
        *,
        signature: str | None = None,
        constants: Mapping[str | int, object] | None = None,
    ) -> Kernel:
        """A kernel of a loaded module; a second look-up makes no driver call.

        `signature` declares its parameters ("const float* x, int n"). `constants` are the values that it is specialised
        by, by name or index: {"N": 4, "USE_BIAS": True} (Metal's function constants); each is encoded as its type in
        the code, and the same values give the same kernel. Raises KernelNotFound with what there is and what comes
        near, UnsupportedInstruction where this backend cannot run it, FunctionConstantError for a constant that is
        unknown, missing or does not fit, NotSupported for constants where Capabilities.function_constants is False.
        """
        self._check_usable()
        key = module.name if isinstance(module, Module) else module
        if key not in self._modules:
            # The registry's audit notes the request, and its error names what is loaded.
            self._registry.function(key, function)
        found = self._modules[key]
        if signature is None and not constants:
            return self._ask(None, found.__getitem__, function)
        return self._ask(None, found.look_up, function, signature, constants)

    def raw_kernel(self, source: str, name: str, options: Sequence[str] = ()) -> RawKernel:
        """CuPy's RawKernel: `gpu.raw_kernel(source, name)((4,), (256,), (x, y, np.int32(n)), shared_mem=0)`."""
        from ..raw_kernel import load_raw_kernel

        self._check_usable()
        return load_raw_kernel(cast("GpuBackend", self), source, name, options)

    def module_global(self, module: Module, name: str) -> DeviceBuffer:
        """A buffer on a module's variable; it does not own it. Raises KernelNotFound, NotSupported where variables are
        no memory that a caller reaches."""
        if not self._capabilities.module_variables:
            raise NotSupported(
                f"module {module.name!r}: variable {name!r} was asked for; no caller reaches a module's variables on "
                f"{self._capabilities.device}; pass a buffer to the kernel",
                backend=self._capabilities.backend,
                feature="module variables",
            )
        loaded = self.registry.module(module.name)
        key = (loaded.handle, name)
        allocation = self._symbols.get(key)
        if allocation is None:
            address, nbytes = self._ask(None, self._driver.global_symbol, loaded.handle, name)
            allocation = self._ledger.enter(
                base=address,
                nbytes=nbytes,
                driver_base=0,
                driver_nbytes=0,
                kind=MemoryKind.DEVICE,
                label=f"{module.name}.{name}",
                site=call_site(2),
                index=self._ledger.next_index(),
                owned=False,
                is_counted=False,
            )
            self._symbols[key] = allocation
        return DeviceBuffer(cast("GpuBackend", self), allocation, 0, (allocation.nbytes,), BYTES)

    # ------------------------------------------------ occupancy

    def sm_count(self) -> int:
        """Multiprocessors of the device. Raises NotSupported where its vendor does not tell how many there are."""
        self._check_usable()
        count = self._capabilities.multiprocessor_count
        if count is None:
            backend = self._capabilities.backend
            raise NotSupported(
                f"{backend}: how many multiprocessors {self._capabilities.device} has is not told there; choose the "
                "grid by the work there is",
                backend=backend,
                feature="sm_count",
            )
        return count

    def max_active_blocks_per_sm(self, kernel: Kernel, block_threads: int, shared_mem: int = 0) -> int:
        """How many blocks of a kernel fit on one multiprocessor. Raises NotSupported where that is not known."""
        return self._ask(None, self._driver.max_active_blocks, kernel.handle, block_threads, shared_mem)

    def max_cluster_blocks(self, kernel: Kernel, geometry: Geometry) -> int:
        """The largest cluster, in blocks, that a kernel can be launched with at this block and shared memory."""
        return self._ask(None, self._driver.max_cluster_blocks, kernel.handle, geometry)

    # ------------------------------------------------ inside

    def _note_build(self, build: Build) -> None:
        for trace in self._traces:
            trace.builds.append(build)

    def _retire_module(self, module: LoadedModule) -> None:
        """Unload code that can no longer be reached, once nothing queued can be running it.

        Raises KernelFault when the work waited for failed; the code is unloaded all the same, or by a later call when
        even waiting is impossible.
        """
        for key in [key for key in self._symbols if key[0] == module.handle]:
            self._ledger.remove(self._symbols.pop(key).block, f"module {module.name} was unloaded")
        self._retired_modules.append(module.handle)
        try:
            if not self.is_lost:
                self._wait_for_all(self._lanes_in_order())
        finally:
            self._unload_retired()


class AskedDriver:
    """The driver as the registry sees it: a fault that one of its calls finds is raised as KernelFault."""

    def __init__(self, books: BackendBooks) -> None:
        self._books = books

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._books.driver, name)
        return partial(self._books._ask, None, found) if callable(found) else found
