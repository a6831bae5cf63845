"""Loaded code: MTLLibrary objects, the kernels looked up in them and their pipelines.

Source: MTLLibrary, MTLFunction, MTLFunctionConstantValues (MTLLibrary.h, MTLFunctionConstantValues.h).
"""

from __future__ import annotations

import ctypes
import itertools
import os
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ...driver import CodeImage, FunctionConstant
from ...errors import CompileError, KernelNotFound, ModuleLoadError
from ...handles import KernelHandle, ModuleHandle
from .bindings import Bindings
from .compiling import compile_source
from .pipelines import Pipeline, make_pipeline
from .reflection import type_names

_Constants = tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class _Module:
    name: str
    library: Any
    # Held while a kernel of this module is made: whoever asks for the same one meanwhile gets that one.
    lock: threading.Lock = field(default_factory=threading.Lock)
    kernels: dict[tuple[str, _Constants], KernelHandle] = field(default_factory=dict)
    path: str | None = None


class Libraries:
    """One device's loaded code. Safe to use from several threads; a kernel is compiled for the device only once."""

    def __init__(self, bindings: Bindings, device: Any) -> None:
        self._bindings, self._device = bindings, device
        self._modules: dict[int, _Module] = {}
        self._pipelines: dict[int, Pipeline] = {}
        self._numbers = itertools.count(1)

    # ------------------------------------------------ modules

    def load(self, image: CodeImage) -> ModuleHandle:
        """Compile MSL, or open a metallib. Raises CompileError, ModuleLoadError, NotSupported for an option."""
        with self._bindings.pool():
            if image.format == "msl":
                module = _Module(image.name, compile_source(self._bindings, self._device, image))
            else:
                module = self._open_metallib(image)
        handle = next(self._numbers)
        self._modules[handle] = module
        return ModuleHandle(handle)

    def unload(self, module: ModuleHandle) -> None:
        """Give up a library and its pipelines. Nothing happens for one that is not loaded."""
        gone = self._modules.pop(module, None)
        if gone is None:
            return
        with gone.lock, self._bindings.pool():
            for kernel in gone.kernels.values():
                self._pipelines.pop(kernel).release()
            gone.kernels.clear()
            gone.library = None
        _remove(gone.path)

    def close(self) -> None:
        """Give up everything."""
        for module in list(self._modules):
            self.unload(ModuleHandle(module))

    def _open_metallib(self, image: CodeImage) -> _Module:
        # The framework takes bytes only as a dispatch_data_t, which PyObjC cannot make of Python's; so they go through
        # a file. It stays until the module is unloaded: pipelines may be read from it as late as that.
        number, path = tempfile.mkstemp(suffix=".metallib", prefix="metrale-")
        try:
            with os.fdopen(number, "wb") as file:
                file.write(image.data)
            url = self._bindings.foundation.NSURL.fileURLWithPath_(path)
            library, error = self._device.newLibraryWithURL_error_(url, None)
            if library is None:
                said = str(error.localizedDescription()) if error is not None else "it says nothing"
                raise ModuleLoadError(
                    f"module {image.name!r}: {self._device.name()} cannot load this metallib of {len(image.data)} "
                    f"bytes: {said}. It has to be made for macOS (xcrun -sdk macosx metal), for this version or an "
                    "older one",
                    module=image.name,
                )
        except BaseException:
            _remove(path)
            raise
        return _Module(image.name, library, path=path)

    # ------------------------------------------------ kernels

    def function_names(self, module: ModuleHandle) -> tuple[str, ...]:
        """The kernels of a module; its functions of other kinds (vertex, visible, …) left out."""
        loaded = self._modules[module]
        with self._bindings.pool():
            names = [str(name) for name in loaded.library.functionNames()]
            return tuple(name for name in names if self._kind_of(loaded, name) == self._kernel_kind)

    def function(self, module: ModuleHandle, name: str) -> KernelHandle:
        """The handle of a kernel, compiled for the device. Raises KernelNotFound, CompileError, NotSupported."""
        return self.specialised(module, name, {})

    def specialised(self, module: ModuleHandle, name: str, constants: Mapping[str, bytes]) -> KernelHandle:
        """The handle of a kernel with values for its function constants, by name, each encoded as its type.

        The same for equal ones. Raises KernelNotFound, CompileError, NotSupported.
        """
        loaded = self._modules[module]
        key = (name, tuple(sorted(constants.items())))
        with loaded.lock:
            known = loaded.kernels.get(key)
            if known is not None:
                return known
            if loaded.library is None:
                raise _not_found(loaded, name, "the module was unloaded meanwhile")
            with self._bindings.pool():
                pipeline = self._make(loaded, name, constants)
            handle = KernelHandle(next(self._numbers))
            self._pipelines[handle] = pipeline
            loaded.kernels[key] = handle
            return handle

    def pipeline(self, kernel: KernelHandle) -> Pipeline:
        """What a handle stands for."""
        return self._pipelines[kernel]

    def function_constants(self, module: ModuleHandle, name: str) -> tuple[FunctionConstant, ...]:
        """The function constants that a kernel declares, by rising index. Raises KernelNotFound."""
        loaded = self._modules[module]
        with self._bindings.pool():
            return tuple(self._described(each) for each in self._declared(self._plain(loaded, name)))

    # ------------------------------------------------ inside

    @property
    def _kernel_kind(self) -> int:
        return int(self._bindings.metal.MTLFunctionTypeKernel)

    def _kind_of(self, loaded: _Module, name: str) -> int | None:
        function = loaded.library.newFunctionWithName_(name)
        return None if function is None else int(function.functionType())

    def _plain(self, loaded: _Module, name: str) -> Any:
        """The MTLFunction of a kernel without values. One that declares constants can be asked, but not compiled."""
        function = loaded.library.newFunctionWithName_(name)
        if function is None:
            raise _not_found(loaded, name, f"it has no {name!r}")
        if function.functionType() != self._kernel_kind:
            raise _not_found(loaded, name, f"{name!r} is a function of another kind: it is not declared `kernel`")
        return function

    def _declared(self, function: Any) -> list[Any]:
        """Its MTLFunctionConstant objects by rising index."""
        constants = function.functionConstantsDictionary()
        return sorted(constants.values(), key=lambda each: int(each.index())) if constants else []

    def _described(self, constant: Any) -> FunctionConstant:
        code = constant.type()
        return FunctionConstant(
            name=str(constant.name()),
            type_name=type_names(self._bindings.metal).get(code, f"MTLDataType {code}"),
            index=constant.index(),
            required=bool(constant.required()),
        )

    def _make(self, loaded: _Module, name: str, constants: Mapping[str, bytes]) -> Pipeline:
        function = self._plain(loaded, name)
        declared = self._declared(function)
        if declared:
            # Also where no value is given: Metal makes no pipeline of a function that was never specialised.
            function = self._specialise(loaded, name, declared, constants)
        unset = [str(each.name()) for each in declared if each.name() not in constants]
        return make_pipeline(self._bindings, self._device, function, module=loaded.name, name=name, unset=unset)

    def _specialise(self, loaded: _Module, name: str, declared: list[Any], constants: Mapping[str, bytes]) -> Any:
        values = self._bindings.metal.MTLFunctionConstantValues.alloc().init()
        for each in declared:
            value = constants.get(str(each.name()))
            if value is not None:
                # PyObjC knows of this pointer no more than that it is one: it takes an address.
                place = ctypes.create_string_buffer(value, len(value))
                values.setConstantValue_type_atIndex_(ctypes.addressof(place), each.type(), each.index())
        function, error = loaded.library.newFunctionWithName_constantValues_error_(name, values, None)
        if function is None:
            log = str(error.localizedDescription()) if error is not None else "it says nothing"
            unset = [str(each.name()) for each in declared if each.required() and each.name() not in constants]
            missing = f"\n  function constants that need a value: {', '.join(unset)}" if unset else ""
            raise CompileError(
                f"module {loaded.name!r}: kernel {name} cannot be specialised\n  {log}{missing}",
                module=loaded.name,
                log=log,
            )
        return function


def _not_found(loaded: _Module, name: str, reason: str) -> KernelNotFound:
    return KernelNotFound(f"module {loaded.name!r}: {reason}", module=loaded.name, function=name)


def _remove(path: str | None) -> None:
    if path is not None:
        # Whoever cleans the folder for temporary files may have been faster.
        with suppress(FileNotFoundError):
            os.remove(path)
