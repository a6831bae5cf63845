"""The stand-in CUDA driver for the tests of this folder."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from standin import StandIn
from standin.fixtures import standin_cuda as standin_cuda


@pytest.fixture
def standin(standin_cuda: StandIn) -> Iterator[StandIn]:
    """Two devices, a journal, and afterwards: nothing is alive and nobody did what a correct caller does not."""
    yield standin_cuda
    gc.collect()
    standin_cuda.clear_faults()
    violations = [str(each) for each in standin_cuda.violations()]
    assert (standin_cuda.live(), active_contexts(), violations) == ({}, 0, [])


def active_contexts() -> int:
    """How many devices have a primary context that somebody holds."""
    from cuda.bindings import driver

    states = [driver.cuDevicePrimaryCtxGetState(device) for device in range(driver.cuDeviceGetCount()[1] or 0)]
    return sum(state[2] for state in states if state[0] == 0)
