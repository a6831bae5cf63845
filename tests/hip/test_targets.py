"""Target ids: read, written, and which code runs on which device."""

from __future__ import annotations

import pytest

from metrale_gpu_runtime.code_objects import Target


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("gfx90a", "gfx90a"),
        ("gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-"),
        ("amdgcn-amd-amdhsa--gfx1100", "gfx1100"),
        ("hipv4-amdgcn-amd-amdhsa--gfx906:xnack+", "gfx906:xnack+"),
        ("hip-amdgcn-amd-amdhsa-gfx803", "gfx803"),
        ("hipv4-amdgcn-amd-amdhsa-unknown-gfx942", "gfx942"),
        ("gfx10-3-generic", "gfx10-3-generic"),
        ("amdgcn-amd-amdhsa--gfx9-generic", "gfx9-generic"),
    ],
)
def test_a_target_is_read_with_and_without_its_triple(text, written):
    """A target id says the same wherever it stands: alone, in a bundle's id, in metadata."""
    assert str(Target.read(text)) == written


@pytest.mark.parametrize("text", ["", "sm_90", "host-x86_64-unknown-linux--", "gfx90a:xnack", "gfx90a+", "gfxzz"])
def test_what_is_no_target_is_none(text):
    """Host entries of bundles and damaged ids are no targets."""
    assert Target.read(text) is None


@pytest.mark.parametrize(
    ("code", "device", "runs"),
    [
        ("gfx90a", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:xnack-", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:xnack+", "gfx90a:sramecc+:xnack-", False),
        ("gfx90a:sramecc-", "gfx90a:sramecc+:xnack-", False),
        ("gfx90a:xnack+", "gfx90a", False),
        ("gfx908", "gfx90a", False),
        ("gfx90a", "gfx908", False),
        ("gfx10-3-generic", "gfx1032", True),
        ("gfx10-3-generic", "gfx1012", False),
        ("gfx9-generic", "gfx906:sramecc+:xnack-", True),
        ("gfx9-4-generic", "gfx942", True),
        ("gfx11-generic", "gfx1151", True),
        ("gfx12-generic", "gfx1100", False),
    ],
)
def test_code_runs_where_processor_and_demanded_features_agree(code, device, runs):
    """Code runs on its own processor, generic code on its family's; a feature it demands must be as demanded."""
    assert Target.read(code).runs_on(Target.read(device)) is runs


def test_a_refusal_names_processor_or_feature():
    """Why code does not run is said with both sides: the processors, or the features that are otherwise."""
    device = Target.read("gfx90a:sramecc+:xnack-")
    assert Target.read("gfx1100").why_not_on(device) == "it was built for gfx1100, the device is gfx90a"
    why = Target.read("gfx90a:sramecc+:xnack+").why_not_on(device)
    assert why == "it was built with xnack+, the device runs as gfx90a:sramecc+:xnack-"
