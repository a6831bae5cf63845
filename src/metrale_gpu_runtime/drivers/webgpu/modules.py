"""Loaded WGSL: shader modules, what their texts declare, and the kernels looked up in them.

Source: GPUShaderModule, GPUProgrammableStage (WebGPU); WGPUShaderSourceWGSL (webgpu.h).
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...driver import NO_INDEX, CodeImage, FunctionConstant
from ...errors import CompileError, KernelNotFound, ModuleLoadError, NotSupported, SignatureError
from ...handles import KernelHandle, ModuleHandle
from ...signature.wgsl import WgslEntryPoint, WgslModule, WgslOverride, parse_wgsl
from .bind_groups import BindGroups
from .device import Device, WgpuError
from .pipelines import SHARED_MEM, WebgpuKernel, check_block

_PLACE = re.compile(r"(?:wgsl)?:(\d+):(\d+)")
_Constants = tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class _Module:
    name: str
    native: Any
    text: WgslModule
    # Held while a kernel of this module is made: whoever asks for the same one meanwhile gets that one.
    lock: threading.Lock = field(default_factory=threading.Lock)
    kernels: dict[tuple[str, _Constants], KernelHandle] = field(default_factory=dict)


class Modules:
    """One device's loaded code. Safe to use from several threads; a kernel is compiled for the device only once."""

    def __init__(self, device: Device, groups: BindGroups) -> None:
        self._device, self._groups = device, groups
        self._modules: dict[int, _Module] = {}
        self._kernels: dict[int, WebgpuKernel] = {}
        self._numbers = itertools.count(1)

    # ------------------------------------------------ modules

    def load(self, image: CodeImage) -> ModuleHandle:
        """Read and compile WGSL. Raises CompileError with line and column, NotSupported for an option."""
        if image.options:
            raise NotSupported(
                f"module {image.name!r}: WGSL is compiled without options, so {image.options[0]!r} has no meaning; set "
                "an override of the text where the kernel is looked up (gpu.kernel(…, constants={…}))",
                backend="webgpu",
                feature="compiler options",
            )
        try:
            text = image.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModuleLoadError(
                f"module {image.name!r}: WGSL is UTF-8, and this is not: {error}", module=image.name
            ) from error
        title = image.path or image.name
        native = compile_wgsl(self._device, text, title, image.name)
        try:
            # Behind the compiler: what it refuses it explains better than a reader of declarations can.
            declared = parse_wgsl(text, title)
        except SignatureError as error:
            self._device.bindings.lib.wgpuShaderModuleRelease(native)
            raise ModuleLoadError(f"module {image.name!r}: {error}", module=image.name) from error
        handle = next(self._numbers)
        self._modules[handle] = _Module(image.name, native, declared)
        return ModuleHandle(handle)

    def unload(self, module: ModuleHandle) -> None:
        """Give up a module and its kernels. Nothing happens for one that is not loaded."""
        gone = self._modules.pop(module, None)
        if gone is None:
            return
        with gone.lock:
            for kernel in gone.kernels.values():
                self._kernels.pop(kernel).release()
            gone.kernels.clear()
            if gone.native is not None:
                self._device.bindings.lib.wgpuShaderModuleRelease(gone.native)
            gone.native = None

    def close(self) -> None:
        """Give up everything."""
        for module in list(self._modules):
            self.unload(ModuleHandle(module))

    # ------------------------------------------------ kernels

    def function_names(self, module: ModuleHandle) -> tuple[str, ...]:
        """The compute entry points of a module."""
        return tuple(self._modules[module].text.entry_points)

    def specialised(self, module: ModuleHandle, name: str, constants: Mapping[str, bytes]) -> KernelHandle:
        """The handle of a kernel with values for its overrides, by name, each encoded as its type.

        The same for equal ones. Raises KernelNotFound, CompileError, NotSupported, LimitExceeded.
        """
        loaded = self._modules[module]
        key = (name, tuple(sorted(constants.items())))
        with loaded.lock:
            known = loaded.kernels.get(key)
            if known is not None:
                return known
            if loaded.native is None:
                raise KernelNotFound(
                    f"module {loaded.name!r}: the module was unloaded meanwhile", module=loaded.name, function=name
                )
            entry = self._entry(loaded, name)
            check_block(entry, loaded.text, loaded.name)
            kernel = WebgpuKernel(
                self._device,
                self._groups,
                loaded.native,
                loaded.text,
                entry,
                loaded.name,
                constants,
            )
            handle = KernelHandle(next(self._numbers))
            self._kernels[handle] = kernel
            loaded.kernels[key] = handle
            return handle

    def kernel(self, kernel: KernelHandle) -> WebgpuKernel:
        """What a handle stands for."""
        return self._kernels[kernel]

    def function_constants(self, module: ModuleHandle, name: str) -> tuple[FunctionConstant, ...]:
        """The overrides that a kernel uses, but those that the launch sets: its block's extents and `shared_mem`.

        `index` is the override's @id, NO_INDEX for one that has none. Raises KernelNotFound.
        """
        loaded = self._modules[module]
        entry = self._entry(loaded, name)
        check_block(entry, loaded.text, loaded.name)
        by_launch = {SHARED_MEM, *(each for each in entry.workgroup_size if isinstance(each, str))}
        overrides = [loaded.text.override(each) for each in entry.overrides if each not in by_launch]
        return tuple(_constant(each) for each in overrides if each is not None)

    def _entry(self, loaded: _Module, name: str) -> WgslEntryPoint:
        entry = loaded.text.entry_points.get(name)
        if entry is None:
            raise KernelNotFound(
                f"module {loaded.name!r}: it has no compute entry point {name!r}", module=loaded.name, function=name
            )
        return entry


def _constant(override: WgslOverride) -> FunctionConstant:
    return FunctionConstant(
        name=override.name,
        type_name=override.type_name or "of a type that the text leaves open",
        index=NO_INDEX if override.id is None else override.id,
        required=not override.has_default,
    )


def compile_wgsl(device: Device, text: str, title: str, module: str) -> Any:
    """A WGPUShaderModule. Raises CompileError: its log is wgpu's, its diagnostics name `title` and the line."""
    bindings = device.bindings
    ffi, lib = bindings.ffi, bindings.lib
    device.check_alive()
    source, descriptor = ffi.new("WGPUShaderSourceWGSL *"), ffi.new("WGPUShaderModuleDescriptor *")
    source.chain.sType = lib.WGPUSType_ShaderSourceWGSL
    source.code, kept = bindings.text(text)
    descriptor.nextInChain = ffi.cast("WGPUChainedStruct *", source)
    native = lib.wgpuDeviceCreateShaderModule(device.native, descriptor)
    del kept
    error = device.take_error()
    if error is None:
        return native
    if native != ffi.NULL:
        lib.wgpuShaderModuleRelease(native)
    if error.kind != "Validation" or device.lost is not None:
        device.refuse(error, "wgpuDeviceCreateShaderModule")
    raise compile_error(error, text, title, module)


def compile_error(error: WgpuError, text: str, title: str, module: str) -> CompileError:
    """What wgpu's compiler said of a text, with the file's name and the place in it."""
    log = error.message.strip()
    for noise in ("Validation Error", "Caused by:", "In wgpuDeviceCreateShaderModule"):
        log = log.removeprefix(noise).strip()
    what = next((line.strip() for line in log.splitlines() if line.strip()), "it was refused")
    what = re.sub(r"^Shader '[^']*' ", "", what)
    place = _PLACE.search(log)
    diagnostics: list[tuple[str, int, str]] = []
    where = title
    if place is not None:
        line = int(place[1])
        diagnostics.append((title, line, what))
        where = f"{title}:{line}:{place[2]}"
        log = log.replace(place[0], where, 1)
    return CompileError(f"module {module!r}: {where}: {what}\n{log}", module=module, log=log, diagnostics=diagnostics)
