"""What became of work that was refused behind the call that made it."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DriverFault
from .device import WgpuError


def refused_work(device: str, error: WgpuError | None, lost: str | None, ordinals: Sequence[int]) -> DriverFault:
    """The fault of collected work that wgpu refused as a whole: none of it ran. It names its launch where it is one.

    `lost` is why the device is lost, None where it is not. Negative ordinals are copies and fills.
    """
    launches = [each for each in ordinals if each >= 0]
    is_one = len(launches) == 1
    said = error.text if error is not None else lost
    return DriverFault(
        "DeviceLost" if lost is not None or error is None else error.kind,
        f"{device}{' was lost' if lost is not None else ''}: {said}",
        launch=launches[0] if is_one else None,
        context_lost=lost is not None,
        dropped=() if is_one else tuple(launches),
    )
