"""The adapters that a child process finds: wgpu does not survive a fork, and loading each Vulkan driver takes time."""

from __future__ import annotations

from typing import Any

from ...driver import DeviceListing
from ..listing import ask_child, print_answer
from .adapters import Adapter, usable_adapters
from .bindings import load_bindings
from .diagnosis import why_unusable

_PROGRAM = f"from {__name__} import print_devices; print_devices()"


def list_devices() -> tuple[DeviceListing, ...]:
    """Ask a child process. Raises BackendUnavailable with the reason when there are none."""
    return ask_child("webgpu", _PROGRAM, "vulkaninfo", why_unusable)


def print_devices() -> None:
    """What the child process does."""
    print_answer(lambda: [_described(adapter) for adapter in usable_adapters(load_bindings())])


def _described(adapter: Adapter) -> dict[str, Any]:
    return {
        "name": adapter.name,
        "software": adapter.is_software,
        "graphics": adapter.graphics,
        "kind": adapter.kind,
        "vendor": adapter.vendor,
        "driver": adapter.driver,
        "vendor_id": adapter.vendor_id,
        "device_id": adapter.device_id,
        "max_buffer_nbytes": int(adapter.limits.maxBufferSize),
        "max_binding_nbytes": int(adapter.limits.maxStorageBufferBindingSize),
    }
