"""The stand-in CUDA driver for the tests of this folder."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from primary_contexts import active_contexts as active_contexts
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
