"""Random programs over the Metal stand-in do what a model in NumPy says, byte for byte, and leave nothing; with faults as well.

Longer searches: `python tests/metal/programs_on_metal.py --first 1000 --seconds 600 [--faults]`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from metal_standin.control import MetalStandIn
from metal_standin.fixtures import metal_standin
from programs_on_metal import MetalMachine
from random_programs.machine import Wrong
from random_programs.searching import failure, program_of, run

__all__ = ["metal_standin"]

SEEDS = range(48)
GROUP = 8


@pytest.fixture(autouse=True)
def _small_heap() -> Iterator[None]:
    """A program collects garbage often; what was there before need not be looked at."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("first", range(SEEDS.start, SEEDS.stop, GROUP))
def test_programs_on_metal_do_what_the_model_says(metal_standin: MetalStandIn, first: int) -> None:
    """Every byte as in program order, nothing left in the ledger or in Metal, no rule broken."""
    committed = 0
    for seed in range(first, first + GROUP):
        machine = run(MetalMachine, metal_standin, seed)
        committed += len(metal_standin.committed())
        assert machine.done > 20, f"seed {seed} did next to nothing"
    assert committed > 200


@pytest.mark.parametrize("first", range(SEEDS.start, SEEDS.stop, 2 * GROUP))
def test_programs_on_metal_survive_what_fails(metal_standin: MetalStandIn, first: int) -> None:
    """After command buffers that failed and objects that were not to be had, the rest is right and everything usable, or
    the device is lost and says so; nothing leaks."""
    told = 0
    for seed in range(first, first + 2 * GROUP):
        told += len(run(MetalMachine, metal_standin, seed, fault=MetalMachine.fault_of(seed)).told)
    assert told, "no fault was noticed by anybody"


def test_the_search_notices_a_missing_wait_on_metal(metal_standin: MetalStandIn, monkeypatch) -> None:
    """With waits for events taken out of the driver some program goes wrong: the model is able to tell."""
    from metrale_gpu_runtime.drivers.metal.streams import MetalStream

    monkeypatch.setattr(MetalStream, "wait_for", lambda self, mark: None)
    found = [
        failure(MetalMachine, metal_standin, seed, program_of(MetalMachine, seed), None) for seed in (1, 2, 3, 4, 5, 6)
    ]
    metal_standin.take_violations()
    assert any(isinstance(each, Wrong) for each in found)


def test_the_search_notices_memory_that_is_not_resident(metal_standin: MetalStandIn, monkeypatch) -> None:
    """With `.uses` unheeded some program follows an address to memory that is not there, and a fault is told."""
    from metrale_gpu_runtime.drivers.metal.launching import MetalLaunchTarget
    from metrale_gpu_runtime.errors import KernelFault

    real = MetalLaunchTarget.submit_using
    monkeypatch.setattr(
        MetalLaunchTarget,
        "submit_using",
        lambda self, image, geometry, stream, ordinal, addresses: real(self, image, geometry, stream, ordinal, ()),
    )
    found = [failure(MetalMachine, metal_standin, seed, program_of(MetalMachine, seed), None) for seed in range(3)]
    metal_standin.take_violations()
    assert any(isinstance(each, KernelFault) and "PageFault" in str(each) for each in found)
