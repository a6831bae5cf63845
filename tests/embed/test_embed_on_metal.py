"""The example model through the Metal driver, over a stand-in that compiles its Metal kernels and runs them."""

from __future__ import annotations

import pytest
from metal_standin import MetalStandIn
from metal_standin.fixtures import metal_standin as metal_standin
from rungs import require_rung

require_rung("weights")
require_rung("tokenizers")
require_rung("metal stand-in")

from hardware import embed  # noqa: E402

LAYERS = 6


@pytest.mark.parametrize("memory", ["unified", "of its own"])
def test_the_model_agrees_with_its_reference_on_metal(metal_standin: MetalStandIn, memory: str) -> None:
    """One word changed, cpu to metal: the sentences come out as the reference has them, with and without one memory."""
    metal_standin.reset(unified=memory == "unified")
    agrees, facts = embed.run("metal")
    assert agrees, facts
    launches = [label for each in metal_standin.committed() for label in each.encoders if "attention_f32" in label]
    assert len(launches) == 2 * LAYERS, "each of two runs has every layer's attention"
    assert metal_standin.live() == {}
