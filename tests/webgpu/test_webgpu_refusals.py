"""What is refused says what was wrong with what was asked: null for a value, limits with their numbers, constants."""

from __future__ import annotations

import numpy as np
import pytest
from webgpu_room import gpu

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import ArgumentKindError, NotSupported

__all__ = ["gpu"]

TAKES_VALUES = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<uniform> place: vec3u;
@group(0) @binding(2) var<uniform> count: u32;
@compute @workgroup_size(1) fn f() { out[0] = place.z + count; }
"""


@pytest.mark.parametrize("index", [1, 2])
def test_null_for_a_value_is_told_that_a_value_is_wanted(gpu: GpuBackend, index: int) -> None:
    """None where a uniform is declared is no missing buffer: the refusal speaks of the value, in either form."""
    kernel = gpu.load_module("values", source={".wgsl": TAKES_VALUES})["f"]
    out, place = gpu.array(np.zeros(3, np.uint32)), np.array([5, 6, 7], np.uint32).tobytes()
    for null in (None, mg.DevicePtr(0), gpu.empty(0, mg.u32), mg.In(np.zeros(0, np.uint32))):
        arguments: list[object] = [out, place, 30]
        arguments[index] = null
        with pytest.raises(ArgumentKindError, match="it is a value, not a pointer") as caught:
            kernel[1, 1](*arguments)
        assert caught.value.index == index
    builder = mg.KernelLaunch(gpu, kernel).arg_ptr(out)
    builder = builder.arg_bytes(place, align=16).arg_ptr(None) if index == 2 else builder.arg_ptr(None).arg_u32(30)
    with pytest.raises(ArgumentKindError, match="it is a value, not a pointer"):
        builder.launch()
    with pytest.raises(NotSupported, match="null pointer"):
        kernel[1, 1](None, place, 30)
    kernel[1, 1](out, place, 30)
    assert out.numpy().tolist() == [37, 0, 0]
