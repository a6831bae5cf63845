"""wgpu's native library, imported when first needed, and its C calls.

The wgpu package carries wgpu-native and its header (webgpu.h of the WebGPU standard and wgpu.h, its additions) as a
cffi library. This backend makes the C calls of that header and leaves the package's Python classes alone: they take
several times as long as the calls themselves, and keep a thread for each device.

wgpu-native ends the process when `wgpuQueueSubmit` or `wgpuQueueSubmitForIndex` meet an error, whatever is registered
for errors. So nothing is ever submitted that has not been found good by `wgpuCommandEncoderFinish`, no buffer is
destroyed while anything may still name it, and nothing is submitted at all once the device is known to be lost.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import BackendUnavailable
from ..forks import generation

INSTALL = "pip install 'metrale-gpu-runtime[webgpu]'"

_NEEDED = ("wgpuDeviceCreateComputePipeline", "wgpuComputePassEncoderSetImmediates", "wgpuQueueSubmitForIndex")
_LOW_BYTE = 0xFF

_GRAPHICS = 1 << 0 | 1 << 2 | 1 << 3
"""WGPUInstanceBackend_Vulkan, _Metal and _DX12 (wgpu.h). Without OpenGL, which is for graphics first: it looks for a
display, writes to stderr where there is none, and has no device that Vulkan has not."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """The library, ready for use: `ffi` makes C values, `lib` has the calls and constants of the header."""

    ffi: Any
    lib: Any
    instance: Any
    version: str

    def text(self, text: str) -> tuple[Any, Any]:
        """A WGPUStringView, and what must be kept until the call is over."""
        data = text.encode()
        kept = self.ffi.new("char[]", data)
        view = self.ffi.new("WGPUStringView *")
        view.data, view.length = kept, len(data)
        return view[0], (kept, view)

    def read(self, view: Any) -> str:
        """The text of a WGPUStringView that the library gave."""
        if view.data == self.ffi.NULL or view.length == 0:
            return ""
        if view.length == (1 << 8 * self.ffi.sizeof("size_t")) - 1:  # WGPU_STRLEN: it ends with a zero
            return bytes(self.ffi.string(view.data)).decode(errors="replace")
        return bytes(self.ffi.unpack(view.data, view.length)).decode(errors="replace")


class _Loaded:
    """The bindings of this process, once loaded. An instance is for the process: it is never given back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bindings: Bindings | None = None
        self._generation = -1

    def get(self) -> Bindings:
        with self._lock:
            if self._bindings is None:
                self._bindings = _load()
                self._generation = generation.number
            elif self._generation != generation.number:
                raise BackendUnavailable(
                    "webgpu: this process was forked off one that had a WebGPU device open, and wgpu does not survive "
                    "that; open it in the child only, or start the child with the method 'spawn'",
                    backend="webgpu",
                )
            return self._bindings


_loaded = _Loaded()


def require_bindings() -> None:
    """Raise BackendUnavailable, with what would help, unless the wgpu package is installed. Imports nothing."""
    if importlib.util.find_spec("wgpu") is None:
        raise BackendUnavailable(
            f"webgpu: the package wgpu is not installed for this Python ({sys.executable}); {INSTALL}", backend="webgpu"
        )


def load_bindings() -> Bindings:
    """The library of this process. Raises BackendUnavailable where there is none, or it is the parent process's."""
    require_bindings()
    return _loaded.get()


def _load() -> Bindings:
    try:
        native = importlib.import_module("wgpu.backends.wgpu_native")
    except Exception as error:  # what the package's own loader raises depends on the platform
        raise BackendUnavailable(
            f"webgpu: the native library of the package wgpu cannot be loaded: {type(error).__name__}: {error}",
            backend="webgpu",
        ) from error
    ffi, lib = native.ffi, native.lib
    version = ".".join(str(part) for part in native.lib_version_info)
    missing = [name for name in _NEEDED if not hasattr(lib, name)]
    if missing:
        raise BackendUnavailable(
            f"webgpu: wgpu-native {version} has no {', '.join(missing)}; this backend takes that of wgpu 0.32 or "
            f"later; {INSTALL}",
            backend="webgpu",
        )
    descriptor, extras = ffi.new("WGPUInstanceDescriptor *"), ffi.new("WGPUInstanceExtras *")
    extras.chain.sType = lib.WGPUSType_InstanceExtras
    extras.backends = _GRAPHICS
    descriptor.nextInChain = ffi.cast("WGPUChainedStruct *", extras)
    instance = lib.wgpuCreateInstance(descriptor)
    if instance == ffi.NULL:
        raise BackendUnavailable(f"webgpu: wgpu-native {version} gives no instance", backend="webgpu")
    return Bindings(ffi, lib, instance, version)


_interrupts: list[BaseException] = []


def make_callback(ffi: Any, name: str, function: Callable[..., None]) -> Any:
    """A C function of a type of the header that calls `function`, which may be called a second time with the same.

    Ctrl-C that comes while wgpu works is raised by the first Python that runs, and that may be `function`: cffi would
    print it and forget it, and what wgpu had to tell would be lost. So `function` is called again, and the interrupt is
    kept for `raise_interrupt`.
    """
    names = list(inspect.signature(function).parameters)

    def on_error(_kind: Any, error: BaseException, traceback: Any) -> None:
        _interrupts.append(error)
        if traceback is not None:
            given = traceback.tb_frame.f_locals
            function(*(given[each] for each in names))

    return ffi.callback(name, function, onerror=on_error)


def call_and_keep(results: list[Any], call: Callable[..., Any], *arguments: Any) -> None:
    """Append what a call of wgpu's returns, in one step of the interpreter, which no signal's handler can come into."""
    results.extend(map(call, *((each,) for each in arguments)))


def raise_interrupt() -> None:
    """Raise what interrupted a callback, if anything did."""
    if _interrupts:
        raise _interrupts.pop()


def truth(value: int) -> bool:
    """A WGPUBool that the library returned: only its lowest byte is written, the others are left from before."""
    return bool(value & _LOW_BYTE)
