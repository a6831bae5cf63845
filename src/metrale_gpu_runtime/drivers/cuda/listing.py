"""What devices there are, found out by a process of its own: a driver that was never started survives a fork.

Run as a program it prints one JSON object: {"devices": [...]} or {"reason": "..."}.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ...driver import DeviceListing
from ...errors import BackendUnavailable

TIMEOUT_S = 60.0
"""A driver that has to load its kernel module or wake several GPUs takes seconds; a hanging one must not hang us."""

_PROGRAM = f"from {__name__} import print_devices; print_devices()"


def list_devices() -> tuple[DeviceListing, ...]:
    """Ask a child process. Raises BackendUnavailable with the reason when there are none."""
    if not sys.executable:
        raise BackendUnavailable(
            "cuda: devices are listed by a child process, and this Python does not know its own program "
            "(sys.executable is empty); open_backend('cuda') may still work",
            backend="cuda",
        )
    found = _ask_child()
    if "reason" in found:
        raise BackendUnavailable(f"cuda: {found['reason']}", backend="cuda")
    return tuple(
        DeviceListing("cuda", index, str(device.pop("name")), device) for index, device in enumerate(found["devices"])
    )


def _ask_child() -> dict[str, Any]:
    environment = dict(os.environ)
    # The child finds what we found: this package, and bindings from wherever they were imported.
    ours = str(Path(__file__).parents[3])
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([ours, *(path for path in sys.path if path)]))
    try:
        child = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BackendUnavailable(
            f"cuda: listing the devices took longer than {TIMEOUT_S:g} s; does nvidia-smi answer?", backend="cuda"
        ) from error
    lines = child.stdout.strip().splitlines()
    try:
        found = json.loads(lines[-1])
    except (IndexError, ValueError):
        said = (child.stderr.strip().splitlines() or ["nothing"])[-1]
        raise BackendUnavailable(
            f"cuda: the process that lists the devices ended with status {child.returncode} and said: {said}",
            backend="cuda",
        ) from None
    if not isinstance(found, dict):
        raise BackendUnavailable(f"cuda: the process that lists the devices answered {found!r}", backend="cuda")
    return found


def print_devices() -> None:
    """What the child process does."""
    from .opening import start

    try:
        api, count = start()
        devices = [_described(api, index) for index in range(count)]
        answer: dict[str, Any] = {"devices": devices}
    except BackendUnavailable as error:
        answer = {"reason": str(error).removeprefix("cuda: ")}
    print(json.dumps(answer))


def _described(api: Any, index: int) -> dict[str, Any]:
    major, minor = (api.attribute(index, f"compute_capability_{part}") for part in ("major", "minor"))
    return {
        "name": api.device_name(index),
        "compute_capability": f"{major}.{minor}",
        "total_memory": api.total_memory(index),
        "multiprocessors": api.attribute(index, "multiprocessor_count"),
        "driver_version": api.driver_version(),
    }
