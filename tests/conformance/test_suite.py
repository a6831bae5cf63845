"""The suite itself: what it covers, and how it judges."""

from __future__ import annotations

import re

import pytest

from metrale_gpu_runtime.errors import NotSupported
from metrale_gpu_runtime.signature import kernels_of_msl
from metrale_gpu_runtime.signature.wgsl import parse_wgsl
from metrale_gpu_runtime.testing.conformance import KERNELS, ConformanceCase, ConformanceTarget, cases
from metrale_gpu_runtime.testing.conformance.bodies import BOUND, SUITE

# Entries of the case collection that a backend without special hardware can show; those that need a fault plan, a
# profile or a compiler have tests of their own.
SHOWN_BY_THE_SUITE = {
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    9,
    10,
    11,
    13,
    14,
    15,
    16,
    17,
    18,
    19,
    20,
    21,
    22,
    24,
    25,
    26,
    27,
    28,
    29,
    30,
}
SHOWN_BY_THE_SUITE |= {31, 32, 33, 36, 38, 40, 43, 44, 47, 48}


class PretendTarget(ConformanceTarget):
    """Answers capabilities from a table, for judging the judge."""

    name = "pretend"

    def __init__(self, gaps=None, **abilities):
        self.known_gaps = gaps or {}
        self.__dict__["_capabilities"] = type("Pretended", (), {"unsupported_scalars": frozenset(), **abilities})()

    def open_backend(self, **options):
        raise AssertionError("a pretended backend is never opened")


def case_of(body, **changes):
    fields = {
        "name": "a_law",
        "law": "A law.",
        "invariants": (),
        "field_cases": (),
        "needs": (),
        "where": (),
        "body": body,
    }
    return ConformanceCase(**(fields | changes))


def passes(target):
    return None


def refuses(target):
    raise NotSupported("no")


def breaks(target):
    raise AssertionError("broken")


def test_every_invariant_has_a_law():
    """Each of the design's invariants 1 to 11 is shown by named cases."""
    shown = {number for case in cases() for number in case.invariants}
    assert shown == set(range(1, 12))


def test_the_case_collection_is_covered():
    """Every entry of the case collection that any backend can show is shown by a case."""
    assert {number for case in cases() for number in case.field_cases} >= SHOWN_BY_THE_SUITE


def test_a_held_law_is_no_reason_to_skip():
    """A case that holds gives no reason; one that is broken raises."""
    assert case_of(passes).run(PretendTarget()) is None
    with pytest.raises(AssertionError, match="broken"):
        case_of(breaks).run(PretendTarget())


def test_a_declared_gap_must_raise():
    """Where a needed capability is declared missing, NotSupported is a reason to skip and success fails the run."""
    target = PretendTarget(clusters=False)
    assert case_of(refuses, needs=("clusters",)).run(target) == "declared: no clusters"
    with pytest.raises(AssertionError, match="declares that it has no clusters"):
        case_of(passes, needs=("clusters",)).run(target)
    with pytest.raises(NotSupported):
        case_of(refuses, needs=("clusters",)).run(PretendTarget(clusters=True))


def test_a_known_gap_that_works_fails_the_run():
    """A case listed as a known gap may fail; when it holds the run fails until it is struck off."""
    target = PretendTarget({"a_law": "not written yet"})
    assert case_of(breaks).run(target) == "known gap: not written yet"
    with pytest.raises(AssertionError, match="strike it off"):
        case_of(passes).run(target)


def test_a_law_may_say_nothing():
    """A case about another kind of backend gives its reason and does not run; scalars and negations are conditions."""
    target = PretendTarget(asynchronous=False, unsupported_scalars=frozenset({"f64"}))
    assert case_of(breaks, where=("asynchronous",)).run(target)
    assert case_of(breaks, where=("scalar f64",)).run(target)
    assert case_of(passes, where=("not asynchronous", "scalar f32")).run(target) is None


def test_known_gaps_name_cases():
    """A target's known gap that names no case is a mistake of the target; no target here has one."""
    from test_cpu import TARGET

    names = {case.name for case in cases()}
    assert set(TARGET.known_gaps) <= names


def test_every_kernel_has_a_body():
    """Each kernel of the suite's PTX has a Python body for the mock, and no body is without a kernel."""
    text = (KERNELS / "suite.ptx").read_text()
    entries = {line.split()[2].rstrip("(") for line in text.splitlines() if line.startswith(".visible .entry")}
    assert entries == set(SUITE)


def test_every_kernel_of_metals_has_a_body():
    """Metal's suite has the kernels of the others but those of doubles and of mangled names; `bound` has a body for each."""
    texts = {name: set(kernels_of_msl((KERNELS / f"{name}.metal").read_text())) for name in ("suite", "bound")}
    assert set(SUITE) - texts["suite"] == {"echo_f64", "_Z7mangledPji"}
    assert texts["suite"] <= set(SUITE)
    assert texts["bound"] == set(BOUND)


def kernels_of_opencl_c(name):
    """The kernels in a file of the suite, by name, as its text has them."""
    text = (KERNELS / f"{name}.cl").read_text(encoding="utf-8")
    return set(re.findall(r"^kernel (?:__attribute__\(\(.*?\)\)\) )?void (\w+)\(", text, re.MULTILINE))


def test_every_kernel_of_opencls_has_a_body():
    """OpenCL's suite has the kernels of the others but the one of mangled names; `bound` has those that need no constants."""
    assert set(SUITE) - kernels_of_opencl_c("suite") == {"_Z7mangledPji"}
    assert kernels_of_opencl_c("suite") <= set(SUITE)
    assert set(BOUND) - kernels_of_opencl_c("bound") == {"specialised", "echo_bytes"}
    assert kernels_of_opencl_c("bound") <= set(BOUND)


def test_every_kernel_of_wgsl_has_a_body():
    """WGSL's suite lacks what needs numbers of 8, 16 or 64 bits, addresses or mangled names, and nothing else."""
    texts = {
        name: set(parse_wgsl((KERNELS / f"{name}.wgsl").read_text(encoding="utf-8")).entry_points)
        for name in ("suite", "bound", "half", "doubled", "plus_hundred")
    }
    lacking = {"echo_8", "echo_16", "echo_64", "echo_f64", "follow", "_Z7mangledPji"}
    assert set(SUITE) - texts["suite"] == lacking
    assert texts["suite"] <= set(SUITE)
    assert set(BOUND) - texts["bound"] == {"echo_bytes", "reverse_local", "any_8", "any_16"}
    assert texts["bound"] <= set(BOUND)
    assert texts["half"] == {"any_16"}
    assert texts["doubled"] == texts["plus_hundred"] == {"transform"}
