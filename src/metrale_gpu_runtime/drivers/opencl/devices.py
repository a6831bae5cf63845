"""The OpenCL devices of this machine in the order of their numbers, and which of them words mean.

Source: clGetPlatformIDs, clGetDeviceIDs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import BackendUnavailable
from .bindings import Bindings


@dataclass(frozen=True, slots=True)
class Found:
    """One device: its number among all, and by platform and device."""

    index: int
    platform_index: int
    device_index: int
    platform: Any
    device: Any

    @property
    def name(self) -> str:
        return str(self.device.name).strip()

    @property
    def platform_title(self) -> str:
        """The platform with its version, which is what tells two PoCLs apart; without how it was built."""
        version = str(self.platform.version).strip().split("  ")[0].rstrip(" ,")
        return f"{str(self.platform.name).strip()} ({version})"

    @property
    def is_pocl(self) -> bool:
        return "pocl" in self.platform_title.lower()

    def __str__(self) -> str:
        return f"opencl:{self.platform_index}:{self.device_index} is {self.name} on {self.platform_title}"


def find_devices(bindings: Bindings) -> list[Found]:
    """At least one device, platform by platform. Raises BackendUnavailable with what was looked for and where."""
    cl = bindings.cl
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        raise _unavailable() from error
    found: list[Found] = []
    for number, platform in enumerate(platforms):
        try:
            devices = platform.get_devices()
        except cl.Error:
            continue  # a platform that is broken hides no other; if there is no other, it is looked at
        for device_number, device in enumerate(devices):
            found.append(Found(len(found), number, device_number, platform, device))
    if not found:
        raise _unavailable()
    return found


def _unavailable() -> BackendUnavailable:
    from .diagnosis import why_unusable

    return BackendUnavailable(f"opencl: {why_unusable()}", backend="opencl")


def choose_device(found: Sequence[Found], words: Sequence[str]) -> int:
    """The number of the device that these words mean.

    None: the first GPU or accelerator, else the first device. "1": the device of that number. "0:1": device 1 of
    platform 0. "pocl": the first whose name, vendor, or platform's name or version has that in it, in any case of
    letters; "pocl:1" is the second of those, and "intel:iris" has to fit both. Raises BackendUnavailable, which lists
    what is there.
    """
    if not words:
        return next((each.index for each in found if not _is_cpu(each)), 0)
    names = [word for word in words if not word.isdecimal()]
    numbers = [int(word) for word in words if word.isdecimal()]
    asked = ":".join(("opencl", *words))
    if (len(words) > 1 and words[0].isdecimal() and names) or len(numbers) > 2 or "" in words:
        raise ValueError(
            f"{asked!r} is no device: write 'opencl:1' (its number), 'opencl:0:1' (platform and device), or "
            "'opencl:name' or 'opencl:name:1' with a part of a platform's or device's name"
        )
    if names:
        fitting = [each for each in found if all(_is_called(each, name) for name in names)]
        at = numbers[0] if numbers else 0
    elif len(numbers) == 2:
        fitting = [each for each in found if each.platform_index == numbers[0]]
        at = numbers[1]
    else:
        fitting, at = list(found), numbers[0]
    if at >= len(fitting):
        there = "; ".join(map(str, found))
        raise BackendUnavailable(f"opencl: there is no {asked}; here {there}", backend="opencl")
    return fitting[at].index


def _is_cpu(found: Found) -> bool:
    return bool(int(found.device.type) & CPU)


CPU = 2
"""CL_DEVICE_TYPE_CPU (cl.h)."""


def _is_called(found: Found, name: str) -> bool:
    platform, device = found.platform, found.device
    texts = (platform.name, platform.version, platform.vendor, device.name, device.vendor, device.version)
    return any(name.lower() in str(text).lower() for text in texts)
