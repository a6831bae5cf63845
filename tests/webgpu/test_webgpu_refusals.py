"""What is refused says what was wrong with what was asked: null for a value, limits with their numbers, constants."""

from __future__ import annotations

import numpy as np
import pytest
from webgpu_room import gpu

import metrale_gpu_runtime as mg
from metrale_gpu_runtime.backend import GpuBackend
from metrale_gpu_runtime.errors import (
    ArgumentKindError,
    CompileError,
    FunctionConstantError,
    LimitExceeded,
    NotSupported,
)

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


STORAGE = """
override shared_mem: u32 = 0;
override block_x: u32;
override count: u32 = 3;
override twice = count * 2u;
var<workgroup> own: array<vec3f, 7>;
var<workgroup> asked: array<u32, shared_mem / 4>;
var<workgroup> by_block: array<vec2u, block_x>;
var<workgroup> by_constant: array<u32, twice>;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(1) fn has_own() { own[2].x = 7.5; out[0] = own[2].x; }
@compute @workgroup_size(1) fn of_both() { own[3].y = 3.5; asked[1] = 4u; out[0] = own[3].y + f32(asked[1]); }
@compute @workgroup_size(block_x) fn of_block() { by_block[1].y = 9u; out[0] = f32(by_block[1].y); }
@compute @workgroup_size(1) fn of_constant() { by_constant[5] = 6u; out[0] = f32(by_constant[5]); }
"""


def test_workgroup_memory_is_counted_with_what_overrides_say(gpu: GpuBackend) -> None:
    """Workgroup memory over the device's limit is refused with both numbers, whoever says how long it is; wgpu itself
    makes such a pipeline. Each variable counts in whole 16 bytes, and what just fits runs."""
    module, out = gpu.load_module("storage", source={".wgsl": STORAGE}), gpu.array(np.zeros(1, np.float32))
    limit = gpu.capabilities.max_static_and_dynamic_shared_mem
    assert limit is not None
    room = limit - 7 * 16
    module["of_both"][1, 1, room](out)
    assert out.numpy()[0] == 7.5
    with pytest.raises(LimitExceeded, match=f"{limit + 16}.*{limit}.*shared_mem={room + 4}"):
        module["of_both"][1, 1, room + 4](out)
    fitting = gpu.kernel("storage", "of_constant", constants={"count": limit // 8})
    assert fitting.attributes.static_shared_mem == limit // 8 * 8
    fitting[1, 1](out)
    assert out.numpy()[0] == 6.0
    with pytest.raises(LimitExceeded, match=f"{limit + 16}.*{limit}.*count={limit // 8 + 1}"):
        gpu.kernel("storage", "of_constant", constants={"count": limit // 8 + 1})
    assert module["of_constant"].attributes.static_shared_mem == 24
    assert module["has_own"].attributes.static_shared_mem == 7 * 16
    assert module["of_both"].attributes.static_shared_mem is None
    module["of_block"][1, 64](out)
    assert out.numpy()[0] == 9.0


def test_no_bytes_of_shared_memory_for_an_array(gpu: GpuBackend) -> None:
    """An array that the launch gives no bytes is refused by the compiler, and the refusal names what gives them."""
    module = gpu.load_module("storage", source={".wgsl": STORAGE})
    with pytest.raises(CompileError, match=r"shared_mem=0.*\.shared_mem\(nbytes\)"):
        module["of_both"][1, 1](gpu.array(np.zeros(1, np.float32)))


def test_a_block_that_the_device_has_not_is_a_limit(gpu: GpuBackend) -> None:
    """@workgroup_size over the device's is refused where the kernel is looked up, with what was asked and allowed."""
    x, most = gpu.capabilities.max_block[0], gpu.capabilities.max_threads_per_block
    for size, asked, limit in ((f"{x + 1}", x + 1, x), (f"{most // 8}, 3, 5", most // 8 * 15, most)):
        text = f"@compute @workgroup_size({size}) fn f() {{}}"
        module = gpu.load_module("large", source={".wgsl": text}, replace=True)
        with pytest.raises(LimitExceeded, match="@workgroup_size") as caught:
            module["f"]
        assert (caught.value.asked, caught.value.limit) == (asked, limit)


def test_an_override_without_an_id_has_no_index(gpu: GpuBackend) -> None:
    """An override is given by @id only where it has one: -1 means none of those without, and no message shows it."""
    text = """
override first: f32 = 1.0; @id(4) override second: u32; override third = second * 2u;
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1) fn f() { out[0] = first * 10.0 + f32(second) + f32(third); }
"""
    gpu.load_module("m4", source={".wgsl": text})
    with pytest.raises(FunctionConstantError, match=r"index -1\. .*first \(f32\).*second \(u32, index 4\)"):
        gpu.kernel("m4", "f", constants={-1: 2.5, 4: 3})
    with pytest.raises(FunctionConstantError, match=r"third .*state its type"):
        gpu.kernel("m4", "f", constants={"third": 2, 4: 3})
    out = gpu.array(np.zeros(1, np.float32))
    gpu.kernel("m4", "f", constants={"first": 2.5, 4: 3})[1, 1](out)
    assert out.numpy()[0] == 34.0


def test_too_many_buffers_are_told_to_share_one(gpu: GpuBackend) -> None:
    """Advice is for what there is too much of: buffers are not put into a structure of values."""
    most = gpu.capabilities.max_buffer_arguments
    assert most is not None
    names = range(most + 1)
    text = "".join(f"@group(0) @binding({at}) var<storage, read_write> b{at}: array<u32>;\n" for at in names)
    text += f"@compute @workgroup_size(1) fn f() {{ {' '.join(f'b{at}[0] = {at};' for at in names)} }}"
    with pytest.raises(LimitExceeded, match=f"{most + 1}.*{most}.*one buffer"):
        gpu.load_module("wide", source={".wgsl": text})["f"]
