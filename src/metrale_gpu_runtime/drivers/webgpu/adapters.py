"""The adapters that wgpu finds, which of them can run kernels here, and in which order they are numbered.

A device and one driver of it make an adapter. None of this needs a display.

Source: wgpuInstanceEnumerateAdapters, WGPUAdapterInfo, WGPULimits (webgpu.h, wgpu.h).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...errors import BackendUnavailable
from .bindings import Bindings, truth

_TYPES = ("DiscreteGPU", "IntegratedGPU", "Unknown", "CPU")
"""The best first. An unknown one may be a virtual GPU."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One adapter: `native` is the WGPUAdapter, `graphics` the interface behind it, `kind` one of WGPUAdapterType's
    names. `limits` is a WGPULimits, `reason` why no kernel can run on it, None where one can.
    """

    native: Any
    device: str
    vendor: str
    driver: str
    graphics: str
    kind: str
    vendor_id: int
    device_id: int
    limits: Any
    reason: str | None

    @property
    def is_software(self) -> bool:
        """Whether the CPU plays the GPU."""
        return self.kind == "CPU"

    @property
    def name(self) -> str:
        """What it is called: "llvmpipe (…) (software, Vulkan)"."""
        return f"{self.device or self.driver} ({'software, ' if self.is_software else ''}{self.graphics})"

    def has(self, bindings: Bindings, feature: int) -> bool:
        """Whether the adapter has a WGPUFeatureName or WGPUNativeFeature."""
        return truth(bindings.lib.wgpuAdapterHasFeature(self.native, feature))


def find_adapters(bindings: Bindings) -> list[Adapter]:
    """All adapters, the best first, those that cannot be used last."""
    with _no_display():
        natives = _enumerate(bindings)
    found = [_described(bindings, native) for native in natives]
    # Stable: among equals the order is wgpu's.
    return sorted(found, key=lambda each: (each.reason is not None, _TYPES.index(each.kind)))


def usable_adapters(bindings: Bindings) -> list[Adapter]:
    """Those that can run kernels, by their numbers. Raises BackendUnavailable with what was looked for, and what would
    help, when there is none."""
    usable = [each for each in find_adapters(bindings) if each.reason is None]
    if not usable:
        from .diagnosis import why_unusable

        raise BackendUnavailable(f"webgpu: {why_unusable()}", backend="webgpu")
    return usable


def _enumerate(bindings: Bindings) -> list[Any]:
    ffi, lib = bindings.ffi, bindings.lib
    count = lib.wgpuInstanceEnumerateAdapters(bindings.instance, ffi.NULL, ffi.NULL)
    natives = ffi.new("WGPUAdapter[]", max(count, 1))
    return list(natives[0 : min(count, lib.wgpuInstanceEnumerateAdapters(bindings.instance, ffi.NULL, natives))])


@contextmanager
def _no_display() -> Iterator[None]:
    """Spare the caller four lines on stderr. Mesa's layer that puts devices in order looks for a Wayland display, whose
    library complains where XDG_RUNTIME_DIR is not set; where it is set and there is no display, it says nothing."""
    if sys.platform != "linux" or "XDG_RUNTIME_DIR" in os.environ:
        yield
        return
    os.environ["XDG_RUNTIME_DIR"] = "/nonexistent"
    try:
        yield
    finally:
        del os.environ["XDG_RUNTIME_DIR"]


def _described(bindings: Bindings, native: Any) -> Adapter:
    ffi, lib = bindings.ffi, bindings.lib
    info, limits = ffi.new("WGPUAdapterInfo *"), ffi.new("WGPULimits *")
    lib.wgpuAdapterGetInfo(native, info)
    lib.wgpuAdapterGetLimits(native, limits)
    reason = None
    if limits.maxStorageBuffersPerShaderStage == 0 or limits.maxComputeInvocationsPerWorkgroup == 0:
        reason = "it has no storage buffers for compute shaders"
    graphics = _name_of(lib, "WGPUBackendType", info.backendType)
    try:
        return Adapter(
            native=native,
            device=bindings.read(info.device),
            vendor=bindings.read(info.vendor),
            driver=bindings.read(info.description),
            graphics=graphics,
            kind=_name_of(lib, "WGPUAdapterType", info.adapterType),
            vendor_id=int(info.vendorID),
            device_id=int(info.deviceID),
            limits=limits,
            reason=reason,
        )
    finally:
        lib.wgpuAdapterInfoFreeMembers(info[0])


_NAMES = {
    "WGPUBackendType": ("Null", "WebGPU", "D3D11", "D3D12", "Metal", "Vulkan", "OpenGL", "OpenGLES"),
    "WGPUAdapterType": ("DiscreteGPU", "IntegratedGPU", "CPU", "Unknown"),
}


def _name_of(lib: Any, enum: str, value: int) -> str:
    for name in _NAMES[enum]:
        if getattr(lib, f"{enum}_{name}", None) == value:
            return name
    return "Unknown" if enum == "WGPUAdapterType" else f"{enum} {value}"
