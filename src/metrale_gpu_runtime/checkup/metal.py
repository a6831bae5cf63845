"""Metal: Apple's systems only, by PyObjC."""

from __future__ import annotations

import importlib.util
import platform
import sys

from ..drivers.diagnosis import FOUND, MISSING, Diagnosis, Observation

_INSTALL = 'pip install "metrale-gpu-runtime[metal]"'


def diagnose() -> Diagnosis:
    """Look at the system and for the bindings; the devices are discovery's to list."""
    if sys.platform != "darwin":
        seen = Observation("macOS", MISSING, f"this is {platform.system()}; Metal is Apple's")
        # The tests play macOS; there the bindings' stand-in is found below.
        if importlib.util.find_spec("Metal") is None:
            return Diagnosis((seen,), f"Metal is on macOS only, and this is {platform.system()}", "")
        return Diagnosis((seen, Observation("PyObjC", FOUND, "pyobjc-framework-Metal")))
    seen = Observation("macOS", FOUND, platform.mac_ver()[0])
    if importlib.util.find_spec("Metal") is None:
        missing = Observation("PyObjC", MISSING, "pyobjc-framework-Metal is not installed")
        return Diagnosis((seen, missing), "PyObjC's Metal is not installed", _INSTALL)
    return Diagnosis((seen, Observation("PyObjC", FOUND, "pyobjc-framework-Metal")))
