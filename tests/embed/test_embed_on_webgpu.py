"""The example model on software Vulkan, for which wgpu compiles its WGSL."""

from __future__ import annotations

from rungs import require_rung

require_rung("weights")
require_rung("tokenizers")
require_rung("software vulkan")

from hardware import embed  # noqa: E402


def test_the_model_agrees_with_its_reference_on_webgpu() -> None:
    """One word changed, cpu to webgpu: the sentences come out as the reference has them, first and again."""
    agrees, facts = embed.run("webgpu")
    assert agrees, facts
    assert facts["largest difference"] < 1e-5
