"""Scalars that a device takes none of: refused by name, with what to pass there instead, in each language's words."""

from __future__ import annotations

from dataclasses import replace

import pytest

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.drivers.mock.profiles import profile
from metrale_gpu_runtime.launch import KernelLaunch
from metrale_gpu_runtime.scalars import SCALARS
from metrale_gpu_runtime.substitutes import substitute_for
from metrale_gpu_runtime.testing import MockGpuBackend

TEXT = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> n: u32;
@group(0) @binding(2) var<uniform> halves: vec2<u32>;
@compute @workgroup_size(8, 2) fn f() { out[0] = n + halves.x; }
"""
VALUES = {"unsigned": 5, "signed": -5, "float": 1.5, "bool": True, "complex": 1.5 - 2j}


def test_each_language_has_its_own_words():
    """What to pass instead is said in the words of the language that the device takes."""
    wgsl, opencl, metal = profile("WebGPU"), profile("OpenCL"), profile("M2")
    assert "vec2<u32>" in substitute_for("u64", wgsl)
    assert "u32 that is 0 or 1" in substitute_for("bool", wgsl)
    assert "shader-f16" in substitute_for("f16", wgsl)
    assert "uint" in substitute_for("bool", opencl)
    assert "f32" in substitute_for("f64", metal)
    assert substitute_for("u32", wgsl) is substitute_for("f64", opencl) is substitute_for("bool", metal) is None
    lacking = replace(opencl, code_formats=("opencl-c",), unsupported_scalars=frozenset({"bool", "f16", "f64", "c128"}))
    for name, word in (("f16", "cl_khr_fp16"), ("f64", "cl_khr_fp64"), ("c128", "float2")):
        assert word in substitute_for(name, lacking)
    assert "vec2<u32>" in substitute_for("i64", replace(wgsl, code_formats=("wgsl",)))


def test_every_scalar_that_a_profile_lacks_has_a_substitute():
    """No profile states a gap without saying what goes in its place."""
    for name in ("WebGPU", "OpenCL", "M2"):
        capabilities = profile(name)
        for scalar in capabilities.unsupported_scalars:
            assert substitute_for(scalar, capabilities) != "pass it through a buffer"


@pytest.mark.parametrize("name", sorted(profile("WebGPU").unsupported_scalars))
def test_a_declared_parameter_is_named_as_well(name):
    """With a signature the error names parameter, what was given, what is wanted, and the device's substitute."""
    scalar = SCALARS[name]
    with MockGpuBackend("WebGPU") as gpu:
        gpu.load_module("m", source={".wgsl": TEXT})
        out = gpu.buffer(256)
        launch = KernelLaunch(gpu, gpu.kernel("m", "f")).block((8, 2)).arg_ptr(out)
        launch = getattr(launch, f"arg_{name}")(VALUES[scalar.kind]).arg_bytes(bytes(8))
        with pytest.raises(mg.ArgumentError) as info:
            launch.launch()
        instead = substitute_for(name, gpu.capabilities)
        assert (info.value.index, info.value.name) == (1, "n")
        assert all(word in str(info.value) for word in ("uniform u32 n", name, "arg_u32", instead)), str(info.value)
        assert not [entry for entry in gpu.log if entry.call == "launch"]


def test_halves_as_the_refusal_says():
    """What the refusal of a 64-bit number names goes through: its bytes for a vec2<u32>."""
    with MockGpuBackend("WebGPU") as gpu:
        gpu.load_module("m", source={".wgsl": TEXT})
        out = gpu.buffer(256)
        kernel = gpu.kernel("m", "f")
        launch = KernelLaunch(gpu, kernel).block((8, 2)).arg_ptr(out).arg_u32(1)
        with pytest.raises(mg.ArgumentError, match=r"halves.*vec2<u32>"):
            launch.arg_u64(2**40 + 7).launch()
        KernelLaunch(gpu, kernel).block((8, 2)).arg_ptr(out).arg_u32(1).arg_bytes(
            (2**40 + 7).to_bytes(8, "little")
        ).launch()


def test_other_mismatches_are_worded_as_ever():
    """A value that the device has, where another is wanted, is no matter of substitutes."""
    with MockGpuBackend("WebGPU") as gpu:
        gpu.load_module("m", source={".wgsl": TEXT})
        launch = KernelLaunch(gpu, gpu.kernel("m", "f")).block((8, 2)).arg_ptr(gpu.buffer(256)).arg_f32(1.0)
        with pytest.raises(mg.ArgumentKindError) as info:
            launch.arg_bytes(bytes(8)).launch()
        assert "at all" not in str(info.value)


def test_the_block_is_what_the_text_says():
    """A block that is not the text's @workgroup_size is refused with both, before the driver is called."""
    with MockGpuBackend("WebGPU") as gpu:
        gpu.load_module("m", source={".wgsl": TEXT})
        kernel, out = gpu.kernel("m", "f"), gpu.buffer(256)
        assert kernel.attributes.required_block == (8, 2, 1)
        for block in (8, (2, 8), (8, 2, 2)):
            with pytest.raises(mg.GeometryError, match=r"\(8, 2, 1\)"):
                KernelLaunch(gpu, kernel).block(block).arg_ptr(out).arg_u32(1).arg_bytes(bytes(8)).launch()
        KernelLaunch(gpu, kernel).block((8, 2)).arg_ptr(out).arg_u32(1).arg_bytes(bytes(8)).launch()
        assert len([entry for entry in gpu.log if entry.call == "launch"]) == 1
