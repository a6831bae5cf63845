"""The devices that a child process finds."""

from __future__ import annotations

from typing import Any

from ...driver import DeviceListing
from ..listing import ask_child, print_answer
from ..session.api import ApiError

_PROGRAM = f"from {__name__} import print_devices; print_devices()"


def list_devices() -> tuple[DeviceListing, ...]:
    """Ask a child process. Raises BackendUnavailable with the reason when there are none."""
    return ask_child("cuda", _PROGRAM, "nvidia-smi")


def print_devices() -> None:
    """What the child process does."""
    print_answer(_devices, ApiError)


def _devices() -> list[dict[str, Any]]:
    from .opening import start

    api, count = start()
    return [_described(api, index) for index in range(count)]


def _described(api: Any, index: int) -> dict[str, Any]:
    major, minor = (api.attribute(index, f"compute_capability_{part}") for part in ("major", "minor"))
    return {
        "name": api.device_name(index),
        "compute_capability": f"{major}.{minor}",
        "total_memory": api.total_memory(index),
        "multiprocessors": api.attribute(index, "multiprocessor_count"),
        "driver_version": api.driver_version(),
    }
