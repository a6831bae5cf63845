"""The device's memory figures, and which of them an integrated device shares with its host."""

from __future__ import annotations

import pytest

import metrale_gpu_runtime as mg

MIB = 1 << 20


@pytest.mark.parametrize(
    ("profile", "host_available", "free"),
    [
        ("H100", None, 60),
        ("H100", 900, 60),  # a device with memory of its own: the host's is none of it
        ("M2", None, 60),
        ("M2", 20, 60),
        ("M2", 61, 61),
        ("M2", 900, 900),
    ],
)
def test_free_memory_of_each_kind_of_device(profile, host_available, free):
    """An integrated device has the larger of its own and the host's free memory, any other its own."""
    with mg.MockGpuBackend(profile, total_memory=64 * MIB) as gpu:
        gpu.mock.host_available = None if host_available is None else host_available * MIB
        assert (gpu.total_memory(), gpu.free_memory()) == (64 * MIB, free * MIB)
        assert gpu.device_free_memory() == 60 * MIB


def test_figures_follow_allocations():
    """What is allocated is missing from both figures and comes back; dropped memory counts as free when nothing uses it."""
    with mg.MockGpuBackend(total_memory=64 * MIB) as gpu:
        before = gpu.free_memory()
        buffer = gpu.buffer(5 * MIB)
        assert gpu.free_memory() == gpu.device_free_memory() == before - 5 * MIB
        del buffer
        assert gpu.free_memory() == gpu.device_free_memory() == before


def test_figures_after_the_end():
    """A closed backend has no figures."""
    gpu = mg.MockGpuBackend()
    gpu.close()
    for figure in (gpu.total_memory, gpu.free_memory, gpu.device_free_memory):
        with pytest.raises(mg.HandleClosed):
            figure()
