"""The conformance suite on the CUDA driver over the stand-in, whose kernels the CPU backend executes."""

from __future__ import annotations

import ctypes
import os
import re
import weakref
from functools import cache

import pytest
from rungs import require_rung

from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.target import OpenTarget

DEVICES = 2
_opened = weakref.WeakSet()
# A call that only asks, or only enters a context, does nothing that a refusal must not do.
_ASKING = re.compile(
    r"cu(Ctx(Get|Push|Pop)|DeviceGet|DeviceCanAccessPeer|DriverGet|Func(Get|SetAttribute)|Get|MemGet|Module(Get|Enum)"
    r"|Occupancy|PointerGet|StreamGet|ThreadExchange|\w+Query)"
)


@cache
def executing_standin():
    """The stand-in of this process with what executes its kernels; children of a case make their own."""
    from standin import LIBRARY, StandIn
    from standin.executor import Executor

    # By where the environment has it, not by building it: a case's child may have no compiler.
    folder = os.environ["LD_LIBRARY_PATH"].split(os.pathsep)[0]
    standin = StandIn(ctypes.CDLL(os.path.join(folder, LIBRARY), ctypes.RTLD_GLOBAL))
    standin.reset(devices=DEVICES)
    return standin, Executor(standin)


class CudaTarget(OpenTarget):
    """The stand-in's CUDA, with executed kernels."""

    def __init__(self):
        super().__init__("cuda")

    def open_backend(self, **options):
        executing_standin()
        gpu = super().open_backend(**options)
        _opened.add(gpu)
        return gpu

    def driver_calls(self, gpu):
        return sum(not _ASKING.match(name) for name in executing_standin()[0].names())

    def after_close(self, gpu):
        super().after_close(gpu)
        standin, executor = executing_standin()
        if not any(other.is_open for other in _opened):
            assert standin.live() == {}
        if gpu.is_lost:
            # The driver opens nothing more in this process: the next backend is one of a next process.
            assert executor.failures == []
            executor.close()
            executing_standin.cache_clear()


@pytest.fixture
def target(monkeypatch):
    """A fresh stand-in with two devices that execute; nothing that correct callers never do may happen."""
    require_rung("stand-in driver")
    from standin import environment

    for name, value in environment(DEVICES).items():
        monkeypatch.setenv(name, value)
    executing_standin.cache_clear()
    executing_standin()
    yield CudaTarget()
    standin, executor = executing_standin()
    violations, failures = [str(each) for each in standin.violations()], executor.failures
    executor.close()
    standin.reset()
    assert violations == []
    assert failures == []


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_law_holds_on_cuda(case, target):
    """Each law of the suite holds on CUDA, or it declares that it has not what the law is about."""
    if reason := case.run(target):
        pytest.skip(reason)
