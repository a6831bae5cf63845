"""Random programs over the stand-in do what a model in NumPy says, byte for byte, and leave nothing; with faults as well.

Longer searches: `python tests/cuda/programs_on_cuda.py --first 1000 --seconds 600 [--faults]`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from programs_on_cuda import CudaMachine
from random_programs.machine import Wrong
from random_programs.searching import failure, program_of, run

SEEDS = range(40)
GROUP = 8


@pytest.fixture(autouse=True)
def _small_heap() -> Iterator[None]:
    """A program collects garbage often; what was there before need not be looked at."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("first", range(SEEDS.start, SEEDS.stop, GROUP))
def test_programs_do_what_the_model_says(standin, first: int) -> None:
    """Every byte as in program order, nothing left in the ledger or the driver, no violation."""
    launches = 0
    for seed in range(first, first + GROUP):
        machine = run(CudaMachine, standin, seed)
        launches += machine.executor.launches
        assert machine.done > 20, f"seed {seed} did next to nothing"
    assert launches > 60


@pytest.mark.parametrize("first", range(SEEDS.start, SEEDS.stop, GROUP))
def test_programs_survive_failing_calls(standin, first: int) -> None:
    """After a call that failed the rest is right and everything usable, or the context is lost and says so; nothing leaks."""
    told = 0
    for seed in range(first, first + GROUP):
        machine = run(CudaMachine, standin, seed, fault=CudaMachine.fault_of(seed))
        told += len(machine.log)
    assert told, "no fault was noticed by anybody"
    standin.reset(devices=2)


def test_the_search_notices_a_missing_wait(standin, monkeypatch) -> None:
    """With waits for events taken out of the driver some program goes wrong: the model is able to tell."""
    from metrale_gpu_runtime.drivers.session.graphs import Graphs

    def no_wait(self, stream, event) -> None:
        if self._captures:
            wait(self, stream, event)

    wait = Graphs.wait
    monkeypatch.setattr(Graphs, "wait", no_wait)
    found = [failure(CudaMachine, standin, seed, program_of(CudaMachine, seed), None) for seed in range(6)]
    standin.reset(devices=2)
    assert any(isinstance(each, Wrong) for each in found)


def test_the_search_notices_an_early_free(standin, monkeypatch) -> None:
    """With the books believing that everything is done at once some program frees what is in use."""
    from metrale_gpu_runtime.memory.in_flight import InFlight

    monkeypatch.setattr(InFlight, "pending_uses", lambda self, block: [])
    found = [failure(CudaMachine, standin, seed, program_of(CudaMachine, seed), None) for seed in range(6)]
    standin.reset(devices=2)
    assert any(isinstance(each, Wrong) and "free-in-use" in str(each) for each in found)
