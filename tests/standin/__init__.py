"""A stand-in CUDA driver in this process or in a child's, for tests: see README.md."""

from __future__ import annotations

import ctypes
import os
from functools import cache

from .building import LIBRARY, build_cuda
from .control import StandIn

__all__ = ["LIBRARY", "StandIn", "build_cuda", "cuda", "environment"]


@cache
def cuda() -> StandIn:
    """The stand-in CUDA driver of this process, loaded once and found by cuda-bindings through its soname.

    It has no devices until `reset(devices=…)` gives it some. Raises OSError where it cannot be built.
    """
    return StandIn(ctypes.CDLL(str(build_cuda() / LIBRARY), ctypes.RTLD_GLOBAL))


def environment(devices: int = 1, **settings: object) -> dict[str, str]:
    """This process's environment for a child that is to find the stand-in, with settings: `driver_version=12020`.

    `absent="cuFuncGetParamInfo,cuFuncGetName"`, `faults="cuMemAlloc:3:1:2;launch:2:700"` and
    `compute_capability=90` are taken too; an attribute is `attribute_integrated=1`.
    """
    path = os.pathsep.join([str(build_cuda()), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    chosen = {f"METRALE_STANDIN_CUDA_{name.upper()}": str(value) for name, value in settings.items()}
    return {**os.environ, "LD_LIBRARY_PATH": path, "METRALE_STANDIN_CUDA_DEVICES": str(devices), **chosen}
