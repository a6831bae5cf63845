"""The devices of this machine, asked of HIP in a child process: a process that has asked itself must not fork any more.

`python -m metrale_gpu_runtime.drivers.hip.listing` prints them as JSON, or the reason why there are none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from ...errors import BackendUnavailable
from ..session.api import ApiError
from .api import HipApi

_TIMEOUT_S = 60
_NO_DEVICE = (100, 101)


def list_devices() -> list[dict[str, Any]]:
    """One mapping (name, architecture, memory, …) for each device. Raises BackendUnavailable with the reason."""
    environment = dict(os.environ)
    # The child finds what we found: this package, and bindings from wherever they were imported.
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BackendUnavailable(
            f"hip: the HIP runtime did not answer within {_TIMEOUT_S} s; see whether `rocminfo` does", backend="hip"
        ) from error
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise BackendUnavailable(
            f"hip: the process that lists the devices ended with status {done.returncode} and said: {said}",
            backend="hip",
        ) from None
    if "reason" in answer:
        raise BackendUnavailable(answer["reason"], backend="hip")
    devices: list[dict[str, Any]] = answer["devices"]
    return devices


def initialized_api() -> tuple[HipApi, int]:
    """HIP, started in this process, and how many devices it has. Raises BackendUnavailable, also for none."""
    api = HipApi()
    try:
        api.initialize()
        count = api.device_count()
    except ApiError as error:
        if error.code in _NO_DEVICE:
            count = 0
        else:
            raise BackendUnavailable(f"hip: the HIP runtime cannot be started: {error}", backend="hip") from error
    if count == 0:
        raise BackendUnavailable(
            "hip: the HIP runtime is here but sees no device; look at `rocminfo`, at HIP_VISIBLE_DEVICES and "
            "ROCR_VISIBLE_DEVICES, and at the permissions of /dev/kfd",
            backend="hip",
        )
    return api, count


def _described(api: HipApi, device: int) -> dict[str, Any]:
    return {
        "name": api.device_name(device),
        "architecture": api.architecture(device),
        "memory": api.total_memory(device),
        "multiprocessors": api.attribute(device, "multiprocessor_count"),
        "warp_size": api.attribute(device, "warp_size"),
    }


def main() -> None:
    """Print the answer of this machine."""
    try:
        api, count = initialized_api()
        answer: dict[str, Any] = {"devices": [_described(api, device) for device in range(count)]}
    except (BackendUnavailable, ApiError) as error:
        answer = {"reason": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
