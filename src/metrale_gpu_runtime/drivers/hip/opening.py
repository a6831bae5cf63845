"""Starting the HIP runtime, with a reason for people when it cannot be."""

from __future__ import annotations

from ...errors import BackendUnavailable
from ..session.api import ApiError
from .api import HipApi

_NO_DEVICE = (100, 101)


def start() -> tuple[HipApi, int]:
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
