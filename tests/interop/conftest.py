"""The machine of several libraries on one device, and our backend on it, whose books are looked at afterwards."""

from __future__ import annotations

import pytest
from shared_machine import Machine


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def gpu(machine):
    with machine.open() as gpu:
        yield gpu
    assert not gpu.mock.violations
