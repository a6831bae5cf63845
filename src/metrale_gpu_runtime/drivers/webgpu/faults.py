"""What became of work that was refused behind the call that made it."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DriverFault
from .device import WgpuError


def refused_work(device: str, error: WgpuError, ordinals: Sequence[int], *, is_lost: bool) -> DriverFault:
    """The fault of collected work that wgpu refused as a whole: none of it ran. It names its launch where it is one.

    Negative ordinals are copies and fills.
    """
    ordinals = [each for each in ordinals if each >= 0]
    return DriverFault(
        "DeviceLost" if is_lost else error.kind,
        f"{device}: {error.text}",
        launch=ordinals[0] if len(ordinals) == 1 else None,
        context_lost=is_lost,
        dropped=() if len(ordinals) == 1 else tuple(ordinals),
    )
