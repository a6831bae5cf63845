"""Functions of this folder's tests in a process of their own that has the stand-in as its driver."""

from __future__ import annotations

from rungs import require_rung
from standin import environment

from metrale_gpu_runtime.testing import run_isolated
from metrale_gpu_runtime.testing.isolation import IsolatedResult


def isolated(function: str, *arguments: object, devices: int = 1, **settings: object) -> IsolatedResult:
    """How "module:function" ended; settings are the stand-in's: `driver_version=12020`, `absent="cuMemAllocAsync"`."""
    require_rung("stand-in driver")
    return run_isolated(function, *arguments, environment=environment(devices, **settings))


def in_child(function: str, *arguments: object, devices: int = 1, **settings: object) -> object:
    """What it returned. Raises AssertionError unless the process ended cleanly, with nothing on stderr."""
    return isolated(function, *arguments, devices=devices, **settings).check()
