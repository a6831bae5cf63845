"""AMD target ids ("gfx90a:sramecc+:xnack-") and which code runs on which device.

Source: LLVM, "User Guide for AMDGPU Backend", Target ID and Generic Processors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_TARGET: Final = re.compile(
    r"(?P<processor>gfx[0-9a-f]+|gfx[0-9]+(?:-[0-9]+)?-generic)(?P<features>(?::[a-z0-9]+[+-])*)$"
)
_TRIPLE: Final = re.compile(r"^(?:hipv?\d*-)?amdgcn-amd-amdhsa-(?:[a-z0-9.]*-)?")

# Which processors run the code of a generic one.
_GENERIC: Final[Mapping[str, tuple[str, ...]]] = {
    "gfx9-generic": ("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
    "gfx9-4-generic": ("gfx940", "gfx941", "gfx942", "gfx950"),
    "gfx10-1-generic": ("gfx1010", "gfx1011", "gfx1012", "gfx1013"),
    "gfx10-3-generic": ("gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"),
    "gfx11-generic": (
        "gfx1100",
        "gfx1101",
        "gfx1102",
        "gfx1103",
        "gfx1150",
        "gfx1151",
        "gfx1152",
        "gfx1153",
    ),
    "gfx12-generic": ("gfx1200", "gfx1201"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """A processor and the features that were set or cleared for it; a feature left out may be either."""

    processor: str
    features: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Target | None:
        """The target of an id, with or without the triple before it ("amdgcn-amd-amdhsa--gfx90a:xnack+"); else None."""
        match = _TARGET.match(_TRIPLE.sub("", text.strip()))
        if match is None:
            return None
        features = [each for each in match["features"].split(":") if each]
        return cls(match["processor"], {each[:-1]: each.endswith("+") for each in features})

    def runs_on(self, device: Target) -> bool:
        """Whether code for this target runs on a device: its processor, and each feature that it demands."""
        if device.processor != self.processor and device.processor not in _GENERIC.get(self.processor, ()):
            return False
        return all(device.features.get(name) == value for name, value in self.features.items())

    @property
    def exactness(self) -> tuple[bool, int]:
        """Orders the targets that fit one device: its own processor before a generic one, more features first."""
        return (self.processor not in _GENERIC, len(self.features))

    def why_not_on(self, device: Target) -> str:
        """What is between this target and a device that it does not run on, in words."""
        if device.processor != self.processor and device.processor not in _GENERIC.get(self.processor, ()):
            return f"it was built for {self.processor}, the device is {device.processor}"
        wrong = [
            f"{name}{'+' if value else '-'}"
            for name, value in self.features.items()
            if device.features.get(name) != value
        ]
        return f"it was built with {', '.join(wrong)}, the device runs as {device}"

    def __str__(self) -> str:
        return self.processor + "".join(f":{name}{'+' if on else '-'}" for name, on in self.features.items())
