"""The Metal devices of this machine that the backend can use, in the order of their numbers.

Source: MTLCopyAllDevices, MTLCreateSystemDefaultDevice, MTLGPUFamilyMetal3 (MTLDevice.h).
"""

from __future__ import annotations

import platform
from typing import Any

from ...errors import BackendUnavailable
from .bindings import Bindings


def usable_devices(bindings: Bindings) -> list[Any]:
    """At least one MTLDevice: the system's default device is number 0, the others follow as Metal lists them.

    The caller holds an autorelease pool. Raises BackendUnavailable where there is no device, or none that has GPU
    addresses.
    """
    metal = bindings.metal
    there = list(metal.MTLCopyAllDevices())
    default = metal.MTLCreateSystemDefaultDevice()
    first = default.registryID() if default is not None else None
    there.sort(key=lambda device: device.registryID() != first)
    if not there:
        raise BackendUnavailable(
            "metal: Metal is here but sees no GPU, as in a virtual machine without one or in a session without access "
            "to it",
            backend="metal",
        )
    usable = [device for device in there if device.supportsFamily_(metal.MTLGPUFamilyMetal3)]
    if not usable:
        names = ", ".join(str(device.name()) for device in there)
        raise BackendUnavailable(
            f"metal: {names} on macOS {platform.mac_ver()[0] or '?'} has no Metal 3, and with it no GPU addresses of "
            "buffers (MTLBuffer.gpuAddress); that takes macOS 13 or later and a GPU of 2017 or later",
            backend="metal",
        )
    return usable
