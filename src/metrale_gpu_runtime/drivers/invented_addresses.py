"""Addresses where an API has none: numbers of this process, none of which is ever given twice."""

from __future__ import annotations

import threading

FIRST_ADDRESS = 1 << 44
"""No host address, which on today's machines begin elsewhere, and no small number that a mistake would make."""

ALIGN = 256


class InventedAddresses:
    """One line of numbers for all devices, so that a number of another device is known to be none of this one's.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = FIRST_ADDRESS

    def take(self, nbytes: int) -> int:
        """A multiple of 256 with so many numbers behind it, and a hole behind those: no end is another's beginning."""
        with self._lock:
            base = self._next
            self._next = base + -(-nbytes // ALIGN) * ALIGN + ALIGN
        return base


invented_addresses = InventedAddresses()
