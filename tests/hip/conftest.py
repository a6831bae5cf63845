"""The stand-in's HIP for the tests of this folder: reset before each, its books looked at afterwards."""

from __future__ import annotations

import pytest
from rungs import require_rung

from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.driver import DriverOptions
from metrale_gpu_runtime.drivers.hip import HipFactory


@pytest.fixture
def standin():
    """Two devices of gfx1100; at the end nothing that correct callers never do may have happened."""
    require_rung("hip stand-in")
    from standin.hip_library import load

    library = load()
    library.reset(devices=2, architecture="gfx1100")
    yield library
    violations = library.violations()
    library.reset()
    assert violations == []


@pytest.fixture
def open_driver(standin):
    """Opens devices of the stand-in, and closes what is still open at the end."""
    opened = []

    def open_device(index=0):
        opened.append(HipFactory().open(index, DriverOptions()))
        return opened[-1]

    yield open_device
    for driver in opened:
        driver.close()


@pytest.fixture
def driver(open_driver):
    """The stand-in's first device."""
    return open_driver()


@pytest.fixture
def gpu(standin):
    """The engine over the stand-in's first device."""
    backend = GpuBackend(driver=HipFactory().open(0, DriverOptions()))
    yield backend
    backend.close()


@pytest.fixture
def executing(standin):
    """The stand-in with clang behind hiprtc and the CPU backend behind its launches, by NVRTC's PTX of the same text."""
    require_rung("hip compiler")
    require_rung("nvrtc")
    from standin.executor import Executor
    from standin.hip_compiler import PTX_OF_CODE, HipCompiler

    from metrale_gpu_runtime.modules.nvrtc import compile_ptx

    executor = Executor(standin)
    # What was compiled in an earlier test is not compiled again.
    for code, ptx in PTX_OF_CODE.items():
        executor.register(code, ptx)

    def compiled(source, names, code):
        PTX_OF_CODE[code] = compile_ptx(source, name="source.cu", names=names).ptx
        executor.register(code, PTX_OF_CODE[code])

    compiler = HipCompiler(compiled)
    compiler.register()
    yield standin
    compiler.forget()
    failures = executor.failures
    executor.close()
    assert failures == []
