"""The conformance suite on the mock: permissive, strict about pointers, and with the limits of each profile."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.testing.conformance import cases
from metrale_gpu_runtime.testing.conformance.mock_target import MockTarget

# A100, H100 and RTX 4090 differ in numbers only, which test_profiles.py looks at.
PROFILES = ("generic", "H100", "M2", "OpenCL", "WebGPU")
TARGETS = {name: MockTarget(name) for name in PROFILES} | {"strict": MockTarget(strict_pointers=True)}

# A case in a child process costs an interpreter; one profile shows it.
SLOW = {case.name for case in cases() if case.body.__module__.endswith(".process")}


@pytest.mark.parametrize(
    ("case", "target"),
    [
        pytest.param(case, target, id=f"{case}-{name}")
        for case in cases()
        for name, target in TARGETS.items()
        if name == "generic" or case.name not in SLOW
    ],
)
def test_the_law_holds_on_the_mock(case, target):
    """Each law of the suite holds on the mock, or the profile declares that it has not what the law is about."""
    if reason := case.run(target):
        pytest.skip(reason)
