"""Loaded code: cl_program objects, the kernels looked up in them, and one cl_kernel per kernel and thread.

A cl_kernel holds the arguments that were set last, so two threads must not share one. Source: clCreateKernel,
clGetKernelWorkGroupInfo, clGetProgramInfo.
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass, field
from typing import Any

from ...code_cache import CodeCache
from ...driver import CodeImage, FunctionAttributes, KernelBinding
from ...errors import DriverError, HandleClosed, KernelNotFound, ModuleLoadError
from ...handles import KernelHandle, ModuleHandle
from .bindings import Bindings
from .capabilities import has_doubles, has_halves, il_version, takes_spirv
from .faults import INVALID_KERNEL_NAME
from .kept_programs import program_of, types_of
from .kernels import (
    COMPILE_WORK_GROUP_SIZE,
    LOCAL_MEM_SIZE,
    PREFERRED_MULTIPLE,
    PRIVATE_MEM_SIZE,
    WORK_GROUP_SIZE,
    ClKernel,
)
from .recordings import Recordings
from .reflection import ArgumentInfo, TypeFacts, kernel_bindings, read_arguments, unknown_types


class ThreadKernel(ClKernel):
    """One thread's cl_kernel, and what was set on it last: by which target, which values, how much shared memory.

    `kept` is what has to live while it is set: a cl_kernel holds no reference to a memory object (clSetKernelArg).
    """

    __slots__ = ("kept", "shared_mem", "target", "values")

    def __init__(self, bindings: Bindings, program: Any, name: str) -> None:
        super().__init__(bindings, program, name)
        self.target: object = None
        self.values: tuple[object, ...] = ()
        self.shared_mem = -1
        self.kept: dict[int, object] = {}


class LoadedKernel:
    """A kernel of a module. `parameters` are what its program tells of them, None where it tells nothing."""

    def __init__(self, bindings: Bindings, program: Any, count: int, name: str, attributes: FunctionAttributes) -> None:
        self.name, self.count, self.attributes = name, count, attributes
        self.parameters = attributes.bindings
        self._bindings, self._program = bindings, program
        self._threads = threading.local()
        self.recordings = Recordings()

    def of_this_thread(self) -> ThreadKernel:
        """The calling thread's cl_kernel. Raises DriverError when it cannot be made, HandleClosed after `release`."""
        try:
            found: ThreadKernel = self._threads.plain
        except AttributeError:
            found = self._threads.plain = self.another()
        return found

    def of_this_thread_with_memory(self) -> ThreadKernel:
        """Another one, for launches that name memory beside their arguments: that stays set as arguments do."""
        try:
            found: ThreadKernel = self._threads.using
        except AttributeError:
            found = self._threads.using = self.another()
        return found

    def another(self) -> ThreadKernel:
        """One more cl_kernel, for whoever asks. Raises DriverError when it cannot be made, HandleClosed after
        `release`."""
        program = self._program
        if program is None:
            raise HandleClosed(f"{self.name}: its module was unloaded by another thread meanwhile")
        return ThreadKernel(self._bindings, program, self.name)

    def release(self) -> None:
        """Let go of the native objects: who keeps a kernel of a closed backend keeps nothing of the device."""
        self._program, self._threads = None, threading.local()
        self.recordings.let_go()


@dataclass(slots=True)
class _Module:
    name: str
    program: Any
    log: str
    # What it was built from, for the sizes of its types; None where that is no text.
    source: CodeImage | None
    code_cache: CodeCache
    lock: threading.Lock = field(default_factory=threading.Lock)
    kernels: dict[str, KernelHandle] = field(default_factory=dict)
    probed: dict[str, TypeFacts] = field(default_factory=dict)


class Programs:
    """One device's loaded code. Safe to use from several threads."""

    def __init__(self, bindings: Bindings, context: Any, device: Any, name: str) -> None:
        self._bindings, self._context, self._device, self._name = bindings, context, device, name
        self._modules: dict[int, _Module] = {}
        self._kernels: dict[int, LoadedKernel] = {}
        self._numbers = itertools.count(1)

    # ------------------------------------------------ modules

    def load(self, image: CodeImage, code_cache: CodeCache) -> ModuleHandle:
        """Build OpenCL C or SPIR-V. Raises CompileError, ModuleLoadError, NotSupported for an option."""
        if image.format == "spirv" and not takes_spirv(self._bindings, self._device):
            raise ModuleLoadError(
                f"module {image.name!r}: {self._name} takes no SPIR-V (CL_DEVICE_IL_VERSION is "
                f"{il_version(self._bindings, self._device)!r}); load OpenCL C",
                module=image.name,
            )
        program, log = program_of(
            self._bindings, self._context, self._device, image, name=self._name, code_cache=code_cache
        )
        source = None if image.format == "spirv" else image
        handle = next(self._numbers)
        self._modules[handle] = _Module(image.name, program, log, source, code_cache)
        return ModuleHandle(handle)

    def unload(self, module: ModuleHandle) -> None:
        """Give up a program and its kernels. Nothing happens for one that is not loaded."""
        gone = self._modules.pop(module, None)
        if gone is None:
            return
        with gone.lock:
            for kernel in gone.kernels.values():
                self._kernels.pop(kernel).release()
            gone.kernels.clear()
            gone.program = gone.source = None

    def close(self) -> None:
        """Give up everything."""
        for module in list(self._modules):
            self.unload(ModuleHandle(module))

    # ------------------------------------------------ kernels

    def function_names(self, module: ModuleHandle) -> tuple[str, ...]:
        """The kernels of a module."""
        names = str(self._modules[module].program.get_info(self._bindings.cl.program_info.KERNEL_NAMES))
        return tuple(name for name in names.strip("\0").split(";") if name)

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        """The handle of a kernel. Raises KernelNotFound."""
        loaded = self._modules[module]
        with loaded.lock:
            known = loaded.kernels.get(name)
            if known is not None:
                return known
            if loaded.program is None:
                raise _not_found(loaded, name, "the module was unloaded meanwhile")
            kernel = self._make(loaded, name)
            handle = KernelHandle(next(self._numbers))
            self._kernels[handle] = kernel
            loaded.kernels[name] = handle
            return handle

    def kernel(self, handle: KernelHandle) -> LoadedKernel:
        """What a handle stands for."""
        return self._kernels[handle]

    # ------------------------------------------------ inside

    def _make(self, loaded: _Module, name: str) -> LoadedKernel:
        try:
            first = ClKernel(self._bindings, loaded.program, name)
        except DriverError as error:
            if error.code == INVALID_KERNEL_NAME:
                raise _not_found(loaded, name, f"it has no {name!r}") from error
            raise
        arguments = read_arguments(first)
        bound = None
        if arguments is not None:
            self._probe(loaded, arguments)
            bound = kernel_bindings(arguments, loaded.probed)
        attributes = self._attributes(first, bound, loaded.log)
        return LoadedKernel(self._bindings, loaded.program, first.argument_count, name, attributes)

    def _probe(self, loaded: _Module, arguments: tuple[ArgumentInfo, ...]) -> None:
        """Learn the types of these parameters, where the module's text has words of its own for them."""
        unknown = [each for each in unknown_types(arguments) if each not in loaded.probed]
        values = set(unknown_types(each for each in arguments if each.kind == "value"))
        needed = [each for each in unknown if each in values]
        wanted = [each for each in unknown if each not in values]
        if loaded.source is None or not (needed or wanted):
            return
        loaded.probed.update(
            types_of(
                self._bindings,
                self._context,
                self._device,
                loaded.source,
                needed,
                wanted,
                has_half=has_halves(self._device),
                has_double=has_doubles(self._bindings, self._device),
                name=self._name,
                code_cache=loaded.code_cache,
            )
        )

    def _attributes(self, kernel: ClKernel, bound: tuple[KernelBinding, ...] | None, log: str) -> FunctionAttributes:
        def ask(what: int) -> int:
            return kernel.sizes(self._device, what)[0]

        required = kernel.sizes(self._device, COMPILE_WORK_GROUP_SIZE)
        extra: dict[str, object] = {"preferred_work_group_size_multiple": ask(PREFERRED_MULTIPLE)}
        if log:
            extra["build_log"] = log
        return FunctionAttributes(
            max_threads_per_block=ask(WORK_GROUP_SIZE),
            static_shared_mem=ask(LOCAL_MEM_SIZE),
            local_mem=ask(PRIVATE_MEM_SIZE),
            required_block=(required[0], required[1], required[2]) if any(required) else None,
            bindings=bound,
            extra=extra,
        )


def _not_found(loaded: _Module, name: str, reason: str) -> KernelNotFound:
    return KernelNotFound(f"module {loaded.name!r}: {reason}", module=loaded.name, function=name)
