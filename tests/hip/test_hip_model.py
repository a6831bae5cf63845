"""The example model and the launch benchmark through the HIP room, over its executing stand-in."""

from __future__ import annotations

import pytest
from rungs import require_rung


def test_the_model_agrees_with_its_reference_on_hip(executing) -> None:
    """The model's CUDA C compiles by hiprtc as it stands, and its sentences come out as the reference has them."""
    require_rung("weights")
    require_rung("tokenizers")
    from hardware import embed

    agrees, facts = embed.run("hip")
    assert agrees, facts
    assert executing.launch_count() > 100


def test_the_launch_benchmark_has_its_floor_on_hip(executing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs are told as ratios to the vendor's bare call."""
    from bench import launches

    monkeypatch.setattr(launches, "COUNTS", (0, 4))
    monkeypatch.setattr(launches, "PER_ROUND_S", 0.002)
    _, facts = launches.run("hip", 2)
    assert facts["4 arguments"][launches.FLOOR]["ratio"] == 1
    assert facts["0 arguments"]["prepared()"]["ns"] > 0
