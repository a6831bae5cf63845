"""Memory behind two arguments of one launch, where the device takes what is written for one argument alone."""

from __future__ import annotations

import numpy as np
import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.launch import KernelLaunch
from metrale_gpu_runtime.slots import slot
from metrale_gpu_runtime.testing import MockGpuBackend

MOVE = """
@group(0) @binding(0) var<storage> src: array<u32>;
@group(0) @binding(1) var<storage> more: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@group(0) @binding(3) var<storage, read_write> sum: array<u32>;
@group(0) @binding(4) var<uniform> count: u32;
@compute @workgroup_size(64) fn move() { dst[0] = src[0] + more[0] + count; sum[0] = 1u; }
"""


@pytest.fixture
def gpu():
    with MockGpuBackend("WebGPU") as gpu:
        gpu.load_module("m", source={".wgsl": MOVE})
        yield gpu


def launches(gpu):
    return [entry for entry in gpu.log if entry.call == "launch"]


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ("abab", ("argument 0 (src)", "argument 2 (dst)", "writes argument 2 (dst)")),
        ("abcc", ("argument 2 (dst)", "argument 3 (sum)", "argument 2 (dst) and argument 3 (sum)")),
        ("abca", ("argument 0 (src)", "argument 3 (sum)")),
        ("bacb", ("argument 0 (src)", "argument 3 (sum)")),
        ("acbc", ("argument 1 (more)", "argument 3 (sum)")),
    ],
)
def test_written_memory_stands_behind_one_argument(gpu, places, words):
    """One allocation behind two arguments of which one is written is refused with both names, and no driver call."""
    buffers = {each: gpu.buffer(512) for each in "abc"}
    kernel = gpu.kernel("m", "move")
    before = len(gpu.log)
    for values in ([buffers[each] for each in places], [buffers[each].ptr for each in places]):
        with pytest.raises(mg.NotSupported) as info:
            kernel[1, 64](*values, 5)
        assert info.value.feature == "aliased writes"
        assert all(word in str(info.value) for word in ("move", "512 bytes", *words)), str(info.value)
    assert len(gpu.log) == before


def test_what_is_only_read_may_be_given_twice(gpu):
    """Reading one allocation through two arguments is fine, and so is the same kernel with memory of its own."""
    a, b, c = (gpu.buffer(512) for _ in range(3))
    kernel = gpu.kernel("m", "move")
    kernel[1, 64](a, a, b, c, 5)
    kernel[1, 64](a, a.ptr + 256, b, c, 5)
    assert len(launches(gpu)) == 2


def test_parts_of_one_allocation_are_one(gpu):
    """Pointers that do not overlap lie in one buffer all the same."""
    a, b, c = (gpu.buffer(1024) for _ in range(3))
    with pytest.raises(mg.NotSupported, match=r"src.*dst"):
        gpu.kernel("m", "move")[1, 64](a.ptr, b, a.ptr + 512, c, 5)


def test_arguments_may_change_places_in_a_prepared_launch(gpu):
    """Only what a call ends up with counts: two buffers that change places never are one, whichever came first."""
    a, b, c, d = (gpu.buffer(512) for _ in range(4))
    prepared = gpu.kernel("m", "move")[1, 64].prepare(a, b, c, d, 5)
    prepared(c, d, a, b, 6)
    prepared(dst=b, more=c)
    for values in ((a, b, a, d, 7), (a, b, d, d, 7)):
        with pytest.raises(mg.NotSupported, match="dst"):
            prepared(*values)
    with pytest.raises(mg.NotSupported, match=r"more.*sum"):
        prepared(sum=b)
    prepared()
    assert len(launches(gpu)) == 3


def test_a_refused_sequence_issues_nothing(gpu):
    """A slot that makes one launch of a sequence write what it reads is refused before the first goes out."""
    a, b, c, d = (gpu.buffer(512) for _ in range(4))
    kernel = gpu.kernel("m", "move")
    with gpu.sequence() as step:
        kernel[1, 64](a, b, c, d, 5)
        KernelLaunch(gpu, kernel).block(64).arg_ptr(a).arg_ptr(slot("x")).arg_ptr(c).arg_ptr(d).arg_u32(6).launch()
    with pytest.raises(mg.NotSupported, match=r"more.*dst"):
        step(x=c)
    assert launches(gpu) == []
    step(x=b)
    assert len(launches(gpu)) == 2


def test_memory_that_is_no_argument_does_not_count(gpu):
    """What `.uses` names is bound to nothing."""
    a, b, c, d = (gpu.buffer(512) for _ in range(4))
    kernel = gpu.kernel("m", "move")
    launch = KernelLaunch(gpu, kernel).block(64).arg_ptr(a).arg_ptr(b).arg_ptr(c).arg_ptr(d).arg_u32(5)
    launch.uses(c).launch()
    assert len(launches(gpu)) == 1


def test_kernels_that_write_nothing_twice_are_not_looked_at(gpu):
    """A kernel with one pointer, or without one that it writes, is none to look at; nor is any on other devices."""
    text = (
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;@compute @workgroup_size(1) fn f() { x[0] = 1u; }"
    )
    gpu.load_module("one", source={".wgsl": text})
    assert not gpu.kernel("one", "f").separates_writes
    assert gpu.kernel("m", "move").separates_writes
    with MockGpuBackend("OpenCL") as other:
        other.load_module("m", source={".wgsl": MOVE})
        kernel = other.kernel("m", "move")
        a = other.buffer(512)
        kernel[1, 64](a, a, a, a, 5)
        assert not kernel.separates_writes


def test_what_is_not_known_is_not_checked():
    """Without a signature nobody knows what a kernel writes."""
    with MockGpuBackend("WebGPU") as gpu:
        a = gpu.buffer(512)
        KernelLaunch(gpu, gpu.kernel("m", "k")).arg_ptr(a).arg_ptr(a).launch()
        kernel = gpu.kernel("m", "k2", signature="const float* x, float* y")
        with pytest.raises(mg.NotSupported, match=r"x.*y"):
            kernel[1, 1](a, a)


def test_many_launches_with_either_core(gpu):
    """However often a kernel was launched, memory given twice is refused, and what is sound goes on."""
    a, b, c, d = (gpu.array(np.zeros(64, np.uint32)) for _ in range(4))
    kernel = gpu.kernel("m", "move")
    configured = kernel[1, 64]
    for round_ in range(5):
        configured(a, b, c, d, round_)
        with pytest.raises(mg.NotSupported, match=r"src.*sum"):
            configured(a, b, c, a, round_)
    assert len(launches(gpu)) == 5
