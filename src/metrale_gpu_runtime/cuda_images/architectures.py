"""Which architecture runs which code, and which driver takes which PTX: NVIDIA's rules and tables.

The rules are those of the CUDA C++ Programming Guide (Compute Capabilities: binary, PTX, architecture-specific and
family-specific compatibility) and of the PTX ISA's `.target`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NAME: Final = re.compile(r"(?:sm|compute|lto)_(?P<number>\d{2,3})(?P<suffix>[af]?)")

# The devices that run code of a family-specific target, the target's own first: the table of families in the PTX ISA's
# `.target` chapter. nvJitLink 13.5 compiles PTX of these targets for exactly these architectures (tests hold it so).
_FAMILIES: Final[dict[tuple[int, int], tuple[tuple[int, int], ...]]] = {
    (10, 0): ((10, 0), (10, 3), (10, 7)),
    (10, 3): ((10, 3), (10, 7)),
    (10, 7): ((10, 7),),
    (11, 0): ((11, 0),),
    (12, 0): ((12, 0), (12, 1)),
    (12, 1): ((12, 1),),
}
_KNOWN_DEVICES: Final = frozenset(device for family in _FAMILIES.values() for device in family)

# CUDA 13 renamed compute capability 10.1 (Jetson Thor) to 11.0; code under the old name runs on it under the new one.
_RENAMED: Final = {(10, 1): (11, 0)}

# The lowest driver of each PTX version: the PTX ISA's release history.
_PTX_NEEDS_DRIVER: Final[dict[tuple[int, int], int]] = {
    (6, 0): 9000,
    (6, 1): 9010,
    (6, 2): 9020,
    (6, 3): 10000,
    (6, 4): 10010,
    (6, 5): 10020,
    (7, 0): 11000,
    (7, 1): 11010,
    (7, 2): 11020,
    (7, 3): 11030,
    (7, 4): 11040,
    (7, 5): 11050,
    (7, 6): 11060,
    (7, 7): 11070,
    (7, 8): 11080,
    (8, 0): 12000,
    (8, 1): 12010,
    (8, 2): 12020,
    (8, 3): 12030,
    (8, 4): 12040,
    (8, 5): 12050,
    (8, 6): 12070,
    (8, 7): 12080,
    (8, 8): 12090,
    (9, 0): 13000,
    (9, 1): 13010,
    (9, 2): 13020,
    (9, 3): 13030,
    (9, 4): 13040,
    (9, 5): 13050,
}
_LAST_KNOWN_DRIVER: Final = max(_PTX_NEEDS_DRIVER.values())


@dataclass(frozen=True, slots=True)
class Architecture:
    """One target of a compiler: a compute capability and a suffix, "" plain, "a" this device only, "f" its family."""

    major: int
    minor: int
    suffix: str = ""

    @classmethod
    def parse(cls, name: str) -> Architecture | None:
        """ "sm_90a", "compute_100f" or "lto_80"; None for anything else."""
        match = _NAME.fullmatch(name)
        return cls.of_number(int(match["number"]), match["suffix"]) if match is not None else None

    @classmethod
    def of_number(cls, number: int, suffix: str = "") -> Architecture:
        """90 is 9.0, 103 is 10.3."""
        return cls(*divmod(number, 10), suffix)

    @property
    def capability(self) -> tuple[int, int]:
        """(major, minor), under its present name."""
        return _RENAMED.get((self.major, self.minor), (self.major, self.minor))

    @property
    def number(self) -> int:
        """90 for 9.0."""
        return 10 * self.major + self.minor

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"

    def ptx_runs_on(self, device: tuple[int, int]) -> bool:
        """Whether PTX of this target can be compiled for a device of this compute capability."""
        device = _RENAMED.get(device, device)
        if self.suffix == "a":
            return self.capability == device
        if self.suffix == "f":
            return self._family_holds(device)
        return self.capability <= device

    def cubin_runs_on(self, device: tuple[int, int]) -> bool:
        """Whether machine code for this architecture runs on a device of this compute capability."""
        device = _RENAMED.get(device, device)
        if self.suffix == "a":
            return self.capability == device
        if self.suffix == "f":
            return self._family_holds(device)
        return self.capability[0] == device[0] and self.capability[1] <= device[1]

    def _family_holds(self, device: tuple[int, int]) -> bool:
        family = _FAMILIES.get(self.capability)
        if family is not None and device in family:
            return True
        # A device, or a target, that came after the table: families lie within one major version; its driver knows.
        is_news = family is None or device not in _KNOWN_DEVICES
        return is_news and self.capability[0] == device[0] and self.capability[1] <= device[1]

    def devices(self, form: str) -> str:
        """Which devices run code of this architecture in this form ("ptx" or "cubin"), for people."""
        major, minor = self.capability
        if self.suffix == "a":
            return f"compute capability {major}.{minor} only"
        if self.suffix == "f":
            family = _FAMILIES.get(self.capability, (self.capability,))
            return f"the family of compute capability {', '.join(shown_version(each) for each in family)}"
        if form == "ptx":
            return f"compute capability {major}.{minor} or later"
        return f"compute capability {major}.{minor} or a later {major}.x"


def needed_driver_version(ptx_version: tuple[int, int]) -> int | None:
    """The lowest driver version (12080 for CUDA 12.8) that takes PTX of this version; None when no table knows it."""
    return _PTX_NEEDS_DRIVER.get(ptx_version) if ptx_version >= (6, 0) else 9000


def highest_ptx_version(driver_version: int) -> tuple[int, int] | None:
    """The highest PTX version that a driver takes; None for a driver that no table knows: it knows itself best."""
    if driver_version > _LAST_KNOWN_DRIVER:
        return None
    taken = [version for version, needs in _PTX_NEEDS_DRIVER.items() if needs <= driver_version]
    return max(taken, default=None)


def shown_version(version: tuple[int, int] | int) -> str:
    """ "9.0" for a pair, "12.8" for a driver's 12080."""
    major, minor = version if isinstance(version, tuple) else (version // 1000, version % 1000 // 10)
    return f"{major}.{minor}"
