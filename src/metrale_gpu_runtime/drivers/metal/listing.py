"""The devices that a child process finds: Metal does not survive a fork, and importing it takes a while."""

from __future__ import annotations

from typing import Any

from ...driver import DeviceListing
from ..listing import ask_child, print_answer
from .bindings import load_bindings
from .devices import usable_devices

_PROGRAM = f"from {__name__} import print_devices; print_devices()"


def list_devices() -> tuple[DeviceListing, ...]:
    """Ask a child process. Raises BackendUnavailable with the reason when there are none."""
    return ask_child("metal", _PROGRAM, "system_profiler SPDisplaysDataType")


def print_devices() -> None:
    """What the child process does."""
    print_answer(_devices)


def _devices() -> list[dict[str, Any]]:
    bindings = load_bindings()
    with bindings.pool():
        return [_described(device) for device in usable_devices(bindings)]


def _described(device: Any) -> dict[str, Any]:
    return {
        "name": str(device.name()),
        "unified_memory": bool(device.hasUnifiedMemory()),
        "registry_id": int(device.registryID()),
        "low_power": bool(device.isLowPower()),
        "removable": bool(device.isRemovable()),
        "recommended_working_set": int(device.recommendedMaxWorkingSetSize()),
    }
