"""The mock: it needs nothing."""

from __future__ import annotations

from ..drivers.diagnosis import NOTE, Diagnosis, Observation


def diagnose() -> Diagnosis:
    """There is nothing to look for."""
    return Diagnosis((Observation("mock", NOTE, "needs no library and no device: it records and simulates"),))
