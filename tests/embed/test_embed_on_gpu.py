"""The example model through the CUDA driver room, over a stand-in driver whose kernels the CPU backend executes."""

from __future__ import annotations

from rungs import require_rung
from standin import StandIn
from standin.executor import Executor
from standin.fixtures import standin_cuda as standin_cuda

require_rung("weights")
require_rung("tokenizers")

from hardware import embed  # noqa: E402


def test_the_model_agrees_with_its_reference_on_cuda(standin_cuda: StandIn) -> None:
    """One word changed, cpu to cuda: the sentences come out as the reference has them, by launches of that driver."""
    executor = Executor(standin_cuda, check=None)
    try:
        agrees, facts = embed.run("cuda")
    finally:
        executor.close()
    assert agrees, facts
    assert executor.failures == []
    assert standin_cuda.launch_count() == executor.launches > 100
    assert (standin_cuda.live(), standin_cuda.violations()) == ({}, [])
