"""The readers of code objects on damaged files: a value, or a refusal, and nothing else."""

from __future__ import annotations

import msgpack
from amd_objects import code_object
from hypothesis import given, settings
from hypothesis import strategies as st

from metrale_gpu_runtime.code_objects import CodeObject, Target, choose_code_object, read_code_object
from metrale_gpu_runtime.code_objects.metadata import _Reader
from metrale_gpu_runtime.errors import ModuleLoadError, SignatureError
from metrale_gpu_runtime.signature import KernelSignature, from_code_object

DEVICE = Target.read("gfx90a:sramecc+:xnack-")
NAMES = ("kernels.gfx90a", "kernels.gfx1100", "typed.gfx906")
WORDS = st.one_of(st.integers(0, 255), st.sampled_from((0, 1, 0x7F, 0x80, 0xFF)))
MUTATIONS = st.lists(st.tuples(st.integers(0, 2**16), WORDS), max_size=12)
# Where a code object's own structure lies; a change elsewhere seldom matters.
NOTE_AND_HEADERS = 3400


def mutated(data: bytes, mutations, cut: int | None) -> bytes:
    changed = bytearray(data)
    for at, value in mutations:
        changed[at % min(len(changed), NOTE_AND_HEADERS)] = value
    return bytes(changed if cut is None else changed[: cut % (len(changed) + 1)])


def read_and_describe(data: bytes) -> None:
    """Read, and take what was read all the way to signatures."""
    try:
        found = read_code_object(data, "m")
    except ModuleLoadError:
        return
    assert isinstance(found, CodeObject)
    for kernel in found.kernels.values():
        try:
            assert isinstance(from_code_object(kernel), KernelSignature)
            str(from_code_object(kernel))
        except SignatureError:
            continue


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), MUTATIONS, st.none() | st.integers(0, 2**16))
def test_a_damaged_code_object_is_read_or_refused(name, mutations, cut):
    """Whatever bytes of a code object are changed or cut off, reading gives values or ModuleLoadError."""
    read_and_describe(mutated(code_object(name), mutations, cut))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 400), WORDS), max_size=8),
    st.none() | st.integers(0, 30000),
    st.sampled_from(("kernels.bundle", "kernels.compressed")),
)
def test_a_damaged_bundle_is_read_or_refused(mutations, cut, name):
    """Whatever bytes of a bundle's header are changed or cut off, choosing gives bytes or ModuleLoadError."""
    changed = bytearray(code_object(name))
    for at, value in mutations:
        changed[at % len(changed)] = value
    try:
        chosen = choose_code_object(bytes(changed if cut is None else changed[:cut]), DEVICE, "m")
    except ModuleLoadError:
        return
    read_and_describe(chosen)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    (
        ".name",
        ".symbol",
        ".args",
        ".offset",
        ".size",
        ".value_kind",
        ".type_name",
        ".reqd_workgroup_size",
        ".vgpr_count",
    )
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(FIELDS, VALUES, max_size=6), st.dictionaries(FIELDS, VALUES, max_size=6))
def test_metadata_that_says_anything_is_read_or_refused(kernel, argument):
    """Whatever values the metadata's fields have, reading gives values or ModuleLoadError."""
    whole = {
        ".name": "k",
        ".symbol": "k.kd",
        ".args": [{".offset": 0, ".size": 4, ".value_kind": "by_value", **argument}],
    }
    note = msgpack.packb({"amdhsa.kernels": [{**whole, **kernel}]})
    try:
        found = _Reader("m").read(note)
    except ModuleLoadError:
        return
    for each in found.kernels.values():
        from_code_object(each)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_as_metadata_are_read_or_refused(note):
    """Bytes that are no MessagePack, or another kind of value, are refused."""
    try:
        _Reader("m").read(note)
    except ModuleLoadError:
        return
