"""The conformance suite on the HIP driver over the stand-in, whose kernels the CPU backend executes.

The suite's kernels are code objects that clang made of its .cu files (tests/hip/code_objects); what runs is the PTX that
NVRTC made of the same text.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from rungs import require_rung

from metrale_gpu_runtime.discovery import open_backend
from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.target import KERNELS, SIGNATURES, OpenTarget

CODE_OBJECTS = Path(__file__).parents[1] / "hip" / "code_objects"
NAMES = ("suite", "doubled", "plus_hundred")
DEVICES = 2
# A code object's metadata tells sizes and pointers, not which values are floats; PTX does, and the laws count on it.
FLOATS = {"scale_add": SIGNATURES["scale_add"], "echo_f32": "float* out, float value"}
# A call that only asks, or only enters a device, does nothing that a refusal must not do.
_ASKING = re.compile(
    r"hip(Get|SetDevice|DeviceGet|DeviceCanAccessPeer|FuncGet|ModuleOccupancy|StreamGetCapture|\w+Query)"
)


def code_object(kernels: str) -> bytes:
    return (CODE_OBJECTS / f"{kernels}.gfx1100.hsaco").read_bytes()


@cache
def executing_standin():
    """The stand-in of this process with what executes its kernels; children of a case make their own."""
    from standin.executor import Executor
    from standin.hip_compiler import PTX_OF_CODE
    from standin.hip_library import load

    standin = load()
    standin.reset(devices=DEVICES)
    executor = Executor(standin)
    for name in NAMES:
        executor.register(code_object(name), (KERNELS / f"{name}.ptx").read_bytes())
    for code, ptx in PTX_OF_CODE.items():
        executor.register(code, ptx)
    return standin, executor


def compiled(source, names, code):
    """What hiprtc's clang made of one of the suite's files runs as the PTX beside that file."""
    from standin.hip_compiler import PTX_OF_CODE

    (name,) = [each for each in NAMES if (KERNELS / f"{each}.cu").read_text() == source]
    PTX_OF_CODE[code] = (KERNELS / f"{name}.ptx").read_bytes()
    executing_standin()[1].register(code, PTX_OF_CODE[code])


class HipTarget(OpenTarget):
    """The stand-in's HIP, with executed kernels."""

    def __init__(self):
        super().__init__("hip")
        self.open = []

    def __reduce__(self):
        return HipTarget, ()

    def open_backend(self, **options):
        """The first device; the second one beside an open backend: those of one device share its memory."""
        executing_standin()
        self.open = [gpu for gpu in self.open if gpu.is_open]
        self.open.append(open_backend("hip:1" if self.open else "hip:0", **options))
        return self.open[-1]

    def load(self, gpu, kernels, name=None):
        path = CODE_OBJECTS / f"{kernels}.gfx1100.hsaco"
        return gpu.load_module(name or kernels, path=path, signatures=FLOATS if kernels == "suite" else None)

    def driver_calls(self, gpu):
        return sum(not _ASKING.match(name) for name in executing_standin()[0].names())

    def after_close(self, gpu):
        super().after_close(gpu)
        standin, executor = executing_standin()
        if not gpu.is_lost:
            assert any(each.is_open for each in self.open) or standin.live() == {}
            return
        # After a fault HIP takes nothing back and opens no more: the next backend is one of a next process.
        assert executor.failures == []
        executor.close()
        executing_standin.cache_clear()


@pytest.fixture
def target(monkeypatch):
    """A fresh stand-in with two devices that execute; nothing that correct callers never do may happen."""
    require_rung("hip stand-in")
    from standin.hip_library import environment

    for name, value in environment(DEVICES).items():
        monkeypatch.setenv(name, value)
    executing_standin.cache_clear()
    executing_standin()
    yield HipTarget()
    standin, executor = executing_standin()
    violations, failures = standin.violations(), executor.failures
    executor.close()
    standin.reset()
    assert violations == []
    assert failures == []


class SourceTarget(HipTarget):
    """The same with the suite's CUDA C through hiprtc, whose signatures know names and exact types."""

    def load(self, gpu, kernels, name=None):
        return OpenTarget.load(self, gpu, kernels, name)


ABOUT_CODE = [
    each for each in cases() if each.body.__module__.rpartition(".")[2] in ("arguments", "modules", "refusals")
]


@pytest.mark.parametrize("case", ABOUT_CODE, ids=str)
def test_the_law_holds_on_hip_for_source(case, target):
    """Each law of arguments, modules and refusals holds on HIP for CUDA C that hiprtc compiled."""
    require_rung("hip compiler")
    from standin.hip_compiler import HipCompiler

    compiler = HipCompiler(compiled)
    compiler.register()
    try:
        reason = case.run(SourceTarget())
    finally:
        compiler.forget()
    if reason:
        pytest.skip(reason)


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_hip(case, target):
    """Each law of the suite holds on HIP, or it declares that it has not what the law is about."""
    if reason := case.run(target):
        pytest.skip(reason)
