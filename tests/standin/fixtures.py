"""The pytest fixture of the stand-in; a test module imports it by name: `from standin.fixtures import standin_cuda`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rungs import require_rung

from . import StandIn, cuda


@pytest.fixture
def standin_cuda() -> Iterator[StandIn]:
    """The stand-in with two devices and an empty journal; afterwards it has none, and nothing is alive in it."""
    require_rung("stand-in driver")
    driver = cuda()
    driver.reset(devices=2)
    yield driver
    driver.set_executor(None, None, None)
    driver.reset()
