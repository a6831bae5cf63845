"""Whose memory the kernels of one backend may use besides its own."""

from __future__ import annotations

from ..dlpack import CUDA, ROCM
from ..driver import Driver, MemoryKind
from .allocation import Block


class PeerAccess:
    """The devices that one device may reach into: itself, by whatever backend, and those that were enabled.

    Two backends on one device share its primary context, so that their addresses mean the same to both.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._own = driver.capabilities.dlpack_device
        self._enabled: set[tuple[int, int]] = set()

    def enable(self, device: tuple[int, int]) -> None:
        """From now on memory of that DLPack device may be used."""
        self._enabled.add(device)

    def reaches(self, device: tuple[int, int]) -> bool:
        """Whether memory of that DLPack device may be used."""
        return device == self._own or device in self._enabled

    def is_of_same_kind(self, other: Driver) -> bool:
        """Whether both devices belong to one vendor's driver, with one space of addresses for all of its devices."""
        theirs = other.capabilities.dlpack_device
        if self._own is None or theirs is None or type(other) is not type(self._driver):
            return False
        return self._own[0] == theirs[0] and self._own[0] in (CUDA, ROCM)

    def is_of_same_device(self, other: Driver) -> bool:
        """Whether the other's memory is this device's own."""
        return other.capabilities.dlpack_device == self._own

    def may_use(self, block: Block, other: Driver) -> bool:
        """Whether kernels may use a block that another backend allocated.

        Managed memory and pinned memory are there for every device of the vendor.
        """
        if not self.is_of_same_kind(other):
            return False
        theirs = other.capabilities.dlpack_device
        assert theirs is not None
        if self.is_of_same_device(other) or block.kind in (MemoryKind.MANAGED, MemoryKind.PINNED):
            return True
        # Enabling it opens what the driver allocates for good; pools and mapped ranges have lists of their own.
        return self.reaches(theirs) and not block.is_pooled and not block.reserved_nbytes
