"""The devices that a child process finds: drivers of OpenCL start threads, which a fork would lose."""

from __future__ import annotations

from typing import Any

from ...driver import DeviceListing
from ..listing import ask_child, print_answer
from .bindings import Bindings, load_bindings
from .capabilities import il_version, is_software, svm_words
from .command_buffer_extension import command_buffer_words
from .devices import Found, find_devices
from .diagnosis import why_unusable

_PROGRAM = f"from {__name__} import print_devices; print_devices()"


def list_devices() -> tuple[DeviceListing, ...]:
    """Ask a child process. Raises BackendUnavailable with the reason when there are none."""
    return ask_child("opencl", _PROGRAM, "clinfo", why_unusable)


def print_devices() -> None:
    """What the child process does."""
    print_answer(_devices)


def _devices() -> list[dict[str, Any]]:
    bindings = load_bindings()
    return [_described(bindings, each) for each in find_devices(bindings)]


def _described(bindings: Bindings, found: Found) -> dict[str, Any]:
    device = found.device
    return {
        "name": found.name,
        "spec": f"opencl:{found.platform_index}:{found.device_index}",
        "platform": found.platform_title,
        "version": str(device.version).strip(),
        "driver_version": str(device.driver_version).strip(),
        "software": is_software(device),
        "global_memory": int(device.global_mem_size),
        "compute_units": int(device.max_compute_units),
        "shared_virtual_memory": svm_words(bindings, device),
        "spirv": il_version(bindings, device),
        "command_buffers": command_buffer_words(bindings, device),
    }
